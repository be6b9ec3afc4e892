/* Finds words of a command line that a program may parse as options. */
#include "catalog/tg_command_injection.h"

#include "catalog/tg_template.h"

static int
tg_command_is_caller_text(tg_str_t text, const tg_command_names_t *names)
{
    tg_template_token_t token;
    tg_str_t path;

    return tg_template_next(&text, &token) == TG_OK && token.name.data != NULL
           && tg_command_is_caller_variable(token.name, names)
           && tg_variable_get_type(token.name, &path) != TG_VARIABLE_JSON
           && !tg_str_eq(token.name, TG_STR("tool_arguments"));
}

/* Checks whether a `--` belongs to a launcher at the start of the line. */
static int
tg_command_is_launcher_dashes(const tg_command_word_t *words, size_t at)
{
    const tg_command_program_t *program;
    size_t i;

    program = tg_command_find_program(words[0].text);

    if (program == NULL || !(program->flags & TG_COMMAND_IS_LAUNCHER)) {
        return 0;
    }

    for (i = 1; i < at; i++) {
        if (tg_str_eq(words[i].text, TG_STR("--"))) {
            return 0;
        }

        if (words[i].text.data[0] != '-'
            && memchr(words[i].text.data, '=', words[i].text.len) == NULL
            && !(program->flags & TG_COMMAND_IS_DASHED))
        {
            return 0;
        }
    }

    return 1;
}

/* Checks for an option's value or a word after the end of options. */
static int
tg_command_is_after_option(const tg_command_word_t *words, size_t at)
{
    const tg_command_word_t *word;
    size_t i;
    int is_there;

    for (i = 1; i < at; i++) {
        word = &words[i];
        is_there = word->line == words[at].line
                   || (!word->is_optional && !word->is_repeated);

        if (!is_there || word->text.len < 2 || word->text.data[0] != '-') {
            continue;
        }

        if (tg_str_eq(word->text, TG_STR("--"))
            || tg_str_eq(word->text, TG_STR("--end-of-options")))
        {
            if (!tg_command_is_launcher_dashes(words, i)) {
                return 1;
            }

        } else if (i + 1 == at
                   && memchr(word->text.data, '=', word->text.len) == NULL) {
            return 1;
        }
    }

    return 0;
}

size_t
tg_command_find_option_injection(const tg_command_word_t *words, size_t n,
                                 size_t tail, const tg_command_names_t *names,
                                 size_t from)
{
    static const char none[] = "true false echo printf test [ yes";
    size_t i;

    if (tg_command_list_has(none, tg_path_get_base_name(words[0].text))) {
        return n;
    }

    for (i = from > 0 ? from : 1; i < n && i < tail; i++) {
        if (tg_command_is_caller_text(words[i].text, names)
            && !tg_command_is_after_option(words, i))
        {
            return i;
        }
    }

    return n;
}
