/* Walks a JSON text in steps. */
#include "protocol_help.h"

#include "base/tg_json_walk.h"

static const char *const test_event_names[] = { "root", "begin", "item",
                                                "member" };

/* Walks a text, writes its events and returns the result. */
static int
test_walk(const char *text, tg_buf_t *events)
{
    tg_json_walk_t walk;
    int rc;

    tg_json_walk_init(&walk, tg_str_from_cstr(text), 0);

    while ((rc = tg_json_walk(&walk)) == TG_OK) {
        tg_buf_printf(events, "%s", test_event_names[walk.event]);

        if (walk.event != TG_JSON_WALK_ROOT) {
            tg_buf_append_char(events, ' ');
            tg_buf_append_str(events,
                              walk.key.data != NULL ? walk.key : TG_STR("-"));
        }

        if (walk.event == TG_JSON_WALK_ITEM
            || walk.event == TG_JSON_WALK_MEMBER) {
            tg_buf_append_char(events, '=');
            tg_buf_append_str(events, walk.value);
        }

        tg_buf_append_char(events, ';');
    }

    return rc;
}

static void
test_is(const char *text, const char *wanted)
{
    HELP_BUFFER(events);

    CU_ASSERT_EQUAL(test_walk(text, &events), TG_END);
    HELP_EQ(tg_buf_view(&events), wanted);
}

HELP_TEST(in_order, "events")
{
    test_is(" 1 ", "root;");
    test_is("[]", "root;");
    test_is("{\"a\" : [1, {\"x\":[2]}] ,\"b\":true,\"c\":{}}\n",
            "root;begin a;item a=1;item a={\"x\":[2]};"
            "member a=[1, {\"x\":[2]}];member b=true;begin c;member c={};");
    test_is("{\"a\":{\"k\":1,\"l\":[]}}",
            "root;begin a;item a=1;item a=[];member a={\"k\":1,\"l\":[]};");
    test_is("[[3],4]", "root;begin -;item -=3;member -=[3];member -=4;");
}

HELP_TEST(verdicts, "the same verdict as in one step")
{
    static const char *const texts[] = {
        "",         " ",          "{",          "[",          "[1",
        "[1,",      "[1,]",       "[1]]",       "{\"a\"}",    "{\"a\":}",
        "{\"a\":1", "{\"a\":[}",  "{\"a\":[1}", "{\"a\":{]}", "{\"a\":{},}",
        "1 2",      "{} {}",      "nul",        "[[[]]]",     "{\"a\":[[{}]]}",
        "\"\xff\"", "[\"\x01\"]", "[[1],,2]",
    };
    int rc;

    HELP_EACH(text, texts) {
        HELP_BUFFER(events);

        rc = tg_json_validate(tg_str_from_cstr(*text), NULL);
        CU_ASSERT_EQUAL(test_walk(*text, &events), rc == TG_OK ? TG_END : rc);
    }
}

HELP_TEST(depth, "depth")
{
    tg_json_walk_t walk;
    char text[2 * TG_JSON_MAX_DEPTH];
    int depth, rc;

    memset(text, '[', TG_JSON_MAX_DEPTH);
    memset(text + TG_JSON_MAX_DEPTH, ']', TG_JSON_MAX_DEPTH);

    for (depth = 0; depth < 2; depth++) {
        tg_json_walk_init(&walk, tg_str(text, sizeof(text)), depth);

        do {
            rc = tg_json_walk(&walk);
        } while (rc == TG_OK);

        CU_ASSERT_EQUAL(rc, depth == 0 ? TG_END : TG_LIMIT);
    }
}
