/* Prompts, resources and templates in the config, and how they are listed. */
#ifndef _NGX_TG_LISTING_H_INCLUDED_
#define _NGX_TG_LISTING_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"

/* Sets of kinds, for directives that have an effect in some blocks only. */
#define NGX_TG_KIND(kind) (1u << TG_ENTRY_##kind)
#define NGX_TG_KINDS_READ (NGX_TG_KIND(RESOURCE) | NGX_TG_KIND(TEMPLATE))
#define NGX_TG_KINDS_WITH_ARGUMENTS                                            \
    (NGX_TG_KIND(PROMPT) | NGX_TG_KIND(TEMPLATE))
/* Kinds whose whole result the worker checks. */
#define NGX_TG_KINDS_WITH_RESULT (NGX_TG_KIND(PROMPT) | NGX_TG_KINDS_READ)
#define NGX_TG_KINDS_LISTED                                                    \
    (NGX_TG_KIND(TOOL) | NGX_TG_KIND(PROMPT) | NGX_TG_KINDS_READ)
#define NGX_TG_KINDS_WITH_SCHEMA (NGX_TG_KIND(TOOL) | NGX_TG_KIND(METHOD))

/*
 * Checks that a directive has an effect in this block. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_conf_check_kind(ngx_conf_t *cf, const ngx_command_t *cmd,
                                 const ngx_tg_tool_t *tool, ngx_uint_t kinds);

/* Directives of this module that are in the table of another file. */
extern const ngx_command_t ngx_tg_listing_commands[];

/*
 * Appends a part to raw JSON in *all, which begins as the empty array or object
 * of these brackets if it is absent. Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_conf_append_json(ngx_conf_t *cf, tg_str_t *all,
                                  const char *brackets, const tg_buf_t *part);

/*
 * Adds a member to a raw object, which may be absent. Logs an error if it has
 * the key already.
 */
char *ngx_tg_conf_add_json_member(ngx_conf_t *cf, ngx_command_t *cmd,
                                  tg_str_t *all, tg_str_t key, tg_str_t json);

char *ngx_tg_conf_add_icon(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
char *ngx_tg_conf_add_entry_icon(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);

char *ngx_tg_conf_add_argument(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

char *ngx_tg_conf_set_watch(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Sets the default of `watch` in a block whose handler is known. Returns NULL,
 * or the text that follows the block's name in the error message.
 */
const char *ngx_tg_tool_init_watch(ngx_tg_tool_t *tool);

/*
 * Sets and compiles a schema of arguments, valid JSON. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_tool_set_input_schema(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                                       ngx_str_t *directive, tg_str_t schema);

/*
 * Reads the rest of a word that NGINX has ended at a "{" within it, and the "{"
 * of the block. Returns NGX_OK, also if the "{" begins the block; or NGX_ERROR
 * after logging.
 */
ngx_int_t ngx_tg_conf_read_braced_word(ngx_conf_t *cf, ngx_str_t *word);

/*
 * Checks the name, URI or template of a block that begins, and compiles the
 * template. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_tool_init_name(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                                ngx_tg_tool_t *tool);

/*
 * Sets what follows from the directives of a prompt, resource or template that
 * was read: its schema, its arguments in the list, its name. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_tool_init_listing(ngx_conf_t *cf, ngx_tg_tool_t *tool);

/* Checks what agents cannot use, or use badly, and logs warnings. */
void ngx_tg_lint_listing(ngx_conf_t *cf, const ngx_tg_tool_t *tool);

#endif
