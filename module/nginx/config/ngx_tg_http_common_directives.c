/*
 * Directives about HTTP connections: headers, certificates, proxy, timeout, and
 * the check for libcurl.
 */
#include "nginx/config/ngx_tg_http_common_directives.h"

#include "base/tg_url.h"
#include "nginx/config/ngx_tg_config.h"

/* The library that the runner loads when it is needed. */
#define NGX_TG_LIBCURL_FILE "libcurl.so.4"

/* --- headers --- */

ngx_uint_t
ngx_tg_has_control_char(const ngx_str_t *text)
{
    size_t i;

    for (i = 0; i < text->len; i++) {
        if ((text->data[i] < ' ' && text->data[i] != '\t')
            || text->data[i] == 0x7f) {
            return 1;
        }
    }

    return 0;
}

const char *
ngx_tg_header_name_check(const ngx_str_t *name)
{
    static const char *const own[] = { "Host",
                                       "Content-Length",
                                       "Transfer-Encoding",
                                       "Connection",
                                       "Keep-Alive",
                                       "Upgrade",
                                       "TE",
                                       "Trailer",
                                       "Expect",
                                       "Accept-Encoding",
                                       "Proxy-Authorization",
                                       "Proxy-Connection" };
    ngx_uint_t i;

    if (name->len == 0
        || !tg_str_is_word(ngx_tg_str_from_ngx(name), "!#$%&'*+-.^_`|~"))
    {
        return "it must consist of letters, digits and \"-\", such as "
               "\"X-Token\"";
    }

    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (ngx_strcasecmp(name->data, (u_char *) own[i]) == 0) {
            return "Toolgate sends it itself; remove it";
        }
    }

    return NULL;
}

char *
ngx_tg_conf_read_header_file(ngx_conf_t *cf, ngx_str_t *path, ngx_str_t *text)
{
    ngx_file_info_t fi;
    ngx_int_t rc;

    rc = ngx_tg_secret_file_read(cf, path, text, &fi);

    if (rc == NGX_ERROR) {
        return NGX_CONF_ERROR;
    }

    if (rc != NGX_OK || ngx_tg_has_control_char(text)) {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"header\" must contain one line "
                                 "of at most 16 KiB: the header's value",
                                 path);
    }

    if (ngx_file_access(&fi) & S_IROTH) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "all users can read \"%V\" of \"header\"; run "
                           "\"chmod o-r\" on it if it is a secret",
                           path);
    }

    return NGX_CONF_OK;
}

/* --- certificates --- */

char *
ngx_tg_conf_set_ca_file(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value, *path, text;
    ngx_file_info_t fi;

    path = (ngx_str_t *) (void *) ((char *) conf + cmd->offset);

    if (path->len != 0) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_tg_conf_read_file(cf, &value[1], &text, &fi) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_strnstr(text.data, "-----BEGIN CERTIFICATE-----", text.len) == NULL)
    {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" of \"%V\" has no certificate in "
                                 "PEM (\"-----BEGIN CERTIFICATE-----\")",
                                 &value[1], &value[0]);
    }

    *path = value[1];

    return ngx_tg_conf_result(
        ngx_tg_conf_require_file(cf, path, NGX_TG_ACCESS_READ));
}

/* --- the connection --- */

char *
ngx_tg_conf_set_proxy(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value, *proxy;
    const char *why;
    tg_url_t url;

    proxy = (ngx_str_t *) (void *) ((char *) conf + cmd->offset);

    if (proxy->len != 0) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (tg_url_parse(ngx_tg_str_from_ngx(&value[1]), &url, &why) != TG_OK
        || url.is_tls || url.target.len > 1)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid proxy \"%V\" in \"%V\"; write "
                                 "http:// and its host and port, such as "
                                 "\"http://127.0.0.1:3128\"",
                                 &value[1], &value[0]);
    }

    *proxy = value[1];

    return NGX_CONF_OK;
}

/* --- libcurl --- */

ngx_int_t
ngx_tg_conf_check_libcurl(ngx_conf_t *cf)
{
    static ngx_cycle_t *checked;

    if (checked == cf->cycle) {
        return NGX_OK;
    }

    checked = cf->cycle;

    return ngx_tg_conf_check_library(cf, NGX_TG_LIBCURL_FILE, "libcurl4");
}
