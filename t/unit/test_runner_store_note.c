/*
 * The store of tasks in SQLite: notes beside them.
 */
#include "runner_store.h"

static int
test_note(const char *key, const char *value, int is_new)
{
    tg_store_note_t notes[2];
    tg_store_ask_t ask;

    test_begin(&ask, TG_STORE_NOTE);
    notes[0].key = TG_STR("first");
    notes[0].value = tg_str_c(value != NULL ? value : "0");
    notes[0].is_new = 0;
    notes[1].key = tg_str_c(key);
    notes[1].value = value != NULL ? tg_str_c(value) : TG_STR_NONE;
    notes[1].is_new = is_new;
    ask.notes = notes;
    ask.nnotes = 2;
    (void) test_wait(&ask);
    tg_store_ask_deinit(&ask);

    return ask.rc;
}

HELP_TEST(notes, "notes are written together, with a task or alone")
{
    tg_store_note_t note;
    tg_store_ask_t ask;

    test_fresh("notes");
    TOLD(TG_STORE_NOTES, 0, TG_STR_NONE, "{}");
    CU_ASSERT(test_note("a\"b", "{\"x\":1}", 1) == TG_OK);
    TOLD(TG_STORE_NOTES, 0, TG_STR_NONE,
         "{\"first\":{\"x\":1},\"a\\\"b\":{\"x\":1}}");
    CU_ASSERT(test_note("a\"b", "[2]", 0) == TG_OK);
    CU_ASSERT(test_note("a\"b", "3", 1) == TG_EXISTS);
    TOLD(TG_STORE_NOTES, 0, TG_STR_NONE, "{\"first\":[2],\"a\\\"b\":[2]}");
    CU_ASSERT(test_note("a\"b", NULL, 0) == TG_OK);
    TOLD(TG_STORE_NOTES, 0, TG_STR_NONE, "{\"first\":0}");

    /* Neither the one nor the other. */
    test_begin(&ask, TG_STORE_SUBMIT);
    ask.prompt = TG_STR("p");
    ask.agent = TG_STR("a");
    note.key = TG_STR("task");
    note.value = TG_STR("1");
    note.is_new = 1;
    ask.notes = &note;
    ask.nnotes = 1;
    CU_ASSERT(test_wait(&ask) == TG_OK);
    CU_ASSERT(test_wait(&ask) == TG_EXISTS);
    note.key = TG_STR("other");
    ask.limit = 1;
    CU_ASSERT(test_wait(&ask) == TG_LIMIT);
    tg_store_ask_deinit(&ask);
    TOLD(TG_STORE_NOTES, 0, TG_STR_NONE, "{\"first\":0,\"task\":1}");
    TOLD(TG_STORE_STATS, 0, TG_STR_NONE,
         "{\"total\":1,\"queued\":1,\"running\":0,\"completed\":0,"
         "\"failed\":0,\"cancelled\":0}");
    test_close();
    test_remove("notes");
}

HELP_TEST(repeated, "a submission with a token is there once")
{
    const char *tokens[] = { "x", "y", "x", "x", NULL };
    const int64_t ids[] = { 0, 1, 0, 0 };
    tg_store_ask_t ask;
    int i;

    test_fresh("repeated");

    for (i = 0; tokens[i] != NULL; i++) {
        test_begin(&ask, TG_STORE_SUBMIT);
        ask.prompt = TG_STR("p");
        ask.agent = TG_STR("a");
        ask.token = tg_str_c(tokens[i]);
        ask.limit = i < 3 ? 100 : 0;
        CU_ASSERT(test_wait(&ask) == TG_OK && ask.id == ids[i]);
        tg_store_ask_deinit(&ask);
    }

    CU_ASSERT(test_submit("a", 0, "p") == 2);
    test_close();
    test_remove("repeated");
}
