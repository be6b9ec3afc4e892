/* Matching of URI templates backwards, in bounded time. */
#include "catalog/tg_uri_template.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_URI_WORDS (TG_URI_MAX / 64 + 1)

/* A set of positions in a URI. */
typedef uint64_t tg_uri_positions_t[TG_URI_WORDS];

static inline void
tg_uri_positions_add(tg_uri_positions_t set, size_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline int
tg_uri_positions_has(const tg_uri_positions_t set, size_t i)
{
    return (set[i / 64] >> (i % 64) & 1) != 0;
}

static inline int
tg_uri_variable_takes(const tg_uri_variable_t *variable, char c)
{
    return variable->is_multiple || !tg_is_one_of(c, "/?#");
}

/*
 * ends[k] becomes the set of positions where variable k can end so that the
 * rest of the template matches the rest of the path.
 */
static void
tg_uri_template_find_ends(const tg_uri_template_t *tmpl, tg_str_t path,
                          tg_uri_positions_t *ends)
{
    const tg_uri_variable_t *variable;
    tg_str_t literal;
    size_t k, i, last;
    int can_begin;

    last = path.len - tmpl->literals[tmpl->npath].len;

    for (k = 0; k < tmpl->npath; k++) {
        memset(ends[k], 0, (path.len / 64 + 1) * sizeof(ends[k][0]));
    }

    tg_uri_positions_add(ends[tmpl->npath - 1], last);

    for (k = tmpl->npath - 1; k > 0; k--) {
        variable = &tmpl->variables[k];
        literal = tmpl->literals[k];
        can_begin = 0;

        for (i = last; i-- > literal.len; /* void */) {
            can_begin = tg_uri_variable_takes(variable, path.data[i])
                        && (can_begin || tg_uri_positions_has(ends[k], i + 1));

            if (can_begin
                && tg_bytes_eq(path.data + i - literal.len, literal.data,
                               literal.len))
            {
                tg_uri_positions_add(ends[k - 1], i - literal.len);
            }
        }
    }
}

/* Splits the URI before its query into raw values. */
static int
tg_uri_template_split_path(const tg_uri_template_t *tmpl, tg_str_t path,
                           tg_str_t *values)
{
    tg_uri_positions_t ends[TG_URI_VARIABLES_MAX];
    tg_str_t first, last;
    size_t k, i, start, end;

    first = tmpl->literals[0];
    last = tmpl->literals[tmpl->npath];

    if (tmpl->npath == 0) {
        return tg_str_eq(path, first);
    }

    if (path.len < first.len + last.len
        || !tg_bytes_eq(path.data, first.data, first.len)
        || !tg_bytes_eq(path.data + path.len - last.len, last.data, last.len))
    {
        return 0;
    }

    tg_uri_template_find_ends(tmpl, path, ends);
    start = first.len;

    for (k = 0; k < tmpl->npath; k++) {
        end = start;

        for (i = start;
             i < path.len
             && tg_uri_variable_takes(&tmpl->variables[k], path.data[i]);
             /* void */)
        {
            if (tg_uri_positions_has(ends[k], ++i)) {
                end = i;
            }
        }

        if (end == start) {
            return 0;
        }

        values[k] = tg_str(path.data + start, end - start);
        start = end + tmpl->literals[k + 1].len;
    }

    return 1;
}

/* Stores the raw value of a query parameter. */
static int
tg_uri_template_set_parameter(const tg_uri_template_t *tmpl, tg_str_t parameter,
                              tg_str_t *values)
{
    tg_str_t name;
    size_t i;

    name = tg_str(parameter.data, tg_str_find_char(parameter, "="));

    for (i = tmpl->npath; i < tmpl->nvariables; i++) {
        if (!tg_str_eq(tmpl->variables[i].name, name)) {
            continue;
        }

        if (values[i].data != NULL) {
            return 0;
        }

        values[i] = tg_str_skip(parameter, name.len == parameter.len
                                               ? name.len
                                               : name.len + 1);
        return 1;
    }

    return 0;
}

static int
tg_uri_template_split_query(const tg_uri_template_t *tmpl, tg_str_t query,
                            tg_str_t *values)
{
    size_t len;

    if (tg_str_find_char(query, "#") != query.len) {
        return 0;
    }

    while (query.len != 0) {
        len = tg_str_find_char(query, "&");

        if (len != 0
            && !tg_uri_template_set_parameter(tmpl, tg_str(query.data, len),
                                              values))
        {
            return 0;
        }

        query = tg_str_skip(query, len == query.len ? len : len + 1);
    }

    return 1;
}

/* Splits a URI into raw values; those of missing parameters are absent. */
static int
tg_uri_template_split(const tg_uri_template_t *tmpl, tg_str_t uri,
                      tg_str_t *values)
{
    size_t len;

    if (uri.len == 0 || uri.len > TG_URI_MAX) {
        return 0;
    }

    memset(values, 0, TG_URI_VARIABLES_MAX * sizeof(values[0]));

    len = tmpl->npath < tmpl->nvariables ? tg_str_find_char(uri, "?") : uri.len;

    return tg_uri_template_split_path(tmpl, tg_str(uri.data, len), values)
           && (len == uri.len
               || tg_uri_template_split_query(tmpl, tg_str_skip(uri, len + 1),
                                              values));
}

/* Decodes a raw value to dst, which has raw.len bytes. Returns 0 if invalid. */
static int
tg_uri_value_decode(char *dst, tg_str_t raw, tg_str_t *value)
{
    int high, low;
    size_t i, n;

    for (i = n = 0; i < raw.len; i++) {
        dst[n] = raw.data[i];

        if (raw.data[i] == '%') {
            high = raw.len - i > 2 ? tg_hex_value(raw.data[i + 1]) : -1;
            low = high >= 0 ? tg_hex_value(raw.data[i + 2]) : -1;

            if (low < 0) {
                return 0;
            }

            dst[n] = (char) (high << 4 | low);
            i += 2;
        }

        if (dst[n++] == '\0') {
            return 0;
        }
    }

    *value = tg_str(dst, n);

    return tg_utf8_is_valid(*value);
}

int
tg_uri_template_match(const tg_uri_template_t *tmpl, tg_str_t uri,
                      tg_buf_t *arguments)
{
    tg_str_t values[TG_URI_VARIABLES_MAX], value;
    char text[TG_URI_MAX];
    size_t i, start;

    if (!tg_uri_template_split(tmpl, uri, values)) {
        return TG_MISSING;
    }

    start = arguments->len;
    tg_buf_append_char(arguments, '{');

    for (i = 0; i < tmpl->nvariables; i++) {
        if (values[i].data == NULL) {
            continue;
        }

        if (!tg_uri_value_decode(text, values[i], &value)) {
            tg_buf_truncate(arguments, start);
            return TG_MISSING;
        }

        tg_json_begin_raw_member(arguments, tmpl->variables[i].name);
        tg_json_write_string(arguments, value);
    }

    tg_buf_append_char(arguments, '}');

    return tg_buf_has_failed(arguments) ? TG_NOMEM : TG_OK;
}

int
tg_uri_value_is_path_safe(tg_str_t value)
{
    size_t len;

    if (value.len == 0 || memchr(value.data, '\0', value.len) != NULL) {
        return 0;
    }

    while (value.len != 0) {
        len = tg_str_find_char(value, "/");

        if (len == 0 || tg_str_eq(tg_str(value.data, len), TG_STR("."))
            || tg_str_eq(tg_str(value.data, len), TG_STR("..")))
        {
            return 0;
        }

        value = tg_str_skip(value, len == value.len ? len : len + 1);
    }

    return 1;
}

static int
tg_uri_has_encoded_slash(tg_str_t raw)
{
    size_t i;

    for (i = 0; i + 2 < raw.len; i++) {
        if (raw.data[i] == '%' && raw.data[i + 1] == '2'
            && tg_to_lower(raw.data[i + 2]) == 'f')
        {
            return 1;
        }
    }

    return 0;
}

int
tg_uri_template_is_path_safe(const tg_uri_template_t *tmpl, tg_str_t uri)
{
    tg_str_t values[TG_URI_VARIABLES_MAX], value;
    char text[TG_URI_MAX];
    size_t i;

    if (!tg_uri_template_split(tmpl, uri, values)) {
        return 0;
    }

    for (i = 0; i < tmpl->nvariables; i++) {
        if (values[i].data != NULL
            && (tg_uri_has_encoded_slash(values[i])
                || !tg_uri_value_decode(text, values[i], &value)
                || !tg_uri_value_is_path_safe(value)))
        {
            return 0;
        }
    }

    return 1;
}

/* Expands the later template with values that no literal is likely to have. */
int
tg_uri_template_shadows(const tg_uri_template_t *earlier,
                        const tg_uri_template_t *later)
{
    tg_str_t values[TG_URI_VARIABLES_MAX];
    tg_buf_t uri;
    size_t i;
    int does;

    tg_buf_init(&uri, later->alloc);
    tg_buf_append_str(&uri, later->literals[0]);

    for (i = 0; i < later->npath; i++) {
        tg_buf_append_cstr(&uri,
                           later->variables[i].is_multiple ? "~0/~1" : "~0");
        tg_buf_append_str(&uri, later->literals[i + 1]);
    }

    for (/* void */; i < later->nvariables; i++) {
        tg_buf_append_char(&uri, i == later->npath ? '?' : '&');
        tg_buf_append_str(&uri, later->variables[i].name);
        tg_buf_append_char(&uri, '=');
    }

    does = !tg_buf_has_failed(&uri)
           && tg_uri_template_split(earlier, tg_buf_view(&uri), values);
    tg_buf_deinit(&uri);

    return does;
}

int
tg_uri_is_within(tg_str_t uri, tg_str_t whole)
{
    if (whole.len == 0 || uri.len < whole.len
        || memcmp(uri.data, whole.data, whole.len) != 0)
    {
        return 0;
    }

    return uri.len == whole.len || whole.data[whole.len - 1] == '/'
           || uri.data[whole.len] == '/' || uri.data[whole.len] == '?'
           || uri.data[whole.len] == '#';
}
