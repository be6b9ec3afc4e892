/* Bundles a schema file and the files that it refers to into one schema. */
#include "schema/tg_schema_bundle.h"

#include "schema/tg_schema_keyword.h"
#include "schema/tg_schema_node.h"

/* Names of the bundled files; the first is the main file. */
typedef struct {
    tg_str_t name[TG_SCHEMA_BUNDLE_MAX_FILES];
    size_t n;
} tg_schema_file_names_t;

typedef struct {
    const tg_schema_bundle_source_t *files;
    tg_schema_file_names_t file_names;
    size_t file_index; /* index of the file that is being copied */
    tg_buf_t *out;
    tg_buf_t *error;
    int has_id;     /* 1: a schema below the root has an id */
    unsigned draft; /* draft of the main file */
    int rc;
} tg_schema_bundle_t;

static void
tg_schema_bundle_fail(tg_schema_bundle_t *bundle, tg_str_t what,
                      const char *why)
{
    if (bundle->rc != TG_OK) {
        return;
    }

    bundle->rc = TG_INVALID;
    tg_buf_append_str(bundle->error,
                      bundle->file_names.name[bundle->file_index]);
    tg_buf_append_cstr(bundle->error, ": \"");
    tg_buf_append_str(bundle->error, what);
    tg_buf_append_cstr(bundle->error, "\" ");
    tg_buf_append_cstr(bundle->error, why);
}

/* Checks that a name has no folder and no character that needs escaping. */
static int
tg_schema_bundle_is_name(tg_str_t name)
{
    return name.len != 0 && name.data[0] != '.' && tg_str_is_word(name, "._-");
}

static size_t
tg_schema_bundle_get_file_index(tg_schema_bundle_t *bundle, tg_str_t name)
{
    size_t i;

    for (i = 0; i < bundle->file_names.n; i++) {
        if (tg_str_eq(bundle->file_names.name[i], name)) {
            return i;
        }
    }

    if (i == TG_SCHEMA_BUNDLE_MAX_FILES) {
        tg_schema_bundle_fail(bundle, name,
                              "is one file too many; a schema can have at most "
                              "64");
        return 0;
    }

    bundle->file_names.name[i] = name;
    bundle->file_names.n++;

    return i;
}

static void
tg_schema_bundle_append_ref(tg_schema_bundle_t *bundle, size_t file,
                            tg_str_t fragment)
{
    tg_buf_append_char(bundle->out, '#');

    /* Anchors are unique in the whole bundle. */
    if (file != 0 && (fragment.len == 0 || fragment.data[0] == '/')) {
        tg_buf_append_cstr(bundle->out, "/$defs/");
        tg_buf_append_str(bundle->out, bundle->file_names.name[file]);
    }

    tg_buf_append_str(bundle->out, fragment);
}

static void
tg_schema_bundle_rewrite_ref(tg_schema_bundle_t *bundle, tg_str_t ref)
{
    tg_str_t name, fragment;
    const char *hash;

    hash = ref.len != 0 ? memchr(ref.data, '#', ref.len) : NULL;
    name = hash != NULL ? tg_str(ref.data, (size_t) (hash - ref.data)) : ref;
    fragment = hash != NULL ? tg_str(hash + 1, ref.len - name.len - 1)
                            : TG_STR("");

    if (name.len > 2 && tg_str_has_prefix(name, "./")) {
        name = tg_str_skip(name, 2);
    }

    if (name.len == 0) {
        tg_schema_bundle_append_ref(bundle, bundle->file_index, fragment);
        return;
    }

    /* The compiler handles absolute URIs: copy the reference. */
    if (memchr(name.data, ':', name.len) != NULL) {
        tg_buf_append_str(bundle->out, ref);
        return;
    }

    if (!tg_schema_bundle_is_name(name)) {
        tg_schema_bundle_fail(bundle, ref,
                              "leads to no file in the same folder; a file "
                              "name consists of letters, digits, \"_\", \"-\" "
                              "and \".\"");
        return;
    }

    tg_schema_bundle_append_ref(bundle,
                                tg_schema_bundle_get_file_index(bundle, name),
                                fragment);
}

static void tg_schema_bundle_copy_schema(tg_schema_bundle_t *bundle,
                                         tg_str_t schema, int is_root);

/* Copies the entries of a container of schemas. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_bundle_copy_entries(tg_schema_bundle_t *bundle, tg_str_t container)
{
    tg_schema_entries_t entries;

    tg_schema_entries_init(&entries, container);

    while (tg_schema_entries_next(&entries)) {
        if (entries.is_object) {
            tg_json_begin_raw_member(bundle->out, entries.key);
        } else {
            tg_json_begin_element(bundle->out);
        }

        tg_schema_bundle_copy_schema(bundle, entries.value, 0);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_bundle_copy_value(tg_schema_bundle_t *bundle, tg_str_t key,
                            tg_str_t value)
{
    tg_schema_keyword_content_t holds;
    tg_json_type_t type;

    holds = tg_schema_keyword_get_content(key);
    type = tg_json_type(value);

    if (tg_json_body_eq_text(key, TG_STR("$ref")) && type == TG_JSON_STRING
        && memchr(value.data, '\\', value.len) == NULL)
    {
        tg_buf_append_char(bundle->out, '"');
        tg_schema_bundle_rewrite_ref(bundle, tg_json_string_body(value));
        tg_buf_append_char(bundle->out, '"');

    } else if ((holds == TG_SCHEMA_CONTENT_SCHEMAS && type == TG_JSON_ARRAY)
               || (holds == TG_SCHEMA_CONTENT_MAP && type == TG_JSON_OBJECT))
    {
        tg_buf_append_char(bundle->out, value.data[0]);
        tg_schema_bundle_copy_entries(bundle, value);
        tg_buf_append_char(bundle->out, type == TG_JSON_ARRAY ? ']' : '}');

    } else if (holds == TG_SCHEMA_CONTENT_SCHEMAS) {
        tg_schema_bundle_copy_schema(bundle, value, 0);

    } else {
        tg_json_write_compact(bundle->out, value);
    }
}

static int
tg_schema_bundle_is_id(const tg_schema_bundle_t *bundle, tg_str_t key)
{
    return tg_json_body_eq_text(key, bundle->draft == TG_SCHEMA_DRAFT_4
                                         ? TG_STR("id")
                                         : TG_STR("$id"));
}

static int
tg_schema_bundle_is_skipped(const tg_schema_bundle_t *bundle, tg_str_t key)
{
    return bundle->file_index == 0
               ? tg_json_body_eq_text(key, TG_STR("$defs"))
               : tg_schema_bundle_is_id(bundle, key)
                     || tg_json_body_eq_text(key, TG_STR("$schema"));
}

/*
 * Copies a schema, but the main file's root without `$defs` and the closing
 * brace, because more definitions follow.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_bundle_copy_schema(tg_schema_bundle_t *bundle, tg_str_t schema,
                             int is_root)
{
    tg_schema_entries_t entries;

    if (tg_json_type(schema) != TG_JSON_OBJECT) {
        tg_json_write_compact(bundle->out, schema);
        return;
    }

    tg_buf_append_char(bundle->out, '{');
    tg_schema_entries_init(&entries, schema);

    while (bundle->rc == TG_OK && tg_schema_entries_next(&entries)) {
        if (is_root && tg_schema_bundle_is_skipped(bundle, entries.key)) {
            continue;
        }

        if (!is_root && tg_schema_bundle_is_id(bundle, entries.key)) {
            bundle->has_id = 1;
        }

        tg_json_begin_raw_member(bundle->out, entries.key);
        tg_schema_bundle_copy_value(bundle, entries.key, entries.value);
    }

    if (!is_root || bundle->file_index != 0) {
        tg_buf_append_char(bundle->out, '}');
    }
}

static tg_str_t
tg_schema_bundle_trim_text(tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t value;

    tg_json_init(&json, raw);

    return tg_json_read_value(&json, &value) == TG_OK ? value : raw;
}

/* Checks that a file is not of another draft than the main file. */
static void
tg_schema_bundle_check_draft(tg_schema_bundle_t *bundle, tg_str_t raw)
{
    tg_str_t value;

    if (tg_json_type(raw) == TG_JSON_OBJECT
        && tg_json_get_member(raw, TG_STR("$schema"), &value) == TG_OK
        && tg_schema_draft_detect(raw) != bundle->draft)
    {
        tg_schema_bundle_fail(bundle, TG_STR("$schema"),
                              "names another draft than the first file; write "
                              "the same in both");
    }
}

static void
tg_schema_bundle_copy_other_files(tg_schema_bundle_t *bundle, tg_str_t defs)
{
    tg_str_t raw, value;

    for (bundle->file_index = 1;
         bundle->rc == TG_OK && bundle->file_index < bundle->file_names.n;
         bundle->file_index++)
    {
        if (defs.data != NULL
            && tg_json_get_member(
                   defs, bundle->file_names.name[bundle->file_index], &value)
                   == TG_OK)
        {
            bundle->file_index = 0;
            tg_schema_bundle_fail(bundle, TG_STR("$defs"),
                                  "has a member with the name of a referenced "
                                  "file; rename one of them");
            return;
        }

        bundle->rc = bundle->files->fetch(
            bundle->files->ctx, bundle->file_names.name[bundle->file_index],
            &raw);

        if (bundle->rc == TG_OK) {
            raw = tg_schema_bundle_trim_text(raw);
            tg_schema_bundle_check_draft(bundle, raw);
            tg_json_begin_raw_member(
                bundle->out, bundle->file_names.name[bundle->file_index]);
            tg_schema_bundle_copy_schema(bundle, raw, 1);
        }
    }

    bundle->file_index = 0;

    if (bundle->file_names.n > 1 && bundle->has_id) {
        tg_schema_bundle_fail(bundle, TG_STR("$id"),
                              "below the root of a schema changes where a $ref "
                              "leads, which is not supported across files; "
                              "remove it");
    }
}

int
tg_schema_bundle(const tg_schema_bundle_source_t *files, tg_str_t raw,
                 tg_buf_t *out, tg_buf_t *error)
{
    tg_schema_bundle_t bundle = {
        .files = files,
        .file_names = { .name = { files->name }, .n = 1 },
        .out = out,
        .error = error,
    };
    size_t start;
    tg_str_t defs;

    start = out->len;
    raw = tg_schema_bundle_trim_text(raw);
    bundle.draft = tg_schema_draft_detect(raw);
    tg_schema_bundle_copy_schema(&bundle, raw, 1);
    tg_json_begin_member(out, "$defs");
    tg_buf_append_char(out, '{');

    if (tg_json_has_member(raw, TG_STR("$defs"), TG_JSON_OBJECT, &defs)) {
        tg_schema_bundle_copy_entries(&bundle, defs);
    } else {
        defs = TG_STR_NONE;
    }

    /* A file without references to others is copied unchanged. */
    if (bundle.rc == TG_OK && bundle.file_names.n == 1) {
        tg_buf_truncate(out, start);
        tg_json_write_compact(out, raw);
        return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
    }

    tg_schema_bundle_copy_other_files(&bundle, defs);
    tg_buf_append_cstr(out, "}}");

    return bundle.rc == TG_OK && tg_buf_has_failed(out) ? TG_NOMEM : bundle.rc;
}
