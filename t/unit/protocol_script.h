/* A transcript (t/transcripts/README.md), read into memory. */
#ifndef PROTOCOL_SCRIPT_H
#define PROTOCOL_SCRIPT_H

#include "protocol_help.h"

#include "protocol/tg_peer.h"

typedef enum {
    SCRIPT_SEND,      /* text: the bytes of consecutive sends */
    SCRIPT_EXPECT,    /* text: the pattern */
    SCRIPT_UNORDERED, /* text: one pattern of a group in any order */
    SCRIPT_QUIET,
    SCRIPT_CLOSE,
    SCRIPT_HOST, /* text: a command to the host */
    SCRIPT_CHECK /* text: a property and its expected value */
} script_step_type_t;

typedef struct {
    script_step_type_t kind;
    int is_ipc;
    unsigned line;
    tg_buf_t text;
} script_step_t;

typedef struct {
    char *path;
    char *title;
    tg_dialect_t dialect;
    size_t max_frame;
    unsigned max_inflight;
    int is_heavy;
    int is_offering; /* prompts, resources and templates as well */
    int is_logging;  /* the server declares `logging` */
    int has_skills;  /* the server declares the skills extension */
    script_step_t *steps;
    size_t nsteps;
    size_t size; /* total number of sent bytes */
} script_t;

/* Exits with a message if the text of the file is not a transcript. */
void script_read(script_t *script, const char *path, char *text);

/* Matches "what" or "what TEXT"; returns its text, or NULL. */
const char *script_after(const char *line, const char *what);

#endif
