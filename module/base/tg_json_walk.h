/*
 * Walks a JSON text in steps, so that a large one holds up nobody: the members
 * or elements of the outermost value, and those of the objects and arrays in
 * it.  Whatever nests deeper is passed as a whole.
 *
 *     tg_json_walk_init(&walk, text, 0);
 *     while ((rc = tg_json_walk(&walk)) == TG_OK) {
 *         switch (walk.event) …
 *     }
 *     rc is TG_END when text is one valid JSON value
 */
#ifndef TG_JSON_WALK_H
#define TG_JSON_WALK_H

#include "base/tg_json.h"

typedef enum {
    TG_JSON_WALK_ROOT,  /* the outermost value is of this type */
    TG_JSON_WALK_BEGIN, /* a value of it, which is an object or array, begins */
    TG_JSON_WALK_ITEM,  /* a value of that one */
    TG_JSON_WALK_MEMBER, /* a value of the outermost one was passed */
} tg_json_walk_event_t;

typedef struct {
    tg_json_cursor_t json;
    tg_json_walk_event_t event;
    tg_json_type_t type; /* of ROOT, BEGIN, MEMBER */
    tg_str_t key;   /* in the outermost value: its escaped body, or absent */
    tg_str_t value; /* of ITEM, MEMBER: raw */

    /* Of tg_json_walk(): containers that are open, the outermost first. */
    tg_json_type_t open[2];
    unsigned nopen;
    int has_begun;
    const char *start; /* of the value that is open */
} tg_json_walk_t;

/* The text stands within depth containers more. */
void tg_json_walk_init(tg_json_walk_t *walk, tg_str_t text, int depth);

/*
 * Takes the next step: TG_OK, TG_END, TG_INVALID, TG_LIMIT: it nests too deep.
 */
int tg_json_walk(tg_json_walk_t *walk);

/* Bytes that are walked. */
static inline size_t
tg_json_walk_get_offset(const tg_json_walk_t *walk)
{
    return (size_t) (walk->json.pos - walk->json.start);
}

#endif
