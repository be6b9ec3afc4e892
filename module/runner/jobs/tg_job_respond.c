/* Progress notifications and the response of a job. */
#include "runner/jobs/tg_job_message.h"
#include "protocol/tg_peer.h"

int
tg_job_is_wanted(const tg_job_t *job)
{
    return job->call != NULL || job->token_len != 0 || job->owner != NULL;
}

tg_run_stats_t
tg_job_get_run_stats(const tg_job_t *job)
{
    uint64_t now, start, end;
    tg_run_stats_t stats;

    now = uv_now(job->jobs->loop);
    start = job->state == TG_JOB_QUEUED ? now : job->started_at;
    end = job->state == TG_JOB_QUEUED || job->ended_at == 0 ? now
                                                            : job->ended_at;

    memset(&stats, 0, sizeof(stats));
    stats.queued_ms = (int64_t) (start - job->submitted_at);
    stats.ran_ms = (int64_t) (end - start);
    stats.rule = job->rule != NULL ? tg_str_from_cstr(job->rule) : TG_STR_NONE;

    return stats;
}

/* --- progress: only the newest is sent, older progress is dropped --- */

static void
tg_job_send_progress(tg_job_t *job, tg_peer_t *peer, tg_str_t id)
{
    tg_buf_t json;

    /* A call without an id has no notifications. */
    if (id.data == NULL) {
        return;
    }

    tg_job_send_messages(job, peer, id);

    if (!tg_progress_has_update(&job->progress)) {
        return;
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_char(&json, '{');
    tg_json_add_raw(&json, "id", id);
    tg_buf_append_char(&json, ',');
    tg_progress_take_members(&job->progress, &json);
    tg_buf_append_char(&json, '}');

    if (!tg_buf_has_failed(&json)) {
        tg_peer_notify(peer, TG_STR("progress"), tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
}

/* Sends progress. Returns 0 if the peer cannot receive it now, else 1. */
static int
tg_job_try_send_progress(tg_job_t *job)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;
    int has_progress;

    has_progress = tg_progress_has_update(&job->progress);

    if (job->call == NULL || (!has_progress && !tg_job_has_messages(job))) {
        return 1;
    }

    jobs = job->jobs;
    peer = job->call->peer;

    if (!jobs->ops->can_notify(jobs->host, peer)) {
        return 0;
    }

    tg_job_send_progress(job, peer, job->call->reply.id);

    if (has_progress) {
        job->progress_sent_at = uv_now(jobs->loop);
    }

    jobs->ops->notified(jobs->host, peer);

    return 1;
}

static void
tg_job_on_progress_timer(uv_timer_t *timer)
{
    tg_job_t *job;

    job = timer->data;

    if (!tg_job_try_send_progress(job)) {
        uv_timer_start(timer, tg_job_on_progress_timer,
                       TG_JOB_PROGRESS_INTERVAL_MS, 0);
    } else if (job->type->resume_progress != NULL) {
        job->type->resume_progress(job);
    }
}

void
tg_job_notify_progress(tg_job_t *job)
{
    if (!uv_is_active((uv_handle_t *) &job->progress_timer)) {
        (void) tg_job_try_send_progress(job);
        uv_timer_start(&job->progress_timer, tg_job_on_progress_timer,
                       TG_JOB_PROGRESS_INTERVAL_MS, 0);
    }
}

void
tg_job_notify_progress_soon(tg_job_t *job)
{
    if (!uv_is_active((uv_handle_t *) &job->progress_timer)) {
        uv_timer_start(&job->progress_timer, tg_job_on_progress_timer, 0, 0);
    }
}

static void
tg_job_poll_progress(tg_job_t *job)
{
    if (job->type->poll_progress != NULL && job->state != TG_JOB_QUEUED) {
        (void) job->type->poll_progress(job);
    }
}

int
tg_job_flush_progress(tg_job_t *job)
{
    tg_job_poll_progress(job);
    (void) tg_job_try_send_progress(job);

    return job->call != NULL && job->progress_sent_at != 0
           && uv_now(job->jobs->loop) - job->progress_sent_at
                  < TG_JOB_PROGRESS_GAP_MS;
}

void
tg_job_notify_progress_to(tg_job_t *job, tg_peer_t *peer,
                          const tg_request_t *request)
{
    tg_job_send_progress(job, peer, request->reply.id);
}

/* --- large responses --- */

static void
tg_jobs_wake_writers(tg_jobs_t *jobs)
{
    tg_sched_source_t *source;
    tg_job_t *job;

    while ((job = TAILQ_FIRST(&jobs->writer_queue)) != NULL) {
        source = job->source;
        job->source = NULL;
        TAILQ_REMOVE(&jobs->writer_queue, job, writing);
        tg_sched_enqueue(&jobs->sched.sched, source);
    }
}

void
tg_jobs_on_peer_drained(tg_jobs_t *jobs)
{
    if (jobs->writing == NULL) {
        tg_jobs_wake_writers(jobs);
    }
}

int
tg_job_acquire_writer(tg_job_t *job, tg_sched_source_t *source)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;

    if (jobs->writing == job) {
        return 1;
    }

    if (jobs->writing == NULL
        && (job->call == NULL
            || jobs->ops->can_respond(jobs->host, job->call->peer)))
    {
        jobs->writing = job;
        return 1;
    }

    if (job->source == NULL) {
        job->source = source;
        TAILQ_INSERT_TAIL(&jobs->writer_queue, job, writing);
    }

    return 0;
}

void
tg_job_release_writer(tg_job_t *job)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;

    if (job->source != NULL) {
        TAILQ_REMOVE(&jobs->writer_queue, job, writing);
        job->source = NULL;
    }

    if (jobs->writing == job) {
        jobs->writing = NULL;
        tg_jobs_wake_writers(jobs);
    }
}

/* --- response --- */

static void
tg_job_save_result(tg_job_t *job, tg_buf_t *json)
{
    job->answer = *json;
    job->has_answer = 1;
    job->jobs->detached_bytes += json->len;
    tg_buf_init(json, tg_alloc_libc());
}

void
tg_job_respond(tg_job_t *job, tg_buf_t *json)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    tg_peer_t *peer;

    if (!tg_job_is_wanted(job)) {
        return;
    }

    tg_job_poll_progress(job);

    if (job->owner != NULL) {
        job->owner->answer(job, json);
        return;
    }

    if (job->call == NULL) {
        tg_job_save_result(job, json);
        return;
    }

    call = job->call;
    job->call = NULL;
    peer = call->peer;
    tg_job_send_progress(job, peer, call->reply.id);
    outcome = tg_job_result_to_outcome(json);
    tg_call_respond(call, &outcome);
    job->jobs->ops->notified(job->jobs->host, peer);
}

void
tg_job_fail(tg_job_t *job, tg_failure_t failure, const char *format, ...)
{
    tg_run_stats_t times;
    tg_buf_t json;
    va_list args;

    times = tg_job_get_run_stats(job);
    tg_buf_init(&json, tg_alloc_libc());
    va_start(args, format);
    tg_job_result_write_failure(&json, failure, &times, format, args);
    va_end(args);
    tg_job_respond(job, &json);
    tg_buf_deinit(&json);
}

/* --- timeout --- */

int
tg_job_is_past_max_timeout(const tg_job_t *job)
{
    return uv_now(job->jobs->loop) - job->submitted_at
           >= job->params.max_timeout_ms;
}

/* Appends the limit or slot that the job waits for. */
static void
tg_job_append_queue_text(tg_buf_t *text, const tg_job_t *job)
{
    const tg_limit_t *limit;
    const char *name;

    tg_buf_append_cstr(text, "did not run) and was dropped (timeout): ");
    limit = tg_job_find_busy_limit(job, &name);

    if (limit != NULL) {
        tg_limit_append_text(text, limit, name);
    } else {
        tg_buf_printf(text, TG_JOBS_LOAD_FORMAT, job->jobs->nrunning,
                      job->jobs->nqueued,
                      tg_pick_plural(job->jobs->nqueued, "s", ""));
    }

    tg_buf_append_cstr(text, "; try again later.");
}

static void
tg_job_append_timeout_text(tg_buf_t *text, const tg_job_t *job)
{
    const tg_job_params_t *params;
    tg_run_stats_t times;
    int is_capped;

    params = &job->params;
    is_capped = tg_job_is_past_max_timeout(job);
    times = tg_job_get_run_stats(job);
    tg_buf_append_cstr(text, params->tool);
    tg_buf_append_cstr(text, job->state == TG_JOB_QUEUED
                                 ? " could not start within "
                             : job->progress.last_len != 0 && !is_capped
                                 ? " reported no progress for "
                                 : " did not finish within ");
    tg_buf_append_duration(text, is_capped ? params->max_timeout_ms
                                           : params->timeout_ms);
    tg_buf_append_cstr(text, " (it waited ");
    tg_buf_append_duration(text, (uint64_t) times.queued_ms);
    tg_buf_append_cstr(text, " in the queue and ");

    if (job->state == TG_JOB_QUEUED) {
        tg_job_append_queue_text(text, job);
        return;
    }

    tg_buf_append_cstr(text, "ran ");
    tg_buf_append_duration(text, (uint64_t) times.ran_ms);
    tg_buf_printf(text, ") and was stopped (%s); ask for less.",
                  is_capped && params->max_timeout_ms > params->timeout_ms
                      ? "the max of timeout"
                      : "timeout");
}

void
tg_job_fail_timeout(tg_job_t *job)
{
    tg_buf_t text;

    job->rule = "timeout";
    tg_buf_init(&text, tg_alloc_libc());
    tg_job_append_timeout_text(&text, job);
    tg_buf_append_char(&text, '\0');
    tg_job_fail(job, TG_FAILURE_TIMEOUT, "%s",
                tg_buf_has_failed(&text) ? TG_RUNNER_NO_MEMORY : text.data);
    tg_buf_deinit(&text);
}
