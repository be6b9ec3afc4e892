/* URI parser and reference resolution (RFC 3986). */
#include "schema/tg_uri.h"

#include "base/tg_utf8.h"

/* Characters allowed in paths in addition to those allowed everywhere. */
#define TG_URI_PATH_CHARS ":@/"

/*
 * Allows unreserved characters, sub-delimiters, percent escapes, and those in
 * more.
 */
static int
tg_uri_has_only_chars(tg_str_t text, const char *more)
{
    size_t i;
    char c;

    for (i = 0; i < text.len; i++) {
        c = text.data[i];

        if (c == '%') {
            if (text.len - i < 3 || tg_hex_value(text.data[i + 1]) < 0
                || tg_hex_value(text.data[i + 2]) < 0)
            {
                return 0;
            }

            i += 2;

        } else if (!tg_is_alpha(c) && !tg_is_digit(c)
                   && !tg_is_one_of(c, "-._~!$&'()*+,;=")
                   && !tg_is_one_of(c, more))
        {
            return 0;
        }
    }

    return 1;
}

static tg_str_t
tg_uri_cut_prefix(tg_str_t *text, size_t len)
{
    tg_str_t head;

    head = tg_str(text->data, len);
    *text = tg_str_skip(*text, len);

    return head;
}

static int
tg_uri_is_scheme(tg_str_t text)
{
    size_t i;

    for (i = 0; i < text.len; i++) {
        if (!tg_is_alpha(text.data[i])
            && (i == 0
                || (!tg_is_digit(text.data[i])
                    && !tg_is_one_of(text.data[i], "+-."))))
        {
            return 0;
        }
    }

    return text.len != 0;
}

/* [userinfo@]host[:port], where host may be an IP literal in brackets. */
static int
tg_uri_is_authority(tg_str_t text)
{
    tg_str_t user;
    size_t at;

    at = tg_str_find_char(text, "@");

    if (at < text.len) {
        user = tg_uri_cut_prefix(&text, at);
        (void) tg_uri_cut_prefix(&text, 1);

        if (!tg_uri_has_only_chars(user, TG_URI_PATH_CHARS)) {
            return 0;
        }
    }

    if (text.len != 0 && text.data[0] == '[') {
        (void) tg_uri_cut_prefix(&text, 1);
        at = tg_str_find_char(text, "]");

        if (at == text.len
            || !tg_uri_has_only_chars(tg_uri_cut_prefix(&text, at),
                                      TG_URI_PATH_CHARS))
        {
            return 0;
        }

        (void) tg_uri_cut_prefix(&text, 1);

    } else if (!tg_uri_has_only_chars(
                   tg_uri_cut_prefix(&text, tg_str_find_char(text, ":")), "/"))
    {
        return 0;
    }

    for (at = 0; at < text.len; at++) {
        if (at == 0 ? text.data[at] != ':' : !tg_is_digit(text.data[at])) {
            return 0;
        }
    }

    return 1;
}

/* Cuts text at the first c. Returns the part after it, or an absent slice. */
static tg_str_t
tg_uri_cut_suffix(tg_str_t *text, const char *c)
{
    tg_str_t rest;
    size_t at;

    at = tg_str_find_char(*text, c);

    if (at == text->len) {
        return TG_STR_NONE;
    }

    rest = tg_str_skip(*text, at + 1);
    text->len = at;

    return rest;
}

int
tg_uri_parse(tg_str_t text, tg_uri_t *uri)
{
    size_t colon;

    memset(uri, 0, sizeof(*uri));
    text.data = text.data != NULL ? text.data : "";
    uri->fragment = tg_uri_cut_suffix(&text, "#");
    uri->query = tg_uri_cut_suffix(&text, "?");

    /* A colon in the first segment can only end a scheme. */
    colon = tg_str_find_char(text, ":/");

    if (colon < text.len && text.data[colon] == ':') {
        uri->scheme = tg_uri_cut_prefix(&text, colon);
        (void) tg_uri_cut_prefix(&text, 1);

        if (!tg_uri_is_scheme(uri->scheme)) {
            return TG_INVALID;
        }
    }

    if (text.len >= 2 && text.data[0] == '/' && text.data[1] == '/') {
        (void) tg_uri_cut_prefix(&text, 2);
        uri->authority = tg_uri_cut_prefix(&text, tg_str_find_char(text, "/"));

        if (!tg_uri_is_authority(uri->authority)) {
            return TG_INVALID;
        }
    }

    uri->path = text;

    return tg_uri_has_only_chars(uri->path, TG_URI_PATH_CHARS)
                   && tg_uri_has_only_chars(uri->query, TG_URI_PATH_CHARS "?")
                   && tg_uri_has_only_chars(uri->fragment,
                                            TG_URI_PATH_CHARS "?")
               ? TG_OK
               : TG_INVALID;
}

static int
tg_uri_eq_cstr(tg_str_t text, const char *whole)
{
    return tg_str_eq(text, tg_str_from_cstr(whole));
}

static void
tg_uri_drop_segment(tg_buf_t *out, size_t start)
{
    size_t len;

    for (len = out->len; len > start; /* void */) {
        if (out->data[--len] == '/') {
            break;
        }
    }

    if (!tg_buf_has_failed(out)) {
        tg_buf_truncate(out, len);
    }
}

/* Removes dot segments by RFC 3986, section 5.2.4, rule by rule. */
static void
tg_uri_append_normalized_path(tg_buf_t *out, tg_str_t path)
{
    size_t start, len;

    start = out->len;

    while (path.len != 0) {
        if (tg_str_has_prefix(path, "../")) {
            (void) tg_uri_cut_prefix(&path, 3);

        } else if (tg_str_has_prefix(path, "./")
                   || tg_str_has_prefix(path, "/./")) {
            (void) tg_uri_cut_prefix(&path, 2);

        } else if (tg_uri_eq_cstr(path, "/.")) {
            path = TG_STR("/");

        } else if (tg_str_has_prefix(path, "/../")
                   || tg_uri_eq_cstr(path, "/..")) {
            tg_uri_drop_segment(out, start);

            if (path.len == 3) {
                path = TG_STR("/");
            } else {
                (void) tg_uri_cut_prefix(&path, 3);
            }

        } else if (tg_uri_eq_cstr(path, ".") || tg_uri_eq_cstr(path, "..")) {
            break;

        } else {
            len = 1 + tg_str_find_char(tg_str_skip(path, 1), "/");
            tg_buf_append_str(out, tg_uri_cut_prefix(&path, len));
        }
    }
}

/* Appends path, merged with the base path: RFC 3986, section 5.2.3. */
static void
tg_uri_append_merged_path(tg_buf_t *out, const tg_uri_t *base, tg_str_t path)
{
    tg_buf_t merged;
    size_t len;

    tg_buf_init(&merged, out->alloc);

    if (base->authority.data != NULL && base->path.len == 0) {
        tg_buf_append_char(&merged, '/');

    } else {
        for (len = base->path.len; len > 0; len--) {
            if (base->path.data[len - 1] == '/') {
                break;
            }
        }

        tg_buf_append(&merged, base->path.data, len);
    }

    tg_buf_append_str(&merged, path);
    tg_uri_append_normalized_path(out, tg_buf_view(&merged));
    out->failed |= merged.failed;
    tg_buf_deinit(&merged);
}

static void
tg_uri_append_lower(tg_buf_t *out, tg_str_t text)
{
    size_t i;

    for (i = 0; i < text.len; i++) {
        tg_buf_append_char(out, tg_to_lower(text.data[i]));
    }
}

/* Inserts "/." before a path like "//x", which looks like an authority. */
static void
tg_uri_protect_path(tg_buf_t *out, size_t start)
{
    size_t len;

    len = out->len - start;

    if (len < 2 || memcmp(out->data + start, "//", 2) != 0) {
        return;
    }

    tg_buf_append_cstr(out, "/.");

    if (!tg_buf_has_failed(out)) {
        memmove(out->data + start + 2, out->data + start, len);
        memcpy(out->data + start, "/.", 2);
    }
}

void
tg_uri_resolve(const tg_uri_t *base, const tg_uri_t *reference, tg_buf_t *out)
{
    const tg_uri_t *authority;
    tg_str_t scheme, query;
    size_t start;

    scheme = reference->scheme.data != NULL ? reference->scheme : base->scheme;
    authority = reference->scheme.data != NULL
                        || reference->authority.data != NULL
                    ? reference
                    : base;
    query = reference->query;

    if (scheme.data != NULL) {
        tg_uri_append_lower(out, scheme);
        tg_buf_append_char(out, ':');
    }

    if (authority->authority.data != NULL) {
        tg_buf_append_cstr(out, "//");
        tg_uri_append_lower(out, authority->authority);
    }

    start = out->len;

    if (authority == reference || tg_str_has_prefix(reference->path, "/")) {
        tg_uri_append_normalized_path(out, reference->path);

    } else if (reference->path.len == 0) {
        tg_uri_append_normalized_path(out, base->path);
        query = query.data != NULL ? query : base->query;

    } else {
        tg_uri_append_merged_path(out, base, reference->path);
    }

    if (authority->authority.data == NULL) {
        tg_uri_protect_path(out, start);
    }

    if (query.data != NULL) {
        tg_buf_append_char(out, '?');
        tg_buf_append_str(out, query);
    }
}

tg_str_t
tg_schema_pointer_next_token(tg_str_t *pointer, char *token)
{
    const char *p, *end;
    size_t len;

    p = pointer->data + 1;
    end = pointer->data + pointer->len;

    for (len = 0; p < end && *p != '/'; p++) {
        if (*p == '~' && p + 1 < end && (p[1] == '0' || p[1] == '1')) {
            p++;
            token[len++] = *p == '0' ? '~' : '/';
        } else {
            token[len++] = *p;
        }
    }

    *pointer = tg_str(p, (size_t) (end - p));

    return tg_str(token, len);
}

int
tg_uri_append_decoded(tg_buf_t *out, tg_str_t text)
{
    size_t i, start;
    tg_str_t all;
    int high;

    start = out->len;

    for (i = 0; i < text.len; i++) {
        high = text.data[i] == '%' && text.len - i > 2
                   ? tg_hex_value(text.data[i + 1])
                   : -1;

        if (high < 0 || tg_hex_value(text.data[i + 2]) < 0) {
            tg_buf_append_char(out, text.data[i]);
            continue;
        }

        tg_buf_append_char(out,
                           (char) (high * 16 + tg_hex_value(text.data[i + 2])));
        i += 2;
    }

    all = tg_buf_view(out);

    return tg_buf_has_failed(out) || tg_utf8_is_valid(tg_str_skip(all, start))
               ? TG_OK
               : TG_INVALID;
}
