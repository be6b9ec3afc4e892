/*
 * Walks a JSON text in steps, so that a large text does not block the event
 * loop. Visits the members or elements of the outermost value and the values of
 * the containers in it; deeper containers are skipped as a whole.
 *
 *     tg_json_walk_init(&walk, text, 0);
 *     while ((rc = tg_json_walk(&walk)) == TG_OK) {
 *         switch (walk.event) …
 *     }
 *     rc is TG_END if text is one valid JSON value
 */
#ifndef TG_JSON_WALK_H
#define TG_JSON_WALK_H

#include "base/tg_json.h"

typedef enum {
    TG_JSON_WALK_ROOT, /* start of the outermost value (a scalar: all of it) */
    /* an object or array in the outermost value begins */
    TG_JSON_WALK_BEGIN,
    /* a value in the object or array of the last BEGIN was read */
    TG_JSON_WALK_ITEM,
    /* a value in the outermost value was read */
    TG_JSON_WALK_MEMBER,
} tg_json_walk_event_t;

typedef struct {
    tg_json_cursor_t json;
    tg_json_walk_event_t event;
    tg_json_type_t type; /* type of the value, in ROOT, BEGIN and MEMBER */
    tg_str_t key;        /* escaped key in the outermost object, or absent */
    tg_str_t value;      /* raw value, in ITEM and MEMBER */

    /* Private to tg_json_walk(): the open containers, the outermost first. */
    tg_json_type_t open[2];
    unsigned nopen;
    int has_begun;
    const char *start;
} tg_json_walk_t;

/* Starts a walk. depth is the number of containers around the text. */
void tg_json_walk_init(tg_json_walk_t *walk, tg_str_t text, int depth);

/* Takes the next step. Returns TG_OK, TG_END, TG_INVALID or TG_LIMIT. */
int tg_json_walk(tg_json_walk_t *walk);

static inline size_t
tg_json_walk_get_offset(const tg_json_walk_t *walk)
{
    return (size_t) (walk->json.pos - walk->json.start);
}

#endif
