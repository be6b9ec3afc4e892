/* MCP servers, with times and bounds that other tests cannot wait for. */
#include "runner_mcp.h"

#include "catalog/tg_tool_list.h"
#include "runner/mcp/tg_list_cache.h"
#include "runner/logging/tg_log.h"

#define CACHE_NAME "place-0123456789"

/* --- tests --- */

HELP_TEST(life, "life")
{
    static char key[] = KEY "1";
    pid_t pid;

    /* Errors of the test server are expected. */
    CU_ASSERT(tg_log_set_level("crit") == 0);
    test_watch(key, "", "");
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("state", "\"stopped\""));
    CU_ASSERT(host_until(test_is_ready, key));
    pid = test_conn(key, "")->stdio.program.pid;
    CU_ASSERT(host.servers.nrunning == 1 && host.servers.n == 1);

    (void) test_call(key, "pid", "");
    CU_ASSERT(test_response());
    CU_ASSERT(host_result("result").data != NULL);

    /* It does not block programs, and needs no slot. */
    CU_ASSERT(host.jobs.nrunning == 0);

    /* Without a watcher, it exists until its last call has ended. */
    (void) test_call(key, "hang", ",\"timeout_ms\":300");
    host.servers.unsubscribed_ms = 1;
    tg_mcp_servers_on_peer_closed(&host.servers, &host.peer);
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(host_until(test_has_exited, key));
    CU_ASSERT(host_until(host_pid_has_exited, &pid));
    CU_ASSERT(host.servers.nrunning == 0 && host.servers.n == 0);
    host.servers.unsubscribed_ms = TG_MCP_SERVER_UNSUBSCRIBED_MS;

    (void) test_call(key, "pid", "");
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(host_until(host_no_exec, NULL));
}

HELP_TEST(back_off, "the delay before a start doubles, up to its bound")
{
    static char key[] = KEY "2";
    tg_mcp_conn_t *mcp_conn;
    uint64_t wait, now;
    unsigned i;

    test_watch(key, ",\"exit=1\"", "");
    CU_ASSERT(host_until(test_has_failed, key));
    mcp_conn = test_conn(key, "");

    for (i = 1, wait = TG_MCP_CONN_RETRY_MIN_MS; i < 12; i++) {
        CU_ASSERT(mcp_conn->nfailures == i);
        now = uv_now(&host.loop);
        CU_ASSERT(mcp_conn->retry_at <= now + wait);
        CU_ASSERT(mcp_conn->retry_at + 5000 > now + wait);

        /* Skips a wait that is too long for a test. */
        mcp_conn->retry_at = now;
        tg_mcp_conn_start_soon(mcp_conn);
        test_server(key)->error[0] = '\0';
        CU_ASSERT(host_until(test_has_failed, key));
        wait = wait * 2 < TG_MCP_CONN_RETRY_MAX_MS ? wait * 2
                                                   : TG_MCP_CONN_RETRY_MAX_MS;
    }

    /* No call waits that long. */
    tg_buf_reset(&host.peer.out, 0);
    (void) test_call(key, "echo", "");
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "It will be started again in ")
              != NULL);
    test_forget(key);
}

/* Calls that wait for a start: cancelled, timed out, and finally served. */
HELP_TEST(waiting, "waiting")
{
    static char key[] = KEY "3";
    char more[256], file[96];
    unsigned one, two;

    snprintf(file, sizeof(file), "%s/go", help_dir);
    snprintf(more, sizeof(more), ",\"until=%s\"", file);
    test_watch(key, more, "");
    CU_ASSERT(test_response());
    one = test_call(key, "echo", "");
    two = test_call(key, "echo", ",\"timeout_ms\":50");
    (void) test_call(key, "where", "");
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(two == host.next_id - 1);
    host_cancel(one);
    CU_ASSERT(test_conn(key, "")->ncalls == 1);
    CU_ASSERT(close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0);
    CU_ASSERT(test_response());
    CU_ASSERT(host_result("result").data != NULL);
    CU_ASSERT(test_conn(key, "")->ncalls == 0);
    CU_ASSERT(unlink(file) == 0);
    test_forget(key);
}

HELP_TEST(bounds, "one more than the limits of a server and of its calls")
{
    static char key[] = KEY "4";
    const tg_mcp_conn_t *used;
    tg_mcp_server_t *server;
    char more[128];
    unsigned i;

    test_watch(key, ",\"mute\"", ",\"share\":\"user\"");
    CU_ASSERT(test_response());
    server = test_server(key);

    for (i = 0; i < TG_MCP_CONN_CALLS_MAX; i++) {
        (void) test_call(key, "echo", ",\"instance\":\"u\"");
    }

    used = test_conn(key, "u");
    CU_ASSERT(used->ncalls == TG_MCP_CONN_CALLS_MAX);
    (void) test_call(key, "echo", ",\"instance\":\"u\"");
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"busy\""));

    /* Names of connections that do not exist. */
    host.is_deaf = 1;

    for (i = server->nmcp_conns; i < TG_MCP_SERVER_CONNS_MAX; i++) {
        snprintf(more, sizeof(more), "i%u", i);
        CU_ASSERT_FATAL(
            tg_mcp_conn_new(server, used->transport, tg_str_from_cstr(more))
            != NULL);
    }

    (void) test_call(key, "echo", ",\"instance\":\"one more\"");
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"busy\""));
    CU_ASSERT(strstr(host_text("message"), "runs 256 times") != NULL);

    /* Idle ones are replaced. */
    while (server->nmcp_conns == TG_MCP_SERVER_CONNS_MAX) {
        uv_run(&host.loop, UV_RUN_ONCE);
    }

    (void) test_call(key, "echo", ",\"instance\":\"one more\"");
    CU_ASSERT(test_conn(key, "one more") != NULL);
    host.is_deaf = 0;
    tg_peer_deinit(&host.peer);
    host_peer_init(&host.peer);
    CU_ASSERT(host_until(host_no_exec, NULL));
    test_forget(key);
}

/* A worker that does not read gets the newest list when it reads. */
HELP_TEST(deaf, "deaf worker")
{
    static char key[] = KEY "5";

    host.is_deaf = 1;
    test_watch(key, "", "");
    CU_ASSERT(test_response());
    CU_ASSERT(host_until(test_is_ready, key));
    CU_ASSERT(host.peer.out.len == 0);
    host.is_deaf = 0;
    CU_ASSERT(host_recv());
    CU_ASSERT(strstr(host.line.data, "\"mcp_list\"") != NULL);
    CU_ASSERT(host_recv());
    CU_ASSERT(strstr(host.line.data, "\"mcp_state\"") != NULL);
    CU_ASSERT(strstr(host.line.data, "\"ready\"") != NULL);
    CU_ASSERT(host.peer.out.len == 0);
    test_forget(key);
}

HELP_TEST(put_back, "unwritten calls of an ended server go to the next one")
{
    static char key[] = KEY "6";
    tg_mcp_conn_t *mcp_conn;
    HELP_BUFFER(more);
    pid_t pid;
    size_t i;

    test_watch(key, "", "");
    CU_ASSERT(host_until(test_is_ready, key));
    tg_buf_reset(&host.peer.out, 0);
    mcp_conn = test_conn(key, "");
    pid = mcp_conn->stdio.program.pid;

    /* The server waits for this file without reading. */
    (void) test_call(key, "slow", ",\"arguments\":{\"until\":\"/no/such\"}");
    tg_buf_append_cstr(&more, "{\"tool\":\"s\",\"key\":\"" KEY "6\",\"name\":"
                              "\"echo\",\"arguments\":{\"x\":\"");

    for (i = 0; i < 1000000; i++) {
        tg_buf_append_char(&more, 'x');
    }

    tg_buf_append(&more, "\"}}", 4);
    (void) host_request("mcp_call", more.data);
    (void) test_call(key, "pid", "");
    CU_ASSERT(mcp_conn->ncalls == 3);
    CU_ASSERT(kill(pid, SIGKILL) == 0);
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(test_response());
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(test_response());
    CU_ASSERT(host_result("result").data != NULL);
    CU_ASSERT(mcp_conn->stdio.program.pid != pid);
    CU_ASSERT(test_server(key)->restarts == 1);
    test_forget(key);
}

/* --- cached lists --- */

static void
test_cached_conns(void)
{
    HELP_BUFFER(text);

    tg_list_cache_read_sessions(help_dir, KEY, &text);
    CU_ASSERT(text.len == 0);
    CU_ASSERT(tg_list_cache_write_sessions(help_dir, KEY, TG_STR("id 1\n"))
              == 0);
    tg_list_cache_read_sessions(help_dir, KEY, &text);
    CU_ASSERT(tg_str_eq(tg_buf_view(&text), TG_STR("id 1\n")));
    CU_ASSERT(tg_list_cache_write_sessions(help_dir, KEY, TG_STR("")) == 0);
    CU_ASSERT(tg_list_cache_write_sessions(help_dir, KEY, TG_STR("")) == 0);
    CU_ASSERT(tg_list_cache_write_sessions(NULL, KEY, TG_STR("id 1\n")) == 0);
    tg_buf_reset(&text, 0);
    tg_list_cache_read_sessions(help_dir, KEY, &text);
    CU_ASSERT(text.len == 0);
}

HELP_TEST(kept, "cached lists")
{
    static const char *const wrong[] = { "", "{", "{\"tools\":[}", "[]",
                                         "{\"tools\":\"\xff\"}" };
    tg_mcp_lists_t lists, again;
    char path[160];
    FILE *file;

    tg_mcp_lists_init(&lists);
    tg_mcp_lists_init(&again);
    CU_ASSERT_FATAL(
        tg_mcp_lists_parse(&lists,
                           TG_STR("{\"tools\":[{\"name\":\"a\"},{\"name\":"
                                  "\"b\"}],\"prompts\":[{\"name\":\"p\"}],"
                                  "\"resources\":7,\"capabilities\":{}}"),
                           1)
        == TG_OK);
    HELP_EQ(tg_buf_view(&lists.others),
            ",\"prompts\":[{\"name\":\"p\"}],\"capabilities\":{}");
    CU_ASSERT(tg_list_cache_write(NULL, KEY, &lists) == 0);
    CU_ASSERT(tg_list_cache_write_last(NULL, CACHE_NAME, &lists) == 0);
    tg_list_cache_read(NULL, KEY, 1, &again);
    CU_ASSERT(again.tools == NULL);
    CU_ASSERT(tg_list_cache_write("/no/such", KEY, &lists) == ENOENT);
    CU_ASSERT(tg_list_cache_write_last("/no/such", "", &lists) == 0);
    CU_ASSERT(tg_list_cache_write(help_dir, KEY, &lists) == 0);
    CU_ASSERT(tg_list_cache_write_last(help_dir, CACHE_NAME, &lists) == 0);
    tg_list_cache_read(help_dir, KEY, 2, &again);
    CU_ASSERT_FATAL(again.tools != NULL);
    CU_ASSERT(tg_mcp_lists_digest(&again) == tg_mcp_lists_digest(&lists));
    tg_mcp_lists_deinit(&again);
    tg_mcp_lists_deinit(&lists);

    /* Temporary and old files are removed at the next start. */
    snprintf(path, sizeof(path), "%s/mcp/x.new", help_dir);
    CU_ASSERT(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) == 0);
    tg_list_cache_remove_expired(help_dir);
    CU_ASSERT(access(path, F_OK) == -1);
    snprintf(path, sizeof(path), "%s/mcp/" KEY ".json", help_dir);
    CU_ASSERT(access(path, F_OK) == 0);
    CU_ASSERT(
        utimensat(AT_FDCWD, path, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0)
        == 0);
    tg_list_cache_touch(help_dir, KEY, CACHE_NAME);
    tg_list_cache_remove_expired(help_dir);
    CU_ASSERT(access(path, F_OK) == 0);
    CU_ASSERT(
        utimensat(AT_FDCWD, path, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0)
        == 0);
    tg_list_cache_remove_expired(help_dir);
    CU_ASSERT(access(path, F_OK) == -1);

    HELP_EACH(row, wrong) {
        file = fopen(path, "w");
        CU_ASSERT_FATAL(file != NULL);
        CU_ASSERT(fputs(*row, file) >= 0);
        CU_ASSERT(fclose(file) == 0);
        tg_list_cache_read(help_dir, KEY, 1, &again);
        CU_ASSERT(again.tools == NULL && again.others.len == 0);
    }

    CU_ASSERT(unlink(path) == 0);
    snprintf(path, sizeof(path), "%s/mcp/" CACHE_NAME ".last", help_dir);
    CU_ASSERT(unlink(path) == 0);

    /* A block's name is not used as a path. */
    CU_ASSERT(tg_list_cache_write_name(help_dir, "../x", KEY) == 0);
    CU_ASSERT(tg_list_cache_write_name(help_dir, "", KEY) == 0);
    CU_ASSERT(tg_list_cache_write_name(NULL, "x", KEY) == 0);
    CU_ASSERT(tg_list_cache_write_name("/no/such", "x", KEY) == ENOENT);
    CU_ASSERT(tg_list_cache_write_name(help_dir, "x-_1", KEY) == 0);
    snprintf(path, sizeof(path), "%s/mcp/x-_1.name", help_dir);
    CU_ASSERT(access(path, F_OK) == 0);
    CU_ASSERT(
        utimensat(AT_FDCWD, path, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0)
        == 0);
    tg_list_cache_remove_expired(help_dir);
    CU_ASSERT(access(path, F_OK) == -1);
    test_cached_conns();
    snprintf(path, sizeof(path), "%s/mcp", help_dir);
    CU_ASSERT(rmdir(path) == 0);
}

/* --- messages of workers --- */

static int
test_read_spec(const char *text, tg_mcp_server_params_t *spec)
{
    static const tg_program_base_env_t env = { "PATH=/bin", "HOME=/h", "LANG=C",
                                               NULL };
    const char *why;
    int rc;

    rc = tg_mcp_server_params_read(spec, tg_str_from_cstr(text), &env, &why);
    CU_ASSERT(rc == TG_OK || (rc == TG_INVALID && why[0] != '\0'));

    return rc;
}

#define TEST_SPEC(spec)                                                        \
    "{\"key\":\"" KEY "\",\"server\":\"s\",\"spec\":" spec "}"

HELP_TEST(spec, "spec")
{
    static const char *const wrong[] = {
        "[]",
        "{}",
        TEST_SPEC("1"),
        TEST_SPEC("{\"exec\":[\"/a\"],\"idle_ms\":-1}"),
        TEST_SPEC("{\"exec\":[\"/a\"],\"start\":\"later\"}"),
        TEST_SPEC("{\"exec\":[\"/a\\u0000\"]}"),
        TEST_SPEC("{\"exec\":[\"/a\"],\"env\":[\"A\"]}"),
        TEST_SPEC("{\"exec\":[\"/a\"],\"memory\":0}"),
        TEST_SPEC("{\"pass\":\"unix:x\"}"),
        TEST_SPEC("{\"pass\":\"1.2.3:80\"}"),
        TEST_SPEC("{\"pass\":\"[::1:80\"}"),
        TEST_SPEC("{\"pass\":\"[::g]:80\"}"),
        TEST_SPEC("{\"pass\":\"127.0.0.1:65536\"}"),
        TEST_SPEC("{\"pass\":\"127.0.0.1:80x\"}"),
        TEST_SPEC("{\"pass\":\"127.0.0.1\"}"),
        "{\"key\":\"short\",\"server\":\"s\",\"spec\":{\"exec\":[\"/a\"]}}",
        "{\"key\":\"" KEY "\",\"server\":1,\"spec\":{\"exec\":[\"/a\"]}}",
    };
    tg_mcp_server_params_t spec;

    HELP_EACH(row, wrong) {
        CU_ASSERT(test_read_spec(*row, &spec) == TG_INVALID);
    }

    CU_ASSERT(
        test_read_spec(TEST_SPEC("{\"exec\":[\"/a\",\"b\"],\"share\":\"user\","
                                 "\"start\":\"boot\",\"idle_ms\":0,"
                                 "\"roots\":[]}"),
                       &spec)
        == TG_OK);
    CU_ASSERT(spec.share == TG_MCP_SHARE_USER && spec.is_boot
              && spec.idle_ms == 0);
    CU_ASSERT_STRING_EQUAL(spec.program.argv[1], "b");
    CU_ASSERT_STRING_EQUAL(spec.program.envp[2], "LANG=C");
    CU_ASSERT_PTR_NULL(spec.program.envp[3]);
    CU_ASSERT_STRING_EQUAL(spec.roots, "[]");
    tg_mcp_server_params_free(&spec);

    CU_ASSERT(test_read_spec(TEST_SPEC("{\"pass\":\"[::1]:80\"}"), &spec)
              == TG_OK);
    CU_ASSERT(spec.address.any.sa_family == AF_INET6);
    CU_ASSERT(test_read_spec(TEST_SPEC("{\"pass\":\"unix:/x\"}"), &spec)
              == TG_OK);
    CU_ASSERT_STRING_EQUAL(spec.address.un.sun_path, "/x");
    CU_ASSERT(spec.idle_ms == TG_MCP_SERVER_IDLE_MS
              && spec.share == TG_MCP_SHARE_ALL);
}
