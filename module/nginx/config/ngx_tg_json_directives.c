/*
 * JSON in the config, or in a file that it names, and the line of an error in
 * it.
 */
#include "nginx/config/ngx_tg_config.h"

#include "schema/tg_schema_bundle.h"

/*
 * Maximum file size in bytes, far above that of a schema; a larger file is
 * probably the wrong one.
 */
#define NGX_TG_CONF_FILE_MAX 1048576

/* --- source text of an argument --- */

/* A quoted argument in the source text of the config file. */
typedef struct {
    const u_char *start; /* after the opening quote */
    const u_char *end;   /* at the closing quote */
    ngx_uint_t line;     /* line of the closing quote */
} ngx_tg_quoted_arg_t;

/*
 * Decodes the next character by NGINX's rules for quoted arguments. Returns the
 * number of bytes it takes in the source.
 */
static size_t
ngx_tg_quoted_arg_next_char(const u_char *p, const u_char *end, u_char *c)
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
ngx_tg_quoted_arg_is_equal(const ngx_tg_quoted_arg_t *quoted,
                           const ngx_str_t *text)
{
    const u_char *p;
    size_t i;
    u_char c;

    p = quoted->start;

    for (i = 0; p < quoted->end; i++) {
        p += ngx_tg_quoted_arg_next_char(p, quoted->end, &c);

        if (i == text->len || text->data[i] != c) {
            return 0;
        }
    }

    return i == text->len;
}

/*
 * Finds the last argument of the current directive, which is in NGINX's buffer
 * up to the semicolon. Returns NGX_OK, or NGX_DECLINED if the argument is not
 * quoted or not in the buffer.
 */
static ngx_int_t
ngx_tg_quoted_arg_find(ngx_conf_t *cf, const ngx_str_t *text,
                       ngx_tg_quoted_arg_t *quoted)
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

        if (p[-1] == *quoted->end && ngx_tg_quoted_arg_is_equal(quoted, text)) {
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}

/* Returns the position in the config file of a byte of the decoded argument. */
static const u_char *
ngx_tg_quoted_arg_seek(const ngx_tg_quoted_arg_t *quoted, size_t offset)
{
    const u_char *p;
    u_char c;

    for (p = quoted->start; p < quoted->end && offset > 0; offset--) {
        p += ngx_tg_quoted_arg_next_char(p, quoted->end, &c);
    }

    return p;
}

static ngx_uint_t
ngx_tg_quoted_arg_get_line(const ngx_tg_quoted_arg_t *quoted, const u_char *p)
{
    ngx_uint_t line;

    for (line = quoted->line; p < quoted->end; p++) {
        line -= *p == '\n';
    }

    return line;
}

/* --- JSON --- */

static size_t
ngx_tg_json_get_error_offset(tg_str_t raw)
{
    tg_json_cursor_t json;

    tg_json_init(&json, raw);

    if (tg_json_read_value(&json, NULL) == TG_OK) {
        (void) tg_json_expect_end(&json);
    }

    return (size_t) (json.pos - json.start);
}

/* Checks whether a text contains the typographic quotes U+201C to U+201E. */
static ngx_uint_t
ngx_tg_json_has_typographic_quotes(const ngx_str_t *text)
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

/* Logs a JSON error in the config with its line and a remedy. */
static void
ngx_tg_json_log_error(ngx_conf_t *cf, ngx_str_t *directive,
                      const ngx_str_t *text, const tg_buf_t *why)
{
    ngx_tg_quoted_arg_t quoted;
    const char *advice;
    const u_char *at;

    advice = "put the JSON between single quotes, and double each backslash "
             "in it";

    if (ngx_tg_quoted_arg_find(cf, text, &quoted) != NGX_OK) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not valid JSON: %*s; %s", directive,
                           why->len, why->data, advice);
        return;
    }

    if (ngx_tg_json_has_typographic_quotes(text)) {
        advice = "replace the typographic quotes in it by \"";
    }

    at = ngx_tg_quoted_arg_seek(&quoted, ngx_tg_json_get_error_offset(
                                             ngx_tg_str_from_ngx(text)));

    if (*quoted.end == '\'' && !ngx_tg_json_has_typographic_quotes(text)) {
        advice = *at == '\\' || (at - quoted.start > 1 && at[-2] == '\\')
                     ? "double each backslash in it, as NGINX removes one"
                     : "correct it";
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "\"%V\" is not valid JSON: %*s; %s in %V:%ui", directive,
                  why->len, why->data, advice, &cf->conf_file->file.name,
                  ngx_tg_quoted_arg_get_line(&quoted, at));
}

ngx_int_t
ngx_tg_conf_check_json(ngx_conf_t *cf, ngx_str_t *directive,
                       const ngx_str_t *file, const ngx_str_t *text)
{
    tg_buf_t why;
    int rc;

    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_json_validate_explain(ngx_tg_str_from_ngx(text), &why);

    if (rc != TG_OK && file != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not valid JSON: %*s; correct \"%V\"",
                           directive, why.len, why.data, file);
    } else if (rc != TG_OK) {
        ngx_tg_json_log_error(cf, directive, text, &why);
    }

    tg_buf_deinit(&why);

    return rc == TG_OK ? NGX_OK : NGX_ERROR;
}

ngx_int_t
ngx_tg_conf_parse_json(ngx_conf_t *cf, ngx_str_t *directive,
                       const ngx_str_t *text, tg_str_t *json)
{
    ngx_str_t copy;
    ngx_int_t rc;
    tg_buf_t buf;

    if (ngx_tg_conf_check_json(cf, directive, NULL, text) != NGX_OK) {
        return NGX_ERROR;
    }

    tg_buf_init(&buf, tg_alloc_libc());
    tg_json_write_compact(&buf, ngx_tg_str_from_ngx(text));
    rc = ngx_tg_conf_copy_buf(cf, &buf, &copy);
    tg_buf_deinit(&buf);

    if (rc == NGX_OK) {
        *json = ngx_tg_str_from_ngx(&copy);
    }

    return rc;
}

/* --- files --- */

ngx_int_t
ngx_tg_conf_read_file(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *text,
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
        || ngx_file_size(fi) > NGX_TG_CONF_FILE_MAX)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is not a regular file of at most 1 "
                           "MiB",
                           name);
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
                           "\"%V\" could not be read completely", name);
    }

done:

    (void) ngx_close_file(file.fd);

    return rc;
}

typedef struct {
    ngx_conf_t *cf;
    ngx_str_t *directive;
    ngx_str_t *file;
    ngx_str_t folder; /* with its final slash */
} ngx_tg_schema_dir_t;

static int
ngx_tg_schema_dir_read_file(void *ctx, tg_str_t name, tg_str_t *raw)
{
    ngx_tg_schema_dir_t *folder = ctx;
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
                           "a \"$ref\" in \"%V\", or in a file that it refers "
                           "to, leads to \"%V\", which cannot be read",
                           folder->file, &path);
        return TG_INVALID;
    }

    if (ngx_tg_conf_read_file(folder->cf, &path, &text, &fi) != NGX_OK
        || ngx_tg_conf_check_json(folder->cf, folder->directive, &path, &text)
               != NGX_OK)
    {
        return TG_INVALID;
    }

    *raw = ngx_tg_str_from_ngx(&text);

    return TG_OK;
}

ngx_int_t
ngx_tg_conf_read_json_file(ngx_conf_t *cf, ngx_str_t *directive,
                           ngx_str_t *path, tg_str_t *json)
{
    ngx_tg_schema_dir_t folder = { .cf = cf,
                                   .directive = directive,
                                   .file = path };
    tg_schema_bundle_source_t files = { .alloc = tg_alloc_libc(),
                                        .fetch = ngx_tg_schema_dir_read_file,
                                        .ctx = &folder };
    ngx_file_info_t fi;
    ngx_str_t text, copy;
    tg_buf_t out, error;
    ngx_int_t rc;
    u_char *name;

    if (ngx_tg_conf_read_file(cf, path, &text, &fi) != NGX_OK
        || ngx_tg_conf_check_json(cf, directive, path, &text) != NGX_OK)
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

    if (tg_schema_bundle(&files, ngx_tg_str_from_ngx(&text), &out, &error)
            == TG_OK
        && ngx_tg_conf_copy_buf(cf, &out, &copy) == NGX_OK)
    {
        *json = ngx_tg_str_from_ngx(&copy);
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
