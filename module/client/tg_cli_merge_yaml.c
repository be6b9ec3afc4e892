/*
 * Of Goose's YAML only the block below extensions.NAME is ours, and in it only
 * cmd and args.  Every other line stays byte for byte.  What is no block of
 * lines with blanks in front is refused.
 */
#include "client/tg_cli_config.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <strings.h>

#define TG_CLI_EXTENSIONS "extensions:"

/* Where a line ends: at the beginning of the next one. */
static const char *
tg_cli_yaml_next(const char *p)
{
    p += strcspn(p, "\n");

    return p + (*p == '\n');
}

/* The blanks in front of a line; -1: there is nothing else, or a comment. */
static int
tg_cli_yaml_indent(const char *p)
{
    size_t n;

    n = strspn(p, " ");

    return p[n] == '\n' || p[n] == '\r' || p[n] == '\0' || p[n] == '#'
               ? -1
               : (int) n;
}

/* Is the line at p, behind its blanks, KEY: or "KEY":? */
static int
tg_cli_yaml_is(const char *p, const char *key)
{
    size_t len;
    char quote;

    p += strspn(p, " ");
    quote = *p == '"' || *p == '\'' ? *p++ : '\0';
    len = strlen(key);

    return strncmp(p, key, len) == 0 && (quote == '\0' || p[len] == quote)
           && p[len + (quote != '\0')] == ':';
}

/* The end of what belongs to a key of so many blanks, whose line is at p. */
static const char *
tg_cli_yaml_end(const char *p, int indent)
{
    const char *end;
    int n;

    for (end = p = tg_cli_yaml_next(p); *p != '\0'; p = tg_cli_yaml_next(p)) {
        n = tg_cli_yaml_indent(p);

        /* Lists may begin below their key. */
        if (n >= 0 && n <= indent
            && !(n == indent && indent > 0 && p[n] == '-'
                 && (p[n + 1] == ' ' || p[n + 1] == '\n')))
        {
            break;
        }

        end = n >= 0 ? tg_cli_yaml_next(p) : end;
    }

    return end;
}

/* The line of a key with so many blanks in front, in [p, end); or NULL. */
static const char *
tg_cli_yaml_find(const char *p, const char *end, int indent, const char *key)
{
    for (/* void */; p < end; p = tg_cli_yaml_next(p)) {
        if (tg_cli_yaml_indent(p) == indent && tg_cli_yaml_is(p, key)) {
            return p;
        }
    }

    return NULL;
}

/* The blanks of the first line in [p, end), or so many. */
static int
tg_cli_yaml_depth(const char *p, const char *end, int otherwise)
{
    for (/* void */; p < end; p = tg_cli_yaml_next(p)) {
        if (tg_cli_yaml_indent(p) >= 0) {
            return tg_cli_yaml_indent(p);
        }
    }

    return otherwise;
}

static void
tg_cli_yaml_put_program(tg_buf_t *out, const tg_cli_entry_t *entry, int indent,
                        const char *newline)
{
    size_t i;

    tg_buf_printf(out, "%*scmd: ", indent, "");
    tg_json_put_string(out, tg_str_c(entry->command));
    tg_buf_printf(out, "%s%*sargs:%s", newline, indent, "", newline);

    for (i = 0; entry->args[i] != NULL; i++) {
        tg_buf_printf(out, "%*s- ", indent, "");
        tg_json_put_string(out, tg_str_c(entry->args[i]));
        tg_buf_text(out, newline);
    }
}

/* A name that YAML would take for a number, a word of its own or a list. */
static void
tg_cli_yaml_put_name(tg_buf_t *out, const char *name)
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
        tg_buf_text(out, name);
    } else {
        tg_json_put_string(out, tg_str_c(name));
    }
}

static void
tg_cli_yaml_put_entry(tg_buf_t *out, const tg_cli_entry_t *entry, int indent,
                      const char *newline)
{
    static const char *const lines[] = { "enabled: true", "timeout: 300",
                                         "description: Tools of Toolgate" };
    size_t i;

    tg_buf_printf(out, "%*s", indent, "");
    tg_cli_yaml_put_name(out, entry->name);
    tg_buf_printf(out, ":%s", newline);
    indent += 2;
    tg_buf_printf(out, "%*sname: ", indent, "");
    tg_cli_yaml_put_name(out, entry->name);
    tg_buf_printf(out, "%s%*stype: stdio%s", newline, indent, "", newline);
    tg_cli_yaml_put_program(out, entry, indent, newline);

    for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        tg_buf_printf(out, "%*s%s%s", indent, "", lines[i], newline);
    }
}

/* An entry that is there, in [at, end): its cmd and args alone. */
static int
tg_cli_yaml_change(const char *at, const char *end, int indent,
                   const tg_cli_entry_t *entry, const char *newline,
                   tg_buf_t *out)
{
    const char *p, *next;
    int depth;

    next = tg_cli_yaml_next(at);
    depth = tg_cli_yaml_depth(next, end, indent);

    if (depth <= indent || tg_cli_yaml_find(next, end, depth, "cmd") == NULL) {
        return TG_BAD;
    }

    tg_buf_put(out, at, (size_t) (next - at));

    for (p = next; p < end; p = next) {
        next = tg_cli_yaml_next(p);

        if (tg_cli_yaml_indent(p) == depth && tg_cli_yaml_is(p, "cmd")) {
            tg_cli_yaml_put_program(out, entry, depth, newline);
            next = tg_cli_yaml_end(p, depth);
        } else if (tg_cli_yaml_indent(p) == depth && tg_cli_yaml_is(p, "args"))
        {
            next = tg_cli_yaml_end(p, depth);
        } else {
            tg_buf_put(out, p, (size_t) (next - p));
        }
    }

    return TG_OK;
}

/* The rest of a line has nothing else than a comment. */
static int
tg_cli_yaml_is_blank(const char *p)
{
    return p[strspn(p, " \r")] == '\n' || p[strspn(p, " \r")] == '\0'
           || (*p == ' ' && p[strspn(p, " ")] == '#');
}

/* `extensions: {}`, as Goose writes it where there are none: the {}; or NULL */
static const char *
tg_cli_yaml_braces(const char *p)
{
    p = strchr(p, ':') + 1;
    p += strspn(p, " ");

    return strncmp(p, "{}", 2) == 0 && tg_cli_yaml_is_blank(p + 2) ? p : NULL;
}

/* Puts the first entry in the place of the {}. */
static void
tg_cli_yaml_fill(const char *old, const char *braces,
                 const tg_cli_entry_t *entry, const char *newline,
                 tg_buf_t *out)
{
    const char *end, *next;

    for (end = braces; end[-1] == ' '; end--) {
        /* void */
    }

    next = tg_cli_yaml_next(braces);
    tg_buf_put(out, old, (size_t) (end - old));
    tg_buf_put(out, braces + 2, (size_t) (next - braces - 2));
    tg_buf_text(out, next[-1] == '\n' ? "" : newline);
    tg_cli_yaml_put_entry(out, entry, 2, newline);
    tg_buf_text(out, next);
}

static int
tg_cli_yaml_merge(const char *old, const tg_cli_entry_t *entry, tg_buf_t *out)
{
    const char *head, *first, *end, *at, *stop, *newline, *braces;
    int indent;

    newline = strstr(old, "\r\n") != NULL ? "\r\n" : "\n";
    end = old + strlen(old);
    head = tg_cli_yaml_find(old, end, 0, "extensions");

    if (head == NULL) {
        tg_buf_text(out, old);

        if (!entry->is_removed) {
            tg_buf_text(out, end == old || end[-1] == '\n' ? "" : newline);
            tg_buf_printf(out, TG_CLI_EXTENSIONS "%s", newline);
            tg_cli_yaml_put_entry(out, entry, 2, newline);
        }

        return TG_OK;
    }

    braces = tg_cli_yaml_braces(head);

    if (braces != NULL && !entry->is_removed) {
        tg_cli_yaml_fill(old, braces, entry, newline, out);
        return TG_OK;
    }

    if (braces == NULL && !tg_cli_yaml_is_blank(strchr(head, ':') + 1)) {
        return tg_cli_merge_bad(out,
                                "line %u: write the extensions as lines below "
                                "\"extensions:\", with blanks in front of them",
                                tg_cli_merge_line(old, head));
    }

    first = tg_cli_yaml_next(head);
    stop = tg_cli_yaml_end(head, 0);
    indent = tg_cli_yaml_depth(first, stop, 2);
    at = tg_cli_yaml_find(first, stop, indent, entry->name);

    if (at == NULL) {
        tg_buf_put(out, old, (size_t) (first - old));

        if (!entry->is_removed) {
            tg_buf_text(out, first[-1] == '\n' ? "" : newline);
            tg_cli_yaml_put_entry(out, entry, indent, newline);
        }

        tg_buf_text(out, first);
        return TG_OK;
    }

    stop = tg_cli_yaml_end(at, indent);
    tg_buf_put(out, old, (size_t) (at - old));

    if (!entry->is_removed
        && tg_cli_yaml_change(at, stop, indent, entry, newline, out) != TG_OK)
    {
        return tg_cli_merge_bad(out,
                                "line %u has the server already, but not as "
                                "one with a cmd; repair it first, or choose "
                                "another name with --name",
                                tg_cli_merge_line(old, at));
    }

    tg_buf_text(out, stop);

    return TG_OK;
}

int
tg_cli_merge_yaml(const char *old, const tg_cli_entry_t *entry, tg_buf_t *out)
{
    int rc;

    if (!tg_utf8_is_valid(tg_str_c(old)) || strstr(old, "\n\t") != NULL
        || strstr(old, "\n---") != NULL)
    {
        return tg_cli_merge_bad(out, "it is not one document of YAML in UTF-8, "
                                     "or has tabs in front of lines; repair "
                                     "it first");
    }

    rc = tg_cli_yaml_merge(tg_cli_merge_start(old, out), entry, out);

    return rc == TG_OK && tg_buf_failed(out) ? TG_NOMEM
           : rc == TG_OK && tg_str_eq(tg_buf_view(out), tg_str_c(old))
               ? TG_EXISTS
               : rc;
}
