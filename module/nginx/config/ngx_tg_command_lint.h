/*
 * The command line of a program as the config has it, for those who look for
 * values of callers in it.
 */
#ifndef _NGX_TG_COMMAND_LINT_H_INCLUDED_
#define _NGX_TG_COMMAND_LINT_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"

#include "catalog/tg_command_injection.h"

/*
 * Of a word: it may be left out, or there once for each element; it is the
 * first one of its directive.
 */
#define NGX_TG_WORD_OPTIONAL 1
#define NGX_TG_WORD_REPEATED 2
#define NGX_TG_WORD_FIRST 4

typedef struct {
    ngx_str_t text; /* with its variables */
    ngx_str_t directive;
    ngx_str_t file;
    ngx_uint_t line;
    ngx_uint_t flags;
} ngx_tg_command_word_t;

typedef struct {
    ngx_array_t *exec; /* ngx_tg_command_word_t: the program, and its words */
    ngx_array_t *args; /* likewise: those behind them, or NULL */
    ngx_tg_command_word_t input; /* its text is NULL: `stdin` says nothing */
    ngx_uint_t is_any;  /* of a task_agent for any name, which callers choose */
    ngx_uint_t is_code; /* a caller's value is all of some code in it */
} ngx_tg_command_line_t;

/* Adds a word of the directive that is read: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_command_word_push(ngx_conf_t *cf, ngx_array_t **words,
                                   const ngx_str_t *text, ngx_uint_t flags);

/*
 * A block was read, of a tool or (NULL) of something else: NGX_OK, with
 * warnings, or NGX_ERROR, logged: code has a caller's value in it.
 */
ngx_int_t ngx_tg_command_line_check(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                                    ngx_tg_command_line_t *command);

/*
 * Adds the words of the `exec` that is read, and warns of some; the program is
 * known by its path.  NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_command_line_add_exec(ngx_conf_t *cf,
                                       ngx_tg_command_line_t *command,
                                       ngx_str_t *program);

/* Sets the standard input to that of the `stdin` that is read. */
void ngx_tg_command_line_set_input(ngx_conf_t *cf,
                                   ngx_tg_command_line_t *command);

/* What there is of such variables in the main file, and the one being read. */
tg_command_names_t ngx_tg_command_get_derived_names(ngx_conf_t *cf);

#endif
