/*
 * Of a TOML file only the table [mcp_servers.NAME] is ours, and in it only
 * two values: they are replaced where they stand, or added below the header,
 * or the table is added at the end.  Every other byte stays.
 *
 * What is read is a little more than TOML: values are passed, not looked at.
 */
#include "client/tg_cli_config.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_CLI_SERVERS "mcp_servers"
#define TG_CLI_BLANK " \t\r"
#define TG_CLI_BARE                                                            \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* Of a server: two members that are ours, and one that must not be there. */
static const char *const tg_cli_toml_members[] = { "command", "args", "url" };
#define TG_CLI_TOML_OTHER 3

typedef struct {
    tg_buf_t text;      /* of the file, with a NUL */
    const char *why;    /* what is wrong with the line, or NULL */
    tg_buf_t path;      /* names of the header and of the key, each with NUL */
    size_t header;      /* bytes of it that are the header's */
    tg_buf_t ours;      /* the path of our table */
    const char *body;   /* the end of its header's line, or NULL */
    tg_str_t values[2]; /* raw, of the first two members */
} tg_cli_toml_t;

/* --- the syntax: each moves behind what is at p, or there is none: NULL --- */

static const char *
tg_cli_toml_wrong(tg_cli_toml_t *toml, const char *why)
{
    toml->why = why;

    return NULL;
}

static const char *
tg_cli_toml_space(const char *p, const char *set)
{
    p += strspn(p, set);

    while (*p == '#') {
        p += strcspn(p, "\n");
        p += strspn(p, set);
    }

    return p;
}

static int
tg_cli_toml_is_triple(const char *p)
{
    return p[0] == p[1] && p[1] == p[2];
}

static const char *
tg_cli_toml_string(tg_cli_toml_t *toml, const char *p)
{
    char quote;
    int n;

    quote = *p;
    n = tg_cli_toml_is_triple(p) ? 3 : 1;

    for (p += n; *p != '\0' && (n == 3 || *p != '\n'); p++) {
        if (*p == quote
            && (n == 1
                || (tg_cli_toml_is_triple(p) && !tg_cli_toml_is_triple(p + 1))))
        {
            return p + n;
        }

        if (*p == '\\' && quote == '"'
            && strspn(++p, "btnfruUe\"\\ \t\r\n") == 0) {
            break;
        }
    }

    return tg_cli_toml_wrong(toml, "a string is not closed, or has an unknown "
                                   "escape");
}

/* A number, a date, which may have a blank in front of its time, or a word. */
static const char *
tg_cli_toml_scalar(tg_cli_toml_t *toml, const char *p)
{
    static const char *const words[] = { "true", "false", "inf", "nan" };
    tg_str_t text;
    size_t i;

    text = tg_str(p, strspn(p, TG_CLI_BARE "+.:"));

    if (strspn(p, "+-0123456789") != 0) {
        p = tg_str_end(text);

        return *p == ' ' && strspn(p + 1, "0123456789:") > 3
                   ? tg_cli_toml_scalar(toml, p + 1)
                   : p;
    }

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_str_eq(text, tg_str_c(words[i]))) {
            return tg_str_end(text);
        }
    }

    return tg_cli_toml_wrong(toml, "a value is missing, or has no quotes");
}

/* Adds a name to a path, decoded: JSON's escapes are TOML's, but for two. */
static void
tg_cli_toml_put_name(tg_buf_t *path, tg_str_t raw)
{
    if (raw.data[0] == '"' && tg_json_check(raw, NULL) == TG_OK) {
        tg_json_put_decoded(path, tg_json_body(raw));
    } else {
        tg_buf_str(path, raw.data[0] == '\'' ? tg_json_body(raw) : raw);
    }

    tg_buf_char(path, '\0');
}

/* Adds all names of a.b."c d" to the path, up to what must follow. */
static const char *
tg_cli_toml_key(tg_cli_toml_t *toml, const char *p, const char *follows)
{
    const char *start;

    for (;; p++) {
        p += strspn(p, TG_CLI_BLANK);
        start = p;
        p = *p == '"' || *p == '\'' ? tg_cli_toml_string(toml, p)
                                    : p + strspn(p, TG_CLI_BARE);

        if (p == NULL || p == start) {
            return p == NULL ? p : tg_cli_toml_wrong(toml, "a key is missing");
        }

        tg_cli_toml_put_name(&toml->path, tg_str(start, (size_t) (p - start)));
        p += strspn(p, TG_CLI_BLANK);

        if (*p != '.') {
            break;
        }
    }

    if (strncmp(p, follows, strlen(follows)) != 0) {
        return tg_cli_toml_wrong(toml, *follows == '='
                                           ? "an equals sign is missing"
                                           : "brackets do not match");
    }

    p += strlen(follows);

    return p + strspn(p, TG_CLI_BLANK);
}

static const char *
tg_cli_toml_value(tg_cli_toml_t *toml, const char *p, int depth)
{
    char closing;
    size_t len;

    if (*p != '[' && *p != '{') {
        return *p == '"' || *p == '\'' ? tg_cli_toml_string(toml, p)
                                       : tg_cli_toml_scalar(toml, p);
    }

    closing = (char) (*p + 2);
    len = toml->path.len;

    do {
        p = tg_cli_toml_space(p + 1, TG_CLI_BLANK "\n");

        if (*p == closing) {
            return p + 1;
        }

        p = closing == '}' ? tg_cli_toml_key(toml, p, "=") : p;
        tg_buf_truncate(&toml->path, len);

        if (p != NULL && depth < TG_JSON_DEPTH) {
            p = tg_cli_toml_value(toml, p, depth + 1);
        }

        if (p == NULL) {
            return p;
        }

        p = tg_cli_toml_space(p, TG_CLI_BLANK "\n");
    } while (*p == ',');

    return *p == closing ? p + 1
                         : tg_cli_toml_wrong(toml, "a comma or a value is "
                                                   "missing, or brackets do "
                                                   "not match");
}

/* --- what is ours --- */

static int
tg_cli_toml_is_below(tg_str_t path, tg_str_t above)
{
    return path.len >= above.len
           && tg_str_eq(tg_str(path.data, above.len), above);
}

/*
 * Notes what the path leads to: a table where value is NULL.  TG_BAD when our
 * name is taken, by what is no table of a program.
 */
static int
tg_cli_toml_note(tg_cli_toml_t *toml, int is_list, tg_str_t value)
{
    tg_str_t path, ours;
    const char *name;
    size_t i;

    path = tg_buf_view(&toml->path);
    ours = tg_buf_view(&toml->ours);

    /* To a table above, ours can be added. */
    if (!tg_cli_toml_is_below(path, ours)) {
        return tg_cli_toml_is_below(ours, path)
                       && (is_list || value.data != NULL)
                   ? TG_BAD
                   : TG_OK;
    }

    if (value.data != NULL && toml->header < ours.len) {
        return TG_BAD;
    }

    if (path.len == ours.len) {
        return is_list || toml->body != NULL ? TG_BAD : TG_OK;
    }

    name = path.data + ours.len;

    for (i = 0; i < TG_CLI_TOML_OTHER; i++) {
        if (strcmp(name, tg_cli_toml_members[i]) != 0) {
            continue;
        }

        if (i > 1 || value.data == NULL || toml->values[i].data != NULL
            || name + strlen(name) + 1 != tg_str_end(path))
        {
            return TG_BAD;
        }

        toml->values[i] = value;
    }

    return TG_OK;
}

/* A header or a pair: the end of its line, or NULL. */
static const char *
tg_cli_toml_line(tg_cli_toml_t *toml, const char *p)
{
    tg_str_t value;
    int is_list;

    value = TG_STR_NONE;
    is_list = *p == '[' && p[1] == '[';

    if (*p == '[') {
        tg_buf_truncate(&toml->path, 0);
        p = tg_cli_toml_key(toml, p + 1 + is_list, is_list ? "]]" : "]");
        toml->header = toml->path.len;

    } else {
        tg_buf_truncate(&toml->path, toml->header);
        value.data = tg_cli_toml_key(toml, p, "=");
        p = value.data != NULL ? tg_cli_toml_value(toml, value.data, 0) : NULL;
        value.len = p != NULL ? (size_t) (p - value.data) : 0;
    }

    if (p == NULL || tg_cli_toml_note(toml, is_list, value) != TG_OK) {
        return NULL;
    }

    p = tg_cli_toml_space(p, TG_CLI_BLANK);

    if (value.data == NULL
        && tg_str_eq(tg_buf_view(&toml->path), tg_buf_view(&toml->ours)))
    {
        toml->body = p - (p[-1] == '\r');
    }

    return *p == '\n' || *p == '\0'
               ? p
               : tg_cli_toml_wrong(toml, "something follows on the same line, "
                                         "or brackets do not match");
}

static int
tg_cli_toml_read(tg_cli_toml_t *toml, tg_buf_t *why)
{
    const char *p, *next;

    next = toml->text.data + tg_cli_merge_mark(tg_buf_view(&toml->text));

    while (*(p = tg_cli_toml_space(next, TG_CLI_BLANK "\n")) != '\0') {
        next = tg_cli_toml_line(toml, p);

        if (next == NULL) {
            (void) tg_cli_merge_bad(
                why, tg_buf_view(&toml->text), p,
                toml->why != NULL
                    ? " is no valid TOML, repair it first: "
                    : " has the server already, but not as one table of a "
                      "program (it is there as an inline table, by dotted "
                      "keys, as a list or twice, or has a url, or its command "
                      "or args is a table); write it as a [" TG_CLI_SERVERS
                      ".NAME] table with a command, or choose another --name");
            tg_buf_text(why, toml->why != NULL ? toml->why : "");
            return TG_BAD;
        }
    }

    return TG_OK;
}

/* --- writing: JSON's strings are TOML's, without control characters --- */

static void
tg_cli_toml_write(tg_cli_toml_t *toml, const tg_cli_entry_t *entry,
                  tg_buf_t *out)
{
    const char *at, *newline, *end;
    size_t i, member;
    tg_str_t value;

    at = toml->text.data;
    end = at + toml->text.len - 1;
    newline = strchr(at, '\n');
    newline = newline != NULL && newline > at && newline[-1] == '\r' ? "\r\n"
                                                                     : "\n";

    if (toml->body == NULL) {
        tg_buf_put(out, at, (size_t) (end - at));
        tg_buf_text(out, at == end || end[-1] == '\n' ? "" : newline);
        tg_buf_text(out, at == end ? "" : newline);
        tg_buf_text(out, "[" TG_CLI_SERVERS ".");
        tg_buf_text(out, entry->name);
        tg_buf_text(out, "]");
        toml->body = at = end;
    }

    for (i = 0; i < 2; i++) {
        if (toml->values[i].data == NULL) {
            toml->values[i] = tg_str(toml->body, 0);
        }
    }

    /* In the order in which they stand. */
    for (i = 0; i < 2; i++) {
        member = i ^ (toml->values[1].data < toml->values[0].data);
        value = toml->values[member];
        tg_buf_put(out, at, (size_t) (value.data - at));
        at = tg_str_end(value);

        if (value.len == 0) {
            tg_buf_text(out, newline);
            tg_buf_text(out, tg_cli_toml_members[member]);
            tg_buf_text(out, " = ");
        }

        tg_buf_text(out, member == 0 ? "" : "[");
        tg_json_put_string(out, tg_str_c(member == 0 ? entry->command
                                                     : entry->socket));
        tg_buf_text(out, member == 0 ? "" : "]");
    }

    tg_buf_put(out, at, (size_t) (end - at));
    tg_buf_text(out, toml->body == end ? newline : "");
}

int
tg_cli_merge_toml(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                  tg_buf_t *why)
{
    tg_cli_toml_t toml;
    int rc;

    if (!tg_utf8_is_valid(old) || memchr(old.data, '\0', old.len) != NULL) {
        tg_buf_text(why, "it is not valid UTF-8, or has a NUL; repair it "
                         "first");
        return TG_BAD;
    }

    memset(&toml, 0, sizeof(toml));
    tg_buf_init(&toml.text, tg_alloc_libc());
    tg_buf_init(&toml.path, tg_alloc_libc());
    tg_buf_init(&toml.ours, tg_alloc_libc());
    tg_cli_toml_put_name(&toml.ours, TG_STR(TG_CLI_SERVERS));
    tg_cli_toml_put_name(&toml.ours, tg_str_c(entry->name));
    tg_buf_str(&toml.text, old);
    tg_buf_char(&toml.text, '\0');
    rc = tg_buf_failed(&toml.text) ? TG_NOMEM : tg_cli_toml_read(&toml, why);

    if (tg_buf_failed(&toml.path) || tg_buf_failed(&toml.ours)) {
        rc = TG_NOMEM;
    }

    if (rc == TG_OK) {
        tg_cli_toml_write(&toml, entry, out);
        rc = tg_buf_failed(out)                 ? TG_NOMEM
             : tg_str_eq(tg_buf_view(out), old) ? TG_EXISTS
                                                : TG_OK;
    }

    tg_buf_deinit(&toml.text);
    tg_buf_deinit(&toml.path);
    tg_buf_deinit(&toml.ours);

    return rc;
}
