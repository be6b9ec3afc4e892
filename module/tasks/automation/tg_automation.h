/*
 * Automation: rules (rule/tg_rule.h) that make tasks, tell clients, or call
 * webhooks when something happens.  An engine has one where its config has
 * rules.
 *
 *   tg_automation_rule.c    its rules
 *   tg_firing.h          a rule that fires: what becomes of it
 *   tg_automation_event.c   what happens, and which rules are about it
 *   tg_automation_schedule.c    when rules are due
 *   tg_automation_watch.c   what becomes of files, from tg_watcher.h
 *   tg_automation_status.c  what is told of all this
 *   tg_automation.c         its life: config, what is kept of it, its ticks
 *   tg_automation_call.c    the methods
 *
 * What is kept beside the tasks, as notes (tasks/store/tg_store.h):
 *
 *   automation      {"enabled":false}
 *   rule/ID         {"enabled":false,"firedAt":…,"dueAt":…,"schedule":"…"}
 *   execution/ID    tg_firing_record.c
 */
#ifndef TG_AUTOMATION_H
#define TG_AUTOMATION_H

#include "rule/tg_rule.h"
#include "tasks/engine/tg_task_call.h"

/*
 * A rule's task that makes it fire again, and so on: so many are stopped.
 * Tasks say which of them they are; files that change while the rule's own
 * task runs, or just after, are taken for its doing.
 */
#define TG_AUTOMATION_CHAIN_MAX 10
#define TG_AUTOMATION_OWN_CHANGE_MS 2000
/* Events that wait to be looked at. */
#define TG_AUTOMATION_EVENTS_MAX 1000
/* Bytes of events that rules have not been asked about. */
#define TG_AUTOMATION_EVENTS_BYTES_MAX 67108864
/* What was due so long ago was missed. */
#define TG_AUTOMATION_MISSED_S 60
/* A clock that was put back further is looked at anew. */
#define TG_AUTOMATION_CLOCK_BACK_S 10800

/* Of a time slice, what a rule that is due counts as. */
#define TG_AUTOMATION_FIRE_STEPS 8192

typedef struct tg_automation_s tg_automation_t;
typedef struct tg_firing_s tg_firing_t;
typedef struct tg_watcher_s tg_watcher_t;
typedef TAILQ_HEAD(tg_firings_s, tg_firing_s) tg_firings_t;

/* An event that some of the rules have not been asked about yet. */
typedef struct tg_pending_event_s {
    TAILQ_ENTRY(tg_pending_event_s) link;
    unsigned next; /* the next rule */
    unsigned chain;
    size_t len;
    char text[];
} tg_pending_event_t;

typedef TAILQ_HEAD(tg_pending_events_s, tg_pending_event_s) tg_pending_events_t;

/* What clients have said of a rule. */
typedef enum {
    TG_RULE_OVERRIDE_NONE,
    TG_RULE_OVERRIDE_OFF,
    TG_RULE_OVERRIDE_ON
} tg_rule_override_t;

typedef struct {
    tg_rule_t *rule;
    tg_rule_override_t override;
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
    int has_new_rules;    /* the last config has rules that it had not before */
    int is_loaded;        /* what is kept was read */
    int is_loading;       /* that goes on */
    int64_t last_check_s; /* s: the last look at all rules */
    int64_t current_check_s;  /* s: the one under way */
    unsigned nchecked;        /* rules that it has looked at */
    tg_sched_source_t source; /* waits while that goes on */
    /* notes of rules that the store was asked to write */
    uint64_t nrecords_stored;
    tg_store_query_t load;
    tg_task_calls_t waiting; /* for that */
    tg_firings_t firings;    /* the newest last */
    unsigned nopen;
    unsigned nended;
    unsigned ntask_queries;      /* events whose task is asked for */
    tg_pending_events_t events;  /* the oldest first */
    size_t events_bytes;         /* of their texts */
    tg_sched_source_t publisher; /* asks the rules about them */
    tg_buf_t backlog; /* events that it did not hear yet: METHOD and ID */
    tg_watcher_t *watcher;
};

/* --- for the engine: a row each of tg_engine_ops_t --- */

void tg_automation_on_configured(tg_engine_t *engine);
void tg_automation_on_opened(tg_engine_t *engine);
void tg_automation_on_tick(tg_engine_t *engine);
void tg_automation_on_notification(tg_engine_t *engine, const char *method,
                                   tg_str_t params);
void tg_automation_on_shutdown(tg_engine_t *engine);
void tg_automation_on_engine_freed(tg_engine_t *engine);

/* --- the methods --- */

void tg_task_call_begin_rules_status(tg_task_call_t *call);
void tg_task_call_begin_rules_enable(tg_task_call_t *call);
void tg_task_call_begin_rules_disable(tg_task_call_t *call);
void tg_task_call_on_rules_override(tg_task_call_t *call);
void tg_task_call_begin_rules_approve(tg_task_call_t *call);

/* Appends the values of these members of daemon.status. */
void tg_automation_append_status(tg_buf_t *json,
                                 const tg_automation_t *automation,
                                 tg_str_t visible_owner);
void tg_automation_append_watcher_status(tg_buf_t *json,
                                         const tg_automation_t *automation);
void tg_automation_append_schedule(tg_buf_t *json,
                                   const tg_automation_t *automation);

/* --- tg_automation_rule.c --- */

/* May its rules fire now? */
int tg_automation_can_fire(const tg_automation_t *automation);
int tg_automation_rule_is_enabled(const tg_automation_rule_t *rule);
tg_automation_rule_t *tg_automation_find_rule(const tg_automation_t *automation,
                                              tg_str_t id);

/*
 * Reads rules, raw, an array: those that can be used are its rules from now
 * on, and go on where others of their name were.  TG_OK or TG_NOMEM.
 */
int tg_automation_parse_rules(tg_automation_t *automation, tg_str_t raw);
void tg_automation_free_rules(tg_automation_t *automation);

/* Appends a rule's note; and what it was. */
void tg_automation_rule_write_record(tg_buf_t *json,
                                     const tg_automation_rule_t *rule);
void tg_automation_rule_load_record(tg_automation_rule_t *rule, tg_str_t value);

/* A member of a note, raw: 0 where it is no number. */
int64_t tg_record_get_int(tg_str_t raw);

/* --- tg_automation_event.c --- */

/*
 * Something has happened, as the chain-th of a chain: the rules that are
 * about it fire, one after the other, in time slices.
 */
void tg_automation_publish_event(tg_automation_t *automation, tg_str_t event,
                                 unsigned chain);

/* Continues with events that waited until rules can fire. */
void tg_automation_resume_publisher(tg_automation_t *automation);

/* Asks the rules about all events at once, before there are other rules. */
void tg_automation_flush_events(tg_automation_t *automation);

/* Forgets the events that rules have not been asked about. */
void tg_automation_clear_events(tg_automation_t *automation);

/* {"type":…,"source":…,"timestamp":…,"payload": is left open. */
void tg_automation_begin_event(const tg_automation_t *automation,
                               tg_buf_t *event, const char *type,
                               const char *source);

/* What came before it was loaded, or while the tasks were told to stop. */
void tg_automation_replay_backlog(tg_automation_t *automation);

/* --- tg_automation_schedule.c --- */

/* When it is due, unless that is known. */
void tg_automation_schedule_rule(tg_automation_t *automation,
                                 tg_automation_rule_t *rule);
void tg_automation_check_due_rules(tg_automation_t *automation);

/* --- tg_automation_watch.c --- */

/* Watches what the rules say, unless that is what is watched already. */
void tg_automation_start_watcher(tg_automation_t *automation);
void tg_automation_stop_watcher(tg_automation_t *automation);

#endif
