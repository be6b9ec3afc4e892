/* Numbers of an engine since the runner's start. */
#include "tasks/engine/tg_engine_stats.h"

#include "rule/tg_rule.h"

#include <stdlib.h>

struct tg_engine_stat_s {
    const char *type;
    const char *state;
    uint64_t count;
    size_t len;
    char name[TG_RULE_ID_MAX];
};

static tg_engine_stat_t *
tg_engine_stats_find(tg_engine_stats_t *stats, const char *type, tg_str_t name,
                     const char *state)
{
    tg_engine_stat_t *stat;
    unsigned i;

    for (i = 0; i < stats->n; i++) {
        stat = &stats->stats[i];

        if (strcmp(stat->type, type) == 0 && strcmp(stat->state, state) == 0
            && tg_str_eq(tg_str(stat->name, stat->len), name))
        {
            return stat;
        }
    }

    if (stats->n == TG_ENGINE_STATS_MAX || name.len > sizeof(stat->name)) {
        return NULL;
    }

    if ((stats->n & (stats->n - 1)) == 0) {
        stat = realloc(stats->stats,
                       (stats->n != 0 ? 2 * stats->n : 1) * sizeof(*stat));

        if (stat == NULL) {
            return NULL;
        }

        stats->stats = stat;
    }

    stat = &stats->stats[stats->n++];
    stat->type = type;
    stat->state = state;
    stat->count = 0;
    stat->len = name.len;
    memcpy(stat->name, name.data, name.len);

    return stat;
}

void
tg_engine_stats_add(tg_engine_stats_t *stats, const char *type, tg_str_t name,
                    const char *state)
{
    tg_engine_stat_t *stat;

    stat = tg_engine_stats_find(stats, type, name, state);

    if (stat != NULL) {
        stat->count++;
    }
}

void
tg_engine_stats_write_json(tg_buf_t *json, const tg_engine_stats_t *stats)
{
    const tg_engine_stat_t *stat;
    unsigned i;

    for (i = 0; i < stats->n; i++) {
        stat = &stats->stats[i];
        tg_json_begin_object(json);
        tg_json_add_cstr(json, "type", stat->type);
        tg_json_add_string(json, "name", tg_str(stat->name, stat->len));
        tg_json_add_cstr(json, "state", stat->state);
        tg_json_add_uint(json, "n", stat->count);
        tg_buf_append_char(json, '}');
    }
}

void
tg_engine_stats_free(tg_engine_stats_t *stats)
{
    free(stats->stats);
    stats->stats = NULL;
    stats->n = 0;
}
