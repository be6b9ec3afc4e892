/* `file PATH`: the runner reads a file. */
#include "nginx/handlers/ngx_tg_file.h"

#include "base/tg_utf8.h"
#include "catalog/tg_uri_template.h"

typedef struct {
    ngx_stream_complex_value_t *path; /* NULL: no `file` */
    ngx_str_t text;                   /* the path as written */
    ngx_str_t root;                   /* without a slash at its end, or empty */
    ngx_uint_t has_dot_files;
    size_t skip; /* bytes of the path before the part below `root` */
} ngx_tg_file_conf_t;

/* --- directives --- */

ngx_int_t
ngx_tg_file_require(ngx_conf_t *cf, const char *directive, ngx_str_t *path,
                    ngx_uint_t is_folder)
{
    ngx_file_info_t fi;

    if (ngx_file_info(path->data, &fi) == NGX_FILE_ERROR) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           "\"%V\" of \"%s\" cannot be used", path, directive);
        return NGX_ERROR;
    }

    if (is_folder ? !ngx_is_dir(&fi) : !ngx_is_file(&fi)) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\" of \"%s\" is not a %s",
                           path, directive, is_folder ? "folder" : "file");
        return NGX_ERROR;
    }

    return ngx_tg_conf_require_file(cf, path,
                                    is_folder ? NGX_TG_ACCESS_TRAVERSE
                                              : NGX_TG_ACCESS_READ);
}

ngx_int_t
ngx_tg_file_set_folder(ngx_conf_t *cf, const char *directive,
                       const ngx_str_t *text, ngx_str_t *path)
{
    *path = *text;

    if (text->len == 0 || ngx_tg_text_has_variables(text)) {
        (void) ngx_tg_conf_error(cf,
                                 "\"%s\" needs a folder without variables, "
                                 "which no path can leave",
                                 directive);
        return NGX_ERROR;
    }

    if (ngx_tg_unescape_dollars(cf, path) != NGX_OK
        || ngx_conf_full_name(cf->cycle, path, 1) != NGX_OK)
    {
        return NGX_ERROR;
    }

    while (path->len > 1 && path->data[path->len - 1] == '/') {
        path->data[--path->len] = '\0';
    }

    return ngx_tg_file_require(cf, directive, path, 1);
}

static char *
ngx_tg_file_set_path(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_file_conf_t *file = conf;

    ngx_str_t *value;
    char *rv;

    rv = ngx_tg_conf_set_handler(cf, &ngx_tg_file_handler);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    value = cf->args->elts;
    file->text = value[1];

    if (value[1].len == 0) {
        return ngx_tg_conf_error(cf, "\"file\" needs a path");
    }

    file->path = ngx_tg_value_compile_new(cf, &value[1]);

    return file->path != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_tg_file_set_root(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_file_conf_t *file = conf;

    ngx_str_t *value;

    value = cf->args->elts;

    if (file->root.len != 0) {
        return "is duplicate";
    }

    if (cf->args->nelts == 3) {
        if (ngx_strcmp(value[2].data, "dot_files") != 0) {
            return ngx_tg_conf_error(cf,
                                     "invalid parameter \"%V\" of \"root\"; "
                                     "write \"dot_files\", or nothing",
                                     &value[2]);
        }

        file->has_dot_files = 1;
    }

    return ngx_tg_conf_result(
        ngx_tg_file_set_folder(cf, "root", &value[1], &file->root));
}

static const char *
ngx_tg_file_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_file_conf_t *file = conf;

    if (file->path == NULL) {
        return file->root.len != 0
                   ? "has \"root\" without \"file\"; remove \"root\""
                   : NULL;
    }

    if (file->root.len == 0) {
        return file->path->lengths != NULL
                   ? "has \"file\" with variables, but no \"root\"; add "
                     "\"root /folder;\", which the path cannot leave"
                   : NULL;
    }

    if (file->text.data[0] != '/') {
        return NULL;
    }

    /* "/" is the only root that ends with a slash. */
    file->skip = file->root.len + (file->root.len != 1);

    if (file->text.len <= file->skip
        || ngx_strncmp(file->text.data, file->root.data, file->root.len) != 0
        || file->text.data[file->skip - 1] != '/')
    {
        return "has \"file\" with a path outside of \"root\"; write a path "
               "that begins with the folder of \"root\", or a relative one";
    }

    return NULL;
}

/* Requires the file if its path is known. */
static ngx_int_t
ngx_tg_file_lint(ngx_conf_t *cf, ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_file_conf_t *file = conf;

    ngx_str_t path;

    if (file->path->lengths != NULL) {
        return NGX_OK;
    }

    path = file->path->value;

    if (file->root.len != 0 && file->skip == 0) {
        path.len = file->root.len + 1 + file->path->value.len;
        path.data = ngx_pnalloc(cf->pool, path.len + 1);

        if (path.data == NULL) {
            return NGX_ERROR;
        }

        (void) ngx_sprintf(path.data, "%V/%V%Z", &file->root,
                           &file->path->value);

    } else if (ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    if (file->root.len == 0) {
        file->path->value = path;
    }

    return ngx_tg_file_require(cf, "file", &path, 0);
}

/* --- calls --- */

/*
 * Appends the path below `root`, or the absolute path. Returns NULL, or the
 * error.
 */
static const char *
ngx_tg_file_append_path(ngx_tg_call_t *call, const ngx_tg_file_conf_t *file,
                        tg_buf_t *params)
{
    ngx_str_t text;
    tg_str_t path;

    if (ngx_tg_call_eval_value(call, file->path, &text) != NGX_OK) {
        return TG_TEXT_NO_MEMORY;
    }

    path = tg_str_skip(ngx_tg_str_from_ngx(&text), file->skip);

    if (path.len > TG_FILE_PATH_MAX || !tg_utf8_is_valid(path)
        || memchr(path.data, '\0', path.len) != NULL)
    {
        return NGX_TG_FILE_MISSING;
    }

    tg_json_add_string(params, "path", path);

    if (file->root.len != 0) {
        tg_json_add_string(params, "root", ngx_tg_str_from_ngx(&file->root));
        tg_json_add_bool(params, "recursive", 1);
        tg_json_add_bool(params, "dot_files", (int) file->has_dot_files);
    }

    return NULL;
}

/*
 * Checks that the URI of a template has no encoded slashes and the like, of
 * which the path would be another file's.
 */
static ngx_uint_t
ngx_tg_file_has_safe_uri(const ngx_tg_call_t *call, const tg_request_t *request)
{
    tg_buf_t uri;
    ngx_uint_t is_safe;

    if (call->entry->kind != TG_ENTRY_TEMPLATE) {
        return 1;
    }

    tg_buf_init(&uri, tg_alloc_libc());
    tg_json_append_unescaped(&uri, request->reply.subject);
    is_safe = tg_uri_template_is_path_safe(call->entry->uri_template,
                                           tg_buf_view(&uri));
    tg_buf_deinit(&uri);

    return is_safe;
}

void
ngx_tg_file_append_uri(const ngx_tg_call_t *call, const tg_request_t *request,
                       tg_buf_t *params)
{
    tg_json_begin_member(params, "uri");
    tg_buf_append_char(params, '"');
    tg_buf_append_str(params, request->reply.subject);
    tg_buf_append_char(params, '"');
    tg_json_add_optional(params, "mime", call->entry->mime);
}

static void
ngx_tg_file_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_uint_t is_resource;
    const char *mistake;
    tg_buf_t params;

    is_resource = call->entry->kind == TG_ENTRY_RESOURCE
                  || call->entry->kind == TG_ENTRY_TEMPLATE;
    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);

    if (is_resource) {
        tg_spec_write(tg_output_fields, &call->tool->output_spec, &params);
        ngx_tg_file_append_uri(call, request, &params);
    } else {
        ngx_tg_call_append_output_params(call, &params);
    }

    mistake = ngx_tg_file_append_path(call, call->tool->conf, &params);

    if (mistake == NULL && is_resource
        && !ngx_tg_file_has_safe_uri(call, request)) {
        mistake = NGX_TG_FILE_MISSING;
    }

    ngx_tg_call_start_remote(call, TG_STR("file"), &params,
                             is_resource ? TG_FAILURE_UNKNOWN
                                         : TG_FAILURE_PROGRAM,
                             mistake);
}

/* --- completions --- */

ngx_uint_t
ngx_tg_file_is_argument(const ngx_tg_tool_t *block, tg_str_t name)
{
    const ngx_tg_file_conf_t *file = block->conf;

    tg_template_token_t token;
    tg_str_t text, path;

    if (block->handler != &ngx_tg_file_handler || file->root.len == 0) {
        return 0;
    }

    text = tg_str_skip(ngx_tg_str_from_ngx(&file->text), file->skip);

    return tg_template_next(&text, &token) == TG_OK && text.len == 0
           && token.name.data != NULL
           && tg_variable_get_type(token.name, &path) == TG_VARIABLE_ARG
           && tg_variable_is_named(path, name);
}

void
ngx_tg_file_append_root(const ngx_tg_tool_t *block, tg_buf_t *params)
{
    const ngx_tg_file_conf_t *file = block->conf;

    tg_json_add_string(params, "root", ngx_tg_str_from_ngx(&file->root));
    tg_json_add_bool(params, "dot_files", (int) file->has_dot_files);
}

static ngx_command_t ngx_tg_file_commands[] = {

    { ngx_string("file"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_file_set_path, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("root"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_file_set_root, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_file_module = NGX_TG_HANDLER_MODULE(ngx_tg_file_commands);

const ngx_tg_handler_t ngx_tg_file_handler = {
    .name = ngx_string("file"),
    .module = &ngx_tg_file_module,
    .conf_size = sizeof(ngx_tg_file_conf_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_READS_FILES,
    .check = ngx_tg_file_check,
    .lint = ngx_tg_file_lint,
    .start = ngx_tg_file_start,
};
