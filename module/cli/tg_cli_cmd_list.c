/* The command `toolgate list`: shows the tools and their arguments. */
#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool.h"
#include "base/tg_utf8.h"

#include <ctype.h>

#define TG_CLI_LIST_INDENT 4
/* Longest enum that is shown, in bytes; `toolgate help` shows longer ones. */
#define TG_CLI_LIST_ENUM_MAX 60

/* Appends a short enum, `a|b|c`. Returns 1 if it was appended. */
static int
tg_cli_list_append_enum(tg_buf_t *out, json_object *root, json_object *schema)
{
    tg_cli_json_iter_t iter;
    json_object *value;
    size_t start;
    int n;

    start = out->len;
    tg_cli_json_iter_init(&iter,
                          tg_cli_schema_get_keyword(root, schema, "enum"));

    for (n = 0; tg_cli_json_iter_next(&iter, &value); n++) {
        tg_buf_append_cstr(out, n == 0 ? "" : "|");
        tg_cli_json_append_value(out, value);
    }

    if (n == 0 || out->len - start > TG_CLI_LIST_ENUM_MAX) {
        tg_buf_truncate(out, start);
        return 0;
    }

    return 1;
}

/* Appends the first type of a property other than null, in capitals. */
static void
tg_cli_list_append_type_name(tg_buf_t *out, json_object *root,
                             json_object *schema)
{
    tg_cli_json_iter_t iter;
    json_object *type;
    tg_str_t name;
    size_t i;

    type = tg_cli_schema_get_keyword(root, schema, "type");
    tg_cli_json_iter_init(&iter, type);

    while (tg_cli_json_iter_next(&iter, &type)
           && tg_cli_json_has_string(type, "null"))
    {
    }

    name = tg_cli_json_to_text(type);
    name = name.data != NULL ? name : TG_STR("value");

    for (i = 0; i < name.len; i++) {
        tg_buf_append_char(out, (char) toupper((unsigned char) name.data[i]));
    }
}

/* Appends the type of a property: `a|b`, STRING, or STRING... for an array. */
static void
tg_cli_list_append_type(tg_buf_t *out, json_object *root, json_object *schema)
{
    json_object *items;
    int is_array;

    schema = tg_cli_schema_pick_alternative(root, schema);

    if (tg_cli_list_append_enum(out, root, schema)) {
        return;
    }

    items = tg_cli_schema_get_keyword(root, schema, "items");
    is_array = json_object_is_type(items, json_type_object)
               && tg_cli_json_has_string(
                   tg_cli_schema_get_keyword(root, schema, "type"), "array");

    if (is_array) {
        schema = tg_cli_schema_pick_alternative(root, items);
    }

    if (!is_array || !tg_cli_list_append_enum(out, root, schema)) {
        tg_cli_list_append_type_name(out, root, schema);
    }

    tg_buf_append_cstr(out, is_array ? "..." : "");
}

/* Appends the arguments of `toolgate call`: text=STRING [lang=STRING]. */
static void
tg_cli_list_append_arguments(tg_buf_t *out, json_object *tool)
{
    json_object *schema, *required, *property;
    tg_cli_json_iter_t iter;
    const char *key;
    int is_required;

    schema = tg_cli_json_get(tool, "inputSchema");
    required = tg_cli_json_get(schema, "required");
    tg_cli_json_iter_init_members(&iter, tg_cli_json_get(schema, "properties"));

    while (tg_cli_json_iter_next_member(&iter, &key, &property)) {
        is_required = tg_cli_json_has_string(required, key);
        tg_buf_append_cstr(out, is_required ? " " : " [");
        tg_buf_append_cstr(out, key);
        tg_buf_append_char(out, '=');
        tg_cli_list_append_type(out, schema, property);
        tg_buf_append_cstr(out, is_required ? "" : "]");
    }
}

static void
tg_cli_list_append_tool(tg_buf_t *out, json_object *tool, unsigned columns)
{
    tg_buf_t text;

    tg_buf_init(&text, out->alloc);
    tg_buf_append_str(&text, tg_cli_json_get_text(tool, "name"));
    tg_cli_list_append_arguments(&text, tool);
    tg_utf8_append_visible(out, tg_buf_view(&text), 1);
    out->failed |= text.failed;
    tg_buf_deinit(&text);
    tg_buf_append_char(out, '\n');
    tg_cli_append_wrapped_text(out, tg_cli_tool_get_description(tool),
                               TG_CLI_LIST_INDENT, columns);
}

static void
tg_cli_list_append_tools(tg_buf_t *out, json_object *list)
{
    tg_cli_json_iter_t iter;
    json_object *tool;
    unsigned columns;
    tg_buf_t text;

    columns = tg_cli_terminal_get_width();
    tg_buf_init(&text, out->alloc);
    tg_cli_json_iter_init(&iter, tg_cli_json_get(list, "tools"));

    while (tg_cli_json_iter_next(&iter, &tool)) {
        tg_cli_list_append_tool(&text, tool, columns);
    }

    /* Control characters are replaced even if the output is not a terminal. */
    tg_utf8_append_visible(out, tg_buf_view(&text), 0);
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

static void
tg_cli_list_report_absent_servers(tg_str_t text)
{
    json_object *servers, *server;
    tg_str_t name, state, error;
    tg_cli_json_iter_t iter;
    const char *newline;
    int has_failed;

    servers = NULL;
    (void) tg_cli_json_parse(text, &servers);
    tg_cli_json_iter_init(&iter, servers);

    while (tg_cli_json_iter_next(&iter, &server)) {
        name = tg_cli_json_get_text(server, "name");
        state = tg_cli_json_get_text(server, "state");
        error = tg_cli_json_get_text(server, "error");

        if (name.data == NULL || state.data == NULL) {
            continue;
        }

        /* Only the first line of the error. */
        newline = error.data != NULL ? memchr(error.data, '\n', error.len)
                                     : NULL;
        error.len = newline != NULL ? (size_t) (newline - error.data)
                                    : error.len;
        has_failed = tg_str_eq(state, TG_STR("failed"));
        (void) tg_cli_error(
            "mcp_server \"%.*s\" %s%s%.*s%s", (int) name.len, name.data,
            has_failed ? "has failed" : "is starting; run this again later",
            error.data == NULL ? ""
            : has_failed       ? ": "
                               : " (it failed: ",
            (int) error.len, error.data != NULL ? error.data : "",
            error.data == NULL || has_failed ? "" : ")");
    }

    json_object_put(servers);
}

static int
tg_cli_list_print(tg_cli_session_t *session)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());

    if (!session->options->is_json) {
        tg_cli_list_append_tools(&out, session->response.result);
    }

    if (!session->options->is_json && out.len == 0 && !tg_buf_has_failed(&out))
    {
        (void) tg_cli_error("%s offers you no tools", session->address);
    }

    tg_cli_list_report_absent_servers(
        tg_buf_view(&session->response.absent_servers));

    if (session->options->is_json) {
        return tg_cli_result_print_text(session, TG_CLI_EXIT_OK);
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static int
tg_cli_list_on_connect(tg_cli_session_t *session, void *ctx)
{
    int rc;

    rc = tg_cli_result_fetch_list(session, TG_MCP_TOOLS,
                                  !session->options->is_json);

    return rc == TG_CLI_EXIT_OK ? tg_cli_list_print(session) : rc;
}

static const tg_cli_option_t tg_cli_list_options[] = {
    TG_CLI_OPTION_JSON("print {\"tools\":[...]} as the server sent it"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 15)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_list = {
    .name = "list",
    .synopsis = "list [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "show the tools and how to call them",
    .help = "Shows every tool with its description and its arguments as "
            "`toolgate call` takes them ([ ] marks optional arguments). MCP "
            "servers that are starting or have failed are reported on standard "
            "error.",
    .options = tg_cli_list_options,
    .takes_no_args = 1,
    .extra_arg_hint = " (toolgate help NAME explains a tool)",
    .on_connect = tg_cli_list_on_connect,
};
