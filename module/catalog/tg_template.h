/* Parser for config values with variables, `$name` or `${name}`, and `$$`. */
#ifndef TG_TEMPLATE_H
#define TG_TEMPLATE_H

#include "base/tg_base.h"

typedef struct {
    tg_str_t text; /* text as written; of `$$`, one dollar */
    /* bare name of a variable; absent: the token is text */
    tg_str_t name;
} tg_template_token_t;

/* Takes a token from *rest. TG_END; TG_INVALID: a `$` without a variable. */
int tg_template_next(tg_str_t *rest, tg_template_token_t *token);

/* Relation of a variable to the arguments of a call. */
typedef enum {
    TG_VARIABLE_OTHER = 0, /* not related to an argument */
    TG_VARIABLE_ARG,       /* $tool_arg_NAME: the argument as text */
    TG_VARIABLE_JSON,      /* $tool_json_NAME: the argument as JSON */
    TG_VARIABLE_HAS        /* $tool_has_NAME: whether the argument is present */
} tg_variable_type_t;

/* *path becomes the argument's name and, after dots, names of members. */
tg_variable_type_t tg_variable_get_type(tg_str_t name, tg_str_t *path);

/* Checks for a "." or "-", with which a name needs braces. */
int tg_variable_has_special_chars(tg_str_t name);

/* Takes the first name from a path. TG_END; TG_INVALID: an empty name. */
int tg_variable_next_member(tg_str_t *path, tg_str_t *name);

/*
 * NGINX lowercases variable names, and without braces "_" stands for "-" and
 * ".", so several names mean one property key.
 */
int tg_variable_is_named(tg_str_t name, tg_str_t key);

#endif
