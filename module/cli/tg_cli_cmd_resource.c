/* The commands `toolgate resources` and `toolgate read`. */
#include "cli/tg_cli_tool.h"
#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "cli/tg_cli_table.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"

/* Error code of MCP before 2026 for an unknown resource. */
#define TG_CLI_RESOURCE_NOT_FOUND (-32002)

/* --- resources --- */

/* Appends the description, or else the title or the name. */
static void
tg_cli_cell_append_meaning(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    static const char *const members[] = { "description", "title", "name" };
    tg_str_t text;
    size_t i;

    text = TG_STR_NONE;

    for (i = 0; text.len == 0 && i < sizeof(members) / sizeof(members[0]); i++)
    {
        text = tg_cli_json_get_text(cell->row, members[i]);
    }

    tg_cli_append_first_line(out, text);
}

/* Appends the size, or "-" if it is unknown. */
static void
tg_cli_cell_append_size(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    if (tg_cli_json_is_number(tg_cli_json_get(cell->row, cell->member))) {
        tg_cli_cell_append_bytes(out, cell);
    } else {
        tg_buf_append_char(out, '-');
    }
}

static const tg_cli_column_t tg_cli_resource_columns[] = {
    { "RESOURCE", tg_cli_cell_append_text, "uri" },
    { "TYPE", tg_cli_cell_append_optional_text, "mimeType" },
    { ">SIZE", tg_cli_cell_append_size, "size" },
    { "<DESCRIPTION", tg_cli_cell_append_meaning, NULL },
    { NULL, NULL, NULL },
};

static const tg_cli_column_t tg_cli_template_columns[] = {
    { "TEMPLATE", tg_cli_cell_append_text, "uriTemplate" },
    { "TYPE", tg_cli_cell_append_optional_text, "mimeType" },
    { "<DESCRIPTION", tg_cli_cell_append_meaning, NULL },
    { NULL, NULL, NULL },
};

/* Appends a table of a list, after an empty line if there is another table. */
static void
tg_cli_resources_append_table(tg_buf_t *out, const tg_cli_column_t *columns,
                              json_object *list, const char *member)
{
    tg_cli_table_t table;
    tg_buf_t text;

    tg_cli_table_init(&table, columns);
    tg_cli_table_add_list(&table, list, member);
    tg_buf_init(&text, out->alloc);
    tg_cli_table_append_section(&table, &text);

    /* A section begins with an empty line. */
    if (text.len != 0) {
        tg_buf_append_str(out, tg_str_skip(tg_buf_view(&text), out->len == 0));
    }

    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

/* Appends {"resources":[...],"resourceTemplates":[...]} of both results. */
static void
tg_cli_resources_append_json(tg_buf_t *out, tg_str_t resources,
                             tg_str_t templates)
{
    tg_buf_append(out, resources.data, resources.len - 1);
    tg_buf_append_char(out, ',');
    tg_buf_append_str(out, tg_str_skip(templates, 1));
    tg_buf_append_char(out, '\n');
}

static int
tg_cli_resources_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_cli_response_t resources;
    tg_buf_t out;
    int is_json, rc;

    is_json = session->options->is_json;
    rc = tg_cli_result_fetch_list(session, TG_MCP_RESOURCES, !is_json);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    resources = session->response;
    tg_cli_response_init(&session->response);
    rc = tg_cli_result_fetch_list(session, TG_MCP_TEMPLATES, !is_json);
    tg_buf_init(&out, tg_alloc_libc());

    if (rc == TG_CLI_EXIT_OK && is_json) {
        tg_cli_resources_append_json(&out, tg_buf_view(&resources.text),
                                     tg_buf_view(&session->response.text));
    } else if (rc == TG_CLI_EXIT_OK) {
        tg_cli_resources_append_table(&out, tg_cli_resource_columns,
                                      resources.result, "resources");
        tg_cli_resources_append_table(&out, tg_cli_template_columns,
                                      session->response.result,
                                      "resourceTemplates");
    }

    tg_cli_response_deinit(&resources);

    if (rc == TG_CLI_EXIT_OK && out.len == 0 && !tg_buf_has_failed(&out)) {
        (void) tg_cli_error("%s offers you no resources", session->address);
    }

    return tg_cli_print_and_free(stdout, &out, rc);
}

static const tg_cli_option_t tg_cli_resources_options[] = {
    TG_CLI_OPTION_JSON("print {\"resources\":[...],\"resourceTemplates\":[...]}"
                       ", each as the server sent it"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 15)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_resources = {
    .name = "resources",
    .synopsis = "resources [--json] [--socket PATH] [--timeout SECONDS]",
    .summary = "show the resources and templates",
    .help = "Shows every resource, then every template of further resources: "
            "replace {name} in a template by a value to get a URI for "
            "`toolgate read`.",
    .options = tg_cli_resources_options,
    .takes_no_args = 1,
    .extra_arg_hint = " (toolgate read URI prints a resource)",
    .on_connect = tg_cli_resources_on_connect,
};

/* --- read --- */

static int
tg_cli_read_report_error(tg_cli_session_t *session, const char *uri)
{
    /* Every URI has a colon: the name of a resource, tool or prompt. */
    if (!session->options->is_json && strchr(uri, ':') == NULL
        && tg_cli_list_report_other_kind(session, TG_MCP_TEMPLATES,
                                         tg_str_from_cstr(uri)))
    {
        return TG_CLI_EXIT_REFUSED;
    }

    if (!session->options->is_json
        && session->response.kind == TG_RESPONSE_ERROR
        && session->response.code == TG_RPC_METHOD_NOT_FOUND)
    {
        (void) tg_cli_error("%s offers you no resources", session->address);
        return TG_CLI_EXIT_REFUSED;
    }

    if (session->options->is_json
        || session->response.code != TG_CLI_RESOURCE_NOT_FOUND)
    {
        return tg_cli_response_print_error(&session->response,
                                           session->options);
    }

    (void) tg_cli_error("unknown resource \"%s\" (toolgate resources shows all "
                        "resources and templates)",
                        uri);

    return TG_CLI_EXIT_REFUSED;
}

static int
tg_cli_read_on_connect(tg_cli_session_t *session, void *ctx)
{
    const tg_cli_options_t *options;
    const char *uri;
    int rc;

    options = session->options;
    uri = options->args[0];
    rc = tg_cli_session_request_read_only(session, "resources/read", ctx, 0);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind != TG_RESPONSE_RESULT) {
        return tg_cli_read_report_error(session, uri);
    }

    return options->is_json
               ? tg_cli_result_print_text(session, TG_CLI_EXIT_OK)
               : tg_cli_result_write_contents(
                   tg_buf_view(&session->response.text), uri, options->output);
}

static int
tg_cli_read_run(const tg_cli_options_t *options)
{
    tg_buf_t params;
    tg_str_t uri;
    int rc;

    uri = tg_str_from_cstr(options->args[0]);

    if (uri.len == 0 || !tg_utf8_is_valid(uri)) {
        return tg_cli_error("\"%s\" is not a valid URI", options->args[0]);
    }

    if (options->output != NULL && options->is_json) {
        return tg_cli_error("-o saves the contents of a resource and cannot be "
                            "combined with --json; redirect standard output "
                            "instead (> %s)",
                            options->output);
    }

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_string(&params, "uri", uri);
    tg_buf_append(&params, "}", sizeof("}"));
    rc = tg_buf_has_failed(&params)
             ? tg_cli_error_nomem()
             : tg_cli_session_run(options, tg_cli_read_on_connect, params.data);
    tg_buf_deinit(&params);

    return rc;
}

static const tg_cli_option_t tg_cli_read_options[] = {
    TG_CLI_OPTION_JSON("print the whole result, or {\"error\":...}, on one "
                       "line"),
    TG_CLI_VALUE("--output", 'o', "FILE", output, "save the contents to FILE"),
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("stop waiting after this time (default: only the "
                          "resource's own limit)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_read = {
    .name = "read",
    .synopsis = "read URI [-o FILE] [--json] [--socket PATH] "
                "[--timeout SECONDS]",
    .summary = "print a resource",
    .help = "Prints the contents of a resource. Binary contents are written as "
            "they are to a file or a pipe, but not to a terminal.",
    .options = tg_cli_read_options,
    .max_args = 1,
    .missing_arg = "read which resource? (toolgate resources shows all "
                   "resources and templates)",
    .run = tg_cli_read_run,
};
