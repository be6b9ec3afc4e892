/*
 * Arguments of programs: the words of `exec`, which are always passed, and
 * those of `arg` directives, which follow in the order of the config.
 */
#include "nginx/handlers/ngx_tg_exec.h"

#include "base/tg_number.h"
#include "nginx/call/ngx_tg_call_checks.h"

/* Largest number of words that the runner accepts. */
#define NGX_TG_ARGV_WORDS_MAX 4096
/* Largest size of one word, in pages of memory (Linux: MAX_ARG_STRLEN). */
#define NGX_TG_ARGV_WORD_PAGES_MAX 32

typedef struct {
    ngx_array_t *words; /* ngx_stream_complex_value_t */
    /* array for `each`; NULL: pass the words once */
    ngx_tg_arg_path_t *each;
    /* condition of `if`, if it is one argument */
    ngx_tg_arg_path_t *path;
    /*
     * condition of `if`, if it is another value; NULL: no `if`, or path is set
     */
    ngx_stream_complex_value_t *when;
    ngx_uint_t is_negated;
} ngx_tg_exec_arg_t;

/* --- directives --- */

/*
 * Parses a text that is one argument and nothing else; *path is NULL for any
 * other text. NGX_OK or NGX_ERROR.
 */
static ngx_int_t
ngx_tg_exec_arg_parse_path(ngx_conf_t *cf, ngx_str_t *text,
                           ngx_tg_arg_path_t **path)
{
    tg_template_token_t token;
    tg_str_t rest, name;
    tg_variable_type_t kind;

    *path = NULL;
    rest = ngx_tg_str_from_ngx(text);

    if (tg_template_next(&rest, &token) != TG_OK || rest.len != 0
        || token.name.data == NULL)
    {
        return NGX_OK;
    }

    kind = tg_variable_get_type(token.name, &name);

    if (kind != TG_VARIABLE_ARG && kind != TG_VARIABLE_JSON) {
        return NGX_OK;
    }

    *path = ngx_tg_arg_path_create(cf, token.name);

    return *path != NULL ? NGX_OK : NGX_ERROR;
}

/* Parses `if=VALUE` or `if=!VALUE`; text is what follows the `=`. */
static char *
ngx_tg_exec_arg_parse_if(ngx_conf_t *cf, ngx_tg_exec_arg_t *arg, ngx_str_t text)
{
    if (arg->path != NULL || arg->when != NULL) {
        return "has \"if=\" twice; a line has one condition";
    }

    if (text.len != 0 && text.data[0] == '!') {
        arg->is_negated = 1;
        text.data++;
        text.len--;
    }

    if (!ngx_tg_text_has_variables(&text)) {
        return "has an \"if=\" without a variable; write "
               "\"if=$tool_arg_NAME\" or \"if=!$tool_arg_NAME\"";
    }

    if (ngx_tg_exec_arg_parse_path(cf, &text, &arg->path) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (arg->path == NULL) {
        arg->when = ngx_tg_value_compile_new(cf, &text);
    }

    return arg->path != NULL || arg->when != NULL ? NGX_CONF_OK
                                                  : NGX_CONF_ERROR;
}

/*
 * Parses the options at the end of the line; *n becomes the number of words
 * before them.
 */
static char *
ngx_tg_exec_arg_parse_params(ngx_conf_t *cf, ngx_tg_exec_arg_t *arg,
                             ngx_uint_t *has_each, ngx_uint_t *n)
{
    ngx_str_t *value, text;
    char *rv;

    value = cf->args->elts;

    for (*n = cf->args->nelts; *n > 1; (*n)--) {
        text = value[*n - 1];

        if (tg_str_eq(ngx_tg_str_from_ngx(&text), TG_STR("each")) && !*has_each)
        {
            *has_each = 1;
            continue;
        }

        if (!ngx_tg_arg_has_name(&text, "if=", &text)) {
            break;
        }

        rv = ngx_tg_exec_arg_parse_if(cf, arg, text);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return *n > 1 ? NGX_CONF_OK
                  : "needs an argument for the program; write \"arg WORD ... "
                    "[if=VALUE] [each]\"";
}

/*
 * Logs a warning if a word looks like an option but is not at the end of the
 * line.
 */
static void
ngx_tg_exec_arg_lint_word(ngx_conf_t *cf, ngx_str_t *word)
{
    tg_str_t text;

    text = ngx_tg_str_from_ngx(word);

    if (tg_str_eq(text, TG_STR("each"))
        || (text.len > 4
            && (tg_str_eq(tg_str(text.data, 4), TG_STR("if=$"))
                || tg_str_eq(tg_str(text.data, 4), TG_STR("if=!")))))
    {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" of \"arg\" is passed to the program, as it "
                           "is not at the end of the line; move it there, or "
                           "into \"exec\" if that is intended",
                           word);
    }
}

char *
ngx_tg_exec_set_arg(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_exec_conf_t *exec = conf;

    ngx_stream_complex_value_t *word;
    ngx_tg_exec_arg_t *arg;
    ngx_uint_t i, n, has_each;
    ngx_str_t *value;
    char *rv;

    ngx_tg_lint_missing_semicolon(cf);
    arg = ngx_tg_conf_array_push(cf, &exec->args, sizeof(ngx_tg_exec_arg_t));

    if (arg == NULL) {
        return NGX_CONF_ERROR;
    }

    has_each = 0;
    rv = ngx_tg_exec_arg_parse_params(cf, arg, &has_each, &n);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;

    for (i = 1; i < n; i++) {
        word = ngx_tg_conf_array_push(cf, &arg->words,
                                      sizeof(ngx_stream_complex_value_t));

        if (word == NULL
            || ngx_tg_value_compile_for_elements(cf, &value[i], word,
                                                 has_each ? &arg->each : NULL)
                   != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }

        if (ngx_tg_command_word_push(cf, &exec->command.args, &value[i],
                                     (arg->path != NULL || arg->when != NULL
                                          ? NGX_TG_WORD_OPTIONAL
                                          : 0)
                                         | (has_each ? NGX_TG_WORD_REPEATED : 0)
                                         | (i == 1 ? NGX_TG_WORD_FIRST : 0))
            != NGX_OK)
        {
            return NGX_CONF_ERROR;
        }

        ngx_tg_lint_program_word(cf, &value[i], &exec->program);
        ngx_tg_exec_arg_lint_word(cf, &value[i]);

        if (arg->each == NULL) {
            ngx_tg_value_mark_as_word(cf, word,
                                      arg->path != NULL || arg->when != NULL);
        }
    }

    return has_each && arg->each == NULL
               ? "has \"each\", but no argument of the call to repeat it for; "
                 "add \"$tool_arg_NAME\""
               : NGX_CONF_OK;
}

/* --- execution of a call --- */

/*
 * Checks a condition that is one argument: it is true unless absent, false,
 * null, 0 or empty.
 */
static ngx_uint_t
ngx_tg_exec_arg_is_value_true(tg_str_t raw)
{
    tg_number_t number;
    tg_json_cursor_t json;

    switch (tg_json_type(raw)) {
    case TG_JSON_NONE:
    case TG_JSON_FALSE:
    case TG_JSON_NULL:
        return 0;

    case TG_JSON_STRING:
        return tg_json_string_body(raw).len != 0;

    case TG_JSON_NUMBER:
        /* 0.0, -0 and 0e1 count as 0, too. */
        return tg_number_parse(raw, &number) != TG_OK || number.count != 0;

    default:
        break;
    }

    tg_json_init(&json, raw);
    (void) (tg_json_type(raw) == TG_JSON_ARRAY ? tg_json_enter_array(&json)
                                               : tg_json_enter_object(&json));
    tg_json_peek_type(&json);

    return json.pos < json.end && *json.pos != ']' && *json.pos != '}';
}

static ngx_uint_t
ngx_tg_exec_arg_is_text_true(const ngx_str_t *text)
{
    static const char *const words[] = { "", "0", "false", "null", NULL };

    return tg_str_find(ngx_tg_str_from_ngx(text), words) < 0;
}

/*
 * Evaluates the condition of an `arg` directive. NGX_OK: pass the words;
 * NGX_DECLINED: leave them out; NGX_ERROR: no memory.
 */
static ngx_int_t
ngx_tg_exec_arg_eval_if(ngx_tg_call_t *call, const ngx_tg_exec_arg_t *arg)
{
    tg_json_member_t note;
    ngx_uint_t is_true;
    ngx_str_t text;

    if (arg->path != NULL) {
        ngx_tg_call_get_path_value(call, arg->path, &note);
        is_true = ngx_tg_exec_arg_is_value_true(note.value);

    } else if (arg->when != NULL) {
        if (ngx_tg_call_eval_value(call, arg->when, &text) != NGX_OK) {
            return NGX_ERROR;
        }

        is_true = ngx_tg_exec_arg_is_text_true(&text);

    } else {
        return NGX_OK;
    }

    return is_true != arg->is_negated ? NGX_OK : NGX_DECLINED;
}

/*
 * Returns the error for a word that is longer than Linux allows, so that the
 * runner need not try. The text is the runner's own for a command line that is
 * too long.
 */
static const char *
ngx_tg_exec_make_too_long_error(ngx_tg_call_t *call)
{
    static const char why[] = " could not be started: its arguments and "
                              "environment are larger than the system allows; "
                              "pass large values on its standard input.";
    u_char *text, *p;

    call->rule = NGX_TG_RULE_EXEC;
    text = ngx_pnalloc(call->pool, call->entry->name.len + sizeof(why));

    if (text == NULL) {
        return TG_TEXT_NO_MEMORY;
    }

    p = ngx_cpymem(text, call->entry->name.data, call->entry->name.len);
    ngx_memcpy(p, why, sizeof(why));

    return (const char *) text;
}

const char *
ngx_tg_exec_write_word(ngx_tg_call_t *call, tg_buf_t *buf,
                       ngx_stream_complex_value_t *value, const char *invalid)
{
    ngx_str_t text;

    if (ngx_tg_call_eval_value(call, value, &text) != NGX_OK) {
        return TG_TEXT_NO_MEMORY;
    }

    return text.len < NGX_TG_ARGV_WORD_PAGES_MAX * ngx_pagesize
               ? ngx_tg_append_json_string_end(buf, ngx_tg_str_from_ngx(&text),
                                               invalid)
               : ngx_tg_exec_make_too_long_error(call);
}

static const char *
ngx_tg_exec_write_words(ngx_tg_call_t *call, ngx_array_t *words, tg_buf_t *buf)
{
    ngx_stream_complex_value_t *word;
    const char *mistake;
    ngx_uint_t i;

    word = words->elts;
    mistake = NULL;

    for (i = 0; mistake == NULL && i < words->nelts; i++) {
        tg_json_begin_element(buf);
        tg_buf_append_char(buf, '"');
        mistake = ngx_tg_exec_write_word(call, buf, &word[i],
                                         "An argument of the program is "
                                         "not valid UTF-8.");
    }

    return mistake;
}

/*
 * Writes the words once for each element; a value that is not an array counts
 * as one element.
 */
static const char *
ngx_tg_exec_write_each_element(ngx_tg_call_t *call,
                               const ngx_tg_exec_arg_t *arg, tg_buf_t *buf)
{
    ngx_tg_arg_elements_t elements;
    const char *mistake;
    ngx_uint_t n;

    mistake = NULL;
    ngx_tg_call_begin_elements(call, arg->each, &elements);

    for (n = arg->words->nelts;
         mistake == NULL && ngx_tg_call_next_element(call, &elements);
         n += arg->words->nelts)
    {
        mistake = n > NGX_TG_ARGV_WORDS_MAX
                      ? "The call has more than 4096 arguments or variables."
                      : ngx_tg_exec_write_words(call, arg->words, buf);
    }

    call->element = TG_STR_NONE;

    return mistake;
}

const char *
ngx_tg_exec_write_argv(ngx_tg_call_t *call, ngx_tg_exec_conf_t *exec,
                       tg_buf_t *buf)
{
    ngx_tg_exec_arg_t *arg;
    const char *mistake;
    ngx_uint_t i;
    ngx_int_t rc;

    tg_json_begin_member(buf, "argv");
    tg_buf_append_char(buf, '[');
    mistake = ngx_tg_exec_write_words(call, exec->argv, buf);

    arg = exec->args != NULL ? exec->args->elts : NULL;

    for (i = 0; mistake == NULL && arg != NULL && i < exec->args->nelts; i++) {
        rc = ngx_tg_exec_arg_eval_if(call, &arg[i]);

        if (rc == NGX_ERROR) {
            mistake = TG_TEXT_NO_MEMORY;
        } else if (rc == NGX_OK) {
            mistake = arg[i].each != NULL
                          ? ngx_tg_exec_write_each_element(call, &arg[i], buf)
                          : ngx_tg_exec_write_words(call, arg[i].words, buf);
        }
    }

    tg_buf_append_char(buf, ']');

    /*
     * An argument of a condition or of `each` may not have been found within
     * the steps.
     */
    return call->is_out_of_steps ? TG_TEXT_NO_MEMORY : mistake;
}
