/*
 * JSON (RFC 8259) on the per-frame path: a cursor that validates every byte
 * once and returns slices of the text, and functions that write JSON.
 *
 * The grammar is exactly that of the RFC.  Text must be valid UTF-8.  An
 * escaped lone surrogate is legal JSON; decoding turns it into U+FFFD.
 * Containers may nest TG_JSON_MAX_DEPTH deep.  The caller handles duplicate and
 * empty keys.
 *
 * Reading an object:
 *
 *     tg_json_init(&json, text);
 *     rc = tg_json_enter_object(&json);
 *     while (rc == TG_OK && (rc = tg_json_next_member(&json, &key)) == TG_OK) {
 *         rc = tg_json_read_value(&json, &value);
 *     }
 *     if (rc == TG_END) rc = tg_json_expect_end(&json);
 *
 * After TG_INVALID or TG_LIMIT the cursor does not move, and every further call
 * returns the same code.
 */
#ifndef TG_JSON_H
#define TG_JSON_H

#include "base/tg_buf.h"

/*
 * Maximum nesting depth: enough for any schema seen in use, too small to
 * exhaust the stack.
 */
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

/* Flags of a string that contains escapes. */
enum {
    TG_JSON_HAS_ESCAPES = 1,   /* any escape */
    TG_JSON_HAS_SURROGATES = 2 /* escaped surrogates, in pairs or alone */
};

typedef struct {
    const char *start;
    const char *pos;
    const char *end;
    int depth;          /* number of containers that are open at pos */
    int is_first_entry; /* pos is right after an opening bracket */
    unsigned escapes;   /* TG_JSON_HAS_* flags of the last string */
    int failed;         /* TG_INVALID or TG_LIMIT, sticky */
    const char *why;    /* static text: the reason for failed */
} tg_json_cursor_t;

/*
 * Starts reading text. The text must outlive the cursor and all slices that
 * the cursor returns.
 */
void tg_json_init(tg_json_cursor_t *json, tg_str_t text);

/*
 * Skips white space and returns the type of the value that starts there, from
 * its first byte.
 */
tg_json_type_t tg_json_peek_type(tg_json_cursor_t *json);

/* Skips white space and checks whether the next byte is c. */
static inline int
tg_json_is_next(tg_json_cursor_t *json, char c)
{
    return json->pos < json->end
           && (*json->pos == c
               || ((unsigned char) *json->pos <= ' '
                   && tg_json_peek_type(json) != TG_JSON_NONE
                   && *json->pos == c));
}

/* The tg_json_type_t of a value, by its first byte. */
extern const uint8_t tg_json_type_table[256];

/*
 * Returns the type of a raw value, from its first byte; TG_JSON_NONE if the
 * value is absent or empty.
 */
static inline tg_json_type_t
tg_json_type(tg_str_t raw)
{
    if (raw.len == 0) {
        return TG_JSON_NONE;
    }

    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): absent is empty */
    return (tg_json_type_t) tg_json_type_table[(unsigned char) raw.data[0]];
}

/*
 * Skips one whole value and stores its raw text in *value, without the white
 * space around it. value may be NULL. Returns TG_OK, TG_INVALID, or TG_LIMIT
 * if the value nests too deep.
 */
int tg_json_read_value(tg_json_cursor_t *json, tg_str_t *value);

/*
 * Skips a string and stores its body: the text between the quotes, still
 * escaped. Returns TG_OK or TG_INVALID.
 */
int tg_json_read_string(tg_json_cursor_t *json, tg_str_t *body);

/*
 * Enters an object. Returns TG_OK, TG_INVALID if the next value is not an
 * object, or TG_LIMIT if it nests too deep.
 */
int tg_json_enter_object(tg_json_cursor_t *json);
/*
 * Enters an array. Returns TG_OK, TG_INVALID if the next value is not an
 * array, or TG_LIMIT if it nests too deep.
 */
int tg_json_enter_array(tg_json_cursor_t *json);

/*
 * Moves to the value of the next member and stores the body of its key, still
 * escaped. Returns TG_OK, TG_INVALID, or TG_END after the last member; the
 * cursor is past the object then.
 */
int tg_json_next_member(tg_json_cursor_t *json, tg_str_t *key);

/*
 * Moves to the next element. Returns TG_OK, TG_INVALID, or TG_END after the
 * last element; the cursor is past the array then.
 */
int tg_json_next_element(tg_json_cursor_t *json);

/* Checks that only white space follows. Returns TG_OK or TG_INVALID. */
int tg_json_expect_end(tg_json_cursor_t *json);

/*
 * Checks whether text is one valid JSON value. Returns TG_OK, or TG_INVALID or
 * TG_LIMIT with the reason in *why, a static text. why may be NULL.
 */
int tg_json_validate(tg_str_t text, const char **why);

/*
 * Appends the position of the byte `at` in text, as editors show it: "line 2,
 * column 5".
 */
void tg_json_append_position(tg_buf_t *out, tg_str_t text, const char *at);

/*
 * Validates text like tg_json_validate(). On failure appends the reason and
 * the position: "… (line 2, column 5)".
 */
int tg_json_validate_explain(tg_str_t text, tg_buf_t *why);

/* Checks whether an escaped string body decodes to the plain bytes of text. */
int tg_json_body_eq_text(tg_str_t body, tg_str_t text);

/* Checks whether two escaped string bodies decode to equal texts. */
int tg_json_body_eq(tg_str_t a, tg_str_t b);

/*
 * Decodes a validated string body to dst and returns the number of bytes
 * written. dst must have space for body.len bytes: decoded text is never
 * longer than its escaped form.
 */
size_t tg_json_unescape(char *dst, tg_str_t body);

/* Appends the decoded text of a validated string body. */
void tg_json_append_unescaped(tg_buf_t *buf, tg_str_t body);

/* Returns the body of a raw string, which has its quotes: `"…"`. */
static inline tg_str_t
tg_json_string_body(tg_str_t raw)
{
    return tg_str(raw.data + 1, raw.len - 2);
}

/*
 * Checks whether a raw value is a JSON string equal to text. text must not
 * contain a backslash.
 */
static inline int
tg_json_string_eq(tg_str_t raw, tg_str_t text)
{
    return tg_json_type(raw) == TG_JSON_STRING
           && (tg_str_eq(tg_json_string_body(raw), text)
               || tg_json_body_eq_text(tg_json_string_body(raw), text));
}

/*
 * Finds a member of a validated raw object and stores its raw value. Of
 * members with equal keys it finds the last one, as most parsers do. Returns
 * TG_OK or TG_MISSING.
 */
int tg_json_get_member(tg_str_t object, tg_str_t key, tg_str_t *value);

/*
 * Starts an iteration over the elements of a validated raw array.  A value of
 * another type has no elements:
 *
 *     for (tg_json_iter_init(&json, array); tg_json_iter_next(&json, &value);)
 */
void tg_json_iter_init(tg_json_cursor_t *json, tg_str_t array);
/*
 * Stores the next element, raw, and returns 1; returns 0 after the last one.
 */
int tg_json_iter_next(tg_json_cursor_t *json, tg_str_t *value);

/*
 * Starts an iteration over the members of a validated raw object. A value of
 * another type has no members.
 */
void tg_json_iter_init_members(tg_json_cursor_t *json, tg_str_t object);
/*
 * Stores the next member, the body of its key and its raw value, which may be
 * NULL. Returns 1, or 0 after the last one.
 */
int tg_json_iter_next_member(tg_json_cursor_t *json, tg_str_t *key,
                             tg_str_t *value);

/*
 * Finds the members of the object text with the given names, in one pass.
 * names ends with NULL. values[i] becomes the raw value of names[i], the last
 * one of equal keys, or absent. Returns TG_OK, or TG_INVALID if text is not
 * exactly one valid object.
 */
int tg_json_get_members(tg_str_t text, const char *const *names,
                        tg_str_t *values);

/*
 * Checks whether raw is an object that has a member of this key and type, and
 * stores the value.
 */
static inline int
tg_json_has_member(tg_str_t raw, tg_str_t key, tg_json_type_t type,
                   tg_str_t *value)
{
    return tg_json_get_member(raw, key, value) == TG_OK
           && tg_json_type(*value) == type;
}

/*
 * Maximum number of indexed members of an object: more than a usual call has.
 */
#define TG_JSON_INDEX_MAX 16

/*
 * A member of an object, recorded while the object is validated, so that a
 * lookup need not parse the object again.
 */
typedef struct {
    tg_str_t key;   /* escaped body of the key */
    tg_str_t value; /* raw value */
    uint8_t key_escapes;
    uint8_t escapes; /* TG_JSON_HAS_* flags of a string value */
} tg_json_member_t;

typedef struct {
    size_t n; /* number of members; the first TG_JSON_INDEX_MAX are in list */
    int is_compact; /* 1: no white space outside of strings; 0: unknown */
    tg_json_member_t list[TG_JSON_INDEX_MAX];
} tg_json_index_t;

/*
 * Reads an object like tg_json_read_value() and records its members in index.
 */
int tg_json_index_object(tg_json_cursor_t *json, tg_json_index_t *index,
                         tg_str_t *value);

/*
 * Finds a member of a validated object like tg_json_get_member(). index is the
 * object's index, or NULL. Returns TG_OK or TG_MISSING.
 */
int tg_json_index_get(const tg_json_index_t *index, tg_str_t object,
                      tg_str_t key, tg_json_member_t *note);

/*
 * Finds a member like tg_json_index_get(), with a bound of the work. Each
 * member that must be parsed again costs one step of some 10 ns, and one more
 * for each 128 bytes; its steps are subtracted from *steps. An indexed object
 * costs no steps. Returns TG_OK, TG_MISSING, or TG_LIMIT if *steps is
 * exceeded.
 */
int tg_json_index_get_bounded(const tg_json_index_t *index, tg_str_t object,
                              tg_str_t key, uint64_t *steps,
                              tg_json_member_t *note);

/*
 * Parses a raw number that is an integer within int64_t; 1.0 and 1e2 are
 * integers. Returns TG_OK, or TG_INVALID for any other value.
 */
int tg_json_parse_int64(tg_str_t raw, int64_t *value);

/* Appends text, which must be valid UTF-8, as a quoted JSON string. */
void tg_json_write_string(tg_buf_t *buf, tg_str_t text);
/*
 * Appends text, which must be valid UTF-8, as the body of a JSON string:
 * escaped, without quotes.
 */
void tg_json_write_escaped(tg_buf_t *buf, tg_str_t text);

/*
 * Counts the bytes that tg_json_write_escaped() would append. Stops counting
 * beyond max; the result is then larger than max, too.
 */
size_t tg_json_escaped_len(tg_str_t text, size_t max);

/*
 * Appends a validated value without insignificant white space, so that it fits
 * on one line; every token is copied byte for byte.
 */
void tg_json_write_compact(tg_buf_t *buf, tg_str_t raw);

/*
 * Appends the members of a validated object, except the members with the given
 * names. names ends with NULL. n is the number of members already in the
 * output, which decides about the first comma. Returns n plus the number of
 * appended members.
 */
size_t tg_json_write_members_except(tg_buf_t *buf, tg_str_t object,
                                    const char *const *names, size_t n);

/*
 * Functions that write JSON value by value. The last byte of the buffer decides
 * about the comma: there is none in an empty buffer and after `{`, `[`, `:` and
 * `,`. So functions that write members of one object need not know each other.
 * The caller appends the brackets that the functions do not.
 */

/* Appends a key and its colon. The caller appends the value. */
void tg_json_begin_member(tg_buf_t *json, const char *key);
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

/*
 * Adds a validated raw value without insignificant white space, or nothing if
 * raw is absent.
 */
void tg_json_add_compact(tg_buf_t *json, const char *key, tg_str_t raw);

#endif
