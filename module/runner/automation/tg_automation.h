/*
 * Automation: rules (rule/tg_rule.h) that make tasks, tell clients, or call
 * webhooks when something happens.  An engine has one where its config has
 * rules.
 *
 *   tg_automation_rule.c    its rules
 *   tg_execution.h          a rule that fires: what becomes of it
 *   tg_automation_event.c   what happens, and which rules are about it
 *   tg_automation_cron.c    when rules are due
 *   tg_automation_files.c   what becomes of files, from tg_watcher.h
 *   tg_automation_status.c  what is told of all this
 *   tg_automation.c         its life: config, what is kept of it, its ticks
 *   tg_automation_call.c    the methods
 *
 * What is kept beside the tasks, as notes (store/tg_store.h):
 *
 *   automation      {"enabled":false}
 *   rule/ID         {"enabled":false,"firedAt":…,"dueAt":…,"schedule":"…"}
 *   execution/ID    tg_execution_note.c
 */
#ifndef TG_AUTOMATION_H
#define TG_AUTOMATION_H

#include "rule/tg_rule.h"
#include "runner/task/tg_task_call.h"

/*
 * A rule's task that makes it fire again, and so on: so many are stopped.
 * Tasks say which of them they are; files that change while the rule's own
 * task runs, or just after, are taken for its doing.
 */
#define TG_AUTOMATION_CHAIN_MAX 10
#define TG_AUTOMATION_AFTER_MS 2000
/* Events that wait to be looked at. */
#define TG_AUTOMATION_EVENTS_MAX 1000
/* Bytes of events that rules have not been asked about. */
#define TG_AUTOMATION_EVENTS_BYTES 67108864
/* What was due so long ago was missed. */
#define TG_AUTOMATION_LATE_S 60
/* A clock that was put back further is looked at anew. */
#define TG_AUTOMATION_BACK_S 10800

/* Of a time slice, what a rule that is due counts as. */
#define TG_AUTOMATION_STEPS 8192

typedef struct tg_automation_s tg_automation_t;
typedef struct tg_execution_s tg_execution_t;
typedef struct tg_watcher_s tg_watcher_t;
typedef TAILQ_HEAD(tg_executions_s, tg_execution_s) tg_executions_t;

/* An event that some of the rules have not been asked about yet. */
typedef struct tg_event_s {
    TAILQ_ENTRY(tg_event_s) place;
    unsigned next; /* the next rule */
    unsigned chain;
    size_t len;
    char text[];
} tg_event_t;

typedef TAILQ_HEAD(tg_events_s, tg_event_s) tg_events_t;

/* What clients have said of a rule. */
typedef enum {
    TG_CHOICE_NONE,
    TG_CHOICE_OFF,
    TG_CHOICE_ON
} tg_choice_t;

typedef struct {
    tg_rule_t *rule;
    tg_choice_t choice;
    int64_t fired_at; /* ms; 0: never */

    /* cron */
    tg_zone_t *zone;   /* NULL: UTC */
    int64_t due_at;    /* s; 0: it is not */
    uint64_t schedule; /* a hash of its expression and zone */

    /* The last task that it made: of files. */
    int64_t task;     /* -1: none */
    int64_t ended_at; /* ms; 0: it waits or runs */
    int is_submitting;
    int is_queued;
    unsigned chain;
} tg_automation_rule_t;

struct tg_automation_s {
    tg_engine_t *engine;
    int64_t (*now)(void); /* ms of Unix time */
    char *text;           /* the rules, raw; owned */
    char generation[64];  /* of the config that they are from */
    tg_automation_rule_t *rules;
    unsigned nrules;
    unsigned nevents; /* of those, how many are about events */
    int is_enabled;
    int has_new;        /* the last config has rules that it had not before */
    int is_loaded;      /* what is kept was read */
    int is_loading;     /* that goes on */
    int64_t seen_at;    /* s: the last look at all rules */
    int64_t looking_at; /* s: the one under way */
    unsigned nlooked;   /* rules that it has looked at */
    tg_source_t source; /* waits while that goes on */
    uint64_t nnoted;    /* notes of rules that the store was asked to write */
    tg_store_ask_t load;
    tg_task_calls_t waiting;    /* for that */
    tg_executions_t executions; /* the newest last */
    unsigned nopen;
    unsigned nover;
    unsigned nasked;       /* events whose task is asked for */
    tg_events_t events;    /* the oldest first */
    size_t events_bytes;   /* of their texts */
    tg_source_t publisher; /* asks the rules about them */
    tg_buf_t backlog;      /* events that it did not hear yet: METHOD and ID */
    tg_watcher_t *watcher;
};

/* --- for the engine: a row each of tg_task_ops_t --- */

void tg_automation_configured(tg_engine_t *engine);
void tg_automation_opened(tg_engine_t *engine);
void tg_automation_tick(tg_engine_t *engine);
void tg_automation_happened(tg_engine_t *engine, const char *method,
                            tg_str_t params);
void tg_automation_dropped(tg_engine_t *engine);
void tg_automation_freed(tg_engine_t *engine);

/* --- the methods --- */

void tg_automation_status(tg_task_call_t *call);
void tg_automation_enable(tg_task_call_t *call);
void tg_automation_disable(tg_task_call_t *call);
void tg_automation_chosen(tg_task_call_t *call);
void tg_automation_approve(tg_task_call_t *call);

/* Appends the values of these members of daemon.status. */
void tg_automation_put(tg_buf_t *json, const tg_automation_t *automation,
                       tg_str_t seen_of);
void tg_automation_put_files(tg_buf_t *json, const tg_automation_t *automation);
void tg_automation_put_scheduler(tg_buf_t *json,
                                 const tg_automation_t *automation);

/* --- tg_automation_rule.c --- */

/* May its rules fire now? */
int tg_automation_is_running(const tg_automation_t *automation);
int tg_automation_is_on(const tg_automation_rule_t *rule);
tg_automation_rule_t *tg_automation_rule(const tg_automation_t *automation,
                                         tg_str_t id);

/*
 * Reads rules, raw, an array: those that can be used are its rules from now
 * on, and go on where others of their name were.  TG_OK or TG_NOMEM.
 */
int tg_automation_read(tg_automation_t *automation, tg_str_t raw);
void tg_automation_free_rules(tg_automation_t *automation);

/* Appends a rule's note; and what it was. */
void tg_automation_put_rule_note(tg_buf_t *json,
                                 const tg_automation_rule_t *rule);
void tg_automation_load_rule(tg_automation_rule_t *rule, tg_str_t value);

/* A member of a note, raw: 0 where it is no number. */
int64_t tg_note_number(tg_str_t raw);

/* --- tg_automation_event.c --- */

/*
 * Something has happened, as the chain-th of a chain: the rules that are
 * about it fire, one after the other, in time slices.
 */
void tg_automation_publish(tg_automation_t *automation, tg_str_t event,
                           unsigned chain);

/* Continues with events that waited until rules can fire. */
void tg_automation_publish_on(tg_automation_t *automation);

/* Asks the rules about all events at once, before there are other rules. */
void tg_automation_publish_all(tg_automation_t *automation);

/* Forgets the events that rules have not been asked about. */
void tg_automation_forget(tg_automation_t *automation);

/* {"type":…,"source":…,"timestamp":…,"payload": is left open. */
void tg_automation_event(const tg_automation_t *automation, tg_buf_t *event,
                         const char *type, const char *source);

/* What came before it was loaded, or while the tasks were told to stop. */
void tg_automation_catch_up(tg_automation_t *automation);

/* --- tg_automation_cron.c --- */

/* When it is due, unless that is known. */
void tg_automation_plan(tg_automation_t *automation,
                        tg_automation_rule_t *rule);
void tg_automation_due(tg_automation_t *automation);

/* --- tg_automation_files.c --- */

/* Watches what the rules say, unless that is what is watched already. */
void tg_automation_watch(tg_automation_t *automation);
void tg_automation_unwatch(tg_automation_t *automation);

#endif
