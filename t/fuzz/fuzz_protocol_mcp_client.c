/*
 * Fuzzes the MCP client in each era: whatever the server sends, and however it
 * is cut, the same happens, a list is complete or absent, and each call of the
 * host gets one result.
 *
 * Input: era and which allocation fails; cut; then lines that the server
 * sends, or commands:
 *
 *   !t   the time for which the client waits passes
 *   !l   the host requests the list
 *   !c   the host calls a tool
 *   !m   the host sends a request of another method
 *   !s   the host subscribes to a resource, !d ends that (legacy)
 *   !u   the host subscribes to resources (modern)
 *   !x   the connection is lost and replaced
 */
#include "help.h"

#include "protocol/tg_mcp_client_call.h"

typedef struct {
    tg_caller_t caller;
    tg_mcp_client_t client;
    tg_buf_t in;
    tg_buf_t log;
    tg_catalog_t *tools; /* references that the host holds */
    uint64_t now;
    unsigned ncalls; /* sent, without a result yet */
    int is_over;
} end_t;

static void
end_log(end_t *end, const char *what, tg_str_t text)
{
    tg_buf_append_cstr(&end->log, what);
    tg_buf_append_str(&end->log, text);
    tg_buf_append_char(&end->log, '\n');
}

/* The items of the list, as an agent sees them, are JSON. */
static void
end_listed(end_t *end)
{
    tg_str_t items;
    HELP_BUFFER(text);

    if (end->client.listed != TG_MCP_TOOLS) {
        items = tg_buf_view(&end->client.items[end->client.listed].text);
        FUZZ(tg_json_validate(items, NULL) == TG_OK);
        end_log(end, "listed ", items);
        return;
    }

    tg_catalog_unref(end->tools);
    end->tools = tg_catalog_ref(end->client.tools);
    tg_buf_append_char(&text, '{');
    FUZZ(tg_catalog_write_list(end->tools,
                               &(tg_list_page_t){ .cursor = TG_STR_NONE }, NULL,
                               NULL, &text)
         == TG_OK);
    tg_buf_append_char(&text, '}');
    FUZZ(tg_json_validate(tg_buf_view(&text), NULL) == TG_OK);
    end_log(end, "listed ", tg_buf_view(&text));
}

static void
end_event(end_t *end, tg_mcp_event_t event)
{
    const tg_mcp_client_t *client;

    client = &end->client;

    switch (event) {
    case TG_MCP_EVENT_OPEN:
        FUZZ(client->state == TG_MCP_OPEN && client->is_listing);
        end_log(end, "greeted ", client->server_info.name);
        break;
    case TG_MCP_EVENT_LIST:
        end_listed(end);
        break;
    case TG_MCP_EVENT_REFUSED:
    case TG_MCP_EVENT_LIST_FAILED:
        FUZZ(client->error.kind == TG_RESPONSE_ERROR);
        end_log(end, "refused ", client->error.message);
        break;
    case TG_MCP_EVENT_NO_MEMORY:
        end->is_over = 1;
        break;
    default:
        tg_buf_append_uint(&end->log, event);
    }
}

static void
end_on_response(void *host, void *tag, const tg_response_t *answer)
{
    tg_mcp_event_t event;
    end_t *end;

    end = host;
    event = tg_mcp_client_on_response(&end->client, tag, answer, end->now);
    FUZZ((event == TG_MCP_EVENT_NOT_OWN) == (tag == end));

    if (event == TG_MCP_EVENT_NOT_OWN) {
        FUZZ(end->ncalls-- != 0);
    }

    end_event(end, event);
}

static void
end_on_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    end_t *end = host;

    end_event(end,
              tg_mcp_client_on_notification(&end->client, method, end->now));
}

static void
end_start(end_t *end)
{
    end->is_over |= tg_mcp_client_start(&end->client, end->now) != TG_OK;
}

static void
end_init(end_t *end, const tg_alloc_t *alloc, tg_mcp_handshake_t handshake)
{
    static const tg_caller_ops_t ops = { .answer = end_on_response,
                                         .notification = end_on_notification };

    memset(end, 0, sizeof(*end));
    end->now = 100000;
    tg_buf_init(&end->in, tg_alloc_libc());
    tg_buf_init(&end->log, tg_alloc_libc());
    tg_caller_init(&end->caller, alloc, &ops, end,
                   handshake == TG_MCP_NO_HANDSHAKE ? TG_DIALECT_RELAY
                                                    : TG_DIALECT_JSONRPC,
                   4096);
    tg_mcp_client_init(&end->client, alloc, &end->caller, handshake,
                       TG_STR(TG_MCP_CLIENT_INFO("fuzz")));
    end->client.kinds = TG_MCP_ALL_KINDS;
    end->client.list.max_pages = 5;
    end_start(end);
}

/* No call waits longer than the client's longest timeout. */
static void
end_lose(end_t *end)
{
    tg_mcp_client_on_disconnect(&end->client);
    tg_caller_on_disconnect(&end->caller);
    FUZZ(end->ncalls == 0 && end->client.due == 0);
    tg_buf_truncate(&end->in, 0);
}

static void
end_feed(end_t *end, tg_str_t bytes)
{
    size_t consumed;
    char *copy;
    int rc;

    tg_buf_append_str(&end->in, bytes);
    copy = help_copy(tg_buf_view(&end->in));
    rc = tg_caller_handle_input(&end->caller, copy, end->in.len, &consumed);
    free(copy);
    tg_buf_consume(&end->in, consumed);
    end->is_over |= rc == TG_NOMEM;

    if (rc == TG_CLOSED) {
        end_lose(end);
        end_start(end);
    }
}

static void
end_send(end_t *end, uint32_t *seed, tg_str_t line)
{
    HELP_BUFFER(text);
    size_t at, n;

    tg_buf_append_str(&text, line);
    tg_buf_append_char(&text, '\n');

    for (at = 0; at < text.len && !end->is_over; at += n) {
        n = fuzz_piece(seed, text.len - at);
        end_feed(end, tg_str(text.data + at, n));
    }
}

static void
end_act(end_t *end, char what)
{
    static const tg_mcp_call_t call = {
        .name = { "t", 1 },
        .arguments = { "{}", 2 },
        .meta = { "{\"a\":1}", 7 },
    };
    static const tg_mcp_call_t read = {
        .method = { "resources/read", 14 },
        .arguments = { "{\"uri\":\"x:y\"}", 13 },
    };
    tg_mcp_client_t *client;
    int rc;

    client = &end->client;

    switch (what) {
    case 't':
        FUZZ(client->due <= end->now + TG_MCP_HANDSHAKE_TIMEOUT);
        end->now = client->due > end->now ? client->due : end->now + 1;
        end_event(end, tg_mcp_client_on_timer(client, end->now));
        break;
    case 'l':
        end->is_over |= tg_mcp_client_fetch_list(client, end->now) != TG_OK;
        break;
    case 'c':
        rc = tg_mcp_client_call_tool(client, &call, end->now, end, NULL);
        end->ncalls += rc == TG_OK;
        end->is_over |= rc == TG_NOMEM;
        break;
    case 'm':
        rc = tg_mcp_client_call_method(client, &read, end->now, end, NULL);
        end->ncalls += rc == TG_OK;
        end->is_over |= rc == TG_NOMEM;
        break;
    case 's':
    case 'd':
        rc = tg_mcp_client_subscribe(client, TG_STR("\"x:y\""), what == 's');
        end->is_over |= rc == TG_NOMEM;
        break;
    case 'u':
        client->uris = TG_STR("\"x:y\",\"x:z\"");
        end->is_over |= tg_mcp_client_listen(client) != TG_OK;
        break;
    default:
        end_lose(end);
        end_start(end);
    }
}

static void
end_talk(end_t *end, uint32_t seed, fuzz_in_t in)
{
    tg_str_t line;

    while (in.pos != in.end && !end->is_over) {
        line = fuzz_until_newline(&in);

        if (line.len > 1 && line.data[0] == '!') {
            end_act(end, line.data[1]);
        } else {
            end_send(end, &seed, line);
        }
    }

    if (!end->is_over) {
        end_lose(end);
    }
}

static void
end_deinit(end_t *end)
{
    tg_mcp_client_deinit(&end->client);
    tg_caller_deinit(&end->caller);
    tg_catalog_unref(end->tools);
    tg_buf_deinit(&end->in);
    tg_buf_deinit(&end->log);
}

FUZZ_TARGET(in)
{
    end_t whole, cut, poor;
    help_alloc_t alloc;
    tg_mcp_handshake_t handshake;
    uint32_t seed;
    unsigned byte;

    byte = fuzz_byte(&in);
    seed = fuzz_byte(&in);
    handshake = (tg_mcp_handshake_t) (byte % 3);
    fuzz_alloc_init(&alloc, 0);

    end_init(&whole, &alloc.alloc, handshake);
    end_talk(&whole, 0, in);
    end_init(&cut, &alloc.alloc, handshake);
    end_talk(&cut, seed + 1, in);
    FUZZ_EQ(tg_buf_view(&whole.log), tg_buf_view(&cut.log));
    end_deinit(&whole);
    end_deinit(&cut);
    FUZZ(alloc.live == 0);

    if (byte > 2) {
        fuzz_alloc_init(&alloc, byte / 3);
        end_init(&poor, &alloc.alloc, handshake);
        end_talk(&poor, seed, in);
        end_deinit(&poor);
        FUZZ(alloc.live == 0);
    }
}
