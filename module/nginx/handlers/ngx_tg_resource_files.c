/*
 * `resource_files FOLDER uri=PREFIX`: each file of a folder is a resource.
 *
 * An unlisted template PREFIX{+file} reads the files, and a method that only
 * resources/list calls lists them, after the declared resources.
 */
#include "nginx/handlers/ngx_tg_file.h"

#include "base/tg_glob.h"
#include "base/tg_utf8.h"
#include "catalog/tg_uri_template.h"
#include "nginx/call/ngx_tg_session_base.h"

/* Bytes of files on one page of a list, beside the declared resources. */
#define NGX_TG_RESOURCE_FILES_PAGE 262144

extern const ngx_tg_handler_t ngx_tg_resource_files_handler;

typedef struct {
    tg_str_t uri; /* prefix of the URIs */
    tg_str_t max; /* maximum number of listed files, as a number, or absent */
    /* members of the params of `file` and `files`, without braces */
    tg_str_t members;
} ngx_tg_resource_files_t;

/* --- directive --- */

typedef struct {
    ngx_str_t root;
    ngx_str_t uri;
    ngx_str_t max;
    tg_buf_t match; /* JSON arrays without brackets */
    tg_buf_t hide;
    unsigned is_recursive:1;
    unsigned has_dot_files:1;
} ngx_tg_resource_files_args_t;

/* Adds a pattern. Returns NGX_OK, or NGX_ERROR after logging. */
static ngx_int_t
ngx_tg_resource_files_add_pattern(ngx_conf_t *cf, ngx_str_t *word,
                                  ngx_str_t *pattern, tg_buf_t *json)
{
    const char *why;

    why = tg_path_glob_check(ngx_tg_str_from_ngx(pattern));

    if (why == NULL && !tg_utf8_is_valid(ngx_tg_str_from_ngx(pattern))) {
        why = "it is not valid UTF-8";
    }

    if (why != NULL) {
        (void) ngx_tg_conf_error(cf,
                                 "invalid pattern in \"%V\" of "
                                 "\"resource_files\": %s",
                                 word, why);
        return NGX_ERROR;
    }

    tg_json_begin_element(json);
    tg_json_write_string(json, ngx_tg_str_from_ngx(pattern));

    return NGX_OK;
}

/* Returns 1 if the word begins with `name`, and sets value to the rest. */
static ngx_uint_t
ngx_tg_resource_files_has_name(const ngx_str_t *word, const char *name,
                               ngx_str_t *value)
{
    size_t len;

    len = ngx_strlen(name);

    if (word->len < len || ngx_strncmp(word->data, name, len) != 0) {
        return 0;
    }

    value->data = word->data + len;
    value->len = word->len - len;

    return 1;
}

static ngx_int_t
ngx_tg_resource_files_check_max(ngx_conf_t *cf, const ngx_str_t *max)
{
    ngx_int_t n;

    n = ngx_atoi(max->data, max->len);

    if (n < 1 || n > TG_FILE_LIST_MAX) {
        (void) ngx_tg_conf_error(cf,
                                 "invalid \"max=%V\" of \"resource_files\"; "
                                 "write the number of files to list, from 1 "
                                 "to %d",
                                 max, TG_FILE_LIST_MAX);
        return NGX_ERROR;
    }

    return NGX_OK;
}

/* Reads one parameter. Returns NGX_OK, or NGX_ERROR after logging. */
static ngx_int_t
ngx_tg_resource_files_read_arg(ngx_conf_t *cf, ngx_str_t *word,
                               ngx_tg_resource_files_args_t *args)
{
    ngx_str_t value;

    if (args->uri.data == NULL
        && ngx_tg_resource_files_has_name(word, "uri=", &args->uri))
    {
        return NGX_OK;
    }

    if (args->max.data == NULL
        && ngx_tg_resource_files_has_name(word, "max=", &args->max))
    {
        return ngx_tg_resource_files_check_max(cf, &args->max);
    }

    if (ngx_tg_resource_files_has_name(word, "match=", &value)) {
        return ngx_tg_resource_files_add_pattern(cf, word, &value,
                                                 &args->match);
    }

    if (ngx_tg_resource_files_has_name(word, "hide=", &value)) {
        return ngx_tg_resource_files_add_pattern(cf, word, &value, &args->hide);
    }

    if (ngx_strcmp(word->data, "recursive") == 0) {
        args->is_recursive = 1;
        return NGX_OK;
    }

    if (ngx_strcmp(word->data, "dot_files") == 0) {
        args->has_dot_files = 1;
        return NGX_OK;
    }

    (void) ngx_tg_conf_error(cf,
                             "invalid parameter \"%V\" of \"resource_files\"; "
                             "write one uri=, one max=, match=, hide=, "
                             "recursive or dot_files",
                             word);

    return NGX_ERROR;
}

static ngx_int_t
ngx_tg_resource_files_read_args(ngx_conf_t *cf,
                                ngx_tg_resource_files_args_t *args)
{
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    if (ngx_tg_file_set_folder(cf, "resource_files", &value[1], &args->root)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&args->root))) {
        (void) ngx_tg_conf_error(cf, "\"resource_files\" needs a folder "
                                     "whose path is UTF-8");
        return NGX_ERROR;
    }

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_tg_resource_files_read_arg(cf, &value[i], args) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (args->uri.len == 0
        || ngx_strlchr(args->uri.data, args->uri.data + args->uri.len, '{')
               != NULL)
    {
        (void) ngx_tg_conf_error(cf,
                                 "\"resource_files\" %s what the URIs of its "
                                 "files begin with, without a variable, such "
                                 "as \"uri=notes:///\"",
                                 args->uri.data == NULL ? "has no uri=; write"
                                                        : "needs");
        return NGX_ERROR;
    }

    return NGX_OK;
}

static void
ngx_tg_resource_files_free_template(void *data)
{
    tg_uri_template_free(data);
}

/* Sets name and template of the entry: PREFIX{+file}. */
static ngx_int_t
ngx_tg_resource_files_init_template(ngx_conf_t *cf, tg_catalog_entry_t *entry,
                                    const ngx_str_t *uri)
{
    tg_uri_template_t *template;
    ngx_pool_cleanup_t *cln;
    const char *mistake;
    ngx_str_t text;
    int is_warning, rc;

    text.len = uri->len + sizeof("{+file}") - 1;
    text.data = ngx_pnalloc(cf->pool, text.len + 1);
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (text.data == NULL || cln == NULL) {
        return NGX_ERROR;
    }

    (void) ngx_sprintf(text.data, "%V{+file}%Z", uri);
    entry->name = ngx_tg_str_from_ngx(&text);
    rc = tg_uri_template_parse(tg_alloc_libc(), entry->name, &template,
                               &mistake);

    if (rc == TG_INVALID) {
        (void) ngx_tg_conf_error(cf,
                                 "invalid \"uri=%V\" of \"resource_files\": %s",
                                 uri, mistake);
    }

    if (rc != TG_OK) {
        return NGX_ERROR;
    }

    cln->handler = ngx_tg_resource_files_free_template;
    cln->data = template;
    entry->uri_template = template;
    mistake = tg_catalog_check_name(TG_ENTRY_TEMPLATE, entry->name,
                                    &is_warning);

    if (mistake != NULL) {
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                           "\"uri=%V\" of \"resource_files\": %s", uri,
                           mistake);
    }

    return NGX_OK;
}

/* Writes the members of the params that select files. */
static void
ngx_tg_resource_files_write_members(const ngx_tg_resource_files_args_t *args,
                                    tg_buf_t *json)
{
    tg_json_add_string(json, "root", ngx_tg_str_from_ngx(&args->root));
    tg_json_begin_member(json, "match");
    tg_buf_append_char(json, '[');
    tg_buf_append_str(json, tg_buf_view(&args->match));
    tg_buf_append_char(json, ']');
    tg_json_begin_member(json, "hide");
    tg_buf_append_char(json, '[');
    tg_buf_append_str(json, tg_buf_view(&args->hide));
    tg_buf_append_char(json, ']');
    tg_json_add_bool(json, "recursive", args->is_recursive);
    tg_json_add_bool(json, "dot_files", args->has_dot_files);
}

/* Creates the entry that reads the files. */
static ngx_int_t
ngx_tg_resource_files_add(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                          ngx_tg_resource_files_args_t *args)
{
    ngx_tg_resource_files_t *files;
    ngx_tg_tool_t *tool;
    tg_catalog_t *catalog;
    ngx_str_t text;
    ngx_int_t rc;
    tg_buf_t json;
    int added;

    files = ngx_pcalloc(cf->pool, sizeof(ngx_tg_resource_files_t));
    tool = ngx_tg_tool_create(cf, TG_ENTRY_TEMPLATE, &args->uri);
    catalog = ngx_tg_server_ensure_catalog(cf, scf);

    if (files == NULL || tool == NULL || catalog == NULL
        || ngx_tg_resource_files_init_template(cf, &tool->entry, &args->uri)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    tg_buf_init(&json, tg_alloc_libc());
    ngx_tg_resource_files_write_members(args, &json);
    json.failed |= args->match.failed | args->hide.failed;
    rc = ngx_tg_conf_copy_buf(cf, &json, &text);
    tg_buf_deinit(&json);

    if (rc != NGX_OK) {
        return NGX_ERROR;
    }

    files->uri = ngx_tg_str_from_ngx(&args->uri);
    files->max = ngx_tg_str_from_ngx(&args->max);
    files->members = ngx_tg_str_from_ngx(&text);
    tool->conf = files;
    tool->handler = &ngx_tg_resource_files_handler;
    tool->output = TG_OUTPUT_RESULT;
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.label = files->uri;
    tool->entry.is_unlisted = 1;
    tool->is_internal = 1;
    tool->watch = NGX_TG_WATCH_FILE;
    scf->info.has_subscribe = 1;
    scf->needs_runner = 1;
    added = tg_catalog_add(catalog, &tool->entry);

    if (added == TG_EXISTS) {
        (void) ngx_tg_conf_error(cf,
                                 "duplicate \"uri=%V\" of \"resource_files\"; "
                                 "give each folder its own",
                                 &args->uri);
    }

    return added == TG_OK ? NGX_OK : NGX_ERROR;
}

static char *
ngx_tg_resource_files_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_resource_files_args_t args;
    ngx_int_t rc;

    ngx_memzero(&args, sizeof(args));
    tg_buf_init(&args.match, tg_alloc_libc());
    tg_buf_init(&args.hide, tg_alloc_libc());
    rc = ngx_tg_resource_files_read_args(cf, &args);

    if (rc == NGX_OK) {
        rc = ngx_tg_resource_files_add(
            cf,
            ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module),
            &args);
    }

    tg_buf_deinit(&args.match);
    tg_buf_deinit(&args.hide);

    return ngx_tg_conf_result(rc);
}

/* --- reading --- */

static void
ngx_tg_resource_files_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_resource_files_t *files;
    const char *mistake;
    tg_buf_t params, uri;

    files = call->tool->conf;
    mistake = NULL;
    tg_buf_init(&uri, tg_alloc_libc());
    tg_buf_init(&params, tg_alloc_libc());
    tg_json_append_unescaped(&uri, request->reply.subject);
    ngx_tg_call_begin_params(call, &params);
    tg_spec_write(tg_output_fields, &call->tool->output_spec, &params);
    ngx_tg_file_append_uri(call, request, &params);
    tg_json_add_bool(&params, "encoded", 1);
    tg_buf_append_char(&params, ',');
    tg_buf_append_str(&params, files->members);

    if (uri.len <= files->uri.len || uri.len > TG_FILE_PATH_MAX
        || memchr(uri.data, '\0', uri.len) != NULL)
    {
        mistake = NGX_TG_FILE_MISSING;
    } else {
        tg_json_add_string(&params, "path",
                           tg_str_skip(tg_buf_view(&uri), files->uri.len));
    }

    params.failed |= tg_buf_has_failed(&uri);
    tg_buf_deinit(&uri);
    ngx_tg_call_start_remote(call, TG_STR("file"), &params, TG_FAILURE_UNKNOWN,
                             mistake);
}

/* --- lists --- */

static const ngx_tg_handler_t ngx_tg_resource_list_handler;

/*
 * Adds the folder of an entry if it is one, and the session may see it; NULL:
 * any session.
 */
static void
ngx_tg_resource_list_append_folder(ngx_tg_session_base_t *base,
                                   const tg_catalog_entry_t *entry,
                                   tg_buf_t *json)
{
    ngx_tg_resource_files_t *files;
    ngx_tg_tool_t *tool;

    tool = entry->host;

    if (tool->handler != &ngx_tg_resource_files_handler
        || (base != NULL && !ngx_tg_session_base_can_see(base, entry)))
    {
        return;
    }

    files = tool->conf;
    tg_json_begin_object(json);
    tg_buf_append_str(json, files->members);
    tg_json_add_string(json, "uri", files->uri);
    tg_json_add_raw(json, "max",
                    files->max.len != 0 ? files->max : TG_STR_NONE);
    tg_buf_append_char(json, '}');
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
