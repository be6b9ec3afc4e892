/*
 * One tool as clients are listed it (MCP "Tool").
 */
#ifndef TG_LISTING_H
#define TG_LISTING_H

#include "core/tg_catalogue.h"

/* Appends an entry: its own listing, or what its slices say. */
void tg_listing_put(tg_buf_t *buf, const tg_entry_t *entry);

/* Appends a listing without its outputSchema, for clients of the legacy era. */
void tg_listing_put_legacy(tg_buf_t *buf, tg_str_t listing);

#endif
