/* An MCP server in a test of the runner, its instances and calls. */
#ifndef RUNNER_MCP_H
#define RUNNER_MCP_H

#include "runner_host.h"

#define KEY "key-000000000000"

/* Returns the test server as the elements of an argv. */
static inline const char *
test_argv(const char *how)
{
    static char text[8192];
    char cwd[4096];

    CU_ASSERT_FATAL(getcwd(cwd, sizeof(cwd)) != NULL);
    snprintf(text, sizeof(text), "\"/usr/bin/perl\",\"%s/t/servers/mcp.pl\"%s",
             cwd, how);

    return text;
}

static inline void
test_watch(const char *key, const char *how, const char *more)
{
    char text[8400];

    snprintf(text, sizeof(text),
             "{\"key\":\"%s\",\"server\":\"s\",\"spec\":{\"exec\":[%s]%s}}",
             key, test_argv(how), more);
    (void) host_request("mcp_watch", text);
}

static inline unsigned
test_call(const char *key, const char *name, const char *more)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{\"tool\":\"s_%s\",\"key\":\"%s\",\"name\":\"%s\"%s}", name, key,
             name, more);

    return host_request("mcp_call", text);
}

/* Waits for the next result. */
static inline int
test_response(void)
{
    tg_message_t message;

    while (host_recv()) {
        CU_ASSERT(tg_message_parse(&message, tg_buf_view(&host.line)) == TG_OK);

        if (message.method.data == NULL) {
            return 1;
        }
    }

    return 0;
}

static inline tg_mcp_server_t *
test_server(const char *key)
{
    return tg_mcp_server_find(&host.servers, tg_str_from_cstr(key));
}

static inline tg_mcp_conn_t *
test_conn(const char *key, const char *id)
{
    const tg_mcp_server_t *server;

    server = test_server(key);

    return server != NULL ? tg_mcp_conn_find(server, tg_str_from_cstr(id))
                          : NULL;
}

static inline int
test_is_ready(void *ctx)
{
    const tg_mcp_conn_t *mcp_conn;

    mcp_conn = test_conn(ctx, "");

    return mcp_conn != NULL && mcp_conn->state == TG_MCP_CONN_READY;
}

static inline int
test_has_exited(void *ctx)
{
    return test_server(ctx) == NULL && TAILQ_EMPTY(&host.servers.leaving);
}

static inline int
test_has_failed(void *ctx)
{
    const tg_mcp_server_t *server;

    server = test_server(ctx);

    return server != NULL && server->error[0] != '\0'
           && server->notified.running == 0;
}

static inline void
test_forget(char *key)
{
    host.servers.unsubscribed_ms = 1;
    tg_mcp_servers_on_peer_closed(&host.servers, &host.peer);
    CU_ASSERT(host_until(test_has_exited, key));
    host.servers.unsubscribed_ms = TG_MCP_SERVER_UNSUBSCRIBED_MS;
    tg_buf_reset(&host.peer.out, 0);
}

#endif
