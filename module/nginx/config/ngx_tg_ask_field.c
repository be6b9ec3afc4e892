/* Fields of a form: directives become properties of a schema. */
#include "nginx/config/ngx_tg_ask_field.h"

#include "nginx/config/ngx_tg_spec.h"

/* A type of field, and the members that it has in the schema. */
typedef struct {
    const char *name;
    const char *type;
    const char *format; /* NULL: none */
    const char *min;    /* keyword of `min`; NULL: not allowed */
    const char *max;
} ngx_tg_ask_field_type_t;

static const ngx_tg_ask_field_type_t ngx_tg_ask_field_types[] = {
    { "string", "string", NULL, "minLength", "maxLength" },
    { "email", "string", "email", "minLength", "maxLength" },
    { "uri", "string", "uri", "minLength", "maxLength" },
    { "date", "string", "date", NULL, NULL },
    { "date-time", "string", "date-time", NULL, NULL },
    { "integer", "integer", NULL, "minimum", "maximum" },
    { "number", "number", NULL, "minimum", "maximum" },
    { "boolean", "boolean", NULL, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static const ngx_tg_ask_field_type_t *
ngx_tg_ask_field_type_find(const ngx_str_t *word)
{
    const ngx_tg_ask_field_type_t *type;

    for (type = ngx_tg_ask_field_types; type->name != NULL; type++) {
        if (ngx_strcmp(word->data, type->name) == 0) {
            return type;
        }
    }

    return NULL;
}

static ngx_uint_t
ngx_tg_is_json_number(const ngx_str_t *text, ngx_uint_t is_integer)
{
    tg_str_t raw;

    raw = ngx_tg_str_from_ngx(text);

    return tg_json_validate(raw, NULL) == TG_OK
           && tg_json_type(raw) == TG_JSON_NUMBER
           && (!is_integer || tg_str_find_char(raw, ".eE") == raw.len);
}

/* Appends the words of a list that commas separate as a JSON array. */
static ngx_int_t
ngx_tg_ask_field_write_list(tg_buf_t *json, const char *key, tg_str_t list)
{
    size_t len;

    tg_json_begin_member(json, key);
    tg_buf_append_char(json, '[');

    for (;;) {
        len = tg_str_find_char(list, ",");

        if (len == 0) {
            return NGX_DECLINED;
        }

        tg_json_begin_element(json);
        tg_json_write_string(json, tg_str(list.data, len));

        if (len == list.len) {
            break;
        }

        list = tg_str_skip(list, len + 1);
    }

    tg_buf_append_char(json, ']');

    return NGX_OK;
}

static ngx_int_t
ngx_tg_ask_field_write_default(tg_buf_t *json,
                               const ngx_tg_ask_field_type_t *type,
                               const ngx_str_t *text)
{
    tg_str_t value;

    value = ngx_tg_str_from_ngx(text);

    if (ngx_strcmp(type->type, "string") == 0) {
        tg_json_add_string(json, "default", value);
        return NGX_OK;
    }

    if (ngx_strcmp(type->type, "boolean") == 0
            ? !tg_str_eq(value, TG_STR("true"))
                  && !tg_str_eq(value, TG_STR("false"))
            : !ngx_tg_is_json_number(text, type->type[0] == 'i'))
    {
        return NGX_DECLINED;
    }

    tg_json_add_raw(json, "default", value);

    return NGX_OK;
}

/*
 * Adds the i-th word to the property. NGX_DECLINED: the word is invalid for the
 * type. *is_required is set if it says so.
 */
static ngx_int_t
ngx_tg_ask_field_add_word(tg_buf_t *json, const ngx_tg_ask_field_type_t *type,
                          ngx_str_t *word, ngx_uint_t *is_required)
{
    ngx_uint_t is_string;
    const char *keyword;
    ngx_str_t text;

    is_string = ngx_strcmp(type->type, "string") == 0;

    if (ngx_strcmp(word->data, "required") == 0) {
        *is_required = 1;
        return NGX_OK;
    }

    if (ngx_tg_arg_has_name(word, "title=", &text)) {
        tg_json_add_string(json, "title", ngx_tg_str_from_ngx(&text));
        return NGX_OK;
    }

    if (ngx_tg_arg_has_name(word, "description=", &text)) {
        tg_json_add_string(json, "description", ngx_tg_str_from_ngx(&text));
        return NGX_OK;
    }

    if (ngx_tg_arg_has_name(word, "default=", &text)) {
        return ngx_tg_ask_field_write_default(json, type, &text);
    }

    if (ngx_tg_arg_has_name(word, "one_of=", &text)) {
        return is_string && type->format == NULL
                   ? ngx_tg_ask_field_write_list(json, "enum",
                                                 ngx_tg_str_from_ngx(&text))
                   : NGX_DECLINED;
    }

    keyword = ngx_tg_arg_has_name(word, "min=", &text)   ? type->min
              : ngx_tg_arg_has_name(word, "max=", &text) ? type->max
                                                         : NULL;

    if (keyword == NULL
        || !ngx_tg_is_json_number(&text, is_string || type->type[0] == 'i')
        || (is_string && text.data[0] == '-'))
    {
        return NGX_DECLINED;
    }

    tg_json_add_raw(json, keyword, ngx_tg_str_from_ngx(&text));

    return NGX_OK;
}

/* Writes the property of the current directive. */
static char *
ngx_tg_ask_field_write(ngx_conf_t *cf, const ngx_tg_ask_field_type_t *type,
                       tg_buf_t *json, ngx_uint_t *is_required)
{
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;
    tg_buf_append_char(json, '{');
    tg_json_add_cstr(json, "type", type->type);

    if (type->format != NULL) {
        tg_json_add_cstr(json, "format", type->format);
    }

    for (i = 3; i < cf->args->nelts; i++) {
        if (ngx_tg_ask_field_add_word(json, type, &value[i], is_required)
            != NGX_OK) {
            return ngx_tg_conf_error(
                cf,
                "invalid \"%V\" in \"field\" of type \"%V\"; write "
                "\"required\", title=TEXT, description=TEXT, default=VALUE, "
                "min=N or max=N where the type has them, or one_of=A,B for a "
                "string",
                &value[i], &value[2]);
        }
    }

    tg_buf_append_char(json, '}');

    return NGX_CONF_OK;
}

/* Adds a property that was written to the parts of the schema. */
static char *
ngx_tg_ask_fields_add(ngx_conf_t *cf, ngx_tg_ask_fields_t *fields,
                      const tg_buf_t *property, ngx_uint_t is_required)
{
    static ngx_command_t cmd = { .name = ngx_string("field") };
    ngx_str_t *value, text;
    ngx_int_t rc;
    tg_buf_t name;
    char *rv;

    value = cf->args->elts;

    if (ngx_tg_conf_copy_buf(cf, property, &text) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_tg_conf_add_json_member(cf, &cmd, &fields->properties,
                                     ngx_tg_str_from_ngx(&value[1]),
                                     ngx_tg_str_from_ngx(&text));

    if (rv != NGX_CONF_OK || !is_required) {
        return rv;
    }

    tg_buf_init(&name, tg_alloc_libc());
    tg_json_write_string(&name, ngx_tg_str_from_ngx(&value[1]));
    rc = ngx_tg_conf_append_json(cf, &fields->required, "[]", &name);
    tg_buf_deinit(&name);

    return ngx_tg_conf_result(rc);
}

char *
ngx_tg_ask_add_field(ngx_conf_t *cf, ngx_tg_ask_fields_t *fields)
{
    const ngx_tg_ask_field_type_t *type;
    ngx_uint_t is_required;
    ngx_str_t *value;
    tg_buf_t property;
    char *rv;

    value = cf->args->elts;

    if (cf->args->nelts < 3
        || !tg_str_is_word(ngx_tg_str_from_ngx(&value[1]), "_-"))
    {
        return ngx_tg_conf_error(cf,
                                 "invalid \"field\"; write its name, of "
                                 "letters, digits, \"_\" and \"-\", and its "
                                 "type, such as \"field reason string "
                                 "required\"");
    }

    type = ngx_tg_ask_field_type_find(&value[2]);

    if (type == NULL) {
        return ngx_tg_conf_error(cf,
                                 "invalid type \"%V\" in \"field\"; write "
                                 "string, email, uri, date, date-time, "
                                 "integer, number or boolean",
                                 &value[2]);
    }

    is_required = 0;
    tg_buf_init(&property, tg_alloc_libc());
    rv = ngx_tg_ask_field_write(cf, type, &property, &is_required);

    if (rv == NGX_CONF_OK) {
        rv = ngx_tg_ask_fields_add(cf, fields, &property, is_required);
    }

    tg_buf_deinit(&property);

    return rv;
}

const char *
ngx_tg_ask_check_schema(tg_str_t schema)
{
    static const char *const types[] = { "string",  "number", "integer",
                                         "boolean", "array",  NULL };
    tg_str_t value, properties, key, property;
    tg_json_cursor_t json;

    if (!tg_json_has_member(schema, TG_STR("type"), TG_JSON_STRING, &value)
        || !tg_json_string_eq(value, TG_STR("object"))
        || !tg_json_has_member(schema, TG_STR("properties"), TG_JSON_OBJECT,
                               &properties))
    {
        return "of a form must be {\"type\":\"object\",\"properties\":{…}}";
    }

    tg_json_iter_init_members(&json, properties);

    while (tg_json_iter_next_member(&json, &key, &property)) {
        if (!tg_json_has_member(property, TG_STR("type"), TG_JSON_STRING,
                                &value)
            || tg_json_string_find(value, types) < 0)
        {
            return "of a form may only have properties of the types string, "
                   "number, integer, boolean, and array of strings";
        }
    }

    return NULL;
}
