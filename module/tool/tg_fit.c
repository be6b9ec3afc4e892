#include "tool/tg_fit.h"

static int
tg_fit_no_memory(tg_outcome_t *outcome)
{
    *outcome = tg_outcome_no_memory();

    return TG_NOMEM;
}

/* What does not fit becomes a failure, whose text is written by then. */
static int
tg_fit_failed(tg_failure_t failure, tg_outcome_t *outcome, const tg_buf_t *text)
{
    tg_str_t meta;

    meta = outcome->meta;

    if (tg_buf_failed(text)) {
        return tg_fit_no_memory(outcome);
    }

    *outcome = tg_outcome_failed(failure, tg_buf_view(text));
    outcome->meta = meta;

    return TG_BAD;
}

static int
tg_fit_check(const tg_schema_t *schema, tg_schema_checker_t *checker,
             tg_str_t raw, tg_failure_t failure, tg_outcome_t *outcome,
             tg_buf_t *text)
{
    int rc;

    rc = checker != NULL ? tg_schema_check(schema, checker, raw, text)
                         : TG_NOMEM;

    if (rc == TG_NOMEM) {
        return tg_fit_no_memory(outcome);
    }

    return rc == TG_OK ? TG_OK : tg_fit_failed(failure, outcome, text);
}

int
tg_fit_arguments(const tg_schema_t *schema, tg_schema_checker_t *checker,
                 tg_str_t arguments, tg_outcome_t *outcome, tg_buf_t *text)
{
    outcome->meta = TG_STR_NONE;

    return schema == NULL ? TG_OK
                          : tg_fit_check(schema, checker, arguments,
                                         TG_FAILURE_ARGUMENTS, outcome, text);
}

/* Is there something that the schema is about?  Its data is NULL if not. */
static int
tg_fit_is_structured(tg_entry_kind_t kind, const tg_outcome_t *outcome,
                     tg_str_t *value)
{
    *value = outcome->value;

    if (outcome->kind == TG_OUTCOME_JSON
        || (outcome->kind == TG_OUTCOME_RESULT && kind == TG_ENTRY_METHOD))
    {
        return 1;
    }

    /* A tool that says no, or asks, need not say it in the schema's shape. */
    if (outcome->kind != TG_OUTCOME_RESULT
        || tg_result_is_asking(outcome->value)
        || tg_result_is_error(outcome->value))
    {
        return 0;
    }

    if (tg_json_get(outcome->value, TG_STR("structuredContent"), value)
        != TG_OK) {
        *value = TG_STR_NONE;
    }

    return 1;
}

int
tg_fit_outcome(const tg_schema_t *schema, tg_schema_checker_t *checker,
               const tg_entry_t *entry, tg_outcome_t *outcome, tg_buf_t *text)
{
    tg_str_t value;

    if (schema == NULL || !tg_fit_is_structured(entry->kind, outcome, &value)) {
        return TG_OK;
    }

    if (value.data == NULL) {
        tg_buf_printf(text,
                      "The result of %.*s has no \"structuredContent\", though "
                      "the tool has an output schema; this is the tool's "
                      "mistake.",
                      (int) entry->name.len, entry->name.data);
        outcome->meta = TG_STR_NONE;
        return tg_fit_failed(TG_FAILURE_OUTPUT, outcome, text);
    }

    tg_buf_printf(text,
                  "The result of %.*s does not fit its output schema; this is "
                  "the tool's mistake. ",
                  (int) entry->name.len, entry->name.data);

    return tg_fit_check(schema, checker, value, TG_FAILURE_OUTPUT, outcome,
                        text);
}
