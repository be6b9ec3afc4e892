/* The list of all handlers. */
#include "nginx/config/ngx_tg_config.h"

extern const ngx_tg_handler_t ngx_tg_return_handler;
extern const ngx_tg_handler_t ngx_tg_message_handler;
extern const ngx_tg_handler_t ngx_tg_status_handler;
extern const ngx_tg_handler_t ngx_tg_cancel_handler;
extern const ngx_tg_handler_t ngx_tg_exec_handler;
extern const ngx_tg_handler_t ngx_tg_file_handler;
extern const ngx_tg_handler_t ngx_tg_resource_files_handler;
extern const ngx_tg_handler_t ngx_tg_http_handler;
extern const ngx_tg_handler_t ngx_tg_pass_handler;
extern const ngx_tg_handler_t ngx_tg_library_handler;
extern const ngx_tg_handler_t ngx_tg_broadcast_handler;
extern const ngx_tg_handler_t ngx_tg_clients_handler;
extern const ngx_tg_handler_t ngx_tg_imported_tool_handler;
extern const ngx_tg_handler_t ngx_tg_output_pager_handler;
extern const ngx_tg_handler_t ngx_tg_task_handler;
extern const ngx_tg_handler_t ngx_tg_complete_handler;

/* clang-format off */
const ngx_tg_handler_t *const ngx_tg_handlers[] = {
    &ngx_tg_return_handler,
    &ngx_tg_message_handler,
    &ngx_tg_status_handler,
    &ngx_tg_cancel_handler,
    &ngx_tg_exec_handler,
    &ngx_tg_file_handler,
    &ngx_tg_resource_files_handler,
    &ngx_tg_http_handler,
    &ngx_tg_pass_handler,
    &ngx_tg_library_handler,
    &ngx_tg_broadcast_handler,
    &ngx_tg_clients_handler,
    &ngx_tg_imported_tool_handler,
    &ngx_tg_output_pager_handler,
    &ngx_tg_task_handler,
    &ngx_tg_complete_handler,
    NULL,
};
/* clang-format on */
