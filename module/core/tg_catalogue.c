#include "core/tg_catalogue.h"

#include "core/tg_alike.h"
#include "core/tg_listing.h"
#include "core/tg_tool_repair.h"

#include <inttypes.h>

/* Entries in a table of this size are found with few probes. */
#define TG_SLOTS_FIRST 16

struct tg_catalogue_s {
    const tg_alloc_t *alloc;
    size_t nholders;
    void *memory;
    void (*release)(void *memory); /* NULL: it is freed */
    tg_entry_t **entries;          /* in the order of addition */
    size_t n;
    size_t cap;
    tg_entry_t **slots; /* open addressing; a power of two, half full */
    size_t nslots;
    tg_buf_t listings;
    tg_buf_t legacy; /* those of the legacy era that differ */
    size_t nsealed;  /* of the entries, whose listings are rendered */
    uint64_t digest;
    uint64_t seed;
    tg_alikes_t alikes;
};

tg_catalogue_t *
tg_catalogue_new(const tg_alloc_t *alloc)
{
    tg_catalogue_t *catalogue;

    catalogue = tg_calloc(alloc, sizeof(*catalogue));

    if (catalogue != NULL) {
        catalogue->alloc = alloc;
        catalogue->nholders = 1;
        catalogue->digest = TG_HASH64;
        tg_buf_init(&catalogue->listings, alloc);
        tg_buf_init(&catalogue->legacy, alloc);
    }

    return catalogue;
}

tg_catalogue_t *
tg_catalogue_hold(tg_catalogue_t *catalogue)
{
    catalogue->nholders++;

    return catalogue;
}

void
tg_catalogue_own(tg_catalogue_t *catalogue, void *memory,
                 void (*release)(void *memory))
{
    catalogue->memory = memory;
    catalogue->release = release;
}

void
tg_catalogue_seed(tg_catalogue_t *catalogue, uint64_t seed)
{
    catalogue->seed = seed;
}

void
tg_catalogue_release(tg_catalogue_t *catalogue)
{
    if (catalogue == NULL || --catalogue->nholders != 0) {
        return;
    }

    tg_buf_deinit(&catalogue->listings);
    tg_buf_deinit(&catalogue->legacy);
    tg_free(catalogue->alloc, catalogue->entries);
    tg_free(catalogue->alloc, catalogue->slots);

    if (catalogue->release != NULL) {
        catalogue->release(catalogue->memory);
    } else {
        tg_free(catalogue->alloc, catalogue->memory);
    }

    tg_free(catalogue->alloc, catalogue);
}

/* The slot of a name: of the entry that has it, or the free one for it. */
static size_t
tg_catalogue_slot(const tg_catalogue_t *catalogue, tg_entry_kind_t kind,
                  tg_str_t name)
{
    const tg_entry_t *entry;
    size_t mask, i;
    uint64_t hash;

    mask = catalogue->nslots - 1;
    hash = tg_hash64((TG_HASH64 ^ catalogue->seed) + (uint64_t) kind, name);
    i = (size_t) (hash ^ hash >> 32) & mask;

    for (/* void */;; i = (i + 1) & mask) {
        entry = catalogue->slots[i];

        if (entry == NULL
            || (entry->kind == kind && tg_str_eq(entry->name, name))) {
            return i;
        }
    }
}

static int
tg_catalogue_grow(tg_catalogue_t *catalogue)
{
    tg_entry_t **entries, **slots;
    size_t cap, i;

    if (catalogue->n < catalogue->cap) {
        return TG_OK;
    }

    cap = catalogue->cap ? catalogue->cap * 2 : TG_SLOTS_FIRST / 2;
    entries = catalogue->alloc->resize(catalogue->alloc->ctx,
                                       catalogue->entries,
                                       cap * sizeof(entries[0]));

    if (entries == NULL) {
        return TG_NOMEM;
    }

    catalogue->entries = entries;
    slots = tg_calloc(catalogue->alloc, cap * 2 * sizeof(slots[0]));

    if (slots == NULL) {
        return TG_NOMEM;
    }

    tg_free(catalogue->alloc, catalogue->slots);
    catalogue->slots = slots;
    catalogue->nslots = cap * 2;
    catalogue->cap = cap;

    for (i = 0; i < catalogue->n; i++) {
        slots[tg_catalogue_slot(catalogue, entries[i]->kind,
                                entries[i]->name)] = entries[i];
    }

    return TG_OK;
}

int
tg_catalogue_add(tg_catalogue_t *catalogue, tg_entry_t *entry)
{
    size_t slot;

    if (tg_catalogue_grow(catalogue) != TG_OK) {
        return TG_NOMEM;
    }

    slot = tg_catalogue_slot(catalogue, entry->kind, entry->name);

    if (catalogue->slots[slot] != NULL) {
        return TG_EXISTS;
    }

    entry->index = catalogue->n;
    catalogue->slots[slot] = entry;
    catalogue->entries[catalogue->n++] = entry;

    return TG_OK;
}

/* Adds an entry's digest to that of a list. */
static uint64_t
tg_catalogue_mix(uint64_t hash, const tg_entry_t *entry)
{
    return (hash ^ entry->digest) * UINT64_C(0x100000001b3);
}

void
tg_entry_digest(tg_entry_t *entry)
{
    if (entry->digest != 0) {
        return;
    }

    entry->digest = tg_digest64(TG_HASH64, entry->listing);
    entry->digest += entry->digest == 0;

    if (entry->output_schema.data != NULL) {
        entry->output_digest = tg_hash64(TG_HASH64, entry->output_schema);
    }
}

/*
 * Renders a tool.  Its listings are in buffers that still move, so that their
 * addresses are set by tg_catalogue_place().
 */
static int
tg_catalogue_render(tg_catalogue_t *catalogue, tg_entry_t *entry)
{
    size_t from;
    tg_buf_t *buf;

    buf = &catalogue->listings;
    from = buf->len;
    tg_listing_put(buf, entry);

    if (tg_buf_failed(buf)) {
        return TG_NOMEM;
    }

    entry->listing = tg_str(buf->data + from, buf->len - from);
    entry->digest = 0;
    tg_entry_digest(entry);
    entry->legacy = TG_STR_NONE;

    if (entry->is_modern) {
        from = catalogue->legacy.len;
        tg_listing_put_legacy(&catalogue->legacy, entry->listing);
        entry->legacy.len = catalogue->legacy.len - from;
    }

    entry->listing.data = NULL;

    return tg_buf_failed(&catalogue->legacy) ? TG_NOMEM : TG_OK;
}

/* Sets the addresses of all that was rendered. */
static void
tg_catalogue_place(tg_catalogue_t *catalogue)
{
    const char *listing, *legacy;
    tg_entry_t *entry;
    size_t i;

    listing = catalogue->listings.data;
    legacy = catalogue->legacy.data;

    for (i = 0; i < catalogue->n; i++) {
        entry = catalogue->entries[i];

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
tg_catalogue_seal_some(tg_catalogue_t *catalogue, size_t bytes)
{
    tg_entry_t *entry;
    size_t done;

    for (done = 0; catalogue->nsealed < catalogue->n; catalogue->nsealed++) {
        if (done >= bytes) {
            return TG_AGAIN;
        }

        entry = catalogue->entries[catalogue->nsealed];
        done += sizeof(*entry);

        if (entry->kind != TG_ENTRY_TOOL) {
            tg_entry_digest(entry);
            continue;
        }

        if (entry->digest == 0 || entry->listing.data == NULL) {
            if (tg_catalogue_render(catalogue, entry) != TG_OK) {
                return TG_NOMEM;
            }

            done += entry->listing.len;
        }

        catalogue->digest = tg_catalogue_mix(catalogue->digest, entry);
    }

    tg_catalogue_place(catalogue);

    return TG_OK;
}

int
tg_catalogue_seal(tg_catalogue_t *catalogue)
{
    return tg_catalogue_seal_some(catalogue, SIZE_MAX);
}

tg_alikes_t *
tg_catalogue_alikes(tg_catalogue_t *catalogue)
{
    return &catalogue->alikes;
}

size_t
tg_catalogue_size(const tg_catalogue_t *catalogue)
{
    return catalogue->n;
}

const tg_entry_t *
tg_catalogue_at(const tg_catalogue_t *catalogue, size_t i)
{
    return catalogue->entries[i];
}

int
tg_catalogue_has(const tg_catalogue_t *catalogue, const tg_entry_t *entry)
{
    return entry->index < catalogue->n
           && catalogue->entries[entry->index] == entry;
}

const tg_entry_t *
tg_catalogue_get(const tg_catalogue_t *catalogue, tg_entry_kind_t kind,
                 tg_str_t name)
{
    if (catalogue->n == 0) {
        return NULL;
    }

    return catalogue->slots[tg_catalogue_slot(catalogue, kind, name)];
}

const tg_entry_t *
tg_catalogue_find(const tg_catalogue_t *catalogue, tg_entry_kind_t kind,
                  tg_str_t name)
{
    char text[TG_NAME_MAX * 6];

    if (name.len > sizeof(text)) {
        return NULL;
    }

    if (name.len != 0 && memchr(name.data, '\\', name.len) != NULL) {
        name = tg_str(text, tg_json_decode(text, name));
    }

    return tg_catalogue_get(catalogue, kind, name);
}

uint64_t
tg_catalogue_digest(const tg_catalogue_t *catalogue)
{
    return catalogue != NULL ? catalogue->digest : 0;
}

uint64_t
tg_catalogue_view(const tg_catalogue_t *catalogue,
                  tg_catalogue_visible_pt visible, void *ctx)
{
    const tg_entry_t *entry;
    uint64_t hash;
    size_t i;

    hash = TG_HASH64;

    for (i = 0; i < catalogue->n; i++) {
        entry = catalogue->entries[i];

        if (entry->kind == TG_ENTRY_TOOL
            && (visible == NULL || visible(ctx, entry))) {
            hash = tg_catalogue_mix(hash, entry);
        }
    }

    return hash;
}

/* A cursor is the next entry's index and the digest, in hexadecimal. */
static void
tg_cursor_put(const tg_catalogue_t *catalogue, tg_buf_t *out, size_t index)
{
    tg_buf_printf(out, "%zu.%016" PRIx64, index, catalogue->digest);
}

static int
tg_cursor_read(const tg_catalogue_t *catalogue, tg_str_t cursor, size_t *index)
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
        return TG_BAD;
    }

    body = tg_json_body(cursor);

    if (body.len == 0 || body.len > sizeof(text)) {
        return TG_BAD;
    }

    n = tg_json_decode(text, body);

    for (i = 0; i < n && text[i] >= '0' && text[i] <= '9' && i < 12; i++) {
        *index = *index * 10 + (size_t) (text[i] - '0');
    }

    /* Written anew, it must be the same: no second spelling of a cursor. */
    expected = tg_buf_fixed(digest, sizeof(digest));
    tg_cursor_put(catalogue, &expected, *index);

    return *index != 0 && *index < catalogue->n && n == expected.len
                   && memcmp(text, digest, n) == 0
               ? TG_OK
               : TG_BAD;
}

/* Appends what is visible from i on, as far as limit bytes; where it ended. */
static size_t
tg_catalogue_put(const tg_catalogue_t *catalogue, size_t i, size_t limit,
                 int is_legacy, tg_catalogue_visible_pt visible, void *ctx,
                 tg_buf_t *out)
{
    const tg_entry_t *entry;
    tg_str_t listing;
    size_t start;

    tg_buf_text(out, "\"tools\":[");
    start = out->len;

    for (/* void */; i < catalogue->n; i++) {
        entry = catalogue->entries[i];

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

            tg_buf_char(out, ',');
        }

        tg_buf_str(out, listing);
    }

    tg_buf_char(out, ']');

    return i;
}

static int
tg_catalogue_page(const tg_catalogue_t *catalogue, tg_str_t cursor,
                  int is_legacy, tg_catalogue_visible_pt visible, void *ctx,
                  tg_buf_t *out)
{
    size_t i;

    if (tg_cursor_read(catalogue, cursor, &i) != TG_OK) {
        return TG_BAD;
    }

    i = tg_catalogue_put(catalogue, i, TG_LIST_PAGE, is_legacy, visible, ctx,
                         out);

    if (i < catalogue->n) {
        tg_buf_text(out, ",\"nextCursor\":\"");
        tg_cursor_put(catalogue, out, i);
        tg_buf_char(out, '"');
    }

    return TG_OK;
}

int
tg_catalogue_list(const tg_catalogue_t *catalogue, tg_str_t cursor,
                  tg_catalogue_visible_pt visible, void *ctx, tg_buf_t *out)
{
    return tg_catalogue_page(catalogue, cursor, 0, visible, ctx, out);
}

int
tg_catalogue_list_legacy(const tg_catalogue_t *catalogue, tg_str_t cursor,
                         tg_catalogue_visible_pt visible, void *ctx,
                         tg_buf_t *out)
{
    return tg_catalogue_page(catalogue, cursor, 1, visible, ctx, out);
}

void
tg_catalogue_list_whole(const tg_catalogue_t *catalogue,
                        tg_catalogue_visible_pt visible, void *ctx,
                        tg_buf_t *out)
{
    (void) tg_catalogue_put(catalogue, 0, SIZE_MAX, 1, visible, ctx, out);
}

static void
tg_entry_put_schema(tg_buf_t *out, const tg_entry_t *entry)
{
    tg_buf_text(out, "{\"name\":");
    tg_json_put_string(out, entry->name);
    tg_buf_text(out, ",\"description\":");
    tg_json_put_string(out, entry->description);
    tg_buf_text(out, ",\"input_schema\":");
    tg_json_put_compact(out, entry->input_schema.data != NULL
                                 ? entry->input_schema
                                 : TG_STR(TG_TOOL_NO_ARGUMENTS));
    tg_buf_char(out, '}');
}

void
tg_catalogue_put_schemas(const tg_catalogue_t *catalogue,
                         tg_catalogue_visible_pt visible, void *ctx,
                         tg_buf_t *out)
{
    const tg_entry_t *entry;
    size_t i, n;

    tg_buf_char(out, '[');
    n = 0;

    for (i = 0; i < catalogue->n; i++) {
        entry = catalogue->entries[i];

        if (entry->kind == TG_ENTRY_TOOL
            && (visible == NULL || visible(ctx, entry))) {
            tg_buf_text(out, n++ == 0 ? "\n" : ",\n");
            tg_entry_put_schema(out, entry);
        }
    }

    tg_buf_text(out, "\n]\n");
}

size_t
tg_catalogue_list_size(const tg_catalogue_t *catalogue)
{
    size_t i, size;

    size = 0;

    for (i = 0; i < catalogue->n; i++) {
        if (catalogue->entries[i]->kind == TG_ENTRY_TOOL) {
            size += catalogue->entries[i]->listing.len + 1;
        }
    }

    return size;
}
