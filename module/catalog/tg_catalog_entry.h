/* The listing of one entry for clients. */
#ifndef TG_CATALOG_ENTRY_H
#define TG_CATALOG_ENTRY_H

#include "catalog/tg_catalog.h"

/* Appends the entry's own listing, or one made from its members. */
void tg_catalog_entry_write_json(tg_buf_t *buf,
                                 const tg_catalog_entry_t *entry);

/* Appends a listing without outputSchema, for clients of the legacy era. */
void tg_catalog_entry_write_legacy(tg_buf_t *buf, tg_str_t listing);

#endif
