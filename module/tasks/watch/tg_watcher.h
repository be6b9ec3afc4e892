/*
 * Files, watched for rules by inotify: a thread of its own, as to look
 * through folders may wait for a disk.  The loop hears of what it finds.
 *
 * A folder is watched with all below it, but for those of version control
 * (.git, .hg, .svn); symbolic links are files.  What happens to a file within
 * debounceMs is one thing: it was created, changed or deleted, as it is seen
 * from before and after.  A rule hears of all its files at once, when none of
 * them changes any more, or after TG_WATCHER_DEBOUNCES_MAX times debounceMs.
 *
 *   tg_watcher.c        the thread
 *   tg_watcher_message.c   its messages
 *   tg_watcher_tree.c   folders, and what the kernel says of them
 *   tg_watcher_burst.c  what has happened to the files of a rule
 */
#ifndef TG_WATCHER_H
#define TG_WATCHER_H

#include "base/tg_buf.h"

#include <uv.h>

/* Folders and files that are known; and of one burst. */
#define TG_WATCHER_FOLDERS_MAX 100000
#define TG_WATCHER_FILES_MAX 1000000
#define TG_WATCHER_CHANGED_MAX 100000
/* Files that an event names. */
#define TG_WATCHER_NAMED_MAX 100
#define TG_WATCHER_DEBOUNCES_MAX 10
/* Until a folder that is not there is looked for again. */
#define TG_WATCHER_RETRY_MS 1000

typedef struct tg_watcher_s tg_watcher_t;

typedef struct {
    unsigned nrules;
    unsigned nfolders;
    unsigned nmissing; /* rules whose folder is not there */
    uint64_t nfiles;
    uint64_t nevents; /* that rules heard of */
    int is_ready;     /* all has been looked through once */
} tg_watcher_stats_t;

typedef struct {
    /*
     * Files of the rule of this id, the last one at that time, ms; payload is
     * of its event, JSON.
     */
    void (*on_files_changed)(void *host, tg_str_t id, int64_t at,
                             tg_str_t payload);

    /* It is gone, after tg_watcher_close(). */
    void (*closed)(void *host);
} tg_watcher_ops_t;

/*
 * Watches for rules with files, an array of their JSON: NULL: no memory, or
 * there is no thread to be had.
 */
tg_watcher_t *tg_watcher_new(uv_loop_t *loop, tg_str_t rules,
                             const tg_watcher_ops_t *ops, void *host);

/* Is it for these very rules? */
int tg_watcher_has_rules(const tg_watcher_t *watcher, tg_str_t rules);

/* How many there are of each, as the thread has said last. */
void tg_watcher_get_stats(tg_watcher_t *watcher, tg_watcher_stats_t *stats);

/* Nothing more is heard of it, but that it is closed. */
void tg_watcher_close(tg_watcher_t *watcher);

#endif
