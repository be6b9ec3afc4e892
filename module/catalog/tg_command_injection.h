/*
 * Detects words in a config's command lines that have a client's value and that
 * a program runs as code or may parse as options.
 */
#ifndef TG_COMMAND_INJECTION_H
#define TG_COMMAND_INJECTION_H

#include "base/tg_base.h"

/* Safe ways to pass a client's value to code. */
typedef enum {
    /* with `env`, which every program can read */
    TG_COMMAND_HINT_ENVIRONMENT,
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
    TG_COMMAND_HINT_WORDS, /* as separate words, which nothing splits */
    TG_COMMAND_HINT_COUNT
} tg_command_hint_t;

typedef struct {
    const char *names; /* program names without versions, separated by blanks */
    const char *code_options; /* letters of the options whose value is code */
    /* letters of the options whose value is a file of code */
    const char *file_options;
    const char *value_options; /* letters of other options with a value */
    /* letters of options whose optional value is attached */
    const char *attached_options;
    /* letters of options that read code from standard input */
    const char *stdin_options;
    const char *long_code_options; /* long options whose value is code */
    /* long options whose value is a file of code */
    const char *long_file_options;
    const char *long_value_options; /* other long options with a value */
    const char *long_pair_options;  /* long options with two values */
    /* prefixes of option values (settings) that are code */
    const char *code_settings;
    const char *command; /* required first word; NULL: any */
    /* words that precede a started program; NULL: any */
    const char *launch_words;
    unsigned flags; /* TG_COMMAND_IS_* */
    tg_command_hint_t hint;
} tg_command_program_t;

/* code_options have no value; the first word that is no option is code. */
#define TG_COMMAND_IS_SHELL 0x1
/* Options end at the first word that is not an option. */
#define TG_COMMAND_IS_STRICT 0x2
#define TG_COMMAND_IS_FIRST 0x4
/* All non-option words after the first one are code. */
#define TG_COMMAND_IS_REST 0x8
#define TG_COMMAND_IS_ALL 0x10
/* The program joins the words that are code into one text. */
#define TG_COMMAND_IS_JOINED 0x20
/* The program starts another program, named by a later word. */
#define TG_COMMAND_IS_LAUNCHER 0x40
/* A `--` precedes the name of the started program. */
#define TG_COMMAND_IS_DASHED 0x80
/* Long options may have a single dash. */
#define TG_COMMAND_IS_SINGLE 0x100
/* Words after the code are not options. */
#define TG_COMMAND_IS_PLAIN 0x200
/* Reads code from standard input if no word is code or a file of code. */
#define TG_COMMAND_IS_READER 0x400
/* Values in the code are harmless if the schema restricts them. */
#define TG_COMMAND_IS_BOUNDED_SAFE 0x800
/* A word that begins with + is code. */
#define TG_COMMAND_IS_PLUS 0x1000
/* In a word NAME=VALUE the value is code. */
#define TG_COMMAND_IS_ASSIGNED 0x2000
/* The program always reads code from standard input. */
#define TG_COMMAND_IS_INPUT 0x4000

/* Returns the program of a word, a path or a name, or NULL. */
const tg_command_program_t *tg_command_find_program(tg_str_t word);

/* Checks a list of words that are separated by blanks. */
int tg_command_list_has(const char *list, tg_str_t word);

/* Additional variables with values that a client chooses. */
typedef struct {
    const tg_str_t *names;
    size_t n;
} tg_command_names_t;

/* Checks whether a client chooses the value. names may be NULL. */
int tg_command_is_caller_variable(tg_str_t name,
                                  const tg_command_names_t *names);

/*
 * Returns the first variable in text whose value a client chooses, or an absent
 * slice. Unless is_alone is set, text must contain more than this variable.
 */
tg_str_t tg_command_find_caller_value(tg_str_t text, int is_alone,
                                      const tg_command_names_t *names);

typedef struct {
    tg_str_t text;          /* text as in the config, with `$$` for a dollar */
    unsigned line;          /* number of the directive */
    unsigned is_optional:1; /* 1: the words of this line may be left out */
    unsigned is_repeated:1; /* 1: the words of this line may be repeated */
    /* 1: the schema restricts the client's values in the word */
    unsigned is_bounded:1;
} tg_command_word_t;

#define TG_COMMAND_WORDS_MAX 512

typedef struct {
    const tg_command_program_t *program;
    tg_str_t name; /* name of the program that runs the code, as written */
    /* variable, `$tool_arg_x`, as written; absent: no finding */
    tg_str_t value;
    size_t word;
    /* a variable that is the whole code of some word, or absent */
    tg_str_t whole_value;
    size_t tail; /* index of the first word that cannot be an option */
    /* 1: the program reads code from standard input */
    int is_reader;
} tg_command_finding_t;

/*
 * Finds the first word that is code with a client's value among other text.
 * TG_MISSING: *code has only whole_value, tail and is_reader with its program.
 */
int tg_command_find_injection(const tg_command_word_t *words, size_t n,
                              const tg_command_names_t *names,
                              tg_command_finding_t *code);

/*
 * Returns the next word, from index `from` on, that begins with a client's
 * value and may be parsed as an option, or n. tail is from
 * tg_command_find_injection().
 */
size_t tg_command_find_option_injection(const tg_command_word_t *words,
                                        size_t n, size_t tail,
                                        const tg_command_names_t *names,
                                        size_t from);

/* Stores the file of the next `include` and advances *rest; or TG_END. */
int tg_command_next_include(tg_str_t *rest, tg_str_t *name);

/* `map SOURCE $NAME { BODY }`; body extends to the end of the config text. */
typedef struct {
    tg_str_t source;
    tg_str_t name;
    tg_str_t body;
} tg_command_map_t;

/* Finds the next `map` block and advances *rest; or TG_END. */
int tg_command_next_map(tg_str_t *rest, tg_command_map_t *map);

/* Receives the name of a variable whose value a client chooses. */
typedef void (*tg_command_add_name_pt)(void *ctx, tg_str_t name);

/*
 * Reports the variables of a map that depend on what a client chooses: its own,
 * if a value contains such a variable or a capture of a regular expression on
 * such a source; and named captures.
 */
void tg_command_map_add_variables(const tg_command_map_t *map,
                                  const tg_command_names_t *names,
                                  tg_command_add_name_pt add, void *ctx);

#endif
