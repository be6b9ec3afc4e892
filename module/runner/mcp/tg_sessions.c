#include "runner/mcp/tg_sessions.h"

#include "runner/http/tg_http_params.h"
#include "runner/mcp/tg_kept.h"
#include "runner/tg_log.h"

#include <stdlib.h>

/* --- those that there are --- */

static void
tg_sessions_put(const tg_server_t *server, tg_buf_t *text)
{
    const tg_streamable_t *streamable;
    const tg_instance_t *instance;

    TAILQ_FOREACH(instance, &server->instances, place)
    {
        streamable = &instance->streamable;

        if (streamable->is_open && streamable->session_id[0] != '\0') {
            tg_buf_printf(text, "%s %s\n", streamable->session_id,
                          streamable->version);
        }
    }
}

/* Another one of the same key, or NULL: one leaves, the other follows. */
static const tg_server_t *
tg_sessions_twin(const tg_server_t *server)
{
    const tg_server_list_t *lists[] = { &server->servers->list,
                                        &server->servers->leaving };
    const tg_server_t *other;
    size_t i;

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        TAILQ_FOREACH(other, lists[i], place)
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
tg_sessions_note(tg_server_t *server)
{
    const tg_server_t *twin;
    tg_buf_t text;
    int err;

    tg_buf_init(&text, tg_alloc_libc());
    tg_sessions_put(server, &text);
    twin = tg_sessions_twin(server);

    if (twin != NULL) {
        tg_sessions_put(twin, &text);
    }

    err = tg_buf_failed(&text)
              ? ENOMEM
              : tg_kept_write_sessions(server->servers->dir, server->spec.key,
                                       tg_buf_view(&text));

    if (err != 0) {
        tg_log(TG_LOG_WARN,
               "mcp_server %s: its sessions cannot be kept in %s/mcp: %s",
               server->spec.name, server->servers->dir, strerror(err));
    }

    tg_buf_deinit(&text);
}

void
tg_sessions_over(tg_streamable_t *streamable)
{
    if (streamable->session_id[0] != '\0') {
        streamable->session_id[0] = '\0';
        tg_sessions_note(streamable->instance->server);
    }
}

/* --- those that were left --- */

/* Whatever becomes of it, nobody waits for that. */
static int
tg_sessions_on_body(void *ctx, const char *data, size_t len)
{
    (void) ctx;
    (void) data;
    (void) len;

    return 0;
}

static void
tg_sessions_on_done(void *ctx, const tg_http_end_t *end)
{
    (void) ctx;
    (void) end;
}

static const tg_http_ops_t tg_sessions_http_ops = {
    .body = tg_sessions_on_body,
    .done = tg_sessions_on_done,
};

/* "ID VERSION" */
static void
tg_sessions_end(tg_server_t *server, char *line)
{
    tg_http_request_t request;
    const char **list, *why;
    tg_buf_t headers;
    tg_http_t *http;
    char *version;

    version = strchr(line, ' ');

    if (version == NULL) {
        return;
    }

    *version++ = '\0';
    tg_buf_init(&headers, tg_alloc_libc());
    tg_streamable_put(&headers, "Mcp-Session-Id: ", line);

    if (*version != '\0') {
        tg_streamable_put(&headers, "MCP-Protocol-Version: ", version);
    }

    list = tg_streamable_list(&server->spec.url, &headers);

    if (list != NULL && tg_http_is_header(list[0])) {
        request = tg_streamable_request(&server->spec.url, "DELETE", list);
        request.is_stream = 1;
        (void) tg_http_start(server->servers->http, &request,
                             &tg_sessions_http_ops, NULL, &http, &why);
    }

    free(list);
    tg_buf_deinit(&headers);
}

void
tg_sessions_end_left(tg_server_t *server)
{
    char *line, *end;
    tg_buf_t text;

    if (server->spec.url.url == NULL || tg_sessions_twin(server) != NULL) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_kept_read_sessions(server->servers->dir, server->spec.key, &text);

    for (line = text.data;
         line != NULL
         && (end = memchr(line, '\n', text.len - (size_t) (line - text.data)))
                != NULL;
         line = end + 1)
    {
        *end = '\0';
        tg_sessions_end(server, line);
    }

    tg_buf_deinit(&text);
    tg_sessions_note(server);
}
