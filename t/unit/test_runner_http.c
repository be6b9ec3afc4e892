/* Calls of HTTP APIs: requests, responses and failures. */
#include "runner_server.h"

#include "runner/http/tg_http_response.h"

HELP_TEST(get, "get")
{
    static const char *const replies[] = { SERVER_OK("5") "\r\nhello", NULL };

    server_start(replies);
    CU_ASSERT(server_call("/a%2Fb?c=d",
                          ",\"headers\":[\"X-One: 1\"],"
                          "\"secrets\":[\"Authorization: Bearer abcdef\"]"));
    CU_ASSERT(host_is_text("text", "hello"));
    CU_ASSERT(server_got("GET /a%2Fb?c=d HTTP/1.1\r\nHost: 127.0.0.1:"));
    CU_ASSERT(server_got("\r\nX-One: 1\r\n"));
    CU_ASSERT(server_got("\r\nAuthorization: Bearer abcdef\r\n"));
    CU_ASSERT(server_got("\r\nUser-Agent: toolgate/"));
    CU_ASSERT(!server_got("Expect:"));
    CU_ASSERT(host_result("ran_ms").data != NULL);

    /* The connection is kept open. */
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(server.nrequests == 3 && server.nclients == 1);
    server_stop();
}

HELP_TEST(post, "post")
{
    static const char *const replies[] = { SERVER_OK("2") "\r\nok", NULL };

    server_start(replies);
    CU_ASSERT(server_call("/", ",\"method\":\"POST\",\"body\":\"{\\\"a\\\":1}\""
                               ",\"headers\":[\"Content-Type: x/y\"]"));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(server_got("POST / HTTP/1.1\r\n"));
    CU_ASSERT(server_got("\r\nContent-Type: x/y\r\n"));
    CU_ASSERT(server_got("\r\nContent-Length: 7\r\n"));
    CU_ASSERT(server_got("\r\n\r\n{\"a\":1}"));
    CU_ASSERT(server_call("/", ",\"method\":\"DELETE\""));
    CU_ASSERT(server_got("DELETE / HTTP/1.1\r\n"));
    CU_ASSERT(!server_got("Content-"));
    CU_ASSERT(server_call("/", ",\"method\":\"PUT\",\"body\":\"\""));
    CU_ASSERT(server_got("PUT / HTTP/1.1\r\n"));
    CU_ASSERT(server_got("Content-Length: 0\r\n"));
    server_stop();
}

HELP_TEST(head, "head")
{
    static const char *const replies[] = { SERVER_OK("5") "\r\n", NULL };

    server_start(replies);
    CU_ASSERT(server_call("/", ",\"method\":\"HEAD\""));
    CU_ASSERT(host_is_text("text", ""));
    CU_ASSERT(server_got("HEAD / HTTP/1.1\r\n"));
    server_stop();
}

HELP_TEST(errors, "errors of the server")
{
    static const char *const replies[] = {
        "HTTP/1.1 404 Not Found\r\nContent-Length: 11\r\n\r\nno such one",
        "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://else.where/?token=x\r\n"
        "Content-Length: 0\r\n\r\n",
        "HTTP/1.1 403 No\r\nContent-Length: 31\r\n\r\n"
        "you said: Bearer abcdefg, no go",
        "HTTP/1.1 400 No\r\nContent-Type: image/png\r\n"
        "Content-Length: 3\r\n\r\n\x89\xff\xfe",
        NULL
    };
    char expected[256];

    server_start(replies);
    CU_ASSERT(server_call("/secret?key=1", ""));
    CU_ASSERT(host_is("failure", "\"program\""));
    snprintf(expected, sizeof(expected),
             "t: http://127.0.0.1:%d answered with status 404: no such one",
             server.port);
    CU_ASSERT(host_is_text("message", expected));
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(strstr(host_text("message"), "status 500 and an empty body")
              != NULL);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(strstr(host_text("message"),
                     "status 302, a redirect to http://else.where, which is "
                     "not followed")
              != NULL);
    CU_ASSERT(server_call("/", ",\"secrets\":[\"X: Bearer abcdefg\"]"));
    CU_ASSERT(strstr(host_text("message"), "you said: **************, no go")
              != NULL);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(strstr(host_text("message"), "not text (image/png)") != NULL);
    server_stop();
}

HELP_TEST(echo, "an echoed secret is not disclosed")
{
    static const char *const replies[] = { SERVER_OK(
                                               "24") "\r\n"
                                                     "abcdefgh Bearer abcdefgh",
                                           NULL };

    server_start(replies);
    CU_ASSERT(server_call("/", ",\"secrets\":[\"X: Bearer abcdefgh\","
                               "\"Y: Bea\"]"));
    CU_ASSERT(host_is_text("text", "******** ***************"));
    server_stop();
}

HELP_TEST(sizes, "sizes")
{
    static const char *const replies[] = {
        SERVER_OK("5") "\r\nhello", SERVER_OK("5") "\r\nhello",
        SERVER_OK("5000000") "\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "3\r\nabc\r\n3\r\ndef\r\n0\r\nX: y\r\n\r\n",
        NULL
    };

    server_start(replies);
    CU_ASSERT(server_call("/", ",\"max_output\":5"));
    CU_ASSERT(host_is_text("text", "hello"));
    CU_ASSERT(server_call("/", ",\"max_output\":4"));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(strstr(host_text("message"), "more than 4 bytes (max_output)")
              != NULL);
    CU_ASSERT(server_call("/", ",\"max_output\":4"));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(server_call("/", ",\"max_output\":6"));
    CU_ASSERT(host_is_text("text", "abcdef"));
    server_stop();
}

HELP_TEST(forms, "output formats")
{
    static const char *const replies[] = {
        SERVER_OK("10") "\r\n{\"a\": [1]}", SERVER_OK("2") "\r\nno",
        SERVER_OK("29") "Content-Type: application/json\r\n\r\n"
                        "{\"content\":[],\"isError\":true}",
        SERVER_OK("10") "\r\n\xef\xbb\xbf{\"a\":1}", NULL
    };

    server_start(replies);
    CU_ASSERT(server_call("/", ",\"output\":\"json\""));
    CU_ASSERT(host_is("json", "{\"a\":[1]}"));
    CU_ASSERT(server_call("/", ",\"output\":\"json\""));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(server_call("/", ",\"output\":\"result\""));
    CU_ASSERT(host_is("result", "{\"content\":[],\"isError\":true}"));
    CU_ASSERT(server_call("/", ",\"output\":\"json\""));
    CU_ASSERT(host_is("json", "{\"a\":1}"));
    server_stop();
}

HELP_TEST(charsets, "charsets")
{
    static const struct {
        const char *type, *body;
        int rc;
        const char *out;
    } rows[] = {
        { "text/plain", "\xc3\xa9", TG_OK, "\xc3\xa9" },
        { "", "\xc3\xa9", TG_OK, "\xc3\xa9" },
        { "text/plain; charset=UTF-8", "\xc3\xa9", TG_OK, "\xc3\xa9" },
        { "text/plain;charset=\"utf-8\"; x=y", "\xc3\xa9", TG_OK, "\xc3\xa9" },
        { "text/plain; charset=us-ascii", "a", TG_OK, "a" },
        { "text/html; Charset=ISO-8859-1", "\xe9\x80\xff", TG_OK,
          "\xc3\xa9\xe2\x82\xac\xc3\xbf" },
        { "text/html; charset=\"Windows-1252\"", "\x93x\x94", TG_OK,
          "\xe2\x80\x9cx\xe2\x80\x9d" },
        { "text/plain; charset=UTF-16", "a", TG_MISSING, "a" },
        { "text/plain; charset=", "a", TG_MISSING, "a" },
        { "text/plain; xcharset=UTF-16", "a", TG_OK, "a" },
        { "text/plain", "\xff", TG_INVALID, "\xff" },
        { "image/png", "\x89PNG", TG_INVALID, "\x89PNG" },
        { "charset=latin1", "a", TG_OK, "a" },
    };
    tg_str_t out;

    HELP_EACH(row, rows) {
        HELP_BUFFER(text);

        CU_ASSERT_EQUAL(tg_http_decode_body(tg_str_from_cstr(row->type),
                                            tg_str_from_cstr(row->body), &text,
                                            &out),
                        row->rc);
        HELP_EQ(out, row->out);
    }
}

HELP_TEST(no_text, "responses that are not text")
{
    static const char *const replies[] = {
        SERVER_OK("4") "Content-Type: image/png; x=y\r\n\r\n\x89PNG",
        SERVER_OK("4") "Content-Type: text/x; charset=utf-32\r\n\r\nabcd", NULL
    };

    server_start(replies);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(strstr(host_text("message"),
                     "4 bytes of image/png, which is not UTF-8 "
                     "text")
              != NULL);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(strstr(host_text("message"), "in the charset utf-32") != NULL);
    server_stop();
}

HELP_TEST(broken, "missing and truncated responses")
{
    static const char *const replies[] = {
        "no HTTP at all\r\n\r\n", SERVER_CLOSE,
        SERVER_OK("50") "Connection: close\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", NULL
    };
    size_t i;

    for (i = 0; i < HELP_COUNT(replies) - 1; i++) {
        server_start(replies + i);
        CU_ASSERT(server_call("/", ""));
        CU_ASSERT(host_is("failure", "\"lost\""));
        CU_ASSERT(strstr(host_text("message"), "may have been carried out")
                  != NULL);
        server_stop();
    }

    server_start(replies);
    server_stop();
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(strstr(host_text("message"), "no request was sent") != NULL);
}

HELP_TEST(headers, "headers without end")
{
    const char *replies[] = { NULL, NULL };
    HELP_BUFFER(text);
    size_t i;

    tg_buf_append_cstr(&text, SERVER_OK("2"));

    for (i = 0; i < 3000; i++) {
        tg_buf_printf(&text, "X-%zu: 012345678901234567890\r\n", i);
    }

    tg_buf_append(&text, "\r\nok", 5);
    replies[0] = text.data;
    server_start(replies);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(strstr(host_text("message"), "larger than 64 KiB") != NULL);
    server_stop();
}

/* A kept connection that the server closes after the next request. */
HELP_TEST(again, "requests with side effects are not repeated")
{
    static const char *const replies[] = { SERVER_OK("2") "\r\nok",
                                           SERVER_CLOSE,
                                           SERVER_OK("2") "\r\nok", NULL };

    server_start(replies);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(server_call("/", ",\"method\":\"POST\",\"body\":\"x\""));
    CU_ASSERT(host_is("failure", "\"lost\""));
    CU_ASSERT(strstr(host_text("message"), "may have been carried out")
              != NULL);
    CU_ASSERT(server.nrequests == 2);
    server_stop();

    server_start(replies);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(host_is_text("text", "ok"));
    CU_ASSERT(server.nrequests == 3 && server.nclients == 2);
    server_stop();
}

HELP_TEST(progress, "progress")
{
    const char *replies[] = { NULL, NULL };
    HELP_BUFFER(text);
    size_t i;
    int n;

    tg_buf_append_cstr(&text, SERVER_OK("1000000") "\r\n");

    for (i = 0; i < 1000000; i++) {
        tg_buf_append_char(&text, 'x');
    }

    tg_buf_append_char(&text, '\0');
    replies[0] = text.data;
    server_start(replies);
    (void) host_request("http", server_params("127.0.0.1", "/", ""));

    for (n = 0; host_recv() && host_result("text").data == NULL; n++) {
        CU_ASSERT(strstr(host.line.data, "\"total\":1000000") != NULL);
    }

    CU_ASSERT(n >= 1);
    CU_ASSERT(host_result("text").len == 1000002);
    server_stop();
}

/* --- ends --- */

HELP_TEST(cancelled, "cancelled")
{
    static const char *const replies[] = { SERVER_SILENT, NULL };
    unsigned first;
    int two, one;

    two = 2;
    one = 1;
    server_start(replies);
    first = host_request("http", server_params("127.0.0.1", "/", ""));
    CU_ASSERT(host_until(server_has_requests, &one));
    (void) host_request("http", server_params("127.0.0.1", "/",
                                              ",\"timeout_ms\":60000"));
    CU_ASSERT(host_until(server_has_requests, &two));
    host_cancel(first);

    while (server.clients[0].is_open) {
        uv_run(&host.loop, UV_RUN_ONCE);
    }

    /* Its connection is closed, and only that one. */
    CU_ASSERT(server.nopen == 1 && server.clients[1].is_open);
    CU_ASSERT(host.jobs.nrunning == 1);
    server_write(&server.clients[1], SERVER_OK("2") "\r\nok",
                 strlen(SERVER_OK("2") "\r\nok"));
    CU_ASSERT(host_recv() && host_is_text("text", "ok"));
    server_stop();
}

HELP_TEST(timeout, "timeout")
{
    static const char *const replies[] = { SERVER_SILENT, NULL };

    server_start(replies);
    CU_ASSERT(server_call("/", ",\"timeout_ms\":20"));
    CU_ASSERT(host_is("failure", "\"timeout\""));
    CU_ASSERT(host_until(server_has_no_clients, NULL));
    server_stop();
}

HELP_TEST(idle, "idle connections")
{
    static const char *const replies[] = { SERVER_OK("2") "\r\nok", NULL };

    server_start(replies);
    host.http.loop.keepalive_ms = 1;
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(host_until(server_has_no_clients, NULL));
    CU_ASSERT(host.http.loop.multi == NULL);
    CU_ASSERT(server_call("/", ""));
    CU_ASSERT(host_is_text("text", "ok"));
    host.http.loop.keepalive_ms = TG_HTTP_KEEPALIVE_MS;
    server_stop();
}

HELP_TEST(wrong, "wrong requests")
{
    static const char *const invalid[] = {
        "{\"tool\":\"t\"}",
        "{\"tool\":\"t\",\"method\":\"GET\",\"url\":\"http://a/\"}",
        "{\"tool\":\"t\",\"method\":\"GET\",\"hosts\":[\"a\"]}",
        "{\"tool\":\"t\",\"method\":1,\"url\":\"http://a\",\"hosts\":[\"a\"]}",
        "{\"tool\":\"t\",\"method\":\"GET\",\"url\":\"http://a\",\"hosts\":"
        "[\"a\"],\"headers\":[1]}",
        "{\"tool\":\"t\",\"method\":\"GET\",\"url\":\"http://a\",\"hosts\":"
        "[\"a\"],\"redirects\":21}",
        "{\"tool\":\"t\",\"method\":\"GET\",\"url\":\"http://a\",\"hosts\":"
        "[\"a\"],\"output\":\"xml\"}",
    };
    /* clang-format off */
    static const char *const wrong[] = {
        ",\"method\":\"get\"", ",\"method\":\"CONNECT\"",
        ",\"method\":\"A\\r\\nX:\"", ",\"method\":\"\"",
        ",\"url\":\"ftp://a/\"", ",\"url\":\"http://a/../b\"",
        ",\"url\":\"http://u:p@a/\"", ",\"url\":\"http://a/\\u0000\"",
        ",\"headers\":[\"no colon\"]", ",\"headers\":[\"A: b\\r\\nC: d\"]",
        ",\"headers\":[\"A: b\\nC: d\"]", ",\"headers\":[\"A: b\\u0000\"]",
        ",\"headers\":[\"A B: b\"]", ",\"secrets\":[\": b\"]",
        ",\"hosts\":[\"a/b\"]",
    };
    /* clang-format on */

    server.port = 1;

    HELP_EACH(row, invalid) {
        (void) host_request("http", *row);
        CU_ASSERT(host_recv());
        CU_ASSERT(strstr(host.line.data, "-32602") != NULL);
    }

    HELP_EACH(row, wrong) {
        CU_ASSERT(server_call("/", *row));
        CU_ASSERT(host_is("failure", "\"arguments\""));
        CU_ASSERT(strncmp(host_text("message"), "The call ", 9) == 0);
    }
}
