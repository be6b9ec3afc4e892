/* What a client says that it can be asked. */
#include "core_help.h"

#include "core/tg_can.h"

HELP_TEST(read, "capabilities that are read")
{
    static const struct {
        const char *raw;
        unsigned can;
    } rows[] = {
        { "", 0 },
        { "null", 0 },
        { "[{\"roots\":{}}]", 0 },
        { "{}", 0 },
        { "{\"roots\":{}}", TG_CAN_ROOTS },
        { "{\"roots\":{\"form\":{},\"roots\":{}}}", TG_CAN_ROOTS },
        { "{\"roots\":true,\"\":{},\"r\":{},\"rootst\":{}}", 0 },
        { "{\"r\\u006fots\":{},\"\\u0073ampling\":{}}",
          TG_CAN_ROOTS | TG_CAN_SAMPLE },
        { "{\"elicitation\":{\"url\":{},\"tools\":{}},\"form\":{}}",
          TG_CAN_ELICIT | TG_CAN_ELICIT_URL },
        { "{\"sampling\":{\"tools\":{},\"context\":{},\"context\":1}}",
          TG_CAN_SAMPLE | TG_CAN_SAMPLE_TOOLS },
        { "{\"elicitation\":{\"form\":{}},\"elicitation\":{\"url\":{}}}",
          TG_CAN_ELICIT | TG_CAN_ELICIT_URL },
        { "{\"elicitation\":{\"form\":{}},\"roots\":{},\"elicitation\":1}",
          TG_CAN_ROOTS },
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(tg_can_read(tg_str_c(rows[i].raw)), rows[i].can);
    }
}

HELP_TEST(put, "what is told is read again")
{
    static const unsigned cans[] = {
        0,
        TG_CAN_ROOTS,
        TG_CAN_ELICIT | TG_CAN_ELICIT_URL,
        TG_CAN_SAMPLE | TG_CAN_SAMPLE_CONTEXT | TG_CAN_ROOTS,
        TG_CAN_ALL,
    };
    tg_buf_t out;
    size_t i;

    tg_buf_init(&out, tg_alloc_libc());

    for (i = 0; i < sizeof(cans) / sizeof(cans[0]); i++) {
        tg_buf_truncate(&out, 0);
        tg_can_put(&out, cans[i]);
        CU_ASSERT_EQUAL(tg_can_read(tg_buf_view(&out)), cans[i]);
    }

    tg_buf_deinit(&out);
}
