/* Reads the params of the method `http`, checks them and hides secrets. */
#include "runner/http/tg_http_params.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* Minimum length of a secret. A shorter one could occur in a text by chance. */
#define TG_HTTP_SECRET_MIN 6

enum {
    TG_HTTP_METHOD,
    TG_HTTP_URL,
    TG_HTTP_HEADERS,
    TG_HTTP_SECRETS,
    TG_HTTP_BODY,
    TG_HTTP_HOSTS,
    TG_HTTP_REDIRECTS,
    TG_HTTP_PROXY,
    TG_HTTP_CA_FILE,
    TG_HTTP_CONNECT,
    TG_HTTP_OUTPUT_TYPE,
    TG_HTTP_MAX_OUTPUT,
    TG_HTTP_SPILL,
    TG_HTTP_MEMBERS
};

const char *const tg_http_members[] = {
    [TG_HTTP_METHOD] = "method",       [TG_HTTP_URL] = "url",
    [TG_HTTP_HEADERS] = "headers",     [TG_HTTP_SECRETS] = "secrets",
    [TG_HTTP_BODY] = "body",           [TG_HTTP_HOSTS] = "hosts",
    [TG_HTTP_REDIRECTS] = "redirects", [TG_HTTP_PROXY] = "proxy",
    [TG_HTTP_CA_FILE] = "ca_file",     [TG_HTTP_CONNECT] = "connect_ms",
    [TG_HTTP_OUTPUT_TYPE] = "output",  [TG_HTTP_MAX_OUTPUT] = "max_output",
    [TG_HTTP_SPILL] = "spill",         [TG_HTTP_MEMBERS] = NULL,
};

/* Params that are strings. */
static const int tg_http_string_members[] = { TG_HTTP_METHOD, TG_HTTP_URL,
                                              TG_HTTP_BODY, TG_HTTP_PROXY,
                                              TG_HTTP_CA_FILE };

#define TG_HTTP_STRING_MEMBERS                                                 \
    (sizeof(tg_http_string_members) / sizeof(tg_http_string_members[0]))

/* --- checks --- */

static int
tg_http_method_is_valid(const char *method)
{
    const char *p;

    for (p = method; *p >= 'A' && *p <= 'Z'; p++) {
        /* void */
    }

    return p != method && *p == '\0' && strcmp(method, "CONNECT") != 0
           && strcmp(method, "TRACE") != 0;
}

int
tg_http_header_is_valid(const char *header)
{
    const char *p, *colon;

    colon = strchr(header, ':');

    if (colon == NULL || colon == header) {
        return 0;
    }

    for (p = header; *p != '\0'; p++) {
        if (((unsigned char) *p < ' ' && *p != '\t') || *p == '\x7f'
            || (p < colon && *p == ' '))
        {
            return 0;
        }
    }

    return 1;
}

static int
tg_http_params_check(const tg_http_params_t *params, const char **why)
{
    char *const *p;
    tg_url_t url;

    *why = "has a method that is none, such as GET";

    if (!tg_http_method_is_valid(params->method)) {
        return TG_LIMIT;
    }

    *why = "has a header that is not \"Name: value\", or has a line's end or "
           "another control character in it";

    for (p = params->headers; *p != NULL; p++) {
        if (!tg_http_header_is_valid(*p)) {
            return TG_LIMIT;
        }
    }

    for (p = params->hosts; *p != NULL; p++) {
        *why = tg_url_check_pattern(tg_str_from_cstr(*p));

        if (*why != NULL) {
            *why = "has a host in hosts that is no name or pattern";
            return TG_LIMIT;
        }
    }

    *why = "has a URL that is none: it must begin with http:// or https:// "
           "and a host, have no user and no fragment, and what is no letter, "
           "digit or one of -._~!$&'()*+,;=:@/? percent-encoded";

    if (tg_url_parse(tg_str_from_cstr(params->url), &url, why) != TG_OK) {
        *why = "has a URL that cannot be called: it must begin with http:// "
               "or https:// and a host, without a user or a fragment; what is "
               "no letter, digit or one of -._~!$&'()*+,;=:@/? must be "
               "percent-encoded";
        return TG_LIMIT;
    }

    *why = "has a URL with \".\" or \"..\" in its path";

    return tg_url_has_dot_segments(url.path) ? TG_LIMIT : TG_OK;
}

/* --- reading --- */

static int
tg_http_params_read_strings(tg_http_params_t *params, char *at, char **slots,
                            const tg_str_t *values, const char **why)
{
    char *body = NULL;
    char **fields[] = { &params->method, &params->url, &body, &params->proxy,
                        &params->ca_file };
    size_t i;

    *why = "holds a NUL character outside its body";
    params->headers = slots;

    for (i = 0; i < TG_HTTP_STRING_MEMBERS; i++) {
        if (values[tg_http_string_members[i]].data == NULL) {
            continue;
        }

        if (tg_param_read_string(&at, values[tg_http_string_members[i]],
                                 fields[i])
                != TG_OK
            && tg_http_string_members[i] != TG_HTTP_BODY)
        {
            return TG_LIMIT;
        }

        if (tg_http_string_members[i] == TG_HTTP_BODY) {
            params->body = tg_str(body, (size_t) (at - body) - 1);
        }
    }

    if (tg_param_read_strings(&at, values[TG_HTTP_SECRETS], &slots) != TG_OK) {
        return TG_LIMIT;
    }

    /* The other headers begin at the NULL of the secrets and replace it. */
    slots--;
    params->nsecrets = (size_t) (slots - params->headers);

    if (tg_param_read_strings(&at, values[TG_HTTP_HEADERS], &slots) != TG_OK) {
        return TG_LIMIT;
    }

    params->hosts = slots;

    if (tg_param_read_strings(&at, values[TG_HTTP_HOSTS], &slots) != TG_OK) {
        return TG_LIMIT;
    }

    return tg_http_params_check(params, why);
}

static int
tg_http_params_alloc(tg_http_params_t *params, const tg_str_t *values,
                     size_t strings)
{
    size_t i;

    params->size = (strings + 3) * sizeof(char *);

    /* A decoded string and its NUL are shorter than the raw string. */
    for (i = 0; i < TG_HTTP_MEMBERS; i++) {
        params->size += values[i].len;
    }

    params->memory = malloc(params->size);

    return params->memory != NULL ? TG_OK : TG_NOMEM;
}

static int
tg_http_params_read_numbers(tg_http_params_t *params, const tg_str_t *values)
{
    int64_t redirects, connect_ms, max_output;

    redirects = 0;
    connect_ms = 0;
    max_output = TG_HTTP_OUTPUT_DEFAULT;

    if (tg_param_read_int(values[TG_HTTP_REDIRECTS], 0, TG_HTTP_REDIRECTS_MAX,
                          &redirects)
            != TG_OK
        || tg_param_read_int(values[TG_HTTP_CONNECT], 1, TG_HTTP_CONNECT_MS_MAX,
                             &connect_ms)
               != TG_OK
        || tg_param_read_int(values[TG_HTTP_MAX_OUTPUT], 0, TG_HTTP_OUTPUT_MAX,
                             &max_output)
               != TG_OK)
    {
        return TG_INVALID;
    }

    params->redirects = (unsigned) redirects;
    params->connect_ms = (uint64_t) connect_ms;
    params->max_output = (size_t) max_output;

    return TG_OK;
}

/*
 * Returns the number of strings in all arrays, or -1 if a param has the wrong
 * type or is missing.
 */
static int
tg_http_params_count_strings(const tg_str_t *values)
{
    int headers, secrets, hosts;
    size_t i;

    for (i = 0; i < TG_HTTP_STRING_MEMBERS; i++) {
        if (!tg_param_is_string_or_absent(values[tg_http_string_members[i]])) {
            return -1;
        }
    }

    headers = tg_param_count_strings(values[TG_HTTP_HEADERS]);
    secrets = tg_param_count_strings(values[TG_HTTP_SECRETS]);
    hosts = tg_param_count_strings(values[TG_HTTP_HOSTS]);

    return values[TG_HTTP_METHOD].data == NULL
                   || values[TG_HTTP_URL].data == NULL || headers < 0
                   || secrets < 0 || hosts < 1
               ? -1
               : headers + secrets + hosts;
}

int
tg_http_params_read(tg_http_params_t *params, tg_output_store_t *output_store,
                    const tg_str_t *values, const char **why)
{
    int count, rc;

    memset(params, 0, sizeof(*params));
    count = tg_http_params_count_strings(values);

    if (count < 0 || tg_http_params_read_numbers(params, values) != TG_OK
        || tg_param_read_output_type(values[TG_HTTP_OUTPUT_TYPE],
                                     &params->output)
               != TG_OK
        || tg_output_store_params_read(&params->store_params, output_store,
                                       values[TG_HTTP_SPILL])
               != TG_OK)
    {
        *why = "method, url, body, proxy and ca_file must be strings, the "
               "first two there; headers, secrets and hosts arrays of "
               "strings, the last of at least one; redirects 0 to 20, "
               "connect_ms 1 to 3600000, max_output 0 to 33554432, output "
               "text, json or result, spill an object of owner, quota, "
               "keep_ms and preview";
        return TG_INVALID;
    }

    if (count > TG_HTTP_STRINGS_MAX) {
        *why = "has more than 1024 headers and hosts";
        return TG_LIMIT;
    }

    if (tg_http_params_alloc(params, values, (size_t) count) != TG_OK) {
        return TG_NOMEM;
    }

    /* First the pointers, for their alignment, then the text. */
    rc = tg_http_params_read_strings(
        params, (char *) ((char **) params->memory + count + 3), params->memory,
        values, why);

    if (rc != TG_OK) {
        tg_http_params_free(params);
    }

    return rc;
}

void
tg_http_params_free(tg_http_params_t *params)
{
    /* Erase secrets before the memory is reused. */
    if (params->memory != NULL) {
        explicit_bzero(params->memory, params->size);
    }

    free(params->memory);
    memset(params, 0, sizeof(*params));
}

/* --- use of params --- */

tg_url_match_t
tg_http_params_match_host(const tg_http_params_t *params, const tg_url_t *url)
{
    tg_url_match_t best, match;
    char *const *host;

    best = TG_URL_MATCH_NONE;

    for (host = params->hosts; *host != NULL; host++) {
        match = tg_url_match_host(url, tg_str_from_cstr(*host));
        best = match > best ? match : best;
    }

    return best;
}

static void
tg_http_redact_secret(char *text, size_t len, tg_str_t secret)
{
    char *at;

    if (secret.len < TG_HTTP_SECRET_MIN) {
        return;
    }

    while ((at = memmem(text, len, secret.data, secret.len)) != NULL) {
        memset(at, '*', secret.len);
        len -= (size_t) (at + secret.len - text);
        text = at + secret.len;
    }
}

void
tg_http_redact_headers(char *const *headers, size_t n, char *text, size_t len)
{
    const char *value, *word;
    size_t i;

    for (i = 0; len != 0 && i < n; i++) {
        value = strchr(headers[i], ':') + 1;
        value += strspn(value, " \t");
        tg_http_redact_secret(text, len, tg_str_from_cstr(value));

        /* Also hides the part after a scheme, as in "Bearer …". */
        word = strrchr(value, ' ');

        if (word != NULL) {
            tg_http_redact_secret(text, len, tg_str_from_cstr(word + 1));
        }
    }
}

void
tg_http_params_redact(const tg_http_params_t *params, char *text, size_t len)
{
    tg_http_redact_headers(params->headers, params->nsecrets, text, len);
}
