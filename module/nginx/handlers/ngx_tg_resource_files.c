/*
 * `resource_files FOLDER uri=PREFIX`: each file of a folder is a resource; and
 * `skills FOLDER`: each folder in it is a skill.
 *
 * An unlisted template PREFIX{+file} reads the files, and a method that only
 * resources/list calls lists them, after the declared resources.
 */
#include "nginx/handlers/ngx_tg_resource_files.h"

#include "nginx/call/ngx_tg_session_base.h"

/* Bytes of files on one page of a list, beside the declared resources. */
#define NGX_TG_RESOURCE_FILES_PAGE 262144

static void ngx_tg_skill_start(ngx_tg_call_t *call, tg_request_t *request);

/* --- reading --- */

/*
 * Appends the path below the folder, as it is in the URI. Returns NULL, or the
 * error.
 */
static const char *
ngx_tg_resource_files_append_path(const ngx_tg_resource_files_t *files,
                                  const tg_request_t *request, tg_buf_t *params)
{
    const char *mistake;
    tg_buf_t uri;

    mistake = NULL;
    tg_buf_init(&uri, tg_alloc_libc());
    tg_json_append_unescaped(&uri, request->reply.subject);

    if (uri.len <= files->uri.len || uri.len > TG_FILE_PATH_MAX
        || memchr(uri.data, '\0', uri.len) != NULL)
    {
        mistake = NGX_TG_FILE_MISSING;
    } else {
        tg_json_add_string(params, "path",
                           tg_str_skip(tg_buf_view(&uri), files->uri.len));
    }

    params->failed |= tg_buf_has_failed(&uri);
    tg_buf_deinit(&uri);

    return mistake;
}

static void
ngx_tg_resource_files_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_resource_files_t *files;
    const char *mistake;
    tg_buf_t params;

    if (request->skill_method != TG_SKILL_NONE) {
        ngx_tg_skill_start(call, request);
        return;
    }

    files = call->tool->conf;
    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_spec_write(tg_output_fields, &call->tool->output_spec, &params);
    ngx_tg_file_append_uri(call, request, &params);
    tg_json_add_bool(&params, "encoded", 1);
    tg_buf_append_char(&params, ',');
    tg_buf_append_str(&params, files->members);
    mistake = ngx_tg_resource_files_append_path(files, request, &params);
    ngx_tg_call_start_remote(call, TG_STR("file"), &params, TG_FAILURE_UNKNOWN,
                             mistake);
}

/* --- lists --- */

static const ngx_tg_handler_t ngx_tg_resource_list_handler;

static void
ngx_tg_resource_files_append_folder(const ngx_tg_resource_files_t *files,
                                    tg_buf_t *json)
{
    tg_json_begin_object(json);
    tg_buf_append_str(json, files->members);
    tg_json_add_string(json, "uri", files->uri);
    tg_json_add_raw(json, "max",
                    files->max.len != 0 ? files->max : TG_STR_NONE);
    tg_json_add_bool(json, "skills", (int) files->has_skills);
    tg_buf_append_char(json, '}');
}

/*
 * Adds the folder of an entry if it is one, and the session may see it; NULL:
 * any session.
 */
static void
ngx_tg_resource_list_append_folder(ngx_tg_session_base_t *base,
                                   const tg_catalog_entry_t *entry,
                                   tg_buf_t *json)
{
    ngx_tg_tool_t *tool;

    tool = entry->host;

    if (tool->handler == &ngx_tg_resource_files_handler
        && (base == NULL || ngx_tg_session_base_can_see(base, entry)))
    {
        ngx_tg_resource_files_append_folder(tool->conf, json);
    }
}

void
ngx_tg_resource_files_append_folders(ngx_tg_session_base_t *base,
                                     const tg_catalog_t *catalog,
                                     tg_buf_t *json)
{
    size_t i;

    tg_json_begin_member(json, "folders");
    tg_buf_append_char(json, '[');

    for (i = 0; i < tg_catalog_size(catalog); i++) {
        ngx_tg_resource_list_append_folder(base,
                                           tg_catalog_get_entry(catalog, i),
                                           json);
    }

    tg_buf_append_char(json, ']');
}

static void
ngx_tg_resource_list_start(ngx_tg_call_t *call, tg_request_t *request)
{
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_json_add_uint(&params, "max_output", NGX_TG_RESOURCE_FILES_PAGE);
    ngx_tg_resource_files_append_folders(call->base, call->base->peer.catalog,
                                         &params);

    if (request->reply.subject.len != 0
        && request->reply.subject.data[0] == TG_CURSOR_OF_MORE)
    {
        tg_json_add_raw(&params, "cursor", request->cursor);
    }

    ngx_tg_call_start_remote(call, TG_STR("files"), &params,
                             TG_FAILURE_INTERNAL, NULL);
}

/* --- skills --- */

/* Appends the folders with skills that a session may see. */
static void
ngx_tg_skill_append_folders(ngx_tg_session_base_t *base, tg_buf_t *params)
{
    const tg_catalog_entry_t *entry;
    size_t i;

    for (i = 0; i < tg_catalog_size(base->peer.catalog); i++) {
        entry = tg_catalog_get_entry(base->peer.catalog, i);

        if (entry->has_skills) {
            ngx_tg_resource_list_append_folder(base, entry, params);
        }
    }
}

/* Starts a method of the skills extension. */
static void
ngx_tg_skill_start(ngx_tg_call_t *call, tg_request_t *request)
{
    static const char *const lists[] = { [TG_SKILL_LIST] = "skills",
                                         [TG_SKILL_GET] = "skill",
                                         [TG_SKILL_DIRECTORY] = "directory" };
    const char *mistake;
    tg_buf_t params;

    mistake = NULL;
    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_json_add_cstr(&params, "list", lists[request->skill_method]);
    tg_json_add_uint(&params, "max_output", NGX_TG_RESOURCE_FILES_PAGE);
    tg_json_begin_member(&params, "folders");
    tg_buf_append_char(&params, '[');

    if (request->skill_method == TG_SKILL_LIST) {
        ngx_tg_skill_append_folders(call->base, &params);
    } else {
        ngx_tg_resource_files_append_folder(call->tool->conf, &params);
    }

    tg_buf_append_char(&params, ']');

    if (request->skill_method != TG_SKILL_LIST) {
        mistake = ngx_tg_resource_files_append_path(call->tool->conf, request,
                                                    &params);
    }

    tg_json_add_raw(&params, "cursor", request->cursor);
    ngx_tg_call_start_remote(call, TG_STR("files"), &params, TG_FAILURE_UNKNOWN,
                             mistake);
}

/* Lists the files of this server's folders. See ngx_tg_srv_conf_t. */
static ngx_int_t
ngx_tg_resource_list_serve(ngx_tg_session_base_t *base, tg_peer_t *peer,
                           tg_request_t *request)
{
    const tg_catalog_entry_t *entry;
    ngx_uint_t has_folder;
    size_t i;

    for (i = 0, has_folder = 0;
         !has_folder && i < tg_catalog_size(peer->catalog); i++)
    {
        entry = tg_catalog_get_entry(peer->catalog, i);
        has_folder = ((ngx_tg_tool_t *) entry->host)->handler
                         == &ngx_tg_resource_files_handler
                     && ngx_tg_session_base_can_see(base, entry);
    }

    request->entry = has_folder ? tg_catalog_find(
                         peer->catalog, TG_ENTRY_METHOD,
                         ngx_tg_str_from_ngx(
                             &ngx_tg_resource_list_handler.name))
                                : NULL;

    if (request->entry == NULL) {
        return NGX_DECLINED;
    }

    ngx_tg_resource_watch_update(base->conf);
    request->name = request->entry->name;
    request->arguments = TG_STR("{}");
    ngx_tg_call_start(base, peer, request);

    return NGX_OK;
}

/* Adds the method that lists, if the server has a folder. */
static ngx_int_t
ngx_tg_resource_files_add_list(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    ngx_tg_tool_t *tool;
    ngx_str_t name;
    ngx_uint_t n;
    size_t i;

    for (i = 0, n = 0; i < tg_catalog_size(scf->catalog); i++) {
        tool = tg_catalog_get_entry(scf->catalog, i)->host;
        n += tool->handler == &ngx_tg_resource_files_handler;
    }

    if (n > TG_FILE_LIST_FOLDERS_MAX) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "a server may have at most %d \"resource_files\", but "
                      "one has %ui",
                      TG_FILE_LIST_FOLDERS_MAX, n);
        return NGX_ERROR;
    }

    if (n == 0) {
        return NGX_OK;
    }

    name = ngx_tg_resource_list_handler.name;
    tool = ngx_tg_tool_create(cf, TG_ENTRY_METHOD, &name);

    if (tool == NULL) {
        return NGX_ERROR;
    }

    tool->handler = &ngx_tg_resource_list_handler;
    tool->output = TG_OUTPUT_JSON;
    tool->entry.output = TG_OUTPUT_JSON;
    tool->is_builtin = 1;
    scf->list_resources = ngx_tg_resource_list_serve;
    scf->info.has_resources = 1;

    return tg_catalog_add(scf->catalog, &tool->entry) == TG_OK ? NGX_OK
                                                               : NGX_ERROR;
}

/* --- module --- */

static ngx_command_t ngx_tg_resource_files_commands[] = {

    { ngx_string("resource_files"), NGX_STREAM_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_resource_files_set, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("skills"), NGX_STREAM_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_resource_files_set, NGX_STREAM_SRV_CONF_OFFSET, 1, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_resource_files_module = NGX_TG_MODULE(
    ngx_tg_handler_module_ctx, ngx_tg_resource_files_commands,
    .init_process = ngx_tg_resource_watch_init_process);

const ngx_tg_handler_t ngx_tg_resource_files_handler = {
    .name = ngx_string("resource_files"),
    .module = &ngx_tg_resource_files_module,
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_HAS_OWN_BLOCK,
    .add_entries = ngx_tg_resource_files_add_list,
    .start = ngx_tg_resource_files_start,
};

static const ngx_tg_handler_t ngx_tg_resource_list_handler = {
    .name = ngx_string("resources/list"),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_HAS_OWN_BLOCK,
    .start = ngx_tg_resource_list_start,
};
