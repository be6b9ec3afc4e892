/* The stdio transport of MCP: a program, its pipes, its stderr and its end. */
#ifndef TG_MCP_STDIO_H
#define TG_MCP_STDIO_H

#include "runner/process/tg_program.h"
#include "runner/process/tg_output_tail.h"
#include "transport/tg_uv_sched.h"

/* Time in ms for the server to exit after the end of its standard input. */
#define TG_MCP_STDIO_EOF_MS 500

/* Time in ms to read remaining output after the program has ended. */
#define TG_MCP_STDIO_DRAIN_MS 200

/* Maximum number of bytes of stderr that are read at the end: a full pipe. */
#define TG_MCP_STDIO_PIPE_MAX 1048576

/* Maximum length of a line of stderr in the log. */
#define TG_MCP_STDIO_LINE_MAX 300

typedef struct {
    tg_program_t program;
    uv_pipe_t err;
    tg_uv_stream_reader_t reader; /* reader of `err` */
    int has_err;
    int in;       /* the program's end of its stdin pipe, or -1 */
    int is_eof;   /* the standard output has ended */
    int is_over;  /* the end was reported or requested */
    int has_gone; /* no process of the program is left */
    tg_output_tail_t tail;
    char line[TG_MCP_STDIO_LINE_MAX]; /* beginning of an incomplete line */
    size_t line_len;
    int is_long; /* the line was too long */
} tg_mcp_stdio_t;

#endif
