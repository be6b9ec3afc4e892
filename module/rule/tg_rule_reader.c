/* Reading of typed members, and compilation of patterns. */
#include "rule/tg_rule_impl.h"

#include "schema/tg_pattern.h"

#include <stdarg.h>

int
tg_rule_reader_fail(const tg_rule_reader_t *reader, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    tg_buf_vprintf(reader->why, format, args);
    va_end(args);

    return TG_INVALID;
}

static int
tg_rule_reader_fail_member(const tg_rule_reader_t *reader, const char *parent,
                           const tg_json_field_t *field)
{
    tg_buf_printf(reader->why, "%s%s: ", parent, field->name);

    switch (field->type) {
    case TG_FIELD_STRING:
        return tg_rule_reader_fail(reader, "must be a string");
    case TG_FIELD_BOOL:
        return tg_rule_reader_fail(reader, "must be true or false");
    default:
        return tg_rule_reader_fail(reader,
                                   "must be a whole number from %lld to %lld",
                                   (long long) field->min,
                                   (long long) field->max);
    }
}

int
tg_rule_reader_decode(tg_rule_reader_t *reader, const char *parent,
                      const char *name, tg_str_t *text)
{
    size_t n;

    n = tg_json_unescape(reader->at, tg_json_string_body(*text));

    if (memchr(reader->at, '\0', n) != NULL) {
        return tg_rule_reader_fail(reader, "%s%s: must not contain a NUL",
                                   parent, name);
    }

    *text = tg_str(reader->at, n);
    reader->at += n;

    return TG_OK;
}

int
tg_rule_reader_read_members(tg_rule_reader_t *reader, const char *parent,
                            const tg_json_field_t *fields, tg_str_t raw,
                            void *object)
{
    tg_str_t values[TG_JSON_FIELDS_MAX], *value;
    int rc;

    if (raw.data == NULL || tg_json_split_fields(fields, raw, values) != TG_OK)
    {
        return TG_MISSING;
    }

    for (value = values, rc = TG_OK; rc == TG_OK && fields->name != NULL;
         fields++, value++)
    {
        if (tg_json_store_field(fields, *value, object) != TG_OK) {
            return tg_rule_reader_fail_member(reader, parent, fields);
        }

        if (fields->type == TG_FIELD_STRING && value->data != NULL) {
            rc = tg_rule_reader_decode(
                reader, parent, fields->name,
                (tg_str_t *) (void *) ((char *) object + fields->offset));
        }
    }

    return rc;
}

int
tg_rule_pattern_compile(const tg_alloc_t *alloc,
                        const tg_schema_regex_engine_t *regex, tg_str_t text,
                        tg_rule_pattern_t *pattern, tg_buf_t *why)
{
    const char *mistake;
    tg_buf_t translated;
    int rc;

    if (regex == NULL) {
        tg_buf_append_cstr(why, "patterns are not supported here");
        return TG_INVALID;
    }

    tg_buf_init(&translated, alloc);
    rc = tg_pattern_translate(text, &translated, &pattern->weight, &mistake);

    if (rc == TG_INVALID) {
        tg_buf_append_cstr(why, mistake);
    } else if (rc == TG_OK) {
        rc = regex->compile(regex->ctx, tg_buf_view(&translated),
                            &pattern->code, why);
    }

    tg_buf_deinit(&translated);

    return rc;
}

int
tg_rule_reader_compile_pattern(tg_rule_reader_t *reader, const char *name,
                               tg_str_t text, tg_rule_pattern_t *pattern)
{
    tg_buf_printf(reader->why, "%s: ", name);

    return tg_rule_pattern_compile(reader->rule->alloc, reader->rule->regex,
                                   text, pattern, reader->why);
}
