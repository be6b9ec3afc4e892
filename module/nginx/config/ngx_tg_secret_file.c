/*
 * Secrets in files of their own, read at config load by the user that starts
 * NGINX, so that a dump of the config does not contain them.
 */
#include "nginx/config/ngx_tg_spec.h"

#include "base/tg_utf8.h"

/*
 * Maximum size in bytes. A secret is a token or a key; a larger file is the
 * wrong one.
 */
#define NGX_TG_SECRET_MAX 16384
/*
 * Folder with the credentials that the service manager passes to a service, see
 * systemd.exec(5).
 */
#define NGX_TG_CREDENTIALS_VAR "CREDENTIALS_DIRECTORY"

ngx_int_t
ngx_tg_secret_file_read(ngx_conf_t *cf, ngx_str_t *path, ngx_str_t *text,
                        ngx_file_info_t *fi)
{
    if (ngx_tg_conf_read_file(cf, path, text, fi) != NGX_OK) {
        return NGX_ERROR;
    }

    while (
        text->len != 0
        && (text->data[text->len - 1] == LF || text->data[text->len - 1] == CR))
    {
        text->data[--text->len] = '\0';
    }

    return text->len != 0 && text->len <= NGX_TG_SECRET_MAX
                   && tg_utf8_is_valid(ngx_tg_str_from_ngx(text))
                   && ngx_strlen(text->data) == text->len
               ? NGX_OK
               : NGX_DECLINED;
}

/*
 * Checks who may read or change the file. Returns NULL, or the error and its
 * remedy.
 */
static const char *
ngx_tg_secret_file_check(ngx_conf_t *cf, const ngx_file_info_t *fi)
{
    ngx_core_conf_t *ccf;

    ccf = (ngx_core_conf_t *) ngx_get_conf(cf->cycle->conf_ctx,
                                           ngx_core_module);

    if (fi->st_uid != 0 && fi->st_uid != geteuid()
        && fi->st_uid != (uid_t) ccf->user)
    {
        return "is owned by another user, who could change it; make root or "
               "NGINX's user its owner (chown)";
    }

    if (ngx_file_access(fi) & (S_IRWXO | S_IWGRP)) {
        return "can be read or changed by other users; restrict its mode "
               "(chmod 0600, or 0640)";
    }

    return NULL;
}

/*
 * Determines the path of a credential by its name. Returns NGX_OK, or NGX_ERROR
 * after logging.
 */
static ngx_int_t
ngx_tg_secret_get_credential_path(ngx_conf_t *cf, ngx_str_t *name,
                                  ngx_str_t *path)
{
    const char *folder;

    folder = getenv(NGX_TG_CREDENTIALS_VAR);

    if (folder == NULL || folder[0] != '/') {
        (void) ngx_tg_conf_error(
            cf,
            "credential \"%V\" does not exist, as " NGX_TG_CREDENTIALS_VAR
            " is not set; let the service manager load it "
            "(LoadCredential=), or write \"file=PATH\"",
            name);
        return NGX_ERROR;
    }

    if (name->len == 0 || name->data[0] == '.'
        || ngx_strchr(name->data, '/') != NULL)
    {
        (void) ngx_tg_conf_error(cf,
                                 "invalid credential \"%V\"; write its name, "
                                 "without a folder",
                                 name);
        return NGX_ERROR;
    }

    path->data = ngx_pnalloc(cf->pool, ngx_strlen(folder) + name->len + 2);

    if (path->data == NULL) {
        return NGX_ERROR;
    }

    path->len = ngx_sprintf(path->data, "%s/%V%Z", folder, name) - path->data
                - 1;

    return NGX_OK;
}

ngx_int_t
ngx_tg_secret_arg_read(ngx_conf_t *cf, const ngx_str_t *word, ngx_str_t *text)
{
    ngx_file_info_t fi;
    const char *mistake;
    ngx_str_t path, name;
    ngx_int_t rc;

    if (!ngx_tg_arg_has_name(word, "file=", &path) || path.len == 0) {
        if (!ngx_tg_arg_has_name(word, "credential=", &name) || name.len == 0) {
            return NGX_DECLINED;
        }

        if (ngx_tg_secret_get_credential_path(cf, &name, &path) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    rc = ngx_tg_secret_file_read(cf, &path, text, &fi);

    if (rc == NGX_ERROR) {
        return NGX_ERROR;
    }

    mistake = rc == NGX_OK ? ngx_tg_secret_file_check(cf, &fi)
                           : "must contain UTF-8 text of at most 16 KiB";

    if (mistake != NULL) {
        (void) ngx_tg_conf_error(cf, "the secret \"%V\" %s", &path, mistake);
        return NGX_ERROR;
    }

    return NGX_OK;
}
