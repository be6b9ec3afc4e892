/*
 * toolgate call
 */
#include "client/tg_cli_args.h"
#include "client/tg_cli_result.h"
#include "client/tg_cli_session.h"
#include "client/tg_cli_text.h"
#include "client/tg_cli_tools.h"
#include "base/tg_utf8.h"
#include "core/tg_rpc.h"

typedef struct {
    const tg_cli_options_t *options;
    tg_cli_session_t *session;
    tg_str_t name; /* of the tool or method */
    char **args;
    int nargs;
    tg_buf_t json; /* the arguments */
} tg_cli_call_t;

/* key=value: strings, but where the tool's schema wants something else. */
static int
tg_cli_call_typed(tg_cli_call_t *call)
{
    tg_str_t list, tool, schema;
    int rc;

    rc = tg_cli_session_list(call->session);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    if (call->session->answer.kind != TG_ANSWER_RESULT) {
        return tg_cli_result_refused(&call->session->answer, call->options);
    }

    list = tg_buf_view(&call->session->answer.result);
    tool = TG_STR_NONE;

    if (tg_cli_tools_find(list, call->name, &tool) != TG_OK) {
        return tg_cli_tools_unknown(list, call->name);
    }

    if (!tg_json_has(tool, TG_STR("inputSchema"), TG_JSON_OBJECT, &schema)) {
        schema = TG_STR_NONE;
    }

    return tg_cli_args_json(call->args, call->nargs, schema, 0, &call->json);
}

/* The server said no: because there is no such tool? */
static int
tg_cli_call_refused(tg_cli_call_t *call)
{
    tg_cli_session_t *session;
    tg_cli_answer_t answer;
    tg_str_t list, tool;

    session = call->session;
    answer = session->answer;

    if ((call->options->given & TG_CLI_JSON) || call->options->method != NULL
        || answer.code != TG_RPC_PARAMS)
    {
        return tg_cli_result_refused(&answer, call->options);
    }

    /* The list takes the answer's place. */
    tg_buf_init(&session->answer.message, tg_alloc_libc());
    list = TG_STR("{}");

    if (tg_cli_session_list(session) == TG_CLI_DONE
        && session->answer.kind == TG_ANSWER_RESULT)
    {
        list = tg_buf_view(&session->answer.result);
    }

    if (list.len > 2 && tg_cli_tools_find(list, call->name, &tool) != TG_OK) {
        (void) tg_cli_tools_unknown(list, call->name);
    } else {
        (void) tg_cli_result_refused(&answer, call->options);
    }

    tg_buf_deinit(&answer.message);

    return TG_CLI_REFUSED;
}

static int
tg_cli_call_ask(tg_cli_session_t *session, void *ctx)
{
    tg_cli_call_t *call;
    tg_str_t json, result;
    int rc;

    call = ctx;
    call->session = session;

    if (call->json.len == 0) {
        rc = tg_cli_call_typed(call);

        if (rc != TG_CLI_DONE) {
            return rc;
        }
    }

    json = tg_buf_view(&call->json);

    if (call->options->method == NULL) {
        rc = tg_cli_session_call(call->session, call->name, json);
    } else {
        rc = tg_cli_session_request(call->session, call->name,
                                    call->nargs != 0 ? json : TG_STR_NONE, 0);
    }

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    if (call->session->answer.kind != TG_ANSWER_RESULT) {
        return tg_cli_call_refused(call);
    }

    result = tg_buf_view(&call->session->answer.result);

    if (call->options->given & TG_CLI_JSON) {
        rc = call->options->method == NULL && tg_cli_result_is_error(result);
        return tg_cli_result_json(result, rc ? TG_CLI_REFUSED : TG_CLI_DONE);
    }

    if (call->options->output != NULL && !tg_cli_result_is_error(result)) {
        return tg_cli_result_save(result, call->options->output);
    }

    return call->options->method == NULL ? tg_cli_result_tool(result)
                                         : tg_cli_result_value(result);
}

/* Name and arguments, as far as they can be told without the server. */
static int
tg_cli_call_parse(tg_cli_call_t *call)
{
    const tg_cli_options_t *options;
    const char *name;
    int n;

    options = call->options;
    n = options->method == NULL;

    if (options->output != NULL && (n == 0 || (options->given & TG_CLI_JSON))) {
        return tg_cli_error("-o is for what a tool returns, and does not go "
                            "with %s; redirect standard output instead (> %s)",
                            n == 0 ? "--method" : "--json", options->output);
    }

    if (options->nargs < n) {
        return tg_cli_error("call which tool? (toolgate list shows them all)");
    }

    name = n ? options->args[0] : options->method;
    call->name = tg_str_c(name);
    call->args = options->args + n;
    call->nargs = options->nargs - n;

    if (call->name.len == 0 || !tg_utf8_is_valid(call->name)) {
        return tg_cli_error("\"%s\" is no name", name);
    }

    if (n != 0 && tg_cli_args_need_schema(call->args, call->nargs)) {
        return TG_CLI_DONE;
    }

    return tg_cli_args_json(call->args, call->nargs, TG_STR_NONE, n == 0,
                            &call->json);
}

static int
tg_cli_call_run(const tg_cli_options_t *options)
{
    tg_cli_call_t call;
    int rc;

    memset(&call, 0, sizeof(call));
    call.options = options;
    tg_buf_init(&call.json, tg_alloc_libc());
    rc = tg_cli_call_parse(&call);

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_session_run(options, tg_cli_call_ask, &call);
    }

    tg_buf_deinit(&call.json);

    return rc;
}

const tg_cli_command_t tg_cli_call = {
    .name = "call",
    .synopsis = "call NAME [KEY=VALUE ... | JSON | -] [--json] "
                "[--socket PATH]\n"
                "                [--timeout SECONDS] [-o FILE]\n"
                "       toolgate call --method NAME [KEY=VALUE ... | JSON | -] "
                "...",
    .summary = "call a tool",
    .help = "Calls a tool and writes the text that it returns; an error goes "
            "to standard\nerror.  Arguments are\n\n"
            "  KEY=VALUE   a string, or JSON where the tool's schema wants a "
            "number, a\n"
            "              boolean, an array or an object\n"
            "  KEY:=JSON   JSON, whatever the schema says\n"
            "  KEY+=VALUE  an element of an array; once for each of them. "
            "Where the schema\n"
            "              wants an array, KEY=VALUE is that, too\n"
            "  KEY=@FILE   the text of a file\n"
            "  KEY=-       that of standard input\n"
            "  {...}       one JSON object with all of them\n"
            "  -           the same, read from standard input\n\n"
            "  --method NAME      ask for a JSON-RPC method instead; its "
            "params may be an\n"
            "                     array, and its result is written as JSON\n"
            "  --json             the whole result, or {\"error\":...}, on one "
            "line\n"
            "  -o, --output FILE  write an image, a sound or a file to FILE; "
            "or the text\n"
            "  -s, --socket PATH  the server's socket; else TOOLGATE_SOCKET\n"
            "  --timeout SECONDS  cancel when there is no answer by then; "
            "default: wait,\n"
            "                     the tool has its own limit\n\n"
            "Ctrl-C cancels the call.\n",
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT | TG_CLI_METHOD
               | TG_CLI_OUTPUT,
    .run = tg_cli_call_run,
};
