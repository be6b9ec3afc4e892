/* Parsers of option values: times, sizes, words. */
#include "lib/tg_option.h"

#include "base/tg_suggest.h"

#include <stdlib.h>

/* Largest time in ms: ten years; a longer one is an error. */
#define TG_OPTION_TIME_MAX UINT64_C(315360000000)

/* Moves *text past a number. Returns -1 if there is none that fits. */
static int
tg_option_parse_number(const char **text, uint64_t *number)
{
    const char *p;

    p = *text;

    if (!tg_is_digit(*p)) {
        return -1;
    }

    for (*number = 0; tg_is_digit(*p); p++) {
        if (*number > UINT64_MAX / 100) {
            return -1;
        }

        *number = *number * 10 + (uint64_t) (*p - '0');
    }

    *text = p;

    return 0;
}

/* Returns the factor of a unit, or 0 if the unit is unknown. */
static uint64_t
tg_option_find_unit(const char *unit, const char *const *units,
                    const uint64_t *values)
{
    int i;

    i = tg_str_find(tg_str_from_cstr(unit), units);

    return i >= 0 ? values[i] : 0;
}

int
tg_option_parse_time(const char *option, const char *text, uint64_t *ms)
{
    static const char *const units[] = { "ms", "s", "", "m", "h", "d", NULL };
    static const uint64_t values[] = {
        1, 1000, 1000, 60000, 3600000, 86400000
    };
    const char *unit;
    uint64_t number, factor;

    if (strcmp(text, "off") == 0) {
        *ms = 0;
        return 0;
    }

    unit = text;
    factor = 0;

    if (tg_option_parse_number(&unit, &number) == 0) {
        factor = tg_option_find_unit(unit, units, values);
    }

    if (factor == 0 || number > TG_OPTION_TIME_MAX / factor) {
        return tg_lib_set_error(
            TOOLGATE_ERR_ARGUMENT,
            "\"%s\" must be a time, such as 500ms, 5s, 2m or 1h, or off, not "
            "\"%s\"",
            option, text);
    }

    *ms = number * factor;

    return 0;
}

int
tg_option_parse_size(const char *option, const char *text, uint64_t least,
                     uint64_t most, uint64_t *value)
{
    static const char *const units[] = { "", "k", "K", "m", "M", NULL };
    static const uint64_t values[] = { 1, 1024, 1024, 1048576, 1048576 };
    const char *unit;
    uint64_t number, factor;

    unit = text;
    factor = 0;

    if (tg_option_parse_number(&unit, &number) == 0) {
        factor = tg_option_find_unit(unit, units, values);
    }

    if (factor == 0 || number > most / factor || number * factor < least) {
        return tg_lib_set_error(
            TOOLGATE_ERR_ARGUMENT,
            "\"%s\" must be a number from %llu to %llu, where sizes may be "
            "written as 64k or 1m, not \"%s\"",
            option, (unsigned long long) least, (unsigned long long) most,
            text);
    }

    *value = number * factor;

    return 0;
}

int
tg_option_parse_word(const char *option, const char *text,
                     const char *const *words, int *value)
{
    char room[256];
    tg_buf_t list;
    int i;

    list = tg_buf_make_fixed(room, sizeof(room) - 1);

    for (i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return 0;
        }

        tg_buf_append_cstr(&list, i == 0 ? "" : ", ");
        tg_buf_append_cstr(&list, words[i]);
    }

    return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                            "\"%s\" must be one of %.*s, not \"%s\"", option,
                            (int) list.len, list.data, text);
}

int
tg_option_set_text(const char *value, char **text)
{
    char *copy;

    copy = tg_str_dup(tg_str_from_cstr(value));

    if (copy == NULL) {
        return tg_lib_set_nomem_error();
    }

    free(*text);
    *text = copy;

    return 0;
}

int
tg_option_find(const char *option, const char *const *names)
{
    const char *near;
    int i;

    i = tg_str_find(tg_str_from_cstr(option), names);

    if (i >= 0) {
        return i;
    }

    near = tg_suggest_word(tg_str_from_cstr(option), names);

    return near != NULL
               ? tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "unknown option \"%s\"; did you mean \"%s\"?",
                                  option, near)
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "unknown option \"%s\"; see docs/library.md",
                                  option);
}

int
tg_option_find_in(const tg_option_t *options, const char *name,
                  const char *value)
{
    const char *names[TG_OPTIONS_MAX + 1];
    size_t n;

    if (name == NULL || value == NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "an option needs a value");
    }

    for (n = 0; n < TG_OPTIONS_MAX && options[n].name != NULL; n++) {
        names[n] = options[n].name;
    }

    names[n] = NULL;

    return tg_option_find(name, names);
}

int
tg_option_set_time(const tg_option_t *option, const char *value, void *object)
{
    return tg_option_parse_time(option->name, value,
                                (uint64_t *) (void *) ((char *) object
                                                       + option->offset));
}

int
tg_option_set_size(const tg_option_t *option, const char *value, void *object)
{
    return tg_option_parse_size(option->name, value, option->min, option->max,
                                (uint64_t *) (void *) ((char *) object
                                                       + option->offset));
}

int
tg_option_set_string(const tg_option_t *option, const char *value, void *object)
{
    return tg_option_set_text(value, (char **) (void *) ((char *) object
                                                         + option->offset));
}
