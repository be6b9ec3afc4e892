/*
 * JSON (RFC 8259): a cursor that validates every byte once and returns slices
 * of the text, and functions that write JSON. Text must be valid UTF-8.
 * Decoding turns an escaped lone surrogate, which is legal, into U+FFFD. The
 * caller handles duplicate and empty keys. Reading an object:
 *
 *     tg_json_init(&json, text);
 *     rc = tg_json_enter_object(&json);
 *     while (rc == TG_OK && (rc = tg_json_next_member(&json, &key)) == TG_OK) {
 *         rc = tg_json_read_value(&json, &value);
 *     }
 *     if (rc == TG_END) rc = tg_json_expect_end(&json);
 *
 * The cursor's functions return TG_OK, TG_INVALID, or TG_LIMIT if a value nests
 * deeper than TG_JSON_MAX_DEPTH. A cursor that has failed does not move and
 * returns the same code again.
 */
#ifndef TG_JSON_H
#define TG_JSON_H

#include "base/tg_buf.h"

/* Enough for any schema seen in use, too small to exhaust the stack. */
#define TG_JSON_MAX_DEPTH 128

typedef enum {
    TG_JSON_NONE, /* end of text, or no value starts here */
    TG_JSON_OBJECT,
    TG_JSON_ARRAY,
    TG_JSON_STRING,
    TG_JSON_NUMBER,
    TG_JSON_TRUE,
    TG_JSON_FALSE,
    TG_JSON_NULL
} tg_json_type_t;

enum {
    TG_JSON_HAS_ESCAPES = 1,   /* any escape */
    TG_JSON_HAS_SURROGATES = 2 /* escaped surrogates, in pairs or alone */
};

typedef struct {
    const char *start;
    const char *pos;
    const char *end;
    int depth; /* number of containers that are open at pos */
    int is_first_entry;
    unsigned escapes; /* TG_JSON_HAS_* flags of the last string */
    int failed;       /* TG_INVALID or TG_LIMIT, sticky */
    const char *why;  /* static text: the reason for failed */
} tg_json_cursor_t;

/* The text must outlive the cursor and all slices that it returns. */
void tg_json_init(tg_json_cursor_t *json, tg_str_t text);

/* Skips white space and returns the type of the value that follows. */
tg_json_type_t tg_json_peek_type(tg_json_cursor_t *json);

static inline int
tg_json_is_next(tg_json_cursor_t *json, char c)
{
    return json->pos < json->end
           && (*json->pos == c
               || ((unsigned char) *json->pos <= ' '
                   && tg_json_peek_type(json) != TG_JSON_NONE
                   && *json->pos == c));
}

extern const uint8_t tg_json_type_table[256];

/* Returns the type of a raw value, TG_JSON_NONE if it is absent or empty. */
static inline tg_json_type_t
tg_json_type(tg_str_t raw)
{
    if (raw.len == 0) {
        return TG_JSON_NONE;
    }

    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): absent is empty */
    return (tg_json_type_t) tg_json_type_table[(unsigned char) raw.data[0]];
}

/* Skips a value. Stores its raw text without outer space if value is set. */
int tg_json_read_value(tg_json_cursor_t *json, tg_str_t *value);

/* Stores a string's body: the text between the quotes, still escaped. */
int tg_json_read_string(tg_json_cursor_t *json, tg_str_t *body);

int tg_json_enter_object(tg_json_cursor_t *json);
int tg_json_enter_array(tg_json_cursor_t *json);

/*
 * Moves to the value of the next member and stores its key, still escaped.
 * TG_END after the last one; the cursor is past the object then.
 */
int tg_json_next_member(tg_json_cursor_t *json, tg_str_t *key);

/* Moves to the next element, or past the array and returns TG_END. */
int tg_json_next_element(tg_json_cursor_t *json);

/* Checks that only white space follows. Returns TG_OK or TG_INVALID. */
int tg_json_expect_end(tg_json_cursor_t *json);

/* Checks that text is one valid value. *why, if set, is static text. */
int tg_json_validate(tg_str_t text, const char **why);

/* Appends the position of `at` as editors show it: "line 2, column 5". */
void tg_json_append_position(tg_buf_t *out, tg_str_t text, const char *at);

/* Validates text. On failure appends "reason (line 2, column 5)". */
int tg_json_validate_explain(tg_str_t text, tg_buf_t *why);

/* Checks whether an escaped string body decodes to the plain bytes of text. */
int tg_json_body_eq_text(tg_str_t body, tg_str_t text);

int tg_json_body_eq(tg_str_t a, tg_str_t b);

/* Decodes to dst, which must have body.len bytes, and returns the length. */
size_t tg_json_unescape(char *dst, tg_str_t body);

void tg_json_append_unescaped(tg_buf_t *buf, tg_str_t body);

/* Returns the body of a raw string, which has its quotes: `"…"`. */
static inline tg_str_t
tg_json_string_body(tg_str_t raw)
{
    return tg_str(raw.data + 1, raw.len - 2);
}

/* Checks whether raw is a string equal to text, which has no backslash. */
static inline int
tg_json_string_eq(tg_str_t raw, tg_str_t text)
{
    return tg_json_type(raw) == TG_JSON_STRING
           && (tg_str_eq(tg_json_string_body(raw), text)
               || tg_json_body_eq_text(tg_json_string_body(raw), text));
}

/* Returns the index of an escaped body in NULL-terminated words, or -1. */
int tg_json_body_find(tg_str_t body, const char *const *words);

/* Returns the index of a raw string in NULL-terminated words, or -1. */
int tg_json_string_find(tg_str_t raw, const char *const *words);

/* Finds a member; of equal keys the last one. TG_OK or TG_MISSING. */
int tg_json_get_member(tg_str_t object, tg_str_t key, tg_str_t *value);

/*
 * Iterates over a validated array. Any other value has no elements:
 *
 *     for (tg_json_iter_init(&json, array); tg_json_iter_next(&json, &value);)
 */
void tg_json_iter_init(tg_json_cursor_t *json, tg_str_t array);
/* Stores the next raw element. Returns 0 after the last one. */
int tg_json_iter_next(tg_json_cursor_t *json, tg_str_t *value);

/* Iterates over a validated object. Any other value has no members. */
void tg_json_iter_init_members(tg_json_cursor_t *json, tg_str_t object);
/* Stores the next member. Returns 0 after the last one. value may be NULL. */
int tg_json_iter_next_member(tg_json_cursor_t *json, tg_str_t *key,
                             tg_str_t *value);

/*
 * Stores the raw values of the members names[i] in values[i], absent if
 * missing; names ends with NULL, and of equal keys the last one counts.
 * TG_INVALID: text is not exactly one valid object.
 */
int tg_json_get_members(tg_str_t text, const char *const *names,
                        tg_str_t *values);

static inline int
tg_json_has_member(tg_str_t raw, tg_str_t key, tg_json_type_t type,
                   tg_str_t *value)
{
    return tg_json_get_member(raw, key, value) == TG_OK
           && tg_json_type(*value) == type;
}

/* Maximum number of indexed members: more than a usual call has. */
#define TG_JSON_INDEX_MAX 16

/* A member recorded during validation, so that no lookup parses again. */
typedef struct {
    tg_str_t key;   /* escaped body of the key */
    tg_str_t value; /* raw value */
    uint8_t key_escapes;
    uint8_t escapes; /* TG_JSON_HAS_* flags of a string value */
} tg_json_member_t;

typedef struct {
    size_t n; /* number of members; the first TG_JSON_INDEX_MAX are in list */
    tg_json_member_t list[TG_JSON_INDEX_MAX];
} tg_json_index_t;

/* Reads an object and records its members in index. */
int tg_json_index_object(tg_json_cursor_t *json, tg_json_index_t *index,
                         tg_str_t *value);

/* Finds a member like tg_json_get_member(). index may be NULL. */
int tg_json_index_get(const tg_json_index_t *index, tg_str_t object,
                      tg_str_t key, tg_json_member_t *note);

/*
 * Finds a member with a bound on the work. Each member that must be parsed
 * again takes one of *steps (some 10 ns), and one more for each 128 bytes; an
 * indexed object takes none. TG_OK, TG_MISSING, or TG_LIMIT if *steps is
 * exceeded.
 */
int tg_json_index_get_bounded(const tg_json_index_t *index, tg_str_t object,
                              tg_str_t key, uint64_t *steps,
                              tg_json_member_t *note);

/* Parses an integer, such as 1.0 or 1e2. TG_INVALID for other values. */
int tg_json_parse_int64(tg_str_t raw, int64_t *value);

/* Appends text, which must be valid UTF-8, as a quoted JSON string. */
void tg_json_write_string(tg_buf_t *buf, tg_str_t text);
/* Appends text, valid UTF-8, as a string's body, without quotes. */
void tg_json_write_escaped(tg_buf_t *buf, tg_str_t text);

/* Counts the bytes of tg_json_write_escaped(), but not far beyond max. */
size_t tg_json_escaped_len(tg_str_t text, size_t max);

/* Appends a validated value on one line: every token stays byte for byte. */
void tg_json_write_compact(tg_buf_t *buf, tg_str_t raw);

/*
 * Appends the members of a validated object except those in names, which ends
 * with NULL. n is the number of members already in the output: it decides about
 * the first comma. Returns n plus the number of appended members.
 */
size_t tg_json_write_members_except(tg_buf_t *buf, tg_str_t object,
                                    const char *const *names, size_t n);

/*
 * Writing JSON value by value. There is no comma in an empty buffer and after
 * `{`, `[`, `:` and `,`, so functions that write members of one object need not
 * know each other. The caller appends the brackets that the functions do not.
 */

/* Appends a key and its colon. The caller appends the value. */
void tg_json_begin_member(tg_buf_t *json, const char *key);
/* Appends a key given as an escaped body. The caller appends the value. */
void tg_json_begin_raw_member(tg_buf_t *json, tg_str_t body);
/* Appends only the comma. The caller appends an element of an array. */
void tg_json_begin_element(tg_buf_t *json);
/* Appends the `{` of an object that is a member's value or an element. */
void tg_json_begin_object(tg_buf_t *json);

/* Adds a string, which must be valid UTF-8. */
void tg_json_add_string(tg_buf_t *json, const char *key, tg_str_t text);
void tg_json_add_cstr(tg_buf_t *json, const char *key, const char *text);
/* Adds a string, or nothing if text is absent. */
void tg_json_add_optional(tg_buf_t *json, const char *key, tg_str_t text);

void tg_json_add_uint(tg_buf_t *json, const char *key, uint64_t value);
void tg_json_add_int(tg_buf_t *json, const char *key, int64_t value);
void tg_json_add_bool(tg_buf_t *json, const char *key, int value);

/* Adds a raw value byte for byte, or nothing if raw is absent. */
void tg_json_add_raw(tg_buf_t *json, const char *key, tg_str_t raw);

/* Adds a value like tg_json_write_compact(), or nothing if raw is absent. */
void tg_json_add_compact(tg_buf_t *json, const char *key, tg_str_t raw);

#endif
