/* Reads the params of an MCP server: a program, an address or a URL. */
#include "runner/mcp/tg_mcp_server_params.h"

#include "base/tg_json.h"
#include "runner/jobs/tg_job_params.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

typedef struct {
    tg_str_t key;
    tg_str_t server;
    tg_str_t spec;
} tg_mcp_watch_t;

#define TG_MCP_WATCH_FIELD(text, kind, member)                                 \
    .name = text, .type = kind, TG_FIELD_AT(tg_mcp_watch_t, member)

static const tg_json_field_t tg_mcp_watch_fields[] = {
    { TG_MCP_WATCH_FIELD("key", TG_FIELD_STRING, key), .is_required = 1 },
    { TG_MCP_WATCH_FIELD("server", TG_FIELD_STRING, server), .is_required = 1 },
    { TG_MCP_WATCH_FIELD("spec", TG_FIELD_RAW, spec) },
    { .name = NULL },
};

int
tg_mcp_server_is_key(tg_str_t raw, tg_str_t *key)
{
    if (tg_json_type(raw) != TG_JSON_STRING) {
        return 0;
    }

    *key = tg_json_string_body(raw);

    return key->len >= TG_MCP_SERVER_KEY_MIN
           && key->len <= TG_MCP_SERVER_KEY_MAX && tg_str_is_word(*key, "-_");
}

/* Parses an address such as "127.0.0.1:80" or "[::1]:80". */
static int
tg_mcp_server_params_parse_inet(tg_mcp_server_params_t *spec, char *text)
{
    struct sockaddr_in6 *in6;
    struct sockaddr_in *in;
    unsigned long port;
    char *colon, *end;

    colon = strrchr(text, ':');

    if (colon == NULL || !tg_is_digit(colon[1])) {
        return TG_INVALID;
    }

    port = strtoul(colon + 1, &end, 10);
    *colon = '\0';

    if (*end != '\0' || port == 0 || port > 65535) {
        return TG_INVALID;
    }

    if (text[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        in6 = (struct sockaddr_in6 *) &spec->address.room;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons((uint16_t) port);
        return inet_pton(AF_INET6, text + 1, &in6->sin6_addr) == 1 ? TG_OK
                                                                   : TG_INVALID;
    }

    in = (struct sockaddr_in *) &spec->address.room;
    in->sin_family = AF_INET;
    in->sin_port = htons((uint16_t) port);

    return inet_pton(AF_INET, text, &in->sin_addr) == 1 ? TG_OK : TG_INVALID;
}

static int
tg_mcp_server_params_read_address(tg_mcp_server_params_t *spec, tg_str_t raw)
{
    char room[sizeof(spec->address.un.sun_path) * 6], *at, *text;

    at = room;

    if (tg_json_type(raw) != TG_JSON_STRING || raw.len > sizeof(room)
        || tg_param_read_string(&at, raw, &text) != TG_OK)
    {
        return TG_INVALID;
    }

    if (strncmp(text, "unix:/", 6) != 0) {
        return tg_mcp_server_params_parse_inet(spec, text);
    }

    text += 5;

    if (strlen(text) >= sizeof(spec->address.un.sun_path)) {
        return TG_INVALID;
    }

    spec->address.un.sun_family = AF_UNIX;
    strcpy(spec->address.un.sun_path, text);

    return TG_OK;
}

/* Reads the call target: a program, an address or a URL. */
static int
tg_mcp_server_params_read_target(tg_mcp_server_params_t *params,
                                 const tg_mcp_server_spec_t *spec,
                                 const tg_program_base_env_t *env,
                                 const char **why)
{
    int rc;

    if ((spec->program.argv.data != NULL) + (spec->pass.data != NULL)
            + (spec->url.data != NULL)
        != 1)
    {
        *why = "spec must have exactly one of exec, pass and url";
        return TG_INVALID;
    }

    if (spec->url.data != NULL) {
        return tg_mcp_server_url_read(&params->url, spec, why);
    }

    if (spec->pass.data != NULL) {
        *why = "pass must be \"unix:/PATH\" or \"ADDRESS:PORT\" with a "
               "numeric address";
        return tg_mcp_server_params_read_address(params, spec->pass);
    }

    rc = tg_program_params_read(&params->program, &spec->program, env, NULL,
                                why);

    return rc == TG_LIMIT ? TG_INVALID : rc;
}

static int
tg_mcp_server_params_read_roots(tg_mcp_server_params_t *spec, tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t value, uri;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        return TG_INVALID;
    }

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        if (!tg_json_has_member(value, TG_STR("uri"), TG_JSON_STRING, &uri)) {
            return TG_INVALID;
        }
    }

    spec->roots = strndup(raw.data, raw.len);

    return spec->roots != NULL ? TG_OK : TG_NOMEM;
}

static int
tg_mcp_server_params_read_spec(tg_mcp_server_params_t *params, tg_str_t raw,
                               const tg_program_base_env_t *env,
                               const char **why)
{
    tg_mcp_server_spec_t spec;
    tg_str_t place;
    int rc;

    place = TG_STR("");
    *why = tg_mcp_server_fields[0].why;

    if (tg_json_read_fields(tg_mcp_server_fields, raw, &spec, why) != TG_OK) {
        return TG_INVALID;
    }

    if (spec.place.data != NULL && !tg_mcp_server_is_key(spec.place, &place)) {
        *why = tg_mcp_server_fields[0].why;
        return TG_INVALID;
    }

    memcpy(params->place, place.data, place.len);
    params->share = (tg_mcp_sharing_t) spec.share;
    params->is_boot = spec.start == TG_MCP_START_BOOT;
    params->idle_ms = (uint64_t) spec.idle_ms;
    params->start_ms = (uint64_t) spec.start_ms;
    rc = tg_mcp_server_params_read_target(params, &spec, env, why);

    if (rc == TG_OK) {
        *why = "roots must be an array of objects with a string uri";
        rc = tg_mcp_server_params_read_roots(params, spec.roots);
    }

    return rc;
}

int
tg_mcp_server_params_read(tg_mcp_server_params_t *spec, tg_str_t params,
                          const tg_program_base_env_t *env, const char **why)
{
    tg_mcp_watch_t watch;
    tg_str_t key, name;
    size_t len;
    int rc;

    memset(spec, 0, sizeof(*spec));
    *why = "key must be 16 to 64 letters, digits, - and _; server a name of "
           "at most 128 bytes; spec an object of at most 1 MiB";

    if (tg_json_read_fields(tg_mcp_watch_fields, params, &watch, why) != TG_OK
        || !tg_mcp_server_is_key(watch.key, &key)
        || watch.server.len > TG_MCP_SERVER_NAME_MAX
        || watch.spec.len > TG_MCP_SERVER_PARAMS_MAX)
    {
        return TG_INVALID;
    }

    name = tg_json_string_body(watch.server);
    memcpy(spec->key, key.data, key.len);
    len = tg_json_unescape(spec->name, name);
    spec->name[len] = '\0';
    rc = tg_mcp_server_params_read_spec(spec, watch.spec, env, why);

    if (rc != TG_OK) {
        tg_mcp_server_params_free(spec);
    }

    return rc;
}

void
tg_mcp_server_params_free(tg_mcp_server_params_t *spec)
{
    tg_program_params_free(&spec->program);
    tg_mcp_server_url_free(&spec->url);
    free(spec->roots);
    spec->roots = NULL;
}
