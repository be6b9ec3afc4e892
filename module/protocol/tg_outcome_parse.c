/* Turns the output of a tool into an outcome. */
#include "protocol/tg_outcome.h"

#include "base/tg_scan.h"
#include "base/tg_utf8.h"

/* Checks the whole result of a prompt or resource, which is valid JSON. */
static tg_outcome_t
tg_outcome_parse_result(tg_catalog_entry_type_t kind, tg_str_t raw)
{
    tg_str_t value;

    if (tg_json_type(raw) == TG_JSON_OBJECT
        && (tg_json_has_member(raw,
                               kind == TG_ENTRY_PROMPT ? TG_STR("messages")
                                                       : TG_STR("contents"),
                               TG_JSON_ARRAY, &value)
            || tg_tool_result_is_input_required(raw)))
    {
        return tg_outcome_make(TG_OUTCOME_RESULT, raw);
    }

    return tg_outcome_make_failure(
        TG_FAILURE_OUTPUT,
        kind == TG_ENTRY_PROMPT
            ? "The output is not the result of a prompt, an object with the "
              "array \"messages\"."
            : "The output is not the result of a resource, an object with the "
              "array \"contents\".");
}

static tg_outcome_t
tg_outcome_parse_structured(const tg_catalog_entry_t *entry, tg_str_t bytes)
{
    tg_tool_result_check_t check;
    tg_outcome_t outcome;
    int rc;

    if (entry->output == TG_OUTPUT_RESULT && entry->kind == TG_ENTRY_TOOL) {
        tg_tool_result_check_begin(&check, bytes, 0);
        (void) tg_tool_result_check_step(&check, SIZE_MAX, &outcome);
        return outcome;
    }

    bytes = tg_outcome_trim(bytes);
    rc = tg_outcome_check_json(bytes);

    if (rc == TG_OK && entry->output == TG_OUTPUT_RESULT
        && (entry->kind == TG_ENTRY_PROMPT || entry->kind == TG_ENTRY_RESOURCE
            || entry->kind == TG_ENTRY_TEMPLATE))
    {
        return tg_outcome_parse_result(entry->kind, bytes);
    }

    return rc == TG_OK ? tg_outcome_make(entry->output == TG_OUTPUT_JSON
                                             ? TG_OUTCOME_JSON
                                             : TG_OUTCOME_RESULT,
                                         bytes)
                       : tg_outcome_make_not_json(rc);
}

tg_outcome_t
tg_outcome_parse_output(const tg_catalog_entry_t *entry, tg_str_t bytes)
{
    const char *stop, *end;

    if (entry->output != TG_OUTPUT_TEXT) {
        return tg_outcome_parse_structured(entry, bytes);
    }

    if (bytes.len == 0) {
        return tg_outcome_make_text(bytes);
    }

    end = tg_str_end(bytes);
    stop = tg_scan_string_utf8(bytes.data, end);

    /* Text without characters to escape is already an escaped body. */
    if (stop == end) {
        return tg_outcome_make(TG_OUTCOME_BODY, bytes);
    }

    if (!tg_utf8_is_valid(tg_str(stop, (size_t) (end - stop)))) {
        return tg_outcome_make_failure(TG_FAILURE_OUTPUT,
                                       "The output is not valid UTF-8 text.");
    }

    return tg_outcome_make_text(bytes);
}
