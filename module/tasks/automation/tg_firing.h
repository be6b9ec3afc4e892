/*
 * A rule that fires: what becomes of it.  Each step is written down before
 * anybody hears of it.
 *
 *   NEW ──▶ APPROVAL ──▶ DENIED
 *    │          │
 *    ├──────────┴──▶ SUBMITTED, NOTIFIED, FAILED
 *    │          └──▶ SENDING ──▶ SENT, FAILED
 *    └──▶ STOPPED
 *
 *   tg_firing.c       one
 *   tg_firing_record.c  its note
 *   tg_firing_end.c   what clients hear of it, its end
 *   tg_webhook.c            its webhook
 *   tg_firing_start.c  its beginning, what it does
 */
#ifndef TG_FIRING_H
#define TG_FIRING_H

#include "tasks/automation/tg_automation.h"
#include "runner/http/tg_http.h"

/* Executions that are kept when they are over, and those that wait. */
#define TG_FIRINGS_ENDED_MAX 100
#define TG_FIRINGS_OPEN_MAX 100
/* Bytes of what all of them are to say. */
#define TG_FIRINGS_BYTES_MAX 67108864
/* What automation.status tells of. */
#define TG_FIRINGS_STATUS_MAX 10

typedef enum {
    TG_FIRING_NEW,
    TG_FIRING_PENDING_APPROVAL, /* somebody has to say yes */
    TG_FIRING_SUBMITTED,
    TG_FIRING_NOTIFIED,
    TG_FIRING_WEBHOOK_PENDING, /* a webhook, maybe again */
    TG_FIRING_WEBHOOK_SENT,
    TG_FIRING_DENIED,
    TG_FIRING_STOPPED, /* by the bound of a chain */
    TG_FIRING_FAILED,
    TG_FIRING_STATES
} tg_firing_state_t;

#define TG_FIRING_ID_SIZE 24

/* A rule that fired. */
struct tg_firing_s {
    TAILQ_ENTRY(tg_firing_s) link;
    tg_automation_t *automation;
    char id[TG_FIRING_ID_SIZE];
    tg_firing_state_t state;
    int64_t at; /* ms */
    unsigned chain;
    tg_buf_t rule;  /* its id */
    tg_buf_t type;  /* of the event */
    tg_buf_t owner; /* whose task it was about; or empty */
    int64_t task;   /* -1: none */
    tg_buf_t error;
    tg_action_type_t action;
    tg_buf_t agent;
    tg_buf_t text; /* the prompt or message, with all put in */
    tg_buf_t channel;
    tg_buf_t body; /* of the webhook */
    int64_t priority;
    tg_task_calls_t approvals; /* calls that wait for what becomes of it */

    tg_store_query_t query;
    int is_querying;
    void (*on_stored)(tg_firing_t *firing, int rc);
    tg_store_record_t records[2];
    tg_buf_t record_text; /* their texts */
    tg_buf_t metadata;

    /* of its webhook */
    tg_http_exchange_t *http; /* NULL: none goes on */
    int status;
    uint64_t receiver; /* of its webhook */
    size_t nread;      /* bytes of the body of the answer */
    unsigned tries;
    uint64_t retry_at; /* of the loop's clock */
};

/* --- tg_firing.c --- */

/* NULL: no memory, logged. */
tg_firing_t *tg_firing_new(tg_automation_t *automation);
void tg_firing_free(tg_firing_t *firing);
tg_firing_t *tg_automation_find_firing(const tg_automation_t *automation,
                                       tg_str_t id);
int tg_firing_is_open(const tg_firing_t *firing);

/* The only way from one state to another. */
void tg_firing_set_state(tg_firing_t *firing, tg_firing_state_t state);

/* Time, and what nobody guesses: they are in the order of their ids. */
void tg_firing_generate_id(tg_firing_t *firing);

/* NULL: it is not configured any more. */
tg_automation_rule_t *tg_firing_find_rule(const tg_firing_t *firing);

/* --- tg_firing_record.c --- */

const char *tg_firing_get_state_name(tg_firing_state_t state);

/*
 * Writes it down, with its rule's note, which may be NULL, and with the task
 * that it makes, where is_task; then written, which may be NULL.
 */
void tg_firing_store(tg_firing_t *firing, const tg_automation_rule_t *rule,
                     int is_task,
                     void (*on_stored)(tg_firing_t *firing, int rc));

/* One that was kept. */
void tg_automation_load_firing(tg_automation_t *automation, tg_str_t id,
                               tg_str_t value);

/* Those that are over are not kept for ever. */
void tg_automation_prune_firings(tg_automation_t *automation);

/* --- tg_firing_end.c --- */

/* Appends {"executionId":…, which rule, what event; and what became of it. */
void tg_firing_begin_json(tg_buf_t *json, const tg_firing_t *firing);
void tg_firing_append_status(tg_buf_t *json, const tg_firing_t *firing);

void tg_firing_notify_message(const tg_firing_t *firing, tg_str_t message);

/* What has become of it: its status. */
void tg_firing_notify_fired(const tg_firing_t *firing);

/*
 * Answers the calls that have said yes or no; rc is the store's: what it could
 * not write has not succeeded.
 */
void tg_firing_respond_approvals(tg_firing_t *firing, int rc);

/* It is over; why is NULL or lives until it returns. */
void tg_firing_end(tg_firing_t *firing, tg_firing_state_t state,
                   const char *why);
void tg_firing_on_end_stored(tg_firing_t *firing, int rc);
void tg_firing_deny(tg_firing_t *firing);

/* --- tg_firing_start.c --- */

/* A rule fires, unless its conditions or its cooldown say no. */
void tg_automation_fire_rule(tg_automation_t *automation,
                             tg_automation_rule_t *rule, tg_str_t event,
                             unsigned chain);

/* Does its action. */
void tg_firing_run_action(tg_firing_t *firing);

/* Those that waited for their webhook when the runner ended. */
void tg_automation_resume_webhooks(tg_automation_t *automation);

#endif
