/* Stepwise walk through a JSON text; see tg_json_walk.h. */
#include "base/tg_json_walk.h"

void
tg_json_walk_init(tg_json_walk_t *walk, tg_str_t text, int depth)
{
    memset(walk, 0, sizeof(*walk));
    tg_json_init(&walk->json, text);
    walk->json.depth = depth;
}

static int
tg_json_is_container(tg_json_type_t type)
{
    return type == TG_JSON_OBJECT || type == TG_JSON_ARRAY;
}

static int
tg_json_walk_enter(tg_json_walk_t *walk, tg_json_walk_event_t event)
{
    int rc;

    walk->event = event;
    walk->start = walk->json.pos;
    rc = walk->type == TG_JSON_OBJECT ? tg_json_enter_object(&walk->json)
                                      : tg_json_enter_array(&walk->json);

    if (rc == TG_OK) {
        walk->open[walk->nopen++] = walk->type;
    }

    return rc;
}

static int
tg_json_walk_read_value(tg_json_walk_t *walk, tg_json_walk_event_t event)
{
    walk->event = event;

    return tg_json_read_value(&walk->json, &walk->value);
}

static int
tg_json_walk_visit_root(tg_json_walk_t *walk)
{
    if (walk->has_begun) {
        return tg_json_expect_end(&walk->json) == TG_OK ? TG_END : TG_INVALID;
    }

    walk->has_begun = 1;
    walk->type = tg_json_peek_type(&walk->json);

    return tg_json_is_container(walk->type)
               ? tg_json_walk_enter(walk, TG_JSON_WALK_ROOT)
               : tg_json_walk_read_value(walk, TG_JSON_WALK_ROOT);
}

/* Leaves a container, and reports the next event of its parent. */
static int
tg_json_walk_leave(tg_json_walk_t *walk)
{
    walk->nopen--;

    if (walk->nopen == 0) {
        return tg_json_walk_visit_root(walk);
    }

    walk->event = TG_JSON_WALK_MEMBER;
    walk->type = walk->open[1];
    walk->value = tg_str(walk->start, (size_t) (walk->json.pos - walk->start));

    return TG_OK;
}

int
tg_json_walk(tg_json_walk_t *walk)
{
    tg_str_t key;
    int rc;

    if (walk->nopen == 0) {
        return tg_json_walk_visit_root(walk);
    }

    key = TG_STR_NONE;
    rc = walk->open[walk->nopen - 1] == TG_JSON_OBJECT
             ? tg_json_next_member(&walk->json, &key)
             : tg_json_next_element(&walk->json);

    if (rc == TG_END) {
        return tg_json_walk_leave(walk);
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (walk->nopen == 2) {
        return tg_json_walk_read_value(walk, TG_JSON_WALK_ITEM);
    }

    walk->key = key;
    walk->type = tg_json_peek_type(&walk->json);

    return tg_json_is_container(walk->type)
               ? tg_json_walk_enter(walk, TG_JSON_WALK_BEGIN)
               : tg_json_walk_read_value(walk, TG_JSON_WALK_MEMBER);
}
