#include "client/tg_cli_args.h"

#include "client/tg_cli.h"
#include "client/tg_cli_input.h"
#include "client/tg_cli_text.h"
#include "client/tg_cli_tools.h"
#include "base/tg_utf8.h"

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

/* --- one JSON text --- */

static int
tg_cli_args_whole(tg_str_t text, const char *where, int allow_array,
                  tg_buf_t *json)
{
    tg_json_t cursor;
    const char *why;

    if (tg_json_check(text, &why) != TG_OK) {
        return tg_cli_error("%s is no JSON: %s", where, why);
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

typedef struct {
    tg_str_t key;
    tg_str_t value;
    int is_json; /* key:=value */
} tg_cli_pair_t;

static int
tg_cli_pair_parse(const char *arg, tg_cli_pair_t *pair)
{
    const char *equals;
    size_t len;

    equals = strchr(arg, '=');
    len = equals != NULL ? (size_t) (equals - arg) : 0;
    pair->is_json = len != 0 && arg[len - 1] == ':';
    pair->key = tg_str(arg, len - (size_t) pair->is_json);
    pair->value = tg_str_c(equals != NULL ? equals + 1 : "");

    if (pair->key.len == 0) {
        return tg_cli_error(
            "\"%s\" is no argument: write key=value, key:=JSON, "
            "one JSON object, or - to read it from standard "
            "input",
            arg);
    }

    return tg_utf8_is_valid(tg_str_c(arg))
               ? TG_CLI_DONE
               : tg_cli_error("\"%s\" is not valid UTF-8", arg);
}

/* The type that a schema gives a property, raw, when it is no string. */
static tg_str_t
tg_cli_pair_type(const tg_cli_pair_t *pair, tg_str_t schema)
{
    tg_str_t properties, property, type;

    if (schema.data == NULL
        || tg_json_get(schema, TG_STR("properties"), &properties) != TG_OK
        || tg_json_get(properties, pair->key, &property) != TG_OK
        || tg_json_get(property, TG_STR("type"), &type) != TG_OK
        || tg_cli_is_among(type, TG_STR("string")))
    {
        return TG_STR_NONE;
    }

    return type;
}

static int
tg_cli_pair_put(const tg_cli_pair_t *pair, tg_str_t schema, tg_buf_t *json)
{
    const char *why;
    tg_str_t type;

    type = tg_cli_pair_type(pair, schema);

    if (!pair->is_json && type.data == NULL) {
        tg_json_put_string(json, pair->value);
        return TG_CLI_DONE;
    }

    if (tg_json_check(pair->value, &why) == TG_OK) {
        tg_buf_str(json, pair->value);
        return TG_CLI_DONE;
    }

    if (pair->is_json) {
        return tg_cli_error("the value of %.*s is no JSON: %s",
                            (int) pair->key.len, pair->key.data, why);
    }

    return tg_cli_error("%.*s is to be of type %.*s, which \"%.*s\" is not",
                        (int) pair->key.len, pair->key.data, (int) type.len,
                        type.data, (int) pair->value.len, pair->value.data);
}

static int
tg_cli_args_pairs(char **args, int nargs, tg_str_t schema, tg_buf_t *json)
{
    tg_cli_pair_t pair, other;
    int i, j, rc;

    tg_buf_char(json, '{');

    for (i = 0; i < nargs; i++) {
        rc = tg_cli_pair_parse(args[i], &pair);

        if (rc != TG_CLI_DONE) {
            return rc;
        }

        for (j = 0; j < i; j++) {
            if (tg_cli_pair_parse(args[j], &other) == TG_CLI_DONE
                && tg_str_eq(pair.key, other.key))
            {
                return tg_cli_error("%.*s is given twice", (int) pair.key.len,
                                    pair.key.data);
            }
        }

        tg_buf_text(json, i != 0 ? "," : "");
        tg_json_put_string(json, pair.key);
        tg_buf_char(json, ':');
        rc = tg_cli_pair_put(&pair, schema, json);

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
