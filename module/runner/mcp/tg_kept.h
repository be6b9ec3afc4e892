/*
 * The last list of tools of each MCP server, in the state directory: it is
 * told before the server has ever been started, also by NGINX itself.
 *
 *   STATE_DIR/mcp/KEY.json   {"tools":[…]}, mode 0600
 */
#ifndef TG_KEPT_H
#define TG_KEPT_H

#include "core/tg_catalogue.h"

/* One that nobody has watched for so long is of no config any more. */
#define TG_KEPT_DAYS 30

/* NULL: there is none.  Held once. */
tg_catalogue_t *tg_kept_read(const char *dir, const char *key, uint64_t seed);

/* 0 or an errno. */
int tg_kept_write(const char *dir, const char *key,
                  const tg_catalogue_t *tools);

/* Somebody watches it. */
void tg_kept_touch(const char *dir, const char *key);

/* Removes what is old, and what was being written when a runner ended. */
void tg_kept_sweep(const char *dir);

#endif
