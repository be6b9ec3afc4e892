/*
 * Patterns: what ECMA-262 says, translated and run by PCRE2.
 */
#include "schema_help.h"

#include "schema/tg_pattern.h"

/* A pattern with a text that it finds a match in, and one that it does not. */
typedef struct {
    const char *pattern;
    const char *match;
    const char *other; /* NULL: none is asked */
} test_pattern_t;

static int
test_find(void *regex, const char *text)
{
    uint64_t spent;

    return tg_regex_pcre2()->match(NULL, regex, tg_str_c(text), 100000, &spent)
           == TG_OK;
}

static void
test_patterns(const test_pattern_t *rows, size_t n)
{
    tg_buf_t text, error;
    const char *why;
    unsigned weight;
    void *regex;
    size_t i;

    for (i = 0; i < n; i++) {
        tg_buf_init(&text, tg_alloc_libc());
        tg_buf_init(&error, tg_alloc_libc());
        why = "";
        regex = NULL;

        if (tg_pattern_translate(tg_str_c(rows[i].pattern), &text, &weight,
                                 &why)
                != TG_OK
            || tg_regex_pcre2()->compile(NULL, tg_buf_view(&text), &regex,
                                         &error)
                   != TG_OK)
        {
            test_report(rows[i].pattern, why, "a translation",
                        tg_buf_view(&error));

        } else if (!test_find(regex, rows[i].match)) {
            test_report(rows[i].pattern, rows[i].match, "a match",
                        tg_buf_view(&text));

        } else if (rows[i].other != NULL && test_find(regex, rows[i].other)) {
            test_report(rows[i].pattern, rows[i].other, "no match",
                        tg_buf_view(&text));
        }

        tg_regex_pcre2()->free(NULL, regex);
        tg_buf_deinit(&text);
        tg_buf_deinit(&error);
    }
}


/* A match may start anywhere, lines do not matter. */
HELP_TEST(search, "search")
{
    static const test_pattern_t rows[] = {
        { "b", "abc", "acd" },   { "^b", "bc", "abc" },
        { "^a|b$", "ax", "xa" }, { "^a|b$", "xb", "xbx" },
        { "", "", NULL },        { "a|", "", NULL },
        { "c$", "abc", "abcd" }, { "a$", "a", "a\n" },
        { "^$", "", "\n" },      { "b", "\n\nb", "\n" },
        { "(^a)", "a", "ba" },   { "x*", "", NULL },
        { "^", "x", NULL },      { "^(?:a|b)c", "bc", "xbc" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

HELP_TEST(dot, "dot")
{
    static const test_pattern_t rows[] = {
        { "^.$", "x", "\n" },           { "^.$", "é", "\015" },
        { "^.$", "😀", "\342\200\250" }, { "^.$", "\302\205", "\342\200\251" },
        { "^..$", "😀é", "😀" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

/* ASCII for digits and words, Unicode for white space. */
HELP_TEST(sets, "sets")
{
    static const test_pattern_t rows[] = {
        { "^\\d$", "7", "٣" },
        { "^\\D$", "٣", "7" },
        { "^\\w$", "_", "é" },
        { "^\\W$", "é", "a" },
        { "^\\s$", " ", "a" },
        { "^\\s$", "\357\273\277", "\342\200\213" },
        { "^\\s$", "\302\240", "\302\205" },
        { "^\\s$", "\342\200\203", NULL },
        { "^\\s$", "\343\200\200", NULL },
        { "^\\S$", "\302\205", "\302\240" },
        { "^[\\s]$", "\342\200\251", "x" },
        { "^[\\S]$", "x", "\342\200\251" },
        { "^[^\\s]$", "x", "\341\232\200" },
        { "^[^\\S]$", "\341\232\200", "x" },
        { "^[\\d\\s]$", "\t", "a" },
        { "^[\\W]$", "é", "a" },
        { "\\bfoo\\b", "a foo b", "afoo" },
        { "\\bé", "aé", "é" },
        { "\\Bo", "foo", "o" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

HELP_TEST(escapes, "escapes")
{
    static const test_pattern_t rows[] = {
        { "^\\cA$", "\001", "A" },
        { "^\\cz$", "\032", NULL },
        { "^\\t\\n\\v\\f\\r$", "\t\n\013\014\015", NULL },
        { "^\\x41\\u0042\\u{43}\\u{1F600}$", "ABC😀", NULL },
        { "^\\ud83d\\ude00$", "😀", NULL },
        { "^\\/\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|$",
          "/^$\\.*+?()[]{}|", NULL },
        { "^\\u{000000041}$", "A", NULL },
        { "^#a b~'\"%&,;:<>=@!`-$", "#a b~'\"%&,;:<>=@!`-", NULL },
        { "^é+$", "éé", "e" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

HELP_TEST(classes, "classes")
{
    static const test_pattern_t rows[] = {
        { "^[a-c]$", "b", "d" },
        { "^[^a-c]$", "d", "b" },
        { "^[^]$", "\n", "" },
        { "^[^a]$", "\n", "a" },
        { "a[]|b", "b", "a" },
        { "^[-a]$", "-", "b" },
        { "^[a-]$", "-", "b" },
        { "^[\\w-]$", "-", "+" },
        { "^[a\\-z]$", "-", "m" },
        { "^[[]$", "[", ":" },
        { "^[[:alpha:]x\\]$", ":x]", "bx]" },
        { "^[\\]]$", "]", "\\" },
        { "^[\\b]$", "\010", "b" },
        { "^[a^]$", "^", "b" },
        { "^[.*+?(){}|$]$", "|", "a" },
        { "^[\\u{1F600}-\\u{1F64F}]$", "😃", "a" },
        { "^[α-ω]$", "β", "b" },
        { "^[\\cA-\\cC]$", "\002", "B" },
        { "^[a&&b]$", "&", "c" },
        { "^[\\x20-\\x7e]+$", "a b~", "é" },
        { "^[\\p{L}\\d]$", "é", "-" },
        { "^[^\\p{Lu}]$", "a", "A" },
        { "^[\\-a]$", "-", "b" },
        { "^[/]$", "/", NULL },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

HELP_TEST(properties, "properties")
{
    static const test_pattern_t rows[] = {
        { "^\\p{Letter}$", "é", "1" },
        { "^\\p{L}$", "é", "1" },
        { "^\\P{L}$", "1", "é" },
        { "^\\p{Lu}$", "É", "é" },
        { "^\\p{Uppercase_Letter}$", "A", "a" },
        { "^\\p{gc=Nd}$", "٣", "a" },
        { "^\\p{General_Category=Decimal_Number}$", "٣", "a" },
        { "^\\p{Script=Greek}$", "α", "a" },
        { "^\\p{sc=Grek}$", "α", "a" },
        { "^\\p{Script_Extensions=Greek}$", "α", "a" },
        { "^\\p{scx=Cyrillic}$", "ж", "a" },
        { "^\\p{Any}$", "\n", NULL },
        { "^\\p{ASCII}$", "a", "é" },
        { "^\\p{Alphabetic}$", "é", "1" },
        { "^\\p{White_Space}$", "\302\205", "a" },
        { "^\\P{Assigned}$", "\315\270", "a" },
        { "^\\p{LC}$", "a", "ª" },
        { "^\\p{Punctuation}$", "!", "a" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

/* A group that took no part matches nothing, as a backreference. */
HELP_TEST(groups, "groups")
{
    static const test_pattern_t rows[] = {
        { "^(a)(b)\\2\\1$", "abba", "abab" },
        { "^(?<x>a)(?<y_1>b)\\k<y_1>\\k<x>$", "abba", "abab" },
        { "^\\k<x>(?<x>a)$", "a", NULL },
        { "^(?:a|b)+$", "abab", "abc" },
        { "^a(?=b)", "ab", "ac" },
        { "^a(?!b)", "ac", "ab" },
        { "(?<=a)b", "ab", "cb" },
        { "(?<!a)b", "cb", "ab" },
        { "^(?:(a)|b)\\1$", "b", "ba" },
        { "^(a)|\\1b$", "b", NULL },
        { "^((((((((((x))))))))))\\10$", "xx", "x0" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

HELP_TEST(quantifiers, "quantifiers")
{
    static const test_pattern_t rows[] = {
        { "^a*$", "", "b" },
        { "^a+?$", "aa", "" },
        { "^a??$", "", "aa" },
        { "^a{2}$", "aa", "a" },
        { "^a{2,}$", "aaa", "a" },
        { "^a{2,3}?$", "aaa", "aaaa" },
        { "^(?:ab){2}$", "abab", "ab" },
        { "^a{0}$", "", "a" },
        { "^[ab]{3}$", "aba", "ab" },
        { "^\\d{4}$", "1234", "123" },
        { "^é{2}$", "éé", "é" },
        { "^\\u{1F600}{2}$", "😀😀", "😀" },
    };

    test_patterns(rows, sizeof(rows) / sizeof(rows[0]));
}

/* NULL: the text of the row before. */
HELP_TEST(refused, "refused")
{
    static const struct {
        const char *pattern;
        const char *why;
    } rows[] = {
        { "a**",
          "nothing to repeat before *, +, ? or {; write a \\ before it fo"
          "r itself" },
        { "a++", NULL },
        { "*a", NULL },
        { "^*", NULL },
        { "(?=a)*", NULL },
        { "\\b+", NULL },
        { "a{2}{3}", NULL },
        { "|*", NULL },
        { "(*a)", NULL },
        { "a{", "{ starts a count such as {2,5}; write \\{ for itself" },
        { "a{x}", NULL },
        { "a{,3}", NULL },
        { "a{2", "a count is not closed with }" },
        { "a{3,2}", "a count is out of order" },
        { "a{65536}", "a count is above 65535" },
        { "a}", "] and } for themselves are written \\] and \\}" },
        { "a]", NULL },
        { "(a", "a group is not closed with )" },
        { "a)", ") without (; write \\) for itself" },
        { "[a", "a class is not closed with ]" },
        { "[\\", NULL },
        { "[b-a]", "a range in a class is out of order" },
        { "[a-\\d]", "a range cannot end with a set; write \\- for a dash" },
        { "[\\d-a]", "a range cannot start with a set; write \\- for a dash" },
        { "\\", "\\ at the end; write \\\\" },
        { "\\a", "unknown escape; write the character without \\" },
        { "\\-", NULL },
        { "\\_", NULL },
        { "\\A", NULL },
        { "\\z", NULL },
        { "\\Q", NULL },
        { "\\R", NULL },
        { "\\h", NULL },
        { "\\K", NULL },
        { "\\G", NULL },
        { "\\X", NULL },
        { "\\e", NULL },
        { "\\é", NULL },
        { "[\\B]",
          "unknown escape in a class; write the character without \\" },
        { "[\\1]", NULL },
        { "\\c1", "\\c needs a letter" },
        { "\\c", NULL },
        { "\\x4", "\\x needs two hex digits" },
        { "\\u12", "\\u needs four hex digits or {…}" },
        { "\\u{}", "\\u{…} needs a code point in hex" },
        { "\\u{110000}", NULL },
        { "\\u{12", NULL },
        { "\\ud800",
          "half of a surrogate pair is no character; write both halves" },
        { "\\ude00\\ud83d", NULL },
        { "\\u{d800}", NULL },
        { "\\01", "octal escapes are not allowed; write \\xHH" },
        { "\\1", "a backreference to a group that does not exist" },
        { "(a)\\2", NULL },
        { "\\k", "\\k needs the name of a group: \\k<name>" },
        { "\\k<x>", "\\k names a group that does not exist" },
        { "(?<x>a)(?<x>b)", "two groups have one name" },
        { "(?<1>a)",
          "a group's name starts with a letter and has letters, digits, _"
          " and $" },
        { "(?<>a)", NULL },
        { "(?<x", NULL },
        { "(?P<x>a)",
          "unknown kind of group; known are (…), (?:…), (?<name>…), (?=…)"
          ", (?!…), (?<=…) and (?<!…)" },
        { "(?i)a", NULL },
        { "(?>a)", NULL },
        { "(?#a)", NULL },
        { "(?|a)", NULL },
        { "(?1)", NULL },
        { "(?R)", NULL },
        { "(?'x'a)", NULL },
        { "(?", NULL },
        { "\\p", "\\p needs a property: \\p{Letter}" },
        { "\\pL", NULL },
        { "\\p{}", NULL },
        { "\\p{L", NULL },
        { "\\p{^L}", "a property's name has only letters, digits and _" },
        { "\\p{L&}", NULL },
        { "\\p{foo=bar}",
          "unknown property; known with = are General_Category, Script an"
          "d Script_Extensions" },
    };
    const char *why, *expected;
    unsigned weight;
    tg_buf_t out;
    char *copy;
    size_t i;

    expected = "";

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        expected = rows[i].why != NULL ? rows[i].why : expected;
        why = "nothing";
        tg_buf_init(&out, tg_alloc_libc());
        copy = help_copy(tg_str_c(rows[i].pattern));

        if (tg_pattern_translate(tg_str(copy, strlen(rows[i].pattern)), &out,
                                 &weight, &why)
                != TG_BAD
            || strcmp(why, expected) != 0)
        {
            test_report(rows[i].pattern, "any text", expected, tg_str_c(why));
        }

        free(copy);
        tg_buf_deinit(&out);
    }
}

/* Each start of a pattern, cut anywhere, is read without going beyond it. */
HELP_TEST(cut, "cut off")
{
    static const char text[] =
        "^(?<n>[\\d\\u{1F600}-\\p{L}\\ud83d\\ude00]{2,3}?"
        "|(?<=\\k<n>)\\cA\\x41)$\\p{Script=Greek}";
    const char *why;
    unsigned weight;
    tg_buf_t out;
    char *copy;
    size_t i;

    for (i = 0; i < sizeof(text); i++) {
        tg_buf_init(&out, tg_alloc_libc());
        copy = help_copy(tg_str(text, i));
        (void) tg_pattern_translate(tg_str(copy, i), &out, &weight, &why);
        free(copy);
        tg_buf_deinit(&out);
    }
}

/* The characters between two callouts. */
HELP_TEST(weights, "weights")
{
    static const struct {
        const char *pattern;
        unsigned weight;
    } rows[] = {
        { "", 1 },
        { "abcdef", 6 },
        { "ab*cde|fg", 4 },
        { "a{500,}", 502 },
        { "(?:a{70}b)+", 72 },
        { "[a-z]\\d.", 3 },
        { "(a)\\1", TG_PATTERN_HEAVY },
        { "(?<n>a)\\k<n>", TG_PATTERN_HEAVY },
    };
    unsigned weight;
    const char *why;
    tg_buf_t out;
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        tg_buf_init(&out, tg_alloc_libc());
        weight = 0;
        CU_ASSERT_EQUAL(tg_pattern_translate(tg_str_c(rows[i].pattern), &out,
                                             &weight, &why),
                        TG_OK);

        if (weight != rows[i].weight) {
            printf("\n    %s: %u", rows[i].pattern, weight);
            CU_FAIL("another weight");
        }

        tg_buf_deinit(&out);
    }
}

HELP_TEST(nesting, "nesting")
{
    const char *why;
    unsigned weight;
    tg_buf_t text, out;
    size_t i, n;

    for (n = 200; n <= 201; n++) {
        tg_buf_init(&text, tg_alloc_libc());
        tg_buf_init(&out, tg_alloc_libc());

        for (i = 0; i < n; i++) {
            tg_buf_text(&text, "(?:");
        }

        for (i = 0; i < n; i++) {
            tg_buf_char(&text, ')');
        }

        CU_ASSERT_EQUAL(tg_pattern_translate(tg_buf_view(&text), &out, &weight,
                                             &why),
                        n == 200 ? TG_OK : TG_BAD);
        tg_buf_deinit(&text);
        tg_buf_deinit(&out);
    }
}
