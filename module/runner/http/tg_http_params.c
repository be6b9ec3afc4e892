/* Reads the params of the method `http`, checks them and hides secrets. */
#include "runner/http/tg_http_params.h"

#include "base/tg_json.h"

#include <stdlib.h>

/* Minimum length of a secret; shorter ones could occur by chance. */
#define TG_HTTP_SECRET_MIN 6

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

    *why = "has an invalid method; write one such as GET";

    if (!tg_http_method_is_valid(params->method)) {
        return TG_LIMIT;
    }

    *why = "has an invalid header; write \"Name: value\" without a line "
           "break or another control character";

    for (p = params->headers; *p != NULL; p++) {
        if (!tg_http_header_is_valid(*p)) {
            return TG_LIMIT;
        }
    }

    for (p = params->hosts; *p != NULL; p++) {
        *why = tg_url_check_pattern(tg_str_from_cstr(*p));

        if (*why != NULL) {
            *why = "has an entry in hosts that is neither a name nor a "
                   "pattern";
            return TG_LIMIT;
        }
    }

    if (tg_url_parse(tg_str_from_cstr(params->url), &url, why) != TG_OK) {
        *why = "has a URL that cannot be called: it must begin with http:// "
               "or https:// and a host, without a user or a fragment; all "
               "characters except letters, digits and -._~!$&'()*+,;=:@/? "
               "must be percent-encoded";
        return TG_LIMIT;
    }

    *why = "has a URL with \".\" or \"..\" in its path";

    return tg_url_has_dot_segments(url.path) ? TG_LIMIT : TG_OK;
}

/* --- reading --- */

static int
tg_http_params_read_strings(tg_http_params_t *params, char *at, char **slots,
                            const tg_http_spec_t *spec, const char **why)
{
    const struct {
        tg_str_t raw;
        char **field;
    } strings[] = {
        { spec->method, &params->method },
        { spec->url, &params->url },
        { spec->proxy, &params->proxy },
        { spec->ca_file, &params->ca_file },
    };
    char *body;
    size_t i;

    *why = "contains a NUL character outside its body";
    params->headers = slots;

    for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        if (strings[i].raw.data != NULL
            && tg_param_read_string(&at, strings[i].raw, strings[i].field)
                   != TG_OK)
        {
            return TG_LIMIT;
        }
    }

    if (spec->body.data != NULL) {
        (void) tg_param_read_string(&at, spec->body, &body);
        params->body = tg_str(body, (size_t) (at - body) - 1);
    }

    if (tg_param_read_strings(&at, spec->secrets, &slots) != TG_OK) {
        return TG_LIMIT;
    }

    /* The other headers replace the final NULL of the secrets. */
    slots--;
    params->nsecrets = (size_t) (slots - params->headers);

    if (tg_param_read_strings(&at, spec->headers, &slots) != TG_OK) {
        return TG_LIMIT;
    }

    params->hosts = slots;

    if (tg_param_read_strings(&at, spec->hosts, &slots) != TG_OK) {
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

    /* A decoded string with its NUL is shorter than the raw one. */
    for (i = 0; tg_http_fields[i].name != NULL; i++) {
        params->size += values[i].len;
    }

    params->memory = malloc(params->size);

    return params->memory != NULL ? TG_OK : TG_NOMEM;
}

int
tg_http_params_read(tg_http_params_t *params, tg_output_store_t *output_store,
                    const tg_str_t *values, const char **why)
{
    tg_http_spec_t spec;
    int count, rc;

    memset(params, 0, sizeof(*params));

    if (tg_json_store_fields(tg_http_fields, values, &spec, why) != TG_OK
        || tg_output_store_params_read(&params->store_params, output_store,
                                       spec.spill, why)
               != TG_OK)
    {
        return TG_INVALID;
    }

    params->output = (tg_output_type_t) spec.output;
    params->max_output = (size_t) spec.max_output;
    params->redirects = (unsigned) spec.redirects;
    params->connect_ms = (uint64_t) spec.connect_ms;
    count = tg_json_count_strings(spec.headers)
            + tg_json_count_strings(spec.secrets)
            + tg_json_count_strings(spec.hosts);

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
        &spec, why);

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
