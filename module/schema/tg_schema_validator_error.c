/*
 * Error texts: path, rule and value, each truncated to a bounded length, never
 * within a character.
 */
#include "schema/tg_schema_validator.h"

#include "base/tg_utf8.h"

#define TG_SCHEMA_ERROR_VALUE_MAX 80
/* Bytes of a path in an error: longer ones do not help the reader. */
#define TG_SCHEMA_ERROR_PATH_MAX 400

static const struct {
    unsigned type;
    const char *name;
} tg_schema_type_names[] = { { TG_SCHEMA_TYPE_STRING, "string" },
                             { TG_SCHEMA_TYPE_NUMBER, "number" },
                             { TG_SCHEMA_TYPE_INTEGER, "integer" },
                             { TG_SCHEMA_TYPE_BOOLEAN, "boolean" },
                             { TG_SCHEMA_TYPE_OBJECT, "object" },
                             { TG_SCHEMA_TYPE_ARRAY, "array" },
                             { TG_SCHEMA_TYPE_NULL, "null" } };

#define TG_SCHEMA_N_TYPES                                                      \
    (sizeof(tg_schema_type_names) / sizeof(tg_schema_type_names[0]))

unsigned
tg_schema_type_of_char(char c)
{
    switch (c) {
    case '{':
        return TG_SCHEMA_TYPE_OBJECT;
    case '[':
        return TG_SCHEMA_TYPE_ARRAY;
    case '"':
        return TG_SCHEMA_TYPE_STRING;
    case 't':
    case 'f':
        return TG_SCHEMA_TYPE_BOOLEAN;
    case 'n':
        return TG_SCHEMA_TYPE_NULL;
    default:
        return TG_SCHEMA_TYPE_NUMBER;
    }
}

unsigned
tg_schema_type_from_name(tg_str_t raw)
{
    size_t i;

    for (i = 0; i < TG_SCHEMA_N_TYPES; i++) {
        if (tg_json_string_eq(raw,
                              tg_str_from_cstr(tg_schema_type_names[i].name))) {
            return tg_schema_type_names[i].type;
        }
    }

    return 0;
}

static void
tg_schema_append_types(tg_buf_t *out, unsigned types)
{
    const char *word;
    size_t i;

    word = "";

    /* "number" includes integers. */
    if (types & TG_SCHEMA_TYPE_NUMBER) {
        types &= ~(unsigned) TG_SCHEMA_TYPE_INTEGER;
    }

    for (i = 0; i < TG_SCHEMA_N_TYPES; i++) {
        if (types & tg_schema_type_names[i].type) {
            types &= ~tg_schema_type_names[i].type;
            tg_buf_append_cstr(out, word);
            tg_buf_append_cstr(out, tg_schema_type_names[i].name);
            word = (types & (types - 1)) != 0 ? ", " : " or ";
        }
    }
}

void
tg_schema_append_value(tg_buf_t *out, tg_str_t raw)
{
    size_t len, i;

    len = tg_utf8_truncated_len(raw, TG_SCHEMA_ERROR_VALUE_MAX);

    for (i = 0; i < len; i++) {
        tg_buf_append_char(out, (unsigned char) raw.data[i] < ' '
                                    ? ' '
                                    : raw.data[i]);
    }

    tg_buf_append_cstr(out, len < raw.len ? "…" : "");
}

void
tg_schema_append_quoted(tg_buf_t *out, tg_str_t text)
{
    size_t len;

    len = tg_utf8_truncated_len(text, TG_SCHEMA_ERROR_VALUE_MAX);
    tg_buf_append_char(out, '"');
    tg_json_write_escaped(out, tg_str(text.data, len));
    tg_buf_append_cstr(out, len < text.len ? "…\"" : "\"");
}

/* Appends a reference token (RFC 6901); control characters are escaped. */
static void
tg_schema_append_pointer_token(tg_buf_t *out, tg_str_t text)
{
    size_t i, len;

    len = tg_utf8_truncated_len(text, TG_SCHEMA_ERROR_VALUE_MAX);
    tg_buf_append_char(out, '/');

    for (i = 0; i < len; i++) {
        if (text.data[i] == '~') {
            tg_buf_append_cstr(out, "~0");
        } else if (text.data[i] == '/') {
            tg_buf_append_cstr(out, "~1");
        } else if ((unsigned char) text.data[i] < ' ') {
            tg_json_write_escaped(out, tg_str(text.data + i, 1));
        } else {
            tg_buf_append_char(out, text.data[i]);
        }
    }

    tg_buf_append_cstr(out, len < text.len ? "…" : "");
}

static void
tg_schema_append_pointer_key(tg_buf_t *out, tg_str_t body)
{
    tg_buf_t text;

    tg_buf_init(&text, out->alloc);
    tg_json_append_unescaped(&text, body);
    tg_schema_append_pointer_token(out, tg_buf_view(&text));
    tg_buf_deinit(&text);
}

typedef struct {
    const char *key; /* last key of an object, with its quote */
    size_t index;
    int is_object;
} tg_schema_path_level_t;

/* Finds the containers around target. Returns their number. */
static unsigned
tg_schema_find_path(tg_str_t root, const char *target,
                    tg_schema_path_level_t *levels)
{
    tg_schema_path_level_t *level;
    const char *p, *end;
    unsigned depth;

    level = levels; /* This entry is also used outside of all containers. */
    memset(level, 0, sizeof(*level));
    depth = 0;

    for (p = root.data; p < target; p = end) {
        end = p + 1;

        switch (*p) {
        case '{':
        case '[':
            level = &levels[depth++];
            memset(level, 0, sizeof(*level));
            level->is_object = *p == '{';
            break;

        case '}':
        case ']':
            depth--;
            level--;
            break;

        case ',':
            level->index++;
            level->key = NULL;
            break;

        case '"':
            end = tg_schema_skip_value(p, tg_str_end(root));

            if (level->key == NULL && end <= target) {
                level->key = p;
            }

            break;

        default:
            break;
        }
    }

    return depth;
}

/* Computes the path from the position, so validation keeps no paths. */
static void
tg_schema_append_pointer(tg_buf_t *out, tg_str_t root, const char *target)
{
    tg_schema_path_level_t levels[TG_JSON_MAX_DEPTH];
    const tg_schema_path_level_t *level;
    const char *end;
    unsigned depth;
    size_t start;

    depth = tg_schema_find_path(root, target, levels);
    start = out->len;

    for (level = levels; level < levels + depth; level++) {
        if (out->len - start > TG_SCHEMA_ERROR_PATH_MAX) {
            tg_buf_append_cstr(out, "/…");
            return;
        }

        if (!level->is_object) {
            tg_buf_append_char(out, '/');
            tg_buf_append_uint(out, level->index);

        } else if (level->key != NULL) {
            end = tg_schema_skip_value(level->key, tg_str_end(root));
            tg_schema_append_pointer_key(
                out, tg_json_string_body(
                         tg_str(level->key, (size_t) (end - level->key))));
        }
    }
}

void
tg_schema_append_path(tg_buf_t *out, tg_str_t root, const char *target)
{
    size_t start;

    start = out->len;
    tg_schema_append_pointer(out, root, target);

    if (out->len == start) {
        tg_buf_append_cstr(out, "(root)");
    }
}

/* Returns the instance, after counting the steps of a search in it. */
static tg_str_t
tg_schema_get_instance(tg_schema_run_t *run, const char *at)
{
    tg_schema_run_spend_bytes(run, (size_t) (at - run->start));

    return tg_str(run->start, (size_t) (run->end - run->start));
}

tg_buf_t *
tg_schema_fail_begin(tg_schema_run_t *run, const char *at,
                     tg_schema_failure_type_t kind)
{
    run->fail_at = at;
    run->fail_score = run->level * 4 + (unsigned) kind;

    if (run->error == NULL) {
        return NULL;
    }

    tg_schema_append_path(run->error, tg_schema_get_instance(run, at), at);
    tg_buf_append_cstr(run->error, ": ");

    return run->error;
}

int
tg_schema_fail_type(tg_schema_run_t *run, const char *at, unsigned types)
{
    tg_buf_t *out;
    unsigned type;

    run->fail_types = (uint8_t) types;
    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_TYPE);

    if (out == NULL) {
        return TG_INVALID;
    }

    type = tg_schema_type_of_char(*at);
    tg_buf_append_cstr(out, "expected ");
    tg_schema_append_types(out, types);
    tg_buf_append_cstr(out, ", got ");

    /* Write the value: "expected integer, got number" would be confusing. */
    if (type == TG_SCHEMA_TYPE_NUMBER && (types & TG_SCHEMA_TYPE_INTEGER)) {
        tg_schema_append_value(out, tg_schema_get_raw(run, at));
    } else {
        tg_schema_append_types(out, type);
    }

    return TG_INVALID;
}

int
tg_schema_fail_text(tg_schema_run_t *run, const char *at,
                    tg_schema_failure_type_t kind, const char *text)
{
    tg_buf_t *out;

    out = tg_schema_fail_begin(run, at, kind);

    if (out != NULL) {
        tg_buf_append_cstr(out, text);
    }

    return TG_INVALID;
}

int
tg_schema_fail_bound(tg_schema_run_t *run, const char *at, const char *text,
                     tg_str_t bound)
{
    tg_buf_t *out;

    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_append_cstr(out, text);
        tg_schema_append_value(out, bound);
        tg_buf_append_cstr(out, ", got ");
        tg_schema_append_value(out, tg_schema_get_raw(run, at));
    }

    return TG_INVALID;
}

int
tg_schema_check_count_range(tg_schema_run_t *run, const char *at, size_t n,
                            size_t min, size_t max, const char *const *units)
{
    tg_buf_t *out;
    size_t bound;

    if (n >= min && n <= max) {
        return TG_OK;
    }

    bound = n < min ? min : max;
    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_append_cstr(out, n < min ? "must have at least "
                                        : "must have at most ");
        tg_buf_append_uint(out, bound);
        tg_buf_append_cstr(out, units[bound != 1]);
        tg_buf_append_cstr(out, ", got ");
        tg_buf_append_uint(out, n);
    }

    return TG_INVALID;
}

tg_buf_t *
tg_schema_fail_missing_begin(tg_schema_run_t *run, const char *at,
                             tg_str_t name)
{
    run->fail_at = at;
    run->fail_score = (run->level + 1) * 4 + TG_SCHEMA_FAIL_VALUE;

    if (run->error == NULL) {
        return NULL;
    }

    tg_schema_append_pointer(run->error, tg_schema_get_instance(run, at), at);
    tg_schema_append_pointer_token(run->error, name);
    tg_buf_append_cstr(run->error, ": ");

    return run->error;
}

int
tg_schema_fail_duplicate_key(tg_schema_run_t *run, const char *at, tg_str_t key)
{
    if (run->report != NULL) {
        tg_buf_truncate(run->report, run->report_start);

        if (key.data == NULL) {
            tg_schema_append_path(run->report, tg_schema_get_instance(run, at),
                                  at);
            tg_buf_append_cstr(run->report,
                               ": a key is given twice; give it once");

        } else {
            tg_schema_append_pointer(run->report,
                                     tg_schema_get_instance(run, at), at);
            tg_schema_append_pointer_key(run->report, key);
            tg_buf_append_cstr(run->report,
                               ": this key is given twice; give it once");
        }
    }

    return TG_EXISTS;
}
