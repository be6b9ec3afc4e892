/* The command `toolgate ping`: measures how fast the server answers. */
#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"
#include "protocol/tg_rpc.h"

static void
tg_cli_ping_append_member(tg_buf_t *out, json_object *info, const char *key)
{
    tg_str_t text;

    text = tg_cli_json_get_text(info, key);
    tg_buf_append_str(out, text);
    tg_buf_append_cstr(out, text.data != NULL ? " " : "");
}

static int
tg_cli_ping_print(const tg_cli_session_t *session, json_object *info)
{
    char ms[32];
    json_object *line;
    tg_buf_t text, out;

    (void) snprintf(ms, sizeof(ms), "%.3f",
                    (double) session->response.elapsed_ns / 1e6);

    if (session->options->is_json) {
        line = json_object_new_object();
        tg_cli_json_add_text(line, "socket",
                             tg_str_from_cstr(session->address));
        (void) json_object_object_add(line, "ms",
                                      json_object_new_double_s(0, ms));
        (void) json_object_object_add(line, "server", json_object_get(info));

        return tg_cli_result_print_json(line, TG_CLI_EXIT_OK);
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_ping_append_member(&text, info, "name");
    tg_cli_ping_append_member(&text, info, "version");
    tg_buf_printf(&text, "answered on %s in %s ms", session->address, ms);
    tg_utf8_append_visible(&out, tg_buf_view(&text), 1);
    tg_buf_append_char(&out, '\n');
    out.failed |= text.failed;
    tg_buf_deinit(&text);

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static int
tg_cli_ping_on_connect(tg_cli_session_t *session, void *ctx)
{
    json_object *info;
    int rc;

    rc = tg_cli_session_request(session, "initialize",
                                TG_MCP_INITIALIZE_PARAMS("toolgate"),
                                TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind == TG_RESPONSE_RESULT) {
        rc = tg_cli_session_parse_result(session);
    }

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    /* The next response replaces this one.  A server need not support MCP. */
    info = json_object_get(
        tg_cli_json_get_object(session->response.result, "serverInfo"));
    rc = tg_cli_session_request(session, "ping", NULL,
                                TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc == TG_CLI_EXIT_OK) {
        /* "method not found" is an answer, too. */
        rc = session->response.kind == TG_RESPONSE_ERROR
                     && session->response.code != TG_RPC_METHOD_NOT_FOUND
                 ? tg_cli_response_print_error(&session->response,
                                               session->options)
                 : tg_cli_ping_print(session, info);
    }

    json_object_put(info);

    return rc;
}

static const tg_cli_option_t tg_cli_ping_options[] = {
    TG_CLI_OPTION_JSON("print {\"socket\":...,\"ms\":...,\"server\":...}"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 5)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_ping = {
    .name = "ping",
    .synopsis = "ping [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "check that the server answers, and how fast",
    .help = "Prints which server answers, and how long one request took.",
    .options = tg_cli_ping_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_ping_on_connect,
};
