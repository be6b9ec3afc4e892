/* The list of detached jobs and the requests `release` and `adopt`. */
#include "runner/jobs/tg_job_detach.h"
#include "runner/jobs/tg_job_message.h"

#include "base/tg_json.h"
#include "protocol/tg_peer.h"

static void tg_jobs_on_detach_timer(uv_timer_t *timer);

/* --- list of detached jobs --- */

static tg_job_t *
tg_jobs_find_detached(const tg_jobs_t *jobs, tg_str_t token)
{
    tg_job_t *job;

    TAILQ_FOREACH(job, &jobs->detached, detached)
    {
        if (tg_str_eq(tg_str(job->token, job->token_len), token)) {
            return job;
        }
    }

    return NULL;
}

static void
tg_jobs_set_detach_timer(tg_jobs_t *jobs)
{
    const tg_job_t *job;
    uint64_t now;

    job = TAILQ_FIRST(&jobs->detached);

    if (job == NULL) {
        uv_timer_stop(&jobs->detach_timer);
        return;
    }

    now = uv_now(jobs->loop);
    uv_timer_start(&jobs->detach_timer, tg_jobs_on_detach_timer,
                   job->detached_until > now ? job->detached_until - now : 0,
                   0);
}

void
tg_job_detach(tg_job_t *job, tg_str_t token)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;
    memcpy(job->token, token.data, token.len);
    job->token_len = token.len;
    job->detached_until = uv_now(jobs->loop) + jobs->detached_ms;
    TAILQ_INSERT_TAIL(&jobs->detached, job, detached);
    jobs->ndetached++;
    tg_jobs_set_detach_timer(jobs);
}

static void
tg_job_undetach(tg_job_t *job)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;
    TAILQ_REMOVE(&jobs->detached, job, detached);
    jobs->ndetached--;
    jobs->detached_bytes -= job->answer.len;
    job->token_len = 0;
    tg_jobs_set_detach_timer(jobs);
}

static void
tg_job_expire_detached(tg_job_t *job)
{
    tg_job_undetach(job);
    tg_job_cancel(job);
    tg_job_free_if_closed(job);
}

static void
tg_jobs_on_detach_timer(uv_timer_t *timer)
{
    tg_jobs_t *jobs;
    tg_job_t *job;

    jobs = timer->data;

    while ((job = TAILQ_FIRST(&jobs->detached)) != NULL
           && job->detached_until <= uv_now(jobs->loop))
    {
        tg_job_expire_detached(job);
    }

    tg_jobs_set_detach_timer(jobs);
}

/* --- requests --- */

static int
tg_handoff_token_is_valid(tg_str_t token)
{
    return token.len >= TG_HANDOFF_TOKEN_MIN
           && token.len <= TG_HANDOFF_TOKEN_MAX && tg_str_is_word(token, "-_");
}

static const char *
tg_handoff_token_read(const tg_request_t *request, tg_str_t *token)
{
    tg_str_t raw;

    if (tg_json_type(request->arguments) != TG_JSON_OBJECT
        || !tg_json_has_member(request->arguments, TG_STR("key"),
                               TG_JSON_STRING, &raw)
        || !tg_handoff_token_is_valid(tg_json_string_body(raw)))
    {
        return "\"key\" must be 16 to 64 letters, digits, - and _.";
    }

    *token = tg_json_string_body(raw);

    return NULL;
}

const char *
tg_handoff_token_read_new(const tg_jobs_t *jobs, const tg_request_t *request,
                          tg_str_t *token)
{
    const char *why;

    why = tg_handoff_token_read(request, token);

    if (why == NULL && jobs->ndetached >= TG_DETACHED_MAX) {
        why = "Too many calls are held (2048).";
    }

    if (why == NULL && tg_jobs_find_detached(jobs, *token) != NULL) {
        why = "This \"key\" is in use.";
    }

    return why;
}

/* Returns this peer's call with the member `id` of the params, or NULL. */
static tg_call_t *
tg_jobs_find_peer_call(const tg_peer_t *peer, const tg_request_t *request)
{
    tg_call_t *call;
    tg_str_t id;

    if (tg_json_get_member(request->arguments, TG_STR("id"), &id) != TG_OK) {
        return NULL;
    }

    for (call = peer->calls; call != NULL; call = call->next) {
        if (tg_str_eq(call->reply.id, id)) {
            return call;
        }
    }

    return NULL;
}

void
tg_jobs_detach_call(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    const char *why;
    tg_call_t *call;
    tg_job_t *job;
    tg_str_t token;

    why = tg_handoff_token_read_new(jobs, request, &token);
    call = why == NULL ? tg_jobs_find_peer_call(peer, request) : NULL;

    if (call == NULL) {
        tg_peer_respond_invalid_params(
            peer, request,
            why != NULL ? why : "No call with this \"id\" is running.");
        return;
    }

    job = call->host;
    job->call = NULL;
    tg_job_detach(job, token);
    tg_call_forget(call);
    tg_peer_respond_true(peer, request);
}

void
tg_jobs_attach_call(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    const char *why;
    tg_call_t *call;
    tg_job_t *job;
    tg_str_t token;

    why = tg_handoff_token_read(request, &token);
    job = why == NULL ? tg_jobs_find_detached(jobs, token) : NULL;

    if (job == NULL) {
        tg_peer_respond_invalid_params(
            peer, request,
            why != NULL ? why
                        : "No call is held under this \"key\": it was ended, "
                          "or another worker has adopted it.");
        return;
    }

    /* The job ended meanwhile: send its progress and result. */
    if (job->has_answer) {
        tg_job_notify_progress_to(job, peer, request);
        tg_peer_respond_json(peer, request, &job->answer);
        tg_job_undetach(job);
        tg_job_free_if_closed(job);
        return;
    }

    call = tg_peer_defer_request(peer, request);

    /* The peer was rejected; another one may adopt the job. */
    if (call == NULL) {
        return;
    }

    call->host = job;
    job->call = call;
    tg_job_undetach(job);

    if (tg_progress_has_update(&job->progress) || tg_job_has_messages(job)) {
        tg_job_notify_progress_soon(job);
    }
}

void
tg_jobs_drop_detached(tg_jobs_t *jobs)
{
    while (!TAILQ_EMPTY(&jobs->detached)) {
        tg_job_expire_detached(TAILQ_FIRST(&jobs->detached));
    }
}
