/* A server's entry in an agent's JSON file. */
#include "cli/tg_cli_agent_config.h"

#include "cli/tg_cli_json.h"

#define TG_CLI_JSON_PATH_DEPTH_MAX 4

/* --- server entry --- */

/* Stores the names that lead to the entry. Returns their number. */
static size_t
tg_cli_server_entry_get_json_path(
    const tg_cli_jsonc_t *jsonc, const tg_cli_server_entry_t *entry,
    const char *path[TG_CLI_JSON_PATH_DEPTH_MAX + 1])
{
    tg_cli_jsonc_object_t object;
    tg_cli_jsonc_member_t found;
    size_t n;

    n = 0;
    path[n++] = entry->servers_key != NULL ? entry->servers_key : "mcpServers";

    /* OpenCode 1 may have a server named "servers", which has a "type". */
    if (entry->format == TG_CLI_ENTRY_FORMAT_OPENCODE2) {
        path[n++] = "servers";
    } else if (entry->format == TG_CLI_ENTRY_FORMAT_OPENCODE) {
        tg_cli_jsonc_find_member(jsonc, tg_cli_jsonc_skip_space(jsonc->text),
                                 path[0], &object, &found);

        if (found.key != NULL && *found.value == '{') {
            tg_cli_jsonc_find_member(jsonc, found.value, "servers", &object,
                                     &found);
        }

        if (found.key != NULL && *found.value == '{') {
            tg_cli_jsonc_find_member(jsonc, found.value, "type", &object,
                                     &found);
            n += found.key == NULL || *found.value == '{';
            path[1] = "servers";
        }
    }

    path[n++] = entry->name;
    path[n] = NULL;

    return n;
}

/* Returns an array: command, unless it is NULL, and the arguments. */
static json_object *
tg_cli_server_entry_new_args(const tg_cli_server_entry_t *entry,
                             const char *command)
{
    json_object *array;
    size_t i;

    array = json_object_new_array();

    if (command != NULL) {
        (void) json_object_array_add(array, json_object_new_string(command));
    }

    for (i = 0; entry->args[i] != NULL; i++) {
        (void) json_object_array_add(array,
                                     json_object_new_string(entry->args[i]));
    }

    return array;
}

/* Returns the members of the entry, in their order. */
static json_object *
tg_cli_server_entry_new_members(const tg_cli_server_entry_t *entry,
                                tg_cli_entry_format_t format)
{
    json_object *members, *tools;
    int is_opencode;

    members = json_object_new_object();
    is_opencode = format == TG_CLI_ENTRY_FORMAT_OPENCODE
                  || format == TG_CLI_ENTRY_FORMAT_OPENCODE2;

    if (format != TG_CLI_ENTRY_FORMAT_PLAIN) {
        tg_cli_json_add_text(members, "type",
                             format == TG_CLI_ENTRY_FORMAT_STDIO
                                 ? TG_STR("stdio")
                                 : TG_STR("local"));
    }

    (void) json_object_object_add(
        members, "command",
        is_opencode ? tg_cli_server_entry_new_args(entry, entry->command)
                    : json_object_new_string(entry->command));

    if (!is_opencode) {
        (void) json_object_object_add(
            members, "args", tg_cli_server_entry_new_args(entry, NULL));
    }

    if (format == TG_CLI_ENTRY_FORMAT_OPENCODE) {
        (void) json_object_object_add(members, "enabled",
                                      json_object_new_boolean(1));
    }

    if (format == TG_CLI_ENTRY_FORMAT_COPILOT) {
        tools = json_object_new_array();
        (void) json_object_array_add(tools, json_object_new_string("*"));
        (void) json_object_object_add(members, "tools", tools);
    }

    return members;
}

/* Checks whether the server is a URL instead of a program. */
static int
tg_cli_json_has_url_server(const tg_cli_jsonc_t *jsonc, const char *const *path)
{
    static const char *const urls[] = { "url", "httpUrl", "serverUrl" };
    tg_cli_jsonc_object_t object;
    tg_cli_jsonc_member_t found;
    const char *p;
    size_t i;

    p = tg_cli_jsonc_skip_space(jsonc->text);

    for (/* void */; *path != NULL && *p == '{'; path++, p = found.value) {
        tg_cli_jsonc_find_member(jsonc, p, *path, &object, &found);

        if (found.key == NULL) {
            return 0;
        }
    }

    for (i = 0; *p == '{' && i < sizeof(urls) / sizeof(urls[0]); i++) {
        tg_cli_jsonc_find_member(jsonc, p, urls[i], &object, &found);

        if (found.key != NULL) {
            return 1;
        }
    }

    return 0;
}

/* Replaces text by the text with another value; the message is in error. */
static int
tg_cli_json_text_set(tg_buf_t *text, const char *const *path, tg_str_t value,
                     tg_buf_t *error)
{
    tg_cli_jsonc_t jsonc;
    int rc;

    tg_buf_truncate(error, 0);
    rc = tg_cli_jsonc_init(&jsonc, text->data);

    if (rc == TG_OK) {
        rc = tg_cli_jsonc_set_member(&jsonc, path, value, error);
    }

    tg_cli_jsonc_deinit(&jsonc);

    if (rc == TG_OK) {
        tg_buf_truncate(text, 0);
        tg_buf_append_str(text, tg_buf_view(error));
        tg_buf_append_char(text, '\0');
        rc = tg_buf_has_failed(text) ? TG_NOMEM : TG_OK;
    }

    return rc;
}

/* Sets all members of the entry. Returns TG_EXISTS if nothing has changed. */
static int
tg_cli_json_text_set_entry(tg_buf_t *text, const tg_cli_server_entry_t *entry,
                           const char *path[TG_CLI_JSON_PATH_DEPTH_MAX + 1],
                           size_t n, tg_buf_t *error)
{
    json_object *members, *value;
    tg_cli_json_iter_t iter;
    int rc, is_changed;

    members = tg_cli_server_entry_new_members(
        entry, n == 3 ? TG_CLI_ENTRY_FORMAT_OPENCODE2 : entry->format);
    tg_cli_json_iter_init_members(&iter, members);
    path[n + 1] = NULL;
    is_changed = 0;
    rc = TG_OK;

    while ((rc == TG_OK || rc == TG_EXISTS)
           && tg_cli_json_iter_next_member(&iter, &path[n], &value))
    {
        rc = tg_cli_json_text_set(text, path, tg_cli_json_write(value), error);
        is_changed |= rc == TG_OK;
    }

    json_object_put(members);

    return rc == TG_EXISTS && is_changed ? TG_OK : rc;
}

int
tg_cli_agent_config_merge_json(const char *old,
                               const tg_cli_server_entry_t *entry,
                               tg_buf_t *out)
{
    const char *path[TG_CLI_JSON_PATH_DEPTH_MAX + 1];
    tg_cli_jsonc_t jsonc;
    tg_buf_t mark, text;
    size_t n;
    int rc;

    tg_buf_init(&mark, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    old = tg_cli_agent_config_copy_bom(old, &mark);
    old = old[strspn(old, " \t\r\n")] != '\0' ? old : "{}\n";
    tg_buf_append_cstr(&text, old);
    tg_buf_append_char(&text, '\0');
    rc = tg_cli_jsonc_init(&jsonc, old);

    if (rc == TG_OK) {
        rc = tg_buf_has_failed(&text) ? TG_NOMEM
                                      : tg_cli_jsonc_check(&jsonc, out);
    }

    if (rc == TG_OK) {
        n = tg_cli_server_entry_get_json_path(&jsonc, entry, path);

        if (entry->is_removed) {
            rc = tg_cli_json_text_set(&text, path, TG_STR_NONE, out);
        } else if (tg_cli_json_has_url_server(&jsonc, path)) {
            rc = tg_cli_agent_config_set_error(
                out,
                "it already has a server \"%s\", which is not a program; "
                "choose another name with --name",
                entry->name);
        } else {
            rc = tg_cli_json_text_set_entry(&text, entry, path, n, out);
        }
    }

    if (rc == TG_OK) {
        tg_buf_truncate(out, 0);
        tg_buf_append_str(out, tg_buf_view(&mark));
        tg_buf_append_cstr(out, text.data);
        rc = tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
    }

    tg_cli_jsonc_deinit(&jsonc);
    tg_buf_deinit(&mark);
    tg_buf_deinit(&text);

    return rc;
}
