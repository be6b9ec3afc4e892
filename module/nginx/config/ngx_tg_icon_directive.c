/* `icon` of an entry, and `tool_server_icon`. */
#include "nginx/config/ngx_tg_listing.h"

#include "base/tg_base64.h"
#include "base/tg_utf8.h"
#include "catalog/tg_mime_extension.h"
#include "catalog/tg_mime_type.h"
#include "nginx/config/ngx_tg_spec.h"

/* Largest file of an icon in bytes, as each list of an agent has it. */
#define NGX_TG_ICON_FILE_MAX 65536

/* Checks for `any`, or a width and a height such as `48x48`. */
static ngx_uint_t
ngx_tg_is_icon_size(const ngx_str_t *word)
{
    u_char *x;

    if (ngx_strcmp(word->data, "any") == 0) {
        return 1;
    }

    x = (u_char *) ngx_strchr(word->data, 'x');

    return x != NULL && ngx_atoi(word->data, (size_t) (x - word->data)) > 0
           && ngx_atoi(x + 1, word->len - (size_t) (x + 1 - word->data)) > 0;
}

/* Adds the type, sizes and theme of an icon. NGX_OK or NGX_DECLINED. */
static ngx_int_t
ngx_tg_icon_add_words(ngx_conf_t *cf, tg_buf_t *icon, ngx_uint_t has_type,
                      ngx_uint_t *i)
{
    ngx_uint_t has_theme, nsizes;
    ngx_str_t *value;
    tg_str_t word;
    tg_buf_t sizes;

    value = cf->args->elts;
    has_theme = nsizes = 0;
    tg_buf_init(&sizes, tg_alloc_libc());

    for (*i = 2; *i < cf->args->nelts; (*i)++) {
        word = ngx_tg_str_from_ngx(&value[*i]);

        if (!has_type && tg_mime_type_is_valid(word)) {
            has_type = 1;
            tg_json_add_string(icon, "mimeType", word);

        } else if (!has_theme
                   && (tg_str_eq(word, TG_STR("light"))
                       || tg_str_eq(word, TG_STR("dark"))))
        {
            has_theme = 1;
            tg_json_add_string(icon, "theme", word);

        } else if (ngx_tg_is_icon_size(&value[*i])) {
            tg_buf_append_cstr(&sizes, nsizes++ != 0 ? "," : "");
            tg_json_write_string(&sizes, word);

        } else {
            break;
        }
    }

    if (nsizes != 0) {
        tg_json_begin_member(icon, "sizes");
        tg_buf_append_char(icon, '[');
        tg_buf_append_str(icon, tg_buf_view(&sizes));
        tg_buf_append_char(icon, ']');
    }

    icon->failed |= tg_buf_has_failed(&sizes);
    tg_buf_deinit(&sizes);

    return *i == cf->args->nelts ? NGX_OK : NGX_DECLINED;
}

/*
 * Adds the `data:` URI of a file, and its type. Returns NGX_OK, or NGX_ERROR
 * after logging.
 */
static ngx_int_t
ngx_tg_icon_add_file(ngx_conf_t *cf, ngx_command_t *cmd, tg_buf_t *icon,
                     ngx_str_t path)
{
    tg_base64_encoder_t base64;
    ngx_file_info_t fi;
    ngx_str_t text;
    tg_str_t type;
    tg_buf_t src;

    if (ngx_tg_conf_read_file(cf, &path, &text, &fi) != NGX_OK) {
        return NGX_ERROR;
    }

    type = tg_mime_type_from_name(ngx_tg_str_from_ngx(&path));

    if (text.len == 0 || text.len > NGX_TG_ICON_FILE_MAX
        || !tg_str_has_prefix(type, "image/"))
    {
        (void) ngx_tg_conf_error(cf,
                                 "invalid file \"%V\" in \"%V\"; name an "
                                 "image of at most %d KiB, such as a .png or "
                                 ".svg, as each list of an agent contains it",
                                 &path, &cmd->name,
                                 NGX_TG_ICON_FILE_MAX / 1024);
        return NGX_ERROR;
    }

    ngx_memzero(&base64, sizeof(base64));
    tg_buf_init(&src, tg_alloc_libc());
    tg_buf_append_cstr(&src, "data:");
    tg_buf_append_str(&src, type);
    tg_buf_append_cstr(&src, ";base64,");
    tg_base64_encode(&base64, &src, (char *) text.data, text.len);
    tg_base64_encode_end(&base64, &src);
    tg_json_add_string(icon, "src", tg_buf_view(&src));
    tg_json_add_string(icon, "mimeType", type);
    icon->failed |= src.failed;
    tg_buf_deinit(&src);

    return NGX_OK;
}

/* Adds the URI of an icon. Returns NGX_OK, or NGX_ERROR after logging. */
static ngx_int_t
ngx_tg_icon_add_uri(ngx_conf_t *cf, ngx_command_t *cmd, tg_buf_t *icon,
                    ngx_str_t *word)
{
    tg_str_t uri;

    uri = ngx_tg_str_from_ngx(word);

    if (!tg_str_has_prefix(uri, "https://")
        && !tg_str_has_prefix(uri, "data:image/"))
    {
        (void) ngx_tg_conf_error(cf,
                                 "invalid \"%V\" in \"%V\"; write an address "
                                 "that begins with \"https://\" or "
                                 "\"data:image/\", as agents show no other, or "
                                 "\"file=PATH\"",
                                 word, &cmd->name);
        return NGX_ERROR;
    }

    if (tg_uri_check(uri) != NULL) {
        (void) ngx_tg_conf_error(cf, "invalid \"%V\" in \"%V\"; %s", word,
                                 &cmd->name, tg_uri_check(uri));
        return NGX_ERROR;
    }

    tg_json_add_string(icon, "src", uri);

    return NGX_OK;
}

/*
 * icon URI|file=PATH [TYPE] [SIZE ...] [light|dark]; the raw array is at
 * cmd->offset.
 */
char *
ngx_tg_conf_add_icon(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value, path;
    ngx_uint_t is_file, i;
    tg_buf_t icon;
    ngx_int_t rc;

    value = cf->args->elts;
    path = value[1];
    is_file = ngx_strncmp(path.data, "file=", sizeof("file=") - 1) == 0;

    if (is_file) {
        path.data += sizeof("file=") - 1;
        path.len -= sizeof("file=") - 1;
    }

    tg_buf_init(&icon, tg_alloc_libc());
    tg_buf_append_char(&icon, '{');
    rc = is_file ? ngx_tg_icon_add_file(cf, cmd, &icon, path)
                 : ngx_tg_icon_add_uri(cf, cmd, &icon, &value[1]);

    if (rc == NGX_OK) {
        rc = ngx_tg_icon_add_words(cf, &icon, is_file, &i);
        tg_buf_append_char(&icon, '}');
    }

    if (rc == NGX_OK) {
        rc = ngx_tg_conf_append_json(
            cf, (tg_str_t *) (void *) ((char *) conf + cmd->offset), "[]",
            &icon);
    }

    tg_buf_deinit(&icon);

    return rc == NGX_DECLINED
               ? ngx_tg_conf_error(cf,
                                   "invalid \"%V\" in \"%V\"; write after the "
                                   "address a type such as \"image/png\", "
                                   "sizes such as \"48x48\" or \"any\", and "
                                   "\"light\" or \"dark\"; the type of a file "
                                   "is that of its extension",
                                   &value[i], &cmd->name)
               : ngx_tg_conf_result(rc);
}

/* icon of an entry */
char *
ngx_tg_conf_add_entry_icon(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    return ngx_tg_conf_check_kind(cf, cmd, conf, NGX_TG_KINDS_LISTED) == NGX_OK
               ? ngx_tg_conf_add_icon(cf, cmd, conf)
               : NGX_CONF_ERROR;
}
