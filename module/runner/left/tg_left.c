#include "runner/left/tg_left.h"

#include "base/tg_json.h"
#include "runner/spill/tg_spill_pass.h"
#include "runner/tg_held.h"
#include "runner/tg_job_call.h"

#include <stdlib.h>

/* A worker's own timer ends its calls; this one only when it is asked to. */
enum {
    TG_LEFT_MAX_OUTPUT,
    TG_LEFT_SPILL
};

static const char *const tg_left_members[] = { "max_output", "spill", NULL };

typedef struct {
    tg_peer_t *peer; /* who left it */
    char key[TG_HELD_KEY_MAX];
    size_t key_len;
    int is_finished;
    tg_spill_pass_t pass; /* of its answer */
} tg_left_t;

static int
tg_left_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_left_t *left;

    left = calloc(1, sizeof(*left));

    if (left == NULL) {
        return TG_NOMEM;
    }

    *why = TG_SPILL_PASS_WHY;

    if (tg_spill_pass_read(&left->pass, job, values[TG_LEFT_MAX_OUTPUT],
                           values[TG_LEFT_SPILL])
        != TG_OK)
    {
        free(left);
        return TG_BAD;
    }

    job->work = left;

    job->bytes += sizeof(tg_left_t);

    return TG_OK;
}

static void
tg_left_free(tg_job_t *job)
{
    tg_left_t *left;

    left = job->work;
    tg_spill_pass_stop(&left->pass);
    free(left);
}

/* Nobody wants its answer. */
static void
tg_left_stop(tg_job_t *job)
{
    tg_left_t *left;
    tg_buf_t json;

    left = job->work;
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&json, "{\"key\":\"");
    tg_buf_put(&json, left->key, left->key_len);
    tg_buf_text(&json, "\"}");

    if (!left->is_finished && !tg_buf_failed(&json)) {
        tg_peer_notify(left->peer, TG_STR("cancel"), tg_buf_view(&json));
        job->jobs->ops->told(job->jobs->host, left->peer);
    }

    tg_buf_deinit(&json);
    tg_spill_pass_stop(&left->pass);
    tg_job_done(job);
}

static const tg_kind_t tg_left_kind = {
    .name = "leave",
    .members = tg_left_members,
    .timeout_ms = TG_JOB_TIMEOUT_MAX,
    .is_elsewhere = 1,
    .read = tg_left_read,
    .stop = tg_left_stop,
    .free = tg_left_free,
};

static tg_job_t *
tg_left_find(const tg_jobs_t *jobs, const tg_peer_t *peer, tg_str_t key)
{
    const tg_left_t *left;
    tg_job_t *job;

    for (job = TAILQ_FIRST(&jobs->elsewhere); job != NULL;
         job = TAILQ_NEXT(job, place))
    {
        left = job->work;

        if (job->kind == &tg_left_kind && left->peer == peer
            && !left->is_finished
            && tg_str_eq(tg_str(left->key, left->key_len), key))
        {
            break;
        }
    }

    return job;
}

void
tg_left_leave(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    const char *why;
    tg_left_t *left;
    tg_job_t *job;
    tg_str_t key;

    why = tg_held_new_key(jobs, request, &key);

    if (why != NULL || tg_left_find(jobs, peer, key) != NULL) {
        tg_answer_wrong(peer, request,
                        why != NULL ? why : "This \"key\" is in use.");
        return;
    }

    job = tg_job_call_read(jobs, &tg_left_kind, NULL, peer, request);

    if (job == NULL) {
        return;
    }

    left = job->work;
    left->peer = peer;
    left->key_len = key.len;
    memcpy(left->key, key.data, key.len);

    if (tg_job_enter(job) != TG_OK) {
        tg_answer_failed(peer, request, TG_FAILURE_INTERNAL, NULL,
                         TG_RUNNER_NO_MEMORY);
        return;
    }

    tg_held_put(job, key);
    tg_answer_true(peer, request);
}

/* The job that the request of this peer is about; or answers that it is none.
 */
static tg_job_t *
tg_left_of(tg_jobs_t *jobs, tg_peer_t *peer, const tg_request_t *request)
{
    tg_job_t *job;
    tg_str_t raw;

    job = NULL;

    if (tg_json_get(request->arguments, TG_STR("key"), &raw) == TG_OK
        && tg_json_type(raw) == TG_JSON_STRING)
    {
        job = tg_left_find(jobs, peer, tg_json_body(raw));
    }

    if (job == NULL) {
        tg_answer_wrong(peer, request,
                        "Nothing that this worker left is wanted under this "
                        "\"key\".");
    }

    return job;
}

void
tg_left_tell(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_job_t *job;

    job = tg_left_of(jobs, peer, request);

    if (job != NULL) {
        tg_job_rose(job, tg_progress_put(&job->progress, request->arguments));
        tg_answer_true(peer, request);
    }
}

static void
tg_left_end(tg_job_t *job)
{
    tg_job_end(job);
    tg_job_done(job);
}

/* Ends the job with what is no object as of tg_answer_put(): as it is. */
static void
tg_left_answer(tg_job_t *job, tg_str_t answer)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_str(&json, answer);
    tg_job_answer(job, &json);
    tg_buf_deinit(&json);
    tg_left_end(job);
}

void
tg_left_finish(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_left_t *left;
    tg_str_t answer;
    tg_job_t *job;

    job = tg_left_of(jobs, peer, request);

    if (job == NULL) {
        return;
    }

    if (tg_json_get(request->arguments, TG_STR("answer"), &answer) != TG_OK) {
        tg_answer_wrong(peer, request, "There must be an \"answer\".");
        return;
    }

    left = job->work;
    left->is_finished = 1;

    if (tg_json_type(answer) != TG_JSON_OBJECT) {
        tg_left_answer(job, answer);
    } else if (tg_spill_pass_take(&left->pass, answer) == TG_OK) {
        tg_spill_pass_begin(&left->pass);
    } else {
        tg_job_fail(job, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
        tg_left_end(job);
    }

    tg_answer_true(peer, request);
}

void
tg_left_gone(tg_jobs_t *jobs, const tg_peer_t *peer)
{
    tg_job_t *job, *next;
    tg_left_t *left;

    for (job = TAILQ_FIRST(&jobs->elsewhere); job != NULL; job = next) {
        next = TAILQ_NEXT(job, place);
        left = job->work;

        if (job->kind != &tg_left_kind || left->peer != peer
            || left->is_finished) {
            continue;
        }

        tg_job_fail(job, TG_FAILURE_LOST,
                    "%s: the NGINX worker that ran it has ended before there "
                    "was an answer; it may have been executed. See what it did "
                    "before it is called again.",
                    job->params.tool);
        tg_left_end(job);
    }
}
