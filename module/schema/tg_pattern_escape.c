/* Translates ECMA-262 patterns to PCRE2: escapes and character classes. */
#include "schema/tg_pattern_impl.h"

#include "base/tg_utf8.h"

/* The characters of \s and of \S, as members of a PCRE2 class. */
#define TG_PATTERN_SPACE_CHARS                                                 \
    "\\t-\\r\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}"      \
    "\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
#define TG_PATTERN_NON_SPACE_CHARS                                             \
    "\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}"              \
    "\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}"                \
    "\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"                \
    "\\x{ff00}-\\x{10ffff}"

int
tg_pattern_fail(tg_pattern_parser_t *pattern, const char *why)
{
    pattern->why = why;

    return TG_INVALID;
}

int
tg_pattern_is_next(const tg_pattern_parser_t *pattern, const char *text)
{
    size_t len;

    len = strlen(text);

    return (size_t) (pattern->end - pattern->p) >= len
           && memcmp(pattern->p, text, len) == 0;
}

int
tg_pattern_is_word_char(char c)
{
    return tg_is_alpha(c) || tg_is_digit(c) || c == '_';
}

static int
tg_pattern_parse_hex(const char *p, const char *end, size_t n, uint32_t *code)
{
    uint32_t value;

    if ((size_t) (end - p) < n) {
        return TG_INVALID;
    }

    for (value = 0; n > 0; n--, p++) {
        if (tg_hex_value(*p) < 0) {
            return TG_INVALID;
        }

        value = value * 16 + (uint32_t) tg_hex_value(*p);
    }

    *code = value;

    return TG_OK;
}

void
tg_pattern_append_code_point(tg_buf_t *out, uint32_t code)
{
    static const char hex[] = "0123456789abcdef";
    int shift;

    if (code < 0x80 && tg_pattern_is_word_char((char) code)) {
        tg_buf_append_char(out, (char) code);
        return;
    }

    tg_buf_append_cstr(out, "\\x{");

    for (shift = 20; shift > 0 && code >> shift == 0; shift -= 4) {
        /* void */
    }

    for (/* void */; shift >= 0; shift -= 4) {
        tg_buf_append_char(out, hex[code >> shift & 15]);
    }

    tg_buf_append_char(out, '}');
}

uint32_t
tg_pattern_read_char(tg_pattern_parser_t *pattern)
{
    const unsigned char *p;
    uint32_t code;
    size_t n, i;

    p = (const unsigned char *) pattern->p;
    n = tg_utf8_sequence_len(pattern->p, pattern->end);
    n = n != 0 ? n : 1;
    code = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));

    for (i = 1; i < n; i++) {
        code = code << 6 | (p[i] & 0x3fu);
    }

    pattern->p += n;

    return code;
}

/* Parses \u{…}, \uXXXX, or a surrogate pair of two \uXXXX; p is after the u. */
static int
tg_pattern_parse_unicode(tg_pattern_parser_t *pattern, uint32_t *code)
{
    const char *close;
    uint32_t low;
    size_t n;

    if (pattern->p < pattern->end && *pattern->p == '{') {
        close = memchr(pattern->p, '}', (size_t) (pattern->end - pattern->p));
        n = close != NULL ? (size_t) (close - pattern->p) - 1 : 0;

        for (pattern->p++; n > 6 && *pattern->p == '0'; n--) {
            pattern->p++;
        }

        if (n == 0 || n > 6
            || tg_pattern_parse_hex(pattern->p, pattern->end, n, code) != TG_OK
            || *code > 0x10ffff)
        {
            return tg_pattern_fail(pattern, "\\u{…} needs a code point in hex");
        }

        pattern->p = close + 1;

    } else if (tg_pattern_parse_hex(pattern->p, pattern->end, 4, code) == TG_OK)
    {
        pattern->p += 4;

        if (*code >= 0xd800 && *code <= 0xdbff
            && tg_pattern_is_next(pattern, "\\u")
            && tg_pattern_parse_hex(pattern->p + 2, pattern->end, 4, &low)
                   == TG_OK
            && low >= 0xdc00 && low <= 0xdfff)
        {
            *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
            pattern->p += 6;
        }

    } else {
        return tg_pattern_fail(pattern, "\\u needs four hex digits or {…}");
    }

    if (*code >= 0xd800 && *code <= 0xdfff) {
        return tg_pattern_fail(pattern, "half of a surrogate pair is not a "
                                        "character; write both halves");
    }

    return TG_OK;
}

int
tg_pattern_parse_char_escape(tg_pattern_parser_t *pattern, uint32_t *code)
{
    static const char from[] = "tnvfr";
    static const char to[] = "\t\n\v\f\r";
    const char *at;
    char c;

    c = *pattern->p;
    at = c != '\0' ? strchr(from, c) : NULL;

    if (at != NULL) {
        pattern->p++;
        *code = (uint32_t) to[at - from];
        return TG_OK;
    }

    if (tg_is_one_of(c, "^$\\.*+?()[]{}|/")) {
        pattern->p++;
        *code = (uint32_t) c;
        return TG_OK;
    }

    switch (c) {
    case '0':
        if (pattern->end - pattern->p > 1 && tg_is_digit(pattern->p[1])) {
            return tg_pattern_fail(
                pattern, "octal escapes are not allowed; write \\xHH");
        }

        pattern->p++;
        *code = 0;
        return TG_OK;

    case 'c':
        if (pattern->end - pattern->p < 2 || !tg_is_alpha(pattern->p[1])) {
            return tg_pattern_fail(pattern, "\\c needs a letter");
        }

        *code = (uint32_t) pattern->p[1] & 31;
        pattern->p += 2;
        return TG_OK;

    case 'x':
        if (tg_pattern_parse_hex(pattern->p + 1, pattern->end, 2, code)
            != TG_OK) {
            return tg_pattern_fail(pattern, "\\x needs two hex digits");
        }

        pattern->p += 3;
        return TG_OK;

    case 'u':
        pattern->p++;
        return tg_pattern_parse_unicode(pattern, code);

    default:
        return TG_MISSING;
    }
}

/* Long names of general categories with the short names for PCRE2. */
static const char tg_pattern_categories[] =
    " Letter=L Cased_Letter=L& LC=L& Uppercase_Letter=Lu Lowercase_Letter=Ll"
    " Titlecase_Letter=Lt Modifier_Letter=Lm Other_Letter=Lo Mark=M"
    " Combining_Mark=M Nonspacing_Mark=Mn Spacing_Mark=Mc Enclosing_Mark=Me"
    " Number=N Decimal_Number=Nd digit=Nd Letter_Number=Nl Other_Number=No"
    " Punctuation=P punct=P Connector_Punctuation=Pc Dash_Punctuation=Pd"
    " Open_Punctuation=Ps Close_Punctuation=Pe Initial_Punctuation=Pi"
    " Final_Punctuation=Pf Other_Punctuation=Po Symbol=S Math_Symbol=Sm"
    " Currency_Symbol=Sc Modifier_Symbol=Sk Other_Symbol=So Separator=Z"
    " Space_Separator=Zs Line_Separator=Zl Paragraph_Separator=Zp Other=C"
    " Control=Cc cntrl=Cc Format=Cf Surrogate=Cs Private_Use=Co Unassigned=Cn";

static tg_str_t
tg_pattern_map_category(tg_str_t name)
{
    const char *p;

    for (p = tg_pattern_categories; p != NULL; p = strchr(p, ' ')) {
        p++;

        if (strncmp(p, name.data, name.len) == 0 && p[name.len] == '=') {
            p += name.len + 1;
            return tg_str(p, strcspn(p, " "));
        }
    }

    return name;
}

static int
tg_pattern_append_property(tg_pattern_parser_t *pattern, tg_str_t name,
                           tg_str_t value)
{
    static const char *const scripts[] = { "Script", "sc", "Script_Extensions",
                                           "scx", NULL };
    int i;

    if (value.data == NULL) {
        tg_buf_append_str(pattern->out, tg_pattern_map_category(name));
        return TG_OK;
    }

    if (tg_str_eq(name, TG_STR("General_Category"))
        || tg_str_eq(name, TG_STR("gc")))
    {
        tg_buf_append_str(pattern->out, tg_pattern_map_category(value));
        return TG_OK;
    }

    i = tg_str_find(name, scripts);

    if (i >= 0) {
        tg_buf_append_cstr(pattern->out, scripts[i | 1]);
        tg_buf_append_char(pattern->out, ':');
        tg_buf_append_str(pattern->out, value);
        return TG_OK;
    }

    return tg_pattern_fail(pattern, "unknown property; known with = are "
                                    "General_Category, Script and "
                                    "Script_Extensions");
}

/* Parses a property escape; p is at its p or P. */
static int
tg_pattern_parse_property(tg_pattern_parser_t *pattern)
{
    const char *open, *close, *equal;
    tg_str_t name, value;
    int is_not, rc;

    is_not = *pattern->p == 'P';
    open = pattern->p + 1;
    close = memchr(open, '}', (size_t) (pattern->end - open));

    if (close == NULL || *open != '{' || close == open + 1) {
        return tg_pattern_fail(pattern, "\\p needs a property: \\p{Letter}");
    }

    equal = memchr(open, '=', (size_t) (close - open));
    equal = equal != NULL ? equal : close;
    name = tg_str(open + 1, (size_t) (equal - open - 1));
    value = equal < close ? tg_str(equal + 1, (size_t) (close - equal - 1))
                          : TG_STR_NONE;

    for (pattern->p = open + 1; pattern->p < close; pattern->p++) {
        if (pattern->p != equal && !tg_pattern_is_word_char(*pattern->p)) {
            return tg_pattern_fail(pattern, "a property's name has only "
                                            "letters, digits and _");
        }
    }

    pattern->p = close + 1;

    if (tg_str_eq(name, TG_STR("Assigned")) && value.data == NULL) {
        is_not = !is_not;
        name = TG_STR("Cn");
    }

    tg_buf_append_cstr(pattern->out, is_not ? "\\P{" : "\\p{");

    rc = tg_pattern_append_property(pattern, name, value);
    tg_buf_append_char(pattern->out, '}');

    return rc;
}

int
tg_pattern_parse_set_escape(tg_pattern_parser_t *pattern, int is_in_class)
{
    char c;

    c = *pattern->p;

    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
        tg_buf_append_char(pattern->out, '\\');
        tg_buf_append_char(pattern->out, c);
        break;

    case 's':
    case 'S':
        if (is_in_class) {
            tg_buf_append_cstr(pattern->out, c == 's'
                                                 ? TG_PATTERN_SPACE_CHARS
                                                 : TG_PATTERN_NON_SPACE_CHARS);
        } else {
            tg_buf_append_cstr(pattern->out, c == 's' ? "[" : "[^");
            tg_buf_append_cstr(pattern->out, TG_PATTERN_SPACE_CHARS "]");
        }

        break;

    case 'p':
    case 'P':
        return tg_pattern_parse_property(pattern);

    default:
        return TG_MISSING;
    }

    pattern->p++;

    return TG_OK;
}

/* Parses a member of a class; TG_END after a set such as \d. */
static int
tg_pattern_parse_class_atom(tg_pattern_parser_t *pattern, uint32_t *code)
{
    int rc;

    if (*pattern->p != '\\') {
        *code = tg_pattern_read_char(pattern);
        return TG_OK;
    }

    if (++pattern->p == pattern->end) {
        return tg_pattern_fail(pattern, "a class is not closed with ]");
    }

    rc = tg_pattern_parse_char_escape(pattern, code);

    if (rc != TG_MISSING) {
        return rc;
    }

    if (*pattern->p == 'b' || *pattern->p == '-') {
        *code = *pattern->p++ == 'b' ? 8 : '-';
        return TG_OK;
    }

    rc = tg_pattern_parse_set_escape(pattern, 1);

    if (rc == TG_MISSING) {
        return tg_pattern_fail(pattern, "unknown escape in a class; write the "
                                        "character without \\");
    }

    return rc == TG_OK ? TG_END : rc;
}

/* Appends the character low, or a range that starts with it; p is after low. */
static int
tg_pattern_parse_range(tg_pattern_parser_t *pattern, uint32_t low)
{
    uint32_t high;
    int rc;

    tg_pattern_append_code_point(pattern->out, low);

    if (pattern->end - pattern->p < 2 || pattern->p[0] != '-'
        || pattern->p[1] == ']')
    {
        return TG_OK;
    }

    pattern->p++;
    tg_buf_append_char(pattern->out, '-');
    rc = tg_pattern_parse_class_atom(pattern, &high);

    if (rc == TG_END) {
        return tg_pattern_fail(pattern, "a range cannot end with a set; write "
                                        "\\- for a dash");
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (high < low) {
        return tg_pattern_fail(pattern, "a range in a class is out of order");
    }

    tg_pattern_append_code_point(pattern->out, high);

    return TG_OK;
}

int
tg_pattern_parse_class(tg_pattern_parser_t *pattern)
{
    uint32_t code;
    int is_not, rc;

    is_not = pattern->p < pattern->end && *pattern->p == '^';
    pattern->p += is_not;

    if (pattern->p < pattern->end && *pattern->p == ']') {
        pattern->p++;
        tg_buf_append_cstr(pattern->out, is_not ? "(?s:.)" : "(?!)");
        return TG_OK;
    }

    tg_buf_append_cstr(pattern->out, is_not ? "[^" : "[");

    while (pattern->p < pattern->end && *pattern->p != ']') {
        rc = tg_pattern_parse_class_atom(pattern, &code);

        if (rc == TG_OK) {
            rc = tg_pattern_parse_range(pattern, code);

        } else if (rc == TG_END) {
            rc = TG_OK;

            if (pattern->end - pattern->p > 1 && pattern->p[0] == '-'
                && pattern->p[1] != ']')
            {
                return tg_pattern_fail(pattern, "a range cannot start with a "
                                                "set; write \\- for a dash");
            }
        }

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (pattern->p == pattern->end) {
        return tg_pattern_fail(pattern, "a class is not closed with ]");
    }

    pattern->p++;
    tg_buf_append_char(pattern->out, ']');

    return TG_OK;
}
