/*
 * Channel over which sessions move between workers of all cycles and binaries:
 * a socket pair, and the registry of receivers. The master creates it once. The
 * environment has the descriptors, because the module's static data is lost
 * when its shared object is replaced.
 */
#ifndef _NGX_TG_HANDOFF_CHANNEL_H_INCLUDED_
#define _NGX_TG_HANDOFF_CHANNEL_H_INCLUDED_

#include "nginx/handoff/ngx_tg_handoff_registry.h"

/*
 * Creates or finds the channel in the master and publishes the listeners of a
 * valid config. Failure is only logged: sessions then end at a reload.
 */
void ngx_tg_handoff_channel_init(ngx_cycle_t *cycle, const uint64_t *listeners,
                                 ngx_uint_t n);

/* Registers this worker as starting; handler reads the channel. */
void ngx_tg_handoff_channel_start(ngx_cycle_t *cycle,
                                  ngx_event_handler_pt handler);

/*
 * Registers this worker as serving and starts receiving. Returns 1, or 0 if it
 * cannot receive or its config is not the newest.
 */
ngx_uint_t ngx_tg_handoff_channel_announce(void);

/* Pauses receiving for `time` ms. */
void ngx_tg_handoff_channel_pause(ngx_msec_t time);

/* Registers this worker as leaving. Returns 1 at the first call. */
ngx_uint_t ngx_tg_handoff_set_leaving(void);

/* Stops receiving. Returns 1 at the first call after …_set_leaving(). */
ngx_uint_t ngx_tg_handoff_channel_stop(void);

/* Checks whether this worker must not receive: there is a newer config. */
ngx_uint_t ngx_tg_handoff_is_config_stale(void);

/*
 * Returns the state of the other workers that receive sessions of a listener;
 * 0: of any. For NGX_TG_HANDOFF_MASTER_GRACE after this worker starts leaving,
 * masters without workers count as starting: one may start workers again (HUP
 * to the old binary's, QUIT to the new one's).
 */
ngx_tg_receiver_state_t ngx_tg_handoff_get_receiver_state(uint64_t listener);

ngx_uint_t ngx_tg_handoff_is_last_receiver(void);

/* Checks whether a worker of this config has fewer connections than `load`. */
ngx_uint_t ngx_tg_handoff_has_less_loaded_worker(uint64_t load);

/* Checks whether workers of the newest config are starting. */
ngx_uint_t ngx_tg_handoff_has_starting_worker(void);

/* Returns the end of the socket pair that sends, or -1. */
ngx_socket_t ngx_tg_handoff_get_send_fd(void);
ngx_socket_t ngx_tg_handoff_get_receive_fd(void);

#endif
