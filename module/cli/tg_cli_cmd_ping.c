/*
 * The command `toolgate ping`: measures how fast the server answers.
 */
#include "cli/tg_cli_result.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"
#include "protocol/tg_rpc.h"

static void
tg_cli_ping_append_member(tg_buf_t *out, tg_str_t info, const char *key)
{
    tg_str_t raw;

    if (tg_json_has_member(info, tg_str_from_cstr(key), TG_JSON_STRING, &raw)) {
        tg_json_append_unescaped(out, tg_json_string_body(raw));
        tg_buf_append_char(out, ' ');
    }
}

static int
tg_cli_ping_print(const tg_cli_session_t *session, tg_str_t info)
{
    double ms;
    tg_buf_t text, out;

    ms = (double) session->response.elapsed_ns / 1e6;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());

    if (session->options->is_json) {
        tg_buf_append_char(&out, '{');
        tg_json_add_cstr(&out, "socket", session->endpoint.text);
        tg_buf_printf(&out, ",\"ms\":%.3f,\"server\":", ms);
        tg_json_write_compact(&out, info);
        tg_buf_append_cstr(&out, "}");
    } else {
        tg_cli_ping_append_member(&text, info, "name");
        tg_cli_ping_append_member(&text, info, "version");
        tg_buf_printf(&text, "answered on %s in %.3f ms",
                      session->endpoint.text, ms);
        tg_utf8_append_visible(&out, tg_buf_view(&text), 1);
    }

    tg_buf_append_char(&out, '\n');
    out.failed |= text.failed;
    tg_buf_deinit(&text);

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static int
tg_cli_ping_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_str_t info;
    tg_buf_t who;
    int rc;

    rc = tg_cli_session_request(session, TG_STR("initialize"),
                                TG_STR(TG_MCP_INITIALIZE_PARAMS("toolgate")),
                                TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    /* The next response would replace this one. */
    who = session->response.result;
    tg_buf_init(&session->response.result, tg_alloc_libc());

    /* A server need not support MCP. */
    if (!tg_json_has_member(tg_buf_view(&who), TG_STR("serverInfo"),
                            TG_JSON_OBJECT, &info))
    {
        info = TG_STR("null");
    }

    rc = tg_cli_session_request(session, TG_STR("ping"), TG_STR_NONE,
                                TG_CLI_REQUEST_TIMEOUT_MS);

    if (rc == TG_CLI_EXIT_OK) {
        /* "method not found" is an answer, too. */
        rc = session->response.kind == TG_RESPONSE_ERROR
                     && session->response.code != TG_RPC_METHOD_NOT_FOUND
                 ? tg_cli_response_print_error(&session->response,
                                               session->options)
                 : tg_cli_ping_print(session, info);
    }

    tg_buf_deinit(&who);

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
