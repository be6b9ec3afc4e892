/*
 * What is known of each MCP server, in the state directory, mode 0600: its
 * last list of tools, which is told before the server has ever been started,
 * also by NGINX itself; the same for NGINX alone, of whoever is called in this
 * way, for the time after its config has changed; which of these lists the
 * block of a name had last, for the time after it calls another server; and
 * its sessions over HTTP, which a runner that was killed leaves to the next
 * one to end (tg_mcp_sessions.h).
 *
 *   STATE_DIR/mcp/KEY.json       {"tools":[…]}
 *   STATE_DIR/mcp/PLACE.last     the same
 *   STATE_DIR/mcp/NAME.name      KEY
 *   STATE_DIR/mcp/KEY.sessions
 */
#ifndef TG_LIST_CACHE_H
#define TG_LIST_CACHE_H

#include "catalog/tg_catalog.h"

/* One that nobody has watched for so long is of no config any more. */
#define TG_LIST_CACHE_DAYS 30

/* NULL: there is none.  Held once. */
tg_catalog_t *tg_list_cache_read(const char *dir, const char *key,
                                 uint64_t seed);

/* Writes the list of a key: 0 or an errno. */
int tg_list_cache_write(const char *dir, const char *key,
                        const tg_catalog_t *tools);

/* Writes the list of a place, which may be empty: 0 or an errno. */
int tg_list_cache_write_last(const char *dir, const char *place,
                             const tg_catalog_t *tools);

/*
 * The list of key is that of the blocks with this name.  0 or an errno; a name
 * that is not letters, digits, - and _ is left out.
 */
int tg_list_cache_write_name(const char *dir, const char *name,
                             const char *key);

/* Appends its sessions, if there are any. */
void tg_list_cache_read_sessions(const char *dir, const char *key,
                                 tg_buf_t *text);

/* 0 or an errno; without text there are none. */
int tg_list_cache_write_sessions(const char *dir, const char *key,
                                 tg_str_t text);

/* Somebody watches it. */
void tg_list_cache_touch(const char *dir, const char *key, const char *place);

/* Removes what is old, and what was being written when a runner ended. */
void tg_list_cache_remove_expired(const char *dir);

#endif
