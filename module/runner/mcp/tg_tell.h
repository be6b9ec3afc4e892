/*
 * What workers are told of an MCP server that they watch.
 */
#ifndef TG_TELL_H
#define TG_TELL_H

#include "runner/mcp/tg_server.h"

/* Its instances changed: a worker that watches it hears what is new. */
void tg_server_changed(tg_server_t *server);

/* This is its list from now on; workers hear of it one after the other. */
void tg_server_tell_list(tg_server_t *server, tg_catalogue_t *tools);

/* Ends that, and writes down a list that is not written yet. */
void tg_server_tell_end(tg_server_t *server);

/* Something has to be told to a worker that is not there yet. */
void tg_server_retry(tg_server_t *server);

/* Appends its state, members of an object that is left open. */
void tg_server_put_state(tg_buf_t *json, const tg_server_t *server);

/* Nobody is told any more. */
void tg_watches_drop(tg_server_t *server);

#endif
