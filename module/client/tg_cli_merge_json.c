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

static int
tg_cli_json_put(tg_buf_t *buf, struct json_object *root)
{
    const char *text;
    size_t len;

    text = json_object_to_json_string_length(root, TG_CLI_JSON_FLAGS, &len);
    tg_buf_put(buf, text, text != NULL ? len : 0);
    tg_buf_char(buf, '\n');

    return text == NULL || tg_buf_failed(buf) ? TG_NOMEM : TG_OK;
}

static int
tg_cli_json_is_kept(tg_str_t before, tg_str_t after)
{
    /* U+FFFD is what half a surrogate pair is replaced by. */
    return tg_str_eq(before, after)
           || (tg_json_type(before) == TG_JSON_STRING
               && tg_json_type(after) == TG_JSON_STRING
               && tg_json_body_eq(tg_json_body(before), tg_json_body(after))
               && memmem(after.data, after.len, "\xef\xbf\xbd", 3) == NULL);
}

/* Does json-c give back what it read, token for token? */
static int
tg_cli_json_compare(tg_str_t text, tg_str_t again, tg_buf_t *out)
{
    tg_str_t before, rest;

    rest = text;

    do {
        before = tg_cli_token(&rest);

        if (!tg_cli_json_is_kept(before, tg_cli_token(&again))) {
            return tg_cli_merge_bad(
                out,
                "line %u would not stay as it is (a name that is there twice, "
                "a number beyond 64 bits or half a \\u pair): repair it, or "
                "register by hand",
                tg_cli_merge_line(text.data, before.data));
        }
    } while (before.len != 0);

    return TG_OK;
}

/* The object of that name, which is made where there is none; or NULL. */
static struct json_object *
tg_cli_json_open(struct json_object *parent, const char *key)
{
    struct json_object *child;

    if (!json_object_object_get_ex(parent, key, &child)) {
        child = json_object_new_object();
        (void) json_object_object_add(parent, key, child);
    }

    return json_object_is_type(child, json_type_object) ? child : NULL;
}

static const char *
tg_cli_json_servers(const tg_cli_entry_t *entry)
{
    return entry->servers != NULL ? entry->servers : TG_CLI_SERVERS;
}

static int
tg_cli_json_remove(struct json_object *root, const tg_cli_entry_t *entry)
{
    struct json_object *servers;

    if (json_object_object_get_ex(root, tg_cli_json_servers(entry), &servers)
        && json_object_is_type(servers, json_type_object))
    {
        json_object_object_del(servers, entry->name);
    }

    return TG_OK;
}

/* A member that is a text, in its place where there is one already. */
static int
tg_cli_json_text(struct json_object *server, const char *key, const char *text)
{
    struct json_object *value;

    value = json_object_new_string(text);

    return value != NULL && json_object_object_add(server, key, value) == 0
               ? TG_OK
               : TG_NOMEM;
}

/* An array: the first word, if there is one, and the others. */
static int
tg_cli_json_words(struct json_object *server, const char *key,
                  const char *first, const char *const *others)
{
    struct json_object *words, *word;
    const char *text;

    words = json_object_new_array();

    for (text = first != NULL ? first : *others++; text != NULL;
         text = *others++) {
        word = json_object_new_string(text);

        if (words == NULL || word == NULL
            || json_object_array_add(words, word) != 0) {
            return TG_NOMEM;
        }
    }

    return json_object_object_add(server, key, words) == 0 ? TG_OK : TG_NOMEM;
}

static int
tg_cli_json_fill(struct json_object *server, const tg_cli_entry_t *entry)
{
    int rc;

    if (entry->form == TG_CLI_FORM_LOCAL) {
        rc = tg_cli_json_text(server, "type", "local")
             | tg_cli_json_words(server, "command", entry->command, entry->args)
             | json_object_object_add(server, "enabled",
                                      json_object_new_boolean(1));
        return rc == 0 ? TG_OK : TG_NOMEM;
    }

    rc = entry->form == TG_CLI_FORM_STDIO
             ? tg_cli_json_text(server, "type", "stdio")
             : TG_OK;

    return rc == TG_OK
                   && tg_cli_json_text(server, "command", entry->command)
                          == TG_OK
                   && tg_cli_json_words(server, "args", NULL, entry->args)
                          == TG_OK
               ? TG_OK
               : TG_NOMEM;
}

/* Of the members of the server only those of the entry change. */
static int
tg_cli_json_change(struct json_object *root, const tg_cli_entry_t *entry,
                   tg_buf_t *out)
{
    struct json_object *server;

    if (entry->is_removed) {
        return tg_cli_json_remove(root, entry);
    }

    server = tg_cli_json_open(root, tg_cli_json_servers(entry));
    server = server != NULL ? tg_cli_json_open(server, entry->name) : NULL;

    if (server == NULL || json_object_object_get(server, "url") != NULL) {
        return tg_cli_merge_bad(out,
                                "its \"%s\" is no object, or has that name "
                                "already, and it is no program; repair it "
                                "first, or choose another name with --name",
                                tg_cli_json_servers(entry));
    }

    return tg_cli_json_fill(server, entry);
}

/* before gets the text as json-c writes it, out the same with the entry. */
static int
tg_cli_json_merge(struct json_object *root, tg_str_t text,
                  const tg_cli_entry_t *entry, tg_buf_t *before, tg_buf_t *out)
{
    size_t start;
    int rc;

    if (!json_object_is_type(root, json_type_object)) {
        return tg_cli_merge_bad(out, "it is no JSON object, or one that nests "
                                     "too deep; repair it first");
    }

    start = out->len;

    if ((rc = tg_cli_json_put(before, root)) != TG_OK
        || (rc = tg_cli_json_compare(text, tg_buf_view(before), out)) != TG_OK
        || (rc = tg_cli_json_change(root, entry, out)) != TG_OK
        || (rc = tg_cli_json_put(out, root)) != TG_OK)
    {
        return rc;
    }

    return tg_str_eq(tg_str(out->data + start, out->len - start),
                     tg_buf_view(before))
               ? TG_EXISTS
               : TG_OK;
}

int
tg_cli_merge_json(const char *old, const tg_cli_entry_t *entry, tg_buf_t *out)
{
    struct json_object *root;
    tg_buf_t before;
    tg_str_t text;
    int rc;

    old = tg_cli_merge_start(old, out);
    text = old[strspn(old, " \t\r\n")] != '\0' ? tg_str_c(old) : TG_STR("{}");
    tg_buf_init(&before, tg_alloc_libc());

    /* json-c takes more than JSON for JSON. */
    if (tg_json_explain(text, &before) != TG_OK) {
        rc = tg_cli_merge_bad(out, "it is no valid JSON: %.*s; repair it first",
                              (int) before.len, tg_buf_view(&before).data);
    } else {
        root = json_tokener_parse(text.data);
        rc = tg_cli_json_merge(root, text, entry, &before, out);
        json_object_put(root);
    }

    tg_buf_deinit(&before);

    return rc;
}
