/*
 * Texts with variables. Each value is escaped for the place where it is
 * inserted, so it can never change the meaning of the text around it.
 */
#ifndef _NGX_TG_TEMPLATE_H_INCLUDED_
#define _NGX_TG_TEMPLATE_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/*
 * Largest number of elements of an array in a URL, a query or a form: more than
 * any API reads.
 */
#define NGX_TG_ELEMENTS_MAX 4096
#define NGX_TG_ELEMENTS_MAX_TEXT                                               \
    "An array in the arguments has more than 4096 elements."

typedef enum {
    NGX_TG_ESCAPE_TEXT = 0, /* no escaping */
    NGX_TG_ESCAPE_URL_HOST, /* host or port of a URL */
    /* within one path segment, which must not be empty */
    NGX_TG_ESCAPE_URL_PATH,
    NGX_TG_ESCAPE_URL_QUERY,   /* name or value in a query */
    NGX_TG_ESCAPE_JSON_STRING, /* within a JSON string */
    NGX_TG_ESCAPE_JSON_VALUE,  /* as a JSON value */
    /* a part of JSON that is validated as a whole */
    NGX_TG_ESCAPE_JSON_PART,
    /* a JSON value or nothing, chosen by a caller, within such a part */
    NGX_TG_ESCAPE_ONE_JSON_VALUE
} ngx_tg_escape_context_t;

typedef struct {
    ngx_tg_escape_context_t place;
    ngx_str_t text;                    /* text in the config */
    ngx_stream_complex_value_t *value; /* NULL: plain text; else one variable */
    ngx_tg_arg_path_t *each; /* array whose elements `value` renders, or NULL */
    ngx_str_t separator;     /* text between the elements */
} ngx_tg_template_piece_t;

typedef ngx_array_t ngx_tg_template_t; /* ngx_tg_template_piece_t */

/*
 * Returns the escape context after a text without variables that began in the
 * context `place`.
 */
typedef ngx_tg_escape_context_t (*ngx_tg_next_escape_context_pt)(
    ngx_tg_escape_context_t place, const ngx_str_t *text);

/*
 * Parses a text of the config that begins in the context `place`; `next` (or
 * NULL) returns the context after each piece of plain text. NULL: error,
 * logged.
 */
ngx_tg_template_t *ngx_tg_template_parse(ngx_conf_t *cf, const ngx_str_t *text,
                                         ngx_tg_escape_context_t place,
                                         ngx_tg_next_escape_context_pt next);

/*
 * Parses a JSON template: an argument outside of quotes becomes a JSON value,
 * within quotes the text of a string. NULL: error, logged.
 */
ngx_tg_template_t *ngx_tg_template_parse_json(ngx_conf_t *cf,
                                              const ngx_str_t *text);

/*
 * Parses a JSON template that is validated only after it is rendered. NULL:
 * error, logged.
 */
ngx_tg_template_t *ngx_tg_template_parse_json_parts(ngx_conf_t *cf,
                                                    const ngx_str_t *text);

/*
 * Makes each argument in a template a list of its elements with a separator
 * between them. NGX_OK; NGX_DECLINED: the template has no argument; NGX_ERROR.
 */
ngx_int_t ngx_tg_template_set_separator(ngx_conf_t *cf, ngx_tg_template_t *made,
                                        const ngx_str_t *separator);

/*
 * Parses `join=TEXT`; separator becomes the text, encoded for a URL or a form.
 * NGX_OK; NGX_DECLINED: word is another option; NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_conf_parse_join(ngx_conf_t *cf, const ngx_str_t *word,
                                 ngx_str_t *separator);

/*
 * Appends the text with a harmless sample in the place of each variable, so
 * that the config parser can check it.
 */
void ngx_tg_template_append_sample(const ngx_tg_template_t *made,
                                   tg_buf_t *buf);

/*
 * Appends the text with the values of this call. Returns NULL, or an error
 * message for the caller.
 */
const char *ngx_tg_template_render(ngx_tg_call_t *call,
                                   const ngx_tg_template_t *made,
                                   tg_buf_t *buf);

#endif
