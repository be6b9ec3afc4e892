/* What the directives about files share. */
#ifndef _NGX_TG_FILE_H_INCLUDED_
#define _NGX_TG_FILE_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"
#include "spec/tg_file_spec.h"

/* Message about a path that no file can have. */
#define NGX_TG_FILE_MISSING "The file does not exist."

extern const ngx_tg_handler_t ngx_tg_file_handler;

/*
 * Requires a file or folder of a directive, for the workers' user. Returns
 * NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_file_require(ngx_conf_t *cf, const char *directive,
                              ngx_str_t *path, ngx_uint_t is_folder);

/* Appends the URI that is read, and the MIME type of its entry, if any. */
void ngx_tg_file_append_uri(const ngx_tg_call_t *call,
                            const tg_request_t *request, tg_buf_t *params);

/*
 * Sets a folder without variables: its full path, without a slash at the end.
 * Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_file_set_folder(ngx_conf_t *cf, const char *directive,
                                 const ngx_str_t *text, ngx_str_t *path);

/*
 * Checks whether the path of a block's `file` is this argument, and nothing
 * else, below `root`.
 */
ngx_uint_t ngx_tg_file_is_argument(const ngx_tg_tool_t *block, tg_str_t name);

/* Appends `root` and `dot_files` of a block with `file` and `root`. */
void ngx_tg_file_append_root(const ngx_tg_tool_t *block, tg_buf_t *params);

/* Appends the folders of `resource_files` that a session may see; NULL: all. */
void ngx_tg_resource_files_append_folders(ngx_tg_session_base_t *base,
                                          const tg_catalog_t *catalog,
                                          tg_buf_t *json);

/* --- ngx_tg_resource_watch.c --- */

ngx_int_t ngx_tg_resource_watch_init_process(ngx_cycle_t *cycle);

/* Begins or ends to watch a server's folders, if somebody listens or not. */
void ngx_tg_resource_watch_update(const ngx_tg_srv_conf_t *scf);

#endif
