/*
 * Checks Toolgate's own part of HTTP: URLs, lists of hosts, a worker's
 * request, and the conversion of responses.
 *
 * Input: the status (a byte); a line each: a URL, a pattern of hosts, a
 * Content-Type, a redirect, the params of the method `http`; then the body.
 */
#include "help.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/http/tg_http_response.h"

/*
 * A URL that was read is written as it was, and contains no byte that ends it
 * early.
 */
static int
http_url(tg_str_t text, tg_url_t *url)
{
    const char *why;
    HELP_BUFFER(again);
    tg_url_t same;
    size_t i;

    if (tg_url_parse(text, url, &why) != TG_OK) {
        FUZZ(why != NULL);
        return 0;
    }

    for (i = 0; i < text.len; i++) {
        FUZZ(text.data[i] > ' ' && text.data[i] < 127
             && strchr("\"<>\\^`{|}#", text.data[i]) == NULL);
    }

    tg_url_append_origin(&again, url);
    tg_buf_append_str(&again, url->target);
    FUZZ(tg_url_parse(tg_buf_view(&again), &same, &why) == TG_OK);
    FUZZ(tg_url_is_same_origin(url, &same));
    FUZZ_EQ(same.path, url->path);
    FUZZ_EQ(same.target, url->target);

    return 1;
}

/* A URL's own host, used as a pattern, matches it. */
static void
http_hosts(const tg_url_t *url, tg_str_t pattern)
{
    HELP_BUFFER(own);

    if (tg_url_check_pattern(pattern) == NULL) {
        (void) tg_url_match_host(url, pattern);
    }

    tg_buf_append_str(&own, url->host);
    tg_buf_printf(&own, ":%lu", (unsigned long) url->port);
    FUZZ(tg_url_check_pattern(tg_buf_view(&own)) == NULL);
    FUZZ(tg_url_match_host(url, tg_buf_view(&own)) == TG_URL_MATCH_EXACT);
    FUZZ(tg_url_match_host(url, TG_STR("*:*")) == TG_URL_MATCH_WILDCARD);
}

/* An inserted value stays one segment, whatever it contains. */
static void
http_put(tg_str_t text)
{
    const char *why;
    tg_url_t url;
    HELP_BUFFER(buf);

    tg_buf_append_cstr(&buf, "http://a/b/");
    tg_url_append_encoded(&buf, text);
    tg_buf_append_cstr(&buf, "/c?d");
    FUZZ(tg_url_parse(tg_buf_view(&buf), &url, &why) == TG_OK);
    FUZZ_EQ(url.host, TG_STR("a"));
    FUZZ(memchr(url.path.data + 3, '/', url.path.len - 5) == NULL);
    FUZZ(url.target.len == url.path.len + 2);
}

static const tg_job_params_t job = { .tool = (char[]){ "tool" } };

static void
http_response(int status, tg_http_params_t *params, const tg_url_t *url,
              tg_str_t type, const char *redirect, tg_str_t body)
{
    static const tg_run_stats_t none;
    tg_http_response_t answer;
    tg_str_t value;
    tg_output_response_t response;

    tg_http_response_init(&answer);
    answer.status = status;
    tg_http_response_add_header(&answer, TG_STR("content-type"), type);
    (void) tg_http_response_add_body(&answer, params, body.data, body.len / 2);
    (void) tg_http_response_add_body(&answer, params, body.data + body.len / 2,
                                     body.len - body.len / 2);
    FUZZ(answer.body.len <= params->max_output + TG_HTTP_ERROR_BODY_MAX);
    tg_http_response_begin_result(&response, &answer, params, url, redirect,
                                  &job, &none);

    while (tg_output_response_step(&response) == TG_AGAIN) { /* void */
    }

    FUZZ(!tg_buf_has_failed(&response.writer.json));
    FUZZ(tg_json_validate(tg_buf_view(&response.writer.json), NULL) == TG_OK);
    FUZZ(tg_json_get_member(tg_buf_view(&response.writer.json),
                            TG_STR("ran_ms"), &value)
         == TG_OK);
    tg_output_response_end(&response);
    tg_http_response_deinit(&answer);
}

/* Params that are accepted from a worker can be sent as they are. */
static int
http_params(tg_str_t raw, tg_http_params_t *params)
{
    tg_str_t values[TG_JOB_MEMBERS_MAX];
    const char *why;
    char **header;
    tg_url_t url;

    if (tg_json_validate(raw, NULL) != TG_OK
        || tg_json_split_fields(tg_http_fields, raw, values) != TG_OK
        || tg_http_params_read(params, NULL, values, &why) != TG_OK)
    {
        return 0;
    }

    FUZZ(tg_url_parse(tg_str_from_cstr(params->url), &url, &why) == TG_OK);
    FUZZ(!tg_url_has_dot_segments(url.path));
    (void) tg_http_params_match_host(params, &url);

    for (header = params->headers; *header != NULL; header++) {
        FUZZ(strpbrk(*header, "\r\n") == NULL);
        FUZZ(strchr(*header, ':') != NULL);
    }

    return 1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_str_t lines[5], body;
    tg_http_params_t params;
    char *redirect;
    fuzz_in_t in;
    tg_url_t url;
    int status, i;

    in = fuzz_in(data, size);
    status = 100 + (int) fuzz_byte(&in) * 2;

    for (i = 0; i < 5; i++) {
        lines[i] = fuzz_until_newline(&in);
    }

    body = fuzz_rest(&in);
    http_put(lines[0]);

    if (!http_url(lines[0], &url)) {
        (void) tg_url_parse(TG_STR("http://a/"), &url, &(const char *){ NULL });
    }

    http_hosts(&url, lines[1]);
    (void) tg_url_has_dot_segments(lines[1]);

    if (!http_params(lines[4], &params)) {
        memset(&params, 0, sizeof(params));
        params.output = (tg_output_type_t) (size % 3);
        params.max_output = 64;
    }

    redirect = malloc(lines[3].len + 1);
    FUZZ(redirect != NULL);
    memcpy(redirect, lines[3].data, lines[3].len);
    redirect[lines[3].len] = '\0';
    http_response(status, &params, &url, lines[2],
                  lines[3].len != 0 ? redirect : NULL, body);
    free(redirect);
    tg_http_params_free(&params);

    return 0;
}
