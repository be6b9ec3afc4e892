/* The job type `mcp_call`: a request to an MCP server (docs/protocols.md). */
#ifndef TG_MCP_JOB_H
#define TG_MCP_JOB_H

#include "protocol/tg_mcp_client_call.h"
#include "runner/mcp/tg_mcp_server.h"
#include "runner/output/tg_output_response.h"

/* Default timeout in ms. */
#define TG_MCP_JOB_TIMEOUT_DEFAULT 60000

struct tg_mcp_job_s {
    TAILQ_ENTRY(tg_mcp_job_s) link; /* link in a list of the connection */
    tg_job_t *job;
    tg_mcp_conn_t *mcp_conn; /* NULL: no connection yet, or not any more */
    char *memory;            /* buffer of the slices */
    tg_str_t key;
    tg_mcp_conn_owner_t owner;
    int64_t max_output;                    /* maximum size of the result */
    tg_output_store_params_t store_params; /* storage of a larger result */
    tg_mcp_call_t call;
    int is_sent;
    int is_resent;    /* was sent again after its session was over */
    uint64_t request; /* id of the request and its progress token */

    int has_gap_timer; /* the response waits for the time after progress */
    uv_timer_t timer;
    int is_answering;
    tg_buf_t result; /* copy of the server's result */
    tg_output_response_t answer;

    /* Waits for permission to write a large response. */
    tg_sched_source_t source;
};

/* Ends the call, and removes it from the connection. */
void tg_mcp_job_on_response(tg_mcp_job_t *call, const tg_response_t *answer);

/* Ends the call, and removes it from the connection. */
void tg_mcp_job_fail(tg_mcp_job_t *call, tg_failure_t failure, tg_str_t text);

/* Forwards the params of a progress notification. */
void tg_mcp_job_on_progress(tg_mcp_job_t *call, tg_str_t params);

/* The job type. The host of its jobs is a tg_mcp_servers_t. */
extern const tg_job_type_t tg_mcp_job_type;

#endif
