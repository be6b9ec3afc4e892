/*
 * `tool NAME { }` and `method NAME { }`, and what describes them.
 */
#include "nginx/ngx_toolgate.h"

#include "base/tg_utf8.h"

#include <sys/random.h>

/* A schema is a page or two; more is a mistake in the path. */
#define NGX_TOOLGATE_SCHEMA_MAX 1048576
/* Nobody should wait for ever; tools say when they need more. */
#define NGX_TOOLGATE_TIMEOUT 60000
#define NGX_TOOLGATE_MAX_OUTPUT 1048576

static void
ngx_toolgate_free_catalogue(void *data)
{
    tg_catalogue_free(data);
}

static tg_catalogue_t *
ngx_toolgate_catalogue(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf)
{
    ngx_stream_core_srv_conf_t *cscf;
    ngx_pool_cleanup_t *cln;
    uint64_t seed;

    if (scf->catalogue != NULL) {
        return scf->catalogue;
    }

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    scf->catalogue = tg_catalogue_new(tg_alloc_libc());
    if (scf->catalogue == NULL) {
        return NULL;
    }

    cln->handler = ngx_toolgate_free_catalogue;
    cln->data = scf->catalogue;

    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed)) {
        tg_catalogue_seed(scf->catalogue, seed);
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

    cscf->handler = ngx_toolgate_handler;

    return scf->catalogue;
}

static ngx_toolgate_tool_t *
ngx_toolgate_create_tool(ngx_conf_t *cf, tg_entry_kind_t kind, ngx_str_t *name)
{
    ngx_toolgate_tool_t *tool;

    tool = ngx_pcalloc(cf->pool, sizeof(ngx_toolgate_tool_t));
    if (tool == NULL) {
        return NULL;
    }

    tool->entry.kind = kind;
    tool->entry.name = tg_str((const char *) name->data, name->len);
    tool->entry.host = tool;
    tool->output = NGX_CONF_UNSET_UINT;
    tool->validate = NGX_CONF_UNSET_UINT;
    tool->timeout = NGX_CONF_UNSET_MSEC;
    tool->max_output = NGX_CONF_UNSET_SIZE;

    return tool;
}

/* The block's directives are ours alone, with the tool as their conf. */
static char *
ngx_toolgate_parse(ngx_conf_t *cf, ngx_toolgate_tool_t *tool)
{
    ngx_stream_conf_ctx_t *ctx;
    ngx_conf_t pcf;
    char *rv;

    ctx = ngx_pcalloc(cf->pool, sizeof(ngx_stream_conf_ctx_t));
    if (ctx == NULL) {
        return NGX_CONF_ERROR;
    }

    ctx->main_conf = ((ngx_stream_conf_ctx_t *) cf->ctx)->main_conf;
    ctx->srv_conf = ngx_pcalloc(cf->pool,
                                sizeof(void *) * ngx_stream_max_module);
    if (ctx->srv_conf == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memcpy(ctx->srv_conf, ((ngx_stream_conf_ctx_t *) cf->ctx)->srv_conf,
               sizeof(void *) * ngx_stream_max_module);
    ctx->srv_conf[ngx_stream_toolgate_module.ctx_index] = tool;

    pcf = *cf;
    cf->ctx = ctx;
    cf->cmd_type = NGX_STREAM_TOOL_CONF;
    rv = ngx_conf_parse(cf, NULL);
    *cf = pcf;

    return rv;
}

/* What is missing or does not go together: NULL, or what to write. */
static const char *
ngx_toolgate_tool_mistake(ngx_toolgate_tool_t *tool)
{
    tg_outcome_t outcome;

    if (tool->handler == NULL) {
        return "has no handler; give it a \"return\" or an \"exec\"";
    }

    if (tool->handler != ngx_toolgate_exec_handler
        && (tool->stdin_value != NULL || tool->env != NULL || tool->cwd != NULL
            || tool->max_output != NGX_CONF_UNSET_SIZE
            || tool->timeout != NGX_CONF_UNSET_MSEC
            || tool->limit.concurrency != 0))
    {
        return "has no \"exec\", so \"stdin\", \"env\", \"cwd\", "
               "\"timeout\", \"max_output\" and \"concurrency\" mean nothing "
               "in it; remove them";
    }

    if (tool->entry.kind == TG_ENTRY_METHOD
        && (tool->entry.title.data != NULL
            || tool->entry.annotations.data != NULL))
    {
        return "is not listed to clients, so \"title\" and \"annotations\" "
               "mean nothing in it; remove them";
    }

    if (tool->entry.output_schema.data != NULL
        && tool->entry.output == TG_OUTPUT_TEXT)
    {
        return "has an \"output_schema\" but puts out text; add \"output "
               "json\" or \"output result\"";
    }

    if (tool->value != NULL && tool->value->lengths == NULL) {
        outcome = tg_outcome_output(
            &tool->entry, tg_str((const char *) tool->value->value.data,
                                 tool->value->value.len));

        if (outcome.kind == TG_OUTCOME_FAILURE) {
            return "returns what its \"output\" does not allow: text must be "
                   "UTF-8, json one JSON value, result a whole MCP result; "
                   "correct the value, or set \"output text\"";
        }
    }

    return NULL;
}

static char *
ngx_toolgate_finish(ngx_conf_t *cf, ngx_toolgate_srv_conf_t *scf,
                    ngx_toolgate_tool_t *tool, ngx_str_t *kind, ngx_str_t *name)
{
    const char *mistake;

    ngx_conf_init_uint_value(tool->output, tool->entry.kind == TG_ENTRY_TOOL
                                               ? TG_OUTPUT_TEXT
                                               : TG_OUTPUT_JSON);
    tool->entry.output = (tg_output_t) tool->output;

    mistake = ngx_toolgate_tool_mistake(tool);

    if (mistake != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%V \"%V\" %s", kind, name,
                           mistake);
        return NGX_CONF_ERROR;
    }

    if (tool->timeout == NGX_CONF_UNSET_MSEC) {
        tool->timeout = NGX_TOOLGATE_TIMEOUT;
        tool->max_timeout = NGX_TOOLGATE_MAX_TIMEOUT;
    }

    ngx_conf_init_size_value(tool->max_output, NGX_TOOLGATE_MAX_OUTPUT);

    if (tool->handler == ngx_toolgate_exec_handler) {
        scf->has_exec = 1;
    }

    return NGX_CONF_OK;
}

char *
ngx_toolgate_tool(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_srv_conf_t *scf = conf;

    ngx_toolgate_main_conf_t *mcf;
    ngx_toolgate_tool_t *tool;
    tg_catalogue_t *catalogue;
    const char *mistake;
    ngx_str_t *value, name;
    int is_warning, rc;
    char *rv;

    value = cf->args->elts;
    name = value[1];

    tool = ngx_toolgate_create_tool(cf, cmd->offset, &name);
    catalogue = ngx_toolgate_catalogue(cf, scf);

    if (tool == NULL || catalogue == NULL) {
        return NGX_CONF_ERROR;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    mcf->has_tools = 1;

    mistake = tg_name_check(tool->entry.kind, tool->entry.name, &is_warning);

    if (mistake != NULL) {
        ngx_conf_log_error(is_warning ? NGX_LOG_WARN : NGX_LOG_EMERG, cf, 0,
                           "%s \"%V\" of a %V: %s",
                           is_warning ? "name" : "invalid name", &name,
                           &cmd->name, mistake);
        if (!is_warning) {
            return NGX_CONF_ERROR;
        }
    }

    rc = tg_catalogue_add(catalogue, &tool->entry);

    if (rc != TG_OK) {
        if (rc == TG_EXISTS) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "duplicate %V \"%V\"; give it another name",
                               &cmd->name, &name);
        }

        return NGX_CONF_ERROR;
    }

    rv = ngx_toolgate_parse(cf, tool);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    return ngx_toolgate_finish(cf, scf, tool, &cmd->name, &name);
}

/* A text for people, kept as a slice at cmd->offset. */
char *
ngx_toolgate_text(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_str_t *value;
    tg_str_t *field;

    field = (tg_str_t *) (void *) ((char *) conf + cmd->offset);

    if (field->data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    *field = tg_str((const char *) value[1].data, value[1].len);

    if (!tg_utf8_is_valid(*field)) {
        return "is not valid UTF-8";
    }

    return NGX_CONF_OK;
}

/*
 * Checks JSON, of a file or NULL, and keeps it without insignificant white
 * space.
 */
static ngx_int_t
ngx_toolgate_json(ngx_conf_t *cf, ngx_command_t *cmd, const ngx_str_t *file,
                  const ngx_str_t *text, tg_str_t *json)
{
    tg_str_t raw;
    tg_buf_t buf;
    u_char *p;

    raw = tg_str((const char *) text->data, text->len);
    tg_buf_init(&buf, tg_alloc_libc());

    if (tg_json_explain(raw, &buf) != TG_OK) {
        if (file != NULL) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is not valid JSON: %*s; correct \"%V\"",
                               &cmd->name, buf.len, buf.data, file);
        } else {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                               "\"%V\" is not valid JSON: %*s; put the JSON "
                               "between single quotes, and double each "
                               "backslash in it",
                               &cmd->name, buf.len, buf.data);
        }

        tg_buf_deinit(&buf);
        return NGX_ERROR;
    }

    tg_json_put_compact(&buf, raw);
    p = tg_buf_failed(&buf) ? NULL : ngx_pnalloc(cf->pool, buf.len + 1);

    if (p != NULL) {
        ngx_memcpy(p, buf.data, buf.len);
        *json = tg_str((const char *) p, buf.len);
    }

    tg_buf_deinit(&buf);

    return p != NULL ? NGX_OK : NGX_ERROR;
}

/* MCP "ToolAnnotations": hints, all but the title booleans. */
static const char *
ngx_toolgate_annotations_mistake(tg_str_t json)
{
    static const char *const flags[] = { "readOnlyHint", "destructiveHint",
                                         "idempotentHint", "openWorldHint" };
    tg_json_type_t type;
    tg_str_t value;
    ngx_uint_t i;

    if (tg_json_type(json) != TG_JSON_OBJECT) {
        return "must be a JSON object, such as '{\"readOnlyHint\":true}'";
    }

    for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (tg_json_get(json, tg_str_c(flags[i]), &value) != TG_OK) {
            continue;
        }

        type = tg_json_type(value);

        if (type != TG_JSON_TRUE && type != TG_JSON_FALSE) {
            return "must have true or false for readOnlyHint, "
                   "destructiveHint, idempotentHint and openWorldHint";
        }
    }

    return NULL;
}

char *
ngx_toolgate_annotations(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_tool_t *tool = conf;

    const char *mistake;
    ngx_str_t *value;

    if (tool->entry.annotations.data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    if (ngx_toolgate_json(cf, cmd, NULL, &value[1], &tool->entry.annotations)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    mistake = ngx_toolgate_annotations_mistake(tool->entry.annotations);

    if (mistake != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "\"%V\" %s", &cmd->name,
                           mistake);
        return NGX_CONF_ERROR;
    }

    return NGX_CONF_OK;
}

/* Reads a whole file into the pool; what is wrong is logged. */
static ngx_int_t
ngx_toolgate_read_file(ngx_conf_t *cf, ngx_str_t *name, ngx_str_t *text)
{
    ngx_file_info_t fi;
    ngx_file_t file;
    ngx_int_t rc;
    ssize_t n;

    if (ngx_conf_full_name(cf->cycle, name, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_memzero(&file, sizeof(ngx_file_t));
    file.name = *name;
    file.log = cf->log;
    file.fd = ngx_open_file(name->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (file.fd == NGX_INVALID_FILE) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, ngx_errno,
                           ngx_open_file_n " \"%V\" failed", name);
        return NGX_ERROR;
    }

    rc = NGX_ERROR;

    if (ngx_fd_info(file.fd, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)
        || ngx_file_size(&fi) > NGX_TOOLGATE_SCHEMA_MAX)
    {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" is no regular file of at most 1 MiB", name);
        goto done;
    }

    text->len = (size_t) ngx_file_size(&fi);
    text->data = ngx_pnalloc(cf->pool, text->len + 1);

    if (text->data == NULL) {
        goto done;
    }

    n = ngx_read_file(&file, text->data, text->len, 0);

    if (n == (ssize_t) text->len) {
        rc = NGX_OK;
    } else {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"%V\" could not be read whole", name);
    }

done:

    (void) ngx_close_file(file.fd);

    return rc;
}

/* The names that `properties` declares, for $tool_arg_NAME. */
static ngx_int_t
ngx_toolgate_properties(ngx_conf_t *cf, ngx_toolgate_tool_t *tool)
{
    tg_str_t properties, key;
    tg_json_t json;
    ngx_str_t *name;

    if (tg_json_get(tool->entry.input_schema, TG_STR("properties"), &properties)
            != TG_OK
        || tg_json_type(properties) != TG_JSON_OBJECT)
    {
        return NGX_OK;
    }

    tool->properties = ngx_array_create(cf->pool, 4, sizeof(ngx_str_t));
    if (tool->properties == NULL) {
        return NGX_ERROR;
    }

    tg_json_init(&json, properties);
    (void) tg_json_object(&json);

    while (tg_json_member(&json, &key) == TG_OK) {
        name = ngx_array_push(tool->properties);
        if (name == NULL) {
            return NGX_ERROR;
        }

        name->data = ngx_pnalloc(cf->pool, key.len + 1);
        if (name->data == NULL) {
            return NGX_ERROR;
        }

        name->len = tg_json_decode((char *) name->data, key);
        (void) tg_json_value(&json, NULL);
    }

    return NGX_OK;
}

/*
 * input_schema JSON, output_schema JSON, and the same from a file; the slice
 * is at cmd->offset, and cmd->post tells a file.
 */
char *
ngx_toolgate_schema(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_tool_t *tool = conf;

    ngx_str_t *value, text;
    tg_schema_t *schema;
    const char *mistake;
    tg_str_t *field;

    field = (tg_str_t *) (void *) ((char *) conf + cmd->offset);

    if (field->data != NULL) {
        return "is duplicate; a tool has one schema of each kind";
    }

    value = cf->args->elts;
    text = value[1];

    if (cmd->post != NULL
        && ngx_toolgate_read_file(cf, &value[1], &text) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (ngx_toolgate_json(cf, cmd, cmd->post != NULL ? &value[1] : NULL, &text,
                          field)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    /* A method's schemas are between its author and its callers. */
    mistake = tool->entry.kind == TG_ENTRY_TOOL ? tg_tool_schema_check(*field)
                                                : NULL;

    if (mistake != NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid \"%V\": %s",
                           &cmd->name, mistake);
        return NGX_CONF_ERROR;
    }

    schema = ngx_toolgate_schema_compile(cf, &cmd->name, *field, 0);

    if (schema == NULL) {
        return NGX_CONF_ERROR;
    }

    if (field == &tool->entry.output_schema) {
        tool->output_schema = schema;
        return NGX_CONF_OK;
    }

    tool->input = schema;

    return ngx_toolgate_properties(cf, tool) == NGX_OK ? NGX_CONF_OK
                                                       : NGX_CONF_ERROR;
}
