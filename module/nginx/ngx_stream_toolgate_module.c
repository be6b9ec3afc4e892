/*
 * Directives of a server, and the module's tables.
 */
#include "nginx/conf/ngx_toolgate_handler.h"
#include "nginx/line/ngx_toolgate_backend.h"
#include "nginx/log/ngx_toolgate_tracer.h"
#include "nginx/move/ngx_toolgate_move.h"

/* Long agents' sessions are silent for hours: only half a frame is odd. */
#define NGX_TOOLGATE_FRAME_TIMEOUT 60000
#define NGX_TOOLGATE_SEND_TIMEOUT 60000
#define NGX_TOOLGATE_MAX_OUTPUT 1048576
/* Of jsonrpc, as ipc has it. */
#define NGX_TOOLGATE_MAX_FRAME 10485760
#define NGX_TOOLGATE_MAX_INFLIGHT 1024
/* Of outputs that are kept: a few large ones, while an agent reads them. */
#define NGX_TOOLGATE_SPILL 268435456
#define NGX_TOOLGATE_SPILL_TIME 3600000

static ngx_int_t ngx_toolgate_init_process(ngx_cycle_t *cycle);
static void ngx_toolgate_exit_process(ngx_cycle_t *cycle);
static void *ngx_toolgate_create_main_conf(ngx_conf_t *cf);
static void *ngx_toolgate_create_srv_conf(ngx_conf_t *cf);
static char *ngx_toolgate_merge_srv_conf(ngx_conf_t *cf, void *parent,
                                         void *child);

static char *ngx_toolgate_check_max_frame(ngx_conf_t *cf, void *post,
                                          void *data);

#define ngx_toolgate_word(NUMBER, name) #name,
static const char *const ngx_toolgate_protocols[] = {
    "auto", TG_DIALECTS(ngx_toolgate_word) NULL
};

static const char *const ngx_toolgate_validates[] = { "on", "off", "formats",
                                                      NULL };

/* As ngx_toolgate_bridges_t. */
static const char *const ngx_toolgate_bridges[] = { "shared", "displace",
                                                    "reject", NULL };

static ngx_conf_num_bounds_t ngx_toolgate_inflight_bounds = {
    ngx_conf_check_num_bounds, 1, 65536
};

static ngx_conf_post_t ngx_toolgate_max_frame_post = {
    ngx_toolgate_check_max_frame
};

#define NGX_TOOLGATE_SRV (NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF)
#define NGX_TOOLGATE_TOOLS (NGX_STREAM_TOOL_CONF | NGX_STREAM_TOOLS_CONF)

/* Where a directive's value goes. */
#define ngx_toolgate_of_server(field)                                          \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_toolgate_srv_conf_t, field)
#define ngx_toolgate_of_tool(field)                                            \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_toolgate_tool_t, field)

static ngx_command_t ngx_toolgate_commands[] = {

    { ngx_string("tool"), NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_toolgate_tool, NGX_STREAM_SRV_CONF_OFFSET, TG_ENTRY_TOOL, NULL },

    { ngx_string("method"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1, ngx_toolgate_tool,
      NGX_STREAM_SRV_CONF_OFFSET, TG_ENTRY_METHOD, NULL },

    /* in a server */

    { ngx_string("tool_protocol"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_choice, ngx_toolgate_of_server(protocol),
      (void *) ngx_toolgate_protocols },

    { ngx_string("tool_socket_mode"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_socket_mode, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_socket_owner"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_socket_owner, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_max_frame"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_conf_set_size_slot, ngx_toolgate_of_server(max_frame),
      &ngx_toolgate_max_frame_post },

    { ngx_string("tool_max_inflight"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_conf_set_num_slot, ngx_toolgate_of_server(max_inflight),
      &ngx_toolgate_inflight_bounds },

    { ngx_string("tool_idle_timeout"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE12,
      ngx_toolgate_idle_timeout, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_send_timeout"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot, ngx_toolgate_of_server(send_timeout), NULL },

    { ngx_string("tool_timeout"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE12,
      ngx_toolgate_timeout, ngx_toolgate_of_server(timeout), NULL },

    { ngx_string("tool_max_output"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE12,
      ngx_toolgate_server_max_output, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_preview"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_server_preview, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_runner"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_runner_path, ngx_toolgate_of_server(runner_path),
      ngx_toolgate_runner_mistake },

    { ngx_string("tool_schema_file"), NGX_STREAM_SRV_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_path, ngx_toolgate_of_server(schema_file),
      ngx_toolgate_schema_file_mistake },

    { ngx_string("tool_state_dir"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_path, ngx_toolgate_of_server(state_dir),
      ngx_toolgate_state_dir_mistake },

    { ngx_string("tool_server_name"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_text, ngx_toolgate_of_server(info.name), NULL },

    { ngx_string("tool_instructions"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_text, ngx_toolgate_of_server(info.instructions), NULL },

    { ngx_string("tool_capability"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE12,
      ngx_toolgate_capability, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_relay_bridges"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_choice, ngx_toolgate_of_server(bridges),
      (void *) ngx_toolgate_bridges },

    { ngx_string("tool_allow"), NGX_TOOLGATE_SRV | NGX_CONF_1MORE,
      ngx_toolgate_access, ngx_toolgate_of_server(rules), NULL },

    { ngx_string("tool_deny"), NGX_TOOLGATE_SRV | NGX_CONF_1MORE,
      ngx_toolgate_access, ngx_toolgate_of_server(rules),
      (void *) NGX_TOOLGATE_DENY },

    { ngx_string("tool_status_allow"), NGX_TOOLGATE_SRV | NGX_CONF_1MORE,
      ngx_toolgate_access, ngx_toolgate_of_server(status_rules), NULL },

    { ngx_string("tool_concurrency"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE12,
      ngx_toolgate_concurrency, ngx_toolgate_of_server(limit), NULL },

    { ngx_string("tool_rate"), NGX_TOOLGATE_SRV | NGX_CONF_1MORE,
      ngx_toolgate_conf_rate, ngx_toolgate_of_server(limit), NULL },

    { ngx_string("tool_spill"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE12,
      ngx_toolgate_spill, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_validate"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE1,
      ngx_toolgate_choice, ngx_toolgate_of_server(validate),
      (void *) ngx_toolgate_validates },

    { ngx_string("tool_log"), NGX_TOOLGATE_SRV | NGX_CONF_1MORE,
      ngx_toolgate_conf_log, ngx_toolgate_of_server(logs), NULL },

    { ngx_string("tool_log"), NGX_TOOLGATE_TOOLS | NGX_CONF_1MORE,
      ngx_toolgate_conf_log, ngx_toolgate_of_tool(logs), NULL },

    { ngx_string("tool_trace"), NGX_TOOLGATE_SRV | NGX_CONF_TAKE123,
      ngx_toolgate_conf_trace, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_log_format"), NGX_STREAM_MAIN_CONF | NGX_CONF_2MORE,
      ngx_toolgate_conf_log_format, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    /* in a tool or method */

    { ngx_string("allow"), NGX_TOOLGATE_TOOLS | NGX_CONF_1MORE,
      ngx_toolgate_access, ngx_toolgate_of_tool(rules), NULL },

    { ngx_string("deny"), NGX_TOOLGATE_TOOLS | NGX_CONF_1MORE,
      ngx_toolgate_access, ngx_toolgate_of_tool(rules),
      (void *) NGX_TOOLGATE_DENY },

    { ngx_string("concurrency"), NGX_TOOLGATE_TOOLS | NGX_CONF_TAKE12,
      ngx_toolgate_concurrency, ngx_toolgate_of_tool(limit), NULL },

    { ngx_string("rate"), NGX_TOOLGATE_TOOLS | NGX_CONF_1MORE,
      ngx_toolgate_conf_rate, ngx_toolgate_of_tool(limit), NULL },

    { ngx_string("validate"), NGX_TOOLGATE_TOOLS | NGX_CONF_TAKE1,
      ngx_toolgate_choice, ngx_toolgate_of_tool(validate),
      (void *) ngx_toolgate_validates },

    { ngx_string("description"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_text, ngx_toolgate_of_tool(entry.description), NULL },

    { ngx_string("title"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_text, ngx_toolgate_of_tool(entry.title), NULL },

    { ngx_string("task"),
      NGX_STREAM_TOOL_CONF | NGX_CONF_NOARGS | NGX_CONF_TAKE12,
      ngx_toolgate_tool_task, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("annotations"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_annotations, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("input_schema"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_schema, ngx_toolgate_of_tool(entry.input_schema), NULL },

    { ngx_string("input_schema_file"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_schema, ngx_toolgate_of_tool(entry.input_schema),
      (void *) NGX_TOOLGATE_FILE },

    { ngx_string("output_schema"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_schema, ngx_toolgate_of_tool(entry.output_schema), NULL },

    { ngx_string("output_schema_file"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_toolgate_schema, ngx_toolgate_of_tool(entry.output_schema),
      (void *) NGX_TOOLGATE_FILE },

    { ngx_string("output"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_output, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("timeout"), NGX_TOOLGATE_TOOLS | NGX_CONF_TAKE12,
      ngx_toolgate_timeout, ngx_toolgate_of_tool(timeout), NULL },

    { ngx_string("max_output"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_max_output, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("max_output"), NGX_STREAM_TOOLS_CONF | NGX_CONF_TAKE12,
      ngx_toolgate_max_output, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("preview"), NGX_TOOLGATE_TOOLS | NGX_CONF_TAKE1,
      ngx_toolgate_preview, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

static ngx_int_t
ngx_toolgate_postconfigure(ngx_conf_t *cf)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_toolgate_main_conf_t *mcf;
    ngx_stream_handler_pt *handler;

    cmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_core_module);
    handler = ngx_array_push(&cmcf->phases[NGX_STREAM_PREREAD_PHASE].handlers);

    if (handler == NULL) {
        return NGX_ERROR;
    }

    *handler = ngx_toolgate_silent_preread;
    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    mcf->hint->ctx = NULL;

    return ngx_toolgate_check_variables(cf);
}

static ngx_stream_module_t ngx_toolgate_module_ctx = {
    ngx_toolgate_add_variables,    /* preconfiguration */
    ngx_toolgate_postconfigure,    /* postconfiguration */
    ngx_toolgate_create_main_conf, /* create main configuration */
    NULL,                          /* init main configuration */
    ngx_toolgate_create_srv_conf,  /* create server configuration */
    ngx_toolgate_merge_srv_conf    /* merge server configuration */
};

ngx_module_t ngx_stream_toolgate_module = {
    NGX_MODULE_V1,
    &ngx_toolgate_module_ctx,  /* module context */
    ngx_toolgate_commands,     /* module directives */
    NGX_STREAM_MODULE,         /* module type */
    NULL,                      /* init master */
    NULL,                      /* init module */
    ngx_toolgate_init_process, /* init process */
    NULL,                      /* init thread */
    NULL,                      /* exit thread */
    ngx_toolgate_exit_process, /* exit process */
    NULL,                      /* exit master */
    NGX_MODULE_V1_PADDING
};

static ngx_int_t
ngx_toolgate_init_process(ngx_cycle_t *cycle)
{
    (void) cycle;

    ngx_toolgate_call_init(ngx_toolgate_call_store);

    return NGX_OK;
}

/* What the worker keeps for its calls. */
static void
ngx_toolgate_exit_process(ngx_cycle_t *cycle)
{
    if (ngx_terminate) {
        ngx_toolgate_session_stop();
    }

    ngx_toolgate_arrive_exit();
    ngx_toolgate_move_exit(cycle);
    ngx_toolgate_share_exit();
    ngx_toolgate_schema_exit();
    ngx_toolgate_call_exit(cycle);
    ngx_toolgate_runner_exit(cycle);
    ngx_toolgate_backend_exit();
    ngx_toolgate_spare_exit();
    ngx_toolgate_log_exit(cycle);
    ngx_toolgate_tracer_exit(cycle);
}

static void *
ngx_toolgate_create_main_conf(ngx_conf_t *cf)
{
    ngx_toolgate_main_conf_t *mcf;
    ngx_uint_t i;

    mcf = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_main_conf_t));
    if (mcf == NULL) {
        return NULL;
    }

    const struct {
        ngx_array_t *array;
        size_t size;
    } arrays[] = {
        { &mcf->runners, sizeof(ngx_toolgate_runner_t *) },
        { &mcf->uses, sizeof(ngx_toolgate_use_t) },
        { &mcf->servers, sizeof(ngx_toolgate_srv_conf_t *) },
        { &mcf->programs, sizeof(ngx_toolgate_program_t) },
        { &mcf->limits, sizeof(ngx_toolgate_limit_t *) },
        { &mcf->sinks, sizeof(ngx_toolgate_sink_t *) },
        { &mcf->formats, sizeof(ngx_toolgate_format_t *) },
        { &mcf->tracers, sizeof(ngx_toolgate_tracer_t *) },
    };

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (ngx_array_init(arrays[i].array, cf->pool, 4, arrays[i].size)
            != NGX_OK) {
            return NULL;
        }
    }

    mcf->hint = ngx_toolgate_explain_start(cf);
    if (mcf->hint == NULL) {
        return NULL;
    }

    mcf->serve = ngx_toolgate_handler;
    mcf->path = ngx_toolgate_path_variable;
    mcf->handlers = ngx_toolgate_handlers;

    return mcf;
}

static void *
ngx_toolgate_create_srv_conf(ngx_conf_t *cf)
{
    ngx_toolgate_srv_conf_t *scf;

    scf = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_srv_conf_t));
    if (scf == NULL) {
        return NULL;
    }

    scf->validate = NGX_CONF_UNSET_UINT;
    scf->protocol = NGX_CONF_UNSET_UINT;
    scf->bridges = NGX_CONF_UNSET_UINT;
    scf->max_frame = NGX_CONF_UNSET_SIZE;
    scf->max_inflight = NGX_CONF_UNSET;
    scf->idle_timeout = NGX_CONF_UNSET_MSEC;
    scf->frame_timeout = NGX_CONF_UNSET_MSEC;
    scf->send_timeout = NGX_CONF_UNSET_MSEC;
    scf->timeout = NGX_CONF_UNSET_MSEC;
    scf->max_output = NGX_CONF_UNSET_SIZE;
    scf->preview = NGX_CONF_UNSET_SIZE;
    scf->socket_mode = NGX_CONF_UNSET_UINT;
    scf->has_owner = NGX_CONF_UNSET_UINT;
    scf->spill_quota = NGX_CONF_UNSET;
    scf->spill_time = NGX_CONF_UNSET_MSEC;

    return scf;
}

/* What a server does not say is as outside of it. */
static void
ngx_toolgate_merge_absent(ngx_toolgate_srv_conf_t *prev,
                          ngx_toolgate_srv_conf_t *conf)
{
    if (conf->rules == NULL) {
        conf->rules = prev->rules;
    }

    if (conf->logs == NULL) {
        conf->logs = prev->logs;
    }

    if (conf->trace == NULL) {
        conf->trace = prev->trace;
    }

    if (conf->info.name.data == NULL) {
        conf->info.name = prev->info.name;
    }

    if (conf->info.instructions.data == NULL) {
        conf->info.instructions = prev->info.instructions;
    }

    if (conf->info.experimental.data == NULL) {
        conf->info.experimental = prev->info.experimental;
    }

    if (conf->status_rules == NULL) {
        conf->status_rules = prev->status_rules;
    }

    if (conf->limit.concurrency == 0) {
        conf->limit.concurrency = prev->limit.concurrency;
        conf->limit.queue = prev->limit.queue;
    }

    if (conf->limit.rate == 0) {
        conf->limit.rate = prev->limit.rate;
        conf->limit.burst = prev->limit.burst;
        conf->limit.rate_text = prev->limit.rate_text;
    }
}

static void
ngx_toolgate_merge_values(ngx_toolgate_srv_conf_t *prev,
                          ngx_toolgate_srv_conf_t *conf)
{
    ngx_conf_merge_uint_value(conf->validate, prev->validate, NGX_TOOLGATE_ON);
    ngx_conf_merge_uint_value(conf->protocol, prev->protocol, TG_DIALECT_AUTO);
    ngx_conf_merge_uint_value(conf->bridges, prev->bridges,
                              NGX_TOOLGATE_BRIDGES_SHARED);
    ngx_conf_merge_size_value(conf->max_frame, prev->max_frame,
                              NGX_TOOLGATE_MAX_FRAME);
    ngx_conf_merge_value(conf->max_inflight, prev->max_inflight,
                         NGX_TOOLGATE_MAX_INFLIGHT);
    ngx_conf_merge_msec_value(conf->idle_timeout, prev->idle_timeout, 0);
    ngx_conf_merge_msec_value(conf->frame_timeout, prev->frame_timeout,
                              NGX_TOOLGATE_FRAME_TIMEOUT);
    ngx_conf_merge_msec_value(conf->send_timeout, prev->send_timeout,
                              NGX_TOOLGATE_SEND_TIMEOUT);
    ngx_conf_merge_uint_value(conf->socket_mode, prev->socket_mode, 0600);
    ngx_conf_merge_off_value(conf->spill_quota, prev->spill_quota,
                             NGX_TOOLGATE_SPILL);
    ngx_conf_merge_msec_value(conf->spill_time, prev->spill_time,
                              NGX_TOOLGATE_SPILL_TIME);

    if (conf->timeout == NGX_CONF_UNSET_MSEC) {
        conf->timeout = prev->timeout;
        conf->max_timeout = prev->max_timeout;
    }

    if (conf->max_output == NGX_CONF_UNSET_SIZE) {
        conf->spills = prev->spills;
    }

    ngx_conf_merge_size_value(conf->max_output, prev->max_output,
                              NGX_TOOLGATE_MAX_OUTPUT);
    ngx_conf_merge_size_value(conf->preview, prev->preview, 0);

    if (conf->has_owner == NGX_CONF_UNSET_UINT) {
        conf->socket_uid = prev->socket_uid;
        conf->socket_gid = prev->socket_gid;
    }

    ngx_conf_merge_uint_value(conf->has_owner, prev->has_owner, 0);
    ngx_conf_merge_str_value(conf->runner_path, prev->runner_path, "");
    ngx_conf_merge_str_value(conf->state_dir, prev->state_dir, "");
}

/* Of two that serve a connection, NGINX takes the one that came last. */
static ngx_int_t
ngx_toolgate_check_handler(ngx_conf_t *cf,
                           const ngx_stream_core_srv_conf_t *cscf)
{
    if (cscf->handler == ngx_toolgate_handler) {
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                  "a server either has tools and methods or passes "
                  "connections on; move the other directive "
                  "(\"proxy_pass\", \"return\") to a server of its own "
                  "in %s:%ui",
                  cscf->file_name, cscf->line);
    return NGX_ERROR;
}

static char *
ngx_toolgate_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_toolgate_srv_conf_t *prev = parent;
    ngx_toolgate_srv_conf_t *conf = child;

    ngx_stream_core_srv_conf_t *cscf;
    ngx_array_t *rules;

    ngx_toolgate_merge_values(prev, conf);
    ngx_toolgate_merge_absent(prev, conf);

    if (conf->catalogue == NULL) {
        return NGX_CONF_OK;
    }

    /* Where it is off, a frame costs a look. */
    if (conf->trace != NULL && conf->trace->tracer == NULL) {
        conf->trace = NULL;
    }

    cscf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_core_module);

    rules = ngx_toolgate_status_rules(cf, conf, NULL);

    if (rules == NULL || ngx_toolgate_check_handler(cf, cscf) != NGX_OK
        || ngx_toolgate_own_methods(cf, conf, rules) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (conf->info.name.data == NULL) {
        conf->info.name = TG_STR("toolgate");
    }

    /* Whether there is a reader depends on what others keep for it. */
    if (ngx_toolgate_init_outputs(cf, conf) != NGX_OK
        || ngx_toolgate_offer(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_toolgate_init_timeouts(conf);

    if (ngx_toolgate_compile_schemas(cf, conf) != NGX_OK
        || ngx_toolgate_limits(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    conf->info.version = TG_STR(NGX_TOOLGATE_VERSION);
    conf->info.has_list_changed = 1;
    conf->needs_share |= conf->bridges != NGX_TOOLGATE_BRIDGES_SHARED;
    conf->info.has_broadcasts = conf->needs_share != 0;

    if (tg_catalogue_seal(conf->catalogue) != TG_OK) {
        return NGX_CONF_ERROR;
    }

    conf->file = cscf->file_name;
    conf->line = cscf->line;
    ngx_toolgate_check_list(conf, NULL, cf->log);

    if (conf->needs_runner) {
        conf->runner = ngx_toolgate_runner_add(cf, &conf->runner_path,
                                               &conf->state_dir);
    }

    return conf->needs_runner && conf->runner == NULL ? NGX_CONF_ERROR
                                                      : NGX_CONF_OK;
}

static char *
ngx_toolgate_check_max_frame(ngx_conf_t *cf, void *post, void *data)
{
    size_t *size = data;

    (void) cf;
    (void) post;

    return *size < 1024 || *size > 1073741824 ? "must be between 1k and 1024m"
                                              : NGX_CONF_OK;
}
