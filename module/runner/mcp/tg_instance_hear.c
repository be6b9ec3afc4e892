/*
 * What an MCP server says: answers, notifications, and requests of its own.
 */
#include "base/tg_utf8.h"
#include "runner/mcp/tg_mcp_job.h"
#include "runner/mcp/tg_question.h"
#include "runner/tg_log.h"

/* Of an error of its own, in the log and in what is told of a start. */
#define TG_HEAR_ERROR_MAX 512

/* The plain text of an escaped body, for people. */
static void
tg_hear_text(char text[TG_HEAR_ERROR_MAX], tg_str_t body)
{
    tg_buf_t plain, buf;

    tg_buf_init(&plain, tg_alloc_libc());
    tg_json_put_decoded(&plain, body);
    buf = tg_buf_fixed(text, TG_HEAR_ERROR_MAX - 1);
    tg_utf8_put_visible(&buf, tg_buf_view(&plain), 1);
    text[buf.len] = '\0';
    tg_buf_deinit(&plain);
}

/* --- the list --- */

static void
tg_hear_listed(tg_instance_t *instance)
{
    tg_mcp_client_t *client;

    client = &instance->client;

    if (client->is_circular) {
        tg_instance_log(instance, TG_LOG_WARN,
                        "its list of tools comes back to a page or a cursor "
                        "that was there before; the list ends there");
    }

    if (client->nleft_out != 0) {
        tg_instance_log(
            instance, TG_LOG_WARN,
            "%zu of its tools %s no name, or one that was there before; "
            "%s left out",
            client->nleft_out, tg_plural(client->nleft_out, "has", "have"),
            tg_plural(client->nleft_out, "it is", "they are"));
    }

    if (instance->ops->listed(instance->server, instance, client->tools)
        == TG_OK) {
        tg_instance_ready(instance);
    } else {
        tg_instance_fail(instance,
                         " has a list of tools that is larger than 16 MiB");
    }
}

/* Bytes of a list that are read in one step, and one tool. */
#define TG_INSTANCE_LIST_PART 16384

/* Reads a list that has come, for one slice. */
static void
tg_instance_read_list(tg_source_t *source)
{
    tg_instance_t *instance;
    tg_mcp_event_t event;
    tg_sched_t *sched;

    instance = TG_OWNER(source, tg_instance_t, reader);
    sched = &instance->server->servers->jobs->sched.sched;

    do {
        event = tg_mcp_client_read(&instance->client, TG_INSTANCE_LIST_PART,
                                   uv_now(instance->timer.loop));
    } while (event == TG_MCP_READS
             && !tg_slice_is_over(sched, source, TG_INSTANCE_LIST_PART));

    if (event != TG_MCP_READS) {
        tg_instance_event(instance, event);
        tg_instance_turn(instance);
    }
}

/* What is known of it stays, unless that is nothing. */
static void
tg_hear_unlisted(tg_instance_t *instance)
{
    char text[TG_HEAR_ERROR_MAX];

    tg_hear_text(text, instance->client.error.message);

    if (instance->state == TG_INSTANCE_STARTING) {
        tg_instance_fail(instance, " does not list its tools: %s", text);
    } else {
        tg_instance_log(instance, TG_LOG_WARN, "it does not list its tools: %s",
                        text);
    }
}

void
tg_instance_event(tg_instance_t *instance, tg_mcp_event_t event)
{
    char text[TG_HEAR_ERROR_MAX];

    if (instance->state == TG_INSTANCE_ENDING) {
        return;
    }

    switch (event) {
    case TG_MCP_REFUSED:
        tg_hear_text(text, instance->client.error.message);
        tg_instance_fail(instance, " refuses the handshake: %s", text);
        break;
    case TG_MCP_SILENT:
        tg_instance_fail(instance, " does not answer initialize");
        break;
    case TG_MCP_READS:
        instance->reader.run = tg_instance_read_list;
        tg_source_wait(&instance->server->servers->jobs->sched.sched,
                       &instance->reader);
        break;
    case TG_MCP_LISTED:
        tg_hear_listed(instance);
        break;
    case TG_MCP_UNLISTED:
        tg_hear_unlisted(instance);
        break;
    case TG_MCP_FAILED:
        tg_instance_fail(instance, ": toolgate-runner has no memory left");
        break;
    default:
        break;
    }
}

/* --- what the caller tells --- */

static void
tg_hear_answer(void *host, void *tag, const tg_answer_t *answer)
{
    tg_instance_t *instance;
    tg_mcp_event_t event;
    tg_mcp_job_t *call;

    call = tag;
    instance = host;
    event = tg_mcp_client_answer(&instance->client, tag, answer,
                                 uv_now(instance->timer.loop));

    if (event != TG_MCP_OTHER) {
        tg_instance_event(instance, event);
    } else if (answer->kind == TG_ANSWER_NOT_STARTED) {
        tg_instance_put_back(instance, call);
    } else if (answer->kind == TG_ANSWER_LOST) {
        call->ops->fail(call, TG_FAILURE_LOST, instance->why);
    } else {
        instance->has_served = 1;
        call->ops->answer(call, answer);
    }
}

/* That of one call, which its token names. */
static void
tg_hear_progress(tg_instance_t *instance, tg_str_t params)
{
    tg_mcp_job_t *call;
    uint64_t token;
    tg_str_t raw;

    if (tg_json_type(params) != TG_JSON_OBJECT
        || tg_json_get(params, TG_STR("progressToken"), &raw) != TG_OK
        || tg_caller_id(raw, &token) != TG_OK)
    {
        return;
    }

    for (call = TAILQ_FIRST(&instance->calls); call != NULL;
         call = TAILQ_NEXT(call, place))
    {
        if (call->request == token) {
            call->ops->progress(call, params);
            return;
        }
    }
}

static void
tg_hear_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    tg_instance_t *instance;
    tg_mcp_event_t event;

    instance = host;

    if (instance->state == TG_INSTANCE_ENDING) {
        return;
    }

    event = tg_mcp_client_notification(&instance->client, method,
                                       uv_now(instance->timer.loop));

    if (event != TG_MCP_OTHER) {
        tg_instance_event(instance, event);
    } else if (tg_json_body_is(method, TG_STR("notifications/progress"))) {
        tg_hear_progress(instance, message->params);
    } else if (tg_json_body_is(method, TG_STR("notifications/cancelled"))) {
        tg_question_cancelled(instance, message->p.request_id);
    }
}

static void
tg_hear_roots(tg_instance_t *instance, tg_str_t id)
{
    tg_buf_t result;

    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_text(&result, "{\"roots\":");
    tg_json_put_compact(&result, tg_str_c(instance->server->spec.roots));
    tg_buf_char(&result, '}');

    if (!tg_buf_failed(&result)) {
        (void) tg_caller_reply(&instance->caller, id, tg_buf_view(&result),
                               TG_STR_NONE);
    }

    tg_buf_deinit(&result);
}

/* A request of the server's own. */
static void
tg_hear_asked(void *host, const tg_message_t *message)
{
    const tg_server_spec_t *spec;
    tg_instance_t *instance;

    instance = host;
    spec = &instance->server->spec;

    /* It asks, and does not read what it is answered; or it is over. */
    if (instance->state == TG_INSTANCE_ENDING
        || instance->transport->backlog(instance) > TG_INSTANCE_REPLIES)
    {
        return;
    }

    if (tg_json_is_text(message->method, TG_STR("roots/list"))
        && spec->roots != NULL)
    {
        tg_hear_roots(instance, message->id);
        return;
    }

    tg_question_ask(instance, message);
}

static void
tg_hear_log(void *host, const char *text)
{
    tg_instance_log(host, TG_LOG_WARN, "%s", text);
}

static int
tg_hear_is_slice_over(void *host)
{
    tg_instance_t *instance;

    instance = host;

    return instance->transport->is_slice_over(instance,
                                              instance->caller.serving);
}

const tg_caller_ops_t tg_instance_caller_ops = {
    .answer = tg_hear_answer,
    .notification = tg_hear_notification,
    .asked = tg_hear_asked,
    .log = tg_hear_log,
    .is_slice_over = tg_hear_is_slice_over,
};
