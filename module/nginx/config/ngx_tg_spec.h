/* Directives of options that a table describes (spec/tg_spec.h). */
#ifndef _NGX_TG_SPEC_H_INCLUDED_
#define _NGX_TG_SPEC_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"
#include "spec/tg_spec.h"

typedef char *(*ngx_tg_spec_set_pt)(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);

/*
 * Appends the directives of a table to those of a module, whose array has space
 * for them, zeroed. With NGX_STREAM_MAIN_CONF in contexts, these are the
 * defaults of a server, else the directives in a block. The struct is at
 * `offset` of the configuration. `set` calls ngx_tg_spec_set(); NULL: that
 * function. Called before NGINX reads the array.
 */
void ngx_tg_spec_add_commands(ngx_command_t *commands,
                              const tg_json_field_t *fields,
                              ngx_uint_t contexts, size_t offset,
                              ngx_tg_spec_set_pt set);

/* Appends directives to those of a module, like ngx_tg_spec_add_commands(). */
void ngx_tg_commands_append(ngx_command_t *commands, const ngx_command_t *more);

/* Parses a directive; cmd->post is its tg_json_field_t. */
char *ngx_tg_spec_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

/*
 * Sets the option of a row, and the parameters after it, from word i on; if the
 * row is a parameter, all words are parameters.
 */
char *ngx_tg_spec_set_words(ngx_conf_t *cf, ngx_command_t *cmd, ngx_uint_t i,
                            const tg_json_field_t *field, void *object);

/* Logs that word i of a directive is invalid. Returns NGX_CONF_ERROR. */
char *ngx_tg_spec_reject(ngx_conf_t *cf, ngx_command_t *cmd, ngx_uint_t i);

/*
 * Parses a number, a size, or a time in ms, from min to max. Returns NGX_OK, or
 * NGX_ERROR if it is invalid.
 */
ngx_int_t ngx_tg_arg_parse(tg_spec_syntax_t syntax, const ngx_str_t *text,
                           int64_t min, int64_t max, int64_t *value);

/*
 * Checks whether a word begins with a name, which ends in `=`; value becomes
 * what follows it.
 */
ngx_uint_t ngx_tg_arg_has_name(const ngx_str_t *word, const char *name,
                               ngx_str_t *value);

/* Joins words with commas in a buffer, for an error message. */
ngx_str_t ngx_tg_conf_join_words(const char *const *words, u_char *buf,
                                 size_t size);

#endif
