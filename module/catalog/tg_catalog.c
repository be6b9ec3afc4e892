/* The catalog: names, rendered listings, and digests of all kinds. */
#include "catalog/tg_catalog_impl.h"

#include "catalog/tg_catalog_entry.h"

#define TG_CATALOG_SLOTS_MIN 16

tg_catalog_t *
tg_catalog_new(const tg_alloc_t *alloc)
{
    tg_catalog_t *catalog;
    size_t i;

    catalog = tg_calloc(alloc, sizeof(*catalog));

    if (catalog != NULL) {
        catalog->alloc = alloc;
        catalog->nrefs = 1;

        for (i = 0; i < TG_ENTRY_KINDS; i++) {
            catalog->digests[i] = TG_HASH_INIT;
        }

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
    tg_free(catalog->alloc, catalog->templates);
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

static int
tg_catalog_add_template(tg_catalog_t *catalog, tg_catalog_entry_t *entry)
{
    tg_catalog_entry_t **templates;
    size_t n;

    if (catalog->ntemplates == catalog->max_templates) {
        n = catalog->max_templates != 0 ? catalog->max_templates * 2
                                        : TG_CATALOG_SLOTS_MIN / 2;
        templates = catalog->alloc->resize(catalog->alloc->ctx,
                                           catalog->templates,
                                           n * sizeof(templates[0]));

        if (templates == NULL) {
            return TG_NOMEM;
        }

        catalog->templates = templates;
        catalog->max_templates = n;
    }

    catalog->templates[catalog->ntemplates++] = entry;

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

    if (entry->kind == TG_ENTRY_TEMPLATE
        && tg_catalog_add_template(catalog, entry) != TG_OK)
    {
        return TG_NOMEM;
    }

    entry->index = catalog->n;
    catalog->slots[slot] = entry;
    catalog->entries[catalog->n++] = entry;

    return TG_OK;
}

/* Returns the kind of the list to which an entry contributes. */
static tg_catalog_entry_type_t
tg_catalog_get_list_kind(const tg_catalog_entry_t *entry)
{
    return entry->is_unlisted ? TG_ENTRY_RESOURCE : entry->kind;
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
    uint64_t *digest;
    size_t done;

    for (done = 0; catalog->nsealed < catalog->n; catalog->nsealed++) {
        if (done >= bytes) {
            return TG_AGAIN;
        }

        entry = catalog->entries[catalog->nsealed];
        done += sizeof(*entry);

        if (!tg_catalog_is_listed_kind(entry->kind)) {
            tg_catalog_entry_set_digest(entry);
            continue;
        }

        if (entry->digest == 0 || entry->listing.data == NULL) {
            if (tg_catalog_render_entry(catalog, entry) != TG_OK) {
                return TG_NOMEM;
            }

            done += entry->listing.len;
        }

        digest = &catalog->digests[tg_catalog_get_list_kind(entry)];
        *digest = tg_catalog_mix_digest(*digest, entry);
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

const tg_catalog_entry_t *
tg_catalog_find_uri(const tg_catalog_t *catalog, tg_str_t uri,
                    tg_buf_t *arguments)
{
    const tg_catalog_entry_t *entry;
    size_t i;

    entry = tg_catalog_find(catalog, TG_ENTRY_RESOURCE, uri);

    if (entry != NULL) {
        tg_buf_append_cstr(arguments, "{}");
        return tg_buf_has_failed(arguments) ? NULL : entry;
    }

    for (i = 0; i < catalog->ntemplates; i++) {
        entry = catalog->templates[i];

        if (tg_uri_template_match(entry->uri_template, uri, arguments)
            != TG_MISSING) {
            return tg_buf_has_failed(arguments) ? NULL : entry;
        }
    }

    return NULL;
}

void
tg_completion_write_key(tg_buf_t *key, tg_catalog_entry_type_t kind,
                        tg_str_t name, tg_str_t argument)
{
    tg_buf_append_cstr(key, kind == TG_ENTRY_PROMPT ? "prompt " : "template ");
    tg_buf_append_str(key, name);
    tg_buf_append_char(key, ' ');
    tg_buf_append_str(key, argument);
}

uint64_t
tg_catalog_digest(const tg_catalog_t *catalog, tg_catalog_entry_type_t kind)
{
    return catalog != NULL ? catalog->digests[kind] : 0;
}

tg_catalog_view_t
tg_catalog_get_view(const tg_catalog_t *catalog,
                    tg_catalog_is_visible_pt visible, void *ctx)
{
    const tg_catalog_entry_t *entry;
    tg_catalog_view_t view;
    uint64_t *hash;
    size_t i;

    for (i = 0; i < TG_ENTRY_KINDS; i++) {
        view.kinds[i] = TG_HASH_INIT;
    }

    for (i = 0; i < catalog->n; i++) {
        entry = catalog->entries[i];

        if (tg_catalog_is_listed_kind(entry->kind)
            && (visible == NULL || visible(ctx, entry)))
        {
            hash = &view.kinds[tg_catalog_get_list_kind(entry)];
            *hash = tg_catalog_mix_digest(*hash, entry);
        }
    }

    return view;
}

unsigned
tg_catalog_view_compare(const tg_catalog_view_t *a, const tg_catalog_view_t *b)
{
    unsigned kind, changes;

    for (kind = 0, changes = 0; kind < TG_ENTRY_KINDS; kind++) {
        changes |= a->kinds[kind] != b->kinds[kind] ? 1U << kind : 0;
    }

    return changes;
}
