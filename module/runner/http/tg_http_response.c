/* Collects an HTTP response, decodes it and makes the outcome. */
#include "runner/http/tg_http_response.h"

#include "base/tg_utf8.h"

#include <strings.h>

void
tg_http_response_init(tg_http_response_t *answer)
{
    answer->status = 0;
    answer->type[0] = '\0';
    answer->is_cut = 0;
    tg_buf_init(&answer->body, tg_alloc_libc());
    tg_buf_init(&answer->decoded, tg_alloc_libc());
}

void
tg_http_response_deinit(tg_http_response_t *answer)
{
    tg_buf_deinit(&answer->body);
    tg_buf_deinit(&answer->decoded);
}

void
tg_http_response_add_header(tg_http_response_t *answer, tg_str_t name,
                            tg_str_t value)
{
    if (tg_str_eq_nocase(name, TG_STR("content-type"))
        && value.len < sizeof(answer->type))
    {
        memcpy(answer->type, value.data, value.len);
        answer->type[value.len] = '\0';
    }
}

int
tg_http_response_add_body(tg_http_response_t *answer,
                          const tg_http_params_t *params, const char *data,
                          size_t len)
{
    size_t max;

    max = !tg_http_response_is_success(answer)
              ? TG_HTTP_ERROR_BODY_MAX + TG_HTTP_SECRET_MAX
          : params->store_params.output_store != NULL ? TG_OUTPUT_MAX
                                                      : params->max_output;

    if (len > max - answer->body.len) {
        tg_buf_append(&answer->body, data, max - answer->body.len);
        answer->is_cut = 1;

        /* The response of a redirect must be read to its end. */
        return answer->status >= 300 && answer->status < 400 ? TG_OK : TG_LIMIT;
    }

    tg_buf_append(&answer->body, data, len);

    return tg_buf_has_failed(&answer->body) ? TG_NOMEM : TG_OK;
}

/* --- charsets --- */

/* Returns the value of charset="…" in a Content-Type, or absent. */
static tg_str_t
tg_http_find_charset(tg_str_t type)
{
    static const char name[] = "charset=";
    tg_str_t value;
    size_t i, len;

    len = sizeof(name) - 1;

    for (i = 1; i + len <= type.len; i++) {
        if (strncasecmp(type.data + i, name, len) != 0
            || !tg_is_one_of(type.data[i - 1], "; \t"))
        {
            continue;
        }

        value = tg_str_skip(type, i + len);

        if (value.len != 0 && *value.data == '"') {
            value = tg_str_skip(value, 1);
        }

        return tg_str(value.data, tg_str_find_char(value, "\"; \t"));
    }

    return TG_STR_NONE;
}

/* Decodes as windows-1252, like browsers: it has no C1 control characters. */
static void
tg_http_append_latin1(tg_buf_t *text, tg_str_t body)
{
    static const uint16_t high[32] = {
        0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
        0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
        0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178,
    };
    char utf8[4096];
    unsigned char c;
    size_t i, n;

    for (i = n = 0; i < body.len; i++) {
        c = (unsigned char) body.data[i];

        if (c < 0x80) {
            utf8[n++] = (char) c;
        } else {
            n += tg_utf8_encode(utf8 + n, c < 0xa0 ? high[c - 0x80] : c);
        }

        if (n > sizeof(utf8) - 4) {
            tg_buf_append(text, utf8, n);
            n = 0;
        }
    }

    tg_buf_append(text, utf8, n);
}

int
tg_http_decode_body(tg_str_t type, tg_str_t body, tg_buf_t *text, tg_str_t *out)
{
    static const char *const latin[] = { "iso-8859-1", "iso8859-1", "latin1",
                                         "windows-1252", "cp1252" };
    static const char *const utf8[] = { "utf-8", "utf8", "us-ascii", "ascii" };
    tg_str_t charset;
    size_t i;

    charset = tg_http_find_charset(type);

    for (i = 0; i < sizeof(latin) / sizeof(latin[0]); i++) {
        if (tg_str_eq_nocase(charset, tg_str_from_cstr(latin[i]))) {
            tg_http_append_latin1(text, body);
            *out = tg_buf_view(text);
            return TG_OK;
        }
    }

    for (i = 0; i < sizeof(utf8) / sizeof(utf8[0]); i++) {
        if (charset.data == NULL
            || tg_str_eq_nocase(charset, tg_str_from_cstr(utf8[i])))
        {
            break;
        }
    }

    /* JSON must not have a byte order mark. */
    if (body.len >= 3 && memcmp(body.data, "\xef\xbb\xbf", 3) == 0) {
        body = tg_str_skip(body, 3);
    }

    *out = body;

    if (i == sizeof(utf8) / sizeof(utf8[0])) {
        return TG_MISSING;
    }

    return tg_utf8_is_valid(body) ? TG_OK : TG_INVALID;
}

/* --- outcome --- */

/* Returns the media type without parameters, for messages. */
static tg_str_t
tg_http_response_get_media_type(const tg_http_response_t *answer)
{
    size_t len;

    len = strcspn(answer->type, "; \t");

    return len != 0 ? tg_str(answer->type, len) : TG_STR("an unknown type");
}

static void
tg_http_response_append_body(tg_buf_t *text, const tg_http_response_t *answer)
{
    tg_buf_t decoded;
    tg_str_t head;

    if (answer->body.len == 0) {
        tg_buf_append_cstr(text, " and an empty body");
        return;
    }

    tg_buf_init(&decoded, tg_alloc_libc());

    if (tg_http_decode_body(tg_str_from_cstr(answer->type),
                            tg_buf_view(&answer->body), &decoded, &head)
            == TG_OK
        || answer->is_cut || strncasecmp(answer->type, "text/", 5) == 0)
    {
        tg_buf_append_cstr(text, ": ");
        tg_utf8_append_lossy(text, head);

        while (text->len != 0 && text->data[text->len - 1] == '\n') {
            text->len--;
        }

        tg_buf_append_cstr(text, answer->is_cut ? " \xe2\x80\xa6" : "");

    } else {
        head = tg_http_response_get_media_type(answer);
        tg_buf_append_cstr(text, " and a body that is not text (");
        tg_utf8_append_lossy(text, head);
        tg_buf_append_char(text, ')');
    }

    tg_buf_deinit(&decoded);
}

/* Appends a redirect's origin; its path and query may contain secrets. */
static void
tg_http_append_redirect(tg_buf_t *text, const char *redirect)
{
    const char *why;
    tg_url_t url;

    tg_buf_append_cstr(text, ", a redirect");

    if (tg_url_parse(tg_str_from_cstr(redirect), &url, &why) == TG_OK) {
        tg_buf_append_cstr(text, " to ");
        tg_url_append_origin(text, &url);
    }

    tg_buf_append_cstr(text, ", which is not followed; use its target URL, or "
                             "allow it with redirects");
}

static tg_outcome_t
tg_http_response_make_failure(const tg_http_response_t *answer,
                              const tg_url_t *url, const char *redirect,
                              const char *tool, tg_buf_t *text)
{
    tg_buf_printf(text, "%s: ", tool);
    tg_url_append_origin(text, url);
    tg_buf_printf(text, " answered with status %d", answer->status);

    if (redirect != NULL) {
        tg_http_append_redirect(text, redirect);
    } else {
        tg_http_response_append_body(text, answer);
    }

    return tg_outcome_make_failure_str(TG_FAILURE_PROGRAM, tg_buf_view(text));
}

static tg_outcome_t
tg_http_response_make_not_text(const tg_http_response_t *answer, int rc,
                               const char *tool, tg_buf_t *text)
{
    tg_str_t charset;

    tg_buf_printf(text, "%s: the response is ", tool);

    if (rc == TG_MISSING) {
        charset = tg_http_find_charset(tg_str_from_cstr(answer->type));
        tg_buf_append_cstr(text, "in the charset ");
        tg_utf8_append_lossy(text, charset);
        tg_buf_append_cstr(text, "; only UTF-8 and ISO-8859-1 are supported");

    } else {
        tg_buf_printf(text, "%zu %s of ", answer->body.len,
                      tg_pick_plural(answer->body.len, "byte", "bytes"));
        tg_utf8_append_lossy(text, tg_http_response_get_media_type(answer));
        tg_buf_append_cstr(text, ", which is not UTF-8 text and cannot be "
                                 "returned; ask the server for text or JSON");
    }

    return tg_outcome_make_failure_str(TG_FAILURE_OUTPUT, tg_buf_view(text));
}

/* Returns the outcome of a successful response without a body (204). */
static tg_outcome_t
tg_http_make_empty_outcome(tg_output_type_t output)
{
    return output == TG_OUTPUT_JSON
               ? tg_outcome_make(TG_OUTCOME_JSON, TG_STR("null"))
               : tg_outcome_make(TG_OUTCOME_RESULT, TG_STR("{\"content\":[]}"));
}

/* Sets the content of a resource: text, or else bytes. */
static void
tg_http_response_set_content(tg_output_response_t *response,
                             tg_http_response_t *answer,
                             tg_output_type_t output)
{
    tg_str_t out;

    if (output == TG_OUTPUT_BASE64
        || tg_http_decode_body(tg_str_from_cstr(answer->type),
                               tg_buf_view(&answer->body), &answer->decoded,
                               &out)
               != TG_OK)
    {
        output = TG_OUTPUT_BASE64;
        out = tg_buf_view(&answer->body);
    }

    tg_output_response_set_output(response, out, output, 0);
}

/* Sets the outcome or the output of a successful response. */
static void
tg_http_response_begin_success(tg_output_response_t *response,
                               tg_http_response_t *answer,
                               const tg_http_params_t *params)
{
    tg_outcome_t outcome;
    const char *tool;
    tg_str_t out;
    int rc;

    tool = response->params->tool;

    if (answer->is_cut) {
        tg_buf_printf(&response->text,
                      "%s: the response has more than %zu %s (max_output); "
                      "ask for less.",
                      tool, answer->body.len,
                      tg_pick_plural(answer->body.len, "byte", "bytes"));
        outcome = tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                              tg_buf_view(&response->text));

    } else if (params->output == TG_OUTPUT_CONTENT
               || params->output == TG_OUTPUT_BASE64)
    {
        tg_http_response_set_content(response, answer, params->output);
        return;

    } else if (answer->body.len == 0 && params->output == TG_OUTPUT_TEXT) {
        outcome = tg_outcome_make_text(TG_STR(""));

    } else if (params->output != TG_OUTPUT_TEXT
               && tg_str_skip_blanks(tg_buf_view(&answer->body)).len == 0)
    {
        outcome = tg_http_make_empty_outcome(params->output);

    } else {
        rc = tg_http_decode_body(tg_str_from_cstr(answer->type),
                                 tg_buf_view(&answer->body), &answer->decoded,
                                 &out);

        if (rc == TG_OK) {
            tg_output_response_set_output(response, out, params->output,
                                          params->store_params.output_store
                                              != NULL);
            return;
        }

        outcome = tg_http_response_make_not_text(answer, rc, tool,
                                                 &response->text);
    }

    tg_output_response_set_outcome(response, &outcome);
}

void
tg_http_response_begin_result(tg_output_response_t *response,
                              tg_http_response_t *answer,
                              const tg_http_params_t *params,
                              const tg_url_t *url, const char *redirect,
                              const tg_job_params_t *job,
                              const tg_run_stats_t *times)
{
    tg_outcome_t outcome;

    tg_output_response_begin(response, job, &params->store_params,
                             params->max_output, times);
    tg_http_params_redact(params, answer->body.data, answer->body.len);

    if (tg_http_response_is_success(answer)) {
        tg_http_response_begin_success(response, answer, params);
        response->text.failed |= tg_buf_has_failed(&answer->decoded);
        return;
    }

    if (answer->body.len > TG_HTTP_ERROR_BODY_MAX) {
        tg_buf_truncate(&answer->body, TG_HTTP_ERROR_BODY_MAX);
        answer->is_cut = 1;
    }

    outcome = tg_http_response_make_failure(answer, url, redirect, job->tool,
                                            &response->text);
    tg_output_response_set_outcome(response, &outcome);
}
