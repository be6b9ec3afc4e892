/*
 * Converts arguments of the command line to a tool's arguments in JSON.
 */
#include "cli/tg_cli_tool_args.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_input.h"
#include "cli/tg_cli_output.h"
#include "cli/tg_cli_tool_list.h"
#include "base/tg_utf8.h"
#include "schema/tg_schema_query.h"

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
    rc = tg_json_validate_explain(text, &why) == TG_OK
             ? TG_CLI_EXIT_OK
             : tg_cli_error("%s%.*s is not valid JSON: %.*s", what,
                            (int) name.len, name.data, (int) why.len,
                            tg_buf_view(&why).data);
    tg_buf_deinit(&why);

    return rc;
}

/* --- one JSON text --- */

static int
tg_cli_tool_args_parse_json(tg_str_t text, const char *where, int allow_array,
                            tg_buf_t *json)
{
    tg_json_cursor_t cursor;

    if (tg_cli_tool_args_check_json(text, where, TG_STR("")) != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    tg_json_init(&cursor, text);

    if (!tg_json_is_next(&cursor, '{')
        && !(allow_array && tg_json_is_next(&cursor, '[')))
    {
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

/*
 * Reads the value of a pair: the text itself, a file (@FILE), or standard
 * input (-).
 */
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

/* Returns the schema of a property, or an absent string. */
static tg_str_t
tg_cli_schema_find_property(tg_str_t root, tg_str_t name)
{
    tg_str_t key, property;

    return tg_schema_query_property(root, root, name, NULL, &key, &property)
                   == TG_OK
               ? tg_cli_schema_pick_alternative(root, property)
               : TG_STR_NONE;
}

/*
 * Returns the raw type of a schema that does not allow strings, else an absent
 * string.
 */
static tg_str_t
tg_cli_schema_get_json_type(tg_str_t root, tg_str_t schema)
{
    tg_str_t type, value;
    tg_json_cursor_t json;
    int n;

    type = tg_cli_schema_get_keyword(root, schema, "type");

    if (type.data != NULL) {
        return tg_cli_json_has_string(type, TG_STR("string")) ? TG_STR_NONE
                                                              : type;
    }

    tg_json_iter_init(&json, tg_cli_schema_get_keyword(root, schema, "enum"));

    for (n = 0; tg_json_iter_next(&json, &value); n++) {
        if (tg_json_type(value) == TG_JSON_STRING) {
            return TG_STR_NONE;
        }
    }

    return n != 0 ? TG_STR("JSON") : TG_STR_NONE;
}

/* Appends a value: as JSON if the type is present, else as a string. */
static int
tg_cli_pair_write_value(const tg_cli_pair_t *pair, tg_str_t value,
                        tg_str_t type, tg_buf_t *json)
{
    if (!pair->is_json && type.data == NULL) {
        tg_json_write_string(json, value);
        return TG_CLI_EXIT_OK;
    }

    if (tg_json_validate(value, NULL) == TG_OK) {
        tg_buf_append_str(json, value);
        return TG_CLI_EXIT_OK;
    }

    if (pair->is_json) {
        return tg_cli_tool_args_check_json(value, "the value of ", pair->key);
    }

    return tg_cli_error("%.*s must be of type %.*s, not \"%.*s\"",
                        (int) pair->key.len, pair->key.data, (int) type.len,
                        type.data, (int) value.len, value.data);
}

/* Checks whether a value is a whole JSON array. */
static int
tg_cli_is_json_array(tg_str_t value)
{
    tg_json_cursor_t cursor;

    tg_json_init(&cursor, value);

    return tg_json_is_next(&cursor, '[')
           && tg_json_validate(value, NULL) == TG_OK;
}

/*
 * Finds the next pair with a key, from args[i] on.  Returns its index, or
 * nargs.
 */
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

/*
 * Appends the values of all pairs with a key, from args[i] on, as an array;
 * text is the value of the first pair.
 */
static int
tg_cli_pairs_write_array(char **args, int nargs, int i, tg_str_t key,
                         tg_str_t type, tg_buf_t *text, tg_buf_t *json)
{
    tg_cli_pair_t pair;
    int rc;

    tg_buf_append_char(json, '[');
    (void) tg_cli_pair_parse(args[i], &pair);

    for (rc = TG_CLI_EXIT_OK; rc == TG_CLI_EXIT_OK; /* void */) {
        rc = tg_cli_pair_write_value(&pair, tg_buf_view(text), type, json);
        i = tg_cli_pair_find_next(args, nargs, i + 1, key, &pair);

        if (rc != TG_CLI_EXIT_OK || i == nargs) {
            break;
        }

        tg_buf_append_char(json, ',');
        tg_buf_truncate(text, 0);
        rc = tg_cli_pair_read_value(&pair, text);
    }

    tg_buf_append_char(json, ']');

    return rc;
}

/*
 * Appends the argument for a key: one value, or an array of all values if the
 * pairs are written with += or the schema requires an array.
 */
static int
tg_cli_pairs_write_argument(char **args, int nargs, int i, tg_str_t root,
                            tg_buf_t *json)
{
    int wants_array, has_more, rc;
    tg_cli_pair_t pair, other;
    tg_str_t schema, type, items;
    tg_buf_t text;

    (void) tg_cli_pair_parse(args[i], &pair);
    schema = tg_cli_schema_find_property(root, pair.key);
    type = tg_cli_schema_get_json_type(root, schema);
    items = tg_cli_schema_pick_alternative(
        root, tg_cli_schema_get_keyword(root, schema, "items"));
    wants_array = tg_cli_json_has_string(type, TG_STR("array"));
    has_more = tg_cli_pair_find_next(args, nargs, i + 1, pair.key, &other)
               != nargs;

    if (has_more && !wants_array && !(pair.is_element && other.is_element)) {
        return tg_cli_error("%.*s is given twice", (int) pair.key.len,
                            pair.key.data);
    }

    tg_buf_init(&text, tg_alloc_libc());
    rc = tg_cli_pair_read_value(&pair, &text);

    if (rc == TG_CLI_EXIT_OK) {
        rc = pair.is_element || has_more
                     || (wants_array && !pair.is_json
                         && !tg_cli_is_json_array(tg_buf_view(&text)))
                 ? tg_cli_pairs_write_array(
                     args, nargs, i, pair.key,
                     tg_cli_schema_get_json_type(root, items), &text, json)
                 : tg_cli_pair_write_value(&pair, tg_buf_view(&text), type,
                                           json);
    }

    tg_buf_deinit(&text);

    return rc;
}

/*
 * Checks whether the schema has a key; an unknown key is an error only if the
 * schema does not allow further keys.
 */
static int
tg_cli_pair_check_key(const tg_cli_pair_t *pair, tg_str_t schema)
{
    tg_str_t properties, key, value;
    tg_buf_t text;
    int is_closed, is_near, rc;

    rc = tg_schema_query_property(schema, schema, pair->key, NULL, &key,
                                  &value);

    if (rc == TG_OK
        || !tg_json_has_member(schema, TG_STR("properties"), TG_JSON_OBJECT,
                               &properties)
        || tg_json_get_member(schema, TG_STR("patternProperties"), &value)
               == TG_OK)
    {
        return TG_CLI_EXIT_OK;
    }

    is_near = pair->key.len >= TG_CLI_SUGGEST_LEN_MIN;
    is_closed = rc == TG_MISSING && tg_schema_query_is_closed(schema);
    tg_buf_init(&text, tg_alloc_libc());

    if (is_closed || is_near) {
        tg_cli_append_key_suggestion(&text, pair->key, properties);
    }

    if (is_closed || text.len != 0) {
        (void) tg_cli_error("%s\"%.*s\"%.*s",
                            is_closed ? "unknown argument "
                                      : "note: the tool's schema does not "
                                        "define ",
                            (int) pair->key.len, pair->key.data, (int) text.len,
                            tg_buf_view(&text).data);
    }

    tg_buf_deinit(&text);

    return is_closed ? TG_CLI_EXIT_FAILED : TG_CLI_EXIT_OK;
}

static int
tg_cli_tool_args_write_pairs(char **args, int nargs, tg_str_t schema,
                             tg_buf_t *json)
{
    tg_cli_pair_t pair, other;
    int i, rc;

    tg_buf_append_char(json, '{');

    for (i = 0; i < nargs; i++) {
        rc = tg_cli_pair_parse(args[i], &pair);

        if (rc == TG_CLI_EXIT_OK) {
            rc = tg_cli_pair_check_key(&pair, schema);
        }

        if (rc != TG_CLI_EXIT_OK) {
            return rc;
        }

        /* This pair has been written with the first pair of its key. */
        if (tg_cli_pair_find_next(args, i, 0, pair.key, &other) != i) {
            continue;
        }

        tg_buf_append_cstr(json, i != 0 ? "," : "");
        tg_json_write_string(json, pair.key);
        tg_buf_append_char(json, ':');
        rc = tg_cli_pairs_write_argument(args, nargs, i, schema, json);

        if (rc != TG_CLI_EXIT_OK) {
            return rc;
        }
    }

    tg_buf_append_char(json, '}');

    return tg_buf_has_failed(json) ? tg_cli_error_nomem() : TG_CLI_EXIT_OK;
}

int
tg_cli_tool_args_write_json(char **args, int nargs, tg_str_t schema,
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
