/*
 * The runner's MCP servers without programs, sockets and time: one server, and
 * a worker that watches it, calls its tools and responds to its requests.
 */
#ifndef FUZZ_RUNNER_WORLD_H
#define FUZZ_RUNNER_WORLD_H

#include "help.h"

#include "runner/mcp/tg_mcp_job.h"
#include "runner/main/tg_worker_conn.h"
#include "protocol/tg_peer.h"

#define WORLD_KEY "key-000000000000"
#define WORLD_METHODS 7

typedef struct {
    uv_loop_t loop;
    tg_jobs_t jobs;
    tg_programs_t programs;
    tg_mcp_servers_t servers;
    tg_http_pool_t http; /* unused, as only replaced functions need it */
    tg_catalog_t *catalog;
    tg_catalog_entry_t entries[WORLD_METHODS];
    tg_server_info_t info;
    tg_peer_t peer;
    void (*iterate)(void); /* runs before each loop iteration; or NULL */
    unsigned ncalls;
    int has_started; /* the loop is initialized */
} world_t;

extern world_t world;

/* Starts a worker that watches a server with these members in its spec. */
void world_begin(const char *spec, void (*iterate)(void));

/*
 * Runs a command of the worker: `w` sends a message, `+` calls the tool of
 * that name, `-` cancels the call of that number. Returns 0 for other lines.
 */
int world_run_line(tg_str_t line);

/* Runs one loop iteration. */
void world_run(void);

/* Ends the worker and the server, and checks that nothing is left. */
void world_end(void);

/* Returns the server while it is watched, or NULL. */
tg_mcp_server_t *world_server(void);

#endif
