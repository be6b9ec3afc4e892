/*
 * Warnings about parts of a tool's block that are valid but probably not
 * intended, each with a remedy.
 */
#include "nginx/config/ngx_tg_listing.h"

#include "base/tg_suggest.h"
#include "catalog/tg_tool_repair.h"
#include "schema/tg_schema_lint.h"
#include "schema/tg_schema_query.h"

/* --- schemas and annotations --- */

typedef struct {
    ngx_conf_t *cf;
    ngx_str_t *directive;
} ngx_tg_schema_lint_t;

static void
ngx_tg_schema_lint_warn(void *data, tg_str_t remark)
{
    ngx_tg_schema_lint_t *lint = data;

    ngx_conf_log_error(NGX_LOG_WARN, lint->cf, 0, "\"%V\": %*s",
                       lint->directive, remark.len, remark.data);
}

ngx_int_t
ngx_tg_lint_schema(ngx_conf_t *cf, ngx_str_t *directive, tg_str_t schema)
{
    ngx_tg_schema_lint_t lint = { cf, directive };

    return tg_schema_lint(schema, ngx_tg_schema_lint_warn, &lint) == TG_OK
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_tg_lint_listed_schema(ngx_conf_t *cf, ngx_str_t *directive,
                          ngx_uint_t is_input, tg_str_t schema)
{
    tg_tool_repair_t repair;
    tg_str_t word;
    tg_buf_t text;
    ngx_int_t rc;

    ngx_memzero(&repair, sizeof(tg_tool_repair_t));
    tg_buf_init(&text, tg_alloc_libc());
    (void) tg_tool_schema_write_repaired(&repair, TG_TOOL_SCHEMA_INPUT, schema,
                                         &text);
    tg_buf_truncate(&text, 0);
    tg_tool_repairs_write(&text, repair.repairs);
    rc = tg_buf_has_failed(&text) ? NGX_ERROR : NGX_OK;

    if (text.len != 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" is changed before it is listed, as many "
                           "agents reject a list that contains it: %*s; change "
                           "it in the config",
                           directive, text.len, text.data);
    }

    tg_buf_deinit(&text);
    word = is_input ? tg_tool_schema_find_union(schema) : TG_STR_NONE;

    if (word.len != 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" has \"%*s\" at its root, which Anthropic's "
                           "API rejects, together with all other tools; "
                           "declare all \"properties\" at the root, and say in "
                           "the \"description\" which belong together",
                           directive, word.len, word.data);
    }

    return rc;
}

void
ngx_tg_lint_annotations(ngx_conf_t *cf, tg_str_t annotations)
{
    static const char *const hints[] = { "title",           "readOnlyHint",
                                         "destructiveHint", "idempotentHint",
                                         "openWorldHint",   NULL };
    const char *const *hint;
    const char *near;
    tg_str_t key;
    tg_json_cursor_t json;

    tg_json_iter_init_members(&json, annotations);

    while (tg_json_iter_next_member(&json, &key, NULL)) {
        for (hint = hints; *hint != NULL; hint++) {
            if (tg_json_body_eq_text(key, tg_str_from_cstr(*hint))) {
                break;
            }
        }

        if (*hint != NULL) {
            continue;
        }

        near = tg_suggest_word(key, hints);
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"annotations\": \"%*s\" is not a known hint; "
                           "%s%s%s",
                           key.len, key.data,
                           near != NULL ? "did you mean \"" : "remove it",
                           near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
}

/* --- words of programs --- */

/*
 * Warns about `*.txt` as a word of a program that takes file names, and about
 * `~/x` as a word of any program: no shell expands them.
 */
static void
ngx_tg_lint_glob_word(ngx_conf_t *cf, ngx_str_t *word, const ngx_str_t *program)
{
    static const char *const programs[] = { "ls",    "cat",   "rm",   "cp",
                                            "mv",    "wc",    "head", "tail",
                                            "du",    "stat",  "file", "chmod",
                                            "chown", "touch", "sort", "md5sum",
                                            "tar",   "gzip",  NULL };
    ngx_uint_t is_home;
    ngx_str_t *value;
    tg_str_t name;
    u_char *slash;

    is_home = word->len > 1 && word->data[0] == '~' && word->data[1] == '/';

    if (program->len == 0) {
        return;
    }

    slash = (u_char *) strrchr((char *) program->data, '/');
    name = tg_str_from_cstr(
        (char *) (slash != NULL ? slash + 1 : program->data));

    if (!is_home
        && (tg_str_find(name, programs) < 0 || word->len == 0
            || word->data[0] == '-' || ngx_strchr(word->data, '*') == NULL))
    {
        return;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "\"%V\" of \"%V\" is passed as it is, as no shell "
                       "expands it to file names; write %s",
                       word, &value[0],
                       is_home ? "the full path, such as \"/home/NAME/...\""
                               : "\"exec sh -c '...'\" with the whole command "
                                 "in single quotes, or the file names "
                                 "themselves");
}

/*
 * Warns about `--author="$x"`: quotes that do not begin a word become part of
 * the argument.
 */
static void
ngx_tg_lint_quoted_word(ngx_conf_t *cf, const ngx_str_t *word)
{
    const char *text;
    ngx_str_t *value;

    text = (const char *) word->data;

    if (word->len == 0 || text[0] != '-' || strpbrk(text, " \t\n") != NULL
        || (strstr(text, "=\"") == NULL && strstr(text, "='") == NULL))
    {
        return;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "the quotes in \"%V\" of \"%V\" become part of the "
                       "argument, as they are not at the start of the word; "
                       "remove them, or put the whole word between quotes",
                       word, &value[0]);
}

void
ngx_tg_lint_program_word(ngx_conf_t *cf, ngx_str_t *word,
                         const ngx_str_t *program)
{
    static const char *const signs[] = { "|",  "||", "|&", "&",    "&&", ">",
                                         ">>", "<",  "2>", "2>&1", ";",  NULL };
    int i;
    ngx_str_t *value;

    ngx_tg_lint_glob_word(cf, word, program);
    ngx_tg_lint_quoted_word(cf, word);

    i = tg_str_find(ngx_tg_str_from_ngx(word), signs);

    /* exclude `find … -exec … ;` */
    if ((i < 0 && (word->len < 2 || word->data[0] != '`'))
        || (i >= 0 && signs[i][0] == ';' && program->len >= 4
            && ngx_strncmp(program->data + program->len - 4, "find", 4) == 0))
    {
        return;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "\"%V\" of \"%V\" is passed to the program as an "
                       "argument, as no shell is used; remove it, or write "
                       "\"exec sh -c '... \"$1\" ...' sh $tool_arg_NAME\", "
                       "with the command in single quotes and the arguments of "
                       "the call after it; in this file, write \"$$1\" for "
                       "\"$1\"",
                       word, &value[0]);
}

void
ngx_tg_value_mark_as_word(ngx_conf_t *cf, ngx_stream_complex_value_t *value,
                          ngx_uint_t is_conditional)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_value_source_t *use;

    if (value->lengths == NULL) {
        return;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    use = mcf->value_sources.elts;
    use[mcf->value_sources.nelts - 1].is_word = 1;
    use[mcf->value_sources.nelts - 1].is_conditional = is_conditional;
}

/* --- arguments in values --- */

typedef struct {
    ngx_conf_t *cf;
    ngx_tg_tool_t *tool;
    ngx_tg_value_source_t *use;
    tg_str_t text; /* variable as written */
    tg_str_t name; /* name of the argument */
} ngx_tg_arg_reference_t;

/*
 * Reports an argument that the schema does not declare. Returns NGX_OK after a
 * warning, or NGX_ERROR if the schema forbids the argument.
 */
static ngx_int_t
ngx_tg_lint_unknown_arg(const ngx_tg_arg_reference_t *named)
{
    ngx_uint_t is_closed, level;

    is_closed = tg_schema_query_is_closed(named->tool->entry.input_schema);
    level = is_closed ? NGX_LOG_EMERG : NGX_LOG_WARN;

    ngx_log_error(level, named->cf->log, 0,
                  "the %s %s \"%*s\", so \"%*s\" %s; declare the argument, or "
                  "correct its name in %V:%ui",
                  NGX_TG_KINDS_WITH_SCHEMA >> named->tool->entry.kind & 1
                      ? "input_schema"
                      : tg_entry_type_name(named->tool->entry.kind),
                  is_closed ? "allows no argument" : "declares no argument",
                  named->name.len, named->name.data, named->text.len,
                  named->text.data,
                  is_closed ? "is always empty"
                            : "may be anything, and agents do not know about "
                              "it",
                  &named->use->file, named->use->line);

    return is_closed ? NGX_ERROR : NGX_OK;
}

/*
 * Warns about a word that consists only of this argument, if the argument is an
 * array or an object, or if it is optional without a default.
 */
static void
ngx_tg_lint_bare_arg(const ngx_tg_arg_reference_t *named, tg_str_t key,
                     tg_str_t schema)
{
    static const char *const plain[] = { "string", "number", "integer",
                                         "boolean" };
    ngx_uint_t i, is_list;
    tg_str_t root, value;

    root = named->tool->entry.input_schema;

    for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (tg_schema_query_allows_type(root, schema, plain[i])) {
            break;
        }
    }

    if (i == sizeof(plain) / sizeof(plain[0])) {
        is_list = tg_schema_query_allows_type(root, schema, "array") != 0;
        ngx_log_error(NGX_LOG_WARN, named->cf->log, 0,
                      "\"%*s\" is an %s, which becomes one word of JSON here; "
                      "write %s, or \"$tool_json_%*s\" where JSON is meant in "
                      "%V:%ui",
                      named->text.len, named->text.data,
                      is_list ? "array" : "object",
                      is_list
                          ? "it on a separate line, \"arg ... each;\""
                          : "one of its members, \"${tool_arg_NAME.MEMBER}\"",
                      named->name.len, named->name.data, &named->use->file,
                      named->use->line);

    } else if (!named->use->is_conditional
               && !tg_schema_query_is_required(root, root, key)
               && tg_schema_query_keyword(root, schema, "default", &value)
                      != TG_OK)
    {
        ngx_log_error(NGX_LOG_WARN, named->cf->log, 0,
                      "\"%*s\" is optional, and an empty word when it is "
                      "omitted; write \"arg %*s if=%*s;\", give it a "
                      "\"default\", "
                      "or make it \"required\" in %V:%ui",
                      named->text.len, named->text.data, named->text.len,
                      named->text.data, named->text.len, named->text.data,
                      &named->use->file, named->use->line);
    }
}

static ngx_int_t
ngx_tg_lint_arg_reference(ngx_tg_arg_reference_t *named,
                          tg_variable_type_t kind, tg_str_t path)
{
    tg_str_t root, key, schema;
    int rc;

    root = named->tool->entry.input_schema;
    (void) tg_variable_next_member(&path, &named->name);
    rc = tg_schema_query_property(root, root, named->name, tg_variable_is_named,
                                  &key, &schema);

    if (rc == TG_MISSING) {
        return ngx_tg_lint_unknown_arg(named);
    }

    if (rc == TG_OK && kind == TG_VARIABLE_ARG && path.data == NULL
        && named->use->is_word
        && named->text.len == named->use->source_text.len)
    {
        ngx_tg_lint_bare_arg(named, key, schema);
    }

    return NGX_OK;
}

static ngx_int_t
ngx_tg_lint_value(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                  ngx_tg_value_source_t *use)
{
    ngx_tg_arg_reference_t named = { .cf = cf, .tool = tool, .use = use };
    tg_template_token_t token;
    tg_variable_type_t kind;
    tg_str_t rest, path;

    rest = ngx_tg_str_from_ngx(&use->source_text);

    while (tg_template_next(&rest, &token) == TG_OK) {
        kind = tg_variable_get_type(token.name, &path);
        named.text = token.text;

        if (kind != TG_VARIABLE_OTHER
            && ngx_tg_lint_arg_reference(&named, kind, path) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_lint_tool(ngx_conf_t *cf, ngx_tg_tool_t *tool, ngx_uint_t first)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_value_source_t *use;
    ngx_uint_t i;

    ngx_tg_lint_listing(cf, tool);

    if (tool->entry.kind == TG_ENTRY_TOOL && tool->group == NULL
        && tool->entry.description.len == 0)
    {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "tool \"%*s\" has no \"description\", by which "
                           "agents choose tools; write what the tool is for",
                           tool->entry.name.len, tool->entry.name.data);
    }

    if (tool->entry.input_schema.data == NULL) {
        return NGX_OK;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    use = mcf->value_sources.elts;

    for (i = first; i < mcf->value_sources.nelts; i++) {
        if (ngx_tg_lint_value(cf, tool, &use[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

const char *
ngx_tg_hint_explain_arg_count(const ngx_array_t *args, ngx_uint_t is_block,
                              ngx_uint_t least)
{
    ngx_str_t *value;
    ngx_uint_t i;

    value = args->elts;

    for (i = 1; i < args->nelts; i++) {
        if (value[i].len == 1 && strchr("=:", value[i].data[0]) != NULL) {
            return "remove the \"=\" or \":\" between the name and the value";
        }
    }

    if (args->nelts - 1 >= least) {
        return is_block
                   ? "write one name, without blanks, before the \"{\""
                   : "put a value that has blanks between quotes, '...' or "
                     "\"...\", with a \"\\\" before each such quote inside it";
    }

    if (is_block) {
        return ngx_strcmp(value[0].data, "resource") == 0
                   ? "write a URI before the \"{\""
               : ngx_strcmp(value[0].data, "resource_template") == 0
                   ? "write a template before the \"{\""
                   : "write a name before the \"{\"";
    }

    return args->nelts > 1 && strpbrk((char *) value[1].data, ":=") != NULL
                   && strstr((char *) value[1].data, "://") == NULL
               ? "write a blank, not \":\" or \"=\", between a name and its "
                 "value"
               : "one is missing";
}
