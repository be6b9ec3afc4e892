/*
 * The list that the runner kept of an MCP server, in the state directory: so
 * that the first clients see its tools before it has started.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

/* A larger one is none of the runner's. */
#define NGX_TOOLGATE_MCP_KEPT_MAX 16777216

/* A file, whoever else may have put something there; -1: none. */
static ngx_fd_t
ngx_toolgate_mcp_open(const ngx_toolgate_mcp_t *mcp, const char *key,
                      const char *end)
{
    u_char path[NGX_TOOLGATE_STATE_DIR_MAX + NGX_TOOLGATE_MCP_KEY + 16], *p;

    p = ngx_slprintf(path, path + sizeof(path) - 1, "%V/mcp/%*s.%s",
                     ngx_toolgate_runner_dir(mcp->offer->scf->runner),
                     (size_t) NGX_TOOLGATE_MCP_KEY, key, end);
    *p = '\0';

    return open((char *) path,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static tg_str_t
ngx_toolgate_mcp_read(ngx_fd_t fd, tg_buf_t *text)
{
    static const char *const names[] = { "tools", NULL };
    ngx_file_info_t fi;
    tg_str_t array;
    ssize_t n;

    array = TG_STR_NONE;

    if (fd == NGX_INVALID_FILE) {
        return array;
    }

    if (ngx_fd_info(fd, &fi) != NGX_FILE_ERROR && ngx_is_file(&fi)
        && ngx_file_size(&fi) <= NGX_TOOLGATE_MCP_KEPT_MAX
        && tg_buf_reserve(text, (size_t) ngx_file_size(&fi) + 1) == TG_OK)
    {
        n = read(fd, text->data, (size_t) ngx_file_size(&fi));
        text->len = n > 0 ? (size_t) n : 0;

        if (tg_json_members(tg_buf_view(text), names, &array) != TG_OK
            || tg_json_type(array) != TG_JSON_ARRAY)
        {
            array = TG_STR_NONE;
        }
    }

    (void) ngx_close_file(fd);

    return array;
}

/*
 * What it listed last.  Where the config says something else of it than then,
 * that may be another list: it is told until the right one comes, so that
 * nobody is without tools meanwhile.
 */
tg_str_t
ngx_toolgate_mcp_kept(ngx_toolgate_mcp_t *mcp, tg_buf_t *text)
{
    tg_str_t array;

    array = ngx_toolgate_mcp_read(ngx_toolgate_mcp_open(mcp, mcp->key, "json"),
                                  text);

    if (array.data == NULL) {
        tg_buf_truncate(text, 0);
        array = ngx_toolgate_mcp_read(
            ngx_toolgate_mcp_open(mcp, mcp->place, "last"), text);
    }

    return array;
}
