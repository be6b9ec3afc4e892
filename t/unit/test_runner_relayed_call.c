/* Calls that a worker relays to the worker that now has their session. */
#include "runner_host.h"

#define KEY "abcdefghijklmnop"

static const char test_key[] = "{\"key\":\"" KEY "\"}";
static tg_peer_t test_new; /* of the other worker */

static void
test_begin(void)
{
    host_peer_init(&test_new);
    host.at = &host.peer;
}

static void
test_end(void)
{
    host.at = &host.peer;
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.jobs.njobs == 0 && host.jobs.ndetached == 0);
    CU_ASSERT(host.jobs.bytes == 0 && host.jobs.detached_bytes == 0);
    CU_ASSERT(host.peer.out.len == 0);
    tg_peer_deinit(&test_new);
}

static int
test_has(const char *text)
{
    return strstr(host.line.data, text) != NULL;
}

static void
test_request(const char *method, const char *params, const char *answer)
{
    host.at = &host.peer;
    (void) host_request(method, params);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_has(answer));
}

static void
test_detach(const char *more)
{
    char params[128];

    snprintf(params, sizeof(params), "{\"key\":\"" KEY "\",\"tool\":\"t\"%s}",
             more);
    test_request("leave", params, "\"result\":true");
    CU_ASSERT(host.jobs.ndetached == 1);
}

static unsigned
test_attach(void)
{
    host.at = &test_new;

    return host_request("adopt", test_key);
}

static void
test_finish(const char *answer)
{
    char params[128];

    snprintf(params, sizeof(params), "{\"key\":\"" KEY "\",\"answer\":%s}",
             answer);
    test_request("finish", params, "\"result\":true");
}

/* Compares this call's result on the new worker's next line. */
static void
test_completed(unsigned id, const char *result)
{
    char text[128];

    host.at = &test_new;
    snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":%s",
             id, result);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_has(text));
}

static void
test_is_cancelled(void)
{
    host.at = &host.peer;
    CU_ASSERT(host_recv());
    CU_ASSERT(
        test_has("\"method\":\"cancel\",\"params\":{\"key\":\"" KEY "\"}"));
    test_request("finish", "{\"key\":\"" KEY "\",\"answer\":1}", "-32602");
    test_request("tell", "{\"key\":\"" KEY "\",\"progress\":1}", "-32602");
}

HELP_TEST(adopted, "the result comes after or before the attachment")
{
    unsigned id;

    test_begin();
    test_detach("");
    id = test_attach();
    CU_ASSERT(host.jobs.ndetached == 0);
    test_finish("{\"text\":\"a\"}");
    test_completed(id, "{\"text\":\"a\"}");

    test_detach("");
    test_finish("[\"b\"]");
    CU_ASSERT(host.jobs.ndetached == 1);
    id = test_attach();
    test_completed(id, "[\"b\"]");
    test_end();
}

HELP_TEST(no_slot, "no slot is needed, as nothing of the call runs here")
{
    test_begin();
    test_detach("");
    CU_ASSERT(host.jobs.nrunning == 0 && host.jobs.nqueued == 0);
    (void) test_attach();
    test_finish("1");
    host.at = &test_new;
    CU_ASSERT(host_recv());
    test_end();
}

HELP_TEST(progress, "progress")
{
    unsigned id;

    test_begin();
    test_detach("");

    /* The newest progress is kept for the worker that attaches it. */
    test_request("tell", "{\"key\":\"" KEY "\",\"progress\":1}", "true");
    test_request("tell",
                 "{\"key\":\"" KEY "\",\"progress\":2,\"total\":3,"
                 "\"message\":\"m\"}",
                 "true");
    id = test_attach();
    CU_ASSERT(host_recv());
    CU_ASSERT(test_has("\"progress\":2,\"total\":3,\"message\":\"m\"}"));
    test_request("tell", "{\"key\":\"" KEY "\",\"progress\":3}", "true");
    test_finish("1");
    host.at = &test_new;
    CU_ASSERT(host_recv());
    CU_ASSERT(test_has("\"progress\":3}"));
    test_completed(id, "1");
    test_end();
}

HELP_TEST(again, "detached again")
{
    char params[128];
    unsigned id;

    test_begin();
    test_detach("");
    id = test_attach();

    /* The attaching worker has to detach it as well. */
    snprintf(params, sizeof(params), "{\"id\":%u,\"key\":\"" KEY "2\"}", id);
    (void) host_request("release", params);
    CU_ASSERT(host_recv());
    CU_ASSERT(test_has("true"));
    (void) host_request("adopt", "{\"key\":\"" KEY "2\"}");
    test_finish("1");
    test_completed(id + 2, "1");
    test_end();
}

HELP_TEST(cancelled, "cancelled")
{
    unsigned id;

    test_begin();
    test_detach("");
    id = test_attach();
    host_cancel(id);
    test_is_cancelled();
    test_end();
}

HELP_TEST(attacher_lost, "the attaching worker disconnects")
{
    test_begin();
    test_detach("");
    (void) test_attach();
    tg_peer_deinit(&test_new);
    host_peer_init(&test_new);
    test_is_cancelled();
    test_end();
}

HELP_TEST(expired, "not attached in time")
{
    test_begin();
    host.jobs.detached_ms = 50;
    test_detach("");
    test_is_cancelled();
    host.jobs.detached_ms = TG_DETACHED_MS;
    test_end();
}

HELP_TEST(timeout, "timeout")
{
    test_begin();
    test_detach(",\"timeout_ms\":50");
    (void) test_attach();
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is_text("failure", "timeout"));
    test_is_cancelled();
    test_end();
}

/* The detaching worker disconnects: before and after the attachment. */
HELP_TEST(lost, "its worker disconnects")
{
    int i;

    for (i = 0; i < 2; i++) {
        test_begin();
        test_detach("");

        if (i == 0) {
            (void) test_attach();
        }

        tg_relayed_calls_on_peer_closed(&host.jobs, &host.peer);

        if (i == 1) {
            (void) test_attach();
        }

        host.at = &test_new;
        CU_ASSERT(host_recv());
        CU_ASSERT(host_is_text("failure", "lost"));
        CU_ASSERT(strstr(host_text("message"), "may have been executed")
                  != NULL);
        test_end();
    }
}

HELP_TEST(others, "other workers cannot change a call")
{
    unsigned id;

    test_begin();
    test_detach("");
    id = test_attach();
    (void) host_request("finish", "{\"key\":\"" KEY "\",\"answer\":2}");
    CU_ASSERT(host_recv());
    CU_ASSERT(test_has("-32602"));
    tg_relayed_calls_on_peer_closed(&host.jobs, &test_new);
    test_finish("1");
    test_completed(id, "1");
    test_end();
}

HELP_TEST(wrong, "wrong requests")
{
    test_begin();
    test_request("leave", "{\"tool\":\"t\"}", "must be 16 to 64");
    test_request("leave", test_key, "-32602");
    test_request("tell", "{}", "-32602");
    test_detach("");
    test_request("leave", "{\"key\":\"" KEY "\",\"tool\":\"t\"}", "in use");
    (void) test_attach();
    test_request("leave", "{\"key\":\"" KEY "\",\"tool\":\"t\"}", "in use");
    test_request("finish", test_key, "is missing");
    test_finish("1");
    host.at = &test_new;
    CU_ASSERT(host_recv());
    test_end();
}
