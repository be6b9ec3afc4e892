/*
 * What the caller of a job is told: its progress, and how it ended.
 */
#include "runner/tg_job.h"

int
tg_job_is_wanted(const tg_job_t *job)
{
    return job->call != NULL || job->key_len != 0 || job->owner != NULL;
}

tg_ran_t
tg_job_ran(const tg_job_t *job)
{
    uint64_t now, start, end;
    tg_ran_t ran;

    now = uv_now(job->jobs->loop);
    start = job->state == TG_JOB_QUEUED ? now : job->started_at;
    end = job->state == TG_JOB_QUEUED || job->ended_at == 0 ? now
                                                            : job->ended_at;

    memset(&ran, 0, sizeof(ran));
    ran.queued_ms = (int64_t) (start - job->arrived_at);
    ran.ran_ms = (int64_t) (end - start);
    ran.rule = job->rule != NULL ? tg_str_c(job->rule) : TG_STR_NONE;

    return ran;
}

/* --- progress: the newest counts, what nobody was told of is passed over */

static void
tg_job_put_progress(tg_job_t *job, tg_peer_t *peer, tg_str_t id)
{
    tg_buf_t json;

    /* A notification has no id by which its progress could be known. */
    if (id.data == NULL || !tg_progress_is_new(&job->progress)) {
        return;
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&json, "{\"id\":");
    tg_buf_str(&json, id);
    tg_buf_char(&json, ',');
    tg_progress_take(&job->progress, &json);
    tg_buf_char(&json, '}');

    if (!tg_buf_failed(&json)) {
        tg_peer_notify(peer, TG_STR("progress"), tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
}

/* Sends what is new, when the peer takes it: then nothing new is left. */
static int
tg_job_offer(tg_job_t *job)
{
    const tg_jobs_t *jobs;
    tg_peer_t *peer;

    if (job->call == NULL || !tg_progress_is_new(&job->progress)) {
        return 1;
    }

    jobs = job->jobs;
    peer = job->call->peer;

    if (!jobs->ops->may_tell(jobs->host, peer)) {
        return 0;
    }

    tg_job_put_progress(job, peer, job->call->reply.id);
    job->told_at = uv_now(jobs->loop);
    jobs->ops->told(jobs->host, peer);

    return 1;
}

static void
tg_job_on_pace(uv_timer_t *timer)
{
    tg_job_t *job;

    job = timer->data;

    if (!tg_job_offer(job)) {
        uv_timer_start(timer, tg_job_on_pace, TG_JOB_PACE_MS, 0);
    } else if (job->kind->more != NULL) {
        job->kind->more(job);
    }
}

void
tg_job_tell(tg_job_t *job)
{
    if (!uv_is_active((uv_handle_t *) &job->pace)) {
        (void) tg_job_offer(job);
        uv_timer_start(&job->pace, tg_job_on_pace, TG_JOB_PACE_MS, 0);
    }
}

void
tg_job_tell_soon(tg_job_t *job)
{
    if (!uv_is_active((uv_handle_t *) &job->pace)) {
        uv_timer_start(&job->pace, tg_job_on_pace, 0, 0);
    }
}

static void
tg_job_look(tg_job_t *job)
{
    if (job->kind->look != NULL && job->state != TG_JOB_QUEUED) {
        (void) job->kind->look(job);
    }
}

int
tg_job_tell_last(tg_job_t *job)
{
    tg_job_look(job);
    (void) tg_job_offer(job);

    return job->call != NULL && job->told_at != 0
           && uv_now(job->jobs->loop) - job->told_at < TG_JOB_APART_MS;
}

void
tg_job_tell_adopter(tg_job_t *job, tg_peer_t *peer, const tg_request_t *request)
{
    tg_job_put_progress(job, peer, request->reply.id);
}

/* --- large answers --- */

static void
tg_jobs_unpark(tg_jobs_t *jobs)
{
    tg_source_t *source;
    tg_job_t *job;

    while ((job = TAILQ_FIRST(&jobs->answers)) != NULL) {
        source = job->source;
        job->source = NULL;
        TAILQ_REMOVE(&jobs->answers, job, answering);
        tg_source_wait(&jobs->sched.sched, source);
    }
}

void
tg_jobs_drained(tg_jobs_t *jobs)
{
    if (jobs->answering == NULL) {
        tg_jobs_unpark(jobs);
    }
}

int
tg_job_may_answer(tg_job_t *job, tg_source_t *source)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;

    if (jobs->answering == job) {
        return 1;
    }

    if (jobs->answering == NULL
        && (job->call == NULL
            || jobs->ops->may_answer(jobs->host, job->call->peer)))
    {
        jobs->answering = job;
        return 1;
    }

    if (job->source == NULL) {
        job->source = source;
        TAILQ_INSERT_TAIL(&jobs->answers, job, answering);
    }

    return 0;
}

void
tg_job_answered(tg_job_t *job)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;

    if (job->source != NULL) {
        TAILQ_REMOVE(&jobs->answers, job, answering);
        job->source = NULL;
    }

    if (jobs->answering == job) {
        jobs->answering = NULL;
        tg_jobs_unpark(jobs);
    }
}

/* --- the answer --- */

/* For whoever adopts the job. */
static void
tg_job_keep(tg_job_t *job, tg_buf_t *json)
{
    job->answer = *json;
    job->has_answer = 1;
    job->jobs->held_bytes += json->len;
    tg_buf_init(json, tg_alloc_libc());
}

void
tg_job_answer(tg_job_t *job, tg_buf_t *json)
{
    tg_outcome_t outcome;
    tg_call_t *call;
    tg_peer_t *peer;

    if (!tg_job_is_wanted(job)) {
        return;
    }

    tg_job_look(job);

    if (job->owner != NULL) {
        job->owner->answer(job, json);
        return;
    }

    if (job->call == NULL) {
        tg_job_keep(job, json);
        return;
    }

    call = job->call;
    job->call = NULL;
    peer = call->peer;
    tg_job_put_progress(job, peer, call->reply.id);
    outcome = tg_answer_outcome(json);
    tg_call_answer(call, &outcome);
    job->jobs->ops->told(job->jobs->host, peer);
}

void
tg_job_fail(tg_job_t *job, tg_failure_t failure, const char *format, ...)
{
    tg_ran_t times;
    tg_buf_t json;
    va_list args;

    times = tg_job_ran(job);
    tg_buf_init(&json, tg_alloc_libc());
    va_start(args, format);
    tg_answer_put_failed(&json, failure, &times, format, args);
    va_end(args);
    tg_job_answer(job, &json);
    tg_buf_deinit(&json);
}

/* --- that its time is over --- */

int
tg_job_is_capped(const tg_job_t *job)
{
    return uv_now(job->jobs->loop) - job->arrived_at
           >= job->params.max_timeout_ms;
}

/* What it waits for: a place of its kind, or a slot. */
static void
tg_job_text_queued(tg_buf_t *text, const tg_job_t *job)
{
    const tg_limit_t *limit;
    const char *name;

    tg_buf_text(text, "did not run) and was dropped (timeout): ");
    limit = tg_jobs_blocker(job, &name);

    if (limit != NULL) {
        tg_limit_put(text, limit, name);
    } else {
        tg_buf_printf(text, TG_JOBS_LOAD, job->jobs->nrunning,
                      job->jobs->nqueued,
                      tg_plural(job->jobs->nqueued, "s", ""));
    }

    tg_buf_text(text, "; try again later.");
}

static void
tg_job_text_timeout(tg_buf_t *text, const tg_job_t *job)
{
    const tg_job_params_t *params;
    tg_ran_t times;
    int is_capped;

    params = &job->params;
    is_capped = tg_job_is_capped(job);
    times = tg_job_ran(job);
    tg_buf_text(text, params->tool);
    tg_buf_text(text, job->state == TG_JOB_QUEUED ? " could not start within "
                      : job->progress.last_len != 0 && !is_capped
                          ? " reported no progress for "
                          : " did not finish within ");
    tg_answer_put_time(text,
                       is_capped ? params->max_timeout_ms : params->timeout_ms);
    tg_buf_text(text, " (it waited ");
    tg_answer_put_time(text, (uint64_t) times.queued_ms);
    tg_buf_text(text, " in the queue and ");

    if (job->state == TG_JOB_QUEUED) {
        tg_job_text_queued(text, job);
        return;
    }

    tg_buf_text(text, "ran ");
    tg_answer_put_time(text, (uint64_t) times.ran_ms);
    tg_buf_printf(text, ") and was ended (%s); ask for less.",
                  is_capped && params->max_timeout_ms > params->timeout_ms
                      ? "the max of timeout"
                      : "timeout");
}

void
tg_job_timeout(tg_job_t *job)
{
    tg_buf_t text;

    job->rule = "timeout";
    tg_buf_init(&text, tg_alloc_libc());
    tg_job_text_timeout(&text, job);
    tg_buf_char(&text, '\0');
    tg_job_fail(job, TG_FAILURE_TIMEOUT, "%s",
                tg_buf_failed(&text) ? TG_RUNNER_NO_MEMORY : text.data);
    tg_buf_deinit(&text);
}
