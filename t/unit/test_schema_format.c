/*
 * Formats, asserted by option; without it they are remarks, and they never
 * say anything about values that are no strings.
 */
#include "schema_help.h"

static void
test_format(const char *format, const char *const *texts, size_t n, int fits)
{
    tg_schema_checker_t *checker;
    tg_schema_options_t options;
    tg_schema_t *schema;
    tg_buf_t text;
    size_t i;

    options = test_options();
    options.is_format_asserted = 1;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_text(&text, "{\"format\":\"");
    tg_buf_text(&text, format);
    tg_buf_text(&text, "\"}");
    schema = tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text), &options,
                               &text);
    checker = tg_schema_checker_new(tg_alloc_libc(), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(schema);
    CU_ASSERT_EQUAL(tg_schema_check(schema, checker, TG_STR("5"), NULL), TG_OK);

    for (i = 0; i < n; i++) {
        tg_buf_truncate(&text, 0);
        tg_json_put_string(&text, tg_str_c(texts[i]));

        if (tg_schema_check(schema, checker, tg_buf_view(&text), NULL)
            != (fits ? TG_OK : TG_BAD))
        {
            test_report(format, texts[i], fits ? "that it fits" : "an error",
                        TG_STR("the opposite"));
        }
    }

    tg_schema_checker_free(checker);
    tg_schema_free(schema);
    tg_buf_deinit(&text);
}

#define TEST_FORMAT(format, good, bad)                                         \
    do {                                                                       \
        test_format(format, good, sizeof(good) / sizeof((good)[0]), 1);        \
        test_format(format, bad, sizeof(bad) / sizeof((bad)[0]), 0);           \
    } while (0)


HELP_TEST(date_time, "date-time")
{
    static const char *const good[] = {
        "1963-06-19T08:30:06.283185Z",   "1990-12-31T23:59:60Z",
        "1990-12-31T15:59:60.123-08:00", "1937-01-01T12:00:27.87+00:20",
        "1963-06-19t08:30:06z",          "1998-12-31T23:59:60+00:00",
        "1990-12-31T00:00:60+00:01",
    };
    static const char *const bad[] = {
        "1998-12-31T23:58:60Z",
        "1990-02-31T15:59:59Z",
        "1990-12-31T15:59:59-24:00",
        "1963-06-19T08:30:06.28123+01:00Z",
        "06/19/1963 08:30:06 PST",
        "2013-350T01:01:01",
        "1963-06-19 08:30:06Z",
        "1963-06-19T08:30:06",
        "1963-06-1৪T00:00:00Z",
        "1963-06-19T08:30:06.Z",
        "",
    };

    TEST_FORMAT("date-time", good, bad);
}

HELP_TEST(date, "date")
{
    static const char *const good[] = {
        "1963-06-19",
        "2020-02-29",
        "2000-02-29",
        "0000-01-01",
    };
    static const char *const bad[] = {
        "2021-02-29", "1900-02-29", "2020-13-01", "2020-00-10", "2020-01-00",
        "2020-04-31", "63-06-19",   "1963-6-19",  "06/19/1963", "1963-06-19Z",
        "20200229",   "+2020-01-1", "",
    };

    TEST_FORMAT("date", good, bad);
}

HELP_TEST(time, "time")
{
    static const char *const good[] = {
        "08:30:06Z",        "23:59:60Z",      "23:59:60+00:00",
        "01:29:60+01:30",   "15:59:60-08:00", "00:29:60+00:30",
        "08:30:06.283185Z", "08:30:06z",      "08:30:06+00:20",
    };
    static const char *const bad[] = {
        "08:30:06 PST",   "24:00:00Z",
        "00:60:00Z",      "00:00:61Z",
        "22:59:60Z",      "23:59:60+01:00",
        "01:02:03+24:00", "01:02:03+00:60",
        "12:00:00",       "08:30:06-8:000",
        "12:00:00.Z",     "1২:00:00Z",
        "010203Z",        "",
    };

    TEST_FORMAT("time", good, bad);
}

HELP_TEST(duration, "duration")
{
    static const char *const good[] = {
        "P4DT12H30M5S", "P4Y",     "PT0S", "P0D",     "P1M",      "PT1M",
        "PT36H",        "P1DT12H", "P2W",  "P1Y2M3D", "PT1H2M3S", "P1Y2M",
    };
    static const char *const bad[] = {
        "PT1D",     "P",     "P1YT",  "PT",  "P2D1Y", "P1D2H",
        "P2S",      "P1Y2W", "1D",    "P1",  "P1H",   "P2৪Y",
        "P1YT2H3S", "P1Y3D", "P2W1D", "p1d", "",
    };

    TEST_FORMAT("duration", good, bad);
}

HELP_TEST(email, "email")
{
    static const char *const good[] = {
        "joe.bloggs@example.com",
        "te~st@example.com",
        "~test@a.b",
        "\"joe bloggs\"@example.com",
        "\"joe..bloggs\"@example.com",
        "\"joe@bloggs\"@example.com",
        "joe@[127.0.0.1]",
        "joe@[IPv6:::1]",
        "te.s.t@example.com",
        "\"a\\\"b\"@x.de",
    };
    static const char *const bad[] = {
        "2962",
        "@x.de",
        "a@",
        ".test@x.de",
        "test.@x.de",
        "te..st@x.de",
        "a b@x.de",
        "joe@invalid=domain.com",
        "joe@[127.0.0.300]",
        "a@b@c",
        "\"a@x.de",
        "\"a\"b\"@x.de",
        "",
    };

    TEST_FORMAT("email", good, bad);
}

HELP_TEST(hostname, "hostname")
{
    static const char *const good[] = {
        "www.example.com",
        "xn--4gbwdl.xn--wgbh1c",
        "a",
        "a-b.c-d",
        "1host",
        "123.45",
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "a.de"),
    };
    static const char *const bad[] = {
        "-a.de",
        "a-.de",
        "a_b.de",
        "a..b",
        ".a",
        "a.",
        "a b",
        "é.de",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.a"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.aaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "",
    };

    TEST_FORMAT("hostname", good, bad);
}

HELP_TEST(ipv4, "ipv4")
{
    static const char *const good[] = {
        "192.168.0.1",
        "0.0.0.0",
        "255.255.255.255",
    };
    static const char *const bad[] = {
        "127.0.0",    "1.2.3.4.5",  "256.1.1.1",  "01.2.3.4", "1.2.3.08",
        "0x7f.1.1.1", "2130706433", "1.2.3.4/24", "1.2..4",   "1.2.3.",
        "1২7.0.0.1",  " 1.2.3.4",   "",
    };

    TEST_FORMAT("ipv4", good, bad);
}

HELP_TEST(ipv6, "ipv6")
{
    static const char *const good[] = {
        "::1",
        "::",
        "::abef",
        "d6::",
        "::42:ff:1",
        "1:2:3:4:5:6:7:8",
        "::ffff:192.168.0.1",
        "1::d6:192.168.0.1",
        "1:2::192.168.0.1",
        "1:2:3:4:5:6:1.2.3.4",
        "fe80:0:0:0:204:61ff:fe9d:f156",
        "1:2:3:4:5:6:7::",
        "::2:3:4:5:6:7:8",
    };
    static const char *const bad[] = {
        "12345::",
        "1:1:1:1:1:1:1:1:1",
        "::laptop",
        ":2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7:",
        "1::2::3",
        "1::2:256.1.1.1",
        "::ffff:1.2.3",
        "1:2:3:4:5:6:7",
        "1",
        "fe80::a%eth1",
        "::1/64",
        ":::",
        "1:2:3:4:5:6:7:8::",
        "1.2.3.4",
        "1:2:3:4:1.2.3.4:5",
        "::1 ",
        "::0:1:2:3:4:5:6:7",
        "",
    };

    TEST_FORMAT("ipv6", good, bad);
}

HELP_TEST(uri, "uri")
{
    static const char *const good[] = {
        "http://foo.bar/?baz=qux#quux",
        "http://foo.com/blah_(wikipedia)_blah#cite-1",
        "http://foo.bar/?q=Test%20URL",
        "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
        "http://223.255.255.254",
        "ftp://ftp.is.co.za/rfc",
        "ldap://[2001:db8::7]/c=GB?a?b",
        "mailto:a@b.c",
        "news:comp.x",
        "tel:+1-816",
        "urn:oasis:names",
        "a:",
        "http://[v1.x:y]/",
    };
    static const char *const bad[] = {
        "//foo.bar/?a",
        "/abs",
        "\\\\WINDOWS\\share",
        "abc",
        "http:// shouldfail.com",
        ":// should fail",
        "bar,baz:foo",
        "http://foo.bar?q=Spaces are bad",
        "https://[@example.org/test.txt",
        "https://example.org/foobar\\.txt",
        "https://example.org/foobar<>.txt",
        "https://example.org/{x}",
        "https://example.org/^",
        "https://a.de/`x`",
        "https://a.de/ x",
        "https://a.de/|",
        "http://a.de/%2",
        "http://é.de",
        "http://a:b.de/",
        "http://[::1]x/",
        "http://[1:2]/",
        "1http://a",
    };

    TEST_FORMAT("uri", good, bad);
}

HELP_TEST(uri_reference, "uri-reference")
{
    static const char *const good[] = {
        "",    "#f", "/abs/path", "//foo.bar/?a",
        "abc", "?q", "a/b:c",     "http://a.de",
    };
    static const char *const bad[] = {
        "\\\\WINDOWS\\share", "#frag\\ment", "a b", "%", "1:2", ":x", "é",
    };

    TEST_FORMAT("uri-reference", good, bad);
}

HELP_TEST(uuid, "uuid")
{
    static const char *const good[] = {
        "2EB8AA08-AA98-11EA-B4AA-73B441D16380",
        "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "00000000-0000-0000-0000-000000000000",
    };
    static const char *const bad[] = {
        "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        "2eb8aa08-aa98-11ea-73b441d16380",
        "2eb8aa08aa9811eab4aa73b441d16380",
        "2eb8aa08aa98-11ea-b4aa73b441d16380",
        "{2eb8aa08-aa98-11ea-b4aa-73b441d1638",
        "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380",
        "ggb8aa08-aa98-11ea-b4aa-73b441d16380",
        "",
    };

    TEST_FORMAT("uuid", good, bad);
}

HELP_TEST(json_pointer, "json-pointer")
{
    static const char *const good[] = {
        "", "/", "/foo/0", "/a~1b/m~0n", "/c%d", "/ ", "//", "/é",
    };
    static const char *const bad[] = {
        "a", "#/", "/foo~", "/~2", "/~ 1", "0", "/~",
    };

    TEST_FORMAT("json-pointer", good, bad);
}

HELP_TEST(regex_syntax, "regex")
{
    static const char *const good[] = {
        "([abc])+\\s+$", "", "^a{2,3}?(?<n>x)\\k<n>$", "[^]", "(?<=a)b",
    };
    static const char *const bad[] = {
        "^(abc]", "\\Z", "a**", "(?P<n>x)", "{", "\\1", "[b-a]",
    };

    TEST_FORMAT("regex", good, bad);
}

/* Unknown formats are remarks; a text with escapes is checked decoded. */
HELP_TEST(others, "others")
{
    static const test_row_t rows[] = {
        { "{\"format\":\"colour\"}", "\"x\"", NULL },
        { "{\"format\":\"date\"}", "\"2020-02-\\u0032\\u0039\"", NULL },
        { NULL, "\"2020-02-3\\u0030\"",
          "(root): must have the format date, got \"2020-02-3\\u0030\"" },
        { NULL, "null", NULL },
        { "{\"propertyNames\":{\"format\":\"ipv4\"}}", "{\"1.2.3\":0}", "*" },
    };
    tg_schema_options_t options;

    options = test_options();
    options.is_format_asserted = 1;
    test_rows_with(rows, sizeof(rows) / sizeof(rows[0]), &options);
}
