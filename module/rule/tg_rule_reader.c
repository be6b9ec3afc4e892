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

int
tg_rule_reader_read_text(tg_rule_reader_t *reader, const char *name,
                         tg_str_t raw, tg_str_t *text)
{
    size_t n;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return tg_rule_reader_fail(reader, "%s: must be a string", name);
    }

    n = tg_json_unescape(reader->at, tg_json_string_body(raw));

    if (memchr(reader->at, '\0', n) != NULL) {
        return tg_rule_reader_fail(reader, "%s: must not contain a NUL", name);
    }

    *text = tg_str(reader->at, n);
    reader->at += n;

    return TG_OK;
}

int
tg_rule_reader_read_bool(tg_rule_reader_t *reader, const char *name,
                         tg_str_t raw, int *flag)
{
    if (raw.data == NULL) {
        return TG_OK;
    }

    *flag = tg_json_type(raw) == TG_JSON_TRUE;

    return *flag || tg_json_type(raw) == TG_JSON_FALSE
               ? TG_OK
               : tg_rule_reader_fail(reader, "%s: must be true or false", name);
}

int
tg_rule_reader_read_number(tg_rule_reader_t *reader, const char *name,
                           tg_str_t raw, int64_t min, int64_t max,
                           int64_t *number)
{
    int64_t value;

    if (raw.data == NULL) {
        return TG_OK;
    }

    if (tg_json_type(raw) != TG_JSON_NUMBER
        || tg_json_parse_int64(raw, &value) != TG_OK || value < min
        || value > max)
    {
        return tg_rule_reader_fail(reader,
                                   "%s: must be a whole number from %lld to "
                                   "%lld",
                                   name, (long long) min, (long long) max);
    }

    *number = value;

    return TG_OK;
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
