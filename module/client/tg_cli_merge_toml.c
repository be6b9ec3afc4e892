/*
 * Only the two values of the registration's own table are replaced, or the
 * table is added at the end; comments and order stay.
 */
#include "client/tg_cli_merge.h"

#include "client/tg_cli_toml.h"
#include "base/tg_json.h"
#include "base/tg_utf8.h"

#define TG_CLI_TABLE "mcp_servers"

/* What was found of [mcp_servers.NAME]. */
typedef struct {
    const char *body; /* the line behind its header, or NULL */
    tg_str_t command;
    tg_str_t args;
} tg_cli_table_t;

typedef struct {
    const tg_cli_entry_t *entry;
    tg_cli_toml_key_t where; /* the table that pairs belong to */
    tg_cli_table_t table;
    const char *why; /* what cannot be merged with */
} tg_cli_search_t;

/* Is the path at least this long, and does it start with these parts? */
static int
tg_cli_key_starts(const tg_cli_toml_key_t *key, const tg_str_t *parts,
                  size_t count)
{
    size_t i;

    if (key->count < count) {
        return 0;
    }

    for (i = 0; i < count; i++) {
        if (!tg_cli_toml_part_is(key->parts[i], parts[i])) {
            return 0;
        }
    }

    return 1;
}

/* The whole path of a key in a table. */
static void
tg_cli_key_join(tg_cli_toml_key_t *path, const tg_cli_toml_key_t *where,
                const tg_cli_toml_key_t *key)
{
    size_t i;

    *path = *where;

    for (i = 0; i < key->count; i++, path->count++) {
        if (path->count < TG_CLI_TOML_PARTS && i < TG_CLI_TOML_PARTS) {
            path->parts[path->count] = key->parts[i];
        }
    }
}

static void
tg_cli_search_header(tg_cli_search_t *search, const tg_cli_toml_item_t *item)
{
    const tg_str_t parts[] = { TG_STR(TG_CLI_TABLE), search->entry->name };
    const tg_cli_toml_key_t *key;

    key = &item->key;
    search->where = *key;

    if (!tg_cli_key_starts(key, parts, key->count < 2 ? 1 : 2)) {
        return;
    }

    if (item->kind == TG_CLI_TOML_TABLES && key->count <= 2) {
        search->why = "it has [[" TG_CLI_TABLE "]], which is no table of "
                      "servers";
        return;
    }

    if (key->count == 3
        && (tg_cli_toml_part_is(key->parts[2], TG_STR("command"))
            || tg_cli_toml_part_is(key->parts[2], TG_STR("args"))))
    {
        search->why = "the server's command or args is a table";
        return;
    }

    if (key->count != 2) {
        return;
    }

    if (search->table.body != NULL) {
        search->why = "it has the server's table twice";
        return;
    }

    search->table.body = item->next;
}

/* A pair of the registration's own table. */
static void
tg_cli_search_member(tg_cli_search_t *search, const tg_cli_toml_item_t *item)
{
    tg_str_t *value, name;

    name = item->key.parts[0];

    if (tg_cli_toml_part_is(name, TG_STR("url"))) {
        search->why = "the server of that name is reached by url; choose "
                      "another name with --name";
        return;
    }

    if (tg_cli_toml_part_is(name, TG_STR("command"))) {
        value = &search->table.command;
    } else if (tg_cli_toml_part_is(name, TG_STR("args"))) {
        value = &search->table.args;
    } else {
        return;
    }

    if (item->key.count != 1 || value->data != NULL) {
        search->why = "the server's command or args is there twice, or is a "
                      "table";
        return;
    }

    *value = item->value;
}

static void
tg_cli_search_pair(tg_cli_search_t *search, const tg_cli_toml_item_t *item)
{
    const tg_str_t parts[] = { TG_STR(TG_CLI_TABLE), search->entry->name };
    tg_cli_toml_key_t path;

    tg_cli_key_join(&path, &search->where, &item->key);

    if (path.count == 1 && tg_cli_key_starts(&path, parts, 1)) {
        search->why = TG_CLI_TABLE " is an inline table, which cannot be added "
                                   "to; write its servers as "
                                   "[" TG_CLI_TABLE ".NAME] tables";
        return;
    }

    if (!tg_cli_key_starts(&path, parts, 2)) {
        return;
    }

    if (search->where.count >= 2) {
        if (search->where.count == 2) {
            tg_cli_search_member(search, item);
        }

        return;
    }

    search->why = "the server is there as an inline table or by dotted keys; "
                  "write it as a [" TG_CLI_TABLE ".NAME] table, or remove it";
}

/* TG_OK, or TG_BAD with why. */
static int
tg_cli_search(tg_cli_search_t *search, tg_str_t text, tg_buf_t *why)
{
    tg_cli_toml_item_t item;
    tg_cli_toml_t toml;
    int rc;

    tg_cli_toml_init(&toml, text);

    while ((rc = tg_cli_toml_next(&toml, &item)) == TG_OK) {
        if (item.kind == TG_CLI_TOML_PAIR) {
            tg_cli_search_pair(search, &item);
        } else {
            tg_cli_search_header(search, &item);
        }

        if (search->why != NULL) {
            tg_buf_text(why, search->why);
            return TG_BAD;
        }
    }

    if (rc == TG_END) {
        return TG_OK;
    }

    tg_buf_text(why, "line ");
    tg_buf_uint(why, tg_cli_toml_line(&toml));
    tg_buf_text(why, " is no valid TOML (");
    tg_buf_text(why, toml.why);
    tg_buf_text(why, "); repair it first");

    return TG_BAD;
}

/* --- writing: JSON's strings are TOML's, without control characters --- */

static void
tg_cli_toml_put_command(tg_buf_t *out, const tg_cli_entry_t *entry)
{
    tg_json_put_string(out, entry->command);
}

static void
tg_cli_toml_put_args(tg_buf_t *out, const tg_cli_entry_t *entry)
{
    tg_buf_char(out, '[');
    tg_json_put_string(out, entry->socket);
    tg_buf_char(out, ']');
}

static void
tg_cli_toml_put_lines(tg_buf_t *out, const tg_cli_entry_t *entry,
                      const char *newline, int has_command, int has_args)
{
    if (!has_command) {
        tg_buf_text(out, "command = ");
        tg_cli_toml_put_command(out, entry);
        tg_buf_text(out, newline);
    }

    if (!has_args) {
        tg_buf_text(out, "args = ");
        tg_cli_toml_put_args(out, entry);
        tg_buf_text(out, newline);
    }
}

static void
tg_cli_toml_add_table(tg_buf_t *out, tg_str_t old, const tg_cli_entry_t *entry,
                      const char *newline)
{
    tg_buf_str(out, old);

    if (old.len != 0) {
        if (old.data[old.len - 1] != '\n') {
            tg_buf_text(out, newline);
        }

        tg_buf_text(out, newline);
    }

    tg_buf_text(out, "[" TG_CLI_TABLE ".");
    tg_buf_str(out, entry->name);
    tg_buf_char(out, ']');
    tg_buf_text(out, newline);
    tg_cli_toml_put_lines(out, entry, newline, 0, 0);
}

/* Copies the text from *at up to old, puts the new value, and passes old. */
static void
tg_cli_toml_swap(tg_buf_t *out, const char **at, tg_str_t old,
                 const tg_cli_entry_t *entry,
                 void (*put)(tg_buf_t *, const tg_cli_entry_t *))
{
    tg_buf_put(out, *at, (size_t) (old.data - *at));
    put(out, entry);
    *at = old.data + old.len;
}

static void
tg_cli_toml_set_table(tg_buf_t *out, tg_str_t old, const tg_cli_entry_t *entry,
                      const char *newline, const tg_cli_table_t *table)
{
    const char *at;
    int has_command, has_args, is_swapped;

    has_command = table->command.data != NULL;
    has_args = table->args.data != NULL;
    at = table->body;
    tg_buf_put(out, old.data, (size_t) (at - old.data));

    if ((!has_command || !has_args) && out->data[out->len - 1] != '\n') {
        tg_buf_text(out, newline);
    }

    tg_cli_toml_put_lines(out, entry, newline, has_command, has_args);
    is_swapped = has_command && has_args
                 && table->args.data < table->command.data;

    if (is_swapped) {
        tg_cli_toml_swap(out, &at, table->args, entry, tg_cli_toml_put_args);
    }

    if (has_command) {
        tg_cli_toml_swap(out, &at, table->command, entry,
                         tg_cli_toml_put_command);
    }

    if (has_args && !is_swapped) {
        tg_cli_toml_swap(out, &at, table->args, entry, tg_cli_toml_put_args);
    }

    tg_buf_put(out, at, (size_t) (old.data + old.len - at));
}

static int
tg_cli_merge_toml_once(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                       tg_buf_t *why)
{
    const char *first, *newline;
    tg_cli_search_t search;
    int rc;

    if (!tg_utf8_is_valid(old)) {
        tg_buf_text(why, "it is not valid UTF-8; repair it first");
        return TG_BAD;
    }

    memset(&search, 0, sizeof(search));
    search.entry = entry;
    rc = tg_cli_search(&search, old, why);

    if (rc != TG_OK) {
        return rc;
    }

    if (search.table.command.data != NULL && search.table.args.data != NULL
        && tg_cli_toml_is_text(search.table.command, entry->command)
        && tg_cli_toml_is_list(search.table.args, entry->socket))
    {
        return TG_EXISTS;
    }

    first = memchr(old.data, '\n', old.len);
    newline = first != NULL && first > old.data && first[-1] == '\r' ? "\r\n"
                                                                     : "\n";

    if (search.table.body == NULL) {
        tg_cli_toml_add_table(out, old, entry, newline);
    } else {
        tg_cli_toml_set_table(out, old, entry, newline, &search.table);
    }

    return tg_buf_failed(out) ? TG_NOMEM : TG_OK;
}

int
tg_cli_merge_toml(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                  tg_buf_t *why)
{
    static const char mark[] = "\xef\xbb\xbf";
    tg_buf_t again;
    size_t skip;
    int rc;

    skip = old.len >= 3 && memcmp(old.data, mark, 3) == 0 ? 3 : 0;
    tg_buf_put(out, mark, skip);
    rc = tg_cli_merge_toml_once(tg_str(old.data + skip, old.len - skip), entry,
                                out, why);

    if (rc != TG_OK) {
        return rc;
    }

    /* What was written must read as what was meant, or it is not used. */
    tg_buf_init(&again, out->alloc);
    rc = tg_cli_merge_toml_once(tg_str(out->data + skip, out->len - skip),
                                entry, &again, why);
    tg_buf_deinit(&again);

    if (rc == TG_EXISTS) {
        return TG_OK;
    }

    tg_buf_text(why, "it cannot be merged with; add the registration by hand");

    return TG_BAD;
}
