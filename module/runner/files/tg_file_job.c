/* Opens, reads and encodes a file in a thread, and sends the result. */
#include "runner/files/tg_files.h"

#include "runner/files/tg_file_contents.h"
#include "runner/files/tg_file_filter.h"
#include "runner/files/tg_file_open.h"
#include "runner/files/tg_file_read.h"
#include "runner/output/tg_output_response.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Default timeout in ms; a disk that needs longer does not work. */
#define TG_FILE_TIMEOUT 60000

typedef struct {
    tg_thread_work_t work; /* must be first: the work is cast to its call */
    tg_job_t *job;
    tg_file_filter_t filter;
    char *memory; /* owns path, uri and mime */
    char *path;
    tg_str_t uri; /* absent: the result is plain text */
    tg_str_t mime;
    tg_output_type_t output;
    size_t max_output;

    /* Used by the threads until the work is done. */
    atomic_int is_stopped;
    enum {
        TG_FILE_OPENING,
        TG_FILE_READING,
        TG_FILE_WRITING
    } state;
    tg_file_read_t reader;
    tg_file_contents_t contents;
    int rc; /* code of tg_file_read_step() */
    int err;

    /* Used by the loop after that. */
    tg_buf_t text; /* message of a failure */
    int is_answering;
    tg_output_response_t response;
    tg_sched_source_t source;
} tg_file_call_t;

/* --- functions of the threads --- */

static int
tg_file_call_fail(tg_file_call_t *call, int err)
{
    call->err = err;

    return TG_INVALID;
}

/* Opens the file. TG_AGAIN: read it in the next step; or TG_INVALID. */
static int
tg_file_call_open(tg_file_call_t *call)
{
    struct stat info;
    int root, fd, err;

    root = -1;

    if (call->filter.root != NULL) {
        if (!tg_file_filter_has_file(&call->filter,
                                     tg_str_from_cstr(call->path))) {
            return tg_file_call_fail(call, ENOENT);
        }

        root = tg_file_open_root(call->filter.root);

        if (root == -1) {
            return tg_file_call_fail(call, errno);
        }
    }

    fd = tg_file_open(root, call->path, &info);
    err = errno;

    if (root != -1) {
        (void) close(root);
    }

    if (fd == -1) {
        return tg_file_call_fail(call, err);
    }

    tg_file_read_begin(&call->reader, fd, call->max_output);
    call->state = TG_FILE_READING;

    return S_ISREG(info.st_mode) ? TG_AGAIN : tg_file_call_fail(call, ENOENT);
}

static int
tg_file_call_read(tg_file_call_t *call)
{
    int rc;

    rc = tg_file_read_step(&call->reader);
    call->err = call->reader.err;

    if (rc != TG_OK || call->uri.data == NULL) {
        return rc;
    }

    call->state = TG_FILE_WRITING;
    tg_file_contents_begin(&call->contents, tg_buf_view(&call->reader.data),
                           call->uri, call->mime, tg_str_from_cstr(call->path));

    return TG_AGAIN;
}

static int
tg_file_call_on_work(tg_thread_work_t *work)
{
    tg_file_call_t *call;

    call = (tg_file_call_t *) work;

    if (atomic_load(&call->is_stopped)) {
        return 0;
    }

    switch (call->state) {
    case TG_FILE_OPENING:
        call->rc = tg_file_call_open(call);
        break;
    case TG_FILE_READING:
        call->rc = tg_file_call_read(call);
        break;
    case TG_FILE_WRITING:
        call->rc = tg_file_contents_step(&call->contents);
        break;
    }

    return call->rc == TG_AGAIN;
}

/* --- response --- */

static tg_outcome_t
tg_file_call_make_failure(tg_file_call_t *call)
{
    if (call->rc == TG_NOMEM) {
        return tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                       TG_RUNNER_NO_MEMORY);
    }

    if (call->rc == TG_LIMIT) {
        call->job->rule = "max_output";
        tg_buf_printf(&call->text,
                      "%s: the file has more than %zu %s (max_output).",
                      call->job->params.tool, call->max_output,
                      tg_pick_plural(call->max_output, "byte", "bytes"));
        return tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                           tg_buf_view(&call->text));
    }

    return tg_files_make_failure(call->job, call->err, call->path,
                                 call->uri.data != NULL ? TG_FAILURE_UNKNOWN
                                                        : TG_FAILURE_PROGRAM,
                                 &call->text);
}

/* Begins the response. Returns the size of the data that it has to write. */
static size_t
tg_file_call_begin_response(tg_file_call_t *call)
{
    tg_outcome_t outcome;
    tg_run_stats_t stats;
    tg_str_t out;

    if (call->rc == TG_OK && call->uri.data != NULL
        && tg_buf_has_failed(&call->contents.json))
    {
        call->rc = TG_NOMEM;
    }

    outcome = call->rc == TG_OK
                  ? tg_outcome_make(TG_OUTCOME_RESULT,
                                    tg_buf_view(&call->contents.json))
                  : tg_file_call_make_failure(call);
    stats = tg_job_get_run_stats(call->job);
    tg_output_response_begin(&call->response, &call->job->params, NULL,
                             call->max_output, &stats);
    call->is_answering = 1;

    if (call->rc == TG_OK && call->uri.data == NULL) {
        out = tg_buf_view(&call->reader.data);
        tg_output_response_set_output(&call->response, out, call->output, 0);
        return out.len;
    }

    tg_output_response_set_outcome(&call->response, &outcome);

    return outcome.value.len;
}

static void
tg_file_call_end(tg_file_call_t *call)
{
    tg_sched_dequeue(&call->job->jobs->sched.sched, &call->source);
    tg_job_release_writer(call->job);

    if (call->is_answering) {
        call->is_answering = 0;
        tg_output_response_end(&call->response);
    }

    tg_job_set_done(call->job);
    tg_job_unref_handle(call->job);
}

/* Writes the response for a time slice; its end also ends the job. */
static void
tg_file_call_write_response(tg_sched_source_t *source)
{
    tg_file_call_t *call;
    size_t size;

    call = TG_CONTAINER_OF(source, tg_file_call_t, source);
    size = call->is_answering ? call->response.outcome.value.len
                              : tg_file_call_begin_response(call);

    if (!tg_output_response_run(&call->response, call->job, source, size)) {
        return;
    }

    tg_job_respond(call->job, &call->response.writer.json);
    tg_job_set_ending(call->job);
    tg_file_call_end(call);
}

static void
tg_file_call_on_done(tg_thread_work_t *work)
{
    tg_file_call_t *call;

    call = (tg_file_call_t *) work;
    call->work.run = NULL; /* the work is over */

    if (call->job->state == TG_JOB_RUNNING) {
        tg_job_on_work_ended(call->job);
        tg_file_call_write_response(&call->source);
    } else {
        tg_file_call_end(call);
    }
}

/* --- functions of the job type --- */

static void
tg_file_call_free(tg_job_t *job)
{
    tg_file_call_t *call;

    call = job->work;
    tg_file_read_end(&call->reader);
    tg_file_contents_end(&call->contents);
    tg_file_filter_free(&call->filter);
    tg_buf_deinit(&call->text);
    free(call->memory);
    free(call);
}

/* Copies path, uri and mime. The codes of tg_job_params_read(). */
static int
tg_file_call_copy(tg_file_call_t *call, const tg_file_spec_t *spec,
                  const char **why)
{
    char *at;
    int rc;

    call->memory = malloc(spec->path.len + spec->uri.len + spec->mime.len + 1);

    if (call->memory == NULL) {
        return TG_NOMEM;
    }

    at = call->memory;

    rc = tg_files_read_path(&at, spec, &call->path, why);

    if (rc != TG_OK) {
        return rc;
    }

    if (spec->uri.data != NULL) {
        call->uri = tg_str(at, tg_json_unescape(at, tg_json_string_body(
                                                        spec->uri)));
        at += call->uri.len;
    }

    if (spec->mime.data != NULL) {
        call->mime = tg_str(at, tg_json_unescape(at, tg_json_string_body(
                                                         spec->mime)));
    }

    return TG_OK;
}

static int
tg_file_call_read_params(tg_job_t *job, const tg_str_t *values,
                         const char **why)
{
    tg_file_spec_t spec;
    tg_file_call_t *call;
    int rc;

    memset(&spec, 0, sizeof(spec));

    if (tg_json_store_fields(tg_file_fields, values, &spec, why) != TG_OK) {
        return TG_INVALID;
    }

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    call->job = job;
    call->output = (tg_output_type_t) spec.output;
    call->max_output = (size_t) spec.max_output;
    tg_file_read_begin(&call->reader, -1, 0);
    tg_buf_init(&call->contents.json, tg_alloc_libc());
    tg_buf_init(&call->text, tg_alloc_libc());
    job->work = call;
    rc = tg_file_filter_read(&call->filter, &spec.folder, why);

    if (rc == TG_OK) {
        rc = tg_file_call_copy(call, &spec, why);
    }

    if (rc != TG_OK) {
        tg_file_call_free(job);
        job->work = NULL;
    }

    return rc;
}

static int
tg_file_call_start(tg_job_t *job)
{
    tg_file_call_t *call;

    call = job->work;
    call->work.run = tg_file_call_on_work;
    call->work.done = tg_file_call_on_done;
    call->source.run = tg_file_call_write_response;
    atomic_init(&call->is_stopped, 0);

    return tg_files_add_work(job->host, job, &call->work);
}

/* Stops the threads at the next step, or ends the response. */
static void
tg_file_call_stop(tg_job_t *job)
{
    tg_file_call_t *call;

    call = job->work;
    atomic_store(&call->is_stopped, 1);

    if (call->work.run == NULL) {
        tg_file_call_end(call);
    }
}

const tg_job_type_t tg_file_job_type = {
    .name = "file",
    .fields = tg_file_fields,
    .timeout_ms = TG_FILE_TIMEOUT,
    .read = tg_file_call_read_params,
    .start = tg_file_call_start,
    .stop = tg_file_call_stop,
    .free = tg_file_call_free,
};
