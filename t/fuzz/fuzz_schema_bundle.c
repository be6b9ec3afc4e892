/*
 * Checks schemas of several files: the bundle is JSON that refers to no file.
 * Also checks the descriptions of, and searches in, the text of a schema.
 *
 * Input: a line with the schema, one with a.json, then b.json.
 */
#include "help.h"

#include "base/tg_json.h"
#include "schema/pcre2/tg_pcre2.h"
#include "schema/tg_schema.h"
#include "schema/tg_schema_bundle.h"
#include "schema/tg_schema_lint.h"
#include "schema/tg_schema_query.h"

typedef struct {
    tg_str_t a;
    tg_str_t b;
    unsigned nasked;
} bundle_files_t;

static int
bundle_fetch(void *ctx, tg_str_t name, tg_str_t *raw)
{
    bundle_files_t *files = ctx;

    files->nasked++;
    FUZZ(files->nasked < TG_SCHEMA_BUNDLE_MAX_FILES);
    *raw = tg_str_eq(name, TG_STR("a.json"))   ? files->a
           : tg_str_eq(name, TG_STR("b.json")) ? files->b
                                               : TG_STR_NONE;

    return raw->data != NULL && tg_json_validate(*raw, NULL) == TG_OK
               ? TG_OK
               : TG_INVALID;
}

static int
bundle_make(bundle_files_t *files, tg_str_t raw, tg_buf_t *out)
{
    tg_schema_bundle_source_t all = { .alloc = tg_alloc_libc(),
                                      .name = TG_STR("s.json"),
                                      .fetch = bundle_fetch,
                                      .ctx = files };
    HELP_BUFFER(error);
    int rc;

    files->nasked = 0;
    rc = tg_schema_bundle(&all, raw, out, &error);
    FUZZ(rc == TG_OK || rc == TG_INVALID);
    FUZZ(rc == TG_INVALID || error.len == 0);
    FUZZ_LINE(tg_buf_view(&error));

    return rc;
}

/* --- checks of the schema's text --- */

static void
bundle_remark(void *ctx, tg_str_t remark)
{
    unsigned *n = ctx;

    FUZZ(++*n <= TG_SCHEMA_LINT_MAX_WARNINGS);
    FUZZ_LINE(remark);
    FUZZ(remark.len != 0);
}

static int
bundle_is_named(tg_str_t name, tg_str_t key)
{
    return tg_json_body_eq_text(key, name);
}

static void
bundle_query(tg_str_t schema)
{
    tg_str_t key, value, fallback;
    int rc;

    key = value = fallback = TG_STR_NONE;
    rc = tg_schema_query_property(schema, schema, TG_STR("a"), bundle_is_named,
                                  &key, &value);
    FUZZ(rc == TG_OK || rc == TG_MISSING || rc == TG_AGAIN);

    if (rc == TG_OK) {
        FUZZ(tg_json_body_eq_text(key, TG_STR("a")));
        FUZZ(tg_json_validate(value, NULL) == TG_OK);
        (void) tg_schema_query_allows_type(schema, value, "object");
        (void) tg_schema_query_is_required(schema, schema, key);

        if (tg_schema_query_keyword(schema, value, "default", &fallback)
            == TG_OK) {
            FUZZ(tg_json_validate(fallback, NULL) == TG_OK);
        }
    }

    (void) tg_schema_query_is_closed(schema);
}

FUZZ_TARGET(in)
{
    tg_schema_options_t options;
    HELP_BUFFER(out);
    HELP_BUFFER(again);
    HELP_BUFFER(error);
    bundle_files_t files;
    tg_schema_t *schema;
    unsigned n;
    tg_str_t raw;

    raw = fuzz_until_newline(&in);
    files.a = fuzz_until_newline(&in);
    files.b = fuzz_rest(&in);

    if (tg_json_validate(raw, NULL) != TG_OK) {
        return;
    }

    if (bundle_make(&files, raw, &out) == TG_OK) {
        FUZZ(tg_json_validate(tg_buf_view(&out), NULL) == TG_OK);

        /* The bundle is one file, so bundling it again changes nothing. */
        FUZZ(bundle_make(&files, tg_buf_view(&out), &again) == TG_OK);
        FUZZ(files.nasked == 0);
        FUZZ_EQ(tg_buf_view(&again), tg_buf_view(&out));

        memset(&options, 0, sizeof(options));
        options.regex = tg_pcre2_get_engine();
        schema = tg_schema_compile(tg_alloc_libc(), tg_buf_view(&out), &options,
                                   &error);

        if (schema != NULL) {
            n = 0;
            FUZZ(tg_schema_lint(tg_buf_view(&out), bundle_remark, &n) == TG_OK);
            bundle_query(tg_buf_view(&out));
        }

        tg_schema_free(schema);
    }
}
