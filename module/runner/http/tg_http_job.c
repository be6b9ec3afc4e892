/* An HTTP call as a job: exchanges, redirects, progress and response. */
#include "runner/http/tg_http_job.h"

#include "runner/http/tg_http_response.h"

#include <stdlib.h>

typedef struct {
    tg_job_t *job;
    tg_http_params_t params;
    tg_http_exchange_t *http; /* current exchange, or NULL */
    char *url;                /* URL of the exchange */
    tg_url_t url_parts;       /* parts of `url` */
    const char *method;
    int has_body;
    int has_left_origin; /* a redirect led to another host */
    unsigned nredirects;
    tg_http_response_t answer;
    uint64_t nread;
    uint64_t nreported;
    /* Content-Length of the body; 0: unknown. */
    uint64_t content_length;
    int is_compressed; /* content_length is the compressed size */

    /* Result of a call that failed before or during the exchange. */
    tg_buf_t json;

    int is_answering;
    tg_output_response_t response; /* result of a call with an HTTP response */

    /* Waits for permission to write a large response. */
    tg_sched_source_t source;

    uv_timer_t gap_timer;
} tg_http_call_t;

static int tg_http_call_begin_exchange(tg_http_call_t *call);

/* --- end --- */

static void
tg_http_call_on_closed(uv_handle_t *handle)
{
    tg_http_call_t *call;

    call = handle->data;
    tg_job_unref_handle(call->job);
}

static void
tg_http_call_set_done(tg_http_call_t *call)
{
    tg_sched_dequeue(&call->job->jobs->sched.sched, &call->source);
    tg_job_release_writer(call->job);

    if (call->is_answering) {
        call->is_answering = 0;
        tg_output_response_end(&call->response);
    }

    uv_close((uv_handle_t *) &call->gap_timer, tg_http_call_on_closed);
    tg_job_set_done(call->job);
}

/* Writes the response for a time slice; its end also ends the job. */
static void
tg_http_call_write_response(tg_sched_source_t *source)
{
    tg_http_call_t *call;

    call = TG_CONTAINER_OF(source, tg_http_call_t, source);

    if (call->is_answering
        && !tg_output_response_run(&call->response, call->job, source,
                                   call->answer.body.len))
    {
        return;
    }

    tg_job_respond(call->job, call->is_answering ? &call->response.writer.json
                                                 : &call->json);
    tg_job_set_ending(call->job);
    tg_http_call_set_done(call);
}

static void
tg_http_call_on_gap_timer(uv_timer_t *timer)
{
    tg_http_call_t *call;

    call = timer->data;
    tg_http_call_write_response(&call->source);
}

/* Sends the response a moment after progress: some clients mix them up. */
static void
tg_http_call_on_response(tg_http_call_t *call)
{
    tg_job_on_work_ended(call->job);

    if (tg_job_flush_progress(call->job)) {
        uv_timer_start(&call->gap_timer, tg_http_call_on_gap_timer,
                       TG_JOB_PROGRESS_GAP_MS, 0);
    } else if (call->answer.body.len > TG_JOB_LARGE_RESPONSE) {
        tg_sched_enqueue(&call->job->jobs->sched.sched, &call->source);
    } else {
        tg_http_call_write_response(&call->source);
    }
}

static void
tg_http_call_stop(tg_job_t *job)
{
    tg_http_call_t *call;

    call = job->work;

    if (call->http != NULL) {
        tg_http_exchange_cancel(call->http);
        call->http = NULL;
    }

    tg_http_call_set_done(call);
}

/* Writes a failure. `format` is a printf() format; secrets are hidden. */
static void __attribute__((format(printf, 3, 4)))
tg_http_call_fail(tg_http_call_t *call, tg_failure_t failure,
                  const char *format, ...)
{
    tg_outcome_t outcome;
    tg_run_stats_t times;
    tg_buf_t text;
    va_list args;

    times = tg_job_get_run_stats(call->job);
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_printf(&text, "%s: ", call->job->params.tool);
    va_start(args, format);
    tg_buf_vprintf(&text, format, args);
    va_end(args);
    tg_http_params_redact(&call->params, text.data, text.len);
    outcome = tg_outcome_make_failure_str(failure, tg_buf_view(&text));
    tg_job_result_write(&call->json, &outcome, &times);
    call->json.failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

/* --- redirects --- */

static int
tg_http_method_is_read_only(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

/* Changes the method by the redirect's status, as browsers do. */
static void
tg_http_call_set_redirect_method(tg_http_call_t *call)
{
    int status;

    status = call->answer.status;

    if ((status == 303 && !tg_http_method_is_read_only(call->method))
        || ((status == 301 || status == 302)
            && strcmp(call->method, "POST") == 0))
    {
        call->method = "GET";
        call->has_body = 0;
    }
}

/* Checks a redirect. Returns NULL, or why it must not be followed. */
static const char *
tg_http_call_check_redirect(const tg_http_call_t *call, const tg_url_t *to,
                            int is_away)
{
    if (call->nredirects > call->params.redirects) {
        return "there are too many redirects (redirects)";
    }

    if (call->url_parts.is_tls && !to->is_tls) {
        return "a redirect leads from https to http";
    }

    if (is_away
        && (!tg_http_method_is_read_only(call->method) || call->has_body)) {
        return "a redirect would send the request to another host";
    }

    return NULL;
}

/* Follows a redirect. Returns 0 after it has written a failure. */
static int
tg_http_call_follow_redirect(tg_http_call_t *call, const char *redirect)
{
    const char *why;
    tg_url_t to;
    char *url;
    int is_away;

    tg_http_call_set_redirect_method(call);
    call->nredirects++;
    url = strdup(redirect);

    if (url == NULL || tg_url_parse(tg_str_from_cstr(url), &to, &why) != TG_OK)
    {
        free(url);
        tg_http_call_fail(call, TG_FAILURE_PROGRAM,
                          "the server redirects to a target that is not an "
                          "http or https URL.");
        return 0;
    }

    is_away = !tg_url_is_same_origin(&call->url_parts, &to);
    why = tg_http_call_check_redirect(call, &to, is_away);

    if (why != NULL) {
        free(url);
        tg_http_call_fail(call, TG_FAILURE_PROGRAM, "%s.", why);
        return 0;
    }

    call->has_left_origin |= is_away;
    free(call->url);
    call->url = url;
    call->url_parts = to;
    tg_buf_truncate(&call->answer.body, 0);
    call->answer.type[0] = '\0';
    call->answer.is_cut = 0;
    call->nread = 0;
    call->content_length = 0;
    call->is_compressed = 0;

    return tg_http_call_begin_exchange(call) == 0;
}

/* --- response --- */

static void
tg_http_call_on_header(void *ctx, tg_str_t name, tg_str_t value)
{
    tg_http_call_t *call;
    size_t i;

    call = ctx;
    tg_http_response_add_header(&call->answer, name, value);
    call->is_compressed |= tg_str_eq_nocase(name, TG_STR("content-encoding"));

    if (!tg_str_eq_nocase(name, TG_STR("content-length"))) {
        return;
    }

    call->content_length = 0;

    for (i = 0; i < value.len && tg_is_digit(value.data[i]) && i < 15; i++) {
        call->content_length = call->content_length * 10
                               + (uint64_t) (value.data[i] - '0');
    }
}

static int
tg_http_call_on_head(void *ctx, int status)
{
    tg_http_call_t *call;

    call = ctx;
    call->answer.status = status;

    return 0;
}

/* Reports progress of a body that is large enough to take some time. */
static void
tg_http_call_notify_progress(tg_http_call_t *call)
{
    char text[128];
    tg_buf_t buf;

    if (call->nread - call->nreported < TG_HTTP_PROGRESS_BYTES) {
        return;
    }

    call->nreported = call->nread;
    buf = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_append_char(&buf, '{');
    tg_json_add_uint(&buf, "progress", call->nread);

    if (!call->is_compressed && call->content_length >= call->nread) {
        tg_json_add_uint(&buf, "total", call->content_length);
    }

    tg_json_add_cstr(&buf, "message", "bytes");
    tg_buf_append_char(&buf, '}');
    tg_job_on_progress(call->job, tg_progress_update(&call->job->progress,
                                                     tg_buf_view(&buf)));
}

static int
tg_http_call_on_body(void *ctx, const char *data, size_t len)
{
    tg_http_call_t *call;
    int rc;

    call = ctx;
    call->nread += len;
    rc = tg_http_response_add_body(&call->answer, &call->params, data, len);

    if (rc == TG_OK && tg_http_response_is_success(&call->answer)) {
        tg_http_call_notify_progress(call);
    }

    if (rc == TG_OK && call->answer.is_cut && call->nread > TG_OUTPUT_MAX) {
        rc = TG_LIMIT;
    }

    return rc;
}

static void
tg_http_call_fail_exchange(tg_http_call_t *call,
                           const tg_http_exchange_end_t *end)
{
    tg_buf_t origin;

    tg_buf_init(&origin, tg_alloc_libc());
    tg_url_append_origin(&origin, &call->url_parts);
    tg_buf_append_char(&origin, '\0');

    if (tg_buf_has_failed(&origin) || tg_buf_has_failed(&call->answer.body)) {
        tg_http_call_fail(call, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);

    } else if (end->result == TG_HTTP_REFUSED) {
        tg_http_call_fail(call, TG_FAILURE_ARGUMENTS,
                          "%s is not called: its address belongs to this "
                          "machine or to a private network. If this is "
                          "intended, list the host in hosts.",
                          origin.data);

    } else if (end->was_sent) {
        tg_http_call_fail(call, TG_FAILURE_LOST,
                          "no complete response from %s (%s); the request "
                          "may have been carried out.",
                          origin.data, end->why);

    } else {
        tg_http_call_fail(call, TG_FAILURE_LOST,
                          "%s cannot be reached; no request was sent (%s).",
                          origin.data, end->why);
    }

    tg_buf_deinit(&origin);
}

static void
tg_http_call_on_done(void *ctx, const tg_http_exchange_end_t *end)
{
    tg_http_call_t *call;
    tg_run_stats_t times;

    call = ctx;
    call->http = NULL;

    if (end->result != TG_HTTP_OK
        && (end->result != TG_HTTP_STOPPED || !call->answer.is_cut))
    {
        tg_http_call_fail_exchange(call, end);

    } else if (end->redirect != NULL && call->params.redirects != 0) {
        if (tg_http_call_follow_redirect(call, end->redirect)) {
            return;
        }

    } else {
        if (call->answer.is_cut && tg_http_response_is_success(&call->answer)) {
            call->job->rule = "max_output";
        }

        times = tg_job_get_run_stats(call->job);
        call->is_answering = 1;
        tg_http_response_begin_result(&call->response, &call->answer,
                                      &call->params, &call->url_parts,
                                      end->redirect, &call->job->params,
                                      &times);
    }

    tg_http_call_on_response(call);
}

static const tg_http_exchange_ops_t tg_http_call_ops = {
    .header = tg_http_call_on_header,
    .head = tg_http_call_on_head,
    .body = tg_http_call_on_body,
    .done = tg_http_call_on_done,
};

/* --- start --- */

/* Checks the URL. Returns 0, or -1 after it has written a failure. */
static int
tg_http_call_check_host(tg_http_call_t *call, tg_url_match_t match)
{
    tg_buf_t origin;

    if (match == TG_URL_MATCH_EXACT
        || (match == TG_URL_MATCH_WILDCARD && call->params.proxy == NULL))
    {
        return 0;
    }

    tg_buf_init(&origin, tg_alloc_libc());
    tg_url_append_origin(&origin, &call->url_parts);
    tg_buf_append_char(&origin, '\0');
    tg_http_call_fail(call, TG_FAILURE_ARGUMENTS,
                      match == TG_URL_MATCH_NONE
                          ? "%s may not be called; hosts does not allow it."
                          : "%s may not be called through a proxy, because "
                            "its address cannot be checked; list it in hosts.",
                      tg_buf_has_failed(&origin) ? "It" : origin.data);
    tg_buf_deinit(&origin);

    return -1;
}

/* Begins an exchange. Returns 0, or -1 after it has written a failure. */
static int
tg_http_call_begin_exchange(tg_http_call_t *call)
{
    static const char *const none[] = { NULL };
    const tg_http_params_t *params;
    tg_http_request_t request;
    tg_url_match_t match;
    const char *why;
    int rc;

    params = &call->params;
    match = tg_http_params_match_host(params, &call->url_parts);

    if (tg_http_call_check_host(call, match) != 0) {
        return -1;
    }

    request.method = call->method;
    request.url = call->url;
    request.headers = call->has_left_origin
                          ? none
                          : (const char *const *) params->headers;
    request.body = call->has_body ? params->body : TG_STR_NONE;
    request.is_public = match != TG_URL_MATCH_EXACT;
    request.proxy = params->proxy;
    request.ca_file = params->ca_file;
    request.connect_ms = params->connect_ms;
    request.timeout_ms = 0;
    request.is_stream = 0;
    why = TG_RUNNER_NO_MEMORY;
    rc = tg_http_exchange_start(call->job->host, &request, &tg_http_call_ops,
                                call, &call->http, &why);

    if (rc != TG_OK) {
        tg_http_call_fail(call,
                          rc == TG_LIMIT ? TG_FAILURE_BUSY
                                         : TG_FAILURE_INTERNAL,
                          "%s", why);
        return -1;
    }

    return 0;
}

static int
tg_http_call_start(tg_job_t *job)
{
    tg_http_call_t *call;
    const char *why;

    call = job->work;
    call->method = call->params.method;
    call->has_body = call->params.body.data != NULL;
    call->url = strdup(call->params.url);

    if (call->url == NULL) {
        tg_job_fail(job, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
        return -1;
    }

    (void) tg_url_parse(tg_str_from_cstr(call->url), &call->url_parts, &why);

    if (tg_http_call_begin_exchange(call) != 0) {
        tg_job_respond(job, &call->json);
        return -1;
    }

    uv_timer_init(job->jobs->loop, &call->gap_timer);
    call->gap_timer.data = call;
    call->source.run = tg_http_call_write_response;
    tg_job_ref_handle(job);

    return 0;
}

static int
tg_http_call_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_http_call_t *call;
    int rc;

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    rc = tg_http_params_read(&call->params, job->jobs->output_store, values,
                             why);

    if (rc != TG_OK) {
        free(call);
        return rc;
    }

    call->job = job;
    tg_http_response_init(&call->answer);
    tg_buf_init(&call->json, tg_alloc_libc());
    job->bytes += call->params.size;
    job->work = call;

    return TG_OK;
}

static void
tg_http_call_free(tg_job_t *job)
{
    tg_http_call_t *call;

    call = job->work;
    tg_http_params_free(&call->params);
    tg_http_response_deinit(&call->answer);
    tg_buf_deinit(&call->json);
    free(call->url);
    free(call);
}

const tg_job_type_t tg_http_job_type = {
    .name = "http",
    .fields = tg_http_fields,
    .timeout_ms = TG_HTTP_TIMEOUT_DEFAULT,
    .read = tg_http_call_read,
    .start = tg_http_call_start,
    .stop = tg_http_call_stop,
    .free = tg_http_call_free,
};
