/*
 * Destinations of call logs (tool_log): files, with or without buffers, and
 * syslog; and formats of their lines (tool_log_format). Functions of this
 * folder that return NULL have logged the error, unless a comment says
 * otherwise.
 */
#ifndef _NGX_TG_LOGGING_H_INCLUDED_
#define _NGX_TG_LOGGING_H_INCLUDED_

#include "nginx/ngx_tg.h"

typedef enum {
    /* \xXX as in access_log, and "-" for empty values */
    NGX_TG_ESCAPE_DEFAULT = 0,
    NGX_TG_ESCAPE_JSON,
    NGX_TG_ESCAPE_NONE
} ngx_tg_log_escape_t;

/* A piece of a format: a text or a variable. */
typedef struct {
    tg_str_t text;
    ngx_stream_complex_value_t *value; /* NULL: a text */
} ngx_tg_log_format_piece_t;

typedef struct {
    ngx_str_t name;
    ngx_tg_log_escape_t escape;
    /* ngx_tg_log_format_piece_t; NULL: a built-in format */
    ngx_array_t *pieces;
    ngx_uint_t needs_arguments;
} ngx_tg_log_format_t;

/* Destination of lines; one per file, shared by all logs. */
typedef struct ngx_tg_log_sink_s ngx_tg_log_sink_t;

typedef struct {
    ngx_tg_log_sink_t *sink;
    const ngx_tg_log_format_t *format;
    ngx_stream_complex_value_t *filter; /* if=; NULL: log every call */
    ngx_uint_t needs_arguments; /* arguments may be needed when a call ends */
} ngx_tg_call_log_t;

/* Begins a line in the returned buffer. Only one line may be open. */
tg_buf_t *ngx_tg_log_line_begin(const ngx_tg_call_log_t *log);
/* Writes the line or counts it as lost; error is the log for losses. */
void ngx_tg_log_line_end(const ngx_tg_call_log_t *log, ngx_log_t *error);

/* Counts a line as lost for lack of memory. */
void ngx_tg_log_line_drop(const ngx_tg_call_log_t *log, ngx_log_t *error);

/* Appends an escaped value, or the format's placeholder if it is empty. */
void ngx_tg_log_append_value(tg_buf_t *line, ngx_tg_log_escape_t escape,
                             tg_str_t value);

/* Appends JSON; escapes characters that a terminal would obey. */
void ngx_tg_log_append_json(tg_buf_t *line, tg_str_t json);

void ngx_tg_log_exit(ngx_cycle_t *cycle);

/* Evaluates a filter like access_log: 0 if it is empty or "0". */
ngx_uint_t ngx_tg_filter_matches(ngx_stream_session_t *s,
                                 ngx_stream_complex_value_t *filter);

/* --- functions for the directives --- */

/*
 * Compiles the value of `if=`, a variable whose name is returned in name.
 * Returns NULL, or the rest of the error message.
 */
const char *ngx_tg_conf_parse_filter(ngx_conf_t *cf, ngx_str_t *text,
                                     ngx_stream_complex_value_t **filter,
                                     tg_str_t *name);

/* Returns the sink of a file, created at its first use. */
ngx_tg_log_sink_t *ngx_tg_log_sink_open_file(ngx_conf_t *cf, ngx_str_t *path);

/* Rejects a FIFO without a reader, whose opening would block NGINX. */
ngx_open_file_t *ngx_tg_conf_open_log_file(ngx_conf_t *cf, ngx_str_t *path);
/* Creates a sink for syslog, from the current directive. */
ngx_tg_log_sink_t *ngx_tg_log_sink_open_syslog(ngx_conf_t *cf);

/*
 * Sets a buffer of `size` bytes, written after `flush` ms (0: when it is full).
 * Returns NULL, or the rest of the error message.
 */
const char *ngx_tg_log_sink_set_buffer(ngx_conf_t *cf, ngx_tg_log_sink_t *sink,
                                       size_t size, ngx_msec_t flush);

#endif
