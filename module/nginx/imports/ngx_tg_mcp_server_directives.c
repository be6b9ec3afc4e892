/* Directives of an `mcp_server` block. */
#include "nginx/imports/ngx_tg_imports.h"

#include "base/tg_utf8.h"
#include "catalog/tg_imported_tool.h"

#include <ctype.h>

/* Maximum length of a prefix: half of the 64 characters that agents allow. */
#define NGX_TG_MCP_PREFIX_MAX 32

/* --- values --- */

ngx_uint_t
ngx_tg_mcp_server_is_word(const ngx_str_t *text, size_t max)
{
    return text->len <= max && tg_str_is_word(ngx_tg_str_from_ngx(text), "_-");
}

const char *
ngx_tg_mcp_server_text_check(const ngx_str_t *text)
{
    ngx_uint_t i;

    for (i = 0; i + 1 < text->len; i++) {
        if (text->data[i] == '$' && text->data[i + 1] == '$') {
            i++;

        } else if (text->data[i] == '$'
                   && (isalpha(text->data[i + 1]) || text->data[i + 1] == '_'
                       || text->data[i + 1] == '{'))
        {
            return "has a variable, but the server is started for many calls; "
                   "write the value itself, and \"$$\" for a dollar";
        }
    }

    return tg_utf8_is_valid(ngx_tg_str_from_ngx(text)) ? NULL
                                                       : "is not valid UTF-8";
}

static char *
ngx_tg_mcp_server_push_text(ngx_conf_t *cf, ngx_array_t **array,
                            ngx_str_t *text)
{
    ngx_str_t *slot;

    slot = ngx_tg_conf_array_push(cf, array, sizeof(ngx_str_t));

    if (slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = *text;

    return NGX_CONF_OK;
}

/* Appends the directive's arguments, from the n-th on. */
static char *
ngx_tg_mcp_server_push_args(ngx_conf_t *cf, ngx_uint_t n, ngx_array_t **array)
{
    const char *mistake;
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    for (i = n; i < cf->args->nelts; i++) {
        mistake = ngx_tg_mcp_server_text_check(&value[i]);

        if (mistake != NULL) {
            return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", &value[i],
                                     &value[0], mistake);
        }

        if (n > 1) {
            ngx_tg_lint_program_word(cf, &value[i], &value[1]);
        }

        if (ngx_tg_unescape_dollars(cf, &value[i]) != NGX_OK
            || ngx_tg_mcp_server_push_text(cf, array, &value[i]) != NGX_CONF_OK)
        {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

/* --- directives --- */

char *
ngx_tg_mcp_server_set_exec(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    ngx_str_t *value, program;

    if (mcp->argv != NULL) {
        return "is duplicate; write another \"mcp_server\" block for another "
               "server";
    }

    ngx_tg_lint_missing_semicolon(cf);
    value = cf->args->elts;

    if (value[1].len == 0) {
        return "needs a program";
    }

    if (ngx_tg_conf_resolve_program(cf, &value[1], &program) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&program))) {
        return "is not valid UTF-8";
    }

    return ngx_tg_mcp_server_push_text(cf, &mcp->argv, &program) == NGX_CONF_OK
               ? ngx_tg_mcp_server_push_args(cf, 2, &mcp->argv)
               : NGX_CONF_ERROR;
}

char *
ngx_tg_mcp_server_set_pass(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    struct sockaddr_un *sun;
    ngx_str_t *value;
    ngx_url_t u;

    if (mcp->pass.data != NULL) {
        return "is duplicate; write another \"mcp_server\" block for another "
               "server";
    }

    value = cf->args->elts;
    ngx_memzero(&u, sizeof(ngx_url_t));
    u.url = value[1];

    if (ngx_parse_url(cf->pool, &u) != NGX_OK || u.naddrs == 0
        || (u.family != AF_UNIX && u.no_port))
    {
        return ngx_tg_conf_error(cf,
                                 "invalid address \"%V\" of \"%V\"%s%s; write "
                                 "\"unix:/PATH\" or \"HOST:PORT\"",
                                 &value[1], &cmd->name,
                                 u.err != NULL ? ": " : "",
                                 u.err != NULL ? u.err : "");
    }

    if (u.family != AF_UNIX) {
        mcp->pass = u.addrs[0].name;
        return NGX_CONF_OK;
    }

    sun = (struct sockaddr_un *) u.addrs[0].sockaddr;

    if (sun->sun_path[0] != '/') {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"%V\" is not an absolute path; "
                                 "write "
                                 "\"unix:/PATH\"",
                                 &value[1], &cmd->name);
    }

    mcp->pass.len = sizeof("unix:") - 1 + ngx_strlen(sun->sun_path);
    mcp->pass.data = ngx_pnalloc(cf->pool, mcp->pass.len + 1);

    if (mcp->pass.data == NULL) {
        return NGX_CONF_ERROR;
    }

    (void) ngx_sprintf(mcp->pass.data, "unix:%s%Z", sun->sun_path);

    return NGX_CONF_OK;
}

char *
ngx_tg_mcp_server_add_env(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    ngx_str_t *value, *other, pair;
    const char *mistake;
    ngx_uint_t i;
    ngx_int_t rc;

    value = cf->args->elts;
    rc = ngx_tg_secret_arg_read(cf, &value[2], &value[2]);
    mistake = rc == NGX_DECLINED ? ngx_tg_mcp_server_text_check(&value[2])
                                 : NULL;

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", &value[2],
                                 &cmd->name, mistake);
    }

    if (rc == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }

    if (value[1].len == 0 || strpbrk((char *) value[1].data, "=$") != NULL
        || !tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[1])))
    {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" in \"%V\"; write "
                                 "\"env NAME VALUE\"",
                                 &value[1], &cmd->name);
    }

    if (rc == NGX_DECLINED && ngx_tg_unescape_dollars(cf, &value[2]) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    pair.len = value[1].len + 1 + value[2].len;
    pair.data = ngx_pnalloc(cf->pool, pair.len + 1);

    if (pair.data == NULL) {
        return NGX_CONF_ERROR;
    }

    (void) ngx_sprintf(pair.data, "%V=%V%Z", &value[1], &value[2]);

    for (i = 0; mcp->env != NULL && i < mcp->env->nelts; i++) {
        other = mcp->env->elts;

        if (other[i].len > value[1].len
            && ngx_strncmp(other[i].data, pair.data, value[1].len + 1) == 0)
        {
            return "sets the same name twice";
        }
    }

    return ngx_tg_mcp_server_push_text(cf, &mcp->env, &pair);
}

/* cwd PATH|client */
char *
ngx_tg_mcp_server_set_cwd(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    const char *mistake;
    ngx_file_info_t fi;
    ngx_str_t *value;

    if (mcp->cwd.data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    mistake = ngx_tg_mcp_server_text_check(&value[1]);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", &value[1],
                                 &cmd->name, mistake);
    }

    mcp->cwd = value[1];

    if (ngx_strcmp(value[1].data, "client") == 0) {
        mcp->has_client_cwd = 1;
        return NGX_CONF_OK;
    }

    if (ngx_tg_unescape_dollars(cf, &mcp->cwd) != NGX_OK
        || ngx_conf_full_name(cf->cycle, &mcp->cwd, 1) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (ngx_file_info(mcp->cwd.data, &fi) == NGX_FILE_ERROR || !ngx_is_dir(&fi))
    {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"%V\" is not a directory; write "
                                 "one, "
                                 "or \"cwd client\"",
                                 &mcp->cwd, &cmd->name);
    }

    return ngx_tg_conf_result(
        ngx_tg_conf_require_file(cf, &mcp->cwd, NGX_TG_ACCESS_TRAVERSE));
}

char *
ngx_tg_mcp_server_set_prefix(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    ngx_str_t *value;

    if (mcp->prefix.data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (!ngx_tg_mcp_server_is_word(&value[1], NGX_TG_MCP_PREFIX_MAX)) {
        return ngx_tg_conf_error(cf,
                                 "invalid value \"%V\" in \"%V\"; write at "
                                 "most %d letters, digits, \"_\" and \"-\", or "
                                 "\"\" for none",
                                 &value[1], &cmd->name, NGX_TG_MCP_PREFIX_MAX);
    }

    mcp->prefix = value[1];

    return NGX_CONF_OK;
}

/* tools PATTERN ... and hide PATTERN ... */
char *
ngx_tg_mcp_server_add_patterns(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    const char *mistake;
    ngx_array_t **array;
    ngx_str_t *value;
    ngx_uint_t i;

    array = (ngx_array_t **) (void *) ((char *) conf + cmd->offset);
    value = cf->args->elts;
    ngx_tg_lint_missing_semicolon(cf);

    for (i = 1; i < cf->args->nelts; i++) {
        mistake = tg_glob_check(ngx_tg_str_from_ngx(&value[i]));

        if (mistake != NULL) {
            return ngx_tg_conf_error(cf, "invalid pattern \"%V\" in \"%V\": %s",
                                     &value[i], &cmd->name, mistake);
        }

        if (ngx_tg_mcp_server_push_text(cf, array, &value[i]) != NGX_CONF_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

/* Checks a pattern of URIs. Returns NULL, or what a pattern is. */
static const char *
ngx_tg_uri_pattern_check(tg_str_t pattern)
{
    size_t i;

    for (i = 0; i < pattern.len; i++) {
        if ((u_char) pattern.data[i] <= ' ' || pattern.data[i] == '\x7f') {
            break;
        }
    }

    return pattern.len == 0 || pattern.len > TG_URI_MAX || i < pattern.len
                   || memchr(pattern.data, '^', pattern.len) != NULL
               ? "a pattern is a URI, in which \"*\" stands for any characters "
                 "and \"?\" for one, such as \"file:///srv/*\"; it is not a "
                 "regular expression"
               : NULL;
}

/* prompts PATTERN ...|off and resources PATTERN ...|off */
char *
ngx_tg_mcp_server_add_item_patterns(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    const char *mistake;
    ngx_array_t **array;
    ngx_uint_t is_uri, *is_off, i;
    ngx_str_t *value;

    is_uri = cmd->offset == offsetof(ngx_tg_mcp_server_t, uri_patterns);
    is_off = is_uri ? &mcp->has_no_resources : &mcp->has_no_prompts;
    array = is_uri ? &mcp->uri_patterns : &mcp->prompt_patterns;
    value = cf->args->elts;
    ngx_tg_lint_missing_semicolon(cf);

    for (i = 1; i < cf->args->nelts; i++) {
        if (ngx_strcmp(value[i].data, "off") == 0) {
            *is_off = 1;
            continue;
        }

        mistake = is_uri
                      ? ngx_tg_uri_pattern_check(ngx_tg_str_from_ngx(&value[i]))
                      : tg_glob_check(ngx_tg_str_from_ngx(&value[i]));

        if (mistake != NULL) {
            return ngx_tg_conf_error(cf, "invalid pattern \"%V\" in \"%V\": %s",
                                     &value[i], &cmd->name, mistake);
        }

        if (ngx_tg_mcp_server_push_text(cf, array, &value[i]) != NGX_CONF_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return *is_off && *array != NULL
               ? "has \"off\" and patterns; write either \"off\" or patterns"
               : NGX_CONF_OK;
}

/* Converts a directory's path to a file URI, percent-encoded (RFC 3986). */
static char *
ngx_tg_mcp_server_path_to_uri(ngx_conf_t *cf, ngx_str_t *path)
{
    ngx_file_info_t fi;
    ngx_str_t uri;
    u_char *p;
    size_t i;

    if (ngx_conf_full_name(cf->cycle, path, 1) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_file_info(path->data, &fi) == NGX_FILE_ERROR || !ngx_is_dir(&fi)) {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"roots\" is not a directory; "
                                 "write "
                                 "directories, or URIs that begin with "
                                 "\"file://\"",
                                 path);
    }

    uri.data = ngx_pnalloc(cf->pool, sizeof("file://") + 3 * path->len);

    if (uri.data == NULL) {
        return NGX_CONF_ERROR;
    }

    p = ngx_cpymem(uri.data, "file://", sizeof("file://") - 1);

    for (i = 0; i < path->len; i++) {
        p = ngx_sprintf(p,
                        isalnum(path->data[i])
                                || tg_is_one_of((char) path->data[i], "/._-~")
                            ? "%c"
                            : "%%%02Xd",
                        path->data[i]);
    }

    *p = '\0';
    uri.len = p - uri.data;
    *path = uri;

    return NGX_CONF_OK;
}

/* roots PATH|URI ... */
char *
ngx_tg_mcp_server_add_roots(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    const char *mistake;
    ngx_str_t *value;
    ngx_uint_t i;
    char *rv;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        mistake = ngx_tg_mcp_server_text_check(&value[i]);

        if (mistake != NULL || value[i].len == 0) {
            return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", &value[i],
                                     &cmd->name,
                                     mistake != NULL ? mistake : "is empty");
        }

        if (ngx_strncmp(value[i].data, "file://", sizeof("file://") - 1) == 0) {
            continue;
        }

        rv = ngx_tg_mcp_server_path_to_uri(cf, &value[i]);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    return ngx_tg_mcp_server_push_args(cf, 1, &mcp->roots);
}
