/*
 * Watches the files of rules with inotify, in a thread of its own, as scanning
 * folders may block on the disk. The thread reports changes to the loop.
 *
 * A folder is watched with all folders below it, except those of version
 * control (.git, .hg, .svn). A symbolic link counts as a file. The changes of a
 * file within debounceMs are combined into one: the file was created, changed
 * or deleted. The changes of all files of a rule are reported together when no
 * file has changed for debounceMs, or at the latest after
 * TG_WATCHER_DEBOUNCES_MAX times debounceMs.
 *
 *   tg_watcher.c          the thread
 *   tg_watcher_message.c  messages from the thread to the loop
 *   tg_watcher_tree.c     folders, and inotify events
 *   tg_watcher_burst.c    changes of the files of each rule
 */
#ifndef TG_WATCHER_H
#define TG_WATCHER_H

#include "base/tg_buf.h"

#include <uv.h>

/* Maximum number of watched folders. */
#define TG_WATCHER_FOLDERS_MAX 100000
/* Maximum number of known files. */
#define TG_WATCHER_FILES_MAX 1000000
/* Maximum number of changed files in one report. */
#define TG_WATCHER_CHANGED_MAX 100000
/* Maximum number of files that an event names. */
#define TG_WATCHER_NAMED_MAX 100
/* Maximum delay of a report, as a multiple of debounceMs. */
#define TG_WATCHER_DEBOUNCES_MAX 10
/* Interval of looking for missing folders, in ms. */
#define TG_WATCHER_RETRY_MS 1000

typedef struct tg_watcher_s tg_watcher_t;

typedef struct {
    unsigned nrules;
    unsigned nfolders;
    unsigned nmissing; /* number of rules whose folder is missing */
    uint64_t nfiles;
    uint64_t nevents; /* number of reports to rules */
    int is_ready;     /* the first scan is done */
} tg_watcher_stats_t;

typedef struct {
    /*
     * Reports changed files of the rule `id`: Unix time of the last change in
     * ms, and the event's payload as JSON.
     */
    void (*on_files_changed)(void *host, tg_str_t id, int64_t at,
                             tg_str_t payload);

    /* The watcher is freed, after tg_watcher_close(). */
    void (*closed)(void *host);
} tg_watcher_ops_t;

/*
 * Watches the files of `rules`, a JSON array. NULL: no memory or descriptor.
 * Without a thread, which is logged, the watcher reports nothing.
 */
tg_watcher_t *tg_watcher_new(uv_loop_t *loop, tg_str_t rules,
                             const tg_watcher_ops_t *ops, void *host);

/* Returns whether the watcher has exactly these rules. */
int tg_watcher_has_rules(const tg_watcher_t *watcher, tg_str_t rules);

/* Copies the thread's last numbers. */
void tg_watcher_get_stats(tg_watcher_t *watcher, tg_watcher_stats_t *stats);

/* Stops the watcher; only ops->closed() is called afterwards. */
void tg_watcher_close(tg_watcher_t *watcher);

#endif
