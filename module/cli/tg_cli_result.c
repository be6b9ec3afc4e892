/* Output of results and errors of the server. */
#include "cli/tg_cli_session.h"

#include "base/tg_base64.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"
#include "protocol/tg_outcome.h"

#include <errno.h>
#include <unistd.h>

/* Prepares to iterate over a member's elements, which are parsed one by one. */
static void
tg_cli_result_iter_init(tg_json_cursor_t *iter, tg_str_t result,
                        tg_str_t member)
{
    tg_str_t array;

    array = TG_STR_NONE;
    (void) tg_json_get_member(result, member, &array);
    tg_json_iter_init(iter, array);
}

/* Stores the next element, which the caller frees. Returns 0 after the last. */
static int
tg_cli_result_iter_next(tg_json_cursor_t *iter, json_object **block, int *rc)
{
    tg_str_t text;

    if (*rc != TG_OK || !tg_json_iter_next(iter, &text)) {
        return 0;
    }

    *rc = tg_cli_json_parse(text, block);

    return *rc == TG_OK;
}

static int
tg_cli_result_report_parse_error(int rc)
{
    return rc == TG_NOMEM ? tg_cli_error_nomem()
                          : tg_cli_error("the result cannot be read; --json "
                                         "shows it");
}

static void
tg_cli_result_append_member(tg_buf_t *out, json_object *block, const char *key)
{
    tg_str_t text;

    text = tg_cli_json_get_text(block, key);
    tg_buf_append_cstr(out, text.data != NULL ? " " : "");
    tg_buf_append_str(out, text);
}

static tg_str_t
tg_cli_block_get_base64(json_object *block)
{
    tg_str_t data;

    data = tg_cli_json_get_text(block, "data");

    return data.data != NULL
               ? data
               : tg_cli_json_get_text(tg_cli_json_get(block, "resource"),
                                      "blob");
}

/* [content of type image image/png; --json shows it] */
static void
tg_cli_block_append_description(tg_buf_t *out, json_object *block,
                                int can_be_saved)
{
    json_object *resource;
    tg_str_t data;
    tg_buf_t text;

    tg_buf_init(&text, out->alloc);
    tg_buf_append_cstr(&text, "[content of type");
    tg_cli_result_append_member(&text, block, "type");
    resource = tg_cli_json_get(block, "resource");
    tg_cli_result_append_member(&text, resource, "uri");
    tg_cli_result_append_member(&text, resource, "mimeType");
    tg_cli_result_append_member(&text, block, "name");
    tg_cli_result_append_member(&text, block, "uri");
    tg_cli_result_append_member(&text, block, "mimeType");
    data = tg_cli_block_get_base64(block);

    if (data.data != NULL) {
        tg_buf_printf(&text, ", %zu bytes of base64%s", data.len,
                      can_be_saved ? "; -o FILE saves it" : "");
    }

    tg_buf_append_cstr(&text, "; --json shows it]");
    tg_utf8_append_visible(out, tg_buf_view(&text), 1);
    tg_buf_append_char(out, '\n');
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

static void
tg_cli_block_append(tg_buf_t *out, json_object *block, int can_be_saved)
{
    tg_str_t text;

    tg_cli_append_missing_newline(out);
    text = tg_cli_json_get_text(block, "text");

    if (text.data != NULL && tg_cli_json_has_text(block, "type", "text")) {
        tg_buf_append_str(out, text);
    } else if (json_object_is_type(block, json_type_object)) {
        tg_cli_block_append_description(out, block, can_be_saved);
    }
}

/*
 * Appends the content blocks, or the structured content if there are none.
 * Returns TG_OK, TG_INVALID or TG_NOMEM.
 */
static int
tg_cli_result_append_content(tg_buf_t *out, tg_str_t result)
{
    tg_json_cursor_t iter;
    json_object *block;
    tg_str_t structured;
    int n, rc;

    rc = TG_OK;
    tg_cli_result_iter_init(&iter, result, TG_STR("content"));

    for (n = 0; tg_cli_result_iter_next(&iter, &block, &rc); n++) {
        tg_cli_block_append(out, block, 1);
        json_object_put(block);
    }

    if (n == 0 && rc == TG_OK
        && tg_json_get_member(result, TG_STR("structuredContent"), &structured)
               == TG_OK)
    {
        tg_cli_json_append_pretty(out, structured);
        tg_buf_append_char(out, '\n');
    }

    return rc;
}

int
tg_cli_result_print(tg_str_t result)
{
    tg_buf_t out;
    int rc;

    if (tg_json_type(result) != TG_JSON_OBJECT) {
        return tg_cli_result_print_value(result);
    }

    tg_buf_init(&out, tg_alloc_libc());
    rc = tg_cli_result_append_content(&out, result);

    if (rc != TG_OK) {
        tg_buf_deinit(&out);
        return tg_cli_result_report_parse_error(rc);
    }

    if (!tg_tool_result_is_error(result)) {
        return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
    }

    if (out.len == 0) {
        tg_buf_append_cstr(&out, "toolgate: the tool failed without an error "
                                 "message");
    }

    return tg_cli_print_and_free(stderr, &out, TG_CLI_EXIT_REFUSED);
}

static int
tg_cli_buf_save_file(const tg_buf_t *bytes, const char *path)
{
    FILE *file;
    int rc;

    file = fopen(path, "we");
    rc = file == NULL
         || fwrite(tg_buf_view(bytes).data, 1, bytes->len, file) != bytes->len;

    if (file != NULL) {
        rc |= fclose(file) != 0;
    }

    return rc == 0 ? TG_CLI_EXIT_OK
                   : tg_cli_error("cannot write %s: %s", path, strerror(errno));
}

int
tg_cli_result_save_file(tg_str_t result, const char *path)
{
    tg_json_cursor_t iter;
    json_object *block;
    tg_buf_t bytes;
    tg_str_t data;
    int rc, n, parsed;

    tg_buf_init(&bytes, tg_alloc_libc());
    tg_cli_result_iter_init(&iter, result, TG_STR("content"));
    rc = TG_CLI_EXIT_OK;
    parsed = TG_OK;
    n = 0;

    while (tg_cli_result_iter_next(&iter, &block, &parsed)) {
        data = tg_cli_block_get_base64(block);

        if (data.data != NULL && n++ == 0
            && tg_base64_decode(&bytes, data) != TG_OK) {
            rc = tg_cli_error("the tool returned invalid base64");
        }

        json_object_put(block);
    }

    if (n > 1) {
        rc = tg_cli_error("the tool returned %d files, but -o saves only "
                          "one; --json shows them",
                          n);
    }

    if (n == 0 && parsed == TG_OK) {
        parsed = tg_cli_result_append_content(&bytes, result);
    }

    if (parsed != TG_OK) {
        rc = tg_cli_result_report_parse_error(parsed);
    }

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_buf_has_failed(&bytes) ? tg_cli_error_nomem()
                                       : tg_cli_buf_save_file(&bytes, path);
    }

    tg_buf_deinit(&bytes);

    return rc;
}

/* --- resources --- */

/* Appends the text or the decoded bytes of one part of a resource. */
static int
tg_cli_part_append(tg_buf_t *out, json_object *part, const char *uri,
                   int is_terminal)
{
    tg_str_t text, blob, mime;

    text = tg_cli_json_get_text(part, "text");
    blob = tg_cli_json_get_text(part, "blob");

    if (text.data != NULL) {
        tg_cli_append_missing_newline(out);
        tg_buf_append_str(out, text);
        return TG_CLI_EXIT_OK;
    }

    if (blob.data == NULL) {
        return tg_cli_result_report_parse_error(TG_INVALID);
    }

    if (is_terminal) {
        mime = tg_cli_json_get_text(part, "mimeType");
        mime = mime.data != NULL ? mime : TG_STR("unknown type");
        return tg_cli_error("%s is binary (%.*s, %zu bytes of base64) and not "
                            "shown on a terminal; save it with -o FILE, or "
                            "redirect standard output",
                            uri, (int) mime.len, mime.data, blob.len);
    }

    return tg_base64_decode(out, blob) == TG_INVALID
               ? tg_cli_error("the server returned invalid base64")
               : TG_CLI_EXIT_OK;
}

/* Appends all parts of a resource, and counts them. */
static int
tg_cli_contents_append(tg_buf_t *out, tg_str_t result, const char *uri,
                       int is_terminal, int *nparts)
{
    tg_json_cursor_t iter;
    json_object *part;
    int rc, parsed;

    rc = TG_CLI_EXIT_OK;
    parsed = TG_OK;
    *nparts = 0;
    tg_cli_result_iter_init(&iter, result, TG_STR("contents"));

    while (rc == TG_CLI_EXIT_OK
           && tg_cli_result_iter_next(&iter, &part, &parsed)) {
        ++*nparts;
        rc = tg_cli_part_append(out, part, uri, is_terminal);
        json_object_put(part);
    }

    if (parsed != TG_OK) {
        return tg_cli_result_report_parse_error(parsed);
    }

    return rc == TG_CLI_EXIT_OK && tg_buf_has_failed(out) ? tg_cli_error_nomem()
                                                          : rc;
}

int
tg_cli_result_write_contents(tg_str_t result, const char *uri, const char *path)
{
    tg_buf_t bytes;
    int nparts, rc;

    tg_buf_init(&bytes, tg_alloc_libc());
    rc = tg_cli_contents_append(&bytes, result, uri,
                                path == NULL && isatty(STDOUT_FILENO), &nparts);

    if (rc == TG_CLI_EXIT_OK && nparts == 0) {
        rc = tg_cli_error("%s has no contents", uri);
    } else if (rc == TG_CLI_EXIT_OK && path != NULL && nparts > 1) {
        rc = tg_cli_error("%s has %d parts, but -o saves only one; --json "
                          "shows them",
                          uri, nparts);
    }

    if (rc == TG_CLI_EXIT_OK && path == NULL) {
        return tg_cli_print_and_free(stdout, &bytes, TG_CLI_EXIT_OK);
    }

    rc = rc == TG_CLI_EXIT_OK ? tg_cli_buf_save_file(&bytes, path) : rc;
    tg_buf_deinit(&bytes);

    return rc;
}

/* --- prompts --- */

/* Appends a message; with its role, as a line of its own, if there are more. */
static void
tg_cli_message_append(tg_buf_t *out, json_object *message, int has_role)
{
    if (has_role) {
        tg_cli_append_missing_newline(out);
        tg_buf_append_cstr(out, out->len != 0 ? "\n" : "");
        tg_utf8_append_visible(out, tg_cli_json_get_text(message, "role"), 1);
        tg_buf_append_cstr(out, ":\n");
    }

    tg_cli_block_append(out, tg_cli_json_get(message, "content"), 0);
}

/* Checks for a prompt that is one message of the user. */
static int
tg_cli_messages_is_plain(tg_str_t result)
{
    tg_str_t message, role;
    tg_json_cursor_t iter;

    tg_cli_result_iter_init(&iter, result, TG_STR("messages"));

    return tg_json_iter_next(&iter, &message)
           && tg_json_type(message) == TG_JSON_OBJECT
           && tg_json_has_member(message, TG_STR("role"), TG_JSON_STRING, &role)
           && tg_json_body_eq_text(tg_json_string_body(role), TG_STR("user"))
           && !tg_json_iter_next(&iter, NULL);
}

int
tg_cli_result_print_messages(tg_str_t result)
{
    tg_json_cursor_t iter;
    json_object *message;
    tg_buf_t out;
    int has_roles, n, rc;

    rc = TG_OK;
    has_roles = !tg_cli_messages_is_plain(result);
    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_result_iter_init(&iter, result, TG_STR("messages"));

    for (n = 0; tg_cli_result_iter_next(&iter, &message, &rc); n++) {
        tg_cli_message_append(&out, message, has_roles);
        json_object_put(message);
    }

    if (rc == TG_OK && n != 0) {
        return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
    }

    tg_buf_deinit(&out);

    return rc != TG_OK ? tg_cli_result_report_parse_error(rc)
                       : tg_cli_error("the prompt has no messages");
}

int
tg_cli_result_fetch_list(tg_cli_session_t *session, tg_mcp_kind_t kind,
                         int is_parsed)
{
    tg_cli_response_t *response;
    int rc;

    rc = tg_cli_session_fetch_list(session, kind);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    response = &session->response;

    if (response->kind == TG_RESPONSE_ERROR && kind != TG_MCP_TOOLS
        && response->code == TG_RPC_METHOD_NOT_FOUND)
    {
        tg_cli_response_deinit(response);
        tg_buf_append_cstr(&response->text, tg_mcp_kinds[kind].empty);
        response->kind = TG_RESPONSE_RESULT;
    }

    if (response->kind != TG_RESPONSE_RESULT) {
        return tg_cli_response_print_error(response, session->options);
    }

    return is_parsed ? tg_cli_session_parse_result(session) : TG_CLI_EXIT_OK;
}

int
tg_cli_result_print_value(tg_str_t value)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_append_unescaped(&out, tg_json_string_body(value));
    } else {
        tg_cli_json_append_pretty(&out, value);
        tg_buf_append_char(&out, '\n');
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

int
tg_cli_result_print_json(json_object *value, int status)
{
    tg_buf_t out;
    tg_str_t line;

    tg_buf_init(&out, tg_alloc_libc());
    line = tg_cli_json_write(value);
    tg_buf_append_str(&out, line);
    tg_buf_append_char(&out, '\n');
    out.failed |= line.data == NULL;
    json_object_put(value);

    return tg_cli_print_and_free(stdout, &out, status);
}

int
tg_cli_result_print_text(tg_cli_session_t *session, int status)
{
    tg_buf_append_char(&session->response.text, '\n');

    return tg_cli_print_and_free(stdout, &session->response.text, status);
}

/* Checks for `/NAME:` at the start, for an option --NAME that was given. */
static int
tg_cli_message_has_option(tg_str_t message, const tg_cli_options_t *options)
{
    const struct {
        const char *member;
        const char *value;
    } members[] = {
        { "/limit:", options->limit },       { "/state:", options->state },
        { "/agent:", options->agent },       { "/cwd:", options->cwd },
        { "/priority:", options->priority },
    };
    size_t i, len;

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        len = strlen(members[i].member);

        if (members[i].value != NULL && message.len > len
            && memcmp(message.data, members[i].member, len) == 0)
        {
            return 1;
        }
    }

    return 0;
}

int
tg_cli_response_print_error(const tg_cli_response_t *response,
                            const tg_cli_options_t *options)
{
    tg_str_t message;
    tg_buf_t out;
    int is_option;

    tg_buf_init(&out, tg_alloc_libc());

    if (!options->is_json) {
        tg_json_append_unescaped(&out, tg_buf_view(&response->message));
        message = tg_buf_view(&out);
        is_option = tg_cli_message_has_option(message, options);
        (void) tg_cli_error("the server answered with error %lld: %s%.*s",
                            (long long) response->code, is_option ? "--" : "",
                            (int) message.len - is_option,
                            message.len != 0 ? message.data + is_option : "");
        tg_buf_deinit(&out);
        return TG_CLI_EXIT_REFUSED;
    }

    tg_buf_printf(&out, "{\"error\":{\"code\":%lld,\"message\":\"",
                  (long long) response->code);
    tg_buf_append_str(&out, tg_buf_view(&response->message));
    tg_buf_append_char(&out, '"');

    if (response->data.len != 0) {
        tg_json_add_raw(&out, "data", tg_buf_view(&response->data));
    }

    tg_buf_append_cstr(&out, "}}\n");

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_REFUSED);
}
