/*
 * What the method `http` makes of an HTTP answer: text in UTF-8, or a failure
 * that says what the server said.
 */
#ifndef TG_HTTP_ANSWER_H
#define TG_HTTP_ANSWER_H

#include "base/tg_url.h"
#include "runner/http/tg_http_params.h"
#include "runner/spill/tg_spill_answer.h"

/* The beginning of the body of an error that an answer quotes. */
#define TG_HTTP_HEAD_MAX 4096
/* The longest secret: as much more is read, so that none is cut unhidden. */
#define TG_HTTP_SECRET_MAX 16384
/* A Content-Type; what is longer counts as none. */
#define TG_HTTP_TYPE_MAX 256

typedef struct {
    int status;
    char type[TG_HTTP_TYPE_MAX]; /* Content-Type, or empty */
    tg_buf_t body;
    int is_cut;       /* there is more of it */
    tg_buf_t decoded; /* the body, where it is not UTF-8 yet */
} tg_http_answer_t;

void tg_http_answer_init(tg_http_answer_t *answer);
void tg_http_answer_deinit(tg_http_answer_t *answer);

/* A header of it: remembers the Content-Type. */
void tg_http_answer_header(tg_http_answer_t *answer, tg_str_t name,
                           tg_str_t value);

/*
 * Takes a part of its body: TG_OK; TG_LIMIT: it is more than is read of such
 * an answer; TG_NOMEM.
 */
int tg_http_answer_body(tg_http_answer_t *answer,
                        const tg_http_params_t *params, const char *data,
                        size_t len);

/* Is the status one of success? */
static inline int
tg_http_answer_is_ok(const tg_http_answer_t *answer)
{
    return answer->status >= 200 && answer->status < 300;
}

/*
 * Begins what the job is answered with, which answer and params outlive;
 * redirect is where to, or NULL.
 */
void tg_http_answer_begin(tg_spill_answer_t *whole, tg_http_answer_t *answer,
                          const tg_http_params_t *params, const tg_url_t *url,
                          const char *redirect, const tg_job_params_t *job,
                          const tg_ran_t *times);

/*
 * Makes a body of this Content-Type UTF-8, which text takes where it is not
 * yet; TG_MISSING: its charset is none that is known here; TG_BAD: it is no
 * text at all.
 */
int tg_http_decode(tg_str_t type, tg_str_t body, tg_buf_t *text, tg_str_t *out);

#endif
