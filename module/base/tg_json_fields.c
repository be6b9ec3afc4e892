/* Reads JSON objects by a table of their members. */
#include "base/tg_json_fields.h"

size_t
tg_json_count_fields(const tg_json_field_t *fields)
{
    size_t n;

    for (n = 0; fields[n].name != NULL; n++) {
        /* void */
    }

    return n;
}

int
tg_json_split_fields(const tg_json_field_t *fields, tg_str_t text,
                     tg_str_t *values)
{
    const char *names[TG_JSON_FIELDS_MAX + 1];
    size_t i;

    for (i = 0; fields[i].name != NULL; i++) {
        names[i] = fields[i].name;
    }

    names[i] = NULL;

    return tg_json_get_members(text, names, values);
}

int
tg_json_count_strings(tg_str_t raw)
{
    tg_json_cursor_t json;
    tg_str_t body;
    int n, rc;

    if (raw.data == NULL) {
        return 0;
    }

    tg_json_init(&json, raw);
    rc = tg_json_enter_array(&json);

    for (n = 0; rc == TG_OK; n++) {
        rc = tg_json_next_element(&json);

        if (rc == TG_END) {
            return n;
        }

        if (rc == TG_OK) {
            rc = tg_json_read_string(&json, &body);
        }
    }

    return -1;
}

static int
tg_json_read_bits(tg_str_t raw, tg_field_bits_t *set)
{
    tg_json_cursor_t json;
    tg_str_t value;
    int64_t number;

    memset(set, 0, sizeof(*set));
    set->is_set = 1;

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        return TG_INVALID;
    }

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        if (tg_json_parse_int64(value, &number) != TG_OK || number < 0
            || number > 255) {
            return TG_INVALID;
        }

        set->bits[number / 32] |= UINT32_C(1) << number % 32;
    }

    return TG_OK;
}

static int
tg_json_check_raw(const tg_json_field_t *field, tg_str_t raw)
{
    switch (field->type) {
    case TG_FIELD_STRING:
        return tg_json_type(raw) == TG_JSON_STRING;
    case TG_FIELD_OBJECT:
        return tg_json_type(raw) == TG_JSON_OBJECT;
    case TG_FIELD_STRINGS:
        return tg_json_count_strings(raw) >= field->min;
    default:
        return 1;
    }
}

static int
tg_json_store_number(const tg_json_field_t *field, tg_str_t raw, int64_t *value)
{
    int64_t number;

    number = field->absent;

    if (raw.data == NULL) {
        *value = number;
        return TG_OK;
    }

    if (field->type == TG_FIELD_FLAG || field->type == TG_FIELD_BOOL) {
        number = tg_json_type(raw) == TG_JSON_TRUE    ? 1
                 : field->type == TG_FIELD_FLAG       ? 0
                 : tg_json_type(raw) == TG_JSON_FALSE ? 0
                                                      : -1;

    } else if (field->type == TG_FIELD_WORD) {
        number = tg_json_string_find(raw, field->words);

    } else if (tg_json_parse_int64(raw, &number) != TG_OK) {
        return TG_INVALID;
    }

    if (field->type == TG_FIELD_INT ? number < field->min || number > field->max
                                    : number == -1)
    {
        return TG_INVALID;
    }

    *value = number;

    return TG_OK;
}

int
tg_json_store_field(const tg_json_field_t *field, tg_str_t raw, void *object)
{
    void *value;

    value = (char *) object + field->offset;

    if (raw.data == NULL && field->is_required) {
        return TG_INVALID;
    }

    switch (field->type) {
    case TG_FIELD_BITS:
        return raw.data == NULL ? TG_OK : tg_json_read_bits(raw, value);

    case TG_FIELD_INT:
    case TG_FIELD_WORD:
    case TG_FIELD_FLAG:
    case TG_FIELD_BOOL:
        return tg_json_store_number(field, raw, value);

    default:
        *(tg_str_t *) value = raw;
        return raw.data == NULL || tg_json_check_raw(field, raw) ? TG_OK
                                                                 : TG_INVALID;
    }
}

int
tg_json_store_fields(const tg_json_field_t *fields, const tg_str_t *values,
                     void *object, const char **why)
{
    const tg_json_field_t *field;

    for (field = fields; field->name != NULL; field++, values++) {
        if (tg_json_store_field(field, *values, object) != TG_OK) {
            *why = field->why != NULL ? field->why : *why;
            return TG_INVALID;
        }
    }

    return TG_OK;
}

int
tg_json_read_fields(const tg_json_field_t *fields, tg_str_t text, void *object,
                    const char **why)
{
    tg_str_t values[TG_JSON_FIELDS_MAX];

    return tg_json_split_fields(fields, text, values) == TG_OK
               ? tg_json_store_fields(fields, values, object, why)
               : TG_INVALID;
}

static void
tg_json_add_bits(tg_buf_t *json, const char *name, const tg_field_bits_t *set)
{
    unsigned i;

    tg_json_begin_member(json, name);
    tg_buf_append_char(json, '[');

    for (i = 0; i < 256; i++) {
        if (set->bits[i / 32] >> i % 32 & 1) {
            tg_json_begin_element(json);
            tg_buf_append_uint(json, i);
        }
    }

    tg_buf_append_char(json, ']');
}

void
tg_json_add_field(tg_buf_t *json, const tg_json_field_t *field,
                  const void *object)
{
    const void *value;

    value = (const char *) object + field->offset;

    switch (field->type) {
    case TG_FIELD_BITS:
        tg_json_add_bits(json, field->name, value);
        break;
    case TG_FIELD_INT:
        tg_json_add_int(json, field->name, *(const int64_t *) value);
        break;
    case TG_FIELD_WORD:
        tg_json_add_cstr(json, field->name,
                         field->words[*(const int64_t *) value]);
        break;
    case TG_FIELD_FLAG:
    case TG_FIELD_BOOL:
        tg_json_add_bool(json, field->name, *(const int64_t *) value != 0);
        break;
    default:
        tg_json_add_raw(json, field->name, *(const tg_str_t *) value);
    }
}
