/* What only the files about watching files know. */
#ifndef TG_FILE_WATCH_IMPL_H
#define TG_FILE_WATCH_IMPL_H

#include "runner/files/tg_file_filter.h"
#include "runner/files/tg_files.h"

/* Time from a change until the file is compared, in ms: writes take time. */
#define TG_FILE_WATCH_DELAY_MS 100

#define TG_FILE_WATCH_MASK                                                     \
    (IN_CREATE | IN_DELETE | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB            \
     | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF             \
     | IN_ONLYDIR)

/* A folder that inotify watches. */
typedef struct tg_file_watch_folder_s tg_file_watch_folder_t;

struct tg_file_watch_folder_s {
    tg_file_watch_folder_t *next;
    int wd;        /* watch descriptor */
    unsigned refs; /* number of watches */
};

/* Events of inotify. */
typedef struct tg_file_inotify_s {
    uv_poll_t poll;
    int fd;
    tg_files_t *files;
} tg_file_inotify_t;

typedef struct tg_file_watch_s {
    tg_thread_work_t work; /* must be first: the work is cast to its watch */
    tg_job_t *job;
    tg_files_t *files;
    LIST_ENTRY(tg_file_watch_s) link;
    tg_file_filter_t filter;
    char *memory; /* owns path and folder */
    char *path;
    char *folder;     /* absolute path of the file's folder */
    const char *name; /* name of the file, in `path` */
    uint64_t version; /* version that the caller knows; 0: none */
    uv_timer_t timer; /* time of the next check */
    int is_checking;  /* a thread compares the file */
    int is_ending;
    uint64_t nevents; /* files->nevents at the start of the check */
    tg_file_watch_folder_t *watched; /* NULL: inotify does not watch */

    /* Results of the thread. */
    int inotify;
    int wd; /* -1: cannot be watched */
    int is_link;
    uint64_t found;   /* version of the file */
    uint64_t changed; /* time of its last change, in ns; 0: not known */
} tg_file_watch_t;

/* --- tg_file_watch.c --- */

/*
 * Schedules the check of a watch in at most `delay` ms, unless it is being
 * checked.
 */
void tg_file_watch_schedule(tg_file_watch_t *watch, uint64_t delay);

/* --- tg_file_watch_inotify.c --- */

/* Opens inotify for the first watch. Without it, files are polled. */
void tg_files_open_inotify(tg_files_t *files);

/*
 * Removes folders of which no file is watched, and closes inotify after the
 * last watch. A thread may just be adding a folder: then this waits for it.
 */
void tg_files_sweep_watches(tg_files_t *files);

/* Sets the folder by which inotify watches the file; wd -1: none. */
void tg_file_watch_set_folder(tg_file_watch_t *watch, int wd);

#endif
