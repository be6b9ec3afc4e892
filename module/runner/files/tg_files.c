/* Threads and failures of jobs about files. */
#include "runner/files/tg_files.h"

#include "runner/files/tg_file_filter.h"

#include "runner/logging/tg_log.h"

#include <errno.h>

void
tg_files_init(tg_files_t *files, uv_loop_t *loop)
{
    memset(files, 0, sizeof(*files));
    files->loop = loop;
}

void
tg_files_close(tg_files_t *files)
{
    if (files->threads != NULL) {
        tg_thread_pool_close(files->threads);
        files->threads = NULL;
    }
}

int
tg_files_add_work(tg_files_t *files, tg_job_t *job, tg_thread_work_t *work)
{
    if (files->threads == NULL) {
        files->threads = tg_thread_pool_new(files->loop);
    }

    if (files->threads == NULL) {
        tg_job_fail(job, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
        return -1;
    }

    if (tg_thread_pool_add(files->threads, work) != 0) {
        tg_job_fail(job, TG_FAILURE_BUSY,
                    "%d files are being read already; try again later.",
                    TG_THREAD_POOL_WORKS_MAX);
        return -1;
    }

    tg_job_ref_handle(job);

    return 0;
}

int
tg_files_read_path(char **at, const tg_file_spec_t *spec, char **path,
                   const char **why)
{
    size_t len;

    *why = "path has a NUL character, or more than 4095 bytes";

    if (tg_param_read_string(at, spec->path, path) != TG_OK
        || strlen(*path) > TG_FILE_PATH_MAX)
    {
        return TG_LIMIT;
    }

    len = strlen(*path);

    /* Nothing has an invalid name, so it cannot be found. */
    if (spec->is_encoded && tg_file_path_decode(*path, &len) != TG_OK) {
        (*path)[0] = '\0';
    }

    *why = "path must be absolute if there is no root";

    return spec->folder.root.data != NULL || (*path)[0] == '/' ? TG_OK
                                                               : TG_INVALID;
}

/* Checks for an error that means that there is nothing at a path. */
static int
tg_files_is_missing(int err)
{
    return err == ENOENT || err == ENOTDIR || err == EXDEV || err == ELOOP
           || err == ENAMETOOLONG || err == ENXIO;
}

tg_outcome_t
tg_files_make_failure(const tg_job_t *job, int err, const char *path,
                      tg_failure_t unknown, tg_buf_t *text)
{
    const char *tool;

    tool = job->params.tool;

    if (tg_files_is_missing(err)) {
        tg_buf_printf(text, "%s: the file does not exist.", tool);
        return tg_outcome_make_failure_str(unknown, tg_buf_view(text));
    }

    if (err == ESTALE) {
        tg_buf_printf(text,
                      "%s: the file changes while it is being read; try again.",
                      tool);
        return tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                           tg_buf_view(text));
    }

    if (err == EOVERFLOW) {
        tg_buf_printf(text,
                      "%s: the file cannot be read: its size is not that of "
                      "its content, as in /proc and /sys.",
                      tool);
        return tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                           tg_buf_view(text));
    }

    tg_log(TG_LOG_ERROR, "%s: cannot read %s: %s", tool, path, strerror(err));

    if (err == EACCES || err == EPERM) {
        tg_buf_printf(text,
                      "%s: toolgate-runner has no permission to read the file; "
                      "NGINX's error log has its path.",
                      tool);
        return tg_outcome_make_failure_str(TG_FAILURE_PROGRAM,
                                           tg_buf_view(text));
    }

    tg_buf_printf(text, "%s: the file cannot be read; see NGINX's error log.",
                  tool);

    return tg_outcome_make_failure_str(err == ENOMEM || err == EMFILE
                                               || err == ENFILE
                                           ? TG_FAILURE_INTERNAL
                                           : TG_FAILURE_PROGRAM,
                                       tg_buf_view(text));
}

int
tg_files_read_version(tg_str_t raw, uint64_t *version)
{
    tg_str_t text;
    size_t i;

    *version = 0;

    if (raw.data == NULL) {
        return TG_OK;
    }

    text = tg_json_string_body(raw);

    for (i = 0; i < text.len && tg_hex_value(text.data[i]) >= 0; i++) {
        *version = *version << 4 | (uint64_t) tg_hex_value(text.data[i]);
    }

    return i == 16 && text.len == 16 ? TG_OK : TG_INVALID;
}

void
tg_files_respond_version(tg_job_t *job, uint64_t version, uint64_t changed)
{
    tg_buf_t json;

    tg_job_on_work_ended(job);
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_printf(&json, "{\"version\":\"%016llx\"",
                  (unsigned long long) version);

    if (changed != 0) {
        tg_buf_printf(&json, ",\"changed\":\"%016llx\"",
                      (unsigned long long) changed);
    }

    tg_buf_append_char(&json, '}');
    tg_job_respond(job, &json);
    tg_buf_deinit(&json);
    tg_job_set_ending(job);
}
