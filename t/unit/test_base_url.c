/* URLs: parsing, inserted values, and lists of hosts. */
#include "protocol_help.h"

#include "base/tg_url.h"

static const char *why;

/* Returns "is_tls host port path rest", or the error. */
static const char *
parts(const char *text)
{
    static char made[256];
    tg_url_t url;
    tg_buf_t buf;

    if (tg_url_parse(tg_str_from_cstr(text), &url, &why) != TG_OK) {
        return "bad";
    }

    buf = tg_buf_make_fixed(made, sizeof(made) - 1);
    tg_buf_printf(&buf, "%d %.*s %d %.*s %.*s", url.is_tls, (int) url.host.len,
                  url.host.data, url.port, (int) url.path.len, url.path.data,
                  (int) url.target.len, url.target.data);
    made[buf.len] = '\0';

    return made;
}

HELP_TEST(parts, "parts of a URL")
{
    static const struct {
        const char *text, *parts;
    } rows[] = {
        { "http://a", "0 a 80  " },
        { "https://a/", "1 a 443 / /" },
        { "HTTPS://Api.Example.com:8443/x/y?z=1",
          "1 Api.Example.com 8443 /x/y /x/y?z=1" },
        { "http://a?q=/x", "0 a 80  ?q=/x" },
        { "http://[::1]:8080/x", "0 [::1] 8080 /x /x" },
        { "http://[::ffff:127.0.0.1]", "0 [::ffff:127.0.0.1] 80  " },
        { "http://a_b.c-d./%2F", "0 a_b.c-d. 80 /%2F /%2F" },
        { "http://a:1/:2@3", "0 a 1 /:2@3 /:2@3" },
        { "", "bad" },
        { "ftp://a/", "bad" },
        { "http:/a/", "bad" },
        { "//a/", "bad" },
        { "http://", "bad" },
        { "http:///x", "bad" },
        { "http://user:pw@a/", "bad" },
        { "http://user@a/", "bad" },
        { "http://a\\@b/", "bad" },
        { "http://a#@b/", "bad" },
        { "http://a/#x", "bad" },
        { "http://a b/", "bad" },
        { "http://a/b c", "bad" },
        { "http://a/\r\nX: y", "bad" },
        { "http://a/\xc3\xa9", "bad" },
        { "http://\xc3\xa9/", "bad" },
        { "http://a:/", "bad" },
        { "http://a:0/", "bad" },
        { "http://a:65536/", "bad" },
        { "http://a:99999999999999999999/", "bad" },
        { "http://a:1x/", "bad" },
        { "http://a:1:2/", "bad" },
        { "http://::1/", "bad" },
        { "http://[::1/", "bad" },
        { "http://[fe80::1%25eth0]/", "bad" },
        { "http://[]/", "bad" },
        { "http://[::1]x/", "bad" },
        { "http://.a/", "bad" },
        { "http://a%2eb/", "bad" },
    };

    HELP_EACH(row, rows) {
        CU_ASSERT_STRING_EQUAL(parts(row->text), row->parts);
    }

    (void) parts("http://u:p@a/");
    CU_ASSERT(strstr(why, "header") != NULL);
}

HELP_TEST(tidy, "URLs in other notations")
{
    static const struct {
        const char *text, *tidy;
    } rows[] = {
        { "http://a", "http://a" },
        { "http://a/b?c=%2F#d", "http://a/b?c=%2F" },
        { "HTTPS://a#b/c", "HTTPS://a" },
        { "http://a/b c|[d]?e=\xc3\xa9\"^\\",
          "http://a/b%20c%7C%5Bd%5D?e=%C3%A9%22%5E%5C" },
        { "http://a b/", "http://a b/" },
        { "http://a\\@b/", "http://a\\@b/" },
        { "http://u@a/", "http://u@a/" },
        { "ftp://a/ b", "ftp://a/%20b" },
        { "", "" },
    };
    char made[256];
    tg_buf_t buf;

    HELP_EACH(row, rows) {
        buf = tg_buf_make_fixed(made, sizeof(made) - 1);
        tg_url_append_normalized(&buf, tg_str_from_cstr(row->text));
        made[buf.len] = '\0';
        CU_ASSERT_STRING_EQUAL(made, row->tidy);
    }
}

HELP_TEST(encoded, "inserted values")
{
    char text[1000];
    HELP_BUFFER(buf);
    size_t i;

    tg_url_append_encoded(&buf, tg_str("a-Z0._~/?&=#%+ \r\n\0\xc3\xa9@:", 22));
    HELP_EQ(tg_buf_view(&buf),
            "a-Z0._~%2F%3F%26%3D%23%25%2B%20%0D%0A%00%C3%A9%40%3A");

    /* A text of any length. */
    tg_buf_truncate(&buf, 0);

    for (i = 0; i < 1000; i++) {
        text[i] = "a/"[i % 2];
    }

    tg_url_append_encoded(&buf, tg_str(text, 1000));
    CU_ASSERT_FATAL(buf.len == 2000);

    for (i = 0; i < 2000; i += 4) {
        CU_ASSERT(memcmp(buf.data + i, "a%2F", 4) == 0);
    }
}

HELP_TEST(dots, "segments of dots")
{
    static const char *const dots[] = { "/.",     "/..",      "/a/../b",
                                        "/a/./b", "/%2e%2E",  "/a/.%2e",
                                        "..",     "/a/%2e/b", "/../" };
    static const char *const none[] = { "",     "/",          "/a.b",
                                        "/...", "/a..",       "/..a/b",
                                        "/.a",  "/%2e%2e%2e", "/%2" };
    size_t i;

    for (i = 0; i < HELP_COUNT(dots); i++) {
        CU_ASSERT(tg_url_has_dot_segments(tg_str_from_cstr(dots[i])));
        CU_ASSERT(!tg_url_has_dot_segments(tg_str_from_cstr(none[i])));
    }
}

HELP_TEST(origins, "origins")
{
    tg_url_t a, b;
    HELP_BUFFER(buf);

    CU_ASSERT_FATAL(tg_url_parse(TG_STR("https://A.b:443/x"), &a, &why)
                    == TG_OK);
    CU_ASSERT_FATAL(tg_url_parse(TG_STR("https://a.B/y"), &b, &why) == TG_OK);
    CU_ASSERT(tg_url_is_same_origin(&a, &b));
    CU_ASSERT_FATAL(tg_url_parse(TG_STR("http://a.b:443/"), &b, &why) == TG_OK);
    CU_ASSERT(!tg_url_is_same_origin(&a, &b));
    tg_url_append_origin(&buf, &a);
    tg_buf_append_char(&buf, ' ');
    tg_url_append_origin(&buf, &b);
    HELP_EQ(tg_buf_view(&buf), "https://A.b http://a.b:443");
    CU_ASSERT_FATAL(tg_url_parse(TG_STR("https://a.b:444/"), &b, &why)
                    == TG_OK);
    CU_ASSERT(!tg_url_is_same_origin(&a, &b));
    CU_ASSERT_FATAL(tg_url_parse(TG_STR("https://a.c/"), &b, &why) == TG_OK);
    CU_ASSERT(!tg_url_is_same_origin(&a, &b));
}

HELP_TEST(hosts, "lists of hosts")
{
    static const struct {
        const char *pattern, *url;
        tg_url_match_t match;
    } rows[] = {
        { "a.b", "https://a.b/x", TG_URL_MATCH_EXACT },
        { "a.b", "http://A.B./x", TG_URL_MATCH_EXACT },
        { "a.b.", "http://a.b", TG_URL_MATCH_EXACT },
        { "a.b", "http://a.b:8080", TG_URL_MATCH_NONE },
        { "a.b:8080", "http://a.b:8080", TG_URL_MATCH_EXACT },
        { "a.b:8080", "http://a.b", TG_URL_MATCH_NONE },
        { "a.b:443", "https://a.b", TG_URL_MATCH_EXACT },
        { "a.b:*", "http://a.b:1", TG_URL_MATCH_EXACT },
        { "a.b", "http://x.a.b", TG_URL_MATCH_NONE },
        { "*.a.b", "http://x.a.b", TG_URL_MATCH_WILDCARD },
        { "*.a.b", "http://y.x.A.b.", TG_URL_MATCH_WILDCARD },
        { "*.a.b", "http://a.b", TG_URL_MATCH_NONE },
        { "*.a.b", "http://xa.b", TG_URL_MATCH_NONE },
        { "*.a.b", "http://x.a.b:81", TG_URL_MATCH_NONE },
        { "*", "http://x", TG_URL_MATCH_WILDCARD },
        { "*", "https://127.0.0.1", TG_URL_MATCH_WILDCARD },
        { "*", "http://x:81", TG_URL_MATCH_NONE },
        { "*:*", "http://x:81", TG_URL_MATCH_WILDCARD },
        { "[::1]:80", "http://[::1]", TG_URL_MATCH_EXACT },
        { "[::1]", "http://[::1]", TG_URL_MATCH_EXACT },
        { "[::1]", "http://[::2]", TG_URL_MATCH_NONE },
        { "", "http://a", TG_URL_MATCH_NONE },
    };
    static const char *const right[] = { "a",     "*",     "*.a.b:*",  "[::1]",
                                         "*:443", "a.b:1", "127.0.0.1" };
    static const char *const wrong[] = { "",    "*.",    "a*",  "a:0",
                                         "a/b", "a:x",   "a:",  "http://a",
                                         "*a",  "*.*.a", "a b", "::1" };
    tg_url_t url;

    HELP_EACH(row, rows) {
        CU_ASSERT_FATAL(tg_url_parse(tg_str_from_cstr(row->url), &url, &why)
                        == TG_OK);
        CU_ASSERT_EQUAL(tg_url_match_host(&url, tg_str_from_cstr(row->pattern)),
                        row->match);
    }

    HELP_EACH(row, right) {
        CU_ASSERT(tg_url_check_pattern(tg_str_from_cstr(*row)) == NULL);
    }

    HELP_EACH(row, wrong) {
        CU_ASSERT(tg_url_check_pattern(tg_str_from_cstr(*row)) != NULL);
    }
}
