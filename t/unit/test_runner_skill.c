/* Skills: the frontmatter as JSON, their files, folders, and what is wrong. */
#include "runner_files.h"

#include "runner/files/tg_skill.h"
#include "runner/files/tg_yaml.h"

/* Converts YAML; returns the JSON, or the reason after a question mark. */
static const char *
json_of(const char *yaml)
{
    static char text[512];
    HELP_BUFFER(json);
    HELP_BUFFER(why);
    int rc;

    rc = tg_yaml_to_json(tg_str_from_cstr(yaml), &json, &why);
    CU_ASSERT(rc == TG_OK || rc == TG_INVALID);
    CU_ASSERT(rc != TG_OK
              || tg_json_validate(tg_buf_view(&json), NULL) == TG_OK);
    snprintf(text, sizeof(text), "%s%.*s", rc == TG_OK ? "" : "?",
             (int) (rc == TG_OK ? json.len : why.len),
             rc == TG_OK ? json.data : why.data);

    return text;
}

HELP_TEST(yaml, "YAML as JSON: types, styles, mistakes")
{
    static const char *const cases[][2] = {
        { "a: b", "{\"a\":\"b\"}" },
        { "a: 1\nb: -0\nc: +12\nd: 007",
          "{\"a\":1,\"b\":-0,\"c\":12,\"d\":7}" },
        { "a: 0x1f\nb: 0o17\nc: 0xg", "{\"a\":31,\"b\":15,\"c\":\"0xg\"}" },
        { "a: 1.50\nb: .5\nc: 1.\nd: 1e3\ne: 01.0E+2",
          "{\"a\":1.50,\"b\":0.5,\"c\":1,\"d\":1e3,\"e\":1.0E+2}" },
        { "a: 1.2.3\nb: 1e\nc: .\nd: '-'\ne: -.", "{\"a\":\"1.2.3\",\"b\":\"1e"
                                                  "\",\"c\":\".\",\"d\":\"-\","
                                                  "\"e\":\"-.\"}" },
        { "a: .inf\nb: .nan", "{\"a\":\".inf\",\"b\":\".nan\"}" },
        { "a: 123456789012345678901234567890",
          "{\"a\":123456789012345678901234567890}" },
        { "a: 0xffffffffffffffff", "{\"a\":\"0xffffffffffffffff\"}" },
        { "a: true\nb: False\nc: yes\nd:\ne: ~\nf: Null",
          "{\"a\":true,\"b\":false,\"c\":\"yes\",\"d\":null,\"e\":null,\"f\":"
          "null}" },
        { "a: '1'\nb: \"true\"\nc: !!str 2\nd: !!int 3\ne: ! 4",
          "{\"a\":\"1\",\"b\":\"true\",\"c\":\"2\",\"d\":3,\"e\":\"4\"}" },
        { "a: |\n  x\n  y\nb: >\n  x\n  y\n",
          "{\"a\":\"x\\ny\\n\",\"b\":\"x y\\n\"}" },
        { "a: [1, [2, {b: 3}], {}, []]", "{\"a\":[1,[2,{\"b\":3}],{},[]]}" },
        { "a:\n  - b: 1\n    c: 2\n  - d",
          "{\"a\":[{\"b\":1,\"c\":2},\"d\"]}" },
        { "1: a\n~: b\n\"x\\ny\": c",
          "{\"1\":\"a\",\"~\":\"b\",\"x\\ny\":\"c\"}" },
        { "a: 2026-11-26", "{\"a\":\"2026-11-26\"}" },
        { "a: \xc3\xa9 # c", "{\"a\":\"\xc3\xa9\"}" },
        { "", "?it is empty" },
        { "# a", "?it is empty" },
        { "a", "?line 1 of its YAML: it is not a mapping" },
        { "- a", "?line 1 of its YAML: it is not a mapping" },
        { "a: 1\na: 2", "?line 2 of its YAML: the key is there twice" },
        { "a: {b: 1, b: 2}", "?line 1 of its YAML: the key is there twice" },
        { "a: &x 1\nb: *x", "?line 2 of its YAML: an alias; repeat the value" },
        { "a: !x 1", "?line 1 of its YAML: a tag is not one of YAML itself" },
        { "? [a]\n: 1", "?line 1 of its YAML: a key is not a text" },
        { "a: 1\n---\nb: 2", "?line 2 of its YAML: a second document begins" },
        { "a: \xe9", "?it is not UTF-8" },
        { "a: [1", "?line 2 of its YAML: did not find expected ',' or ']'" },
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        help_eq(tg_str_from_cstr(json_of(cases[i][0])), cases[i][1],
                cases[i][0], (int) i);
    }
}

/* Asks for a list of the root, which has skills. */
static int
list_skills(const char *more)
{
    HELP_BUFFER(params);

    tg_buf_printf(&params,
                  "{\"tool\":\"l\",\"folders\":[{\"root\":\"%s/root\","
                  "\"recursive\":true,\"uri\":\"s:\",\"skills\":true}]%s}",
                  dir, more);
    tg_buf_append_char(&params, '\0');
    (void) host_request("files", params.data);

    return host_recv();
}

static int
is_result(const char *expected)
{
    tg_str_t result;

    result = host_result("result");

    if (tg_str_eq(result, tg_str_from_cstr(expected))) {
        return 1;
    }

    fprintf(stderr, "got: %.*s\n", (int) result.len, result.data);

    return 0;
}

/* What a skill says about a file with the text "a". */
#define SUB_X                                                                  \
    "{\"uri\":\"s:a/sub/x\",\"digest\":\"sha256:"                              \
    "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb\","      \
    "\"size\":1}]"

HELP_TEST(skills, "skills, one skill, and folders")
{
    tg_str_t skill, value;

    begin();
    make_dir("root/a");
    make_dir("root/a/sub");
    make_dir("root/b");
    put_text("root/a/SKILL.md", "---\nname: a\ndescription: A.\n---\n");
    put_text("root/a/sub/x", "a");
    put_text("root/b/SKILL.md", "---\nname: a\ndescription: A.\n---\n");
    put_text("root/SKILL.md", "---\nname: a\ndescription: A.\n---\n");

    CU_ASSERT(list_skills(",\"list\":\"skill\",\"path\":\"a/SKILL.md\""));
    CU_ASSERT(tg_json_has_member(host_result("result"), TG_STR("skill"),
                                 TG_JSON_OBJECT, &skill));
    CU_ASSERT(
        tg_json_has_member(skill, TG_STR("frontmatter"), TG_JSON_OBJECT, &value)
        && tg_str_eq(value, TG_STR("{\"name\":\"a\",\"description\":"
                                   "\"A.\"}")));
    CU_ASSERT(
        tg_json_has_member(skill, TG_STR("resources"), TG_JSON_ARRAY, &value));
    value = tg_str_skip(value, value.len - strlen(SUB_X));
    HELP_EQ(value, SUB_X);

    CU_ASSERT(list_skills(",\"list\":\"directory\",\"path\":\"a%2Fsub\""));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(list_skills(",\"list\":\"directory\",\"path\":\"\""));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(list_skills(",\"list\":\"directory\""));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(list_skills(",\"list\":\"skill\""));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(list_skills(",\"list\":\"skill\",\"path\":\"b/SKILL.md\""));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(list_skills(",\"list\":\"skill\",\"path\":\"SKILL.md\""));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(list_skills(",\"list\":\"directory\",\"path\":\"a\","
                          "\"cursor\":\"+0.1.a/SKILL.md\""));
    CU_ASSERT(is_result("{\"resources\":[{\"uri\":\"s:a/sub\",\"name\":"
                        "\"a/sub\",\"mimeType\":\"inode/directory\"}]}"));
    CU_ASSERT(list_skills(",\"list\":\"directory\",\"path\":\"a/\","
                          "\"cursor\":\"+0.2.a/sub/\""));
    CU_ASSERT(is_result("{\"resources\":[]}"));
    end();
}
