/* Reads the params of an MCP server: a program, an address or a URL. */
#include "runner/mcp/tg_mcp_server_params.h"

#include "base/tg_json.h"
#include "runner/jobs/tg_job_params.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>

enum {
    TG_MCP_SUBSCRIBE_KEY,
    TG_MCP_SUBSCRIBE_SERVER,
    TG_MCP_SUBSCRIBE_SPEC,
    TG_MCP_SUBSCRIBE_MEMBERS
};

static const char *const tg_mcp_subscribe_members[] = {
    [TG_MCP_SUBSCRIBE_KEY] = "key",
    [TG_MCP_SUBSCRIBE_SERVER] = "server",
    [TG_MCP_SUBSCRIBE_SPEC] = "spec",
    [TG_MCP_SUBSCRIBE_MEMBERS] = NULL,
};

enum {
    TG_MCP_SPEC_EXEC,
    TG_MCP_SPEC_ENV,
    TG_MCP_SPEC_CWD,
    TG_MCP_SPEC_MEMORY,
    TG_MCP_SPEC_PIDS,
    TG_MCP_SPEC_PASS,
    TG_MCP_SPEC_URL,
    TG_MCP_SPEC_HEADERS,
    TG_MCP_SPEC_SECRETS,
    TG_MCP_SPEC_CA_FILE,
    TG_MCP_SPEC_PROXY,
    TG_MCP_SPEC_CONNECT_MS,
    TG_MCP_SPEC_SHARE,
    TG_MCP_SPEC_START,
    TG_MCP_SPEC_IDLE_MS,
    TG_MCP_SPEC_START_MS,
    TG_MCP_SPEC_ROOTS,
    TG_MCP_SPEC_PLACE,
    TG_MCP_SPEC_MEMBERS
};

static const char *const tg_mcp_server_spec_members[] = {
    [TG_MCP_SPEC_EXEC] = "exec",       [TG_MCP_SPEC_ENV] = "env",
    [TG_MCP_SPEC_CWD] = "cwd",         [TG_MCP_SPEC_MEMORY] = "memory",
    [TG_MCP_SPEC_PIDS] = "pids",       [TG_MCP_SPEC_PASS] = "pass",
    [TG_MCP_SPEC_URL] = "url",         [TG_MCP_SPEC_HEADERS] = "headers",
    [TG_MCP_SPEC_SECRETS] = "secrets", [TG_MCP_SPEC_CA_FILE] = "ca_file",
    [TG_MCP_SPEC_PROXY] = "proxy",     [TG_MCP_SPEC_CONNECT_MS] = "connect_ms",
    [TG_MCP_SPEC_SHARE] = "share",     [TG_MCP_SPEC_START] = "start",
    [TG_MCP_SPEC_IDLE_MS] = "idle_ms", [TG_MCP_SPEC_START_MS] = "start_ms",
    [TG_MCP_SPEC_ROOTS] = "roots",     [TG_MCP_SPEC_PLACE] = "place",
    [TG_MCP_SPEC_MEMBERS] = NULL,
};

int
tg_mcp_server_is_key(tg_str_t raw, tg_str_t *key)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t i;

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return 0;
    }

    *key = tg_json_string_body(raw);

    if (key->len < TG_MCP_SERVER_KEY_MIN || key->len > TG_MCP_SERVER_KEY_MAX) {
        return 0;
    }

    for (i = 0; i < key->len; i++) {
        if (memchr(known, key->data[i], sizeof(known) - 1) == NULL) {
            return 0;
        }
    }

    return 1;
}

/* Returns the index of a word in a list, 0 if the value is absent, or -1. */
static int
tg_mcp_server_params_find_word(tg_str_t raw, const char *const *words)
{
    int i;

    for (i = 0; raw.data != NULL && words[i] != NULL; i++) {
        if (tg_json_string_eq(raw, tg_str_from_cstr(words[i]))) {
            return i;
        }
    }

    return raw.data == NULL ? 0 : -1;
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
tg_mcp_server_params_read_target(tg_mcp_server_params_t *spec,
                                 const tg_str_t *values,
                                 const tg_program_base_env_t *env,
                                 const char **why)
{
    tg_program_raw_params_t raw;
    int rc;

    raw.argv = values[TG_MCP_SPEC_EXEC];
    raw.env = values[TG_MCP_SPEC_ENV];
    raw.cwd = values[TG_MCP_SPEC_CWD];
    raw.memory = values[TG_MCP_SPEC_MEMORY];
    raw.pids = values[TG_MCP_SPEC_PIDS];

    if ((raw.argv.data != NULL) + (values[TG_MCP_SPEC_PASS].data != NULL)
            + (values[TG_MCP_SPEC_URL].data != NULL)
        != 1)
    {
        *why = "spec must have one of exec, pass and url";
        return TG_INVALID;
    }

    if (values[TG_MCP_SPEC_URL].data != NULL) {
        return tg_mcp_server_url_read(&spec->url, &values[TG_MCP_SPEC_URL],
                                      why);
    }

    if (raw.argv.data == NULL) {
        *why = "pass must be \"unix:/PATH\" or \"ADDRESS:PORT\" with a "
               "numeric address";
        return tg_mcp_server_params_read_address(spec,
                                                 values[TG_MCP_SPEC_PASS]);
    }

    *why = "exec must be an array of at least one string, env one of strings, "
           "cwd a string, memory and pids at least 1";
    rc = tg_program_params_read(&spec->program, &raw, env, NULL, why);

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
tg_mcp_server_params_read_spec(tg_mcp_server_params_t *spec, tg_str_t raw,
                               const tg_program_base_env_t *env,
                               const char **why)
{
    static const char *const shares[] = { "all", "user", "connection", NULL };
    static const char *const starts[] = { "use", "boot", NULL };
    tg_str_t values[TG_MCP_SPEC_MEMBERS], place;
    int64_t idle_ms, start_ms;
    int share, start, rc;

    *why = "spec must be an object in which share is all, user or connection, "
           "start use or boot, idle_ms 0 to 2147483647, start_ms 1 to "
           "2147483647, place as a key is";

    if (tg_json_get_members(raw, tg_mcp_server_spec_members, values) != TG_OK) {
        return TG_INVALID;
    }

    place = TG_STR("");
    share = tg_mcp_server_params_find_word(values[TG_MCP_SPEC_SHARE], shares);
    start = tg_mcp_server_params_find_word(values[TG_MCP_SPEC_START], starts);
    idle_ms = TG_MCP_SERVER_IDLE_MS;
    start_ms = TG_MCP_SERVER_START_MS;

    if (share == -1 || start == -1
        || tg_param_read_int(values[TG_MCP_SPEC_IDLE_MS], 0, INT32_MAX,
                             &idle_ms)
               != TG_OK
        || tg_param_read_int(values[TG_MCP_SPEC_START_MS], 1, INT32_MAX,
                             &start_ms)
               != TG_OK
        || (values[TG_MCP_SPEC_PLACE].data != NULL
            && !tg_mcp_server_is_key(values[TG_MCP_SPEC_PLACE], &place)))
    {
        return TG_INVALID;
    }

    memcpy(spec->place, place.data, place.len);
    spec->share = (tg_mcp_sharing_t) share;
    spec->is_boot = start == 1;
    spec->idle_ms = (uint64_t) idle_ms;
    spec->start_ms = (uint64_t) start_ms;
    rc = tg_mcp_server_params_read_target(spec, values, env, why);

    if (rc == TG_OK) {
        *why = "roots must be an array of objects in which uri is a string";
        rc = tg_mcp_server_params_read_roots(spec, values[TG_MCP_SPEC_ROOTS]);
    }

    return rc;
}

int
tg_mcp_server_params_read(tg_mcp_server_params_t *spec, tg_str_t params,
                          const tg_program_base_env_t *env, const char **why)
{
    tg_str_t values[TG_MCP_SUBSCRIBE_MEMBERS], key, name;
    size_t len;
    int rc;

    memset(spec, 0, sizeof(*spec));
    *why = "key must be 16 to 64 letters, digits, - and _, server a name of "
           "at most 128 bytes, and spec an object of at most 1 MiB";

    if (tg_json_get_members(params, tg_mcp_subscribe_members, values) != TG_OK
        || !tg_mcp_server_is_key(values[TG_MCP_SUBSCRIBE_KEY], &key)
        || tg_json_type(values[TG_MCP_SUBSCRIBE_SERVER]) != TG_JSON_STRING
        || values[TG_MCP_SUBSCRIBE_SERVER].len > TG_MCP_SERVER_NAME_MAX
        || values[TG_MCP_SUBSCRIBE_SPEC].len > TG_MCP_SERVER_PARAMS_MAX)
    {
        return TG_INVALID;
    }

    name = tg_json_string_body(values[TG_MCP_SUBSCRIBE_SERVER]);
    memcpy(spec->key, key.data, key.len);
    len = tg_json_unescape(spec->name, name);
    spec->name[len] = '\0';
    rc = tg_mcp_server_params_read_spec(spec, values[TG_MCP_SUBSCRIBE_SPEC],
                                        env, why);

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
