/* Reads the URL, headers and options of an MCP server over HTTP. */
#include "runner/mcp/tg_mcp_server_url.h"

#include "base/tg_json.h"
#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/jobs/tg_job_params.h"

#include <stdlib.h>

enum {
    TG_MCP_SERVER_URL,
    TG_MCP_SERVER_HEADERS,
    TG_MCP_SERVER_SECRETS,
    TG_MCP_SERVER_CA_FILE,
    TG_MCP_SERVER_PROXY,
    TG_MCP_SERVER_CONNECT_MS,
    TG_MCP_SERVER_URL_MEMBERS
};

static int
tg_mcp_server_url_read_strings(tg_mcp_server_url_t *url, const tg_str_t *values,
                               char *at)
{
    static const int strings[] = { TG_MCP_SERVER_URL, TG_MCP_SERVER_CA_FILE,
                                   TG_MCP_SERVER_PROXY };
    char **fields[] = { &url->url, &url->ca_file, &url->proxy };
    char **slots, **header;
    const char *why;
    tg_url_t parts;
    size_t i;

    slots = url->memory;
    url->headers = slots;

    for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        if (values[strings[i]].data != NULL
            && tg_param_read_string(&at, values[strings[i]], fields[i])
                   != TG_OK)
        {
            return TG_INVALID;
        }
    }

    if (tg_param_read_strings(&at, values[TG_MCP_SERVER_SECRETS], &slots)
        != TG_OK) {
        return TG_INVALID;
    }

    /* The other headers begin at the NULL of the secrets and replace it. */
    slots--;
    url->nsecrets = (size_t) (slots - url->headers);

    if (tg_param_read_strings(&at, values[TG_MCP_SERVER_HEADERS], &slots)
        != TG_OK) {
        return TG_INVALID;
    }

    for (header = url->headers; *header != NULL; header++) {
        if (!tg_http_header_is_valid(*header)) {
            return TG_INVALID;
        }
    }

    return tg_url_parse(tg_str_from_cstr(url->url), &parts, &why) == TG_OK
               ? TG_OK
               : TG_INVALID;
}

int
tg_mcp_server_url_read(tg_mcp_server_url_t *url, const tg_str_t *values,
                       const char **why)
{
    int headers, secrets, i;
    int64_t connect_ms;
    size_t nslots;

    *why = "url must be one of http or https, ca_file and proxy strings, "
           "headers and secrets arrays of at most 64 strings \"Name: value\", "
           "connect_ms 1 to 3600000";
    connect_ms = 0;
    headers = tg_param_count_strings(values[TG_MCP_SERVER_HEADERS]);
    secrets = tg_param_count_strings(values[TG_MCP_SERVER_SECRETS]);

    if (tg_json_type(values[TG_MCP_SERVER_URL]) != TG_JSON_STRING
        || !tg_param_is_string_or_absent(values[TG_MCP_SERVER_CA_FILE])
        || !tg_param_is_string_or_absent(values[TG_MCP_SERVER_PROXY])
        || headers < 0 || secrets < 0
        || headers + secrets > TG_MCP_SERVER_HEADERS_MAX
        || tg_param_read_int(values[TG_MCP_SERVER_CONNECT_MS], 1,
                             TG_HTTP_CONNECT_MS_MAX, &connect_ms)
               != TG_OK)
    {
        return TG_INVALID;
    }

    url->connect_ms = (uint64_t) connect_ms;

    /* A decoded string and its NUL are shorter than the raw string. */
    nslots = (size_t) (headers + secrets) + 2;
    url->size = nslots * sizeof(char *);

    for (i = 0; i < TG_MCP_SERVER_URL_MEMBERS; i++) {
        url->size += values[i].len;
    }

    url->memory = malloc(url->size);

    return url->memory == NULL
               ? TG_NOMEM
               : tg_mcp_server_url_read_strings(
                   url, values, (char *) ((char **) url->memory + nslots));
}

void
tg_mcp_server_url_free(tg_mcp_server_url_t *url)
{
    /* Erase secrets before the memory is reused. */
    if (url->memory != NULL) {
        explicit_bzero(url->memory, url->size);
    }

    free(url->memory);
    memset(url, 0, sizeof(*url));
}
