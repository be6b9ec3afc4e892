/*
 * JSON in a config, or in a file that it names; and where in them a mistake
 * is.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

#include "schema/tg_schema_bundle.h"

/* A schema is a page or two; more is a mistake in the path. */
#define NGX_TOOLGATE_SCHEMA_MAX 1048576

/* --- where it stands in the config --- */

/* An argument within quotes, as it is in the config's file. */
typedef struct {
    const u_char *start; /* behind the quote */
    const u_char *end;   /* at the other one */
    ngx_uint_t line;     /* of the end */
} ngx_toolgate_quoted_t;

/* As NGINX reads it: the next character, how many bytes it takes. */
static size_t
ngx_toolgate_unquote(const u_char *p, const u_char *end, u_char *c)
{
    *c = *p;

    if (*p != '\\' || end - p < 2) {
        return 1;
    }

    switch (p[1]) {
    case '"':
    case '\'':
    case '\\':
        *c = p[1];
        return 2;
    case 't':
        *c = '\t';
        return 2;
    case 'r':
        *c = '\r';
        return 2;
    case 'n':
        *c = '\n';
        return 2;
    default:
        return 1;
    }
}

static ngx_uint_t
ngx_toolgate_quoted_is(const ngx_toolgate_quoted_t *quoted,
                       const ngx_str_t *text)
{
    const u_char *p;
    size_t i;
    u_char c;

    p = quoted->start;

    for (i = 0; p < quoted->end; i++) {
        p += ngx_toolgate_unquote(p, quoted->end, &c);

        if (i == text->len || text->data[i] != c) {
            return 0;
        }
    }

    return i == text->len;
}

/*
 * The last argument of the directive that was read: NGINX has it in its
 * buffer up to the semicolon.  NGX_DECLINED: it is none within quotes.
 */
static ngx_int_t
ngx_toolgate_quoted(ngx_conf_t *cf, const ngx_str_t *text,
                    ngx_toolgate_quoted_t *quoted)
{
    const u_char *p, *first;
    ngx_buf_t *b;

    b = cf->conf_file->buffer;
    quoted->line = cf->conf_file->line;

    if (b == NULL || b->pos == b->start) {
        return NGX_DECLINED;
    }

    first = b->start;

    for (p = b->pos - 1; p > first && strchr(" \t\r\n", p[-1]) != NULL; p--) {
        quoted->line -= p[-1] == '\n';
    }

    if (p == first || (p[-1] != '\'' && p[-1] != '"')) {
        return NGX_DECLINED;
    }

    quoted->end = p - 1;

    for (p = quoted->end; p > first; p--) {
        quoted->start = p;

        if (p[-1] == *quoted->end && ngx_toolgate_quoted_is(quoted, text)) {
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}

/* Where in the config a byte of it is. */
static const u_char *
ngx_toolgate_quoted_at(const ngx_toolgate_quoted_t *quoted, size_t offset)
{
    const u_char *p;
    u_char c;

    for (p = quoted->start; p < quoted->end && offset > 0; offset--) {
        p += ngx_toolgate_unquote(p, quoted->end, &c);
    }

    return p;
}

static ngx_uint_t
ngx_toolgate_quoted_line(const ngx_toolgate_quoted_t *quoted, const u_char *p)
{
    ngx_uint_t line;

    for (line = quoted->line; p < quoted->end; p++) {
        line -= *p == '\n';
    }

    return line;
}

/* --- JSON --- */

static size_t
ngx_toolgate_json_offset(tg_str_t raw)
{
    tg_json_t json;

    tg_json_init(&json, raw);

    if (tg_json_value(&json, NULL) == TG_OK) {
        (void) tg_json_end(&json);
    }

    return (size_t) (json.pos - json.start);
}

/* Has a text the quotes of a word processor, U+201C to U+201E? */
static ngx_uint_t
ngx_toolgate_json_has_marks(const ngx_str_t *text)
{
    size_t i;

    for (i = 0; i + 2 < text->len; i++) {
        if (text->data[i] == 0xe2 && text->data[i + 1] == 0x80
            && text->data[i + 2] >= 0x9c && text->data[i + 2] <= 0x9e)
        {
            return 1;
        }
    }

    return 0;
}

/* What is wrong within the config, and in which of its lines. */
static void
ngx_toolgate_json_refuse(ngx_conf_t *cf, ngx_str_t *directive,
                         const ngx_str_t *text, const tg_buf_t *why)
{
    ngx_toolgate_quoted_t quoted;
    const char *advice;
    const u_char *at;

    advice = "put the JSON between single quotes, and double each backslash "
             "in it";

    if (ngx_toolgate_quoted(cf, text, &quoted) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not valid JSON: %*s; %s", directive,
                           why->len, why->data, advice);
        return;
    }

    if (ngx_toolgate_json_has_marks(text)) {
        advice = "write \" for the typographic quotes in it";
    }

    at = ngx_toolgate_quoted_at(&quoted, ngx_toolgate_json_offset(
                                             ngx_toolgate_str(text)));

    if (*quoted.end == '\'' && !ngx_toolgate_json_has_marks(text)) {
        advice = *at == '\\' || (at - quoted.start > 1 && at[-2] == '\\')
                     ? "double each backslash in it, as NGINX takes one away"
                     : "correct it";
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"%V\" is not valid JSON: %*s; %s in %V:%ui", directive,
                  why->len, why->data, advice, &cf->conf_file->file.name,
                  ngx_toolgate_quoted_line(&quoted, at));
}

ngx_int_t
ngx_toolgate_json_check(ngx_conf_t *cf, ngx_str_t *directive,
                        const ngx_str_t *file, const ngx_str_t *text)
{
    tg_buf_t why;
    int rc;

    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_json_explain(ngx_toolgate_str(text), &why);

    if (rc != TG_OK && file != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not valid JSON: %*s; correct \"%V\"",
                           directive, why.len, why.data, file);
    } else if (rc != TG_OK) {
        ngx_toolgate_json_refuse(cf, directive, text, &why);
    }

    tg_buf_deinit(&why);

    return rc == TG_OK ? NGX_OK : NGX_ERROR;
}

ngx_int_t
ngx_toolgate_json(ngx_conf_t *cf, ngx_str_t *directive, const ngx_str_t *text,
                  tg_str_t *json)
{
    ngx_str_t copy;
    ngx_int_t rc;
    tg_buf_t buf;

    if (ngx_toolgate_json_check(cf, directive, NULL, text) != NGX_OK) {
        return NGX_ERROR;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_put_compact(&buf, ngx_toolgate_str(text));
    rc = ngx_toolgate_copy(cf, &buf, &copy);
    tg_buf_deinit(&buf);

    if (rc == NGX_OK) {
        *json = ngx_toolgate_str(&copy);
    }

    return rc;
}

/* --- files --- */

ngx_int_t
ngx_toolgate_read_file(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *text,
                       ngx_file_info_t *fi)
{
    ngx_file_t file;
    ngx_int_t rc;
    ssize_t n;

    if (ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_memzero(&file, sizeof(ngx_file_t));
    file.name = *name;
    file.log = cf->log;
    file.fd = ngx_open_file(name->data, NGX_FILE_RDONLY | NGX_FILE_NONBLOCK,
                            NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_file_n " \"%V\" failed", name);
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (ngx_fd_info(file.fd, fi) == NGX_FILE_ERROR || !ngx_is_file(fi)
        || ngx_file_size(fi) > NGX_TOOLGATE_SCHEMA_MAX)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is no regular file of at most 1 MiB", name);
        goto done;
    }

    text->len = (size_t) ngx_file_size(fi);
    text->data = ngx_pnalloc(cf->pool, text->len + 1);

    if (text->data == NULL) {
        goto done;
    }

    n = ngx_read_file(&file, text->data, text->len, 0);

    if (n == (ssize_t) text->len) {
        text->data[n] = '\0';
        rc = NGX_OK;
    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" could not be read whole", name);
    }

done:

    (void) ngx_close_file(file.fd);

    return rc;
}

typedef struct {
    ngx_conf_t *cf;
    ngx_str_t *directive;
    ngx_str_t *file;
    ngx_str_t folder; /* with its slash */
} ngx_toolgate_folder_t;

static int
ngx_toolgate_json_fetch(void *ctx, tg_str_t name, tg_str_t *raw)
{
    ngx_toolgate_folder_t *folder = ctx;
    ngx_file_info_t fi;
    ngx_str_t path, text;

    path.len = folder->folder.len + name.len;
    path.data = ngx_pnalloc(folder->cf->pool, path.len + 1);

    if (path.data == NULL) {
        return TG_NOMEM;
    }

    (void) ngx_sprintf(path.data, "%V%*s%Z", &folder->folder, name.len,
                       name.data);

    if (access((char *) path.data, R_OK) != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, folder->cf, ngx_errno,
                           "a \"$ref\" of \"%V\", or behind it, leads to "
                           "\"%V\", which cannot be read",
                           folder->file, &path);
        return TG_BAD;
    }

    if (ngx_toolgate_read_file(folder->cf, &path, &text, &fi) != NGX_OK
        || ngx_toolgate_json_check(folder->cf, folder->directive, &path, &text)
               != NGX_OK)
    {
        return TG_BAD;
    }

    *raw = ngx_toolgate_str(&text);

    return TG_OK;
}

ngx_int_t
ngx_toolgate_json_file(ngx_conf_t *cf, ngx_str_t *directive, ngx_str_t *path,
                       tg_str_t *json)
{
    ngx_toolgate_folder_t folder = { .cf = cf,
                                     .directive = directive,
                                     .file = path };
    tg_schema_files_t files = { .alloc = tg_alloc_libc(),
                                .fetch = ngx_toolgate_json_fetch,
                                .ctx = &folder };
    ngx_file_info_t fi;
    ngx_str_t text, copy;
    tg_buf_t out, error;
    ngx_int_t rc;
    u_char *name;

    if (ngx_toolgate_read_file(cf, path, &text, &fi) != NGX_OK
        || ngx_toolgate_json_check(cf, directive, path, &text) != NGX_OK)
    {
        return NGX_ERROR;
    }

    name = path->data + path->len;

    while (name > path->data && name[-1] != '/') {
        name--;
    }

    folder.folder.data = path->data;
    folder.folder.len = (size_t) (name - path->data);
    files.name = tg_str((char *) name, path->len - folder.folder.len);
    tg_buf_init(&out, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());
    rc = NGX_ERROR;

    if (tg_schema_bundle(&files, ngx_toolgate_str(&text), &out, &error) == TG_OK
        && ngx_toolgate_copy(cf, &out, &copy) == NGX_OK)
    {
        *json = ngx_toolgate_str(&copy);
        rc = NGX_OK;
    }

    if (error.len != 0) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid \"%V\": %*s",
                           directive, error.len, error.data);
    }

    tg_buf_deinit(&out);
    tg_buf_deinit(&error);

    return rc;
}
