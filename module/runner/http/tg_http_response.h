/*
 * Turns an HTTP response into the result of `http`: text in UTF-8, or a failure
 * with the server's message.
 */
#ifndef TG_HTTP_RESPONSE_H
#define TG_HTTP_RESPONSE_H

#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/output/tg_output_response.h"

/*
 * Maximum size of the body of an error response that a failure quotes, in
 * bytes.
 */
#define TG_HTTP_ERROR_BODY_MAX 4096

/*
 * Maximum length of a secret in bytes. This much more is read of an error, so
 * that a secret at the cut is still found and hidden.
 */
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

/*
 * Appends a part of the body. Returns TG_OK, TG_LIMIT if the body is larger
 * than what is read of such a response, or TG_NOMEM.
 */
int tg_http_response_add_body(tg_http_response_t *answer,
                              const tg_http_params_t *params, const char *data,
                              size_t len);

/* Checks whether the status is 2xx. */
static inline int
tg_http_response_is_success(const tg_http_response_t *answer)
{
    return answer->status >= 200 && answer->status < 300;
}

/*
 * Begins the result of the job. `answer` and `params` must outlive `response`.
 * `redirect` is the target of a redirect, or NULL.
 */
void tg_http_response_begin_result(tg_output_response_t *response,
                                   tg_http_response_t *answer,
                                   const tg_http_params_t *params,
                                   const tg_url_t *url, const char *redirect,
                                   const tg_job_params_t *job,
                                   const tg_run_stats_t *times);

/*
 * Decodes a body of this Content-Type to UTF-8. *out refers to `body`, or to
 * `text` if the body was converted. Returns TG_OK, TG_MISSING for an unknown
 * charset, or TG_INVALID if the body is not text.
 */
int tg_http_decode_body(tg_str_t type, tg_str_t body, tg_buf_t *text,
                        tg_str_t *out);

#endif
