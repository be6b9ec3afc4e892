/*
 * Members are spliced into the text as it is; what is added looks like what
 * is around it: its line ends, its indent, or all on one line.
 */
#include "client/tg_cli_merge.h"

#include "base/tg_json.h"

#define TG_CLI_SERVERS "mcpServers"

/* An object in the text, and one key that is looked for in it. */
typedef struct {
    tg_str_t raw;
    tg_str_t lead;   /* the white space in front of the first member */
    size_t count;    /* members */
    size_t nfound;   /* that have the key */
    tg_str_t found;  /* the value of the last of these */
    const char *end; /* of the last member's value */
} tg_cli_object_t;

/* How the text is laid out. */
typedef struct {
    tg_str_t newline; /* empty: all on one line */
    tg_str_t indent;  /* of the object that something is put into */
    tg_str_t unit;    /* one step more */
} tg_cli_layout_t;

static void
tg_cli_object_scan(tg_cli_object_t *object, tg_str_t raw, tg_str_t key)
{
    tg_json_t json;
    tg_str_t name, value;

    memset(object, 0, sizeof(*object));
    object->raw = raw;
    tg_json_init(&json, raw);
    (void) tg_json_object(&json);

    while (tg_json_member(&json, &name) == TG_OK) {
        if (object->count++ == 0) {
            object->lead = tg_str(raw.data + 1,
                                  (size_t) (name.data - 1 - (raw.data + 1)));
        }

        (void) tg_json_value(&json, &value);
        object->end = value.data + value.len;

        if (tg_json_body_is(name, key)) {
            object->nfound++;
            object->found = value;
        }
    }
}

/* --- layout --- */

static int
tg_cli_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The blanks that start the line on which p is. */
static tg_str_t
tg_cli_indent_at(tg_str_t text, const char *p)
{
    const char *start, *end;

    for (start = p; start > text.data && start[-1] != '\n'; start--) {
        /* void */
    }

    for (end = start; end < p && tg_cli_is_blank(*end); end++) {
        /* void */
    }

    return tg_str(start, (size_t) (end - start));
}

/* What is behind the last newline of white space; absent without one. */
static tg_str_t
tg_cli_indent_of(tg_str_t space)
{
    size_t i;

    for (i = space.len; i > 0; i--) {
        if (space.data[i - 1] == '\n') {
            return tg_str(space.data + i, space.len - i);
        }
    }

    return TG_STR_NONE;
}

static void
tg_cli_layout_of(tg_cli_layout_t *layout, tg_str_t text,
                 const tg_cli_object_t *root, const tg_cli_object_t *object)
{
    const char *newline;
    tg_str_t inner;

    newline = memchr(text.data, '\n', text.len);
    layout->newline = newline != NULL && newline > text.data
                              && newline[-1] == '\r'
                          ? TG_STR("\r\n")
                          : TG_STR("\n");
    layout->unit = TG_STR("  ");
    inner = root->count != 0 ? tg_cli_indent_of(root->lead) : TG_STR_NONE;

    if (inner.len != 0) {
        layout->unit = inner;
    }

    layout->indent = tg_cli_indent_at(text, object->raw.data);

    /* Members that share a line get company there. */
    if (object->count != 0 ? tg_cli_indent_of(object->lead).data == NULL
                           : root->count != 0 && newline == NULL)
    {
        layout->newline = TG_STR("");
    }
}

static void
tg_cli_put_line(tg_buf_t *out, const tg_cli_layout_t *layout, unsigned depth)
{
    if (layout->newline.len == 0) {
        return;
    }

    tg_buf_str(out, layout->newline);
    tg_buf_str(out, layout->indent);

    while (depth-- != 0) {
        tg_buf_str(out, layout->unit);
    }
}

/* Between two members. */
static void
tg_cli_put_comma(tg_buf_t *out, const tg_cli_layout_t *layout, unsigned depth)
{
    tg_buf_text(out, layout->newline.len != 0 ? "," : ", ");
    tg_cli_put_line(out, layout, depth);
}

/* --- values --- */

/* Appends a value; it starts depth steps deeper than the layout's indent. */
typedef void (*tg_cli_put_pt)(tg_buf_t *out, const tg_cli_entry_t *entry,
                              const tg_cli_layout_t *layout, unsigned depth);

static void
tg_cli_put_key(tg_buf_t *out, tg_str_t key)
{
    tg_json_put_string(out, key);
    tg_buf_text(out, ": ");
}

static void
tg_cli_put_command(tg_buf_t *out, const tg_cli_entry_t *entry,
                   const tg_cli_layout_t *layout, unsigned depth)
{
    tg_json_put_string(out, entry->command);
}

static void
tg_cli_put_args(tg_buf_t *out, const tg_cli_entry_t *entry,
                const tg_cli_layout_t *layout, unsigned depth)
{
    tg_buf_char(out, '[');
    tg_json_put_string(out, entry->socket);
    tg_buf_char(out, ']');
}

static void
tg_cli_put_entry(tg_buf_t *out, const tg_cli_entry_t *entry,
                 const tg_cli_layout_t *layout, unsigned depth)
{
    tg_buf_char(out, '{');
    tg_cli_put_line(out, layout, depth + 1);
    tg_cli_put_key(out, TG_STR("command"));
    tg_cli_put_command(out, entry, layout, depth + 1);
    tg_cli_put_comma(out, layout, depth + 1);
    tg_cli_put_key(out, TG_STR("args"));
    tg_cli_put_args(out, entry, layout, depth + 1);
    tg_cli_put_line(out, layout, depth);
    tg_buf_char(out, '}');
}

static void
tg_cli_put_servers(tg_buf_t *out, const tg_cli_entry_t *entry,
                   const tg_cli_layout_t *layout, unsigned depth)
{
    tg_buf_char(out, '{');
    tg_cli_put_line(out, layout, depth + 1);
    tg_cli_put_key(out, entry->name);
    tg_cli_put_entry(out, entry, layout, depth + 1);
    tg_cli_put_line(out, layout, depth);
    tg_buf_char(out, '}');
}

/* --- splicing --- */

/* Appends text with a member added at the end of one of its objects. */
static void
tg_cli_splice_member(tg_buf_t *out, tg_str_t text, const tg_cli_object_t *root,
                     const tg_cli_object_t *object, tg_str_t key,
                     const tg_cli_entry_t *entry, tg_cli_put_pt put)
{
    tg_cli_layout_t layout;
    const char *at;

    tg_cli_layout_of(&layout, text, root, object);

    if (object->count != 0) {
        at = object->end;
        tg_buf_put(out, text.data, (size_t) (at - text.data));
        layout.indent = tg_cli_indent_of(object->lead);
        tg_cli_put_comma(out, &layout, 0);
        tg_cli_put_key(out, key);
        put(out, entry, &layout, 0);

    } else {
        at = object->raw.data + object->raw.len - 1;
        tg_buf_put(out, text.data, (size_t) (object->raw.data + 1 - text.data));
        tg_cli_put_line(out, &layout, 1);
        tg_cli_put_key(out, key);
        put(out, entry, &layout, 1);
        tg_cli_put_line(out, &layout, 0);
    }

    tg_buf_put(out, at, (size_t) (text.data + text.len - at));
}

/* Appends text with another value in the place of old. */
static void
tg_cli_splice_value(tg_buf_t *out, tg_str_t text, tg_str_t old,
                    const tg_cli_entry_t *entry, tg_cli_put_pt put)
{
    const char *behind;

    behind = old.data + old.len;
    tg_buf_put(out, text.data, (size_t) (old.data - text.data));
    put(out, entry, NULL, 0);
    tg_buf_put(out, behind, (size_t) (text.data + text.len - behind));
}

/* --- the merge, one change at a time --- */

static int
tg_cli_is_args(tg_str_t raw, tg_str_t socket)
{
    tg_json_t json;
    tg_str_t one;

    tg_json_init(&json, raw);

    return tg_json_array(&json) == TG_OK && tg_json_element(&json) == TG_OK
           && tg_json_value(&json, &one) == TG_OK
           && tg_json_is_text(one, socket) && tg_json_element(&json) == TG_END;
}

static int
tg_cli_bad(tg_buf_t *why, const char *a, tg_str_t name, const char *b)
{
    tg_buf_text(why, a);
    tg_buf_str(why, name);
    tg_buf_text(why, b);

    return TG_BAD;
}

/* The members of a registration that are ours; others are left alone. */
typedef struct {
    tg_str_t key;
    tg_cli_put_pt put;
} tg_cli_member_t;

static int
tg_cli_member_is_right(tg_str_t key, tg_str_t raw, const tg_cli_entry_t *entry)
{
    return tg_str_eq(key, TG_STR("args"))
               ? tg_cli_is_args(raw, entry->socket)
               : tg_json_is_text(raw, entry->command);
}

/* The registration's own object: TG_OK, TG_EXISTS, TG_BAD. */
static int
tg_cli_merge_entry(tg_str_t text, const tg_cli_object_t *root, tg_str_t raw,
                   const tg_cli_entry_t *entry, tg_buf_t *out, tg_buf_t *why)
{
    const tg_cli_member_t members[] = {
        { TG_STR("command"), tg_cli_put_command },
        { TG_STR("args"), tg_cli_put_args },
    };
    tg_cli_object_t object;
    tg_str_t url;
    size_t i;

    if (tg_json_type(raw) != TG_JSON_OBJECT
        || tg_json_get(raw, TG_STR("url"), &url) == TG_OK)
    {
        return tg_cli_bad(why, TG_CLI_SERVERS " has \"", entry->name,
                          "\" already, and it is no program; choose another "
                          "name with --name");
    }

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        tg_cli_object_scan(&object, raw, members[i].key);

        if (object.nfound == 0) {
            tg_cli_splice_member(out, text, root, &object, members[i].key,
                                 entry, members[i].put);
            return TG_OK;
        }

        if (!tg_cli_member_is_right(members[i].key, object.found, entry)) {
            tg_cli_splice_value(out, text, object.found, entry, members[i].put);
            return TG_OK;
        }
    }

    return TG_EXISTS;
}

/* One change: TG_OK when there was one, TG_EXISTS when none is needed. */
static int
tg_cli_merge_step(tg_str_t text, const tg_cli_entry_t *entry, tg_buf_t *out,
                  tg_buf_t *why)
{
    tg_cli_object_t root, servers;
    tg_json_t json;
    const char *bad;
    tg_str_t raw;

    bad = NULL;

    if (tg_json_check(text, &bad) != TG_OK) {
        return tg_cli_bad(why, "it is no valid JSON (", tg_str_c(bad),
                          "); repair it first");
    }

    tg_json_init(&json, text);
    (void) tg_json_value(&json, &raw);

    if (tg_json_type(raw) != TG_JSON_OBJECT) {
        return tg_cli_bad(why, "it is no JSON object", TG_STR(""),
                          "; repair it first");
    }

    tg_cli_object_scan(&root, raw, TG_STR(TG_CLI_SERVERS));

    if (root.nfound == 0) {
        tg_cli_splice_member(out, text, &root, &root, TG_STR(TG_CLI_SERVERS),
                             entry, tg_cli_put_servers);
        return TG_OK;
    }

    if (root.nfound > 1 || tg_json_type(root.found) != TG_JSON_OBJECT) {
        return tg_cli_bad(why, "its \"", TG_STR(TG_CLI_SERVERS),
                          "\" is there twice or is no object; repair it "
                          "first");
    }

    tg_cli_object_scan(&servers, root.found, entry->name);

    if (servers.nfound == 0) {
        tg_cli_splice_member(out, text, &root, &servers, entry->name, entry,
                             tg_cli_put_entry);
        return TG_OK;
    }

    if (servers.nfound > 1) {
        return tg_cli_bad(why, "it has \"", entry->name,
                          "\" twice; repair it first");
    }

    return tg_cli_merge_entry(text, &root, servers.found, entry, out, why);
}

/* A file of nothing, or of white space, is taken as an empty object. */
static tg_str_t
tg_cli_merge_text(tg_str_t old)
{
    size_t i;

    for (i = 0; i < old.len; i++) {
        if (!tg_cli_is_blank(old.data[i]) && old.data[i] != '\n'
            && old.data[i] != '\r') {
            return old;
        }
    }

    return TG_STR("{}\n");
}

int
tg_cli_merge_json(tg_str_t old, const tg_cli_entry_t *entry, tg_buf_t *out,
                  tg_buf_t *why)
{
    static const char mark[] = "\xef\xbb\xbf";
    tg_buf_t texts[2];
    tg_str_t text;
    size_t skip;
    int i, rc, is_changed;

    /* Editors that write a byte order mark want it back. */
    skip = old.len >= 3 && memcmp(old.data, mark, 3) == 0 ? 3 : 0;
    text = tg_cli_merge_text(tg_str(old.data + skip, old.len - skip));
    tg_buf_init(&texts[0], out->alloc);
    tg_buf_init(&texts[1], out->alloc);
    is_changed = 0;

    for (i = 0;; i = !i) {
        tg_buf_truncate(&texts[i], 0);
        rc = tg_cli_merge_step(text, entry, &texts[i], why);

        if (rc != TG_OK) {
            break;
        }

        if (tg_buf_failed(&texts[i])) {
            rc = TG_NOMEM;
            break;
        }

        text = tg_buf_view(&texts[i]);
        is_changed = 1;
    }

    if (rc == TG_EXISTS && is_changed) {
        tg_buf_put(out, mark, skip);
        tg_buf_str(out, text);
        rc = tg_buf_failed(out) ? TG_NOMEM : TG_OK;
    }

    tg_buf_deinit(&texts[0]);
    tg_buf_deinit(&texts[1]);

    return rc;
}
