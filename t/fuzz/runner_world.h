/*
 * The runner's MCP servers without programs, sockets and time, for the targets
 * that are about them: one server, and a worker that watches it, calls it and
 * answers what it asks.
 */
#ifndef FUZZ_RUNNER_WORLD_H
#define FUZZ_RUNNER_WORLD_H

#include "help.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/main/tg_worker_conn.h"

#define WORLD_KEY "key-000000000000"
#define WORLD_METHODS 5

typedef struct {
    uv_loop_t loop;
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_mcp_servers_t servers;
    tg_http_pool_t http; /* never used: only by what is replaced */
    tg_catalog_t *catalog;
    tg_catalog_entry_t entries[WORLD_METHODS];
    tg_server_info_t info;
    tg_peer_t peer;
    void (*turn)(void); /* before each turn of the loop; or NULL */
    unsigned ncalls;
    int has_started; /* the loop is there */
} world_t;

extern world_t world;

/* The worker watches a server with these members of its spec. */
void world_begin(const char *spec, void (*turn)(void));

/*
 * A line for the worker: `w` is what it sends, `+` a call with that name, `-`
 * cancels the call of that number.  0: it is none of these.
 */
int world_line(tg_str_t line);

/* One turn of the loop. */
void world_run(void);

/* The worker goes, and so does the server, of which nothing may be left. */
void world_end(void);

/* The server, while it is watched; or NULL. */
tg_mcp_server_t *world_server(void);

#endif
