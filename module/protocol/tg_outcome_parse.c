/* Turns the output of a tool into an outcome. */
#include "protocol/tg_outcome.h"

#include "base/tg_scan.h"
#include "base/tg_utf8.h"

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
