/* Parser for config values that contain variables. */
#include "catalog/tg_template.h"

static int
tg_variable_is_name_char(char c)
{
    return tg_is_alpha(c) || tg_is_digit(c) || c == '_';
}

static int
tg_template_parse_variable(tg_str_t rest, tg_template_token_t *token)
{
    size_t start, end;
    int has_brace;

    has_brace = rest.len > 1 && rest.data[1] == '{';
    start = has_brace ? 2 : 1;

    for (end = start; end < rest.len; end++) {
        if (!tg_variable_is_name_char(rest.data[end])
            && !(has_brace && tg_is_one_of(rest.data[end], ".-")))
        {
            break;
        }
    }

    if (end == start
        || (has_brace && (end == rest.len || rest.data[end] != '}'))) {
        return TG_INVALID;
    }

    token->name = tg_str(rest.data + start, end - start);
    token->text = tg_str(rest.data, end + (has_brace ? 1 : 0));

    return TG_OK;
}

int
tg_template_next(tg_str_t *rest, tg_template_token_t *token)
{
    const char *dollar;
    size_t len;

    if (rest->len == 0) {
        return TG_END;
    }

    if (rest->data[0] != '$') {
        dollar = memchr(rest->data, '$', rest->len);
        len = dollar != NULL ? (size_t) (dollar - rest->data) : rest->len;
        *token = (tg_template_token_t){ tg_str(rest->data, len), TG_STR_NONE };

    } else if (rest->len > 1 && rest->data[1] == '$') {
        len = 2;
        *token = (tg_template_token_t){ tg_str(rest->data + 1, 1),
                                        TG_STR_NONE };

    } else if (tg_template_parse_variable(*rest, token) == TG_OK) {
        len = token->text.len;

    } else {
        return TG_INVALID;
    }

    *rest = tg_str_skip(*rest, len);

    return TG_OK;
}

tg_variable_type_t
tg_variable_get_type(tg_str_t name, tg_str_t *path)
{
    static const struct {
        tg_str_t prefix;
        tg_variable_type_t kind;
    } kinds[] = {
        { TG_STR_INIT("tool_arg_"), TG_VARIABLE_ARG },
        { TG_STR_INIT("tool_json_"), TG_VARIABLE_JSON },
        { TG_STR_INIT("tool_has_"), TG_VARIABLE_HAS },
    };
    size_t i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (name.len > kinds[i].prefix.len
            && tg_str_has_prefix_nocase(name, kinds[i].prefix))
        {
            *path = tg_str_skip(name, kinds[i].prefix.len);
            return kinds[i].kind;
        }
    }

    return TG_VARIABLE_OTHER;
}

int
tg_variable_has_special_chars(tg_str_t name)
{
    return !tg_str_is_word(name, "_");
}

int
tg_variable_next_member(tg_str_t *path, tg_str_t *name)
{
    const char *dot;
    size_t len;

    if (path->data == NULL) {
        return TG_END;
    }

    dot = path->len != 0 ? memchr(path->data, '.', path->len) : NULL;
    len = dot != NULL ? (size_t) (dot - path->data) : path->len;
    *name = tg_str(path->data, len);
    *path = dot != NULL ? tg_str(dot + 1, path->len - len - 1) : TG_STR_NONE;

    return name->len != 0 ? TG_OK : TG_INVALID;
}

int
tg_variable_is_named(tg_str_t name, tg_str_t key)
{
    size_t i;
    char c;

    if (name.len != key.len) {
        return 0;
    }

    if (tg_str_eq(name, key)) {
        return 1;
    }

    for (i = 0; i < name.len; i++) {
        c = tg_to_lower(key.data[i]);

        if (tg_to_lower(name.data[i]) != c
            && !(tg_is_one_of(c, "-.") && name.data[i] == '_'))
        {
            return 0;
        }
    }

    return 1;
}
