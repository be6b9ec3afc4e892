/*
 * What the files of the watcher share; all but tg_watcher.c is of its thread.
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
    tg_watched_folder_t *next; /* of the same slot */
    int wd;
    size_t nfiles; /* that are known in it */
    size_t len;
    char path[];
};

typedef struct {
    tg_rule_t *rule;
    tg_str_t root;      /* the folder that is watched */
    tg_str_t file_name; /* the one file in it; empty: all, and folders */
    int is_missing;
    tg_name_set_t changed_files; /* the mark: it was there before */
    int is_incomplete;           /* there is more than is known */
    uint64_t burst_started_at;   /* ms; 0: nothing has happened */
    uint64_t last_change_at;
} tg_watcher_rule_t;

/* What the loop is to hear. */
struct tg_watcher_message_s {
    STAILQ_ENTRY(tg_watcher_message_s) next;
    tg_buf_t id; /* empty: text is for the log */
    int64_t at;
    tg_buf_t text;
};

struct tg_watcher_s {
    uv_thread_t thread;
    int has_thread;
    uv_async_t async;
    const tg_watcher_ops_t *ops;
    void *host;
    char *text; /* the rules, raw */
    size_t len;
    int wake_fd; /* an eventfd */

    uv_mutex_t mutex; /* of these */
    STAILQ_HEAD(tg_watcher_messages_s, tg_watcher_message_s) messages;
    tg_watcher_stats_t stats;
    int is_ending;
    int has_ended;

    /* of the thread */
    int fd; /* -1: inotify is to be had again */
    tg_watcher_rule_t *rules;
    unsigned nrules;
    tg_watched_folder_t *slots[TG_WATCHER_FOLDER_SLOTS];
    unsigned nfolders;
    tg_name_set_t files; /* the full paths of those that are there */
    int is_scanning;     /* for the first time: nothing has happened */
    int is_full;         /* which was said */
};

/* --- tg_watcher_message.c --- */

/* ms that never go back. */
uint64_t tg_watcher_get_time_ms(void);

/* Is it to end? */
int tg_watcher_is_ending(tg_watcher_t *watcher);

/* Leaves something for the loop; id is empty, and the text for the log. */
void tg_watcher_post_message(tg_watcher_t *watcher, tg_str_t id, int64_t at,
                             tg_str_t text);
void tg_watcher_message_free(tg_watcher_message_t *message);

/* --- tg_watcher_tree.c --- */

/* Opens inotify and what is missing: 0, or there is something missing. */
int tg_watcher_add_missing_roots(tg_watcher_t *watcher);

/* Reads what the kernel says. */
void tg_watcher_read_events(tg_watcher_t *watcher);

void tg_watcher_close_tree(tg_watcher_t *watcher);

/* --- tg_watcher_burst.c --- */

/* The part of a path below the rule's folder; absent: it is none of its. */
tg_str_t tg_watcher_rule_strip_root(const tg_watcher_rule_t *rule,
                                    tg_str_t path);

/* A file is or was there, of which something has happened. */
void tg_watcher_mark_changed(tg_watcher_t *watcher, tg_str_t path,
                             int was_there);

/* Events were lost: each rule hears of it. */
void tg_watcher_mark_events_lost(tg_watcher_t *watcher);

/* Tells of what is over; how long to wait for the next, or -1. */
int tg_watcher_post_due_bursts(tg_watcher_t *watcher);

#endif
