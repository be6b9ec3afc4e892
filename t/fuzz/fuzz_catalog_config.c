/*
 * Checks JSON in nginx.conf with the calls that the module makes when it loads
 * a config: whatever is accepted makes a valid list of tools.
 *
 * Input: output mode and type; name, annotations, input schema, output schema,
 * each on a line; the output of that tool's handler.
 */
#include "help.h"

#include "protocol/tg_outcome.h"
#include "schema/tg_schema.h"
#include "schema/tg_schema_lint.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"

typedef struct {
    tg_catalog_entry_t entry;
    tg_buf_t values[3];
    size_t n;
} config_t;

static void
config_remark(void *ctx, tg_str_t remark)
{
    (void) ctx;
    FUZZ_LINE(remark);
}

/* Works like ngx_tg_conf_parse_json(): returns compact JSON or an error. */
static int
config_json(config_t *config, tg_str_t raw, tg_str_t *json)
{
    const char *why;
    tg_buf_t *buf;

    if (tg_json_validate(raw, &why) != TG_OK) {
        FUZZ(why[0] != '\0');
        return TG_INVALID;
    }

    buf = &config->values[config->n++];
    tg_buf_init(buf, tg_alloc_libc());
    tg_json_write_compact(buf, raw);
    *json = tg_buf_view(buf);

    return TG_OK;
}

static int
config_schema(config_t *config, tg_str_t raw, tg_str_t *json)
{
    tg_schema_options_t options;
    tg_schema_t *schema;
    HELP_BUFFER(error);

    if (config_json(config, raw, json) != TG_OK
        || (config->entry.kind == TG_ENTRY_TOOL
            && tg_tool_check_schema(*json) != NULL))
    {
        return TG_INVALID;
    }

    memset(&options, 0, sizeof(options));
    options.regex = tg_pcre2_get_engine();
    schema = tg_schema_compile(tg_alloc_libc(), *json, &options, &error);
    FUZZ((schema == NULL) == (error.len != 0));
    FUZZ_LINE(tg_buf_view(&error));

    if (schema != NULL) {
        FUZZ(tg_schema_lint(*json, config_remark, NULL) == TG_OK);
    }

    tg_schema_free(schema);

    return schema != NULL ? TG_OK : TG_INVALID;
}

/* An empty line stands for a directive that is not set. */
static int
config_read(config_t *config, fuzz_in_t *in)
{
    tg_catalog_entry_t *entry;
    const char *why;
    tg_str_t line;
    int is_warning;

    entry = &config->entry;
    entry->name = fuzz_until_newline(in);
    is_warning = 0;
    why = tg_catalog_check_name(entry->kind, entry->name, &is_warning);

    if (why != NULL) {
        FUZZ_LINE(tg_str_from_cstr(why));
        return TG_INVALID;
    }

    FUZZ(entry->name.len != 0 && tg_utf8_is_valid(entry->name));
    line = fuzz_until_newline(in);

    if (line.len != 0
        && (config_json(config, line, &entry->annotations) != TG_OK
            || tg_json_type(entry->annotations) != TG_JSON_OBJECT))
    {
        return TG_INVALID;
    }

    line = fuzz_until_newline(in);

    if (line.len != 0
        && config_schema(config, line, &entry->input_schema) != TG_OK) {
        return TG_INVALID;
    }

    line = fuzz_until_newline(in);

    return line.len != 0 ? config_schema(config, line, &entry->output_schema)
                         : TG_OK;
}

/* A catalog with only this tool lists it and finds it. */
static void
config_list(config_t *config)
{
    tg_catalog_t *catalog;
    tg_str_t tools, name;
    HELP_BUFFER(list);
    HELP_BUFFER(body);
    tg_json_cursor_t json;

    catalog = tg_catalog_new(tg_alloc_libc());
    FUZZ(tg_catalog_add(catalog, &config->entry) == TG_OK);
    FUZZ(tg_catalog_add(catalog, &config->entry) == TG_EXISTS);
    FUZZ(tg_catalog_seal(catalog) == TG_OK);

    tg_json_write_escaped(&body, config->entry.name);
    FUZZ(
        tg_catalog_find_escaped(catalog, config->entry.kind, tg_buf_view(&body))
        == &config->entry);
    tg_buf_append_char(&list, '{');
    FUZZ(tg_catalog_write_list(catalog,
                               &(tg_list_page_t){ .cursor = TG_STR_NONE }, NULL,
                               NULL, &list)
         == TG_OK);
    tg_buf_append_char(&list, '}');
    FUZZ_LINE(tg_buf_view(&list));
    FUZZ(tg_json_validate(tg_buf_view(&list), NULL) == TG_OK);
    FUZZ(tg_json_get_member(tg_buf_view(&list), TG_STR("tools"), &tools)
         == TG_OK);

    if (config->entry.kind == TG_ENTRY_TOOL) {
        tg_json_init(&json, tools);
        FUZZ(tg_json_enter_array(&json) == TG_OK
             && tg_json_next_element(&json) == TG_OK
             && tg_json_read_value(&json, &tools) == TG_OK);
        FUZZ(tg_json_get_member(tools, TG_STR("name"), &name) == TG_OK);
        FUZZ(tg_json_string_eq(name, config->entry.name));
    }

    tg_catalog_unref(catalog);
}

/* An outcome that another process reports is equal to the original. */
static void
config_output(const config_t *config, tg_str_t bytes)
{
    tg_outcome_t plain, read;
    HELP_BUFFER(json);
    HELP_BUFFER(scratch);
    tg_run_stats_t ran;

    plain = tg_outcome_parse_output(&config->entry, bytes);

    if (plain.kind == TG_OUTCOME_JSON || plain.kind == TG_OUTCOME_RESULT) {
        FUZZ(tg_json_validate(plain.value, NULL) == TG_OK);
    }

    if (!tg_utf8_is_valid(bytes)) {
        FUZZ(plain.kind == TG_OUTCOME_FAILURE);
        return;
    }

    memset(&ran, 0, sizeof(ran));
    tg_outcome_write_json(&json, &plain);
    tg_buf_append_char(&json, '}');
    read = tg_outcome_parse_json(tg_buf_view(&json), &scratch, &ran);
    FUZZ(read.failure == plain.failure);

    if (plain.kind == TG_OUTCOME_TEXT) {
        FUZZ(read.kind == TG_OUTCOME_BODY);
        tg_json_append_unescaped(&scratch, read.value);
        read.value = tg_buf_view(&scratch);
    } else {
        FUZZ(read.kind == plain.kind);
    }

    FUZZ_EQ(read.value, plain.value);
}

FUZZ_TARGET(in)
{
    config_t config;
    unsigned byte;
    int rc;

    memset(&config, 0, sizeof(config));
    byte = fuzz_byte(&in);
    config.entry.kind = byte & 1 ? TG_ENTRY_METHOD : TG_ENTRY_TOOL;
    config.entry.output = (tg_output_type_t) (byte / 2 % 3);
    rc = config_read(&config, &in);

    if (rc == TG_OK) {
        config_list(&config);
        config_output(&config, fuzz_rest(&in));
    }

    while (config.n != 0) {
        tg_buf_deinit(&config.values[--config.n]);
    }
}
