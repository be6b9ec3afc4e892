/*
 * The stream module: table of the directives, default values and merging of
 * server configurations, start and exit of workers.
 */
#include "nginx/config/ngx_tg_listing.h"
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/upstream/ngx_tg_backend.h"
#include "nginx/logging/ngx_tg_tracer.h"
#include "nginx/handoff/ngx_tg_handoff.h"
#include "nginx/call/ngx_tg_call_checks.h"
#include "nginx/upstream/ngx_tg_runner.h"

/*
 * Timeout within a frame, in ms. Sessions of agents are idle for hours, but a
 * frame that stays incomplete is an error.
 */
#define NGX_TG_FRAME_TIMEOUT_DEFAULT 60000
#define NGX_TG_SEND_TIMEOUT_DEFAULT 60000
/* Same limit as for messages of the ipc dialect, in bytes. */
#define NGX_TG_MAX_FRAME_DEFAULT 10485760
#define NGX_TG_MAX_INFLIGHT_DEFAULT 1024

static ngx_int_t ngx_tg_init_process(ngx_cycle_t *cycle);
static void ngx_tg_exit_process(ngx_cycle_t *cycle);
static void *ngx_tg_create_main_conf(ngx_conf_t *cf);
static void *ngx_tg_create_srv_conf(ngx_conf_t *cf);
static char *ngx_tg_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child);

static char *ngx_tg_check_max_frame(ngx_conf_t *cf, void *post, void *data);

#define ngx_tg_dialect_name(NUMBER, name) #name,
static const char *const ngx_tg_protocol_names[] = {
    "auto", TG_DIALECTS(ngx_tg_dialect_name) NULL
};

static const char *const ngx_tg_validate_names[] = { "on", "off", "formats",
                                                     NULL };

/* Names of ngx_tg_bridge_policy_t, in the order of its values. */
static const char *const ngx_tg_bridge_policy_names[] = { "shared", "displace",
                                                          "reject", NULL };

static ngx_conf_num_bounds_t ngx_tg_inflight_bounds = {
    ngx_conf_check_num_bounds, 1, 65536
};

static ngx_conf_post_t ngx_tg_max_frame_post = { ngx_tg_check_max_frame };

#define NGX_TG_MAIN_OR_SRV_CONF (NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF)
#define NGX_TG_TOOL_OR_GROUP_CONF                                              \
    (NGX_STREAM_TOOL_CONF | NGX_STREAM_TOOL_GROUP_CONF)

/* Configuration and offset of the field that a directive sets. */
#define ngx_tg_server_field(field)                                             \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_srv_conf_t, field)
#define ngx_tg_tool_field(field)                                               \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_tool_t, field)

/* Space for the directives of the options and of the listings. */
static ngx_command_t ngx_tg_commands[96] = {

    { ngx_string("tool"), NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_conf_read_tool_block, NGX_STREAM_SRV_CONF_OFFSET, TG_ENTRY_TOOL,
      NULL },

    { ngx_string("method"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_conf_read_tool_block, NGX_STREAM_SRV_CONF_OFFSET, TG_ENTRY_METHOD,
      NULL },

    /* directives of a server */

    { ngx_string("tool_protocol"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_choice, ngx_tg_server_field(protocol),
      (void *) ngx_tg_protocol_names },

    { ngx_string("tool_socket_mode"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_socket_mode, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_socket_owner"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_socket_owner, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_max_frame"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_conf_set_size_slot, ngx_tg_server_field(max_frame),
      &ngx_tg_max_frame_post },

    { ngx_string("tool_max_inflight"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_conf_set_num_slot, ngx_tg_server_field(max_inflight),
      &ngx_tg_inflight_bounds },

    { ngx_string("tool_idle_timeout"),
      NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE12, ngx_tg_conf_set_idle_timeout,
      NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_send_timeout"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_conf_set_msec_slot, ngx_tg_server_field(send_timeout), NULL },

    { ngx_string("tool_runner"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_runner_path, ngx_tg_server_field(runner_path),
      ngx_tg_runner_path_check },

    { ngx_string("tool_schema_file"), NGX_STREAM_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_path, ngx_tg_server_field(schema_file),
      ngx_tg_schema_file_path_check },

    { ngx_string("tool_state_dir"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_path, ngx_tg_server_field(state_dir),
      ngx_tg_state_dir_check },

    { ngx_string("tool_server_name"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_text, ngx_tg_server_field(info.name), NULL },

    { ngx_string("tool_instructions"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_text, ngx_tg_server_field(info.instructions), NULL },

    { ngx_string("tool_capability"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE12,
      ngx_tg_conf_add_capability, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_relay_bridges"),
      NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1, ngx_tg_conf_set_choice,
      ngx_tg_server_field(bridges), (void *) ngx_tg_bridge_policy_names },

    { ngx_string("tool_allow"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_access_rules, ngx_tg_server_field(rules), NULL },

    { ngx_string("tool_deny"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_access_rules, ngx_tg_server_field(rules),
      (void *) NGX_TG_CONF_DENY },

    { ngx_string("tool_status_allow"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_access_rules, ngx_tg_server_field(status_rules), NULL },

    /* the older name of tool_output_store */
    { ngx_string("tool_spill"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE12,
      ngx_tg_spec_set, ngx_tg_server_field(spill), (void *) tg_spill_fields },

    { ngx_string("tool_validate"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_choice, ngx_tg_server_field(validate),
      (void *) ngx_tg_validate_names },

    { ngx_string("tool_log"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_log, ngx_tg_server_field(logs), NULL },

    { ngx_string("tool_log"), NGX_TG_TOOL_OR_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_log, ngx_tg_tool_field(logs), NULL },

    { ngx_string("tool_trace"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE123,
      ngx_tg_conf_set_trace, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_log_format"), NGX_STREAM_MAIN_CONF | NGX_CONF_2MORE,
      ngx_tg_conf_add_log_format, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    /* directives of a tool or method */

    { ngx_string("allow"), NGX_TG_TOOL_OR_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_access_rules, ngx_tg_tool_field(rules), NULL },

    { ngx_string("deny"), NGX_TG_TOOL_OR_GROUP_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_access_rules, ngx_tg_tool_field(rules),
      (void *) NGX_TG_CONF_DENY },

    { ngx_string("validate"), NGX_TG_TOOL_OR_GROUP_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_choice, ngx_tg_tool_field(validate),
      (void *) ngx_tg_validate_names },

    { ngx_string("description"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_text, ngx_tg_tool_field(entry.description), NULL },

    { ngx_string("title"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_text, ngx_tg_tool_field(entry.title), NULL },

    { ngx_string("task"),
      NGX_STREAM_TOOL_CONF | NGX_CONF_NOARGS | NGX_CONF_TAKE12,
      ngx_tg_conf_set_task, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("annotations"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_annotations, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("input_schema"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_schema, ngx_tg_tool_field(entry.input_schema), NULL },

    { ngx_string("input_schema_file"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_schema, ngx_tg_tool_field(entry.input_schema),
      (void *) NGX_TG_SCHEMA_FROM_FILE },

    { ngx_string("output_schema"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_schema, ngx_tg_tool_field(entry.output_schema), NULL },

    { ngx_string("output_schema_file"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_schema, ngx_tg_tool_field(entry.output_schema),
      (void *) NGX_TG_SCHEMA_FROM_FILE },

    { ngx_string("output"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_conf_set_output, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

/* Adds the directives of one table to a server, and to a tool's block. */
#define ngx_tg_add_options(fields, member, set)                                \
    ngx_tg_spec_add_commands(ngx_tg_commands, fields, NGX_TG_MAIN_OR_SRV_CONF, \
                             offsetof(ngx_tg_srv_conf_t, member), set);        \
    ngx_tg_spec_add_commands(ngx_tg_commands, fields,                          \
                             NGX_TG_TOOL_OR_GROUP_CONF,                        \
                             offsetof(ngx_tg_tool_t, member), set)

__attribute__((constructor)) static void
ngx_tg_init_commands(void)
{
    ngx_tg_add_options(tg_job_fields, job_spec, ngx_tg_conf_set_timeout);
    ngx_tg_add_options(tg_job_limit_fields, limit.calls, NULL);
    ngx_tg_add_options(tg_rate_fields, limit.rate, ngx_tg_conf_set_rate);
    ngx_tg_add_options(tg_output_fields, output_spec, NULL);
    ngx_tg_spec_add_commands(ngx_tg_commands, tg_spill_fields,
                             NGX_TG_MAIN_OR_SRV_CONF,
                             offsetof(ngx_tg_srv_conf_t, spill), NULL);
    ngx_tg_commands_append(ngx_tg_commands, ngx_tg_listing_commands);
}

static ngx_int_t
ngx_tg_postconfiguration(ngx_conf_t *cf)
{
    ngx_stream_core_main_conf_t *cmcf;
    ngx_tg_main_conf_t *mcf;
    ngx_stream_handler_pt *handler;

    cmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_core_module);
    handler = ngx_array_push(&cmcf->phases[NGX_STREAM_PREREAD_PHASE].handlers);

    if (handler == NULL) {
        return NGX_ERROR;
    }

    *handler = ngx_tg_pre_request_preread;
    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    mcf->hint_conf->ctx = NULL;

    return ngx_tg_check_unknown_variables(cf);
}

static ngx_stream_module_t ngx_tg_module_ctx = {
    .preconfiguration = ngx_tg_add_variables,
    .postconfiguration = ngx_tg_postconfiguration,
    .create_main_conf = ngx_tg_create_main_conf,
    .create_srv_conf = ngx_tg_create_srv_conf,
    .merge_srv_conf = ngx_tg_merge_srv_conf,
};

ngx_module_t ngx_stream_toolgate_module = NGX_TG_MODULE(
    ngx_tg_module_ctx, ngx_tg_commands, .init_process = ngx_tg_init_process,
    .exit_process = ngx_tg_exit_process);

static ngx_int_t
ngx_tg_init_process(ngx_cycle_t *cycle)
{
    ngx_tg_calls_init_process(ngx_tg_call_store_result);

    return NGX_OK;
}

/*
 * Frees the worker's state. Sessions are stopped only on a fast shutdown
 * (ngx_terminate).
 */
static void
ngx_tg_exit_process(ngx_cycle_t *cycle)
{
    if (ngx_terminate) {
        ngx_tg_sessions_stop();
    }

    ngx_tg_handoff_receive_exit();
    ngx_tg_handoff_send_exit(cycle);
    ngx_tg_shm_page_exit_worker();
    ngx_tg_schema_checker_exit();
    ngx_tg_calls_exit_process(cycle);
    ngx_tg_runners_exit_process(cycle);
    ngx_tg_backends_exit_process();
    ngx_tg_buffer_cache_exit();
    ngx_tg_log_exit(cycle);
    ngx_tg_tracer_exit(cycle);
}

static void *
ngx_tg_create_main_conf(ngx_conf_t *cf)
{
    ngx_tg_main_conf_t *mcf;
    ngx_uint_t i;

    mcf = ngx_pcalloc(cf->pool, sizeof(ngx_tg_main_conf_t));
    if (mcf == NULL) {
        return NULL;
    }

    const struct {
        ngx_array_t *array;
        size_t size;
    } arrays[] = {
        { &mcf->runners, sizeof(ngx_tg_runner_t *) },
        { &mcf->value_sources, sizeof(ngx_tg_value_source_t) },
        { &mcf->servers, sizeof(ngx_tg_srv_conf_t *) },
        { &mcf->required_files, sizeof(ngx_tg_required_file_t) },
        { &mcf->limits, sizeof(ngx_tg_limit_t *) },
        { &mcf->log_sinks, sizeof(ngx_tg_log_sink_t *) },
        { &mcf->formats, sizeof(ngx_tg_log_format_t *) },
        { &mcf->tracers, sizeof(ngx_tg_tracer_t *) },
    };

    for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        if (ngx_array_init(arrays[i].array, cf->pool, 4, arrays[i].size)
            != NGX_OK) {
            return NULL;
        }
    }

    mcf->hint_conf = ngx_tg_start_error_hints(cf);
    if (mcf->hint_conf == NULL) {
        return NULL;
    }

    mcf->content_handler = ngx_tg_stream_content_handler;
    mcf->path = ngx_tg_path_variable;
    mcf->handlers = ngx_tg_handlers;

    return mcf;
}

static void *
ngx_tg_create_srv_conf(ngx_conf_t *cf)
{
    ngx_tg_srv_conf_t *scf;

    scf = ngx_pcalloc(cf->pool, sizeof(ngx_tg_srv_conf_t));
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
    tg_spec_init(tg_job_fields, &scf->job_spec);
    tg_spec_init(tg_job_limit_fields, &scf->limit.calls);
    tg_spec_init(tg_rate_fields, &scf->limit.rate);
    tg_spec_init(tg_output_fields, &scf->output_spec);
    tg_spec_init(tg_spill_fields, &scf->spill);
    scf->socket_mode = NGX_CONF_UNSET_UINT;
    scf->has_owner = NGX_CONF_UNSET_UINT;

    return scf;
}

/* Inherits what clients are told about the server. */
static void
ngx_tg_merge_info(ngx_tg_srv_conf_t *prev, ngx_tg_srv_conf_t *conf)
{
    static const size_t offsets[] = {
        offsetof(tg_server_info_t, name),
        offsetof(tg_server_info_t, title),
        offsetof(tg_server_info_t, description),
        offsetof(tg_server_info_t, website),
        offsetof(tg_server_info_t, icons),
        offsetof(tg_server_info_t, instructions),
        offsetof(tg_server_info_t, experimental),
    };
    const tg_str_t *from;
    tg_str_t *to;
    ngx_uint_t i;

    for (i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        to = (tg_str_t *) (void *) ((u_char *) &conf->info + offsets[i]);
        from = (tg_str_t *) (void *) ((u_char *) &prev->info + offsets[i]);

        if (to->data == NULL) {
            *to = *from;
        }
    }

    if (!conf->has_list_ttl) {
        conf->has_list_ttl = prev->has_list_ttl;
        conf->info.list_ttl_ms = prev->info.list_ttl_ms;
        conf->info.is_list_public = prev->info.is_list_public;
    }
}

/* Inherits pointers and strings that the server does not set. */
static void
ngx_tg_merge_pointers(ngx_tg_srv_conf_t *prev, ngx_tg_srv_conf_t *conf)
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

    if (conf->status_rules == NULL) {
        conf->status_rules = prev->status_rules;
    }

    if (conf->state_keys.n == 0) {
        conf->state_keys = prev->state_keys;
    }

    if (conf->limit.rate_text.len == 0) {
        conf->limit.rate_text = prev->limit.rate_text;
    }
}

static void
ngx_tg_merge_values(ngx_tg_srv_conf_t *prev, ngx_tg_srv_conf_t *conf)
{
    ngx_conf_merge_uint_value(conf->validate, prev->validate,
                              NGX_TG_VALIDATE_ON);
    ngx_conf_merge_uint_value(conf->protocol, prev->protocol, TG_DIALECT_AUTO);
    ngx_conf_merge_uint_value(conf->bridges, prev->bridges,
                              NGX_TG_BRIDGE_POLICY_SHARED);
    ngx_conf_merge_size_value(conf->max_frame, prev->max_frame,
                              NGX_TG_MAX_FRAME_DEFAULT);
    ngx_conf_merge_value(conf->max_inflight, prev->max_inflight,
                         NGX_TG_MAX_INFLIGHT_DEFAULT);
    ngx_conf_merge_msec_value(conf->idle_timeout, prev->idle_timeout, 0);
    ngx_conf_merge_msec_value(conf->frame_timeout, prev->frame_timeout,
                              NGX_TG_FRAME_TIMEOUT_DEFAULT);
    ngx_conf_merge_msec_value(conf->send_timeout, prev->send_timeout,
                              NGX_TG_SEND_TIMEOUT_DEFAULT);
    ngx_conf_merge_uint_value(conf->socket_mode, prev->socket_mode, 0600);
    tg_spec_inherit(tg_job_fields, &conf->job_spec, &prev->job_spec);
    tg_spec_inherit(tg_job_limit_fields, &conf->limit.calls,
                    &prev->limit.calls);
    tg_spec_inherit(tg_rate_fields, &conf->limit.rate, &prev->limit.rate);
    tg_spec_inherit(tg_output_fields, &conf->output_spec, &prev->output_spec);
    tg_spec_set_defaults(tg_output_fields, &conf->output_spec);
    tg_spec_inherit(tg_spill_fields, &conf->spill, &prev->spill);
    tg_spec_set_defaults(tg_spill_fields, &conf->spill);

    if (conf->has_owner == NGX_CONF_UNSET_UINT) {
        conf->socket_uid = prev->socket_uid;
        conf->socket_gid = prev->socket_gid;
    }

    ngx_conf_merge_uint_value(conf->has_owner, prev->has_owner, 0);
    ngx_conf_merge_str_value(conf->runner_path, prev->runner_path, "");
    ngx_conf_merge_str_value(conf->state_dir, prev->state_dir, "");
}

/*
 * Rejects a server with another content handler: the module of the last
 * directive sets cscf->handler, and NGINX calls only that one.
 */
static ngx_int_t
ngx_tg_check_content_handler(ngx_conf_t *cf,
                             const ngx_stream_core_srv_conf_t *cscf)
{
    if (cscf->handler == ngx_tg_stream_content_handler) {
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
ngx_tg_merge_srv_conf(ngx_conf_t *cf, void *parent, void *child)
{
    ngx_tg_srv_conf_t *prev = parent;
    ngx_tg_srv_conf_t *conf = child;

    ngx_stream_core_srv_conf_t *cscf;
    ngx_array_t *rules;

    ngx_tg_merge_values(prev, conf);
    ngx_tg_merge_pointers(prev, conf);
    ngx_tg_merge_info(prev, conf);

    if (conf->catalog == NULL) {
        return NGX_CONF_OK;
    }

    /* Without a tracer, tracing then costs one NULL check per frame. */
    if (conf->trace != NULL && conf->trace->tracer == NULL) {
        conf->trace = NULL;
    }

    cscf = ngx_stream_conf_get_module_srv_conf(cf, ngx_stream_core_module);

    rules = ngx_tg_conf_make_status_rules(cf, conf, NULL);

    if (rules == NULL || ngx_tg_check_content_handler(cf, cscf) != NGX_OK
        || ngx_tg_server_add_builtin_methods(cf, conf, rules) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (conf->info.name.data == NULL) {
        conf->info.name = TG_STR("toolgate");
    }

    /*
     * add_handler_entries() needs has_stored_output, which init_outputs() sets.
     */
    if (ngx_tg_server_init_outputs(cf, conf) != NGX_OK
        || ngx_tg_server_add_handler_entries(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    ngx_tg_server_init_timeouts(conf);

    if (ngx_tg_server_compile_schemas(cf, conf) != NGX_OK
        || ngx_tg_server_init_limits(cf, conf) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    conf->info.version = TG_STR(NGX_TG_VERSION);
    conf->info.has_list_changed = 1;
    conf->needs_shm |= conf->bridges != NGX_TG_BRIDGE_POLICY_SHARED;
    conf->info.has_broadcasts = conf->needs_shm != 0;

    if (tg_catalog_seal(conf->catalog) != TG_OK) {
        return NGX_CONF_ERROR;
    }

    conf->file = cscf->file_name;
    conf->line = cscf->line;
    ngx_tg_server_check_list_size(conf, NULL, cf->log);

    if (conf->needs_runner) {
        conf->runner = ngx_tg_runner_add(cf, &conf->runner_path,
                                         &conf->state_dir);
    }

    return conf->needs_runner && conf->runner == NULL ? NGX_CONF_ERROR
                                                      : NGX_CONF_OK;
}

static char *
ngx_tg_check_max_frame(ngx_conf_t *cf, void *post, void *data)
{
    size_t *size = data;

    return *size < 1024 || *size > 1073741824 ? "must be between 1k and 1024m"
                                              : NGX_CONF_OK;
}
