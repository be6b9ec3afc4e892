#include "runner/spill/tg_spill_job.h"

#include "base/tg_json.h"
#include "runner/spill/tg_spill.h"
#include "runner/spill/tg_spill_search.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TG_SPILL_TIMEOUT 60000

enum {
    TG_SPILL_OWNER,
    TG_SPILL_ARGUMENTS
};

static const char *const tg_spill_members[] = { "owner", "arguments", NULL };

enum {
    TG_SPILL_ARG_OUTPUT,
    TG_SPILL_ARG_LINE,
    TG_SPILL_ARG_LINES,
    TG_SPILL_ARG_OFFSET,
    TG_SPILL_ARG_BYTES,
    TG_SPILL_ARG_PATTERN,
    TG_SPILL_ARGS
};

static const char *const tg_spill_args[] = {
    "output", "line", "lines", "offset", "bytes", "pattern", NULL,
};

typedef struct {
    tg_thread_work_t work; /* first: it is this */
    tg_job_t *job;
    char *memory; /* of the texts */
    char *owner;
    char *key;
    tg_spill_query_t query;

    /* Of the threads, until the work is done. */
    atomic_int is_stopped;
    int fd;
    int rc;
    void *map; /* the file; MAP_FAILED until the first time slice */
    size_t size;
    tg_spill_search_t *search; /* NULL: lines or bytes are asked for */
    tg_buf_t page;
    tg_buf_t remark;
} tg_spill_job_t;

/* --- what is asked for --- */

static int
tg_spill_numbers(tg_spill_query_t *query, const tg_str_t *args)
{
    query->line = 1;
    query->lines = INT64_MAX;
    query->offset = -1;
    query->bytes = TG_SPILL_PAGE;

    return tg_job_number(args[TG_SPILL_ARG_LINE], 1, INT64_MAX, &query->line)
                       == TG_OK
                   && tg_job_number(args[TG_SPILL_ARG_LINES], 1, INT64_MAX,
                                    &query->lines)
                          == TG_OK
                   && tg_job_number(args[TG_SPILL_ARG_OFFSET], 0, INT64_MAX,
                                    &query->offset)
                          == TG_OK
                   && tg_job_number(args[TG_SPILL_ARG_BYTES], 4,
                                    TG_SPILL_PAGE_MAX, &query->bytes)
                          == TG_OK
               ? TG_OK
               : TG_BAD;
}

static int
tg_spill_texts(tg_spill_job_t *spill, tg_str_t owner, tg_str_t key,
               tg_str_t pattern)
{
    char *at;

    spill->query.pattern = TG_STR_NONE;
    spill->memory = malloc(owner.len + key.len + pattern.len);

    if (spill->memory == NULL) {
        return TG_NOMEM;
    }

    at = spill->memory;

    if (tg_job_string(&at, owner, &spill->owner) != TG_OK
        || tg_job_string(&at, key, &spill->key) != TG_OK)
    {
        return TG_BAD;
    }

    /* It may search for a NUL. */
    if (pattern.data != NULL) {
        spill->query.pattern = tg_str(at, tg_json_decode(at, tg_json_body(
                                                                 pattern)));
    }

    return TG_OK;
}

static void
tg_spill_free(tg_job_t *job)
{
    tg_spill_job_t *spill;

    spill = job->work;

    if (spill->search != NULL) {
        tg_spill_search_free(spill->search);
    }

    if (spill->map != MAP_FAILED) {
        (void) munmap(spill->map, spill->size);
    }

    if (spill->fd != -1) {
        (void) close(spill->fd);
    }

    tg_buf_deinit(&spill->page);
    tg_buf_deinit(&spill->remark);
    free(spill->memory);
    free(spill);
}

static int
tg_spill_job_read(tg_job_t *job, const tg_str_t *values, const char **why)
{
    tg_str_t args[TG_SPILL_ARGS];
    tg_spill_job_t *spill;
    int rc;

    *why = "owner must be a string, arguments an object in which output is a "
           "string, line, lines and offset are numbers, bytes one from 4 to "
           "1048576, and pattern a string";

    if (!tg_job_is_string(values[TG_SPILL_OWNER])
        || values[TG_SPILL_OWNER].data == NULL
        || tg_json_type(values[TG_SPILL_ARGUMENTS]) != TG_JSON_OBJECT
        || tg_json_members(values[TG_SPILL_ARGUMENTS], tg_spill_args, args)
               != TG_OK
        || args[TG_SPILL_ARG_OUTPUT].data == NULL
        || !tg_job_is_string(args[TG_SPILL_ARG_OUTPUT])
        || !tg_job_is_string(args[TG_SPILL_ARG_PATTERN]))
    {
        return TG_BAD;
    }

    spill = calloc(1, sizeof(*spill));

    if (spill == NULL) {
        return TG_NOMEM;
    }

    spill->job = job;
    spill->fd = -1;
    spill->map = MAP_FAILED;
    tg_buf_init(&spill->page, tg_alloc_libc());
    tg_buf_init(&spill->remark, tg_alloc_libc());
    rc = tg_spill_numbers(&spill->query, args);

    if (rc == TG_OK) {
        rc = tg_spill_texts(spill, values[TG_SPILL_OWNER],
                            args[TG_SPILL_ARG_OUTPUT],
                            args[TG_SPILL_ARG_PATTERN]);
    }

    job->work = spill;

    if (rc != TG_OK) {
        tg_spill_free(job);
        job->work = NULL;
    }

    return rc;
}

/* --- in a thread --- */

static tg_spill_job_t *
tg_spill_of_work(tg_thread_work_t *work)
{
    return (tg_spill_job_t *) work;
}

/* The text of the output, in the first time slice.  0, or -1: no memory. */
static int
tg_spill_map(tg_spill_job_t *spill, tg_str_t *text)
{
    struct stat file;

    *text = TG_STR("");

    if (fstat(spill->fd, &file) == -1) {
        return -1;
    }

    if (file.st_size == 0) {
        return 0;
    }

    /* Nobody shortens it: it is removed, and then is there until we close. */
    spill->size = (size_t) file.st_size;
    spill->map = mmap(NULL, spill->size, PROT_READ, MAP_SHARED, spill->fd, 0);

    if (spill->map == MAP_FAILED) {
        return -1;
    }

    *text = tg_str(spill->map, spill->size);

    return 0;
}

/* As tg_spill_search_run(). */
static int
tg_spill_begin_page(tg_spill_job_t *spill)
{
    tg_str_t text;

    if (tg_spill_map(spill, &text) == -1) {
        return TG_NOMEM;
    }

    if (spill->query.pattern.data == NULL) {
        tg_spill_page(text, &spill->query, &spill->page, &spill->remark);
        return TG_OK;
    }

    spill->search = tg_spill_search_new(text, &spill->query, &spill->page,
                                        &spill->remark);

    if (spill->search == NULL) {
        return spill->remark.len != 0 ? TG_BAD : TG_NOMEM;
    }

    return tg_spill_search_run(spill->search);
}

static int
tg_spill_on_work(tg_thread_work_t *work)
{
    tg_spill_job_t *spill;

    spill = tg_spill_of_work(work);

    /* Nobody waits for it any more. */
    if (atomic_load(&spill->is_stopped)) {
        return 0;
    }

    spill->rc = spill->search != NULL ? tg_spill_search_run(spill->search)
                                      : tg_spill_begin_page(spill);

    return spill->rc == TG_AGAIN;
}

/* --- its end --- */

static void
tg_spill_answer(tg_spill_job_t *spill)
{
    tg_outcome_t outcome;
    tg_buf_t result, json;
    tg_ran_t ran;

    ran = tg_job_ran(spill->job);
    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_text(&result, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_put_string(&result, tg_buf_view(&spill->page));
    tg_buf_text(&result, "},{\"type\":\"text\",\"text\":");
    tg_json_put_string(&result, tg_buf_view(&spill->remark));
    tg_buf_text(&result, "}],\"isError\":false}");
    outcome = tg_outcome_of(TG_OUTCOME_RESULT, tg_buf_view(&result));

    if (spill->rc == TG_BAD) {
        outcome = tg_outcome_failed(TG_FAILURE_ARGUMENTS,
                                    tg_buf_view(&spill->remark));
    } else if (spill->rc != TG_OK || tg_buf_failed(&spill->page)
               || tg_buf_failed(&result))
    {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
    }

    tg_answer_put_output(&json, &outcome, &spill->job->params, &ran);
    tg_job_answer(spill->job, &json);
    tg_buf_deinit(&result);
    tg_buf_deinit(&json);
}

static void
tg_spill_on_done(tg_thread_work_t *work)
{
    tg_spill_job_t *spill;
    tg_job_t *job;

    spill = tg_spill_of_work(work);
    job = spill->job;

    if (job->state == TG_JOB_RUNNING) {
        tg_job_ended(job);
        tg_spill_answer(spill);
    }

    tg_job_done(job);
    tg_job_closed(job);
}

/* Queues the work for the threads, which the first page starts. */
static int
tg_spill_queue(tg_spill_job_t *spill, tg_spills_t *spills)
{
    if (spills->threads == NULL) {
        spills->threads = tg_threads_new(spill->job->jobs->loop);
    }

    if (spills->threads == NULL) {
        tg_job_fail(spill->job, TG_FAILURE_INTERNAL, TG_RUNNER_NO_MEMORY);
        return -1;
    }

    if (tg_threads_add(spills->threads, &spill->work) != 0) {
        tg_job_fail(spill->job, TG_FAILURE_BUSY,
                    "%d large outputs are being read already; call the tool "
                    "again later.",
                    TG_THREADS_WORKS_MAX);
        return -1;
    }

    return 0;
}

static int
tg_spill_start(tg_job_t *job)
{
    tg_spill_job_t *spill;

    spill = job->work;
    spill->fd = tg_spills_open(job->host, spill->owner, spill->key);

    if (spill->fd == -1) {
        tg_job_fail(job, TG_FAILURE_PROGRAM,
                    "There is no output \"%.64s\" for you: it has been removed "
                    "after its time, or for newer ones. Call the tool again.",
                    spill->key);
        return -1;
    }

    spill->work.run = tg_spill_on_work;
    spill->work.done = tg_spill_on_done;
    atomic_init(&spill->is_stopped, 0);

    if (tg_spill_queue(spill, job->host) != 0) {
        return -1;
    }

    tg_job_opened(job);

    return 0;
}

/* The threads look at it before the next time slice. */
static void
tg_spill_stop(tg_job_t *job)
{
    tg_spill_job_t *spill;

    spill = job->work;
    atomic_store(&spill->is_stopped, 1);
}

const tg_kind_t tg_spill_kind = {
    .name = "output",
    .members = tg_spill_members,
    .timeout_ms = TG_SPILL_TIMEOUT,
    .read = tg_spill_job_read,
    .start = tg_spill_start,
    .stop = tg_spill_stop,
    .free = tg_spill_free,
};
