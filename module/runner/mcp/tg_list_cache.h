/*
 * Stores data of each MCP server in files of the state directory, mode 0600.
 *
 *   STATE_DIR/mcp/KEY.json      last lists, {"tools":[…],"prompts":[…],…};
 *                               served before the server was ever started
 *   STATE_DIR/mcp/PLACE.last    last lists of the server with this call
 *                               target, whatever its other params are; NGINX
 *                               reads it after a change of its config
 *   STATE_DIR/mcp/NAME.name     KEY of the last list of the config block NAME;
 *                               used after the block calls another server
 *   STATE_DIR/mcp/KEY.sessions  HTTP sessions; after the runner was killed,
 *                               the next one ends them (tg_mcp_sessions.h)
 *
 * Functions that write return 0 or an errno value.
 */
#ifndef TG_LIST_CACHE_H
#define TG_LIST_CACHE_H

#include "runner/mcp/tg_mcp_lists.h"

/* Days after which a file is removed unless a worker has subscribed. */
#define TG_LIST_CACHE_DAYS 30

/* Reads lists into initialized ones, which stay unknown if none is valid. */
void tg_list_cache_read(const char *dir, const char *key, uint64_t seed,
                        tg_mcp_lists_t *lists);

/* Writes the lists of a key. */
int tg_list_cache_write(const char *dir, const char *key,
                        const tg_mcp_lists_t *lists);

/* Writes the lists of a call target, unless `place` is empty. */
int tg_list_cache_write_last(const char *dir, const char *place,
                             const tg_mcp_lists_t *lists);

/*
 * Records that config blocks with this name have the list of `key`. Ignores a
 * name with other characters than letters, digits, - and _.
 */
int tg_list_cache_write_name(const char *dir, const char *name,
                             const char *key);

/* Appends the sessions of a key, if there are any. */
void tg_list_cache_read_sessions(const char *dir, const char *key,
                                 tg_buf_t *text);

/* Writes the sessions of a key; removes the file if `text` is empty. */
int tg_list_cache_write_sessions(const char *dir, const char *key,
                                 tg_str_t text);

/* Sets the files' time to now, because a worker has subscribed. */
void tg_list_cache_touch(const char *dir, const char *key, const char *place);

/* Removes expired files, and an earlier runner's unfinished ones. */
void tg_list_cache_remove_expired(const char *dir);

#endif
