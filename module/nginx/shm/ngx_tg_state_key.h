/*
 * Keys that seal what clients keep for a server (protocol/tg_seal.h): those of
 * `tool_state_key`, or a random one that the master makes once for all workers,
 * reloads and new binaries.
 */
#ifndef _NGX_TG_STATE_KEY_H_INCLUDED_
#define _NGX_TG_STATE_KEY_H_INCLUDED_

#include "nginx/ngx_tg.h"

/* Finds or creates the random key, in the master before its workers start. */
void ngx_tg_state_key_init(ngx_cycle_t *cycle);

/* Reads the random key, in a worker. */
void ngx_tg_state_key_start_worker(ngx_cycle_t *cycle);

/* Returns the keys of a server. NULL: there is no key. */
const tg_seal_keys_t *ngx_tg_state_key_get(const ngx_tg_srv_conf_t *scf);

#endif
