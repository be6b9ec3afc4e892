/* message ROLE TEXT: the messages of a prompt. */
#include "nginx/config/ngx_tg_listing.h"
#include "nginx/call/ngx_tg_call.h"

typedef struct {
    ngx_str_t role;
    ngx_stream_complex_value_t value;
} ngx_tg_message_t;

typedef struct {
    ngx_array_t *messages; /* ngx_tg_message_t */
} ngx_tg_message_conf_t;

extern const ngx_tg_handler_t ngx_tg_message_handler;

static char *
ngx_tg_message_add(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_message_conf_t *prompt = conf;

    ngx_tg_message_t *message;
    ngx_str_t *value;
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
        ngx_tg_value_compile(cf, &value[2], &message->value));
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
                                           "A message is not valid UTF-8.");
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
