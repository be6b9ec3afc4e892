/* Validation of call arguments and outcomes against a tool's schemas. */
#include "protocol/tg_tool_validate.h"

#include "catalog/tg_tool_result_repair.h"

/* Maximum number of null members that may be left out; others stay. */
#define TG_TOOL_VALIDATE_NULLS_MAX 32

static int
tg_tool_validate_set_no_memory(tg_outcome_t *outcome)
{
    *outcome = tg_outcome_make_no_memory();

    return TG_NOMEM;
}

/* Makes the outcome a failure with this text. TG_INVALID or TG_NOMEM. */
static int
tg_tool_validate_set_failure(tg_failure_t failure, tg_outcome_t *outcome,
                             const tg_buf_t *text)
{
    tg_str_t meta;

    meta = outcome->meta;

    if (tg_buf_has_failed(text)) {
        return tg_tool_validate_set_no_memory(outcome);
    }

    *outcome = tg_outcome_make_failure_str(failure, tg_buf_view(text));
    outcome->meta = meta;

    return TG_INVALID;
}

static int
tg_tool_validate_value(const tg_schema_t *schema,
                       tg_schema_validator_t *validator, tg_str_t raw,
                       tg_failure_t failure, tg_outcome_t *outcome,
                       tg_buf_t *text)
{
    int rc;

    rc = validator != NULL ? tg_schema_validate(schema, validator, raw, text)
                           : TG_NOMEM;

    if (rc == TG_NOMEM) {
        return tg_tool_validate_set_no_memory(outcome);
    }

    return rc == TG_OK ? TG_OK
                       : tg_tool_validate_set_failure(failure, outcome, text);
}

int
tg_tool_validate_args(const tg_schema_t *schema,
                      tg_schema_validator_t *validator, tg_str_t arguments,
                      tg_outcome_t *outcome, tg_buf_t *text)
{
    outcome->meta = TG_STR_NONE;

    return schema == NULL
               ? TG_OK
               : tg_tool_validate_value(schema, validator, arguments,
                                        TG_FAILURE_ARGUMENTS, outcome, text);
}

/*
 * Omits the null members whose bits are set in left_out; bit 0 is the first
 * null. Returns the number of nulls, at most TG_TOOL_VALIDATE_NULLS_MAX.
 */
static unsigned
tg_tool_validate_write_without_nulls(tg_buf_t *out, tg_str_t object,
                                     uint32_t left_out)
{
    tg_str_t key, value;
    tg_json_cursor_t json;
    unsigned n;

    n = 0;
    tg_buf_truncate(out, 0);
    tg_buf_append_char(out, '{');
    tg_json_iter_init_members(&json, object);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        if (tg_json_type(value) == TG_JSON_NULL
            && n < TG_TOOL_VALIDATE_NULLS_MAX && (left_out >> n++ & 1))
        {
            continue;
        }

        tg_json_begin_raw_member(out, key);
        tg_buf_append_str(out, value);
    }

    tg_buf_append_char(out, '}');

    return n;
}

static int
tg_tool_validate_is_valid(const tg_schema_t *schema,
                          tg_schema_validator_t *validator,
                          const tg_buf_t *object)
{
    tg_buf_t why;
    int rc;

    tg_buf_init(&why, object->alloc);
    rc = tg_buf_has_failed(object)
             ? TG_NOMEM
             : tg_schema_validate(schema, validator, tg_buf_view(object), &why);
    tg_buf_deinit(&why);

    return rc == TG_OK;
}

/* Drops invalid null members. Returns 1 if the object is valid then. */
static int
tg_tool_validate_drop_nulls(const tg_schema_t *schema,
                            tg_schema_validator_t *validator, tg_str_t object,
                            tg_buf_t *written)
{
    uint32_t left_out;
    unsigned i, n;

    left_out = UINT32_MAX;
    n = tg_tool_validate_write_without_nulls(written, object, left_out);

    if (n == 0 || !tg_tool_validate_is_valid(schema, validator, written)) {
        return 0;
    }

    for (i = 0; n > 1 && i < n; i++) {
        left_out ^= UINT32_C(1) << i;
        (void) tg_tool_validate_write_without_nulls(written, object, left_out);

        if (!tg_tool_validate_is_valid(schema, validator, written)) {
            left_out ^= UINT32_C(1) << i;
        }
    }

    (void) tg_tool_validate_write_without_nulls(written, object, left_out);

    return 1;
}

int
tg_tool_validate_request(const tg_schema_t *schema,
                         tg_schema_validator_t *validator,
                         tg_request_t *request, tg_buf_t *written,
                         tg_outcome_t *outcome, tg_buf_t *text)
{
    int rc;

    rc = tg_tool_validate_args(schema, validator, request->arguments, outcome,
                               text);

    /* A method's arguments are its params, which contain the progress token. */
    if (rc != TG_INVALID || tg_json_type(request->arguments) != TG_JSON_OBJECT
        || (request->entry->kind == TG_ENTRY_METHOD
            && request->progress_token.data != NULL)
        || !tg_tool_validate_drop_nulls(schema, validator, request->arguments,
                                        written))
    {
        return rc;
    }

    tg_buf_truncate(text, 0);

    if (tg_buf_has_failed(written)) {
        return tg_tool_validate_set_no_memory(outcome);
    }

    request->arguments = tg_buf_view(written);
    request->notes = NULL;

    return TG_OK;
}

/* Finds the value for the output schema. Returns 0 if there is none. */
static int
tg_tool_validate_find_structured(tg_catalog_entry_type_t kind,
                                 const tg_outcome_t *outcome, tg_str_t *value)
{
    *value = outcome->value;

    if (outcome->kind == TG_OUTCOME_JSON
        || (outcome->kind == TG_OUTCOME_RESULT && kind == TG_ENTRY_METHOD))
    {
        return 1;
    }

    if (outcome->kind != TG_OUTCOME_RESULT
        || tg_tool_result_is_input_required(outcome->value))
    {
        return 0;
    }

    if (tg_json_get_member(outcome->value, TG_STR("structuredContent"), value)
        != TG_OK)
    {
        *value = TG_STR_NONE;
    }

    return 1;
}

/* Makes the result in text the value of the outcome. */
static int
tg_tool_validate_replace_value(tg_outcome_t *outcome, const tg_buf_t *text)
{
    if (tg_buf_has_failed(text)) {
        return tg_tool_validate_set_no_memory(outcome);
    }

    outcome->value = tg_buf_view(text);

    return TG_OK;
}

/*
 * Validates an error's structuredContent. It need not match the schema, but
 * clients validate it and would hide the error, so it is removed if invalid.
 */
static int
tg_tool_validate_error_result(const tg_schema_t *schema,
                              tg_schema_validator_t *validator, tg_str_t value,
                              tg_outcome_t *outcome, tg_buf_t *text)
{
    int rc;

    if (value.data == NULL) {
        return TG_OK;
    }

    rc = validator != NULL ? tg_schema_validate(schema, validator, value, text)
                           : TG_NOMEM;

    if (rc == TG_NOMEM) {
        return tg_tool_validate_set_no_memory(outcome);
    }

    tg_buf_truncate(text, 0);

    if (rc == TG_OK) {
        return TG_OK;
    }

    tg_tool_result_write_unstructured(text, outcome->value);

    return tg_tool_validate_replace_value(outcome, text);
}

/* Parses the text as one JSON value, or returns an absent slice. */
static tg_str_t
tg_tool_validate_parse_value(const tg_buf_t *text)
{
    tg_json_cursor_t json;
    tg_str_t value;

    tg_json_init(&json, tg_buf_view(text));

    return tg_json_read_value(&json, &value) == TG_OK
                   && tg_json_expect_end(&json) == TG_OK
               ? value
               : TG_STR_NONE;
}

/*
 * Adds structuredContent if the result's text block is valid JSON for it;
 * otherwise returns TG_INVALID or TG_NOMEM.
 */
static int
tg_tool_validate_text_result(const tg_schema_t *schema,
                             tg_schema_validator_t *validator,
                             tg_outcome_t *outcome, tg_buf_t *text)
{
    tg_buf_t body, plain;
    tg_str_t value;
    int rc;

    tg_buf_init(&body, text->alloc);
    tg_buf_init(&plain, text->alloc);
    tg_tool_result_write_texts(&body, outcome->value);
    tg_json_append_unescaped(&plain, tg_buf_view(&body));
    value = tg_tool_validate_parse_value(&plain);
    rc = tg_buf_has_failed(&body) || tg_buf_has_failed(&plain)
                 || validator == NULL
             ? TG_NOMEM
             : TG_INVALID;

    if (rc == TG_INVALID && value.data != NULL) {
        rc = tg_schema_validate(schema, validator, value, text);
        rc = rc == TG_OK || rc == TG_NOMEM ? rc : TG_INVALID;
        tg_buf_truncate(text, 0);
    }

    if (rc == TG_OK) {
        tg_tool_result_write_structured(text, outcome->value, value);
        rc = tg_tool_validate_replace_value(outcome, text);
    } else if (rc == TG_NOMEM) {
        rc = tg_tool_validate_set_no_memory(outcome);
    }

    tg_buf_deinit(&body);
    tg_buf_deinit(&plain);

    return rc;
}

static int
tg_tool_validate_unstructured(const tg_schema_t *schema,
                              tg_schema_validator_t *validator,
                              const tg_catalog_entry_t *entry,
                              tg_outcome_t *outcome, tg_buf_t *text)
{
    int rc;

    rc = tg_tool_validate_text_result(schema, validator, outcome, text);

    if (rc != TG_INVALID) {
        return rc;
    }

    tg_buf_printf(text,
                  "The result of %.*s has no \"structuredContent\", but the "
                  "tool has an output schema; this is an error of the tool.",
                  (int) entry->name.len, entry->name.data);
    outcome->meta = TG_STR_NONE;

    return tg_tool_validate_set_failure(TG_FAILURE_OUTPUT, outcome, text);
}

int
tg_tool_validate_outcome(const tg_schema_t *schema,
                         tg_schema_validator_t *validator,
                         const tg_catalog_entry_t *entry, tg_outcome_t *outcome,
                         tg_buf_t *text)
{
    tg_str_t value;

    if (schema == NULL
        || !tg_tool_validate_find_structured(entry->kind, outcome, &value))
    {
        return TG_OK;
    }

    if (outcome->kind == TG_OUTCOME_RESULT && entry->kind == TG_ENTRY_TOOL
        && tg_tool_result_is_error(outcome->value))
    {
        return tg_tool_validate_error_result(schema, validator, value, outcome,
                                             text);
    }

    if (value.data == NULL) {
        return tg_tool_validate_unstructured(schema, validator, entry, outcome,
                                             text);
    }

    tg_buf_printf(text,
                  "The result of %.*s does not match its output schema; this "
                  "is an error of the tool. ",
                  (int) entry->name.len, entry->name.data);

    return tg_tool_validate_value(schema, validator, value, TG_FAILURE_OUTPUT,
                                  outcome, text);
}
