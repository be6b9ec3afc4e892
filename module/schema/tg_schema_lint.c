/* Warnings about probable mistakes in a valid schema. */
#include "schema/tg_schema_lint.h"

#include "base/tg_utf8.h"
#include "schema/tg_schema_keyword.h"
#include "schema/tg_schema_node.h"
#include "schema/tg_schema_query.h"

/* Maximum bytes of a quote from the schema in a warning. */
#define TG_SCHEMA_LINT_QUOTE_MAX 64

typedef struct {
    tg_str_t root;
    tg_schema_lint_warning_pt on_warning;
    void *ctx;
    tg_buf_t place;
    tg_buf_t text;
    unsigned warnings_left;
    unsigned draft; /* draft of the root */
} tg_schema_lint_t;

static void
tg_schema_lint_begin_warning(tg_schema_lint_t *lint)
{
    tg_buf_truncate(&lint->text, 0);
    tg_buf_append_str(&lint->text, lint->place.len != 0
                                       ? tg_buf_view(&lint->place)
                                       : TG_STR("(root)"));
    tg_buf_append_cstr(&lint->text, ": ");
}

static void
tg_schema_lint_end_warning(tg_schema_lint_t *lint)
{
    if (lint->warnings_left != 0 && !tg_buf_has_failed(&lint->text)) {
        lint->warnings_left--;
        lint->on_warning(lint->ctx, tg_buf_view(&lint->text));
    }
}

/* Appends a part of the text that is enough to find it. */
static void
tg_schema_lint_append_text(tg_schema_lint_t *lint, tg_str_t text)
{
    size_t len;

    len = tg_utf8_truncated_len(text, TG_SCHEMA_LINT_QUOTE_MAX);
    tg_buf_append(&lint->text, text.data, len);
    tg_buf_append_cstr(&lint->text, len != text.len ? "..." : "");
}

static void
tg_schema_lint_begin_keyword(tg_schema_lint_t *lint, tg_str_t key)
{
    tg_schema_lint_begin_warning(lint);
    tg_buf_append_char(&lint->text, '"');
    tg_schema_lint_append_text(lint, key);
}

static void
tg_schema_lint_unknown_keyword(tg_schema_lint_t *lint, tg_str_t key)
{
    const char *near;

    if (key.len > 1 && (key.data[0] == 'x' || key.data[0] == 'X')
        && key.data[1] == '-')
    {
        return;
    }

    near = tg_schema_keyword_suggest(key);
    tg_schema_lint_begin_keyword(lint, key);
    tg_buf_append_cstr(&lint->text, "\" is not a keyword and has no effect; ");

    if (near != NULL) {
        tg_buf_printf(&lint->text, "did you mean \"%s\"?", near);
    } else {
        tg_buf_append_cstr(&lint->text, "remove it, or prefix it with \"x-\"");
    }

    tg_schema_lint_end_warning(lint);
}

static void
tg_schema_lint_other_draft(tg_schema_lint_t *lint, tg_str_t key)
{
    tg_schema_lint_begin_keyword(lint, key);
    tg_buf_printf(&lint->text,
                  "\" is not a keyword of %s and has no effect; see "
                  "\"$schema\"",
                  tg_schema_draft_get_name(lint->draft));
    tg_schema_lint_end_warning(lint);
}

/* Warns of a rule beside `$ref`, unless it is an annotation or `type`. */
static void
tg_schema_lint_ignored_sibling(tg_schema_lint_t *lint, tg_str_t key)
{
    static const char *const others[] = { "$ref",     "$schema", "$comment",
                                          "title",    "default", "description",
                                          "examples", "type",    NULL };

    if (tg_json_body_find(key, others) >= 0
        || tg_schema_keyword_get_content(key) == TG_SCHEMA_CONTENT_UNKNOWN)
    {
        return;
    }

    tg_schema_lint_begin_keyword(lint, key);
    tg_buf_printf(&lint->text,
                  "\" has no effect beside \"$ref\" in %s; put both into an "
                  "\"allOf\"",
                  tg_schema_draft_get_name(lint->draft));
    tg_schema_lint_end_warning(lint);
}

static void
tg_schema_lint_required(tg_schema_lint_t *lint, tg_str_t schema,
                        tg_str_t required)
{
    tg_str_t item, name, key, value;
    tg_json_cursor_t json;

    for (tg_json_iter_init(&json, required); tg_json_iter_next(&json, &item);) {
        if (tg_json_type(item) != TG_JSON_STRING) {
            continue;
        }

        name = tg_json_string_body(item);

        if (memchr(name.data, '\\', name.len) == NULL
            && tg_schema_query_property(lint->root, schema, name, NULL, &key,
                                        &value)
                   == TG_MISSING)
        {
            tg_schema_lint_begin_warning(lint);
            tg_buf_append_cstr(&lint->text, "\"required\" names \"");
            tg_schema_lint_append_text(lint, name);
            tg_buf_append_cstr(
                &lint->text,
                "\", which \"properties\" does not declare; declare "
                "it or correct the name");
            tg_schema_lint_end_warning(lint);
        }
    }
}

static int
tg_schema_lint_is_type_allowed(tg_schema_lint_t *lint, tg_str_t schema,
                               tg_str_t value)
{
    static const char *const names[] = {
        [TG_JSON_OBJECT] = "object", [TG_JSON_ARRAY] = "array",
        [TG_JSON_STRING] = "string", [TG_JSON_NUMBER] = "number",
        [TG_JSON_TRUE] = "boolean",  [TG_JSON_FALSE] = "boolean",
        [TG_JSON_NULL] = "null",
    };
    tg_json_type_t type;
    int64_t number;

    type = tg_json_type(value);

    return type == TG_JSON_NONE
           || tg_schema_query_allows_type(lint->root, schema, names[type])
           || (type == TG_JSON_NUMBER
               && tg_schema_query_allows_type(lint->root, schema, "integer")
               && tg_json_parse_int64(value, &number) == TG_OK);
}

static void
tg_schema_lint_default(tg_schema_lint_t *lint, tg_str_t schema, tg_str_t value)
{
    tg_str_t type;

    if (tg_schema_lint_is_type_allowed(lint, schema, value)
        || tg_schema_query_keyword(lint->root, schema, "type", &type) != TG_OK)
    {
        return;
    }

    tg_schema_lint_begin_warning(lint);
    tg_buf_append_cstr(&lint->text, "the \"default\" ");
    tg_schema_lint_append_text(lint, value);
    tg_buf_append_cstr(&lint->text, " does not match its \"type\" ");
    tg_schema_lint_append_text(lint, type);
    tg_buf_append_cstr(&lint->text, "; correct one of them");
    tg_schema_lint_end_warning(lint);
}

static void tg_schema_lint_schema(tg_schema_lint_t *lint, tg_str_t schema);

static void
tg_schema_lint_append_step(tg_schema_lint_t *lint, tg_str_t key)
{
    tg_buf_append_char(&lint->place, '/');
    tg_buf_append_str(&lint->place, key);
}

/* Checks the entries of a value of type `container`, or the value itself. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_lint_children(tg_schema_lint_t *lint, tg_str_t key, tg_str_t value,
                        tg_json_type_t container)
{
    tg_schema_entries_t entries;
    size_t start, len;

    start = lint->place.len;
    tg_schema_lint_append_step(lint, key);
    len = lint->place.len;

    if (tg_json_type(value) != container) {
        tg_schema_lint_schema(lint, value);
        tg_buf_truncate(&lint->place, start);
        return;
    }

    tg_schema_entries_init(&entries, value);

    while (lint->warnings_left != 0 && tg_schema_entries_next(&entries)) {
        if (container == TG_JSON_OBJECT) {
            tg_schema_lint_append_step(lint, entries.key);
        }

        tg_schema_lint_schema(lint, entries.value);
        tg_buf_truncate(&lint->place, len);
    }

    tg_buf_truncate(&lint->place, start);
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_lint_member(tg_schema_lint_t *lint, tg_str_t schema, tg_str_t key,
                      tg_str_t value)
{
    if (lint->draft != 0 && !(tg_schema_keyword_get_drafts(key) & lint->draft))
    {
        tg_schema_lint_other_draft(lint, key);
        return;
    }

    switch (tg_schema_keyword_get_content(key)) {
    case TG_SCHEMA_CONTENT_UNKNOWN:
        tg_schema_lint_unknown_keyword(lint, key);
        break;

    case TG_SCHEMA_CONTENT_SCHEMAS:
        tg_schema_lint_children(lint, key, value, TG_JSON_ARRAY);
        break;

    case TG_SCHEMA_CONTENT_MAP:
        tg_schema_lint_children(lint, key, value, TG_JSON_OBJECT);
        break;

    default:
        if (tg_json_body_eq_text(key, TG_STR("required"))) {
            tg_schema_lint_required(lint, schema, value);
        } else if (tg_json_body_eq_text(key, TG_STR("default"))) {
            tg_schema_lint_default(lint, schema, value);
        }

        break;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as JSON nests */
static void
tg_schema_lint_schema(tg_schema_lint_t *lint, tg_str_t schema)
{
    tg_schema_entries_t entries;
    tg_str_t value;
    int is_hidden;

    if (tg_json_type(schema) != TG_JSON_OBJECT) {
        return;
    }

    is_hidden = (lint->draft & TG_SCHEMA_DRAFTS_UNTIL_7)
                && tg_json_get_member(schema, TG_STR("$ref"), &value) == TG_OK;
    tg_schema_entries_init(&entries, schema);

    while (lint->warnings_left != 0 && tg_schema_entries_next(&entries)) {
        if (is_hidden
            && tg_schema_keyword_get_content(entries.key)
                   != TG_SCHEMA_CONTENT_MAP)
        {
            tg_schema_lint_ignored_sibling(lint, entries.key);
            continue;
        }

        tg_schema_lint_member(lint, schema, entries.key, entries.value);
    }
}

int
tg_schema_lint(tg_str_t schema, tg_schema_lint_warning_pt on_warning, void *ctx)
{
    tg_schema_lint_t lint = {
        .root = schema,
        .on_warning = on_warning,
        .ctx = ctx,
        .warnings_left = TG_SCHEMA_LINT_MAX_WARNINGS,
        .draft = tg_schema_draft_detect(schema),
    };
    int rc;

    tg_buf_init(&lint.place, tg_alloc_libc());
    tg_buf_init(&lint.text, tg_alloc_libc());
    tg_schema_lint_schema(&lint, schema);
    rc = tg_buf_has_failed(&lint.text) || tg_buf_has_failed(&lint.place)
             ? TG_NOMEM
             : TG_OK;
    tg_buf_deinit(&lint.place);
    tg_buf_deinit(&lint.text);

    return rc;
}
