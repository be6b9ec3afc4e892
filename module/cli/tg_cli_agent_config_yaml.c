/*
 * Merges a server into Goose's YAML file: cmd and args of extensions.NAME. All
 * other lines are kept. The extensions must be indented lines.
 */
#include "cli/tg_cli_agent_config.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <strings.h>

#define TG_CLI_YAML_EXTENSIONS_KEY "extensions:"

static const char *
tg_cli_yaml_skip_line(const char *p)
{
    p += strcspn(p, "\n");

    return p + (*p == '\n');
}

/* Returns the indentation, or -1 for an empty line or a comment. */
static int
tg_cli_yaml_get_indent(const char *p)
{
    size_t n;

    n = strspn(p, " ");

    return p[n] == '\n' || p[n] == '\r' || p[n] == '\0' || p[n] == '#'
               ? -1
               : (int) n;
}

/* Checks whether the line at p is KEY: or "KEY":, after its blanks. */
static int
tg_cli_yaml_is_key(const char *p, const char *key)
{
    size_t len;
    char quote;

    p += strspn(p, " ");
    quote = *p == '"' || *p == '\'' ? *p++ : '\0';
    len = strlen(key);

    return strncmp(p, key, len) == 0 && (quote == '\0' || p[len] == quote)
           && p[len + (quote != '\0')] == ':';
}

/* p: the line of the block's key. */
static const char *
tg_cli_yaml_find_block_end(const char *p, int indent)
{
    const char *end;
    int n;

    for (end = p = tg_cli_yaml_skip_line(p); *p != '\0';
         p = tg_cli_yaml_skip_line(p))
    {
        n = tg_cli_yaml_get_indent(p);

        /* A list may have the indentation of its key. */
        if (n >= 0 && n <= indent
            && !(n == indent && indent > 0 && p[n] == '-'
                 && (p[n + 1] == ' ' || p[n + 1] == '\n')))
        {
            break;
        }

        end = n >= 0 ? tg_cli_yaml_skip_line(p) : end;
    }

    return end;
}

/* Returns the line of a key in [p, end), or NULL. */
static const char *
tg_cli_yaml_find_key(const char *p, const char *end, int indent,
                     const char *key)
{
    for (/* void */; p < end; p = tg_cli_yaml_skip_line(p)) {
        if (tg_cli_yaml_get_indent(p) == indent && tg_cli_yaml_is_key(p, key)) {
            return p;
        }
    }

    return NULL;
}

/* Returns the indentation of the first text in [p, end), or otherwise. */
static int
tg_cli_yaml_get_block_indent(const char *p, const char *end, int otherwise)
{
    for (/* void */; p < end; p = tg_cli_yaml_skip_line(p)) {
        if (tg_cli_yaml_get_indent(p) >= 0) {
            return tg_cli_yaml_get_indent(p);
        }
    }

    return otherwise;
}

static void
tg_cli_yaml_append_command(tg_buf_t *out, const tg_cli_server_entry_t *entry,
                           int indent, const char *newline)
{
    size_t i;

    tg_buf_printf(out, "%*scmd: ", indent, "");
    tg_json_write_string(out, tg_str_from_cstr(entry->command));
    tg_buf_printf(out, "%s%*sargs:%s", newline, indent, "", newline);

    for (i = 0; entry->args[i] != NULL; i++) {
        tg_buf_printf(out, "%*s- ", indent, "");
        tg_json_write_string(out, tg_str_from_cstr(entry->args[i]));
        tg_buf_append_cstr(out, newline);
    }
}

/* Quotes a name that YAML could read as another type. */
static void
tg_cli_yaml_append_name(tg_buf_t *out, const char *name)
{
    static const char *const words[] = { "true", "false", "null", "yes", "no",
                                         "on",   "off",   "y",    "n" };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0])
                && strcasecmp(name, words[i]) != 0;
         i++)
    {
    }

    if (i == sizeof(words) / sizeof(words[0]) && tg_is_alpha(name[0])) {
        tg_buf_append_cstr(out, name);
    } else {
        tg_json_write_string(out, tg_str_from_cstr(name));
    }
}

static void
tg_cli_yaml_append_entry(tg_buf_t *out, const tg_cli_server_entry_t *entry,
                         int indent, const char *newline)
{
    static const char *const lines[] = { "enabled: true", "timeout: 300",
                                         "description: Tools of Toolgate" };
    size_t i;

    tg_buf_printf(out, "%*s", indent, "");
    tg_cli_yaml_append_name(out, entry->name);
    tg_buf_printf(out, ":%s", newline);
    indent += 2;
    tg_buf_printf(out, "%*sname: ", indent, "");
    tg_cli_yaml_append_name(out, entry->name);
    tg_buf_printf(out, "%s%*stype: stdio%s", newline, indent, "", newline);
    tg_cli_yaml_append_command(out, entry, indent, newline);

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        tg_buf_printf(out, "%*s%s%s", indent, "", lines[i], newline);
    }
}

/* Returns TG_INVALID if the entry has no cmd. */
static int
tg_cli_yaml_update_entry(const char *at, const char *end, int indent,
                         const tg_cli_server_entry_t *entry,
                         const char *newline, tg_buf_t *out)
{
    const char *p, *next;
    int depth;

    next = tg_cli_yaml_skip_line(at);
    depth = tg_cli_yaml_get_block_indent(next, end, indent);

    if (depth <= indent
        || tg_cli_yaml_find_key(next, end, depth, "cmd") == NULL) {
        return TG_INVALID;
    }

    tg_buf_append(out, at, (size_t) (next - at));

    for (p = next; p < end; p = next) {
        next = tg_cli_yaml_skip_line(p);

        if (tg_cli_yaml_get_indent(p) == depth && tg_cli_yaml_is_key(p, "cmd"))
        {
            tg_cli_yaml_append_command(out, entry, depth, newline);
            next = tg_cli_yaml_find_block_end(p, depth);
        } else if (tg_cli_yaml_get_indent(p) == depth
                   && tg_cli_yaml_is_key(p, "args")) {
            next = tg_cli_yaml_find_block_end(p, depth);
        } else {
            tg_buf_append(out, p, (size_t) (next - p));
        }
    }

    return TG_OK;
}

/* Checks that the rest of a line is empty or a comment. */
static int
tg_cli_yaml_is_rest_blank(const char *p)
{
    return p[strspn(p, " \r")] == '\n' || p[strspn(p, " \r")] == '\0'
           || (*p == ' ' && p[strspn(p, " ")] == '#');
}

/* Returns the {} of `extensions: {}`, or NULL. */
static const char *
tg_cli_yaml_find_empty_braces(const char *p)
{
    p = strchr(p, ':') + 1;
    p += strspn(p, " ");

    return strncmp(p, "{}", 2) == 0 && tg_cli_yaml_is_rest_blank(p + 2) ? p
                                                                        : NULL;
}

static void
tg_cli_yaml_replace_braces(const char *old, const char *braces,
                           const tg_cli_server_entry_t *entry,
                           const char *newline, tg_buf_t *out)
{
    const char *end, *next;

    for (end = braces; end[-1] == ' '; end--) {
        /* void */
    }

    next = tg_cli_yaml_skip_line(braces);
    tg_buf_append(out, old, (size_t) (end - old));
    tg_buf_append(out, braces + 2, (size_t) (next - braces - 2));
    tg_buf_append_cstr(out, next[-1] == '\n' ? "" : newline);
    tg_cli_yaml_append_entry(out, entry, 2, newline);
    tg_buf_append_cstr(out, next);
}

/* Adds, updates or removes the entry in the block below the line at head. */
static int
tg_cli_yaml_merge_into_block(const char *old, const char *head,
                             const tg_cli_server_entry_t *entry,
                             const char *newline, tg_buf_t *out)
{
    const char *first, *at, *stop;
    int indent;

    first = tg_cli_yaml_skip_line(head);
    stop = tg_cli_yaml_find_block_end(head, 0);
    indent = tg_cli_yaml_get_block_indent(first, stop, 2);
    at = tg_cli_yaml_find_key(first, stop, indent, entry->name);

    if (at == NULL) {
        tg_buf_append(out, old, (size_t) (first - old));

        if (!entry->is_removed) {
            tg_buf_append_cstr(out, first[-1] == '\n' ? "" : newline);
            tg_cli_yaml_append_entry(out, entry, indent, newline);
        }

        tg_buf_append_cstr(out, first);
        return TG_OK;
    }

    stop = tg_cli_yaml_find_block_end(at, indent);
    tg_buf_append(out, old, (size_t) (at - old));

    if (!entry->is_removed
        && tg_cli_yaml_update_entry(at, stop, indent, entry, newline, out)
               != TG_OK)
    {
        return tg_cli_agent_config_set_error(
            out,
            "line %u already has the server, but without a cmd; repair it "
            "first, or choose another name with --name",
            tg_cli_agent_config_get_line_number(old, at));
    }

    tg_buf_append_cstr(out, stop);

    return TG_OK;
}

static int
tg_cli_yaml_merge_entry(const char *old, const tg_cli_server_entry_t *entry,
                        tg_buf_t *out)
{
    const char *head, *end, *newline, *braces;

    newline = strstr(old, "\r\n") != NULL ? "\r\n" : "\n";
    end = old + strlen(old);
    head = tg_cli_yaml_find_key(old, end, 0, "extensions");

    if (head == NULL) {
        tg_buf_append_cstr(out, old);

        if (!entry->is_removed) {
            tg_buf_append_cstr(out,
                               end == old || end[-1] == '\n' ? "" : newline);
            tg_buf_printf(out, TG_CLI_YAML_EXTENSIONS_KEY "%s", newline);
            tg_cli_yaml_append_entry(out, entry, 2, newline);
        }

        return TG_OK;
    }

    braces = tg_cli_yaml_find_empty_braces(head);

    if (braces != NULL && !entry->is_removed) {
        tg_cli_yaml_replace_braces(old, braces, entry, newline, out);
        return TG_OK;
    }

    if (braces == NULL && !tg_cli_yaml_is_rest_blank(strchr(head, ':') + 1)) {
        return tg_cli_agent_config_set_error(
            out,
            "line %u: write the extensions as indented lines below "
            "\"extensions:\"",
            tg_cli_agent_config_get_line_number(old, head));
    }

    return tg_cli_yaml_merge_into_block(old, head, entry, newline, out);
}

int
tg_cli_agent_config_merge_yaml(const char *old,
                               const tg_cli_server_entry_t *entry,
                               tg_buf_t *out)
{
    int rc;

    if (!tg_utf8_is_valid(tg_str_from_cstr(old)) || strstr(old, "\n\t") != NULL
        || strstr(old, "\n---") != NULL)
    {
        return tg_cli_agent_config_set_error(
            out, "it is not a single YAML document in UTF-8, or it is "
                 "indented with tabs; repair it first");
    }

    rc = tg_cli_yaml_merge_entry(tg_cli_agent_config_copy_bom(old, out), entry,
                                 out);

    return rc == TG_OK && tg_buf_has_failed(out) ? TG_NOMEM
           : rc == TG_OK && tg_str_eq(tg_buf_view(out), tg_str_from_cstr(old))
               ? TG_EXISTS
               : rc;
}
