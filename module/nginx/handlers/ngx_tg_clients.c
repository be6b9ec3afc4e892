/* `clients`: lists the clients of the server, in all workers. */
#include "nginx/call/ngx_tg_call.h"
#include "nginx/shm/ngx_tg_shm.h"
#include "nginx/call/ngx_tg_session_base.h"

extern const ngx_tg_handler_t ngx_tg_clients_handler;

typedef struct {
    ngx_flag_t is_set;
} ngx_tg_clients_conf_t;

/* State while the list is written. */
typedef struct {
    tg_buf_t text;
    ngx_uint_t n;
} ngx_tg_clients_list_t;

static char *
ngx_tg_clients_set_handler(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_clients_conf_t *clients = conf;

    clients->is_set = 1;
    ngx_tg_conf_get_tool(cf)->needs_shm = 1;

    return ngx_tg_conf_set_handler(cf, &ngx_tg_clients_handler);
}

static const char *
ngx_tg_clients_check(ngx_tg_tool_t *tool, void *conf)
{
    ngx_tg_clients_conf_t *clients = conf;

    return clients->is_set && tool->entry.output == TG_OUTPUT_RESULT
               ? "returns a list, which is not an MCP result; remove \"output "
                 "result\""
               : NULL;
}

static void
ngx_tg_clients_write_client(void *data, const ngx_tg_client_info_t *about)
{
    ngx_tg_clients_list_t *list = data;

    tg_buf_t *text;

    text = &list->text;
    tg_buf_append_cstr(text,
                       list->n++ == 0 ? "{\"dialect\":\"" : ",{\"dialect\":\"");
    tg_buf_append_cstr(text, tg_dialect_name(about->dialect));
    tg_buf_append_char(text, '"');

    /* The process id of a client over TCP would mean nothing here. */
    if (about->pid != 0) {
        tg_json_add_int(text, "pid", about->pid);
        tg_json_add_uint(text, "uid", about->uid);
    }

    ngx_tg_client_identity_write_json(text, about->identity);
    tg_buf_append_cstr(text, ",\"since\":\"");
    tg_buf_append_time(text, about->since);
    tg_buf_printf(text, "\",\"calls\":%lu", (unsigned long) about->calls);

    if (about->worker != 0) {
        tg_json_add_int(text, "worker", about->worker);
    }

    tg_buf_append_cstr(text, about->receives_broadcasts ? ",\"told\":true}"
                                                        : ",\"told\":false}");
}

static void
ngx_tg_clients_start(ngx_tg_call_t *call, tg_request_t *request)
{
    ngx_tg_clients_list_t list;
    tg_outcome_t outcome;
    tg_buf_t text;

    list.n = 0;
    tg_buf_init(&list.text, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    ngx_tg_client_table_visit(&call->base->conf->addresses,
                              ngx_tg_clients_write_client, &list);
    tg_buf_printf(&text, "{\"count\":%lu,\"clients\":[",
                  (unsigned long) list.n);
    tg_buf_append_str(&text, tg_buf_view(&list.text));
    tg_buf_append_cstr(&text, "]}");

    if (tg_buf_has_failed(&list.text) || tg_buf_has_failed(&text)) {
        ngx_tg_call_fail(call, TG_FAILURE_INTERNAL, TG_TEXT_NO_MEMORY);
    } else {
        outcome = tg_outcome_parse_output(call->entry, tg_buf_view(&text));
        ngx_tg_call_end(call, &outcome);
    }

    tg_buf_deinit(&list.text);
    tg_buf_deinit(&text);
}

static ngx_command_t ngx_tg_clients_commands[] = {

    { ngx_string("clients"), NGX_STREAM_TOOL_CONF | NGX_CONF_NOARGS,
      ngx_tg_clients_set_handler, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    ngx_null_command
};

ngx_module_t ngx_tg_clients_module = NGX_TG_HANDLER_MODULE(
    ngx_tg_clients_commands);

const ngx_tg_handler_t ngx_tg_clients_handler = {
    .name = ngx_string("clients"),
    .module = &ngx_tg_clients_module,
    .conf_size = sizeof(ngx_tg_clients_conf_t),
    .check = ngx_tg_clients_check,
    .start = ngx_tg_clients_start,
};
