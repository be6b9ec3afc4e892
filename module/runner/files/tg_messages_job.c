/* Reads the files of a prompt's messages, one after the other, in a thread. */
#include "runner/files/tg_files.h"

#include "base/tg_utf8.h"
#include "runner/files/tg_file_open.h"
#include "runner/files/tg_file_read.h"
#include "runner/output/tg_output_response.h"
#include "spec/tg_file_spec.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Default timeout in ms; a disk that needs longer does not work. */
#define TG_MESSAGES_TIMEOUT 60000

typedef struct {
    tg_thread_work_t work; /* must be first: the work is cast to its call */
    tg_job_t *job;
    char *memory;    /* the messages */
    size_t max_left; /* bytes that further files may have */

    /* Used by the threads until the work is done. */
    atomic_int is_stopped;
    tg_json_cursor_t rest; /* messages that are not written yet */
    int is_reading;        /* a file is open */
    char path[TG_FILE_PATH_MAX + 1];
    tg_file_read_t reader;
    tg_buf_t json;
    int rc;
    int err;
    int is_binary; /* the file at `path` is not UTF-8 */

    /* Used by the loop after that. */
    tg_buf_t text; /* message of a failure */
    int is_answering;
    tg_output_response_t response;
    tg_sched_source_t source;
} tg_messages_call_t;

/* --- functions of the threads --- */

static int
tg_messages_fail(tg_messages_call_t *call, int err)
{
    call->err = err;

    return TG_INVALID;
}

/* Opens the file at call->path. TG_AGAIN: read it; or TG_INVALID. */
static int
tg_messages_open(tg_messages_call_t *call)
{
    struct stat info;
    int fd;

    fd = tg_file_open(-1, call->path, &info);

    if (fd == -1) {
        return tg_messages_fail(call, errno);
    }

    tg_file_read_begin(&call->reader, fd, call->max_left);
    call->is_reading = 1;

    return S_ISREG(info.st_mode) ? TG_AGAIN : tg_messages_fail(call, ENOENT);
}

/* Begins the next message. TG_OK: there is none; TG_AGAIN; TG_INVALID. */
static int
tg_messages_next(tg_messages_call_t *call)
{
    static const char *const names[] = { "role", "text", "path", NULL };
    tg_str_t element, values[3];

    if (!tg_json_iter_next(&call->rest, &element)) {
        tg_buf_append_cstr(&call->json, "]}");
        return TG_OK;
    }

    (void) tg_json_get_members(element, names, values);
    tg_json_begin_element(&call->json);
    tg_buf_append_char(&call->json, '{');
    tg_json_add_raw(&call->json, "role", values[0]);
    tg_buf_append_cstr(&call->json, ",\"content\":{\"type\":\"text\","
                                    "\"text\":");

    if (values[2].data == NULL) {
        tg_buf_append_str(&call->json, values[1]);
        tg_buf_append_cstr(&call->json, "}}");
        return TG_AGAIN;
    }

    call->path[tg_json_unescape(call->path, tg_json_string_body(values[2]))] =
        '\0';

    return tg_messages_open(call);
}

/* Reads a part of the open file. The codes of tg_messages_next(). */
static int
tg_messages_read(tg_messages_call_t *call)
{
    tg_str_t data;
    int rc;

    rc = tg_file_read_step(&call->reader);
    call->err = call->reader.err;

    if (rc != TG_OK) {
        return rc;
    }

    data = tg_buf_view(&call->reader.data);

    if (!tg_utf8_is_valid(data)) {
        call->is_binary = 1;
        return TG_INVALID;
    }

    call->max_left -= data.len;
    tg_json_write_string(&call->json, data);
    tg_buf_append_cstr(&call->json, "}}");
    tg_file_read_end(&call->reader);
    tg_file_read_begin(&call->reader, -1, 0);
    call->is_reading = 0;

    return TG_AGAIN;
}

static int
tg_messages_on_work(tg_thread_work_t *work)
{
    tg_messages_call_t *call;

    call = (tg_messages_call_t *) work;

    if (atomic_load(&call->is_stopped)) {
        return 0;
    }

    call->rc = call->is_reading ? tg_messages_read(call)
                                : tg_messages_next(call);

    if (tg_buf_has_failed(&call->json)) {
        call->rc = TG_NOMEM;
    }

    return call->rc == TG_AGAIN;
}

/* --- response --- */

static tg_outcome_t
tg_messages_make_failure(tg_messages_call_t *call)
{
    if (call->rc == TG_NOMEM) {
        return tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                       TG_RUNNER_NO_MEMORY);
    }

    if (call->rc != TG_LIMIT && !call->is_binary) {
        return tg_files_make_failure(call->job, call->err, call->path,
                                     TG_FAILURE_PROGRAM, &call->text);
    }

    if (call->rc == TG_LIMIT) {
        call->job->rule = "max_output";
    }

    tg_buf_printf(&call->text, "%s: %s", call->job->params.tool,
                  call->is_binary ? "the file of a message is not UTF-8 text."
                                  : "the files of the messages have more than "
                                    "max_output bytes.");

    return tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                       tg_buf_view(&call->text));
}

static void
tg_messages_begin_response(tg_messages_call_t *call)
{
    tg_outcome_t outcome;
    tg_run_stats_t stats;

    outcome = call->rc == TG_OK
                  ? tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(&call->json))
                  : tg_messages_make_failure(call);
    stats = tg_job_get_run_stats(call->job);
    tg_output_response_begin(&call->response, &call->job->params, NULL, 0,
                             &stats);
    call->is_answering = 1;
    tg_output_response_set_outcome(&call->response, &outcome);
}

static void
tg_messages_end(tg_messages_call_t *call)
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
tg_messages_write_response(tg_sched_source_t *source)
{
    tg_messages_call_t *call;

    call = TG_CONTAINER_OF(source, tg_messages_call_t, source);

    if (!call->is_answering) {
        tg_messages_begin_response(call);
    }

    if (!tg_output_response_run(&call->response, call->job, source,
                                call->response.outcome.value.len))
    {
        return;
    }

    tg_job_respond(call->job, &call->response.writer.json);
    tg_job_set_ending(call->job);
    tg_messages_end(call);
}

static void
tg_messages_on_done(tg_thread_work_t *work)
{
    tg_messages_call_t *call;

    call = (tg_messages_call_t *) work;
    call->work.run = NULL; /* the work is over */

    if (call->job->state == TG_JOB_RUNNING) {
        tg_job_on_work_ended(call->job);
        tg_messages_write_response(&call->source);
    } else {
        tg_messages_end(call);
    }
}

/* --- functions of the job type --- */

static void
tg_messages_free(tg_job_t *job)
{
    tg_messages_call_t *call;

    call = job->work;
    tg_file_read_end(&call->reader);
    tg_buf_deinit(&call->json);
    tg_buf_deinit(&call->text);
    free(call->memory);
    free(call);
}

/* Checks the messages, which are valid JSON. */
static int
tg_messages_are_valid(tg_str_t messages)
{
    static const char *const names[] = { "role", "text", "path", NULL };
    tg_str_t element, values[3], path;
    tg_json_cursor_t json;

    if (tg_json_type(messages) != TG_JSON_ARRAY) {
        return 0;
    }

    tg_json_iter_init(&json, messages);

    while (tg_json_iter_next(&json, &element)) {
        if (tg_json_type(element) != TG_JSON_OBJECT
            || tg_json_get_members(element, names, values) != TG_OK
            || tg_json_type(values[0]) != TG_JSON_STRING
            || (values[2].data == NULL
                && tg_json_type(values[1]) != TG_JSON_STRING))
        {
            return 0;
        }

        path = values[2].data != NULL ? tg_json_string_body(values[2])
                                      : TG_STR("/");

        if (path.data == NULL || path.len == 0 || path.len > TG_FILE_PATH_MAX
            || path.data[0] != '/')
        {
            return 0;
        }
    }

    return 1;
}

static int
tg_messages_read_params(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_messages_call_t *call;
    tg_messages_spec_t spec;

    memset(&spec, 0, sizeof(spec));

    if (tg_json_store_fields(tg_messages_fields, values, &spec, why) != TG_OK) {
        return TG_INVALID;
    }

    if (!tg_messages_are_valid(spec.messages)) {
        *why = "messages must be an array of objects with role, and text or an "
               "absolute path of at most 4095 bytes";
        return TG_INVALID;
    }

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    call->job = job;
    call->max_left = (size_t) spec.max_output;
    call->memory = malloc(spec.messages.len);
    tg_file_read_begin(&call->reader, -1, 0);
    tg_buf_init(&call->json, tg_alloc_libc());
    tg_buf_init(&call->text, tg_alloc_libc());
    job->work = call;

    if (call->memory == NULL) {
        tg_messages_free(job);
        job->work = NULL;
        return TG_NOMEM;
    }

    memcpy(call->memory, spec.messages.data, spec.messages.len);
    job->bytes += spec.messages.len;
    tg_json_iter_init(&call->rest, tg_str(call->memory, spec.messages.len));
    tg_buf_append_char(&call->json, '{');
    tg_json_add_raw(&call->json, "description", spec.description);
    tg_json_begin_member(&call->json, "messages");
    tg_buf_append_char(&call->json, '[');

    return TG_OK;
}

static int
tg_messages_start(tg_job_t *job)
{
    tg_messages_call_t *call;

    call = job->work;
    call->work.run = tg_messages_on_work;
    call->work.done = tg_messages_on_done;
    call->source.run = tg_messages_write_response;
    atomic_init(&call->is_stopped, 0);

    return tg_files_add_work(job->host, job, &call->work);
}

/* Stops the threads at the next step, or ends the response. */
static void
tg_messages_stop(tg_job_t *job)
{
    tg_messages_call_t *call;

    call = job->work;
    atomic_store(&call->is_stopped, 1);

    if (call->work.run == NULL) {
        tg_messages_end(call);
    }
}

const tg_job_type_t tg_messages_job_type = {
    .name = "messages",
    .fields = tg_messages_fields,
    .timeout_ms = TG_MESSAGES_TIMEOUT,
    .read = tg_messages_read_params,
    .start = tg_messages_start,
    .stop = tg_messages_stop,
    .free = tg_messages_free,
};
