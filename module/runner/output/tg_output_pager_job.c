/* Reads a page of a stored output in a thread of the pool. */
#include "runner/output/tg_output_pager_job.h"

#include "base/tg_json.h"
#include "runner/output/tg_output_store.h"
#include "runner/output/tg_output_search.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_OUTPUT_PAGER_TIMEOUT 60000

#define TG_OUTPUT_PAGER_ERROR                                                  \
    "owner must be a string; arguments an object with output (a string), "     \
    "line, lines and offset (numbers), bytes (4 to 1048576) and pattern "      \
    "(a string)"

typedef struct {
    tg_str_t owner;
    tg_str_t arguments;
} tg_output_pager_params_t;

static const tg_json_field_t tg_output_pager_fields[] = {
    { .name = "owner",
      .type = TG_FIELD_STRING,
      .is_required = 1,
      TG_FIELD_AT(tg_output_pager_params_t, owner),
      .why = TG_OUTPUT_PAGER_ERROR },
    { .name = "arguments",
      .type = TG_FIELD_OBJECT,
      .is_required = 1,
      TG_FIELD_AT(tg_output_pager_params_t, arguments),
      .why = TG_OUTPUT_PAGER_ERROR },
    { .name = NULL },
};

typedef struct {
    tg_str_t output;
    tg_str_t pattern;
    tg_output_page_query_t query; /* without the pattern */
} tg_output_pager_args_t;

#define TG_OUTPUT_PAGER_AT(member) TG_FIELD_AT(tg_output_pager_args_t, member)

static const tg_json_field_t tg_output_pager_arg_fields[] = {
    { .name = "output",
      .type = TG_FIELD_STRING,
      .is_required = 1,
      TG_OUTPUT_PAGER_AT(output) },
    { .name = "pattern", .type = TG_FIELD_STRING, TG_OUTPUT_PAGER_AT(pattern) },
    { .name = "line",
      .type = TG_FIELD_INT,
      .min = 1,
      .max = INT64_MAX,
      .absent = 1,
      TG_OUTPUT_PAGER_AT(query.line) },
    { .name = "lines",
      .type = TG_FIELD_INT,
      .min = 1,
      .max = INT64_MAX,
      .absent = INT64_MAX,
      TG_OUTPUT_PAGER_AT(query.lines) },
    { .name = "offset",
      .type = TG_FIELD_INT,
      .max = INT64_MAX,
      .absent = -1,
      TG_OUTPUT_PAGER_AT(query.offset) },
    { .name = "bytes",
      .type = TG_FIELD_INT,
      .min = 4,
      .max = TG_OUTPUT_PAGE_BYTES_MAX,
      .absent = TG_OUTPUT_PAGE_BYTES,
      TG_OUTPUT_PAGER_AT(query.bytes) },
    { .name = NULL },
};

typedef struct {
    tg_thread_work_t work; /* must be first: the work is cast to its pager */
    tg_job_t *job;
    char *memory; /* buffer of owner, key and pattern */
    char *owner;
    char *key;
    tg_output_page_query_t query;

    /* Used by the threads until the work is done. */
    atomic_int is_stopped;
    int fd;
    int rc;
    void *map; /* mapped file; MAP_FAILED until the first time slice */
    size_t size;
    tg_output_search_t *search; /* NULL: the query has no pattern */
    tg_buf_t page;
    tg_buf_t remark;
} tg_output_pager_t;

/* --- params --- */

static int
tg_output_pager_read_strings(tg_output_pager_t *pager, tg_str_t owner,
                             tg_str_t key, tg_str_t pattern)
{
    char *at;

    pager->query.pattern = TG_STR_NONE;
    pager->memory = malloc(owner.len + key.len + pattern.len);

    if (pager->memory == NULL) {
        return TG_NOMEM;
    }

    at = pager->memory;

    if (tg_param_read_string(&at, owner, &pager->owner) != TG_OK
        || tg_param_read_string(&at, key, &pager->key) != TG_OK)
    {
        return TG_INVALID;
    }

    /* A pattern may contain a NUL. */
    if (pattern.data != NULL) {
        pager->query.pattern = tg_str(
            at, tg_json_unescape(at, tg_json_string_body(pattern)));
    }

    return TG_OK;
}

static void
tg_output_pager_free(tg_job_t *job)
{
    tg_output_pager_t *pager;

    pager = job->work;

    if (pager->search != NULL) {
        tg_output_search_free(pager->search);
    }

    if (pager->map != MAP_FAILED) {
        (void) munmap(pager->map, pager->size);
    }

    if (pager->fd != -1) {
        (void) close(pager->fd);
    }

    tg_buf_deinit(&pager->page);
    tg_buf_deinit(&pager->remark);
    free(pager->memory);
    free(pager);
}

static int
tg_output_pager_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_output_pager_params_t params;
    tg_output_pager_args_t args;
    tg_output_pager_t *pager;
    int rc;

    *why = TG_OUTPUT_PAGER_ERROR;
    memset(&args, 0, sizeof(args));

    if (tg_json_store_fields(tg_output_pager_fields, values, &params, why)
            != TG_OK
        || tg_json_read_fields(tg_output_pager_arg_fields, params.arguments,
                               &args, why)
               != TG_OK)
    {
        return TG_INVALID;
    }

    pager = calloc(1, sizeof(*pager));

    if (pager == NULL) {
        return TG_NOMEM;
    }

    pager->job = job;
    pager->fd = -1;
    pager->map = MAP_FAILED;
    tg_buf_init(&pager->page, tg_alloc_libc());
    tg_buf_init(&pager->remark, tg_alloc_libc());
    pager->query = args.query;
    rc = tg_output_pager_read_strings(pager, params.owner, args.output,
                                      args.pattern);
    job->work = pager;

    if (rc != TG_OK) {
        tg_output_pager_free(job);
        job->work = NULL;
    }

    return rc;
}

/* --- functions of the threads --- */

static tg_output_pager_t *
tg_output_pager_from_work(tg_thread_work_t *work)
{
    return (tg_output_pager_t *) work;
}

/* Maps the output in the first time slice. Returns 0, or -1 on failure. */
static int
tg_output_pager_map_file(tg_output_pager_t *pager, tg_str_t *text)
{
    struct stat file;

    *text = TG_STR("");

    if (fstat(pager->fd, &file) == -1) {
        return -1;
    }

    if (file.st_size == 0) {
        return 0;
    }

    /* Nothing truncates the file. If removed, it exists until it is closed. */
    pager->size = (size_t) file.st_size;
    pager->map = mmap(NULL, pager->size, PROT_READ, MAP_SHARED, pager->fd, 0);

    if (pager->map == MAP_FAILED) {
        return -1;
    }

    *text = tg_str(pager->map, pager->size);

    return 0;
}

/* Begins the page. Returns the codes of tg_output_search_run(). */
static int
tg_output_pager_begin_page(tg_output_pager_t *pager)
{
    tg_str_t text;

    if (tg_output_pager_map_file(pager, &text) == -1) {
        return TG_NOMEM;
    }

    if (pager->query.pattern.data == NULL) {
        tg_output_page_append(text, &pager->query, &pager->page,
                              &pager->remark);
        return TG_OK;
    }

    pager->search = tg_output_search_new(text, &pager->query, &pager->page,
                                         &pager->remark);

    if (pager->search == NULL) {
        return pager->remark.len != 0 ? TG_INVALID : TG_NOMEM;
    }

    return tg_output_search_run(pager->search);
}

static int
tg_output_pager_on_work(tg_thread_work_t *work)
{
    tg_output_pager_t *pager;

    pager = tg_output_pager_from_work(work);

    /* The job was cancelled: end without another slice. */
    if (atomic_load(&pager->is_stopped)) {
        return 0;
    }

    pager->rc = pager->search != NULL ? tg_output_search_run(pager->search)
                                      : tg_output_pager_begin_page(pager);

    return pager->rc == TG_AGAIN;
}

/* --- end of the job --- */

static void
tg_output_pager_respond(tg_output_pager_t *pager)
{
    tg_outcome_t outcome;
    tg_buf_t result, json;
    tg_run_stats_t stats;

    stats = tg_job_get_run_stats(pager->job);
    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_cstr(&result, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_write_string(&result, tg_buf_view(&pager->page));
    tg_buf_append_cstr(&result, "},{\"type\":\"text\",\"text\":");
    tg_json_write_string(&result, tg_buf_view(&pager->remark));
    tg_buf_append_cstr(&result, "}],\"isError\":false}");
    outcome = tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(&result));

    if (pager->rc == TG_INVALID) {
        outcome = tg_outcome_make_failure_str(TG_FAILURE_ARGUMENTS,
                                              tg_buf_view(&pager->remark));
    } else if (pager->rc != TG_OK || tg_buf_has_failed(&pager->page)
               || tg_buf_has_failed(&result))
    {
        outcome = tg_outcome_make_failure(TG_FAILURE_INTERNAL,
                                          TG_RUNNER_NO_MEMORY);
    }

    tg_job_result_write_output(&json, &outcome, &pager->job->params, &stats);
    tg_job_respond(pager->job, &json);
    tg_buf_deinit(&result);
    tg_buf_deinit(&json);
}

static void
tg_output_pager_on_done(tg_thread_work_t *work)
{
    tg_output_pager_t *pager;
    tg_job_t *job;

    pager = tg_output_pager_from_work(work);
    job = pager->job;

    if (job->state == TG_JOB_RUNNING) {
        tg_job_on_work_ended(job);
        tg_output_pager_respond(pager);
    }

    tg_job_set_done(job);
    tg_job_unref_handle(job);
}

/* Queues the work in the pool. Returns -1 after it has failed the call. */
static int
tg_output_pager_queue_work(tg_output_pager_t *pager,
                           tg_output_store_t *output_store)
{
    if (output_store->threads == NULL) {
        output_store->threads = tg_thread_pool_new(pager->job->jobs->loop);
    }

    if (output_store->threads == NULL) {
        tg_job_fail(pager->job, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
        return -1;
    }

    if (tg_thread_pool_add(output_store->threads, &pager->work) != 0) {
        tg_job_fail(pager->job, TG_FAILURE_BUSY,
                    "%d large outputs are being read already; call the tool "
                    "again later.",
                    TG_THREAD_POOL_WORKS_MAX);
        return -1;
    }

    return 0;
}

static int
tg_output_pager_start(tg_job_t *job)
{
    tg_output_pager_t *pager;

    pager = job->work;
    pager->fd = tg_output_store_open_output(job->host, pager->owner,
                                            pager->key);

    if (pager->fd == -1) {
        tg_job_fail(job, TG_FAILURE_PROGRAM,
                    "There is no output \"%.64s\" for you: it has expired, "
                    "or was removed to make room for newer ones. Call the "
                    "tool again.",
                    pager->key);
        return -1;
    }

    pager->work.run = tg_output_pager_on_work;
    pager->work.done = tg_output_pager_on_done;
    atomic_init(&pager->is_stopped, 0);

    if (tg_output_pager_queue_work(pager, job->host) != 0) {
        return -1;
    }

    tg_job_ref_handle(job);

    return 0;
}

/* Sets a flag that the threads check before each time slice. */
static void
tg_output_pager_stop(tg_job_t *job)
{
    tg_output_pager_t *pager;

    pager = job->work;
    atomic_store(&pager->is_stopped, 1);
}

const tg_job_type_t tg_output_pager_job_type = {
    .name = "output",
    .fields = tg_output_pager_fields,
    .timeout_ms = TG_OUTPUT_PAGER_TIMEOUT,
    .read = tg_output_pager_read,
    .start = tg_output_pager_start,
    .stop = tg_output_pager_stop,
    .free = tg_output_pager_free,
};
