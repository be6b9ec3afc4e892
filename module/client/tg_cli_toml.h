/*
 * TOML 1.0, as far as finding one's place in a file needs it: a cursor over
 * headers and key/value pairs that passes every value by its grammar, so
 * that what stands in a string or a comment is never taken for a header.
 *
 * Numbers and dates are passed by their characters only; whether a key is
 * defined twice is not looked at.
 */
#ifndef TG_CLI_TOML_H
#define TG_CLI_TOML_H

#include "base/tg_buf.h"

/* Parts of a key that are kept; nobody who looks here needs more. */
#define TG_CLI_TOML_PARTS 8
/* Arrays and inline tables in each other. */
#define TG_CLI_TOML_DEPTH 64

typedef enum {
    TG_CLI_TOML_TABLE,  /* [a.b] */
    TG_CLI_TOML_TABLES, /* [[a.b]] */
    TG_CLI_TOML_PAIR    /* a.b = value */
} tg_cli_toml_kind_t;

/* All slices are of the text. */
typedef struct {
    tg_str_t parts[TG_CLI_TOML_PARTS]; /* raw: bare, "…" or '…' */
    size_t count;                      /* of all parts */
} tg_cli_toml_key_t;

typedef struct {
    tg_cli_toml_kind_t kind;
    tg_cli_toml_key_t key;
    tg_str_t value;   /* raw, of a pair */
    const char *next; /* where the next line starts */
} tg_cli_toml_item_t;

typedef struct {
    const char *pos;
    const char *end;
    const char *start;
    const char *why; /* of TG_BAD, static */
} tg_cli_toml_t;

void tg_cli_toml_init(tg_cli_toml_t *toml, tg_str_t text);

/* TG_OK, TG_END, or TG_BAD with why and the line. */
int tg_cli_toml_next(tg_cli_toml_t *toml, tg_cli_toml_item_t *item);

/*
 * The next element of an array: the cursor is on what its brackets enclose.
 * TG_OK, TG_END, TG_BAD.
 */
int tg_cli_toml_element(tg_cli_toml_t *toml, tg_str_t *value);

/* The line of pos, from 1. */
unsigned tg_cli_toml_line(const tg_cli_toml_t *toml);

/* Does a raw string of any of the four kinds stand for this text? */
int tg_cli_toml_is_text(tg_str_t raw, tg_str_t text);

/* The same for a part of a key, which may be bare. */
int tg_cli_toml_part_is(tg_str_t raw, tg_str_t text);

/* Is a raw value an array of one string, of this text? */
int tg_cli_toml_is_list(tg_str_t raw, tg_str_t text);

#endif
