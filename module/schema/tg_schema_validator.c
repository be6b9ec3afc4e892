/* Validation of a value against a node: all rules, the cheap ones first. */
#include "schema/tg_schema_validator.h"

static int
tg_schema_is_integer(tg_schema_run_t *run, const char *at)
{
    tg_number_t number;
    tg_str_t raw;
    size_t i;

    raw = tg_schema_get_raw(run, at);
    tg_schema_run_spend_bytes(run, raw.len);

    for (i = 0; i < raw.len; i++) {
        if (raw.data[i] == '.' || (raw.data[i] | 0x20) == 'e') {
            break;
        }
    }

    if (i == raw.len) {
        return 1;
    }

    tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP + raw.len);

    /* A number whose exponent is out of range does not count as an integer. */
    return tg_number_parse(raw, &number) == TG_OK
           && tg_number_is_integer(&number);
}

static int
tg_schema_check_type(tg_schema_run_t *run, const tg_schema_node_t *node,
                     const char *at)
{
    unsigned type;

    type = tg_schema_type_of_char(*at);

    if (node->types & type) {
        return TG_OK;
    }

    if (type == TG_SCHEMA_TYPE_NUMBER && (node->types & TG_SCHEMA_TYPE_INTEGER)
        && tg_schema_is_integer(run, at))
    {
        return TG_OK;
    }

    return tg_schema_fail_type(run, at, node->types);
}

static int
tg_schema_check_type_and_values(tg_schema_run_t *run,
                                const tg_schema_node_t *node, const char *at)
{
    int rc;

    if (node->is_false) {
        return tg_schema_fail_text(run, at, TG_SCHEMA_FAIL_VALUE,
                                   "no value is allowed here; leave it out");
    }

    rc = node->types != TG_SCHEMA_TYPE_ANY ? tg_schema_check_type(run, node, at)
                                           : TG_OK;

    if (rc == TG_OK && (node->constant != NULL || node->values != NULL)) {
        rc = tg_schema_check_const_and_enum(run, node, at);
    }

    return rc;
}

static int
tg_schema_check_by_type(tg_schema_run_t *run, const tg_schema_node_t *node,
                        const char *at, const tg_schema_bitset_t *marks)
{
    switch (*at) {
    case '{':
        return node->object != NULL
                   ? tg_schema_check_object(run, node, at, marks)
                   : TG_OK;
    case '[':
        return node->array != NULL ? tg_schema_check_array(run, node, at, marks)
                                   : TG_OK;
    case '"':
        return node->string != NULL ? tg_schema_check_string(run, node, at)
                                    : TG_OK;
    case 't':
    case 'f':
    case 'n':
        return TG_OK;
    default:
        return node->number != NULL ? tg_schema_check_number(run, node, at)
                                    : TG_OK;
    }
}

/* Finds the anchor of this name in the outermost resource that has one. */
static const tg_schema_node_t *
tg_schema_find_dynamic_target(tg_schema_run_t *run,
                              const tg_schema_node_t *node)
{
    const tg_schema_node_t *target;
    const tg_schema_anchor_t *anchor;
    const tg_schema_scope_t *scope;

    target = node->dynamic_ref;

    if (node->dynamic_name.data == NULL) {
        return target;
    }

    for (scope = run->scope; scope != NULL; scope = scope->outer) {
        tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP / 4
                                           * (1 + scope->resource->n_anchors));
        anchor = tg_schema_anchor_find(scope->resource, node->dynamic_name);

        if (anchor != NULL && anchor->is_dynamic) {
            target = anchor->node;
        }
    }

    return target;
}

static int
tg_schema_check_refs(tg_schema_run_t *run, const tg_schema_node_t *node,
                     const char *at, const tg_schema_bitset_t *marks)
{
    int rc;

    rc = node->ref != NULL ? tg_schema_check_node(run, node->ref, at, marks)
                           : TG_OK;

    if (rc == TG_OK && node->dynamic_ref != NULL) {
        rc = tg_schema_check_node(run, tg_schema_find_dynamic_target(run, node),
                                  at, marks);
    }

    return rc;
}

static int
tg_schema_check_rules(tg_schema_run_t *run, const tg_schema_node_t *node,
                      const char *at, const tg_schema_bitset_t *marks)
{
    int rc;

    rc = tg_schema_check_type_and_values(run, node, at);

    if (rc == TG_OK) {
        rc = tg_schema_check_by_type(run, node, at, marks);
    }

    if (rc == TG_OK && (node->ref != NULL || node->dynamic_ref != NULL)) {
        rc = tg_schema_check_refs(run, node, at, marks);
    }

    if (rc == TG_OK && node->logic != NULL) {
        rc = tg_schema_check_logic(run, node, at, marks);
    }

    return rc;
}

/*
 * Checks unevaluated… rules. They consider what the own schema evaluates, but
 * not its siblings, so the evaluated entries are collected in a separate set.
 * After success all entries count as evaluated.
 */
static int
tg_schema_check_with_unevaluated(tg_schema_run_t *run,
                                 const tg_schema_node_t *node, const char *at,
                                 const tg_schema_bitset_t *marks)
{
    tg_schema_bitset_t own;
    size_t words;
    int rc;

    words = run->validator->n_words;
    tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP);
    rc = tg_schema_bitset_alloc(run, tg_schema_run_count_entries(run, at),
                                &own);

    if (rc == TG_OK) {
        rc = tg_schema_check_rules(run, node, at, &own);
    }

    if (rc == TG_OK) {
        rc = tg_schema_check_unevaluated(run, node, at, &own);
    }

    if (rc == TG_OK && marks != NULL) {
        tg_schema_bitset_fill(run, marks);
    }

    run->validator->n_words = words;

    return rc;
}

static int
tg_schema_has_unevaluated(const tg_schema_node_t *node, const char *at)
{
    return (*at == '{' && node->unevaluated_properties != NULL)
           || (*at == '[' && node->unevaluated_items != NULL);
}

int
tg_schema_check_node(tg_schema_run_t *run, const tg_schema_node_t *node,
                     const char *at, const tg_schema_bitset_t *marks)
{
    const tg_schema_scope_t *outer;
    tg_schema_scope_t scope;
    int rc;

    if (node->is_true) {
        return TG_OK;
    }

    rc = tg_schema_run_spend(run, 1);

    if (rc != TG_OK) {
        return rc;
    }

    if (run->depth == run->schema->max_depth) {
        return tg_schema_fail_limit(run,
                                    "schemas nest too deep here: one refers "
                                    "to itself without end, or the value "
                                    "nests too deep");
    }

    outer = run->scope;

    if (outer == NULL || outer->resource != node->resource) {
        scope.outer = outer;
        scope.resource = node->resource;
        run->scope = &scope;
    }

    run->depth++;
    rc = tg_schema_has_unevaluated(node, at)
             ? tg_schema_check_with_unevaluated(run, node, at, marks)
             : tg_schema_check_rules(run, node, at, marks);
    run->depth--;
    run->scope = outer;

    return rc;
}

int
tg_schema_check_child(tg_schema_run_t *run, const tg_schema_node_t *node,
                      const char *at)
{
    int rc;

    run->level++;
    rc = tg_schema_check_node(run, node, at, NULL);
    run->level--;

    return rc;
}

uint64_t
tg_schema_get_step_budget(size_t bytes, uint64_t most, uint64_t spent)
{
    uint64_t steps;

    steps = TG_SCHEMA_BASE_STEPS + TG_SCHEMA_STEPS_PER_BYTE * (uint64_t) bytes;
    steps = steps < most ? steps : most;

    return spent < steps ? steps - spent : 0;
}

int
tg_schema_validate(const tg_schema_t *schema, tg_schema_validator_t *validator,
                   tg_str_t raw, tg_buf_t *error)
{
    tg_schema_run_t run;
    uint64_t budget;
    int rc;

    budget = validator->spent != NULL
                 ? tg_schema_get_step_budget(validator->frame_bytes,
                                             schema->max_steps,
                                             *validator->spent)
                 : tg_schema_get_step_budget(raw.len, schema->max_steps, 0);
    memset(&run, 0, sizeof(run));
    run.schema = schema;
    run.validator = validator;
    run.start = raw.data;
    run.end = raw.data + raw.len;
    run.report = error;
    run.error = error;
    run.report_start = error != NULL ? error->len : 0;
    run.steps = budget;
    validator->n_words = 0;
    validator->n_items = 0;
    rc = tg_schema_check_node(&run, schema->root,
                              tg_schema_skip_space(raw.data), NULL);
    tg_schema_validator_shrink(validator);

    if (validator->spent != NULL) {
        *validator->spent += budget - run.steps;
    }

    if (rc == TG_NOMEM && error != NULL) {
        tg_buf_truncate(error, run.report_start);
    }

    return rc == TG_EXISTS ? TG_INVALID : rc;
}
