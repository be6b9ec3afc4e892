/* Connecting to an endpoint: its syntax, and the addresses of a name. */
#include "transport_host.h"

#include "transport/tg_uv_conn_io.h"
#include "transport/tg_uv_endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEST_ADDRESSES 3

static void
test_on_connected(void *host, int err)
{
    host_end_t *end = host;

    end->is_connected++;
    end->connect_err = err;
}

static int
test_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    *consumed = len;

    return TG_OK;
}

static const tg_uv_conn_ops_t test_ops = {
    .connected = test_on_connected,
    .input = test_on_input,
    .closed = host_on_closed,
};

/* Creates a loopback socket that listens, or that refuses. */
static int
test_socket(int is_listening, struct sockaddr_in *address)
{
    socklen_t len;
    int fd;

    memset(address, 0, sizeof(*address));
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    len = sizeof(*address);
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(fd >= 0);
    CU_ASSERT_FATAL(bind(fd, (struct sockaddr *) address, len) == 0);
    CU_ASSERT_FATAL(getsockname(fd, (struct sockaddr *) address, &len) == 0);
    CU_ASSERT_FATAL(!is_listening || listen(fd, 8) == 0);

    return fd;
}

/* The addresses of a name, as if it had been resolved. */
typedef struct {
    tg_uv_endpoint_t endpoint;
    struct addrinfo found[TEST_ADDRESSES];
    struct sockaddr_in addresses[TEST_ADDRESSES];
    int fds[TEST_ADDRESSES];
} test_name_t;

static void
test_name(test_name_t *name, int n, int listening)
{
    int i;

    memset(name, 0, sizeof(*name));
    name->endpoint.text = "tools.test:1";
    name->endpoint.port = "1";

    for (i = 0; i < n; i++) {
        name->fds[i] = test_socket(i == listening, &name->addresses[i]);
        name->found[i].ai_addr = (struct sockaddr *) &name->addresses[i];
        name->found[i].ai_next = i + 1 < n ? &name->found[i + 1] : NULL;
    }
}

static void
test_connect(host_end_t *end, test_name_t *name)
{
    host_end_init(end, &test_ops);
    end->conn.endpoint = &name->endpoint;
    end->conn.next_address = name->found;
    tg_uv_conn_connect_next_address(&end->conn);
}

static void
test_end(host_end_t *end, test_name_t *name)
{
    int i;

    tg_uv_conn_close(&end->conn);
    CU_ASSERT(host_until(&end->is_closed));
    tg_buf_deinit(&end->out);

    for (i = 0; i < TEST_ADDRESSES && name->fds[i] != 0; i++) {
        close(name->fds[i]);
    }
}

HELP_TEST(first_that_listens, "the first address that listens")
{
    host_end_t end;
    test_name_t name;
    int i;

    for (i = 0; i < TEST_ADDRESSES; i++) {
        test_name(&name, TEST_ADDRESSES, i);
        test_connect(&end, &name);
        CU_ASSERT(host_until(&end.is_connected));
        CU_ASSERT(end.connect_err == 0);
        CU_ASSERT(end.is_connected == 1);
        test_end(&end, &name);
        CU_ASSERT(end.err == 0);
    }
}

HELP_TEST(none_that_listens, "no address that listens")
{
    host_end_t end;
    test_name_t name;

    test_name(&name, TEST_ADDRESSES, -1);
    test_connect(&end, &name);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.is_connected == 1);
    CU_ASSERT(end.connect_err == UV_ECONNREFUSED);
    CU_ASSERT(end.err == UV_ECONNREFUSED);
    test_end(&end, &name);
}

/* After any number of loop iterations: nothing is left, no callback runs. */
HELP_TEST(closed_meanwhile, "closed meanwhile")
{
    host_end_t end;
    test_name_t name;
    int i, iterations;

    for (iterations = 0; iterations < 8; iterations++) {
        test_name(&name, TEST_ADDRESSES, -1);
        test_connect(&end, &name);

        for (i = 0; i < iterations && !end.is_closed; i++) {
            uv_run(&host_loop, UV_RUN_NOWAIT);
        }

        test_end(&end, &name);
        CU_ASSERT(end.is_connected <= 1);
    }
}

/* --- syntax --- */

HELP_TEST(lookup, "a name is looked up")
{
    tg_uv_tls_options_t none;
    struct sockaddr_in address;
    tg_uv_endpoint_t endpoint;
    char text[64], name[80], why[TG_UV_ERROR_SIZE];
    host_end_t end;
    int fd;

    memset(&none, 0, sizeof(none));
    fd = test_socket(1, &address);
    (void) snprintf(text, sizeof(text), "localhost:%u",
                    (unsigned) ntohs(address.sin_port));
    CU_ASSERT(tg_uv_endpoint_parse(&endpoint, text, &none, why) == TG_OK);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_connect_endpoint(&end.conn, &endpoint) == 0);
    CU_ASSERT(host_until(&end.is_connected));
    CU_ASSERT(end.connect_err == 0);
    tg_uv_conn_close(&end.conn);
    CU_ASSERT(host_until(&end.is_closed));
    tg_buf_deinit(&end.out);

    /* The attempt is cancelled. */
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_connect_endpoint(&end.conn, &endpoint) == 0);
    tg_uv_conn_close(&end.conn);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.is_connected == 0);
    tg_buf_deinit(&end.out);
    close(fd);

    /* No name has such a long label: nothing is resolved. */
    memset(text, 'x', 64);
    (void) snprintf(name, sizeof(name), "%.64s:1", text);
    CU_ASSERT(tg_uv_endpoint_parse(&endpoint, name, &none, why) == TG_OK);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_connect_endpoint(&end.conn, &endpoint) == 0);
    CU_ASSERT(host_until(&end.is_closed));
    CU_ASSERT(end.is_connected == 1);
    CU_ASSERT(end.err < 0);
    tg_buf_deinit(&end.out);
}

HELP_TEST(written, "valid syntax")
{
    static const struct {
        const char *text, *host;
        const char *port; /* NULL: a path */
    } cases[] = {
        { "/run/x.sock", "", NULL },
        { "unix:/run/x.sock", "", NULL },
        { "x.sock", "", NULL },
        { "./a:1", "", NULL },
        { "a:", "", NULL },
        { ":1", "", NULL },
        { "a:123456", "", NULL },
        { "a:1x", "", NULL },
        { "a:1", "a", "1" },
        { "127.0.0.1:65535", "127.0.0.1", "65535" },
        { "[::1]:80", "::1", "80" },
    };
    tg_uv_tls_options_t none;
    char why[TG_UV_ERROR_SIZE];
    tg_uv_endpoint_t endpoint;

    memset(&none, 0, sizeof(none));

    HELP_EACH(item, cases) {
        CU_ASSERT(tg_uv_endpoint_parse(&endpoint, item->text, &none, why)
                  == TG_OK);
        CU_ASSERT((endpoint.port == NULL) == (item->port == NULL));
        CU_ASSERT(tg_uv_address_is_path(item->text) == (endpoint.port == NULL));
        CU_ASSERT(endpoint.tls == NULL);

        if (endpoint.port != NULL) {
            CU_ASSERT_STRING_EQUAL(endpoint.host, item->host);
            CU_ASSERT_STRING_EQUAL(endpoint.port, item->port);
        }
    }
}

HELP_TEST(wrong, "invalid syntax")
{
    static const struct {
        const char *text;
        tg_uv_tls_options_t options;
        const char *why;
    } cases[] = {
        { "tls:/run/x.sock", { .ca = NULL }, "tls:HOST:PORT" },
        { "tls:host", { .ca = NULL }, "tls:HOST:PORT" },
        { "host:1", { .ca = "/x" }, "certificates are for TLS" },
        { "/run/x.sock", { .name = "x" }, "certificates are for TLS" },
        { "tls:h:1", { .ca = "/nowhere" }, "/nowhere has no trusted cert" },
        { "tls:h:1", { .key = "/nowhere" }, "a key needs its certificate" },
        { "tls:h:1", { .certificate = "/no.pem" }, "/no.pem is not a certif" },
        { "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
          "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
          { .ca = NULL },
          "at most 107 bytes" },
    };
    char why[TG_UV_ERROR_SIZE];
    tg_uv_endpoint_t endpoint;

    HELP_EACH(item, cases) {
        CU_ASSERT(
            tg_uv_endpoint_parse(&endpoint, item->text, &item->options, why)
            == TG_INVALID);
        CU_ASSERT(strstr(why, item->why) != NULL);
        tg_uv_endpoint_free(&endpoint);
    }
}
