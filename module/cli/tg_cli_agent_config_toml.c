/*
 * Merges a server into a TOML file: command and args are written below the
 * header of [mcp_servers.NAME], or a new table at the end. All other lines are
 * kept, and so are values that are already right. Other values are not fully
 * checked.
 */
#include "cli/tg_cli_agent_config.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_CLI_TOML_SERVERS_TABLE "mcp_servers"
#define TG_CLI_WHITESPACE " \t\r"
#define TG_CLI_TOML_BARE_KEY                                                   \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

typedef enum {
    TG_CLI_TOML_LINE_OTHER,
    TG_CLI_TOML_LINE_HEADER, /* header of the server's table */
    TG_CLI_TOML_LINE_MEMBER, /* command or args of that table */
    /* The server's name, but not as the table of a program. */
    TG_CLI_TOML_LINE_CONFLICT
} tg_cli_toml_line_type_t;

typedef struct {
    tg_buf_t path;     /* names of the header and of the key, each with NUL */
    size_t header_len; /* length of the header's names in path */
    tg_buf_t target_path; /* names of the server's table, each with NUL */
    int has_table;        /* the header of that table has been found */
    const char *value;    /* value of the last key, up to end */
    const char *end;
    /* TG_CLI_TOML_MEMBER_... whose values are already right. */
    unsigned unchanged;
} tg_cli_toml_parser_t;

#define TG_CLI_TOML_MEMBER_COMMAND 0x1u
#define TG_CLI_TOML_MEMBER_ARGS 0x2u

/* --- syntax: returns the end of what is at p, or NULL on error --- */

static const char *
tg_cli_toml_skip_space(const char *p, const char *set)
{
    p += strspn(p, set);

    while (*p == '#') {
        p += strcspn(p, "\n");
        p += strspn(p, set);
    }

    return p;
}

static const char *
tg_cli_toml_skip_string(const char *p)
{
    const char *quote;
    size_t n;

    quote = p;
    n = p[1] == *quote && p[2] == *quote ? 3 : 1;

    for (p += n; *p != '\0' && (n == 3 || *p != '\n'); p++) {
        if (strncmp(p, quote, n) == 0 && (n == 1 || p[3] != *quote)) {
            return p + n;
        }

        if (*p == '\\' && *quote == '"'
            && !tg_is_one_of(*++p, "btnfruUe\"\\ \t\r\n")) {
            break;
        }
    }

    return NULL;
}

/* Skips a number, a word, or a date, which may have a blank before its time. */
static const char *
tg_cli_toml_skip_scalar(const char *p)
{
    tg_str_t word;

    word = tg_str(p, strspn(p, TG_CLI_TOML_BARE_KEY "+.:"));
    p += word.len;

    if (tg_is_one_of(word.data[0], "+-0123456789")) {
        return *p == ' ' && strspn(p + 1, "0123456789:") > 3
                   ? tg_cli_toml_skip_scalar(p + 1)
                   : p;
    }

    return tg_str_eq(word, TG_STR("true")) || tg_str_eq(word, TG_STR("false"))
                   || tg_str_eq(word, TG_STR("inf"))
                   || tg_str_eq(word, TG_STR("nan"))
               ? p
               : NULL;
}

/* JSON lacks two of TOML's escapes. */
static void
tg_cli_toml_path_append(tg_buf_t *path, tg_str_t raw)
{
    if (raw.data[0] == '"' && tg_json_validate(raw, NULL) == TG_OK) {
        tg_json_append_unescaped(path, tg_json_string_body(raw));
    } else {
        tg_buf_append_str(path,
                          raw.data[0] == '\'' ? tg_json_string_body(raw) : raw);
    }

    tg_buf_append_char(path, '\0');
}

/* Appends the names of a dotted key, such as a.b."c d". */
static const char *
tg_cli_toml_parse_key(tg_buf_t *path, const char *p, const char *follows)
{
    const char *start;

    do {
        start = p += strspn(p, TG_CLI_WHITESPACE);
        p = *p == '"' || *p == '\'' ? tg_cli_toml_skip_string(p)
                                    : p + strspn(p, TG_CLI_TOML_BARE_KEY);

        if (p == NULL || p == start) {
            return NULL;
        }

        tg_cli_toml_path_append(path, tg_str(start, (size_t) (p - start)));
        p += strspn(p, TG_CLI_WHITESPACE);
    } while (*p++ == '.');

    return strncmp(--p, follows, strlen(follows)) == 0 ? p + strlen(follows)
                                                       : NULL;
}

static const char *
tg_cli_toml_skip_value(tg_buf_t *path, const char *p, int depth)
{
    char closing;
    size_t len;

    p += strspn(p, TG_CLI_WHITESPACE);

    if (*p != '[' && *p != '{') {
        return *p == '"' || *p == '\'' ? tg_cli_toml_skip_string(p)
                                       : tg_cli_toml_skip_scalar(p);
    }

    closing = *p == '[' ? ']' : '}';
    len = path->len;

    do {
        p = tg_cli_toml_skip_space(p + 1, TG_CLI_WHITESPACE "\n");

        if (*p == closing) {
            return p + 1;
        }

        p = closing == '}' ? tg_cli_toml_parse_key(path, p, "=") : p;
        tg_buf_truncate(path, len);
        p = p != NULL && depth < TG_JSON_MAX_DEPTH
                ? tg_cli_toml_skip_value(path, p, depth + 1)
                : NULL;

        if (p == NULL) {
            return NULL;
        }

        p = tg_cli_toml_skip_space(p, TG_CLI_WHITESPACE "\n");
    } while (*p == ',');

    return *p == closing ? p + 1 : NULL;
}

/* --- lines of the server's table --- */

static int
tg_cli_toml_is_path_below(tg_str_t path, tg_str_t above)
{
    return path.len >= above.len
           && tg_str_eq(tg_str(path.data, above.len), above);
}

/* Returns the type of a line whose path, of a header or a key, was parsed. */
static tg_cli_toml_line_type_t
tg_cli_toml_classify_line(const tg_cli_toml_parser_t *toml, int is_table)
{
    tg_str_t path, target_path;
    const char *name;

    path = tg_buf_view(&toml->path);
    target_path = tg_buf_view(&toml->target_path);

    /* The server's table can be added below a parent table. */
    if (!tg_cli_toml_is_path_below(path, target_path)) {
        return tg_cli_toml_is_path_below(target_path, path) && !is_table
                   ? TG_CLI_TOML_LINE_CONFLICT
                   : TG_CLI_TOML_LINE_OTHER;
    }

    if (path.len == target_path.len) {
        return is_table && !toml->has_table ? TG_CLI_TOML_LINE_HEADER
                                            : TG_CLI_TOML_LINE_CONFLICT;
    }

    name = path.data + target_path.len;

    if (toml->header_len < target_path.len || strcmp(name, "url") == 0) {
        return TG_CLI_TOML_LINE_CONFLICT;
    }

    return toml->header_len == target_path.len
                   && (strcmp(name, "command") == 0
                       || strcmp(name, "args") == 0)
               ? TG_CLI_TOML_LINE_MEMBER
               : TG_CLI_TOML_LINE_OTHER;
}

/* Returns the start of the next line, or NULL on error. */
static const char *
tg_cli_toml_parse_line(tg_cli_toml_parser_t *toml, const char *p,
                       tg_cli_toml_line_type_t *line)
{
    int is_list;

    *line = TG_CLI_TOML_LINE_OTHER;
    p = tg_cli_toml_skip_space(p, TG_CLI_WHITESPACE);

    if (*p == '[') {
        is_list = p[1] == '[';
        tg_buf_truncate(&toml->path, 0);
        p = tg_cli_toml_parse_key(&toml->path, p + 1 + is_list,
                                  is_list ? "]]" : "]");
        toml->header_len = toml->path.len;
        *line = tg_cli_toml_classify_line(toml, !is_list);

    } else if (*p != '\n' && *p != '\0') {
        tg_buf_truncate(&toml->path, toml->header_len);
        p = tg_cli_toml_parse_key(&toml->path, p, "=");
        *line = tg_cli_toml_classify_line(toml, 0);
        toml->value = p;
        p = p != NULL ? tg_cli_toml_skip_value(&toml->path, p, 0) : NULL;
        toml->end = p;
    }

    p = p != NULL ? tg_cli_toml_skip_space(p, TG_CLI_WHITESPACE) : NULL;

    return p == NULL || (*p != '\n' && *p != '\0') ? NULL : p + (*p == '\n');
}

/* --- output: strings are the same in JSON and TOML --- */

static void
tg_cli_toml_append_args(tg_buf_t *out, const tg_cli_server_entry_t *entry,
                        const char *separator)
{
    size_t i;

    tg_buf_append_char(out, '[');

    for (i = 0; entry->args[i] != NULL; i++) {
        tg_buf_append_cstr(out, i != 0 ? separator : "");
        tg_json_write_string(out, tg_str_from_cstr(entry->args[i]));
    }

    tg_buf_append_char(out, ']');
}

/* Appends the members whose values in the file are not right yet. */
static void
tg_cli_toml_append_members(tg_buf_t *out, const tg_cli_server_entry_t *entry,
                           unsigned unchanged, const char *newline)
{
    if (!(unchanged & TG_CLI_TOML_MEMBER_COMMAND)) {
        tg_buf_append_cstr(out, "command = ");
        tg_json_write_string(out, tg_str_from_cstr(entry->command));
        tg_buf_append_cstr(out, newline);
    }

    if (!(unchanged & TG_CLI_TOML_MEMBER_ARGS)) {
        tg_buf_append_cstr(out, "args = ");
        tg_cli_toml_append_args(out, entry, ", ");
        tg_buf_append_cstr(out, newline);
    }
}

/* --- comparison with the file --- */

/* Appends a value without blanks, with its strings in double quotes. */
static void
tg_cli_toml_append_compact(tg_buf_t *out, const char *p, const char *end)
{
    const char *next;

    while ((p = tg_cli_toml_skip_space(p, TG_CLI_WHITESPACE "\n")) < end) {
        next = *p == '"' || *p == '\'' ? tg_cli_toml_skip_string(p) : p + 1;

        if (*p == '\'') {
            tg_json_write_string(out, tg_str(p + 1, (size_t) (next - p) - 2));
        } else {
            /* Drops a trailing comma. */
            if (*p == ']' && out->len != 0 && out->data[out->len - 1] == ',') {
                tg_buf_truncate(out, out->len - 1);
            }

            tg_buf_append(out, p, (size_t) (next - p));
        }

        p = next;
    }
}

/* Returns the key's TG_CLI_TOML_MEMBER_... if its value is right, or 0. */
static unsigned
tg_cli_toml_match_member(const tg_cli_toml_parser_t *toml,
                         const tg_cli_server_entry_t *entry)
{
    tg_buf_t expected, value;
    unsigned member;
    tg_str_t name;

    name = tg_buf_view(&toml->path);
    name = tg_str(name.data + toml->header_len, name.len - toml->header_len);
    tg_buf_init(&expected, tg_alloc_libc());
    tg_buf_init(&value, tg_alloc_libc());
    member = 0;

    /* Names in a path end with NUL. */
    if (tg_str_eq(name, tg_str("command", sizeof("command")))) {
        member = TG_CLI_TOML_MEMBER_COMMAND;
        tg_json_write_string(&expected, tg_str_from_cstr(entry->command));
    } else if (tg_str_eq(name, tg_str("args", sizeof("args")))) {
        member = TG_CLI_TOML_MEMBER_ARGS;
        tg_cli_toml_append_args(&expected, entry, ",");
    }

    tg_cli_toml_append_compact(&value, toml->value, toml->end);

    if (!tg_str_eq(tg_buf_view(&value), tg_buf_view(&expected))) {
        member = 0;
    }

    tg_buf_deinit(&expected);
    tg_buf_deinit(&value);

    return member;
}

/* --- whole file --- */

/* After the last table was removed, its empty line is left. */
static void
tg_cli_toml_trim_empty_line(tg_buf_t *out, const char *newline)
{
    size_t len;

    len = strlen(newline);

    if (out->len >= 2 * len
        && memcmp(out->data + out->len - len, newline, len) == 0
        && memcmp(out->data + out->len - 2 * len, newline, len) == 0)
    {
        tg_buf_truncate(out, out->len - len);
    }
}

/* Checks whether a line is in the server's table or in one below. */
static int
tg_cli_toml_is_line_removed(const tg_cli_toml_parser_t *toml, const char *p)
{
    return p[strspn(p, TG_CLI_WHITESPACE)] != '#'
           && tg_cli_toml_is_path_below(tg_str(tg_buf_view(&toml->path).data,
                                               toml->header_len),
                                        tg_buf_view(&toml->target_path));
}

/* Appends a line, unless its value changes, and members below a header. */
static void
tg_cli_toml_append_line(tg_cli_toml_parser_t *toml,
                        tg_cli_toml_line_type_t line, tg_str_t text,
                        const tg_cli_server_entry_t *entry, const char *newline,
                        tg_buf_t *out)
{
    unsigned member;

    member = line == TG_CLI_TOML_LINE_MEMBER
                 ? tg_cli_toml_match_member(toml, entry)
                 : 0;
    toml->unchanged |= member;

    if (line != TG_CLI_TOML_LINE_MEMBER || member != 0) {
        tg_buf_append_str(out, text);
    }

    if (line == TG_CLI_TOML_LINE_HEADER) {
        tg_buf_append_cstr(out, text.data[text.len - 1] == '\n' ? "" : newline);
        tg_cli_toml_append_members(out, entry, toml->unchanged, newline);
        toml->has_table = 1;
    }
}

static int
tg_cli_toml_merge_entry(tg_cli_toml_parser_t *toml, const char *old,
                        const tg_cli_server_entry_t *entry, tg_buf_t *out)
{
    const char *p, *next, *newline;
    tg_cli_toml_line_type_t line;
    int is_line_removed;

    is_line_removed = 0;
    next = strchr(old, '\n');
    newline = next != NULL && next > old && next[-1] == '\r' ? "\r\n" : "\n";

    for (p = old; *p != '\0'; p = next) {
        next = tg_cli_toml_parse_line(toml, p, &line);

        if (tg_buf_has_failed(&toml->path)
            || tg_buf_has_failed(&toml->target_path)) {
            return TG_NOMEM;
        }

        if (next == NULL) {
            return tg_cli_agent_config_set_error(
                out,
                "line %u is not valid TOML: a key or a value is missing, or "
                "a string or a bracket is not closed; repair it first",
                tg_cli_agent_config_get_line_number(old, p));
        }

        is_line_removed = entry->is_removed
                          && tg_cli_toml_is_line_removed(toml, p);

        if (is_line_removed) {
            continue;
        }

        if (line == TG_CLI_TOML_LINE_CONFLICT) {
            return tg_cli_agent_config_set_error(
                out,
                "line %u already has the server, but not as the table of a "
                "program; write it as a [" TG_CLI_TOML_SERVERS_TABLE
                ".NAME] table with "
                "a command, or choose another name with --name",
                tg_cli_agent_config_get_line_number(old, p));
        }

        tg_cli_toml_append_line(toml, line, tg_str(p, (size_t) (next - p)),
                                entry, newline, out);
    }

    if (!toml->has_table && !entry->is_removed) {
        tg_buf_append_cstr(out, p == old || p[-1] == '\n' ? "" : newline);
        tg_buf_printf(out, "%s[" TG_CLI_TOML_SERVERS_TABLE ".%s]%s",
                      p == old ? "" : newline, entry->name, newline);
        tg_cli_toml_append_members(out, entry, 0, newline);
    }

    if (is_line_removed) {
        tg_cli_toml_trim_empty_line(out, newline);
    }

    return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
}

int
tg_cli_agent_config_merge_toml(const char *old,
                               const tg_cli_server_entry_t *entry,
                               tg_buf_t *out)
{
    tg_cli_toml_parser_t toml;
    const char *text;
    size_t len;
    int rc;

    if (!tg_utf8_is_valid(tg_str_from_cstr(old))) {
        return tg_cli_agent_config_set_error(
            out, "it is not valid UTF-8; repair it first");
    }

    memset(&toml, 0, sizeof(toml));
    tg_buf_init(&toml.path, tg_alloc_libc());
    tg_buf_init(&toml.target_path, tg_alloc_libc());
    tg_cli_toml_path_append(&toml.target_path,
                            TG_STR(TG_CLI_TOML_SERVERS_TABLE));
    tg_cli_toml_path_append(&toml.target_path, tg_str_from_cstr(entry->name));
    text = tg_cli_agent_config_copy_bom(old, out);
    len = out->len;
    rc = tg_cli_toml_merge_entry(&toml, text, entry, out);

    /* The second pass keeps the members that the first found right. */
    if (rc == TG_OK && toml.unchanged != 0) {
        tg_buf_truncate(out, len);
        tg_buf_truncate(&toml.path, 0);
        toml.header_len = 0;
        toml.has_table = 0;
        rc = tg_cli_toml_merge_entry(&toml, text, entry, out);
    }

    tg_buf_deinit(&toml.path);
    tg_buf_deinit(&toml.target_path);

    return rc == TG_OK && tg_str_eq(tg_buf_view(out), tg_str_from_cstr(old))
               ? TG_EXISTS
               : rc;
}
