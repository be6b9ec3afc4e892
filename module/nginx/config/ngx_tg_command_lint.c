/*
 * Checks of programs' command lines: callers' values in code are an error,
 * callers' values that a program may take for options a warning.
 */
#include "nginx/config/ngx_tg_command_lint.h"

#include "nginx/config/ngx_tg_command_schema.h"
#include "nginx/config/ngx_tg_listing.h"

/* --- words --- */

ngx_int_t
ngx_tg_command_word_push(ngx_conf_t *cf, ngx_array_t **words,
                         const ngx_str_t *text, ngx_uint_t flags)
{
    ngx_tg_command_word_t *word;

    word = ngx_tg_conf_array_push(cf, words, sizeof(ngx_tg_command_word_t));

    if (word == NULL) {
        return NGX_ERROR;
    }

    word->text = *text;
    word->directive = *(ngx_str_t *) cf->args->elts;
    word->file = cf->conf_file->file.name;
    word->line = cf->conf_file->line;
    word->flags = flags;

    return NGX_OK;
}

static void
ngx_tg_command_log(ngx_conf_t *cf, const ngx_tg_command_word_t *word,
                   ngx_uint_t level, const tg_buf_t *text)
{
    tg_str_t view;

    view = tg_buf_view(text);
    ngx_log_error(level, cf->log, 0, "%*s in %V:%ui", view.len, view.data,
                  &word->file, word->line);
}

/* --- code --- */

/*
 * Parts of the error message that state the remedy, before and after the value.
 */
#define NGX_TG_OWN_ARGUMENT "pass it as a separate argument, "

static const struct {
    const char *before;
    const char *behind;
} ngx_tg_command_remedies[TG_COMMAND_HINT_COUNT] = {
    [TG_COMMAND_HINT_ENVIRONMENT] = { "write \"env NAME ",
                                      ";\", and have the code read the "
                                      "variable NAME of its environment" },
    [TG_COMMAND_HINT_SHELL] = { NGX_TG_OWN_ARGUMENT "\"sh -c '... \"$1\"' sh ",
                                "\", with \"$$1\" for \"$1\" in this file" },
    [TG_COMMAND_HINT_PYTHON] = { NGX_TG_OWN_ARGUMENT
                                 "\"python3 -c '... sys.argv[1] ...' ",
                                 "\"" },
    [TG_COMMAND_HINT_PERL] = { NGX_TG_OWN_ARGUMENT
                               "\"perl -e '... $ARGV[0] ...' -- ",
                               "\", with \"$$ARGV\" for \"$ARGV\" in this "
                               "file" },
    [TG_COMMAND_HINT_NODE] = { NGX_TG_OWN_ARGUMENT
                               "\"node -e '... process.argv[1] ...' -- ",
                               "\"" },
    [TG_COMMAND_HINT_RUBY] = { NGX_TG_OWN_ARGUMENT
                               "\"ruby -e '... ARGV[0] ...' -- ",
                               "\"" },
    [TG_COMMAND_HINT_PHP] = { NGX_TG_OWN_ARGUMENT
                              "\"php -r '... $argv[1] ...' -- ",
                              "\", with \"$$argv\" for \"$argv\" in this "
                              "file" },
    [TG_COMMAND_HINT_AWK] = { "write \"env NAME ",
                              ";\", and read ENVIRON[\"NAME\"] in awk" },
    [TG_COMMAND_HINT_JQ] = { "pass it as a variable of jq, \"jq --arg x ",
                             " '... $x ...'\", with \"$$x\" for \"$x\" in "
                             "this file" },
    [TG_COMMAND_HINT_SSH] = { "pass it as input, \"ssh HOST 'xargs "
                              "-0r PROGRAM --'\" with \"stdin ",
                              ";\", as ssh joins all words after the host into "
                              "one shell command" },
    [TG_COMMAND_HINT_SQL] = { "have a program bind it as a parameter of "
                              "the statement, such as \"python3 PROGRAM ",
                              "\"" },
    [TG_COMMAND_HINT_SQLITE] = { "have a program bind it as a parameter, "
                                 "\"python3 -c '... "
                                 "sqlite3.connect(\"DB\").execute(\"... ?\", "
                                 "sys.argv[1:]) ...' ",
                                 "\"" },
    [TG_COMMAND_HINT_PSQL] = { "pass it as a parameter of psql, \"psql -v "
                               "x=",
                               "\", and use \":'x'\" in its place, in SQL "
                               "passed by \"stdin\"" },
    [TG_COMMAND_HINT_WORDS] = { "write it as a separate word, \"", "\"" },
};

static void
ngx_tg_command_write_code_error(tg_buf_t *text, const ngx_str_t *directive,
                                const tg_command_finding_t *code,
                                tg_str_t value)
{
    tg_buf_append_char(text, '"');
    tg_buf_append_str(text, ngx_tg_str_from_ngx(directive));
    tg_buf_append_cstr(text, "\" puts the caller's \"");
    tg_buf_append_str(text, value);
    tg_buf_append_cstr(text, "\" into code that \"");
    tg_buf_append_str(text, tg_path_get_base_name(code->name));
    tg_buf_append_cstr(text, "\" runs, so a caller can run any code; ");
    tg_buf_append_cstr(text,
                       ngx_tg_command_remedies[code->program->hint].before);
    tg_buf_append_str(text, value);
    tg_buf_append_cstr(text,
                       ngx_tg_command_remedies[code->program->hint].behind);
}

static ngx_int_t
ngx_tg_command_log_code_error(ngx_conf_t *cf, const ngx_tg_command_word_t *word,
                              const tg_command_finding_t *code)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    ngx_tg_command_write_code_error(&text, &word->directive, code, code->value);
    ngx_tg_command_log(cf, word, NGX_LOG_EMERG, &text);
    tg_buf_deinit(&text);

    return NGX_ERROR;
}

/*
 * Warns about code on the standard input if no schema restricts the caller's
 * value.
 */
static void
ngx_tg_command_lint_input(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                          const ngx_tg_command_word_t *input,
                          const tg_command_names_t *names,
                          const tg_command_finding_t *code)
{
    tg_str_t value, schema;
    tg_buf_t text;

    value = tg_command_find_caller_value(ngx_tg_str_from_ngx(&input->text), 0,
                                         names);
    schema = value.data != NULL
                 ? ngx_tg_command_get_value_schema(tool, value, 0)
                 : TG_STR_NONE;

    if (value.data == NULL || ngx_tg_command_value_is_bounded(tool, schema)) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    ngx_tg_command_write_code_error(&text, &input->directive, code, value);
    ngx_tg_command_log(cf, input, NGX_LOG_WARN, &text);
    tg_buf_deinit(&text);
}

/* --- options --- */

static void
ngx_tg_command_lint_option(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                           const ngx_tg_command_word_t *word,
                           const tg_command_names_t *names, tg_str_t program)
{
    tg_str_t value;
    tg_buf_t text;

    value = tg_command_find_caller_value(ngx_tg_str_from_ngx(&word->text), 1,
                                         names);

    if (!ngx_tg_command_value_allows_dash(
            tool, ngx_tg_command_get_value_schema(
                      tool, value, word->flags & NGX_TG_WORD_REPEATED)))
    {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_cstr(&text, "\"");
    tg_buf_append_str(&text, value);
    tg_buf_append_cstr(&text, "\" may begin with \"-\", and \"");
    tg_buf_append_str(&text, tg_path_get_base_name(program));
    tg_buf_append_cstr(&text,
                       "\" may treat it as an option; write \"--\" before it, "
                       "or \"--OPTION=");
    tg_buf_append_str(&text, value);
    tg_buf_append_cstr(&text,
                       tool == NULL ? "\""
                       : NGX_TG_KINDS_WITH_SCHEMA >> tool->entry.kind & 1
                           ? "\", or give the argument a \"pattern\" in the "
                             "input_schema, such as \"^[^-]\""
                           : "\", or write \"pattern=^[^-]\" after the name of "
                             "the \"argument\"");
    ngx_tg_command_log(cf, word, NGX_LOG_WARN, &text);
    tg_buf_deinit(&text);
}

/* --- command lines --- */

/* Checks whether the schema restricts all callers' values in a word. */
static ngx_uint_t
ngx_tg_command_is_word_bounded(const ngx_tg_tool_t *tool,
                               const ngx_tg_command_word_t *word,
                               const tg_command_names_t *names)
{
    tg_template_token_t token;
    tg_str_t rest, schema;

    rest = ngx_tg_str_from_ngx(&word->text);

    while (tg_template_next(&rest, &token) == TG_OK) {
        if (token.name.data == NULL
            || !tg_command_is_caller_variable(token.name, names))
        {
            continue;
        }

        schema = ngx_tg_command_get_value_schema(
            tool, token.text, word->flags & NGX_TG_WORD_REPEATED);

        if (!ngx_tg_command_value_is_bounded(tool, schema)) {
            return 0;
        }
    }

    return 1;
}

/*
 * Converts the words for the checks of tg_command; the program is named by its
 * path. Returns NULL if there is no memory.
 */
static tg_command_word_t *
ngx_tg_command_create_words(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                            ngx_tg_command_word_t **from, ngx_uint_t n,
                            const tg_command_names_t *names)
{
    tg_command_word_t *words;
    ngx_uint_t i;
    char *path;

    words = ngx_pcalloc(cf->temp_pool, n * sizeof(tg_command_word_t));

    if (words == NULL) {
        return NULL;
    }

    for (i = 0; i < n; i++) {
        words[i].text = ngx_tg_str_from_ngx(&from[i]->text);
        words[i].is_optional = (from[i]->flags & NGX_TG_WORD_OPTIONAL) != 0;
        words[i].is_repeated = (from[i]->flags & NGX_TG_WORD_REPEATED) != 0;
        words[i].is_bounded = ngx_tg_command_is_word_bounded(tool, from[i],
                                                             names);
        words[i].line = (i == 0 ? 0 : words[i - 1].line)
                        + ((from[i]->flags & NGX_TG_WORD_FIRST) != 0);
    }

    if (tg_command_find_program(words[0].text) == NULL) {
        path = realpath((const char *) from[0]->text.data, NULL);

        if (path != NULL
            && tg_command_find_program(tg_str_from_cstr(path)) != NULL) {
            words[0].text.data = ngx_pnalloc(cf->temp_pool, strlen(path));
            words[0].text.len = strlen(path);

            if (words[0].text.data != NULL) {
                ngx_memcpy((char *) words[0].text.data, path, strlen(path));
            }
        }

        free(path);
    }

    return words[0].text.data != NULL ? words : NULL;
}

/*
 * Lists the words of `exec`, then the words of `arg`. Returns NULL if there is
 * no memory.
 */
static ngx_tg_command_word_t **
ngx_tg_command_list_words(ngx_conf_t *cf, const ngx_tg_command_line_t *command,
                          ngx_uint_t *n)
{
    ngx_tg_command_word_t **list;
    ngx_uint_t i, nexec;

    nexec = command->exec->nelts;
    *n = nexec + (command->args != NULL ? command->args->nelts : 0);
    list = ngx_palloc(cf->temp_pool, *n * sizeof(ngx_tg_command_word_t *));

    for (i = 0; list != NULL && i < *n; i++) {
        list[i] = i < nexec ? (ngx_tg_command_word_t *) command->exec->elts + i
                            : (ngx_tg_command_word_t *) command->args->elts
                                  + (i - nexec);
    }

    return list;
}

/* Adds a variable to the names whose values callers choose. */
static ngx_int_t
ngx_tg_command_add_name(ngx_conf_t *cf, tg_command_names_t *names,
                        tg_str_t name)
{
    tg_str_t *copy;

    copy = ngx_palloc(cf->temp_pool, (names->n + 1) * sizeof(tg_str_t));

    if (copy == NULL) {
        return NGX_ERROR;
    }

    if (names->n != 0) {
        ngx_memcpy(copy, names->names, names->n * sizeof(tg_str_t));
    }

    copy[names->n++] = name;
    names->names = copy;

    return NGX_OK;
}

ngx_int_t
ngx_tg_command_line_check(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                          ngx_tg_command_line_t *command)
{
    ngx_tg_command_word_t **from;
    tg_command_names_t names;
    tg_command_word_t *words;
    tg_command_finding_t code;
    ngx_uint_t n;
    size_t at;

    if (command->exec == NULL) {
        return NGX_OK;
    }

    from = ngx_tg_command_list_words(cf, command, &n);

    if (from == NULL) {
        return NGX_ERROR;
    }

    names = ngx_tg_command_get_derived_names(cf);

    if (command->is_any
        && ngx_tg_command_add_name(cf, &names, TG_STR("task_agent")) != NGX_OK)
    {
        return NGX_ERROR;
    }

    words = ngx_tg_command_create_words(cf, tool, from, n, &names);

    if (words == NULL) {
        return NGX_ERROR;
    }

    if (tg_command_find_injection(words, n, &names, &code) == TG_OK) {
        return ngx_tg_command_log_code_error(cf, from[code.word], &code);
    }

    command->is_code = code.whole_value.data != NULL;

    if (command->input.text.data != NULL && code.is_reader) {
        ngx_tg_command_lint_input(cf, tool, &command->input, &names, &code);
    }

    for (at = 1; (at = tg_command_find_option_injection(words, n, code.tail,
                                                        &names, at))
                 < n;
         at++)
    {
        ngx_tg_command_lint_option(cf, tool, from[at], &names, words[0].text);
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_command_line_add_exec(ngx_conf_t *cf, ngx_tg_command_line_t *command,
                             ngx_str_t *program)
{
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_tg_command_word_push(cf, &command->exec,
                                     i == 1 ? program : &value[i],
                                     i == 1 ? NGX_TG_WORD_FIRST : 0)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        if (i != 1) {
            ngx_tg_lint_program_word(cf, &value[i], program);
        }
    }

    return NGX_OK;
}

void
ngx_tg_command_line_set_input(ngx_conf_t *cf, ngx_tg_command_line_t *command)
{
    ngx_str_t *value;

    value = cf->args->elts;
    command->input.text = value[1];
    command->input.directive = value[0];
    command->input.file = cf->conf_file->file.name;
    command->input.line = cf->conf_file->line;
}
