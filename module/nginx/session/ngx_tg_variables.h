/* What the files that implement the variables $tool_... share. */
#ifndef _NGX_TG_VARIABLES_H_INCLUDED_
#define _NGX_TG_VARIABLES_H_INCLUDED_

#include "nginx/session/ngx_tg_session_impl.h"

/* Returns the session of a connection; NULL before there is one. */
ngx_tg_session_t *ngx_tg_stream_get_session(ngx_stream_session_t *s);

/* Sets a variable to a number's digits. Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_variable_set_number(ngx_stream_session_t *s,
                                     ngx_tg_variable_value_t *v,
                                     uint64_t number);

/* --- handlers --- */

ngx_int_t ngx_tg_client_variable(ngx_stream_session_t *s,
                                 ngx_tg_variable_value_t *v, uintptr_t data);
ngx_int_t ngx_tg_http_client_variable(ngx_stream_session_t *s,
                                      ngx_tg_variable_value_t *v,
                                      uintptr_t data);

#endif
