/*
 * Channel over which sessions move between workers: a socket pair with one end
 * to send and one to receive, and the registry of receivers. All workers of one
 * NGINX share it. The master creates it once; workers of all cycles inherit it,
 * including those of a new binary. The master's environment contains the
 * descriptors, because the module's static data is lost when its shared object
 * is replaced.
 */
#ifndef _NGX_TG_HANDOFF_CHANNEL_H_INCLUDED_
#define _NGX_TG_HANDOFF_CHANNEL_H_INCLUDED_

#include "nginx/handoff/ngx_tg_handoff_registry.h"

/*
 * Creates or finds the channel in the master, and publishes the listeners of
 * this cycle, once its config is valid. Failure is only logged: without a
 * channel, sessions end at a reload.
 */
void ngx_tg_handoff_channel_init(ngx_cycle_t *cycle, const uint64_t *listeners,
                                 ngx_uint_t n);

/*
 * Registers a worker that will serve tools as starting; handler is the read
 * handler of the channel.
 */
void ngx_tg_handoff_channel_start(ngx_cycle_t *cycle,
                                  ngx_event_handler_pt handler);

/*
 * Starts receiving sessions and registers this worker as serving. Returns 1, or
 * 0 if its config is no longer the newest or it cannot receive.
 */
ngx_uint_t ngx_tg_handoff_channel_announce(void);

/* Pauses receiving for this time, in ms. */
void ngx_tg_handoff_channel_pause(ngx_msec_t time);

/* Registers this worker as leaving. Returns 1 at the first call, else 0. */
ngx_uint_t ngx_tg_handoff_set_leaving(void);

/*
 * Stops receiving. Returns 1 at the first call after
 * ngx_tg_handoff_set_leaving(), else 0.
 */
ngx_uint_t ngx_tg_handoff_channel_stop(void);

/*
 * Checks whether this worker's config is no longer the newest, so that it must
 * not receive.
 */
ngx_uint_t ngx_tg_handoff_is_config_stale(void);

/*
 * Returns the state of the other workers that receive sessions of a listener;
 * 0: of any listener. For NGX_TG_HANDOFF_MASTER_GRACE after this worker starts
 * leaving, masters without workers count as starting: a master may start
 * workers again (HUP to the old binary's, QUIT to the new one's).
 */
ngx_tg_receiver_state_t ngx_tg_handoff_get_receiver_state(uint64_t listener);

/* Checks whether no other worker receives the sessions in the socket pair. */
ngx_uint_t ngx_tg_handoff_is_last_receiver(void);

/*
 * Checks whether another worker of this config should receive the next session,
 * because it has fewer connections than this worker's load.
 */
ngx_uint_t ngx_tg_handoff_has_less_loaded_worker(uint64_t load);

/* Checks whether workers of the newest config are still starting. */
ngx_uint_t ngx_tg_handoff_has_starting_worker(void);

/* Returns the send end of the socket pair, or -1 if there is none. */
ngx_socket_t ngx_tg_handoff_get_send_fd(void);
/* Returns the receive end of the socket pair, or -1 if there is none. */
ngx_socket_t ngx_tg_handoff_get_receive_fd(void);

#endif
