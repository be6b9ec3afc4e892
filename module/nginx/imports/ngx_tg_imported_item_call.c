/*
 * Requests about prompts, resources and templates, with the names and URIs of
 * their MCP server.
 */
#include "nginx/imports/ngx_tg_imports.h"

tg_str_t
ngx_tg_imported_item_strip_name(const tg_catalog_entry_t *entry, tg_str_t uri)
{
    const ngx_tg_imported_tool_t *listed;
    const ngx_tg_tool_t *tool;

    tool = entry->host;
    listed = tool->conf;

    return tg_str_eq(entry->name, listed->renamed)
               ? tg_str_skip(uri, listed->server->name.len + 1)
               : uri;
}

/* Returns the server's URI of a read, in room, which has TG_URI_MAX bytes. */
static tg_str_t
ngx_tg_imported_item_get_uri(const tg_request_t *request, char *room)
{
    tg_buf_t text;

    text = tg_buf_make_fixed(room, TG_URI_MAX);
    tg_json_append_unescaped(&text, request->name);

    return ngx_tg_imported_item_strip_name(request->entry, tg_buf_view(&text));
}

/* Appends `"uri":"…"`, the URI that a client reads. */
static void
ngx_tg_imported_item_write_uri(const ngx_tg_imported_tool_t *listed,
                               const tg_request_t *request, tg_buf_t *out)
{
    char room[TG_URI_MAX];

    if (listed->tool.entry.kind == TG_ENTRY_RESOURCE) {
        tg_buf_append_cstr(out, "\"uri\":");
        tg_json_write_compact(out, listed->name);
    } else {
        tg_json_add_string(out, "uri",
                           ngx_tg_imported_item_get_uri(request, room));
    }
}

static void
ngx_tg_imported_item_write_completion(const ngx_tg_imported_tool_t *listed,
                                      const tg_request_t *request,
                                      tg_buf_t *out)
{
    tg_buf_append_cstr(out, listed->tool.entry.kind == TG_ENTRY_PROMPT
                                ? "\"ref\":{\"type\":\"ref/prompt\",\"name\":"
                                : "\"ref\":{\"type\":\"ref/resource\","
                                  "\"uri\":");
    tg_json_write_compact(out, listed->name);
    tg_buf_append_cstr(out, "},\"argument\":{\"name\":\"");
    tg_buf_append_str(out, request->name);
    tg_buf_append_cstr(out, "\",\"value\":\"");
    tg_buf_append_str(out, request->reply.subject);
    tg_buf_append_cstr(out, "\"}");

    if (request->arguments.len > 2) {
        tg_buf_append_cstr(out, ",\"context\":{\"arguments\":");
        tg_json_write_compact(out, request->arguments);
        tg_buf_append_char(out, '}');
    }
}

/* Checks whether the block selects the unlisted URI that a client reads. */
static ngx_uint_t
ngx_tg_imported_item_is_uri_selected(const ngx_tg_imported_tool_t *listed,
                                     const tg_request_t *request)
{
    char room[TG_URI_MAX];

    return ngx_tg_imported_uri_is_selected(
        listed->server, ngx_tg_imported_item_get_uri(request, room));
}

ngx_uint_t
ngx_tg_imported_item_start(ngx_tg_call_t *call, const tg_request_t *request)
{
    const ngx_tg_imported_tool_t *listed;
    tg_outcome_t outcome;

    listed = call->tool->conf;

    if (request->reply.kind == TG_ENTRY_COMPLETION) {
        if (listed->server->has_completions && !listed->is_catch_all) {
            return 1;
        }

        outcome = tg_outcome_make_text(TG_STR(""));
        ngx_tg_call_end(call, &outcome);
        return 0;
    }

    if (listed->tool.entry.kind == TG_ENTRY_TEMPLATE
        && !ngx_tg_imported_item_is_uri_selected(listed, request))
    {
        ngx_tg_call_fail(call, TG_FAILURE_UNKNOWN,
                         "There is no such resource.");
        return 0;
    }

    return 1;
}

void
ngx_tg_imported_item_write_request(const ngx_tg_call_t *call,
                                   const tg_request_t *request,
                                   tg_buf_t *params)
{
    const ngx_tg_imported_tool_t *listed;

    listed = call->tool->conf;

    if (request->reply.kind == TG_ENTRY_COMPLETION) {
        tg_json_add_cstr(params, "method", "completion/complete");
        tg_buf_append_cstr(params, ",\"arguments\":{");
        ngx_tg_imported_item_write_completion(listed, request, params);

    } else if (listed->tool.entry.kind == TG_ENTRY_PROMPT) {
        tg_json_add_cstr(params, "method", "prompts/get");
        tg_buf_append_cstr(params, ",\"arguments\":{\"name\":");
        tg_json_write_compact(params, listed->name);
        tg_json_add_compact(params, "arguments", request->arguments);

    } else {
        tg_json_add_cstr(params, "method", "resources/read");
        tg_buf_append_cstr(params, ",\"arguments\":{");
        ngx_tg_imported_item_write_uri(listed, request, params);
    }

    tg_buf_append_char(params, '}');
}
