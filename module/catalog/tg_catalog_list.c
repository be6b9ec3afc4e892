/* The lists of a catalog's entries: in pages, whole, and for `ipc`. */
#include "catalog/tg_catalog_impl.h"

#include "catalog/tg_tool_repair.h"

#include <inttypes.h>

/*
 * Writes a cursor: the next entry's index and the list's digest in hexadecimal.
 */
static void
tg_cursor_write(const tg_catalog_t *catalog, tg_catalog_entry_type_t kind,
                tg_buf_t *out, size_t index)
{
    tg_buf_printf(out, "%zu.%016" PRIx64, index, catalog->digests[kind]);
}

static int
tg_cursor_parse(const tg_catalog_t *catalog, tg_catalog_entry_type_t kind,
                tg_str_t cursor, size_t *index)
{
    char text[48], digest[48];
    tg_buf_t expected;
    tg_str_t body;
    size_t i, n;

    *index = 0;

    if (cursor.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(cursor) != TG_JSON_STRING) {
        return TG_INVALID;
    }

    body = tg_json_string_body(cursor);

    if (body.len == 0 || body.len > sizeof(text)) {
        return TG_INVALID;
    }

    n = tg_json_unescape(text, body);

    for (i = 0; i < n && text[i] >= '0' && text[i] <= '9' && i < 12; i++) {
        *index = *index * 10 + (size_t) (text[i] - '0');
    }

    /* A valid cursor has exactly this form. */
    expected = tg_buf_make_fixed(digest, sizeof(digest));
    tg_cursor_write(catalog, kind, &expected, *index);

    return *index != 0 && *index < catalog->n && n == expected.len
                   && memcmp(text, digest, n) == 0
               ? TG_OK
               : TG_INVALID;
}

/* Names of the list in each result; NULL: the kind is not listed. */
static const char *const tg_catalog_list_names[TG_ENTRY_KINDS] = {
    [TG_ENTRY_TOOL] = "tools",
    [TG_ENTRY_PROMPT] = "prompts",
    [TG_ENTRY_RESOURCE] = "resources",
    [TG_ENTRY_TEMPLATE] = "resourceTemplates",
};

/*
 * Appends the entries of a page from index i on, about limit bytes. Returns the
 * next index.
 */
static size_t
tg_catalog_write_entries(const tg_catalog_t *catalog,
                         const tg_list_page_t *page, size_t i, size_t limit,
                         tg_catalog_is_visible_pt visible, void *ctx,
                         tg_buf_t *out)
{
    const tg_catalog_entry_t *entry;
    tg_str_t listing;
    size_t start;

    start = out->len;

    for (/* void */; i < catalog->n; i++) {
        entry = catalog->entries[i];

        if (entry->kind != page->kind || entry->is_unlisted
            || (visible != NULL && !visible(ctx, entry)))
        {
            continue;
        }

        listing = page->is_legacy && entry->legacy.data != NULL
                      ? entry->legacy
                      : entry->listing;

        if (out->len != start) {
            if (out->len - start + listing.len > limit) {
                break;
            }

            tg_buf_append_char(out, ',');
        }

        tg_buf_append_str(out, listing);
    }

    return i;
}

static void
tg_catalog_begin_list(tg_catalog_entry_type_t kind, tg_buf_t *out)
{
    tg_buf_append_char(out, '"');
    tg_buf_append_cstr(out, tg_catalog_list_names[kind]);
    tg_buf_append_cstr(out, "\":[");
}

int
tg_catalog_write_list(const tg_catalog_t *catalog, const tg_list_page_t *page,
                      tg_catalog_is_visible_pt visible, void *ctx,
                      tg_buf_t *out)
{
    size_t i, start;

    i = catalog->n;

    if (!page->is_after_catalog
        && tg_cursor_parse(catalog, page->kind, page->cursor, &i) != TG_OK)
    {
        return TG_INVALID;
    }

    tg_catalog_begin_list(page->kind, out);
    start = out->len;
    i = tg_catalog_write_entries(catalog, page, i, TG_LIST_PAGE_SIZE, visible,
                                 ctx, out);

    if (i < catalog->n) {
        tg_buf_append_cstr(out, "],\"nextCursor\":\"");
        tg_cursor_write(catalog, page->kind, out, i);
        tg_buf_append_char(out, '"');
        return TG_OK;
    }

    if (page->more.len != 0) {
        tg_buf_append_cstr(out, out->len != start ? "," : "");
        tg_buf_append_str(out, page->more);
    }

    tg_buf_append_char(out, ']');
    tg_json_add_compact(out, "nextCursor", page->next_cursor);

    return TG_OK;
}

void
tg_catalog_write_whole_list(const tg_catalog_t *catalog,
                            tg_catalog_is_visible_pt visible, void *ctx,
                            tg_buf_t *out)
{
    const tg_list_page_t page = { .kind = TG_ENTRY_TOOL, .is_legacy = 1 };

    tg_catalog_begin_list(page.kind, out);
    (void) tg_catalog_write_entries(catalog, &page, 0, SIZE_MAX, visible, ctx,
                                    out);
    tg_buf_append_char(out, ']');
}

static void
tg_catalog_entry_write_ipc_schema(tg_buf_t *out,
                                  const tg_catalog_entry_t *entry)
{
    tg_buf_append_char(out, '{');
    tg_json_add_string(out, "name", entry->name);
    tg_json_add_string(out, "description", entry->description);
    tg_json_begin_member(out, "input_schema");
    tg_json_write_compact(out, entry->input_schema.data != NULL
                                   ? entry->input_schema
                                   : TG_STR(TG_TOOL_NO_ARGUMENTS));
    tg_buf_append_char(out, '}');
}

void
tg_catalog_write_ipc_schemas(const tg_catalog_t *catalog,
                             tg_catalog_is_visible_pt visible, void *ctx,
                             tg_buf_t *out)
{
    const tg_catalog_entry_t *entry;
    size_t i, n;

    tg_buf_append_char(out, '[');
    n = 0;

    for (i = 0; i < catalog->n; i++) {
        entry = catalog->entries[i];

        if (entry->kind == TG_ENTRY_TOOL
            && (visible == NULL || visible(ctx, entry))) {
            tg_buf_append_cstr(out, n++ == 0 ? "\n" : ",\n");
            tg_catalog_entry_write_ipc_schema(out, entry);
        }
    }

    tg_buf_append_cstr(out, "\n]\n");
}

size_t
tg_catalog_list_size(const tg_catalog_t *catalog)
{
    size_t i, size;

    size = 0;

    for (i = 0; i < catalog->n; i++) {
        if (catalog->entries[i]->kind == TG_ENTRY_TOOL) {
            size += catalog->entries[i]->listing.len + 1;
        }
    }

    return size;
}
