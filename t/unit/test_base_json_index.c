/* Noted offsets of an object's members, and lookups that use them. */
#include "protocol_help.h"

#include "base/tg_json.h"

static int
test_write_record(const char *text, tg_json_index_t *notes, tg_str_t *raw)
{
    tg_json_cursor_t json;

    tg_json_init(&json, tg_str_from_cstr(text));

    return tg_json_index_object(&json, notes, raw);
}

HELP_TEST(members, "members")
{
    tg_json_index_t notes;
    tg_str_t raw;

    CU_ASSERT_EQUAL(test_write_record(" {\"a\" : \"x\", \"\\u0062\":\"\\n\","
                                      "\"c\":\"\\ud800\",\"d\":[\"\\t\"] } ",
                                      &notes, &raw),
                    TG_OK);
    HELP_EQ(raw, "{\"a\" : \"x\", \"\\u0062\":\"\\n\","
                 "\"c\":\"\\ud800\",\"d\":[\"\\t\"] }");
    CU_ASSERT_EQUAL_FATAL(notes.n, 4);
    HELP_EQ(notes.list[0].key, "a");
    HELP_EQ(notes.list[0].value, "\"x\"");
    CU_ASSERT_EQUAL(notes.list[0].key_escapes, 0);
    CU_ASSERT_EQUAL(notes.list[0].escapes, 0);
    HELP_EQ(notes.list[1].key, "\\u0062");
    HELP_EQ(notes.list[1].value, "\"\\n\"");
    CU_ASSERT_EQUAL(notes.list[1].key_escapes, TG_JSON_HAS_ESCAPES);
    CU_ASSERT_EQUAL(notes.list[1].escapes, TG_JSON_HAS_ESCAPES);
    CU_ASSERT_EQUAL(notes.list[2].escapes,
                    TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES);
    HELP_EQ(notes.list[3].value, "[\"\\t\"]");
}

/* Hexadecimal letters in both cases, surrogate pairs, and invalid escapes. */
HELP_TEST(halves, "surrogate pairs")
{
    static const struct {
        const char *text;
        unsigned escapes;
    } rows[] = {
        { "{\"a\":\"\\uD834\\uDD1E\"}",
          TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES },
        { "{\"a\":\"\\udfff\"}", TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES },
        { "{\"a\":\"\\uD7FF\"}", TG_JSON_HAS_ESCAPES },
        { "{\"a\":\"\\u00d8\\ue000\"}", TG_JSON_HAS_ESCAPES },
        { "{\"a\":\"ud800\"}", 0 },
        { "{\"a\":\"\\\\ud800\"}", TG_JSON_HAS_ESCAPES },
        { "{\"a\":\"\\ud800 and \\n\"}",
          TG_JSON_HAS_ESCAPES | TG_JSON_HAS_SURROGATES },
    };
    tg_json_index_t notes;
    tg_str_t raw;

    HELP_EACH(row, rows) {
        CU_ASSERT_EQUAL(test_write_record(row->text, &notes, &raw), TG_OK);
        CU_ASSERT_EQUAL(notes.list[0].escapes, row->escapes);
    }
}

HELP_TEST(refused, "refused")
{
    static const char *const rows[] = { "[]",         "{",
                                        "{\"a\"}",    "{\"a\":}",
                                        "{\"a\":1,}", "{\"a\":\"\1\"}" };
    char deep[2 * TG_JSON_MAX_DEPTH + 16];
    tg_json_index_t notes;
    tg_str_t raw;

    HELP_EACH(row, rows) {
        CU_ASSERT_EQUAL(test_write_record(*row, &notes, &raw), TG_INVALID);
    }

    strcpy(deep, "{\"a\":");
    memset(deep + 5, '[', TG_JSON_MAX_DEPTH);
    deep[5 + TG_JSON_MAX_DEPTH] = '\0';
    CU_ASSERT_EQUAL(test_write_record(deep, &notes, &raw), TG_LIMIT);
}

/* Compares lookups with and without offsets, and with too many members. */
static void
test_same(const char *text)
{
    static const char *const keys[] = { "a", "b", "", "p", "q", "é", "x\n" };
    tg_json_member_t by_index, by_text;
    tg_json_index_t notes;
    tg_str_t raw, value;
    int rc;

    CU_ASSERT_EQUAL(test_write_record(text, &notes, &raw), TG_OK);

    HELP_EACH(key, keys) {
        rc = tg_json_get_member(raw, tg_str_from_cstr(*key), &value);
        CU_ASSERT_EQUAL(tg_json_index_get(&notes, raw, tg_str_from_cstr(*key),
                                          &by_index),
                        rc);
        CU_ASSERT_EQUAL(
            tg_json_index_get(NULL, raw, tg_str_from_cstr(*key), &by_text), rc);

        if (rc == TG_OK) {
            CU_ASSERT_PTR_EQUAL(by_index.value.data, value.data);
            CU_ASSERT_EQUAL(by_index.value.len, value.len);
            CU_ASSERT_PTR_EQUAL(by_text.value.data, value.data);
        }

        if (rc == TG_OK && tg_json_type(value) == TG_JSON_STRING) {
            CU_ASSERT_EQUAL(by_index.escapes, by_text.escapes);
        }
    }
}

HELP_TEST(get, "get")
{
    test_same("{}");
    test_same("{\"a\":1,\"b\":\"x\",\"\":[1]}");
    test_same("{\"a\":1,\"a\":\"\\n\",\"\\u0061\":\"\\ud800\"}");
    test_same("{\"\\u00e9\":1,\"x\\n\":2,\"aa\":3}");
    test_same("{\"a\":0,\"c\":1,\"d\":2,\"e\":3,\"f\":4,\"g\":5,\"h\":6,\"i\":"
              "7,\"j\":8,\"k\":9,\"l\":10,\"m\":11,\"n\":12,\"o\":13,\"r\":14,"
              "\"p\":15}");
    test_same("{\"a\":0,\"c\":1,\"d\":2,\"e\":3,\"f\":4,\"g\":5,\"h\":6,\"i\":"
              "7,\"j\":8,\"k\":9,\"l\":10,\"m\":11,\"n\":12,\"o\":13,\"r\":14,"
              "\"p\":15,\"q\":\"\\t\"}");
}

/* Compares walks member by member. */
static int
test_walk(tg_str_t text, tg_json_index_t *notes, tg_json_cursor_t *json)
{
    tg_json_member_t *note, beyond;
    int rc;

    notes->n = 0;
    tg_json_init(json, text);
    rc = tg_json_enter_object(json);

    while (rc == TG_OK) {
        note = notes->n < TG_JSON_INDEX_MAX ? &notes->list[notes->n] : &beyond;
        rc = tg_json_next_member(json, &note->key);

        if (rc != TG_OK) {
            break;
        }

        note->key_escapes = (uint8_t) json->escapes;
        rc = tg_json_read_value(json, &note->value);
        note->escapes = (uint8_t) json->escapes;
        notes->n++;
    }

    return rc == TG_END ? TG_OK : rc;
}

static void
test_compare(tg_str_t text)
{
    tg_json_index_t got, expected;
    tg_json_cursor_t json, walk;
    tg_str_t raw;
    size_t i;
    int rc;

    rc = test_walk(text, &expected, &walk);
    tg_json_init(&json, text);
    CU_ASSERT(tg_json_index_object(&json, &got, &raw) == rc);
    CU_ASSERT(json.pos == walk.pos);
    CU_ASSERT(json.failed == walk.failed);
    CU_ASSERT(json.why == walk.why);

    if (rc != TG_OK) {
        return;
    }

    CU_ASSERT(json.depth == 0 && json.is_first_entry == 0);
    CU_ASSERT_EQUAL_FATAL(got.n, expected.n);

    for (i = 0; i < got.n && i < TG_JSON_INDEX_MAX; i++) {
        CU_ASSERT(got.list[i].key.data == expected.list[i].key.data);
        CU_ASSERT(got.list[i].key.len == expected.list[i].key.len);
        CU_ASSERT(got.list[i].value.data == expected.list[i].value.data);
        CU_ASSERT(got.list[i].value.len == expected.list[i].value.len);
        CU_ASSERT(got.list[i].key_escapes == expected.list[i].key_escapes);
        CU_ASSERT(tg_json_type(got.list[i].value) != TG_JSON_STRING
                  || got.list[i].escapes == expected.list[i].escapes);
    }
}

/* Replaces each byte and cuts at each end: common forms have a fast path. */
HELP_TEST(usual, "common and nearly common forms")
{
    static const char bytes[] = "\"\\,:{}[] \n0-.e9t\x7f\x80\x01";
    static const char text[] =
        "{\"text\":\"some text that is no short one\",\"n\":123456789,"
        "\"empty\":\"\",\"o\":{\"a\":[1]},\"more\":0,\"x\":17,"
        "\"a key that is longer than that\":true,\"last\":\"\"} \t  and more";
    char changed[sizeof(text)];
    size_t i, at;

    for (at = 0; at < sizeof(text) - 1; at++) {
        test_compare(tg_str(text, at));

        for (i = 0; i < sizeof(bytes) - 1; i++) {
            memcpy(changed, text, sizeof(text));
            changed[at] = bytes[i];
            test_compare(tg_str(changed, sizeof(text) - 1));
        }
    }
}

/* Few members cost nothing; without offsets each costs a step or more. */
HELP_TEST(lookup_cost, "the cost of a lookup")
{
    tg_json_index_t notes;
    tg_json_member_t note;
    uint64_t steps;
    tg_json_cursor_t json;
    HELP_BUFFER(text);
    tg_str_t raw;
    size_t i;

    tg_buf_append_cstr(&text, "{\"a\":1");

    for (i = 1; i < 100; i++) {
        tg_buf_append_cstr(&text, ",\"b\":\"\\n\"");
    }

    tg_buf_append_cstr(&text, ",\"\\u0061\":2}");
    tg_json_init(&json, tg_buf_view(&text));
    CU_ASSERT(tg_json_index_object(&json, &notes, &raw) == TG_OK);
    steps = 101;
    CU_ASSERT(tg_json_index_get_bounded(&notes, raw, TG_STR("a"), &steps, &note)
              == TG_OK);
    HELP_EQ(note.value, "2");
    CU_ASSERT(steps == 0);
    steps = 101;
    CU_ASSERT(tg_json_index_get_bounded(NULL, raw, TG_STR("c"), &steps, &note)
              == TG_MISSING);
    steps = 100;
    CU_ASSERT(tg_json_index_get_bounded(&notes, raw, TG_STR("a"), &steps, &note)
              == TG_LIMIT);
    CU_ASSERT(steps == 0);
    CU_ASSERT(tg_json_index_get(&notes, raw, TG_STR("b"), &note) == TG_OK);
    CU_ASSERT(note.escapes == TG_JSON_HAS_ESCAPES);

    tg_buf_truncate(&text, 0);
    tg_buf_append_cstr(&text, "{\"a\":\"");

    while (text.len < 10000) {
        tg_buf_append_char(&text, 'x');
    }

    tg_buf_append_cstr(&text, "\"}");
    tg_json_init(&json, tg_buf_view(&text));
    CU_ASSERT(tg_json_index_object(&json, &notes, &raw) == TG_OK);
    steps = 1000;
    CU_ASSERT(tg_json_index_get_bounded(NULL, raw, TG_STR("a"), &steps, &note)
              == TG_OK);
    CU_ASSERT(steps < 950 && steps > 900);
    steps = 0;
    CU_ASSERT(tg_json_index_get_bounded(&notes, raw, TG_STR("a"), &steps, &note)
              == TG_OK);
}
