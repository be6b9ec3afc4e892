/*
 * The tool `toolgate_output`, which pages through stored outputs. A server
 * offers it if one of its tools stores large outputs.
 */
#include "nginx/call/ngx_tg_call.h"

extern const ngx_tg_handler_t ngx_tg_output_pager_handler;

static const char ngx_tg_output_pager_description[] =
    "Reads a stored output of another tool that was too large to show in full. "
    "Returns one page, starting at a line or a byte, or the lines that match a "
    "pattern. Each page says how to get the next one.";

/* The limits are those of tg_output_page.h and tg_output_search.h. */
static const char ngx_tg_output_pager_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"output\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\","
    "\"description\":\"id of the stored output, from the tool's result\"},"
    "\"line\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"number of the first line to return; the first line is "
    "1\"},"
    "\"lines\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"maximum number of lines to return\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,"
    "\"description\":\"offset of the first byte to return, from 0; use it "
    "instead of line\"},"
    "\"bytes\":{\"type\":\"integer\",\"minimum\":4,\"maximum\":1048576,"
    "\"description\":\"maximum number of bytes to return; default 32768\"},"
    "\"pattern\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":256,"
    "\"description\":\"an ECMA-262 regular expression, as in JavaScript with "
    "the u flag; returns only matching lines, with their line numbers\"}},"
    "\"required\":[\"output\"],\"additionalProperties\":false}";

static ngx_int_t
ngx_tg_output_pager_offer(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    static ngx_str_t directive = ngx_string("input_schema");

    ngx_tg_tool_t *tool;
    ngx_str_t name;
    int rc;

    if (!scf->has_stored_output) {
        return NGX_OK;
    }

    name = ngx_tg_output_pager_handler.name;
    tool = ngx_tg_tool_create(cf, TG_ENTRY_TOOL, &name);
    if (tool == NULL) {
        return NGX_ERROR;
    }

    tool->handler = &ngx_tg_output_pager_handler;
    tool->output_spec.max_output = scf->output_spec.max_output;
    tg_spec_set_defaults(tg_output_fields, &tool->output_spec);
    tool->output = TG_OUTPUT_RESULT;
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.description = tg_str_from_cstr(ngx_tg_output_pager_description);
    tool->entry.annotations = TG_STR("{\"readOnlyHint\":true,"
                                     "\"openWorldHint\":false}");
    tool->entry.input_schema = tg_str_from_cstr(ngx_tg_output_pager_schema);
    tool->input = ngx_tg_schema_compile(cf, &directive,
                                        tool->entry.input_schema, 0);
    rc = tg_catalog_add(scf->catalog, &tool->entry);

    if (rc == TG_EXISTS) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "the tool name \"%V\" is reserved by \"max_output ... "
                      "spill\" and \"preview\"; give yours another name",
                      &name);
    }

    return rc == TG_OK && tool->input != NULL ? NGX_OK : NGX_ERROR;
}

static void
ngx_tg_output_pager_start(ngx_tg_call_t *call, tg_request_t *request)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    ngx_tg_call_append_owner(call, &params);
    tg_json_add_compact(&params, "arguments", request->arguments);
    ngx_tg_call_start_remote(call, TG_STR("output"), &params,
                             TG_FAILURE_INTERNAL, NULL);
}

/* The handler has no directive, so no block can select it. */
const ngx_tg_handler_t ngx_tg_output_pager_handler = {
    .name = ngx_string("toolgate_output"),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_HAS_OWN_BLOCK,
    .add_entries = ngx_tg_output_pager_offer,
    .start = ngx_tg_output_pager_start,
};
