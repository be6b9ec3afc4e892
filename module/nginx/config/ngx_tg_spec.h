/* Directives of options that a table describes (spec/tg_spec.h). */
#ifndef _NGX_TG_SPEC_H_INCLUDED_
#define _NGX_TG_SPEC_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"
#include "spec/tg_spec.h"

/*
 * Appends the directives of a table to those of a module, whose array has space
 * for them, zeroed: each option in a block with these contexts, and, for a
 * tool, its default for the tools of a server. The struct is at `offset` of the
 * configuration. Called before NGINX reads the array.
 */
void ngx_tg_spec_add_commands(ngx_command_t *commands,
                              const tg_json_field_t *fields,
                              ngx_uint_t contexts, size_t offset);

/* Parses a directive; cmd->post is its tg_json_field_t. */
char *ngx_tg_spec_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

#endif
