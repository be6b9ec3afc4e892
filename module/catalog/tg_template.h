/*
 * Parser for config values that contain variables: `$name` or `${name}`; `$$`
 * is a dollar.
 */
#ifndef TG_TEMPLATE_H
#define TG_TEMPLATE_H

#include "base/tg_base.h"

typedef struct {
    tg_str_t text; /* text as written; of `$$`, one dollar */
    /* bare name of a variable; absent: the token is text */
    tg_str_t name;
} tg_template_token_t;

/*
 * Takes the next token from *rest. Returns TG_OK, TG_END, or TG_INVALID if a
 * `$` at the start of *rest is not followed by a variable's name; *rest is
 * unchanged then.
 */
int tg_template_next(tg_str_t *rest, tg_template_token_t *token);

/* Relation of a variable to the arguments of a call. */
typedef enum {
    TG_VARIABLE_OTHER = 0, /* not related to an argument */
    TG_VARIABLE_ARG,       /* $tool_arg_NAME: the argument as text */
    TG_VARIABLE_JSON,      /* $tool_json_NAME: the argument as JSON */
    TG_VARIABLE_HAS        /* $tool_has_NAME: whether the argument is present */
} tg_variable_type_t;

/*
 * Returns the type of a variable. For a variable of an argument stores in *path
 * the argument's name and, after dots, the names of its members.
 */
tg_variable_type_t tg_variable_get_type(tg_str_t name, tg_str_t *path);

/* Checks whether the name needs braces because it contains a "." or "-". */
int tg_variable_has_special_chars(tg_str_t name);

/*
 * Takes the first name from a path. Returns TG_OK, TG_END, or TG_INVALID if the
 * name is empty.
 */
int tg_variable_next_member(tg_str_t *path, tg_str_t *name);

/*
 * Checks whether a part of a variable's name means the property key. NGINX
 * lowercases variable names, and without braces "_" stands for "-" and ".".
 */
int tg_variable_is_named(tg_str_t name, tg_str_t key);

#endif
