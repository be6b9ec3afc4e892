/*
 * message ROLE TEXT, message ROLE file=PATH: the messages of a prompt. The
 * runner makes the result if one of them is a file.
 */
#include "nginx/config/ngx_tg_listing.h"
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/call/ngx_tg_call.h"

#define NGX_TG_MESSAGE_NOT_UTF8 "A message is not valid UTF-8."

typedef struct {
    ngx_str_t role;
    ngx_str_t path; /* of the file that is the text; empty: the value is */
    ngx_stream_complex_value_t value;
} ngx_tg_message_t;

typedef struct {
    ngx_array_t *messages; /* ngx_tg_message_t */
} ngx_tg_message_conf_t;

extern const ngx_tg_handler_t ngx_tg_message_handler;
static const ngx_tg_handler_t ngx_tg_message_file_handler;

/* Sets the file of a message. Returns NGX_OK, or NGX_ERROR after logging. */
static ngx_int_t
ngx_tg_message_set_file(ngx_conf_t *cf, ngx_tg_message_t *message,
                        ngx_str_t path)
{
    ngx_file_info_t fi;

    if (ngx_tg_text_has_variables(&path)) {
        (void) ngx_tg_conf_error(cf,
                                 "the file of a \"message\" has no variables; "
                                 "write a path such as \"/srv/a.txt\"");
        return NGX_ERROR;
    }

    if (ngx_tg_unescape_dollars(cf, &path) != NGX_OK
        || ngx_conf_full_name(cf->cycle, &path, 1) != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (ngx_file_info(path.data, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)) {
        (void) ngx_tg_conf_error(cf,
                                 "\"%V\" of \"message\" is not a file; "
                                 "correct the path",
                                 &path);
        return NGX_ERROR;
    }

    message->path = path;
    ngx_tg_conf_get_tool(cf)->handler = &ngx_tg_message_file_handler;

    return ngx_tg_conf_require_file(cf, &path, NGX_TG_ACCESS_READ);
}

static char *
ngx_tg_message_add(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_message_conf_t *prompt = conf;

    ngx_tg_message_t *message;
    ngx_str_t *value, path;
    char *rv;

    if (ngx_tg_conf_check_kind(cf, cmd, ngx_tg_conf_get_tool(cf),
                               NGX_TG_KIND(PROMPT))
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    if (prompt->messages == NULL) {
        rv = ngx_tg_conf_set_handler(cf, &ngx_tg_message_handler);

        if (rv != NGX_CONF_OK) {
            return rv;
        }
    }

    value = cf->args->elts;

    if (ngx_strcmp(value[1].data, "user") != 0
        && ngx_strcmp(value[1].data, "assistant") != 0)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid role \"%V\" in \"%V\"; write "
                                 "\"user\" or \"assistant\"",
                                 &value[1], &cmd->name);
    }

    message = ngx_tg_conf_array_push(cf, &prompt->messages,
                                     sizeof(ngx_tg_message_t));
    if (message == NULL) {
        return NGX_CONF_ERROR;
    }

    message->role = value[1];

    return ngx_tg_conf_result(
        ngx_tg_arg_has_name(&value[2], "file=", &path)
            ? ngx_tg_message_set_file(cf, message, path)
            : ngx_tg_value_compile(cf, &value[2], &message->value));
}

static tg_output_type_t
ngx_tg_message_get_output(ngx_tg_tool_t *tool, void *conf)
{
    return TG_OUTPUT_RESULT;
}

static const char *
ngx_tg_message_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_message_conf_t *prompt = conf;

    return prompt->messages != NULL && tool->entry.output != TG_OUTPUT_RESULT
               ? "has \"message\", which makes a whole result; remove "
                 "\"output\""
               : NULL;
}

static void
ngx_tg_message_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_message_conf_t *prompt;
    ngx_tg_message_t *message;
    const char *mistake;
    tg_outcome_t outcome;
    ngx_uint_t i;
    tg_buf_t json;

    prompt = call->tool->conf;
    message = prompt->messages->elts;
    mistake = NULL;
    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_char(&json, '{');
    tg_json_add_optional(&json, "description", call->entry->description);
    tg_json_begin_member(&json, "messages");
    tg_buf_append_char(&json, '[');

    for (i = 0; mistake == NULL && i < prompt->messages->nelts; i++) {
        tg_json_begin_element(&json);
        tg_buf_printf(&json, "{\"role\":\"%s\",\"content\":{\"type\":\"text\",",
                      (char *) message[i].role.data);
        tg_buf_append_cstr(&json, "\"text\":\"");
        mistake = ngx_tg_call_append_value(call, &json, &message[i].value,
                                           NGX_TG_MESSAGE_NOT_UTF8);
        tg_buf_append_cstr(&json, "}}");
    }

    tg_buf_append_cstr(&json, "]}");

    if (mistake != NULL) {
        ngx_tg_call_fail(call, TG_FAILURE_OUTPUT, mistake);
    } else if (tg_buf_has_failed(&json)) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    } else {
        outcome = tg_outcome_make(TG_OUTCOME_RESULT, tg_buf_view(&json));
        ngx_tg_call_end(call, &outcome);
    }

    tg_buf_deinit(&json);
}

/* Lets the runner read the files. */
static void
ngx_tg_message_start_remote(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_message_conf_t *prompt;
    ngx_tg_message_t *message;
    const char *mistake;
    ngx_uint_t i;
    tg_buf_t params;

    prompt = call->tool->conf;
    message = prompt->messages->elts;
    mistake = NULL;
    tg_buf_init(&params, tg_alloc_libc());
    ngx_tg_call_begin_params(call, &params);
    tg_json_add_int(&params, "max_output", call->tool->output_spec.max_output);
    tg_json_add_optional(&params, "description", call->entry->description);
    tg_json_begin_member(&params, "messages");
    tg_buf_append_char(&params, '[');

    for (i = 0; mistake == NULL && i < prompt->messages->nelts; i++) {
        tg_json_begin_object(&params);
        tg_json_add_string(&params, "role",
                           ngx_tg_str_from_ngx(&message[i].role));

        if (message[i].path.len != 0) {
            tg_json_add_string(&params, "path",
                               ngx_tg_str_from_ngx(&message[i].path));
        } else {
            tg_buf_append_cstr(&params, ",\"text\":\"");
            mistake = ngx_tg_call_append_value(call, &params, &message[i].value,
                                               NGX_TG_MESSAGE_NOT_UTF8);
        }

        tg_buf_append_char(&params, '}');
    }

    tg_buf_append_char(&params, ']');
    ngx_tg_call_start_remote(call, TG_STR("messages"), &params,
                             TG_FAILURE_OUTPUT, mistake);
}

static ngx_command_t ngx_tg_message_commands[] = {

    { ngx_string("message"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE2,
      ngx_tg_message_add, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_message_module = NGX_TG_HANDLER_MODULE(
    ngx_tg_message_commands);

const ngx_tg_handler_t ngx_tg_message_handler = {
    .name = ngx_string("message"),
    .module = &ngx_tg_message_module,
    .conf_size = sizeof(ngx_tg_message_conf_t),
    .kinds = NGX_TG_KIND(PROMPT),
    .check = ngx_tg_message_check,
    .output = ngx_tg_message_get_output,
    .start = ngx_tg_message_start,
};

/* The handler of a prompt with a file: `timeout` and the like apply. */
static const ngx_tg_handler_t ngx_tg_message_file_handler = {
    .name = ngx_string("message"),
    .module = &ngx_tg_message_module,
    .conf_size = sizeof(ngx_tg_message_conf_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC,
    .output = ngx_tg_message_get_output,
    .start = ngx_tg_message_start_remote,
};
