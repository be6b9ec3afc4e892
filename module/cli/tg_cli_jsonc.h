/*
 * Edits JSON with comments and trailing commas: sets or removes one member,
 * and leaves the other bytes unchanged.
 */
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

/*
 * Makes plain JSON of a text, which must be valid until tg_cli_jsonc_deinit().
 * Returns TG_OK or TG_NOMEM.
 */
int tg_cli_jsonc_init(tg_cli_jsonc_t *jsonc, const char *text);
void tg_cli_jsonc_deinit(tg_cli_jsonc_t *jsonc);

/*
 * Checks that the text is one valid object.  Returns TG_OK, or TG_INVALID with
 * the error message in out.
 */
int tg_cli_jsonc_check(const tg_cli_jsonc_t *jsonc, tg_buf_t *out);

/* Returns the first character after white space and comments. */
const char *tg_cli_jsonc_skip_space(const char *p);

/*
 * Parses the object at p in the text, and finds a member of it.  The text must
 * be valid.
 */
void tg_cli_jsonc_find_member(const tg_cli_jsonc_t *jsonc, const char *p,
                              const char *name, tg_cli_jsonc_object_t *object,
                              tg_cli_jsonc_member_t *found);

/*
 * Appends the text with one member set.  path contains the names that lead to
 * the member through nested objects, and ends with NULL.  An absent value
 * removes the member.  Returns TG_OK, TG_EXISTS if nothing has to be changed,
 * TG_NOMEM, or TG_INVALID with the error message in out.
 */
int tg_cli_jsonc_set_member(const tg_cli_jsonc_t *jsonc,
                            const char *const *path, tg_str_t value,
                            tg_buf_t *out);

#endif
