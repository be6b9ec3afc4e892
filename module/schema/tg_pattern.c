/* Translates ECMA-262 patterns to PCRE2: groups, quantifiers, references. */
#include "schema/tg_pattern_impl.h"

/* Result of a scan of the whole pattern for groups. */
typedef struct {
    unsigned n_groups;
    unsigned index;   /* index of the group with the searched name */
    unsigned n_named; /* number of groups with that name */
} tg_pattern_groups_t;

/* Appends a callout, at which the host counts a step; see tg_pattern.h. */
static void
tg_pattern_append_callout(tg_pattern_parser_t *pattern)
{
    if (pattern->chars_since_callout > pattern->weight) {
        pattern->weight = pattern->chars_since_callout;
    }

    pattern->chars_since_callout = 0;
    tg_buf_append_cstr(pattern->out, "(?C)");
}

static tg_str_t
tg_pattern_read_name(const char *p, const char *end)
{
    const char *close;

    close = memchr(p, '>', (size_t) (end - p));

    return close != NULL ? tg_str(p, (size_t) (close - p)) : TG_STR_NONE;
}

static const char *
tg_pattern_skip_class(const char *p, const char *end)
{
    while (p < end && *p != ']') {
        p += *p == '\\' ? 2 : 1;
    }

    return p < end ? p : end;
}

static void
tg_pattern_scan_groups(const tg_pattern_parser_t *pattern, tg_str_t name,
                       tg_pattern_groups_t *scan)
{
    const char *p, *end;

    memset(scan, 0, sizeof(*scan));
    end = pattern->end;

    for (p = pattern->start; p < end; p++) {
        switch (*p) {
        case '\\':
            p++;
            break;

        case '[':
            p = tg_pattern_skip_class(p + 1, end);
            break;

        case '(':
            if (end - p < 2 || p[1] != '?') {
                scan->n_groups++;

            } else if (end - p > 3 && p[2] == '<' && p[3] != '=' && p[3] != '!')
            {
                scan->n_groups++;

                if (name.data != NULL
                    && tg_str_eq(tg_pattern_read_name(p + 3, end), name)) {
                    scan->index = scan->n_groups;
                    scan->n_named++;
                }
            }

            break;

        default:
            break;
        }
    }
}

static void
tg_pattern_append_backref(tg_pattern_parser_t *pattern, unsigned index)
{
    pattern->weight = TG_PATTERN_WEIGHT_MAX;
    tg_buf_append_cstr(pattern->out, "\\g{");
    tg_buf_append_uint(pattern->out, index);
    tg_buf_append_char(pattern->out, '}');
}

/* Parses a backreference by number; p is at its first digit. */
static int
tg_pattern_parse_number_ref(tg_pattern_parser_t *pattern)
{
    unsigned index;

    for (index = 0; pattern->p < pattern->end && tg_is_digit(*pattern->p)
                    && index < 100000;
         pattern->p++)
    {
        index = index * 10 + (unsigned) (*pattern->p - '0');
    }

    if (index > pattern->n_groups) {
        return tg_pattern_fail(pattern, "a backreference to a group that does "
                                        "not exist");
    }

    tg_pattern_append_backref(pattern, index);

    return TG_OK;
}

/* Parses a backreference by name; p is at the k of \k<name>. */
static int
tg_pattern_parse_name_ref(tg_pattern_parser_t *pattern)
{
    tg_pattern_groups_t scan;
    tg_str_t name;

    name = tg_pattern_is_next(pattern, "k<")
               ? tg_pattern_read_name(pattern->p + 2, pattern->end)
               : TG_STR_NONE;

    if (name.data == NULL) {
        return tg_pattern_fail(pattern, "\\k needs the name of a group: "
                                        "\\k<name>");
    }

    tg_pattern_scan_groups(pattern, name, &scan);

    if (scan.n_named == 0) {
        return tg_pattern_fail(pattern,
                               "\\k names a group that does not exist");
    }

    pattern->p = name.data + name.len + 1;
    tg_pattern_append_backref(pattern, scan.index);

    return TG_OK;
}

static int
tg_pattern_parse_escape(tg_pattern_parser_t *pattern)
{
    uint32_t code;
    int rc;
    char c;

    if (pattern->p == pattern->end) {
        return tg_pattern_fail(pattern, "\\ at the end; write \\\\");
    }

    pattern->is_atom = 1;
    rc = tg_pattern_parse_char_escape(pattern, &code);

    if (rc == TG_OK) {
        tg_pattern_append_code_point(pattern->out, code);
    }

    if (rc == TG_MISSING) {
        rc = tg_pattern_parse_set_escape(pattern, 0);
    }

    if (rc != TG_MISSING) {
        return rc;
    }

    c = *pattern->p;

    if (c == 'b' || c == 'B') {
        pattern->is_atom = 0;
        pattern->p++;
        tg_buf_append_char(pattern->out, '\\');
        tg_buf_append_char(pattern->out, c);
        return TG_OK;
    }

    if (c == 'k') {
        return tg_pattern_parse_name_ref(pattern);
    }

    return c >= '1' && c <= '9'
               ? tg_pattern_parse_number_ref(pattern)
               : tg_pattern_fail(pattern, "unknown escape; write the character "
                                          "without \\");
}

static int
tg_pattern_parse_group_name(tg_pattern_parser_t *pattern)
{
    tg_pattern_groups_t scan;
    tg_str_t name;
    size_t i;

    name = tg_pattern_read_name(pattern->p, pattern->end);

    for (i = 0; i < name.len; i++) {
        if (!tg_pattern_is_word_char(name.data[i]) && name.data[i] != '$') {
            break;
        }
    }

    if (name.len == 0 || i < name.len || tg_is_digit(name.data[0])) {
        return tg_pattern_fail(pattern, "a group's name starts with a letter "
                                        "and has letters, digits, _ and $");
    }

    tg_pattern_scan_groups(pattern, name, &scan);

    if (scan.n_named > 1) {
        return tg_pattern_fail(pattern, "two groups have the same name");
    }

    pattern->p = name.data + name.len + 1;
    tg_buf_append_char(pattern->out, '(');

    return TG_OK;
}

static int
tg_pattern_parse_group_type(tg_pattern_parser_t *pattern)
{
    /* All but the last one are assertions. */
    static const char *const kinds[] = { "?=", "?!", "?<=", "?<!", "?:" };
    size_t i;

    if (pattern->depth == TG_PATTERN_MAX_DEPTH) {
        return tg_pattern_fail(pattern, "groups nest too deep (200)");
    }

    pattern->is_assertion[pattern->depth++] = 0;
    pattern->is_atom = 0;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (tg_pattern_is_next(pattern, kinds[i])) {
            pattern->is_assertion[pattern->depth - 1] = kinds[i][1] != ':';
            pattern->p += strlen(kinds[i]);
            tg_buf_append_char(pattern->out, '(');
            tg_buf_append_cstr(pattern->out, kinds[i]);
            return TG_OK;
        }
    }

    if (tg_pattern_is_next(pattern, "?<")) {
        pattern->p += 2;
        return tg_pattern_parse_group_name(pattern);
    }

    if (tg_pattern_is_next(pattern, "?")) {
        return tg_pattern_fail(pattern, "unknown type of group; known are (…), "
                                        "(?:…), (?<name>…), (?=…), (?!…), "
                                        "(?<=…) and (?<!…)");
    }

    tg_buf_append_char(pattern->out, '(');

    return TG_OK;
}

static int
tg_pattern_parse_group_open(tg_pattern_parser_t *pattern)
{
    int rc;

    rc = tg_pattern_parse_group_type(pattern);

    if (rc == TG_OK) {
        tg_pattern_append_callout(pattern);
    }

    return rc;
}

static int
tg_pattern_parse_group_close(tg_pattern_parser_t *pattern)
{
    if (pattern->depth == 0) {
        return tg_pattern_fail(pattern, ") without (; write \\) for itself");
    }

    pattern->depth--;
    pattern->is_atom = !pattern->is_assertion[pattern->depth];
    tg_buf_append_char(pattern->out, ')');

    return TG_OK;
}

static int
tg_pattern_parse_count(tg_pattern_parser_t *pattern, unsigned *count)
{
    unsigned value;

    if (pattern->p == pattern->end || !tg_is_digit(*pattern->p)) {
        return tg_pattern_fail(pattern, "{ starts a count such as {2,5}; write "
                                        "\\{ for itself");
    }

    for (value = 0; pattern->p < pattern->end && tg_is_digit(*pattern->p);
         pattern->p++)
    {
        value = value * 10 + (unsigned) (*pattern->p - '0');

        if (value > TG_PATTERN_MAX_COUNT) {
            return tg_pattern_fail(pattern, "a count is above 65535");
        }
    }

    *count = value;
    tg_buf_append_uint(pattern->out, value);

    return TG_OK;
}

/* Parses {n}, {n,} or {n,m}; p is after the {. */
static int
tg_pattern_parse_braces(tg_pattern_parser_t *pattern)
{
    unsigned low, high;
    int rc;

    low = 0;
    high = 0;
    tg_buf_append_char(pattern->out, '{');
    rc = tg_pattern_parse_count(pattern, &low);

    /* Each repetition beyond the minimum count is followed by a callout. */
    if (rc == TG_OK) {
        pattern->chars_since_callout += low;
    }

    if (rc == TG_OK && tg_pattern_is_next(pattern, ",")) {
        pattern->p++;
        tg_buf_append_char(pattern->out, ',');

        if (!tg_pattern_is_next(pattern, "}")) {
            rc = tg_pattern_parse_count(pattern, &high);

            if (rc == TG_OK && high < low) {
                return tg_pattern_fail(pattern, "a count is out of order");
            }
        }
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (!tg_pattern_is_next(pattern, "}")) {
        return tg_pattern_fail(pattern, "a count is not closed with }");
    }

    pattern->p++;
    tg_buf_append_char(pattern->out, '}');

    return TG_OK;
}

/* Parses a quantifier; p is after its first character, c. */
static int
tg_pattern_parse_quantifier(tg_pattern_parser_t *pattern, char c)
{
    int rc;

    if (!pattern->is_atom) {
        return tg_pattern_fail(pattern, "nothing to repeat before *, +, ? or "
                                        "{; write a \\ before it for itself");
    }

    rc = TG_OK;

    if (c == '{') {
        rc = tg_pattern_parse_braces(pattern);
    } else {
        tg_buf_append_char(pattern->out, c);
    }

    if (rc == TG_OK && tg_pattern_is_next(pattern, "?")) {
        pattern->p++;
        tg_buf_append_char(pattern->out, '?');
    }

    pattern->is_atom = 0;
    tg_pattern_append_callout(pattern);

    return rc;
}

static int
tg_pattern_parse_token(tg_pattern_parser_t *pattern)
{
    char c;

    c = *pattern->p;
    pattern->chars_since_callout++;

    if (!tg_is_one_of(c, "^$|.()[*+?{}]\\")) {
        pattern->is_atom = 1;
        tg_pattern_append_code_point(pattern->out,
                                     tg_pattern_read_char(pattern));
        return TG_OK;
    }

    pattern->p++;

    switch (c) {
    case '^':
    case '$':
        pattern->is_atom = 0;
        tg_buf_append_cstr(pattern->out, c == '^' ? "\\A" : "\\z");
        return TG_OK;

    case '|':
        pattern->is_atom = 0;
        tg_buf_append_char(pattern->out, '|');
        tg_pattern_append_callout(pattern);
        return TG_OK;

    case '.':
        pattern->is_atom = 1;
        tg_buf_append_cstr(pattern->out, "[^\\n\\r\\x{2028}\\x{2029}]");
        return TG_OK;

    case '(':
        return tg_pattern_parse_group_open(pattern);

    case ')':
        return tg_pattern_parse_group_close(pattern);

    case '[':
        pattern->is_atom = 1;
        return tg_pattern_parse_class(pattern);

    case '\\':
        return tg_pattern_parse_escape(pattern);

    case ']':
    case '}':
        return tg_pattern_fail(pattern,
                               "] and } for themselves are written \\] "
                               "and \\}");

    default:
        return tg_pattern_parse_quantifier(pattern, c);
    }
}

int
tg_pattern_translate(tg_str_t text, tg_buf_t *out, unsigned *weight,
                     const char **why)
{
    tg_pattern_groups_t scan;
    tg_pattern_parser_t pattern;
    int rc;

    text.data = text.data != NULL ? text.data : "";
    memset(&pattern, 0, sizeof(pattern));
    pattern.start = pattern.p = text.data;
    pattern.end = text.data + text.len;
    pattern.out = out;
    pattern.weight = 1;
    tg_pattern_scan_groups(&pattern, TG_STR_NONE, &scan);
    pattern.n_groups = scan.n_groups;
    tg_pattern_append_callout(&pattern);

    for (rc = TG_OK; rc == TG_OK && pattern.p < pattern.end; /* void */) {
        rc = tg_pattern_parse_token(&pattern);
    }

    if (rc == TG_OK && pattern.depth != 0) {
        rc = tg_pattern_fail(&pattern, "a group is not closed with )");
    }

    if (rc != TG_OK) {
        *why = pattern.why;
        return rc;
    }

    if (tg_buf_has_failed(out)) {
        return TG_NOMEM;
    }

    *weight = pattern.chars_since_callout > pattern.weight
                  ? pattern.chars_since_callout
                  : pattern.weight;

    return TG_OK;
}

int
tg_pattern_is_valid(tg_str_t pattern)
{
    const char *why;
    unsigned weight;
    tg_buf_t out;
    int rc;

    tg_buf_init(&out, tg_alloc_libc());
    rc = tg_pattern_translate(pattern, &out, &weight, &why);
    tg_buf_deinit(&out);

    return rc == TG_OK;
}
