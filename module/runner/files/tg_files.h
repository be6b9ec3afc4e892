/*
 * What all jobs about files share: threads, in which the disk is read. They are
 * not those that search stored outputs (runner/output/), so a disk that does
 * not answer holds up files only.
 */
#ifndef TG_FILES_H
#define TG_FILES_H

#include "runner/jobs/tg_job.h"
#include "runner/jobs/tg_thread_pool.h"
#include "spec/tg_file_spec.h"

/* Reasons why skills are left out that are not logged again. */
#define TG_FILES_ISSUES_MAX 256

typedef struct {
    uv_loop_t *loop;
    tg_thread_pool_t *threads; /* NULL until the first work */

    /* Watched files (tg_file_watch.c), and how they are watched. */
    LIST_HEAD(tg_file_watch_list_s, tg_file_watch_s) watches;
    unsigned nwatches;
    struct tg_file_inotify_s *inotify; /* NULL: no file is watched */
    unsigned nchecks; /* watches that are being checked in a thread */
    uint64_t nevents; /* events that were read */
    struct tg_file_watch_folder_s *folders;

    unsigned nlist_watches; /* watched lists (tg_file_list_watch.c) */

    /* Hashes of why skills are left out, as the log has it, the last ones. */
    uint64_t issues[TG_FILES_ISSUES_MAX];
    unsigned nissues;
} tg_files_t;

extern const tg_job_type_t tg_file_job_type;      /* `file`: reads a file */
extern const tg_job_type_t tg_file_list_job_type; /* `files`: lists a folder */

/* `file_watch`: waits for a change of a file */
extern const tg_job_type_t tg_file_watch_job_type;

/* `files_watch`: waits for a change of a list of files */
extern const tg_job_type_t tg_file_list_watch_job_type;
extern const tg_job_type_t tg_messages_job_type; /* `messages`: of a prompt */

void tg_files_init(tg_files_t *files, uv_loop_t *loop);

/* Ends the threads. No work may be left. */
void tg_files_close(tg_files_t *files);

/* Queues the work of a job. Returns -1 after it has failed the call. */
int tg_files_add_work(tg_files_t *files, tg_job_t *job, tg_thread_work_t *work);

/*
 * Decodes the path of a file to *at like tg_param_read_string() and checks it.
 * TG_OK, TG_INVALID or TG_LIMIT with *why, static.
 */
int tg_files_read_path(char **at, const tg_file_spec_t *spec, char **path,
                       const char **why);

/* Reads a version, 16 hexadecimal digits; 0 if absent. TG_OK, TG_INVALID. */
int tg_files_read_version(tg_str_t raw, uint64_t *version);

/*
 * Sends the version of a file or of a list as the result of a job, and the time
 * of its last change in ns, unless that is 0.
 */
void tg_files_respond_version(tg_job_t *job, uint64_t version,
                              uint64_t changed);

/*
 * Returns the failure of a job whose file or folder cannot be opened or read,
 * and logs the path if the operator must act. `unknown` is the failure if it
 * does not exist. The message names no path.
 */
tg_outcome_t tg_files_make_failure(const tg_job_t *job, int err,
                                   const char *path, tg_failure_t unknown,
                                   tg_buf_t *text);

#endif
