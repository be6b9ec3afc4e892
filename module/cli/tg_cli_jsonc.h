/* Edits JSON with comments and trailing commas. */
#ifndef TG_CLI_JSONC_H
#define TG_CLI_JSONC_H

#include "base/tg_buf.h"

/* A text, and plain JSON with blanks for comments and trailing commas. */
typedef struct {
    const char *text;
    tg_buf_t json;
} tg_cli_jsonc_t;

/* An object of the text. */
typedef struct {
    const char *open;      /* its { */
    const char *close;     /* its } */
    const char *first_key; /* key of its first member; NULL: empty object */
    const char *last_end;  /* end of its last value */
    const char *comma;     /* comma after the last value, or NULL */
} tg_cli_jsonc_object_t;

/* A member of an object; key NULL: no member of that name. */
typedef struct {
    const char *key;
    const char *value;
    const char *end;
    const char *comma_before; /* comma before the member, or NULL */
    const char *comma_after;  /* comma after the member, or NULL */
    int is_duplicate;
} tg_cli_jsonc_member_t;

/* text must be valid until tg_cli_jsonc_deinit(). TG_OK or TG_NOMEM. */
int tg_cli_jsonc_init(tg_cli_jsonc_t *jsonc, const char *text);
void tg_cli_jsonc_deinit(tg_cli_jsonc_t *jsonc);

/* Returns TG_INVALID, with the message in out, if text is no object. */
int tg_cli_jsonc_check(const tg_cli_jsonc_t *jsonc, tg_buf_t *out);

/* Returns the first character after white space and comments. */
const char *tg_cli_jsonc_skip_space(const char *p);

/* Parses the object at p in a valid text, and finds a member of it. */
void tg_cli_jsonc_find_member(const tg_cli_jsonc_t *jsonc, const char *p,
                              const char *name, tg_cli_jsonc_object_t *object,
                              tg_cli_jsonc_member_t *found);

/*
 * path: the names of nested members, and NULL. An absent value removes the
 * member. Returns TG_OK, TG_EXISTS if nothing changes, TG_NOMEM, or TG_INVALID
 * with the message in out.
 */
int tg_cli_jsonc_set_member(const tg_cli_jsonc_t *jsonc,
                            const char *const *path, tg_str_t value,
                            tg_buf_t *out);

#endif
