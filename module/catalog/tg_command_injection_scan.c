/*
 * Finds client values in one program's words that are code; the functions named
 * check return 1 if there is such a value.
 */
#include "catalog/tg_command_injection_impl.h"

#include "catalog/tg_template.h"

int
tg_command_is_caller_variable(tg_str_t name, const tg_command_names_t *names)
{
    static const char *const callers[] = { "tool_arguments",
                                           "tool_request_id",
                                           "tool_uri",
                                           "tool_value",
                                           "tool_client_name",
                                           "tool_client_version",
                                           "tool_client_via",
                                           "tool_traceparent",
                                           "tool_tracestate",
                                           "task_prompt",
                                           "task_cwd",
                                           "task_metadata",
                                           "ssl_server_name",
                                           "ssl_preread_server_name",
                                           NULL };
    tg_variable_type_t kind;
    tg_str_t path;
    size_t i;

    kind = tg_variable_get_type(name, &path);

    if (kind != TG_VARIABLE_OTHER) {
        return kind != TG_VARIABLE_HAS;
    }

    if (tg_str_has_prefix(name, "tool_answer_")) {
        return 1;
    }

    for (i = 0; callers[i] != NULL; i++) {
        if (tg_variable_is_named(name, tg_str_from_cstr(callers[i]))) {
            return 1;
        }
    }

    for (i = 0; names != NULL && i < names->n; i++) {
        if (tg_variable_is_named(name, names->names[i])) {
            return 1;
        }
    }

    return 0;
}

tg_str_t
tg_command_find_caller_value(tg_str_t text, int is_alone,
                             const tg_command_names_t *names)
{
    tg_template_token_t token;
    tg_str_t rest, value;

    rest = text;
    value = TG_STR_NONE;

    while (value.data == NULL && tg_template_next(&rest, &token) == TG_OK) {
        if (token.name.data != NULL
            && tg_command_is_caller_variable(token.name, names)) {
            value = token.text;
        }
    }

    return is_alone || value.len != text.len ? value : TG_STR_NONE;
}

int
tg_command_check_code(tg_command_scan_t *scan, tg_str_t text, size_t word,
                      int is_alone)
{
    tg_str_t value;

    scan->has_code_source = scan->is_code = 1;
    value = tg_command_find_caller_value(text, is_alone, scan->names);

    if (value.data == NULL) {
        value = tg_command_find_caller_value(text, 1, scan->names);
        scan->code->whole_value = value.data != NULL ? value
                                                     : scan->code->whole_value;
        return 0;
    }

    if ((scan->program->flags & TG_COMMAND_IS_BOUNDED_SAFE)
        && scan->words[word].is_bounded)
    {
        return 0;
    }

    scan->code->program = scan->program;
    scan->code->name = scan->name;
    scan->code->value = value;
    scan->code->word = word;

    return 1;
}

static int
tg_command_has_letter(const char *letters, char c)
{
    return letters != NULL && tg_is_one_of(c, letters);
}

/* Later words are arguments of the code in the file. */
static void
tg_command_set_code_file(tg_command_scan_t *scan, tg_str_t name)
{
    static const char stdin_options[] =
        "- /dev/stdin /dev/fd/0 /proc/self/fd/0";
    unsigned flags;

    flags = scan->program->flags;
    scan->has_code_source = 1;
    scan->is_input |= tg_command_list_has(stdin_options, name);

    if ((flags & TG_COMMAND_IS_STRICT)
        && !(flags & (TG_COMMAND_IS_FIRST | TG_COMMAND_IS_REST)))
    {
        scan->i = scan->n;
    }
}

/* Checks a setting: an option's value such as `alias.x=!CODE`. */
static int
tg_command_check_setting(tg_command_scan_t *scan, tg_str_t text)
{
    const char *list;
    size_t i, len;

    for (list = scan->program->code_settings; list != NULL && *list != '\0';
         list += len + (list[len] == ' '))
    {
        len = strcspn(list, " ");

        if (!tg_str_has_prefix_nocase(text, tg_str(list, len))) {
            continue;
        }

        text = tg_str_skip(text, len);
        i = tg_str_find_char(text, "= ");
        i += i < text.len;

        return tg_command_check_code(scan, tg_str_skip(text, i),
                                     scan->tokens[scan->i].word, 0);
    }

    return 0;
}

typedef enum {
    TG_COMMAND_VALUE_CODE,
    TG_COMMAND_VALUE_FILE, /* the name of a file of code */
    TG_COMMAND_VALUE_OTHER /* may be a setting with code */
} tg_command_value_t;

/* Checks an option's value, attached or in the next word. */
static int
tg_command_check_option_value(tg_command_scan_t *scan, tg_str_t attached,
                              tg_command_value_t type)
{
    if (attached.data == NULL) {
        if (++scan->i >= scan->n) {
            return 0;
        }

        attached = scan->tokens[scan->i].text;
    }

    switch (type) {
    case TG_COMMAND_VALUE_CODE:
        return tg_command_check_code(scan, attached, scan->tokens[scan->i].word,
                                     0);
    case TG_COMMAND_VALUE_FILE:
        tg_command_set_code_file(scan, attached);
        return 0;
    default:
        return tg_command_check_setting(scan, attached);
    }
}

/* Checks a group such as `-lne CODE`. */
static int
tg_command_check_short_options(tg_command_scan_t *scan, tg_str_t text)
{
    const tg_command_program_t *program;
    tg_str_t attached;
    size_t i;

    program = scan->program;

    for (i = 1; i < text.len && text.data[i] != '$'; i++) {
        attached = i + 1 < text.len ? tg_str_skip(text, i + 1) : TG_STR_NONE;

        if (tg_command_has_letter(program->code_options, text.data[i])) {
            if (!(program->flags & TG_COMMAND_IS_SHELL)) {
                return tg_command_check_option_value(scan, attached,
                                                     TG_COMMAND_VALUE_CODE);
            }

            scan->is_code_next = 1;

        } else if (tg_command_has_letter(program->attached_options,
                                         text.data[i])) {
            return 0;

        } else if (tg_command_has_letter(program->file_options, text.data[i])) {
            return tg_command_check_option_value(scan, attached,
                                                 TG_COMMAND_VALUE_FILE);

        } else if (tg_command_has_letter(program->value_options, text.data[i]))
        {
            return tg_command_check_option_value(scan, attached,
                                                 TG_COMMAND_VALUE_OTHER);
        }

        scan->is_input |= tg_command_has_letter(program->stdin_options,
                                                text.data[i]);
    }

    return 0;
}

/* Checks `--eval=CODE` or `--eval CODE`. */
static int
tg_command_check_long_option(tg_command_scan_t *scan, tg_str_t text)
{
    const char *equals;
    tg_str_t name, attached;

    equals = memchr(text.data, '=', text.len);
    name = text;
    attached = TG_STR_NONE;

    if (equals != NULL) {
        name.len = (size_t) (equals - text.data);
        attached = tg_str(equals + 1, text.len - name.len - 1);
    }

    if ((scan->program->flags & TG_COMMAND_IS_SINGLE) && name.len > 2
        && name.data[1] == '-')
    {
        name = tg_str_skip(name, 1);
    }

    if (tg_command_list_has(scan->program->long_code_options, name)) {
        return tg_command_check_option_value(scan, attached,
                                             TG_COMMAND_VALUE_CODE);
    }

    if (tg_command_list_has(scan->program->long_file_options, name)) {
        return tg_command_check_option_value(scan, attached,
                                             TG_COMMAND_VALUE_FILE);
    }

    if (tg_command_list_has(scan->program->long_value_options, name)) {
        return tg_command_check_option_value(scan, attached,
                                             TG_COMMAND_VALUE_OTHER);
    }

    scan->i += tg_command_list_has(scan->program->long_pair_options, name) ? 2
                                                                           : 0;

    return 0;
}

tg_str_t
tg_command_get_assigned_value(tg_str_t text)
{
    const char *equals;

    equals = memchr(text.data, '=', text.len);

    return equals != NULL
               ? tg_str(equals + 1, (size_t) (tg_str_end(text) - equals - 1))
               : TG_STR_NONE;
}

/* Checks a word that is not an option. */
static int
tg_command_check_word(tg_command_scan_t *scan, const tg_command_token_t *token)
{
    const tg_command_program_t *program;
    unsigned flags;
    size_t first;

    program = scan->program;
    flags = program->flags;

    if (scan->is_code_next) {
        scan->is_code_next = 0;
        scan->is_after_options = 1;
        return tg_command_check_code(scan, token->text, token->word, 0);
    }

    if (program->command != NULL && !scan->has_command) {
        scan->has_command = tg_command_list_has(program->command, token->text);
        scan->i = scan->has_command ? scan->i : scan->n;
        return 0;
    }

    if ((flags & TG_COMMAND_IS_ASSIGNED)
        && memchr(token->text.data, '=', token->text.len) != NULL)
    {
        return tg_command_check_code(scan,
                                     tg_command_get_assigned_value(token->text),
                                     token->word, 1);
    }

    if ((flags & TG_COMMAND_IS_PLUS) && token->text.len > 1
        && token->text.data[0] == '+')
    {
        return tg_command_check_code(scan, tg_str_skip(token->text, 1),
                                     token->word, 0);
    }

    scan->nwords++;
    scan->is_after_options |= (flags & TG_COMMAND_IS_STRICT) != 0;
    first = flags & TG_COMMAND_IS_REST ? 2 : 1;

    if (((flags & (TG_COMMAND_IS_ALL | TG_COMMAND_IS_REST))
         && scan->nwords >= first)
        || ((flags & TG_COMMAND_IS_FIRST) && scan->nwords == 1
            && !scan->has_code_source))
    {
        /* When joined with other words, a value is always among other text. */
        return tg_command_check_code(scan, token->text, token->word,
                                     (flags & TG_COMMAND_IS_JOINED)
                                         && (scan->nwords > first
                                             || scan->i + 1 < scan->n));
    }

    if (!(flags & TG_COMMAND_IS_REST)) {
        tg_command_set_code_file(scan,
                                 scan->has_code_source || scan->nwords > 1
                                         || !(flags & TG_COMMAND_IS_READER)
                                     ? TG_STR_NONE
                                     : token->text);
    }

    return 0;
}

static int
tg_command_check_token(tg_command_scan_t *scan, const tg_command_token_t *token)
{
    unsigned flags;

    flags = scan->program->flags;

    if (scan->is_after_options || token->text.len <= 1
        || (token->text.data[0] != '-'
            && (token->text.data[0] != '+' || !(flags & TG_COMMAND_IS_SHELL))))
    {
        return tg_command_check_word(scan, token);
    }

    if (tg_str_eq(token->text, TG_STR("--"))) {
        scan->is_after_options = !(flags & TG_COMMAND_IS_LAUNCHER);
        return 0;
    }

    return token->text.data[1] == '-' || (flags & TG_COMMAND_IS_SINGLE)
               ? tg_command_check_long_option(scan, token->text)
               : tg_command_check_short_options(scan, token->text);
}

/* Checks the words after the code, which the program may join with the code. */
static int
tg_command_check_tail(tg_command_scan_t *scan)
{
    scan->code->tail = scan->tokens[scan->i].word + 1;

    while ((scan->program->flags & TG_COMMAND_IS_JOINED) && ++scan->i < scan->n)
    {
        if (tg_command_check_code(scan, scan->tokens[scan->i].text,
                                  scan->tokens[scan->i].word, 1))
        {
            return 1;
        }
    }

    return 0;
}

int
tg_command_scan_program(tg_command_scan_t *scan,
                        const tg_command_program_t *program, tg_str_t name,
                        size_t at)
{
    const tg_command_token_t *token;

    scan->program = program;
    scan->name = name;
    scan->nwords = 0;
    scan->has_code_source = scan->is_code = scan->is_input = scan->has_command =
        0;
    scan->is_code_next = scan->is_after_options = 0;

    for (scan->i = at + 1; scan->i < scan->n; scan->i++) {
        token = &scan->tokens[scan->i];

        /* GNU parallel quotes the values after `:::`, so they are safe. */
        if ((program->flags & TG_COMMAND_IS_ALL)
            && tg_str_has_prefix_nocase(token->text, TG_STR(":::")))
        {
            break;
        }

        if (tg_command_check_token(scan, token)) {
            return 1;
        }

        if (scan->is_code && (program->flags & TG_COMMAND_IS_PLAIN)
            && scan->i < scan->n)
        {
            return tg_command_check_tail(scan);
        }
    }

    if ((program->flags & TG_COMMAND_IS_INPUT)
        || (!scan->is_code
            && (scan->is_input
                || (!scan->has_code_source
                    && (program->flags & TG_COMMAND_IS_READER)))))
    {
        scan->code->is_reader = 1;
        scan->code->program = program;
        scan->code->name = name;
    }

    return 0;
}
