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
 *   tg_execution.c       one
 *   tg_execution_note.c  its note
 *   tg_execution_end.c   what clients hear of it, its end
 *   tg_hook.c            its webhook
 *   tg_execution_fire.c  its beginning, what it does
 */
#ifndef TG_EXECUTION_H
#define TG_EXECUTION_H

#include "runner/automation/tg_automation.h"
#include "runner/http/tg_http.h"

/* Executions that are kept when they are over, and those that wait. */
#define TG_EXECUTIONS_KEPT 100
#define TG_EXECUTIONS_OPEN_MAX 100
/* Bytes of what all of them are to say. */
#define TG_EXECUTIONS_BYTES_MAX 67108864
/* What automation.status tells of. */
#define TG_EXECUTIONS_TOLD 10

typedef enum {
    TG_EXECUTION_NEW,
    TG_EXECUTION_APPROVAL, /* somebody has to say yes */
    TG_EXECUTION_SUBMITTED,
    TG_EXECUTION_NOTIFIED,
    TG_EXECUTION_SENDING, /* a webhook, maybe again */
    TG_EXECUTION_SENT,
    TG_EXECUTION_DENIED,
    TG_EXECUTION_STOPPED, /* by the bound of a chain */
    TG_EXECUTION_FAILED,
    TG_EXECUTION_STATES
} tg_execution_state_t;

#define TG_EXECUTION_ID 24

/* A rule that fired. */
struct tg_execution_s {
    TAILQ_ENTRY(tg_execution_s) place;
    tg_automation_t *automation;
    char id[TG_EXECUTION_ID];
    tg_execution_state_t state;
    int64_t at; /* ms */
    unsigned chain;
    tg_buf_t rule;  /* its id */
    tg_buf_t type;  /* of the event */
    tg_buf_t owner; /* whose task it was about; or empty */
    int64_t task;   /* -1: none */
    tg_buf_t error;
    tg_action_t action;
    tg_buf_t agent;
    tg_buf_t text; /* the prompt or message, with all put in */
    tg_buf_t channel;
    tg_buf_t body; /* of the webhook */
    int64_t priority;
    tg_task_calls_t approvals; /* calls that wait for what becomes of it */

    tg_store_ask_t ask;
    int is_asking;
    void (*written)(tg_execution_t *execution, int rc);
    tg_store_note_t notes[2];
    tg_buf_t keys; /* their texts */
    tg_buf_t metadata;

    /* of its webhook */
    tg_http_t *http; /* NULL: none goes on */
    int status;
    uint64_t receiver; /* of its webhook */
    size_t nread;      /* bytes of the body of the answer */
    unsigned tries;
    uint64_t next_at; /* of the loop's clock */
};

/* --- tg_execution.c --- */

/* NULL: no memory, logged. */
tg_execution_t *tg_execution_new(tg_automation_t *automation);
void tg_execution_free(tg_execution_t *execution);
tg_execution_t *tg_execution_find(const tg_automation_t *automation,
                                  tg_str_t id);
int tg_execution_is_open(const tg_execution_t *execution);

/* The only way from one state to another. */
void tg_execution_to(tg_execution_t *execution, tg_execution_state_t state);

/* Time, and what nobody guesses: they are in the order of their ids. */
void tg_execution_name(tg_execution_t *execution);

/* NULL: it is not configured any more. */
tg_automation_rule_t *tg_automation_rule_of(const tg_execution_t *execution);

/* --- tg_execution_note.c --- */

const char *tg_execution_status(tg_execution_state_t state);

/*
 * Writes it down, with its rule's note, which may be NULL, and with the task
 * that it makes, where is_task; then written, which may be NULL.
 */
void tg_execution_write(tg_execution_t *execution,
                        const tg_automation_rule_t *rule, int is_task,
                        void (*written)(tg_execution_t *execution, int rc));

/* One that was kept. */
void tg_execution_load(tg_automation_t *automation, tg_str_t id,
                       tg_str_t value);

/* Those that are over are not kept for ever. */
void tg_executions_prune(tg_automation_t *automation);

/* --- tg_execution_end.c --- */

/* Appends {"executionId":…, which rule, what event; and what became of it. */
void tg_execution_put_begin(tg_buf_t *json, const tg_execution_t *execution);
void tg_execution_put_end(tg_buf_t *json, const tg_execution_t *execution);

void tg_execution_tell_notify(const tg_execution_t *execution,
                              tg_str_t message);

/* What has become of it: its status. */
void tg_execution_tell_fired(const tg_execution_t *execution);

/*
 * Answers the calls that have said yes or no; rc is the store's: what it could
 * not write has not succeeded.
 */
void tg_execution_answer(tg_execution_t *execution, int rc);

/* It is over; why is NULL or lives until it returns. */
void tg_execution_end(tg_execution_t *execution, tg_execution_state_t state,
                      const char *why);
void tg_execution_on_end(tg_execution_t *execution, int rc);
void tg_execution_deny(tg_execution_t *execution);

/* --- tg_execution_fire.c --- */

/* A rule fires, unless its conditions or its cooldown say no. */
void tg_automation_fire(tg_automation_t *automation, tg_automation_rule_t *rule,
                        tg_str_t event, unsigned chain);

/* Does its action. */
void tg_execution_perform(tg_execution_t *execution);

/* Those that waited for their webhook when the runner ended. */
void tg_executions_resume(tg_automation_t *automation);

#endif
