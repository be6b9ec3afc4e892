/* Directives of an `mcp_server` over Streamable HTTP: `url` and others. */
#include "nginx/imports/ngx_tg_imports.h"

#include "base/tg_url.h"

/* Maximum number of headers that the runner accepts. */
#define NGX_TG_MCP_HEADERS_MAX 64

char *
ngx_tg_mcp_server_set_url(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    const char *mistake;
    ngx_str_t *value;
    tg_url_t url;

    if (mcp->url.data != NULL) {
        return "is duplicate; write another \"mcp_server\" block for another "
               "server";
    }

    value = cf->args->elts;
    mistake = ngx_tg_mcp_server_text_check(&value[1]);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", &value[1],
                                 &cmd->name, mistake);
    }

    if (ngx_tg_unescape_dollars(cf, &value[1]) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (tg_url_parse(ngx_tg_str_from_ngx(&value[1]), &url, &mistake) == TG_OK) {
        mistake = tg_url_has_dot_segments(url.path)
                      ? "its path must not contain \".\" or \"..\""
                      : NULL;
    }

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "invalid URL \"%V\" in \"%V\": %s",
                                 &value[1], &cmd->name, mistake);
    }

    mcp->url = value[1];

    return ngx_tg_conf_result(ngx_tg_conf_check_libcurl(cf));
}

/* Rejects headers that the transport sets. Returns NULL, or an error text. */
static const char *
ngx_tg_mcp_server_header_check(const ngx_str_t *name)
{
    static const char *const own[] = { "Accept", "Content-Type",
                                       "Last-Event-ID",
                                       "MCP-Protocol-Version" };
    ngx_uint_t i;

    if (ngx_strncasecmp(name->data, (u_char *) "Mcp-", 4) == 0) {
        return "MCP sets this header; remove it";
    }

    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (ngx_strcasecmp(name->data, (u_char *) own[i]) == 0) {
            return "MCP sets this header; remove it";
        }
    }

    return ngx_tg_header_name_check(name);
}

/* Appends a header. Returns NULL after logging an error. */
static ngx_tg_mcp_server_header_t *
ngx_tg_mcp_server_push_header(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp)
{
    ngx_tg_mcp_server_header_t *header;
    ngx_str_t *value;
    ngx_uint_t i, n;

    value = cf->args->elts;
    header = mcp->headers != NULL ? mcp->headers->elts : NULL;
    n = mcp->headers != NULL ? mcp->headers->nelts : 0;

    for (i = 0; i < n; i++) {
        if (ngx_strcasecmp(header[i].name.data, value[1].data) == 0) {
            break;
        }
    }

    if (i != n || n == NGX_TG_MCP_HEADERS_MAX) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           i != n ? "\"%V\" has \"%V\" twice; remove one of "
                                    "them"
                                  : "too many \"%V\", at \"%V\"; there may be "
                                    "64",
                           &value[0], &value[1]);
        return NULL;
    }

    header = ngx_tg_conf_array_push(cf, &mcp->headers,
                                    sizeof(ngx_tg_mcp_server_header_t));

    if (header != NULL) {
        header->name = value[1];
        header->value = value[2];
        header->is_secret = 0;
    }

    return header;
}

char *
ngx_tg_mcp_server_add_header(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    ngx_tg_mcp_server_header_t *header;
    const char *mistake;
    ngx_str_t *value, path;

    value = cf->args->elts;
    mistake = ngx_tg_mcp_server_header_check(&value[1]);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "invalid name \"%V\" in \"%V\": %s",
                                 &value[1], &cmd->name, mistake);
    }

    header = ngx_tg_mcp_server_push_header(cf, mcp);

    if (header == NULL) {
        return NGX_CONF_ERROR;
    }

    if (ngx_tg_arg_has_name(&value[2], "file=", &path) && path.len != 0) {
        header->is_secret = 1;
        return ngx_tg_conf_read_header_file(cf, &path, &header->value);
    }

    mistake = value[2].len == 0 ? "is empty; remove the header, or write its "
                                  "value"
              : ngx_tg_has_control_char(&value[2])
                  ? "contains a line break or another control character"
                  : ngx_tg_mcp_server_text_check(&value[2]);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "the value of \"%V\" in \"%V\" %s",
                                 &value[1], &cmd->name, mistake);
    }

    return ngx_tg_conf_result(ngx_tg_unescape_dollars(cf, &header->value));
}
