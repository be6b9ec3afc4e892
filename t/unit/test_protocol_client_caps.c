/* A client's capabilities. */
#include "protocol_help.h"

#include "protocol/tg_client_caps.h"

HELP_TEST(read, "capabilities that are read")
{
    static const struct {
        const char *raw;
        unsigned client_caps;
    } rows[] = {
        { "", 0 },
        { "null", 0 },
        { "[{\"roots\":{}}]", 0 },
        { "{}", 0 },
        { "{\"roots\":{}}", TG_CLIENT_CAP_ROOTS },
        { "{\"roots\":{\"form\":{},\"roots\":{}}}", TG_CLIENT_CAP_ROOTS },
        { "{\"roots\":true,\"\":{},\"r\":{},\"rootst\":{}}", 0 },
        { "{\"r\\u006fots\":{},\"\\u0073ampling\":{}}",
          TG_CLIENT_CAP_ROOTS | TG_CLIENT_CAP_SAMPLING },
        { "{\"elicitation\":{\"url\":{},\"tools\":{}},\"form\":{}}",
          TG_CLIENT_CAP_ELICITATION | TG_CLIENT_CAP_ELICITATION_URL },
        { "{\"sampling\":{\"tools\":{},\"context\":{},\"context\":1}}",
          TG_CLIENT_CAP_SAMPLING | TG_CLIENT_CAP_SAMPLING_TOOLS },
        { "{\"elicitation\":{\"form\":{}},\"elicitation\":{\"url\":{}}}",
          TG_CLIENT_CAP_ELICITATION | TG_CLIENT_CAP_ELICITATION_URL },
        { "{\"elicitation\":{\"form\":{}},\"roots\":{},\"elicitation\":1}",
          TG_CLIENT_CAP_ROOTS },
    };
    size_t i;

    for (i = 0; i < HELP_COUNT(rows); i++) {
        CU_ASSERT_EQUAL(tg_client_caps_parse(tg_str_from_cstr(rows[i].raw)),
                        rows[i].client_caps);
    }
}

HELP_TEST(put, "written capabilities are read again")
{
    static const unsigned cans[] = {
        0,
        TG_CLIENT_CAP_ROOTS,
        TG_CLIENT_CAP_ELICITATION | TG_CLIENT_CAP_ELICITATION_URL,
        TG_CLIENT_CAP_SAMPLING | TG_CLIENT_CAP_SAMPLING_CONTEXT
            | TG_CLIENT_CAP_ROOTS,
        TG_CLIENT_CAPS_ALL,
    };
    tg_buf_t out = HELP_BUF;
    size_t i;

    for (i = 0; i < HELP_COUNT(cans); i++) {
        tg_buf_truncate(&out, 0);
        tg_client_caps_write_json(&out, cans[i]);
        CU_ASSERT_EQUAL(tg_client_caps_parse(tg_buf_view(&out)), cans[i]);
    }

    tg_buf_deinit(&out);
}
