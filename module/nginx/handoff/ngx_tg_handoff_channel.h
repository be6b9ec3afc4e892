/*
 * What all workers of one NGINX share so that sessions can move between
 * them: a pair of sockets, into whose one end they are put and from whose
 * other end they are taken, and the page of who takes.
 *
 * The master makes them once.  Workers of all cycles inherit them, a new
 * binary too; where they are stands in the master's environment, since a
 * module object that was replaced knows nothing of its predecessor.
 */
#ifndef _NGX_TG_HANDOFF_CHANNEL_H_INCLUDED_
#define _NGX_TG_HANDOFF_CHANNEL_H_INCLUDED_

#include "nginx/handoff/ngx_tg_handoff_registry.h"

/*
 * In the master, once a cycle's config is settled: makes or finds both, and
 * offers what this cycle listens on.  Without them sessions end at a reload,
 * so that a failure is logged and no more.
 */
void ngx_tg_handoff_channel_init(ngx_cycle_t *cycle, const uint64_t *listeners,
                                 ngx_uint_t n);

/* In a worker that is to serve tools: others know that it starts. */
void ngx_tg_handoff_channel_start(ngx_cycle_t *cycle,
                                  ngx_event_handler_pt handler);

/*
 * This worker has started: it takes what others put, by its handler.  1; 0 if
 * its config is not the newest any more, or it cannot take anything.
 */
ngx_uint_t ngx_tg_handoff_channel_announce(void);

/* Looks again for what others put after this time, not before. */
void ngx_tg_handoff_channel_pause(ngx_msec_t time);

/* This worker was told to exit: 1 when that was not known yet. */
ngx_uint_t ngx_tg_handoff_set_leaving(void);

/*
 * This worker takes nothing any more: 1 when it took something until now, and
 * was told to exit.
 */
ngx_uint_t ngx_tg_handoff_channel_stop(void);

/* Is this worker to take no more, as another config is the newest one? */
ngx_uint_t ngx_tg_handoff_is_config_stale(void);

/*
 * Who takes a session of this listener, but this worker?  For a moment after
 * this worker was told to exit, also another master counts that is there but
 * has no workers: it may be about to start some (HUP to the old binary's, QUIT
 * to the new one's).
 */
ngx_tg_receiver_state_t ngx_tg_handoff_get_receiver_state(uint64_t listener);

/* Is there nobody else who takes anything that waits in the pair? */
ngx_uint_t ngx_tg_handoff_is_last_receiver(void);

/*
 * Is another worker of this config to take the next session, as it has fewer
 * connections than this worker, which has load?
 */
ngx_uint_t ngx_tg_handoff_has_less_loaded_worker(uint64_t load);

/* Do workers of the newest config still start? */
ngx_uint_t ngx_tg_handoff_has_starting_worker(void);

/* The ends to put into and to take from; -1: there is no pair. */
ngx_socket_t ngx_tg_handoff_get_send_fd(void);
ngx_socket_t ngx_tg_handoff_get_receive_fd(void);

#endif
