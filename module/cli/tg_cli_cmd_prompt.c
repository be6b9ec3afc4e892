/* The commands `toolgate prompts` and `toolgate prompt`. */
#include "cli/tg_cli_tool.h"
#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_CLI_PROMPT_INDENT 4

typedef struct {
    const tg_cli_options_t *options;
    tg_str_t name;
    tg_buf_t arguments; /* as JSON; empty: none, or they need the list */
    tg_buf_t params;    /* with a NUL */
} tg_cli_prompt_t;

/* --- prompts --- */

/* Appends the arguments of `toolgate prompt`: commit=TEXT [focus=TEXT]. */
static void
tg_cli_prompts_append_arguments(tg_buf_t *out, json_object *prompt)
{
    tg_cli_json_iter_t iter;
    json_object *argument;
    int is_required;

    tg_cli_json_iter_init(&iter, tg_cli_json_get(prompt, "arguments"));

    while (tg_cli_json_iter_next(&iter, &argument)) {
        is_required = tg_cli_json_is_true(argument, "required");
        tg_buf_append_cstr(out, is_required ? " " : " [");
        tg_buf_append_str(out, tg_cli_json_get_text(argument, "name"));
        tg_buf_append_cstr(out, is_required ? "=TEXT" : "=TEXT]");
    }
}

/* Appends a line `name: description` for each argument that has one. */
static void
tg_cli_prompts_append_descriptions(tg_buf_t *out, json_object *prompt,
                                   unsigned columns)
{
    tg_cli_json_iter_t iter;
    json_object *argument;
    tg_str_t text;
    tg_buf_t line;

    tg_cli_json_iter_init(&iter, tg_cli_json_get(prompt, "arguments"));

    while (tg_cli_json_iter_next(&iter, &argument)) {
        text = tg_cli_tool_get_description(argument);

        if (text.len != 0) {
            tg_buf_init(&line, out->alloc);
            tg_buf_append_str(&line, tg_cli_json_get_text(argument, "name"));
            tg_buf_append_cstr(&line, ": ");
            tg_buf_append_str(&line, text);
            tg_cli_append_wrapped_text(out, tg_buf_view(&line),
                                       TG_CLI_PROMPT_INDENT, columns);
            out->failed |= line.failed;
            tg_buf_deinit(&line);
        }
    }
}

static void
tg_cli_prompts_append(tg_buf_t *out, json_object *list)
{
    tg_cli_json_iter_t iter;
    json_object *prompt;
    unsigned columns;
    tg_buf_t line, text;

    columns = tg_cli_terminal_get_width();
    tg_buf_init(&text, out->alloc);
    tg_cli_json_iter_init(&iter, tg_cli_json_get(list, "prompts"));

    while (tg_cli_json_iter_next(&iter, &prompt)) {
        tg_buf_init(&line, out->alloc);
        tg_buf_append_str(&line, tg_cli_json_get_text(prompt, "name"));
        tg_cli_prompts_append_arguments(&line, prompt);
        tg_utf8_append_visible(&text, tg_buf_view(&line), 1);
        text.failed |= line.failed;
        tg_buf_deinit(&line);
        tg_buf_append_char(&text, '\n');
        tg_cli_append_wrapped_text(&text, tg_cli_tool_get_description(prompt),
                                   TG_CLI_PROMPT_INDENT, columns);
        tg_cli_prompts_append_descriptions(&text, prompt, columns);
    }

    /* Control characters are replaced even if the output is not a terminal. */
    tg_utf8_append_visible(out, tg_buf_view(&text), 0);
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

static int
tg_cli_prompts_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_buf_t out;
    int rc;

    rc = tg_cli_result_fetch_list(session, TG_MCP_PROMPTS,
                                  !session->options->is_json);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->options->is_json) {
        return tg_cli_result_print_text(session, TG_CLI_EXIT_OK);
    }

    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_prompts_append(&out, session->response.result);

    if (out.len == 0 && !tg_buf_has_failed(&out)) {
        (void) tg_cli_error("%s offers you no prompts", session->address);
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static const tg_cli_option_t tg_cli_prompts_options[] = {
    TG_CLI_OPTION_JSON("print {\"prompts\":[...]} as the server sent it"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 15)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_prompts = {
    .name = "prompts",
    .synopsis = "prompts [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "show the prompts and their arguments",
    .help = "Shows every prompt with its description and its arguments as "
            "`toolgate prompt` takes them ([ ] marks optional arguments).",
    .options = tg_cli_prompts_options,
    .takes_no_args = 1,
    .extra_arg_hint = " (toolgate prompt NAME prints a prompt)",
    .on_connect = tg_cli_prompts_on_connect,
};

/* --- prompt --- */

/* Returns a schema of a prompt's arguments, which are strings. */
static json_object *
tg_cli_prompt_make_schema(json_object *prompt)
{
    json_object *schema, *properties, *property, *argument, *name;
    tg_cli_json_iter_t iter;

    schema = json_object_new_object();
    properties = json_object_new_object();
    (void) json_object_object_add(schema, "properties", properties);
    (void) json_object_object_add(schema, "additionalProperties",
                                  json_object_new_boolean(0));
    tg_cli_json_iter_init(&iter, tg_cli_json_get(prompt, "arguments"));

    while (tg_cli_json_iter_next(&iter, &argument)) {
        name = tg_cli_json_get(argument, "name");

        if (json_object_is_type(name, json_type_string)) {
            property = json_object_new_object();
            tg_cli_json_add_text(property, "type", TG_STR("string"));
            (void) json_object_object_add(properties,
                                          json_object_get_string(name),
                                          property);
        }
    }

    return schema;
}

/* Converts key=value, which the prompt must know. */
static int
tg_cli_prompt_convert_args(tg_cli_prompt_t *get, tg_cli_session_t *session)
{
    json_object *prompt, *schema;
    int rc;

    rc = tg_cli_result_fetch_list(session, TG_MCP_PROMPTS, 1);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    prompt = tg_cli_list_find(session->response.result, TG_MCP_PROMPTS,
                              get->name);

    if (prompt == NULL) {
        return tg_cli_list_report_missing(session, TG_MCP_PROMPTS, get->name);
    }

    schema = tg_cli_prompt_make_schema(prompt);
    rc = tg_cli_tool_args_write_json(get->options->args + 1,
                                     get->options->nargs - 1, schema, 0,
                                     &get->arguments);
    json_object_put(schema);

    return rc;
}

static int
tg_cli_prompt_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_cli_prompt_t *get;
    int rc;

    get = ctx;

    if (get->options->nargs > 1 && get->arguments.len == 0) {
        rc = tg_cli_prompt_convert_args(get, session);

        if (rc != TG_CLI_EXIT_OK) {
            return rc;
        }
    }

    tg_buf_append_char(&get->params, '{');
    tg_json_add_string(&get->params, "name", get->name);

    if (get->arguments.len != 0) {
        tg_json_add_compact(&get->params, "arguments",
                            tg_buf_view(&get->arguments));
    }

    tg_buf_append(&get->params, "}", sizeof("}"));

    if (tg_buf_has_failed(&get->params)) {
        return tg_cli_error_nomem();
    }

    rc = tg_cli_session_request_read_only(session, "prompts/get",
                                          get->params.data, 0);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind == TG_RESPONSE_ERROR && !get->options->is_json
        && session->response.code == TG_RPC_METHOD_NOT_FOUND)
    {
        if (tg_cli_list_report_other_kind(session, TG_MCP_PROMPTS, get->name)) {
            return TG_CLI_EXIT_REFUSED;
        }

        (void) tg_cli_error("%s offers you no prompts", session->address);
        return TG_CLI_EXIT_REFUSED;
    }

    if (session->response.kind != TG_RESPONSE_RESULT) {
        return tg_cli_list_report_error(session, TG_MCP_PROMPTS, get->name);
    }

    return get->options->is_json
               ? tg_cli_result_print_text(session, TG_CLI_EXIT_OK)
               : tg_cli_result_print_messages(
                   tg_buf_view(&session->response.text));
}

static int
tg_cli_prompt_run(const tg_cli_options_t *options)
{
    tg_cli_prompt_t get;
    int rc;

    memset(&get, 0, sizeof(get));
    get.options = options;
    get.name = tg_str_from_cstr(options->args[0]);

    if (get.name.len == 0 || !tg_utf8_is_valid(get.name)) {
        return tg_cli_error("\"%s\" is not a valid name", options->args[0]);
    }

    tg_buf_init(&get.arguments, tg_alloc_libc());
    tg_buf_init(&get.params, tg_alloc_libc());
    rc = options->nargs == 1
                 || tg_cli_tool_args_need_schema(options->args + 1,
                                                 options->nargs - 1)
             ? TG_CLI_EXIT_OK
             : tg_cli_tool_args_write_json(options->args + 1,
                                           options->nargs - 1, NULL, 0,
                                           &get.arguments);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_run(options, tg_cli_prompt_on_connect, &get);
    }

    tg_buf_deinit(&get.arguments);
    tg_buf_deinit(&get.params);

    return rc;
}

static const tg_cli_option_t tg_cli_prompt_options[] = {
    TG_CLI_OPTION_JSON("print the whole result, or {\"error\":...}, on one "
                       "line"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("stop waiting after this time (default: only the "
                          "prompt's own limit)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_prompt = {
    .name = "prompt",
    .synopsis = "prompt NAME [KEY=VALUE ... | JSON | -] [--json] "
                "[--socket PATH]\n"
                "                [--timeout SECONDS]",
    .summary = "print a prompt",
    .help = "Prints the messages of a prompt: the text of a single user "
            "message, or each message after a line with its role. The "
            "arguments are\n\n"
            "  KEY=VALUE   a text\n"
            "  KEY=@FILE   the text of a file\n"
            "  KEY=-       the text of standard input\n"
            "  {...}       all arguments as one JSON object\n"
            "  -           such an object, read from standard input",
    .note = "Example: claude -p \"$(toolgate prompt review commit=HEAD)\"",
    .options = tg_cli_prompt_options,
    .missing_arg = "print which prompt? (toolgate prompts shows all prompts)",
    .run = tg_cli_prompt_run,
};
