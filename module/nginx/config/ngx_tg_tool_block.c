/*
 * `tool NAME { }` and the other blocks with a handler: creating tools, reading
 * and checking their blocks, and values inherited from the server.
 */
#include "nginx/config/ngx_tg_ask.h"

#include "base/tg_utf8.h"

#include <sys/random.h>


static void
ngx_tg_server_free_catalog(void *data)
{
    tg_catalog_unref(((ngx_tg_srv_conf_t *) data)->catalog);
}

tg_catalog_t *
ngx_tg_server_ensure_catalog(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    ngx_stream_core_srv_conf_t *cscf;
    ngx_tg_main_conf_t *mcf;
    ngx_pool_cleanup_t *cln;
    uint64_t seed;

    if (scf->catalog != NULL) {
        return scf->catalog;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    scf->catalog = tg_catalog_new(tg_alloc_libc());
    if (scf->catalog == NULL) {
        return NULL;
    }

    cln->handler = ngx_tg_server_free_catalog;
    cln->data = scf;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed)) {
        tg_catalog_set_seed(scf->catalog, seed);
    }

    cscf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_core_module);

    if (cscf->handler != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "a server either has tools and methods or passes "
                           "connections on; move the other directive "
                           "(\"proxy_pass\", \"return\") to a server of its "
                           "own");
        return NULL;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    mcf->has_tools = 1;
    cscf->handler = mcf->content_handler;

    return scf->catalog;
}

ngx_tg_tool_t *
ngx_tg_tool_create(ngx_conf_t *cf, tg_catalog_entry_type_t kind,
                   ngx_str_t *name)
{
    ngx_tg_tool_t *tool;

    tool = ngx_pcalloc(cf->pool, sizeof(ngx_tg_tool_t));
    if (tool == NULL) {
        return NULL;
    }

    tool->entry.kind = kind;
    tool->entry.name = ngx_tg_str_from_ngx(name);
    tool->entry.host = tool;
    tool->block = tool;
    tool->output = NGX_CONF_UNSET_UINT;
    tool->validate = NGX_CONF_UNSET_UINT;
    tg_spec_init(tg_job_fields, &tool->job_spec);
    tg_spec_init(tg_job_limit_fields, &tool->limit.calls);
    tg_spec_init(tg_rate_fields, &tool->limit.rate);
    tg_spec_init(tg_rate_fields, &tool->complete_limit.rate);
    tg_spec_init(tg_output_fields, &tool->output_spec);

    return tool;
}

ngx_tg_tool_t *
ngx_tg_server_get_block(ngx_tg_srv_conf_t *scf, size_t i)
{
    size_t n;

    n = tg_catalog_size(scf->catalog);

    if (i < n) {
        return tg_catalog_get_entry(scf->catalog, i)->host;
    }

    return scf->blocks != NULL && i - n < scf->blocks->nelts
               ? ((ngx_tg_tool_t **) scf->blocks->elts)[i - n]
               : NULL;
}

/* --- handlers --- */

static const ngx_tg_handler_t *const *
ngx_tg_conf_get_handlers(ngx_conf_t *cf)
{
    ngx_tg_main_conf_t *mcf;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);

    return mcf->handlers;
}

/*
 * Joins the names of a tool's possible handlers with these flags to a text like
 * `"return" or "exec"`; with has_article, `a "return" or an "exec"`.
 */
static ngx_str_t
ngx_tg_conf_join_handler_names(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                               ngx_uint_t flags, ngx_uint_t has_article)
{
    const ngx_tg_handler_t *const *handler;
    const char *article;
    ngx_str_t names;
    u_char *last;

    names.len = 0;
    names.data = ngx_pnalloc(cf->pool, NGX_MAX_CONF_ERRSTR);

    if (names.data == NULL) {
        return names;
    }

    last = names.data + NGX_MAX_CONF_ERRSTR;

    for (handler = ngx_tg_conf_get_handlers(cf); *handler != NULL; handler++) {
        if (((*handler)->flags & (flags | NGX_TG_HANDLER_HAS_NO_DIRECTIVE))
                != flags
            || ((*handler)->kinds != 0
                && !((*handler)->kinds >> tool->entry.kind & 1)))
        {
            continue;
        }

        article = strchr("aeiou", (*handler)->name.data[0]) ? "an " : "a ";
        names.len = ngx_slprintf(names.data + names.len, last, "%s%s\"%V\"",
                                 names.len == 0 ? "" : " or ",
                                 has_article ? article : "", &(*handler)->name)
                    - names.data;
    }

    return names;
}

/* --- blocks --- */

/* Allocates the configuration of each handler's directives. */
static ngx_int_t
ngx_tg_tool_create_handler_confs(ngx_conf_t *cf, void **confs)
{
    const ngx_tg_handler_t *const *handler;
    const ngx_stream_module_t *ctx;
    void *conf;

    for (handler = ngx_tg_conf_get_handlers(cf); *handler != NULL; handler++) {
        if ((*handler)->flags & NGX_TG_HANDLER_HAS_NO_DIRECTIVE) {
            continue;
        }

        ctx = (*handler)->module->ctx;
        conf = ctx->create_srv_conf != NULL
                   ? ctx->create_srv_conf(cf)
                   : ngx_pcalloc(cf->pool, (*handler)->conf_size);

        if (conf == NULL) {
            return NGX_ERROR;
        }

        confs[(*handler)->module->ctx_index] = conf;
    }

    return NGX_OK;
}

/*
 * Checks for conflicting directives, independent of the handler. Returns NULL,
 * or the text that follows the tool's name in the error message.
 */
static const char *
ngx_tg_tool_check_conflicts(ngx_tg_tool_t *tool)
{
    const char *mistake;

    if (tool->entry.kind == TG_ENTRY_METHOD
        && (tool->entry.title.data != NULL
            || tool->entry.annotations.data != NULL))
    {
        return "is not listed to clients, so \"title\" and \"annotations\" "
               "have no effect; remove them";
    }

    mistake = ngx_tg_tool_task_check(tool);

    if (mistake == NULL) {
        mistake = ngx_tg_tool_init_watch(tool);
    }

    if (mistake != NULL) {
        return mistake;
    }

    if (tool->entry.output_schema.data != NULL
        && tool->entry.output == TG_OUTPUT_TEXT)
    {
        return "has an \"output_schema\" but outputs text; add \"output "
               "json\" or \"output result\"";
    }

    return ngx_tg_tool_output_check(tool);
}

static const char *
ngx_tg_tool_handlers_check(ngx_conf_t *cf, ngx_tg_tool_t *tool, void **confs)
{
    const ngx_tg_handler_t *const *handler;
    const char *mistake;

    for (handler = ngx_tg_conf_get_handlers(cf); *handler != NULL; handler++) {
        mistake = (*handler)->check != NULL
                      ? (*handler)->check(tool,
                                          confs[(*handler)->module->ctx_index])
                      : NULL;

        if (mistake != NULL) {
            return mistake;
        }
    }

    return NULL;
}

/*
 * Checks a block that was read completely. Returns NGX_CONF_OK, or
 * NGX_CONF_ERROR after logging.
 */
static char *
ngx_tg_tool_check_block(ngx_conf_t *cf, ngx_tg_tool_t *tool, void **confs,
                        ngx_str_t *kind, ngx_str_t *name)
{
    const char *mistake;
    ngx_str_t names;

    if (tool->handler == NULL) {
        names = ngx_tg_conf_join_handler_names(cf, tool, 0, 1);
        return ngx_tg_conf_error(cf, "%V \"%V\" has no handler; give it %V",
                                 kind, name, &names);
    }

    if (!(tool->handler->flags & NGX_TG_HANDLER_IS_ASYNC)
        && (tool->output_spec.max_output > 0 || tool->job_spec.timeout_ms > 0
            || tool->limit.calls.concurrency > 0))
    {
        names = ngx_tg_conf_join_handler_names(cf, tool,
                                               NGX_TG_HANDLER_IS_ASYNC, 0);
        return ngx_tg_conf_error(
            cf,
            "%V \"%V\" has no %V, so \"timeout\", \"max_output\" and "
            "\"concurrency\" have no effect; remove them",
            kind, name, &names);
    }

    mistake = ngx_tg_tool_check_conflicts(tool);

    if (mistake == NULL) {
        mistake = ngx_tg_tool_handlers_check(cf, tool, confs);
    }

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "%V \"%V\" %s", kind, name, mistake);
    }

    return NGX_CONF_OK;
}

void
ngx_tg_server_init_timeouts(ngx_tg_srv_conf_t *scf)
{
    const ngx_tg_tool_t *from;
    ngx_tg_tool_t *tool;
    size_t i;

    tg_spec_set_defaults(tg_job_fields, &scf->job_spec);

    /* Use the nearest enclosing block with a timeout, else the server. */
    for (i = 0; (tool = ngx_tg_server_get_block(scf, i)) != NULL; i++) {
        for (from = tool->group; from != NULL; from = from->group) {
            tg_spec_inherit(tg_job_fields, &tool->job_spec, &from->job_spec);
        }

        tg_spec_inherit(tg_job_fields, &tool->job_spec, &scf->job_spec);
    }
}

ngx_int_t
ngx_tg_server_init_outputs(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    ngx_tg_tool_t *tool;
    size_t i;

    for (i = 0; (tool = ngx_tg_server_get_block(scf, i)) != NULL; i++) {
        if (ngx_tg_tool_init_output(cf, scf, tool) != NGX_OK) {
            return NGX_ERROR;
        }

        scf->has_stored_output |= (ngx_uint_t) tool->output_spec.is_stored;
    }

    return NGX_OK;
}

void **
ngx_tg_conf_create_array(ngx_conf_t *cf, const ngx_module_t *module, void *conf)
{
    void **confs;

    confs = ngx_palloc(cf->pool, sizeof(void *) * ngx_stream_max_module);

    if (confs != NULL) {
        ngx_memcpy(confs, ((ngx_stream_conf_ctx_t *) cf->ctx)->srv_conf,
                   sizeof(void *) * ngx_stream_max_module);
        confs[module->ctx_index] = conf;
    }

    return confs;
}

static void
ngx_tg_tool_init_output_type(ngx_tg_tool_t *tool, void **confs)
{
    const ngx_tg_handler_t *handler;

    handler = tool->handler;

    if (tool->output == NGX_CONF_UNSET_UINT) {
        tool->output = tool->group != NULL ? TG_OUTPUT_RESULT
                       : handler != NULL && handler->output != NULL
                           ? handler->output(tool,
                                             confs[handler->module->ctx_index])
                       : tool->entry.kind == TG_ENTRY_METHOD ? TG_OUTPUT_JSON
                                                             : TG_OUTPUT_TEXT;
    }

    tool->entry.output = (tg_output_type_t) tool->output;
}

char *
ngx_tg_conf_read_block(ngx_conf_t *cf, ngx_uint_t type, void **confs)
{
    ngx_stream_conf_ctx_t *ctx;
    ngx_conf_t pcf;
    char *rv;

    ctx = ngx_pcalloc(cf->pool, sizeof(ngx_stream_conf_ctx_t));
    if (ctx == NULL) {
        return NGX_CONF_ERROR;
    }

    ctx->main_conf = ((ngx_stream_conf_ctx_t *) cf->ctx)->main_conf;
    ctx->srv_conf = confs;

    pcf = *cf;
    cf->ctx = ctx;
    cf->cmd_type = type;
    rv = ngx_conf_parse(cf, NULL);

    if (rv != NGX_CONF_OK) {
        ngx_tg_log_error_hint(cf);
    }

    *cf = pcf;

    return rv;
}

char *
ngx_tg_tool_read_block(ngx_conf_t *cf, ngx_tg_tool_t *tool, ngx_str_t *kind,
                       ngx_str_t *name)
{
    ngx_tg_main_conf_t *mcf;
    ngx_uint_t first;
    void **confs;
    char *rv;

    confs = ngx_tg_conf_create_array(cf, &ngx_stream_toolgate_module, tool);

    if (confs == NULL || ngx_tg_tool_create_handler_confs(cf, confs) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    first = mcf->value_sources.nelts;

    rv = ngx_tg_conf_read_block(cf, NGX_STREAM_TOOL_CONF, confs);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    tool->file = cf->conf_file->file.name;
    tool->line = cf->conf_file->line;

    if (tool->group != NULL
        && (tool->output != NGX_CONF_UNSET_UINT
            || tool->entry.output_schema.data != NULL))
    {
        return ngx_tg_conf_error(cf,
                                 "%V \"%V\" is listed by another server, whose "
                                 "results are passed on; remove \"output\" and "
                                 "\"output_schema\"",
                                 kind, name);
    }

    if (ngx_tg_tool_init_listing(cf, tool) != NGX_OK
        || ngx_tg_tool_resolve_arg_paths(cf, tool) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_tg_tool_init_output_type(tool, confs);
    rv = ngx_tg_tool_check_block(cf, tool, confs, kind, name);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    tool->conf = confs[tool->handler->module->ctx_index];

    if (ngx_tg_tool_check_asks(cf, tool, first) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (tool->handler->lint != NULL
        && tool->handler->lint(cf, tool, tool->conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    return ngx_tg_conf_result(ngx_tg_lint_tool(cf, tool, first));
}

char *
ngx_tg_conf_read_tool_block(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_tg_tool_t *tool;
    tg_catalog_t *catalog;
    ngx_str_t *value, name;
    char *rv;
    int rc;

    value = cf->args->elts;
    name = value[1];

    if (cmd->offset == TG_ENTRY_TEMPLATE
        && ngx_strlchr(name.data, name.data + name.len, '{') == NULL
        && ngx_tg_conf_read_braced_word(cf, &name) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    tool = ngx_tg_tool_create(cf, cmd->offset, &name);
    catalog = ngx_tg_server_ensure_catalog(cf, scf);

    if (tool == NULL || catalog == NULL
        || ngx_tg_tool_init_name(cf, scf, tool) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    rc = tg_catalog_add(catalog, &tool->entry);

    if (rc != TG_OK) {
        if (rc == TG_EXISTS) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate %V \"%V\"; give it another name",
                               &cmd->name, &name);
        }

        return NGX_CONF_ERROR;
    }

    rv = ngx_tg_tool_read_block(cf, tool, &cmd->name, &name);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (tool->handler->flags & NGX_TG_HANDLER_IS_ASYNC) {
        scf->needs_runner = 1;
    }

    scf->needs_shm |= tool->needs_shm;
    scf->info.has_prompts |= tool->entry.kind == TG_ENTRY_PROMPT;
    scf->info.has_subscribe |= tool->watch != NGX_TG_WATCH_OFF;
    scf->info.has_resources |= NGX_TG_KINDS_READ >> tool->entry.kind & 1;

    return NGX_CONF_OK;
}

ngx_int_t
ngx_tg_server_add_handler_entries(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    const ngx_tg_handler_t *const *handler;

    for (handler = ngx_tg_conf_get_handlers(cf); *handler != NULL; handler++) {
        if ((*handler)->add_entries != NULL
            && (*handler)->add_entries(cf, scf) != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_server_add_builtin_methods(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                                  ngx_array_t *rules)
{
    const ngx_tg_handler_t *const *handler;
    ngx_tg_tool_t *tool, *group;
    ngx_str_t name;

    ngx_str_set(&name, "toolgate");
    group = ngx_tg_tool_create(cf, TG_ENTRY_METHOD, &name);

    if (group == NULL) {
        return NGX_ERROR;
    }

    group->is_group = 1;
    group->rules = rules;

    for (handler = ngx_tg_conf_get_handlers(cf); *handler != NULL; handler++) {
        if (!((*handler)->flags & NGX_TG_HANDLER_IS_BUILTIN)) {
            continue;
        }

        name = (*handler)->name;
        tool = ngx_tg_tool_create(cf, TG_ENTRY_METHOD, &name);

        if (tool == NULL) {
            return NGX_ERROR;
        }

        tool->handler = *handler;
        tool->group = group;
        tool->is_builtin = 1;
        tool->entry.output = TG_OUTPUT_JSON;

        if (tg_catalog_add(scf->catalog, &tool->entry) != TG_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* Sets a text for people, a slice at cmd->offset. */
char *
ngx_tg_conf_set_text(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value;
    tg_str_t *field;

    field = (tg_str_t *) (void *) ((char *) conf + cmd->offset);

    if (field->data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    *field = ngx_tg_str_from_ngx(&value[1]);

    if (!tg_utf8_is_valid(*field)) {
        return "is not valid UTF-8";
    }

    return NGX_CONF_OK;
}
