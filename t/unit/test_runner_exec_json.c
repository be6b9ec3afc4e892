/* The JSON of `exec`: its params and its results, without a program. */
#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "spec/tg_output_spec.h"
#include "runner/exec/tg_exec.h"

#include "protocol_help.h"

#include <signal.h>
#include <sys/wait.h>

static const tg_program_base_env_t test_env = { "PATH=/bin", "HOME=/h",
                                                "LANG=C", "P=3" };

/* Params of every job, and of exec. */
typedef struct {
    tg_job_params_t job;
    tg_exec_params_t exec;
} test_params_t;

static int
test_read(test_params_t *params, const char *text, const char **why)
{
    tg_str_t values[TG_JOB_MEMBERS_MAX];
    int rc;

    CU_ASSERT(tg_json_validate(tg_str_from_cstr(text), NULL) == TG_OK);
    memset(params, 0, sizeof(*params));
    rc = tg_job_params_read(&params->job, tg_str_from_cstr(text),
                            tg_exec_fields, TG_EXEC_TIMEOUT_DEFAULT, values,
                            why);

    if (rc != TG_OK) {
        return rc;
    }

    rc = tg_exec_params_read(&params->exec, values, params->job.tool, &test_env,
                             why);

    if (rc != TG_OK) {
        tg_job_params_free(&params->job);
    }

    return rc;
}

static void
test_free(test_params_t *params)
{
    tg_exec_params_free(&params->exec);
    tg_job_params_free(&params->job);
}

HELP_TEST(params_full, "all members")
{
    test_params_t params;
    const char *why;

    CU_ASSERT(test_read(&params,
                        "{\"tool\":\"w\\u00e9\",\"argv\":[\"/bin/a\",\"\",\"x "
                        "y\"],\"other\":[1,{}],\"env\":[\"A=1\",\"B=\",\"A=2\","
                        "\"TOOL_NAME=x\"],\"cwd\":\"/tmp\",\"stdin\":"
                        "\"a\\u0000b\",\"timeout_ms\":5e3,\"max_timeout_ms\":"
                        "6000,\"max_output\":7,\"limits\":[{\"name\":\"n\","
                        "\"key\":\"k\\u00e9\",\"concurrency\":2,\"queue\":10,"
                        "\"x\":1},{\"queue\":0,\"concurrency\":65536,\"key\":"
                        "\"\",\"name\":\"m\"},{\"name\":\"n\",\"key\":\"k\","
                        "\"concurrency\":1}]}",
                        &why)
              == TG_OK);
    CU_ASSERT_STRING_EQUAL(params.job.tool, "w\xc3\xa9");
    CU_ASSERT_STRING_EQUAL(params.exec.program.argv[0], "/bin/a");
    CU_ASSERT_STRING_EQUAL(params.exec.program.argv[1], "");
    CU_ASSERT_STRING_EQUAL(params.exec.program.argv[2], "x y");
    CU_ASSERT_PTR_NULL(params.exec.program.argv[3]);
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[0], "PATH=/bin");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[1], "HOME=/h");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[2], "LANG=C");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[3], "TOOL_NAME=x");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[4], "P=3");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[5], "A=2");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[6], "B=");
    CU_ASSERT_PTR_NULL(params.exec.program.envp[7]);
    CU_ASSERT_STRING_EQUAL(params.exec.program.cwd, "/tmp");
    CU_ASSERT(tg_str_eq(params.exec.input, tg_str("a\0b", 3)));
    CU_ASSERT_EQUAL(params.job.timeout_ms, 5000);
    CU_ASSERT_EQUAL(params.job.max_timeout_ms, 6000);
    CU_ASSERT_EQUAL(params.exec.output_params.max_output, 7);
    CU_ASSERT_EQUAL(params.job.nlimits, 3);
    CU_ASSERT_STRING_EQUAL(params.job.limits[0].name, "n");
    CU_ASSERT_STRING_EQUAL(params.job.limits[0].key, "k\xc3\xa9");
    CU_ASSERT_EQUAL(params.job.limits[0].concurrency, 2);
    CU_ASSERT_EQUAL(params.job.limits[0].queue, 10);
    CU_ASSERT_STRING_EQUAL(params.job.limits[1].key, "");
    CU_ASSERT_EQUAL(params.job.limits[1].concurrency, 65536);
    CU_ASSERT_EQUAL(params.job.limits[2].queue, 0);
    test_free(&params);
}

HELP_TEST(params_least, "only required members")
{
    test_params_t params;
    const char *why;

    CU_ASSERT(test_read(&params, "{\"argv\":[\"/a\"],\"tool\":\"\"}", &why)
              == TG_OK);
    CU_ASSERT_STRING_EQUAL(params.exec.program.cwd, "/");
    CU_ASSERT_STRING_EQUAL(params.exec.program.envp[3], "TOOL_NAME=");
    CU_ASSERT_EQUAL(params.exec.input.len, 0);
    CU_ASSERT_EQUAL(params.job.timeout_ms, TG_EXEC_TIMEOUT_DEFAULT);
    CU_ASSERT_EQUAL(params.job.max_timeout_ms, TG_JOB_TIMEOUT_MAX);
    CU_ASSERT_EQUAL(params.job.nlimits, 0);
    CU_ASSERT_EQUAL(params.exec.output_params.max_output, TG_OUTPUT_DEFAULT);
    test_free(&params);
}

HELP_TEST(params_wrong, "invalid members")
{
    static const struct {
        int rc;
        const char *text;
    } cases[] = {
        { TG_INVALID, "[]" },
        { TG_INVALID, "{}" },
        { TG_INVALID, "{\"tool\":\"t\"}" },
        { TG_INVALID, "{\"argv\":[\"/a\"]}" },
        { TG_INVALID, "{\"tool\":1,\"argv\":[\"/a\"]}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":\"/a\"}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[]}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\",1]}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"env\":{}}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"cwd\":null}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"stdin\":1}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"timeout_ms\":0}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"timeout_ms\":1.5}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"timeout_ms\":3e9}" },
        { TG_INVALID,
          "{\"tool\":\"t\",\"argv\":[\"/a\"],\"max_timeout_ms\":0}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"max_output\":-1}" },
        { TG_INVALID,
          "{\"tool\":\"t\",\"argv\":[\"/a\"],\"max_output\":33554433}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"success\":1}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"success\":[256]}" },
        { TG_INVALID,
          "{\"tool\":\"t\",\"argv\":[\"/a\"],\"success\":[\"1\"]}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"stderr\":\"x\"}" },
        { TG_INVALID,
          "{\"tool\":\"t\",\"argv\":[\"/a\"],\"bytes\":\"image\"}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"mime\":\"a/b\"}" },
        { TG_INVALID, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"bytes\":\"x\","
                      "\"mime\":\"a/b\"}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"a\"]}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"\"]}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"/a\\u0000\"]}" },
        { TG_LIMIT, "{\"tool\":\"\\u0000\",\"argv\":[\"/a\"]}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"cwd\":\"a\"}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"cwd\":\"/\\u0000\"}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"env\":[\"A\"]}" },
        { TG_LIMIT, "{\"tool\":\"t\",\"argv\":[\"/a\"],\"env\":[\"=1\"]}" },
        { TG_LIMIT,
          "{\"tool\":\"t\",\"argv\":[\"/a\"],\"env\":[\"A=\\u0000\"]}" },
    };
    test_params_t params;
    const char *why;

    HELP_EACH(item, cases) {
        why = NULL;

        if (test_read(&params, item->text, &why) != item->rc) {
            fprintf(stderr, "%s\n", item->text);
            CU_FAIL("another result");
        }

        CU_ASSERT_PTR_NOT_NULL(why);
    }
}

HELP_TEST(params_limits, "limits")
{
    static const struct {
        int rc;
        const char *limits;
    } cases[] = {
        { TG_OK, "[]" },
        { TG_OK, "[{\"name\":\"n\",\"key\":\"k\",\"concurrency\":1}]" },
        { TG_INVALID, "{}" },
        { TG_INVALID, "null" },
        { TG_INVALID, "[1]" },
        { TG_INVALID, "[{}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":\"k\"}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"concurrency\":1}]" },
        { TG_INVALID, "[{\"key\":\"k\",\"concurrency\":1}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":1,\"concurrency\":1}]" },
        { TG_INVALID, "[{\"name\":1,\"key\":\"k\",\"concurrency\":1}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":\"k\",\"concurrency\":0}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":\"k\",\"concurrency\":1.5}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":\"k\",\"concurrency\":1,"
                      "\"queue\":-1}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":\"k\",\"concurrency\":1,"
                      "\"queue\":3e9}]" },
        { TG_INVALID,
          "[{\"name\":\"n\",\"key\":\"\\u0000\",\"concurrency\":1}]" },
        { TG_INVALID, "[{\"name\":\"n\",\"key\":\"1\",\"concurrency\":1},"
                      "{\"name\":\"n\",\"key\":\"2\",\"concurrency\":1},"
                      "{\"name\":\"n\",\"key\":\"3\",\"concurrency\":1},"
                      "{\"name\":\"n\",\"key\":\"4\",\"concurrency\":1},"
                      "{\"name\":\"n\",\"key\":\"5\",\"concurrency\":1}]" },
    };
    test_params_t params;
    const char *why;
    char text[1024];

    HELP_EACH(item, cases) {
        snprintf(text, sizeof(text),
                 "{\"tool\":\"t\",\"argv\":[\"/a\"],\"limits\":%s}",
                 item->limits);

        if (test_read(&params, text, &why) != item->rc) {
            fprintf(stderr, "%s\n", text);
            CU_FAIL("another result");
        }

        test_free(&params);
    }
}

HELP_TEST(params_many, "many strings")
{
    test_params_t params;
    const char *why;
    int i, more;

    for (more = 0; more < 2; more++) {
        HELP_BUFFER(text);

        tg_buf_append_cstr(&text, "{\"tool\":\"t\",\"argv\":[\"/a\"");

        for (i = 1; i < TG_PROGRAM_STRINGS_MAX + more; i++) {
            tg_buf_append_cstr(&text, ",\"\"");
        }

        tg_buf_append(&text, "]}", 3);
        CU_ASSERT(test_read(&params, text.data, &why)
                  == (more ? TG_LIMIT : TG_OK));
        test_free(&params);
    }
}

#define TIMES ",\"queued_ms\":3,\"ran_ms\":4"
#define EXITED(status) TIMES ",\"exit\":" #status "}"
#define ENDED_BY(signal) TIMES ",\"signal\":" #signal "}"
static const tg_job_params_t test_params = { .tool = (char[]){ "t" } };
static const tg_run_stats_t test_spent = { .queued_ms = 3, .ran_ms = 4 };

/* Writes the whole result at once. */
static void
test_response(tg_buf_t *json, tg_exec_output_t *output, int status)
{
    tg_exec_response_t answer;

    tg_exec_response_begin(&answer, output, &test_params, status, &test_spent);

    while (tg_output_response_step(&answer.answer) == TG_AGAIN) {
        /* void */
    }

    tg_buf_append_str(json, tg_buf_view(&answer.answer.writer.json));
    tg_output_response_end(&answer.answer);
}

static void
test_result_is(tg_exec_output_t *output, int status, const char *json)
{
    HELP_BUFFER(text);

    test_response(&text, output, status);
    CU_ASSERT(tg_json_validate(tg_buf_view(&text), NULL) == TG_OK);

    if (!tg_str_eq(tg_buf_view(&text), tg_str_from_cstr(json))) {
        fprintf(stderr, "%.*s\n", (int) text.len, text.data);
        CU_FAIL("another result");
    }
}

HELP_TEST(responses, "an exit status in the result, or a text")
{
    tg_exec_output_t output;

    tg_exec_output_init(&output, TG_OUTPUT_TEXT, 5);
    test_result_is(&output, 0, "{\"text\":\"\"" EXITED(0));
    test_result_is(&output, W_EXITCODE(255, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 255 and wrote nothing to stderr\"" EXITED(255));
    CU_ASSERT(tg_exec_output_add_stdout(&output, "a\n", 2) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "\xc3\xa9", 2) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "bc", 2) == TG_LIMIT);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "\"", 1) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "", 0) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "x", 1) == TG_LIMIT);
    test_result_is(&output, W_EXITCODE(0, 0),
                   "{\"text\":\"a\\n\xc3\xa9\\\"\"" EXITED(0));
    tg_output_tail_append(&output.err, "e\t\xff\n\n", 5);
    test_result_is(&output, W_EXITCODE(7, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 7\\n[end of stderr]\\n\\t\xef\xbf\xbd\\n[end of "
                   "stdout]\\n\xc3\xa9\\\"\"" EXITED(7));
    output.output_params.max_output = 100;
    tg_buf_truncate(&output.out, 0);
    test_result_is(&output, W_EXITCODE(0, SIGSEGV),
                   "{\"failure\":\"program\",\"message\":\"t was killed by "
                   "signal 11 (SIGSEGV): e\\t\xef\xbf\xbd\"" ENDED_BY(11));
    test_result_is(&output, W_EXITCODE(0, SIGUSR1),
                   "{\"failure\":\"program\",\"message\":\"t was killed by "
                   "signal 10: e\\t\xef\xbf\xbd\"" ENDED_BY(10));
    tg_exec_output_deinit(&output);
}

/* The ends of both outputs share the bytes that max_output leaves. */
HELP_TEST(result_ends, "ends")
{
    tg_exec_output_t output;

    tg_exec_output_init(&output, TG_OUTPUT_TEXT, 20);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "one\ntwo\n\n", 9) == TG_OK);
    test_result_is(&output, W_EXITCODE(1, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 1 and wrote nothing to stderr\\n[stdout]\\none\\n"
                   "two\"" EXITED(1));
    tg_output_tail_append(&output.err, "why\n", 4);
    test_result_is(&output, W_EXITCODE(1, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 1\\n[stderr]\\nwhy\\n[stdout]\\none\\ntwo\"" EXITED(
                       1));
    tg_output_tail_append(&output.err, "0123456789abcdef", 16);
    test_result_is(&output, W_EXITCODE(1, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 1\\n[end of stderr]\\n56789abcdef\\n[stdout]\\n"
                   "one\\ntwo\"" EXITED(1));
    tg_exec_output_deinit(&output);
}

/* Output that must be JSON is returned unchanged, or with an error. */
HELP_TEST(result_values, "values")
{
    tg_exec_output_t output;

    tg_exec_output_init(&output, TG_OUTPUT_JSON, 100);
    CU_ASSERT(tg_exec_output_add_stdout(&output, " {\"a\":\n1}\n", 10)
              == TG_OK);
    test_result_is(&output, 0, "{\"json\":{\"a\":\n1}" EXITED(0));
    output.output_params.type = TG_OUTPUT_RESULT;
    test_result_is(
        &output, 0,
        "{\"failure\":\"output\",\"message\":\"t: The output is not a tool "
        "result, as \\\"output result\\\" requires: it is not an object with "
        "an array \\\"content\\\". It is:  {\\\"a\\\":"
        "\\n1}\\n\"" EXITED(0));
    tg_exec_output_deinit(&output);

    tg_exec_output_init(&output, TG_OUTPUT_RESULT, 100);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "{\"content\":[]}", 14)
              == TG_OK);
    test_result_is(&output, 0, "{\"result\":{\"content\":[]}" EXITED(0));
    CU_ASSERT(tg_exec_output_add_stdout(&output, "\xff", 1) == TG_OK);
    test_result_is(
        &output, 0,
        "{\"failure\":\"output\",\"message\":\"The output of t is "
        "not UTF-8 text (first invalid byte at offset 14 of 15); "
        "for binary output the tool needs \\\"output image TYPE\\\", "
        "\\\"output audio TYPE\\\" or \\\"output file TYPE\\\".\"" EXITED(0));
    tg_exec_output_deinit(&output);
}

/* Statuses that are not errors, and the use of stderr. */
HELP_TEST(result_statuses, "statuses and stderr")
{
    tg_exec_output_t output;

    tg_exec_output_init(&output, TG_OUTPUT_TEXT, 20);
    output.output_params.success.is_set = 1;
    output.output_params.success.bits[0] = 1 << 1;
    output.output_params.success.bits[7] = UINT32_C(1) << 31;
    output.output_params.err = TG_EXEC_STDERR_APPEND;
    CU_ASSERT(tg_exec_output_add_stderr(&output, "no\n", 3) == TG_OK);
    test_result_is(&output, W_EXITCODE(0, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 0: no\",\"meta\":{\"toolgate/exitStatus\":0}" EXITED(
                       0));
    CU_ASSERT(tg_exec_output_add_stdout(&output, "a", 1) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stderr(&output, "01234567890123456", 17)
              == TG_LIMIT);
    test_result_is(&output, W_EXITCODE(255, 0),
                   "{\"text\":\"a\\n[stderr]\\nno\\n\",\"meta\":{"
                   "\"toolgate/exitStatus\":255}" EXITED(255));
    tg_exec_output_deinit(&output);

    tg_exec_output_init(&output, TG_OUTPUT_TEXT, 20);
    output.output_params.err = TG_EXEC_STDERR_DROP;
    CU_ASSERT(tg_exec_output_add_stderr(&output, "secret", 6) == TG_OK);
    test_result_is(&output, W_EXITCODE(1, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 1\"" EXITED(1));
    tg_exec_output_deinit(&output);
}

HELP_TEST(result_bytes, "bytes are base64, in a block of their type")
{
    tg_exec_output_t output;

    tg_exec_output_init(&output, TG_OUTPUT_TEXT, 4);
    output.output_params.bytes = TG_EXEC_BINARY_IMAGE;
    output.output_params.mime = "image/png";
    test_result_is(&output, 0,
                   "{\"failure\":\"output\",\"message\":\"t printed nothing, "
                   "but image (image/png) was expected.\"" EXITED(0));
    CU_ASSERT(tg_exec_output_add_stdout(&output, "\xff", 1) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "\0ab", 3) == TG_OK);
    CU_ASSERT(tg_exec_output_add_stdout(&output, "c", 1) == TG_LIMIT);
    test_result_is(&output, W_EXITCODE(1, 0),
                   "{\"failure\":\"program\",\"message\":\"t exited with "
                   "status 1 and wrote nothing to stderr\"" EXITED(1));
    test_result_is(&output, 0,
                   "{\"result\":{\"content\":[{\"type\":\"image\",\"data\":"
                   "\"/wBhYg==\",\"mimeType\":\"image/png\"}],\"isError\":"
                   "false}" EXITED(0));
    tg_exec_output_deinit(&output);

    tg_exec_output_init(&output, TG_OUTPUT_TEXT, 4);
    output.output_params.bytes = TG_EXEC_BINARY_FILE;
    output.output_params.mime = "application/pdf";
    CU_ASSERT(tg_exec_output_add_stdout(&output, "abc", 3) == TG_OK);
    test_result_is(&output, 0,
                   "{\"result\":{\"content\":[{\"type\":\"resource\","
                   "\"resource\":{\"uri\":\"toolgate://output\",\"blob\":"
                   "\"YWJj\",\"mimeType\":\"application/pdf\"}}],\"isError\":"
                   "false}" EXITED(0));
    tg_exec_output_deinit(&output);
}

/* Returns the text after "t exited with status 1: ". */
static tg_str_t
test_tail_of(const tg_buf_t *json)
{
    static const char before[] = "t exited with status 1: ";
    tg_str_t tail;

    CU_ASSERT_FATAL(
        tg_json_get_member(tg_buf_view(json), TG_STR("message"), &tail)
        == TG_OK);
    tail = tg_json_string_body(tail);
    CU_ASSERT_FATAL(tail.len > sizeof(before)
                    && memcmp(tail.data, before, sizeof(before) - 1) == 0);

    return tg_str(tail.data + sizeof(before) - 1,
                  tail.len - sizeof(before) + 1);
}

/* A tail of any length, in any portions, is the end without a cut character. */
HELP_TEST(tail, "tail")
{
    static const size_t portions[] = { 1, 7, 4095, 4096, 4097, 8192, 20000 };
    tg_exec_output_t output;
    size_t i, at, n, len;
    tg_str_t tail;
    tg_buf_t json;
    char *text;

    len = 20000;
    text = malloc(len);
    CU_ASSERT_FATAL(text != NULL);

    /* é has two bytes; an odd length cuts one. */
    for (i = 0; i < len; i++) {
        text[i] = i % 2 == 0 ? '\xc3' : '\xa9';
    }

    text[len - 1] = '.';
    text[len - 2] = 'z';

    HELP_EACH(portion, portions) {
        tg_exec_output_init(&output, TG_OUTPUT_TEXT, TG_OUTPUT_DEFAULT);

        for (at = 1; at < len; at += n) {
            n = *portion < len - at ? *portion : len - at;
            tg_output_tail_append(&output.err, text + at, n);
        }

        tg_output_tail_append(&output.err, "!", 1);
        tg_buf_init(&json, tg_alloc_libc());
        test_response(&json, &output, W_EXITCODE(1, 0));
        tail = test_tail_of(&json);
        CU_ASSERT(tail.len == 4 + TG_OUTPUT_TAIL_MAX - 1);
        CU_ASSERT(memcmp(tail.data, "\xe2\x80\xa6 \xc3\xa9", 6) == 0);
        CU_ASSERT(memcmp(tail.data + tail.len - 3, "z.!", 3) == 0);
        tg_buf_deinit(&json);
        tg_exec_output_deinit(&output);
    }

    free(text);
}

HELP_TEST(tail_uncut, "an uncut tail")
{
    tg_exec_output_t output;
    char text[TG_OUTPUT_TAIL_MAX + 1];
    tg_buf_t json;
    tg_str_t tail;
    size_t len;

    memset(text, 'x', sizeof(text));

    for (len = TG_OUTPUT_TAIL_MAX; len <= sizeof(text); len++) {
        tg_exec_output_init(&output, TG_OUTPUT_TEXT, TG_OUTPUT_DEFAULT);
        tg_output_tail_append(&output.err, text, len);
        tg_buf_init(&json, tg_alloc_libc());
        test_response(&json, &output, W_EXITCODE(1, 0));
        tail = test_tail_of(&json);
        CU_ASSERT(tail.len
                  == TG_OUTPUT_TAIL_MAX + (len > TG_OUTPUT_TAIL_MAX ? 4 : 0));
        tg_buf_deinit(&json);
        tg_exec_output_deinit(&output);
    }
}

HELP_TEST(times, "times")
{
    static const struct {
        uint64_t ms;
        const char *text;
    } cases[] = {
        { 1, "1 ms" },     { 999, "999 ms" },    { 1000, "1 s" },
        { 1500, "1.5 s" }, { 1050, "1.05 s" },   { 1005, "1.005 s" },
        { 60000, "60 s" }, { 12340, "12.34 s" },
    };

    HELP_EACH(item, cases) {
        HELP_BUFFER(text);

        tg_buf_append_duration(&text, item->ms);
        CU_ASSERT(tg_str_eq(tg_buf_view(&text), tg_str_from_cstr(item->text)));
    }
}
