/* URIs: the examples of RFC 3986, section 5.4, and invalid URIs. */
#include "protocol_help.h"

#include "schema/tg_uri.h"

static void
test_resolve(const char *base_text, const char *text, const char *expected)
{
    tg_uri_t base, reference;
    HELP_BUFFER(out);

    CU_ASSERT_EQUAL(tg_uri_parse(tg_str_from_cstr(base_text), &base), TG_OK);
    CU_ASSERT_EQUAL(tg_uri_parse(tg_str_from_cstr(text), &reference), TG_OK);
    tg_uri_resolve(&base, &reference, &out);
    HELP_EQ(tg_buf_view(&out), expected);
}

HELP_TEST(examples, "examples of the RFC, without fragments")
{
    static const char *const rows[][2] = {
        { "g:h", "g:h" },
        { "g", "http://a/b/c/g" },
        { "./g", "http://a/b/c/g" },
        { "g/", "http://a/b/c/g/" },
        { "/g", "http://a/g" },
        { "//g", "http://g" },
        { "?y", "http://a/b/c/d;p?y" },
        { "g?y", "http://a/b/c/g?y" },
        { "#s", "http://a/b/c/d;p?q" },
        { "g#s", "http://a/b/c/g" },
        { ";x", "http://a/b/c/;x" },
        { "g;x?y#s", "http://a/b/c/g;x?y" },
        { "", "http://a/b/c/d;p?q" },
        { ".", "http://a/b/c/" },
        { "./", "http://a/b/c/" },
        { "..", "http://a/b/" },
        { "../g", "http://a/b/g" },
        { "../..", "http://a/" },
        { "../../g", "http://a/g" },
        { "../../../g", "http://a/g" },
        { "/./g", "http://a/g" },
        { "/../g", "http://a/g" },
        { "g.", "http://a/b/c/g." },
        { "..g", "http://a/b/c/..g" },
        { "./../g", "http://a/b/g" },
        { "./g/.", "http://a/b/c/g/" },
        { "g/./h", "http://a/b/c/g/h" },
        { "g/../h", "http://a/b/c/h" },
        { "g;x=1/../y", "http://a/b/c/y" },
        { "g?y/../x", "http://a/b/c/g?y/../x" },
        { "HTTP://A/%7Eb", "http://a/%7Eb" },
    };

    HELP_EACH(row, rows) {
        test_resolve("http://a/b/c/d;p?q", (*row)[0], (*row)[1]);
    }

    test_resolve("http://a", "g", "http://a/g");
    test_resolve("urn:x:y", "#f", "urn:x:y");
    test_resolve("schema:///", "a/b.json", "schema:///a/b.json");
    test_resolve("file:///etc/x/y.json", "../z.json", "file:///etc/z.json");
    test_resolve("", "g", "g");

    /* A path does not become an authority. */
    test_resolve("d:/e", "p:/..//X/y", "p:/.//X/y");
    test_resolve("d:/e", "..//x", "d:/.//x");
    test_resolve("", "/..//x", "/.//x");
    test_resolve("d://h/e", "..//x", "d://h//x");
}

HELP_TEST(parts, "parts")
{
    tg_uri_t uri;

    CU_ASSERT_EQUAL(tg_uri_parse(TG_STR("s://u@h:1/p/q?a?b#c/d?"), &uri),
                    TG_OK);
    HELP_EQ(uri.scheme, "s");
    HELP_EQ(uri.authority, "u@h:1");
    HELP_EQ(uri.path, "/p/q");
    HELP_EQ(uri.query, "a?b");
    HELP_EQ(uri.fragment, "c/d?");

    CU_ASSERT_EQUAL(tg_uri_parse(TG_STR("a/b:c"), &uri), TG_OK);
    CU_ASSERT_PTR_NULL(uri.scheme.data);
    CU_ASSERT_PTR_NULL(uri.authority.data);
    CU_ASSERT_PTR_NULL(uri.query.data);
    CU_ASSERT_PTR_NULL(uri.fragment.data);

    CU_ASSERT_EQUAL(tg_uri_parse(TG_STR("?#"), &uri), TG_OK);
    CU_ASSERT_PTR_NOT_NULL(uri.query.data);
    CU_ASSERT_PTR_NOT_NULL(uri.fragment.data);
}

HELP_TEST(invalid, "invalid URIs")
{
    static const char *const rows[] = {
        " ",      "a b",      "%",    "%1",       "a%zz", "<",
        "\\",     "é",        "1:x",  ":x",       "#a#b", "http://[",
        "//a:b",  "//[::1]x", "//a]", "//a[b]",   "[a",   "{x}",
        "a\001b", "//a b",    "^",    "//u@v@w[/"
    };
    tg_uri_t uri;
    char *copy;

    HELP_EACH(row, rows) {
        copy = help_copy(tg_str_from_cstr(*row));
        CU_ASSERT_EQUAL(tg_uri_parse(tg_str(copy, strlen(*row)), &uri),
                        TG_INVALID);
        free(copy);
    }

    CU_ASSERT_EQUAL(tg_uri_parse(tg_str("a\0b", 3), &uri), TG_INVALID);
}

HELP_TEST(decoded, "decoding")
{
    HELP_BUFFER(out);

    CU_ASSERT_EQUAL(tg_uri_append_decoded(&out, TG_STR("")), TG_OK);
    CU_ASSERT_EQUAL(tg_uri_append_decoded(&out, TG_STR("%24a%C3%a9%2525")),
                    TG_OK);
    HELP_EQ(tg_buf_view(&out), "$aé%25");
    CU_ASSERT_EQUAL(tg_uri_append_decoded(&out, TG_STR("%FF")), TG_INVALID);
}
