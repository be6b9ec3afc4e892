/*
 * toolgate help TOOL: its arguments, and a call that works.
 */
#include "client/tg_cli_help.h"

#include "client/tg_cli_args.h"
#include "client/tg_cli_result.h"
#include "client/tg_cli_text.h"
#include "client/tg_cli_tools.h"
#include "base/tg_utf8.h"
#include "regex/tg_regex.h"

#include <stdlib.h>

#define TG_CLI_HELP_INDENT 6

static tg_str_t
tg_cli_member(tg_str_t object, const char *key)
{
    tg_str_t value;

    return tg_json_get(object, tg_str_c(key), &value) == TG_OK ? value
                                                               : TG_STR_NONE;
}

/* A JSON value as it is given behind `key=`. */
static void
tg_cli_help_put_value(tg_buf_t *out, tg_str_t raw)
{
    if (tg_json_type(raw) == TG_JSON_STRING) {
        tg_json_put_decoded(out, tg_json_body(raw));
    } else {
        tg_json_put_compact(out, raw);
    }
}

/* ` one of a, b, c` */
static void
tg_cli_help_put_enum(tg_buf_t *out, tg_str_t values)
{
    tg_json_t json;
    tg_str_t value;
    int n;

    n = 0;

    for (tg_json_each(&json, values); tg_json_item(&json, &value); n++) {
        tg_buf_text(out, n == 0 ? ", one of " : ", ");
        tg_cli_help_put_value(out, value);
    }
}

static void
tg_cli_help_put_type(tg_buf_t *out, tg_str_t root, tg_str_t schema)
{
    tg_json_t json;
    tg_str_t type, one;
    int n;

    type = tg_cli_keyword(root, schema, "type");

    if (tg_json_type(type) == TG_JSON_STRING) {
        tg_json_put_decoded(out, tg_json_body(type));
        return;
    }

    for (n = 0, tg_json_each(&json, type); tg_json_item(&json, &one); n++) {
        tg_buf_text(out, n == 0 ? "" : " or ");
        tg_cli_help_put_value(out, one);
    }

    tg_buf_text(out, n == 0 ? "any value" : "");
}

/* `  path  string, required, one of a, b (default a)`, then what it is. */
static void
tg_cli_help_argument(tg_buf_t *out, tg_str_t root, tg_str_t key,
                     tg_str_t property, int is_required, unsigned columns)
{
    tg_str_t schema, items, value;
    tg_buf_t text;

    tg_buf_text(out, "  ");
    tg_json_put_decoded(out, key);
    tg_buf_text(out, "  ");
    schema = tg_cli_schema_of(root, property);
    tg_cli_help_put_type(out, root, schema);
    items = tg_cli_keyword(root, schema, "items");

    if (tg_json_type(items) == TG_JSON_OBJECT) {
        items = tg_cli_schema_of(root, items);
        tg_buf_text(out, " of ");
        tg_cli_help_put_type(out, root, items);
        tg_cli_help_put_enum(out, tg_cli_keyword(root, items, "enum"));
    }

    tg_cli_help_put_enum(out, tg_cli_keyword(root, schema, "enum"));
    tg_buf_text(out, is_required ? ", required" : "");
    value = tg_cli_keyword(root, property, "default");

    if (value.data != NULL) {
        tg_buf_text(out, ", default ");
        tg_cli_help_put_value(out, value);
    }

    tg_buf_char(out, '\n');
    tg_buf_init(&text, out->alloc);
    value = tg_cli_keyword(root, property, "description");

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_put_decoded(&text, tg_json_body(value));
    }

    tg_cli_put_wrapped(out, tg_buf_view(&text), TG_CLI_HELP_INDENT, columns);
    tg_buf_deinit(&text);
}

/* --- an example --- */

/* What is said of it: by the property, else by the one of its schemas. */
static tg_str_t
tg_cli_said(tg_str_t root, tg_str_t property, tg_str_t schema,
            const char *keyword)
{
    tg_str_t value;

    value = tg_cli_keyword(root, property, keyword);

    return value.data != NULL ? value : tg_cli_keyword(root, schema, keyword);
}

/* A value that somebody has written, for this or as a choice; or absent. */
static tg_str_t
tg_cli_example_said(tg_str_t root, tg_str_t property, tg_str_t schema)
{
    static const char *const lists[] = { "examples", "enum" };
    tg_str_t value;
    tg_json_t json;
    size_t i;

    value = tg_cli_said(root, property, schema, "const");
    value = value.data != NULL ? value
                               : tg_cli_said(root, property, schema, "default");

    for (i = 0; value.data == NULL && i < sizeof(lists) / sizeof(lists[0]); i++)
    {
        tg_json_each(&json, tg_cli_said(root, property, schema, lists[i]));

        if (!tg_json_item(&json, &value)) {
            value = TG_STR_NONE;
        }
    }

    return value;
}

/* A value that fits as far as that is easily told, or an element of it. */
static void
tg_cli_example_put(tg_buf_t *out, tg_str_t root, tg_str_t property)
{
    tg_str_t schema, value, type;

    schema = tg_cli_schema_of(root, property);
    value = tg_cli_example_said(root, property, schema);
    type = tg_cli_keyword(root, schema, "type");

    if (value.data == NULL && tg_cli_is_among(type, TG_STR("array"))) {
        property = tg_cli_keyword(root, schema, "items");
        schema = tg_cli_schema_of(root, property);
        value = tg_cli_example_said(root, property, schema);
        type = tg_cli_keyword(root, schema, "type");
    }

    if (value.data != NULL) {
        tg_cli_help_put_value(out, value);
    } else if (tg_cli_is_among(type, TG_STR("integer"))
               || tg_cli_is_among(type, TG_STR("number")))
    {
        value = tg_cli_keyword(root, schema, "minimum");
        tg_cli_help_put_value(out, value.data != NULL ? value : TG_STR("1"));
    } else if (tg_cli_is_among(type, TG_STR("boolean"))) {
        tg_buf_text(out, "true");
    } else if (tg_cli_is_among(type, TG_STR("object"))) {
        tg_buf_text(out, "{}");
    } else {
        tg_buf_text(out, "text");
    }
}

/* For a shell; what is no plain word is quoted. */
static void
tg_cli_example_quote(tg_buf_t *out, tg_str_t word)
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
        tg_buf_str(out, word);
        return;
    }

    tg_buf_char(out, '\'');

    for (i = 0; i < word.len; i++) {
        if (word.data[i] == '\'') {
            tg_buf_text(out, "'\\''");
        } else {
            tg_buf_char(out, word.data[i]);
        }
    }

    tg_buf_char(out, '\'');
}

/* Says why the server would refuse these arguments, where that is known. */
static void
tg_cli_example_check(tg_buf_t *out, tg_str_t root, tg_str_t arguments)
{
    const tg_schema_options_t options = { .regex = tg_regex_pcre2() };
    tg_schema_checker_t *checker;
    tg_schema_t *schema;
    tg_buf_t error;

    tg_buf_init(&error, out->alloc);
    schema = tg_schema_compile(out->alloc, root, &options, &error);
    checker = schema != NULL ? tg_schema_checker_new(out->alloc, 0) : NULL;

    if (checker != NULL
        && tg_schema_check(schema, checker, arguments, &error) == TG_BAD)
    {
        tg_buf_text(out, "\nwith a value of your own: ");
        tg_buf_str(out, tg_buf_view(&error));
        tg_buf_char(out, '\n');
    }

    tg_schema_checker_free(checker);
    tg_schema_free(schema);
    tg_buf_deinit(&error);
}

/* n words, each with a NUL behind it, as `toolgate call` would take them. */
static void
tg_cli_example_try(tg_buf_t *out, tg_str_t root, tg_buf_t *words, int n)
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
        && tg_cli_args_json(args, n, root, 0, &json) == TG_CLI_DONE) {
        tg_cli_example_check(out, root, tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
    free(args);
}

/* `key=value`, or `key:=JSON` where the first would mean a file. */
static void
tg_cli_example_word(tg_buf_t *word, tg_str_t root, tg_str_t key,
                    tg_str_t property)
{
    tg_buf_t value;
    tg_str_t text;

    tg_buf_init(&value, word->alloc);
    tg_cli_example_put(&value, root, property);
    text = tg_buf_view(&value);
    tg_json_put_decoded(word, key);

    if (tg_str_eq(text, TG_STR("-")) || (text.len != 0 && text.data[0] == '@'))
    {
        tg_buf_text(word, ":=");
        tg_json_put_string(word, text);
    } else {
        tg_buf_char(word, '=');
        tg_buf_str(word, text);
    }

    word->failed |= value.failed;
    tg_buf_deinit(&value);
}

/* A call with all that is required. */
static void
tg_cli_help_example(tg_buf_t *out, tg_str_t tool, tg_str_t root,
                    tg_str_t properties, tg_str_t required)
{
    tg_str_t key, property, name;
    tg_buf_t words;
    tg_json_t json;
    size_t start;
    int n;

    tg_buf_text(out, "\n  toolgate call ");

    if (tg_cli_tool_text(tool, TG_STR("name"), &name) == TG_OK) {
        tg_json_put_decoded(out, name);
    }

    n = 0;
    tg_buf_init(&words, out->alloc);
    tg_json_init(&json, properties);

    if (tg_json_object(&json) == TG_OK) {
        while (tg_json_member(&json, &key) == TG_OK) {
            (void) tg_json_value(&json, &property);

            if (tg_cli_is_among(required, key)) {
                start = words.len;
                tg_cli_example_word(&words, root, key, property);
                tg_buf_char(out, ' ');
                tg_cli_example_quote(out,
                                     tg_str(tg_buf_view(&words).data + start,
                                            words.len - start));
                tg_buf_char(&words, '\0');
                n++;
            }
        }
    }

    tg_buf_char(out, '\n');
    out->failed |= words.failed;

    if (n != 0 && !tg_buf_failed(&words)) {
        tg_cli_example_try(out, root, &words, n);
    }

    tg_buf_deinit(&words);
}

static void
tg_cli_help_put(tg_buf_t *out, tg_str_t tool)
{
    tg_str_t schema, properties, required, key, property, body;
    tg_json_t json;
    tg_buf_t text;
    unsigned columns;

    columns = tg_cli_columns();
    schema = tg_cli_member(tool, "inputSchema");
    properties = tg_cli_member(schema, "properties");
    required = tg_cli_member(schema, "required");
    tg_buf_init(&text, out->alloc);

    if (tg_cli_tool_text(tool, TG_STR("name"), &body) == TG_OK) {
        tg_json_put_decoded(out, body);
        tg_buf_char(out, '\n');
    }

    if (tg_cli_tool_text(tool, TG_STR("description"), &body) == TG_OK
        || tg_cli_tool_text(tool, TG_STR("title"), &body) == TG_OK)
    {
        tg_json_put_decoded(&text, body);
    }

    tg_cli_put_wrapped(out, tg_buf_view(&text), 4, columns);
    tg_buf_deinit(&text);
    tg_json_init(&json, properties);

    if (tg_json_object(&json) == TG_OK) {
        tg_buf_char(out, '\n');

        while (tg_json_member(&json, &key) == TG_OK) {
            (void) tg_json_value(&json, &property);
            tg_cli_help_argument(out, schema, key, property,
                                 tg_cli_is_among(required, key), columns);
        }
    }

    tg_cli_help_example(out, tool, schema, properties, required);
}

static int
tg_cli_help_ask(tg_cli_session_t *session, void *ctx)
{
    tg_str_t list, name, tool;
    tg_buf_t plain, out;
    int rc;

    rc = tg_cli_session_list(session);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    if (session->answer.kind != TG_ANSWER_RESULT) {
        return tg_cli_result_refused(&session->answer, session->options);
    }

    list = tg_buf_view(&session->answer.result);
    name = tg_str_c(ctx);

    if (tg_cli_tools_find(list, name, &tool) != TG_OK) {
        return tg_cli_tools_unknown(list, name);
    }

    tg_buf_init(&plain, tg_alloc_libc());
    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_help_put(&plain, tool);
    tg_utf8_put_visible(&out, tg_buf_view(&plain), 0);
    out.failed |= plain.failed;
    tg_buf_deinit(&plain);

    return tg_cli_write(stdout, &out, TG_CLI_DONE);
}

int
tg_cli_help_tool(const tg_cli_options_t *options, const char *name)
{
    return tg_cli_session_run(options, tg_cli_help_ask,
                              (void *) (uintptr_t) name);
}
