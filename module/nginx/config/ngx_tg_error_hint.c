/*
 * Hints for a config that NGINX rejects: the directive that was probably meant,
 * its number of arguments, and the place where a ";" is probably missing.
 */
#include "nginx/config/ngx_tg_config.h"

#include "base/tg_suggest.h"

/* Context of the directives in a `server` block of the stream module. */
#define NGX_TG_HINT_SERVER_CONF (NGX_STREAM_SRV_CONF | NGX_STREAM_MAIN_CONF)
/* Maximum number of names in a list, including the NULL at its end. */
#define NGX_TG_HINT_NAMES_MAX 512

/* Writes the names of a context's directives to names, which ends with NULL. */
static void
ngx_tg_hint_list_directives(ngx_conf_t *cf, ngx_uint_t context,
                            const char **names)
{
    ngx_module_t *module;
    ngx_command_t *cmd;
    ngx_uint_t i, n;

    n = 0;

    for (i = 0; (module = cf->cycle->modules[i]) != NULL; i++) {
        if (module->type != NGX_STREAM_MODULE || module->commands == NULL) {
            continue;
        }

        for (cmd = module->commands; cmd->name.len != 0; cmd++) {
            if ((cmd->type & context) && n < NGX_TG_HINT_NAMES_MAX - 1) {
                names[n++] = (const char *) cmd->name.data;
            }
        }
    }

    names[n] = NULL;
}

/* Checks whether the word is one of the names. */
static ngx_uint_t
ngx_tg_hint_is_in_list(const char *const *names, const char *word)
{
    for (/* void */; *names != NULL; names++) {
        if (strcmp(*names, word) == 0) {
            return 1;
        }
    }

    return 0;
}

/*
 * Returns the directive for a name that other programs use in their configs.
 * Returns NULL if there is none among the names.
 */
static const char *
ngx_tg_hint_find_synonym(const ngx_str_t *name, const char *const *names)
{
    static const struct {
        const char *word;
        const char *meant;
    } synonyms[] = {
        { "command", "exec" },
        { "cmd", "exec" },
        { "program", "exec" },
        { "run", "exec" },
        { "script", "exec" },
        { "shell", "exec" },
        { "args", "arg" },
        { "args", "exec" },
        { "argv", "arg" },
        { "environment", "env" },
        { "dir", "cwd" },
        { "directory", "cwd" },
        { "workdir", "cwd" },
        { "working_directory", "cwd" },
        { "input", "stdin" },
        { "schema", "input_schema" },
        { "parameters", "input_schema" },
        { "desc", "description" },
        { "help", "description" },
        { "summary", "description" },
        { "server", "url" },
        { "proxy_pass", "pass" },
        { "socket", "pass" },
        { "agent", "task_agent" },
        { "rule", "automation" },
        { "mcp", "mcp_server" },
        { "function", "tool" },
    };
    size_t i;

    for (i = 0; i < sizeof(synonyms) / sizeof(synonyms[0]); i++) {
        if (ngx_strcasecmp(name->data, (u_char *) synonyms[i].word) == 0
            && ngx_tg_hint_is_in_list(names, synonyms[i].meant))
        {
            return synonyms[i].meant;
        }
    }

    return NULL;
}

/*
 * Returns the most similar name, or NULL. Directives of different contexts
 * often differ only by the prefix "tool_". It is left out of the comparison,
 * because all names with the prefix would be similar otherwise.
 */
static const char *
ngx_tg_hint_find_similar(const ngx_str_t *name, const char *const *names)
{
    const char *near, *rests[NGX_TG_HINT_NAMES_MAX];
    ngx_uint_t i, n, has_prefix;
    tg_str_t rest;

    near = ngx_tg_hint_find_synonym(name, names);
    has_prefix = ngx_strncmp(name->data, "tool_", 5) == 0;
    rest = tg_str((char *) name->data + 5 * has_prefix,
                  name->len - 5 * has_prefix);

    if (near == NULL && !has_prefix) {
        near = tg_suggest_word(rest, names);
    }

    for (i = n = 0; names[i] != NULL; i++) {
        if (ngx_strncmp(names[i], "tool_", 5) == 0) {
            rests[n++] = names[i] + 5;
        }
    }

    rests[n] = NULL;

    if (near == NULL) {
        near = tg_suggest_word(rest, rests);
        near = near != NULL ? near - 5 : NULL;
    }

    return near == NULL && has_prefix ? tg_suggest_word(rest, names) : near;
}

/* Logs the directive that was probably meant by an unknown name. */
static void
ngx_tg_hint_log_directive_name(ngx_conf_t *cf, const ngx_str_t *name,
                               const char *const *names)
{
    static const char *const blocks[] = { "tool", "method", "prompt", NULL };
    const char *near;
    int is_block;

    if (ngx_strncmp(name->data, "//", 2) == 0
        || ngx_strncmp(name->data, "--", 2) == 0
        || ngx_strncmp(name->data, "/*", 2) == 0)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a directive of this block; a comment "
                           "begins with \"#\"",
                           name);
        return;
    }

    is_block = tg_str_find(ngx_tg_str_from_ngx(name), blocks) >= 0;
    near = is_block ? NULL : ngx_tg_hint_find_similar(name, names);

    if (near != NULL && ngx_strcmp(near, name->data) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a directive of this block; did you "
                           "mean \"%s\"?",
                           name, near);

    } else if (is_block) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a directive of this block; the \"}\" "
                           "that ends the block is probably missing before it",
                           name);
    }
}

/* --- the number of arguments --- */

/*
 * Returns a directive of this context, or NULL if there is none of this name.
 */
static const ngx_command_t *
ngx_tg_hint_find_directive(ngx_conf_t *cf, ngx_uint_t context,
                           const ngx_str_t *name)
{
    ngx_module_t *module;
    ngx_command_t *cmd;
    ngx_uint_t i;

    for (i = 0; (module = cf->cycle->modules[i]) != NULL; i++) {
        if (module->type != NGX_STREAM_MODULE || module->commands == NULL) {
            continue;
        }

        for (cmd = module->commands; cmd->name.len != 0; cmd++) {
            if ((cmd->type & context)
                && tg_str_eq(ngx_tg_str_from_ngx(&cmd->name),
                             ngx_tg_str_from_ngx(name)))
            {
                return cmd;
            }
        }
    }

    return NULL;
}

/* Checks whether a directive accepts n arguments, by NGINX's own rules. */
static ngx_uint_t
ngx_tg_hint_accepts_arg_count(const ngx_command_t *cmd, ngx_uint_t n)
{
    static const ngx_uint_t bits[] = { NGX_CONF_NOARGS, NGX_CONF_TAKE1,
                                       NGX_CONF_TAKE2,  NGX_CONF_TAKE3,
                                       NGX_CONF_TAKE4,  NGX_CONF_TAKE5,
                                       NGX_CONF_TAKE6,  NGX_CONF_TAKE7 };

    if (cmd->type & NGX_CONF_ANY) {
        return 1;
    }

    if (cmd->type & (NGX_CONF_1MORE | NGX_CONF_2MORE)) {
        return n >= (cmd->type & NGX_CONF_1MORE ? 1 : 2);
    }

    return cmd->type & NGX_CONF_FLAG
               ? n == 1
               : n < sizeof(bits) / sizeof(bits[0]) && (cmd->type & bits[n]);
}

/*
 * Logs the number of arguments that the current directive takes, if its own
 * number is wrong. Returns 1 if a line was logged, else 0.
 */
static ngx_uint_t
ngx_tg_hint_log_arg_count(ngx_conf_t *cf, ngx_uint_t context)
{
    const ngx_command_t *cmd;
    ngx_uint_t least, most;
    ngx_str_t *value;
    u_char range[64];

    value = cf->args->elts;
    cmd = ngx_tg_hint_find_directive(cf, context, &value[0]);

    if (cmd == NULL || ngx_tg_hint_accepts_arg_count(cmd, cf->args->nelts - 1))
    {
        return 0;
    }

    for (least = 0; least < 8 && !ngx_tg_hint_accepts_arg_count(cmd, least);
         least++)
    {
        /* void */
    }

    for (most = 8; most > least && !ngx_tg_hint_accepts_arg_count(cmd, most);
         most--)
    {
        /* void */
    }

    if (most == 8) {
        (void) ngx_sprintf(range, "at least %ui argument%s%Z", least,
                           least == 1 ? "" : "s");
    } else if (most > least) {
        (void) ngx_sprintf(range, "%ui to %ui arguments%Z", least, most);
    } else if (most == 0) {
        (void) ngx_sprintf(range, "no argument%Z");
    } else {
        (void) ngx_sprintf(range, "%ui argument%s%Z", most,
                           most == 1 ? "" : "s");
    }

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\" takes %s, not %ui; %s",
                       &value[0], range, cf->args->nelts - 1,
                       most == 0 ? "remove what is between it and the \";\""
                                 : ngx_tg_hint_explain_arg_count(
                                     cf->args,
                                     (cmd->type & NGX_CONF_BLOCK) != 0, least));

    return 1;
}

/* --- source text --- */

/*
 * Returns the end of the text before p, without trailing blanks and comments.
 */
static u_char *
ngx_tg_hint_skip_blanks_back(u_char *start, u_char *p)
{
    u_char *line, *first;

    for (;;) {
        while (p > start && strchr(" \t\r\n", p[-1]) != NULL) {
            p--;
        }

        for (line = p; line > start && line[-1] != LF; line--) {
            /* void */
        }

        for (first = line; first < p && (*first == ' ' || *first == '\t');
             first++) {
            /* void */
        }

        if (first == p || *first != '#') {
            return p;
        }

        p = line;
    }
}

static ngx_uint_t
ngx_tg_hint_count_lines(const u_char *from, const u_char *to)
{
    ngx_uint_t n;

    for (n = 0; from < to; from++) {
        n += *from == LF;
    }

    return n;
}

/*
 * Returns the start of the last line between start and end that begins with the
 * word, after its indentation. Returns NULL if there is none.
 */
static u_char *
ngx_tg_hint_find_line(u_char *start, u_char *end, const ngx_str_t *word)
{
    u_char *p, *before;

    for (p = end - ngx_min(word->len, (size_t) (end - start)); p > start; p--) {
        if ((size_t) (end - p) <= word->len
            || ngx_memcmp(p, word->data, word->len) != 0
            || strchr(" \t\r\n;{", p[word->len]) == NULL)
        {
            continue;
        }

        for (before = p; before > start && strchr(" \t", before[-1]) != NULL;
             before--) {
            /* void */
        }

        if (before > start && before[-1] == LF) {
            return p;
        }
    }

    return NULL;
}

/*
 * Logs that a ";" is missing if an argument is a directive's name at the start
 * of a line. Returns 1 if a line was logged, else 0.
 */
static ngx_uint_t
ngx_tg_hint_log_missing_semicolon(ngx_conf_t *cf, ngx_uint_t level,
                                  const char *const *names)
{
    u_char *start, *end, *word, *before;
    ngx_uint_t i, line;
    ngx_str_t *value;
    ngx_buf_t *b;

    value = cf->args->elts;
    b = cf->conf_file->buffer;
    start = b->start;
    end = b->pos;

    /* Search only the statement that has just ended. */
    for (before = end - 1; before > start; before--) {
        if (before[-1] == ';' && (*before == '\r' || *before == LF)) {
            start = before - 1;
            break;
        }
    }

    for (i = 1; i < cf->args->nelts; i++) {
        if (!ngx_tg_hint_is_in_list(names, (char *) value[i].data)) {
            continue;
        }

        word = ngx_tg_hint_find_line(start, end, &value[i]);

        if (word == NULL) {
            continue;
        }

        before = ngx_tg_hint_skip_blanks_back(start, word);
        line = cf->conf_file->line - ngx_tg_hint_count_lines(before, end);
        ngx_conf_log_error(level, cf, 0,
                           "\"%V\" has \"%V\" of the next line as an "
                           "argument; a \";\" is probably missing at the end "
                           "of line %ui",
                           &value[0], &value[i], line);
        return 1;
    }

    return 0;
}

/* Logs the line at whose end a ";" is missing before a "}". */
static void
ngx_tg_hint_log_semicolon_at_end(ngx_conf_t *cf)
{
    ngx_str_t *value;
    ngx_buf_t *b;
    u_char *end;

    value = cf->args->elts;
    b = cf->conf_file->buffer;
    end = ngx_tg_hint_skip_blanks_back(b->start, b->pos - 1);

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" is not terminated; a \";\" is probably missing "
                       "at the "
                       "end of line %ui",
                       &value[0],
                       cf->conf_file->line
                           - ngx_tg_hint_count_lines(end, b->pos));
}

/* --- public functions --- */

void
ngx_tg_lint_missing_semicolon(ngx_conf_t *cf)
{
    const char *names[NGX_TG_HINT_NAMES_MAX];

    if (cf->args->nelts > 2 && cf->conf_file->buffer != NULL) {
        ngx_tg_hint_list_directives(cf, cf->cmd_type, names);
        (void) ngx_tg_hint_log_missing_semicolon(cf, NGX_LOG_WARN, names);
    }
}

void
ngx_tg_log_error_hint(ngx_conf_t *cf)
{
    const char *names[NGX_TG_HINT_NAMES_MAX];
    ngx_conf_file_t *file;
    ngx_str_t *name;
    ngx_buf_t *b;

    if (cf->args->nelts == 0) {
        return;
    }

    name = cf->args->elts;
    b = cf->conf_file->buffer;
    ngx_tg_hint_list_directives(cf, cf->cmd_type, names);

    if (!ngx_tg_hint_is_in_list(names, (char *) name->data)) {
        file = cf->conf_file;

        /*
         * If the error is in an included file, that file is closed already, and
         * NGINX has logged its line.
         */
        if (ngx_strlcasestrn(b->start, b->pos, name->data, name->len - 1)
            == NULL) {
            cf->conf_file = NULL;
        }

        ngx_tg_hint_log_directive_name(cf, name, names);
        cf->conf_file = file;

    } else if (b->pos > b->start && b->pos[-1] == '}') {
        ngx_tg_hint_log_semicolon_at_end(cf);

    } else if (b->pos > b->start && b->pos[-1] == '{'
               && !(ngx_tg_hint_find_directive(cf, cf->cmd_type, name)->type
                    & NGX_CONF_BLOCK))
    {
        ngx_conf_log_error(
            NGX_LOG_EMERG, cf, 0,
            "\"%V\" is not a block, but has a \"{\"; put JSON, or the whole "
            "word with the \"{\", between single quotes%s",
            name,
            ngx_strcmp(name->data, "argument") == 0
                ? ", such as 'pattern=^[a-f]{7}$'"
                : "");

    } else if (!ngx_tg_hint_log_missing_semicolon(cf, NGX_LOG_EMERG, names)) {
        (void) ngx_tg_hint_log_arg_count(cf, cf->cmd_type);
    }

    /* Prevents further hints from the enclosing blocks. */
    cf->args->nelts = 0;
}

/*
 * Logs a hint when NGINX frees the config after the stream block failed; ctx is
 * NULL if the block was read successfully.
 */
static void
ngx_tg_hint_log_for_server(void *data)
{
    const char *names[NGX_TG_HINT_NAMES_MAX];
    ngx_conf_t *cf = data;
    ngx_uint_t i;
    ngx_str_t *value;

    if (cf->ctx == NULL || cf->args->nelts == 0) {
        return;
    }

    value = cf->args->elts;
    ngx_tg_hint_list_directives(cf, NGX_TG_HINT_SERVER_CONF, names);

    if (!ngx_tg_hint_is_in_list(names, (char *) value[0].data)) {
        ngx_tg_hint_log_directive_name(cf, &value[0], names);
        return;
    }

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_tg_hint_is_in_list(names, (char *) value[i].data)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" has \"%V\" as an argument; a \";\" is "
                               "probably missing before \"%V\"",
                               &value[0], &value[i], &value[i]);
            return;
        }
    }

    if (cf->args->nelts > 1 && ngx_strcmp(value[0].data, "listen") == 0
        && value[1].len != 0 && value[1].data[0] == '/')
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is the path of a socket; write \"listen "
                           "unix:%V\"",
                           &value[1], &value[1]);
        return;
    }

    (void) ngx_tg_hint_log_arg_count(cf, NGX_TG_HINT_SERVER_CONF);
}

ngx_conf_t *
ngx_tg_start_error_hints(ngx_conf_t *cf)
{
    ngx_pool_cleanup_t *cln;
    ngx_conf_t *copy;

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_conf_t));
    if (cln == NULL) {
        return NULL;
    }

    /* The original ngx_conf_t and its file are on NGINX's stack. */
    copy = cln->data;
    *copy = *cf;
    copy->conf_file = NULL;
    copy->ctx = copy;
    cln->handler = ngx_tg_hint_log_for_server;

    return copy;
}
