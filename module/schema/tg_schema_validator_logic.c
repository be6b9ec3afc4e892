/*
 * Validation of allOf, anyOf, oneOf, not, if. Branches are tried silently, and
 * their evaluated entries count only on success. If all fail, the one with the
 * deepest failure, which was most likely meant, runs again to report its error.
 */
#include "schema/tg_schema_validator.h"

#define TG_SCHEMA_NO_BRANCH SIZE_MAX

/* Longest error text, in bytes, to which branches are added. */
#define TG_SCHEMA_ERROR_BRANCHES_MAX 1000

typedef struct {
    size_t n_fit;
    size_t first; /* first branch that is valid */
    size_t second;
    size_t best; /* failed branch with the deepest failure */
    unsigned best_score;
    unsigned types;   /* types expected by the failed branches */
    int is_all_types; /* 1: each branch failed because of the value's type */
} tg_schema_branches_t;

int
tg_schema_try_node(tg_schema_run_t *run, const tg_schema_node_t *node,
                   const char *at, const tg_schema_bitset_t *marks)
{
    tg_schema_bitset_t own;
    tg_buf_t *error;
    size_t words;
    int rc;

    error = run->error;
    words = run->validator->n_words;
    run->error = NULL;
    rc = tg_schema_run_spend(run, 1);

    if (rc == TG_OK && marks == NULL) {
        rc = tg_schema_check_node(run, node, at, NULL);

    } else if (rc == TG_OK) {
        rc = tg_schema_bitset_alloc(run, marks->n, &own);

        if (rc == TG_OK) {
            rc = tg_schema_check_node(run, node, at, &own);
        }

        if (rc == TG_OK) {
            tg_schema_bitset_merge(run, marks, &own);
        }
    }

    run->validator->n_words = words;
    run->error = error;

    return rc;
}

static void
tg_schema_record_failed_branch(tg_schema_run_t *run,
                               tg_schema_branches_t *branches, size_t i,
                               const char *at)
{
    if (run->fail_at == at
        && run->fail_score == run->level * 4 + TG_SCHEMA_FAIL_TYPE)
    {
        branches->types |= run->fail_types;
    } else {
        branches->is_all_types = 0;
    }

    if (branches->best == TG_SCHEMA_NO_BRANCH
        || run->fail_score > branches->best_score)
    {
        branches->best = i;
        branches->best_score = run->fail_score;
    }
}

/* Tries branches until `enough` of them are valid. */
static int
tg_schema_try_branches(tg_schema_run_t *run, const tg_schema_nodes_t *nodes,
                       const char *at, const tg_schema_bitset_t *marks,
                       size_t enough, tg_schema_branches_t *branches)
{
    size_t i;
    int rc;

    memset(branches, 0, sizeof(*branches));
    branches->best = TG_SCHEMA_NO_BRANCH;
    branches->is_all_types = 1;

    for (i = 0; i < nodes->n && branches->n_fit < enough; i++) {
        rc = tg_schema_try_node(run, nodes->list[i], at, marks);

        if (rc == TG_INVALID) {
            tg_schema_record_failed_branch(run, branches, i, at);
            continue;
        }

        if (rc != TG_OK) {
            return rc;
        }

        if (branches->n_fit++ == 0) {
            branches->first = i;
        } else {
            branches->second = i;
        }
    }

    return TG_OK;
}

/*
 * Appends the error of the best branch. The result is known, so a lack of steps
 * only shortens the text; report is NULL meanwhile, so that no limit writes an
 * error.
 */
static void
tg_schema_append_best_branch(tg_schema_run_t *run,
                             const tg_schema_nodes_t *nodes, const char *at,
                             const tg_schema_branches_t *branches,
                             tg_buf_t *out)
{
    tg_buf_t *report;
    size_t start, words;
    int rc;

    start = out->len;
    report = run->report;
    words = run->validator->n_words;

    if (start - run->report_start > TG_SCHEMA_ERROR_BRANCHES_MAX) {
        return;
    }

    tg_buf_append_cstr(out, "; closest is number ");
    tg_buf_append_uint(out, branches->best + 1);
    tg_buf_append_cstr(out, ": ");

    run->report = NULL;
    rc = tg_schema_check_node(run, nodes->list[branches->best], at, NULL);
    run->report = report;
    run->validator->n_words = words;

    if (rc != TG_INVALID) {
        tg_buf_truncate(out, start);
    }
}

static int
tg_schema_fail_branches(tg_schema_run_t *run, const tg_schema_nodes_t *nodes,
                        const char *at, const char *rule,
                        const tg_schema_branches_t *branches)
{
    unsigned score;
    tg_buf_t *out;

    if (branches->is_all_types && branches->types != 0) {
        return tg_schema_fail_type(run, at, branches->types);
    }

    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_RULE);
    score = run->fail_score;

    if (out != NULL) {
        tg_buf_append_cstr(out, "matches none of the ");
        tg_buf_append_uint(out, nodes->n);
        tg_buf_append_cstr(out, " schemas of ");
        tg_buf_append_cstr(out, rule);
        tg_schema_append_best_branch(run, nodes, at, branches, out);
    }

    /* The score for an enclosing anyOf or oneOf: that of the best branch. */
    run->fail_at = at;
    run->fail_score = branches->best_score > score ? branches->best_score
                                                   : score;

    return TG_INVALID;
}

static int
tg_schema_check_all_of(tg_schema_run_t *run, const tg_schema_nodes_t *nodes,
                       const char *at, const tg_schema_bitset_t *marks)
{
    size_t i;
    int rc;

    for (i = 0, rc = TG_OK; rc == TG_OK && i < nodes->n; i++) {
        rc = tg_schema_check_node(run, nodes->list[i], at, marks);
    }

    return rc;
}

static int
tg_schema_check_any_of(tg_schema_run_t *run, const tg_schema_nodes_t *nodes,
                       const char *at, const tg_schema_bitset_t *marks)
{
    tg_schema_branches_t branches;
    int rc;

    /* With marks, try all branches: each valid one adds evaluated entries. */
    rc = tg_schema_try_branches(run, nodes, at, marks,
                                marks != NULL ? SIZE_MAX : 1, &branches);

    if (rc != TG_OK || branches.n_fit != 0) {
        return rc;
    }

    return tg_schema_fail_branches(run, nodes, at, "anyOf", &branches);
}

static int
tg_schema_check_one_of(tg_schema_run_t *run, const tg_schema_nodes_t *nodes,
                       const char *at, const tg_schema_bitset_t *marks)
{
    tg_schema_branches_t branches;
    tg_buf_t *out;
    int rc;

    rc = tg_schema_try_branches(run, nodes, at, marks, 2, &branches);

    if (rc != TG_OK || branches.n_fit == 1) {
        return rc;
    }

    if (branches.n_fit == 0) {
        return tg_schema_fail_branches(run, nodes, at, "oneOf", &branches);
    }

    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_append_cstr(
            out, "must match exactly one schema of oneOf, matches numbers ");
        tg_buf_append_uint(out, branches.first + 1);
        tg_buf_append_cstr(out, " and ");
        tg_buf_append_uint(out, branches.second + 1);
    }

    return TG_INVALID;
}

static int
tg_schema_check_not(tg_schema_run_t *run, const tg_schema_node_t *node,
                    const char *at)
{
    int rc;

    rc = tg_schema_try_node(run, node, at, NULL);

    if (rc != TG_OK) {
        return rc == TG_INVALID ? TG_OK : rc;
    }

    return tg_schema_fail_bound(run, at, "must not match the schema of \"not\"",
                                TG_STR(""));
}

static int
tg_schema_check_if(tg_schema_run_t *run, const tg_schema_logic_t *logic,
                   const char *at, const tg_schema_bitset_t *marks)
{
    const tg_schema_node_t *node;
    int rc;

    rc = tg_schema_try_node(run, logic->if_schema, at, marks);

    if (rc != TG_OK && rc != TG_INVALID) {
        return rc;
    }

    node = rc == TG_OK ? logic->then_schema : logic->else_schema;

    return node != NULL ? tg_schema_check_node(run, node, at, marks) : TG_OK;
}

int
tg_schema_check_logic(tg_schema_run_t *run, const tg_schema_node_t *node,
                      const char *at, const tg_schema_bitset_t *marks)
{
    const tg_schema_logic_t *logic;
    int rc;

    logic = node->logic;
    rc = tg_schema_check_all_of(run, &logic->all, at, marks);

    if (rc == TG_OK && logic->any.n != 0) {
        rc = tg_schema_check_any_of(run, &logic->any, at, marks);
    }

    if (rc == TG_OK && logic->one.n != 0) {
        rc = tg_schema_check_one_of(run, &logic->one, at, marks);
    }

    if (rc == TG_OK && logic->not_schema != NULL) {
        rc = tg_schema_check_not(run, logic->not_schema, at);
    }

    if (rc == TG_OK && logic->if_schema != NULL) {
        rc = tg_schema_check_if(run, logic, at, marks);
    }

    return rc;
}
