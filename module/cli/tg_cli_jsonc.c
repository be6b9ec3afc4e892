/*
 * JSON with comments and trailing commas: one member is set or removed by its
 * offsets, and all other bytes are kept.
 */
#include "cli/tg_cli_agent_config.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_CLI_WHITESPACE " \t\r\n"
/* Replaces a trailing comma in the plain JSON: white space, but no blank. */
#define TG_CLI_JSONC_TRAILING_COMMA '\t'
#define TG_CLI_JSONC_COMMAS ",\t"

/* --- syntax: each function returns the end of what is at p --- */

const char *
tg_cli_jsonc_skip_space(const char *p)
{
    const char *end;

    for (;;) {
        p += strspn(p, TG_CLI_WHITESPACE);

        if (p[0] == '/' && p[1] == '/') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            end = strstr(p + 2, "*/");

            if (end == NULL) {
                return p;
            }

            p = end + 2;
        } else {
            return p;
        }
    }
}

static const char *
tg_cli_jsonc_skip_string(const char *p)
{
    for (p++; *p != '"' && *p != '\0'; p++) {
        p += *p == '\\' && p[1] != '\0';
    }

    return p + (*p == '"');
}

/* --- plain JSON with the same offsets --- */

int
tg_cli_jsonc_init(tg_cli_jsonc_t *jsonc, const char *text)
{
    const char *p, *end, *comma;
    int is_value;

    jsonc->text = text;
    tg_buf_init(&jsonc->json, tg_alloc_libc());
    tg_buf_append_cstr(&jsonc->json, text);

    if (tg_buf_has_failed(&jsonc->json)) {
        return TG_NOMEM;
    }

    comma = NULL;
    is_value = 0;

    for (p = text; *p != '\0'; p = end) {
        end = tg_cli_jsonc_skip_space(p);

        if (end != p) {
            memset(jsonc->json.data + (p - text), ' ', (size_t) (end - p));
            continue;
        }

        end = *p == '"' ? tg_cli_jsonc_skip_string(p) : p + 1;

        if (*p == ',') {
            comma = is_value ? p : NULL;
            is_value = 0;
            continue;
        }

        if (comma != NULL && (*p == '}' || *p == ']')) {
            jsonc->json.data[comma - text] = TG_CLI_JSONC_TRAILING_COMMA;
        }

        comma = NULL;
        is_value = !tg_is_one_of(*p, "{[:");
    }

    return TG_OK;
}

void
tg_cli_jsonc_deinit(tg_cli_jsonc_t *jsonc)
{
    tg_buf_deinit(&jsonc->json);
}

void
tg_cli_jsonc_find_member(const tg_cli_jsonc_t *jsonc, const char *p,
                         const char *name, tg_cli_jsonc_object_t *object,
                         tg_cli_jsonc_member_t *found)
{
    ptrdiff_t shift; /* from the JSON to the text */
    const char *start, *comma;
    tg_json_cursor_t json;
    tg_str_t key, value;
    int is_found;

    memset(object, 0, sizeof(*object));
    memset(found, 0, sizeof(*found));
    shift = jsonc->text - jsonc->json.data;
    start = p - shift;
    object->open = p;
    tg_json_iter_init_members(
        &json, tg_str(start, (size_t) (tg_buf_view(&jsonc->json).data
                                       + jsonc->json.len - start)));

    while (tg_json_iter_next_member(&json, &key, &value)) {
        is_found = tg_json_body_eq_text(key, tg_str_from_cstr(name));
        p = key.data - 1 + shift;

        if (is_found) {
            found->is_duplicate = found->key != NULL;
            found->key = p;
            found->value = value.data + shift;
            found->end = found->value + value.len;
            found->comma_before = object->comma;
        }

        object->first_key = object->first_key != NULL ? object->first_key : p;
        object->last_end = value.data + value.len + shift;
        comma = json.pos + strspn(json.pos, " ");
        object->comma = tg_is_one_of(*comma, TG_CLI_JSONC_COMMAS)
                            ? comma + shift
                            : NULL;
        found->comma_after = is_found ? object->comma : found->comma_after;
    }

    object->close = json.pos - 1 + shift;
}

/* --- output --- */

/* Returns the blanks at the start of the line that contains p. */
static tg_str_t
tg_cli_jsonc_get_indent(const char *text, const char *p)
{
    while (p > text && p[-1] != '\n') {
        p--;
    }

    return tg_str(p, strspn(p, " \t"));
}

/* Checks whether only white space is before p in its line. */
static int
tg_cli_jsonc_is_line_start(const char *text, const char *p)
{
    while (p > text && (p[-1] == ' ' || p[-1] == '\t')) {
        p--;
    }

    return p == text || p[-1] == '\n';
}

static void
tg_cli_jsonc_append_line_break(tg_buf_t *out, const char *newline,
                               tg_str_t indent, int depth)
{
    tg_buf_append_cstr(out, newline);
    tg_buf_append_str(out, indent);

    while (depth-- > 0) {
        tg_buf_append_cstr(out, indent.len != 0 && indent.data[0] == '\t'
                                    ? "\t"
                                    : "  ");
    }
}

static const char *
tg_cli_jsonc_detect_newline(const char *text)
{
    return strstr(text, "\r\n") != NULL ? "\r\n" : "\n";
}

/* Appends a value, an array with one element per line. */
static void
tg_cli_jsonc_append_value(tg_buf_t *out, const char *newline, tg_str_t indent,
                          int depth, tg_str_t value)
{
    tg_json_cursor_t json;
    tg_str_t element;
    int n;

    if (tg_json_type(value) != TG_JSON_ARRAY) {
        tg_buf_append_str(out, value);
        return;
    }

    n = 0;

    for (tg_json_iter_init(&json, value); tg_json_iter_next(&json, &element);
         n++) {
        tg_buf_append_char(out, n == 0 ? '[' : ',');
        tg_cli_jsonc_append_line_break(out, newline, indent, depth);
        tg_buf_append_str(out, element);
    }

    tg_cli_jsonc_append_line_break(out, newline, indent, depth - 1);
    tg_buf_append_char(out, ']');
}

/* Appends the nested objects of path, and the value of the innermost member. */
static void
tg_cli_jsonc_append_member(tg_buf_t *out, const char *newline, tg_str_t indent,
                           const char *const *path, tg_str_t value)
{
    int depth;

    for (depth = 0; path[depth] != NULL; depth++) {
        if (depth != 0) {
            tg_buf_append_char(out, '{');
            tg_cli_jsonc_append_line_break(out, newline, indent, depth);
        }

        tg_json_write_string(out, tg_str_from_cstr(path[depth]));
        tg_buf_append_cstr(out, ": ");
    }

    tg_cli_jsonc_append_value(out, newline, indent, depth, value);

    while (--depth > 0) {
        tg_cli_jsonc_append_line_break(out, newline, indent, depth - 1);
        tg_buf_append_char(out, '}');
    }
}

/* Returns the end of the comments that follow p on its line, or p. */
static const char *
tg_cli_jsonc_skip_line_comment(const char *p)
{
    const char *at, *end;

    at = p + strspn(p, " \t");

    while (at[0] == '/' && at[1] == '*' && (end = strstr(at, "*/")) != NULL
           && memchr(at, '\n', (size_t) (end - at)) == NULL)
    {
        p = end + 2;
        at = p + strspn(p, " \t");
    }

    return at[0] == '/' && at[1] == '/' ? at + strcspn(at, "\r\n") : p;
}

/* Returns the end of the comments in an empty object. */
static const char *
tg_cli_jsonc_find_insert_point(const tg_cli_jsonc_object_t *object)
{
    const char *p;

    for (p = object->close;
         p > object->open + 1 && tg_is_one_of(p[-1], TG_CLI_WHITESPACE); p--)
    {
    }

    return p;
}

static void
tg_cli_jsonc_add_member(tg_buf_t *out, const char *text,
                        const tg_cli_jsonc_object_t *object,
                        const char *const *path, tg_str_t value)
{
    const char *newline, *at, *rest;
    tg_buf_t indent;

    newline = tg_cli_jsonc_detect_newline(text);
    tg_buf_init(&indent, out->alloc);
    tg_buf_append_str(&indent, tg_cli_jsonc_get_indent(
                                   text, object->first_key != NULL
                                                 && tg_cli_jsonc_is_line_start(
                                                     text, object->first_key)
                                             ? object->first_key
                                             : object->open));

    if (object->first_key == NULL
        || !tg_cli_jsonc_is_line_start(text, object->first_key))
    {
        tg_buf_append_cstr(&indent, indent.len != 0 && indent.data[0] == '\t'
                                        ? "\t"
                                        : "  ");
    }

    at = object->comma != NULL      ? object->comma + 1
         : object->last_end != NULL ? object->last_end
                                    : tg_cli_jsonc_find_insert_point(object);
    tg_buf_append(out, text, (size_t) (at - text));
    tg_buf_append_cstr(out, object->last_end != NULL && object->comma == NULL
                                ? ","
                                : "");
    rest = tg_cli_jsonc_skip_line_comment(at);
    tg_buf_append(out, at, (size_t) (rest - at));
    at = rest;
    tg_cli_jsonc_append_line_break(out, newline, tg_buf_view(&indent), 0);
    tg_cli_jsonc_append_member(out, newline, tg_buf_view(&indent), path, value);
    tg_buf_append_cstr(out, object->comma != NULL ? "," : "");

    if (!tg_cli_jsonc_is_line_start(text, object->close)) {
        tg_cli_jsonc_append_line_break(
            out, newline, tg_cli_jsonc_get_indent(text, object->open), 0);
        at += strspn(at, " \t");
    }

    tg_buf_append_cstr(out, at);
    out->failed |= indent.failed;
    tg_buf_deinit(&indent);
}

/* Removes the line, too, if nothing else is on it. */
static void
tg_cli_jsonc_remove_member(tg_buf_t *out, const char *text,
                           const tg_cli_jsonc_member_t *found)
{
    const char *from, *to;

    from = found->key;
    to = found->comma_after != NULL ? found->comma_after + 1 : found->end;

    if (tg_cli_jsonc_is_line_start(text, from)
        && (to[strspn(to, " \t\r")] == '\n' || to[strspn(to, " \t")] == '}'))
    {
        while (from > text && (from[-1] == ' ' || from[-1] == '\t')) {
            from--;
        }

        to += strspn(to, " \t\r");
        to += *to == '\n';
    }

    /* The comma before the last member would become a trailing comma. */
    if (found->comma_after == NULL && found->comma_before != NULL) {
        tg_buf_append(out, text, (size_t) (found->comma_before - text));
        tg_buf_append(out, found->comma_before + 1,
                      (size_t) (from - found->comma_before - 1));
    } else {
        tg_buf_append(out, text, (size_t) (from - text));
    }

    tg_buf_append_cstr(out, to);
}

/* --- edit --- */

int
tg_cli_jsonc_check(const tg_cli_jsonc_t *jsonc, tg_buf_t *out)
{
    tg_json_cursor_t json;
    tg_json_type_t type;
    int is_valid;

    if (!tg_utf8_is_valid(tg_str_from_cstr(jsonc->text))) {
        return tg_cli_agent_config_set_error(
            out, "it is not valid JSON: it is not UTF-8; repair it first");
    }

    tg_json_init(&json, tg_buf_view(&jsonc->json));
    type = tg_json_peek_type(&json);
    is_valid = tg_json_read_value(&json, NULL) == TG_OK
               && tg_json_expect_end(&json) == TG_OK;

    if (type == TG_JSON_ARRAY || (is_valid && type != TG_JSON_OBJECT)) {
        return tg_cli_agent_config_set_error(
            out, "it is not a JSON object; repair it first");
    }

    return is_valid ? TG_OK
                    : tg_cli_agent_config_set_error(
                        out,
                        "it is not valid JSON at line %u (comments and "
                        "trailing commas are allowed); repair it first",
                        tg_cli_agent_config_get_line_number(
                            jsonc->text,
                            jsonc->text + (json.pos - jsonc->json.data)));
}

static int
tg_cli_jsonc_has_value(const tg_cli_jsonc_member_t *found, tg_str_t value)
{
    tg_buf_t compact;
    tg_str_t raw;
    int is_same;

    raw = tg_str(found->value, (size_t) (found->end - found->value));

    if (tg_json_validate(raw, NULL) != TG_OK) {
        return 0;
    }

    tg_buf_init(&compact, tg_alloc_libc());
    tg_json_write_compact(&compact, raw);
    is_same = tg_str_eq(tg_buf_view(&compact), value);
    tg_buf_deinit(&compact);

    return is_same;
}

static void
tg_cli_jsonc_replace_value(tg_buf_t *out, const char *text,
                           const tg_cli_jsonc_member_t *found, tg_str_t value)
{
    tg_buf_append(out, text, (size_t) (found->value - text));

    /* A value on one line stays on one line; others get a line per element. */
    if (memchr(found->value, '\n', (size_t) (found->end - found->value))
        != NULL) {
        tg_cli_jsonc_append_value(out, tg_cli_jsonc_detect_newline(text),
                                  tg_cli_jsonc_get_indent(text, found->key), 1,
                                  value);
    } else {
        tg_buf_append_str(out, value);
    }

    tg_buf_append_cstr(out, found->end);
}

int
tg_cli_jsonc_set_member(const tg_cli_jsonc_t *jsonc, const char *const *path,
                        tg_str_t value, tg_buf_t *out)
{
    tg_cli_jsonc_object_t object;
    tg_cli_jsonc_member_t found;
    const char *text, *p;

    text = jsonc->text;
    p = tg_cli_jsonc_skip_space(text);

    for (;; path++, p = found.value) {
        if (*p != '{') {
            return tg_cli_agent_config_set_error(
                out,
                "line %u: \"%s\" is not an object; repair it first, or "
                "choose another name with --name",
                tg_cli_agent_config_get_line_number(text, p), path[-1]);
        }

        tg_cli_jsonc_find_member(jsonc, p, *path, &object, &found);

        if (found.is_duplicate) {
            return tg_cli_agent_config_set_error(
                out, "line %u: duplicate \"%s\"; repair it first",
                tg_cli_agent_config_get_line_number(text, found.key), *path);
        }

        if (found.key == NULL || path[1] == NULL) {
            break;
        }
    }

    if (value.data == NULL
            ? found.key == NULL
            : found.key != NULL && tg_cli_jsonc_has_value(&found, value))
    {
        return TG_EXISTS;
    }

    if (value.data == NULL) {
        tg_cli_jsonc_remove_member(out, text, &found);
    } else if (found.key == NULL) {
        tg_cli_jsonc_add_member(out, text, &object, path, value);
    } else {
        tg_cli_jsonc_replace_value(out, text, &found, value);
    }

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
}
