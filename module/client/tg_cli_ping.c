/*
 * toolgate ping
 */
#include "client/tg_cli_result.h"
#include "client/tg_cli_text.h"
#include "base/tg_utf8.h"
#include "core/tg_rpc.h"

/*
 * Who answers: name and version as raw strings, absent for a server that
 * does not speak MCP.
 */
static int
tg_cli_ping_server(tg_cli_session_t *session, tg_buf_t *info)
{
    tg_str_t raw;
    int rc;

    rc = tg_cli_session_request(
        session, TG_STR("initialize"),
        TG_STR("{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
               "\"clientInfo\":{\"name\":\"toolgate\",\"version\":"
               "\"" TG_VERSION "\"}}"),
        1);

    if (rc != TG_CLI_DONE || session->answer.kind != TG_ANSWER_RESULT) {
        return rc;
    }

    if (tg_json_has(tg_buf_view(&session->answer.result), TG_STR("serverInfo"),
                    TG_JSON_OBJECT, &raw))
    {
        tg_buf_str(info, raw);
    }

    return TG_CLI_DONE;
}

static void
tg_cli_ping_text(tg_buf_t *out, tg_str_t info, const char *key)
{
    tg_str_t raw;

    if (tg_json_has(info, tg_str_c(key), TG_JSON_STRING, &raw)) {
        tg_json_put_decoded(out, tg_json_body(raw));
        tg_buf_char(out, ' ');
    }
}

static int
tg_cli_ping_print(const tg_cli_session_t *session,
                  const tg_cli_options_t *options, tg_str_t info)
{
    double ms;
    tg_buf_t text, out;

    ms = (double) session->answer.took_ns / 1e6;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());

    if (options->given & TG_CLI_JSON) {
        tg_buf_text(&out, "{\"socket\":");
        tg_json_put_string(&out, tg_str_c(session->path));
        tg_buf_printf(&out, ",\"ms\":%.3f,\"server\":", ms);
        tg_json_put_compact(&out, info.len != 0 ? info : TG_STR("null"));
        tg_buf_text(&out, "}");
    } else {
        tg_cli_ping_text(&text, info, "name");
        tg_cli_ping_text(&text, info, "version");
        tg_buf_printf(&text, "answered on %s in %.3f ms", session->path, ms);
        tg_utf8_put_visible(&out, tg_buf_view(&text), 1);
    }

    tg_buf_char(&out, '\n');
    out.failed |= text.failed;
    tg_buf_deinit(&text);

    return tg_cli_write(stdout, &out, TG_CLI_DONE);
}

static int
tg_cli_ping_ask(tg_cli_session_t *session, const tg_cli_options_t *options,
                tg_buf_t *info)
{
    int rc;

    rc = tg_cli_ping_server(session, info);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    if (tg_buf_failed(info)) {
        return tg_cli_nomem();
    }

    rc = tg_cli_session_request(session, TG_STR("ping"), TG_STR_NONE, 1);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    /* Who says that there is no such method is there, too. */
    if (session->answer.kind == TG_ANSWER_ERROR
        && session->answer.code != TG_RPC_METHOD)
    {
        return tg_cli_result_refused(&session->answer, options);
    }

    return tg_cli_ping_print(session, options, tg_buf_view(info));
}

static int
tg_cli_ping_run(const tg_cli_options_t *options)
{
    tg_cli_session_t session;
    tg_buf_t info;
    int rc;

    rc = tg_cli_session_open(&session, options);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    tg_buf_init(&info, tg_alloc_libc());
    rc = tg_cli_ping_ask(&session, options, &info);
    tg_buf_deinit(&info);
    tg_cli_session_close(&session);

    return rc;
}

const tg_cli_command_t tg_cli_ping = {
    .name = "ping",
    .synopsis = "ping [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "is the server there, and how fast?",
    .help = "Says which server answers, and how long one question took.\n\n"
            "  --json             {\"socket\":...,\"ms\":...,\"server\":...}\n"
            "  --socket PATH      the server's socket; else TOOLGATE_SOCKET\n"
            "  --timeout SECONDS  how long to wait; default 5\n",
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT | TG_CLI_BARE,
    .run = tg_cli_ping_run,
};
