/* Saves and ends the HTTP sessions of MCP servers. */
#include "runner/mcp/tg_mcp_sessions.h"

#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_list_cache.h"
#include "runner/logging/tg_log.h"

#include <stdlib.h>

/* --- current sessions --- */

static void
tg_mcp_sessions_append(const tg_mcp_server_t *server, tg_buf_t *text)
{
    const tg_streamable_t *streamable;
    const tg_mcp_conn_t *mcp_conn;

    TAILQ_FOREACH(mcp_conn, &server->mcp_conns, link)
    {
        streamable = &mcp_conn->streamable;

        if (streamable->is_open && streamable->session_id[0] != '\0') {
            tg_buf_printf(text, "%s %s\n", streamable->session_id,
                          streamable->version);
        }
    }
}

/* Returns another server with this key, such as an ending one, or NULL. */
static const tg_mcp_server_t *
tg_mcp_sessions_find_same_key(const tg_mcp_server_t *server)
{
    const tg_mcp_server_list_t *lists[] = { &server->servers->list,
                                            &server->servers->leaving };
    const tg_mcp_server_t *other;
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        TAILQ_FOREACH(other, lists[i], link)
        {
            if (other != server
                && strcmp(other->spec.key, server->spec.key) == 0) {
                return other;
            }
        }
    }

    return NULL;
}

void
tg_mcp_sessions_save(tg_mcp_server_t *server)
{
    const tg_mcp_server_t *same_key;
    tg_buf_t text;
    int err;

    tg_buf_init(&text, tg_alloc_libc());
    tg_mcp_sessions_append(server, &text);
    same_key = tg_mcp_sessions_find_same_key(server);

    if (same_key != NULL) {
        tg_mcp_sessions_append(same_key, &text);
    }

    err = tg_buf_has_failed(&text)
              ? ENOMEM
              : tg_list_cache_write_sessions(server->servers->dir,
                                             server->spec.key,
                                             tg_buf_view(&text));

    if (err != 0) {
        tg_log(TG_LOG_WARN,
               "mcp_server %s: its sessions cannot be saved in %s/mcp: %s",
               server->spec.name, server->servers->dir, strerror(err));
    }

    tg_buf_deinit(&text);
}

void
tg_mcp_sessions_on_ended(tg_streamable_t *streamable)
{
    if (streamable->session_id[0] != '\0') {
        streamable->session_id[0] = '\0';
        tg_mcp_sessions_save(streamable->mcp_conn->server);
    }
}

/* --- sessions of earlier runners --- */

/* Ignores the response to DELETE. */
static int
tg_mcp_sessions_on_body(void *ctx, const char *data, size_t len)
{
    return 0;
}

static void
tg_mcp_sessions_on_done(void *ctx, const tg_http_exchange_end_t *end)
{
}

static const tg_http_exchange_ops_t tg_mcp_sessions_http_ops = {
    .body = tg_mcp_sessions_on_body,
    .done = tg_mcp_sessions_on_done,
};

/* Ends a session by DELETE. The line is "ID VERSION". */
static void
tg_mcp_sessions_delete(tg_mcp_server_t *server, char *line)
{
    tg_http_request_t request;
    const char **list, *why;
    tg_buf_t headers;
    tg_http_exchange_t *http;
    char *version;

    version = strchr(line, ' ');

    if (version == NULL) {
        return;
    }

    *version++ = '\0';
    tg_buf_init(&headers, tg_alloc_libc());
    tg_streamable_append_header(&headers, "Mcp-Session-Id: ", line);

    if (*version != '\0') {
        tg_streamable_append_header(&headers,
                                    "MCP-Protocol-Version: ", version);
    }

    list = tg_streamable_make_header_list(&server->spec.url, &headers);

    if (list != NULL && tg_http_header_is_valid(list[0])) {
        request = tg_streamable_make_request(&server->spec.url, "DELETE", list);
        request.is_stream = 1;
        (void) tg_http_exchange_start(server->servers->http, &request,
                                      &tg_mcp_sessions_http_ops, NULL, &http,
                                      &why);
    }

    free(list);
    tg_buf_deinit(&headers);
}

void
tg_mcp_sessions_delete_leftovers(tg_mcp_server_t *server)
{
    char *line, *end;
    tg_buf_t text;

    if (server->spec.url.url == NULL
        || tg_mcp_sessions_find_same_key(server) != NULL)
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_list_cache_read_sessions(server->servers->dir, server->spec.key, &text);

    for (line = text.data;
         line != NULL
         && (end = memchr(line, '\n', text.len - (size_t) (line - text.data)))
                != NULL;
         line = end + 1)
    {
        *end = '\0';
        tg_mcp_sessions_delete(server, line);
    }

    tg_buf_deinit(&text);
    tg_mcp_sessions_save(server);
}
