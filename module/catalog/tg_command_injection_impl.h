/* For tg_command_injection*.c only. */
#ifndef TG_COMMAND_INJECTION_IMPL_H
#define TG_COMMAND_INJECTION_IMPL_H

#include "catalog/tg_command_injection.h"

/* A word, or a part of a word that `env -S` splits. */
typedef struct {
    tg_str_t text;
    size_t word;
} tg_command_token_t;

typedef struct {
    const tg_command_word_t *words;
    const tg_command_names_t *names;
    tg_command_token_t tokens[TG_COMMAND_WORDS_MAX];
    size_t n;
    const tg_command_program_t *program; /* program whose words are read */
    tg_str_t name;                       /* name of the program, as written */
    size_t i;                            /* index of the current token */
    size_t nwords;                       /* number of non-option words so far */
    int has_code_source;  /* 1: code or a file of code was found */
    int is_code;          /* 1: code was found in a word */
    int is_input;         /* 1: code is read from standard input */
    int has_command;      /* 1: program->command was found */
    int is_code_next;     /* 1: the next word is code */
    int is_after_options; /* 1: options have ended */
    tg_command_finding_t *code;
} tg_command_scan_t;

/*
 * Marks text as code. Returns 1 and stores the finding if it has a client's
 * value among other text, or anywhere if is_alone is set.
 */
int tg_command_check_code(tg_command_scan_t *scan, tg_str_t text, size_t word,
                          int is_alone);

/* Returns the value of a word NAME=VALUE; absent if the word has no "=". */
tg_str_t tg_command_get_assigned_value(tg_str_t text);

/*
 * Reads the words after the token `at` as those of a program that the config
 * calls `name`. Returns 1 if there is code with a client's value.
 */
int tg_command_scan_program(tg_command_scan_t *scan,
                            const tg_command_program_t *program, tg_str_t name,
                            size_t at);

#endif
