/* The directives `resource_files` and `skills`. */
#include "nginx/handlers/ngx_tg_resource_files.h"

#include "base/tg_glob.h"
#include "base/tg_utf8.h"
#include "catalog/tg_uri_template.h"

/* File of the library with which the runner reads the frontmatter of skills. */
#define NGX_TG_LIBYAML_FILE "libyaml-0.so.2"

typedef struct {
    const ngx_str_t *directive; /* its name */
    ngx_str_t root;
    ngx_str_t uri;
    ngx_str_t max;
    tg_buf_t match; /* JSON arrays without brackets */
    tg_buf_t hide;
    unsigned is_recursive:1;
    unsigned has_dot_files:1;
    unsigned has_skills:1;
} ngx_tg_resource_files_args_t;

/* Adds a pattern. Returns NGX_OK, or NGX_ERROR after logging. */
static ngx_int_t
ngx_tg_resource_files_add_pattern(ngx_conf_t *cf, const ngx_str_t *directive,
                                  ngx_str_t *word, ngx_str_t *pattern,
                                  tg_buf_t *json)
{
    const char *why;

    why = tg_path_glob_check(ngx_tg_str_from_ngx(pattern));

    if (why == NULL && !tg_utf8_is_valid(ngx_tg_str_from_ngx(pattern))) {
        why = "it is not valid UTF-8";
    }

    if (why != NULL) {
        (void) ngx_tg_conf_error(cf, "invalid pattern in \"%V\" of \"%V\": %s",
                                 word, directive, why);
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
ngx_tg_resource_files_check_max(ngx_conf_t *cf, const ngx_str_t *directive,
                                const ngx_str_t *max)
{
    ngx_int_t n;

    n = ngx_atoi(max->data, max->len);

    if (n < 1 || n > TG_FILE_LIST_MAX) {
        (void) ngx_tg_conf_error(cf,
                                 "invalid \"max=%V\" of \"%V\"; write the "
                                 "number of files to list, from 1 to %d",
                                 max, directive, TG_FILE_LIST_MAX);
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
        return ngx_tg_resource_files_check_max(cf, args->directive, &args->max);
    }

    if (ngx_tg_resource_files_has_name(word, "hide=", &value)) {
        return ngx_tg_resource_files_add_pattern(cf, args->directive, word,
                                                 &value, &args->hide);
    }

    if (!args->has_skills
        && ngx_tg_resource_files_has_name(word, "match=", &value)) {
        return ngx_tg_resource_files_add_pattern(cf, args->directive, word,
                                                 &value, &args->match);
    }

    if (!args->has_skills && ngx_strcmp(word->data, "recursive") == 0) {
        args->is_recursive = 1;
        return NGX_OK;
    }

    if (ngx_strcmp(word->data, "dot_files") == 0) {
        args->has_dot_files = 1;
        return NGX_OK;
    }

    (void) ngx_tg_conf_error(cf,
                             "invalid parameter \"%V\" of \"%V\"; write one "
                             "uri=, one max=, %shide=%s or dot_files",
                             word, args->directive,
                             args->has_skills ? "" : "match=, ",
                             args->has_skills ? "" : ", recursive");

    return NGX_ERROR;
}

static ngx_int_t
ngx_tg_resource_files_read_args(ngx_conf_t *cf,
                                ngx_tg_resource_files_args_t *args)
{
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    if (ngx_tg_file_set_folder(cf, (char *) args->directive->data, &value[1],
                               &args->root)
        != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (!tg_utf8_is_valid(ngx_tg_str_from_ngx(&args->root))) {
        (void) ngx_tg_conf_error(cf,
                                 "\"%V\" needs a folder whose path is "
                                 "UTF-8",
                                 args->directive);
        return NGX_ERROR;
    }

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_tg_resource_files_read_arg(cf, &value[i], args) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (args->has_skills && args->uri.data == NULL) {
        ngx_str_set(&args->uri, "skill://");
    }

    if (args->uri.len == 0
        || ngx_strlchr(args->uri.data, args->uri.data + args->uri.len, '{')
               != NULL)
    {
        (void) ngx_tg_conf_error(
            cf,
            "\"%V\" %s what the URIs of its files begin "
            "with, without a variable, such as \"uri=%s\"",
            args->directive,
            args->uri.data == NULL ? "has no uri=; write" : "needs",
            args->has_skills ? "skill://team/" : "notes:///");
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
                                    const ngx_str_t *directive,
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
        (void) ngx_tg_conf_error(cf, "invalid \"uri=%V\" of \"%V\": %s", uri,
                                 directive, mistake);
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
        ngx_conf_log_error(NGX_LOG_WARN, cf, 0, "\"uri=%V\" of \"%V\": %s", uri,
                           directive, mistake);
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
        || ngx_tg_resource_files_init_template(cf, &tool->entry,
                                               args->directive, &args->uri)
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
    files->has_skills = args->has_skills;
    tool->conf = files;
    tool->handler = &ngx_tg_resource_files_handler;
    tool->output = TG_OUTPUT_RESULT;
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.label = files->uri;
    tool->entry.is_unlisted = 1;
    tool->entry.has_skills = args->has_skills;
    tool->is_internal = 1;
    tool->watch = NGX_TG_WATCH_FILE;
    scf->info.has_subscribe = 1;
    scf->info.has_skills |= args->has_skills;
    scf->needs_runner = 1;
    added = tg_catalog_add(catalog, &tool->entry);

    if (added == TG_EXISTS) {
        (void) ngx_tg_conf_error(cf,
                                 "duplicate \"uri=%V\" of \"%V\"; give each "
                                 "folder its own",
                                 &args->uri, args->directive);
    }

    return added == TG_OK ? NGX_OK : NGX_ERROR;
}

/*
 * Checks that no folder with skills before this one has its URIs. Returns
 * NGX_OK, or NGX_ERROR after logging.
 */
static ngx_int_t
ngx_tg_skills_check_uri(ngx_conf_t *cf, const tg_catalog_t *catalog,
                        const ngx_str_t *uri)
{
    const ngx_tg_resource_files_t *other;
    const tg_catalog_entry_t *entry;
    size_t i;

    for (i = 0; catalog != NULL && i < tg_catalog_size(catalog); i++) {
        entry = tg_catalog_get_entry(catalog, i);

        if (!entry->has_skills) {
            continue;
        }

        other = ((ngx_tg_tool_t *) entry->host)->conf;

        if (uri->len > other->uri.len
            && ngx_strncmp(uri->data, other->uri.data, other->uri.len) == 0)
        {
            (void) ngx_tg_conf_error(cf,
                                     "\"uri=%V\" of \"skills\" begins with "
                                     "\"%*s\" of a \"skills\" before it, "
                                     "which gets its URIs; write this line "
                                     "before that one",
                                     uri, other->uri.len, other->uri.data);
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Checks what only a folder of skills needs. */
static ngx_int_t
ngx_tg_skills_check(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                    const ngx_tg_resource_files_args_t *args)
{
    u_char path[NGX_MAX_PATH + 1];
    ngx_file_info_t fi;

    (void) ngx_snprintf(path, sizeof(path), "%V/SKILL.md%Z", &args->root);
    path[NGX_MAX_PATH] = '\0';

    if (ngx_file_info(path, &fi) != NGX_FILE_ERROR) {
        (void) ngx_tg_conf_error(cf,
                                 "\"%V\" of \"skills\" is a skill itself; "
                                 "write the folder around it",
                                 &args->root);
        return NGX_ERROR;
    }

    return ngx_tg_skills_check_uri(cf, scf->catalog, &args->uri) == NGX_OK
               ? ngx_tg_conf_check_library(cf, NGX_TG_LIBYAML_FILE,
                                           "libyaml-0-2")
               : NGX_ERROR;
}

char *
ngx_tg_resource_files_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_resource_files_args_t args;
    ngx_tg_srv_conf_t *scf;
    ngx_int_t rc;

    scf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module);
    ngx_memzero(&args, sizeof(args));
    args.directive = &cmd->name;
    args.has_skills = cmd->offset != 0;
    args.is_recursive = args.has_skills;
    tg_buf_init(&args.match, tg_alloc_libc());
    tg_buf_init(&args.hide, tg_alloc_libc());
    rc = ngx_tg_resource_files_read_args(cf, &args);

    if (rc == NGX_OK && args.has_skills) {
        rc = ngx_tg_skills_check(cf, scf, &args);
    }

    if (rc == NGX_OK) {
        rc = ngx_tg_resource_files_add(cf, scf, &args);
    }

    tg_buf_deinit(&args.match);
    tg_buf_deinit(&args.hide);

    return ngx_tg_conf_result(rc);
}
