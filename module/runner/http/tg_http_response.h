/*
 * What the method `http` makes of an HTTP answer: text in UTF-8, or a failure
 * that says what the server said.
 */
#ifndef TG_HTTP_RESPONSE_H
#define TG_HTTP_RESPONSE_H

#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/output/tg_output_response.h"

/* The beginning of the body of an error that an answer quotes. */
#define TG_HTTP_ERROR_BODY_MAX 4096
/* The longest secret: as much more is read, so that none is cut unhidden. */
#define TG_HTTP_SECRET_MAX 16384
/* A Content-Type; what is longer counts as none. */
#define TG_HTTP_CONTENT_TYPE_MAX 256

typedef struct {
    int status;
    char type[TG_HTTP_CONTENT_TYPE_MAX]; /* Content-Type, or empty */
    tg_buf_t body;
    int is_cut;       /* there is more of it */
    tg_buf_t decoded; /* the body, where it is not UTF-8 yet */
} tg_http_response_t;

void tg_http_response_init(tg_http_response_t *answer);
void tg_http_response_deinit(tg_http_response_t *answer);

/* A header of it: remembers the Content-Type. */
void tg_http_response_add_header(tg_http_response_t *answer, tg_str_t name,
                                 tg_str_t value);

/*
 * Takes a part of its body: TG_OK; TG_LIMIT: it is more than is read of such
 * an answer; TG_NOMEM.
 */
int tg_http_response_add_body(tg_http_response_t *answer,
                              const tg_http_params_t *params, const char *data,
                              size_t len);

/* Is the status one of success? */
static inline int
tg_http_response_is_success(const tg_http_response_t *answer)
{
    return answer->status >= 200 && answer->status < 300;
}

/*
 * Begins what the job is answered with, which answer and params outlive;
 * redirect is where to, or NULL.
 */
void tg_http_response_begin_result(tg_output_response_t *response,
                                   tg_http_response_t *answer,
                                   const tg_http_params_t *params,
                                   const tg_url_t *url, const char *redirect,
                                   const tg_job_params_t *job,
                                   const tg_run_stats_t *times);

/*
 * Makes a body of this Content-Type UTF-8, which text takes where it is not
 * yet; TG_MISSING: its charset is none that is known here; TG_INVALID: it is no
 * text at all.
 */
int tg_http_decode_body(tg_str_t type, tg_str_t body, tg_buf_t *text,
                        tg_str_t *out);

#endif
