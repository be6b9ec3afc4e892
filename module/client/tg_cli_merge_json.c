/*
 * As the agents themselves do it: parse, change, write with two spaces.  The
 * order of members stays; a file of which json-c would not give back all that
 * it read is refused.
 */
#include "client/tg_cli_config.h"

#include "client/tg_cli_text.h"

#include <json-c/json.h>

#define TG_CLI_SERVERS "mcpServers"
#define TG_CLI_JSON_FLAGS                                                      \
    (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED                         \
     | JSON_C_TO_STRING_NOSLASHESCAPE)

int
tg_cli_merge_bad(tg_buf_t *why, tg_str_t text, const char *at, const char *what)
{
    const char *p;
    unsigned line;

    for (line = 1, p = text.data; p < at; p++) {
        line += *p == '\n';
    }

    tg_buf_printf(why, "line %u%s", line, what);

    return TG_BAD;
}

static int
tg_cli_json_is_kept(tg_str_t before, tg_str_t after)
{
    static const char unknown[] = "\xef\xbf\xbd";

    if (before.len == 0 || after.len == 0 || before.data[0] != '"'
        || after.data[0] != '"')
    {
        return tg_str_eq(before, after);
    }

    /* It is what half a surrogate pair is replaced by. */
    return tg_json_body_eq(tg_json_body(before), tg_json_body(after))
           && (memmem(after.data, after.len, unknown, 3) == NULL
               || memmem(before.data, before.len, unknown, 3) != NULL);
}

/* Does json-c give back what it read, token for token? */
static int
tg_cli_json_compare(tg_str_t text, struct json_object *root, tg_buf_t *why)
{
    tg_str_t before, after, rest, copy;
    size_t len;

    copy.data = json_object_to_json_string_length(root, TG_CLI_JSON_FLAGS,
                                                  &len);
    if (copy.data == NULL) {
        return TG_NOMEM;
    }

    copy.len = len;
    rest = text;

    do {
        before = tg_cli_token(&rest);
        after = tg_cli_token(&copy);

        if (!tg_cli_json_is_kept(before, after)) {
            return tg_cli_merge_bad(why, text, before.data,
                                    " would not stay as it is (a name that is "
                                    "there twice, a number beyond 64 bits or "
                                    "half a \\u pair): repair it, or register "
                                    "by hand");
        }
    } while (before.len != 0);

    return TG_OK;
}

/* TG_OK with the root, an object; TG_BAD; TG_NOMEM. */
static int
tg_cli_json_parse(tg_str_t text, struct json_object **root, tg_buf_t *why)
{
    struct json_tokener *tokener;
    int rc;

    tg_buf_text(why, "it is no valid JSON: ");

    /* json-c takes more than JSON for JSON. */
    if (tg_json_explain(text, why) != TG_OK) {
        tg_buf_text(why, "; repair it first");
        return TG_BAD;
    }

    tg_buf_truncate(why, 0);
    tokener = json_tokener_new_ex(TG_JSON_DEPTH + 1);

    if (tokener == NULL) {
        return TG_NOMEM;
    }

    *root = json_tokener_parse_ex(tokener, text.data, (int) text.len);
    rc = TG_OK;

    if (json_object_get_type(*root) != json_type_object) {
        tg_buf_text(why, "it is no JSON object; repair it first");
        rc = TG_BAD;
    }

    json_tokener_free(tokener);

    return rc;
}

/* The object of that name, which is made where there is none. */
static struct json_object *
tg_cli_json_open(struct json_object *parent, const char *key)
{
    struct json_object *child;

    if (!json_object_object_get_ex(parent, key, &child)) {
        child = json_object_new_object();

        if (json_object_object_add(parent, key, child) != 0) {
            json_object_put(child);
            return NULL;
        }
    }

    return json_object_is_type(child, json_type_object) ? child : NULL;
}

/* Of the members of the server only those of the entry change. */
static int
tg_cli_json_set(struct json_object *server, const tg_cli_entry_t *entry)
{
    struct json_object *before, *args, *command;
    int rc;

    before = NULL;
    args = json_object_new_array();
    command = json_object_new_string(entry->command);
    rc = TG_NOMEM;

    if (args != NULL && command != NULL
        && json_object_deep_copy(server, &before, NULL) == 0
        && json_object_array_add(args, json_object_new_string(entry->socket))
               == 0
        && json_object_object_add(server, "command", json_object_get(command))
               == 0
        && json_object_object_add(server, "args", json_object_get(args)) == 0)
    {
        rc = json_object_equal(before, server) ? TG_EXISTS : TG_OK;
    }

    json_object_put(before);
    json_object_put(args);
    json_object_put(command);

    return rc;
}

static int
tg_cli_json_change(struct json_object *root, const tg_cli_entry_t *entry,
                   tg_buf_t *why)
{
    struct json_object *servers, *server;

    servers = tg_cli_json_open(root, TG_CLI_SERVERS);

    if (servers == NULL) {
        tg_buf_text(why, "its \"" TG_CLI_SERVERS "\" is no object; repair it "
                         "first");
        return TG_BAD;
    }

    server = tg_cli_json_open(servers, entry->name);

    if (server == NULL || json_object_object_get(server, "url") != NULL) {
        tg_buf_text(why, TG_CLI_SERVERS " has that name already, and it is no "
                                        "program; choose another one with "
                                        "--name");
        return TG_BAD;
    }

    return tg_cli_json_set(server, entry);
}

int
tg_cli_merge_json(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                  tg_buf_t *why)
{
    struct json_object *root;
    const char *text;
    tg_str_t rest;
    size_t len;
    int rc;

    /* Editors that write a byte order mark want it back. */
    len = tg_cli_merge_mark(old);
    tg_buf_put(out, old.data, len);
    old = tg_str(old.data + len, old.len - len);
    rest = old;

    /* A file of nothing, or of white space, is taken as an empty object. */
    if (tg_cli_token(&rest).len == 0) {
        old = TG_STR("{}");
    }

    root = NULL;
    rc = tg_cli_json_parse(old, &root, why);

    if (rc == TG_OK) {
        rc = tg_cli_json_compare(old, root, why);
    }

    if (rc == TG_OK) {
        rc = tg_cli_json_change(root, entry, why);
    }

    if (rc == TG_OK) {
        text = json_object_to_json_string_length(root, TG_CLI_JSON_FLAGS, &len);
        tg_buf_put(out, text, text != NULL ? len : 0);
        tg_buf_char(out, '\n');
        rc = text == NULL || tg_buf_failed(out) ? TG_NOMEM : TG_OK;
    }

    json_object_put(root);

    return rc;
}
