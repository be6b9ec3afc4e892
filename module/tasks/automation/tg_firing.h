/*
 * A firing: one execution of a rule. Each step is stored before clients are
 * notified.
 *
 *   NEW ──▶ PENDING_APPROVAL ──▶ DENIED
 *    │          │
 *    ├──────────┴──▶ SUBMITTED, NOTIFIED, FAILED
 *    │          └──▶ WEBHOOK_PENDING ──▶ WEBHOOK_SENT, FAILED
 *    └──▶ STOPPED
 *
 *   tg_firing.c         life of a firing
 *   tg_firing_start.c   start and action
 *   tg_firing_record.c  record in the store
 *   tg_firing_end.c     notifications and end
 *   tg_webhook_send.c   webhook
 */
#ifndef TG_FIRING_H
#define TG_FIRING_H

#include "tasks/automation/tg_automation.h"
#include "runner/http/tg_http.h"

/* Maximum number of finished firings that are kept. */
#define TG_FIRINGS_ENDED_MAX 100
/* Maximum number of firings that wait for approval or a webhook. */
#define TG_FIRINGS_OPEN_MAX 100
/* Maximum size of the texts of all firings in bytes. */
#define TG_FIRINGS_BYTES_MAX 67108864
/* Number of firings in automation.status. */
#define TG_FIRINGS_STATUS_MAX 10

typedef enum {
    TG_FIRING_NEW,
    TG_FIRING_PENDING_APPROVAL, /* waits for automation.approve */
    TG_FIRING_SUBMITTED,
    TG_FIRING_NOTIFIED,
    TG_FIRING_WEBHOOK_PENDING, /* waits for the webhook or a retry */
    TG_FIRING_WEBHOOK_SENT,
    TG_FIRING_DENIED,
    TG_FIRING_STOPPED, /* reached the maximum length of a chain */
    TG_FIRING_FAILED,
    TG_FIRING_STATES
} tg_firing_state_t;

#define TG_FIRING_ID_SIZE 24

struct tg_firing_s {
    TAILQ_ENTRY(tg_firing_s) link;
    tg_automation_t *automation;
    char id[TG_FIRING_ID_SIZE];
    tg_firing_state_t state;
    int64_t at;     /* Unix time in ms */
    unsigned chain; /* position in a chain of firings */
    tg_buf_t rule;  /* id of the rule */
    tg_buf_t type;  /* type of the event */
    tg_buf_t owner; /* owner of the event's task; or empty */
    int64_t task;   /* id of the submitted task; -1: none */
    tg_buf_t error;
    tg_action_type_t action;
    tg_buf_t agent;
    tg_buf_t text; /* prompt or message, with the event's values */
    tg_buf_t channel;
    tg_buf_t body; /* body of the webhook */
    int64_t priority;
    /* calls of automation.approve that wait for the result */
    tg_task_calls_t approvals;

    tg_store_query_t query;
    int is_querying; /* `query` is pending */
    /* Gets the result of the store. May be NULL. */
    void (*on_stored)(tg_firing_t *firing, int rc);
    tg_store_record_t records[2];
    tg_buf_t record_text; /* keys and values of `records` */
    tg_buf_t metadata;

    /* For the webhook. */
    tg_http_exchange_t *http; /* NULL: no request is pending */
    int status;               /* status of the response; 0: none */
    uint64_t receiver;        /* hash of the receiver's origin */
    size_t nread;             /* received bytes of the response's body */
    unsigned tries;           /* number of requests so far */
    uint64_t retry_at;        /* time of the loop, in ms */
};

/* --- tg_firing.c --- */

/* Creates a firing. NULL: no memory, which is logged. */
tg_firing_t *tg_firing_new(tg_automation_t *automation);
void tg_firing_free(tg_firing_t *firing);

tg_firing_t *tg_automation_find_firing(const tg_automation_t *automation,
                                       tg_str_t id);

/* Returns whether a firing is new or waits for approval or a webhook. */
int tg_firing_is_open(const tg_firing_t *firing);

/* Changes the state, as only tg_automation_load_firing() does, too. */
void tg_firing_set_state(tg_firing_t *firing, tg_firing_state_t state);

/* Generates an id that sorts by time and cannot be guessed. */
void tg_firing_generate_id(tg_firing_t *firing);

/* Returns the rule of a firing; NULL: it is no longer configured. */
tg_automation_rule_t *tg_firing_find_rule(const tg_firing_t *firing);

/* --- tg_firing_record.c --- */

/* Returns a static text, such as "submitted". */
const char *tg_firing_get_state_name(tg_firing_state_t state);

/*
 * Stores the record of a firing and that of `rule`, unless NULL. With is_task,
 * submits the task in the same transaction. Then calls on_stored(), unless
 * NULL.
 */
void tg_firing_store(tg_firing_t *firing, const tg_automation_rule_t *rule,
                     int is_task,
                     void (*on_stored)(tg_firing_t *firing, int rc));

/* Creates a firing from its record, unless it exists. */
void tg_automation_load_firing(tg_automation_t *automation, tg_str_t id,
                               tg_str_t value);

/* Removes the oldest finished firings beyond TG_FIRINGS_ENDED_MAX. */
void tg_automation_prune_firings(tg_automation_t *automation);

/* --- tg_firing_end.c --- */

/*
 * Begins {"executionId":… with id, rule and event type; the caller closes it.
 */
void tg_firing_begin_json(tg_buf_t *json, const tg_firing_t *firing);

/* Appends the members status, taskId and error. */
void tg_firing_append_status(tg_buf_t *json, const tg_firing_t *firing);

/* Notifies clients of a message (automation.notify). */
void tg_firing_notify_message(const tg_firing_t *firing, tg_str_t message);

/* Notifies clients of the status of a firing (automation.fired). */
void tg_firing_notify_fired(const tg_firing_t *firing);

/* Responds to automation.approve, with an error unless `rc` is TG_OK. */
void tg_firing_respond_approvals(tg_firing_t *firing, int rc);

/*
 * Stores the end of a firing. `why` is an error text, or NULL; it may be freed
 * afterwards.
 */
void tg_firing_end(tg_firing_t *firing, tg_firing_state_t state,
                   const char *why);

/* Notifies clients and responds to calls, as the end is stored. */
void tg_firing_on_end_stored(tg_firing_t *firing, int rc);

void tg_firing_deny(tg_firing_t *firing);

/* --- tg_firing_start.c --- */

/*
 * Fires a rule, unless its cooldown or conditions prevent it. `matched` is the
 * result of its trigger: TG_OK, or an error, which fails the firing.
 */
void tg_automation_fire_rule(tg_automation_t *automation,
                             tg_automation_rule_t *rule, int matched,
                             tg_str_t event, unsigned chain);

/* Submits the task, notifies clients or sends the webhook. */
void tg_firing_run_action(tg_firing_t *firing);

/* Sends the webhooks that were pending when the previous runner exited. */
void tg_automation_resume_webhooks(tg_automation_t *automation);

#endif
