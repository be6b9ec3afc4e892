/* The job that a read of a resource would start in the runner. */
#ifndef _NGX_TG_CALL_CAPTURE_H_INCLUDED_
#define _NGX_TG_CALL_CAPTURE_H_INCLUDED_

#include "nginx/call/ngx_tg_session_base.h"

/*
 * Appends the params of the job to *params. *method is static text. uri and
 * arguments are those of a read by the session's client, which counts for
 * `rate`. NGX_OK; NGX_BUSY: the rate is exceeded; NGX_ERROR: the read would
 * fail, or start no job.
 */
ngx_int_t ngx_tg_call_capture_job(ngx_tg_session_base_t *base,
                                  const tg_catalog_entry_t *entry, tg_str_t uri,
                                  tg_str_t arguments, tg_str_t *method,
                                  tg_buf_t *params);

#endif
