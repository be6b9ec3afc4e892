/* The job type `files`: lists folders in a thread. */
#include "runner/files/tg_file_list_page.h"
#include "runner/files/tg_files.h"
#include "runner/files/tg_skill.h"
#include "runner/logging/tg_log.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Default timeout in ms. */
#define TG_FILE_LIST_TIMEOUT 60000

typedef struct {
    tg_thread_work_t work; /* must be first: the work is cast to its call */
    tg_job_t *job;
    char *memory; /* owns the strings */

    /* Used by the threads until the work is done. */
    atomic_int is_stopped;
    tg_file_list_page_t page;
    int rc;
} tg_file_list_call_t;

static int
tg_file_list_on_work(tg_thread_work_t *work)
{
    tg_file_list_call_t *call;

    call = (tg_file_list_call_t *) work;

    if (atomic_load(&call->is_stopped)) {
        return 0;
    }

    call->rc = tg_file_list_page_step(&call->page);

    return call->rc == TG_AGAIN;
}

/* --- response --- */

/* Reports folders that could not be listed; the list omits their files. */
static void
tg_file_list_log_errors(const tg_file_list_call_t *call)
{
    const tg_file_list_folder_t *folder;
    size_t i;

    for (i = 0; i < call->page.nfolders; i++) {
        folder = &call->page.folders[i];

        if (folder->err != 0) {
            tg_log(TG_LOG_ERROR, "%s: cannot list the files of %s: %s",
                   call->job->params.tool, folder->filter.root,
                   folder->err == E2BIG ? "there are too many"
                                        : strerror(folder->err));
        }
    }
}

/* Reports each skill that is left out once, until another reason is found. */
static void
tg_file_list_log_issues(const tg_file_list_call_t *call)
{
    tg_str_t issue, rest;
    tg_files_t *files;
    uint64_t hash;
    unsigned i;

    files = call->job->host;

    for (rest = tg_buf_view(&call->page.issues); rest.len != 0;
         rest = tg_str_skip(rest, issue.len + 1))
    {
        issue = tg_str_from_cstr(rest.data);
        hash = tg_hash_fnv1a(TG_HASH_INIT, issue);

        for (i = 0; i < TG_FILES_ISSUES_MAX && files->issues[i] != hash; i++) {
            /* void */
        }

        if (i == TG_FILES_ISSUES_MAX) {
            files->issues[files->nissues++ % TG_FILES_ISSUES_MAX] = hash;
            tg_log(TG_LOG_WARN, "a skill is left out: %s", issue.data);
        }
    }
}

/* Checks whether there is no skill, or no folder, at the path asked for. */
static int
tg_file_list_is_unknown(const tg_file_list_page_t *page)
{
    return (page->type == TG_FILE_LIST_SKILL && page->items.len == 0)
           || (page->type == TG_FILE_LIST_DIRECTORY && !page->has_folder);
}

static tg_outcome_t
tg_file_list_make_outcome(const tg_file_list_call_t *call, tg_buf_t *text)
{
    static const char *const beginnings[] = {
        [TG_FILE_LIST_RESOURCES] = "{\"resources\":[",
        [TG_FILE_LIST_SKILLS] = "{\"skills\":[",
        [TG_FILE_LIST_SKILL] = "{\"skill\":",
        [TG_FILE_LIST_DIRECTORY] = "{\"resources\":[",
    };
    const tg_file_list_page_t *page;
    int is_one;

    page = &call->page;

    if (page->is_text) {
        return tg_outcome_make_text(tg_buf_view(&page->items));
    }

    if (tg_file_list_is_unknown(page)) {
        return tg_outcome_make_failure(TG_FAILURE_UNKNOWN,
                                       page->type == TG_FILE_LIST_SKILL
                                           ? "There is no skill at this URI."
                                           : "There is no folder at this "
                                             "URI.");
    }

    is_one = page->type == TG_FILE_LIST_SKILL;
    (void) tg_buf_reserve(text, page->items.len + 256);
    tg_buf_append_cstr(text, beginnings[page->type]);
    tg_buf_append_str(text, tg_buf_view(&page->items));

    if (!is_one) {
        tg_buf_append_char(text, ']');
        tg_file_list_page_append_next(page, text);
    }

    tg_buf_append_char(text, '}');

    return tg_outcome_make(page->type == TG_FILE_LIST_RESOURCES
                               ? TG_OUTCOME_JSON
                               : TG_OUTCOME_RESULT,
                           tg_buf_view(text));
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
    tg_file_list_log_errors(call);

    if (!tg_buf_has_failed(&call->page.issues)) {
        tg_file_list_log_issues(call);
    }

    if (call->rc == TG_NOMEM || tg_buf_has_failed(&call->page.items)
        || tg_buf_has_failed(&call->page.last)
        || tg_buf_has_failed(&call->page.issues) || tg_buf_has_failed(&text))
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

/* --- params --- */

static void
tg_file_list_free(tg_job_t *job)
{
    tg_file_list_call_t *call;

    call = job->work;
    tg_file_list_page_end(&call->page);
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

/* Reads a number and the dot after it. Returns 0 if there is none. */
static int
tg_file_list_read_number(tg_str_t *text, size_t *number)
{
    size_t i;

    for (i = 0, *number = 0; i < text->len && i < 9 && text->data[i] != '.';
         i++) {
        if (!tg_is_digit(text->data[i])) {
            return 0;
        }

        *number = *number * 10 + (size_t) (text->data[i] - '0');
    }

    if (i == 0 || i == text->len || text->data[i] != '.') {
        return 0;
    }

    *text = tg_str_skip(*text, i + 1);

    return 1;
}

/* Reads +FOLDER.NUMBER.PATH, which is in memory that can be written. */
static int
tg_file_list_read_cursor(tg_file_list_page_t *page, tg_str_t cursor)
{
    if (cursor.len == 0 || cursor.data[0] != TG_CURSOR_OF_MORE) {
        return TG_LIMIT;
    }

    cursor = tg_str_skip(cursor, 1);

    if (!tg_file_list_read_number(&cursor, &page->folder)
        || !tg_file_list_read_number(&cursor, &page->nlisted)
        || page->folder > page->nfolders
        || tg_file_path_decode((char *) cursor.data, &cursor.len) != TG_OK)
    {
        return TG_LIMIT;
    }

    page->after = cursor;

    return TG_OK;
}

/* Sets the prefix from the path of a skill or directory, which is encoded. */
static void
tg_file_list_read_path(tg_file_list_page_t *page, char **at, tg_str_t raw)
{
    tg_str_t path;

    if (page->type < TG_FILE_LIST_SKILL) {
        return;
    }

    path = tg_file_list_copy(at, raw);
    *at += 1;

    if (raw.data == NULL
        || tg_file_path_decode((char *) path.data, &path.len) != TG_OK
        || path.len == 0
        || (page->type == TG_FILE_LIST_SKILL && !tg_skill_is_path(path)))
    {
        /* No path begins with a slash. */
        page->prefix = TG_STR("/");
        return;
    }

    if (page->type == TG_FILE_LIST_SKILL) {
        page->limit = 1;
    } else if (path.data[path.len - 1] != '/') {
        ((char *) path.data)[path.len++] = '/';
    }

    page->prefix = path;
}

static int
tg_file_list_read_strings(tg_file_list_call_t *call,
                          const tg_file_list_spec_t *spec, const char **why)
{
    tg_str_t cursor;
    char *at;
    int rc;

    call->memory = malloc(spec->folders.len + spec->cursor.len + spec->typed.len
                          + spec->path.len + 3);

    if (call->memory == NULL) {
        return TG_NOMEM;
    }

    at = call->memory;
    call->page.prefix = tg_file_list_copy(&at, spec->typed);
    call->page.is_text = spec->typed.data != NULL;
    tg_file_list_read_path(&call->page, &at, spec->path);
    rc = tg_file_list_read_folders(&call->page, spec->folders, &at, why);

    if (rc != TG_OK || spec->cursor.data == NULL) {
        return rc;
    }

    cursor = tg_file_list_copy(&at, spec->cursor);
    *why = "has a cursor that is not from this list";

    return tg_file_list_read_cursor(&call->page, cursor);
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
    call->page.type = (tg_file_list_type_t) spec.type;
    call->page.limit = spec.type == TG_FILE_LIST_SKILLS
                           ? TG_FILE_LIST_SKILLS_MAX
                           : (size_t) spec.limit;
    call->page.max_output = (size_t) spec.max_output;
    tg_file_list_page_begin(&call->page);
    job->work = call;
    rc = tg_file_list_read_strings(call, &spec, why);

    if (rc != TG_OK) {
        tg_file_list_free(job);
        job->work = NULL;
    }

    return rc;
}

/* --- functions of the job type --- */

static int
tg_file_list_start(tg_job_t *job)
{
    tg_file_list_call_t *call;

    call = job->work;
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
