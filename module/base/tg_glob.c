/* Matching of names and paths; validation of path patterns. */
#include "base/tg_glob.h"

/* Separator that no byte equals. */
#define TG_GLOB_NO_SEPARATOR 256

static const char *
tg_glob_find_class_end(const char *p, const char *end)
{
    p++;

    if (p < end && (*p == '!' || *p == '^')) {
        p++;
    }

    /* A ] at the first position is a member of the class. */
    for (p += p < end; p < end && *p != ']'; p++) {
        if (*p == '\\' || *p == '/') {
            return NULL;
        }
    }

    return p < end ? p + 1 : NULL;
}

const char *
tg_path_glob_check(tg_str_t pattern)
{
    const char *p, *end;

    p = pattern.data;
    end = tg_str_end(pattern);

    if (pattern.len == 0 || pattern.len > TG_PATH_GLOB_LEN_MAX) {
        return "a pattern has 1 to 256 bytes";
    }

    if (*p == '/') {
        return "a pattern is relative to the folder, so it must not begin with "
               "a slash";
    }

    while (p < end) {
        if (*p == '\\') {
            if (++p == end) {
                return "a backslash at the end escapes nothing";
            }

            p++;
        } else if (*p == '[') {
            p = tg_glob_find_class_end(p, end);

            if (p == NULL) {
                return "a [ needs its ] after it, without a slash or a "
                       "backslash between; write \\[ for the bracket itself";
            }
        } else {
            p++;
        }
    }

    return NULL;
}

static int
tg_glob_is_in_class(const char *p, const char *end, unsigned char c)
{
    unsigned char low, high;
    int is_not, is_in;

    p++;
    end--;
    is_not = *p == '!' || *p == '^';
    p += is_not;
    is_in = 0;

    while (p < end) {
        low = high = (unsigned char) *p++;

        if (end - p >= 2 && *p == '-') {
            high = (unsigned char) p[1];
            p += 2;
        }

        is_in |= c >= low && c <= high;
    }

    return is_in != is_not;
}

/*
 * Matches the item at *p against c and moves *p past it. Names need not be
 * UTF-8, so a multi-byte character is several items.
 */
static int
tg_glob_match_item(const char **p, const char *end, char c, int separator)
{
    const char *item;

    item = *p;

    switch (*item) {
    case '?':
        *p = item + 1;
        return c != separator;

    case '[':
        *p = tg_glob_find_class_end(item, end);
        return c != separator
               && tg_glob_is_in_class(item, *p, (unsigned char) c);

    case '\\':
        *p = item + 2;
        return c == item[1];

    default:
        *p = item + 1;
        return c == *item;
    }
}

typedef struct {
    const char *pattern; /* after the stars; NULL: none yet */
    const char *text;    /* end of the part that the stars match */
} tg_glob_backtrack_t;

/*
 * Matches a whole text. On a mismatch the last * is extended by one byte, up to
 * the next separator; if impossible, the last ** is, and later stars start
 * again.
 */
static int
tg_glob_match_whole(tg_str_t pattern, tg_str_t text, int separator)
{
    tg_glob_backtrack_t star = { NULL, NULL }, stars = { NULL, NULL };
    const char *p, *end, *s, *last;

    p = pattern.data;
    end = tg_str_end(pattern);
    s = text.data;
    last = tg_str_end(text);

    for (;;) {
        if (end - p >= 2 && p[0] == '*' && p[1] == '*') {
            p += 2;
            stars.pattern = p;
            stars.text = s;
            star.pattern = NULL;

            /* Here ** and the following separator may match nothing. */
            if (p < end && *p == separator
                && (p - 2 == pattern.data || p[-3] == separator)) {
                p++;
            }

            continue;
        }

        if (p < end && *p == '*') {
            star.pattern = ++p;
            star.text = s;
            continue;
        }

        if (s < last && p < end && tg_glob_match_item(&p, end, *s, separator)) {
            s++;
            continue;
        }

        if (s == last && p == end) {
            return 1;
        }

        if (star.pattern != NULL && star.text < last && *star.text != separator)
        {
            s = ++star.text;
            p = star.pattern;

        } else if (stars.pattern != NULL && stars.text < last) {
            s = ++stars.text;
            p = stars.pattern;
            star.pattern = NULL;

        } else {
            return 0;
        }
    }
}

int
tg_path_glob_match(tg_str_t pattern, tg_str_t path)
{
    if (memchr(pattern.data, '/', pattern.len) == NULL) {
        path = tg_path_get_base_name(path);
    }

    return tg_glob_match_whole(pattern, path, '/');
}

int
tg_glob_match(tg_str_t pattern, tg_str_t name)
{
    return tg_glob_match_whole(pattern, name, TG_GLOB_NO_SEPARATOR);
}
