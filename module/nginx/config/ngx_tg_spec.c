/* Directives of options that a table describes; the parser of their values. */
#include "nginx/config/ngx_tg_spec.h"

#include "base/tg_utf8.h"

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

void
ngx_tg_commands_append(ngx_command_t *commands, const ngx_command_t *more)
{
    while (commands->name.len != 0) {
        commands++;
    }

    while (more->name.len != 0) {
        *commands++ = *more++;
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

        /* Months and years can only be parsed as seconds. */
        if (number == NGX_ERROR) {
            number = ngx_parse_time(&s, 1);
            number = number < 0 || number > max / 1000 ? NGX_ERROR
                                                       : number * 1000;
        }

        break;

    case TG_SPEC_RATE:
        return ngx_tg_arg_parse_rate(&s, min, max, value);

    default:
        is_negative = min < 0 && s.len > 1 && s.data[0] == '-';
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
ngx_tg_spec_get_min(const tg_json_field_t *field)
{
    return field->option->min != 0 ? field->option->min : field->min;
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
            if (option->syntax == TG_SPEC_WORD
                    ? ngx_strcmp(text->data, words[*value]) == 0
                    : ngx_strcasecmp(text->data, (u_char *) words[*value]) == 0)
            {
                *value += option->syntax == TG_SPEC_WORD
                          && field->type == TG_FIELD_BOOL;
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
                                ngx_tg_spec_get_min(field),
                                ngx_tg_spec_get_max(field), value);
    }
}

/* Stores a text as JSON. Returns NGX_OK, or NGX_ERROR if it is invalid. */
static ngx_int_t
ngx_tg_spec_store_text(ngx_conf_t *cf, const tg_json_field_t *field,
                       const ngx_str_t *text, tg_str_t *value)
{
    const tg_spec_syntax_t syntax = field->option->syntax;

    u_char *p, *last, *end;
    ngx_str_t copy;
    tg_buf_t json;
    ngx_int_t rc;

    if (text->len == 0 || !tg_utf8_is_valid(ngx_tg_str_from_ngx(text))) {
        return NGX_ERROR;
    }

    tg_buf_init(&json, tg_alloc_libc());

    if (value->data != NULL) {
        tg_buf_append(&json, value->data, value->len - 1);
        tg_buf_append_char(&json, ',');
    } else if (syntax != TG_SPEC_TEXT) {
        tg_buf_append_char(&json, '[');
    }

    last = text->data + text->len;

    for (p = text->data; p <= last; p = end + 1) {
        end = syntax == TG_SPEC_LIST ? ngx_strlchr(p, last, ',') : NULL;
        end = end != NULL ? end : last;
        tg_buf_append_cstr(&json, p != text->data ? "," : "");
        tg_json_write_string(&json, tg_str((char *) p, (size_t) (end - p)));
    }

    tg_buf_append_cstr(&json, syntax != TG_SPEC_TEXT ? "]" : "");
    rc = ngx_tg_conf_copy_buf(cf, &json, &copy);
    tg_buf_deinit(&json);

    if (rc == NGX_OK) {
        *value = ngx_tg_str_from_ngx(&copy);
    }

    return rc;
}

/* Stores the value of a row. Returns NGX_OK, or NGX_ERROR if it is invalid. */
static ngx_int_t
ngx_tg_spec_store(ngx_conf_t *cf, const tg_json_field_t *field,
                  const ngx_str_t *text, void *object)
{
    tg_field_bits_t *bits;
    int64_t number;
    void *value;

    value = (u_char *) object + field->offset;

    if (field->type <= TG_FIELD_STRINGS) {
        return ngx_tg_spec_store_text(cf, field, text, value);
    }

    if (ngx_tg_spec_parse(field, text, &number) != NGX_OK) {
        return NGX_ERROR;
    }

    if (field->type != TG_FIELD_BITS) {
        *(int64_t *) value = number;
        return NGX_OK;
    }

    bits = value;
    bits->is_set = 1;
    bits->bits[number / 32] |= UINT32_C(1) << number % 32;

    return NGX_OK;
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
    static const char *const nouns[] = {
        [TG_SPEC_SIZE] = "size",        [TG_SPEC_SIZE_OR_OFF] = "size",
        [TG_SPEC_NUMBER] = "number",    [TG_SPEC_TIME] = "time",
        [TG_SPEC_TIME_OR_OFF] = "time", [TG_SPEC_WORD] = "value",
        [TG_SPEC_FLAG] = "value",       [TG_SPEC_TEXT] = "value",
        [TG_SPEC_TEXTS] = "value",      [TG_SPEC_LIST] = "value",
        [TG_SPEC_RATE] = "rate",        [TG_SPEC_NUMBERS] = "status",
    };

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
                         ngx_tg_spec_get_min(field),
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

    for (; (option = field->option) != NULL && option->parameter != NULL;
         field++) {
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
 * Sets a parameter of the directive whose first row is `field`; `first` is the
 * row of the first parameter, whose error message applies to other words.
 */
static char *
ngx_tg_spec_set_parameter(ngx_conf_t *cf, ngx_command_t *cmd,
                          const tg_json_field_t *field,
                          const tg_json_field_t *first, const ngx_str_t *word,
                          void *object)
{
    const tg_json_field_t *row;
    ngx_str_t value;

    row = ngx_tg_spec_find_parameter(first, word, &value);

    if (row == NULL) {
        return ngx_tg_spec_conf_error(cf, cmd, field, first, word);
    }

    if (row->option->syntax != TG_SPEC_TEXTS && tg_spec_is_set(row, object)) {
        return field->option->noun != NULL && *field->option->noun == '\0'
                   ? ngx_tg_spec_conf_error(cf, cmd, field, row, word)
                   : ngx_tg_conf_error(cf,
                                       "invalid parameter \"%V\" in \"%V\"; "
                                       "it is given twice",
                                       word, &cmd->name);
    }

    if (row->option->syntax == TG_SPEC_FLAG) {
        *(int64_t *) (void *) ((u_char *) object + row->offset) = 1;
        return NGX_CONF_OK;
    }

    return ngx_tg_spec_store(cf, row, &value, object) == NGX_OK
               ? NGX_CONF_OK
               : ngx_tg_spec_conf_error(cf, cmd, field, row, word);
}

char *
ngx_tg_spec_set_words(ngx_conf_t *cf, ngx_command_t *cmd, ngx_uint_t i,
                      const tg_json_field_t *field, void *object)
{
    const tg_json_field_t *first;
    ngx_uint_t is_value;
    ngx_str_t *value;
    char *rv;

    value = cf->args->elts;
    is_value = field->option->parameter == NULL;
    first = is_value ? field + 1 : field;
    rv = NGX_CONF_OK;

    for (; rv == NGX_CONF_OK && i < cf->args->nelts; i++) {
        if (!is_value) {
            rv = ngx_tg_spec_set_parameter(cf, cmd, field, first, &value[i],
                                           object);
            continue;
        }

        if (ngx_tg_spec_store(cf, field, &value[i], object) != NGX_OK) {
            rv = ngx_tg_spec_conf_error(cf, cmd, field, field, &value[i]);
        }

        is_value = field->type == TG_FIELD_BITS;
    }

    tg_spec_set_parameter_defaults(field, object);

    return rv;
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

    void *object;

    object = (u_char *) conf + cmd->offset;

    return tg_spec_is_set(field, object)
               ? "is duplicate"
               : ngx_tg_spec_set_words(cf, cmd, 1, field, object);
}
