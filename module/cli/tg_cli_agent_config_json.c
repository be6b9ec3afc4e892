/* A server's entry in an agent's JSON file. */
#include "cli/tg_cli_agent_config.h"

#include "cli/tg_cli_jsonc.h"
#include "base/tg_json.h"

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

static void
tg_cli_append_json_strings(tg_buf_t *value, const char *first,
                           const char *const *others)
{
    const char *text;

    tg_buf_append_char(value, '[');

    for (text = first != NULL ? first : *others++; text != NULL;
         text = *others++) {
        tg_buf_append_cstr(value, value->len != 1 ? "," : "");
        tg_json_write_string(value, tg_str_from_cstr(text));
    }

    tg_buf_append_char(value, ']');
}

/* Returns the name of member i, or NULL after the last member. */
static const char *
tg_cli_server_entry_get_member(const tg_cli_server_entry_t *entry,
                               tg_cli_entry_format_t format, size_t i,
                               tg_buf_t *value)
{
    static const char *const names[][5] = {
        [TG_CLI_ENTRY_FORMAT_PLAIN] = { "command", "args" },
        [TG_CLI_ENTRY_FORMAT_STDIO] = { "type", "command", "args" },
        [TG_CLI_ENTRY_FORMAT_OPENCODE] = { "type", "command", "enabled" },
        [TG_CLI_ENTRY_FORMAT_OPENCODE2] = { "type", "command" },
        [TG_CLI_ENTRY_FORMAT_COPILOT] = { "type", "command", "args", "tools" },
    };
    const char *name;

    name = names[format][i];
    tg_buf_truncate(value, 0);

    if (name == NULL) {
        return NULL;
    }

    if (strcmp(name, "type") == 0) {
        tg_buf_append_cstr(value, format == TG_CLI_ENTRY_FORMAT_STDIO
                                      ? "\"stdio\""
                                      : "\"local\"");
    } else if (strcmp(name, "enabled") == 0) {
        tg_buf_append_cstr(value, "true");
    } else if (strcmp(name, "tools") == 0) {
        tg_buf_append_cstr(value, "[\"*\"]");
    } else if (strcmp(name, "args") == 0) {
        tg_cli_append_json_strings(value, NULL, entry->args);
    } else if (format == TG_CLI_ENTRY_FORMAT_OPENCODE
               || format == TG_CLI_ENTRY_FORMAT_OPENCODE2)
    {
        tg_cli_append_json_strings(value, entry->command, entry->args);
    } else {
        tg_json_write_string(value, tg_str_from_cstr(entry->command));
    }

    return name;
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

    for (p = tg_cli_jsonc_skip_space(jsonc->text); *path != NULL;
         path++, p = found.value)
    {
        if (*p != '{') {
            return 0;
        }

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

/* text: the input, and the result of each change. */
static int
tg_cli_server_entry_set_members(
    tg_buf_t *text, const tg_cli_server_entry_t *entry,
    const char *path[TG_CLI_JSON_PATH_DEPTH_MAX + 1], size_t n, tg_buf_t *out)
{
    tg_cli_jsonc_t jsonc;
    tg_buf_t value;
    size_t i;
    int rc, is_changed;

    tg_buf_init(&value, tg_alloc_libc());
    is_changed = 0;
    rc = TG_EXISTS;

    for (i = 0; rc == TG_OK || rc == TG_EXISTS; i++) {
        path[n] = tg_cli_server_entry_get_member(
            entry, n == 3 ? TG_CLI_ENTRY_FORMAT_OPENCODE2 : entry->format, i,
            &value);
        path[n + 1] = NULL;

        if (path[n] == NULL || tg_buf_has_failed(&value)) {
            break;
        }

        tg_buf_truncate(out, 0);
        rc = tg_cli_jsonc_init(&jsonc, text->data);
        rc = rc == TG_OK ? tg_cli_jsonc_set_member(&jsonc, path,
                                                   tg_buf_view(&value), out)
                         : rc;
        tg_cli_jsonc_deinit(&jsonc);

        if (rc == TG_OK) {
            is_changed = 1;
            tg_buf_truncate(text, 0);
            tg_buf_append_str(text, tg_buf_view(out));
            tg_buf_append_char(text, '\0');
        }
    }

    rc = rc == TG_OK || rc == TG_EXISTS ? (is_changed ? TG_OK : TG_EXISTS) : rc;
    rc = tg_buf_has_failed(&value) || tg_buf_has_failed(text) ? TG_NOMEM : rc;
    tg_buf_deinit(&value);

    return rc;
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
    tg_buf_append_cstr(&text,
                       old[strspn(old, " \t\r\n")] != '\0' ? old : "{}\n");
    tg_buf_append_char(&text, '\0');
    rc = tg_cli_jsonc_init(&jsonc, tg_buf_has_failed(&text) ? "" : text.data);

    if (rc == TG_OK) {
        rc = tg_cli_jsonc_check(&jsonc, out);
    }

    if (rc == TG_OK) {
        n = tg_cli_server_entry_get_json_path(&jsonc, entry, path);

        if (entry->is_removed) {
            rc = tg_cli_jsonc_set_member(&jsonc, path, TG_STR_NONE, out);
        } else if (tg_cli_json_has_url_server(&jsonc, path)) {
            rc = tg_cli_agent_config_set_error(
                out,
                "it already has a server \"%s\", which is not a program; "
                "choose another name with --name",
                entry->name);
        } else {
            rc = tg_cli_server_entry_set_members(&text, entry, path, n, out);
        }

        if (rc == TG_OK) {
            if (entry->is_removed) {
                tg_buf_truncate(&text, 0);
                tg_buf_append_str(&text, tg_buf_view(out));
                tg_buf_append_char(&text, '\0');
            }

            tg_buf_truncate(out, 0);
            tg_buf_append_str(out, tg_buf_view(&mark));
            tg_buf_append_cstr(out, text.data);
        }
    }

    rc = tg_buf_has_failed(out) || tg_buf_has_failed(&text) ? TG_NOMEM : rc;
    tg_cli_jsonc_deinit(&jsonc);
    tg_buf_deinit(&mark);
    tg_buf_deinit(&text);

    return rc;
}
