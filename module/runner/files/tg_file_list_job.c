/* Writes a page of a folder's list as MCP resources, or as paths. */
#include "runner/files/tg_files.h"

#include "base/tg_utf8.h"
#include "catalog/tg_mime_extension.h"
#include "runner/files/tg_file_list.h"
#include "runner/logging/tg_log.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Default timeout in ms. */
#define TG_FILE_LIST_TIMEOUT 60000

typedef struct {
    tg_thread_work_t work; /* must be first: the work is cast to its call */
    tg_job_t *job;
    tg_file_filter_t filter;
    char *memory; /* owns the strings */
    tg_str_t uri;
    tg_str_t after;
    tg_str_t prefix;
    int has_prefix; /* the result is a text of paths */
    size_t limit;
    size_t max_output;

    /* Used by the threads until the work is done. */
    atomic_int is_stopped;
    tg_file_list_t list;
    int has_list; /* list->paths is complete */
    size_t at;    /* index of the next path to write */
    tg_buf_t items;
    int is_full; /* more items would exceed max_output */
    int rc;
} tg_file_list_call_t;

/* --- functions of the threads --- */

static void
tg_file_list_append_time(tg_buf_t *json, const struct timespec *at)
{
    char text[32];
    struct tm parts;

    if (gmtime_r(&at->tv_sec, &parts) != NULL
        && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) != 0)
    {
        tg_json_begin_member(json, "annotations");
        tg_json_begin_object(json);
        tg_json_add_cstr(json, "lastModified", text);
        tg_buf_append_char(json, '}');
    }
}

static void
tg_file_list_append_resource(const tg_file_list_call_t *call, tg_buf_t *json,
                             tg_str_t path, const struct stat *info)
{
    tg_buf_t text;
    tg_str_t mime;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_str(&text, call->uri);
    tg_file_path_append_encoded(&text, path);
    tg_json_begin_object(json);
    tg_json_add_string(json, "uri", tg_buf_view(&text));

    /* A file's name may contain any bytes. */
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_truncate(&text, 0);
    tg_utf8_append_visible(&text, path, 1);
    tg_json_add_string(json, "name", tg_buf_view(&text));
    mime = tg_mime_type_from_name(path);

    if (mime.data != NULL) {
        tg_json_add_string(json, "mimeType", mime);
    }

    tg_json_add_uint(json, "size", (uint64_t) info->st_size);
    tg_file_list_append_time(json, &info->st_mtim);
    tg_buf_append_char(json, '}');
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

/* Checks whether a path can be typed: text of one line. */
static int
tg_file_list_is_plain(tg_str_t path)
{
    size_t i;

    for (i = 0; i < path.len; i++) {
        if ((unsigned char) path.data[i] < ' ' || path.data[i] == 0x7f) {
            return 0;
        }
    }

    return tg_utf8_is_valid(path);
}

/* Writes the next item. Sets is_full if it does not fit. */
static void
tg_file_list_write_item(tg_file_list_call_t *call, tg_str_t path)
{
    struct stat info;
    size_t len;

    len = call->items.len;

    if (call->has_prefix) {
        if (tg_file_list_is_plain(path)) {
            tg_buf_append_str(&call->items, path);
            tg_buf_append_char(&call->items, '\n');
        }
    } else if (tg_file_list_stat(&call->list, path, &info) == 0) {
        tg_json_begin_element(&call->items);
        tg_file_list_append_resource(call, &call->items, path, &info);
    }

    /* The first item is always sent. */
    if (call->items.len > call->max_output && len > 1) {
        tg_buf_truncate(&call->items, len);
        call->is_full = 1;
    }
}

static int
tg_file_list_write_items(tg_file_list_call_t *call)
{
    size_t i;

    for (i = 0; i < TG_FILE_LIST_STATS && call->at < call->list.n; i++) {
        tg_file_list_write_item(call, call->list.paths[call->at]);

        if (call->is_full) {
            return TG_OK;
        }

        call->at++;
    }

    return call->at == call->list.n ? TG_OK : TG_AGAIN;
}

static int
tg_file_list_on_work(tg_thread_work_t *work)
{
    tg_file_list_call_t *call;

    call = (tg_file_list_call_t *) work;

    if (atomic_load(&call->is_stopped)) {
        return 0;
    }

    if (call->has_list) {
        call->rc = tg_file_list_write_items(call);
    } else {
        call->rc = tg_file_list_step(&call->list);
        call->has_list = call->rc == TG_OK;
        call->rc = call->rc == TG_OK ? TG_AGAIN : call->rc;
    }

    return call->rc == TG_AGAIN;
}

/* --- response --- */

/* Writes `next`, the path of the page's last file, if there is another. */
static void
tg_file_list_append_next(const tg_file_list_call_t *call, tg_buf_t *json)
{
    tg_buf_t text;

    if (call->at == 0 || (!call->list.has_more && !call->is_full)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_file_path_append_encoded(&text, call->list.paths[call->at - 1]);
    tg_json_add_string(json, "next", tg_buf_view(&text));
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

static tg_outcome_t
tg_file_list_make_outcome(tg_file_list_call_t *call, tg_buf_t *text)
{
    tg_str_t root;

    root = tg_str_from_cstr(call->filter.root);

    if (call->rc == TG_INVALID) {
        return tg_files_make_failure(call->job, call->list.err, root.data,
                                     TG_FAILURE_PROGRAM, text);
    }

    if (call->rc == TG_LIMIT) {
        tg_log(TG_LOG_ERROR, "%s: %s has more than %d files and folders",
               call->job->params.tool, root.data, TG_FILE_LIST_SCAN_MAX);
        tg_buf_printf(text, "%s: the folder has too many files.",
                      call->job->params.tool);
        return tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                           tg_buf_view(text));
    }

    if (call->has_prefix) {
        return tg_outcome_make_text(tg_buf_view(&call->items));
    }

    (void) tg_buf_reserve(text, call->items.len + 256);
    tg_buf_append_cstr(text, "{\"resources\":[");
    tg_buf_append_str(text, tg_buf_view(&call->items));
    tg_buf_append_char(text, ']');
    tg_file_list_append_next(call, text);
    tg_buf_append_char(text, '}');

    return tg_outcome_make(TG_OUTCOME_JSON, tg_buf_view(text));
}

static void
tg_file_list_respond(tg_file_list_call_t *call)
{
    tg_run_stats_t stats;
    tg_outcome_t outcome;
    tg_buf_t text, json;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&json, tg_alloc_libc());
    stats = tg_job_get_run_stats(call->job);
    outcome = tg_file_list_make_outcome(call, &text);

    if (call->rc == TG_NOMEM || tg_buf_has_failed(&call->items)
        || tg_buf_has_failed(&text))
    {
        outcome = tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                          TG_RUNNER_NO_MEMORY);
    }

    tg_job_result_write_output(&json, &outcome, &call->job->params, &stats);
    tg_job_respond(call->job, &json);
    tg_buf_deinit(&text);
    tg_buf_deinit(&json);
}

static void
tg_file_list_on_done(tg_thread_work_t *work)
{
    tg_file_list_call_t *call;
    tg_job_t *job;

    call = (tg_file_list_call_t *) work;
    job = call->job;

    if (job->state == TG_JOB_RUNNING) {
        tg_job_on_work_ended(job);
        tg_file_list_respond(call);
    }

    tg_job_set_done(job);
    tg_job_unref_handle(job);
}

/* --- functions of the job type --- */

static void
tg_file_list_free(tg_job_t *job)
{
    tg_file_list_call_t *call;

    call = job->work;
    tg_file_list_end(&call->list);
    tg_file_filter_free(&call->filter);
    tg_buf_deinit(&call->items);
    free(call->memory);
    free(call);
}

static tg_str_t
tg_file_list_copy(char **at, tg_str_t raw)
{
    tg_str_t text;

    if (raw.data == NULL) {
        return TG_STR("");
    }

    text = tg_str(*at, tg_json_unescape(*at, tg_json_string_body(raw)));
    *at += text.len;

    return text;
}

/* Copies the strings. The codes of tg_job_params_read(). */
static int
tg_file_list_copy_params(tg_file_list_call_t *call,
                         const tg_file_list_spec_t *spec, const char **why)
{
    char *at;

    call->memory = malloc(spec->uri.len + spec->after.len + spec->prefix.len
                          + 3);

    if (call->memory == NULL) {
        return TG_NOMEM;
    }

    at = call->memory;
    call->uri = tg_file_list_copy(&at, spec->uri);
    call->prefix = tg_file_list_copy(&at, spec->prefix);
    call->has_prefix = spec->prefix.data != NULL;
    call->after = tg_file_list_copy(&at, spec->after);
    *why = "after must be a percent-encoded path";

    if (spec->after.data != NULL
        && tg_file_path_decode((char *) call->after.data, &call->after.len)
               != TG_OK)
    {
        return TG_INVALID;
    }

    *why = "root is missing";

    return call->filter.root != NULL ? TG_OK : TG_INVALID;
}

static int
tg_file_list_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_file_list_spec_t spec;
    tg_file_list_call_t *call;
    int rc;

    memset(&spec, 0, sizeof(spec));

    if (tg_json_store_fields(tg_file_list_fields, values, &spec, why) != TG_OK)
    {
        return TG_INVALID;
    }

    call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return TG_NOMEM;
    }

    call->job = job;
    call->limit = (size_t) spec.limit;
    call->max_output = (size_t) spec.max_output;
    tg_buf_init(&call->items, tg_alloc_libc());
    tg_file_list_begin(&call->list, &call->filter, TG_STR(""), TG_STR(""), 1);
    job->work = call;
    rc = tg_file_filter_read(&call->filter, &spec.folder, why);

    if (rc == TG_OK) {
        rc = tg_file_list_copy_params(call, &spec, why);
    }

    if (rc != TG_OK) {
        tg_file_list_free(job);
        job->work = NULL;
    }

    return rc;
}

static int
tg_file_list_start(tg_job_t *job)
{
    tg_file_list_call_t *call;

    call = job->work;
    tg_file_list_begin(&call->list, &call->filter, call->after, call->prefix,
                       call->limit);
    call->work.run = tg_file_list_on_work;
    call->work.done = tg_file_list_on_done;
    atomic_init(&call->is_stopped, 0);

    return tg_files_add_work(job->host, job, &call->work);
}

/* Stops the threads at the next step. */
static void
tg_file_list_stop(tg_job_t *job)
{
    tg_file_list_call_t *call;

    call = job->work;
    atomic_store(&call->is_stopped, 1);
}

const tg_job_type_t tg_file_list_job_type = {
    .name = "files",
    .fields = tg_file_list_fields,
    .timeout_ms = TG_FILE_LIST_TIMEOUT,
    .read = tg_file_list_read,
    .start = tg_file_list_start,
    .stop = tg_file_list_stop,
    .free = tg_file_list_free,
};
