/*
 * The list that the runner stored of an MCP server, so that the first clients
 * see its tools before it has started.
 */
#include "nginx/imports/ngx_tg_imports.h"

/* Maximum file size in bytes; the runner writes no larger list. */
#define NGX_TG_IMPORTED_LIST_CACHE_MAX 16777216

/* Opens a stored list, which another user may have replaced, or returns -1. */
static ngx_fd_t
ngx_tg_imported_list_cache_open(const ngx_tg_mcp_server_t *mcp, tg_str_t key,
                                const char *end)
{
    u_char path[NGX_TG_STATE_DIR_MAX + NGX_TG_MCP_SERVER_KEY_LEN + 16], *p;

    p = ngx_slprintf(path, path + sizeof(path) - 1, "%V/mcp/%*s.%s",
                     ngx_tg_runner_get_state_dir(mcp->imports->scf->runner),
                     key.len, key.data, end);
    *p = '\0';

    return open((char *) path,
                O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Reads the file and closes fd. text stays empty if it exceeds `most` bytes. */
static void
ngx_tg_imported_list_cache_load(ngx_fd_t fd, off_t most, tg_buf_t *text)
{
    ngx_file_info_t fi;
    ssize_t n;

    tg_buf_truncate(text, 0);

    if (fd == NGX_INVALID_FILE) {
        return;
    }

    if (ngx_fd_info(fd, &fi) != NGX_FILE_ERROR && ngx_is_file(&fi)
        && ngx_file_size(&fi) <= most
        && tg_buf_reserve(text, (size_t) ngx_file_size(&fi) + 1) == TG_OK)
    {
        n = read(fd, text->data, (size_t) ngx_file_size(&fi));
        text->len = n > 0 ? (size_t) n : 0;
    }

    (void) ngx_close_file(fd);
}

/* Returns the object of a stored file that has lists, or absent. */
static tg_str_t
ngx_tg_imported_list_cache_get(const ngx_tg_mcp_server_t *mcp, tg_str_t key,
                               const char *end, tg_buf_t *text)
{
    static const char *const names[] = { "tools", NULL };
    tg_str_t array;

    ngx_tg_imported_list_cache_load(ngx_tg_imported_list_cache_open(mcp, key,
                                                                    end),
                                    NGX_TG_IMPORTED_LIST_CACHE_MAX, text);

    return tg_json_get_members(tg_buf_view(text), names, &array) == TG_OK
                   && tg_json_type(array) == TG_JSON_ARRAY
               ? tg_buf_view(text)
               : TG_STR_NONE;
}

/* Checks whether a block of this name in another `server` has another list. */
static ngx_uint_t
ngx_tg_mcp_server_is_name_ambiguous(ngx_cycle_t *cycle,
                                    const ngx_tg_mcp_server_t *mcp)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_mcp_server_t **other;
    ngx_uint_t i;

    mmcf = ngx_stream_cycle_get_module_main_conf(cycle, ngx_tg_imports_module);
    other = mmcf->servers.elts;

    for (i = 0; i < mmcf->servers.nelts; i++) {
        if (other[i]->imports->scf->runner == mcp->imports->scf->runner
            && tg_str_eq(ngx_tg_str_from_ngx(&other[i]->name),
                         ngx_tg_str_from_ngx(&mcp->name))
            && ngx_memcmp(other[i]->key, mcp->key, sizeof(mcp->key)) != 0)
        {
            return 1;
        }
    }

    return 0;
}

/* Reads the list of the block's server before a config change. */
static tg_str_t
ngx_tg_imported_list_cache_get_named(ngx_cycle_t *cycle,
                                     const ngx_tg_mcp_server_t *mcp,
                                     tg_buf_t *text)
{
    char key[NGX_TG_MCP_SERVER_KEY_LEN];
    ngx_str_t name;

    if (ngx_tg_mcp_server_is_name_ambiguous(cycle, mcp)) {
        return TG_STR_NONE;
    }

    ngx_tg_imported_list_cache_load(
        ngx_tg_imported_list_cache_open(mcp, ngx_tg_str_from_ngx(&mcp->name),
                                        "name"),
        NGX_TG_MCP_SERVER_KEY_LEN, text);
    name.data = (u_char *) text->data;
    name.len = text->len;

    if (name.len != sizeof(key)
        || !ngx_tg_mcp_server_is_word(&name, sizeof(key))) {
        return TG_STR_NONE;
    }

    ngx_memcpy(key, text->data, sizeof(key));

    return ngx_tg_imported_list_cache_get(mcp, tg_str(key, sizeof(key)), "json",
                                          text);
}

/*
 * Tries the list of the server, then of the same program or address, then of
 * the block's former server, which may be wrong: it is used until the real list
 * comes.
 */
ngx_int_t
ngx_tg_imported_list_cache_read(ngx_cycle_t *cycle, ngx_tg_mcp_server_t *mcp)
{
    ngx_uint_t is_guessed;
    tg_str_t object;
    tg_buf_t text;
    ngx_int_t rc;

    is_guessed = 0;
    tg_buf_init(&text, tg_alloc_libc());
    object = ngx_tg_imported_list_cache_get(mcp,
                                            tg_str(mcp->key, sizeof(mcp->key)),
                                            "json", &text);

    if (object.data == NULL) {
        object = ngx_tg_imported_list_cache_get(
            mcp, tg_str(mcp->endpoint_digest, sizeof(mcp->endpoint_digest)),
            "last", &text);
    }

    if (object.data == NULL) {
        is_guessed = 1;
        object = ngx_tg_imported_list_cache_get_named(cycle, mcp, &text);
    }

    rc = NGX_OK;

    if (object.data != NULL) {
        /* Not cycle->log, which is the log of the old cycle. */
        mcp->list = ngx_tg_imported_list_create(mcp, object, is_guessed,
                                                &cycle->new_log);
        ngx_tg_mcp_server_set_capabilities(mcp, object);
        rc = mcp->list != NULL
                 ? ngx_tg_imported_list_read(mcp, mcp->list,
                                             NGX_MAX_SIZE_T_VALUE, cycle->log)
                 : NGX_ERROR;
    }

    tg_buf_deinit(&text);

    if (mcp->list != NULL) {
        mcp->list->is_guessed = is_guessed;
    }

    return rc;
}
