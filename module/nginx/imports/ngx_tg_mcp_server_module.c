/* The module of `mcp_server NAME { }`: directives and checks of the block. */
#include "nginx/imports/ngx_tg_imports.h"

#include "catalog/tg_imported_tool.h"

/* Maximum length of a name, half of the 64 characters that agents allow. */
#define NGX_TG_MCP_NAME_MAX 32

/* Names of `start`. */
static const char *const ngx_tg_mcp_server_start_names[] = { "at=use",
                                                             "at=boot", NULL };

static void *
ngx_tg_imports_create_main_conf(ngx_conf_t *cf)
{
    ngx_tg_imports_main_conf_t *mmcf;

    mmcf = ngx_pcalloc(cf->pool, sizeof(ngx_tg_imports_main_conf_t));

    return mmcf != NULL
                   && ngx_array_init(&mmcf->servers, cf->pool, 4,
                                     sizeof(ngx_tg_mcp_server_t *))
                          == NGX_OK
                   && ngx_array_init(&mmcf->imported_catalogs, cf->pool, 4,
                                     sizeof(ngx_tg_imported_catalog_t *))
                          == NGX_OK
               ? mmcf
               : NULL;
}

/* --- tool blocks in an mcp_server block --- */

static char *
ngx_tg_mcp_server_read_tool_block(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf)
{
    ngx_tg_mcp_server_t *mcp = conf;

    ngx_tg_tool_t *tool, **slot;
    ngx_str_t *value, name;
    ngx_uint_t i;

    value = cf->args->elts;
    name = value[1];

    if (tg_glob_check(ngx_tg_str_from_ngx(&name)) != NULL
        || strpbrk((char *) name.data, "*?") != NULL)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" of a %V; write the name "
                                 "that its server lists, without \"*\" and "
                                 "\"?\"",
                                 &name, &cmd->name);
    }

    for (i = 0; mcp->tools != NULL && i < mcp->tools->nelts; i++) {
        slot = mcp->tools->elts;

        if (tg_str_eq(slot[i]->entry.name, ngx_tg_str_from_ngx(&name))) {
            return ngx_tg_conf_error(cf,
                                     "duplicate %V \"%V\"; merge both blocks "
                                     "into one",
                                     &cmd->name, &name);
        }
    }

    tool = ngx_tg_tool_create(cf, TG_ENTRY_TOOL, &name);
    slot = ngx_tg_conf_array_push(cf, &mcp->tools, sizeof(ngx_tg_tool_t *));

    if (tool == NULL || slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = tool;
    tool->handler = &ngx_tg_imported_tool_handler;
    tool->group = mcp->block;

    return ngx_tg_tool_read_block(cf, tool, &cmd->name, &name);
}

/* --- mcp_server blocks --- */

static ngx_tg_imported_catalog_t *
ngx_tg_imported_catalog_ensure(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    ngx_tg_imported_catalog_t *imports, **slot;
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_uint_t i;

    mmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_tg_imports_module);
    slot = mmcf->imported_catalogs.elts;

    for (i = 0; i < mmcf->imported_catalogs.nelts; i++) {
        if (slot[i]->scf == scf) {
            return slot[i];
        }
    }

    imports = ngx_pcalloc(cf->pool, sizeof(ngx_tg_imported_catalog_t));
    slot = ngx_array_push(&mmcf->imported_catalogs);

    if (imports == NULL || slot == NULL
        || ngx_array_init(&imports->servers, cf->pool, 4,
                          sizeof(ngx_tg_mcp_server_t *))
               != NGX_OK)
    {
        return NULL;
    }

    imports->scf = scf;
    *slot = imports;

    return imports;
}

static void
ngx_tg_mcp_server_cleanup(void *data)
{
    ngx_tg_mcp_server_t *mcp = data;

    tg_sched_dequeue(&ngx_tg_sched, &mcp->source);
    tg_sched_dequeue(&ngx_tg_sched, &mcp->reading_source);
    ngx_tg_imported_list_release(mcp->queued_list);
    ngx_tg_imported_list_release(mcp->reading_list);
    ngx_tg_imported_list_release(mcp->pending_list);
    ngx_tg_imported_list_release(mcp->list);
    ngx_tg_imported_watches_free(mcp);
    tg_buf_deinit(&mcp->state);
}

/* Creates a block in its server and the main configuration, or returns NULL. */
static ngx_tg_mcp_server_t *
ngx_tg_mcp_server_create(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                         ngx_str_t *name)
{
    ngx_tg_imports_main_conf_t *mmcf;
    ngx_tg_mcp_server_t *mcp, **slots[2];
    ngx_pool_cleanup_t *cln;

    mmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_tg_imports_module);
    mcp = ngx_pcalloc(cf->pool, sizeof(ngx_tg_mcp_server_t));
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (mcp == NULL || cln == NULL
        || ngx_tg_server_ensure_catalog(cf, scf) == NULL) {
        return NULL;
    }

    cln->handler = ngx_tg_mcp_server_cleanup;
    cln->data = mcp;
    tg_buf_init(&mcp->state, tg_alloc_libc());
    ngx_queue_init(&mcp->watches);
    mcp->name = *name;
    mcp->at = tg_catalog_size(scf->catalog);
    tg_spec_init(tg_mcp_server_fields, &mcp->options);
    mcp->starts_at_boot = NGX_CONF_UNSET_UINT;
    mcp->imports = ngx_tg_imported_catalog_ensure(cf, scf);
    mcp->block = ngx_tg_tool_create(cf, TG_ENTRY_TOOL, name);

    if (mcp->imports == NULL || mcp->block == NULL) {
        return NULL;
    }

    slots[0] = ngx_array_push(&mcp->imports->servers);
    slots[1] = ngx_array_push(&mmcf->servers);

    if (slots[0] == NULL || slots[1] == NULL) {
        return NULL;
    }

    *slots[0] = mcp;
    *slots[1] = mcp;
    mcp->block->handler = &ngx_tg_imported_tool_handler;
    mcp->block->is_group = 1;
    scf->needs_runner = 1;

    return mcp;
}

/*
 * Checks for missing and conflicting directives. Returns NULL, or the text that
 * follows the block's name in the error message.
 */
static const char *
ngx_tg_mcp_server_check(const ngx_tg_mcp_server_t *mcp)
{
    ngx_uint_t n;

    n = (mcp->argv != NULL) + (mcp->pass.data != NULL)
        + (mcp->url.data != NULL);

    if (n == 0) {
        return "has no server; write \"exec PROGRAM ...\", \"pass ADDRESS\" "
               "or \"url URL\"";
    }

    if (n != 1) {
        return mcp->url.data == NULL
                   ? "has an \"exec\" and a \"pass\"; remove one of them"
                   : "has a \"url\" beside another server; keep one of "
                     "\"exec\", \"pass\" and \"url\"";
    }

    if (mcp->argv == NULL
        && (mcp->env != NULL || mcp->cwd.data != NULL
            || mcp->options.program.options.memory > 0
            || mcp->options.program.options.pids > 0))
    {
        return "has no \"exec\", so \"env\", \"cwd\", \"memory\" and \"pids\" "
               "have no effect; remove them";
    }

    if (mcp->url.data == NULL
        && (mcp->headers != NULL || mcp->ca_file.len != 0 || mcp->proxy.len != 0
            || mcp->options.connect_ms > 0))
    {
        return "has no \"url\", so \"header\", \"ca_file\", \"proxy\" and "
               "\"connect_timeout\" have no effect; remove them";
    }

    if (mcp->ca_file.len != 0
        && ngx_strncasecmp(mcp->url.data, (u_char *) "https:", 6) != 0)
    {
        return "has a \"ca_file\", but its \"url\" begins with \"http:\", "
               "which uses no certificates; remove it, or write \"https:\"";
    }

    if (mcp->has_client_cwd && mcp->options.share != TG_MCP_SHARE_CONNECTION) {
        return "has \"cwd client\", but its process has clients in several "
               "folders; add \"share connection\", or write \"cwd PATH\"";
    }

    return NULL;
}

/* Rejects two MCP servers with one name or one prefix. */
static char *
ngx_tg_mcp_server_check_duplicates(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp)
{
    ngx_tg_mcp_server_t **other;
    ngx_uint_t i;

    other = mcp->imports->servers.elts;

    for (i = 0; other[i] != mcp; i++) {
        if (tg_str_eq(ngx_tg_str_from_ngx(&other[i]->name),
                      ngx_tg_str_from_ngx(&mcp->name)))
        {
            return ngx_tg_conf_error(cf,
                                     "duplicate mcp_server \"%V\"; give it "
                                     "another name",
                                     &mcp->name);
        }

        if (mcp->prefix.len != 0
            && tg_str_eq(ngx_tg_str_from_ngx(&other[i]->prefix),
                         ngx_tg_str_from_ngx(&mcp->prefix)))
        {
            return ngx_tg_conf_error(cf,
                                     "mcp_server \"%V\" and \"%V\" have the "
                                     "same \"prefix %V\"; give one of them "
                                     "another",
                                     &other[i]->name, &mcp->name, &mcp->prefix);
        }
    }

    return NGX_CONF_OK;
}

/* Copies unset values of the `tool` blocks from the `mcp_server` block. */
static char *
ngx_tg_mcp_server_init_tools(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp)
{
    ngx_tg_tool_t **tool, **slot;
    tg_str_t name, client_name;
    ngx_uint_t i, n;
    char room[TG_NAME_AGENT_MAX];

    tool = mcp->tools != NULL ? mcp->tools->elts : NULL;
    n = mcp->tools != NULL ? mcp->tools->nelts : 0;

    for (i = 0; i <= n; i++) {
        slot = ngx_tg_conf_array_push(cf, &mcp->imports->scf->blocks,
                                      sizeof(ngx_tg_tool_t *));

        if (slot == NULL) {
            return NGX_CONF_ERROR;
        }

        *slot = i < n ? tool[i] : mcp->block;

        if (i == n) {
            break;
        }

        ngx_conf_init_uint_value(tool[i]->validate, mcp->block->validate);
        name = tool[i]->entry.name;
        client_name = ngx_tg_imported_tool_get_names(mcp, &name, room);

        if (!ngx_tg_imported_item_is_selected(mcp, TG_MCP_TOOLS, name,
                                              client_name)) {
            return ngx_tg_conf_error(cf,
                                     "tool \"%*s\" of mcp_server \"%V\" is "
                                     "excluded by \"tools\" or \"hide\"; "
                                     "remove its block, or change those",
                                     tool[i]->entry.name.len,
                                     tool[i]->entry.name.data, &mcp->name);
        }
    }

    return NGX_CONF_OK;
}

/*
 * Sets the capabilities of the server. They must not change later, so they do
 * not depend on what the MCP server has now.
 */
static void
ngx_tg_mcp_server_set_info(ngx_tg_mcp_server_t *mcp)
{
    tg_server_info_t *info;

    info = &mcp->imports->scf->info;
    info->has_logging = 1;
    info->has_prompts |= !mcp->has_no_prompts;
    info->has_resources |= !mcp->has_no_resources;
    info->has_subscribe |= !mcp->has_no_resources;
    info->has_completions |= !mcp->has_no_prompts || !mcp->has_no_resources;
}

static ngx_int_t
ngx_tg_mcp_server_init(ngx_conf_t *cf, ngx_tg_mcp_server_t *mcp)
{
    tg_spec_set_defaults(tg_mcp_server_fields, &mcp->options);
    ngx_conf_init_uint_value(mcp->starts_at_boot, 0);

    if (mcp->prefix.data != NULL) {
        return NGX_OK;
    }

    mcp->prefix.data = ngx_pnalloc(cf->pool, mcp->name.len + 2);

    if (mcp->prefix.data == NULL) {
        return NGX_ERROR;
    }

    mcp->prefix.len = ngx_sprintf(mcp->prefix.data, "%V_%Z", &mcp->name)
                      - mcp->prefix.data - 1;

    return NGX_OK;
}

static char *
ngx_tg_conf_read_mcp_server_block(ngx_conf_t *cf, ngx_command_t *cmd,
                                  void *conf)
{
    ngx_tg_mcp_server_t *mcp;
    const char *mistake;
    ngx_str_t *value, name;
    void **confs;
    char *rv;

    value = cf->args->elts;
    name = value[1];

    if (!ngx_tg_mcp_server_is_word(&name, NGX_TG_MCP_NAME_MAX) || name.len == 0)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid name \"%V\" of a \"%V\"; write 1 "
                                 "to %d letters, digits, \"_\" and \"-\"",
                                 &name, &cmd->name, NGX_TG_MCP_NAME_MAX);
    }

    mcp = ngx_tg_mcp_server_create(
        cf, ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module),
        &name);
    confs = mcp != NULL
                ? ngx_tg_conf_create_array(cf, &ngx_stream_toolgate_module,
                                           mcp->block)
                : NULL;

    if (confs == NULL) {
        return NGX_CONF_ERROR;
    }

    confs[ngx_tg_imports_module.ctx_index] = mcp;
    rv = ngx_tg_conf_read_block(cf, NGX_STREAM_TOOL_GROUP_CONF, confs);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (ngx_tg_mcp_server_init(cf, mcp) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    mistake = ngx_tg_mcp_server_check(mcp);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "%V \"%V\" %s", &cmd->name, &name,
                                 mistake);
    }

    rv = ngx_tg_mcp_server_check_duplicates(cf, mcp);

    if (rv == NGX_CONF_OK) {
        rv = ngx_tg_mcp_server_init_tools(cf, mcp);
        ngx_tg_mcp_server_set_info(mcp);
    }

    return rv == NGX_CONF_OK && ngx_tg_mcp_server_init_spec(cf, mcp) != NGX_OK
               ? NGX_CONF_ERROR
               : rv;
}

/* --- module --- */

#define ngx_tg_mcp_server_field(field)                                         \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_mcp_server_t, field)

/* Space for the directives of the options (spec/tg_mcp_server_spec.h). */
static ngx_command_t ngx_tg_mcp_server_commands[32] = {

    { ngx_string("mcp_server"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_conf_read_mcp_server_block, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    /* directives of the block */

    { ngx_string("tool"),
      NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_mcp_server_read_tool_block, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("exec"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_mcp_server_set_exec, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("pass"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_mcp_server_set_pass, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("url"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_mcp_server_set_url, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("header"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE2,
      ngx_tg_mcp_server_add_header, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("ca_file"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_ca_file, ngx_tg_mcp_server_field(ca_file), NULL },

    { ngx_string("proxy"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_proxy, ngx_tg_mcp_server_field(proxy), NULL },

    { ngx_string("env"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE2,
      ngx_tg_mcp_server_add_env, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("cwd"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_mcp_server_set_cwd, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("start"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_choice, ngx_tg_mcp_server_field(starts_at_boot),
      (void *) ngx_tg_mcp_server_start_names },

    { ngx_string("prefix"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_mcp_server_set_prefix, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tools"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_mcp_server_add_patterns, ngx_tg_mcp_server_field(include_patterns),
      NULL },

    { ngx_string("hide"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_mcp_server_add_patterns, ngx_tg_mcp_server_field(exclude_patterns),
      NULL },

    { ngx_string("prompts"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_mcp_server_add_item_patterns,
      ngx_tg_mcp_server_field(prompt_patterns), NULL },

    { ngx_string("resources"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_mcp_server_add_item_patterns,
      ngx_tg_mcp_server_field(uri_patterns), NULL },

    { ngx_string("roots"), NGX_STREAM_TOOL_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_mcp_server_add_roots, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

__attribute__((constructor)) static void
ngx_tg_mcp_server_init_commands(void)
{
    ngx_tg_spec_add_commands(ngx_tg_mcp_server_commands, tg_mcp_server_fields,
                             NGX_STREAM_TOOL_GROUP_CONF,
                             offsetof(ngx_tg_mcp_server_t, options), NULL);
}

static ngx_stream_module_t ngx_tg_imports_module_ctx = {
    .create_main_conf = ngx_tg_imports_create_main_conf,
};

ngx_module_t ngx_tg_imports_module = NGX_TG_MODULE(
    ngx_tg_imports_module_ctx, ngx_tg_mcp_server_commands,
    .init_process = ngx_tg_imports_init_process);
