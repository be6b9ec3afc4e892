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

    HELP_EACH(row, rows) {
        CU_ASSERT_EQUAL(tg_client_caps_parse(tg_str_from_cstr(row->raw)),
                        row->client_caps);
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
    HELP_BUFFER(out);

    HELP_EACH(can, cans) {
        tg_buf_truncate(&out, 0);
        tg_client_caps_write_json(&out, *can);
        CU_ASSERT_EQUAL(tg_client_caps_parse(tg_buf_view(&out)), *can);
    }
}
