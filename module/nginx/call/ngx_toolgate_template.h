/*
 * Texts with variables, each of which is put in safely for its place: what a
 * value has in it never means more there than that value.
 */
#ifndef _NGX_TOOLGATE_TEMPLATE_H_INCLUDED_
#define _NGX_TOOLGATE_TEMPLATE_H_INCLUDED_

#include "nginx/call/ngx_toolgate_call.h"

typedef enum {
    NGX_TOOLGATE_TEXT = 0, /* as it is */
    NGX_TOOLGATE_HOST,     /* of a URL, or its port */
    NGX_TOOLGATE_PATH,     /* within one segment, and there must be something */
    NGX_TOOLGATE_QUERY,    /* as a name or value of a query */
    NGX_TOOLGATE_STRING,   /* within a string of JSON */
    NGX_TOOLGATE_JSON      /* as a value of JSON */
} ngx_toolgate_place_t;

typedef struct {
    ngx_toolgate_place_t place;
    ngx_str_t text;                    /* as it is written */
    ngx_stream_complex_value_t *value; /* NULL: text; else one variable */
} ngx_toolgate_piece_t;

typedef ngx_array_t ngx_toolgate_template_t; /* ngx_toolgate_piece_t */

/* Which place comes behind text, which has no variable, and where it began. */
typedef ngx_toolgate_place_t (*ngx_toolgate_place_pt)(
    ngx_toolgate_place_t place, const ngx_str_t *text);

/*
 * Takes a text of the config apart.  It begins at this place, and the function
 * (or NULL) says how that changes.  NULL: logged.
 */
ngx_toolgate_template_t *ngx_toolgate_template(ngx_conf_t *cf,
                                               const ngx_str_t *text,
                                               ngx_toolgate_place_t place,
                                               ngx_toolgate_place_pt next);

/* The same for JSON: an argument is a value, and within a string its text. */
ngx_toolgate_template_t *ngx_toolgate_template_json(ngx_conf_t *cf,
                                                    const ngx_str_t *text);

/*
 * Appends it with something harmless in the place of each variable, to be
 * looked at when it is loaded.
 */
void ngx_toolgate_template_sample(const ngx_toolgate_template_t *made,
                                  tg_buf_t *buf);

/* Appends what it is for this call: NULL, or what is wrong, for the caller. */
const char *ngx_toolgate_template_put(ngx_toolgate_call_t *call,
                                      const ngx_toolgate_template_t *made,
                                      tg_buf_t *buf);

#endif
