/* Forwards the log messages of an MCP server to calls. */
#include "runner/mcp/tg_mcp_conn_log.h"

#include "runner/jobs/tg_job_message.h"
#include "runner/logging/tg_log.h"
#include "runner/mcp/tg_mcp_job.h"

void
tg_mcp_conn_request_log_level(tg_mcp_conn_t *mcp_conn, const tg_mcp_job_t *call)
{
    const tg_mcp_job_t *other;
    tg_mcp_log_level_t level;

    level = call->call.log_level;

    TAILQ_FOREACH(other, &mcp_conn->calls, link)
    {
        if (other->call.log_level != TG_MCP_LOG_NONE
            && (level == TG_MCP_LOG_NONE || other->call.log_level < level))
        {
            level = other->call.log_level;
        }
    }

    /* Without memory, the server keeps its level. */
    if (level != TG_MCP_LOG_NONE) {
        (void) tg_mcp_client_set_log_level(&mcp_conn->client, level);
    }
}

/* Returns the sent call with this request id, or NULL. */
static tg_mcp_job_t *
tg_mcp_conn_find_request(const tg_mcp_conn_t *mcp_conn, uint64_t request)
{
    tg_mcp_job_t *call;

    TAILQ_FOREACH(call, &mcp_conn->calls, link)
    {
        if (call->request == request) {
            break;
        }
    }

    return call;
}

/* Returns the call that a message belongs to, or NULL if none surely does. */
static tg_mcp_job_t *
tg_mcp_conn_find_logging_call(const tg_mcp_conn_t *mcp_conn,
                              tg_mcp_log_level_t level)
{
    tg_mcp_job_t *call, *found;
    uint64_t request;
    unsigned n;

    request = mcp_conn->transport->get_request != NULL
                  ? mcp_conn->transport->get_request(mcp_conn)
                  : 0;

    if (request != 0) {
        return tg_mcp_conn_find_request(mcp_conn, request);
    }

    found = NULL;
    n = 0;

    TAILQ_FOREACH(call, &mcp_conn->calls, link)
    {
        /* A modern server logs only for requests that ask for it. */
        if (mcp_conn->client.is_modern
            && call->call.log_level == TG_MCP_LOG_NONE) {
            continue;
        }

        n++;

        if (found == NULL || found->call.log_level == TG_MCP_LOG_NONE
            || found->call.log_level > level)
        {
            found = call;
        }
    }

    if (mcp_conn->server->spec.share == TG_MCP_SHARE_CONNECTION) {
        return found;
    }

    /* The server may still work on a call that was cancelled. */
    return n == 1 && !mcp_conn->has_cancelled_calls ? found : NULL;
}

/* Writes a message that belongs to no call to the error log. */
static void
tg_mcp_conn_log_message(tg_mcp_conn_t *mcp_conn, tg_mcp_log_level_t level,
                        tg_str_t logger, tg_str_t data)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_printf(&text, "%s: ", tg_mcp_log_level_get_name(level));

    if (logger.data != NULL) {
        tg_json_append_unescaped(&text, tg_json_string_body(logger));
        tg_buf_append_cstr(&text, ": ");
    }

    if (tg_json_type(data) == TG_JSON_STRING) {
        tg_json_append_unescaped(&text, tg_json_string_body(data));
    } else {
        tg_buf_append_str(&text, data);
    }

    /* It is no error of Toolgate. */
    tg_mcp_conn_log(mcp_conn,
                    level < TG_MCP_LOG_INFO      ? TG_LOG_DEBUG
                    : level < TG_MCP_LOG_WARNING ? TG_LOG_INFO
                                                 : TG_LOG_WARN,
                    "it logs %.*s",
                    (int) (text.len < TG_LOG_MAX ? text.len : TG_LOG_MAX),
                    text.data);
    tg_buf_deinit(&text);
}

void
tg_mcp_conn_on_log_message(tg_mcp_conn_t *mcp_conn, const tg_message_t *message)
{
    tg_mcp_log_level_t level;
    tg_str_t logger, data;
    tg_mcp_job_t *call;

    level = tg_mcp_log_level_parse(message->p.level);

    if (level == TG_MCP_LOG_NONE
        || tg_json_get_member(message->params, TG_STR("data"), &data) != TG_OK)
    {
        return;
    }

    if (!tg_json_has_member(message->params, TG_STR("logger"), TG_JSON_STRING,
                            &logger))
    {
        logger = TG_STR_NONE;
    }

    call = tg_mcp_conn_find_logging_call(mcp_conn, level);

    if (call == NULL) {
        tg_mcp_conn_log_message(mcp_conn, level, logger, data);
    } else if (call->call.log_level != TG_MCP_LOG_NONE
               && level >= call->call.log_level)
    {
        tg_job_notify_message(call->job, level, logger, data);
    }
}
