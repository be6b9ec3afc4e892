/*
 * Tasks: programs that outlive whoever asks for them.  The runner has them;
 * the config says which there are.
 *
 *   ngx_tg_task.c         the methods
 *   ngx_tg_task_agent_tools.c   the same for agents
 *   ngx_tg_task_catalog_entry.c   what both are in the catalogue
 *   ngx_tg_task_directives.c    directives of a server
 *   ngx_tg_task_store_check.c   can its store be reached?
 *   ngx_tg_task_agent_block.c   `task_agent NAME { }`
 *   ngx_tg_task_agent_directives.c   the directives in it
 *   ngx_tg_task_tool.c   tools with `task`
 *   ngx_tg_task_store.c   where they are written down
 *   ngx_tg_task_finalize.c  what the runner is told
 *   ngx_tg_task_subscriber.c   when it is told, and what it says by itself
 *   ngx_tg_task_shutdown.c    NGINX ends
 *   ngx_tg_automation.h   rules that make tasks
 */
#ifndef _NGX_TG_TASK_H_INCLUDED_
#define _NGX_TG_TASK_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "nginx/config/ngx_tg_command_lint.h"

/* The context of directives within a task_agent block. */
#define NGX_STREAM_TASK_CONF 0x40000000

/* As the runner has it: of the programs that it runs at once. */
#define NGX_TG_TASK_CONCURRENCY_MAX 32
#define NGX_TG_TASK_AGENTS_MAX 64

/* Of `task_visibility`: who sees a task. */
#define NGX_TG_TASK_VISIBILITY_OWN 0
#define NGX_TG_TASK_VISIBILITY_ALL 1

/* `task_agent NAME { }`; each text is JSON for the runner, or empty. */
typedef struct {
    ngx_str_t name;
    ngx_str_t argv;                /* its elements; empty: no `exec` */
    ngx_tg_command_line_t command; /* as the config has it */
    ngx_str_t env;                 /* likewise */
    ngx_str_t cwd;
    ngx_str_t input;
    ngx_str_t success; /* its elements */
    ngx_msec_t timeout;
    ngx_int_t concurrency;
    size_t max_output;
    off_t memory;
    off_t pids;
    ngx_int_t retry;
    ngx_uint_t is_default;
    ngx_str_t file; /* for messages: its place */
    ngx_uint_t line;
} ngx_tg_task_agent_t;

typedef struct ngx_tg_automation_rule_s ngx_tg_automation_rule_t;

/* A server's tasks. */
typedef struct {
    ngx_tg_srv_conf_t *scf;  /* NULL: nothing was said of tasks */
    ngx_str_t store;         /* "sqlite:/PATH", "postgresql:…" */
    ngx_str_t password;      /* of that */
    ngx_msec_t lease;        /* likewise */
    ngx_array_t *agents;     /* ngx_tg_task_agent_t * */
    ngx_array_t *task_tools; /* ngx_tg_tool_t *: those with `task` */
    ngx_array_t *admins;     /* rules of daemon.stop */
    ngx_array_t *rules;      /* ngx_tg_automation_rule_t: of automation */
    ngx_tg_tool_t *stop;     /* that method; NULL: there is none */
    ngx_flag_t methods;
    ngx_flag_t tools;
    ngx_uint_t visibility; /* NGX_TG_TASK_… */
    ngx_int_t concurrency;
    ngx_int_t queue;
    time_t keep;
    off_t output_quota;
    ngx_str_t where;       /* for messages: file and line */
    ngx_str_t open_params; /* the params of the runner's task_open */

    /* of the worker */
    ngx_tg_runner_subscriber_t subscriber;
    ngx_tg_upstream_request_t request;
    ngx_event_t retry;
    ngx_msec_t delay;
} ngx_tg_tasks_t;

typedef struct {
    ngx_array_t servers; /* ngx_tg_tasks_t *, those that have tasks */
} ngx_tg_tasks_main_conf_t;

extern ngx_module_t ngx_tg_task_module;
extern ngx_module_t ngx_tg_automation_module;
extern const ngx_tg_handler_t ngx_tg_task_handler;

/* --- ngx_tg_task_catalog_entry.c --- */

/*
 * Adds a method or tool that is a method of the runner's; NULL: logged.  The
 * strings live as long as the config.
 */
ngx_tg_tool_t *ngx_tg_task_add_catalog_entry(ngx_conf_t *cf,
                                             const ngx_tg_tasks_t *tasks,
                                             const ngx_tg_handler_t *h,
                                             tg_catalog_entry_type_t kind,
                                             ngx_str_t *name, ngx_str_t *method,
                                             tg_str_t schema);

/* --- ngx_tg_task_agent_tools.c --- */

/* Offers the tools in a server: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_task_offer_tools(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks,
                                  const ngx_tg_handler_t *handler);

/* --- ngx_tg_task_tool.c --- */

/* Which tools of a server's have `task`: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_task_tools_find(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                                 ngx_tg_tasks_t *tasks);

/* Appends it as the runner has agents, whose name is tool:NAME. */
void ngx_tg_task_tool_write_json(const ngx_tg_tool_t *tool, tg_buf_t *json);

/* --- ngx_tg_task_store.c --- */

char *ngx_tg_tasks_set_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Can the runner load what it needs for it?  NGX_ERROR: logged. */
ngx_int_t ngx_tg_task_store_check_library(ngx_conf_t *cf,
                                          const ngx_tg_tasks_t *tasks);

/* Where it is, if that was not said; under `nginx -t`, can it be opened? */
ngx_int_t ngx_tg_task_store_finalize(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks);

/* --- ngx_tg_task_store_check.c --- */

/* Has the runner, and the workers' user, look: NGX_ERROR: logged. */
ngx_int_t ngx_tg_task_store_check(ngx_cycle_t *cycle, ngx_tg_tasks_t *tasks);

/* --- ngx_tg_task_finalize.c --- */

/* Says where the server's store is, and what the runner is told of it all. */
ngx_int_t ngx_tg_tasks_finalize_config(ngx_cycle_t *cycle);

/* --- ngx_tg_task_agent_directives.c and ngx_tg_task_agent_block.c --- */

/* The server's, from its first directive on; NULL: logged. */
ngx_tg_tasks_t *ngx_tg_conf_enable_tasks(ngx_conf_t *cf);

/* Copies what was written to a pool, and frees it: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_buf_move_to_pool(ngx_pool_t *pool, tg_buf_t *buf,
                                  ngx_str_t *text);

/* Has it the tasks of all names that no other agent has? */
ngx_uint_t ngx_tg_task_agent_is_wildcard(const ngx_tg_task_agent_t *agent);

/* Has it tasks of this name, as far as it decides? */
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
char *ngx_tg_task_agent_set_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
char *ngx_tg_task_agent_set_default(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
void ngx_tg_task_agent_write_json(const ngx_tg_task_agent_t *agent,
                                  tg_buf_t *json);

/* --- ngx_tg_automation_rule.c --- */

/* The server was read: the rules' agents are there.  NGX_ERROR: logged. */
ngx_int_t ngx_tg_automation_rules_check(ngx_conf_t *cf,
                                        const ngx_tg_tasks_t *tasks);

/* Warns of each task_agent of a server that nothing can start. */
void ngx_tg_task_agents_lint(ngx_conf_t *cf, const ngx_tg_tasks_t *tasks);

/* Appends the rules, where there are some, as a member behind others. */
void ngx_tg_automation_rules_write_json(const ngx_tg_tasks_t *tasks,
                                        tg_buf_t *json);

/* --- ngx_tg_task_subscriber.c --- */

ngx_int_t ngx_tg_tasks_init_process(ngx_cycle_t *cycle);

/* --- ngx_tg_task_shutdown.c --- */

void ngx_tg_tasks_exit_master(ngx_cycle_t *cycle);

#endif
