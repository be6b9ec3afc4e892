/*
 * Command lines of programs as written in the config, and the checks that find
 * callers' values in them.
 */
#ifndef _NGX_TG_COMMAND_LINT_H_INCLUDED_
#define _NGX_TG_COMMAND_LINT_H_INCLUDED_

#include "nginx/config/ngx_tg_config.h"

#include "catalog/tg_command_injection.h"

/*
 * Flags of a word: it may be left out; it is repeated for each element of an
 * array; it is the first word of its directive.
 */
#define NGX_TG_WORD_OPTIONAL 1
#define NGX_TG_WORD_REPEATED 2
#define NGX_TG_WORD_FIRST 4

typedef struct {
    ngx_str_t text; /* word with its variables */
    ngx_str_t directive;
    ngx_str_t file;
    ngx_uint_t line;
    ngx_uint_t flags;
} ngx_tg_command_word_t;

typedef struct {
    ngx_array_t *exec; /* ngx_tg_command_word_t: program and its words */
    /* ngx_tg_command_word_t: words of `arg`, which follow; NULL: none */
    ngx_array_t *args;
    /* `stdin`; text.data is NULL if there is none */
    ngx_tg_command_word_t input;
    ngx_uint_t is_any; /* a task_agent for any name, which the caller chooses */
    /* finding: a caller's value is a complete piece of code */
    ngx_uint_t is_code;
} ngx_tg_command_line_t;

/*
 * Appends a word of the current directive. Returns NGX_OK, or NGX_ERROR if
 * there is no memory.
 */
ngx_int_t ngx_tg_command_word_push(ngx_conf_t *cf, ngx_array_t **words,
                                   const ngx_str_t *text, ngx_uint_t flags);

/*
 * Checks the command line of a block that was read; tool is NULL for a block
 * that is not a tool. Returns NGX_OK, possibly after warnings, or NGX_ERROR
 * after logging: a caller's value is part of code.
 */
ngx_int_t ngx_tg_command_line_check(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                                    ngx_tg_command_line_t *command);

/*
 * Appends the words of the current `exec` directive, and warns about suspicious
 * words. program is the program's path. Returns NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_command_line_add_exec(ngx_conf_t *cf,
                                       ngx_tg_command_line_t *command,
                                       ngx_str_t *program);

/* Sets the standard input to the value of the current `stdin` directive. */
void ngx_tg_command_line_set_input(ngx_conf_t *cf,
                                   ngx_tg_command_line_t *command);

/*
 * Returns the variables that a `map` derives from callers' values, in the main
 * config file, the current file, and the files that they include.
 */
tg_command_names_t ngx_tg_command_get_derived_names(ngx_conf_t *cf);

#endif
