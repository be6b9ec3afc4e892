/*
 * `complete NAME …` in the block of a prompt or template: suggestions for an
 * argument. Each directive becomes a catalog entry of its own, with the access
 * rules and logs of the block around it.
 */
#include "nginx/handlers/ngx_tg_exec.h"
#include "nginx/handlers/ngx_tg_file.h"

#include "nginx/config/ngx_tg_listing.h"

/*
 * Default of `complete_rate`, in thousandths of calls per minute, and its
 * burst: agents send a request for each key that their users press.
 */
#define NGX_TG_COMPLETE_RATE 1200000
#define NGX_TG_COMPLETE_RATE_TEXT "20r/s"
#define NGX_TG_COMPLETE_BURST 40
/* Timeout of a program in ms: nobody waits longer for a suggestion. */
#define NGX_TG_COMPLETE_TIMEOUT 5000

/* Files of a folder that are searched for suggestions. */
#define NGX_TG_COMPLETE_FILES_MAX 1001

extern const ngx_tg_handler_t ngx_tg_complete_handler;

/* Settings of a completion without a program. */
typedef struct {
    ngx_array_t *values; /* ngx_stream_complex_value_t; NULL: files */
    ngx_str_t folder;    /* folder of the files; empty: `root` of the block */
} ngx_tg_complete_conf_t;

/* --- declared values --- */

static char *
ngx_tg_complete_read_values(ngx_conf_t *cf, ngx_array_t **values)
{
    ngx_stream_complex_value_t *complex;
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    for (i = 2; i < cf->args->nelts; i++) {
        if (ngx_strlchr(value[i].data, value[i].data + value[i].len, '\n')
            != NULL) {
            return "has a value of several lines; write one line each";
        }

        complex = ngx_tg_conf_array_push(cf, values,
                                         sizeof(ngx_stream_complex_value_t));

        if (complex == NULL
            || ngx_tg_value_compile(cf, &value[i], complex) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

/* Answers with one value per line. */
static void
ngx_tg_complete_start(ngx_tg_call_t *call, tg_request_t *request)
{
    const ngx_tg_complete_conf_t *complete = call->tool->conf;

    const ngx_array_t *values;
    ngx_stream_complex_value_t *value;
    ngx_uint_t i;
    ngx_str_t text;
    tg_buf_t lines;

    values = complete->values;
    value = values->elts;
    tg_buf_init(&lines, tg_alloc_libc());

    for (i = 0; i < values->nelts; i++) {
        if (ngx_tg_call_eval_value(call, &value[i], &text) != NGX_OK) {
            lines.failed = 1;
            break;
        }

        tg_buf_append_str(&lines, ngx_tg_str_from_ngx(&text));
        tg_buf_append_char(&lines, '\n');
    }

    if (tg_buf_has_failed(&lines)) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    } else {
        ngx_tg_call_end_with_output(call, tg_buf_view(&lines));
    }

    tg_buf_deinit(&lines);
}

/* --- files --- */

/* Checks whether a value of the argument may have slashes. */
static ngx_uint_t
ngx_tg_completion_takes_paths(const ngx_tg_tool_t *completion)
{
    const tg_uri_template_t *tmpl;
    size_t i;

    tmpl = completion->group->entry.uri_template;

    for (i = 0; tmpl != NULL && i < tmpl->npath; i++) {
        if (tg_str_eq(tmpl->variables[i].name, completion->entry.label)) {
            return (ngx_uint_t) tmpl->variables[i].is_multiple;
        }
    }

    return 1;
}

/* Has the runner list the files whose path contains what was typed. */
static void
ngx_tg_complete_files_start(ngx_tg_call_t *call, tg_request_t *request)
{
    const ngx_tg_complete_conf_t *complete = call->tool->conf;

    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_buf_append_cstr(&params, ",\"folders\":[{");

    if (complete->folder.len != 0) {
        tg_json_add_string(&params, "root",
                           ngx_tg_str_from_ngx(&complete->folder));
    } else {
        ngx_tg_file_append_root(call->tool->group, &params);
    }

    tg_json_add_bool(&params, "recursive",
                     (int) ngx_tg_completion_takes_paths(call->tool));
    tg_json_add_uint(&params, "max", NGX_TG_COMPLETE_FILES_MAX);
    tg_buf_append_cstr(&params, "}]");
    tg_json_add_uint(&params, "limit", NGX_TG_COMPLETE_FILES_MAX);
    tg_json_begin_member(&params, "typed");
    tg_buf_append_char(&params, '"');
    tg_buf_append_str(&params, request->reply.subject);
    tg_buf_append_char(&params, '"');
    ngx_tg_call_start_remote(call, TG_STR("files"), &params, TG_FAILURE_PROGRAM,
                             NULL);
}

/* No block can select it: it has no directive. */
static const ngx_tg_handler_t ngx_tg_complete_files_handler = {
    .name = ngx_string("complete"),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_HAS_OWN_BLOCK,
    .start = ngx_tg_complete_files_start,
};

/* --- directives --- */

static ngx_uint_t
ngx_tg_tool_has_completion(const ngx_tg_tool_t *block, tg_str_t key)
{
    ngx_tg_tool_t **completions;
    ngx_uint_t i, n;

    n = block->completions != NULL ? block->completions->nelts : 0;
    completions = n != 0 ? block->completions->elts : NULL;

    for (i = 0; i < n; i++) {
        if (tg_str_eq(completions[i]->entry.name, key)) {
            return 1;
        }
    }

    return 0;
}

/* Creates the completion of an argument, which is added to the block. */
static ngx_tg_tool_t *
ngx_tg_completion_create(ngx_conf_t *cf, ngx_tg_tool_t *block,
                         const ngx_str_t *argument)
{
    ngx_tg_tool_t *completion, **slot;
    ngx_str_t key;
    tg_buf_t buf;
    ngx_int_t rc;

    tg_buf_init(&buf, tg_alloc_libc());
    tg_completion_write_key(&buf, block->entry.kind, block->entry.name,
                            ngx_tg_str_from_ngx(argument));
    rc = ngx_tg_conf_copy_buf(cf, &buf, &key);
    tg_buf_deinit(&buf);

    if (rc != NGX_OK) {
        return NULL;
    }

    if (ngx_tg_tool_has_completion(block, ngx_tg_str_from_ngx(&key))) {
        (void) ngx_tg_conf_error(cf,
                                 "duplicate \"complete %V\"; write all values "
                                 "of an argument in one directive",
                                 argument);
        return NULL;
    }

    completion = ngx_tg_tool_create(cf, TG_ENTRY_COMPLETION, &key);
    slot = completion != NULL ? ngx_tg_conf_array_push(cf, &block->completions,
                                                       sizeof(ngx_tg_tool_t *))
                              : NULL;

    if (slot == NULL) {
        return NULL;
    }

    *slot = completion;
    completion->group = block;
    completion->output = TG_OUTPUT_TEXT;
    completion->entry.output = TG_OUTPUT_TEXT;
    completion->entry.label = ngx_tg_str_from_ngx(argument);
    completion->job_spec.timeout_ms = NGX_TG_COMPLETE_TIMEOUT;
    completion->job_spec.max_timeout_ms = NGX_TG_COMPLETE_TIMEOUT;
    completion->file = cf->conf_file->file.name;
    completion->line = cf->conf_file->line;

    return completion;
}

/* Reads the words after the argument's name. */
static char *
ngx_tg_completion_read(ngx_conf_t *cf, ngx_tg_tool_t *completion)
{
    ngx_tg_complete_conf_t *complete;
    ngx_str_t *value;

    value = cf->args->elts;

    if (cf->args->nelts > 3 && ngx_strcmp(value[2].data, "exec") == 0) {
        completion->handler = &ngx_tg_exec_handler;
        completion->conf = ngx_tg_exec_create_conf(cf);

        return completion->conf != NULL
                   ? ngx_tg_exec_read_command(cf, completion->conf, 3)
                   : NGX_CONF_ERROR;
    }

    complete = ngx_pcalloc(cf->pool, sizeof(ngx_tg_complete_conf_t));

    if (complete == NULL) {
        return NGX_CONF_ERROR;
    }

    completion->conf = complete;

    if (cf->args->nelts <= 4 && ngx_strcmp(value[2].data, "files") == 0) {
        completion->handler = &ngx_tg_complete_files_handler;
        return cf->args->nelts == 3
                   ? NGX_CONF_OK
                   : ngx_tg_conf_result(ngx_tg_file_set_folder(
                       cf, "complete", &value[3], &complete->folder));
    }

    completion->handler = &ngx_tg_complete_handler;

    return ngx_tg_complete_read_values(cf, &complete->values);
}

/* complete NAME VALUE … | exec PROGRAM … | files [FOLDER] */
static char *
ngx_tg_complete_add(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *block, *completion;
    ngx_str_t *value;

    value = cf->args->elts;
    block = ngx_tg_conf_get_tool(cf);
    ngx_tg_lint_missing_semicolon(cf);

    if (ngx_tg_conf_check_kind(cf, cmd, block, NGX_TG_KINDS_WITH_ARGUMENTS)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    completion = ngx_tg_completion_create(cf, block, &value[1]);

    return completion != NULL ? ngx_tg_completion_read(cf, completion)
                              : NGX_CONF_ERROR;
}

/* complete_rate Nr/s|Nr/m [burst=M] [dry_run] [log_level=LEVEL] */
static char *
ngx_tg_complete_set_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *block;

    block = ngx_tg_conf_get_tool(cf);

    return ngx_tg_conf_check_kind(cf, cmd, block, NGX_TG_KINDS_WITH_ARGUMENTS)
                   == NGX_OK
               ? ngx_tg_conf_set_rate(cf, cmd, block)
               : NGX_CONF_ERROR;
}

/* --- entries --- */

/* Checks whether the block around a completion has the argument. */
static ngx_uint_t
ngx_tg_completion_has_argument(const ngx_tg_tool_t *completion)
{
    const ngx_tg_arg_property_t *property;
    const ngx_array_t *properties;
    ngx_uint_t i, n;

    properties = completion->group->properties;
    n = properties != NULL ? properties->nelts : 0;
    property = n != 0 ? properties->elts : NULL;

    for (i = 0; i < n; i++) {
        if (tg_str_eq(property[i].name, completion->entry.label)) {
            return 1;
        }
    }

    return 0;
}

static ngx_int_t
ngx_tg_completion_check(ngx_conf_t *cf, ngx_tg_tool_t *completion)
{
    const ngx_tg_tool_t *block;

    block = completion->group;

    if (!ngx_tg_completion_has_argument(completion)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "%s \"%*s\" has no argument \"%*s\" to complete; %s in "
                      "%V:%ui",
                      tg_entry_type_name(block->entry.kind),
                      block->entry.name.len, block->entry.name.data,
                      completion->entry.label.len, completion->entry.label.data,
                      block->entry.kind == TG_ENTRY_PROMPT
                          ? "declare it by \"argument\", or correct its name"
                          : "write the name of a variable of the template",
                      &completion->file, completion->line);
        return NGX_ERROR;
    }

    if (completion->handler == &ngx_tg_complete_files_handler
        && ((ngx_tg_complete_conf_t *) completion->conf)->folder.len == 0
        && !ngx_tg_file_is_argument(block, completion->entry.label))
    {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"complete %*s files\" needs the folder of the files; "
                      "write it after \"files\", or \"root\" and \"file "
                      "$tool_arg_%*s\" in %V:%ui",
                      completion->entry.label.len, completion->entry.label.data,
                      completion->entry.label.len, completion->entry.label.data,
                      &completion->file, completion->line);
        return NGX_ERROR;
    }

    return completion->handler == &ngx_tg_exec_handler
               ? ngx_tg_command_line_check(
                   cf, block,
                   &((ngx_tg_exec_conf_t *) completion->conf)->command)
               : NGX_OK;
}

static void
ngx_tg_completion_init_rate(ngx_tg_tool_t *completion)
{
    ngx_tg_limit_t *limit;

    limit = &completion->limit;
    limit->rate = completion->group->complete_limit.rate;
    limit->rate_text = completion->group->complete_limit.rate_text;

    if (limit->rate.rate == TG_SPEC_UNSET) {
        tg_spec_set_defaults(tg_rate_fields, &limit->rate);
        limit->rate.rate = NGX_TG_COMPLETE_RATE;
        limit->rate.burst = NGX_TG_COMPLETE_BURST;
        limit->rate.log_level = NGX_LOG_INFO - NGX_LOG_ERR;
        ngx_str_set(&limit->rate_text, NGX_TG_COMPLETE_RATE_TEXT);
    }
}

static ngx_int_t
ngx_tg_completion_add_entry(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf,
                            ngx_tg_tool_t *completion)
{
    if (ngx_tg_completion_check(cf, completion) != NGX_OK) {
        return NGX_ERROR;
    }

    ngx_tg_completion_init_rate(completion);
    completion->properties = completion->group->properties;
    completion->validate = NGX_TG_VALIDATE_OFF;
    scf->info.has_completions = 1;

    if (completion->handler->flags & NGX_TG_HANDLER_IS_ASYNC) {
        scf->needs_runner = 1;
    }

    return tg_catalog_add(scf->catalog, &completion->entry) == TG_OK
                   && ngx_tg_tool_init_output(cf, scf, completion) == NGX_OK
               ? NGX_OK
               : NGX_ERROR;
}

static ngx_int_t
ngx_tg_completions_add_entries(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    ngx_tg_tool_t *block, **completions;
    ngx_uint_t k, ncompletions;
    size_t i, n;

    n = tg_catalog_size(scf->catalog);

    for (i = 0; i < n; i++) {
        block = tg_catalog_get_entry(scf->catalog, i)->host;
        ncompletions = block->completions != NULL ? block->completions->nelts
                                                  : 0;

        for (k = 0; k < ncompletions; k++) {
            completions = block->completions->elts;

            if (ngx_tg_completion_add_entry(cf, scf, completions[k]) != NGX_OK)
            {
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}

/* --- module --- */

static ngx_command_t ngx_tg_complete_commands[] = {

    { ngx_string("complete"), NGX_STREAM_TOOL_CONF | NGX_CONF_2MORE,
      ngx_tg_complete_add, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("complete_rate"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_complete_set_rate, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_tool_t, complete_limit.rate),
      (void *) (uintptr_t) tg_rate_fields },

    ngx_null_command
};

ngx_module_t ngx_tg_complete_module = NGX_TG_HANDLER_MODULE(
    ngx_tg_complete_commands);

/* No block can select it: `complete` belongs to the handler of the block. */
const ngx_tg_handler_t ngx_tg_complete_handler = {
    .name = ngx_string("complete"),
    .module = &ngx_tg_complete_module,
    .flags = NGX_TG_HANDLER_HAS_OWN_BLOCK,
    .add_entries = ngx_tg_completions_add_entries,
    .start = ngx_tg_complete_start,
};
