/*
 * `mcp_server NAME { }`, and what may stand in it.
 */
#include "nginx/mcp/ngx_toolgate_mcp.h"

#include "core/tg_foreign.h"

/* The rest of an agent's 64 characters is for the tools' own names. */
#define NGX_TOOLGATE_MCP_NAME_MAX 32
/* A server that nobody used for so long is ended. */
#define NGX_TOOLGATE_MCP_IDLE 600000
/* From the start of a server to its list: one may be downloaded first. */
#define NGX_TOOLGATE_MCP_START 60000

static char *ngx_toolgate_mcp_block(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
static char *ngx_toolgate_mcp_tool(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);
static void *ngx_toolgate_mcp_create_main_conf(ngx_conf_t *cf);

/* As ngx_toolgate_mcp_share_t has them; and of `start`. */
static const char *const ngx_toolgate_mcp_shares[] = { "all", "user",
                                                       "connection", NULL };
static const char *const ngx_toolgate_mcp_starts[] = { "at=use", "at=boot",
                                                       NULL };

#define ngx_toolgate_of_mcp(field)                                             \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_toolgate_mcp_t, field)

static ngx_command_t ngx_toolgate_mcp_commands[] = {

    { ngx_string("mcp_server"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_block, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    /* in the block */

    { ngx_string("tool"),
      NGX_STREAM_TOOLS_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_tool, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("exec"), NGX_STREAM_TOOLS_CONF | NGX_CONF_1MORE,
      ngx_toolgate_mcp_exec, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("pass"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_pass, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("url"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_url, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("header"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE2,
      ngx_toolgate_mcp_header, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("ca_file"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_ca, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("proxy"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_proxy, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("connect_timeout"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_connect, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("env"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE2,
      ngx_toolgate_mcp_env, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("cwd"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_cwd, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("memory"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_program_limit, ngx_toolgate_of_mcp(memory), NULL },

    { ngx_string("pids"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_program_limit, ngx_toolgate_of_mcp(pids),
      NGX_TOOLGATE_PIDS },

    { ngx_string("share"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_choice, ngx_toolgate_of_mcp(share),
      (void *) ngx_toolgate_mcp_shares },

    { ngx_string("start"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_choice, ngx_toolgate_of_mcp(starts_at_boot),
      (void *) ngx_toolgate_mcp_starts },

    { ngx_string("idle"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_idle, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("start_timeout"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_start_timeout, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("prefix"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_mcp_prefix, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tools"), NGX_STREAM_TOOLS_CONF | NGX_CONF_1MORE,
      ngx_toolgate_mcp_patterns, ngx_toolgate_of_mcp(shown), NULL },

    { ngx_string("hide"), NGX_STREAM_TOOLS_CONF | NGX_CONF_1MORE,
      ngx_toolgate_mcp_patterns, ngx_toolgate_of_mcp(hidden), NULL },

    { ngx_string("roots"), NGX_STREAM_TOOLS_CONF | NGX_CONF_1MORE,
      ngx_toolgate_mcp_roots, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

static ngx_stream_module_t ngx_toolgate_mcp_module_ctx = {
    NULL,                              /* preconfiguration */
    NULL,                              /* postconfiguration */
    ngx_toolgate_mcp_create_main_conf, /* create main configuration */
    NULL,                              /* init main configuration */
    NULL,                              /* create server configuration */
    NULL                               /* merge server configuration */
};

ngx_module_t ngx_toolgate_mcp_module = {
    NGX_MODULE_V1,
    &ngx_toolgate_mcp_module_ctx,  /* module context */
    ngx_toolgate_mcp_commands,     /* module directives */
    NGX_STREAM_MODULE,             /* module type */
    NULL,                          /* init master */
    NULL,                          /* init module */
    ngx_toolgate_mcp_init_process, /* init process */
    NULL,                          /* init thread */
    NULL,                          /* exit thread */
    NULL,                          /* exit process */
    NULL,                          /* exit master */
    NGX_MODULE_V1_PADDING
};

static void *
ngx_toolgate_mcp_create_main_conf(ngx_conf_t *cf)
{
    ngx_toolgate_mcp_main_conf_t *mmcf;

    mmcf = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_mcp_main_conf_t));

    return mmcf != NULL
                   && ngx_array_init(&mmcf->servers, cf->pool, 4,
                                     sizeof(ngx_toolgate_mcp_t *))
                          == NGX_OK
                   && ngx_array_init(&mmcf->offers, cf->pool, 4,
                                     sizeof(ngx_toolgate_mcp_offer_t *))
                          == NGX_OK
               ? mmcf
               : NULL;
}

/* --- a tool that is told about differently --- */

static char *
ngx_toolgate_mcp_tool(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_mcp_t *mcp = conf;

    ngx_toolgate_tool_t *tool, **slot;
    ngx_str_t *value, name;
    ngx_uint_t i;

    value = cf->args->elts;
    name = value[1];

    if (tg_glob_check(ngx_toolgate_str(&name)) != NULL
        || strpbrk((char *) name.data, "*?") != NULL)
    {
        return ngx_toolgate_refuse(
            cf,
            "invalid name \"%V\" of a %V; write the name "
            "that its server lists, without \"*\" and "
            "\"?\"",
            &name, &cmd->name);
    }

    for (i = 0; mcp->tools != NULL && i < mcp->tools->nelts; i++) {
        slot = mcp->tools->elts;

        if (tg_str_eq(slot[i]->entry.name, ngx_toolgate_str(&name))) {
            return ngx_toolgate_refuse(
                cf,
                "duplicate %V \"%V\"; say all about it in "
                "one block",
                &cmd->name, &name);
        }
    }

    tool = ngx_toolgate_create_tool(cf, TG_ENTRY_TOOL, &name);
    slot = ngx_toolgate_push(cf, &mcp->tools, sizeof(ngx_toolgate_tool_t *));

    if (tool == NULL || slot == NULL) {
        return NGX_CONF_ERROR;
    }

    *slot = tool;
    tool->handler = &ngx_toolgate_mcp_handler;
    tool->group = mcp->block;

    return ngx_toolgate_parse(cf, tool, &cmd->name, &name);
}

/* --- the block --- */

static ngx_toolgate_mcp_offer_t *
ngx_toolgate_mcp_offer(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf)
{
    ngx_toolgate_mcp_offer_t *offer, **slot;
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_uint_t i;

    mmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_toolgate_mcp_module);
    slot = mmcf->offers.elts;

    for (i = 0; i < mmcf->offers.nelts; i++) {
        if (slot[i]->scf == scf) {
            return slot[i];
        }
    }

    offer = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_mcp_offer_t));
    slot = ngx_array_push(&mmcf->offers);

    if (offer == NULL || slot == NULL
        || ngx_array_init(&offer->servers, cf->pool, 4,
                          sizeof(ngx_toolgate_mcp_t *))
               != NGX_OK)
    {
        return NULL;
    }

    offer->scf = scf;
    *slot = offer;

    return offer;
}

static void
ngx_toolgate_mcp_cleanup(void *data)
{
    ngx_toolgate_mcp_t *mcp = data;

    tg_source_leave(&ngx_toolgate_sched, &mcp->source);
    tg_source_leave(&ngx_toolgate_sched, &mcp->reader);
    ngx_toolgate_mcp_list_release(mcp->unread);
    ngx_toolgate_mcp_list_release(mcp->reading);
    ngx_toolgate_mcp_list_release(mcp->coming);
    ngx_toolgate_mcp_list_release(mcp->list);
    tg_buf_deinit(&mcp->state);
}

/* One of which nothing was read yet, in the lists of its server and of all. */
static ngx_toolgate_mcp_t *
ngx_toolgate_mcp_new(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf,
                     ngx_str_t *name)
{
    ngx_toolgate_mcp_main_conf_t *mmcf;
    ngx_toolgate_mcp_t *mcp, **slots[2];
    ngx_pool_cleanup_t *cln;

    mmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_toolgate_mcp_module);
    mcp = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_mcp_t));
    cln = ngx_pool_cleanup_add(cf->pool, 0);

    if (mcp == NULL || cln == NULL || ngx_toolgate_catalogue(cf, scf) == NULL) {
        return NULL;
    }

    cln->handler = ngx_toolgate_mcp_cleanup;
    cln->data = mcp;
    tg_buf_init(&mcp->state, tg_alloc_libc());
    mcp->name = *name;
    mcp->at = tg_catalogue_size(scf->catalogue);
    mcp->share = NGX_CONF_UNSET_UINT;
    mcp->starts_at_boot = NGX_CONF_UNSET_UINT;
    mcp->idle = NGX_CONF_UNSET_MSEC;
    mcp->start_timeout = NGX_CONF_UNSET_MSEC;
    mcp->offer = ngx_toolgate_mcp_offer(cf, scf);
    mcp->block = ngx_toolgate_create_tool(cf, TG_ENTRY_TOOL, name);

    if (mcp->offer == NULL || mcp->block == NULL) {
        return NULL;
    }

    slots[0] = ngx_array_push(&mcp->offer->servers);
    slots[1] = ngx_array_push(&mmcf->servers);

    if (slots[0] == NULL || slots[1] == NULL) {
        return NULL;
    }

    *slots[0] = mcp;
    *slots[1] = mcp;
    mcp->block->handler = &ngx_toolgate_mcp_handler;
    mcp->block->is_group = 1;
    scf->needs_runner = 1;

    return mcp;
}

/* What does not go together: NULL, or what to write. */
static const char *
ngx_toolgate_mcp_mistake(const ngx_toolgate_mcp_t *mcp)
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
        && (mcp->env != NULL || mcp->cwd.data != NULL || mcp->memory != 0
            || mcp->pids != 0))
    {
        return "has no \"exec\", so \"env\", \"cwd\", \"memory\" and "
               "\"pids\" mean nothing in it; remove them";
    }

    if (mcp->url.data == NULL
        && (mcp->headers != NULL || mcp->ca_file.len != 0 || mcp->proxy.len != 0
            || mcp->connect_timeout != 0))
    {
        return "has no \"url\", so \"header\", \"ca_file\", \"proxy\" and "
               "\"connect_timeout\" mean nothing in it; remove them";
    }

    if (mcp->ca_file.len != 0
        && ngx_strncasecmp(mcp->url.data, (u_char *) "https:", 6) != 0)
    {
        return "has a \"ca_file\", but its \"url\" begins with \"http:\", "
               "where no certificate is looked at; remove it, or write "
               "\"https:\"";
    }

    if (mcp->has_client_cwd && mcp->share != NGX_TOOLGATE_MCP_CONNECTION) {
        return "has \"cwd client\", but its process has clients in several "
               "folders; add \"share connection\", or write \"cwd PATH\"";
    }

    return NULL;
}

/* Two servers of one name, or whose tools have the same prefix. */
static char *
ngx_toolgate_mcp_compare(ngx_conf_t *cf, ngx_toolgate_mcp_t *mcp)
{
    ngx_toolgate_mcp_t **other;
    ngx_uint_t i;

    other = mcp->offer->servers.elts;

    for (i = 0; other[i] != mcp; i++) {
        if (tg_str_eq(ngx_toolgate_str(&other[i]->name),
                      ngx_toolgate_str(&mcp->name))) {
            return ngx_toolgate_refuse(cf,
                                       "duplicate mcp_server \"%V\"; give it "
                                       "another name",
                                       &mcp->name);
        }

        if (mcp->prefix.len != 0
            && tg_str_eq(ngx_toolgate_str(&other[i]->prefix),
                         ngx_toolgate_str(&mcp->prefix)))
        {
            return ngx_toolgate_refuse(cf,
                                       "mcp_server \"%V\" and \"%V\" have the "
                                       "same \"prefix %V\"; give one of them "
                                       "another",
                                       &other[i]->name, &mcp->name,
                                       &mcp->prefix);
        }
    }

    return NGX_CONF_OK;
}

/* Blocks about its tools: what they do not say is as this one has it. */
static char *
ngx_toolgate_mcp_init_tools(ngx_conf_t *cf, ngx_toolgate_mcp_t *mcp)
{
    ngx_toolgate_tool_t **tool, **slot;
    tg_str_t name, here;
    ngx_uint_t i, n;
    char room[TG_NAME_AGENT_MAX];

    tool = mcp->tools != NULL ? mcp->tools->elts : NULL;
    n = mcp->tools != NULL ? mcp->tools->nelts : 0;

    for (i = 0; i <= n; i++) {
        slot = ngx_toolgate_push(cf, &mcp->offer->scf->blocks,
                                 sizeof(ngx_toolgate_tool_t *));

        if (slot == NULL) {
            return NGX_CONF_ERROR;
        }

        *slot = i < n ? tool[i] : mcp->block;

        if (i == n) {
            break;
        }

        ngx_conf_init_uint_value(tool[i]->validate, mcp->block->validate);
        name = tool[i]->entry.name;
        here = ngx_toolgate_mcp_names(mcp, &name, room);

        if (!ngx_toolgate_mcp_is_chosen(mcp, name, here)) {
            return ngx_toolgate_refuse(cf,
                                       "tool \"%*s\" of mcp_server \"%V\" is "
                                       "not offered, as \"tools\" and \"hide\" "
                                       "say; remove its block, or change those",
                                       tool[i]->entry.name.len,
                                       tool[i]->entry.name.data, &mcp->name);
        }
    }

    return NGX_CONF_OK;
}

static ngx_int_t
ngx_toolgate_mcp_init(ngx_conf_t *cf, ngx_toolgate_mcp_t *mcp)
{
    ngx_conf_init_uint_value(mcp->share, NGX_TOOLGATE_MCP_ALL);
    ngx_conf_init_uint_value(mcp->starts_at_boot, 0);
    ngx_conf_init_msec_value(mcp->idle, NGX_TOOLGATE_MCP_IDLE);
    ngx_conf_init_msec_value(mcp->start_timeout, NGX_TOOLGATE_MCP_START);

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
ngx_toolgate_mcp_block(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_mcp_t *mcp;
    const char *mistake;
    ngx_str_t *value, name;
    void **confs;
    char *rv;

    (void) conf;
    value = cf->args->elts;
    name = value[1];

    if (!ngx_toolgate_mcp_is_word(&name, NGX_TOOLGATE_MCP_NAME_MAX)
        || name.len == 0)
    {
        return ngx_toolgate_refuse(cf,
                                   "invalid name \"%V\" of a \"%V\"; write 1 "
                                   "to %d letters, digits, \"_\" and \"-\"",
                                   &name, &cmd->name,
                                   NGX_TOOLGATE_MCP_NAME_MAX);
    }

    mcp = ngx_toolgate_mcp_new(
        cf, ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_toolgate_module),
        &name);
    confs = mcp != NULL ? ngx_toolgate_confs(cf, mcp->block) : NULL;

    if (confs == NULL) {
        return NGX_CONF_ERROR;
    }

    confs[ngx_toolgate_mcp_module.ctx_index] = mcp;
    rv = ngx_toolgate_read_block(cf, NGX_STREAM_TOOLS_CONF, confs);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    if (ngx_toolgate_mcp_init(cf, mcp) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    mistake = ngx_toolgate_mcp_mistake(mcp);

    if (mistake != NULL) {
        return ngx_toolgate_refuse(cf, "%V \"%V\" %s", &cmd->name, &name,
                                   mistake);
    }

    rv = ngx_toolgate_mcp_compare(cf, mcp);

    if (rv == NGX_CONF_OK) {
        rv = ngx_toolgate_mcp_init_tools(cf, mcp);
    }

    return rv == NGX_CONF_OK && ngx_toolgate_mcp_spec(cf, mcp) != NGX_OK
               ? NGX_CONF_ERROR
               : rv;
}
