/* Relayed calls as a job type; the requests `leave`, `tell` and `finish`. */
#include "runner/output/tg_relayed_call.h"

#include "base/tg_json.h"
#include "runner/output/tg_relayed_result.h"
#include "runner/jobs/tg_job_detach.h"
#include "runner/jobs/tg_job_call.h"
#include "protocol/tg_peer.h"

#include <stdlib.h>

typedef struct {
    tg_peer_t *peer; /* worker that runs the call */
    char token[TG_HANDOFF_TOKEN_MAX];
    size_t token_len;
    int is_finished;
    tg_relayed_result_t result; /* result that `finish` sent */
} tg_relayed_call_t;

static int
tg_relayed_call_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_relayed_call_t *call;
    tg_str_t answer;

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    if (tg_relayed_result_read_params(&call->result, job, values, &answer, why)
        != TG_OK)
    {
        free(call);
        return TG_INVALID;
    }

    job->work = call;

    job->bytes += sizeof(tg_relayed_call_t);

    return TG_OK;
}

static void
tg_relayed_call_free(tg_job_t *job)
{
    tg_relayed_call_t *call;

    call = job->work;
    tg_relayed_result_stop(&call->result);
    free(call);
}

/* Sends `cancel` to the worker: nobody wants the result. */
static void
tg_relayed_call_stop(tg_job_t *job)
{
    tg_relayed_call_t *call;
    tg_buf_t json;

    call = job->work;
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_cstr(&json, "{\"key\":\"");
    tg_buf_append(&json, call->token, call->token_len);
    tg_buf_append_cstr(&json, "\"}");

    if (!call->is_finished && !tg_buf_has_failed(&json)) {
        tg_peer_notify(call->peer, TG_STR("cancel"), tg_buf_view(&json));
        job->jobs->ops->notified(job->jobs->host, call->peer);
    }

    tg_buf_deinit(&json);
    tg_relayed_result_stop(&call->result);
    tg_job_set_done(job);
}

/* The worker has its own timer; the job's timer needs timeout_ms. */
static const tg_job_type_t tg_relayed_call_job_type = {
    .name = "leave",
    .fields = tg_relayed_result_fields,
    .timeout_ms = TG_JOB_TIMEOUT_MAX,
    .needs_no_slot = 1,
    .read = tg_relayed_call_read,
    .stop = tg_relayed_call_stop,
    .free = tg_relayed_call_free,
};

static tg_job_t *
tg_relayed_call_find(const tg_jobs_t *jobs, const tg_peer_t *peer,
                     tg_str_t token)
{
    const tg_relayed_call_t *call;
    tg_job_t *job;

    TAILQ_FOREACH(job, &jobs->without_slot, link)
    {
        call = job->work;

        if (job->type == &tg_relayed_call_job_type && call->peer == peer
            && !call->is_finished
            && tg_str_eq(tg_str(call->token, call->token_len), token))
        {
            break;
        }
    }

    return job;
}

void
tg_relayed_call_register(tg_jobs_t *jobs, tg_peer_t *peer,
                         tg_request_t *request)
{
    const char *why;
    tg_relayed_call_t *call;
    tg_job_t *job;
    tg_str_t token;

    why = tg_handoff_token_read_new(jobs, request, &token);

    if (why != NULL || tg_relayed_call_find(jobs, peer, token) != NULL) {
        tg_peer_respond_invalid_params(peer, request,
                                       why != NULL ? why
                                                   : "This \"key\" is in use.");
        return;
    }

    job = tg_jobs_parse_call(jobs, &tg_relayed_call_job_type, NULL, peer,
                             request);

    if (job == NULL) {
        return;
    }

    call = job->work;
    call->peer = peer;
    call->token_len = token.len;
    memcpy(call->token, token.data, token.len);

    if (tg_job_submit(job) != TG_OK) {
        tg_peer_respond_failure(peer, request, TG_FAILURE_INTERNAL, NULL,
                                TG_RUNNER_NO_MEMORY);
        return;
    }

    tg_job_detach(job, token);
    tg_peer_respond_true(peer, request);
}

/* Returns the peer's relayed call, or NULL after an error response. */
static tg_job_t *
tg_relayed_call_require(tg_jobs_t *jobs, tg_peer_t *peer,
                        const tg_request_t *request)
{
    tg_job_t *job;
    tg_str_t raw;

    job = NULL;

    if (tg_json_has_member(request->arguments, TG_STR("key"), TG_JSON_STRING,
                           &raw)) {
        job = tg_relayed_call_find(jobs, peer, tg_json_string_body(raw));
    }

    if (job == NULL) {
        tg_peer_respond_invalid_params(
            peer, request, "No call that this worker left has this \"key\".");
    }

    return job;
}

void
tg_relayed_call_update_progress(tg_jobs_t *jobs, tg_peer_t *peer,
                                tg_request_t *request)
{
    tg_job_t *job;

    job = tg_relayed_call_require(jobs, peer, request);

    if (job != NULL) {
        tg_job_on_progress(job, tg_progress_update(&job->progress,
                                                   request->arguments));
        tg_peer_respond_true(peer, request);
    }
}

static void
tg_relayed_call_end(tg_job_t *job)
{
    tg_job_set_ending(job);
    tg_job_set_done(job);
}

/* Ends the job with an answer that is not a JSON object, sent unchanged. */
static void
tg_relayed_call_respond(tg_job_t *job, tg_str_t answer)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_str(&json, answer);
    tg_job_respond(job, &json);
    tg_buf_deinit(&json);
    tg_relayed_call_end(job);
}

void
tg_relayed_call_finish(tg_jobs_t *jobs, tg_peer_t *peer, tg_request_t *request)
{
    tg_relayed_call_t *call;
    tg_str_t answer;
    tg_job_t *job;

    job = tg_relayed_call_require(jobs, peer, request);

    if (job == NULL) {
        return;
    }

    if (tg_json_get_member(request->arguments, TG_STR("answer"), &answer)
        != TG_OK) {
        tg_peer_respond_invalid_params(peer, request, "\"answer\" is missing.");
        return;
    }

    call = job->work;
    call->is_finished = 1;

    if (tg_json_type(answer) != TG_JSON_OBJECT) {
        tg_relayed_call_respond(job, answer);
    } else if (tg_relayed_result_copy(&call->result, answer) == TG_OK) {
        tg_relayed_result_begin(&call->result);
    } else {
        tg_job_fail(job, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
        tg_relayed_call_end(job);
    }

    tg_peer_respond_true(peer, request);
}

void
tg_relayed_calls_on_peer_closed(tg_jobs_t *jobs, const tg_peer_t *peer)
{
    tg_job_t *job, *next;
    tg_relayed_call_t *call;

    TG_TAILQ_FOREACH_SAFE(job, &jobs->without_slot, link, next)
    {
        call = job->work;

        if (job->type != &tg_relayed_call_job_type || call->peer != peer
            || call->is_finished)
        {
            continue;
        }

        tg_job_fail(job, TG_FAILURE_LOST,
                    "%s: the NGINX worker that ran it exited before it "
                    "answered; the call may have been executed. Check what "
                    "it did before you call it again.",
                    job->params.tool);
        tg_relayed_call_end(job);
    }
}
