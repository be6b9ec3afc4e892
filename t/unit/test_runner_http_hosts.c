/* Allowed hosts: list, addresses of names, and targets of redirects. */
#include "runner_server.h"

#include "runner/http/tg_public_address.h"

#include <dlfcn.h>
#include <netdb.h>
#include <semaphore.h>

static sem_t slow;
static int nlookups;

int getaddrinfo(const char *node, const char *service,
                const struct addrinfo *hints, struct addrinfo **list)
    __attribute__((visibility("default")));

/* Called from libcurl's threads. */
int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
            struct addrinfo **list)
{
    __typeof__(getaddrinfo) *real;
    void *symbol;

    __atomic_add_fetch(&nlookups, 1, __ATOMIC_SEQ_CST);
    symbol = dlsym(RTLD_NEXT, "getaddrinfo");
    memcpy(&real, &symbol, sizeof(symbol));

    if (strncmp(node, "slow", 4) == 0) {
        while (sem_wait(&slow) != 0) {
            /* void */
        }
    }

    if (strcmp(node, "no.test") == 0) {
        return EAI_NONAME;
    }

    return real("127.0.0.1", service, hints, list);
}

HELP_TEST(addresses, "which addresses are public")
{
    static const char *const public[] = {
        "1.1.1.1",          "8.8.8.8",         "9.255.255.255",
        "11.0.0.0",         "100.63.255.255",  "100.128.0.0",
        "126.255.255.255",  "128.0.0.0",       "169.253.255.255",
        "169.255.0.0",      "172.15.255.255",  "172.32.0.0",
        "192.167.0.1",      "192.169.0.1",     "198.17.0.1",
        "198.20.0.1",       "223.255.255.255", "168.63.129.15",
        "2606:4700::1111",  "2a00:1450::1",    "::ffff:1.1.1.1",
        "64:ff9b::101:101", "2002:101:101::1", "2001:4860::8888",
    };
    /* clang-format off */
    static const char *const others[] = {
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1",
        "100.100.100.200", "127.0.0.1", "127.255.255.255", "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
        "192.168.0.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "240.0.0.1", "255.255.255.255", "168.63.129.16", "::",
        "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1",
        "2002:a9fe:a9fe::", "2001::1", "2001:db8::1", "2001:10::1", "3fff::1",
        "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "100::1",
        "4000::1", "5f00::1", "localhost", "", "127.1",
    };
    /* clang-format on */
    struct sockaddr_in ipv4;

    HELP_EACH(row, public) {
        CU_ASSERT(tg_address_is_public_text(*row));
    }

    HELP_EACH(other, others) {
        CU_ASSERT(!tg_address_is_public_text(*other));
    }

    uv_ip4_addr("8.8.8.8", 53, &ipv4);
    CU_ASSERT(tg_address_is_public((struct sockaddr *) &ipv4, sizeof(ipv4)));
    CU_ASSERT(!tg_address_is_public((struct sockaddr *) &ipv4, 4));
    ipv4.sin_family = AF_UNIX;
    CU_ASSERT(!tg_address_is_public((struct sockaddr *) &ipv4, sizeof(ipv4)));
}

static const char *const ok[] = { SERVER_OK("2") "\r\nok", NULL };

static int
call_host(const char *at, const char *more)
{
    (void) host_request("http", server_params(at, "/", more));

    return host_recv();
}

static int
is_refused(const char *why)
{
    return host_is("failure", "\"arguments\"")
           && strstr(host_text("message"), why) != NULL;
}

HELP_TEST(lists, "lists of hosts")
{
    server_start(ok);
    CU_ASSERT(call_host("127.0.0.1", ",\"hosts\":[\"other\",\"*.test:*\"]"));
    CU_ASSERT(is_refused("may not be called; hosts does not allow it"));
    CU_ASSERT(call_host("127.0.0.1", ",\"hosts\":[\"127.0.0.1\"]"));
    CU_ASSERT(is_refused("hosts does not allow it"));

    /* All public hosts are allowed. */
    CU_ASSERT(call_host("127.0.0.1", ",\"hosts\":[\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(call_host("127.1", ",\"hosts\":[\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(call_host("2130706433", ",\"hosts\":[\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(call_host("0x7f.1", ",\"hosts\":[\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(call_host("[::ffff:127.0.0.1]", ",\"hosts\":[\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(call_host("inside.test", ",\"hosts\":[\"*.test:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(server.nclients == 0);

    CU_ASSERT(
        call_host("inside.test", ",\"hosts\":[\"*:*\",\"inside.test:*\"]"));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(server_got("\r\nHost: inside.test:"));

    /* A connection that another call may own is not used either. */
    CU_ASSERT(call_host("inside.test", ",\"hosts\":[\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(server.nrequests == 1);

    CU_ASSERT(call_host("inside.test",
                        ",\"hosts\":[\"*:*\"],\"proxy\":\"http://127.0.0.1\""));
    CU_ASSERT(is_refused("may not be called through a proxy"));
    server_stop();
}

HELP_TEST(proxy, "a proxy")
{
    char more[128];

    server_start(ok);
    snprintf(more, sizeof(more), ",\"proxy\":\"http://127.0.0.1:%d\"",
             server.port);
    (void) setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void) host_request(
        "http", "{\"tool\":\"t\",\"method\":\"GET\",\"url\":\"http://x.test/\","
                "\"hosts\":[\"x.test\"],\"proxy\":\"http://127.0.0.1:1\"}");
    CU_ASSERT(host_recv());
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(call_host("127.0.0.1", more));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(server_got("GET http://127.0.0.1:"));
    CU_ASSERT(call_host("127.0.0.1", ""));
    CU_ASSERT(server_got("GET / "));
    (void) unsetenv("http_proxy");
    server_stop();
}

/* --- redirects --- */

static char moved[8][8192];
static const char *moves[9];

/* Sets replies with redirects to these URLs, then a final one. */
static void
move_to(int status, const char *const *to, int n)
{
    int i;

    for (i = 0; i < n; i++) {
        snprintf(moved[i], sizeof(moved[i]),
                 "HTTP/1.1 %d Moved\r\nLocation: %s\r\nContent-Length: 6000"
                 "\r\n\r\n%06000d",
                 status, to[i], 0);
        moves[i] = moved[i];
    }

    moves[n] = ok[0];
    moves[n + 1] = NULL;
}

#define REDIRECTED ",\"secrets\":[\"X-Key: abcdefgh\"],\"redirects\":2"

HELP_TEST(redirects, "redirects")
{
    static const char *const to[] = { "/b?c", "d", "/e" };

    move_to(302, to, 2);
    server_start(moves);
    CU_ASSERT(call_host("127.0.0.1", REDIRECTED));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(server_got("GET /d HTTP/1.1\r\n"));
    CU_ASSERT(server_got("X-Key: abcdefgh"));
    CU_ASSERT(server.nrequests == 3 && server.nclients == 1);
    server_stop();

    move_to(302, to, 3);
    server_start(moves);
    CU_ASSERT(call_host("127.0.0.1", REDIRECTED));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "too many redirects") != NULL);
    CU_ASSERT(server.nrequests == 3);
    server_stop();
}

HELP_TEST(elsewhere, "redirects to another host")
{
    const char *to[1];
    char url[64];

    to[0] = url;
    server_start(ok);
    snprintf(url, sizeof(url), "http://inside.test:%d/x", server.port);
    move_to(302, to, 1);
    server.replies = moves;

    /* A host that is not on the list and not public. */
    CU_ASSERT(call_host("127.0.0.1", REDIRECTED));
    CU_ASSERT(is_refused("may not be called"));
    server.replies = moves;
    CU_ASSERT(call_host("127.0.0.1",
                        REDIRECTED ",\"hosts\":[\"127.0.0.1:*\",\"*:*\"]"));
    CU_ASSERT(is_refused("its address belongs to this machine"));
    CU_ASSERT(server.nrequests == 2);

    /* A listed host gets none of the call's own headers. */
    server.replies = moves;
    CU_ASSERT(call_host("127.0.0.1", REDIRECTED
                        ",\"hosts\":[\"127.0.0.1:*\",\"inside.test:*\"],"
                        "\"headers\":[\"X-Other: 1\"]"));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(server_got("Host: inside.test:"));
    CU_ASSERT(!server_got("X-Key") && !server_got("X-Other"));
    server_stop();
}

HELP_TEST(methods, "methods of redirects")
{
    static const struct {
        int status;
        const char *method, *then;
        int has_body;
    } rows[] = {
        { 301, "POST", "GET ", 0 },  { 302, "POST", "GET ", 0 },
        { 303, "POST", "GET ", 0 },  { 303, "PUT", "GET ", 0 },
        { 307, "POST", "POST ", 1 }, { 308, "POST", "POST ", 1 },
        { 302, "PUT", "PUT ", 1 },
    };
    const char *to[1];
    char more[128], url[64];

    to[0] = "/x";

    HELP_EACH(row, rows) {
        move_to(row->status, to, 1);
        server_start(moves);
        snprintf(more, sizeof(more),
                 ",\"method\":\"%s\",\"body\":\"hello\",\"redirects\":1",
                 row->method);
        CU_ASSERT(call_host("127.0.0.1", more));
        CU_ASSERT(host_is_text("text", "ok"));
        CU_ASSERT(server_got(row->then));
        CU_ASSERT(server_got("hello") == row->has_body);
        server_stop();
    }

    /* Another host does not get the first host's headers. */
    to[0] = url;
    server_start(ok);
    snprintf(url, sizeof(url), "http://inside.test:%d/x", server.port);
    move_to(307, to, 1);
    server.replies = moves;
    CU_ASSERT(call_host("127.0.0.1",
                        ",\"method\":\"POST\",\"body\":\"x\",\"redirects\":1,"
                        "\"hosts\":[\"127.0.0.1:*\",\"inside.test:*\"]"));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "send the request to") != NULL);
    CU_ASSERT(server.nrequests == 1);
    server_stop();
}

HELP_TEST(schemes, "redirects to other schemes")
{
    static const char *const to[] = { "file:///etc/passwd", "ftp://a/",
                                      "http://u:p@127.0.0.1/", "gopher://a" };

    HELP_EACH(row, to) {
        move_to(302, row, 1);
        server_start(moves);
        CU_ASSERT(call_host("127.0.0.1", ",\"redirects\":1,\"hosts\":"
                                         "[\"127.0.0.1:*\",\"*:*\"]"));
        CU_ASSERT(host_is("failure", "\"program\""));
        CU_ASSERT(strstr(host_text("message"), "status 302") != NULL
                  || strstr(host_text("message"), "not an http or https URL")
                         != NULL);
        CU_ASSERT(server.nrequests == 1);
        server_stop();
    }
}

/* --- names --- */

HELP_TEST(unknown, "an unknown name")
{
    server_start(ok);
    CU_ASSERT(call_host("no.test", ",\"hosts\":[\"no.test:*\"]"));
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(strstr(host_text("message"), "Could not resolve host: no.test")
              != NULL);
    server_stop();
}

static int
is_resolved(void *ctx)
{
    return __atomic_load_n(&nlookups, __ATOMIC_SEQ_CST) >= *(int *) ctx;
}

static int
nothing_is_abandoned(void *ctx)
{
    return host.http.nabandoned == 0;
}

HELP_TEST(slow, "a cancelled call does not wait for its name server")
{
    unsigned id;
    int n, i;

    CU_ASSERT_FATAL(sem_init(&slow, 0, 0) == 0);
    server_start(ok);
    n = nlookups + 1;
    id = host_request("http", server_params("slow.test", "/",
                                            ",\"hosts\":[\"slow.test:*\"]"));
    CU_ASSERT(host_until(is_resolved, &n));
    host_cancel(id);
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.http.nabandoned == 1);

    /* Other calls continue, also after a timeout. */
    CU_ASSERT(call_host("127.0.0.1", ""));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(call_host("slow.test",
                        ",\"hosts\":[\"slow.test:*\"],\"timeout_ms\":20"));
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(host.http.nabandoned == 2);

    /* The number of abandoned lookups is limited. */
    host.http.nabandoned += TG_HTTP_LOOKUPS_MAX - 2;
    CU_ASSERT(call_host("127.0.0.1", ""));
    CU_ASSERT(host_is("failure", "\"busy\""));
    host.http.nabandoned -= TG_HTTP_LOOKUPS_MAX - 2;

    for (i = 0; i < 2; i++) {
        sem_post(&slow);
    }

    CU_ASSERT(host_until(nothing_is_abandoned, NULL));
    CU_ASSERT(server.nrequests == 1);

    /* A later call finds the result of the earlier lookup. */
    while (sem_trywait(&slow) == 0) {
    }

    /* A lookup that does not finish in time. */
    CU_ASSERT(call_host("slow2.test",
                        ",\"hosts\":[\"slow2.test:*\"],\"connect_ms\":20"));
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(strstr(host_text("message"), "no request was sent") != NULL);
    CU_ASSERT(host.http.nabandoned == 0);
    sem_post(&slow);
    server_stop();
}

/* Without a lookup, nothing is waited for. */
HELP_TEST(hasty, "calls that are cancelled at once")
{
    static const char *const names[] = { "127.0.0.1", "slow4.test" };

    unsigned i;

    server_start(ok);

    for (i = 0; i < 2 * (TG_HTTP_LOOKUPS_MAX + 1); i++) {
        host_cancel(host_request(
            "http", server_params(names[i % 2], "/", ",\"hosts\":[\"*:*\"]")));
    }

    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(host.http.nabandoned == 0);
    CU_ASSERT(call_host("127.0.0.1", ""));
    CU_ASSERT(host_is_text("text", "ok"));
    server_stop();
}

HELP_TEST(left, "a lookup at the end of the loop")
{
    unsigned id;
    int n;

    server_start(ok);
    n = nlookups + 1;
    id = host_request("http", server_params("slow3.test", "/",
                                            ",\"hosts\":[\"slow3.test:*\"]"));
    CU_ASSERT(host_until(is_resolved, &n));
    host_cancel(id);
    CU_ASSERT(host_until(host_no_exec, NULL));
    server_stop();
}
