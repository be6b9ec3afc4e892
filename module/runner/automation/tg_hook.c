/*
 * A webhook: the event as JSON, by POST, signed as Standard Webhooks are,
 *
 *   webhook-id: ID of the execution
 *   webhook-timestamp: seconds of Unix time
 *   webhook-signature: v1,BASE64 of HMAC-SHA256 of "ID.TIMESTAMP.BODY"
 *
 * An answer of success ends it.  What may be better later is tried again, also
 * by the next runner; the id stays the same.
 */
#include "runner/automation/tg_hook.h"

#include "base/tg_base64.h"
#include "base/tg_json.h"
#include "base/tg_sha256.h"
#include "base/tg_url.h"
#include "runner/tg_log.h"

#include <stdio.h>

/* For one try. */
#define TG_HOOK_TIMEOUT_MS 30000
/* Webhooks at once, in all and to one receiver; the others wait. */
#define TG_HOOK_MAX 64
#define TG_HOOK_RECEIVER_MAX 8
/* Bytes that are read of an answer's body. */
#define TG_HOOK_BODY_MAX 65536
/* A key in this form is the bytes behind it, as senders of such hooks write. */
#define TG_HOOK_KEY "whsec_"

/* Between the tries, in seconds. */
static const unsigned tg_hook_waits[] = { 1, 5, 30, 120, 600 };

#define TG_HOOK_TRIES (sizeof(tg_hook_waits) / sizeof(tg_hook_waits[0]) + 1)

void
tg_hook_body(tg_execution_t *execution, tg_str_t event)
{
    tg_buf_t *body;

    body = &execution->body;
    tg_buf_printf(body, "{\"executionId\":\"%s\",\"ruleId\":", execution->id);
    tg_json_put_string(body, tg_buf_view(&execution->rule));

    if (execution->text.len != 0) {
        tg_buf_text(body, ",\"message\":");
        tg_json_put_string(body, tg_buf_view(&execution->text));
    }

    tg_buf_text(body, ",\"event\":");
    tg_json_put_compact(body, event);
    tg_buf_char(body, '}');
}

/* --- the signature --- */

static void
tg_hook_sign(tg_buf_t *header, tg_str_t secret, const char *id, int64_t at,
             tg_str_t body)
{
    unsigned char digest[TG_SHA256_SIZE];
    tg_base64_t base64;
    char text[64];
    tg_hmac_t hmac;
    tg_buf_t key, head;

    tg_buf_init(&key, tg_alloc_libc());

    if (secret.len <= sizeof(TG_HOOK_KEY) - 1
        || memcmp(secret.data, TG_HOOK_KEY, sizeof(TG_HOOK_KEY) - 1) != 0
        || tg_base64_decode(&key, tg_str(secret.data + sizeof(TG_HOOK_KEY) - 1,
                                         secret.len - sizeof(TG_HOOK_KEY) + 1))
               != TG_OK)
    {
        tg_buf_reset(&key, 0);
        tg_buf_str(&key, secret);
    }

    head = tg_buf_fixed(text, sizeof(text));
    tg_buf_printf(&head, "%s.%lld.", id, (long long) at);
    tg_hmac_init(&hmac, tg_buf_view(&key));
    tg_hmac_put(&hmac, tg_buf_view(&head));
    tg_hmac_put(&hmac, body);
    tg_hmac_end(&hmac, digest);
    memset(&base64, 0, sizeof(base64));
    tg_buf_text(header, "webhook-signature: v1,");
    tg_base64_put(&base64, header, (const char *) digest, sizeof(digest));
    tg_base64_end(&base64, header);
    header->failed |= tg_buf_failed(&key);
    tg_buf_deinit(&key);
}

/* --- its answer --- */

static void
tg_hook_on_header(void *ctx, tg_str_t name, tg_str_t value)
{
}

static int
tg_hook_on_head(void *ctx, int status)
{
    ((tg_execution_t *) ctx)->status = status;

    return 0;
}

/*
 * Nobody needs the body.  A small one is read, as the connection is kept then;
 * a receiver that goes on sending is not listened to.
 */
static int
tg_hook_on_body(void *ctx, const char *data, size_t len)
{
    tg_execution_t *execution;

    execution = ctx;
    execution->nread += len;

    return execution->nread <= TG_HOOK_BODY_MAX ? TG_OK : TG_LIMIT;
}

/* May it be better later? */
static int
tg_hook_is_passing(const tg_execution_t *execution)
{
    return execution->status == 0 || execution->status >= 500
           || execution->status == 408 || execution->status == 425
           || execution->status == 429;
}

static void
tg_hook_again(tg_execution_t *execution)
{
    uv_loop_t *loop;

    loop = execution->automation->engine->tasks->jobs->loop;
    execution->next_at = uv_now(loop)
                         + tg_hook_waits[execution->tries - 1] * UINT64_C(1000);
    tg_execution_write(execution, NULL, 0, NULL);
}

static void
tg_hook_failed(tg_execution_t *execution, const char *why)
{
    char text[256];
    tg_buf_t error;

    error = tg_buf_fixed(text, sizeof(text) - 1);

    if (execution->status != 0) {
        tg_buf_printf(&error, "the webhook answered with status %d",
                      execution->status);
    } else {
        tg_buf_printf(&error, "the webhook was not called: %.180s", why);
    }

    text[error.len] = '\0';

    if (execution->tries < TG_HOOK_TRIES && tg_hook_is_passing(execution)) {
        tg_buf_reset(&execution->error, 0);
        tg_buf_text(&execution->error, text);
        tg_hook_again(execution);
        return;
    }

    tg_log(TG_LOG_ERROR, "rule \"%.*s\": %s, after %u tries",
           (int) execution->rule.len, execution->rule.data, text,
           execution->tries);
    tg_execution_end(execution, TG_EXECUTION_FAILED, text);
}

static void
tg_hook_on_done(void *ctx, const tg_http_end_t *end)
{
    tg_execution_t *execution;

    execution = ctx;
    execution->http = NULL;

    /* Without the whole body, the status is the answer, too. */
    if (end->result != TG_HTTP_OK && end->result != TG_HTTP_STOPPED) {
        execution->status = 0;
    }

    if (execution->status >= 200 && execution->status < 300) {
        tg_execution_end(execution, TG_EXECUTION_SENT, NULL);
    } else {
        tg_hook_failed(execution, end->why != NULL ? end->why : "");
    }
}

static const tg_http_ops_t tg_hook_ops = {
    .header = tg_hook_on_header,
    .head = tg_hook_on_head,
    .body = tg_hook_on_body,
    .done = tg_hook_on_done,
};

/* --- a try --- */

/* A receiver is a host with its port and protocol. */
static uint64_t
tg_hook_receiver(tg_str_t text)
{
    uint64_t receiver;
    const char *why;
    tg_buf_t origin;
    tg_url_t url;

    if (tg_url_parse(text, &url, &why) != TG_OK) {
        return 0;
    }

    tg_buf_init(&origin, tg_alloc_libc());
    tg_url_put_origin(&origin, &url);
    receiver = tg_hash64(TG_HASH64, tg_buf_view(&origin));
    tg_buf_deinit(&origin);

    return receiver;
}

/* A receiver that is slow keeps nobody else waiting. */
static int
tg_hook_is_full(const tg_automation_t *automation, uint64_t receiver)
{
    const tg_execution_t *execution;
    unsigned n, nsame;

    n = 0;
    nsame = 0;

    TAILQ_FOREACH(execution, &automation->executions, place)
    {
        if (execution->http != NULL) {
            n++;
            nsame += execution->receiver == receiver;
        }
    }

    return n >= TG_HOOK_MAX || nsame >= TG_HOOK_RECEIVER_MAX;
}

/* TG_OK, or why it did not start. */
static int
tg_hook_start(tg_execution_t *execution, const tg_rule_t *rule,
              const char **why)
{
    char id[48], timestamp[48], url[2048];
    tg_http_request_t request;
    const char *headers[6];
    tg_buf_t signature;
    int64_t at;
    int rc;

    if (rule->url.len >= sizeof(url)) {
        *why = "its URL is too long";
        return TG_BAD;
    }

    memcpy(url, rule->url.data, rule->url.len);
    url[rule->url.len] = '\0';
    at = execution->automation->now() / 1000;
    (void) snprintf(id, sizeof(id), "webhook-id: %s", execution->id);
    (void) snprintf(timestamp, sizeof(timestamp), "webhook-timestamp: %lld",
                    (long long) at);
    tg_buf_init(&signature, tg_alloc_libc());
    headers[0] = "Content-Type: application/json";
    headers[1] = "User-Agent: Toolgate/" TG_VERSION;
    headers[2] = id;
    headers[3] = timestamp;
    headers[4] = headers[5] = NULL;

    if (rule->secret.data != NULL) {
        tg_hook_sign(&signature, rule->secret, execution->id, at,
                     tg_buf_view(&execution->body));
        tg_buf_char(&signature, '\0');
        headers[4] = signature.data;
    }

    memset(&request, 0, sizeof(request));
    request.method = "POST";
    request.url = url;
    request.headers = headers;
    request.body = tg_buf_view(&execution->body);
    request.timeout_ms = TG_HOOK_TIMEOUT_MS;
    *why = TG_RUNNER_NO_MEMORY;
    rc = tg_buf_failed(&signature)
             ? TG_NOMEM
             : tg_http_start(execution->automation->engine->tasks->http,
                             &request, &tg_hook_ops, execution,
                             &execution->http, why);
    tg_buf_deinit(&signature);

    return rc;
}

void
tg_hook_send(tg_execution_t *execution)
{
    tg_automation_t *automation;
    tg_automation_rule_t *rule;
    const char *why;

    automation = execution->automation;
    execution->next_at = 0;

    if (execution->http != NULL || automation->engine->is_dropped) {
        return;
    }

    rule = tg_automation_rule(automation, tg_buf_view(&execution->rule));

    if (rule == NULL || rule->rule->action != TG_ACTION_WEBHOOK) {
        tg_execution_end(execution, TG_EXECUTION_FAILED,
                         "its rule is not configured any more");
        return;
    }

    execution->receiver = tg_hook_receiver(rule->rule->url);

    if (tg_hook_is_full(automation, execution->receiver)) {
        return; /* the next tick looks again */
    }

    execution->tries++;
    execution->status = 0;
    execution->nread = 0;

    if (tg_hook_start(execution, rule->rule, &why) != TG_OK) {
        tg_hook_failed(execution, why);
    }
}

void
tg_hook_tick(tg_automation_t *automation)
{
    tg_execution_t *execution, *next;
    uint64_t now;

    now = uv_now(automation->engine->tasks->jobs->loop);

    for (execution = TAILQ_FIRST(&automation->executions); execution != NULL;
         execution = next)
    {
        next = TAILQ_NEXT(execution, place);

        if (execution->state == TG_EXECUTION_SENDING && !execution->is_asking
            && execution->http == NULL && now >= execution->next_at)
        {
            tg_hook_send(execution);
        }
    }
}

void
tg_hook_cancel(tg_execution_t *execution)
{
    if (execution->http != NULL) {
        tg_http_cancel(execution->http);
        execution->http = NULL;
    }
}
