/*
 * Automation: rules, of blocks and of JSON files.  Either is the JSON of
 * rule/tg_rule.h in the end, which the runner gets with a server's tasks.
 *
 *   ngx_tg_automation.c          the module; `automation NAME { }`, its end
 *   ngx_tg_automation_directives.c    directives within it
 *   ngx_tg_automation_trigger.c  of them, `trigger`
 *   ngx_tg_automation_rule.c     a rule's check, `automation_file`
 */
#ifndef _NGX_TG_AUTOMATION_H_INCLUDED_
#define _NGX_TG_AUTOMATION_H_INCLUDED_

#include "base/tg_utf8.h"
#include "nginx/handlers/ngx_tg_task.h"
#include "rule/tg_rule.h"

/* The context of directives within an automation block. */
#define NGX_STREAM_AUTOMATION_CONF 0x80000000

/* A block, piece by piece; each text is JSON, or empty. */
typedef struct {
    ngx_str_t name;
    ngx_str_t trigger;    /* an object */
    ngx_str_t conditions; /* its elements */
    ngx_str_t action;     /* an object, which is not closed */
    ngx_str_t secret;     /* the text itself */
    ngx_str_t description;
    ngx_int_t priority;
    time_t cooldown;
    ngx_flag_t enabled;
    ngx_uint_t needs_approval;
    ngx_uint_t is_agent;   /* the action is one */
    ngx_uint_t is_webhook; /* likewise */
    ngx_uint_t has_priority;
} ngx_tg_automation_t;

/* A rule of a server, as the runner gets it. */
struct ngx_tg_automation_rule_s {
    ngx_str_t id;
    ngx_str_t json;
    ngx_str_t agent; /* which it needs; empty: the default */
    ngx_uint_t is_agent;
    ngx_str_t where; /* for messages: file and line */
};

char *ngx_tg_automation_set_trigger(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
char *ngx_tg_automation_set_when(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_automation_set_action(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_automation_set_secret(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_automation_set_priority(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_automation_set_cooldown(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_automation_set_approval(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_tg_automation_read_file(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);

/* --- ngx_tg_automation_rule.c --- */

/* Where a rule is from, for messages. */
typedef struct {
    const char *name;      /* what it is called there */
    const ngx_str_t *path; /* of its file; NULL: a block */
    tg_str_t text;         /* all of that, of which the rule is a slice */
} ngx_tg_automation_rule_source_t;

/*
 * Adds a rule to those of the server: NGX_CONF_OK; or logged, with where it
 * stands.
 */
char *ngx_tg_automation_rule_add(ngx_conf_t *cf,
                                 const ngx_tg_automation_rule_source_t *source,
                                 tg_str_t json, const ngx_str_t *secret);

#endif
