#include "runner/tg_held.h"

#include "base/tg_json.h"

static void tg_held_on_timer(uv_timer_t *timer);

/* --- the list --- */

static tg_job_t *
tg_held_find(const tg_jobs_t *jobs, tg_str_t key)
{
    tg_job_t *job;

    for (job = TAILQ_FIRST(&jobs->held); job != NULL;
         job = TAILQ_NEXT(job, held)) {
        if (tg_str_eq(tg_str(job->key, job->key_len), key)) {
            return job;
        }
    }

    return NULL;
}

static void
tg_held_set_timer(tg_jobs_t *jobs)
{
    const tg_job_t *job;
    uint64_t now;

    job = TAILQ_FIRST(&jobs->held);

    if (job == NULL) {
        uv_timer_stop(&jobs->expiry);
        return;
    }

    now = uv_now(jobs->loop);
    uv_timer_start(&jobs->expiry, tg_held_on_timer,
                   job->held_until > now ? job->held_until - now : 0, 0);
}

void
tg_held_put(tg_job_t *job, tg_str_t key)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;
    memcpy(job->key, key.data, key.len);
    job->key_len = key.len;
    job->held_until = uv_now(jobs->loop) + jobs->held_ms;
    TAILQ_INSERT_TAIL(&jobs->held, job, held);
    jobs->nheld++;
    tg_held_set_timer(jobs);
}

/* It is somebody's again, or nobody's for good. */
static void
tg_held_remove(tg_job_t *job)
{
    tg_jobs_t *jobs;

    jobs = job->jobs;
    TAILQ_REMOVE(&jobs->held, job, held);
    jobs->nheld--;
    jobs->held_bytes -= job->answer.len;
    job->key_len = 0;
    tg_held_set_timer(jobs);
}

/* Nobody came for it. */
static void
tg_held_expire(tg_job_t *job)
{
    tg_held_remove(job);
    tg_job_cancel(job);
    tg_job_let_go(job);
}

static void
tg_held_on_timer(uv_timer_t *timer)
{
    tg_jobs_t *jobs;
    tg_job_t *job;

    jobs = timer->data;

    while ((job = TAILQ_FIRST(&jobs->held)) != NULL
           && job->held_until <= uv_now(jobs->loop))
    {
        tg_held_expire(job);
    }

    tg_held_set_timer(jobs);
}

/* --- requests --- */

static int
tg_held_is_key(tg_str_t key)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t i;

    if (key.len < TG_HELD_KEY_MIN || key.len > TG_HELD_KEY_MAX) {
        return 0;
    }

    for (i = 0; i < key.len; i++) {
        if (memchr(known, key.data[i], sizeof(known) - 1) == NULL) {
            return 0;
        }
    }

    return 1;
}

static const char *
tg_held_key(const tg_request_t *request, tg_str_t *key)
{
    tg_str_t raw;

    if (tg_json_type(request->arguments) != TG_JSON_OBJECT
        || tg_json_get(request->arguments, TG_STR("key"), &raw) != TG_OK
        || tg_json_type(raw) != TG_JSON_STRING
        || !tg_held_is_key(tg_json_body(raw)))
    {
        return "\"key\" must be 16 to 64 letters, digits, - and _.";
    }

    *key = tg_json_body(raw);

    return NULL;
}

const char *
tg_held_new_key(const tg_jobs_t *jobs, const tg_request_t *request,
                tg_str_t *key)
{
    const char *why;

    why = tg_held_key(request, key);

    if (why == NULL && jobs->nheld >= TG_HELD_MAX) {
        why = "As many calls are held as may be (2048).";
    }

    if (why == NULL && tg_held_find(jobs, *key) != NULL) {
        why = "This \"key\" is in use.";
    }

    return why;
}

/* The call of this peer that has the id of the request's params. */
static tg_call_t *
tg_held_call(const tg_peer_t *peer, const tg_request_t *request)
{
    tg_call_t *call;
    tg_str_t id;

    if (tg_json_get(request->arguments, TG_STR("id"), &id) != TG_OK) {
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
tg_held_release(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    const char *why;
    tg_call_t *call;
    tg_job_t *job;
    tg_str_t key;

    why = tg_held_new_key(jobs, request, &key);
    call = why == NULL ? tg_held_call(peer, request) : NULL;

    if (call == NULL) {
        tg_answer_wrong(peer, request,
                        why != NULL ? why
                                    : "No call with this \"id\" is running.");
        return;
    }

    job = call->host;
    job->call = NULL;
    tg_held_put(job, key);
    tg_call_forget(call);
    tg_answer_true(peer, request);
}

void
tg_held_adopt(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    const char *why;
    tg_call_t *call;
    tg_job_t *job;
    tg_str_t key;

    why = tg_held_key(request, &key);
    job = why == NULL ? tg_held_find(jobs, key) : NULL;

    if (job == NULL) {
        tg_answer_wrong(peer, request,
                        why != NULL ? why
                                    : "Nothing is held under this \"key\": it "
                                      "was ended, or somebody else has "
                                      "adopted it.");
        return;
    }

    /* It has ended meanwhile: what would have come, comes now. */
    if (job->has_answer) {
        tg_job_tell_adopter(job, peer, request);
        tg_answer_json(peer, request, &job->answer);
        tg_held_remove(job);
        tg_job_let_go(job);
        return;
    }

    call = tg_peer_defer(peer, request);

    /* That was refused; the next one may be luckier. */
    if (call == NULL) {
        return;
    }

    call->host = job;
    job->call = call;
    tg_held_remove(job);

    if (tg_progress_is_new(&job->progress)) {
        tg_job_tell_soon(job);
    }
}

void
tg_held_drop(tg_jobs_t *jobs)
{
    while (!TAILQ_EMPTY(&jobs->held)) {
        tg_held_expire(TAILQ_FIRST(&jobs->held));
    }
}
