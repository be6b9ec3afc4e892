/* Options of the library: their values as texts, and errors of threads. */
#include "protocol_help.h"

#include "lib/tg_option.h"

#include <errno.h>
#include <pthread.h>

/* The result of tg_option_parse_time(); UINT64_MAX: invalid. */
static uint64_t
test_time(const char *text)
{
    uint64_t ms = 77;

    if (tg_option_parse_time("t", text, &ms) == 0) {
        return ms;
    }

    CU_ASSERT_EQUAL(ms, 77);
    CU_ASSERT_PTR_NOT_NULL(strstr(toolgate_error(), "\"t\" must be a time"));

    return UINT64_MAX;
}

static uint64_t
test_size(const char *text, uint64_t least, uint64_t most)
{
    uint64_t value = 77;

    if (tg_option_parse_size("s", text, least, most, &value) == 0) {
        return value;
    }

    CU_ASSERT_EQUAL(value, 77);
    CU_ASSERT_PTR_NOT_NULL(strstr(toolgate_error(), "\"s\" must be a number"));

    return UINT64_MAX;
}

HELP_TEST(test_option_times, "times")
{
    CU_ASSERT_EQUAL(test_time("off"), 0);
    CU_ASSERT_EQUAL(test_time("0s"), 0);
    CU_ASSERT_EQUAL(test_time("500ms"), 500);
    CU_ASSERT_EQUAL(test_time("5"), 5000);
    CU_ASSERT_EQUAL(test_time("5s"), 5000);
    CU_ASSERT_EQUAL(test_time("2m"), 120000);
    CU_ASSERT_EQUAL(test_time("1h"), 3600000);
    CU_ASSERT_EQUAL(test_time("1d"), 86400000);
    CU_ASSERT_EQUAL(test_time("3650d"), UINT64_C(315360000000));

    CU_ASSERT_EQUAL(test_time("3651d"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("315360000001ms"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("18446744073709551617s"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time(""), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("s"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("-1s"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time(" 1s"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("1 s"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("1s "), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("1.5s"), UINT64_MAX);
    CU_ASSERT_EQUAL(test_time("1S"), UINT64_MAX);
}

HELP_TEST(test_option_sizes, "sizes")
{
    CU_ASSERT_EQUAL(test_size("4096", 1, 10000), 4096);
    CU_ASSERT_EQUAL(test_size("4k", 1, 10000), 4096);
    CU_ASSERT_EQUAL(test_size("4K", 4096, 4096), 4096);
    CU_ASSERT_EQUAL(test_size("10m", 1, UINT64_C(1) << 40), 10485760);
    CU_ASSERT_EQUAL(test_size("1M", 1, 1048576), 1048576);

    CU_ASSERT_EQUAL(test_size("0", 1, 10), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("11", 1, 10), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("4k", 4097, 10000), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("1m", 1, 1048575), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("18014398509481985k", 1, UINT64_MAX), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("99999999999999999999", 1, UINT64_MAX),
                    UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("", 0, 10), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("4g", 1, UINT64_MAX), UINT64_MAX);
    CU_ASSERT_EQUAL(test_size("-4", 1, UINT64_MAX), UINT64_MAX);
}

HELP_TEST(test_option_words, "words, and names that are misspelt")
{
    static const char *const words[] = { "thread", "fd", NULL };
    static const char *const names[] = { "timeout", "grace", NULL };
    int value = 77;

    CU_ASSERT_EQUAL(tg_option_parse_word("loop", "thread", words, &value), 0);
    CU_ASSERT_EQUAL(value, 0);
    CU_ASSERT_EQUAL(tg_option_parse_word("loop", "fd", words, &value), 0);
    CU_ASSERT_EQUAL(value, 1);
    CU_ASSERT_EQUAL(tg_option_parse_word("loop", "f", words, &value),
                    TOOLGATE_ERR_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(toolgate_error(),
                           "\"loop\" must be one of thread, fd, not \"f\"");
    CU_ASSERT_EQUAL(value, 1);

    CU_ASSERT_EQUAL(tg_option_find("grace", names), 1);
    CU_ASSERT_EQUAL(tg_option_find("tiemout", names), TOOLGATE_ERR_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(
        toolgate_error(),
        "unknown option \"tiemout\"; did you mean \"timeout\"?");
    CU_ASSERT_EQUAL(tg_option_find("zzzzzzzz", names), TOOLGATE_ERR_ARGUMENT);
    CU_ASSERT_STRING_EQUAL(toolgate_error(),
                           "unknown option \"zzzzzzzz\"; see docs/library.md");
}

static void *
test_other_thread(void *arg)
{
    *(int *) arg = toolgate_error()[0] == '\0';
    (void) tg_lib_set_error(TOOLGATE_ERR_STATE, "another one's");

    return NULL;
}

HELP_TEST(test_option_errors, "errors are per thread")
{
    pthread_t thread;
    char large[4000];
    int was_empty = 0;

    CU_ASSERT_EQUAL(tg_lib_set_error(TOOLGATE_ERR_BUSY, "%d of %s", 3, "4"),
                    TOOLGATE_ERR_BUSY);
    CU_ASSERT_EQUAL(
        pthread_create(&thread, NULL, test_other_thread, &was_empty), 0);
    CU_ASSERT_EQUAL(pthread_join(thread, NULL), 0);
    CU_ASSERT_TRUE(was_empty);
    CU_ASSERT_STRING_EQUAL(toolgate_error(), "3 of 4");

    errno = ENOENT;
    CU_ASSERT_EQUAL(tg_lib_set_errno_error("%s", "it"), TOOLGATE_ERR_SYSTEM);
    CU_ASSERT_STRING_EQUAL(toolgate_error(), "it: No such file or directory");
    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    (void) tg_lib_set_error(TOOLGATE_ERR_STATE, "%s", large);
    CU_ASSERT_EQUAL(strlen(toolgate_error()), 2047);
}

HELP_TEST(test_option_classes, "each code has a class")
{
    /* clang-format off */
    static const char *const classes[] = {
        "", "IPCError", "IPCConnectionError", "IPCMessageSizeError",
        "IPCToolExecutionError", "BridgeStartupError", "ValueError",
        "RuntimeError", "OSError", "MemoryError", "CancelledError",
        "BlockingIOError", "TimeoutError", "Exception",
    };
    /* clang-format on */
    int i;

    for (i = 0; i < (int) (HELP_COUNT(classes)); i++) {
        CU_ASSERT_STRING_EQUAL(toolgate_error_class(-i), classes[i]);
    }

    CU_ASSERT_STRING_EQUAL(toolgate_error_class(1), "Exception");
}

static void
test_argument(const char *arguments, const char *name, const char *value)
{
    char *text = toolgate_argument(arguments, strlen(arguments), name);

    if (value == NULL) {
        CU_ASSERT_PTR_NULL(text);
    } else {
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        CU_ASSERT_STRING_EQUAL(text, value);
    }

    toolgate_free(text);
}

HELP_TEST(test_option_arguments, "members of arguments")
{
    const char *all = " {\"a\":\"x\\n\\u00e9\",\"b\": [1, {\"c\":2}] ,"
                      "\"d\":null,\"e\":-1.5e3,\"f\":\"\"}";

    test_argument(all, "a", "x\n\xc3\xa9");
    test_argument(all, "b", "[1, {\"c\":2}]");
    test_argument(all, "d", "null");
    test_argument(all, "e", "-1.5e3");
    test_argument(all, "f", "");
    test_argument(all, "c", NULL);
    CU_ASSERT_STRING_EQUAL(toolgate_error(), "unknown argument \"c\"");
    test_argument("[1]", "a", NULL);
    test_argument("{\"a\":", "a", NULL);
    CU_ASSERT_STRING_EQUAL(toolgate_error(), "arguments are no JSON");
    test_argument("", "a", NULL);
}

HELP_TEST(test_option_no_callback, "a call without a result callback")
{
    toolgate_client_t *client = toolgate_client_new("/nowhere/at.sock");

    CU_ASSERT_PTR_NOT_NULL_FATAL(client);
    CU_ASSERT_EQUAL(toolgate_client_begin_list(client, 0, NULL, NULL, NULL),
                    TOOLGATE_ERR_ARGUMENT);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(toolgate_error(), "a callback for the response"));
    CU_ASSERT_EQUAL(toolgate_client_list(client, 0, NULL), TOOLGATE_ERR_STATE);
    CU_ASSERT_EQUAL(toolgate_client_open(client), TOOLGATE_ERR_CONNECTION);
    CU_ASSERT_EQUAL(toolgate_client_call(client, "t", NULL, -1, NULL),
                    TOOLGATE_ERR_ARGUMENT);
    toolgate_client_free(client);
}
