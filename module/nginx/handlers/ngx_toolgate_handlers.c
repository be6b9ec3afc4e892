/*
 * The handlers there are, a row each.
 */
#include "nginx/conf/ngx_toolgate_handler.h"

extern const ngx_toolgate_handler_t ngx_toolgate_return_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_status_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_cancel_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_exec_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_http_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_pass_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_library_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_broadcast_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_clients_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_mcp_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_reader_handler;
extern const ngx_toolgate_handler_t ngx_toolgate_task_handler;

/* clang-format off */
const ngx_toolgate_handler_t *const ngx_toolgate_handlers[] = {
    &ngx_toolgate_return_handler,
    &ngx_toolgate_status_handler,
    &ngx_toolgate_cancel_handler,
    &ngx_toolgate_exec_handler,
    &ngx_toolgate_http_handler,
    &ngx_toolgate_pass_handler,
    &ngx_toolgate_library_handler,
    &ngx_toolgate_broadcast_handler,
    &ngx_toolgate_clients_handler,
    &ngx_toolgate_mcp_handler,
    &ngx_toolgate_reader_handler,
    &ngx_toolgate_task_handler,
    NULL,
};
/* clang-format on */
