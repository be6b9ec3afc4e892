/* Directives of options that a table describes; the parser of their values. */
#include "nginx/config/ngx_tg_spec.h"

/* --- commands --- */

static ngx_command_t *
ngx_tg_spec_add_command(ngx_command_t *command, const tg_json_field_t *field,
                        const char *name, ngx_uint_t contexts, size_t offset,
                        ngx_tg_spec_set_pt set)
{
    ngx_uint_t has_parameters;

    has_parameters = field[1].option != NULL
                     && field[1].option->parameter != NULL;
    command->name.data = (u_char *) (uintptr_t) name;
    command->name.len = ngx_strlen(name);
    command->type = contexts
                    | (field->type == TG_FIELD_BITS || has_parameters
                           ? NGX_CONF_1MORE
                           : NGX_CONF_TAKE1);
    command->set = set != NULL ? set : ngx_tg_spec_set;
    command->conf = NGX_STREAM_SRV_CONF_OFFSET;
    command->offset = offset;
    command->post = (void *) (uintptr_t) field;

    return command + 1;
}

void
ngx_tg_spec_add_commands(ngx_command_t *commands, const tg_json_field_t *fields,
                         ngx_uint_t contexts, size_t offset,
                         ngx_tg_spec_set_pt set)
{
    const char *name;

    while (commands->name.len != 0) {
        commands++;
    }

    for (; fields->name != NULL; fields++) {
        if (fields->option == NULL) {
            continue;
        }

        name = contexts & NGX_STREAM_MAIN_CONF ? fields->option->inherited
                                               : fields->option->directive;

        if (name != NULL) {
            commands = ngx_tg_spec_add_command(commands, fields, name, contexts,
                                               offset, set);
        }
    }
}

/* --- values --- */

/* Parses `Nr/s` or `Nr/m` as thousandths per minute; min and max are N's. */
static ngx_int_t
ngx_tg_arg_parse_rate(ngx_str_t *text, int64_t min, int64_t max, int64_t *value)
{
    const char *unit;

    unit = (char *) text->data + text->len - 3;

    if (text->len <= 3
        || (ngx_strcmp(unit, "r/s") != 0 && ngx_strcmp(unit, "r/m") != 0))
    {
        return NGX_ERROR;
    }

    text->len -= 3;

    if (ngx_tg_arg_parse(TG_SPEC_NUMBER, text, min, max, value) != NGX_OK) {
        return NGX_ERROR;
    }

    *value *= unit[2] == 's' ? 60 * 1000 : 1000;

    return NGX_OK;
}

ngx_int_t
ngx_tg_arg_parse(tg_spec_syntax_t syntax, const ngx_str_t *text, int64_t min,
                 int64_t max, int64_t *value)
{
    ngx_str_t s;
    int64_t number;
    ngx_uint_t is_negative;

    s = *text;

    if (s.len == 0) {
        return NGX_ERROR;
    }

    switch (syntax) {
    case TG_SPEC_SIZE_OR_OFF:
    case TG_SPEC_SIZE:
        number = ngx_parse_offset(&s);
        break;

    case TG_SPEC_TIME_OR_OFF:
    case TG_SPEC_TIME:
        number = ngx_parse_time(&s, 0);
        break;

    case TG_SPEC_RATE:
        return ngx_tg_arg_parse_rate(&s, min, max, value);

    default:
        is_negative = s.len > 1 && s.data[0] == '-';
        s.data += is_negative;
        s.len -= is_negative;
        number = ngx_atoi(s.data, s.len);

        if (number != NGX_ERROR && is_negative) {
            *value = -number;
            return -number >= min ? NGX_OK : NGX_ERROR;
        }
    }

    if (number == NGX_ERROR || number < min || number > max) {
        return NGX_ERROR;
    }

    *value = number;

    return NGX_OK;
}

ngx_uint_t
ngx_tg_arg_has_name(const ngx_str_t *word, const char *name, ngx_str_t *value)
{
    size_t len;

    len = ngx_strlen(name);

    if (word->len < len || ngx_strncmp(word->data, name, len) != 0) {
        return 0;
    }

    value->data = word->data + len;
    value->len = word->len - len;

    return 1;
}

static int64_t
ngx_tg_spec_get_max(const tg_json_field_t *field)
{
    return field->type == TG_FIELD_BITS ? 255
           : field->option->max != 0    ? field->option->max
                                        : field->max;
}

/* Parses the value of a row. Returns NGX_OK, or NGX_ERROR if it is invalid. */
static ngx_int_t
ngx_tg_spec_parse(const tg_json_field_t *field, const ngx_str_t *text,
                  int64_t *value)
{
    static const char *const flags[] = { "off", "on", NULL };

    const tg_spec_option_t *option;
    const char *const *words;

    option = field->option;

    switch (option->syntax) {
    case TG_SPEC_FLAG:
    case TG_SPEC_WORD:
        words = option->syntax == TG_SPEC_WORD ? field->words : flags;

        for (*value = 0; words[*value] != NULL; (*value)++) {
            if (ngx_strcmp(text->data, words[*value]) == 0) {
                return NGX_OK;
            }
        }

        return NGX_ERROR;

    case TG_SPEC_SIZE_OR_OFF:
    case TG_SPEC_TIME_OR_OFF:
        if (ngx_strcmp(text->data, "off") == 0) {
            *value = 0;
            return NGX_OK;
        }

        /* fall through */

    default:
        return ngx_tg_arg_parse(option->syntax, text,
                                ngx_max(field->min, option->min),
                                ngx_tg_spec_get_max(field), value);
    }
}

/* --- error messages --- */

ngx_str_t
ngx_tg_conf_join_words(const char *const *words, u_char *buf, size_t size)
{
    ngx_str_t text;
    u_char *p;

    for (p = buf; *words != NULL; words++) {
        p = ngx_slprintf(p, buf + size, "%s%s", p == buf ? "" : ", ", *words);
    }

    text.data = buf;
    text.len = p - buf;

    return text;
}

/* Logs an error in a word of a directive, whose first row is `field`. */
static char *
ngx_tg_spec_conf_error(ngx_conf_t *cf, ngx_command_t *cmd,
                       const tg_json_field_t *field, const tg_json_field_t *row,
                       const ngx_str_t *word)
{
    static const char *const nouns[] = { "size",  "size", "number",
                                         "time",  "time", "value",
                                         "value", "rate", "status" };

    const tg_spec_option_t *option;
    u_char text[512], list[64], *p;
    ngx_str_t words;
    const char *noun;

    option = row->option->expected != NULL ? row->option : field->option;
    noun = option->noun != NULL ? option->noun : nouns[option->syntax];

    if (option->expected != NULL) {
        p = ngx_slprintf(text, text + sizeof(text), option->expected,
                         &cmd->name, &cmd->name, &cmd->name);
    } else if (option->syntax == TG_SPEC_WORD) {
        words = ngx_tg_conf_join_words(field->words, list, sizeof(list));
        p = ngx_slprintf(text, text + sizeof(text), "one of %V", &words);
    } else if (option->syntax == TG_SPEC_FLAG) {
        p = ngx_slprintf(text, text + sizeof(text), "\"on\" or \"off\"");
    } else {
        p = ngx_slprintf(text, text + sizeof(text), "%L to %L",
                         ngx_max(field->min, option->min),
                         ngx_tg_spec_get_max(field));
    }

    return *noun == '\0'
               ? ngx_tg_conf_error(cf, "invalid \"%V\"; write %*s", &cmd->name,
                                   (size_t) (p - text), text)
               : ngx_tg_conf_error(cf, "invalid %s \"%V\" in \"%V\"; write %*s",
                                   noun, word, &cmd->name, (size_t) (p - text),
                                   text);
}

/* --- directives --- */

/*
 * Returns the row of a parameter of the directive whose first row is `field`,
 * and its value; NULL: there is none of this name.
 */
static const tg_json_field_t *
ngx_tg_spec_find_parameter(const tg_json_field_t *field, const ngx_str_t *word,
                           ngx_str_t *value)
{
    const tg_spec_option_t *option;

    for (field++; (option = field->option) != NULL && option->parameter != NULL;
         field++)
    {
        if (option->syntax == TG_SPEC_FLAG
                ? ngx_strcmp(word->data, option->parameter) == 0
                : ngx_tg_arg_has_name(word, option->parameter, value))
        {
            return field;
        }
    }

    return NULL;
}

/*
 * Sets a parameter. Returns NULL, or the row whose error message applies: the
 * first parameter's if there is none of this name.
 */
static const tg_json_field_t *
ngx_tg_spec_set_parameter(const tg_json_field_t *field, const ngx_str_t *word,
                          void *object)
{
    const tg_json_field_t *row;
    ngx_str_t value;
    int64_t number;

    row = ngx_tg_spec_find_parameter(field, word, &value);

    if (row == NULL) {
        return field + 1;
    }

    number = 1;

    if (tg_spec_is_set(row, object)
        || (row->option->syntax != TG_SPEC_FLAG
            && ngx_tg_spec_parse(row, &value, &number) != NGX_OK))
    {
        return row;
    }

    *(int64_t *) (void *) ((u_char *) object + row->offset) = number;

    return NULL;
}

char *
ngx_tg_spec_reject(ngx_conf_t *cf, ngx_command_t *cmd, ngx_uint_t i)
{
    return ngx_tg_spec_conf_error(cf, cmd, cmd->post, cmd->post,
                                  (ngx_str_t *) cf->args->elts + i);
}

char *
ngx_tg_spec_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    const tg_json_field_t *field = cmd->post;

    const tg_json_field_t *wrong;
    tg_field_bits_t *set;
    ngx_str_t *value;
    ngx_uint_t i;
    int64_t number;
    void *object;

    object = (u_char *) conf + cmd->offset;

    if (tg_spec_is_set(field, object)) {
        return "is duplicate";
    }

    value = cf->args->elts;
    set = (tg_field_bits_t *) (void *) ((u_char *) object + field->offset);

    for (i = 1; i < cf->args->nelts; i++) {
        wrong = NULL;

        if (i > 1 && field->type != TG_FIELD_BITS) {
            wrong = ngx_tg_spec_set_parameter(field, &value[i], object);
        } else if (ngx_tg_spec_parse(field, &value[i], &number) != NGX_OK) {
            wrong = field;
        } else if (field->type == TG_FIELD_BITS) {
            set->is_set = 1;
            set->bits[number / 32] |= UINT32_C(1) << number % 32;
        } else {
            *(int64_t *) (void *) set = number;
        }

        if (wrong != NULL) {
            return ngx_tg_spec_conf_error(cf, cmd, field, wrong, &value[i]);
        }
    }

    tg_spec_set_parameter_defaults(field, object);

    return NGX_CONF_OK;
}
