/* Writes the jobs in the response of `status`. */
#include "runner/jobs/tg_job_status.h"

#include "base/tg_json.h"

/* Upper bound of the number of job types. */
#define TG_JOB_TYPES_MAX 8

static const char *const tg_job_states[] = {
    [TG_JOB_QUEUED] = "queued",
    [TG_JOB_RUNNING] = "running",
    [TG_JOB_ENDING] = "ending",
    [TG_JOB_DONE] = "done",
};

typedef struct {
    const tg_job_type_t *types[TG_JOB_TYPES_MAX];
    unsigned n[TG_JOB_TYPES_MAX];
    unsigned ntypes;
    tg_buf_t jobs;
} tg_job_status_t;

static void
tg_job_status_count_type(tg_job_status_t *status, const tg_job_type_t *type)
{
    unsigned i;

    for (i = 0; i < status->ntypes && status->types[i] != type; i++) {
    }

    if (i == TG_JOB_TYPES_MAX) {
        return;
    }

    if (i == status->ntypes) {
        status->types[status->ntypes++] = type;
    }

    status->n[i]++;
}

static void
tg_job_status_add_job(tg_job_status_t *status, const tg_job_t *job)
{
    tg_run_stats_t stats;
    tg_buf_t *json;
    pid_t pid;

    json = &status->jobs;
    stats = tg_job_get_run_stats(job);
    pid = job->type->pid != NULL && job->state != TG_JOB_QUEUED
              ? job->type->pid(job)
              : 0;
    tg_job_status_count_type(status, job->type);
    tg_buf_append_cstr(json, json->len == 0 ? "{" : ",{");

    if (job->params.call != 0) {
        tg_json_add_int(json, "call", job->params.call);
        tg_buf_append_char(json, ',');
    }

    tg_buf_printf(json, "\"kind\":\"%s\",\"tool\":", job->type->name);
    tg_json_write_string(json, tg_str_from_cstr(job->params.tool));
    tg_json_add_cstr(json, "state", tg_job_states[job->state]);

    if (pid != 0) {
        tg_json_add_int(json, "pid", pid);
    }

    tg_json_add_int(json, "queued_ms", stats.queued_ms);
    tg_json_add_int(json, "ran_ms", stats.ran_ms);
    tg_buf_append_char(json, '}');
}

void
tg_jobs_write_json(tg_buf_t *json, const tg_jobs_t *jobs)
{
    const tg_job_list_t *lists[] = { &jobs->slots, &jobs->without_slot,
                                     &jobs->queue };
    tg_job_status_t status;
    const tg_job_t *job;
    unsigned i;

    memset(&status, 0, sizeof(status));
    tg_buf_init(&status.jobs, json->alloc);

    for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        TAILQ_FOREACH(job, lists[i], link)
        {
            tg_job_status_add_job(&status, job);
        }
    }

    tg_buf_append_cstr(json, ",\"kinds\":{");

    for (i = 0; i < status.ntypes; i++) {
        tg_buf_printf(json, "%s\"%s\":%u", i == 0 ? "" : ",",
                      status.types[i]->name, status.n[i]);
    }

    tg_buf_append_cstr(json, "},\"jobs\":[");
    tg_buf_append_str(json, tg_buf_view(&status.jobs));
    tg_buf_append_char(json, ']');
    json->failed |= status.jobs.failed;
    tg_buf_deinit(&status.jobs);
}
