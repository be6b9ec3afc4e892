/*
 * Webhooks: the event as JSON, sent by POST and signed as in Standard Webhooks:
 *
 *   webhook-id: ID of the execution
 *   webhook-timestamp: Unix time in seconds
 *   webhook-signature: v1,BASE64 of HMAC-SHA256 of "ID.TIMESTAMP.BODY"
 *
 * A status of 2xx ends the webhook. Errors that may be temporary are retried
 * with the same id, also by the next runner.
 */
#include "tasks/webhook/tg_webhook_send.h"

#include "base/tg_base64.h"
#include "base/tg_json.h"
#include "base/tg_sha256.h"
#include "base/tg_url.h"
#include "runner/logging/tg_log.h"

#include <stdio.h>

/* Timeout of one request, in ms. */
#define TG_WEBHOOK_TIMEOUT_MS 30000
/* Maximum number of requests at once; further webhooks wait. */
#define TG_WEBHOOKS_MAX 64
/* Maximum number of requests at once to one receiver. */
#define TG_WEBHOOKS_RECEIVER_MAX 8
/* Maximum number of bytes that are read of a response's body. */
#define TG_WEBHOOK_BODY_MAX 65536
/* Prefix of a secret in base64, as in Standard Webhooks. */
#define TG_WEBHOOK_SECRET_PREFIX "whsec_"

/* Delays before the retries, in seconds. */
static const unsigned tg_webhook_retry_delays[] = { 1, 5, 30, 120, 600 };

#define TG_WEBHOOK_TRIES_MAX                                                   \
    (sizeof(tg_webhook_retry_delays) / sizeof(tg_webhook_retry_delays[0]) + 1)

void
tg_webhook_write_body(tg_firing_t *firing, tg_str_t event)
{
    tg_buf_t *body;

    body = &firing->body;
    tg_buf_printf(body, "{\"executionId\":\"%s\",\"ruleId\":", firing->id);
    tg_json_write_string(body, tg_buf_view(&firing->rule));

    if (firing->text.len != 0) {
        tg_json_add_string(body, "message", tg_buf_view(&firing->text));
    }

    tg_json_begin_member(body, "event");
    tg_json_write_compact(body, event);
    tg_buf_append_char(body, '}');
}

/* --- signature --- */

static void
tg_webhook_sign(tg_buf_t *header, tg_str_t secret, const char *id, int64_t at,
                tg_str_t body)
{
    unsigned char digest[TG_SHA256_SIZE];
    tg_base64_encoder_t base64;
    char text[64];
    tg_hmac_t hmac;
    tg_buf_t key, head;

    tg_buf_init(&key, tg_alloc_libc());

    if (secret.len <= sizeof(TG_WEBHOOK_SECRET_PREFIX) - 1
        || memcmp(secret.data, TG_WEBHOOK_SECRET_PREFIX,
                  sizeof(TG_WEBHOOK_SECRET_PREFIX) - 1)
               != 0
        || tg_base64_decode(
               &key, tg_str(secret.data + sizeof(TG_WEBHOOK_SECRET_PREFIX) - 1,
                            secret.len - sizeof(TG_WEBHOOK_SECRET_PREFIX) + 1))
               != TG_OK)
    {
        tg_buf_reset(&key, 0);
        tg_buf_append_str(&key, secret);
    }

    head = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_printf(&head, "%s.%lld.", id, (long long) at);
    tg_hmac_init(&hmac, tg_buf_view(&key));
    tg_hmac_update(&hmac, tg_buf_view(&head));
    tg_hmac_update(&hmac, body);
    tg_hmac_final(&hmac, digest);
    memset(&base64, 0, sizeof(base64));
    tg_buf_append_cstr(header, "webhook-signature: v1,");
    tg_base64_encode(&base64, header, (const char *) digest, sizeof(digest));
    tg_base64_encode_end(&base64, header);
    header->failed |= tg_buf_has_failed(&key);
    tg_buf_deinit(&key);
}

/* --- response --- */

static void
tg_webhook_on_header(void *ctx, tg_str_t name, tg_str_t value)
{
}

static int
tg_webhook_on_head(void *ctx, int status)
{
    ((tg_firing_t *) ctx)->status = status;

    return 0;
}

/*
 * Reads a short body, to keep the connection alive; a long one ends the
 * request.
 */
static int
tg_webhook_on_body(void *ctx, const char *data, size_t len)
{
    tg_firing_t *firing;

    firing = ctx;
    firing->nread += len;

    return firing->nread <= TG_WEBHOOK_BODY_MAX ? TG_OK : TG_LIMIT;
}

/* Returns whether a later request may succeed. */
static int
tg_webhook_can_retry(const tg_firing_t *firing)
{
    return firing->status == 0 || firing->status >= 500 || firing->status == 408
           || firing->status == 425 || firing->status == 429;
}

static void
tg_webhook_schedule_retry(tg_firing_t *firing)
{
    uv_loop_t *loop;

    loop = firing->automation->engine->tasks->jobs->loop;
    firing->retry_at = uv_now(loop)
                       + tg_webhook_retry_delays[firing->tries - 1]
                             * UINT64_C(1000);
    tg_firing_store(firing, NULL, 0, NULL);
}

static void
tg_webhook_on_failed(tg_firing_t *firing, const char *why)
{
    char text[256];
    tg_buf_t error;

    error = tg_buf_make_fixed(text, sizeof(text) - 1);

    if (firing->status != 0) {
        tg_buf_printf(&error, "the webhook answered with status %d",
                      firing->status);
    } else {
        tg_buf_printf(&error, "the webhook was not called: %.180s", why);
    }

    text[error.len] = '\0';

    if (firing->tries < TG_WEBHOOK_TRIES_MAX && tg_webhook_can_retry(firing)) {
        tg_buf_reset(&firing->error, 0);
        tg_buf_append_cstr(&firing->error, text);
        tg_webhook_schedule_retry(firing);
        return;
    }

    tg_log(TG_LOG_ERROR, "rule \"%.*s\": %s, after %u tries",
           (int) firing->rule.len, firing->rule.data, text, firing->tries);
    tg_firing_end(firing, TG_FIRING_FAILED, text);
}

static void
tg_webhook_on_done(void *ctx, const tg_http_exchange_end_t *end)
{
    tg_firing_t *firing;
    int is_ok;

    firing = ctx;
    firing->http = NULL;

    /* An incomplete body does not matter: the status is the result. */
    if (end->result != TG_HTTP_OK && end->result != TG_HTTP_STOPPED) {
        firing->status = 0;
    }

    is_ok = firing->status >= 200 && firing->status < 300;
    tg_engine_stats_add(&firing->automation->engine->stats, "webhook",
                        tg_buf_view(&firing->rule), is_ok ? "ok" : "failed");

    if (is_ok) {
        tg_firing_end(firing, TG_FIRING_WEBHOOK_SENT, NULL);
    } else {
        tg_webhook_on_failed(firing, end->why != NULL ? end->why : "");
    }
}

static const tg_http_exchange_ops_t tg_webhook_http_ops = {
    .header = tg_webhook_on_header,
    .head = tg_webhook_on_head,
    .body = tg_webhook_on_body,
    .done = tg_webhook_on_done,
};

/* --- request --- */

/* Returns a hash of a URL's protocol, host and port; 0: it is invalid. */
static uint64_t
tg_webhook_hash_receiver(tg_str_t text)
{
    uint64_t receiver;
    const char *why;
    tg_buf_t origin;
    tg_url_t url;

    if (tg_url_parse(text, &url, &why) != TG_OK) {
        return 0;
    }

    tg_buf_init(&origin, tg_alloc_libc());
    tg_url_append_origin(&origin, &url);
    receiver = tg_hash_fnv1a(TG_HASH_INIT, tg_buf_view(&origin));
    tg_buf_deinit(&origin);

    return receiver;
}

/*
 * Returns whether a request must wait. The limit for one receiver prevents that
 * a slow receiver delays the others.
 */
static int
tg_webhook_is_limit_reached(const tg_automation_t *automation,
                            uint64_t receiver)
{
    const tg_firing_t *firing;
    unsigned n, nsame;

    n = 0;
    nsame = 0;

    TAILQ_FOREACH(firing, &automation->firings, link)
    {
        if (firing->http != NULL) {
            n++;
            nsame += firing->receiver == receiver;
        }
    }

    return n >= TG_WEBHOOKS_MAX || nsame >= TG_WEBHOOKS_RECEIVER_MAX;
}

/* Starts a request. TG_OK; other codes with a static error text in *why. */
static int
tg_webhook_start_request(tg_firing_t *firing, const tg_rule_t *rule,
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
        return TG_INVALID;
    }

    memcpy(url, rule->url.data, rule->url.len);
    url[rule->url.len] = '\0';
    at = firing->automation->now() / 1000;
    (void) snprintf(id, sizeof(id), "webhook-id: %s", firing->id);
    (void) snprintf(timestamp, sizeof(timestamp), "webhook-timestamp: %lld",
                    (long long) at);
    tg_buf_init(&signature, tg_alloc_libc());
    headers[0] = "Content-Type: application/json";
    headers[1] = "User-Agent: Toolgate/" TG_VERSION;
    headers[2] = id;
    headers[3] = timestamp;
    headers[4] = headers[5] = NULL;

    if (rule->secret.data != NULL) {
        tg_webhook_sign(&signature, rule->secret, firing->id, at,
                        tg_buf_view(&firing->body));
        tg_buf_append_char(&signature, '\0');
        headers[4] = signature.data;
    }

    memset(&request, 0, sizeof(request));
    request.method = "POST";
    request.url = url;
    request.headers = headers;
    request.body = tg_buf_view(&firing->body);
    request.timeout_ms = TG_WEBHOOK_TIMEOUT_MS;
    *why = TG_RUNNER_NO_MEMORY;
    rc = tg_buf_has_failed(&signature)
             ? TG_NOMEM
             : tg_http_exchange_start(firing->automation->engine->tasks->http,
                                      &request, &tg_webhook_http_ops, firing,
                                      &firing->http, why);
    tg_buf_deinit(&signature);

    return rc;
}

void
tg_webhook_send(tg_firing_t *firing)
{
    tg_automation_t *automation;
    tg_automation_rule_t *rule;
    const char *why;

    automation = firing->automation;
    firing->retry_at = 0;

    if (firing->http != NULL || automation->engine->is_shutting_down) {
        return;
    }

    rule = tg_automation_find_rule(automation, tg_buf_view(&firing->rule));

    if (rule == NULL || rule->rule->action != TG_ACTION_WEBHOOK) {
        tg_firing_end(firing, TG_FIRING_FAILED,
                      "its rule is no longer configured");
        return;
    }

    firing->receiver = tg_webhook_hash_receiver(rule->rule->url);

    if (tg_webhook_is_limit_reached(automation, firing->receiver)) {
        return; /* the next tick tries again */
    }

    firing->tries++;
    firing->status = 0;
    firing->nread = 0;

    if (tg_webhook_start_request(firing, rule->rule, &why) != TG_OK) {
        tg_webhook_on_failed(firing, why);
    }
}

void
tg_webhook_on_tick(tg_automation_t *automation)
{
    tg_firing_t *firing, *next;
    uint64_t now;

    now = uv_now(automation->engine->tasks->jobs->loop);

    TG_TAILQ_FOREACH_SAFE(firing, &automation->firings, link, next)
    {
        if (firing->state == TG_FIRING_WEBHOOK_PENDING && !firing->is_querying
            && firing->http == NULL && now >= firing->retry_at)
        {
            tg_webhook_send(firing);
        }
    }
}

void
tg_webhook_cancel(tg_firing_t *firing)
{
    if (firing->http != NULL) {
        tg_http_exchange_cancel(firing->http);
        firing->http = NULL;
    }
}
