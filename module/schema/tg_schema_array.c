/* Arrays, and what unevaluated… leaves to check in both containers. */
#include "schema/tg_schema_run.h"

static int
tg_schema_refuse_items(tg_schema_run_t *run, const char *at, const char *rule,
                       size_t bound, const char *unit, size_t got)
{
    tg_buf_t *out;

    out = tg_schema_refuse(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_text(out, rule);
        tg_buf_uint(out, bound);
        tg_buf_text(out, unit);
        tg_buf_uint(out, got);
    }

    return TG_BAD;
}

/* Does an element fit `contains`?  Its text would mislead. */
static int
tg_schema_check_contains(tg_schema_run_t *run, const tg_schema_node_t *node,
                         const char *at)
{
    tg_buf_t *error;
    int rc;

    error = run->error;
    run->error = NULL;
    rc = tg_schema_check_child(run, node, at);
    run->error = error;

    return rc;
}

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
        rc = tg_schema_check_contains(run, rules->contains, walk->value);

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
    tg_schema_walk_t walk;
    size_t first, second;
    tg_buf_t *out;
    int rc;

    tg_schema_items_clear(run);
    tg_schema_walk_init(&walk, at);

    while ((rc = tg_schema_walk_element(run, &walk)) == TG_OK) {
        rc = tg_schema_items_add(run, walk.value);

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    rc = tg_schema_items_unique(run, &first, &second);

    if (rc != TG_END) {
        return rc;
    }

    out = tg_schema_refuse(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_text(out, "items must be unique, but ");
        tg_buf_uint(out, first);
        tg_buf_text(out, " and ");
        tg_buf_uint(out, second);
        tg_buf_text(out, " are equal: ");
        tg_schema_put_value(out,
                            tg_schema_raw(run, run->checker->items[second].at));
    }

    return TG_BAD;
}

static int
tg_schema_check_counts(tg_schema_run_t *run,
                       const tg_schema_array_rules_t *rules, const char *at,
                       size_t n, size_t n_fit)
{
    if (n < rules->min) {
        return tg_schema_refuse_items(
            run, at, "must have at least ", rules->min,
            rules->min == 1 ? " item, got " : " items, got ", n);
    }

    if (n > rules->max) {
        return tg_schema_refuse_items(run, at, "must have at most ", rules->max,
                                      rules->max == 1 ? " item, got "
                                                      : " items, got ",
                                      n);
    }

    if (rules->contains == NULL) {
        return TG_OK;
    }

    if (n_fit < rules->min_contains) {
        return tg_schema_refuse_items(run, at, "must have at least ",
                                      rules->min_contains,
                                      " items that fit \"contains\", got ",
                                      n_fit);
    }

    if (n_fit > rules->max_contains) {
        return tg_schema_refuse_items(run, at, "must have at most ",
                                      rules->max_contains,
                                      " items that fit \"contains\", got ",
                                      n_fit);
    }

    return TG_OK;
}

int
tg_schema_check_array(tg_schema_run_t *run, const tg_schema_node_t *node,
                      const char *at, const tg_schema_marks_t *marks)
{
    const tg_schema_array_rules_t *rules;
    tg_schema_walk_t walk;
    size_t n, n_fit;
    int rc;

    rules = node->array;
    n = n_fit = 0;
    tg_schema_walk_init(&walk, at);

    while ((rc = tg_schema_walk_element(run, &walk)) == TG_OK) {
        n++;
        rc = tg_schema_check_element(run, rules, &walk, marks, &n_fit);

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    rc = tg_schema_check_counts(run, rules, at, n, n_fit);

    if (rc == TG_OK && rules->is_unique && n > 1) {
        rc = tg_schema_check_unique(run, at);
    }

    return rc;
}

static int
tg_schema_check_leftover(tg_schema_run_t *run, const tg_schema_node_t *node,
                         const char *at, int is_object)
{
    tg_buf_t *out;

    if (!node->is_false) {
        return tg_schema_check_child(run, node, at);
    }

    run->level++;
    out = tg_schema_refuse(run, at, TG_SCHEMA_FAIL_VALUE);
    run->level--;

    if (out != NULL) {
        tg_buf_text(out, is_object ? "unknown property (unevaluatedProperties)"
                                   : "item not allowed (unevaluatedItems)");
    }

    return TG_BAD;
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
        rc = is_object ? tg_schema_walk_member(run, &walk)
                       : tg_schema_walk_element(run, &walk);

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
