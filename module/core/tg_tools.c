#include "core/tg_tools.h"

#include "core/tg_listing.h"
#include "core/tg_tool_repair.h"

/* The next element, and its name as an escaped body, or absent. */
static int
tg_tools_next(tg_json_t *json, tg_str_t *element, tg_str_t *name)
{
    if (!tg_json_item(json, element)) {
        return 0;
    }

    *name = tg_json_has(*element, TG_STR("name"), TG_JSON_STRING, name)
                ? tg_json_body(*name)
                : TG_STR_NONE;

    return 1;
}

/* names has room behind the entries: decoded they are never longer. */
static int
tg_tools_fill(tg_catalogue_t *tools, tg_entry_t *entry, char *names,
              tg_json_t *json, size_t *nleft_out)
{
    tg_str_t element, name;
    int rc;

    while (tg_tools_next(json, &element, &name)) {
        entry->kind = TG_ENTRY_TOOL;
        entry->output = TG_OUTPUT_RESULT;
        entry->listing = element;
        entry->name = tg_str(names, tg_json_decode(names, name));
        rc = name.data != NULL ? tg_catalogue_add(tools, entry) : TG_MISSING;

        if (rc == TG_NOMEM) {
            return TG_NOMEM;
        }

        if (rc == TG_OK) {
            names += entry->name.len;
            entry++;
        } else {
            ++*nleft_out;
        }
    }

    return tg_catalogue_seal(tools);
}

int
tg_tools_new(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
             tg_catalogue_t **tools, size_t *nleft_out)
{
    tg_catalogue_t *catalogue;
    tg_str_t element, name;
    tg_json_t json, start;
    tg_entry_t *entries;
    size_t n, size;

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_BAD;
    }

    tg_json_each(&json, array);
    start = json;
    size = 0;

    for (n = 0; tg_tools_next(&json, &element, &name); n++) {
        size += sizeof(entries[0]) + name.len;
    }

    if (n > TG_TOOLS_MAX || array.len > TG_TOOLS_BYTES) {
        return TG_LIMIT;
    }

    catalogue = tg_catalogue_new(alloc);
    entries = catalogue != NULL ? tg_calloc(alloc, size + 1) : NULL;

    if (entries == NULL) {
        tg_catalogue_release(catalogue);
        return TG_NOMEM;
    }

    *nleft_out = 0;
    tg_catalogue_own(catalogue, entries, NULL);
    tg_catalogue_seed(catalogue, seed);

    if (tg_tools_fill(catalogue, entries, (char *) (entries + n), &start,
                      nleft_out)
        != TG_OK)
    {
        tg_catalogue_release(catalogue);
        return TG_NOMEM;
    }

    *tools = catalogue;

    return TG_OK;
}

/* --- lists that clients can read --- */

/* Appends an element: 1, or 0 when it is left out. */
static int
tg_tools_put(tg_tool_repair_t *repair, tg_str_t element, tg_buf_t *scratch,
             tg_buf_t *out)
{
    tg_buf_truncate(scratch, 0);

    if (tg_tool_repair(repair, element, scratch) != NULL) {
        return 0;
    }

    if (scratch->len != 0) {
        element = tg_buf_view(scratch);
    }

    if (repair->is_modern) {
        tg_listing_put_legacy(out, element);
    } else {
        tg_buf_str(out, element);
    }

    out->failed |= tg_buf_failed(scratch);

    return 1;
}

static void
tg_tools_note(const tg_tools_check_t *check, const tg_tool_repair_t *repair,
              tg_str_t element)
{
    char room[2048];
    tg_buf_t text;
    tg_str_t name;

    name = tg_json_has(element, TG_STR("name"), TG_JSON_STRING, &name)
               ? tg_json_body(name)
               : TG_STR_NONE;

    if (repair->why != NULL) {
        check->note(check->ctx, name, tg_str_c(repair->why), 1);
        return;
    }

    text = tg_buf_fixed(room, sizeof(room));
    tg_tool_repairs_put(&text, repair->repairs);
    check->note(check->ctx, name, tg_buf_view(&text), 0);
}

int
tg_tools_repair(tg_str_t array, const tg_tools_check_t *check, tg_buf_t *out)
{
    tg_tool_repair_t repair;
    tg_buf_t scratch;
    tg_str_t element;
    tg_json_t json;
    size_t n, notes;

    memset(&repair, 0, sizeof(repair));
    repair.is_pattern = check->is_pattern;
    tg_buf_init(&scratch, out->alloc);
    tg_buf_char(out, '[');
    n = 0;
    notes = 0;

    for (tg_json_each(&json, array); tg_json_item(&json, &element);) {
        tg_buf_text(out, n != 0 ? "," : "");

        if (tg_tools_put(&repair, element, &scratch, out)) {
            n++;
        } else if (n != 0 && !tg_buf_failed(out)) {
            tg_buf_truncate(out, out->len - 1);
        }

        if ((repair.why != NULL || repair.repairs != 0)
            && notes++ < TG_TOOLS_NOTES) {
            tg_tools_note(check, &repair, element);
        }
    }

    tg_buf_char(out, ']');
    tg_buf_deinit(&scratch);

    return tg_buf_failed(out) ? TG_NOMEM : TG_OK;
}
