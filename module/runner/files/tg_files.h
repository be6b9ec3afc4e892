/*
 * What all jobs about files share: threads, in which the disk is read. They are
 * not those that search stored outputs (runner/output/), so a disk that does
 * not answer holds up files only.
 */
#ifndef TG_FILES_H
#define TG_FILES_H

#include "runner/jobs/tg_job.h"
#include "runner/jobs/tg_thread_pool.h"

typedef struct {
    uv_loop_t *loop;
    tg_thread_pool_t *threads; /* NULL until the first work */
} tg_files_t;

extern const tg_job_type_t tg_file_job_type;      /* `file`: reads a file */
extern const tg_job_type_t tg_file_list_job_type; /* `files`: lists a folder */
extern const tg_job_type_t tg_messages_job_type;  /* `messages`: of a prompt */

void tg_files_init(tg_files_t *files, uv_loop_t *loop);

/* Ends the threads. No work may be left. */
void tg_files_close(tg_files_t *files);

/* Queues the work of a job. Returns -1 after it has failed the call. */
int tg_files_add_work(tg_files_t *files, tg_job_t *job, tg_thread_work_t *work);

/*
 * Returns the failure of a job whose file or folder cannot be opened or read,
 * and logs the path if the operator must act. `unknown` is the failure if it
 * does not exist. The message names no path.
 */
tg_outcome_t tg_files_make_failure(const tg_job_t *job, int err,
                                   const char *path, tg_failure_t unknown,
                                   tg_buf_t *text);

#endif
