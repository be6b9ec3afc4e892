/*
 * Automation: rules, of blocks and of JSON files.  Either is the JSON of
 * rule/tg_rule.h in the end, which the runner gets with a server's tasks.
 *
 *   …_automation.c          the module; `automation NAME { }`, its end
 *   …_automation_block.c    directives within it
 *   …_automation_trigger.c  of them, `trigger`
 *   …_automation_rule.c     a rule's check, `automation_file`
 */
#ifndef _NGX_TOOLGATE_AUTOMATION_H_INCLUDED_
#define _NGX_TOOLGATE_AUTOMATION_H_INCLUDED_

#include "base/tg_utf8.h"
#include "nginx/handlers/ngx_toolgate_task.h"
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
} ngx_toolgate_automation_t;

/* A rule of a server, as the runner gets it. */
struct ngx_toolgate_auto_s {
    ngx_str_t id;
    ngx_str_t json;
    ngx_str_t agent; /* which it needs; empty: the default */
    ngx_uint_t is_agent;
    ngx_str_t where; /* for messages: file and line */
};

char *ngx_toolgate_automation_trigger(ngx_conf_t *cf, ngx_command_t *cmd,
                                      void *conf);
char *ngx_toolgate_automation_when(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_toolgate_automation_action(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_toolgate_automation_secret(ngx_conf_t *cf, ngx_command_t *cmd,
                                     void *conf);
char *ngx_toolgate_automation_priority(ngx_conf_t *cf, ngx_command_t *cmd,
                                       void *conf);
char *ngx_toolgate_automation_cooldown(ngx_conf_t *cf, ngx_command_t *cmd,
                                       void *conf);
char *ngx_toolgate_automation_approval(ngx_conf_t *cf, ngx_command_t *cmd,
                                       void *conf);
char *ngx_toolgate_automation_file(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/* --- …_automation_rule.c --- */

/* Where a rule is from, for messages. */
typedef struct {
    const char *name;      /* what it is called there */
    const ngx_str_t *path; /* of its file; NULL: a block */
    tg_str_t text;         /* all of that, of which the rule is a slice */
} ngx_toolgate_auto_from_t;

/*
 * Adds a rule to those of the server: NGX_CONF_OK; or logged, with where it
 * stands.
 */
char *ngx_toolgate_auto_add(ngx_conf_t *cf,
                            const ngx_toolgate_auto_from_t *from, tg_str_t json,
                            const ngx_str_t *secret);

#endif
