/*
 * All pages of tools/list as one answer.
 */
#include "client/tg_client_impl.h"

int
tg_client_list(tg_client_t *client, tg_client_answer_pt answer, void *ctx,
               tg_client_call_t **out)
{
    tg_client_call_t *call;

    call = tg_client_call_new(client, TG_CLIENT_LIST, answer, ctx);

    if (call == NULL) {
        return TG_NOMEM;
    }

    tg_buf_text(&call->name, "tools/list");

    return tg_client_call_start(call, out);
}

void
tg_client_list_page(tg_client_call_t *call, const tg_answer_t *answer)
{
    tg_answer_t whole;
    tg_buf_t text;

    if (tg_mcp_list_page(&call->list, answer, &whole) == TG_AGAIN) {
        call->is_sent = 0;
        tg_client_call_send(call);
        return;
    }

    /* What is no tool may be one that somebody needs: better no list. */
    if (call->list.nleft_out != 0 && whole.kind == TG_ANSWER_RESULT) {
        whole.kind = TG_ANSWER_ERROR;
        whole.code = TG_RPC_INTERNAL;
        whole.message = TG_STR("The server's list of tools is no list.");
    }

    /* The call is freed before its answer is told. */
    text = call->list.text;
    tg_buf_init(&call->list.text, tg_alloc_libc());
    tg_client_call_end(call, &whole);
    tg_buf_deinit(&text);
}
