/* The catalog of tools and methods: names, listings, pages and digests. */
#include "catalog/tg_catalog.h"

#include "catalog/tg_catalog_entry.h"
#include "catalog/tg_tool_repair.h"

#include <inttypes.h>

#define TG_CATALOG_SLOTS_MIN 16

struct tg_catalog_s {
    const tg_alloc_t *alloc;
    size_t nrefs;
    void *memory;
    void (*release)(void *memory); /* NULL: memory is freed */
    tg_catalog_entry_t **entries;  /* in the order of addition */
    size_t n;
    size_t cap;
    /* hash table with open addressing; a power of two, at most half full */
    tg_catalog_entry_t **slots;
    size_t nslots;
    tg_buf_t listings;
    tg_buf_t legacy; /* legacy listings that differ from listings */
    size_t nsealed;  /* number of entries whose listings are rendered */
    uint64_t digest;
    uint64_t seed;
    void *cache; /* see tg_catalog_get_cache() */
};

tg_catalog_t *
tg_catalog_new(const tg_alloc_t *alloc)
{
    tg_catalog_t *catalog;

    catalog = tg_calloc(alloc, sizeof(*catalog));

    if (catalog != NULL) {
        catalog->alloc = alloc;
        catalog->nrefs = 1;
        catalog->digest = TG_HASH_INIT;
        tg_buf_init(&catalog->listings, alloc);
        tg_buf_init(&catalog->legacy, alloc);
    }

    return catalog;
}

tg_catalog_t *
tg_catalog_ref(tg_catalog_t *catalog)
{
    catalog->nrefs++;

    return catalog;
}

void
tg_catalog_set_memory(tg_catalog_t *catalog, void *memory,
                      void (*release)(void *memory))
{
    catalog->memory = memory;
    catalog->release = release;
}

void
tg_catalog_set_seed(tg_catalog_t *catalog, uint64_t seed)
{
    catalog->seed = seed;
}

void
tg_catalog_unref(tg_catalog_t *catalog)
{
    if (catalog == NULL || --catalog->nrefs != 0) {
        return;
    }

    tg_buf_deinit(&catalog->listings);
    tg_buf_deinit(&catalog->legacy);
    tg_free(catalog->alloc, catalog->entries);
    tg_free(catalog->alloc, catalog->slots);
    tg_free(catalog->alloc, catalog->cache);

    if (catalog->release != NULL) {
        catalog->release(catalog->memory);
    } else {
        tg_free(catalog->alloc, catalog->memory);
    }

    tg_free(catalog->alloc, catalog);
}

static size_t
tg_catalog_find_slot(const tg_catalog_t *catalog, tg_catalog_entry_type_t kind,
                     tg_str_t name)
{
    const tg_catalog_entry_t *entry;
    size_t mask, i;
    uint64_t hash;

    mask = catalog->nslots - 1;
    hash = tg_hash_fnv1a((TG_HASH_INIT ^ catalog->seed) + (uint64_t) kind,
                         name);
    i = (size_t) (hash ^ hash >> 32) & mask;

    for (/* void */;; i = (i + 1) & mask) {
        entry = catalog->slots[i];

        if (entry == NULL
            || (entry->kind == kind && tg_str_eq(entry->name, name))) {
            return i;
        }
    }
}

static int
tg_catalog_grow(tg_catalog_t *catalog)
{
    tg_catalog_entry_t **entries, **slots;
    size_t cap, i;

    if (catalog->n < catalog->cap) {
        return TG_OK;
    }

    cap = catalog->cap ? catalog->cap * 2 : TG_CATALOG_SLOTS_MIN / 2;
    entries = catalog->alloc->resize(catalog->alloc->ctx, catalog->entries,
                                     cap * sizeof(entries[0]));

    if (entries == NULL) {
        return TG_NOMEM;
    }

    catalog->entries = entries;
    slots = tg_calloc(catalog->alloc, cap * 2 * sizeof(slots[0]));

    if (slots == NULL) {
        return TG_NOMEM;
    }

    tg_free(catalog->alloc, catalog->slots);
    catalog->slots = slots;
    catalog->nslots = cap * 2;
    catalog->cap = cap;

    for (i = 0; i < catalog->n; i++) {
        slots[tg_catalog_find_slot(catalog, entries[i]->kind,
                                   entries[i]->name)] = entries[i];
    }

    return TG_OK;
}

int
tg_catalog_add(tg_catalog_t *catalog, tg_catalog_entry_t *entry)
{
    size_t slot;

    if (tg_catalog_grow(catalog) != TG_OK) {
        return TG_NOMEM;
    }

    slot = tg_catalog_find_slot(catalog, entry->kind, entry->name);

    if (catalog->slots[slot] != NULL) {
        return TG_EXISTS;
    }

    entry->index = catalog->n;
    catalog->slots[slot] = entry;
    catalog->entries[catalog->n++] = entry;

    return TG_OK;
}

static uint64_t
tg_catalog_mix_digest(uint64_t hash, const tg_catalog_entry_t *entry)
{
    return (hash ^ entry->digest) * UINT64_C(0x100000001b3);
}

void
tg_catalog_entry_set_digest(tg_catalog_entry_t *entry)
{
    if (entry->digest != 0) {
        return;
    }

    entry->digest = tg_hash_fast(TG_HASH_INIT, entry->listing);
    entry->digest += entry->digest == 0;

    if (entry->output_schema.data != NULL) {
        entry->output_digest = tg_hash_fnv1a(TG_HASH_INIT,
                                             entry->output_schema);
    }
}

/* Renders an entry. Addresses are set later: the buffers may still move. */
static int
tg_catalog_render_entry(tg_catalog_t *catalog, tg_catalog_entry_t *entry)
{
    size_t from;
    tg_buf_t *buf;

    buf = &catalog->listings;
    from = buf->len;
    tg_catalog_entry_write_json(buf, entry);

    if (tg_buf_has_failed(buf)) {
        return TG_NOMEM;
    }

    entry->listing = tg_str(buf->data + from, buf->len - from);
    entry->digest = 0;
    tg_catalog_entry_set_digest(entry);
    entry->legacy = TG_STR_NONE;

    if (entry->is_modern) {
        from = catalog->legacy.len;
        tg_catalog_entry_write_legacy(&catalog->legacy, entry->listing);
        entry->legacy.len = catalog->legacy.len - from;
    }

    entry->listing.data = NULL;

    return tg_buf_has_failed(&catalog->legacy) ? TG_NOMEM : TG_OK;
}

static void
tg_catalog_set_addresses(tg_catalog_t *catalog)
{
    const char *listing, *legacy;
    tg_catalog_entry_t *entry;
    size_t i;

    listing = catalog->listings.data;
    legacy = catalog->legacy.data;

    for (i = 0; i < catalog->n; i++) {
        entry = catalog->entries[i];

        if (entry->listing.data == NULL && entry->listing.len != 0) {
            entry->listing.data = listing;
            listing += entry->listing.len;

            if (entry->legacy.len != 0) {
                entry->legacy.data = legacy;
                legacy += entry->legacy.len;
            }
        }
    }
}

int
tg_catalog_seal_step(tg_catalog_t *catalog, size_t bytes)
{
    tg_catalog_entry_t *entry;
    size_t done;

    for (done = 0; catalog->nsealed < catalog->n; catalog->nsealed++) {
        if (done >= bytes) {
            return TG_AGAIN;
        }

        entry = catalog->entries[catalog->nsealed];
        done += sizeof(*entry);

        if (entry->kind != TG_ENTRY_TOOL) {
            tg_catalog_entry_set_digest(entry);
            continue;
        }

        if (entry->digest == 0 || entry->listing.data == NULL) {
            if (tg_catalog_render_entry(catalog, entry) != TG_OK) {
                return TG_NOMEM;
            }

            done += entry->listing.len;
        }

        catalog->digest = tg_catalog_mix_digest(catalog->digest, entry);
    }

    tg_catalog_set_addresses(catalog);

    return TG_OK;
}

int
tg_catalog_seal(tg_catalog_t *catalog)
{
    return tg_catalog_seal_step(catalog, SIZE_MAX);
}

void *
tg_catalog_get_cache(tg_catalog_t *catalog, size_t size)
{
    if (catalog->cache == NULL) {
        catalog->cache = tg_calloc(catalog->alloc, size);
    }

    return catalog->cache;
}

size_t
tg_catalog_size(const tg_catalog_t *catalog)
{
    return catalog->n;
}

const tg_catalog_entry_t *
tg_catalog_get_entry(const tg_catalog_t *catalog, size_t i)
{
    return catalog->entries[i];
}

int
tg_catalog_has_entry(const tg_catalog_t *catalog,
                     const tg_catalog_entry_t *entry)
{
    return entry->index < catalog->n && catalog->entries[entry->index] == entry;
}

const tg_catalog_entry_t *
tg_catalog_find(const tg_catalog_t *catalog, tg_catalog_entry_type_t kind,
                tg_str_t name)
{
    if (catalog->n == 0) {
        return NULL;
    }

    return catalog->slots[tg_catalog_find_slot(catalog, kind, name)];
}

const tg_catalog_entry_t *
tg_catalog_find_escaped(const tg_catalog_t *catalog,
                        tg_catalog_entry_type_t kind, tg_str_t name)
{
    char text[TG_NAME_MAX * 6];

    if (name.len > sizeof(text)) {
        return NULL;
    }

    if (name.len != 0 && memchr(name.data, '\\', name.len) != NULL) {
        name = tg_str(text, tg_json_unescape(text, name));
    }

    return tg_catalog_find(catalog, kind, name);
}

uint64_t
tg_catalog_digest(const tg_catalog_t *catalog)
{
    return catalog != NULL ? catalog->digest : 0;
}

uint64_t
tg_catalog_digest_visible(const tg_catalog_t *catalog,
                          tg_catalog_is_visible_pt visible, void *ctx)
{
    const tg_catalog_entry_t *entry;
    uint64_t hash;
    size_t i;

    hash = TG_HASH_INIT;

    for (i = 0; i < catalog->n; i++) {
        entry = catalog->entries[i];

        if (entry->kind == TG_ENTRY_TOOL
            && (visible == NULL || visible(ctx, entry))) {
            hash = tg_catalog_mix_digest(hash, entry);
        }
    }

    return hash;
}

/* Writes a cursor: the next entry's index and the digest in hexadecimal. */
static void
tg_cursor_write(const tg_catalog_t *catalog, tg_buf_t *out, size_t index)
{
    tg_buf_printf(out, "%zu.%016" PRIx64, index, catalog->digest);
}

static int
tg_cursor_parse(const tg_catalog_t *catalog, tg_str_t cursor, size_t *index)
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
    tg_cursor_write(catalog, &expected, *index);

    return *index != 0 && *index < catalog->n && n == expected.len
                   && memcmp(text, digest, n) == 0
               ? TG_OK
               : TG_INVALID;
}

/* Appends tools from index i on, about limit bytes. Returns the next index. */
static size_t
tg_catalog_write_tools(const tg_catalog_t *catalog, size_t i, size_t limit,
                       int is_legacy, tg_catalog_is_visible_pt visible,
                       void *ctx, tg_buf_t *out)
{
    const tg_catalog_entry_t *entry;
    tg_str_t listing;
    size_t start;

    tg_buf_append_cstr(out, "\"tools\":[");
    start = out->len;

    for (/* void */; i < catalog->n; i++) {
        entry = catalog->entries[i];

        if (entry->kind != TG_ENTRY_TOOL
            || (visible != NULL && !visible(ctx, entry))) {
            continue;
        }

        listing = is_legacy && entry->legacy.data != NULL ? entry->legacy
                                                          : entry->listing;

        if (out->len != start) {
            if (out->len - start + listing.len > limit) {
                break;
            }

            tg_buf_append_char(out, ',');
        }

        tg_buf_append_str(out, listing);
    }

    tg_buf_append_char(out, ']');

    return i;
}

static int
tg_catalog_write_page(const tg_catalog_t *catalog, tg_str_t cursor,
                      int is_legacy, tg_catalog_is_visible_pt visible,
                      void *ctx, tg_buf_t *out)
{
    size_t i;

    if (tg_cursor_parse(catalog, cursor, &i) != TG_OK) {
        return TG_INVALID;
    }

    i = tg_catalog_write_tools(catalog, i, TG_LIST_PAGE_SIZE, is_legacy,
                               visible, ctx, out);

    if (i < catalog->n) {
        tg_buf_append_cstr(out, ",\"nextCursor\":\"");
        tg_cursor_write(catalog, out, i);
        tg_buf_append_char(out, '"');
    }

    return TG_OK;
}

int
tg_catalog_write_list(const tg_catalog_t *catalog, tg_str_t cursor,
                      tg_catalog_is_visible_pt visible, void *ctx,
                      tg_buf_t *out)
{
    return tg_catalog_write_page(catalog, cursor, 0, visible, ctx, out);
}

int
tg_catalog_write_legacy_list(const tg_catalog_t *catalog, tg_str_t cursor,
                             tg_catalog_is_visible_pt visible, void *ctx,
                             tg_buf_t *out)
{
    return tg_catalog_write_page(catalog, cursor, 1, visible, ctx, out);
}

void
tg_catalog_write_whole_list(const tg_catalog_t *catalog,
                            tg_catalog_is_visible_pt visible, void *ctx,
                            tg_buf_t *out)
{
    (void) tg_catalog_write_tools(catalog, 0, SIZE_MAX, 1, visible, ctx, out);
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
