/*
 * A text of JSON with comments, and with commas behind the last element: what
 * is in it, and one change of it.
 */
#ifndef TG_CLI_JSONC_H
#define TG_CLI_JSONC_H

#include "base/tg_buf.h"

/* An object of the text. */
typedef struct {
    const char *open;      /* its { */
    const char *close;     /* its } */
    const char *first_key; /* the key of its first member; NULL: it is empty */
    const char *last_end;  /* the end of its last value */
    const char *comma;     /* behind that, or NULL */
} tg_cli_jsonc_object_t;

/* One of its members; key NULL: it has none of that name. */
typedef struct {
    const char *key;
    const char *value;
    const char *end;
    const char *comma_before; /* the comma in front of it, or NULL */
    const char *comma_after;  /* the comma behind it, or NULL */
    int is_duplicate;
} tg_cli_jsonc_member_t;

/* TG_OK: it is one object; else TG_INVALID, and out says what is wrong. */
int tg_cli_jsonc_check(const char *text, tg_buf_t *out);

/* Skips white space and comments. */
const char *tg_cli_jsonc_skip_space(const char *p);

/* Reads the object at p, and finds a member of it; the text is valid. */
void tg_cli_jsonc_find_member(const char *p, const char *name,
                              tg_cli_jsonc_object_t *object,
                              tg_cli_jsonc_member_t *found);

/*
 * Appends the text with a member set, to which names lead through objects, to
 * a NULL; with an absent value it is removed.  TG_OK; TG_EXISTS when there is
 * nothing to change; TG_NOMEM; TG_INVALID, and out says what is wrong.
 */
int tg_cli_jsonc_set_member(const char *text, const char *const *path,
                            tg_str_t value, tg_buf_t *out);

#endif
