/*
 * The text of `toolgate help TOOL`: its arguments, and a call that works.
 */
#include "cli/tg_cli_tool_help.h"

#include "cli/tg_cli_tool_args.h"
#include "cli/tg_cli_result.h"
#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool_list.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"

#include <stdlib.h>

#define TG_CLI_HELP_INDENT 6

static tg_str_t
tg_cli_raw_json_get_member(tg_str_t object, const char *key)
{
    tg_str_t value;

    return tg_json_get_member(object, tg_str_from_cstr(key), &value) == TG_OK
               ? value
               : TG_STR_NONE;
}

/* Appends the values of an enum: `, one of a, b, c`. */
static void
tg_cli_tool_help_append_enum(tg_buf_t *out, tg_str_t values)
{
    tg_json_cursor_t json;
    tg_str_t value;
    int n;

    n = 0;

    for (tg_json_iter_init(&json, values); tg_json_iter_next(&json, &value);
         n++) {
        tg_buf_append_cstr(out, n == 0 ? ", one of " : ", ");
        tg_cli_append_json_value(out, value);
    }
}

static void
tg_cli_tool_help_append_type(tg_buf_t *out, tg_str_t root, tg_str_t schema)
{
    tg_json_cursor_t json;
    tg_str_t type, one;
    int n;

    type = tg_cli_schema_get_keyword(root, schema, "type");

    if (tg_json_type(type) == TG_JSON_STRING) {
        tg_cli_append_json_value(out, type);
        return;
    }

    for (n = 0, tg_json_iter_init(&json, type); tg_json_iter_next(&json, &one);
         n++) {
        tg_buf_append_cstr(out, n == 0 ? "" : " or ");
        tg_cli_append_json_value(out, one);
    }

    tg_buf_append_cstr(out, n == 0 ? "any value" : "");
}

/*
 * Appends an argument: `  path  string, one of a, b, required, default a`, and
 * its description.
 */
static void
tg_cli_tool_help_append_argument(tg_buf_t *out, tg_str_t root, tg_str_t key,
                                 tg_str_t property, int is_required,
                                 unsigned columns)
{
    tg_str_t schema, items, value;
    tg_buf_t text;

    tg_buf_append_cstr(out, "  ");
    tg_json_append_unescaped(out, key);
    tg_buf_append_cstr(out, "  ");
    schema = tg_cli_schema_pick_alternative(root, property);
    tg_cli_tool_help_append_type(out, root, schema);
    items = tg_cli_schema_get_keyword(root, schema, "items");

    if (tg_json_type(items) == TG_JSON_OBJECT) {
        items = tg_cli_schema_pick_alternative(root, items);
        tg_buf_append_cstr(out, " of ");
        tg_cli_tool_help_append_type(out, root, items);
        tg_cli_tool_help_append_enum(out, tg_cli_schema_get_keyword(root, items,
                                                                    "enum"));
    }

    tg_cli_tool_help_append_enum(out, tg_cli_schema_get_keyword(root, schema,
                                                                "enum"));
    tg_buf_append_cstr(out, is_required ? ", required" : "");
    value = tg_cli_schema_get_keyword(root, property, "default");

    if (value.data != NULL) {
        tg_buf_append_cstr(out, ", default ");
        tg_cli_append_json_value(out, value);
    }

    tg_buf_append_char(out, '\n');
    tg_buf_init(&text, out->alloc);
    value = tg_cli_schema_get_keyword(root, property, "description");

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_append_unescaped(&text, tg_json_string_body(value));
    }

    tg_cli_append_wrapped_text(out, tg_buf_view(&text), TG_CLI_HELP_INDENT,
                               columns);
    tg_buf_deinit(&text);
}

/* --- example --- */

/*
 * Returns a keyword's value of the property, or else of the picked
 * alternative.
 */
static tg_str_t
tg_cli_property_get_keyword(tg_str_t root, tg_str_t property, tg_str_t schema,
                            const char *keyword)
{
    tg_str_t value;

    value = tg_cli_schema_get_keyword(root, property, keyword);

    return value.data != NULL
               ? value
               : tg_cli_schema_get_keyword(root, schema, keyword);
}

/* Returns an example value that the schema contains, or an absent string. */
static tg_str_t
tg_cli_example_find_value(tg_str_t root, tg_str_t property, tg_str_t schema)
{
    static const char *const lists[] = { "examples", "enum" };
    tg_str_t value;
    tg_json_cursor_t json;
    size_t i;

    value = tg_cli_property_get_keyword(root, property, schema, "const");
    value = value.data != NULL ? value
                               : tg_cli_property_get_keyword(root, property,
                                                             schema, "default");

    for (i = 0; value.data == NULL && i < sizeof(lists) / sizeof(lists[0]); i++)
    {
        tg_json_iter_init(&json, tg_cli_property_get_keyword(root, property,
                                                             schema, lists[i]));

        if (!tg_json_iter_next(&json, &value)) {
            value = TG_STR_NONE;
        }
    }

    return value;
}

/*
 * Appends a value that is probably valid; for an array, appends one element.
 */
static void
tg_cli_example_append_value(tg_buf_t *out, tg_str_t root, tg_str_t property)
{
    tg_str_t schema, value, type;

    schema = tg_cli_schema_pick_alternative(root, property);
    value = tg_cli_example_find_value(root, property, schema);
    type = tg_cli_schema_get_keyword(root, schema, "type");

    if (value.data == NULL && tg_cli_json_has_string(type, TG_STR("array"))) {
        property = tg_cli_schema_get_keyword(root, schema, "items");
        schema = tg_cli_schema_pick_alternative(root, property);
        value = tg_cli_example_find_value(root, property, schema);
        type = tg_cli_schema_get_keyword(root, schema, "type");
    }

    if (value.data != NULL) {
        tg_cli_append_json_value(out, value);
    } else if (tg_cli_json_has_string(type, TG_STR("integer"))
               || tg_cli_json_has_string(type, TG_STR("number")))
    {
        value = tg_cli_schema_get_keyword(root, schema, "minimum");
        tg_cli_append_json_value(out, value.data != NULL ? value : TG_STR("1"));
    } else if (tg_cli_json_has_string(type, TG_STR("boolean"))) {
        tg_buf_append_cstr(out, "true");
    } else if (tg_cli_json_has_string(type, TG_STR("object"))) {
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

    for (i = 0; i < word.len; i++) {
        if (!tg_is_alpha(word.data[i]) && !tg_is_digit(word.data[i])
            && !tg_is_one_of(word.data[i], "_-./=:,+@%"))
        {
            break;
        }
    }

    if (i == word.len) {
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
tg_cli_example_check_json(tg_buf_t *out, tg_str_t root, tg_str_t arguments)
{
    const tg_schema_options_t options = { .regex = tg_pcre2_get_engine() };
    tg_schema_validator_t *validator;
    tg_schema_t *schema;
    tg_buf_t error;

    tg_buf_init(&error, out->alloc);
    schema = tg_schema_compile(out->alloc, root, &options, &error);
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

/*
 * Converts n words, each with a NUL at its end, as `toolgate call` does, and
 * checks the arguments.
 */
static void
tg_cli_example_check_words(tg_buf_t *out, tg_str_t root, tg_buf_t *words, int n)
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
tg_cli_example_append_argument(tg_buf_t *word, tg_str_t root, tg_str_t key,
                               tg_str_t property)
{
    tg_buf_t value;
    tg_str_t text;

    tg_buf_init(&value, word->alloc);
    tg_cli_example_append_value(&value, root, property);
    text = tg_buf_view(&value);
    tg_json_append_unescaped(word, key);

    if (tg_str_eq(text, TG_STR("-")) || (text.len != 0 && text.data[0] == '@'))
    {
        tg_buf_append_cstr(word, ":=");
        tg_json_write_string(word, text);
    } else {
        tg_buf_append_char(word, '=');
        tg_buf_append_str(word, text);
    }

    word->failed |= value.failed;
    tg_buf_deinit(&value);
}

/* Appends an example of a call with all required arguments. */
static void
tg_cli_tool_help_append_example(tg_buf_t *out, tg_str_t tool, tg_str_t root,
                                tg_str_t properties, tg_str_t required)
{
    tg_str_t key, property, name;
    tg_buf_t words;
    tg_json_cursor_t json;
    size_t start;
    int n;

    tg_buf_append_cstr(out, "\n  toolgate call ");

    if (tg_cli_tool_get_text(tool, TG_STR("name"), &name) == TG_OK) {
        tg_json_append_unescaped(out, name);
    }

    n = 0;
    tg_buf_init(&words, out->alloc);
    tg_json_init(&json, properties);

    if (tg_json_enter_object(&json) == TG_OK) {
        while (tg_json_iter_next_member(&json, &key, &property)) {
            if (tg_cli_json_has_string(required, key)) {
                start = words.len;
                tg_cli_example_append_argument(&words, root, key, property);
                tg_buf_append_char(out, ' ');
                tg_cli_append_shell_quoted(out, tg_str(tg_buf_view(&words).data
                                                           + start,
                                                       words.len - start));
                tg_buf_append_char(&words, '\0');
                n++;
            }
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
tg_cli_tool_help_append(tg_buf_t *out, tg_str_t tool)
{
    tg_str_t schema, properties, required, key, property, body;
    tg_json_cursor_t json;
    tg_buf_t text;
    unsigned columns;

    columns = tg_cli_terminal_get_width();
    schema = tg_cli_raw_json_get_member(tool, "inputSchema");
    properties = tg_cli_raw_json_get_member(schema, "properties");
    required = tg_cli_raw_json_get_member(schema, "required");
    tg_buf_init(&text, out->alloc);

    if (tg_cli_tool_get_text(tool, TG_STR("name"), &body) == TG_OK) {
        tg_json_append_unescaped(out, body);
        tg_buf_append_char(out, '\n');
    }

    if (tg_cli_tool_get_text(tool, TG_STR("description"), &body) == TG_OK
        || tg_cli_tool_get_text(tool, TG_STR("title"), &body) == TG_OK)
    {
        tg_json_append_unescaped(&text, body);
    }

    tg_cli_append_wrapped_text(out, tg_buf_view(&text), 4, columns);
    tg_buf_deinit(&text);
    tg_json_init(&json, properties);

    if (tg_json_enter_object(&json) == TG_OK) {
        tg_buf_append_char(out, '\n');

        while (tg_json_iter_next_member(&json, &key, &property)) {
            tg_cli_tool_help_append_argument(
                out, schema, key, property,
                tg_cli_json_has_string(required, key), columns);
        }
    }

    tg_cli_tool_help_append_example(out, tool, schema, properties, required);
}

static int
tg_cli_tool_help_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_str_t list, name, tool;
    tg_buf_t plain, out;
    int rc;

    rc = tg_cli_session_list_tools(session);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    if (session->response.kind != TG_RESPONSE_RESULT) {
        return tg_cli_response_print_error(&session->response,
                                           session->options);
    }

    list = tg_buf_view(&session->response.result);
    name = tg_str_from_cstr(ctx);

    if (tg_cli_tool_list_find(list, name, &tool) != TG_OK) {
        return tg_cli_tool_list_report_unknown(list, name);
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
