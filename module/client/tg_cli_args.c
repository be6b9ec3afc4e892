#include "client/tg_cli_args.h"

#include "client/tg_cli.h"
#include "client/tg_cli_input.h"
#include "client/tg_cli_text.h"
#include "client/tg_cli_tools.h"
#include "base/tg_utf8.h"
#include "schema/tg_schema_look.h"

static int
tg_cli_args_are_json(char **args, int nargs)
{
    return nargs != 0
           && (args[0][0] == '{' || args[0][0] == '['
               || strcmp(args[0], "-") == 0);
}

int
tg_cli_args_need_schema(char **args, int nargs)
{
    return nargs != 0 && !tg_cli_args_are_json(args, nargs);
}

/* Is it JSON?  Where not, says so of what it is, with its name. */
static int
tg_cli_args_explain(tg_str_t text, const char *what, tg_str_t name)
{
    tg_buf_t why;
    int rc;

    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_json_explain(text, &why) == TG_OK
             ? TG_CLI_DONE
             : tg_cli_error("%s%.*s is no JSON: %.*s", what, (int) name.len,
                            name.data, (int) why.len, tg_buf_view(&why).data);
    tg_buf_deinit(&why);

    return rc;
}

/* --- one JSON text --- */

static int
tg_cli_args_whole(tg_str_t text, const char *where, int allow_array,
                  tg_buf_t *json)
{
    tg_json_t cursor;

    if (tg_cli_args_explain(text, where, TG_STR("")) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    tg_json_init(&cursor, text);

    if (!tg_json_is_at(&cursor, '{')
        && !(allow_array && tg_json_is_at(&cursor, '[')))
    {
        return tg_cli_error(
            "%s must be a JSON object%s, such as {\"key\":\"value\"}", where,
            allow_array ? " or array" : "");
    }

    tg_buf_str(json, text);

    return tg_buf_failed(json) ? tg_cli_nomem() : TG_CLI_DONE;
}

/* --- key=value --- */

/* Shorter keys are near to too many. */
#define TG_CLI_NOTED 3

typedef struct {
    tg_str_t key;
    const char *value;
    int is_json; /* key:=value */
    int is_one;  /* key+=value: an element of an array */
} tg_cli_pair_t;

static int
tg_cli_pair_parse(const char *arg, tg_cli_pair_t *pair)
{
    const char *equals;
    size_t len;

    equals = strchr(arg, '=');
    len = equals != NULL ? (size_t) (equals - arg) : 0;
    pair->is_json = len != 0 && arg[len - 1] == ':';
    pair->is_one = len != 0 && arg[len - 1] == '+';
    pair->key = tg_str(arg, len - (size_t) (pair->is_json || pair->is_one));
    pair->value = equals != NULL ? equals + 1 : "";

    if (pair->key.len == 0) {
        return tg_cli_error(
            "\"%s\" is no argument: write key=value, key:=JSON, key+=value, "
            "key=@FILE, one JSON object, or - to read it from standard "
            "input",
            arg);
    }

    return tg_utf8_is_valid(tg_str_c(arg))
               ? TG_CLI_DONE
               : tg_cli_error("\"%s\" is not valid UTF-8", arg);
}

/* Its value: what stands there, or of a file (@FILE) or standard input (-). */
static int
tg_cli_pair_read(const tg_cli_pair_t *pair, tg_buf_t *text)
{
    const char *path;

    if (pair->value[0] != '@' && strcmp(pair->value, "-") != 0) {
        tg_buf_text(text, pair->value);
        return tg_buf_failed(text) ? tg_cli_nomem() : TG_CLI_DONE;
    }

    path = pair->value[0] == '@' ? pair->value + 1 : pair->value;

    if (tg_cli_input_read(path, text) != TG_CLI_DONE) {
        return TG_CLI_FAILED;
    }

    return tg_utf8_is_valid(tg_buf_view(text))
               ? TG_CLI_DONE
               : tg_cli_error("%s is not valid UTF-8", tg_cli_input_name(path));
}

/* The schema of a property, or absent. */
static tg_str_t
tg_cli_property(tg_str_t root, tg_str_t name)
{
    tg_str_t key, property;

    return tg_schema_look_property(root, root, name, NULL, &key, &property)
                   == TG_OK
               ? tg_cli_schema_of(root, property)
               : TG_STR_NONE;
}

/* The type that a schema gives a value, raw, when it is no string. */
static tg_str_t
tg_cli_type(tg_str_t root, tg_str_t schema)
{
    tg_str_t type, value;
    tg_json_t json;
    int n;

    type = tg_cli_keyword(root, schema, "type");

    if (type.data != NULL) {
        return tg_cli_is_among(type, TG_STR("string")) ? TG_STR_NONE : type;
    }

    tg_json_each(&json, tg_cli_keyword(root, schema, "enum"));

    for (n = 0; tg_json_item(&json, &value); n++) {
        if (tg_json_type(value) == TG_JSON_STRING) {
            return TG_STR_NONE;
        }
    }

    return n != 0 ? TG_STR("JSON") : TG_STR_NONE;
}

/* One value, of this type: JSON, or a text where that is absent. */
static int
tg_cli_value_put(const tg_cli_pair_t *pair, tg_str_t value, tg_str_t type,
                 tg_buf_t *json)
{
    if (!pair->is_json && type.data == NULL) {
        tg_json_put_string(json, value);
        return TG_CLI_DONE;
    }

    if (tg_json_check(value, NULL) == TG_OK) {
        tg_buf_str(json, value);
        return TG_CLI_DONE;
    }

    if (pair->is_json) {
        return tg_cli_args_explain(value, "the value of ", pair->key);
    }

    return tg_cli_error("%.*s is to be of type %.*s, which \"%.*s\" is not",
                        (int) pair->key.len, pair->key.data, (int) type.len,
                        type.data, (int) value.len, value.data);
}

/* Is it the whole array, as JSON? */
static int
tg_cli_is_array(tg_str_t value)
{
    tg_json_t cursor;

    tg_json_init(&cursor, value);

    return tg_json_is_at(&cursor, '[') && tg_json_check(value, NULL) == TG_OK;
}

/* The next one of a key, from the i-th on: its place, or nargs. */
static int
tg_cli_pair_next(char **args, int nargs, int i, tg_str_t key,
                 tg_cli_pair_t *pair)
{
    for (/* void */; i < nargs; i++) {
        if (tg_cli_pair_parse(args[i], pair) == TG_CLI_DONE
            && tg_str_eq(pair->key, key))
        {
            break;
        }
    }

    return i;
}

/* All of a key from the i-th on, as elements of a type; text is the first. */
static int
tg_cli_elements_put(char **args, int nargs, int i, tg_str_t key, tg_str_t type,
                    tg_buf_t *text, tg_buf_t *json)
{
    tg_cli_pair_t pair;
    int rc;

    tg_buf_char(json, '[');
    (void) tg_cli_pair_parse(args[i], &pair);

    for (rc = TG_CLI_DONE; rc == TG_CLI_DONE; /* void */) {
        rc = tg_cli_value_put(&pair, tg_buf_view(text), type, json);
        i = tg_cli_pair_next(args, nargs, i + 1, key, &pair);

        if (rc != TG_CLI_DONE || i == nargs) {
            break;
        }

        tg_buf_char(json, ',');
        tg_buf_truncate(text, 0);
        rc = tg_cli_pair_read(&pair, text);
    }

    tg_buf_char(json, ']');

    return rc;
}

/*
 * All that is given for a key: one value, or the elements of an array, where
 * they are written with +=, or the schema wants an array.
 */
static int
tg_cli_pair_put(char **args, int nargs, int i, tg_str_t root, tg_buf_t *json)
{
    int wants_array, has_more, rc;
    tg_cli_pair_t pair, other;
    tg_str_t schema, type, items;
    tg_buf_t text;

    (void) tg_cli_pair_parse(args[i], &pair);
    schema = tg_cli_property(root, pair.key);
    type = tg_cli_type(root, schema);
    items = tg_cli_schema_of(root, tg_cli_keyword(root, schema, "items"));
    wants_array = tg_cli_is_among(type, TG_STR("array"));
    has_more = tg_cli_pair_next(args, nargs, i + 1, pair.key, &other) != nargs;

    if (has_more && !wants_array && !(pair.is_one && other.is_one)) {
        return tg_cli_error("%.*s is given twice", (int) pair.key.len,
                            pair.key.data);
    }

    tg_buf_init(&text, tg_alloc_libc());
    rc = tg_cli_pair_read(&pair, &text);

    if (rc == TG_CLI_DONE) {
        rc = pair.is_one || has_more
                     || (wants_array && !pair.is_json
                         && !tg_cli_is_array(tg_buf_view(&text)))
                 ? tg_cli_elements_put(args, nargs, i, pair.key,
                                       tg_cli_type(root, items), &text, json)
                 : tg_cli_value_put(&pair, tg_buf_view(&text), type, json);
    }

    tg_buf_deinit(&text);

    return rc;
}

/* Does the schema know it, if it says that it knows all? */
static int
tg_cli_pair_check(const tg_cli_pair_t *pair, tg_str_t schema)
{
    tg_str_t properties, key, value;
    tg_buf_t text;
    int is_closed, is_near, rc;

    rc = tg_schema_look_property(schema, schema, pair->key, NULL, &key, &value);

    if (rc == TG_OK
        || !tg_json_has(schema, TG_STR("properties"), TG_JSON_OBJECT,
                        &properties)
        || tg_json_get(schema, TG_STR("patternProperties"), &value) == TG_OK)
    {
        return TG_CLI_DONE;
    }

    is_near = pair->key.len >= TG_CLI_NOTED;
    is_closed = rc == TG_MISSING && tg_schema_look_is_closed(schema);
    tg_buf_init(&text, tg_alloc_libc());

    if (is_closed || is_near) {
        tg_cli_keys_near(&text, pair->key, properties);
    }

    if (is_closed || text.len != 0) {
        (void) tg_cli_error("%s\"%.*s\"%.*s",
                            is_closed ? "there is no argument "
                                      : "note: the tool does not say that it "
                                        "knows ",
                            (int) pair->key.len, pair->key.data, (int) text.len,
                            tg_buf_view(&text).data);
    }

    tg_buf_deinit(&text);

    return is_closed ? TG_CLI_FAILED : TG_CLI_DONE;
}

static int
tg_cli_args_pairs(char **args, int nargs, tg_str_t schema, tg_buf_t *json)
{
    tg_cli_pair_t pair, other;
    int i, rc;

    tg_buf_char(json, '{');

    for (i = 0; i < nargs; i++) {
        rc = tg_cli_pair_parse(args[i], &pair);

        if (rc == TG_CLI_DONE) {
            rc = tg_cli_pair_check(&pair, schema);
        }

        if (rc != TG_CLI_DONE) {
            return rc;
        }

        /* It went with the first of its key. */
        if (tg_cli_pair_next(args, i, 0, pair.key, &other) != i) {
            continue;
        }

        tg_buf_text(json, i != 0 ? "," : "");
        tg_json_put_string(json, pair.key);
        tg_buf_char(json, ':');
        rc = tg_cli_pair_put(args, nargs, i, schema, json);

        if (rc != TG_CLI_DONE) {
            return rc;
        }
    }

    tg_buf_char(json, '}');

    return tg_buf_failed(json) ? tg_cli_nomem() : TG_CLI_DONE;
}

int
tg_cli_args_json(char **args, int nargs, tg_str_t schema, int allow_array,
                 tg_buf_t *json)
{
    tg_buf_t text;
    int is_stdin, rc;

    if (!tg_cli_args_are_json(args, nargs)) {
        return tg_cli_args_pairs(args, nargs, schema, json);
    }

    if (nargs > 1) {
        return tg_cli_error("\"%s\" is more than the one JSON text that a call "
                            "takes",
                            args[1]);
    }

    rc = TG_CLI_DONE;
    is_stdin = strcmp(args[0], "-") == 0;
    tg_buf_init(&text, tg_alloc_libc());

    if (is_stdin) {
        rc = tg_cli_input_read("-", &text);
    } else {
        tg_buf_text(&text, args[0]);
    }

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_args_whole(tg_buf_view(&text),
                               is_stdin ? "standard input" : "the argument",
                               allow_array, json);
    }

    tg_buf_deinit(&text);

    return rc;
}
