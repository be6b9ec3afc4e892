/* Results of tools: repairs that let every client read them, or no change. */
#include "protocol_help.h"

#include "catalog/tg_tool_result_repair.h"

typedef struct {
    const char *raw;
    const char *repaired; /* NULL: unchanged */
} test_case_t;

static void
test_repair(const test_case_t *test)
{
    const char *why;
    HELP_BUFFER(out);
    HELP_BUFFER(again);

    why = tg_tool_result_repair(tg_str_from_cstr(test->raw), &out);
    CU_ASSERT(why == NULL);
    HELP_EQ(tg_buf_view(&out), test->repaired != NULL ? test->repaired : "");

    /* A repaired result needs no further repair. */
    if (out.len != 0) {
        CU_ASSERT(tg_json_validate(tg_buf_view(&out), NULL) == TG_OK);
        why = tg_tool_result_repair(tg_buf_view(&out), &again);
        CU_ASSERT(why == NULL && again.len == 0);
    }
}

static void
test_repair_all(const test_case_t *tests, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        test_repair(&tests[i]);
    }
}

/* A result with these blocks, and with more members. */
#define TEST_BLOCKS(blocks) "{\"content\":[" blocks "]}"
#define TEST_MORE(more) "{\"content\":[]" more "}"
#define TEST_TEXT(text) "{\"type\":\"text\",\"text\":" text "}"
#define TEST_HI TEST_TEXT("\"hi\"")

HELP_TEST(fine, "valid input is unchanged")
{
    static const test_case_t tests[] = {
        { TEST_MORE(""), NULL },
        { "{ \"x\" : null, \"content\":[ " TEST_HI " ] }", NULL },
        { TEST_MORE(",\"isError\":false,\"_meta\":{\"a\":null},"
                    "\"structuredContent\":{\"a\":null}"),
          NULL },
        { TEST_BLOCKS(TEST_HI), NULL },
        { "{\"content\":[" TEST_HI "," TEST_HI "],\"isError\":true}", NULL },
        { TEST_BLOCKS("{\"type\":\"text\",\"text\":\"\",\"annotations\":{"
                      "\"audience\":[\"user\",\"assistant\"],"
                      "\"priority\":0.5,\"x\":null,"
                      "\"lastModified\":\"2026-01-02T03:04:05.678Z\"},"
                      "\"_meta\":{\"a\":[]},\"x\":null}"),
          NULL },
        { TEST_BLOCKS("{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":"
                      "\"image/png\"},{\"type\":\"audio\",\"data\":\"AA==\","
                      "\"mimeType\":\"audio/wav\"}"),
          NULL },
        { TEST_BLOCKS("{\"type\":\"resource_link\",\"uri\":\"a:b\","
                      "\"name\":\"b\",\"size\":5,\"icons\":[{\"src\":\"x\"}],"
                      "\"annotations\":{\"priority\":1,\"lastModified\":"
                      "\"2026-01-02T03:04:05+01:00\"}}"),
          NULL },
        { TEST_BLOCKS("{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
                      "\"text\":\"x\"}},{\"type\":\"resource\",\"resource\":{"
                      "\"uri\":\"a:b\",\"mimeType\":\"a/b\",\"blob\":\"\"}}"),
          NULL },
        /* Further members of the modern era. */
        { "{\"resultType\":\"input_required\",\"inputRequests\":{}}", NULL },
        { "{\"content\":[" TEST_HI "],\"structuredContent\":[1],"
          "\"resultType\":\"complete\"}",
          NULL },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(text, "a result of texts alone is found in one pass")
{
    static const char *const texts[] = {
        TEST_BLOCKS(TEST_HI),
        TEST_BLOCKS(TEST_HI "," TEST_HI),
        " { \"content\" : [ { \"text\" : \"\\\"\" , \"type\":\"text\" } ] ,"
        " \"isError\" : true } ",
        "{\"content\":[" TEST_HI "],\"isError\":false}",
    };
    static const char *const others[] = {
        "[]",
        "{}",
        TEST_MORE(""),
        TEST_MORE(",\"isError\":true"),
        "{\"isError\":true}",
        "{\"isError\":true,\"content\":[" TEST_HI "]}",
        "{\"content\":" TEST_HI "}",
        "{\"content\":[\"hi\"]}",
        "{\"content\":[{\"type\":\"text\"}]}",
        "{\"content\":[{\"text\":\"hi\"}]}",
        "{\"content\":[{\"type\":\"text\",\"type\":\"text\"}]}",
        "{\"content\":[" TEST_HI ",{\"type\":\"image\",\"text\":\"hi\"}]}",
        TEST_BLOCKS(TEST_TEXT("null")),
        TEST_BLOCKS("{\"type\":\"text\",\"text\":\"hi\",\"_meta\":{}}"),
        "{\"content\":[" TEST_HI "],\"isError\":null}",
        "{\"content\":[" TEST_HI "],\"structuredContent\":{}}",
        "{\"content\":[" TEST_HI "],\"resultType\":\"input_required\"}",
        "{\"content\":[" TEST_HI "],\"isError\":true,\"content\":null}",
        "{\"content\":[" TEST_HI "]} 1",
    };

    HELP_EACH(row, texts) {
        CU_ASSERT(tg_tool_result_has_texts_only(tg_str_from_cstr(*row)));
    }

    HELP_EACH(other, others) {
        CU_ASSERT(!tg_tool_result_has_texts_only(tg_str_from_cstr(*other)));
    }
}

HELP_TEST(nulls, "optional null members are omitted")
{
    static const test_case_t tests[] = {
        { "{\"content\":[{\"type\":\"text\",\"text\":\"hi\","
          "\"annotations\":null,\"_meta\":null}],\"structuredContent\":null,"
          "\"isError\":null,\"_meta\":null,\"resultType\":null,\"x\":null}",
          "{\"content\":[" TEST_HI "],\"x\":null}" },
        { TEST_BLOCKS("{\"type\":\"text\",\"text\":\"hi\",\"annotations\":{"
                      "\"audience\":null,\"priority\":0,\"lastModified\":null"
                      "}}"),
          TEST_BLOCKS("{\"type\":\"text\",\"text\":\"hi\",\"annotations\":{"
                      "\"priority\":0}}") },
        { TEST_BLOCKS("{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
                      "\"mimeType\":null,\"text\":\"x\",\"blob\":null}}"),
          TEST_BLOCKS("{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\","
                      "\"text\":\"x\"}}") },
        { TEST_BLOCKS("{\"type\":\"resource_link\",\"uri\":\"a:b\","
                      "\"name\":\"b\",\"title\":null,\"description\":null,"
                      "\"mimeType\":null,\"size\":null,\"icons\":null}"),
          TEST_BLOCKS("{\"type\":\"resource_link\",\"uri\":\"a:b\","
                      "\"name\":\"b\"}") },
        { TEST_BLOCKS("null," TEST_HI ",null"), TEST_BLOCKS(TEST_HI) },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(content, "content that is no array")
{
    static const test_case_t tests[] = {
        { "{\"content\":null}", TEST_MORE("") },
        { "{\"content\":null,\"isError\":true}",
          TEST_MORE(",\"isError\":true") },
        { "{\"content\":\"hi\"}", TEST_BLOCKS(TEST_HI) },
        { "{\"content\":" TEST_HI "}", TEST_BLOCKS(TEST_HI) },
        { "{\"structuredContent\":{\"a\":1}}",
          "{\"content\":[" TEST_TEXT(
              "\"{\\\"a\\\":1}\"") "],\"structuredContent\":{\"a\":1}}" },
        { "{\"structuredContent\":{},\"content\":null,"
          "\"resultType\":\"complete\"}",
          "{\"content\":[" TEST_TEXT("\"{}\"") "],\"structuredContent\":{},"
                                               "\"resultType\":\"complete\"}" },
        /* Older clients do not see such structuredContent. */
        { TEST_MORE(",\"structuredContent\":[1]"),
          "{\"content\":[" TEST_TEXT(
              "\"[1]\"") "],\"structuredContent\":[1]}" },
    };
    static const char *const invalid[] = { "null",
                                           "[]",
                                           "\"hi\"",
                                           "7",
                                           "{}",
                                           "{\"nothing\":1}",
                                           "{\"content\":7}",
                                           "{\"content\":{}}",
                                           "{\"content\":{\"a\":1}}",
                                           "{\"isError\":true}",
                                           "{\"resultType\":\"complete\"}" };
    HELP_BUFFER(out);

    test_repair_all(tests, HELP_COUNT(tests));

    HELP_EACH(row, invalid) {
        CU_ASSERT(tg_tool_result_repair(tg_str_from_cstr(*row), &out) != NULL);
        CU_ASSERT(out.len == 0);
    }
}

HELP_TEST(blocks, "blocks that clients cannot read become texts")
{
    static const test_case_t tests[] = {
        { TEST_BLOCKS("\"hi\""), TEST_BLOCKS(TEST_HI) },
        { TEST_BLOCKS("{\"text\":\"hi\"}"), TEST_BLOCKS(TEST_HI) },
        { TEST_BLOCKS("{\"type\":\"error\",\"text\":\"hi\"}"),
          TEST_BLOCKS(TEST_HI) },
        { TEST_BLOCKS("{\"type\":\"json\",\"json\":{\"a\":1}}"),
          TEST_BLOCKS(TEST_TEXT("\"{\\\"type\\\":\\\"json\\\","
                                "\\\"json\\\":{\\\"a\\\":1}}\"")) },
        { TEST_BLOCKS("{\"type\":null,\"text\":\"hi\"}"),
          TEST_BLOCKS(TEST_HI) },
        { TEST_BLOCKS("{\"type\":\"new\",\"x\":[{}]},7"),
          TEST_BLOCKS("{\"type\":\"new\",\"x\":[{}]}," TEST_TEXT("\"7\"")) },
        { TEST_BLOCKS(TEST_TEXT("5")), TEST_BLOCKS(TEST_TEXT("\"5\"")) },
        { TEST_BLOCKS(TEST_TEXT("{\"a\":1}")),
          TEST_BLOCKS(TEST_TEXT("\"{\\\"a\\\":1}\"")) },
        { TEST_BLOCKS(TEST_TEXT("null")), TEST_BLOCKS(TEST_TEXT("\"\"")) },
        { TEST_BLOCKS("{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\"}}"),
          TEST_BLOCKS(TEST_TEXT("\"{\\\"type\\\":\\\"resource\\\","
                                "\\\"resource\\\":{\\\"uri\\\":"
                                "\\\"a:b\\\"}}\"")) },
        { TEST_BLOCKS("7,[]"),
          TEST_BLOCKS(TEST_TEXT("\"7\"") "," TEST_TEXT("\"[]\"")) },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(members, "members of the wrong type")
{
    static const test_case_t tests[] = {
        { TEST_BLOCKS("{\"type\":\"text\",\"text\":\"hi\",\"annotations\":[],"
                      "\"_meta\":\"x\"}"),
          TEST_BLOCKS(TEST_HI) },
        { TEST_BLOCKS("{\"type\":\"text\",\"text\":\"hi\",\"annotations\":{"
                      "\"audience\":\"user\",\"priority\":5,"
                      "\"lastModified\":\"2026-01-02\"}}"),
          TEST_BLOCKS("{\"type\":\"text\",\"text\":\"hi\","
                      "\"annotations\":{}}") },
        { TEST_MORE(",\"isError\":\"true\",\"_meta\":[]"),
          TEST_MORE(",\"isError\":true") },
        { TEST_MORE(",\"isError\":1"), TEST_MORE(",\"isError\":true") },
        { TEST_MORE(",\"isError\":\"false\""), TEST_MORE("") },
        { TEST_MORE(",\"isError\":0"), TEST_MORE("") },
        { TEST_BLOCKS("{\"type\":\"resource_link\",\"uri\":\"a:b\","
                      "\"size\":\"5\"}"),
          TEST_BLOCKS("{\"name\":\"a:b\",\"type\":\"resource_link\","
                      "\"uri\":\"a:b\"}") },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(media, "images and audio in other forms")
{
    static const test_case_t tests[] = {
        { TEST_BLOCKS("{\"type\":\"image\",\"data\":"
                      "\"data:image/png;base64,AA==\",\"x\":1}"),
          TEST_BLOCKS("{\"data\":\"AA==\",\"mimeType\":\"image/png\","
                      "\"type\":\"image\",\"x\":1}") },
        { TEST_BLOCKS("{\"type\":\"audio\",\"data\":\"AA==\","
                      "\"mime_type\":\"audio/wav\"}"),
          TEST_BLOCKS("{\"data\":\"AA==\",\"mimeType\":\"audio/wav\","
                      "\"type\":\"audio\",\"mime_type\":\"audio/wav\"}") },
        { TEST_BLOCKS("{\"type\":\"image\",\"data\":\"\\/9j\\/AA==\"}"),
          TEST_BLOCKS("{\"data\":\"\\/9j\\/AA==\",\"mimeType\":"
                      "\"image/jpeg\",\"type\":\"image\"}") },
        { TEST_BLOCKS("{\"type\":\"image\",\"data\":\"AA==\"}"),
          TEST_BLOCKS(TEST_TEXT("\"{\\\"type\\\":\\\"image\\\","
                                "\\\"data\\\":\\\"AA==\\\"}\"")) },
    };

    test_repair_all(tests, HELP_COUNT(tests));
}

HELP_TEST(structured, "structured content is added or removed")
{
    HELP_BUFFER(out);

    tg_tool_result_write_structured(
        &out, TG_STR("{\"content\":[],\"isError\":false}"),
        TG_STR("{\"a\":1}"));
    HELP_EQ(tg_buf_view(&out), "{\"structuredContent\":{\"a\":1},"
                               "\"content\":[],\"isError\":false}");
    tg_buf_truncate(&out, 0);
    tg_tool_result_write_unstructured(&out, TG_STR("{\"content\":[" TEST_HI
                                                   "],\"structuredContent\":{},"
                                                   "\"isError\":true}"));
    HELP_EQ(tg_buf_view(&out), "{\"content\":[" TEST_HI "],\"isError\":true}");
    tg_buf_truncate(&out, 0);
    tg_tool_result_write_unstructured(
        &out, TG_STR(TEST_MORE(",\"structuredContent\":{\"a\":1},"
                               "\"isError\":true")));
    HELP_EQ(tg_buf_view(&out), "{\"content\":[" TEST_TEXT(
                                   "\"{\\\"a\\\":1}\"") "],\"isError\":true}");
}
