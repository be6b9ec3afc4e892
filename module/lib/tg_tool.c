/* A tool, method, prompt, resource or template: parses its options. */
#include "lib/tg_tool.h"

#include "base/tg_utf8.h"
#include "lib/tg_option.h"
#include "schema/pcre2/tg_pcre2.h"

#include <stdlib.h>

#define TG_TOOL_KIND(kind) (1u << (kind))
#define TG_TOOL_KINDS_CALLED                                                   \
    (TG_TOOL_KIND(TG_ENTRY_TOOL) | TG_TOOL_KIND(TG_ENTRY_METHOD))
#define TG_TOOL_KINDS_READ                                                     \
    (TG_TOOL_KIND(TG_ENTRY_RESOURCE) | TG_TOOL_KIND(TG_ENTRY_TEMPLATE))
#define TG_TOOL_KINDS_ALL                                                      \
    (TG_TOOL_KINDS_CALLED | TG_TOOL_KINDS_READ | TG_TOOL_KIND(TG_ENTRY_PROMPT))

static const struct {
    const char *name;
    unsigned kinds; /* kinds that have the option */
} tg_tool_options[TG_TOOL_OPTION_COUNT] = {
    [TG_TOOL_OPTION_DESCRIPTION] = { "description", TG_TOOL_KINDS_ALL },
    [TG_TOOL_OPTION_INPUT_SCHEMA] = { "input_schema", TG_TOOL_KINDS_CALLED },
    [TG_TOOL_OPTION_TITLE] = { "title", TG_TOOL_KINDS_ALL },
    [TG_TOOL_OPTION_ANNOTATIONS] = { "annotations", TG_TOOL_KINDS_CALLED
                                                        | TG_TOOL_KINDS_READ },
    [TG_TOOL_OPTION_OUTPUT_SCHEMA] = { "output_schema", TG_TOOL_KINDS_CALLED },
    [TG_TOOL_OPTION_OUTPUT] = { "output", TG_TOOL_KINDS_ALL },
    [TG_TOOL_OPTION_TIMEOUT] = { "timeout", TG_TOOL_KINDS_ALL },
    [TG_TOOL_OPTION_VALIDATE] = { "validate", TG_TOOL_KINDS_CALLED },
    [TG_TOOL_OPTION_NAME] = { "name", TG_TOOL_KINDS_READ },
    [TG_TOOL_OPTION_MIME] = { "mime", TG_TOOL_KINDS_READ },
    [TG_TOOL_OPTION_ARGUMENTS] = { "arguments", TG_TOOL_KIND(TG_ENTRY_PROMPT) },
    [TG_TOOL_OPTION_ICONS] = { "icons", TG_TOOL_KINDS_ALL
                                            & ~TG_TOOL_KIND(TG_ENTRY_METHOD) },
    [TG_TOOL_OPTION_META] = { "meta", TG_TOOL_KINDS_ALL
                                          & ~TG_TOOL_KIND(TG_ENTRY_METHOD) },
    [TG_TOOL_OPTION_TTL] = { "ttl", TG_TOOL_KINDS_READ },
};

/* Values of the option "validate". */
static const char *const tg_tool_option_validate_words[] = { "on", "off",
                                                             "formats", NULL };
enum {
    TG_VALIDATE_ON,
    TG_VALIDATE_OFF,
    TG_VALIDATE_FORMATS
};

tg_tool_t *
tg_tool_ref(tg_tool_t *tool)
{
    atomic_fetch_add_explicit(&tool->refs, 1, memory_order_relaxed);

    return tool;
}

void
tg_tool_unref(tg_tool_t *tool)
{
    size_t i;

    if (atomic_fetch_sub_explicit(&tool->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }

    for (i = 0; i < TG_TOOL_OPTION_COUNT; i++) {
        free(tool->texts[i]);
    }

    tg_uri_template_free(tool->uri_template);
    tg_schema_free(tool->input);
    tg_schema_free(tool->output);
    tg_buf_deinit(&tool->json);
    tg_buf_deinit(&tool->schema);
    free(tool->name);
    free(tool);
}

int
tg_tool_set_option_error(const tg_tool_t *tool, tg_tool_option_t option,
                         const char *why)
{
    return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "%s: \"%s\" %s", tool->name,
                            tg_tool_options[option].name, why);
}

/* Appends compact JSON, since a frame must not contain a line feed. */
static int
tg_tool_append_json(tg_tool_t *tool, tg_tool_option_t option)
{
    const char *text;
    tg_buf_t why;
    int rc;

    text = tool->texts[option];

    if (text == NULL) {
        return 0;
    }

    tg_buf_init(&why, tg_alloc_libc());
    tg_buf_append_cstr(&why, "is no JSON: ");
    rc = tg_json_validate_explain(tg_str_from_cstr(text), &why) == TG_OK ? 0
                                                                         : -1;

    if (rc != 0) {
        tg_buf_append_char(&why, '\0');
        rc = tg_buf_has_failed(&why)
                 ? tg_lib_set_nomem_error()
                 : tg_tool_set_option_error(tool, option, why.data);
    } else {
        tg_json_write_compact(&tool->json, tg_str_from_cstr(text));
    }

    tg_buf_deinit(&why);

    return rc;
}

/* Appends the JSON options to one buffer for the entry's slices. */
static int
tg_tool_parse_json(tg_tool_t *tool)
{
    static const tg_tool_option_t options[] = {
        TG_TOOL_OPTION_INPUT_SCHEMA, TG_TOOL_OPTION_OUTPUT_SCHEMA,
        TG_TOOL_OPTION_ANNOTATIONS,  TG_TOOL_OPTION_ARGUMENTS,
        TG_TOOL_OPTION_ICONS,        TG_TOOL_OPTION_META,
    };
    tg_str_t *fields[] = {
        &tool->entry.input_schema, &tool->entry.output_schema,
        &tool->entry.annotations,  &tool->entry.arguments,
        &tool->entry.icons,        &tool->entry.meta,
    };
    size_t i, at;
    int rc;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        at = tool->json.len;
        rc = tg_tool_append_json(tool, options[i]);

        if (rc != 0) {
            return rc;
        }

        fields[i]->len = tool->json.len - at;
    }

    if (tg_buf_has_failed(&tool->json)) {
        return tg_lib_set_nomem_error();
    }

    for (i = 0, at = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (tool->texts[options[i]] != NULL) {
            fields[i]->data = tool->json.data + at;
            at += fields[i]->len;
        }
    }

    return 0;
}

static int
tg_tool_compile_schema(tg_tool_t *tool, tg_tool_option_t option, tg_str_t text,
                       int validation, tg_schema_t **schema)
{
    tg_schema_options_t options;
    const char *mistake;
    tg_buf_t why;
    int rc;

    /* MCP's rules for schemas do not apply to methods. */
    mistake = text.data != NULL && tool->entry.kind == TG_ENTRY_TOOL
                  ? tg_tool_check_schema(text)
                  : NULL;

    if (mistake != NULL) {
        return tg_tool_set_option_error(tool, option, mistake);
    }

    if (text.data == NULL || validation == TG_VALIDATE_OFF) {
        return 0;
    }

    memset(&options, 0, sizeof(options));
    options.regex = tg_pcre2_get_engine();
    options.is_format_asserted = validation == TG_VALIDATE_FORMATS;
    tg_buf_init(&why, tg_alloc_libc());
    *schema = tg_schema_compile(tg_alloc_libc(), text, &options, &why);
    tg_buf_append_char(&why, '\0');
    rc = *schema != NULL ? 0
         : why.len == 1 || tg_buf_has_failed(&why)
             ? tg_lib_set_nomem_error()
             : tg_tool_set_option_error(tool, option, why.data);
    tg_buf_deinit(&why);

    return rc;
}

static int
tg_tool_compile_schemas(tg_tool_t *tool)
{
    const char *mistake;
    int validation, rc;

    validation = TG_VALIDATE_ON;
    rc = tool->texts[TG_TOOL_OPTION_VALIDATE] != NULL
             ? tg_option_parse_word("validate",
                                    tool->texts[TG_TOOL_OPTION_VALIDATE],
                                    tg_tool_option_validate_words, &validation)
             : 0;

    if (rc == 0) {
        rc = tg_tool_compile_schema(tool, TG_TOOL_OPTION_INPUT_SCHEMA,
                                    tool->entry.input_schema, validation,
                                    &tool->input);
    }

    if (rc == 0) {
        rc = tg_tool_compile_schema(tool, TG_TOOL_OPTION_OUTPUT_SCHEMA,
                                    tool->entry.output_schema, validation,
                                    &tool->output);
    }

    mistake = tool->entry.annotations.data != NULL
                      && tool->entry.kind == TG_ENTRY_TOOL
                  ? tg_tool_check_annotations(tool->entry.annotations)
                  : NULL;

    return rc != 0 ? rc
           : mistake != NULL
               ? tg_tool_set_option_error(tool, TG_TOOL_OPTION_ANNOTATIONS,
                                          mistake)
               : 0;
}

/* Sets the output: by default JSON for methods and output schemas. */
static int
tg_tool_parse_output(tg_tool_t *tool)
{
    static const char *const words[] = { "text", "json", "result", NULL };
    int rc, output;

    output = tool->entry.kind == TG_ENTRY_METHOD
                     || tool->texts[TG_TOOL_OPTION_OUTPUT_SCHEMA] != NULL
                 ? TG_OUTPUT_JSON
                 : TG_OUTPUT_TEXT;
    rc = tool->texts[TG_TOOL_OPTION_OUTPUT] != NULL ? tg_option_parse_word(
             "output", tool->texts[TG_TOOL_OPTION_OUTPUT], words, &output)
                                                    : 0;

    if (rc == 0 && output == TG_OUTPUT_TEXT
        && tool->texts[TG_TOOL_OPTION_OUTPUT_SCHEMA] != NULL)
    {
        rc = tg_tool_set_option_error(tool, TG_TOOL_OPTION_OUTPUT,
                                      "cannot be \"text\" with an "
                                      "\"output_schema\"; make it \"json\" "
                                      "or \"result\"");
    }

    tool->entry.output = (tg_output_type_t) output;

    return rc;
}

static int
tg_tool_parse_text(tg_tool_t *tool, tg_tool_option_t option, tg_str_t *field)
{
    if (tool->texts[option] == NULL) {
        return 0;
    }

    *field = tg_str_from_cstr(tool->texts[option]);

    return tg_utf8_is_valid(*field)
               ? 0
               : tg_tool_set_option_error(tool, option, "must be UTF-8");
}

static int
tg_tool_parse_options(tg_tool_t *tool)
{
    const char *mistake;
    int is_warning, rc;

    tool->entry.name = tg_str_from_cstr(tool->name);
    is_warning = 0;

    /* A template is checked by its parser, a completion by its prompt. */
    mistake = tool->entry.kind != TG_ENTRY_TEMPLATE
                      && tool->entry.kind != TG_ENTRY_COMPLETION
                  ? tg_catalog_check_name(tool->entry.kind, tool->entry.name,
                                          &is_warning)
                  : NULL;

    /* A name that only some agents reject is allowed; the program decides. */
    if (mistake != NULL && !is_warning) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "\"%s\": %s", tool->name,
                                mistake);
    }

    rc = tg_tool_parse_text(tool, TG_TOOL_OPTION_DESCRIPTION,
                            &tool->entry.description);
    rc = rc != 0 ? rc
                 : tg_tool_parse_text(tool, TG_TOOL_OPTION_TITLE,
                                      &tool->entry.title);
    rc = rc != 0 ? rc : tg_tool_parse_json(tool);
    rc = rc != 0 ? rc : tg_tool_parse_item(tool);
    rc = rc != 0 ? rc : tg_tool_compile_schemas(tool);
    rc = rc != 0 ? rc : tg_tool_parse_output(tool);
    tool->timeout = TG_TOOL_TIMEOUT_DEFAULT;

    return rc != 0 || tool->texts[TG_TOOL_OPTION_TIMEOUT] == NULL
               ? rc
               : tg_option_parse_time("timeout",
                                      tool->texts[TG_TOOL_OPTION_TIMEOUT],
                                      &tool->timeout);
}

static int
tg_tool_copy_texts(tg_tool_t *tool, const char *name,
                   const char *const texts[TG_TOOL_OPTION_COUNT])
{
    size_t i;

    tool->name = tg_str_dup(tg_str_from_cstr(name));

    if (tool->name == NULL) {
        return tg_lib_set_nomem_error();
    }

    for (i = 0; i < TG_TOOL_OPTION_COUNT; i++) {
        if (texts[i] == NULL) {
            continue;
        }

        tool->texts[i] = tg_str_dup(tg_str_from_cstr(texts[i]));

        if (tool->texts[i] == NULL) {
            return tg_lib_set_nomem_error();
        }
    }

    return 0;
}

int
tg_tool_new(tg_catalog_entry_type_t kind, const char *name,
            const char *const texts[TG_TOOL_OPTION_COUNT],
            toolgate_call_pt handler, void *data, tg_tool_t **tool)
{
    tg_tool_t *made;
    int rc;

    made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return tg_lib_set_nomem_error();
    }

    atomic_init(&made->refs, 1);
    tg_buf_init(&made->json, tg_alloc_libc());
    tg_buf_init(&made->schema, tg_alloc_libc());
    made->handler = handler;
    made->data = data;
    made->entry.kind = kind;
    rc = tg_tool_copy_texts(made, name, texts);
    rc = rc != 0 ? rc : tg_tool_parse_options(made);

    if (rc != 0) {
        tg_tool_unref(made);
        return rc;
    }

    *tool = made;

    return 0;
}

/* Finds an option of a kind. Returns TOOLGATE_ERR_ARGUMENT if it has none. */
static int
tg_tool_find_option(tg_catalog_entry_type_t kind, const char *option)
{
    const char *names[TG_TOOL_OPTION_COUNT + 1];
    int i, indexes[TG_TOOL_OPTION_COUNT], n;

    for (i = n = 0; i < TG_TOOL_OPTION_COUNT; i++) {
        if ((tg_tool_options[i].kinds & TG_TOOL_KIND(kind)) != 0) {
            names[n] = tg_tool_options[i].name;
            indexes[n++] = i;
        }
    }

    names[n] = NULL;
    i = tg_option_find(option, names);

    return i < 0 ? i : indexes[i];
}

int
tg_tool_new_with_option(const tg_tool_t *from, const char *option,
                        const char *value, tg_tool_t **tool)
{
    const char *texts[TG_TOOL_OPTION_COUNT];
    int i;

    memcpy(texts, from->texts, sizeof(texts));
    i = tg_tool_find_option(from->entry.kind, option);

    if (i < 0) {
        return i;
    }

    texts[i] = value;

    return tg_tool_new(from->entry.kind, from->name, texts, from->handler,
                       from->data, tool);
}
