/*
 * toolgate help TOOL: its arguments, and a call that works.
 */
#include "client/tg_cli_help.h"

#include "client/tg_cli_result.h"
#include "client/tg_cli_text.h"
#include "client/tg_cli_tools.h"
#include "base/tg_utf8.h"

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
tg_cli_help_put_type(tg_buf_t *out, tg_str_t property)
{
    tg_json_t json;
    tg_str_t type, one;
    int n;

    type = tg_cli_member(property, "type");

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
tg_cli_help_argument(tg_buf_t *out, tg_str_t key, tg_str_t property,
                     int is_required, unsigned columns)
{
    tg_str_t items, value;
    tg_buf_t text;

    tg_buf_text(out, "  ");
    tg_json_put_decoded(out, key);
    tg_buf_text(out, "  ");
    tg_cli_help_put_type(out, property);
    items = tg_cli_member(property, "items");

    if (tg_json_type(items) == TG_JSON_OBJECT) {
        tg_buf_text(out, " of ");
        tg_cli_help_put_type(out, items);
        tg_cli_help_put_enum(out, tg_cli_member(items, "enum"));
    }

    tg_cli_help_put_enum(out, tg_cli_member(property, "enum"));
    tg_buf_text(out, is_required ? ", required" : "");
    value = tg_cli_member(property, "default");

    if (value.data != NULL) {
        tg_buf_text(out, ", default ");
        tg_cli_help_put_value(out, value);
    }

    tg_buf_char(out, '\n');
    tg_buf_init(&text, out->alloc);

    if (tg_json_has(property, TG_STR("description"), TG_JSON_STRING, &value)) {
        tg_json_put_decoded(&text, tg_json_body(value));
    }

    tg_cli_put_wrapped(out, tg_buf_view(&text), TG_CLI_HELP_INDENT, columns);
    tg_buf_deinit(&text);
}

/* --- an example --- */

static int
tg_cli_is_type(tg_str_t property, const char *type)
{
    return tg_cli_is_among(tg_cli_member(property, "type"), tg_str_c(type));
}

/* A value that fits as far as that is easily told. */
static void
tg_cli_example_put(tg_buf_t *out, tg_str_t property)
{
    tg_str_t examples, value;
    tg_json_t json;

    value = tg_cli_member(property, "const");
    value = value.data != NULL ? value : tg_cli_member(property, "default");
    examples = tg_cli_member(property, "examples");

    if (value.data == NULL && tg_json_type(examples) != TG_JSON_ARRAY) {
        examples = tg_cli_member(property, "enum");
    }

    if (value.data == NULL && tg_json_type(examples) == TG_JSON_ARRAY) {
        tg_json_each(&json, examples);

        if (!tg_json_item(&json, &value)) {
            value = TG_STR_NONE;
        }
    }

    if (value.data != NULL) {
        tg_cli_help_put_value(out, value);
    } else if (tg_cli_is_type(property, "integer")
               || tg_cli_is_type(property, "number"))
    {
        value = tg_cli_member(property, "minimum");
        tg_cli_help_put_value(out, value.data != NULL ? value : TG_STR("1"));
    } else if (tg_cli_is_type(property, "boolean")) {
        tg_buf_text(out, "true");
    } else if (tg_cli_is_type(property, "array")) {
        value = tg_cli_member(property, "items");
        tg_cli_example_put(out, tg_json_type(value) == TG_JSON_OBJECT
                                        && !tg_cli_is_type(value, "array")
                                    ? value
                                    : TG_STR("{}"));
    } else if (tg_cli_is_type(property, "object")) {
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

static void
tg_cli_help_example(tg_buf_t *out, tg_str_t tool, tg_str_t properties,
                    tg_str_t required)
{
    tg_str_t key, property, name;
    tg_json_t json;
    tg_buf_t word;

    tg_buf_text(out, "\n  toolgate call ");

    if (tg_cli_tool_text(tool, TG_STR("name"), &name) == TG_OK) {
        tg_json_put_decoded(out, name);
    }

    tg_buf_init(&word, out->alloc);
    tg_json_init(&json, properties);

    if (tg_json_object(&json) == TG_OK) {
        while (tg_json_member(&json, &key) == TG_OK) {
            (void) tg_json_value(&json, &property);

            if (tg_cli_is_among(required, key)) {
                tg_buf_truncate(&word, 0);
                tg_json_put_decoded(&word, key);
                tg_buf_char(&word, '=');
                tg_cli_example_put(&word, property);
                tg_buf_char(out, ' ');
                tg_cli_example_quote(out, tg_buf_view(&word));
            }
        }
    }

    tg_buf_char(out, '\n');
    out->failed |= word.failed;
    tg_buf_deinit(&word);
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
            tg_cli_help_argument(out, key, property,
                                 tg_cli_is_among(required, key), columns);
        }
    }

    tg_cli_help_example(out, tool, properties, required);
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
