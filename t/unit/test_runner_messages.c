/* Messages: texts and files of a prompt, their limits, and cancelled reads. */
#include "runner_files.h"

/* Requests messages; each "$" is the test's folder. */
static unsigned
request(const char *messages, const char *more)
{
    HELP_BUFFER(params);

    tg_buf_append_cstr(&params, "{\"tool\":\"r\",\"messages\":[");

    for (/* void */; *messages != '\0'; messages++) {
        if (*messages == '$') {
            tg_buf_append_cstr(&params, dir);
        } else {
            tg_buf_append_char(&params, *messages);
        }
    }

    tg_buf_printf(&params, "]%s}", more);
    tg_buf_append_char(&params, '\0');

    return host_request("messages", params.data);
}

static int
get(const char *messages, const char *more)
{
    (void) request(messages, more);

    return host_recv();
}

#define TEXT "{\"role\":\"user\",\"text\":\"a\\\"\\u00e9\"}"
#define FILE_A "{\"role\":\"assistant\",\"path\":\"$/root/a\"}"

HELP_TEST(texts, "texts and files")
{
    begin();
    put_text("root/a", "x \"y\"\n");
    CU_ASSERT(get("", ""));
    CU_ASSERT(host_is("result", "{\"messages\":[]}"));
    CU_ASSERT(get(TEXT "," FILE_A "," FILE_A, ",\"description\":\"d\""));
    CU_ASSERT(host_is("result",
                      "{\"description\":\"d\",\"messages\":["
                      "{\"role\":\"user\",\"content\":{\"type\":\"text\","
                      "\"text\":\"a\\\"\\u00e9\"}},"
                      "{\"role\":\"assistant\",\"content\":{\"type\":\"text\","
                      "\"text\":\"x \\\"y\\\"\\n\"}},"
                      "{\"role\":\"assistant\",\"content\":{\"type\":\"text\","
                      "\"text\":\"x \\\"y\\\"\\n\"}}]}"));

    /* The maximum is that of all files. */
    CU_ASSERT(get(FILE_A "," FILE_A, ",\"max_output\":12"));
    CU_ASSERT(host_result("result").data != NULL);
    CU_ASSERT(get(FILE_A "," FILE_A, ",\"max_output\":11"));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(host_is("rule", "\"max_output\""));
    end();
}

HELP_TEST(refused, "files that are refused")
{
    begin();
    make_dir("root/sub");
    put_text("root/a", "\xff");
    CU_ASSERT(get(TEXT "," FILE_A, ""));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(strstr(host_text("message"), "not UTF-8") != NULL);
    CU_ASSERT(get("{\"role\":\"user\",\"path\":\"$/root/none\"}", ""));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "does not exist") != NULL);
    CU_ASSERT(get("{\"role\":\"user\",\"path\":\"$/root/sub\"}", ""));
    CU_ASSERT(host_is("failure", "\"program\""));
    end();
}

HELP_TEST(params, "invalid params")
{
    static const char *const messages[] = {
        "1",
        "{}",
        "{\"role\":\"user\"}",
        "{\"role\":1,\"text\":\"a\"}",
        "{\"role\":\"user\",\"text\":1}",
        "{\"role\":\"user\",\"path\":1}",
        "{\"role\":\"user\",\"path\":\"\"}",
        "{\"role\":\"user\",\"path\":\"a\"}",
    };
    size_t i;

    begin();

    for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        CU_ASSERT(get(messages[i], ""));
        CU_ASSERT(host_result("result").data == NULL);
    }

    (void) host_request("messages", "{\"tool\":\"r\",\"messages\":{}}");
    CU_ASSERT(host_recv());
    CU_ASSERT(host_result("result").data == NULL);
    end();
}

HELP_TEST(cancelled, "cancelled reads")
{
    static char text[2000001];
    unsigned i, id;

    begin();
    memset(text, 'x', sizeof(text) - 1);
    put_text("root/a", text);

    for (i = 0; i < 50; i++) {
        id = request(FILE_A "," FILE_A, ",\"max_output\":8000000");

        while (i % 20 != 0 && host.jobs.nrunning == 0) {
            uv_run(&host.loop, UV_RUN_ONCE);
        }

        host_cancel(id);
        CU_ASSERT(host_until(host_no_slot, NULL));
    }

    while (host_has_line(NULL)) {
        (void) host_recv();
    }

    end();
}
