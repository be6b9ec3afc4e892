/* Turns an HTTP response into the result of `http`: UTF-8, or a failure. */
#ifndef TG_HTTP_RESPONSE_H
#define TG_HTTP_RESPONSE_H

#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/output/tg_output_response.h"

/* Maximum size of an error response's body that is quoted, in bytes. */
#define TG_HTTP_ERROR_BODY_MAX 4096

/* Maximum secret in bytes, so much more of an error is read to hide secrets. */
#define TG_HTTP_SECRET_MAX 16384

/* Size of the buffer for Content-Type. A longer value is ignored. */
#define TG_HTTP_CONTENT_TYPE_MAX 256

typedef struct {
    int status;
    char type[TG_HTTP_CONTENT_TYPE_MAX]; /* Content-Type, or empty */
    tg_buf_t body;
    int is_cut;       /* the end of the body is missing */
    tg_buf_t decoded; /* the body in UTF-8, if it has another charset */
} tg_http_response_t;

void tg_http_response_init(tg_http_response_t *answer);
void tg_http_response_deinit(tg_http_response_t *answer);

/* Handles a header of the response: stores the Content-Type. */
void tg_http_response_add_header(tg_http_response_t *answer, tg_str_t name,
                                 tg_str_t value);

/* Appends a part of the body. TG_LIMIT: the body is too large; or TG_NOMEM. */
int tg_http_response_add_body(tg_http_response_t *answer,
                              const tg_http_params_t *params, const char *data,
                              size_t len);

static inline int
tg_http_response_is_success(const tg_http_response_t *answer)
{
    return answer->status >= 200 && answer->status < 300;
}

/* Begins the job's result. `answer` and `params` must outlive `response`. */
void tg_http_response_begin_result(tg_output_response_t *response,
                                   tg_http_response_t *answer,
                                   const tg_http_params_t *params,
                                   const tg_url_t *url, const char *redirect,
                                   const tg_job_params_t *job,
                                   const tg_run_stats_t *times);

/*
 * Decodes a body to UTF-8; *out is in `body`, or in `text` if converted.
 * TG_MISSING: unknown charset; TG_INVALID: not text.
 */
int tg_http_decode_body(tg_str_t type, tg_str_t body, tg_buf_t *text,
                        tg_str_t *out);

#endif
