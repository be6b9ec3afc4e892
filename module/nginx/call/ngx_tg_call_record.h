/* How a call ended: reason, rule, numbers. */
#ifndef _NGX_TG_CALL_RECORD_H_INCLUDED_
#define _NGX_TG_CALL_RECORD_H_INCLUDED_

#include "nginx/ngx_tg.h"

/*
 * The end of a call: a failure of tg_failure_t, or one of these reasons, which
 * send no response because nobody waits for it in this worker.
 */
typedef enum {
    NGX_TG_END_CANCELLED = TG_FAILURE_SIZE + 1,
    NGX_TG_END_CLIENT_GONE, /* the client disconnected */
    NGX_TG_END_MOVED,       /* the call continues in another worker */
    NGX_TG_END_COUNT,

    /*
     * the worker stops at once: it only logs the call, other workers count it
     */
    NGX_TG_END_KILLED = NGX_TG_END_COUNT
} ngx_tg_end_reason_t;

/* The rule, usually a directive, by which a call was refused or ended. */
typedef enum {
    NGX_TG_RULE_NONE = 0,
    NGX_TG_RULE_DENY,
    NGX_TG_RULE_INPUT,
    NGX_TG_RULE_OUTPUT,
    NGX_TG_RULE_MAX_OUTPUT,
    NGX_TG_RULE_TIMEOUT,
    NGX_TG_RULE_INFLIGHT,
    NGX_TG_RULE_RATE,
    NGX_TG_RULE_COMPLETE_RATE,
    NGX_TG_RULE_GROUP_RATE,
    NGX_TG_RULE_SERVER_RATE,
    NGX_TG_RULE_CONCURRENCY,
    NGX_TG_RULE_GROUP_CONCURRENCY,
    NGX_TG_RULE_SERVER_CONCURRENCY,
    NGX_TG_RULE_EXEC,   /* the program could not be started */
    NGX_TG_RULE_RUNNER, /* the runner's own limits */
    NGX_TG_RULE_ASK,    /* the client was asked, or refused */
    NGX_TG_RULE_COUNT
} ngx_tg_call_rule_t;

/* Record of an ended call, for logs and counters. */
typedef struct {
    const tg_catalog_entry_t *entry; /* NULL: not in the catalog */
    ngx_uint_t end;                  /* tg_failure_t or ngx_tg_end_reason_t */
    ngx_uint_t rule;                 /* ngx_tg_call_rule_t */
    /* ms from the arrival to the end, in all workers together */
    ngx_msec_t time;
    int64_t queued;      /* time in the queue, in ms; -1: unknown */
    int64_t ran;         /* run time, in ms; -1: unknown */
    int64_t exit;        /* exit status of the program; -1: none */
    int64_t signal;      /* signal that killed the program, or 0 */
    uint64_t bytes_in;   /* size of the request message */
    uint64_t bytes_out;  /* size of the response; 0: none was sent */
    ngx_uint_t is_known; /* 0: no call has ended yet */
} ngx_tg_call_record_t;

/* Returns the value of $tool_status for an end reason. */
const char *ngx_tg_end_reason_get_name(ngx_uint_t end);

/* Returns the value of $tool_rule for a rule; NULL: no rule. */
const char *ngx_tg_call_rule_get_name(ngx_uint_t rule);

#endif
