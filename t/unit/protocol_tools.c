#include "protocol_tools.h"

#include "protocol_memory.h"

#include <stdio.h>
#include <stdlib.h>

const host_tool_t host_tools[HOST_TOOLS] = {
    { TG_ENTRY_TOOL, HOST_ECHO, TG_OUTPUT_TEXT, "echo", "Gives its text back.",
      NULL },
    { TG_ENTRY_TOOL, HOST_FAIL, TG_OUTPUT_TEXT, "fail", "Always fails.", NULL },
    { TG_ENTRY_TOOL, HOST_SLOW, TG_OUTPUT_TEXT, "slow", "Never in time.",
      NULL },
    { TG_ENTRY_TOOL, HOST_HANG, TG_OUTPUT_TEXT, "hang", "Never ends.", NULL },
    { TG_ENTRY_TOOL, HOST_LOST, TG_OUTPUT_TEXT, "lost", "Loses its backend.",
      NULL },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_JSON, "json", "Gives an object.",
      "{ \"a\": 1 }" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_JSON, "list", "Gives an array.",
      "[1,2]" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_RESULT, "result",
      "Gives a whole result.",
      "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
      "{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":\"image/png\"},"
      "{\"type\":\"text\",\"text\":\"two\"}],\"_meta\":{\"x\":1}}" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_RESULT, "refuse",
      "Gives a result that is an error.",
      "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_RESULT, "locked",
      "Says its error's class.",
      "{\"content\":[{\"type\":\"text\",\"text\":\"in use\"}],\"isError\":true,"
      "\"_meta\":{\"toolgate/errorType\":\"FileLockedError\"}}" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_JSON, "broken",
      "Promises JSON and gives none.", "oops" },
    { TG_ENTRY_TOOL, HOST_LARGE, TG_OUTPUT_TEXT, "big", "Gives too much.",
      NULL },
    { TG_ENTRY_METHOD, HOST_VALUE, TG_OUTPUT_JSON, "build.status", NULL,
      "{\"ok\":true}" },
    { TG_ENTRY_METHOD, HOST_VALUE, TG_OUTPUT_TEXT, "hello", NULL, "hello" },
    { TG_ENTRY_METHOD, HOST_VALUE, TG_OUTPUT_JSON, "get_data", NULL,
      "[\"hello\",5]" },
    { TG_ENTRY_METHOD, HOST_SUM, TG_OUTPUT_JSON, "sum", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_SUBTRACT, TG_OUTPUT_JSON, "subtract", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_CHECKED, TG_OUTPUT_JSON, "checked", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_FAIL, TG_OUTPUT_JSON, "fail.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_SLOW, TG_OUTPUT_JSON, "slow.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_HANG, TG_OUTPUT_JSON, "hang.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_LOST, TG_OUTPUT_JSON, "lost.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_LARGE, TG_OUTPUT_TEXT, "big.status", NULL, NULL },
};

static tg_outcome_t
host_large(size_t len)
{
    static char *text;
    static size_t size;

    /* A shared buffer, as it is large. */
    if (size < len) {
        free(text);
        text = malloc(len);

        if (text == NULL) {
            abort();
        }

        memset(text, 'x', len);
        size = len;
    }

    return tg_outcome_make_text(tg_str(text, len));
}

static void
host_echo(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_str_t raw;
    tg_buf_t text = { .alloc = tg_alloc_libc() };

    if (tg_json_type(request->arguments) != TG_JSON_OBJECT
        || tg_json_get_member(request->arguments, TG_STR("text"), &raw)
               != TG_OK)
    {
        outcome = tg_outcome_make_failure(TG_FAILURE_ARGUMENTS,
                                          "(root): \"text\" is missing");
    } else if (tg_json_type(raw) != TG_JSON_STRING) {
        outcome = tg_outcome_make_failure(TG_FAILURE_ARGUMENTS,
                                          "/text: expected string, got number");
    } else {
        tg_json_append_unescaped(&text, tg_json_string_body(raw));
        outcome = tg_outcome_parse_output(request->entry, tg_buf_view(&text));
    }

    tg_peer_respond(peer, &request->reply, &outcome);
    tg_buf_deinit(&text);
}

static void
host_number(tg_peer_t *peer, const tg_request_t *request, int64_t value)
{
    tg_outcome_t outcome;
    tg_buf_t text = { .alloc = tg_alloc_libc() };

    tg_buf_append_int(&text, value);
    outcome = tg_outcome_parse_output(request->entry, tg_buf_view(&text));
    tg_peer_respond(peer, &request->reply, &outcome);
    tg_buf_deinit(&text);
}

static void
host_sum(tg_peer_t *peer, const tg_request_t *request, int sign)
{
    tg_json_cursor_t json;
    tg_str_t raw;
    int64_t sum, value;
    size_t n;

    sum = 0;

    if (tg_json_type(request->arguments) == TG_JSON_OBJECT) {
        if (tg_json_get_member(request->arguments, TG_STR("minuend"), &raw)
                == TG_OK
            && tg_json_parse_int64(raw, &sum) == TG_OK
            && tg_json_get_member(request->arguments, TG_STR("subtrahend"),
                                  &raw)
                   == TG_OK
            && tg_json_parse_int64(raw, &value) == TG_OK)
        {
            sum -= value;
        }

        host_number(peer, request, sum);
        return;
    }

    tg_json_init(&json, request->arguments);
    (void) tg_json_enter_array(&json);

    for (n = 0; tg_json_next_element(&json) == TG_OK; n++) {
        if (tg_json_read_value(&json, &raw) == TG_OK
            && tg_json_parse_int64(raw, &value) == TG_OK)
        {
            sum += n == 0 ? value : sign * value;
        }
    }

    host_number(peer, request, sum);
}

static void
host_checked(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_str_t raw;
    int64_t n;

    if (tg_json_get_member(request->arguments, TG_STR("n"), &raw) != TG_OK
        || tg_json_parse_int64(raw, &n) != TG_OK)
    {
        outcome = tg_outcome_make_failure(TG_FAILURE_ARGUMENTS,
                                          "/n: expected integer, got string");
        tg_peer_respond(peer, &request->reply, &outcome);
        return;
    }

    host_number(peer, request, n);
}

/* Appends an argument. Returns 0 if it is required and missing. */
static int
host_say_argument(const tg_request_t *request, tg_str_t name, tg_buf_t *text)
{
    tg_str_t raw;
    int is_optional;

    is_optional = name.data[name.len - 1] == '?';
    name.len -= (size_t) is_optional;

    if (tg_json_has_member(request->arguments, name, TG_JSON_STRING, &raw)) {
        tg_json_append_unescaped(text, tg_json_string_body(raw));
        return 1;
    }

    return is_optional;
}

static void
host_say(tg_peer_t *peer, const tg_request_t *request, const char *format)
{
    tg_outcome_t outcome;
    size_t len;
    int is_complete;
    tg_buf_t text = { .alloc = tg_alloc_libc() };

    for (is_complete = 1; *format != '\0' && is_complete; format += len + 1) {
        len = strcspn(format, "{");
        tg_buf_append(&text, format, len);
        format += len;

        if (*format == '\0') {
            break;
        }

        len = strcspn(++format, "}");
        is_complete = host_say_argument(request, tg_str(format, len), &text);
    }

    outcome = is_complete
                  ? tg_outcome_make_text(tg_buf_view(&text))
                  : tg_outcome_make_failure(TG_FAILURE_ARGUMENTS,
                                            "(root): \"name\" is missing");
    tg_peer_respond(peer, &request->reply, &outcome);
    tg_buf_deinit(&text);
}

/* Answers a method of the skills extension with its cursor. */
static void
host_serve_skill(tg_peer_t *peer, const tg_request_t *request)
{
    static const char *const results[] = { [TG_SKILL_LIST] = "skills",
                                           [TG_SKILL_GET] = "skill",
                                           [TG_SKILL_DIRECTORY] = "resources" };
    tg_outcome_t outcome;
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_printf(&json, "{\"%s\":[", results[request->skill_method]);
    tg_buf_append_str(&json, request->cursor);
    tg_buf_append_cstr(&json, "]}");
    outcome = tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(&json));
    tg_peer_respond(peer, &request->reply, &outcome);
    tg_buf_deinit(&json);
}

/*
 * Asks for "inputs" of the arguments, and answers with what the client said, or
 * the code of tg_peer_ask(). Returns 0 if there are none.
 */
static int
host_ask(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_str_t inputs;
    char text[32];
    int rc;

    if (!tg_json_has_member(request->arguments, TG_STR("inputs"),
                            TG_JSON_OBJECT, &inputs))
    {
        return 0;
    }

    if (request->request_state.data != NULL && !request->reply.is_modern) {
        HELP_HOLDS(tg_str_eq(request->request_state, TG_STR("\"state\"")));
        HELP_HOLDS(tg_json_validate(request->input_responses, NULL) == TG_OK);
        outcome = tg_outcome_make_text(request->input_responses);
        tg_peer_respond(peer, &request->reply, &outcome);
        return 1;
    }

    rc = tg_peer_ask(peer, request, inputs, TG_STR("\"state\""), 1000);

    if (rc != TG_OK) {
        (void) snprintf(text, sizeof(text), "not asked: %d", rc);
        outcome = tg_outcome_make_text(tg_str_from_cstr(text));
        tg_peer_respond(peer, &request->reply, &outcome);
    }

    return 1;
}

int
host_complete(tg_peer_t *peer, tg_request_t *request, size_t big)
{
    const host_tool_t *tool;
    tg_outcome_t outcome;

    tool = request->entry->host;

    if (host_ask(peer, request)) {
        return 1;
    }

    if (request->skill_method != TG_SKILL_NONE) {
        host_serve_skill(peer, request);
        return 1;
    }

    switch (tool->kind) {
    case HOST_VALUE:
        outcome = tg_outcome_parse_output(request->entry,
                                          tg_str_from_cstr(tool->value));
        break;
    case HOST_FAIL:
        outcome = tg_outcome_make_failure(TG_FAILURE_PROGRAM,
                                          "fail: exit status 3\nno luck");
        break;
    case HOST_LARGE:
        outcome = host_large(big);
        break;
    case HOST_ECHO:
        host_echo(peer, request);
        return 1;
    case HOST_SUM:
        host_sum(peer, request, 1);
        return 1;
    case HOST_SUBTRACT:
        host_sum(peer, request, -1);
        return 1;
    case HOST_CHECKED:
        host_checked(peer, request);
        return 1;
    case HOST_SAY:
        host_say(peer, request, tool->value);
        return 1;
    default:
        return 0;
    }

    tg_peer_respond(peer, &request->reply, &outcome);

    return 1;
}
