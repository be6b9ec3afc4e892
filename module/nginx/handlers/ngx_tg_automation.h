/*
 * Automation: rules from blocks and from JSON files. Each rule becomes the JSON
 * of rule/tg_rule.h, which the runner receives with a server's tasks.
 *
 *   ngx_tg_automation.c             module; `automation NAME { }`
 *   ngx_tg_automation_directives.c  directives in the block
 *   ngx_tg_automation_trigger.c     directive `trigger`
 *   ngx_tg_automation_rule.c        checks of a rule
 *   ngx_tg_automation_file.c        directive `automation_file`
 */
#ifndef _NGX_TG_AUTOMATION_H_INCLUDED_
#define _NGX_TG_AUTOMATION_H_INCLUDED_

#include "base/tg_utf8.h"
#include "nginx/handlers/ngx_tg_task.h"
#include "rule/tg_rule.h"

/* Context of the directives within an automation block. */
#define NGX_STREAM_AUTOMATION_CONF 0x80000000

/* An automation block while it is parsed; each text is JSON, or empty. */
typedef struct {
    ngx_str_t name;
    ngx_str_t trigger;    /* a JSON object */
    ngx_str_t conditions; /* conditions: elements of a JSON array */
    ngx_str_t action;     /* a JSON object without its closing brace */
    ngx_str_t secret;     /* the secret itself, not JSON */
    ngx_str_t description;
    tg_rule_spec_t rule; /* the members that directives set */
    tg_rule_action_t options;
    ngx_uint_t is_agent;   /* the action is `agent` */
    ngx_uint_t is_webhook; /* the action is `webhook` */
} ngx_tg_automation_t;

/* A rule of a server, as the runner receives it. */
struct ngx_tg_automation_rule_s {
    ngx_str_t id;
    ngx_str_t json;
    /* name of the agent that runs it; empty: the default agent */
    ngx_str_t agent;
    ngx_uint_t is_agent;
    ngx_str_t where; /* file and line, for messages */
};

char *ngx_tg_automation_set_trigger(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
char *ngx_tg_automation_set_when(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);
char *ngx_tg_automation_set_action(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_automation_set_secret(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
char *ngx_tg_automation_read_file(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf);

/* --- ngx_tg_automation_rule.c --- */

/* The source of a rule, for messages. */
typedef struct {
    const char *name;      /* name of the block or file entry */
    const ngx_str_t *path; /* path of the JSON file; NULL: a block */
    tg_str_t text;         /* whole text of the file, which contains the rule */
} ngx_tg_automation_rule_source_t;

/*
 * Checks a rule and adds it to those of the server. NGX_CONF_OK, or
 * NGX_CONF_ERROR: logged with the position.
 */
char *ngx_tg_automation_rule_add(ngx_conf_t *cf,
                                 const ngx_tg_automation_rule_source_t *source,
                                 tg_str_t json, const ngx_str_t *secret);

/*
 * Logs an error in a rule; the text begins with the member. Returns
 * NGX_CONF_ERROR.
 */
char *ngx_tg_automation_rule_conf_error(
    ngx_conf_t *cf, const ngx_tg_automation_rule_source_t *source,
    tg_str_t rule, const char *format, ...);

#endif
