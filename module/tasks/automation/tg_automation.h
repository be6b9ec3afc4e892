/*
 * Automation: rules (rule/tg_rule.h) that submit tasks, notify clients or call
 * webhooks when something happens. An engine has an automation if its config
 * has rules.
 *
 *   tg_automation.c           config, records, ticks
 *   tg_automation_rule.c      rules
 *   tg_automation_event.c     events, and the rules that match them
 *   tg_automation_schedule.c  cron rules
 *   tg_automation_watch.c     file rules, with tg_watcher.h
 *   tg_automation_status.c    status
 *   tg_automation_call.c      methods
 *   tg_firing.h               firings of rules
 *
 * The store keeps these records (tasks/store/tg_store.h) of automation:
 *
 *   automation      {"enabled":false}
 *   rule/ID         {"enabled":false,"firedAt":…,"dueAt":…,"schedule":"…"}
 *   execution/ID    a firing, see tg_firing_record.c
 */
#ifndef TG_AUTOMATION_H
#define TG_AUTOMATION_H

#include "rule/tg_rule.h"
#include "tasks/engine/tg_task_call.h"

/*
 * Maximum length of a chain, in which the task of a rule makes rules fire
 * again. The metadata of a task has its position in the chain.
 */
#define TG_AUTOMATION_CHAIN_MAX 10
/*
 * Time after a rule's task in which changes of files count as its own, in ms.
 */
#define TG_AUTOMATION_OWN_CHANGE_MS 2000
/* Maximum number of events that query their task, and of the backlog. */
#define TG_AUTOMATION_EVENTS_MAX 1000
/* Maximum size of the pending events in bytes. */
#define TG_AUTOMATION_EVENTS_BYTES_MAX 67108864
/* Delay after which a firing counts as missed, in seconds. */
#define TG_AUTOMATION_MISSED_S 60
/* Turning the clock back further, in seconds, resets all due times. */
#define TG_AUTOMATION_CLOCK_BACK_S 10800

/* Steps of a time slice that a firing takes. */
#define TG_AUTOMATION_FIRE_STEPS 8192

typedef struct tg_automation_s tg_automation_t;
typedef struct tg_firing_s tg_firing_t;
typedef struct tg_watcher_s tg_watcher_t;
typedef TAILQ_HEAD(tg_firings_s, tg_firing_s) tg_firings_t;

/* An event that some rules have not been matched with yet. */
typedef struct tg_pending_event_s {
    TAILQ_ENTRY(tg_pending_event_s) link;
    unsigned next;  /* index of the next rule */
    unsigned chain; /* position in a chain of firings */
    size_t len;     /* length of `text` in bytes */
    char text[];
} tg_pending_event_t;

typedef TAILQ_HEAD(tg_pending_events_s, tg_pending_event_s) tg_pending_events_t;

/* Override of a rule's `enabled`, set by automation.enable and disable. */
typedef enum {
    TG_RULE_OVERRIDE_NONE,
    TG_RULE_OVERRIDE_OFF,
    TG_RULE_OVERRIDE_ON
} tg_rule_override_t;

typedef struct {
    tg_rule_t *rule;
    tg_rule_override_t override;
    int64_t fired_at; /* Unix time in ms; 0: never */

    /* For cron rules. */
    tg_zone_t *zone;   /* NULL: UTC */
    int64_t due_at;    /* Unix time in seconds; 0: not due */
    uint64_t schedule; /* hash of the cron expression and the time zone */

    /* The last task that the rule submitted. */
    int64_t task;     /* -1: none */
    int64_t ended_at; /* Unix time in ms; 0: queued or running */
    int is_submitting;
    int is_queued;
    unsigned chain; /* position of the task in a chain */
} tg_automation_rule_t;

struct tg_automation_s {
    tg_engine_t *engine;
    int64_t (*now)(void); /* Unix time in ms */
    char *text;           /* raw rules, owned */
    char generation[64];  /* generation of the config that has the rules */
    tg_automation_rule_t *rules;
    unsigned nrules;
    unsigned nevents; /* number of rules for events */
    int is_enabled;
    int has_new_rules; /* the last config has rules that are new */
    int is_loaded;     /* the records are loaded */
    int is_loading;    /* a query for the records is pending */
    /* Unix time of the last check of all rules, in seconds */
    int64_t last_check_s;
    int64_t current_check_s;  /* Unix time of the current check, in seconds */
    unsigned nchecked;        /* number of rules checked so far */
    tg_sched_source_t source; /* queued while a check is unfinished */
    /* number of queries so far that write a record of a rule */
    uint64_t nrecords_stored;
    tg_store_query_t load;
    tg_task_calls_t waiting; /* calls that wait for the records */
    tg_firings_t firings;    /* sorted by time, the newest last */
    unsigned nopen;          /* number of firings that are not finished */
    unsigned nended;         /* number of firings that are finished */
    /* number of events whose task is being queried */
    unsigned ntask_queries;
    tg_pending_events_t events;  /* sorted by time, the oldest first */
    size_t events_bytes;         /* size of the texts in bytes */
    tg_sched_source_t publisher; /* matches pending events with rules */
    /* Events that came before the records were loaded: method and task id. */
    tg_buf_t backlog;
    tg_watcher_t *watcher;
};

/* --- changes of the engine --- */

void tg_automation_on_configured(tg_engine_t *engine);
void tg_automation_on_opened(tg_engine_t *engine);
void tg_automation_on_tick(tg_engine_t *engine);
void tg_automation_on_notification(tg_engine_t *engine, const char *method,
                                   tg_str_t params);
void tg_automation_on_shutdown(tg_engine_t *engine);
void tg_automation_on_engine_freed(tg_engine_t *engine);

/* --- methods --- */

/*
 * Returns 1 if the call may use the rules, or 0: it has responded with an
 * error, or waits for the records to be loaded.
 */
int tg_task_call_check_rules(tg_task_call_t *call);

void tg_task_call_begin_rules_status(tg_task_call_t *call);
void tg_task_call_begin_rules_override(tg_task_call_t *call);
void tg_task_call_on_rules_override(tg_task_call_t *call);
void tg_task_call_begin_rules_approve(tg_task_call_t *call);

/* Appends the value of "automation" in daemon.status. */
void tg_automation_append_status(tg_buf_t *json,
                                 const tg_automation_t *automation,
                                 tg_str_t visible_owner);

/* Appends the value of "file_watcher" in daemon.status. */
void tg_automation_append_watcher_status(tg_buf_t *json,
                                         const tg_automation_t *automation);

/* Appends the value of "scheduler" in daemon.status. */
void tg_automation_append_schedule(tg_buf_t *json,
                                   const tg_automation_t *automation);

/* --- tg_automation_rule.c --- */

int tg_automation_can_fire(const tg_automation_t *automation);

/* Returns whether a rule is enabled, by its config or by an override. */
int tg_automation_rule_is_enabled(const tg_automation_rule_t *rule);

tg_automation_rule_t *tg_automation_find_rule(const tg_automation_t *automation,
                                              tg_str_t id);

/*
 * Sets the rules from a raw JSON array, without those that are invalid, which
 * are logged. Rules with a known id keep their state. TG_OK or TG_NOMEM.
 */
int tg_automation_parse_rules(tg_automation_t *automation, tg_str_t raw);
void tg_automation_free_rules(tg_automation_t *automation);

void tg_automation_rule_write_record(tg_buf_t *json,
                                     const tg_automation_rule_t *rule);

void tg_automation_rule_load_record(tg_automation_rule_t *rule, tg_str_t value);

/* Returns a raw integer, or 0 for any other value. */
int64_t tg_record_get_int(tg_str_t raw);

/* --- tg_automation_event.c --- */

/*
 * Fires the rules that match an event, one by one, in time slices. `chain` is
 * the event's position in a chain.
 */
void tg_automation_publish_event(tg_automation_t *automation, tg_str_t event,
                                 unsigned chain);

/* Continues with pending events after rules could not fire. */
void tg_automation_resume_publisher(tg_automation_t *automation);

/* Matches all pending events at once, before the rules are replaced. */
void tg_automation_flush_events(tg_automation_t *automation);

void tg_automation_clear_events(tg_automation_t *automation);

/*
 * Begins {"type":…,"source":…,"timestamp":…,"payload":. The caller appends the
 * payload and closes the object.
 */
void tg_automation_begin_event(const tg_automation_t *automation,
                               tg_buf_t *event, const char *type,
                               const char *source);

/*
 * Publishes the events that came before the engine was open with its records.
 */
void tg_automation_replay_backlog(tg_automation_t *automation);

/* --- tg_automation_schedule.c --- */

/* Stores the next due time of a cron rule, unless it is known. */
void tg_automation_schedule_rule(tg_automation_t *automation,
                                 tg_automation_rule_t *rule);

void tg_automation_check_due_rules(tg_automation_t *automation);

/* --- tg_automation_watch.c --- */

/* Watches the files of the rules. Restarts the watcher if the rules differ. */
void tg_automation_start_watcher(tg_automation_t *automation);

void tg_automation_stop_watcher(tg_automation_t *automation);

#endif
