#include "schema/tg_schema_bundle.h"

#include "schema/tg_schema_draft.h"
#include "schema/tg_schema_words.h"

/* The first is the schema's own. */
typedef struct {
    tg_str_t name[TG_SCHEMA_FILES];
    size_t n;
} tg_schema_names_of_files_t;

typedef struct {
    const tg_schema_files_t *files;
    tg_schema_names_of_files_t known;
    size_t at; /* the file that is copied */
    tg_buf_t *out;
    tg_buf_t *error;
    int has_id;     /* something below the root has an address of its own */
    unsigned draft; /* of the first file */
    int rc;
} tg_schema_bundle_t;

static void
tg_schema_bundle_fail(tg_schema_bundle_t *bundle, tg_str_t what,
                      const char *why)
{
    if (bundle->rc != TG_OK) {
        return;
    }

    bundle->rc = TG_BAD;
    tg_buf_str(bundle->error, bundle->known.name[bundle->at]);
    tg_buf_text(bundle->error, ": \"");
    tg_buf_str(bundle->error, what);
    tg_buf_text(bundle->error, "\" ");
    tg_buf_text(bundle->error, why);
}

/* --- references --- */

/* A plain name: no other folder, and nothing to be escaped anywhere. */
static int
tg_schema_bundle_is_name(tg_str_t name)
{
    size_t i;

    for (i = 0; i < name.len; i++) {
        if (!tg_is_alpha(name.data[i]) && !tg_is_digit(name.data[i])
            && !tg_is_one_of(name.data[i], "._-"))
        {
            return 0;
        }
    }

    return name.len != 0 && name.data[0] != '.';
}

/* Its number, which it gets when it is new. */
static size_t
tg_schema_bundle_file(tg_schema_bundle_t *bundle, tg_str_t name)
{
    size_t i;

    for (i = 0; i < bundle->known.n; i++) {
        if (tg_str_eq(bundle->known.name[i], name)) {
            return i;
        }
    }

    if (i == TG_SCHEMA_FILES) {
        tg_schema_bundle_fail(bundle, name,
                              "is one file too many; a schema has 64 at most");
        return 0;
    }

    bundle->known.name[i] = name;
    bundle->known.n++;

    return i;
}

/* A reference that stays within the bundle. */
static void
tg_schema_bundle_put(tg_schema_bundle_t *bundle, size_t file, tg_str_t fragment)
{
    tg_buf_char(bundle->out, '#');

    /* Anchors are those of the whole. */
    if (file != 0 && (fragment.len == 0 || fragment.data[0] == '/')) {
        tg_buf_text(bundle->out, "/$defs/");
        tg_buf_str(bundle->out, bundle->known.name[file]);
    }

    tg_buf_str(bundle->out, fragment);
}

/* The body of a `$ref`. */
static void
tg_schema_bundle_ref(tg_schema_bundle_t *bundle, tg_str_t ref)
{
    tg_str_t name, fragment;
    const char *hash;

    hash = ref.len != 0 ? memchr(ref.data, '#', ref.len) : NULL;
    name = hash != NULL ? tg_str(ref.data, (size_t) (hash - ref.data)) : ref;
    fragment = hash != NULL ? tg_str(hash + 1, ref.len - name.len - 1)
                            : TG_STR("");

    if (name.len > 2 && memcmp(name.data, "./", 2) == 0) {
        name = tg_str(name.data + 2, name.len - 2);
    }

    if (name.len == 0) {
        tg_schema_bundle_put(bundle, bundle->at, fragment);
        return;
    }

    /* What is no file's is the compiler's business. */
    if (memchr(name.data, ':', name.len) != NULL) {
        tg_buf_str(bundle->out, ref);
        return;
    }

    if (!tg_schema_bundle_is_name(name)) {
        tg_schema_bundle_fail(bundle, ref,
                              "leads to no file of the same folder; its name "
                              "has letters, digits, \"_\", \"-\" and \".\"");
        return;
    }

    tg_schema_bundle_put(bundle, tg_schema_bundle_file(bundle, name), fragment);
}

/* --- copies --- */

static void tg_schema_bundle_schema(tg_schema_bundle_t *bundle, tg_str_t schema,
                                    int is_root);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_bundle_list(tg_schema_bundle_t *bundle, tg_str_t value)
{
    tg_json_t json;
    tg_str_t item;
    char comma;

    comma = '[';

    for (tg_json_each(&json, value); tg_json_item(&json, &item); comma = ',') {
        tg_buf_char(bundle->out, comma);
        tg_schema_bundle_schema(bundle, item, 0);
    }

    tg_buf_text(bundle->out, comma == '[' ? "[]" : "]");
}

/* The members of a map of schemas; how many there were. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static size_t
tg_schema_bundle_members(tg_schema_bundle_t *bundle, tg_str_t map)
{
    tg_str_t key, value;
    tg_json_t json;
    size_t n;

    tg_json_init(&json, map);
    (void) tg_json_object(&json);

    for (n = 0; tg_json_member(&json, &key) == TG_OK; n++) {
        (void) tg_json_value(&json, &value);
        tg_buf_text(bundle->out, n != 0 ? ",\"" : "\"");
        tg_buf_str(bundle->out, key);
        tg_buf_text(bundle->out, "\":");
        tg_schema_bundle_schema(bundle, value, 0);
    }

    return n;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_bundle_value(tg_schema_bundle_t *bundle, tg_str_t key, tg_str_t value)
{
    tg_schema_holds_t holds;
    tg_json_type_t type;

    holds = tg_schema_holds(key);
    type = tg_json_type(value);

    if (tg_json_body_is(key, TG_STR("$ref")) && type == TG_JSON_STRING
        && memchr(value.data, '\\', value.len) == NULL)
    {
        tg_buf_char(bundle->out, '"');
        tg_schema_bundle_ref(bundle, tg_json_body(value));
        tg_buf_char(bundle->out, '"');

    } else if (holds == TG_SCHEMA_HOLDS_SCHEMAS && type == TG_JSON_ARRAY) {
        tg_schema_bundle_list(bundle, value);

    } else if (holds == TG_SCHEMA_HOLDS_SCHEMAS) {
        tg_schema_bundle_schema(bundle, value, 0);

    } else if (holds == TG_SCHEMA_HOLDS_MAP && type == TG_JSON_OBJECT) {
        tg_buf_char(bundle->out, '{');
        (void) tg_schema_bundle_members(bundle, value);
        tg_buf_char(bundle->out, '}');

    } else {
        tg_json_put_compact(bundle->out, value);
    }
}

/* Is it what gives a schema an address? */
static int
tg_schema_bundle_is_id(const tg_schema_bundle_t *bundle, tg_str_t key)
{
    return tg_json_body_is(key, bundle->draft == TG_SCHEMA_DRAFT_4
                                    ? TG_STR("id")
                                    : TG_STR("$id"));
}

/* Which members of a root are not copied where they stand. */
static int
tg_schema_bundle_is_left(const tg_schema_bundle_t *bundle, tg_str_t key)
{
    return bundle->at == 0 ? tg_json_body_is(key, TG_STR("$defs"))
                           : tg_schema_bundle_is_id(bundle, key)
                                 || tg_json_body_is(key, TG_STR("$schema"));
}

/*
 * A schema; of the first file's root without `$defs` and the brace at its end,
 * to which others are added.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_bundle_schema(tg_schema_bundle_t *bundle, tg_str_t schema,
                        int is_root)
{
    tg_str_t key, value;
    tg_json_t json;
    size_t n;

    if (tg_json_type(schema) != TG_JSON_OBJECT) {
        tg_json_put_compact(bundle->out, schema);
        return;
    }

    tg_buf_char(bundle->out, '{');
    tg_json_init(&json, schema);
    (void) tg_json_object(&json);

    for (n = 0; bundle->rc == TG_OK && tg_json_member(&json, &key) == TG_OK;) {
        (void) tg_json_value(&json, &value);

        if (is_root && tg_schema_bundle_is_left(bundle, key)) {
            continue;
        }

        if (!is_root && tg_schema_bundle_is_id(bundle, key)) {
            bundle->has_id = 1;
        }

        tg_buf_text(bundle->out, n++ != 0 ? ",\"" : "\"");
        tg_buf_str(bundle->out, key);
        tg_buf_text(bundle->out, "\":");
        tg_schema_bundle_value(bundle, key, value);
    }

    if (!is_root || bundle->at != 0) {
        tg_buf_char(bundle->out, '}');
    }
}

/* What stands in a file, without the white space around it. */
static tg_str_t
tg_schema_bundle_text(tg_str_t raw)
{
    tg_json_t json;
    tg_str_t value;

    tg_json_init(&json, raw);

    return tg_json_value(&json, &value) == TG_OK ? value : raw;
}

/* A bundle is of one draft: that of the first file. */
static void
tg_schema_bundle_check_draft(tg_schema_bundle_t *bundle, tg_str_t raw)
{
    tg_str_t value;

    if (tg_json_type(raw) == TG_JSON_OBJECT
        && tg_json_get(raw, TG_STR("$schema"), &value) == TG_OK
        && tg_schema_draft_of(raw) != bundle->draft)
    {
        tg_schema_bundle_fail(bundle, TG_STR("$schema"),
                              "names another draft than the file that all "
                              "begins with; write the same in both");
    }
}

/* The files that the first one led to, and those that they lead to. */
static void
tg_schema_bundle_others(tg_schema_bundle_t *bundle, tg_str_t defs, size_t n)
{
    tg_str_t raw, value;

    for (bundle->at = 1; bundle->rc == TG_OK && bundle->at < bundle->known.n;
         bundle->at++)
    {
        if (defs.data != NULL
            && tg_json_get(defs, bundle->known.name[bundle->at], &value)
                   == TG_OK)
        {
            bundle->at = 0;
            tg_schema_bundle_fail(bundle, TG_STR("$defs"),
                                  "has a member that is called as a file that "
                                  "is referred to; rename one of them");
            return;
        }

        bundle->rc = bundle->files->fetch(bundle->files->ctx,
                                          bundle->known.name[bundle->at], &raw);

        if (bundle->rc == TG_OK) {
            raw = tg_schema_bundle_text(raw);
            tg_schema_bundle_check_draft(bundle, raw);
            tg_buf_text(bundle->out, n++ != 0 ? ",\"" : "\"");
            tg_buf_str(bundle->out, bundle->known.name[bundle->at]);
            tg_buf_text(bundle->out, "\":");
            tg_schema_bundle_schema(bundle, raw, 1);
        }
    }

    bundle->at = 0;

    if (bundle->known.n > 1 && bundle->has_id) {
        tg_schema_bundle_fail(bundle, TG_STR("$id"),
                              "below the root of a schema changes where a "
                              "$ref leads, which is not done over files; "
                              "remove it");
    }
}

int
tg_schema_bundle(const tg_schema_files_t *files, tg_str_t raw, tg_buf_t *out,
                 tg_buf_t *error)
{
    tg_schema_bundle_t bundle = {
        .files = files,
        .known = { .name = { files->name }, .n = 1 },
        .out = out,
        .error = error,
    };
    size_t start, n;
    tg_str_t defs;

    start = out->len;
    raw = tg_schema_bundle_text(raw);
    bundle.draft = tg_schema_draft_of(raw);
    tg_schema_bundle_schema(&bundle, raw, 1);
    tg_buf_text(out, out->len != start + 1 ? ",\"$defs\":{" : "\"$defs\":{");
    n = 0;

    if (tg_json_has(raw, TG_STR("$defs"), TG_JSON_OBJECT, &defs)) {
        n = tg_schema_bundle_members(&bundle, defs);
    } else {
        defs = TG_STR_NONE;
    }

    /* Alone it stays as it is, token by token. */
    if (bundle.rc == TG_OK && bundle.known.n == 1) {
        tg_buf_truncate(out, start);
        tg_json_put_compact(out, raw);
        return tg_buf_failed(out) ? TG_NOMEM : TG_OK;
    }

    tg_schema_bundle_others(&bundle, defs, n);
    tg_buf_text(out, "}}");

    return bundle.rc == TG_OK && tg_buf_failed(out) ? TG_NOMEM : bundle.rc;
}
