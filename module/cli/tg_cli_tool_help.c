/* The text of `toolgate help TOOL`: its arguments, and a call that works. */
#include "cli/tg_cli_tool.h"

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"

#include <stdlib.h>

#define TG_CLI_HELP_INDENT 6

/* Appends the values of an enum: `, one of a, b, c`. */
static void
tg_cli_tool_help_append_enum(tg_buf_t *out, json_object *root,
                             json_object *schema)
{
    tg_cli_json_iter_t iter;
    json_object *value;
    int n;

    tg_cli_json_iter_init(&iter,
                          tg_cli_schema_get_keyword(root, schema, "enum"));

    for (n = 0; tg_cli_json_iter_next(&iter, &value); n++) {
        tg_buf_append_cstr(out, n == 0 ? ", one of " : ", ");
        tg_cli_json_append_value(out, value);
    }
}

static void
tg_cli_tool_help_append_type(tg_buf_t *out, json_object *root,
                             json_object *schema)
{
    json_object *type, *one;
    tg_cli_json_iter_t iter;
    int n;

    type = tg_cli_schema_get_keyword(root, schema, "type");
    tg_buf_append_str(out, tg_cli_json_to_text(type));
    tg_cli_json_iter_init(&iter, type);

    for (n = 0; tg_cli_json_iter_next(&iter, &one); n++) {
        tg_buf_append_cstr(out, n == 0 ? "" : " or ");
        tg_cli_json_append_value(out, one);
    }

    if (n == 0 && !json_object_is_type(type, json_type_string)) {
        tg_buf_append_cstr(out, "any value");
    }
}

/*   path  string, one of a, b, required, default a */
static void
tg_cli_tool_help_append_argument(tg_buf_t *out, json_object *root,
                                 const char *key, json_object *property,
                                 int is_required, unsigned columns)
{
    json_object *schema, *items, *value;

    tg_buf_append_cstr(out, "  ");
    tg_buf_append_cstr(out, key);
    tg_buf_append_cstr(out, "  ");
    schema = tg_cli_schema_pick_alternative(root, property);
    tg_cli_tool_help_append_type(out, root, schema);
    items = tg_cli_schema_get_keyword(root, schema, "items");

    if (json_object_is_type(items, json_type_object)) {
        items = tg_cli_schema_pick_alternative(root, items);
        tg_buf_append_cstr(out, " of ");
        tg_cli_tool_help_append_type(out, root, items);
        tg_cli_tool_help_append_enum(out, root, items);
    }

    tg_cli_tool_help_append_enum(out, root, schema);
    tg_buf_append_cstr(out, is_required ? ", required" : "");

    if (tg_cli_schema_find_keyword(root, property, "default", &value)) {
        tg_buf_append_cstr(out, ", default ");
        tg_cli_json_append_value(out, value);
    }

    tg_buf_append_char(out, '\n');
    tg_cli_append_wrapped_text(out,
                               tg_cli_json_to_text(tg_cli_schema_get_keyword(
                                   root, property, "description")),
                               TG_CLI_HELP_INDENT, columns);
}

/* --- example --- */

/* Returns 1 if the property or its alternative has an example value. */
static int
tg_cli_example_find_value(json_object *root, json_object *property,
                          json_object *schema, json_object **value)
{
    static const char *const keywords[] = { "const", "default", "examples",
                                            "enum" };
    tg_cli_json_iter_t iter;
    size_t i;

    for (i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
        if (!tg_cli_schema_find_keyword(root, property, keywords[i], value)
            && !tg_cli_schema_find_keyword(root, schema, keywords[i], value))
        {
            continue;
        }

        /* The first one of a list. */
        tg_cli_json_iter_init(&iter, *value);

        if (i < 2 || tg_cli_json_iter_next(&iter, value)) {
            return 1;
        }
    }

    return 0;
}

/* Appends a value that is probably valid; for an array, appends one element. */
static void
tg_cli_example_append_value(tg_buf_t *out, json_object *root,
                            json_object *property)
{
    json_object *schema, *value, *type;
    int is_found;

    schema = tg_cli_schema_pick_alternative(root, property);
    is_found = tg_cli_example_find_value(root, property, schema, &value);
    type = tg_cli_schema_get_keyword(root, schema, "type");

    if (!is_found && tg_cli_json_has_string(type, "array")) {
        property = tg_cli_schema_get_keyword(root, schema, "items");
        schema = tg_cli_schema_pick_alternative(root, property);
        is_found = tg_cli_example_find_value(root, property, schema, &value);
        type = tg_cli_schema_get_keyword(root, schema, "type");
    }

    if (is_found) {
        tg_cli_json_append_value(out, value);
    } else if (tg_cli_json_has_string(type, "integer")
               || tg_cli_json_has_string(type, "number"))
    {
        value = tg_cli_schema_get_keyword(root, schema, "minimum");
        tg_buf_append_str(out, value != NULL ? tg_cli_json_write(value)
                                             : TG_STR("1"));
    } else if (tg_cli_json_has_string(type, "boolean")) {
        tg_buf_append_cstr(out, "true");
    } else if (tg_cli_json_has_string(type, "object")) {
        tg_buf_append_cstr(out, "{}");
    } else {
        tg_buf_append_cstr(out, "text");
    }
}

/* Appends a word for a shell, quoted if necessary. */
static void
tg_cli_append_shell_quoted(tg_buf_t *out, tg_str_t word)
{
    size_t i;

    if (tg_str_is_word(word, "_-./=:,+@%")) {
        tg_buf_append_str(out, word);
        return;
    }

    tg_buf_append_char(out, '\'');

    for (i = 0; i < word.len; i++) {
        if (word.data[i] == '\'') {
            tg_buf_append_cstr(out, "'\\''");
        } else {
            tg_buf_append_char(out, word.data[i]);
        }
    }

    tg_buf_append_char(out, '\'');
}

/* Appends the reason if the arguments are not valid against the schema. */
static void
tg_cli_example_check_json(tg_buf_t *out, json_object *root, tg_str_t arguments)
{
    const tg_schema_options_t options = { .regex = tg_pcre2_get_engine() };
    tg_schema_validator_t *validator;
    tg_schema_t *schema;
    tg_buf_t error;

    tg_buf_init(&error, out->alloc);
    schema = tg_schema_compile(out->alloc, tg_cli_json_write(root), &options,
                               &error);
    validator = schema != NULL ? tg_schema_validator_new(out->alloc, 0) : NULL;

    if (validator != NULL
        && tg_schema_validate(schema, validator, arguments, &error)
               == TG_INVALID)
    {
        tg_buf_append_cstr(out, "\nreplace the example value: ");
        tg_buf_append_str(out, tg_buf_view(&error));
        tg_buf_append_char(out, '\n');
    }

    tg_schema_validator_free(validator);
    tg_schema_free(schema);
    tg_buf_deinit(&error);
}

/* Converts n words, each with a NUL, as `toolgate call` does. */
static void
tg_cli_example_check_words(tg_buf_t *out, json_object *root, tg_buf_t *words,
                           int n)
{
    tg_buf_t json;
    char **args, *p;
    int i;

    args = calloc((size_t) n, sizeof(*args));
    p = words->data;

    for (i = 0; args != NULL && i < n; i++, p += strlen(p) + 1) {
        args[i] = p;
    }

    tg_buf_init(&json, out->alloc);

    if (args != NULL
        && tg_cli_tool_args_write_json(args, n, root, 0, &json)
               == TG_CLI_EXIT_OK)
    {
        tg_cli_example_check_json(out, root, tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
    free(args);
}

/* Appends `key=value`, or `key:=JSON` if key=value would name a file. */
static void
tg_cli_example_append_argument(tg_buf_t *word, json_object *root,
                               const char *key, json_object *property)
{
    json_object *json;
    tg_buf_t value;
    tg_str_t text;

    tg_buf_init(&value, word->alloc);
    tg_cli_example_append_value(&value, root, property);
    text = tg_buf_view(&value);
    tg_buf_append_cstr(word, key);

    if (tg_str_eq(text, TG_STR("-")) || (text.len != 0 && text.data[0] == '@'))
    {
        json = json_object_new_string_len(text.data, (int) text.len);
        tg_buf_append_cstr(word, ":=");
        tg_buf_append_str(word, tg_cli_json_write(json));
        json_object_put(json);
    } else {
        tg_buf_append_char(word, '=');
        tg_buf_append_str(word, text);
    }

    word->failed |= value.failed;
    tg_buf_deinit(&value);
}

static void
tg_cli_tool_help_append_example(tg_buf_t *out, json_object *tool,
                                json_object *root)
{
    json_object *required, *property;
    tg_cli_json_iter_t iter;
    const char *key;
    tg_buf_t words;
    size_t start;
    int n;

    tg_buf_append_cstr(out, "\n  toolgate call ");
    tg_buf_append_str(out, tg_cli_json_get_text(tool, "name"));
    n = 0;
    tg_buf_init(&words, out->alloc);
    required = tg_cli_json_get(root, "required");
    tg_cli_json_iter_init_members(&iter, tg_cli_json_get(root, "properties"));

    while (tg_cli_json_iter_next_member(&iter, &key, &property)) {
        if (tg_cli_json_has_string(required, key)) {
            start = words.len;
            tg_cli_example_append_argument(&words, root, key, property);
            tg_buf_append_char(out, ' ');
            tg_cli_append_shell_quoted(out,
                                       tg_str(tg_buf_view(&words).data + start,
                                              words.len - start));
            tg_buf_append_char(&words, '\0');
            n++;
        }
    }

    tg_buf_append_char(out, '\n');
    out->failed |= words.failed;

    if (n != 0 && !tg_buf_has_failed(&words)) {
        tg_cli_example_check_words(out, root, &words, n);
    }

    tg_buf_deinit(&words);
}

static void
tg_cli_tool_help_append(tg_buf_t *out, json_object *tool)
{
    json_object *schema, *properties, *required, *property;
    tg_cli_json_iter_t iter;
    const char *key;
    unsigned columns;
    tg_str_t name;

    columns = tg_cli_terminal_get_width();
    schema = tg_cli_json_get(tool, "inputSchema");
    properties = tg_cli_json_get_object(schema, "properties");
    required = tg_cli_json_get(schema, "required");
    name = tg_cli_json_get_text(tool, "name");
    tg_buf_append_str(out, name);
    tg_buf_append_cstr(out, name.data != NULL ? "\n" : "");
    tg_cli_append_wrapped_text(out, tg_cli_tool_get_description(tool), 4,
                               columns);
    tg_buf_append_cstr(out, properties != NULL ? "\n" : "");
    tg_cli_json_iter_init_members(&iter, properties);

    while (tg_cli_json_iter_next_member(&iter, &key, &property)) {
        tg_cli_tool_help_append_argument(out, schema, key, property,
                                         tg_cli_json_has_string(required, key),
                                         columns);
    }

    tg_cli_tool_help_append_example(out, tool, schema);
}

static int
tg_cli_tool_help_on_connect(tg_cli_session_t *session, void *ctx)
{
    json_object *tool;
    tg_buf_t plain, out;
    tg_str_t name;
    int rc;

    rc = tg_cli_result_fetch_list(session, TG_MCP_TOOLS, 1);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    name = tg_str_from_cstr(ctx);
    tool = tg_cli_list_find(session->response.result, TG_MCP_TOOLS, name);

    if (tool == NULL
        && tg_cli_list_report_other_kind(session, TG_MCP_TOOLS, name)) {
        return TG_CLI_EXIT_REFUSED;
    }

    if (tool == NULL) {
        (void) tg_cli_list_report_unknown(session->response.result,
                                          TG_MCP_TOOLS, name);
        return TG_CLI_EXIT_FAILED;
    }

    tg_buf_init(&plain, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_tool_help_append(&plain, tool);
    tg_utf8_append_visible(&out, tg_buf_view(&plain), 0);
    out.failed |= plain.failed;
    tg_buf_deinit(&plain);

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

int
tg_cli_tool_help_print(const tg_cli_options_t *options, const char *name)
{
    return tg_cli_session_run(options, tg_cli_tool_help_on_connect,
                              (void *) (uintptr_t) name);
}
