/*
 * Hints for a config that NGINX refuses: the directive that was probably meant,
 * and the place where a ";" is probably missing.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

#include "base/tg_spell.h"

/* Contexts of this module's blocks, and of a `server`. */
#define NGX_TOOLGATE_HINT_SERVER (NGX_STREAM_SRV_CONF | NGX_STREAM_MAIN_CONF)

/* What a list of names holds at most. */
#define NGX_TOOLGATE_HINT_NAMES 512

/* Writes the names of a context's directives to names, which ends with NULL. */
static void
ngx_toolgate_hint_names(ngx_conf_t *cf, ngx_uint_t context, const char **names)
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
            if ((cmd->type & context) && n < NGX_TOOLGATE_HINT_NAMES - 1) {
                names[n++] = (const char *) cmd->name.data;
            }
        }
    }

    names[n] = NULL;
}

/* Returns whether the word is one of the names. */
static ngx_uint_t
ngx_toolgate_hint_has(const char *const *names, const char *word)
{
    for (/* void */; *names != NULL; names++) {
        if (strcmp(*names, word) == 0) {
            return 1;
        }
    }

    return 0;
}

/*
 * Logs the name that was probably meant by an unknown one.  A name with or
 * without "tool_" is often that of another context.
 */
static void
ngx_toolgate_hint_name(ngx_conf_t *cf, const ngx_str_t *name,
                       const char *const *names)
{
    const char *near;
    u_char longer[64];

    near = tg_spell(tg_str((char *) name->data, name->len), names);

    if (near == NULL && name->len < sizeof(longer) - sizeof("tool_")) {
        ngx_sprintf(longer, "tool_%V%Z", name);
        near = tg_spell(tg_str_c((char *) longer), names);
    }

    if (near == NULL && ngx_strncmp(name->data, "tool_", 5) == 0) {
        near = tg_spell(tg_str_c((char *) name->data + 5), names);
    }

    if (near != NULL && ngx_strcmp(near, name->data) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a directive of this block; did you "
                           "mean \"%s\"?",
                           name, near);
    }
}

/* --- the text that was read --- */

/* Returns the end of the text before p without blanks and comments. */
static u_char *
ngx_toolgate_hint_back(u_char *start, u_char *p)
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
ngx_toolgate_hint_lines(const u_char *from, const u_char *to)
{
    ngx_uint_t n;

    for (n = 0; from < to; from++) {
        n += *from == LF;
    }

    return n;
}

/*
 * Returns the last line in the text from start to end that begins with a word,
 * at that word; NULL if there is none.
 */
static u_char *
ngx_toolgate_hint_line(u_char *start, u_char *end, const ngx_str_t *word)
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
 * of a line.  Returns 1 if it did.
 */
static ngx_uint_t
ngx_toolgate_hint_argument(ngx_conf_t *cf, ngx_uint_t level,
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

    /* Only within the statement that has just ended. */
    for (before = end - 1; before > start; before--) {
        if (before[-1] == ';' && (*before == '\r' || *before == LF)) {
            start = before - 1;
            break;
        }
    }

    for (i = 1; i < cf->args->nelts; i++) {
        if (!ngx_toolgate_hint_has(names, (char *) value[i].data)) {
            continue;
        }

        word = ngx_toolgate_hint_line(start, end, &value[i]);

        if (word == NULL) {
            continue;
        }

        before = ngx_toolgate_hint_back(start, word);
        line = cf->conf_file->line - ngx_toolgate_hint_lines(before, end);
        ngx_conf_log_error(level, cf, 0,
                           "\"%V\" has \"%V\" of the next line as an "
                           "argument; a \";\" is probably missing at the end "
                           "of line %ui",
                           &value[0], &value[i], line);
        return 1;
    }

    return 0;
}

/* Logs in which line a ";" is missing before a "}". */
static void
ngx_toolgate_hint_end(ngx_conf_t *cf)
{
    ngx_str_t *value;
    ngx_buf_t *b;
    u_char *end;

    value = cf->args->elts;
    b = cf->conf_file->buffer;
    end = ngx_toolgate_hint_back(b->start, b->pos - 1);

    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" has no end; a \";\" is probably missing at the "
                       "end of line %ui",
                       &value[0],
                       cf->conf_file->line
                           - ngx_toolgate_hint_lines(end, b->pos));
}

/* --- what others call --- */

void
ngx_toolgate_advise_semicolon(ngx_conf_t *cf)
{
    const char *names[NGX_TOOLGATE_HINT_NAMES];

    if (cf->args->nelts > 2 && cf->conf_file->buffer != NULL) {
        ngx_toolgate_hint_names(cf, cf->cmd_type, names);
        (void) ngx_toolgate_hint_argument(cf, NGX_LOG_WARN, names);
    }
}

void
ngx_toolgate_explain(ngx_conf_t *cf)
{
    const char *names[NGX_TOOLGATE_HINT_NAMES];
    ngx_conf_file_t *file;
    ngx_str_t *name;
    ngx_buf_t *b;

    if (cf->args->nelts == 0) {
        return;
    }

    name = cf->args->elts;
    b = cf->conf_file->buffer;
    ngx_toolgate_hint_names(cf, cf->cmd_type, names);

    if (!ngx_toolgate_hint_has(names, (char *) name->data)) {
        file = cf->conf_file;

        /* That of an included file is closed; NGINX has named its line. */
        if (ngx_strlcasestrn(b->start, b->pos, name->data, name->len - 1)
            == NULL) {
            cf->conf_file = NULL;
        }

        ngx_toolgate_hint_name(cf, name, names);
        cf->conf_file = file;

    } else if (b->pos > b->start && b->pos[-1] == '}') {
        ngx_toolgate_hint_end(cf);

    } else {
        (void) ngx_toolgate_hint_argument(cf, NGX_LOG_EMERG, names);
    }

    /* The blocks around this one have nothing to add. */
    cf->args->nelts = 0;
}

/* The stream block failed, unless it was read whole: NGINX frees the config. */
static void
ngx_toolgate_hint_server(void *data)
{
    const char *names[NGX_TOOLGATE_HINT_NAMES];
    ngx_conf_t *cf = data;
    ngx_uint_t i;
    ngx_str_t *value;

    if (cf->ctx == NULL || cf->args->nelts == 0) {
        return;
    }

    value = cf->args->elts;
    ngx_toolgate_hint_names(cf, NGX_TOOLGATE_HINT_SERVER, names);

    if (!ngx_toolgate_hint_has(names, (char *) value[0].data)) {
        ngx_toolgate_hint_name(cf, &value[0], names);
        return;
    }

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_toolgate_hint_has(names, (char *) value[i].data)) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" has \"%V\" as an argument; a \";\" is "
                               "probably missing before \"%V\"",
                               &value[0], &value[i], &value[i]);
            return;
        }
    }
}

ngx_conf_t *
ngx_toolgate_explain_start(ngx_conf_t *cf)
{
    ngx_pool_cleanup_t *cln;
    ngx_conf_t *copy;

    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_conf_t));
    if (cln == NULL) {
        return NULL;
    }

    /* NGINX's own is on its stack, as is the file. */
    copy = cln->data;
    *copy = *cf;
    copy->conf_file = NULL;
    copy->ctx = copy;
    cln->handler = ngx_toolgate_hint_server;

    return copy;
}
