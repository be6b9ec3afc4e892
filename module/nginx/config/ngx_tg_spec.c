/* Directives of options that a table describes. */
#include "nginx/config/ngx_tg_spec.h"

static ngx_command_t *
ngx_tg_spec_add_command(ngx_command_t *command, const tg_json_field_t *field,
                        const char *name, ngx_uint_t contexts, size_t offset)
{
    command->name.data = (u_char *) (uintptr_t) name;
    command->name.len = ngx_strlen(name);
    command->type = contexts
                    | (field->type == TG_FIELD_BITS ? NGX_CONF_1MORE
                                                    : NGX_CONF_TAKE1);
    command->set = ngx_tg_spec_set;
    command->conf = NGX_STREAM_SRV_CONF_OFFSET;
    command->offset = offset;
    command->post = (void *) (uintptr_t) field;

    return command + 1;
}

void
ngx_tg_spec_add_commands(ngx_command_t *commands, const tg_json_field_t *fields,
                         ngx_uint_t contexts, size_t offset)
{
    const tg_spec_option_t *option;

    while (commands->name.len != 0) {
        commands++;
    }

    for (; fields->name != NULL; fields++) {
        option = fields->option;

        if (option == NULL) {
            continue;
        }

        commands = ngx_tg_spec_add_command(commands, fields, option->directive,
                                           contexts, offset);

        if (option->inherited != NULL && contexts == NGX_STREAM_TOOL_CONF) {
            commands = ngx_tg_spec_add_command(
                commands, fields, option->inherited,
                NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF, offset);
        }
    }
}

/* Parses one argument. Returns NGX_OK, or NGX_ERROR if it is invalid. */
static ngx_int_t
ngx_tg_spec_parse(const tg_json_field_t *field, ngx_str_t *text, int64_t *value)
{
    int64_t min, max, sign;
    ngx_str_t digits;

    min = ngx_max(field->min, field->option->min);
    max = field->type == TG_FIELD_BITS ? 255 : field->max;
    digits = *text;
    sign = 1;

    switch (field->option->syntax) {
    case TG_SPEC_WORD:
        for (*value = 0; field->words[*value] != NULL; (*value)++) {
            if (ngx_strcmp(text->data, field->words[*value]) == 0) {
                return NGX_OK;
            }
        }

        return NGX_ERROR;

    case TG_SPEC_SIZE:
        *value = ngx_parse_offset(text);
        break;

    case TG_SPEC_TIME_OR_OFF:
        if (ngx_strcmp(text->data, "off") == 0) {
            *value = 0;
            return NGX_OK;
        }

        /* fall through */

    case TG_SPEC_TIME:
        *value = (ngx_msec_int_t) ngx_parse_time(text, 0);
        break;

    default:
        if (digits.len > 1 && digits.data[0] == '-' && min < 0) {
            sign = -1;
            digits.data++;
            digits.len--;
        }

        *value = ngx_atoi(digits.data, digits.len);
    }

    if (*value == NGX_ERROR) {
        return NGX_ERROR;
    }

    *value *= sign;

    return *value >= min && *value <= max ? NGX_OK : NGX_ERROR;
}

char *
ngx_tg_spec_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    const tg_json_field_t *field = cmd->post;

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
        if (ngx_tg_spec_parse(field, &value[i], &number) != NGX_OK) {
            return ngx_tg_conf_error(cf,
                                     "invalid %s \"%V\" in \"%V\"; write %s",
                                     field->option->noun, &value[i], &cmd->name,
                                     field->option->expected);
        }

        if (field->type == TG_FIELD_BITS) {
            set->is_set = 1;
            set->bits[number / 32] |= UINT32_C(1) << number % 32;
        } else {
            *(int64_t *) (void *) set = number;
        }
    }

    return NGX_CONF_OK;
}
