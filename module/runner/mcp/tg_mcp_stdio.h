/*
 * An MCP server that is a program: its pipes, what it writes to stderr, and
 * its end.
 */
#ifndef TG_MCP_STDIO_H
#define TG_MCP_STDIO_H

#include "runner/process/tg_program.h"
#include "runner/process/tg_output_tail.h"
#include "transport/tg_uv_sched.h"

/* For an end of its own, when its standard input has ended. */
#define TG_MCP_STDIO_EOF_MS 500
/* What it has written may come later than the news that it has ended. */
#define TG_MCP_STDIO_DRAIN_MS 200
/* Unread stderr at its end: what a pipe may hold. */
#define TG_MCP_STDIO_PIPE_MAX 1048576
/* Of a line of stderr, in the log. */
#define TG_MCP_STDIO_LINE_MAX 300

typedef struct {
    tg_program_t program;
    uv_pipe_t err;
    tg_uv_stream_reader_t reader; /* of err */
    int has_err;
    int in;       /* its end of the pipe of its standard input, or -1 */
    int is_eof;   /* its output has ended */
    int is_over;  /* which was said, or asked for */
    int has_gone; /* nothing of the program is left */
    tg_output_tail_t tail;
    char line[TG_MCP_STDIO_LINE_MAX]; /* the beginning of one */
    size_t line_len;
    int is_long; /* it went on */
} tg_mcp_stdio_t;

#endif
