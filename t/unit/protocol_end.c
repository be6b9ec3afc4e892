#include "protocol_end.h"

static size_t
end_word(const char *text)
{
    return strcspn(text, " ");
}

static void
end_log_str(tg_buf_t *log, const char *head, tg_str_t text)
{
    if (text.data != NULL) {
        tg_buf_append_cstr(log, head);
        tg_buf_append_str(log, text);
    }
}

/* Runs within a response callback. */
static void
end_done(end_t *end, int rc)
{
    CU_ASSERT(rc == TG_OK || rc == TG_NOMEM);
    end->has_failed |= rc == TG_NOMEM;
}

static void
end_on_response(void *host, void *tag, const tg_response_t *answer)
{
    static const char *const kinds[] = { "result", "error", "lost",
                                         "not started" };
    end_t *end;
    const char *again;

    end = host;

    if (end->has_client) {
        end_event(
            end, tg_mcp_client_on_response(&end->client, tag, answer, end->now),
            "other answer");
        return;
    }

    tg_buf_append(&end->log, tag, end_word(tag));
    tg_buf_printf(&end->log, ": %s", kinds[answer->kind]);
    end_log_str(&end->log, " ", answer->result);

    if (answer->code != 0) {
        tg_buf_append_char(&end->log, ' ');
        tg_buf_append_int(&end->log, answer->code);
    }

    end_log_str(&end->log, " message=", answer->message);
    end_log_str(&end->log, " type=", answer->type);
    end_log_str(&end->log, " data=", answer->data);
    tg_buf_append_char(&end->log, '\n');

    if (end->again != NULL) {
        again = end->again;
        end->again = NULL;
        end_done(end, end_call(end, again));
    }

    if (end->cancel != 0) {
        end_done(end, tg_caller_cancel_request(&end->caller, end->cancel, 1));
        end->cancel = 0;
    }
}

static void
end_on_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    end_t *end = host;

    if (end->has_client) {
        end_event(end,
                  tg_mcp_client_on_notification(&end->client, method, end->now),
                  "other notification");
        return;
    }

    end_log_str(&end->log, "notification ", method);
    end_log_str(&end->log, " ", message->params);
    tg_buf_append_char(&end->log, '\n');
}

static void
end_on_shutdown_notice(void *host, tg_str_t reason, int is_drained)
{
    end_t *end = host;

    tg_buf_append_cstr(&end->log, is_drained ? "drained shutdown_notice"
                                             : "shutdown_notice");
    end_log_str(&end->log, " ", reason);
    tg_buf_append_char(&end->log, '\n');
}

static void
end_on_log(void *host, const char *text)
{
    end_t *end = host;

    tg_buf_printf(&end->log, "log: %s\n", text);
}

static const tg_caller_ops_t end_ops = {
    .answer = end_on_response,
    .notification = end_on_notification,
    .on_shutdown_notice = end_on_shutdown_notice,
    .log = end_on_log
};
const tg_caller_ops_t end_few_ops = { .answer = end_on_response };

/* --- events of an MCP client --- */

static void
end_put(tg_buf_t *log, tg_str_t text)
{
    tg_buf_append_char(log, ' ');
    tg_buf_append_str(log, text.data != NULL ? text : TG_STR("-"));
}

static void
end_put_error(end_t *end, const char *what)
{
    tg_buf_append_cstr(&end->log, what);
    tg_buf_append_int(&end->log, end->client.error.code);
    end_put(&end->log, end->client.error.message);
    CU_ASSERT(end->client.error.kind == TG_RESPONSE_ERROR);
}

static void
end_put_greeted(end_t *end)
{
    const tg_mcp_server_info_t *server_info;

    server_info = &end->client.server_info;
    tg_buf_append_cstr(&end->log, "greeted");
    end_put(&end->log, server_info->name);
    end_put(&end->log, server_info->version);
    end_put(&end->log, server_info->instructions);
    end_put(&end->log, server_info->experimental);
    tg_buf_append_cstr(&end->log,
                       (server_info->changes & 1) != 0 ? " changes" : "");
}

static void
end_put_left_out(end_t *end)
{
    if (end->client.nleft_out != 0) {
        tg_buf_append_cstr(&end->log, ", left out ");
        tg_buf_append_uint(&end->log, end->client.nleft_out);
    }
}

static void
end_put_listed(end_t *end)
{
    const tg_catalog_t *catalog;
    size_t i;

    tg_buf_append_cstr(&end->log, "listed");

    if (end->client.listed != TG_MCP_TOOLS) {
        end_put(&end->log,
                tg_buf_view(&end->client.items[end->client.listed].text));
        end_put_left_out(end);
        return;
    }

    if (end->tools == end->client.tools) {
        tg_buf_append_cstr(&end->log, " the same");
        return;
    }

    end->tools = end->client.tools;
    catalog = end->tools;

    for (i = 0; i < tg_catalog_size(catalog); i++) {
        end_put(&end->log, tg_catalog_get_entry(catalog, i)->name);
    }

    end_put_left_out(end);
}

void
end_event(end_t *end, tg_mcp_event_t event, const char *other)
{
    switch (event) {
    case TG_MCP_EVENT_NONE:
        return;
    case TG_MCP_EVENT_NOT_OWN:
        tg_buf_append_cstr(&end->log, other);
        break;
    case TG_MCP_EVENT_OPEN:
        end_put_greeted(end);
        break;
    case TG_MCP_EVENT_REFUSED:
        end_put_error(end, "refused ");
        break;
    case TG_MCP_EVENT_TIMEOUT:
        tg_buf_append_cstr(&end->log, "silent");
        break;
    case TG_MCP_EVENT_LIST_CHANGED:
        tg_buf_append_cstr(&end->log, "changed");
        break;
    case TG_MCP_EVENT_LIST:
        end_put_listed(end);
        break;
    case TG_MCP_EVENT_LIST_FAILED:
        end_put_error(end, "unlisted ");
        break;
    default:
        end->has_failed = 1;
        return;
    }

    tg_buf_append_char(&end->log, '\n');
}

/* --- start and end --- */

void
end_init(end_t *end, const tg_alloc_t *alloc, tg_dialect_t dialect,
         const tg_mcp_handshake_t *handshake)
{
    memset(end, 0, sizeof(*end));
    tg_buf_init(&end->log, tg_alloc_libc());
    tg_caller_init(&end->caller, alloc, &end_ops, end, dialect, END_MAX);
    end->now = 5000;
    end->has_client = handshake != NULL;

    if (handshake != NULL) {
        tg_mcp_client_init(&end->client, alloc, &end->caller, *handshake,
                           TG_STR(TG_MCP_CLIENT_INFO("test")));
        end->client.list.max_pages = 4;
    }
}

void
end_deinit(end_t *end)
{
    tg_catalog_t *held = NULL;

    /* The holder of a snapshot keeps it longer than the client does. */
    if (end->has_client) {
        held = end->client.tools != NULL ? tg_catalog_ref(end->client.tools)
                                         : NULL;
        tg_mcp_client_deinit(&end->client);
    }

    tg_caller_deinit(&end->caller);
    tg_buf_deinit(&end->log);
    CU_ASSERT(held == NULL || tg_catalog_digest(held, TG_ENTRY_TOOL) != 0);
    tg_catalog_unref(held);
}

static int
end_pass(end_t *end, const char *name)
{
    static const char *const names[] = { "_meta", "inputResponses",
                                         "requestState", NULL };
    tg_mcp_call_t call;
    tg_str_t values[3];
    const char *more;

    more = strchr(name, '{');
    more = more != NULL ? more : "";
    (void) tg_json_get_members(tg_str_from_cstr(more), names, values);
    memset(&call, 0, sizeof(call));
    call.name = tg_str(name, end_word(name));
    call.meta = values[0];
    call.input_responses = values[1];
    call.request_state = values[2];
    call.is_modern = strstr(more, "/protocolVersion") != NULL;

    return tg_mcp_client_call_tool(&end->client, &call,
                                   strtoul(name + call.name.len, NULL, 10), end,
                                   NULL);
}

int
end_call(end_t *end, const char *name)
{
    if (end->has_client) {
        return end_pass(end, name);
    }

    return tg_caller_call_tool(&end->caller, tg_str(name, end_word(name)),
                               TG_STR("{}"), TG_STR_NONE,
                               (void *) (uintptr_t) name, NULL);
}

int
end_set_kinds(end_t *end, const char *args)
{
    end->client.kinds = TG_MCP_ALL_KINDS;

    return TG_OK;
}

int
end_call_method(end_t *end, const char *args)
{
    tg_mcp_call_t call;

    memset(&call, 0, sizeof(call));
    call.method = tg_str(args, end_word(args));

    if (args[call.method.len] != '\0') {
        call.arguments = tg_str_from_cstr(args + call.method.len + 1);
        (void) tg_json_has_member(call.arguments, TG_STR("_meta"),
                                  TG_JSON_OBJECT, &call.meta);
        (void) tg_json_has_member(call.arguments, TG_STR("requestState"),
                                  TG_JSON_STRING, &call.request_state);
    }

    return tg_mcp_client_call_method(&end->client, &call, 0, end, NULL);
}

int
end_listen(end_t *end, const char *args)
{
    end->client.uris = tg_str_from_cstr(args);

    return tg_mcp_client_listen(&end->client);
}

int
end_subscribe(end_t *end, const char *args)
{
    tg_str_t uri;

    uri = tg_str(args, end_word(args));

    return tg_mcp_client_subscribe(&end->client, uri, args[uri.len] == '\0');
}

int
end_feed(end_t *end, tg_str_t bytes, size_t chunk)
{
    size_t consumed, used, at;
    char *copy;
    int rc;

    used = 0;
    at = 0;

    do {
        at = bytes.len - at > chunk ? at + chunk : bytes.len;
        copy = help_copy(tg_str(bytes.data + used, at - used));
        rc = tg_caller_handle_input(&end->caller, copy, at - used, &consumed);
        free(copy);
        CU_ASSERT_FATAL(consumed <= at - used);
        used += consumed;
    } while (at < bytes.len && rc == TG_OK);

    return rc;
}

void
end_log_is(end_t *end, const char *expected, const char *file, int line)
{
    help_eq(tg_buf_view(&end->log), expected, file, line);
    tg_buf_truncate(&end->log, 0);
}
