/*
 * The command `toolgate list`: shows the tools and their arguments.
 */
#include "cli/tg_cli_result.h"
#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool_list.h"
#include "base/tg_utf8.h"

#include <ctype.h>

#define TG_CLI_LIST_INDENT 4
/* Longest enum that is shown, in bytes; `toolgate help` shows longer ones. */
#define TG_CLI_LIST_ENUM_MAX 60

/*
 * Appends an enum as `a|b|c` if it is short enough.  Returns 1 if appended,
 * else 0.
 */
static int
tg_cli_list_append_enum(tg_buf_t *out, tg_str_t root, tg_str_t schema)
{
    tg_json_cursor_t json;
    tg_str_t value;
    size_t start;
    int n;

    start = out->len;
    n = 0;
    tg_json_iter_init(&json, tg_cli_schema_get_keyword(root, schema, "enum"));

    for (/* void */; tg_json_iter_next(&json, &value); n++) {
        tg_buf_append_cstr(out, n == 0 ? "" : "|");
        tg_cli_append_json_value(out, value);
    }

    if (n == 0 || out->len - start > TG_CLI_LIST_ENUM_MAX) {
        tg_buf_truncate(out, start);
        return 0;
    }

    return 1;
}

/* Appends the first type of a property other than null, in capitals. */
static void
tg_cli_list_append_type_name(tg_buf_t *out, tg_str_t root, tg_str_t schema)
{
    tg_json_cursor_t json;
    tg_str_t type;
    size_t i;

    type = tg_cli_schema_get_keyword(root, schema, "type");

    if (tg_json_type(type) == TG_JSON_ARRAY) {
        tg_json_iter_init(&json, type);

        while (tg_json_iter_next(&json, &type)
               && tg_json_string_eq(type, TG_STR("null")))
        {
        }
    }

    type = tg_json_type(type) == TG_JSON_STRING ? tg_json_string_body(type)
                                                : TG_STR("value");

    for (i = 0; i < type.len; i++) {
        tg_buf_append_char(out, (char) toupper((unsigned char) type.data[i]));
    }
}

/* Appends the type of a property: `a|b`, STRING, or STRING... for an array. */
static void
tg_cli_list_append_type(tg_buf_t *out, tg_str_t root, tg_str_t schema)
{
    tg_str_t items;

    schema = tg_cli_schema_pick_alternative(root, schema);

    if (tg_cli_list_append_enum(out, root, schema)) {
        return;
    }

    items = tg_cli_schema_get_keyword(root, schema, "items");

    if (tg_cli_json_has_string(tg_cli_schema_get_keyword(root, schema, "type"),
                               TG_STR("array"))
        && tg_json_type(items) == TG_JSON_OBJECT)
    {
        items = tg_cli_schema_pick_alternative(root, items);

        if (!tg_cli_list_append_enum(out, root, items)) {
            tg_cli_list_append_type_name(out, root, items);
        }

        tg_buf_append_cstr(out, "...");
        return;
    }

    tg_cli_list_append_type_name(out, root, schema);
}

/*
 * Appends the arguments of a tool as `toolgate call` accepts them: `
 * text=STRING [lang=STRING]`.
 */
static void
tg_cli_list_append_arguments(tg_buf_t *out, tg_str_t tool)
{
    tg_json_cursor_t json;
    tg_str_t schema, properties, required, key, property;
    int is_required;

    if (tg_json_get_member(tool, TG_STR("inputSchema"), &schema) != TG_OK
        || !tg_json_has_member(schema, TG_STR("properties"), TG_JSON_OBJECT,
                               &properties))
    {
        return;
    }

    required = TG_STR_NONE;
    (void) tg_json_get_member(schema, TG_STR("required"), &required);
    tg_json_iter_init_members(&json, properties);

    while (tg_json_iter_next_member(&json, &key, &property)) {
        is_required = tg_cli_json_has_string(required, key);
        tg_buf_append_cstr(out, is_required ? " " : " [");
        tg_json_append_unescaped(out, key);
        tg_buf_append_char(out, '=');
        tg_cli_list_append_type(out, schema, property);
        tg_buf_append_cstr(out, is_required ? "" : "]");
    }
}

static void
tg_cli_list_append_tool(tg_buf_t *out, tg_str_t tool, unsigned columns)
{
    tg_str_t body;
    tg_buf_t text;

    tg_buf_init(&text, out->alloc);

    if (tg_cli_tool_get_text(tool, TG_STR("name"), &body) == TG_OK) {
        tg_json_append_unescaped(&text, body);
    }

    tg_cli_list_append_arguments(&text, tool);
    tg_utf8_append_visible(out, tg_buf_view(&text), 1);
    tg_buf_append_char(out, '\n');
    tg_buf_truncate(&text, 0);

    if (tg_cli_tool_get_text(tool, TG_STR("description"), &body) == TG_OK
        || tg_cli_tool_get_text(tool, TG_STR("title"), &body) == TG_OK)
    {
        tg_json_append_unescaped(&text, body);
    }

    tg_cli_append_wrapped_text(out, tg_buf_view(&text), TG_CLI_LIST_INDENT,
                               columns);
    tg_buf_deinit(&text);
}

static void
tg_cli_list_append_tools(tg_buf_t *out, tg_str_t list)
{
    tg_json_cursor_t json;
    tg_buf_t text;
    tg_str_t tool;
    unsigned columns;

    columns = tg_cli_terminal_get_width();
    tg_buf_init(&text, out->alloc);

    for (tg_json_iter_init(&json, tg_cli_tool_list_get_tools(list));
         tg_json_iter_next(&json, &tool);)
    {
        tg_cli_list_append_tool(&text, tool, columns);
    }

    /* Control characters are replaced even if the output is not a terminal. */
    tg_utf8_append_visible(out, tg_buf_view(&text), 0);
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

/* Appends the first line of an error. */
static void
tg_cli_list_append_error(tg_buf_t *line, tg_str_t error)
{
    const char *end;
    tg_buf_t text;

    tg_buf_init(&text, line->alloc);
    tg_json_append_unescaped(&text, tg_json_string_body(error));
    error = tg_buf_view(&text);
    end = error.len != 0 ? memchr(error.data, '\n', error.len) : NULL;

    if (end != NULL) {
        error.len = (size_t) (end - error.data);
    }

    tg_buf_append_str(line, error);
    line->failed |= text.failed;
    tg_buf_deinit(&text);
}

/*
 * Reports the MCP servers whose tools are missing to standard error, as they
 * are not part of the list.
 */
static void
tg_cli_list_report_absent_servers(tg_str_t servers)
{
    tg_str_t server, name, state, error;
    int has_failed, has_error;
    tg_json_cursor_t json;
    tg_buf_t line;

    tg_buf_init(&line, tg_alloc_libc());

    for (tg_json_iter_init(&json, servers); tg_json_iter_next(&json, &server);)
    {
        if (!tg_json_has_member(server, TG_STR("name"), TG_JSON_STRING, &name)
            || !tg_json_has_member(server, TG_STR("state"), TG_JSON_STRING,
                                   &state))
        {
            continue;
        }

        has_failed = tg_json_string_eq(state, TG_STR("failed"));
        has_error = tg_json_has_member(server, TG_STR("error"), TG_JSON_STRING,
                                       &error);
        tg_buf_truncate(&line, 0);
        tg_buf_append_cstr(&line, "mcp_server \"");
        tg_json_append_unescaped(&line, tg_json_string_body(name));
        tg_buf_append_cstr(&line, has_failed ? "\" has failed"
                                             : "\" is starting; run this again "
                                               "later");

        if (has_error) {
            tg_buf_append_cstr(&line, has_failed ? ": " : " (it failed: ");
            tg_cli_list_append_error(&line, error);
            tg_buf_append_cstr(&line, has_failed ? "" : ")");
        }

        if (!tg_buf_has_failed(&line)) {
            (void) tg_cli_error("%.*s", (int) line.len, line.data);
        }
    }

    tg_buf_deinit(&line);
}

static int
tg_cli_list_print(const tg_cli_session_t *session)
{
    tg_buf_t out;
    tg_str_t list;

    list = tg_buf_view(&session->response.result);
    tg_buf_init(&out, tg_alloc_libc());

    if (session->options->is_json) {
        tg_json_write_compact(&out, list);
        tg_buf_append_char(&out, '\n');
    } else {
        tg_cli_list_append_tools(&out, list);
    }

    if (out.len == 0 && !tg_buf_has_failed(&out)) {
        (void) tg_cli_error("%s offers you no tools", session->endpoint.text);
    }

    tg_cli_list_report_absent_servers(
        tg_buf_view(&session->list.absent_servers));

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

static int
tg_cli_list_on_connect(tg_cli_session_t *session, void *ctx)
{
    int rc;

    rc = tg_cli_session_list_tools(session);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    return session->response.kind == TG_RESPONSE_RESULT
               ? tg_cli_list_print(session)
               : tg_cli_response_print_error(&session->response,
                                             session->options);
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
