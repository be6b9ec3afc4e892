/* Functions for all files of the compiler: steps, errors, strings. */
#include "schema/tg_schema_compiler.h"

#include "schema/tg_schema_validator.h"

int
tg_schema_compiler_spend(tg_schema_compiler_t *compile, uint64_t steps)
{
    if (steps > compile->steps) {
        compile->steps = 0;
        return TG_LIMIT;
    }

    compile->steps -= steps;

    return TG_OK;
}

int
tg_schema_error_begin(tg_schema_compiler_t *compile, const char *at)
{
    const tg_schema_doc_t *doc;

    tg_buf_truncate(compile->error, compile->error_start);

    for (doc = compile->docs; doc != NULL; doc = doc->next) {
        if (at >= doc->raw.data && at < doc->raw.data + doc->raw.len) {
            break;
        }
    }

    if (doc == NULL) {
        return TG_INVALID;
    }

    if (doc != compile->main_doc) {
        tg_buf_append_str(compile->error, doc->uri);
        tg_buf_append_char(compile->error, '#');
    }

    tg_schema_append_path(compile->error, doc->raw, at);
    tg_buf_append_cstr(compile->error, ": ");

    return TG_INVALID;
}

int
tg_schema_error_set(tg_schema_compiler_t *compile, const char *at,
                    const char *text)
{
    (void) tg_schema_error_begin(compile, at);
    tg_buf_append_cstr(compile->error, text);

    return TG_INVALID;
}

static int
tg_schema_error_append_value(tg_schema_compiler_t *compile, tg_str_t raw,
                             const char *text)
{
    tg_buf_append_cstr(compile->error, text);
    tg_buf_append_cstr(compile->error, ", got ");
    tg_schema_append_value(compile->error, raw);

    return TG_INVALID;
}

int
tg_schema_error_set_value(tg_schema_compiler_t *compile, tg_str_t raw,
                          const char *text)
{
    (void) tg_schema_error_begin(compile, raw.data);

    return tg_schema_error_append_value(compile, raw, text);
}

void *
tg_schema_alloc(tg_schema_compiler_t *compile, size_t size)
{
    return tg_schema_arena_alloc(&compile->schema->arena, size);
}

int
tg_schema_copy_text(tg_schema_compiler_t *compile, tg_str_t text,
                    tg_str_t *copy)
{
    char *data;

    data = tg_schema_alloc(compile, text.len);

    if (data == NULL) {
        return TG_NOMEM;
    }

    memcpy(data, text.data, text.len);
    *copy = tg_str(data, text.len);

    return TG_OK;
}

int
tg_schema_unescape(tg_schema_compiler_t *compile, tg_str_t body, tg_str_t *text)
{
    char *data;

    if (body.len == 0 || memchr(body.data, '\\', body.len) == NULL) {
        *text = body;
        return TG_OK;
    }

    data = tg_schema_alloc(compile, body.len);

    if (data == NULL) {
        return TG_NOMEM;
    }

    *text = tg_str(data, tg_json_unescape(data, body));

    return TG_OK;
}

int
tg_schema_read_string(tg_schema_compiler_t *compile, tg_str_t raw,
                      tg_str_t *text)
{
    int rc;

    rc = tg_schema_expect_type(compile, raw, TG_JSON_STRING, "a string");

    return rc == TG_OK
               ? tg_schema_unescape(compile, tg_json_string_body(raw), text)
               : rc;
}

int
tg_schema_expect_type(tg_schema_compiler_t *compile, tg_str_t raw,
                      tg_json_type_t type, const char *what)
{
    if (tg_json_type(raw) == type) {
        return TG_OK;
    }

    (void) tg_schema_error_begin(compile, raw.data);
    tg_buf_append_cstr(compile->error, "must be ");

    return tg_schema_error_append_value(compile, raw, what);
}

int
tg_schema_resolve_uri(tg_schema_compiler_t *compile,
                      const tg_schema_resource_t *resource, tg_str_t text,
                      tg_buf_t *full, size_t *len)
{
    tg_uri_t base, reference;
    int rc;

    *len = 0;

    if (tg_schema_compiler_spend(compile, resource->uri.len + text.len)
        != TG_OK) {
        return TG_LIMIT;
    }

    (void) tg_uri_parse(resource->uri, &base);
    (void) tg_uri_parse(text, &reference);
    tg_uri_resolve(&base, &reference, full);
    *len = full->len;
    rc = tg_uri_append_decoded(full, reference.fragment);

    return tg_buf_has_failed(full) ? TG_NOMEM : rc;
}
