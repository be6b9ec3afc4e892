/* Reads URL, headers and options of an MCP server over HTTP. */
#include "runner/mcp/tg_mcp_server_url.h"

#include "base/tg_json.h"
#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/jobs/tg_job_params.h"

#include <stdlib.h>

static int
tg_mcp_server_url_read_strings(tg_mcp_server_url_t *url,
                               const tg_mcp_server_spec_t *spec, char *at)
{
    const struct {
        tg_str_t raw;
        char **field;
    } strings[] = {
        { spec->url, &url->url },
        { spec->ca_file, &url->ca_file },
        { spec->proxy, &url->proxy },
    };
    char **slots, **header;
    const char *why;
    tg_url_t parts;
    size_t i;

    slots = url->memory;
    url->headers = slots;

    for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
        if (strings[i].raw.data != NULL
            && tg_param_read_string(&at, strings[i].raw, strings[i].field)
                   != TG_OK)
        {
            return TG_INVALID;
        }
    }

    if (tg_param_read_strings(&at, spec->secrets, &slots) != TG_OK) {
        return TG_INVALID;
    }

    /* The other headers replace the final NULL of the secrets. */
    slots--;
    url->nsecrets = (size_t) (slots - url->headers);

    if (tg_param_read_strings(&at, spec->headers, &slots) != TG_OK) {
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
tg_mcp_server_url_read(tg_mcp_server_url_t *url,
                       const tg_mcp_server_spec_t *spec, const char **why)
{
    size_t nslots;
    int nheaders;

    *why = "url must be an http or https URL; ca_file and proxy strings; "
           "headers and secrets arrays of at most 64 strings \"Name: "
           "value\"; connect_ms 1 to 3600000";
    nheaders = tg_json_count_strings(spec->headers)
               + tg_json_count_strings(spec->secrets);

    if (nheaders > TG_MCP_SERVER_HEADERS_MAX) {
        return TG_INVALID;
    }

    url->connect_ms = (uint64_t) spec->connect_ms;

    /* A decoded string with its NUL is shorter than the raw one. */
    nslots = (size_t) nheaders + 2;
    url->size = nslots * sizeof(char *) + spec->url.len + spec->headers.len
                + spec->secrets.len + spec->ca_file.len + spec->proxy.len;
    url->memory = malloc(url->size);

    return url->memory == NULL
               ? TG_NOMEM
               : tg_mcp_server_url_read_strings(
                   url, spec, (char *) ((char **) url->memory + nslots));
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
