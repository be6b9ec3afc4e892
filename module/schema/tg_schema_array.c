/* Arrays, and what unevaluated… leaves to check in both containers. */
#include "schema/tg_schema_run.h"

static int
tg_schema_check_element(tg_schema_run_t *run,
                        const tg_schema_array_rules_t *rules,
                        const tg_schema_walk_t *walk,
                        const tg_schema_marks_t *marks, size_t *n_fit)
{
    const tg_schema_node_t *node;
    int is_known, rc;

    node = walk->index < rules->prefix.n ? rules->prefix.list[walk->index]
                                         : rules->items;
    is_known = node != NULL;
    rc = TG_OK;

    if (node != NULL) {
        rc = tg_schema_check_child(run, node, walk->value);
    }

    if (rc == TG_OK && rules->contains != NULL) {
        run->level++;
        rc = tg_schema_try(run, rules->contains, walk->value, NULL);
        run->level--;

        if (rc == TG_OK) {
            is_known = 1;
            (*n_fit)++;

        } else if (rc == TG_BAD) {
            rc = TG_OK;
        }
    }

    if (is_known && marks != NULL) {
        tg_schema_marks_set(run, marks, walk->index);
    }

    return rc;
}

static int
tg_schema_check_unique(tg_schema_run_t *run, const char *at)
{
    tg_schema_same_t same;
    tg_buf_t *out;
    int rc;

    rc = tg_schema_find_same(run, at, &same);

    if (rc != TG_END) {
        return rc;
    }

    out = tg_schema_refuse(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_text(out, "items must be unique, but ");
        tg_buf_uint(out, same.first);
        tg_buf_text(out, " and ");
        tg_buf_uint(out, same.second);
        tg_buf_text(out, " are equal: ");
        tg_schema_put_value(out, tg_schema_raw(run, same.at));
    }

    return TG_BAD;
}

int
tg_schema_check_array(tg_schema_run_t *run, const tg_schema_node_t *node,
                      const char *at, const tg_schema_marks_t *marks)
{
    static const char *const items[] = { " item", " items" };
    static const char *const fitting[] = { " items that fit \"contains\"",
                                           " items that fit \"contains\"" };
    const tg_schema_array_rules_t *rules;
    tg_schema_walk_t walk;
    size_t n_fit;
    int rc;

    rules = node->array;
    n_fit = 0;
    tg_schema_walk_init(&walk, at);

    while ((rc = tg_schema_walk(run, &walk)) == TG_OK) {
        rc = tg_schema_check_element(run, rules, &walk, marks, &n_fit);

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    rc = tg_schema_check_count(run, at, walk.index, rules->min, rules->max,
                               items);

    if (rc == TG_OK && rules->contains != NULL) {
        rc = tg_schema_check_count(run, at, n_fit, rules->min_contains,
                                   rules->max_contains, fitting);
    }

    if (rc == TG_OK && rules->is_unique && walk.index > 1) {
        rc = tg_schema_check_unique(run, at);
    }

    return rc;
}

static int
tg_schema_check_leftover(tg_schema_run_t *run, const tg_schema_node_t *node,
                         const char *at, int is_object)
{
    int rc;

    if (!node->is_false) {
        return tg_schema_check_child(run, node, at);
    }

    run->level++;
    rc = tg_schema_refuse_text(run, at, TG_SCHEMA_FAIL_VALUE,
                               is_object
                                   ? "unknown property (unevaluatedProperties)"
                                   : "item not allowed (unevaluatedItems)");
    run->level--;

    return rc;
}

int
tg_schema_check_unevaluated(tg_schema_run_t *run, const tg_schema_node_t *node,
                            const char *at, const tg_schema_marks_t *marks)
{
    const tg_schema_node_t *rest;
    tg_schema_walk_t walk;
    int is_object, rc;

    is_object = *at == '{';
    rest = is_object ? node->unevaluated_properties : node->unevaluated_items;
    tg_schema_walk_init(&walk, at);

    for (;;) {
        rc = tg_schema_walk(run, &walk);

        if (rc != TG_OK) {
            return rc == TG_END ? TG_OK : rc;
        }

        if (!tg_schema_marks_has(run, marks, walk.index)) {
            rc = tg_schema_check_leftover(run, rest, walk.value, is_object);

            if (rc != TG_OK) {
                return rc;
            }
        }
    }
}
