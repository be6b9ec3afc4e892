/* The SQLite task store: claims for the agent *. */
#include "runner_store.h"

/* Claims for two agents with their retries; returns the id, or -rc. */
static int64_t
test_claim_for(const char *name, int is_full, const char *other)
{
    tg_store_query_t query;
    int64_t id;

    strcpy(test_agents.names[0], name);
    strcpy(test_agents.names[1], other);
    test_agents.retries[0] = 1;
    test_agents.retries[1] = 12;
    test_agents.is_full[0] = is_full;
    test_agents.n = 2;
    test_begin(&query, TG_STORE_CLAIM);
    id = test_wait(&query) == TG_OK ? query.id : -query.rc;
    tg_store_query_deinit(&query);
    test_agents.is_full[0] = 0;

    return id;
}

HELP_TEST(claims, "the agent * takes the tasks of names without an agent")
{
    test_fresh("claims");
    CU_ASSERT(test_submit("tool:a", 9, "0") == 0);
    CU_ASSERT(test_submit("a", 8, "1") == 1);
    CU_ASSERT(test_submit("aa", 7, "2") == 2);
    CU_ASSERT(test_submit("b", 6, "3") == 3);
    CU_ASSERT(test_submit("a", 5, "4") == 4);
    CU_ASSERT(test_claim_for("a", 1, "*") == 2);
    CU_ASSERT(test_claim_for("a", 0, "*") == 1);
    CU_ASSERT(test_claim_for("a", 1, "b") == 3);
    CU_ASSERT(test_claim_for("a", 1, "*") == -TG_END);
    CU_ASSERT(test_claim_for("*", 0, "tool:a") == 0);
    CU_ASSERT(test_claim_for("c", 0, "*") == 4);
    CU_ASSERT(test_claim_for("c", 0, "*") == -TG_END);
    test_close();
    test_sql("claims",
             "CREATE TABLE checked(is_right CHECK(is_right));"
             "INSERT INTO checked SELECT group_concat(retry,' ')"
             "='12 1 12 12 12' FROM (SELECT retry FROM task ORDER BY id)");
    test_remove("claims");
}
