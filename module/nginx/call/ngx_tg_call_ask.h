/* Answers of the client to the `ask` of a call's tool. */
#ifndef _NGX_TG_CALL_ASK_H_INCLUDED_
#define _NGX_TG_CALL_ASK_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

typedef enum {
    NGX_TG_ACTION_NONE = 0, /* not asked, or not answered yet */
    NGX_TG_ACTION_ACCEPT,
    NGX_TG_ACTION_DECLINE,
    NGX_TG_ACTION_CANCEL
} ngx_tg_action_t;

struct ngx_tg_answer_s {
    ngx_tg_action_t action;
    tg_str_t content; /* raw object, or absent */
};

/*
 * Asks the client what the call's tool needs to know. Returns 1: all is known,
 * and the call continues; 0: the call was ended.
 */
ngx_uint_t ngx_tg_call_ask(ngx_tg_call_t *call);

/*
 * Returns the raw value of $tool_answer_NAME, or absent. name is without the
 * prefix.
 */
tg_str_t ngx_tg_call_get_answer(const ngx_tg_call_t *call, tg_str_t name);

/* Returns the value of $tool_action_NAME, or absent. */
tg_str_t ngx_tg_call_get_action(const ngx_tg_call_t *call, tg_str_t name);

#endif
