/*
 * `success` and `stderr` of programs: which exit statuses are a success, and
 * how the standard error output is used.
 */
#include "nginx/handlers/ngx_tg_exec_result.h"

#define NGX_TG_EXIT_STATUS_MAX 255

static ngx_tg_exec_result_t *
ngx_tg_exec_result_get(ngx_command_t *cmd, void *conf)
{
    return (ngx_tg_exec_result_t *) (void *) ((u_char *) conf + cmd->offset);
}

/* Parses `success STATUS ...`. */
char *
ngx_tg_exec_result_set_success(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_exec_result_t *result = ngx_tg_exec_result_get(cmd, conf);

    ngx_uint_t *status, i;
    ngx_str_t *value;
    ngx_int_t n;

    if (result->success != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        n = ngx_atoi(value[i].data, value[i].len);

        if (n == NGX_ERROR || n > NGX_TG_EXIT_STATUS_MAX) {
            return ngx_tg_conf_error(cf,
                                     "invalid status \"%V\" in \"%V\"; write "
                                     "numbers from 0 to 255, such as \"0 1\"",
                                     &value[i], &cmd->name);
        }

        status = ngx_tg_conf_array_push(cf, &result->success,
                                        sizeof(ngx_uint_t));
        if (status == NULL) {
            return NGX_CONF_ERROR;
        }

        *status = (ngx_uint_t) n;
    }

    return NGX_CONF_OK;
}

/* Parses `stderr error|drop|append`. */
char *
ngx_tg_exec_result_set_stderr(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_exec_result_t *result = ngx_tg_exec_result_get(cmd, conf);

    static const char *const words[] = { "error", "drop", "append" };

    ngx_str_t *value;
    ngx_uint_t i;

    if (result->err.len != 0) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (ngx_strcmp(value[1].data, words[i]) == 0) {
            result->err = value[1];
            return NGX_CONF_OK;
        }
    }

    return ngx_tg_conf_error(cf,
                             "invalid value \"%V\" in \"%V\"; write one of "
                             "error, drop, append",
                             &value[1], &cmd->name);
}

static ngx_uint_t
ngx_tg_exec_result_appends_stderr(const ngx_tg_exec_result_t *result)
{
    return result->err.len != 0 && result->err.data[0] == 'a';
}

const char *
ngx_tg_exec_result_check(const ngx_tg_tool_t *tool,
                         const ngx_tg_exec_result_t *result,
                         ngx_uint_t has_exec)
{
    if (!has_exec && (result->success != NULL || result->err.len != 0)) {
        return "has no \"exec\", so \"success\" and \"stderr\" mean nothing in "
               "it; remove them";
    }

    if (ngx_tg_exec_result_appends_stderr(result)
        && tool->entry.output != TG_OUTPUT_TEXT)
    {
        return "appends stderr, which makes a text, to an output that is none; "
               "write \"output text\", or \"stderr error\"";
    }

    return NULL;
}

void
ngx_tg_exec_result_inherit(const ngx_tg_tool_t *tool,
                           ngx_tg_exec_result_t *result,
                           const ngx_tg_exec_result_t *from)
{
    if (result->success == NULL) {
        result->success = from->success;
    }

    if (result->err.len == 0
        && (tool == NULL || tool->entry.output == TG_OUTPUT_TEXT
            || !ngx_tg_exec_result_appends_stderr(from)))
    {
        result->err = from->err;
    }
}

void
ngx_tg_exec_result_write_json(tg_buf_t *params,
                              const ngx_tg_exec_result_t *result)
{
    ngx_uint_t *status, i;

    if (result->err.len != 0) {
        tg_json_add_string(params, "stderr", ngx_tg_str_from_ngx(&result->err));
    }

    if (result->success == NULL) {
        return;
    }

    status = result->success->elts;

    for (i = 0; i < result->success->nelts; i++) {
        tg_buf_append_cstr(params, i == 0 ? ",\"success\":[" : ",");
        tg_buf_append_uint(params, status[i]);
    }

    tg_buf_append_char(params, ']');
}
