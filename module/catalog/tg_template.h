/*
 * Values of a config: texts with variables, `$name` or `${name}`, in which
 * `$$` is a dollar.  Taken apart here, for whoever puts something in their
 * place.
 */
#ifndef TG_TEMPLATE_H
#define TG_TEMPLATE_H

#include "base/tg_base.h"

typedef struct {
    tg_str_t text; /* as it is written; of `$$`, its dollar */
    tg_str_t name; /* of a variable, bare; absent: text is just text */
} tg_template_token_t;

/*
 * Takes the next token off rest.  TG_OK; TG_END: there is none; TG_INVALID: a
 * `$` at the front of rest, which is left as it is, begins no variable's name.
 */
int tg_template_next(tg_str_t *rest, tg_template_token_t *token);

/* What a variable says of the arguments of a call. */
typedef enum {
    TG_VARIABLE_OTHER = 0, /* nothing */
    TG_VARIABLE_ARG,       /* $tool_arg_NAME: its text */
    TG_VARIABLE_JSON,      /* $tool_json_NAME: its JSON */
    TG_VARIABLE_HAS        /* $tool_has_NAME: whether it was given */
} tg_variable_type_t;

/*
 * path is what of a variable's name is the argument's: its name, and behind a
 * dot each the names of members.
 */
tg_variable_type_t tg_variable_get_type(tg_str_t name, tg_str_t *path);

/* Is it one that only braces can name: with a "." or "-"? */
int tg_variable_has_special_chars(tg_str_t name);

/*
 * Takes the first name off a path: TG_OK, TG_END, or TG_INVALID: it is empty.
 */
int tg_variable_next_member(tg_str_t *path, tg_str_t *name);

/*
 * Does a variable's part mean the property key?  NGINX lowers variables'
 * names, and outside of braces they have no "-" and ".".
 */
int tg_variable_is_named(tg_str_t name, tg_str_t key);

#endif
