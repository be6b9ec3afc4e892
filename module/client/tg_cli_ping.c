/*
 * toolgate ping
 */
#include "client/tg_cli_result.h"
#include "client/tg_cli_text.h"
#include "base/tg_utf8.h"
#include "core/tg_rpc.h"

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
tg_cli_ping_print(const tg_cli_session_t *session, tg_str_t info)
{
    double ms;
    tg_buf_t text, out;

    ms = (double) session->answer.took_ns / 1e6;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());

    if (session->options->given & TG_CLI_JSON) {
        tg_buf_text(&out, "{\"socket\":");
        tg_json_put_string(&out, tg_str_c(session->place.text));
        tg_buf_printf(&out, ",\"ms\":%.3f,\"server\":", ms);
        tg_json_put_compact(&out, info);
        tg_buf_text(&out, "}");
    } else {
        tg_cli_ping_text(&text, info, "name");
        tg_cli_ping_text(&text, info, "version");
        tg_buf_printf(&text, "answered on %s in %.3f ms", session->place.text,
                      ms);
        tg_utf8_put_visible(&out, tg_buf_view(&text), 1);
    }

    tg_buf_char(&out, '\n');
    out.failed |= text.failed;
    tg_buf_deinit(&text);

    return tg_cli_write(stdout, &out, TG_CLI_DONE);
}

static int
tg_cli_ping_ask(tg_cli_session_t *session, void *ctx)
{
    tg_str_t info;
    tg_buf_t who;
    int rc;

    rc = tg_cli_session_request(session, TG_STR("initialize"),
                                TG_STR(TG_MCP_INITIALIZE("toolgate")),
                                TG_CLI_PATIENCE_MS);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    /* The next answer takes its place. */
    who = session->answer.result;
    tg_buf_init(&session->answer.result, tg_alloc_libc());

    /* A server need not speak MCP. */
    if (!tg_json_has(tg_buf_view(&who), TG_STR("serverInfo"), TG_JSON_OBJECT,
                     &info))
    {
        info = TG_STR("null");
    }

    rc = tg_cli_session_request(session, TG_STR("ping"), TG_STR_NONE,
                                TG_CLI_PATIENCE_MS);

    if (rc == TG_CLI_DONE) {
        /* Who says that there is no such method is there, too. */
        rc = session->answer.kind == TG_ANSWER_ERROR
                     && session->answer.code != TG_RPC_METHOD
                 ? tg_cli_result_refused(&session->answer, session->options)
                 : tg_cli_ping_print(session, info);
    }

    tg_buf_deinit(&who);

    return rc;
}

static int
tg_cli_ping_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_ping_ask, NULL);
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
