/* The result of `toolgate.status` as tables and in Prometheus' format. */
#include "cli/tg_cli_status.h"

#include "protocol_help.h"

static json_object *
test_parse(const char *json)
{
    json_object *value;

    CU_ASSERT_FATAL(tg_cli_json_parse(tg_str_from_cstr(json), &value) == TG_OK);

    return value;
}

static void
test_put(void (*put)(tg_buf_t *out, json_object *status), const char *json,
         tg_buf_t *out)
{
    json_object *status;

    status = test_parse(json);
    tg_buf_init(out, tg_alloc_libc());
    put(out, status);
    json_object_put(status);
    tg_buf_append_char(out, '\0');
    CU_ASSERT_FATAL(!tg_buf_has_failed(out));
}

static void
test_is(void (*put)(tg_buf_t *out, json_object *status), const char *json,
        const char *expected)
{
    tg_buf_t out;

    test_put(put, json, &out);
    CU_ASSERT_STRING_EQUAL(out.data, expected);

    if (strcmp(out.data, expected) != 0) {
        (void) printf("\n%s", out.data);
    }

    tg_buf_deinit(&out);
}

static int
test_has(const tg_buf_t *out, const char *text)
{
    return strstr(out->data, text) != NULL;
}

#define TOOL(name, more)                                                       \
    "{\"type\":\"tool\",\"name\":\"" name "\",\"calls\":20,\"in_flight\":2,"   \
    "\"queued\":1,\"ends\":{\"ok\":15,\"timeout\":2,\"busy\":1,\"lost\":0},"   \
    "\"bytes_in\":1234,\"bytes_out\":98765432,\"ms\":36000,"                   \
    "\"times\":[16,1,1]" more "}"

#define SERVER(name, tools)                                                    \
    "{\"server\":\"" name "\",\"name\":\"toolgate\",\"connections\":{"         \
    "\"accepted\":7,\"open\":{\"auto\":0,\"ipc\":2,\"jsonrpc\":1}},"           \
    "\"tools\":[" tools "],\"mcp_servers\":[{\"name\":\"git\","                \
    "\"state\":\"failed\",\"restarts\":3,\"running\":0,"                       \
    "\"error\":\"no\\nsuch file\"},{\"name\":\"far\",\"state\":\"ready\","     \
    "\"restarts\":0,\"running\":1,\"clashes\":[{\"tool\":\"re\\tad\","         \
    "\"name\":\"re_ad\",\"mcp_server\":\"git\"},{\"tool\":\"m\","              \
    "\"name\":\"m\"}],\"unchecked\":[{\"name\":\"far_x\",\"why\":\"many\"}]"   \
    "}]}"

#define STATUS(server)                                                         \
    "{\"version\":\"0.1.0\",\"workers\":2,\"times_ms\":[1,5000],"              \
    "\"servers\":[" server "],\"runners\":[{\"state_dir\":\"/run/x\","         \
    "\"state\":\"up\",\"pid\":12,\"running\":1,\"queued\":4,\"started\":9,"    \
    "\"tasks\":2,"                                                             \
    "\"kinds\":{\"exec\":1,\"http\":4}}],\"calls\":[]}"

#define TEST_CALLED                                                            \
    "word_count     20    2     1  2.0 s  20.5 s  1.2 kB  99 MB  "             \
    "timeout 2, busy 1\n"

#define TEST_REST                                                              \
    "\n"                                                                       \
    "MCP SERVER  STATE   PROCESSES  RESTARTS  LAST ERROR\n"                    \
    "git         failed          0         3  no…\n"                         \
    "far         ready           1         0\n"                                \
    "\n"                                                                       \
    "OMITTED     MCP SERVER  NAME   USED BY\n"                                 \
    "re\\u0009ad  far         re_ad  git\n"                                    \
    "m           far         m      the config\n"                              \
    "\n"                                                                       \
    "NOT CHECKED  MCP SERVER  WHY\n"                                           \
    "far_x        far         many\n"                                          \
    "\n"                                                                       \
    "RUNNER  STATE  PID  PROGRAMS  WAIT  STARTED  TASKS  JOBS\n"               \
    "/run/x  up      12         1     4        9      2  exec 1, "             \
    "http 4\n"

static const char test_status[] = STATUS(
    SERVER("unix:/run/t.sock",
           TOOL("word_count", "") ",{\"type\":\"method\",\"name\":\"m\","
                                  "\"times\":[0,0,0]},{\"type\":\"method\","
                                  "\"name\":\"task.list\",\"internal\":true,"
                                  "\"calls\":1,\"times\":[1,0,0],\"ms\":0}"));

HELP_TEST(tables, "tables")
{
    test_is(tg_cli_status_append_full, test_status,
            "toolgate 0.1.0, 2 workers\n"
            "\n"
            "unix:/run/t.sock (toolgate): 7 connections so far, "
            "2 open (ipc), 1 open (jsonrpc)\n"
            "\n"
            "TOOL                CALLS  NOW  WAIT   MEAN     95%      IN    "
            "OUT  FAILED\n"
            "word_count             20    2     1  2.0 s  20.5 s  1.2 kB  "
            "99 MB  timeout 2, busy 1\n"
            "m (method)              0    0     0      -       -       0      "
            "0\n"
            "task.list (method)      1    0     0   0 ms    0 ms       0      "
            "0\n" TEST_REST);
}

/* Tools without calls, and Toolgate's own, are listed only on demand. */
HELP_TEST(hidden, "rows that are left out")
{
    test_is(tg_cli_status_append_summary, test_status,
            "toolgate 0.1.0, 2 workers\n"
            "\n"
            "unix:/run/t.sock (toolgate): 7 connections so far, "
            "2 open (ipc), 1 open (jsonrpc)\n"
            "\n"
            "TOOL        CALLS  NOW  WAIT   MEAN     95%      IN    OUT  "
            "FAILED\n" TEST_CALLED
            "not shown: 1 without calls, 1 internal method; --all shows "
            "them\n" TEST_REST);
}

HELP_TEST(named, "one name: the whole error message and each bucket")
{
    static const struct {
        const char *name;
        size_t n;
        const char *expected;
    } cases[] = {
        { "git", 1,
          "mcp_server git\nserver     unix:/run/t.sock\nstate      failed\n"
          "processes  0\nrestarts   3\n\nlast error:\n\nno\nsuch file\n" },
        { "far", 1,
          "mcp_server far\nserver     unix:/run/t.sock\nstate      ready\n"
          "processes  1\nrestarts   0\n"
          "omitted    re\\u0009ad, as git has re_ad\n"
          "           m, as the config has m\n"
          "unchecked  far_x, many\n" },
        { "word_count", 1,
          "tool       word_count\nserver     unix:/run/t.sock\n"
          "calls      20\nnow        2\nwait       1\nmean       2.0 s\n"
          "95%        20.5 s\n           16 took up to 1 ms\n"
          "           1 took up to 5.0 s\n           1 took more than 5.0 s\n"
          "in         1.2 kB\nout        99 MB\n"
          "failed     timeout 2, busy 1\n" },
        { "m", 1,
          "method     m\nserver     unix:/run/t.sock\ncalls      0\n"
          "now        0\nwait       0\nin         0\nout        0\n" },
        { "wordcount", 0, "" },
    };
    json_object *status;

    status = test_parse(test_status);

    HELP_EACH(item, cases) {
        HELP_BUFFER(out);

        CU_ASSERT_EQUAL(tg_cli_status_append_details(&out, status, item->name),
                        item->n);
        HELP_EQ(tg_buf_view(&out), item->expected);
    }

    json_object_put(status);
}

/* Interpolated within a bucket, and bounded by the sum of all times. */
HELP_TEST(percentile, "percentiles")
{
    static const struct {
        const char *tool;
        double ms;
    } cases[] = {
        { "{\"times\":[0,0,0,0],\"ms\":0}", -1 },
        { "{}", -1 },
        /* one call: as long as the sum */
        { "{\"times\":[0,0,1,0],\"ms\":13}", 13 },
        /* in the middle, the 95th of 100 in one bucket */
        { "{\"times\":[0,0,100,0],\"ms\":3000}", 47.8 },
        { "{\"times\":[90,10,0,0],\"ms\":100}", 5.05 },
        { "{\"times\":[100,0,0,0],\"ms\":0}", 0 },
        /* beyond the last bound, the sum decides */
        { "{\"times\":[0,0,0,2],\"ms\":2000}", 1750 },
        /* counters of two moments */
        { "{\"times\":[0,0,0,2],\"ms\":20}", 50 },
    };
    json_object *status, *tool;
    double ms;

    status = test_parse("{\"times_ms\":[1,10,50]}");

    HELP_EACH(item, cases) {
        tool = test_parse(item->tool);
        ms = tg_cli_status_estimate_p95(status, tool);
        CU_ASSERT_DOUBLE_EQUAL(ms, item->ms, 0.001);
        json_object_put(tool);
    }

    json_object_put(status);
}

HELP_TEST(calls, "calls")
{
    test_is(tg_cli_status_append_calls,
            "{\"calls\":[{\"id\":17,\"server\":\"unix:/a\",\"type\":\"tool\","
            "\"name\":\"build\",\"kind\":\"exec\",\"state\":\"running\",\"ms\":"
            "90500,\"pid\":4711,\"worker\":3,\"client\":{\"pid\":5,\"uid\":"
            "1000}},{\"id\":9,\"server\":\"1.2.3.4:5\",\"type\":\"method\","
            "\"name\":\"x\\u001b[2J\",\"kind\":\"worker\",\"state\":\"queued\","
            "\"ms\":7}]}",
            "ID      AGE  STATE    KIND     PID  CLIENT        TOOL"
            "                 SERVER\n"
            "17  1.5 min  running  exec    4711  5 (uid 1000)  build"
            "                unix:/a\n"
            " 9     7 ms  queued   worker     -  -             "
            "x\\u001b[2J (method)  1.2.3.4:5\n");
    test_is(tg_cli_status_append_calls, "{}",
            "ID  AGE  STATE  KIND  PID  CLIENT  TOOL  SERVER\n");
}

HELP_TEST(one, "singular and plural forms")
{
    static const struct {
        double ms;
        const char *text;
    } times[] = {
        { 0, "0 ms" },       { 3.14, "3.1 ms" },   { 12, "12 ms" },
        { 48200, "48.2 s" }, { 90000, "1.5 min" }, { 600000, "10 min" },
        { 3600000, "1 h" },  { 90000000, "25 h" }, { 864000000, "10 days" },
    };

    test_is(tg_cli_status_append_summary,
            "{\"version\":\"1\",\"workers\":1,\"servers\":[{\"server\":\"a\","
            "\"name\":\"b\",\"connections\":{\"accepted\":1}}],"
            "\"runners\":[{\"state_dir\":\"c\",\"state\":\"absent\"}]}",
            "toolgate 1, 1 worker\n"
            "\n"
            "a (b): 1 connection so far\n"
            "\n"
            "TOOL  CALLS  NOW  WAIT  MEAN  95%  IN  OUT  FAILED\n"
            "\n"
            "RUNNER  STATE   PID  PROGRAMS  WAIT  STARTED  TASKS  JOBS\n"
            "c       absent    -         0     0        0      0\n");

    HELP_EACH(time, times) {
        HELP_BUFFER(out);

        tg_cli_append_duration(&out, time->ms);
        HELP_EQ(tg_buf_view(&out), time->text);
    }
}

/* Labels are escaped, buckets are cumulative, families are grouped. */
HELP_TEST(metrics, "metrics")
{
    static const char labels[] =
        "{server=\"a\\\\b\\\"c\\nd\",type=\"tool\",tool=\"t\"";
    static const char *const samples[][2] = {
        { "toolgate_calls_total", ",status=\"ok\"} 15\n" },
        { "toolgate_calls_total", ",status=\"lost\"} 0\n" },
        { "toolgate_calls_in_flight", "} 2\n" },
        { "toolgate_calls_queued", "} 1\n" },
        { "toolgate_call_received_bytes_total", "} 1234\n" },
        { "toolgate_call_duration_seconds_bucket", ",le=\"0.001\"} 16\n" },
        { "toolgate_call_duration_seconds_bucket", ",le=\"5\"} 17\n" },
        { "toolgate_call_duration_seconds_bucket", ",le=\"+Inf\"} 18\n" },
        { "toolgate_call_duration_seconds_sum", "} 36.000\n" },
        { "toolgate_call_duration_seconds_count", "} 18\n" },
    };
    char expected[256];
    tg_buf_t out;

    test_put(tg_cli_status_append_prometheus,
             STATUS(SERVER("a\\\\b\\\"c\\nd", TOOL("t", ""))), &out);

    HELP_EACH(sample, samples) {
        (void) snprintf(expected, sizeof(expected), "%s%s%s", (*sample)[0],
                        labels, (*sample)[1]);
        CU_ASSERT(test_has(&out, expected));
    }

    CU_ASSERT(test_has(&out, "toolgate_info{version=\"0.1.0\"} 1\n"));
    CU_ASSERT(test_has(&out, "toolgate_workers 2\n"));
    CU_ASSERT(test_has(&out, ",dialect=\"ipc\"} 2\n"));
    CU_ASSERT(test_has(&out, ",mcp_server=\"git\"} 0\n"));
    CU_ASSERT(test_has(&out, "toolgate_mcp_server_restarts_total{"));
    CU_ASSERT(test_has(&out, "toolgate_mcp_server_clashes{"));
    CU_ASSERT(test_has(&out, ",mcp_server=\"far\"} 2\n"));
    CU_ASSERT(test_has(&out, "toolgate_mcp_server_unchecked{"));
    CU_ASSERT(test_has(&out, ",mcp_server=\"far\"} 1\n"));
    CU_ASSERT(test_has(&out, "toolgate_runner_up{state_dir=\"/run/x\"} 1\n"));
    CU_ASSERT(test_has(&out, "{state_dir=\"/run/x\",kind=\"http\"} 4\n"));
    CU_ASSERT(test_has(&out, "# TYPE toolgate_call_duration_seconds "
                             "histogram\n"));
    tg_buf_deinit(&out);
}

/* A result of another version, or no result: only known members are shown. */
HELP_TEST(strange, "missing members")
{
    static const char *const responses[] = {
        "null",
        "[]",
        "{}",
        "{\"servers\":7}",
        "{\"servers\":[7,{}]}",
        ("{\"servers\":[{\"tools\":[{},[],{\"times\":[1],\"ends\":[]}],"
         "\"connections\":[]}],\"runners\":[null],\"calls\":[{},3]}"),
    };
    tg_buf_t out;

    HELP_EACH(response, responses) {
        test_put(tg_cli_status_append_summary, *response, &out);
        tg_buf_deinit(&out);
        test_put(tg_cli_status_append_calls, *response, &out);
        tg_buf_deinit(&out);
        test_put(tg_cli_status_append_prometheus, *response, &out);
        tg_buf_deinit(&out);
    }
}
