#include "tool/tg_fit.h"

#include "core/tg_result_repair.h"

/* Members that are null and may be left out; the others stay. */
#define TG_FIT_NULLS_MAX 32

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

/* --- arguments that are null --- */

/*
 * Writes an object without those of its nulls whose number (0: the first) is
 * in left_out, a set of bits; how many nulls it has, TG_FIT_NULLS_MAX at most.
 */
static unsigned
tg_fit_put(tg_buf_t *out, tg_str_t object, uint32_t left_out)
{
    tg_str_t key, value;
    tg_json_t json;
    unsigned n;

    n = 0;
    tg_buf_truncate(out, 0);
    tg_buf_char(out, '{');
    tg_json_init(&json, object);
    (void) tg_json_object(&json);

    while (tg_json_member(&json, &key) == TG_OK
           && tg_json_value(&json, &value) == TG_OK)
    {
        if (tg_json_type(value) == TG_JSON_NULL && n < TG_FIT_NULLS_MAX
            && (left_out >> n++ & 1))
        {
            continue;
        }

        tg_buf_text(out, out->len > 1 ? ",\"" : "\"");
        tg_buf_put(out, key.data, key.len);
        tg_buf_text(out, "\":");
        tg_buf_put(out, value.data, value.len);
    }

    tg_buf_char(out, '}');

    return n;
}

static int
tg_fit_is_fit(const tg_schema_t *schema, tg_schema_checker_t *checker,
              const tg_buf_t *object)
{
    tg_buf_t why;
    int rc;

    tg_buf_init(&why, object->alloc);
    rc = tg_buf_failed(object)
             ? TG_NOMEM
             : tg_schema_check(schema, checker, tg_buf_view(object), &why);
    tg_buf_deinit(&why);

    return rc == TG_OK;
}

/* A null that fits means something: it stays. */
static int
tg_fit_without_nulls(const tg_schema_t *schema, tg_schema_checker_t *checker,
                     tg_str_t object, tg_buf_t *written)
{
    uint32_t left_out;
    unsigned i, n;

    left_out = UINT32_MAX;
    n = tg_fit_put(written, object, left_out);

    if (n == 0 || !tg_fit_is_fit(schema, checker, written)) {
        return 0;
    }

    for (i = 0; n > 1 && i < n; i++) {
        left_out ^= UINT32_C(1) << i;
        (void) tg_fit_put(written, object, left_out);

        if (!tg_fit_is_fit(schema, checker, written)) {
            left_out ^= UINT32_C(1) << i;
        }
    }

    (void) tg_fit_put(written, object, left_out);

    return 1;
}

int
tg_fit_request(const tg_schema_t *schema, tg_schema_checker_t *checker,
               tg_request_t *request, tg_buf_t *written, tg_outcome_t *outcome,
               tg_buf_t *text)
{
    int rc;

    rc = tg_fit_arguments(schema, checker, request->arguments, outcome, text);

    /* The token of a method is in its params. */
    if (rc != TG_BAD || tg_json_type(request->arguments) != TG_JSON_OBJECT
        || (request->entry->kind == TG_ENTRY_METHOD
            && request->progress_token.data != NULL)
        || !tg_fit_without_nulls(schema, checker, request->arguments, written))
    {
        return rc;
    }

    tg_buf_truncate(text, 0);

    if (tg_buf_failed(written)) {
        return tg_fit_no_memory(outcome);
    }

    request->arguments = tg_buf_view(written);
    request->notes = NULL;

    return TG_OK;
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

    if (outcome->kind != TG_OUTCOME_RESULT
        || tg_result_is_asking(outcome->value)) {
        return 0;
    }

    if (tg_json_get(outcome->value, TG_STR("structuredContent"), value)
        != TG_OK) {
        *value = TG_STR_NONE;
    }

    return 1;
}

/* Has an outcome another result, which was written to text, be its value. */
static int
tg_fit_replace(tg_outcome_t *outcome, const tg_buf_t *text)
{
    if (tg_buf_failed(text)) {
        return tg_fit_no_memory(outcome);
    }

    outcome->value = tg_buf_view(text);

    return TG_OK;
}

/*
 * A tool that says no need not say it in the schema's shape; but clients check
 * that whatever it says, and would tell of nothing but the shape.
 */
static int
tg_fit_error(const tg_schema_t *schema, tg_schema_checker_t *checker,
             tg_str_t value, tg_outcome_t *outcome, tg_buf_t *text)
{
    int rc;

    if (value.data == NULL) {
        return TG_OK;
    }

    rc = checker != NULL ? tg_schema_check(schema, checker, value, text)
                         : TG_NOMEM;

    if (rc == TG_NOMEM) {
        return tg_fit_no_memory(outcome);
    }

    tg_buf_truncate(text, 0);

    if (rc == TG_OK) {
        return TG_OK;
    }

    tg_result_put_unstructured(text, outcome->value);

    return tg_fit_replace(outcome, text);
}

/* The one value of JSON that text is; or absent. */
static tg_str_t
tg_fit_value(const tg_buf_t *text)
{
    tg_json_t json;
    tg_str_t value;

    tg_json_init(&json, tg_buf_view(text));

    return tg_json_value(&json, &value) == TG_OK && tg_json_end(&json) == TG_OK
               ? value
               : TG_STR_NONE;
}

/*
 * A server may say only in a text what its schema is about.  Returns TG_OK if
 * that is so, and the result has it as its structuredContent.
 */
static int
tg_fit_text(const tg_schema_t *schema, tg_schema_checker_t *checker,
            tg_outcome_t *outcome, tg_buf_t *text)
{
    tg_buf_t body, plain;
    tg_str_t value;
    int rc;

    tg_buf_init(&body, text->alloc);
    tg_buf_init(&plain, text->alloc);
    tg_result_texts(&body, outcome->value);
    tg_json_put_decoded(&plain, tg_buf_view(&body));
    value = tg_fit_value(&plain);
    rc = tg_buf_failed(&body) || tg_buf_failed(&plain) || checker == NULL
             ? TG_NOMEM
             : TG_BAD;

    if (rc == TG_BAD && value.data != NULL) {
        rc = tg_schema_check(schema, checker, value, text);
        rc = rc == TG_OK || rc == TG_NOMEM ? rc : TG_BAD;
        tg_buf_truncate(text, 0);
    }

    if (rc == TG_OK) {
        tg_result_put_structured(text, outcome->value, value);
        rc = tg_fit_replace(outcome, text);
    } else if (rc == TG_NOMEM) {
        rc = tg_fit_no_memory(outcome);
    }

    tg_buf_deinit(&body);
    tg_buf_deinit(&plain);

    return rc;
}

static int
tg_fit_unstructured(const tg_schema_t *schema, tg_schema_checker_t *checker,
                    const tg_entry_t *entry, tg_outcome_t *outcome,
                    tg_buf_t *text)
{
    int rc;

    rc = tg_fit_text(schema, checker, outcome, text);

    if (rc != TG_BAD) {
        return rc;
    }

    tg_buf_printf(text,
                  "The result of %.*s has no \"structuredContent\", though "
                  "the tool has an output schema; this is the tool's "
                  "mistake.",
                  (int) entry->name.len, entry->name.data);
    outcome->meta = TG_STR_NONE;

    return tg_fit_failed(TG_FAILURE_OUTPUT, outcome, text);
}

int
tg_fit_outcome(const tg_schema_t *schema, tg_schema_checker_t *checker,
               const tg_entry_t *entry, tg_outcome_t *outcome, tg_buf_t *text)
{
    tg_str_t value;

    if (schema == NULL || !tg_fit_is_structured(entry->kind, outcome, &value)) {
        return TG_OK;
    }

    if (outcome->kind == TG_OUTCOME_RESULT && entry->kind == TG_ENTRY_TOOL
        && tg_result_is_error(outcome->value))
    {
        return tg_fit_error(schema, checker, value, outcome, text);
    }

    if (value.data == NULL) {
        return tg_fit_unstructured(schema, checker, entry, outcome, text);
    }

    tg_buf_printf(text,
                  "The result of %.*s does not fit its output schema; this is "
                  "the tool's mistake. ",
                  (int) entry->name.len, entry->name.data);

    return tg_fit_check(schema, checker, value, TG_FAILURE_OUTPUT, outcome,
                        text);
}
