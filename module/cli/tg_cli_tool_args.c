/* Converts arguments of the command line to a tool's arguments in JSON. */
#include "cli/tg_cli_tool.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_input.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"
#include "schema/tg_schema_query.h"

#include <stdlib.h>

static int
tg_cli_tool_args_is_json(char **args, int nargs)
{
    return nargs != 0
           && (args[0][0] == '{' || args[0][0] == '['
               || strcmp(args[0], "-") == 0);
}

int
tg_cli_tool_args_need_schema(char **args, int nargs)
{
    return nargs != 0 && !tg_cli_tool_args_is_json(args, nargs);
}

/* Checks that text is JSON, and reports an error with what and name. */
static int
tg_cli_tool_args_check_json(tg_str_t text, const char *what, tg_str_t name)
{
    tg_buf_t why;
    int rc;

    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_cli_json_check(text, &why) == TG_OK
             ? TG_CLI_EXIT_OK
             : tg_cli_error("%s%.*s is not valid JSON: %.*s", what,
                            (int) name.len, name.data, (int) why.len,
                            tg_buf_view(&why).data);
    tg_buf_deinit(&why);

    return rc;
}

/* --- one JSON text --- */

/* Returns the first character of a text after white space, or NUL. */
static char
tg_cli_json_first_char(tg_str_t text)
{
    text = tg_str_skip_blanks(text);

    return text.len != 0 ? text.data[0] : '\0';
}

/* The text is sent as it is. */
static int
tg_cli_tool_args_parse_json(tg_str_t text, const char *where, int allow_array,
                            tg_buf_t *json)
{
    char first;

    if (tg_cli_tool_args_check_json(text, where, TG_STR("")) != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    first = tg_cli_json_first_char(text);

    if (first != '{' && !(allow_array && first == '[')) {
        return tg_cli_error(
            "%s must be a JSON object%s, such as {\"key\":\"value\"}", where,
            allow_array ? " or array" : "");
    }

    tg_buf_append_str(json, text);

    return tg_buf_has_failed(json) ? tg_cli_error_nomem() : TG_CLI_EXIT_OK;
}

/* --- key=value --- */

/* Keys shorter than this are similar to too many others. */
#define TG_CLI_SUGGEST_LEN_MIN 3

typedef struct {
    tg_str_t key;
    const char *value;
    int is_json;    /* key:=value */
    int is_element; /* key+=value: an element of an array */
} tg_cli_pair_t;

static int
tg_cli_pair_parse(const char *arg, tg_cli_pair_t *pair)
{
    const char *equals;
    size_t len;

    equals = strchr(arg, '=');
    len = equals != NULL ? (size_t) (equals - arg) : 0;
    pair->is_json = len != 0 && arg[len - 1] == ':';
    pair->is_element = len != 0 && arg[len - 1] == '+';
    pair->key = tg_str(arg, len - (size_t) (pair->is_json || pair->is_element));
    pair->value = equals != NULL ? equals + 1 : "";

    if (pair->key.len == 0) {
        return tg_cli_error(
            "invalid argument \"%s\": write key=value, key:=JSON, "
            "key+=value, key=@FILE, one JSON object, or - to read the object "
            "from standard input",
            arg);
    }

    return tg_utf8_is_valid(tg_str_from_cstr(arg))
               ? TG_CLI_EXIT_OK
               : tg_cli_error("\"%s\" is not valid UTF-8", arg);
}

/* Reads the text itself, a file (@FILE), or standard input (-). */
static int
tg_cli_pair_read_value(const tg_cli_pair_t *pair, tg_buf_t *text)
{
    const char *path;

    if (pair->value[0] != '@' && strcmp(pair->value, "-") != 0) {
        tg_buf_append_cstr(text, pair->value);
        return tg_buf_has_failed(text) ? tg_cli_error_nomem() : TG_CLI_EXIT_OK;
    }

    path = pair->value[0] == '@' ? pair->value + 1 : pair->value;

    if (tg_cli_input_read(path, text) != TG_CLI_EXIT_OK) {
        return TG_CLI_EXIT_FAILED;
    }

    return tg_utf8_is_valid(tg_buf_view(text))
               ? TG_CLI_EXIT_OK
               : tg_cli_error("%s is not valid UTF-8",
                              tg_cli_input_get_label(path));
}

/* The caller frees the result. schema/ knows what a schema declares. */
static json_object *
tg_cli_schema_find_property(json_object *root, tg_str_t name)
{
    json_object *property;
    tg_str_t key, text;

    property = NULL;
    text = tg_cli_json_write(root);

    if (tg_schema_query_property(text, text, name, NULL, &key, &text) == TG_OK)
    {
        (void) tg_cli_json_parse(text, &property);
    }

    return property;
}

/* Returns the type as JSON; absent if it allows strings. */
static tg_str_t
tg_cli_schema_get_json_type(json_object *root, json_object *schema)
{
    json_object *type, *value;
    tg_cli_json_iter_t iter;
    int n;

    if (tg_cli_schema_find_keyword(root, schema, "type", &type)) {
        return tg_cli_json_has_string(type, "string") ? TG_STR_NONE
                                                      : tg_cli_json_write(type);
    }

    tg_cli_json_iter_init(&iter,
                          tg_cli_schema_get_keyword(root, schema, "enum"));

    for (n = 0; tg_cli_json_iter_next(&iter, &value); n++) {
        if (json_object_is_type(value, json_type_string)) {
            return TG_STR_NONE;
        }
    }

    return n != 0 ? TG_STR("JSON") : TG_STR_NONE;
}

/* Stores a value: JSON if the type is present, else a string. */
static int
tg_cli_pair_parse_value(const tg_cli_pair_t *pair, tg_str_t text, tg_str_t type,
                        json_object **value)
{
    if (!pair->is_json && type.data == NULL) {
        *value = json_object_new_string_len(text.data, (int) text.len);
        return TG_CLI_EXIT_OK;
    }

    if (tg_cli_json_check(text, NULL) == TG_OK) {
        *value = tg_cli_json_new_raw(text);
        return *value != NULL ? TG_CLI_EXIT_OK : tg_cli_error_nomem();
    }

    if (pair->is_json) {
        return tg_cli_tool_args_check_json(text, "the value of ", pair->key);
    }

    return tg_cli_error("%.*s must be of type %.*s, not \"%.*s\"",
                        (int) pair->key.len, pair->key.data, (int) type.len,
                        type.data, (int) text.len, text.data);
}

/* Returns the index of the next pair with key, or nargs. */
static int
tg_cli_pair_find_next(char **args, int nargs, int i, tg_str_t key,
                      tg_cli_pair_t *pair)
{
    for (/* void */; i < nargs; i++) {
        if (tg_cli_pair_parse(args[i], pair) == TG_CLI_EXIT_OK
            && tg_str_eq(pair->key, key))
        {
            break;
        }
    }

    return i;
}

/* Adds the values of all pairs with key; text: the first value. */
static int
tg_cli_pairs_parse_array(char **args, int nargs, int i, tg_str_t key,
                         tg_str_t type, tg_buf_t *text, json_object *array)
{
    json_object *value;
    tg_cli_pair_t pair;
    int rc;

    (void) tg_cli_pair_parse(args[i], &pair);

    for (rc = TG_CLI_EXIT_OK; rc == TG_CLI_EXIT_OK; /* void */) {
        value = NULL;
        rc = tg_cli_pair_parse_value(&pair, tg_buf_view(text), type, &value);

        if (rc == TG_CLI_EXIT_OK) {
            (void) json_object_array_add(array, value);
        }

        i = tg_cli_pair_find_next(args, nargs, i + 1, key, &pair);

        if (rc != TG_CLI_EXIT_OK || i == nargs) {
            break;
        }

        tg_buf_truncate(text, 0);
        rc = tg_cli_pair_read_value(&pair, text);
    }

    return rc;
}

/* Stores a value, or an array of all values with +=, or by the schema. */
static int
tg_cli_pairs_parse_argument(char **args, int nargs, int i, json_object *root,
                            json_object *property, json_object **value)
{
    int wants_array, has_more, rc;
    tg_cli_pair_t pair, other;
    json_object *schema, *items;
    tg_buf_t text;
    tg_str_t type;

    (void) tg_cli_pair_parse(args[i], &pair);
    schema = tg_cli_schema_pick_alternative(root, property);
    type = tg_cli_schema_get_json_type(root, schema);
    items = tg_cli_schema_pick_alternative(
        root, tg_cli_schema_get_keyword(root, schema, "items"));
    wants_array = type.data != NULL
                  && tg_cli_json_has_string(
                      tg_cli_schema_get_keyword(root, schema, "type"), "array");
    has_more = tg_cli_pair_find_next(args, nargs, i + 1, pair.key, &other)
               != nargs;

    if (has_more && !wants_array && !(pair.is_element && other.is_element)) {
        return tg_cli_error("%.*s is given twice", (int) pair.key.len,
                            pair.key.data);
    }

    tg_buf_init(&text, tg_alloc_libc());
    rc = tg_cli_pair_read_value(&pair, &text);

    if (rc != TG_CLI_EXIT_OK) {
        /* The error was reported. */
    } else if (pair.is_element || has_more
               || (wants_array && !pair.is_json
                   && (tg_cli_json_first_char(tg_buf_view(&text)) != '['
                       || tg_cli_json_check(tg_buf_view(&text), NULL)
                              != TG_OK)))
    {
        *value = json_object_new_array();
        rc = tg_cli_pairs_parse_array(args, nargs, i, pair.key,
                                      tg_cli_schema_get_json_type(root, items),
                                      &text, *value);
    } else {
        rc = tg_cli_pair_parse_value(&pair, tg_buf_view(&text), type, value);
    }

    tg_buf_deinit(&text);

    return rc;
}

/* An unknown key is an error only if the schema is closed. */
static int
tg_cli_pair_check_key(const tg_cli_pair_t *pair, json_object *schema)
{
    json_object *properties, *property;
    tg_cli_suggestion_t near;
    tg_cli_json_iter_t iter;
    tg_str_t text, key;
    const char *name;
    int is_closed, rc;

    text = tg_cli_json_write(schema);
    rc = tg_schema_query_property(text, text, pair->key, NULL, &key, &key);
    properties = tg_cli_json_get_object(schema, "properties");

    if (rc == TG_OK || properties == NULL
        || json_object_object_get_ex(schema, "patternProperties", NULL))
    {
        return TG_CLI_EXIT_OK;
    }

    is_closed = rc == TG_MISSING && tg_schema_query_is_closed(text);
    tg_cli_suggestion_init(&near, pair->key);
    tg_cli_json_iter_init_members(&iter, properties);

    while ((is_closed || pair->key.len >= TG_CLI_SUGGEST_LEN_MIN)
           && tg_cli_json_iter_next_member(&iter, &name, &property))
    {
        tg_cli_suggestion_add(&near, tg_str_from_cstr(name));
    }

    if (is_closed || near.rank != 0) {
        (void) tg_cli_error("%s\"%.*s\"" TG_CLI_SUGGESTION_FORMAT,
                            is_closed ? "unknown argument "
                                      : "note: the tool's schema does not "
                                        "define ",
                            (int) pair->key.len, pair->key.data,
                            TG_CLI_SUGGESTION_ARGS(&near));
    }

    return is_closed ? TG_CLI_EXIT_FAILED : TG_CLI_EXIT_OK;
}

/* Adds the argument of args[i] and of all later pairs with its key. */
static int
tg_cli_tool_args_add_argument(char **args, int nargs, int i,
                              json_object *schema, json_object *arguments)
{
    json_object *property, *value;
    tg_cli_pair_t pair, other;
    char *key;
    int rc;

    rc = tg_cli_pair_parse(args[i], &pair);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_pair_check_key(&pair, schema);
    }

    /* The pair may have been added with the first pair of its key. */
    if (rc != TG_CLI_EXIT_OK
        || tg_cli_pair_find_next(args, i, 0, pair.key, &other) != i)
    {
        return rc;
    }

    property = tg_cli_schema_find_property(schema, pair.key);
    value = NULL;
    rc = tg_cli_pairs_parse_argument(args, nargs, i, schema, property, &value);
    json_object_put(property);
    key = strndup(pair.key.data, pair.key.len);

    if (key == NULL || json_object_object_add(arguments, key, value) != 0) {
        rc = tg_cli_error_nomem();
    }

    free(key);

    return rc;
}

static int
tg_cli_tool_args_write_pairs(char **args, int nargs, json_object *schema,
                             tg_buf_t *json)
{
    json_object *arguments;
    tg_str_t text;
    int i, rc;

    arguments = json_object_new_object();
    rc = TG_CLI_EXIT_OK;

    for (i = 0; i < nargs && rc == TG_CLI_EXIT_OK; i++) {
        rc = tg_cli_tool_args_add_argument(args, nargs, i, schema, arguments);
    }

    text = tg_cli_json_write(arguments);
    tg_buf_append_str(json, text);
    json->failed |= text.data == NULL;
    json_object_put(arguments);

    return rc == TG_CLI_EXIT_OK && tg_buf_has_failed(json)
               ? tg_cli_error_nomem()
               : rc;
}

int
tg_cli_tool_args_write_json(char **args, int nargs, json_object *schema,
                            int allow_array, tg_buf_t *json)
{
    tg_buf_t text;
    int is_stdin, rc;

    if (!tg_cli_tool_args_is_json(args, nargs)) {
        return tg_cli_tool_args_write_pairs(args, nargs, schema, json);
    }

    if (nargs > 1) {
        return tg_cli_error("unexpected argument \"%s\" after the JSON text",
                            args[1]);
    }

    rc = TG_CLI_EXIT_OK;
    is_stdin = strcmp(args[0], "-") == 0;
    tg_buf_init(&text, tg_alloc_libc());

    if (is_stdin) {
        rc = tg_cli_input_read("-", &text);
    } else {
        tg_buf_append_cstr(&text, args[0]);
    }

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_tool_args_parse_json(tg_buf_view(&text),
                                         is_stdin ? "standard input"
                                                  : "the argument",
                                         allow_array, json);
    }

    tg_buf_deinit(&text);

    return rc;
}
