/*
 * Numbers of an engine since the runner's start: what happened to the tasks of
 * each agent, the firings of each rule, and the requests of webhooks.
 */
#ifndef TG_ENGINE_STATS_H
#define TG_ENGINE_STATS_H

#include "base/tg_json.h"

/* Maximum number of different numbers; further ones are not counted. */
#define TG_ENGINE_STATS_MAX 2048

typedef struct tg_engine_stat_s tg_engine_stat_t;

/* Zeroed at first. */
typedef struct {
    tg_engine_stat_t *stats; /* owned */
    unsigned n;
} tg_engine_stats_t;

/*
 * Counts one event: `type` and `state` are constants, `name` is the name of an
 * agent or rule.
 */
void tg_engine_stats_add(tg_engine_stats_t *stats, const char *type,
                         tg_str_t name, const char *state);

/* Appends elements {"type":"task","name":"say","state":"failed","n":1}. */
void tg_engine_stats_write_json(tg_buf_t *json, const tg_engine_stats_t *stats);

void tg_engine_stats_free(tg_engine_stats_t *stats);

#endif
