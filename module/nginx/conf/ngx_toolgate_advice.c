/*
 * What is no mistake in a tool's block, but most probably not meant: warnings,
 * each with what to write instead.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

#include "base/tg_spell.h"
#include "core/tg_tool_repair.h"
#include "schema/tg_schema_lint.h"
#include "schema/tg_schema_look.h"

/* --- the JSON of a tool --- */

typedef struct {
    ngx_conf_t *cf;
    ngx_str_t *directive;
} ngx_toolgate_lint_t;

static void
ngx_toolgate_lint_say(void *data, tg_str_t remark)
{
    ngx_toolgate_lint_t *lint = data;

    ngx_conf_log_error(NGX_LOG_WARN, lint->cf, 0, "\"%V\": %*s",
                       lint->directive, remark.len, remark.data);
}

ngx_int_t
ngx_toolgate_advise_schema(ngx_conf_t *cf, ngx_str_t *directive,
                           tg_str_t schema)
{
    ngx_toolgate_lint_t lint = { cf, directive };

    return tg_schema_lint(schema, ngx_toolgate_lint_say, &lint) == TG_OK
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_toolgate_advise_listed(ngx_conf_t *cf, ngx_str_t *directive,
                           ngx_uint_t is_input, tg_str_t schema)
{
    tg_tool_repair_t repair;
    tg_str_t word;
    tg_buf_t text;
    ngx_int_t rc;

    ngx_memzero(&repair, sizeof(tg_tool_repair_t));
    tg_buf_init(&text, tg_alloc_libc());
    (void) tg_tool_schema_put(&repair, TG_TOOL_INPUT, schema, &text);
    tg_buf_truncate(&text, 0);
    tg_tool_repairs_put(&text, repair.repairs);
    rc = tg_buf_failed(&text) ? NGX_ERROR : NGX_OK;

    if (text.len != 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" is not listed as it is written, as many "
                           "agents refuse a list with it: %*s; write it so",
                           directive, text.len, text.data);
    }

    tg_buf_deinit(&text);
    word = is_input ? tg_tool_schema_union(schema) : TG_STR_NONE;

    if (word.len != 0) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"%V\" has \"%*s\" at its root, which "
                           "Anthropic's API refuses, with all tools beside it; "
                           "declare all \"properties\" at the root, and say "
                           "in the \"description\" which go together",
                           directive, word.len, word.data);
    }

    return rc;
}

void
ngx_toolgate_advise_annotations(ngx_conf_t *cf, tg_str_t annotations)
{
    static const char *const hints[] = { "title",           "readOnlyHint",
                                         "destructiveHint", "idempotentHint",
                                         "openWorldHint",   NULL };
    const char *const *hint;
    const char *near;
    tg_str_t key;
    tg_json_t json;

    tg_json_init(&json, annotations);
    (void) tg_json_object(&json);

    while (tg_json_member(&json, &key) == TG_OK) {
        (void) tg_json_value(&json, NULL);

        for (hint = hints; *hint != NULL; hint++) {
            if (tg_json_body_is(key, tg_str_c(*hint))) {
                break;
            }
        }

        if (*hint != NULL) {
            continue;
        }

        near = tg_spell(key, hints);
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"annotations\": \"%*s\" is no hint that agents "
                           "know; %s%s%s",
                           key.len, key.data,
                           near != NULL ? "did you mean \"" : "remove it",
                           near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
}

/* --- words of programs --- */

/* `*.txt` of programs that take names of files, and `~/x` of all. */
static void
ngx_toolgate_advise_glob(ngx_conf_t *cf, ngx_str_t *word,
                         const ngx_str_t *program)
{
    static const char *const programs[] = { "ls",    "cat",   "rm",   "cp",
                                            "mv",    "wc",    "head", "tail",
                                            "du",    "stat",  "file", "chmod",
                                            "chown", "touch", "sort", "md5sum",
                                            "tar",   "gzip",  NULL };
    ngx_uint_t i, is_home;
    ngx_str_t *value;
    tg_str_t name;
    u_char *slash;

    is_home = word->len > 1 && word->data[0] == '~' && word->data[1] == '/';

    if (program->len == 0) {
        return;
    }

    slash = (u_char *) strrchr((char *) program->data, '/');
    name = tg_str_c((char *) (slash != NULL ? slash + 1 : program->data));

    for (i = 0; programs[i] != NULL; i++) {
        if (tg_str_eq(name, tg_str_c(programs[i]))) {
            break;
        }
    }

    if (!is_home
        && (programs[i] == NULL || word->len == 0 || word->data[0] == '-'
            || ngx_strchr(word->data, '*') == NULL))
    {
        return;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "\"%V\" of \"%V\" stays as it is, as there is no shell "
                       "that makes names of files of it; write %s",
                       word, &value[0],
                       is_home ? "the whole path, such as \"/home/NAME/...\""
                               : "\"exec sh -c '...'\" with all of the line in "
                                 "single quotes, or the names themselves");
}

/* `--author="$x"`: quotes that do not begin a word are a part of it. */
static void
ngx_toolgate_advise_quotes(ngx_conf_t *cf, const ngx_str_t *word)
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
                       "the quotes in \"%V\" of \"%V\" become a part of the "
                       "argument, as they do not begin the word; remove them, "
                       "or put the whole word between quotes",
                       word, &value[0]);
}

void
ngx_toolgate_advise_word(ngx_conf_t *cf, ngx_str_t *word,
                         const ngx_str_t *program)
{
    static const char *const signs[] = { "|",  "||", "|&", "&",    "&&", ">",
                                         ">>", "<",  "2>", "2>&1", ";",  NULL };
    ngx_uint_t i;
    ngx_str_t *value;

    ngx_toolgate_advise_glob(cf, word, program);
    ngx_toolgate_advise_quotes(cf, word);

    for (i = 0; signs[i] != NULL; i++) {
        if (tg_str_eq(ngx_toolgate_str(word), tg_str_c(signs[i]))) {
            break;
        }
    }

    /* `find … -exec … ;` */
    if ((signs[i] == NULL && (word->len < 2 || word->data[0] != '`'))
        || (signs[i] != NULL && signs[i][0] == ';' && program->len >= 4
            && ngx_strncmp(program->data + program->len - 4, "find", 4) == 0))
    {
        return;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                       "\"%V\" of \"%V\" is an argument of the program, as "
                       "there is no shell; remove it, or write \"exec sh -c "
                       "'... \"$1\" ...' sh $tool_arg_NAME\" with all of the "
                       "line in single quotes, but for arguments of the call, "
                       "which stand behind it; in this file \"$$1\" is \"$1\"",
                       word, &value[0]);
}

void
ngx_toolgate_note_word(ngx_conf_t *cf, ngx_stream_complex_value_t *value,
                       ngx_uint_t is_guarded)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_use_t *use;

    if (value->lengths == NULL) {
        return;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    use = mcf->uses.elts;
    use[mcf->uses.nelts - 1].is_word = 1;
    use[mcf->uses.nelts - 1].is_guarded = is_guarded;
}

/* --- arguments that values name --- */

typedef struct {
    ngx_conf_t *cf;
    ngx_toolgate_tool_t *tool;
    ngx_toolgate_use_t *use;
    tg_str_t text; /* of the variable */
    tg_str_t name; /* of the argument */
} ngx_toolgate_named_t;

/* The schema declares no such argument. */
static ngx_int_t
ngx_toolgate_advise_unknown(const ngx_toolgate_named_t *named)
{
    ngx_uint_t is_closed, level;

    is_closed = tg_schema_look_is_closed(named->tool->entry.input_schema);
    level = is_closed ? NGX_LOG_EMERG : NGX_LOG_WARN;

    ngx_log_error(level, named->cf->log, 0,
                  "the input_schema %s \"%*s\", so that \"%*s\" %s; declare "
                  "the argument, or correct its name in %V:%ui",
                  is_closed ? "allows no argument" : "declares no argument",
                  named->name.len, named->name.data, named->text.len,
                  named->text.data,
                  is_closed ? "is always empty"
                            : "may be anything, and no agent knows of it",
                  &named->use->file, named->use->line);

    return is_closed ? NGX_ERROR : NGX_OK;
}

/* A word that is this argument and nothing else. */
static void
ngx_toolgate_advise_bare(const ngx_toolgate_named_t *named, tg_str_t key,
                         tg_str_t schema)
{
    static const char *const plain[] = { "string", "number", "integer",
                                         "boolean" };
    ngx_uint_t i, is_list;
    tg_str_t root, value;

    root = named->tool->entry.input_schema;

    for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        if (tg_schema_look_allows(root, schema, plain[i])) {
            break;
        }
    }

    if (i == sizeof(plain) / sizeof(plain[0])) {
        is_list = tg_schema_look_allows(root, schema, "array") != 0;
        ngx_log_error(NGX_LOG_WARN, named->cf->log, 0,
                      "\"%*s\" is an %s, and here one word of JSON; write %s, "
                      "or \"$tool_json_%*s\" where JSON is meant in %V:%ui",
                      named->text.len, named->text.data,
                      is_list ? "array" : "object",
                      is_list
                          ? "it on a line of its own, \"arg ... each;\""
                          : "one of its members, \"${tool_arg_NAME.MEMBER}\"",
                      named->name.len, named->name.data, &named->use->file,
                      named->use->line);

    } else if (!named->use->is_guarded
               && !tg_schema_look_is_required(root, root, key)
               && tg_schema_look_keyword(root, schema, "default", &value)
                      != TG_OK)
    {
        ngx_log_error(NGX_LOG_WARN, named->cf->log, 0,
                      "\"%*s\" is optional, and an empty word when it is left "
                      "out; write \"arg %*s if=%*s;\", give it a \"default\", "
                      "or make it \"required\" in %V:%ui",
                      named->text.len, named->text.data, named->text.len,
                      named->text.data, named->text.len, named->text.data,
                      &named->use->file, named->use->line);
    }
}

static ngx_int_t
ngx_toolgate_advise_named(ngx_toolgate_named_t *named, tg_value_kind_t kind,
                          tg_str_t path)
{
    tg_str_t root, key, schema;
    int rc;

    root = named->tool->entry.input_schema;
    (void) tg_value_step(&path, &named->name);
    rc = tg_schema_look_property(root, root, named->name, tg_value_is_named,
                                 &key, &schema);

    if (rc == TG_MISSING) {
        return ngx_toolgate_advise_unknown(named);
    }

    if (rc == TG_OK && kind == TG_VALUE_ARG && path.data == NULL
        && named->use->is_word && named->text.len == named->use->written.len)
    {
        ngx_toolgate_advise_bare(named, key, schema);
    }

    return NGX_OK;
}

static ngx_int_t
ngx_toolgate_advise_use(ngx_conf_t *cf, ngx_toolgate_tool_t *tool,
                        ngx_toolgate_use_t *use)
{
    ngx_toolgate_named_t named = { .cf = cf, .tool = tool, .use = use };
    tg_value_token_t token;
    tg_value_kind_t kind;
    tg_str_t rest, path;

    rest = ngx_toolgate_str(&use->written);

    while (tg_value_next(&rest, &token) == TG_OK) {
        kind = tg_value_kind(token.name, &path);
        named.text = token.text;

        if (kind != TG_VALUE_OTHER
            && ngx_toolgate_advise_named(&named, kind, path) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_int_t
ngx_toolgate_advise(ngx_conf_t *cf, ngx_toolgate_tool_t *tool, ngx_uint_t first)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_use_t *use;
    ngx_uint_t i;

    if (tool->entry.kind == TG_ENTRY_TOOL && tool->group == NULL
        && tool->entry.description.len == 0)
    {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "tool \"%*s\" has no \"description\", by which "
                           "agents choose; say what it is for",
                           tool->entry.name.len, tool->entry.name.data);
    }

    if (tool->entry.input_schema.data == NULL) {
        return NGX_OK;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    use = mcf->uses.elts;

    for (i = first; i < mcf->uses.nelts; i++) {
        if (ngx_toolgate_advise_use(cf, tool, &use[i]) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
