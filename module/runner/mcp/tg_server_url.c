#include "runner/mcp/tg_server_url.h"

#include "base/tg_json.h"
#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/tg_job_params.h"

#include <stdlib.h>

enum {
    TG_SERVER_URL,
    TG_SERVER_HEADERS,
    TG_SERVER_SECRETS,
    TG_SERVER_CA_FILE,
    TG_SERVER_URL_MEMBERS
};

static int
tg_server_url_fill(tg_server_url_t *url, const tg_str_t *values, char *at)
{
    char **slots, **header;
    const char *why;
    tg_url_t parts;

    slots = url->memory;
    url->headers = slots;

    if (tg_job_string(&at, values[TG_SERVER_URL], &url->url) != TG_OK
        || (values[TG_SERVER_CA_FILE].data != NULL
            && tg_job_string(&at, values[TG_SERVER_CA_FILE], &url->ca_file)
                   != TG_OK)
        || tg_job_strings(&at, values[TG_SERVER_SECRETS], &slots) != TG_OK)
    {
        return TG_BAD;
    }

    /* The others follow in the place of its end. */
    slots--;
    url->nsecrets = (size_t) (slots - url->headers);

    if (tg_job_strings(&at, values[TG_SERVER_HEADERS], &slots) != TG_OK) {
        return TG_BAD;
    }

    for (header = url->headers; *header != NULL; header++) {
        if (!tg_http_is_header(*header)) {
            return TG_BAD;
        }
    }

    return tg_url_parse(tg_str_c(url->url), &parts, &why) == TG_OK ? TG_OK
                                                                   : TG_BAD;
}

int
tg_server_url_read(tg_server_url_t *url, const tg_str_t *values,
                   const char **why)
{
    int headers, secrets, i;
    size_t nslots;

    *why = "url must be one of http or https, ca_file a string, headers and "
           "secrets arrays of at most 64 strings \"Name: value\"";
    headers = tg_job_count(values[TG_SERVER_HEADERS]);
    secrets = tg_job_count(values[TG_SERVER_SECRETS]);

    if (tg_json_type(values[TG_SERVER_URL]) != TG_JSON_STRING
        || !tg_job_is_string(values[TG_SERVER_CA_FILE]) || headers < 0
        || secrets < 0 || headers + secrets > TG_SERVER_HEADERS_MAX)
    {
        return TG_BAD;
    }

    /* Decoded and terminated, each is shorter than it is raw. */
    nslots = (size_t) (headers + secrets) + 2;
    url->size = nslots * sizeof(char *);

    for (i = 0; i < TG_SERVER_URL_MEMBERS; i++) {
        url->size += values[i].len;
    }

    url->memory = malloc(url->size);

    return url->memory == NULL
               ? TG_NOMEM
               : tg_server_url_fill(url, values,
                                    (char *) ((char **) url->memory + nslots));
}

void
tg_server_url_free(tg_server_url_t *url)
{
    /* Nothing may find secrets in memory that it is given. */
    if (url->memory != NULL) {
        explicit_bzero(url->memory, url->size);
    }

    free(url->memory);
    memset(url, 0, sizeof(*url));
}
