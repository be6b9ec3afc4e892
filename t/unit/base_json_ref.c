/* Each function returns the position after what it read, or NULL. */
#include "base_json_ref.h"

/* RFC 3629, section 4, to the letter. */
size_t
ref_utf8(const char *p, const char *end)
{
    static const struct {
        unsigned char first[2], second[2];
        size_t length;
    } rows[] = {
        { { 0x00, 0x7f }, { 0x00, 0xff }, 1 },
        { { 0xc2, 0xdf }, { 0x80, 0xbf }, 2 },
        { { 0xe0, 0xe0 }, { 0xa0, 0xbf }, 3 },
        { { 0xe1, 0xec }, { 0x80, 0xbf }, 3 },
        { { 0xed, 0xed }, { 0x80, 0x9f }, 3 },
        { { 0xee, 0xef }, { 0x80, 0xbf }, 3 },
        { { 0xf0, 0xf0 }, { 0x90, 0xbf }, 4 },
        { { 0xf1, 0xf3 }, { 0x80, 0xbf }, 4 },
        { { 0xf4, 0xf4 }, { 0x80, 0x8f }, 4 },
    };
    const unsigned char *u;
    size_t i, k;

    u = (const unsigned char *) p;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (u[0] >= rows[i].first[0] && u[0] <= rows[i].first[1]) {
            break;
        }
    }

    if (i == sizeof(rows) / sizeof(rows[0])
        || rows[i].length > (size_t) (end - p)) {
        return 0;
    }

    for (k = 1; k < rows[i].length; k++) {
        if (u[k] < (k == 1 ? rows[i].second[0] : 0x80)
            || u[k] > (k == 1 ? rows[i].second[1] : 0xbf))
        {
            return 0;
        }
    }

    return rows[i].length;
}

typedef struct {
    const char *end;
    int is_deep;
} ref_t;

static const char *ref_value(ref_t *ref, const char *p, int depth);

static int
ref_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static const char *
ref_space(ref_t *ref, const char *p)
{
    while (p < ref->end && ref_is_space(*p)) {
        p++;
    }

    return p;
}

static const char *
ref_string(ref_t *ref, const char *p)
{
    size_t n;

    if (p == ref->end || *p != '"') {
        return NULL;
    }

    for (p++; p < ref->end; p += n) {
        n = ref_utf8(p, ref->end);

        if (*p == '"') {
            return p + 1;
        }

        if (n == 0 || (unsigned char) *p < 0x20) {
            return NULL;
        }

        if (*p != '\\') {
            continue;
        }

        if (++p == ref->end || *p == '\0' || strchr("\"\\/bfnrtu", *p) == NULL)
        {
            return NULL;
        }

        if (*p == 'u') {
            for (n = 1; n <= 4; n++) {
                if (p + n >= ref->end || p[n] == '\0'
                    || strchr("0123456789abcdefABCDEF", p[n]) == NULL)
                {
                    return NULL;
                }
            }

            p += 4;
        }

        n = 1;
    }

    return NULL;
}

static const char *
ref_digits(ref_t *ref, const char *p)
{
    const char *start;

    for (start = p; p < ref->end && *p >= '0' && *p <= '9'; p++) {
        /* void */
    }

    return p != start ? p : NULL;
}

static const char *
ref_number(ref_t *ref, const char *p)
{
    if (p < ref->end && *p == '-') {
        p++;
    }

    if (p < ref->end && *p == '0') {
        p++;
    } else if ((p = ref_digits(ref, p)) == NULL) {
        return NULL;
    }

    if (p < ref->end && *p == '.' && (p = ref_digits(ref, p + 1)) == NULL) {
        return NULL;
    }

    if (p < ref->end && (*p == 'e' || *p == 'E')) {
        p++;

        if (p < ref->end && (*p == '+' || *p == '-')) {
            p++;
        }

        p = ref_digits(ref, p);
    }

    return p;
}

static const char *
ref_entries(ref_t *ref, const char *p, int depth, int is_object)
{
    char closing;

    closing = is_object ? '}' : ']';

    if (depth == TG_JSON_MAX_DEPTH) {
        ref->is_deep = 1;
        return NULL;
    }

    p = ref_space(ref, p);

    if (p < ref->end && *p == closing) {
        return p + 1;
    }

    for (;;) {
        if (is_object) {
            p = ref_string(ref, ref_space(ref, p));
            p = p != NULL ? ref_space(ref, p) : NULL;

            if (p == NULL || p == ref->end || *p != ':') {
                return NULL;
            }

            p++;
        }

        p = ref_value(ref, p, depth + 1);

        if (p == NULL || (p = ref_space(ref, p)) == ref->end) {
            return NULL;
        }

        if (*p == closing) {
            return p + 1;
        }

        if (*p++ != ',') {
            return NULL;
        }
    }
}

static const char *
ref_value(ref_t *ref, const char *p, int depth)
{
    static const char *const words[] = { "true", "false", "null" };
    size_t i, n;

    p = ref_space(ref, p);

    if (p == ref->end) {
        return NULL;
    }

    if (*p == '{' || *p == '[') {
        return ref_entries(ref, p + 1, depth, *p == '{');
    }

    if (*p == '"') {
        return ref_string(ref, p);
    }

    for (i = 0; i < 3 && *p >= 'a'; i++) {
        n = strlen(words[i]);

        if ((size_t) (ref->end - p) >= n && memcmp(p, words[i], n) == 0) {
            return p + n;
        }
    }

    return ref_number(ref, p);
}

int
ref_check(tg_str_t text)
{
    const char *p;
    ref_t ref;

    ref.end = text.data + text.len;
    ref.is_deep = 0;
    p = ref_value(&ref, text.data, 0);

    if (p == NULL) {
        return ref.is_deep ? TG_LIMIT : TG_INVALID;
    }

    return ref_space(&ref, p) == ref.end ? TG_OK : TG_INVALID;
}

size_t
ref_compact(tg_str_t text, char *dst)
{
    size_t i, n;
    int is_text;

    is_text = 0;

    for (i = 0, n = 0; i < text.len; i++) {
        if (is_text && text.data[i] == '\\') {
            dst[n++] = text.data[i++];
        } else if (text.data[i] == '"') {
            is_text = !is_text;
        } else if (!is_text && ref_is_space(text.data[i])) {
            continue;
        }

        dst[n++] = text.data[i];
    }

    return n;
}
