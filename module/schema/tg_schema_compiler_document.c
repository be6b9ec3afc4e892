/* Documents of a schema: loading, and checks of the whole document. */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_schema_validator.h"

/* Parsers disagree about duplicate keys, so not even a const may have them. */
static int
tg_schema_find_duplicate_keys(tg_schema_compiler_t *compile, tg_str_t raw)
{
    tg_schema_entries_t entries;
    tg_schema_names_t names;
    uint32_t index, n;
    tg_str_t text;
    int rc;

    if (tg_json_type(raw) != TG_JSON_OBJECT
        && tg_json_type(raw) != TG_JSON_ARRAY) {
        return TG_OK;
    }

    memset(&names, 0, sizeof(names));
    tg_schema_entries_init(&entries, raw);

    rc = tg_schema_compiler_spend(compile,
                                  raw.len / TG_SCHEMA_SKIP_BYTES_PER_STEP);

    for (n = 0; rc == TG_OK && tg_schema_entries_next(&entries); n++) {
        rc = tg_schema_compiler_spend(compile, TG_SCHEMA_STEPS_PER_ENTRY);

        if (rc == TG_OK && entries.is_object) {
            rc = tg_schema_unescape(compile, entries.key, &text);

            if (rc == TG_OK) {
                rc = tg_schema_names_add(&names, &compile->temp, text, &index);
            }

            if (rc == TG_OK && index < n) {
                return tg_schema_error_set(compile, entries.value.data,
                                           "this key is given twice; give it "
                                           "once");
            }
        }

        if (rc == TG_OK) {
            rc = tg_schema_find_duplicate_keys(compile, entries.value);
        }
    }

    return rc;
}

static int
tg_schema_error_set_document(tg_schema_compiler_t *compile, const char *at,
                             tg_str_t uri, const char *text)
{
    if (at == NULL) {
        tg_buf_truncate(compile->error, compile->error_start);

    } else {
        (void) tg_schema_error_begin(compile, at);
        tg_buf_append_cstr(compile->error, "the document ");
        tg_schema_append_quoted(compile->error, uri);
        tg_buf_append_char(compile->error, ' ');
    }

    tg_buf_append_cstr(compile->error, text);

    return TG_INVALID;
}

static int
tg_schema_document_set_text(tg_schema_compiler_t *compile, const char *at,
                            tg_schema_doc_t *doc, tg_str_t raw)
{
    tg_json_cursor_t json;

    if (raw.len > compile->options.max_bytes - compile->n_bytes) {
        return tg_schema_error_set_document(compile, at, doc->uri,
                                            "is too large for a schema");
    }

    if (raw.len == 0) {
        return tg_schema_error_set_document(compile, at, doc->uri,
                                            "is not valid JSON: it is empty");
    }

    /* The text is validated and copied. */
    if (tg_schema_compiler_spend(compile,
                                 4 * raw.len / TG_SCHEMA_SKIP_BYTES_PER_STEP)
        != TG_OK)
    {
        return TG_LIMIT;
    }

    if (tg_json_validate(raw, NULL) != TG_OK) {
        (void) tg_schema_error_set_document(compile, at, doc->uri,
                                            "is not valid JSON: ");
        (void) tg_json_validate_explain(raw, compile->error);
        return TG_INVALID;
    }

    compile->n_bytes += raw.len;

    if (tg_schema_copy_text(compile, raw, &raw) != TG_OK) {
        return TG_NOMEM;
    }

    tg_json_init(&json, raw);

    return tg_json_read_value(&json, &doc->raw);
}

static int
tg_schema_build_document(tg_schema_compiler_t *compile, tg_schema_doc_t *doc,
                         unsigned draft)
{
    tg_schema_resource_t *resource;
    int rc;

    rc = tg_schema_find_duplicate_keys(compile, doc->raw);

    if (rc != TG_OK) {
        return rc;
    }

    resource = tg_schema_resource_new(compile, doc, doc->uri, draft,
                                      TG_SCHEMA_V_DEFAULT);

    return resource != NULL
               ? tg_schema_build_node(compile, doc->raw, resource, &doc->root)
               : TG_NOMEM;
}

int
tg_schema_load_document(tg_schema_compiler_t *compile, const char *at,
                        tg_str_t uri, tg_str_t raw, unsigned draft,
                        tg_schema_doc_t **out)
{
    tg_schema_doc_t *doc;
    int rc;

    for (doc = compile->docs; doc != NULL; doc = doc->next) {
        if (tg_str_eq(doc->uri, uri)) {
            *out = doc;
            return TG_OK;
        }
    }

    rc = raw.data == NULL && at != NULL
             ? tg_schema_fetch_document(compile, uri, &raw)
             : TG_OK;

    if (rc == TG_MISSING) {
        return tg_schema_error_set_document(compile, at, uri,
                                            "is not known, and nothing is "
                                            "fetched; put it under \"$defs\" "
                                            "with this \"$id\"");
    }

    if (rc == TG_INVALID) {
        return tg_schema_error_set_document(compile, at, uri,
                                            "cannot be "
                                            "loaded");
    }

    doc = rc == TG_OK ? tg_schema_alloc(compile, sizeof(*doc)) : NULL;

    if (doc == NULL || tg_schema_copy_text(compile, uri, &doc->uri) != TG_OK) {
        return TG_NOMEM;
    }

    rc = tg_schema_document_set_text(compile, at, doc, raw);

    if (rc != TG_OK) {
        return rc;
    }

    doc->next = compile->docs;
    compile->docs = doc;
    compile->main_doc = compile->main_doc != NULL ? compile->main_doc : doc;
    *out = doc;

    return tg_schema_build_document(compile, doc, draft);
}
