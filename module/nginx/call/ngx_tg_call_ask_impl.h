/* What only the files ngx_tg_call_ask*.c know of an `ask` and its answer. */
#ifndef _NGX_TG_CALL_ASK_IMPL_H_INCLUDED_
#define _NGX_TG_CALL_ASK_IMPL_H_INCLUDED_

#include "nginx/call/ngx_tg_call_ask.h"
#include "nginx/call/ngx_tg_call_impl.h"
#include "nginx/config/ngx_tg_ask.h"
#include "protocol/tg_rpc.h"

/* One round of a call. */
typedef struct {
    ngx_tg_call_t *call;
    const ngx_tg_ask_t *asks;
    ngx_tg_answer_t *answers; /* one for each ask */
    ngx_uint_t n;
    const tg_seal_keys_t *keys;
    unsigned char context[TG_SHA256_SIZE];
    int64_t round;        /* rounds before this one */
    unsigned client_caps; /* TG_CLIENT_CAP_… */
    unsigned missing_caps;
    tg_buf_t inputs;             /* inputRequests so far, without its end */
    const ngx_tg_ask_t *refused; /* NULL: the call may continue */
    /* the client's answer to `refused`; NONE: it cannot be asked */
    ngx_tg_action_t refused_by;
} ngx_tg_asking_t;

tg_str_t ngx_tg_action_get_name(ngx_tg_action_t action);

/* Returns the TG_CLIENT_CAP_… that a client needs for an ask. */
unsigned ngx_tg_ask_get_caps(const ngx_tg_ask_t *ask);
ngx_uint_t ngx_tg_ask_is_supported(const ngx_tg_ask_t *ask,
                                   unsigned client_caps);

/*
 * Appends the member of inputRequests for an ask. NGX_OK, or NGX_ERROR: a value
 * cannot be evaluated.
 */
ngx_int_t ngx_tg_ask_write_request(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                                   tg_buf_t *inputs);

/*
 * Parses a client's response to an ask. NGX_OK; NGX_DECLINED: it does not fit
 * what was asked; NGX_ERROR: it is not an object, or there is no memory.
 */
ngx_int_t ngx_tg_answer_parse(ngx_tg_call_t *call, const ngx_tg_ask_t *ask,
                              tg_str_t raw, ngx_tg_answer_t *answer);

/* Reads an answer of a sealed state. NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_answer_restore(ngx_tg_call_t *call, tg_str_t raw,
                                ngx_tg_answer_t *answer);

#endif
