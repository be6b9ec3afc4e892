/* Options of a feature: unset, inherited, and written as JSON. */
#include "spec/tg_spec.h"

static int
tg_spec_is_text(const tg_json_field_t *field)
{
    return field->type <= TG_FIELD_STRINGS;
}

/* Returns the number of an option, or whether its set of numbers is set. */
static int64_t *
tg_spec_value(const tg_json_field_t *field, void *object)
{
    return (int64_t *) (void *) ((char *) object + field->offset);
}

void
tg_spec_init(const tg_json_field_t *fields, void *object)
{
    for (; fields->name != NULL; fields++) {
        if (fields->option == NULL) {
            continue;
        }

        if (fields->type == TG_FIELD_BITS) {
            memset(tg_spec_value(fields, object), 0, sizeof(tg_field_bits_t));
        } else if (tg_spec_is_text(fields)) {
            *(tg_str_t *) (void *) tg_spec_value(fields, object) = TG_STR_NONE;
        } else {
            *tg_spec_value(fields, object) = TG_SPEC_UNSET;
        }
    }
}

int
tg_spec_is_set(const tg_json_field_t *field, const void *object)
{
    const void *value;

    value = (const char *) object + field->offset;

    if (tg_spec_is_text(field)) {
        return ((const tg_str_t *) value)->data != NULL;
    }

    return *(const int64_t *) value
           != (field->type == TG_FIELD_BITS ? 0 : TG_SPEC_UNSET);
}

static void
tg_spec_set_default(const tg_json_field_t *field, void *object)
{
    if (field->option != NULL && !tg_spec_is_set(field, object)
        && field->type != TG_FIELD_BITS && !tg_spec_is_text(field))
    {
        *tg_spec_value(field, object) = field->option->initial != 0
                                            ? field->option->initial
                                            : field->absent;
    }
}

void
tg_spec_set_defaults(const tg_json_field_t *fields, void *object)
{
    for (; fields->name != NULL; fields++) {
        tg_spec_set_default(fields, object);
    }
}

void
tg_spec_set_parameter_defaults(const tg_json_field_t *field, void *object)
{
    /* A server inherits each parameter of its own directives alone. */
    if (field->option->directive == NULL && field->option->inherited != NULL) {
        return;
    }

    for (field++; field->option != NULL && field->option->parameter != NULL;
         field++)
    {
        tg_spec_set_default(field, object);
    }
}

const char *
tg_spec_find_set(const tg_json_field_t *fields, const void *object)
{
    for (; fields->name != NULL; fields++) {
        if (fields->option != NULL && tg_spec_is_set(fields, object)) {
            return fields->option->directive;
        }
    }

    return NULL;
}

void
tg_spec_inherit(const tg_json_field_t *fields, void *object, const void *from)
{
    for (; fields->name != NULL; fields++) {
        if (fields->option != NULL && !tg_spec_is_set(fields, object)) {
            memcpy(tg_spec_value(fields, object),
                   (const char *) from + fields->offset,
                   fields->type == TG_FIELD_BITS ? sizeof(tg_field_bits_t)
                   : tg_spec_is_text(fields)     ? sizeof(tg_str_t)
                                                 : sizeof(int64_t));
        }
    }
}

void
tg_spec_write(const tg_json_field_t *fields, const void *object, tg_buf_t *json)
{
    for (; fields->name != NULL; fields++) {
        if (fields->option != NULL && fields->name[0] != '\0'
            && tg_spec_is_set(fields, object))
        {
            tg_json_add_field(json, fields, object);
        }
    }
}
