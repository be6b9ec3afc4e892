/*
 * A command line while it is read: inside of the files that look for code.
 */
#ifndef TG_COMMAND_INJECTION_IMPL_H
#define TG_COMMAND_INJECTION_IMPL_H

#include "catalog/tg_command_injection.h"

/* A word, or a part of one that a starter takes apart. */
typedef struct {
    tg_str_t text;
    size_t word;
} tg_command_token_t;

typedef struct {
    const tg_command_word_t *words;
    const tg_command_names_t *names;
    tg_command_token_t tokens[TG_COMMAND_WORDS_MAX];
    size_t n;
    const tg_command_program_t *program; /* whose words are read */
    tg_str_t name;                       /* of that program, as written */
    size_t i;                            /* the token that is read */
    size_t nwords;                       /* that are no options, so far */
    int has_code_source;                 /* its code, or a file of it */
    int is_code;                         /* its code is in a word */
    int is_input;                        /* its code is the standard input */
    int has_command;                     /* program->command was there */
    int is_code_next;                    /* the next word is code */
    int is_after_options;                /* there are no more options */
    tg_command_finding_t *code;
} tg_command_scan_t;

/*
 * Is a text code with a caller's value among other text, or with is_alone
 * anywhere?  Then scan->code says so.
 */
int tg_command_check_code(tg_command_scan_t *scan, tg_str_t text, size_t word,
                          int is_alone);

/* Does a text begin with another one, which has no capitals? */
int tg_command_has_prefix(tg_str_t text, tg_str_t lower);

/* The value of a word NAME=VALUE; absent: it has no "=". */
tg_str_t tg_command_get_assigned_value(tg_str_t text);

/*
 * Reads the words after a token as those of a program, by the name that is
 * written: is there code with a caller's value?
 */
int tg_command_scan_program(tg_command_scan_t *scan,
                            const tg_command_program_t *program, tg_str_t name,
                            size_t at);

#endif
