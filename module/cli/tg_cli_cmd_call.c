/* The command `toolgate call`: calls a tool or a method. */
#include "cli/tg_cli_tool.h"
#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"
#include "protocol/tg_outcome.h"

typedef struct {
    const tg_cli_options_t *options;
    tg_cli_session_t *session;
    tg_str_t name; /* name of the tool or method, with a NUL */
    char **args;
    int nargs;
    tg_buf_t json; /* arguments as JSON */
} tg_cli_call_t;

/* The schema decides whether the value of key=value is a string or JSON. */
static int
tg_cli_call_convert_args(tg_cli_call_t *call)
{
    json_object *tool;
    int rc;

    rc = tg_cli_result_fetch_list(call->session, TG_MCP_TOOLS, 1);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    tool = tg_cli_list_find(call->session->response.result, TG_MCP_TOOLS,
                            call->name);

    return tool != NULL ? tg_cli_tool_args_write_json(
               call->args, call->nargs,
               tg_cli_json_get_object(tool, "inputSchema"), 0, &call->json)
                        : tg_cli_list_report_missing(call->session,
                                                     TG_MCP_TOOLS, call->name);
}

static int
tg_cli_call_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_cli_call_t *call;
    tg_str_t result;
    const char *name, *json;
    int rc;

    call = ctx;
    call->session = session;

    if (call->json.len == 0) {
        rc = tg_cli_call_convert_args(call);

        if (rc != TG_CLI_EXIT_OK) {
            return rc;
        }
    }

    tg_buf_append_char(&call->json, '\0');

    if (tg_buf_has_failed(&call->json)) {
        return tg_cli_error_nomem();
    }

    name = call->name.data;
    json = call->json.data;
    rc = call->options->method == NULL
             ? tg_cli_session_call_tool(session, name, json)
             : tg_cli_session_request(session, name,
                                      call->nargs != 0 ? json : NULL, 0);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (call->session->response.kind != TG_RESPONSE_RESULT) {
        return call->options->method != NULL
                   ? tg_cli_response_print_error(&session->response,
                                                 call->options)
                   : tg_cli_list_report_error(session, TG_MCP_TOOLS,
                                              call->name);
    }

    result = tg_buf_view(&session->response.text);

    if (call->options->is_json) {
        rc = call->options->method == NULL && tg_tool_result_is_error(result);
        return tg_cli_result_print_text(session, rc ? TG_CLI_EXIT_REFUSED
                                                    : TG_CLI_EXIT_OK);
    }

    if (call->options->output != NULL && !tg_tool_result_is_error(result)) {
        return tg_cli_result_save_file(result, call->options->output);
    }

    return call->options->method == NULL ? tg_cli_result_print(result)
                                         : tg_cli_result_print_value(result);
}

/* Parses the name, and those arguments that do not need the tool's schema. */
static int
tg_cli_call_parse(tg_cli_call_t *call)
{
    const tg_cli_options_t *options;
    const char *name;
    int n;

    options = call->options;
    n = options->method == NULL;

    if (options->output != NULL && (n == 0 || options->is_json)) {
        return tg_cli_error("-o saves what a tool returns and cannot be "
                            "combined with %s; redirect standard output "
                            "instead (> %s)",
                            n == 0 ? "--method" : "--json", options->output);
    }

    if (options->nargs < n) {
        return tg_cli_error("call which tool? (toolgate list shows all "
                            "tools)");
    }

    name = n ? options->args[0] : options->method;
    call->name = tg_str_from_cstr(name);
    call->args = options->args + n;
    call->nargs = options->nargs - n;

    if (call->name.len == 0 || !tg_utf8_is_valid(call->name)) {
        return tg_cli_error("\"%s\" is not a valid name", name);
    }

    if (n != 0 && tg_cli_tool_args_need_schema(call->args, call->nargs)) {
        return TG_CLI_EXIT_OK;
    }

    return tg_cli_tool_args_write_json(call->args, call->nargs, NULL, n == 0,
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

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_run(options, tg_cli_call_on_connect, &call);
    }

    tg_buf_deinit(&call.json);

    return rc;
}

static const tg_cli_option_t tg_cli_call_options[] = {
    TG_CLI_VALUE("--method", 'm', "NAME", method,
                 "call a JSON-RPC method instead, whose params may also be an "
                 "array, and print its result as JSON"),
    TG_CLI_OPTION_JSON("print the whole result, or {\"error\":...}, on one "
                       "line"),
    TG_CLI_VALUE("--output", 'o', "FILE", output,
                 "save the image, sound, file or text of the result to FILE"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("cancel the call after this time (default: only the "
                          "tool's own limit)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_call = {
    .name = "call",
    .synopsis = "call NAME [KEY=VALUE ... | JSON | -] [--json] "
                "[--socket PATH]\n"
                "                [--timeout SECONDS] [-o FILE]\n"
                "       toolgate call --method NAME [KEY=VALUE ... | JSON | -] "
                "...",
    .summary = "call a tool",
    .help = "Calls a tool and prints the text that it returns; an error goes "
            "to standard error. The arguments are\n\n"
            "  KEY=VALUE   a string, or JSON where the tool's schema requires "
            "a number,\n"
            "              a boolean, an array or an object\n"
            "  KEY:=JSON   JSON, whatever the schema requires\n"
            "  KEY+=VALUE  one element of an array; repeat it for more "
            "elements.\n"
            "              KEY=VALUE does the same where the schema requires "
            "an array\n"
            "  KEY=@FILE   the text of a file\n"
            "  KEY=-       the text of standard input\n"
            "  {...}       all arguments as one JSON object\n"
            "  -           such an object, read from standard input",
    .note = "Ctrl-C cancels the call.",
    .options = tg_cli_call_options,
    .run = tg_cli_call_run,
};
