/*
 * Texts with variables, each of which is put in safely for its place: what a
 * value has in it never means more there than that value.
 */
#ifndef _NGX_TG_TEMPLATE_H_INCLUDED_
#define _NGX_TG_TEMPLATE_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* Elements of an array in a URL, a query or a form: more than any API reads. */
#define NGX_TG_ELEMENTS_MAX 4096
#define NGX_TG_ELEMENTS_MAX_TEXT                                               \
    "An array of the arguments has more than 4096 elements."

typedef enum {
    NGX_TG_ESCAPE_TEXT = 0, /* as it is */
    NGX_TG_ESCAPE_URL_HOST, /* of a URL, or its port */
    /* within one segment, and there must be something */
    NGX_TG_ESCAPE_URL_PATH,
    NGX_TG_ESCAPE_URL_QUERY,   /* as a name or value of a query */
    NGX_TG_ESCAPE_JSON_STRING, /* within a string of JSON */
    NGX_TG_ESCAPE_JSON_VALUE,  /* as a value of JSON */
    /* as a part of JSON, which is checked as a whole */
    NGX_TG_ESCAPE_JSON_PART,
    /* there, what a caller chooses: a value, or none */
    NGX_TG_ESCAPE_ONE_JSON_VALUE
} ngx_tg_escape_context_t;

typedef struct {
    ngx_tg_escape_context_t place;
    ngx_str_t text;                    /* as it is written */
    ngx_stream_complex_value_t *value; /* NULL: text; else one variable */
    ngx_tg_arg_path_t *each; /* of an array: value is one element; or NULL */
    ngx_str_t separator;     /* between its elements */
} ngx_tg_template_piece_t;

typedef ngx_array_t ngx_tg_template_t; /* ngx_tg_piece_t */

/* Which place comes behind text, which has no variable, and where it began. */
typedef ngx_tg_escape_context_t (*ngx_tg_next_escape_context_pt)(
    ngx_tg_escape_context_t place, const ngx_str_t *text);

/*
 * Takes a text of the config apart.  It begins at this place, and the function
 * (or NULL) says how that changes.  NULL: logged.
 */
ngx_tg_template_t *ngx_tg_template_parse(ngx_conf_t *cf, const ngx_str_t *text,
                                         ngx_tg_escape_context_t place,
                                         ngx_tg_next_escape_context_pt next);

/* The same for JSON: an argument is a value, and within a string its text. */
ngx_tg_template_t *ngx_tg_template_parse_json(ngx_conf_t *cf,
                                              const ngx_str_t *text);

/* Likewise for JSON that is checked when it is whole. */
ngx_tg_template_t *ngx_tg_template_parse_json_parts(ngx_conf_t *cf,
                                                    const ngx_str_t *text);

/*
 * Makes each argument of the call a list of its elements with a separator
 * between them.  NGX_DECLINED: the template names no argument; NGX_ERROR.
 */
ngx_int_t ngx_tg_template_set_separator(ngx_conf_t *cf, ngx_tg_template_t *made,
                                        const ngx_str_t *separator);

/*
 * `join=TEXT`: the text as a URL or a form has it between values.
 * NGX_DECLINED: word is another one; NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_conf_parse_join(ngx_conf_t *cf, const ngx_str_t *word,
                                 ngx_str_t *separator);

/*
 * Appends it with something harmless in the place of each variable, to be
 * looked at when it is loaded.
 */
void ngx_tg_template_append_sample(const ngx_tg_template_t *made,
                                   tg_buf_t *buf);

/* Appends what it is for this call: NULL, or what is wrong, for the caller. */
const char *ngx_tg_template_render(ngx_tg_call_t *call,
                                   const ngx_tg_template_t *made,
                                   tg_buf_t *buf);

#endif
