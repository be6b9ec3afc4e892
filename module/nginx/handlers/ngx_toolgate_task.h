/*
 * Tasks: programs that outlive whoever asks for them.  The runner has them;
 * the config says which there are.
 *
 *   …_task.c         the methods
 *   …_task_tools.c   the same for agents
 *   …_task_entry.c   what both are in the catalogue
 *   …_task_conf.c    directives of a server
 *   …_task_check.c   can its store be reached?
 *   …_task_block.c   `task_agent NAME { }`
 *   …_task_agent.c   the directives in it
 *   …_task_doers.c   tools with `task`
 *   …_task_store.c   where they are written down
 *   …_task_settle.c  what the runner is told
 *   …_task_watch.c   when it is told, and what it says by itself
 *   …_task_quit.c    NGINX ends
 *   …_automation.h   rules that make tasks
 */
#ifndef _NGX_TOOLGATE_TASK_H_INCLUDED_
#define _NGX_TOOLGATE_TASK_H_INCLUDED_

#include "nginx/call/ngx_toolgate_call.h"
#include "nginx/conf/ngx_toolgate_command.h"

/* The context of directives within a task_agent block. */
#define NGX_STREAM_TASK_CONF 0x40000000

/* As the runner has it: of the programs that it runs at once. */
#define NGX_TOOLGATE_TASKS_MAX 32
#define NGX_TOOLGATE_AGENTS_MAX 64

/* Of `task_visibility`: who sees a task. */
#define NGX_TOOLGATE_TASK_OWN 0
#define NGX_TOOLGATE_TASK_ALL 1

/* `task_agent NAME { }`; each text is JSON for the runner, or empty. */
typedef struct {
    ngx_str_t name;
    ngx_str_t argv;                 /* its elements; empty: no `exec` */
    ngx_toolgate_command_t command; /* as the config has it */
    ngx_str_t env;                  /* likewise */
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
} ngx_toolgate_agent_t;

typedef struct ngx_toolgate_auto_s ngx_toolgate_auto_t;

/* A server's tasks. */
typedef struct {
    ngx_toolgate_srv_conf_t *scf; /* NULL: nothing was said of tasks */
    ngx_str_t store;              /* "sqlite:/PATH", "postgresql:…" */
    ngx_str_t password;           /* of that */
    ngx_msec_t lease;             /* likewise */
    ngx_array_t *agents;          /* ngx_toolgate_agent_t * */
    ngx_array_t *doers;           /* ngx_toolgate_tool_t *: those with `task` */
    ngx_array_t *admins;          /* rules of daemon.stop */
    ngx_array_t *rules;           /* ngx_toolgate_auto_t: of automation */
    ngx_toolgate_tool_t *stop;    /* that method; NULL: there is none */
    ngx_flag_t methods;
    ngx_flag_t tools;
    ngx_uint_t visibility; /* NGX_TOOLGATE_TASK_… */
    ngx_int_t concurrency;
    ngx_int_t queue;
    time_t keep;
    off_t output_quota;
    ngx_str_t where; /* for messages: file and line */
    ngx_str_t spec;  /* the params of the runner's task_open */

    /* of the worker */
    ngx_toolgate_watch_t watch;
    ngx_toolgate_ask_t ask;
    ngx_event_t retry;
    ngx_msec_t delay;
} ngx_toolgate_tasks_t;

typedef struct {
    ngx_array_t servers; /* ngx_toolgate_tasks_t *, those that have tasks */
} ngx_toolgate_tasks_main_conf_t;

extern ngx_module_t ngx_toolgate_task_module;
extern ngx_module_t ngx_toolgate_automation_module;
extern const ngx_toolgate_handler_t ngx_toolgate_task_handler;

/* --- …_task_entry.c --- */

/*
 * Adds a method or tool that is a method of the runner's; NULL: logged.  The
 * strings live as long as the config.
 */
ngx_toolgate_tool_t *ngx_toolgate_task_entry(ngx_conf_t *cf,
                                             const ngx_toolgate_tasks_t *tasks,
                                             const ngx_toolgate_handler_t *h,
                                             tg_entry_kind_t kind,
                                             ngx_str_t *name, ngx_str_t *method,
                                             tg_str_t schema);

/* --- …_task_tools.c --- */

/* Offers the tools in a server: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_task_offer_tools(ngx_conf_t *cf,
                                        const ngx_toolgate_tasks_t *tasks,
                                        const ngx_toolgate_handler_t *handler);

/* --- …_task_doers.c --- */

/* Which tools of a server's have `task`: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_task_find_doers(ngx_conf_t *cf,
                                       ngx_toolgate_srv_conf_t *scf,
                                       ngx_toolgate_tasks_t *tasks);

/* Appends it as the runner has agents, whose name is tool:NAME. */
void ngx_toolgate_doer_put(const ngx_toolgate_tool_t *tool, tg_buf_t *json);

/* --- …_task_store.c --- */

char *ngx_toolgate_task_store(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/* Can the runner load what it needs for it?  NGX_ERROR: logged. */
ngx_int_t ngx_toolgate_task_library(ngx_conf_t *cf,
                                    const ngx_toolgate_tasks_t *tasks);

/* Where it is, if that was not said; under `nginx -t`, can it be opened? */
ngx_int_t ngx_toolgate_task_place(ngx_cycle_t *cycle,
                                  ngx_toolgate_tasks_t *tasks);

/* --- …_task_check.c --- */

/* Has the runner, and the workers' user, look: NGX_ERROR: logged. */
ngx_int_t ngx_toolgate_task_check(ngx_cycle_t *cycle,
                                  ngx_toolgate_tasks_t *tasks);

/* --- …_task_settle.c --- */

/* Says where the server's store is, and what the runner is told of it all. */
ngx_int_t ngx_toolgate_task_settle(ngx_cycle_t *cycle);

/* --- …_task_agent.c and …_task_block.c --- */

/* The server's, from its first directive on; NULL: logged. */
ngx_toolgate_tasks_t *ngx_toolgate_task_use(ngx_conf_t *cf);

/* Copies what was written to a pool, and frees it: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_toolgate_task_keep(ngx_pool_t *pool, tg_buf_t *buf,
                                 ngx_str_t *text);

/* Has it the tasks of all names that no other agent has? */
ngx_uint_t ngx_toolgate_agent_is_any(const ngx_toolgate_agent_t *agent);

/* Has it tasks of this name, as far as it decides? */
ngx_uint_t ngx_toolgate_agent_has(const ngx_toolgate_agent_t *agent,
                                  const ngx_str_t *name);

char *ngx_toolgate_task_agent(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_agent_exec(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_agent_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_agent_value(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_toolgate_agent_success(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_toolgate_agent_timeout(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_toolgate_agent_default(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
void ngx_toolgate_agent_put(const ngx_toolgate_agent_t *agent, tg_buf_t *json);

/* --- …_automation_rule.c --- */

/* The server was read: the rules' agents are there.  NGX_ERROR: logged. */
ngx_int_t ngx_toolgate_autos_check(ngx_conf_t *cf,
                                   const ngx_toolgate_tasks_t *tasks);

/* Warns of each task_agent of a server that nothing can start. */
void ngx_toolgate_agents_advise(ngx_conf_t *cf,
                                const ngx_toolgate_tasks_t *tasks);

/* Appends the rules, where there are some, as a member behind others. */
void ngx_toolgate_autos_put(const ngx_toolgate_tasks_t *tasks, tg_buf_t *json);

/* --- …_task_watch.c --- */

ngx_int_t ngx_toolgate_task_init_process(ngx_cycle_t *cycle);

/* --- …_task_quit.c --- */

void ngx_toolgate_task_exit_master(ngx_cycle_t *cycle);

#endif
