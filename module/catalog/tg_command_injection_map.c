/* Finds `map` variables that depend on a client's values. */
#include "catalog/tg_command_injection.h"

#include "catalog/tg_template.h"

static tg_str_t
tg_command_map_read_quoted(tg_str_t *rest)
{
    tg_str_t word;
    size_t i;
    char quote;

    quote = rest->data[0];

    for (i = 1; i < rest->len && rest->data[i] != quote; i++) {
        i += rest->data[i] == '\\';
    }

    i = i < rest->len ? i : rest->len;
    word = tg_str(rest->data + 1, i - 1);
    i += i < rest->len;
    *rest = tg_str_skip(*rest, i);

    return word;
}

static tg_str_t
tg_command_map_read_bare(tg_str_t *rest)
{
    tg_str_t word;
    size_t i;

    for (i = 0; i < rest->len; i++) {
        if (tg_is_one_of(rest->data[i], " \t\r\n;")
            || (rest->data[i] == '{' && (i == 0 || rest->data[i - 1] != '$')))
        {
            break;
        }

        i += rest->data[i] == '\\' && i + 1 < rest->len;
    }

    word = tg_str(rest->data, i);
    *rest = tg_str_skip(*rest, i);

    return word;
}

/* Returns the next word, or ";", "{" or "}"; an absent slice at the end. */
static tg_str_t
tg_command_map_read_word(tg_str_t *rest)
{
    tg_str_t word;
    size_t i;

    for (i = 0; i < rest->len; i++) {
        if (rest->data[i] == '#') {
            while (i + 1 < rest->len && rest->data[i] != '\n') {
                i++;
            }

        } else if (!tg_is_one_of(rest->data[i], " \t\r\n")) {
            break;
        }
    }

    *rest = tg_str_skip(*rest, i);

    if (rest->len == 0) {
        return TG_STR_NONE;
    }

    if (tg_is_one_of(rest->data[0], ";{}")) {
        word = tg_str(rest->data, 1);
        *rest = tg_str_skip(*rest, 1);
        return word;
    }

    return tg_is_one_of(rest->data[0], "\"'") ? tg_command_map_read_quoted(rest)
                                              : tg_command_map_read_bare(rest);
}

int
tg_command_next_include(tg_str_t *rest, tg_str_t *name)
{
    tg_str_t word;
    int is_first;

    for (is_first = 1; (word = tg_command_map_read_word(rest)).data != NULL;
         is_first = word.len == 1 && tg_is_one_of(word.data[0], ";{}"))
    {
        if (!is_first || !tg_str_eq(word, TG_STR("include"))) {
            continue;
        }

        word = tg_command_map_read_word(rest);

        if (word.data == NULL) {
            break;
        }

        if (!tg_str_eq(word, TG_STR(";"))) {
            *name = word;
            return TG_OK;
        }
    }

    return TG_END;
}

int
tg_command_next_map(tg_str_t *rest, tg_command_map_t *map)
{
    tg_str_t word;

    while ((word = tg_command_map_read_word(rest)).data != NULL) {
        if (!tg_str_eq(word, TG_STR("map"))) {
            continue;
        }

        map->source = tg_command_map_read_word(rest);
        map->name = tg_command_map_read_word(rest);
        word = tg_command_map_read_word(rest);

        if (map->name.len > 1 && map->name.data[0] == '$'
            && tg_str_eq(word, TG_STR("{")))
        {
            map->name = tg_str_skip(map->name, 1);
            map->body = *rest;
            return TG_OK;
        }
    }

    return TG_END;
}

/* Reports the named groups, `(?<name>`, of a regular expression. */
static void
tg_command_map_add_groups(tg_str_t key, tg_command_add_name_pt add, void *ctx)
{
    size_t i, start;

    for (i = 0; i + 3 < key.len; i++) {
        if (memcmp(key.data + i, "(?", 2) != 0) {
            continue;
        }

        start = i + 2 + (key.data[i + 2] == 'P');

        if (start >= key.len || !tg_is_one_of(key.data[start], "<'")) {
            continue;
        }

        for (i = ++start; i < key.len && !tg_is_one_of(key.data[i], ">'=!");
             i++) {
            /* void */
        }

        if (i > start && i < key.len && key.data[i] != '=') {
            add(ctx, tg_str(key.data + start, i - start));
        }
    }
}

/* Checks for a client's variable or, from such a source, a capture like $1. */
static int
tg_command_map_is_derived(tg_str_t value, int is_source,
                          const tg_command_names_t *names)
{
    tg_template_token_t token;

    while (tg_template_next(&value, &token) == TG_OK) {
        if (token.name.data != NULL
            && (tg_command_is_caller_variable(token.name, names)
                || (is_source && tg_is_digit(token.name.data[0]))))
        {
            return 1;
        }
    }

    return 0;
}

void
tg_command_map_add_variables(const tg_command_map_t *map,
                             const tg_command_names_t *names,
                             tg_command_add_name_pt add, void *ctx)
{
    tg_str_t rest, key, value, word;
    int is_source;

    is_source = tg_command_find_caller_value(map->source, 1, names).data
                != NULL;
    rest = map->body;

    for (;;) {
        key = tg_command_map_read_word(&rest);

        if (key.data == NULL || tg_str_eq(key, TG_STR("}"))) {
            return;
        }

        value = tg_command_map_read_word(&rest);

        for (word = value; word.data != NULL && !tg_str_eq(word, TG_STR(";"));)
        {
            word = tg_command_map_read_word(&rest);
        }

        if (is_source && key.data[0] == '~') {
            tg_command_map_add_groups(key, add, ctx);
        }

        if (tg_command_map_is_derived(value, is_source, names)) {
            add(ctx, map->name);
        }
    }
}
