/* What only the files of the catalog itself know of it. */
#ifndef TG_CATALOG_IMPL_H
#define TG_CATALOG_IMPL_H

#include "catalog/tg_catalog.h"

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
    tg_catalog_entry_t **templates; /* in the order of addition */
    size_t ntemplates;
    size_t max_templates;
    tg_buf_t listings;
    tg_buf_t legacy; /* legacy listings that differ from listings */
    size_t nsealed;  /* number of entries whose listings are rendered */
    uint64_t digests[TG_ENTRY_KINDS];
    uint64_t seed;
    void *cache; /* see tg_catalog_get_cache() */
};

#endif
