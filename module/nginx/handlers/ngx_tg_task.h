/*
 * Tasks: programs that outlive the client that submits them. The runner
 * executes and stores them; the config defines agents and limits.
 *
 *   ngx_tg_task.c                   methods
 *   ngx_tg_task_agent_tools.c       tools of `task_tools`, for agents
 *   ngx_tg_task_catalog_entry.c     catalog entries of methods and tools
 *   ngx_tg_task_directives.c        directives of a server
 *   ngx_tg_task_store_check.c       check of the store under `nginx -t`
 *   ngx_tg_task_agent_block.c       block `task_agent NAME { }`
 *   ngx_tg_task_agent_directives.c  directives in the block
 *   ngx_tg_task_tool.c              tools with `task`
 *   ngx_tg_task_store.c             directive `task_store`
 *   ngx_tg_task_finalize.c          params of the runner's task_open
 *   ngx_tg_task_subscriber.c        task_open, notifications of the runner
 *   ngx_tg_task_shutdown.c          end of NGINX
 *   ngx_tg_automation.h             rules that create tasks
 */
#ifndef _NGX_TG_TASK_H_INCLUDED_
#define _NGX_TG_TASK_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/config/ngx_tg_command_lint.h"
#include "nginx/config/ngx_tg_spec.h"
#include "spec/tg_task_spec.h"
#include "nginx/upstream/ngx_tg_runner.h"

/* Context of the directives within a task_agent block. */
#define NGX_STREAM_TASK_CONF 0x40000000

#define NGX_TG_TASK_AGENTS_MAX 64

/* Values of `task_visibility`: a client sees its own tasks, or all. */
#define NGX_TG_TASK_VISIBILITY_OWN 0
#define NGX_TG_TASK_VISIBILITY_ALL 1

/*
 * An agent of `task_agent NAME { }`; each text is JSON for the runner, or
 * empty.
 */
typedef struct {
    ngx_str_t name;
    /* elements of a JSON array; empty: no `exec` */
    ngx_str_t argv;
    ngx_tg_command_line_t command; /* command line as the config has it */
    ngx_str_t env;                 /* environment: elements of a JSON array */
    ngx_str_t cwd;
    ngx_str_t input;
    /* exit statuses that are a success: elements of a JSON array */
    ngx_str_t success;
    tg_agent_spec_t options; /* the members that directives set */
    ngx_uint_t is_default;
    ngx_str_t file; /* position in the config, for messages */
    ngx_uint_t line;
} ngx_tg_task_agent_t;

typedef struct ngx_tg_automation_rule_s ngx_tg_automation_rule_t;

/* Settings and state of a server's tasks. */
typedef struct {
    ngx_tg_srv_conf_t *scf;  /* NULL: the server has no tasks */
    ngx_str_t store;         /* "sqlite:/PATH", "postgresql:…" */
    ngx_str_t password;      /* password of the store */
    ngx_array_t *agents;     /* ngx_tg_task_agent_t * */
    ngx_array_t *task_tools; /* ngx_tg_tool_t *: tools with `task` */
    ngx_array_t *admins;     /* access rules of daemon.stop */
    ngx_array_t *rules;      /* ngx_tg_automation_rule_t: rules of automation */
    ngx_tg_tool_t *stop;     /* the method daemon.stop; NULL: not offered */
    ngx_flag_t methods;
    ngx_flag_t tools;
    ngx_uint_t visibility;  /* NGX_TG_TASK_VISIBILITY_… */
    tg_task_spec_t options; /* the members that directives set */
    ngx_str_t where;        /* file and line, for messages */
    ngx_str_t open_params;  /* params of the runner's method task_open */

    /* State of the worker. */
    ngx_tg_runner_subscriber_t subscriber;
    ngx_tg_upstream_request_t request;
    ngx_event_t retry;
    ngx_msec_t delay;
} ngx_tg_tasks_t;

typedef struct {
    ngx_array_t servers; /* ngx_tg_tasks_t *: the servers that have tasks */
} ngx_tg_tasks_main_conf_t;

extern ngx_module_t ngx_tg_task_module;
extern ngx_module_t ngx_tg_automation_module;
extern const ngx_tg_handler_t ngx_tg_task_handler;

/* --- ngx_tg_task_catalog_entry.c --- */

/*
 * Adds a catalog entry for a method of the runner, as a method or as a tool;
 * the strings must live as long as the config. NULL: error, logged.
 */
ngx_tg_tool_t *ngx_tg_task_add_catalog_entry(ngx_conf_t *cf,
                                             const ngx_tg_tasks_t *tasks,
                                             const ngx_tg_handler_t *h,
                                             tg_catalog_entry_type_t kind,
                                             ngx_str_t *name, ngx_str_t *method,
                                             tg_str_t schema);

/* --- ngx_tg_task_agent_tools.c --- */

/*
 * Adds the tools of `task_tools` to a server's catalog. NGX_OK, or NGX_ERROR:
 * logged.
 */
ngx_int_t ngx_tg_task_offer_tools(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                                  const ngx_tg_handler_t *handler);

/* --- ngx_tg_task_tool.c --- */

/*
 * Finds the tools of a server that have `task`. NGX_OK, or NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_task_tools_find(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                                 ngx_tg_tasks_t *tasks);

/*
 * Appends a tool with `task` as the JSON of a runner's agent, named tool:NAME.
 */
void ngx_tg_task_tool_write_json(const ngx_tg_tool_t *tool, tg_buf_t *json);

/* --- ngx_tg_task_store.c --- */

char *ngx_tg_tasks_set_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Checks that the store's client library is installed for the runner, and that
 * task_output_quota is not set for PostgreSQL. NGX_OK, or NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_task_store_check_library(ngx_conf_t *cf,
                                          const ngx_tg_tasks_t *tasks);

/*
 * Sets the default path of the store, if none is set; under `nginx -t`, also
 * checks whether the store can be opened. NGX_OK, or NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_task_store_finalize(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks);

/* --- ngx_tg_task_store_check.c --- */

/*
 * Runs the runner as the workers' user to check whether the store can be
 * opened. NGX_OK, or NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_task_store_check(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks);

/* --- ngx_tg_task_finalize.c --- */

/*
 * Sets the path of each server's store and prepares the params of task_open.
 * NGX_OK, or NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_tasks_finalize_config(ngx_cycle_t *cycle);

/* --- ngx_tg_task_agent_directives.c and ngx_tg_task_agent_block.c --- */

/*
 * Returns the tasks of the current server; the first call enables them. NULL:
 * error, logged.
 */
ngx_tg_tasks_t *ngx_tg_conf_enable_tasks(ngx_conf_t *cf);

/*
 * Copies a buffer to a pool, NUL-terminated, and frees the buffer. NGX_OK, or
 * NGX_ERROR: no memory.
 */
ngx_int_t ngx_tg_buf_move_to_pool(ngx_pool_t *pool, tg_buf_t *buf,
                                  ngx_str_t *text);

/*
 * Checks whether the agent is `*`, which runs the tasks of all names that no
 * other agent has.
 */
ngx_uint_t ngx_tg_task_agent_is_wildcard(const ngx_tg_task_agent_t *agent);

/*
 * Checks whether the agent can run tasks for an agent of this name; for `*`,
 * every valid name.
 */
ngx_uint_t ngx_tg_task_agent_has_name(const ngx_tg_task_agent_t *agent,
                                      const ngx_str_t *name);

char *ngx_tg_task_agent_read_block(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_task_agent_set_exec(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_task_agent_set_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_task_agent_set_value(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);
char *ngx_tg_task_agent_set_success(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
char *ngx_tg_task_agent_set_default(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
void ngx_tg_task_agent_write_json(const ngx_tg_task_agent_t *agent,
                                  tg_buf_t *json);

/* --- ngx_tg_automation_rule.c --- */

/*
 * Checks that the agents of all rules of a server exist, after the server was
 * read. NGX_OK, or NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_automation_rules_check(ngx_conf_t *cf,
                                        const ngx_tg_tasks_t *tasks);

/*
 * Logs a warning for each task_agent of a server that no client and no rule can
 * start.
 */
void ngx_tg_task_agents_lint(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks);

/* Appends the rules as another member of a JSON object, if there are any. */
void ngx_tg_automation_rules_write_json(const ngx_tg_tasks_t *tasks,
                                        tg_buf_t *json);

/* --- ngx_tg_task_subscriber.c --- */

ngx_int_t ngx_tg_tasks_init_process(ngx_cycle_t *cycle);

/* --- ngx_tg_task_shutdown.c --- */

void ngx_tg_tasks_exit_master(ngx_cycle_t *cycle);

#endif
