/*
 * Internal header of the watcher. All functions run in the watcher's thread,
 * except those of tg_watcher.c that the loop calls.
 */
#ifndef TG_WATCHER_IMPL_H
#define TG_WATCHER_IMPL_H

#include "rule/tg_rule.h"
#include "tasks/watch/tg_name_set.h"
#include "tasks/watch/tg_watcher.h"

#include <sys/queue.h>

#define TG_WATCHER_FOLDER_SLOTS 4096

typedef struct tg_watched_folder_s tg_watched_folder_t;
typedef struct tg_watcher_message_s tg_watcher_message_t;

struct tg_watched_folder_s {
    tg_watched_folder_t *next; /* next folder of the slot */
    int wd;                    /* watch descriptor of inotify */
    size_t nfiles;             /* number of known files in the folder */
    size_t len;
    char path[];
};

typedef struct {
    tg_rule_t *rule;
    tg_str_t root; /* the watched folder, owned */
    /* the only watched file; empty: all files */
    tg_str_t file_name;
    int is_missing;              /* the folder does not exist */
    tg_name_set_t changed_files; /* flag: the file existed before the burst */
    int is_incomplete;           /* some changes were lost */
    uint64_t burst_started_at;   /* monotonic time in ms; 0: no burst */
    uint64_t last_change_at;     /* monotonic time in ms */
} tg_watcher_rule_t;

/* A message from the thread to the loop. */
struct tg_watcher_message_s {
    STAILQ_ENTRY(tg_watcher_message_s) next;
    tg_buf_t id; /* id of the rule; empty: `text` is logged */
    int64_t at;  /* Unix time of the last change, in ms */
    tg_buf_t text;
};

struct tg_watcher_s {
    uv_thread_t thread;
    int has_thread;
    uv_async_t async;
    const tg_watcher_ops_t *ops;
    void *host;
    char *text; /* raw rules, owned */
    size_t len;
    int wake_fd; /* eventfd that wakes the thread */

    uv_mutex_t mutex; /* protects the next four members */
    STAILQ_HEAD(tg_watcher_messages_s, tg_watcher_message_s) messages;
    tg_watcher_stats_t stats;
    int is_ending;
    int has_ended;

    /* Used only in the thread. */
    int fd; /* inotify; -1: must be opened */
    tg_watcher_rule_t *rules;
    unsigned nrules;
    tg_watched_folder_t *slots[TG_WATCHER_FOLDER_SLOTS];
    unsigned nfolders;
    tg_name_set_t files; /* full paths of the existing files */
    int is_scanning;     /* during a scan, files are not changes */
    int is_full;         /* an error was logged; others are not */
};

/* --- tg_watcher_message.c --- */

/* Returns the monotonic time in ms, which is never 0. */
uint64_t tg_watcher_get_time_ms(void);

int tg_watcher_is_ending(tg_watcher_t *watcher);

/*
 * Sends the loop changes of the rule `id`, or a text for the log if `id` is
 * empty. Without memory, drops the message.
 */
void tg_watcher_post_message(tg_watcher_t *watcher, tg_str_t id, int64_t at,
                             tg_str_t text);
void tg_watcher_message_free(tg_watcher_message_t *message);

/* --- tg_watcher_tree.c --- */

/*
 * Opens inotify and watches missing folders. Returns 1 if one is still missing,
 * else 0.
 */
int tg_watcher_add_missing_roots(tg_watcher_t *watcher);

void tg_watcher_read_events(tg_watcher_t *watcher);

/* Frees all folders and files, and closes inotify. */
void tg_watcher_close_tree(tg_watcher_t *watcher);

/* --- tg_watcher_burst.c --- */

/* Returns the path below the rule's folder; absent if the path is elsewhere. */
tg_str_t tg_watcher_rule_strip_root(const tg_watcher_rule_t *rule,
                                    tg_str_t path);

/* Records a change of a file for the matching rules, unless during a scan. */
void tg_watcher_mark_changed(tg_watcher_t *watcher, tg_str_t path,
                             int was_there);

/* Records for each rule that changes were lost. */
void tg_watcher_mark_events_lost(tg_watcher_t *watcher);

/*
 * Reports the bursts that are due. Returns the time until the next, in ms, or
 * -1.
 */
int tg_watcher_post_due_bursts(tg_watcher_t *watcher);

#endif
