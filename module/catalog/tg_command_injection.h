/*
 * Command lines of a config, with variables in their words: which words are
 * code that a program runs, and which may be taken for options.
 */
#ifndef TG_COMMAND_INJECTION_H
#define TG_COMMAND_INJECTION_H

#include "base/tg_base.h"

/* How a caller's value reaches code without being a part of it. */
typedef enum {
    TG_COMMAND_HINT_ENVIRONMENT, /* by `env`: each program can read that */
    TG_COMMAND_HINT_SHELL,
    TG_COMMAND_HINT_PYTHON,
    TG_COMMAND_HINT_PERL,
    TG_COMMAND_HINT_NODE,
    TG_COMMAND_HINT_RUBY,
    TG_COMMAND_HINT_PHP,
    TG_COMMAND_HINT_AWK,
    TG_COMMAND_HINT_JQ,
    TG_COMMAND_HINT_SSH,
    TG_COMMAND_HINT_SQL,
    TG_COMMAND_HINT_SQLITE,
    TG_COMMAND_HINT_PSQL,
    TG_COMMAND_HINT_WORDS, /* as words of their own, which nothing splits */
    TG_COMMAND_HINT_COUNT
} tg_command_hint_t;

/* A program that runs code of its command line, or starts other programs. */
typedef struct {
    const char *names;        /* words, without a version at their end */
    const char *code_options; /* letters of options whose value is code */
    const char *file_options; /* of those that give the code, but not as text */
    const char *value_options; /* of other options that have a value */
    const char
        *attached_options;     /* of those whose value, if any, is attached */
    const char *stdin_options; /* of those that read code from standard input */
    const char *long_code_options; /* long options whose value is code, words */
    const char
        *long_file_options; /* long options whose value is a file of code */
    const char
        *long_value_options; /* other long options that have a value, words */
    const char
        *long_pair_options; /* long options that have two values, words */
    const char
        *code_settings;       /* settings that are code, in values of options */
    const char *command;      /* the first word must be this one; NULL: any */
    const char *launch_words; /* words before a started program; NULL: any */
    unsigned flags;           /* TG_COMMAND_IS_… */
    tg_command_hint_t hint;
} tg_command_program_t;

/* A letter of codes has no value; the next word that is no option is code. */
#define TG_COMMAND_IS_SHELL 0x1
/* Options end at the first word that is none. */
#define TG_COMMAND_IS_STRICT 0x2
/* The first word that is no option is code, the ones behind it, all. */
#define TG_COMMAND_IS_FIRST 0x4
#define TG_COMMAND_IS_REST 0x8
#define TG_COMMAND_IS_ALL 0x10
/* Words that are code become one text, in which each is among other text. */
#define TG_COMMAND_IS_JOINED 0x20
/* It starts the program that some later word names. */
#define TG_COMMAND_IS_LAUNCHER 0x40
/* A `--` stands in front of that program. */
#define TG_COMMAND_IS_DASHED 0x80
/* Long options may have one dash. */
#define TG_COMMAND_IS_SINGLE 0x100
/* Words behind the code are no options. */
#define TG_COMMAND_IS_PLAIN 0x200
/* Without code and files it reads code from its standard input. */
#define TG_COMMAND_IS_READER 0x400
/* Values in its code that the schema bounds are harmless. */
#define TG_COMMAND_IS_BOUNDED_SAFE 0x800
/* A word that begins with + is code. */
#define TG_COMMAND_IS_PLUS 0x1000
/* The value of a word NAME=VALUE is code. */
#define TG_COMMAND_IS_ASSIGNED 0x2000
/* It reads code from its standard input, whatever its words are. */
#define TG_COMMAND_IS_INPUT 0x4000

/* The program that a word, a path or a name, means; NULL: none of these. */
const tg_command_program_t *tg_command_find_program(tg_str_t word);

/* Has a list of words, between blanks, this one? */
int tg_command_list_has(const char *list, tg_str_t word);

/* --- values --- */

/* Variables that hold what a caller chooses, besides those that always do. */
typedef struct {
    const tg_str_t *names;
    size_t n;
} tg_command_names_t;

/* Does a variable hold what a caller, or a client, chooses?  names or NULL. */
int tg_command_is_caller_variable(tg_str_t name,
                                  const tg_command_names_t *names);

/*
 * The first such variable of a text that has other text, too; absent: there is
 * none.  With is_alone the text may be nothing but it.
 */
tg_str_t tg_command_find_caller_value(tg_str_t text, int is_alone,
                                      const tg_command_names_t *names);

/* --- words --- */

typedef struct {
    tg_str_t text;          /* as the config has it, `$$` for a dollar */
    unsigned line;          /* number of the directive */
    unsigned is_optional:1; /* the words of the line may be left out */
    unsigned is_repeated:1; /* or be there several times */
    unsigned is_bounded:1;  /* the schema bounds the caller's values in it */
} tg_command_word_t;

/* More than these are not looked at. */
#define TG_COMMAND_WORDS_MAX 512

/* Code with a caller's value among other text, and the value's variable. */
typedef struct {
    const tg_command_program_t *program;
    tg_str_t name;  /* of the program that runs it, as it is written */
    tg_str_t value; /* `$tool_arg_x`, as it is written; absent: there is none */
    size_t word;
    /* a value that is all of some code; absent: none is */
    tg_str_t whole_value;
    size_t tail;   /* words from here on are no options of any program */
    int is_reader; /* the program reads code from its standard input */
} tg_command_finding_t;

/* Finds the first such word: TG_OK, or TG_MISSING: code has only the rest. */
int tg_command_find_injection(const tg_command_word_t *words, size_t n,
                              const tg_command_names_t *names,
                              tg_command_finding_t *code);

/*
 * The next word, at `from` or behind, that begins with a caller's value and
 * may be taken for an option; n: there is none.  tail is as above.
 */
size_t tg_command_find_option_injection(const tg_command_word_t *words,
                                        size_t n, size_t tail,
                                        const tg_command_names_t *names,
                                        size_t from);

/* --- maps --- */

/* Takes the next file name of an `include` off a config: TG_OK or TG_END. */
int tg_command_next_include(tg_str_t *rest, tg_str_t *name);

/* `map SOURCE $NAME { BODY`, and what follows. */
typedef struct {
    tg_str_t source;
    tg_str_t name;
    tg_str_t body;
} tg_command_map_t;

/* Takes the next one off the text of a config: TG_OK or TG_END. */
int tg_command_next_map(tg_str_t *rest, tg_command_map_t *map);

/*
 * Calls add with each variable that the map makes of what a caller chooses:
 * its own, where a value has such a variable or a part of the source that a
 * regular expression found, and such parts by their names.
 */
typedef void (*tg_command_add_name_pt)(void *ctx, tg_str_t name);

void tg_command_map_add_variables(const tg_command_map_t *map,
                                  const tg_command_names_t *names,
                                  tg_command_add_name_pt add, void *ctx);

#endif
