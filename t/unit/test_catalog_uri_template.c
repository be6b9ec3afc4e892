/* Parses URI templates and matches URIs backwards. */
#include "protocol_help.h"

#include "catalog/tg_uri_template.h"

static tg_uri_template_t *
test_parse(const char *text)
{
    tg_uri_template_t *tmpl;
    const char *why;

    why = "no reason";

    if (tg_uri_template_parse(tg_alloc_libc(), tg_str_from_cstr(text), &tmpl,
                              &why)
        != TG_OK)
    {
        CU_FAIL("a valid template");
        printf("\n    %s: %s\n", text, why);
        return NULL;
    }

    return tmpl;
}

/* Matches a URI; arguments NULL: there must be no match. */
static void
test_match(const char *text, const char *uri, const char *arguments)
{
    tg_uri_template_t *tmpl;
    HELP_BUFFER(got);
    char *copy;
    int rc;

    tmpl = test_parse(text);

    if (tmpl == NULL) {
        return;
    }

    copy = help_copy(tg_str_from_cstr(uri));
    tg_buf_append_char(&got, '>');
    rc = tg_uri_template_match(tmpl, tg_str(copy, strlen(uri)), &got);
    CU_ASSERT_EQUAL(rc, arguments != NULL ? TG_OK : TG_MISSING);
    HELP_EQ(tg_str_skip(tg_buf_view(&got), 1),
            arguments != NULL ? arguments : "");

    free(copy);
    tg_uri_template_free(tmpl);
}

HELP_TEST(mistakes, "a message says what to write")
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "", "begin with a scheme" },
        { "{+all}", "begin with a scheme" },
        { "notes", "begin with a scheme" },
        { "no tes:{x}", "percent escapes" },
        { "1n:{x}", "begin with a scheme" },
        { "n_s:{x}", "begin with a scheme" },
        { "/{x}:", "begin with a scheme" },
        { "n:x", "without variables is a resource" },
        { "n:\xc3\xa4/{x}", "percent escapes" },
        { "n:%4/{x}", "hexadecimal" },
        { "n:{x}%", "hexadecimal" },
        { "n:%zz{x}", "hexadecimal" },
        { "n:{x", "write a \"}\"" },
        { "n:x}", "write a \"}\"" },
        { "n:{", "write a \"}\"" },
        { "n:{x{y}}", "write a \"}\"" },
        { "n:{}", "a variable's name" },
        { "n:{+}", "a variable's name" },
        { "n:{?}", "a variable's name" },
        { "n:{?a,}", "a variable's name" },
        { "n:{?,a}", "a variable's name" },
        { "n:{x,y}", "one variable in each pair" },
        { "n:{+x,y}", "one variable in each pair" },
        { "n:{x*}", "without \"*\"" },
        { "n:{?x*}", "without \"*\"" },
        { "n:{x:3}", "without \":\"" },
        { "n:{/x}", "write /{x}" },
        { "n:{.x}", "write .{x}" },
        { "n:{#x}", "write #{+x}" },
        { "n:{;x}", "write {?x}" },
        { "n:{?a}{&b}", "once, at the end" },
        { "n:{&b}", "as one {?a,b}" },
        { "n:{=b}", "write {x}" },
        { "n:{|b}", "write {x}" },
        { "n:{a-b}", "letters, digits" },
        { "n:{a.b}", "letters, digits" },
        { "n:{a%20b}", "letters, digits" },
        { "n:{x}{y}", "text between" },
        { "n:{x}{+y}", "text between" },
        { "n:{x}/{x}", "occurs twice" },
        { "n:{x}/{X}", "occurs twice" },
        { "n:{x}{?x}", "occurs twice" },
        { "n:{?a}/b", "at the end" },
        { "n:{?a}{b}", "at the end" },
        { "n:{?a}{?b}", "at the end" },
        { "n:x?y={z}{?a}", "without \"?\"" },
        { "n:{x}#y{?a}", "without \"?\"" },
        { "n:{?a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q}", "at most 16" },
        { "n:"
          "{xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx}",
          "64 characters" },
    };
    tg_uri_template_t *tmpl;
    const char *why;
    int rc;

    HELP_EACH(item, cases) {
        why = "";
        rc = tg_uri_template_parse(tg_alloc_libc(),
                                   tg_str_from_cstr(item->text), &tmpl, &why);
        CU_ASSERT_EQUAL(rc, TG_INVALID);
        CU_ASSERT_PTR_NULL(tmpl);
        CU_ASSERT_PTR_NOT_NULL(strstr(why, item->why));

        if (strstr(why, item->why) == NULL) {
            printf("\n    %s: %s\n", item->text, why);
        }
    }
}

HELP_TEST(too_long, "a template and a URI have a maximum length")
{
    tg_uri_template_t *tmpl;
    const char *why;
    HELP_BUFFER(got);
    char *uri;

    uri = malloc(TG_URI_MAX + 1);
    memset(uri, 'x', TG_URI_MAX + 1);
    memcpy(uri, "n:", 2);

    CU_ASSERT_EQUAL(tg_uri_template_parse(tg_alloc_libc(),
                                          tg_str(uri, TG_URI_MAX + 1), &tmpl,
                                          &why),
                    TG_INVALID);

    tmpl = test_parse("n:{x}");
    CU_ASSERT_EQUAL(tg_uri_template_match(tmpl, tg_str(uri, TG_URI_MAX + 1),
                                          &got),
                    TG_MISSING);
    CU_ASSERT_EQUAL(tg_uri_template_match(tmpl, tg_str(uri, TG_URI_MAX), &got),
                    TG_OK);
    CU_ASSERT_EQUAL(got.len, TG_URI_MAX - 2 + strlen("{\"x\":\"\"}"));

    tg_uri_template_free(tmpl);
    free(uri);
}

HELP_TEST(variables, "a template lists its variables")
{
    tg_uri_template_t *tmpl;

    tmpl = test_parse("n:{a}/{+b_2}{?c,d}");
    CU_ASSERT_EQUAL(tmpl->nvariables, 4);
    CU_ASSERT_EQUAL(tmpl->npath, 2);
    HELP_EQ(tmpl->variables[0].name, "a");
    HELP_EQ(tmpl->variables[1].name, "b_2");
    HELP_EQ(tmpl->variables[3].name, "d");
    CU_ASSERT(!tmpl->variables[0].is_multiple && !tmpl->variables[0].is_query);
    CU_ASSERT(tmpl->variables[1].is_multiple && !tmpl->variables[1].is_query);
    CU_ASSERT(!tmpl->variables[3].is_multiple && tmpl->variables[3].is_query);
    tg_uri_template_free(tmpl);
    tg_uri_template_free(NULL);
}

HELP_TEST(paths, "variables in the path")
{
    static const struct {
        const char *text, *uri, *arguments;
    } cases[] = {
        { "n:{x}", "n:a", "{\"x\":\"a\"}" },
        { "n:{x}", "n:", NULL },
        { "n:{x}", "", NULL },
        { "n:{x}", "N:a", NULL },
        { "n:{x}", "m:a", NULL },
        { "n:{x}", "n:a/b", NULL },
        { "n:{x}", "n:a?b", NULL },
        { "n:{x}", "n:a#b", NULL },
        { "n:{x}", "n:a&b=:@,", "{\"x\":\"a&b=:@,\"}" },
        { "n:{x}", "n:%41%2f\xc3\xa4%C3%a4", "{\"x\":\"A/\xc3\xa4\xc3\xa4\"}" },
        { "n:{x}", "n:a \"b", "{\"x\":\"a \\\"b\"}" },
        { "n:{x}", "n:%00", NULL },
        { "n:{x}", "n:%0a", "{\"x\":\"\\n\"}" },
        { "n:{x}", "n:%", NULL },
        { "n:{x}", "n:%4", NULL },
        { "n:{x}", "n:%4g", NULL },
        { "n:{x}", "n:%ff", NULL },
        { "n:{x}", "n:%C3", NULL },
        { "n:{x}", "n:%ed%a0%80", NULL },
        { "n:{x}", "n:%252e", "{\"x\":\"%2e\"}" },
        { "n:{x}", "n:..", "{\"x\":\"..\"}" },
        { "n:{x}.txt", "n:a.txt.txt", "{\"x\":\"a.txt\"}" },
        { "n:{x}.txt", "n:.txt", NULL },
        { "n:{x}.txt", "n:md", NULL },
        { "n:a{x}a", "n:a", NULL },
        { "n:a{x}a", "n:aa", NULL },
        { "n:a{x}a", "n:aaa", "{\"x\":\"a\"}" },
        { "n:%20{x}", "n: a", NULL },
        { "n:%20{x}", "n:%20a", "{\"x\":\"a\"}" },
        { "n:///{+x}", "n:///a/b//c?d#e", "{\"x\":\"a/b//c?d#e\"}" },
        { "n:///{+x}", "n:///", NULL },
        { "n:///{+x}", "n://a", NULL },
        { "n:///{+x}", "n:////", "{\"x\":\"/\"}" },
        { "n:{+x}/{y}", "n:a/b/c", "{\"x\":\"a/b\",\"y\":\"c\"}" },
        { "n:{+x}/{y}", "n:a/b/", NULL },
        { "n:{x}/{+y}", "n:a/b/c", "{\"x\":\"a\",\"y\":\"b/c\"}" },
        { "n:{+x}/{+y}", "n:a/b/c/", "{\"x\":\"a/b\",\"y\":\"c/\"}" },
        { "n:{+x}/-/{+y}", "n:a/-/b/-/c", "{\"x\":\"a/-/b\",\"y\":\"c\"}" },
        { "n:{+x}.{y}", "n:a/b.tar.gz", "{\"x\":\"a/b.tar\",\"y\":\"gz\"}" },
        { "n:{+x}.{y}", "n:a.b/c", NULL },
        { "n:{x}-{y}-{z}", "n:a-b-c-d",
          "{\"x\":\"a-b\",\"y\":\"c\",\"z\":\"d\"}" },
        { "n:{x}-{y}", "n:-a", NULL },
        { "n:{x}-{y}", "n:--a", "{\"x\":\"-\",\"y\":\"a\"}" },
        { "n:{x}ab{y}b", "n:1abab2b", "{\"x\":\"1ab\",\"y\":\"2\"}" },
        { "n:{x}aa{y}", "n:aaaa", "{\"x\":\"a\",\"y\":\"a\"}" },
        { "n:{x}/{y}/{z}", "n:1/2/3", "{\"x\":\"1\",\"y\":\"2\",\"z\":\"3\"}" },
        { "n:{x}/{y}/{z}", "n:1/2/3/4", NULL },
        { "n:{x}/{y}/{z}", "n:1//3", NULL },
        { "n:q?a={x}", "n:q?a=1&b=2", "{\"x\":\"1&b=2\"}" },
    };

    HELP_EACH(item, cases) {
        test_match(item->text, item->uri, item->arguments);
    }
}

HELP_TEST(queries, "query parameters are optional and in any order")
{
    static const struct {
        const char *text, *uri, *arguments;
    } cases[] = {
        { "n:q{?a,b}", "n:q", "{}" },
        { "n:q{?a,b}", "n:q?", "{}" },
        { "n:q{?a,b}", "n:q?&", "{}" },
        { "n:q{?a,b}", "n:q?a=1&b=2", "{\"a\":\"1\",\"b\":\"2\"}" },
        { "n:q{?a,b}", "n:q?b=2&a=1", "{\"a\":\"1\",\"b\":\"2\"}" },
        { "n:q{?a,b}", "n:q?b=2", "{\"b\":\"2\"}" },
        { "n:q{?a,b}", "n:q?a", "{\"a\":\"\"}" },
        { "n:q{?a,b}", "n:q?a=", "{\"a\":\"\"}" },
        { "n:q{?a,b}", "n:q?a==&", "{\"a\":\"=\"}" },
        { "n:q{?a,b}", "n:q?a=1&a=2", NULL },
        { "n:q{?a,b}", "n:q?c=1", NULL },
        { "n:q{?a,b}", "n:q?A=1", NULL },
        { "n:q{?a,b}", "n:q?=1", NULL },
        { "n:q{?a,b}", "n:q?a=1#f", NULL },
        { "n:q{?a,b}", "n:q?a=%26+/?", "{\"a\":\"&+/?\"}" },
        { "n:q{?a,b}", "n:q?a=%", NULL },
        { "n:q{?a,b}", "n:q?a=%00", NULL },
        { "n:q{?a,b}", "n:r?a=1", NULL },
        { "n:{+p}{?a}", "n:x/y?a=1", "{\"p\":\"x/y\",\"a\":\"1\"}" },
        { "n:{+p}{?a}", "n:x/y", "{\"p\":\"x/y\"}" },
        { "n:{+p}{?a}", "n:x?a=1?a", "{\"p\":\"x\",\"a\":\"1?a\"}" },
        { "n:{+p}{?a}", "n:?a=1", NULL },
        { "n:{?a}", "n:?a=1", "{\"a\":\"1\"}" },
    };

    HELP_EACH(item, cases) {
        test_match(item->text, item->uri, item->arguments);
    }
}

HELP_TEST(bounded, "many variables do not multiply the time")
{
    tg_uri_template_t *tmpl;
    HELP_BUFFER(got);
    char *uri;
    int i;

    tmpl = test_parse("n:{+a}x{+b}x{+c}x{+d}x{+e}x{+f}x{+g}x{+h}x{+i}x{+j}x"
                      "{+k}x{+l}x{+m}x{+n}x{+o}x{+p}y");
    uri = malloc(TG_URI_MAX);
    memset(uri, 'x', TG_URI_MAX);
    memcpy(uri, "n:", 2);
    CU_ASSERT_EQUAL(tg_uri_template_match(tmpl, tg_str(uri, TG_URI_MAX), &got),
                    TG_MISSING);

    uri[TG_URI_MAX - 1] = 'y';

    for (i = 0; i < 100; i++) {
        got.len = 0;
        CU_ASSERT_EQUAL(
            tg_uri_template_match(tmpl, tg_str(uri, TG_URI_MAX), &got), TG_OK);
    }

    tg_buf_append_char(&got, '\0');
    CU_ASSERT_PTR_NOT_NULL(strstr(got.data, "x\",\"b\":\"x\",\"c\":\"x\""));
    tg_uri_template_free(tmpl);
    free(uri);
}

HELP_TEST(path_safe, "values from which a path may be made")
{
    static const struct {
        const char *text, *uri;
        int is_safe;
    } cases[] = {
        { "n:{+x}", "n:a", 1 },          { "n:{+x}", "n:a/b/", 1 },
        { "n:{+x}", "n:.a/..b/...", 1 }, { "n:{+x}", "n:a b%20c", 1 },
        { "n:{+x}", "n:%252e%252e", 1 }, { "n:{+x}", "n:/a", 0 },
        { "n:{+x}", "n:a//b", 0 },       { "n:{+x}", "n:..", 0 },
        { "n:{+x}", "n:a/..", 0 },       { "n:{+x}", "n:../a", 0 },
        { "n:{+x}", "n:a/../b", 0 },     { "n:{+x}", "n:a/%2e%2E/b", 0 },
        { "n:{+x}", "n:./a", 0 },        { "n:{+x}", "n:a%2fb", 0 },
        { "n:{+x}", "n:a%2Fb", 0 },      { "n:{+x}", "n:%2Fa", 0 },
        { "n:{x}", "n:..%2f..", 0 },     { "n:{x}", "n:%2e%2e", 0 },
        { "n:{x}", "n:%00", 0 },         { "n:{x}", "n:%c3", 0 },
        { "n:{x}", "m:a", 0 },           { "n:q{?a}", "n:q", 1 },
        { "n:q{?a}", "n:q?a=..", 0 },    { "n:q{?a}", "n:q?a=", 0 },
        { "n:q{?a}", "n:q?a=b", 1 },
    };
    tg_uri_template_t *tmpl;

    HELP_EACH(item, cases) {
        tmpl = test_parse(item->text);
        CU_ASSERT_EQUAL(tg_uri_template_is_path_safe(tmpl, tg_str_from_cstr(
                                                               item->uri)),
                        item->is_safe);
        tg_uri_template_free(tmpl);
    }

    CU_ASSERT(!tg_uri_value_is_path_safe(tg_str("a\0b", 3)));
    CU_ASSERT(!tg_uri_value_is_path_safe(tg_str("", 0)));
}

HELP_TEST(shadows, "a template that an earlier one hides")
{
    static const struct {
        const char *earlier, *later;
        int does;
    } cases[] = {
        { "n:{+x}", "n:{x}", 1 },          { "n:{+x}", "n:a/{x}/{+y}{?q}", 1 },
        { "n:{x}", "n:{+x}", 0 },          { "n:a/{x}", "n:{+x}", 0 },
        { "n:{x}", "n:{x}.txt", 1 },       { "n:{x}.txt", "n:{x}", 0 },
        { "n:{x}{?a,b}", "n:{x}{?a}", 1 }, { "n:{x}{?a}", "n:{x}{?a,b}", 0 },
        { "m:{x}", "n:{x}", 0 },
    };
    tg_uri_template_t *earlier, *later;

    HELP_EACH(item, cases) {
        earlier = test_parse(item->earlier);
        later = test_parse(item->later);
        CU_ASSERT_EQUAL(tg_uri_template_shadows(earlier, later), item->does);
        tg_uri_template_free(earlier);
        tg_uri_template_free(later);
    }
}

static void
test_with_alloc(const tg_alloc_t *alloc, int may_fail)
{
    tg_uri_template_t *tmpl;
    const char *why;
    tg_buf_t out;
    int rc;

    rc = tg_uri_template_parse(alloc, TG_STR("n:{x}"), &tmpl, &why);
    CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));

    if (rc == TG_OK) {
        tg_buf_init(&out, alloc);
        rc = tg_uri_template_match(tmpl, TG_STR("n:a"), &out);
        CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));
        CU_ASSERT(tg_uri_template_shadows(tmpl, tmpl) || may_fail);
        tg_buf_deinit(&out);
        tg_uri_template_free(tmpl);
    }
}

HELP_TEST(nomem, "no memory")
{
    help_each_failure(test_with_alloc);
}
