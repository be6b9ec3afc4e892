/*
 * JSON (RFC 8259) on the per-frame path: a cursor that validates every byte
 * it passes, once, and hands out slices of the text; and a writer.
 *
 * The grammar is the RFC's, exactly.  Text must be valid UTF-8.  An escaped
 * lone surrogate is legal JSON; decoding turns it into U+FFFD.  Containers
 * may nest TG_JSON_MAX_DEPTH deep.  Duplicate and empty keys are the caller's
 * business.
 *
 * Walking:
 *
 *     tg_json_init(&json, text);
 *     rc = tg_json_enter_object(&json);
 *     while (rc == TG_OK && (rc = tg_json_next_member(&json, &key)) == TG_OK) {
 *         rc = tg_json_read_value(&json, &value);
 *     }
 *     if (rc == TG_END) rc = tg_json_expect_end(&json);
 *
 * After TG_INVALID or TG_LIMIT the cursor stays where it is, and every further
 * step returns the same.
 */
#ifndef TG_JSON_H
#define TG_JSON_H

#include "base/tg_buf.h"

/* Deep enough for any schema seen in use, small enough to fear no stack. */
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

/* What is escaped in a string. */
enum {
    TG_JSON_HAS_ESCAPES = 1,   /* something */
    TG_JSON_HAS_SURROGATES = 2 /* surrogates: pairs of them, or one alone */
};

typedef struct {
    const char *start;
    const char *pos;
    const char *end;
    int depth;          /* containers that are open at pos */
    int is_first_entry; /* pos is right behind an opening bracket */
    unsigned escapes;   /* in the string that was passed last */
    int failed;         /* TG_INVALID or TG_LIMIT, sticky */
    const char *why;    /* static text, set with failed */
} tg_json_cursor_t;

/* The text must outlive the cursor and all slices that it hands out. */
void tg_json_init(tg_json_cursor_t *json, tg_str_t text);

/* The type of the value that starts behind white space; moves to it. */
tg_json_type_t tg_json_peek_type(tg_json_cursor_t *json);

/* Is c the byte behind white space?  Moves to it. */
static inline int
tg_json_is_next(tg_json_cursor_t *json, char c)
{
    return json->pos < json->end
           && (*json->pos == c
               || ((unsigned char) *json->pos <= ' '
                   && tg_json_peek_type(json) != TG_JSON_NONE
                   && *json->pos == c));
}

/* tg_json_type_t of what starts with a byte. */
extern const uint8_t tg_json_type_table[256];

/* The type of a raw value, from its first byte. */
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
 * Passes one whole value and stores it, without the white space around it.
 * value may be NULL.  TG_OK, TG_INVALID, or TG_LIMIT when it nests too deep.
 */
int tg_json_read_value(tg_json_cursor_t *json, tg_str_t *value);

/* Passes a string and stores its body: between the quotes, still escaped. */
int tg_json_read_string(tg_json_cursor_t *json, tg_str_t *body);

/* Enters an object or an array: TG_OK, TG_INVALID, TG_LIMIT. */
int tg_json_enter_object(tg_json_cursor_t *json);
int tg_json_enter_array(tg_json_cursor_t *json);

/*
 * Moves to the next member's value and stores its key's body (still
 * escaped).  TG_OK, TG_END when the object ended (and was left), TG_INVALID.
 */
int tg_json_next_member(tg_json_cursor_t *json, tg_str_t *key);

/* Moves to the next element: TG_OK, TG_END, TG_INVALID. */
int tg_json_next_element(tg_json_cursor_t *json);

/* TG_OK when nothing but white space follows; else TG_INVALID. */
int tg_json_expect_end(tg_json_cursor_t *json);

/* TG_OK when text is one valid JSON value; why may be NULL. */
int tg_json_validate(tg_str_t text, const char **why);

/* Appends where in it an editor shows a byte: "line 2, column 5". */
void tg_json_append_position(tg_buf_t *out, tg_str_t text, const char *at);

/* As tg_json_validate(); appends why not, and where: "… (line 2, column 5)". */
int tg_json_validate_explain(tg_str_t text, tg_buf_t *why);

/* Does an escaped string body stand for text (plain bytes)? */
int tg_json_body_eq_text(tg_str_t body, tg_str_t text);

/* Do two escaped string bodies stand for the same text? */
int tg_json_body_eq(tg_str_t a, tg_str_t b);

/*
 * Decodes a validated string body.  dst has room for body.len bytes: the
 * text is never longer than its escaped form.  Returns the bytes written.
 */
size_t tg_json_unescape(char *dst, tg_str_t body);

/* Appends the decoded text of a validated body. */
void tg_json_append_unescaped(tg_buf_t *buf, tg_str_t body);

/* The body of a raw string value (`"…"`). */
static inline tg_str_t
tg_json_string_body(tg_str_t raw)
{
    return tg_str(raw.data + 1, raw.len - 2);
}

/* Is a raw value the JSON string of this text, which has no backslash? */
static inline int
tg_json_string_eq(tg_str_t raw, tg_str_t text)
{
    return tg_json_type(raw) == TG_JSON_STRING
           && (tg_str_eq(tg_json_string_body(raw), text)
               || tg_json_body_eq_text(tg_json_string_body(raw), text));
}

/*
 * Finds a member of a validated raw object; the last one of equal keys, as
 * most parsers do.  TG_OK or TG_MISSING.
 */
int tg_json_get_member(tg_str_t object, tg_str_t key, tg_str_t *value);

/*
 * The elements of a validated array, one by one; nothing else has any:
 *
 *     for (tg_json_iter_init(&json, array); tg_json_iter_next(&json, &value);)
 */
void tg_json_iter_init(tg_json_cursor_t *json, tg_str_t array);
int tg_json_iter_next(tg_json_cursor_t *json, tg_str_t *value);

/*
 * Finds the members of text that have one of these names, the last of which
 * is NULL, in one pass: raw, the last one of equal keys, or absent.  TG_INVALID
 * when it is no valid object, or more than that.
 */
int tg_json_get_members(tg_str_t text, const char *const *names,
                        tg_str_t *values);

/* Is raw an object, and that member of it of this type? */
static inline int
tg_json_has_member(tg_str_t raw, tg_str_t key, tg_json_type_t type,
                   tg_str_t *value)
{
    return tg_json_get_member(raw, key, value) == TG_OK
           && tg_json_type(*value) == type;
}

/* Members that are noted of an object; more than a usual call has. */
#define TG_JSON_INDEX_MAX 16

/*
 * What was seen of an object's members while it was passed, so that nobody
 * has to pass it again to find one.
 */
typedef struct {
    tg_str_t key;   /* its escaped body */
    tg_str_t value; /* raw */
    uint8_t key_escapes;
    uint8_t escapes; /* of a value that is a string */
} tg_json_member_t;

typedef struct {
    size_t n; /* members of the object; the first TG_JSON_INDEX_MAX are noted */
    int is_compact; /* surely no white space, but in strings */
    tg_json_member_t list[TG_JSON_INDEX_MAX];
} tg_json_index_t;

/* As tg_json_read_value(), of an object, whose members are noted. */
int tg_json_index_object(tg_json_cursor_t *json, tg_json_index_t *index,
                         tg_str_t *value);

/*
 * As tg_json_get_member(), for the object that notes (or NULL) are of.
 */
int tg_json_index_get(const tg_json_index_t *index, tg_str_t object,
                      tg_str_t key, tg_json_member_t *note);

/*
 * The same where what it may take is bounded: *steps, of some ten nanoseconds,
 * one for each member that is passed, become fewer.  TG_LIMIT: there are too
 * few.  Of what was noted no member is passed.
 */
int tg_json_index_get_bounded(const tg_json_index_t *index, tg_str_t object,
                              tg_str_t key, uint64_t *steps,
                              tg_json_member_t *note);

/*
 * A raw number as a whole number within int64_t: TG_OK, or TG_INVALID when it
 * is none (1.0 and 1e2 are whole numbers).
 */
int tg_json_parse_int64(tg_str_t raw, int64_t *value);

/* Appends text, valid UTF-8, as a quoted string or as its body alone. */
void tg_json_write_string(tg_buf_t *buf, tg_str_t text);
void tg_json_write_escaped(tg_buf_t *buf, tg_str_t text);

/*
 * Counts the bytes that tg_json_write_escaped() would append.  Beyond max it
 * stops: then the result is larger than max, too.
 */
size_t tg_json_escaped_len(tg_str_t text, size_t max);

/*
 * Appends a validated value without insignificant white space, so that it
 * fits on a line; every token is kept byte for byte.
 */
void tg_json_write_compact(tg_buf_t *buf, tg_str_t raw);

/*
 * Appends the members of a validated object, but those that have one of these
 * names, the last of which is NULL, after n members that are there already.
 * Returns the number of all of them.
 */
size_t tg_json_write_members_except(tg_buf_t *buf, tg_str_t object,
                                    const char *const *names, size_t n);

/* The same behind its key, a comma included; nothing where it is absent. */
void tg_json_write_member(tg_buf_t *buf, const char *key, tg_str_t raw);

#endif
