/*
 * The kind `mcp`: one call of a tool of an MCP server (docs/protocols.md).
 */
#ifndef TG_MCP_JOB_H
#define TG_MCP_JOB_H

#include "core/tg_mcp_call.h"
#include "runner/mcp/tg_server.h"
#include "runner/spill/tg_spill_answer.h"

/* The deadline when none was given. */
#define TG_MCP_JOB_TIMEOUT 60000

/* What its instance tells it, which drops it but for progress. */
typedef struct {
    void (*answer)(tg_mcp_job_t *call, const tg_answer_t *answer);
    void (*fail)(tg_mcp_job_t *call, tg_failure_t failure, tg_str_t text);
    void (*progress)(tg_mcp_job_t *call, tg_str_t params);
} tg_mcp_job_ops_t;

struct tg_mcp_job_s {
    TAILQ_ENTRY(tg_mcp_job_s) place; /* of its instance */
    const tg_mcp_job_ops_t *ops;
    tg_job_t *job;
    tg_instance_t *instance; /* NULL: it has none (yet) */
    char *memory;            /* of the slices */
    tg_str_t key;
    tg_str_t id;           /* of the instance */
    char *cwd;             /* or NULL */
    int64_t uid;           /* whose it must be; -1: anybody's */
    unsigned can;          /* what the client can be asked */
    int64_t max_output;    /* bytes of the result */
    tg_spill_spec_t spill; /* where a larger one is stored */
    tg_mcp_call_t call;
    int is_sent;
    int is_again;     /* it was sent in a session that was over */
    uint64_t request; /* its id, and its progress token */

    int is_apart; /* the answer waits until progress has arrived */
    uv_timer_t timer;
    int is_answering;
    tg_buf_t result; /* the server's, as its message is gone by then */
    tg_spill_answer_t answer;
    tg_source_t source; /* waits while a large answer is written */
};

/* Its jobs' host is a tg_servers_t. */
extern const tg_kind_t tg_mcp_job_kind;

#endif
