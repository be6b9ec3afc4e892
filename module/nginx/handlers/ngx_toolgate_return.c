/*
 * `return VALUE`: answered at once, in the worker.
 */
#include "nginx/ngx_toolgate.h"

#include <ctype.h>

ngx_str_t
ngx_toolgate_plain_argument(const ngx_str_t *text)
{
    ngx_str_t name;
    ngx_uint_t i;

    name = *text;

    if (name.len > 2 && name.data[0] == '$' && name.data[1] == '{'
        && name.data[name.len - 1] == '}')
    {
        name.data += 2;
        name.len -= 3;

    } else if (name.len > 1 && name.data[0] == '$') {
        name.data++;
        name.len--;

    } else {
        name.len = 0;
    }

    if (name.len <= sizeof("tool_arg_") - 1
        || ngx_strncmp(name.data, "tool_arg_", sizeof("tool_arg_") - 1) != 0)
    {
        return (ngx_str_t) ngx_null_string;
    }

    name.data += sizeof("tool_arg_") - 1;
    name.len -= sizeof("tool_arg_") - 1;

    for (i = 0; i < name.len; i++) {
        /* Others NGINX lowers, or ends the name at. */
        if (!islower(name.data[i]) && !isdigit(name.data[i])
            && name.data[i] != '_') {
            return (ngx_str_t) ngx_null_string;
        }
    }

    return name;
}

/*
 * The value is one argument: a string is passed on as it came, and of others
 * the JSON is the text.  Not so with escaped surrogates: half a pair is nothing
 * that other parsers take.
 */
static ngx_uint_t
ngx_toolgate_return_argument(ngx_toolgate_call_t *call, tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_json_note_t note;

    if (call->tool->argument.len == 0
        || call->tool->entry.output != TG_OUTPUT_TEXT) {
        return 0;
    }

    ngx_toolgate_argument(call->tool, request, &call->tool->argument, &note);

    if (note.value.data == NULL) {
        return 0;
    }

    if (tg_json_type(note.value) != TG_JSON_STRING) {
        outcome = tg_outcome_text(note.value);

    } else if (note.escapes & TG_JSON_HALVES) {
        return 0;

    } else {
        outcome = tg_outcome_text(tg_json_body(note.value));
        outcome.kind = TG_OUTCOME_BODY;
    }

    ngx_toolgate_answer(call, &outcome);

    return 1;
}

void
ngx_toolgate_return_handler(ngx_toolgate_call_t *call, tg_request_t *request)
{
    tg_outcome_t outcome;
    ngx_str_t text;

    if (ngx_toolgate_return_argument(call, request)) {
        return;
    }

    if (ngx_toolgate_value(call, call->tool->value, &text) != NGX_OK) {
        ngx_toolgate_fail(call, TG_FAILURE_INTERNAL,
                          "Toolgate has no memory left; try again.");
        return;
    }

    outcome = tg_outcome_output(&call->tool->entry,
                                tg_str((const char *) text.data, text.len));
    ngx_toolgate_answer(call, &outcome);
}
