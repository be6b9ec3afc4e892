/*
 * Lines of the error log that threads write: the worker puts them there, as
 * nobody else knows when NGINX opens its log anew.
 */
#ifndef _NGX_TOOLGATE_LINES_H_INCLUDED_
#define _NGX_TOOLGATE_LINES_H_INCLUDED_

#include "nginx/native/ngx_toolgate_notify.h"

typedef struct ngx_toolgate_letter_s ngx_toolgate_letter_t;

/* A text on its way from a thread. */
struct ngx_toolgate_letter_s {
    ngx_toolgate_letter_t *next;
    ngx_uint_t level; /* of a line */
    size_t len;
    char text[];
};

/* NULL: no memory. */
ngx_toolgate_letter_t *ngx_toolgate_letter_new(ngx_uint_t level, tg_str_t text);
void ngx_toolgate_letter_free(ngx_toolgate_letter_t *letter);

/* A line in somebody's name; in any thread. */
void ngx_toolgate_line(ngx_uint_t level, tg_str_t name, const char *text);

/* Writes what there is; where no event loop does it, too. */
void ngx_toolgate_lines_flush(void);

/* The same, and no more from now on. */
void ngx_toolgate_lines_exit(void);

#endif
