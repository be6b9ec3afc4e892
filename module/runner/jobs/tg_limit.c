/* Limits of running and waiting calls, in a list. */
#include "runner/jobs/tg_limit.h"

#include <stdlib.h>

/* Finds a limit by a linear search: the list has only current calls' keys. */
static tg_limit_t *
tg_limits_lookup(tg_limit_t *list, const char *key)
{
    tg_limit_t *limit;

    for (limit = list; limit != NULL; limit = limit->next) {
        if (strcmp(limit->key, key) == 0) {
            return limit;
        }
    }

    return NULL;
}

tg_limit_t *
tg_limits_update(tg_limit_t *list, const tg_limit_spec_t *spec)
{
    tg_limit_t *limit;

    limit = tg_limits_lookup(list, spec->key);

    if (limit != NULL) {
        limit->concurrency = spec->concurrency;
        limit->queue = spec->queue;
    }

    return limit;
}

tg_limit_t *
tg_limits_acquire(tg_limit_t **list, const tg_limit_spec_t *spec, int is_old)
{
    tg_limit_t *limit;
    size_t size;

    limit = is_old ? tg_limits_lookup(*list, spec->key)
                   : tg_limits_update(*list, spec);

    if (limit != NULL) {
        limit->refs++;
        return limit;
    }

    size = strlen(spec->key) + 1;
    limit = calloc(1, sizeof(*limit) + size);

    if (limit == NULL) {
        return NULL;
    }

    memcpy(limit->key, spec->key, size);
    limit->concurrency = spec->concurrency;
    limit->queue = spec->queue;
    limit->refs = 1;
    limit->next = *list;
    *list = limit;

    return limit;
}

void
tg_limits_release(tg_limit_t **list, tg_limit_t *limit)
{
    if (--limit->refs != 0) {
        return;
    }

    while (*list != limit) {
        list = &(*list)->next;
    }

    *list = limit->next;
    free(limit);
}

int
tg_limit_is_busy(const tg_limit_t *limit)
{
    return limit->nrunning >= limit->concurrency;
}

/*
 * Checks whether more calls wait than `queue` allows, beyond those for which
 * the limit has free slots: they wait for something else.
 */
int
tg_limit_is_queue_full(const tg_limit_t *limit)
{
    unsigned places;

    places = tg_limit_is_busy(limit) ? 0 : limit->concurrency - limit->nrunning;

    return limit->nwaiting >= places + limit->queue;
}

void
tg_limit_append_text(tg_buf_t *text, const tg_limit_t *limit, const char *name)
{
    tg_buf_printf(text, "%u call%s (%s %u) and ", limit->nrunning,
                  limit->nrunning == 1 ? " runs" : "s run", name,
                  limit->concurrency);

    if (limit->queue == 0 && limit->nwaiting == 0) {
        tg_buf_append_cstr(text, "none may wait (queue=0)");
    } else {
        tg_buf_printf(text, "%u wait%s (queue=%u)", limit->nwaiting,
                      limit->nwaiting == 1 ? "s" : "", limit->queue);
    }
}
