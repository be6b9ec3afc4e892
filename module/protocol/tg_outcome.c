/* Outcomes: construction, checks, and their JSON form between processes. */
#include "protocol/tg_outcome.h"

#include "base/tg_utf8.h"

tg_outcome_t
tg_outcome_make_text(tg_str_t text)
{
    return tg_outcome_make(TG_OUTCOME_TEXT, text);
}

tg_outcome_t
tg_outcome_make_failure(tg_failure_t failure, const char *text)
{
    return tg_outcome_make_failure_str(failure, tg_str_from_cstr(text));
}

tg_outcome_t
tg_outcome_make_failure_str(tg_failure_t failure, tg_str_t text)
{
    return (tg_outcome_t){ .kind = TG_OUTCOME_FAILURE,
                           .failure = failure,
                           .value = text };
}

tg_outcome_t
tg_outcome_make_no_memory(void)
{
    return tg_outcome_make_failure(TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
}

int
tg_outcome_check_json(tg_str_t bytes)
{
    tg_json_cursor_t json;
    int rc;

    tg_json_init(&json, bytes);
    json.depth = TG_REPLY_DEPTH;
    rc = tg_json_read_value(&json, NULL);

    return rc == TG_OK ? tg_json_expect_end(&json) : rc;
}

int
tg_outcome_is_too_deep(tg_str_t raw)
{
    /* Each level has two brackets. */
    return raw.len > 2 * (TG_JSON_MAX_DEPTH - TG_REPLY_DEPTH)
           && tg_outcome_check_json(raw) == TG_LIMIT;
}

tg_outcome_t
tg_outcome_make_too_deep(void)
{
    return tg_outcome_make_failure(
        TG_FAILURE_OUTPUT,
        "The output nests deeper than the 125 levels that a reply can "
        "carry.");
}

tg_outcome_t
tg_outcome_make_not_json(int rc)
{
    return rc == TG_LIMIT ? tg_outcome_make_too_deep()
                          : tg_outcome_make_failure(
                              TG_FAILURE_OUTPUT,
                              "The output is not one valid JSON value.");
}

tg_str_t
tg_outcome_trim(tg_str_t bytes)
{
    bytes = tg_str_skip_blanks(bytes);

    while (bytes.len != 0
           && memchr(" \t\r\n", bytes.data[bytes.len - 1], 4) != NULL)
    {
        bytes.len--;
    }

    return bytes;
}

void
tg_outcome_explain(tg_outcome_t *outcome, tg_str_t tool, tg_str_t bytes,
                   tg_buf_t *text)
{
    size_t len;

    if (outcome->kind != TG_OUTCOME_FAILURE) {
        return;
    }

    /* Cut at the end of a whole character. */
    for (len = bytes.len; len > TG_OUTCOME_QUOTE_MAX; /* void */) {
        len = TG_OUTCOME_QUOTE_MAX;

        while (len > TG_OUTCOME_QUOTE_MAX - 4
               && (bytes.data[len] & 0xc0) == 0x80) {
            len--;
        }
    }

    tg_buf_append_str(text, tool);
    tg_buf_append_cstr(text, ": ");
    tg_buf_append_str(text, outcome->value);
    tg_buf_append_cstr(text, bytes.len == 0    ? " It is empty."
                             : len < bytes.len ? " It begins: "
                                               : " It is: ");
    tg_utf8_append_visible(text, tg_str(bytes.data, len), 0);

    outcome->value = tg_buf_view(text);

    if (tg_buf_has_failed(text)) {
        *outcome = tg_outcome_make_no_memory();
    }
}

static const char *const tg_failure_names[] = {
    "ok",   "unknown", "arguments", "program",  "timeout", "lost",
    "busy", "ended",   "output",    "internal", "size",
};

/* Members of the JSON: the tg_outcome_type_t values, then the others. */
enum {
    TG_OUTCOME_FAILURE_NAME = TG_OUTCOME_FAILURE + 1,
    TG_OUTCOME_CODE,
    TG_OUTCOME_DATA,
    TG_OUTCOME_QUEUED_MS,
    TG_OUTCOME_RAN_MS,
    TG_OUTCOME_EXIT,
    TG_OUTCOME_SIGNAL,
    TG_OUTCOME_RULE,
    TG_OUTCOME_META,
    TG_OUTCOME_MEMBERS
};

static const char *const tg_outcome_members[] = {
    [TG_OUTCOME_TEXT] = "text",
    [TG_OUTCOME_BODY] = "text",
    [TG_OUTCOME_JSON] = "json",
    [TG_OUTCOME_RESULT] = "result",
    [TG_OUTCOME_BLOB] = "blob",
    [TG_OUTCOME_FAILURE] = "message",
    [TG_OUTCOME_FAILURE_NAME] = "failure",
    [TG_OUTCOME_CODE] = "code",
    [TG_OUTCOME_DATA] = "data",
    [TG_OUTCOME_QUEUED_MS] = "queued_ms",
    [TG_OUTCOME_RAN_MS] = "ran_ms",
    [TG_OUTCOME_EXIT] = "exit",
    [TG_OUTCOME_SIGNAL] = "signal",
    [TG_OUTCOME_RULE] = "rule",
    [TG_OUTCOME_META] = "meta",
    [TG_OUTCOME_MEMBERS] = NULL,
};

const char *
tg_failure_name(tg_failure_t failure)
{
    return tg_failure_names[failure];
}

static int
tg_outcome_is_string(const tg_outcome_t *outcome)
{
    return outcome->kind != TG_OUTCOME_JSON
           && outcome->kind != TG_OUTCOME_RESULT;
}

void
tg_outcome_write_begin(tg_buf_t *json, const tg_outcome_t *outcome)
{
    tg_buf_append_char(json, '{');

    if (outcome->kind == TG_OUTCOME_FAILURE) {
        tg_buf_append_cstr(json, "\"failure\":\"");
        tg_buf_append_cstr(json, tg_failure_name(outcome->failure));
        tg_buf_append_cstr(json, "\",");

        if (outcome->has_code) {
            tg_buf_append_cstr(json, "\"code\":");
            tg_buf_append_int(json, outcome->code);
            tg_json_add_compact(json, "data", outcome->data);
            tg_buf_append_char(json, ',');
        }
    }

    tg_buf_append_char(json, '"');
    tg_buf_append_cstr(json, tg_outcome_members[outcome->kind]);
    tg_buf_append_cstr(json, tg_outcome_is_string(outcome) ? "\":\"" : "\":");
}

void
tg_outcome_write_part(tg_buf_t *json, const tg_outcome_t *outcome, size_t at,
                      size_t len)
{
    tg_str_t part;

    part = tg_str(outcome->value.data + at, len);

    if (outcome->kind == TG_OUTCOME_TEXT || outcome->kind == TG_OUTCOME_FAILURE)
    {
        tg_json_write_escaped(json, part);
    } else {
        tg_buf_append_str(json, part);
    }
}

void
tg_outcome_write_end(tg_buf_t *json, const tg_outcome_t *outcome)
{
    if (tg_outcome_is_string(outcome)) {
        tg_buf_append_char(json, '"');
    }

    tg_json_add_compact(json, "meta", outcome->meta);
}

void
tg_outcome_write_json(tg_buf_t *json, const tg_outcome_t *outcome)
{
    tg_outcome_write_begin(json, outcome);
    tg_outcome_write_part(json, outcome, 0, outcome->value.len);
    tg_outcome_write_end(json, outcome);
}

void
tg_run_stats_write_json(tg_buf_t *json, const tg_run_stats_t *ran)
{
    if (ran->queued_ms >= 0) {
        tg_buf_append_cstr(json, ",\"queued_ms\":");
        tg_buf_append_int(json, ran->queued_ms);
    }

    if (ran->ran_ms >= 0) {
        tg_buf_append_cstr(json, ",\"ran_ms\":");
        tg_buf_append_int(json, ran->ran_ms);
    }

    if (ran->has_exited) {
        tg_buf_append_cstr(json, ",\"exit\":");
        tg_buf_append_int(json, ran->exit);
    }

    if (ran->signal != 0) {
        tg_buf_append_cstr(json, ",\"signal\":");
        tg_buf_append_int(json, ran->signal);
    }

    if (ran->rule.data != NULL) {
        tg_buf_append_cstr(json, ",\"rule\":");
        tg_json_write_string(json, ran->rule);
    }
}

static void
tg_run_stats_parse_json(const tg_str_t *values, tg_run_stats_t *ran)
{
    (void) tg_json_parse_int64(values[TG_OUTCOME_QUEUED_MS], &ran->queued_ms);
    (void) tg_json_parse_int64(values[TG_OUTCOME_RAN_MS], &ran->ran_ms);
    (void) tg_json_parse_int64(values[TG_OUTCOME_SIGNAL], &ran->signal);
    ran->has_exited |= tg_json_parse_int64(values[TG_OUTCOME_EXIT], &ran->exit)
                       == TG_OK;

    if (tg_json_type(values[TG_OUTCOME_RULE]) == TG_JSON_STRING) {
        ran->rule = tg_json_string_body(values[TG_OUTCOME_RULE]);
    }
}

static tg_failure_t
tg_outcome_parse_failure(tg_str_t raw)
{
    int i;

    for (i = TG_FAILURE_UNKNOWN; i <= TG_FAILURE_SIZE; i++) {
        if (tg_json_string_eq(raw, tg_str_from_cstr(tg_failure_names[i]))) {
            return (tg_failure_t) i;
        }
    }

    return TG_FAILURE_INTERNAL;
}

static tg_str_t
tg_outcome_get_body(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING ? tg_json_string_body(raw)
                                               : TG_STR("");
}

static tg_outcome_t
tg_outcome_parse_value(const tg_str_t *values, tg_buf_t *scratch)
{
    tg_outcome_t outcome;
    int i;

    if (values[TG_OUTCOME_BODY].data != NULL) {
        return tg_outcome_make(TG_OUTCOME_BODY,
                               tg_outcome_get_body(values[TG_OUTCOME_BODY]));
    }

    if (values[TG_OUTCOME_BLOB].data != NULL) {
        return tg_outcome_make(TG_OUTCOME_BLOB,
                               tg_outcome_get_body(values[TG_OUTCOME_BLOB]));
    }

    for (i = TG_OUTCOME_JSON; i <= TG_OUTCOME_RESULT; i++) {
        if (values[i].data != NULL) {
            return tg_outcome_make((tg_outcome_type_t) i, values[i]);
        }
    }

    tg_json_append_unescaped(scratch,
                             tg_outcome_get_body(values[TG_OUTCOME_FAILURE]));

    if (tg_buf_has_failed(scratch)) {
        return tg_outcome_make_no_memory();
    }

    outcome = tg_outcome_make_failure_str(tg_outcome_parse_failure(
                                              values[TG_OUTCOME_FAILURE_NAME]),
                                          tg_buf_view(scratch));
    outcome.data = values[TG_OUTCOME_DATA];
    outcome.has_code = tg_json_parse_int64(values[TG_OUTCOME_CODE],
                                           &outcome.code)
                       == TG_OK;

    return outcome;
}

tg_outcome_t
tg_outcome_parse_json(tg_str_t raw, tg_buf_t *scratch, tg_run_stats_t *ran)
{
    tg_str_t values[TG_OUTCOME_MEMBERS];
    tg_outcome_t outcome;

    (void) tg_json_get_members(raw, tg_outcome_members, values);
    tg_run_stats_parse_json(values, ran);
    outcome = tg_outcome_parse_value(values, scratch);

    if (tg_json_type(values[TG_OUTCOME_META]) == TG_JSON_OBJECT) {
        outcome.meta = values[TG_OUTCOME_META];
    }

    return outcome;
}
