/* JSON documents of json-c. */
#include "cli/tg_cli_json.h"

#include "base/tg_json.h"

#include <json-c/json_visit.h>
#include <stdlib.h>

/* An object may be in the response of a server, which nests deepest. */
#define TG_CLI_JSON_DEPTH_MAX (TG_JSON_MAX_DEPTH + 2)

/* --- numbers --- */

/*
 * json-c keeps the text of a number with a fraction or an exponent only. An
 * integer beyond 64 bits, or -0, gets this exponent while it is parsed.
 */
#define TG_CLI_JSON_EXACT_SUFFIX "e-000"
/* Every integer with fewer characters fits into 64 bits. */
#define TG_CLI_JSON_EXACT_LEN_MIN 19

static int
tg_cli_json_needs_exact(tg_str_t integer)
{
    return integer.len >= TG_CLI_JSON_EXACT_LEN_MIN
           || tg_str_eq(integer, TG_STR("-0"));
}

/* Appends text and a NUL.  Returns the number of integers with a suffix. */
static size_t
tg_cli_json_append_exact(tg_buf_t *out, tg_str_t text)
{
    const char *p, *end, *start;
    size_t n;

    end = text.data + text.len;
    n = 0;

    for (p = start = text.data; p < end; p++) {
        if (*p == '"') {
            for (p++; p < end && *p != '"'; p++) {
                p += *p == '\\';
            }
        } else if (tg_is_digit(*p) || *p == '-') {
            text.data = p;

            while (p < end && (tg_is_digit(*p) || tg_is_one_of(*p, "+-.eE"))) {
                p++;
            }

            text.len = (size_t) (p - text.data);

            if (tg_cli_json_needs_exact(text)
                && memchr(text.data, '.', text.len) == NULL
                && memchr(text.data, 'e', text.len) == NULL
                && memchr(text.data, 'E', text.len) == NULL)
            {
                tg_buf_append(out, start, (size_t) (p - start));
                tg_buf_append_cstr(out, TG_CLI_JSON_EXACT_SUFFIX);
                start = p;
                n++;
            }

            p--;
        }
    }

    if (start < end) {
        tg_buf_append(out, start, (size_t) (end - start));
    }

    tg_buf_append_char(out, '\0');

    return n;
}

static int
tg_cli_json_restore_number(json_object *value, int flags, json_object *parent,
                           const char *key, size_t *index, void *ctx)
{
    char *text;
    size_t len;

    if (!json_object_is_type(value, json_type_double)) {
        return JSON_C_VISIT_RETURN_CONTINUE;
    }

    text = json_object_get_userdata(value);
    len = strspn(text, "-0123456789");

    if (strcmp(text + len, TG_CLI_JSON_EXACT_SUFFIX) == 0
        && tg_cli_json_needs_exact(tg_str(text, len)))
    {
        text[len] = '\0';
    }

    return JSON_C_VISIT_RETURN_CONTINUE;
}

/* --- texts --- */

int
tg_cli_json_parse(tg_str_t text, json_object **value)
{
    struct json_tokener *tokener;
    tg_buf_t exact;
    size_t n;
    int rc;

    tokener = json_tokener_new_ex(TG_CLI_JSON_DEPTH_MAX);
    tg_buf_init(&exact, tg_alloc_libc());
    n = tg_cli_json_append_exact(&exact, text);
    rc = TG_NOMEM;

    if (tokener != NULL && !tg_buf_has_failed(&exact)) {
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        *value = json_tokener_parse_ex(tokener, exact.data, (int) exact.len);
        rc = json_tokener_get_error(tokener) == json_tokener_success
                 ? TG_OK
                 : TG_INVALID;
    }

    if (rc == TG_OK && n != 0) {
        (void) json_c_visit(*value, 0, tg_cli_json_restore_number, NULL);
    }

    if (tokener != NULL) {
        json_tokener_free(tokener);
    }

    tg_buf_deinit(&exact);

    return rc;
}

json_object *
tg_cli_json_new_raw(tg_str_t text)
{
    json_object *value;
    char *copy;

    copy = strndup(text.data, text.len);

    /* json-c writes the text that comes with a double, whatever it is. */
    value = copy != NULL ? json_object_new_double_s(0, copy) : NULL;
    free(copy);

    return value;
}

int
tg_cli_json_check(tg_str_t text, tg_buf_t *why)
{
    return why != NULL ? tg_json_validate_explain(text, why)
                       : tg_json_validate(text, NULL);
}

tg_str_t
tg_cli_json_write(json_object *value)
{
    const char *text;
    size_t len;

    text = json_object_to_json_string_length(
        value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

    return text != NULL ? tg_str(text, len) : TG_STR_NONE;
}

/* Returns the end of the token at p, in JSON without white space. */
static const char *
tg_cli_json_skip_token(const char *p, const char *end)
{
    if (*p != '"') {
        if (tg_is_one_of(*p, "{}[]:,")) {
            return p + 1;
        }

        while (p < end && !tg_is_one_of(*p, "}],")) {
            p++;
        }

        return p;
    }

    for (p++; *p != '"'; p++) {
        p += *p == '\\';
    }

    return p + 1;
}

void
tg_cli_json_append_pretty(tg_buf_t *out, tg_str_t json)
{
    const char *p, *end;
    int depth, is_end;
    char last;

    depth = 0;
    last = ':';

    for (p = json.data; p < tg_str_end(json); p = end) {
        end = tg_cli_json_skip_token(p, tg_str_end(json));
        is_end = *p == ']' || *p == '}';
        depth -= is_end;

        /* Empty brackets stay together, other than json-c writes them. */
        if (is_end ? last != '[' && last != '{'
                   : last == '[' || last == '{' || last == ',')
        {
            tg_buf_printf(out, "\n%*s", 2 * depth, "");
        }

        last = *p;
        depth += last == '[' || last == '{';
        tg_buf_append(out, p, (size_t) (end - p));
        tg_buf_append_cstr(out, last == ':' ? " " : "");
    }
}

tg_str_t
tg_cli_json_show(json_object *value)
{
    return json_object_is_type(value, json_type_string)
               ? tg_cli_json_to_text(value)
               : tg_cli_json_write(value);
}

void
tg_cli_json_append_value(tg_buf_t *out, json_object *value)
{
    tg_buf_append_str(out, tg_cli_json_show(value));
}

tg_str_t
tg_cli_json_to_text(json_object *value)
{
    return json_object_is_type(value, json_type_string)
               ? tg_str(json_object_get_string(value),
                        (size_t) json_object_get_string_len(value))
               : TG_STR_NONE;
}

uint64_t
tg_cli_json_to_uint(json_object *value)
{
    const char *text;

    if (!tg_cli_json_is_number(value)) {
        return 0;
    }

    /* A long integer is a double, whose text is exact. */
    text = json_object_is_type(value, json_type_double)
               ? json_object_get_userdata(value)
               : NULL;

    return text != NULL && text[strspn(text, "0123456789")] == '\0'
               ? strtoull(text, NULL, 10)
               : json_object_get_uint64(value);
}

int
tg_cli_json_is_number(json_object *value)
{
    return json_object_is_type(value, json_type_int)
           || json_object_is_type(value, json_type_double);
}

/* --- members of objects --- */

json_object *
tg_cli_json_get(json_object *object, const char *name)
{
    json_object *value;

    return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

json_object *
tg_cli_json_get_object(json_object *object, const char *name)
{
    object = tg_cli_json_get(object, name);

    return json_object_is_type(object, json_type_object) ? object : NULL;
}

uint64_t
tg_cli_json_get_uint(json_object *object, const char *name)
{
    return tg_cli_json_to_uint(tg_cli_json_get(object, name));
}

tg_str_t
tg_cli_json_get_text(json_object *object, const char *name)
{
    return tg_cli_json_to_text(tg_cli_json_get(object, name));
}

int
tg_cli_json_is_true(json_object *object, const char *name)
{
    object = tg_cli_json_get(object, name);

    return json_object_is_type(object, json_type_boolean)
           && json_object_get_boolean(object);
}

int
tg_cli_json_has_text(json_object *object, const char *name, const char *text)
{
    return tg_str_eq(tg_cli_json_get_text(object, name),
                     tg_str_from_cstr(text));
}

void
tg_cli_json_add_text(json_object *object, const char *name, tg_str_t text)
{
    if (text.data != NULL) {
        (void) json_object_object_add(
            object, name,
            json_object_new_string_len(text.data, (int) text.len));
    }
}


void
tg_cli_json_iter_init(tg_cli_json_iter_t *iter, json_object *list)
{
    iter->list = json_object_is_type(list, json_type_array) ? list : NULL;
    iter->i = 0;
}

int
tg_cli_json_iter_next(tg_cli_json_iter_t *iter, json_object **value)
{
    if (iter->list == NULL || iter->i == json_object_array_length(iter->list)) {
        return 0;
    }

    *value = json_object_array_get_idx(iter->list, iter->i++);

    return 1;
}

void
tg_cli_json_iter_init_members(tg_cli_json_iter_t *iter, json_object *object)
{
    iter->member = json_object_is_type(object, json_type_object)
                       ? json_object_get_object(object)->head
                       : NULL;
}

int
tg_cli_json_iter_next_member(tg_cli_json_iter_t *iter, const char **name,
                             json_object **value)
{
    if (iter->member == NULL) {
        return 0;
    }

    *name = lh_entry_k(iter->member);
    *value = (json_object *) lh_entry_v(iter->member);
    iter->member = iter->member->next;

    return 1;
}
