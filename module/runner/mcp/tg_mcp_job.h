/*
 * The kind `mcp`: one call of a tool of an MCP server (docs/protocols.md).
 */
#ifndef TG_MCP_JOB_H
#define TG_MCP_JOB_H

#include "protocol/tg_mcp_client_call.h"
#include "runner/mcp/tg_mcp_server.h"
#include "runner/output/tg_output_response.h"

/* The deadline when none was given. */
#define TG_MCP_JOB_TIMEOUT_DEFAULT 60000

/* What its instance tells it, which drops it but for progress. */
typedef struct {
    void (*answer)(tg_mcp_job_t *call, const tg_response_t *answer);
    void (*fail)(tg_mcp_job_t *call, tg_failure_t failure, tg_str_t text);
    void (*progress)(tg_mcp_job_t *call, tg_str_t params);
} tg_mcp_job_ops_t;

struct tg_mcp_job_s {
    TAILQ_ENTRY(tg_mcp_job_s) link; /* of its instance */
    const tg_mcp_job_ops_t *ops;
    tg_job_t *job;
    tg_mcp_conn_t *mcp_conn; /* NULL: it has none (yet) */
    char *memory;            /* of the slices */
    tg_str_t key;
    tg_str_t id;                           /* of the instance */
    char *cwd;                             /* or NULL */
    int64_t uid;                           /* whose it must be; -1: anybody's */
    unsigned client_caps;                  /* what the client can be asked */
    int64_t max_output;                    /* bytes of the result */
    tg_output_store_params_t store_params; /* where a larger one is stored */
    tg_mcp_call_t call;
    int is_sent;
    int is_resent;    /* it was sent in a session that was over */
    uint64_t request; /* its id, and its progress token */

    int has_gap_timer; /* the answer waits until progress has arrived */
    uv_timer_t timer;
    int is_answering;
    tg_buf_t result; /* the server's, as its message is gone by then */
    tg_output_response_t answer;
    tg_sched_source_t source; /* waits while a large answer is written */
};

/* Its jobs' host is a tg_mcp_servers_t. */
extern const tg_job_type_t tg_mcp_job_type;

#endif
