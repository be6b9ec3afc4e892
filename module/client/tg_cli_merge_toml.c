/*
 * Of a TOML file only the table [mcp_servers.NAME] is ours, and in it only
 * two values: they are replaced where they stand, or added below the header,
 * or the table is added at the end.  Every other byte stays.
 *
 * A file is read line by line, where strings, comments and brackets say what
 * a line is; what stands in brackets is not looked at.
 */
#include "client/tg_cli_merge.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_CLI_TABLE "mcp_servers"
#define TG_CLI_BARE                                                            \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

/* Of a server: two members that are ours, and one that must not be there. */
static const char *const tg_cli_toml_members[] = { "command", "args", "url" };
#define TG_CLI_TOML_OTHER 3

/* A header or a pair, with all lines that its value has. */
typedef struct {
    tg_str_t text;      /* without the white space and comments around it */
    const char *equals; /* of a pair */
    const char *next;   /* what is behind its end */
} tg_cli_line_t;

/* A header, or a header and a key of its table. */
typedef struct {
    const char *names[2]; /* of our table */
    size_t count;         /* of parts */
    size_t ours;          /* of them, from the first, that are our table's */
    size_t member;        /* of our table, among the members above */
} tg_cli_path_t;

/* What was found of ours. */
typedef struct {
    const char *body;   /* the end of the header's line, or NULL */
    tg_str_t values[2]; /* raw, of the first two members */
    int is_taken;       /* the name, by what is not such a table */
} tg_cli_table_t;

/* Is there a byte at p that is one of the set? */
static int
tg_cli_toml_is_at(const char *p, const char *end, const char *set)
{
    return p < end && *p != '\0' && strchr(set, *p) != NULL;
}

static const char *
tg_cli_toml_skip(const char *p, const char *end, const char *set)
{
    while (tg_cli_toml_is_at(p, end, set)) {
        p++;
    }

    return p;
}

static int
tg_cli_toml_is_triple(const char *p, const char *end)
{
    return end - p >= 3 && p[0] == p[1] && p[1] == p[2];
}

/* Behind the string, the comment or the byte at p; NULL if it is none. */
static const char *
tg_cli_toml_token(const char *p, const char *end)
{
    const char *closing;
    char quote;
    int n;

    quote = *p;

    if (quote == '#') {
        closing = memchr(p, '\n', (size_t) (end - p));
        return closing != NULL ? closing : end;
    }

    if (quote != '"' && quote != '\'') {
        return p + 1;
    }

    n = tg_cli_toml_is_triple(p, end) ? 3 : 1;

    for (p += n; p < end && (n == 3 || *p != '\n'); p++) {
        if (*p == '\\' && quote == '"') {
            if (!tg_cli_toml_is_at(++p, end, "btnfruUe\"\\ \t\r\n")) {
                return NULL;
            }

        } else if (*p == quote
                   && (n == 1
                       || (tg_cli_toml_is_triple(p, end)
                           && !tg_cli_toml_is_triple(p + 1, end))))
        {
            return p + n;
        }
    }

    return NULL;
}

/* Two values with nothing but white space between, and no date and time. */
static int
tg_cli_toml_is_pair(const char *last, const char *p, const char *end)
{
    return last != NULL && last + 1 != p
           && !tg_cli_toml_is_at(last, end, "[{,=.")
           && !tg_cli_toml_is_at(p, end, "]},=.# \t\r\n")
           && !(last + 2 == p && last[1] == ' ' && end - p > 2 && p[2] == ':');
}

/* NULL, or why there is no line at p. */
static const char *
tg_cli_toml_line(tg_cli_line_t *line, const char *p, const char *end)
{
    const char *next, *last;
    int depth;

    last = NULL;
    memset(line, 0, sizeof(*line));
    p = tg_cli_toml_skip(p, end, " \t\r\n");
    line->text.data = p;
    line->next = p;

    for (depth = 0; p < end && (depth > 0 || *p != '\n'); p = next) {
        next = tg_cli_toml_token(p, end);
        line->next = p;

        if (next == NULL) {
            return "a string is not closed, or has an unknown escape";
        }

        if (tg_cli_toml_is_pair(last, p, end)) {
            return "something follows on the same line, or no comma";
        }

        depth += *p == '[' || *p == '{';
        depth -= *p == ']' || *p == '}';

        if (*p == '=' && depth == 0 && line->equals == NULL) {
            line->equals = p;
        }

        if (!tg_cli_toml_is_at(p, end, " \t\r\n#")) {
            line->text.len = (size_t) (next - line->text.data);
            last = next - 1;
        }
    }

    line->next = p;

    return depth != 0 ? "brackets do not match" : NULL;
}

/* What starts as a string, a list, a table, a number or a date, or a word. */
static int
tg_cli_toml_is_value(const char *p, const char *end)
{
    static const char *const words[] = { "true", "false", "inf", "nan" };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_str_eq(tg_str(p, (size_t) (end - p)), tg_str_c(words[i]))) {
            return 1;
        }
    }

    if (tg_cli_toml_is_at(p, end, "[{")) {
        return end[-1] == *p + 2;
    }

    return tg_cli_toml_is_at(p, end, "\"'+-0123456789");
}

/* --- keys --- */

static int
tg_cli_toml_is_name(tg_str_t part, const char *name)
{
    if (part.data[0] == '\'') {
        return tg_str_eq(tg_json_body(part), tg_str_c(name));
    }

    /* JSON's escapes are TOML's, but for two that nobody uses. */
    if (part.data[0] == '"') {
        return tg_json_check(part, NULL) == TG_OK
               && tg_json_is_text(part, tg_str_c(name));
    }

    return tg_str_eq(part, tg_str_c(name));
}

static void
tg_cli_path_add(tg_cli_path_t *path, tg_str_t part)
{
    size_t i;

    if (path->count < 2) {
        path->ours += path->ours == path->count
                      && tg_cli_toml_is_name(part, path->names[path->count]);

    } else if (path->count == 2 && path->ours == 2) {
        for (i = 0; i < TG_CLI_TOML_OTHER; i++) {
            if (tg_cli_toml_is_name(part, tg_cli_toml_members[i])) {
                break;
            }
        }

        path->member = i;
    }

    path->count++;
}

/* Adds all parts of a.b."c d": NULL, or why it is no key. */
static const char *
tg_cli_path_read(tg_cli_path_t *path, const char *p, const char *end)
{
    const char *start;

    for (;; p++) {
        p = tg_cli_toml_skip(p, end, " \t");
        start = p;
        p = tg_cli_toml_is_at(p, end, "\"'")
                ? tg_cli_toml_token(p, end)
                : tg_cli_toml_skip(p, end, TG_CLI_BARE);

        if (p == NULL || p == start) {
            return "a key is missing";
        }

        tg_cli_path_add(path, tg_str(start, (size_t) (p - start)));
        p = tg_cli_toml_skip(p, end, " \t");

        if (p == end) {
            return NULL;
        }

        if (*p != '.') {
            return "a key has to be quoted";
        }
    }
}

/* --- what is ours --- */

static const char *
tg_cli_toml_taken(tg_cli_table_t *table, const char *why)
{
    table->is_taken = 1;

    return why;
}

static const char *
tg_cli_toml_header(tg_cli_table_t *table, tg_cli_path_t *path,
                   const tg_cli_line_t *line)
{
    const char *why, *end;
    ptrdiff_t n;

    end = line->text.data + line->text.len;
    n = line->text.len > 1 && line->text.data[1] == '[' ? 2 : 1;
    path->count = 0;
    path->ours = 0;
    path->member = TG_CLI_TOML_OTHER;

    if (end - line->text.data <= 2 * n || end[-1] != ']' || end[-n] != ']') {
        return "a header is not closed";
    }

    why = tg_cli_path_read(path, line->text.data + n, end - n);

    if (why != NULL) {
        return why;
    }

    if (path->member != TG_CLI_TOML_OTHER
        || (n == 2 && path->ours == path->count)
        || (path->ours == 2 && path->count == 2 && table->body != NULL))
    {
        return tg_cli_toml_taken(table, "it is there twice, or as a list, or "
                                        "its command or args is a table");
    }

    if (path->ours == 2 && path->count == 2) {
        table->body = line->next - (line->next[-1] == '\r');
    }

    return NULL;
}

/* where is the header above. */
static const char *
tg_cli_toml_pair(tg_cli_table_t *table, const tg_cli_path_t *where,
                 const tg_cli_line_t *line)
{
    const char *why, *start, *end;
    tg_cli_path_t path;

    if (line->equals == NULL) {
        return "an equals sign is missing";
    }

    path = *where;
    why = tg_cli_path_read(&path, line->text.data, line->equals);

    if (why != NULL) {
        return why;
    }

    end = line->text.data + line->text.len;
    start = tg_cli_toml_skip(line->equals + 1, end, " \t");

    if (!tg_cli_toml_is_value(start, end)) {
        return "a value is missing, has no quotes, or something follows";
    }

    if (where->count < 2 && path.ours != 0
        && (path.ours == 2 || path.count == 1)) {
        return tg_cli_toml_taken(table, "it is there as an inline table or "
                                        "by dotted keys");
    }

    if (where->count != 2 || path.member == TG_CLI_TOML_OTHER) {
        return NULL;
    }

    if (path.count != 3 || path.member > 1
        || table->values[path.member].data != NULL)
    {
        return tg_cli_toml_taken(table, "it has a url, or its command or args "
                                        "is there twice or is a table");
    }

    table->values[path.member] = tg_str(start, (size_t) (end - start));

    return NULL;
}

/* Moves *p to where it failed: NULL, or why. */
static const char *
tg_cli_toml_read(tg_cli_table_t *table, const char *name, const char **p,
                 const char *end)
{
    tg_cli_path_t where;
    tg_cli_line_t line;
    const char *why;

    memset(table, 0, sizeof(*table));
    where = (tg_cli_path_t){
        .names = { TG_CLI_TABLE, name },
        .member = TG_CLI_TOML_OTHER,
    };

    for (;;) {
        why = tg_cli_toml_line(&line, *p, end);
        *p = line.text.data;

        if (why == NULL && line.text.len != 0) {
            why = *line.text.data == '['
                      ? tg_cli_toml_header(table, &where, &line)
                      : tg_cli_toml_pair(table, &where, &line);
        }

        if (why != NULL || line.next == end) {
            return why;
        }

        *p = line.next;
    }
}

/* --- writing: JSON's strings are TOML's, without control characters --- */

static void
tg_cli_toml_put_value(tg_buf_t *out, const tg_cli_entry_t *entry, size_t i)
{
    tg_buf_text(out, i == 0 ? "" : "[");
    tg_json_put_string(out, tg_str_c(i == 0 ? entry->command : entry->socket));
    tg_buf_text(out, i == 0 ? "" : "]");
}

static void
tg_cli_toml_write(const tg_cli_table_t *table, tg_str_t old,
                  const tg_cli_entry_t *entry, tg_buf_t *out)
{
    const char *at, *newline, *end;
    tg_str_t value;
    size_t i, j;

    at = memchr(old.data, '\n', old.len);
    newline = at != NULL && at > old.data && at[-1] == '\r' ? "\r\n" : "\n";
    end = old.data + old.len;
    at = table->body != NULL ? table->body : end;
    tg_buf_put(out, old.data, (size_t) (at - old.data));

    if (table->body == NULL) {
        if (old.len != 0) {
            tg_buf_text(out, at[-1] != '\n' ? newline : "");
            tg_buf_text(out, newline);
        }

        tg_buf_text(out, "[" TG_CLI_TABLE ".");
        tg_buf_text(out, entry->name);
        tg_buf_text(out, "]");
    }

    for (i = 0; i < 2; i++) {
        if (table->values[i].data == NULL) {
            tg_buf_text(out, newline);
            tg_buf_text(out, tg_cli_toml_members[i]);
            tg_buf_text(out, " = ");
            tg_cli_toml_put_value(out, entry, i);
            tg_buf_text(out, at == end && i == 1 ? newline : "");
        }
    }

    /* Those that are there, in their own order. */
    for (i = 0; i < 2; i++) {
        j = i ^ (table->values[1].data < table->values[0].data);
        value = table->values[j];

        if (value.data != NULL) {
            tg_buf_put(out, at, (size_t) (value.data - at));
            tg_cli_toml_put_value(out, entry, j);
            at = tg_str_end(value);
        }
    }

    tg_buf_put(out, at, (size_t) (end - at));
}

int
tg_cli_merge_toml(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                  tg_buf_t *why)
{
    const char *bad, *p;
    tg_cli_table_t table;

    if (!tg_utf8_is_valid(old)) {
        tg_buf_text(why, "it is not valid UTF-8; repair it first");
        return TG_BAD;
    }

    p = old.data + tg_cli_merge_mark(old);
    bad = tg_cli_toml_read(&table, entry->name, &p, old.data + old.len);

    if (bad != NULL) {
        (void) tg_cli_merge_bad(why, old, p,
                                table.is_taken ? " has the server already ("
                                               : " is no valid TOML (");
        tg_buf_text(why, bad);
        tg_buf_text(why, table.is_taken
                             ? "); write it as a [" TG_CLI_TABLE ".NAME] table "
                               "with a command, or choose another --name"
                             : "); repair it first");
        return TG_BAD;
    }

    tg_cli_toml_write(&table, old, entry, out);

    if (tg_buf_failed(out)) {
        return TG_NOMEM;
    }

    return tg_str_eq(tg_buf_view(out), old) ? TG_EXISTS : TG_OK;
}
