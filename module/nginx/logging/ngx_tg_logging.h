/*
 * Where lines about calls go (tool_log): files, with buffers or without, and
 * syslog; and what stands in them (tool_log_format).  What a call is, it does
 * not know.
 */
#ifndef _NGX_TG_LOGGING_H_INCLUDED_
#define _NGX_TG_LOGGING_H_INCLUDED_

#include "nginx/ngx_tg.h"

typedef enum {
    NGX_TG_ESCAPE_DEFAULT = 0, /* \xXX, and - for what is empty */
    NGX_TG_ESCAPE_JSON,
    NGX_TG_ESCAPE_NONE
} ngx_tg_log_escape_t;

/* A piece of a format: a text, or a variable. */
typedef struct {
    tg_str_t text;
    ngx_stream_complex_value_t *value; /* NULL: the text itself */
} ngx_tg_log_format_piece_t;

typedef struct {
    ngx_str_t name;
    ngx_tg_log_escape_t escape;
    ngx_array_t *pieces; /* ngx_tg_piece_t; NULL: one of ours */
    ngx_uint_t needs_arguments;
} ngx_tg_log_format_t;

/* Where lines go; one for each file, whoever writes to it. */
typedef struct ngx_tg_log_sink_s ngx_tg_log_sink_t;

typedef struct {
    ngx_tg_log_sink_t *sink;
    const ngx_tg_log_format_t *format;
    ngx_stream_complex_value_t *filter; /* if=; NULL: each call */
    ngx_uint_t needs_arguments; /* they may be asked for when a call ends */
} ngx_tg_call_log_t;

/*
 * Begins a line, which takes what is appended; nothing else may begin one
 * meanwhile.  And its end: it is written, or counted as lost.
 */
tg_buf_t *ngx_tg_log_line_begin(const ngx_tg_call_log_t *log);
void ngx_tg_log_line_end(const ngx_tg_call_log_t *log, ngx_log_t *error);

/* A line that there is no memory for. */
void ngx_tg_log_line_drop(const ngx_tg_call_log_t *log, ngx_log_t *error);

/* Appends a variable's value; where it is empty, that there is none. */
void ngx_tg_log_append_value(tg_buf_t *line, ngx_tg_log_escape_t escape,
                             tg_str_t value);

/*
 * Appends JSON, in whose strings the characters are escaped that a terminal or
 * a reader of lines acts on.
 */
void ngx_tg_log_append_json(tg_buf_t *line, tg_str_t json);

/* The worker exits: what is in buffers is written. */
void ngx_tg_log_exit(ngx_cycle_t *cycle);

/* As access_log has it: empty or 0 is no.  NULL: there is no filter. */
ngx_uint_t ngx_tg_filter_matches(ngx_stream_session_t *s,
                                 ngx_stream_complex_value_t *filter);

/* --- for the directives --- */

/* `if=`, one variable, as a map makes it: NULL, or what to write. */
const char *ngx_tg_conf_parse_filter(ngx_conf_t *cf, ngx_str_t *text,
                                     ngx_stream_complex_value_t **filter,
                                     tg_str_t *name);

/* The same for the same file; NULL: logged. */
ngx_tg_log_sink_t *ngx_tg_log_sink_open_file(ngx_conf_t *cf, ngx_str_t *path);

/*
 * As ngx_conf_open_file(), but NULL, logged, for a FIFO that nobody reads, as
 * NGINX would wait for its reader.
 */
ngx_open_file_t *ngx_tg_conf_open_log_file(ngx_conf_t *cf, ngx_str_t *path);
ngx_tg_log_sink_t *ngx_tg_log_sink_open_syslog(ngx_conf_t *cf);

/*
 * Gives it a buffer of so many bytes, written after flush ms at the latest (0:
 * when it is full): NULL, or what is wrong.
 */
const char *ngx_tg_log_sink_set_buffer(ngx_conf_t *cf, ngx_tg_log_sink_t *sink,
                                       size_t size, ngx_msec_t flush);

#endif
