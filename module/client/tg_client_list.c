/*
 * All pages of tools/list as one answer.
 */
#include "client/tg_client_impl.h"

#define TG_RPC_INVALID_PARAMS (-32602)
#define TG_RPC_INTERNAL_ERROR (-32603)

void
tg_client_list_reset(tg_client_call_t *call)
{
    tg_buf_truncate(&call->params, 0);
    tg_buf_truncate(&call->tools, 0);
    call->has_params = 0;
    call->npages = 0;
}

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

/* What the server sent as a list is none. */
static void
tg_client_list_fail(tg_client_call_t *call, const char *why)
{
    tg_answer_t answer;

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_ERROR;
    answer.code = TG_RPC_INTERNAL_ERROR;
    answer.message = tg_str_c(why);
    tg_client_call_end(call, &answer);
}

/* Adds the elements of a page: TG_OK, or TG_BAD when it has no tools. */
static int
tg_client_list_add(tg_client_call_t *call, tg_str_t result)
{
    tg_json_t json;
    tg_str_t tools, tool;

    if (tg_json_type(result) != TG_JSON_OBJECT
        || tg_json_get(result, TG_STR("tools"), &tools) != TG_OK
        || tg_json_type(tools) != TG_JSON_ARRAY)
    {
        return TG_BAD;
    }

    tg_json_init(&json, tools);
    (void) tg_json_array(&json);

    while (tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &tool);

        if (tg_json_type(tool) != TG_JSON_OBJECT) {
            return TG_BAD;
        }

        tg_buf_text(&call->tools, call->tools.len != 0 ? "," : "");
        tg_buf_str(&call->tools, tool);
    }

    return TG_OK;
}

static void
tg_client_list_done(tg_client_call_t *call)
{
    tg_answer_t answer;
    tg_buf_t result;

    tg_buf_init(&result, tg_alloc_libc());
    tg_buf_text(&result, "{\"tools\":[");
    tg_buf_str(&result, tg_buf_view(&call->tools));
    tg_buf_text(&result, "]}");

    if (tg_buf_failed(&call->tools) || tg_buf_failed(&result)) {
        tg_client_list_fail(call, "No memory for the list of tools.");
        tg_buf_deinit(&result);
        return;
    }

    memset(&answer, 0, sizeof(answer));
    answer.kind = TG_ANSWER_RESULT;
    answer.result = tg_buf_view(&result);
    tg_client_call_end(call, &answer);
    tg_buf_deinit(&result);
}

static void
tg_client_list_again(tg_client_call_t *call, tg_str_t cursor)
{
    tg_buf_truncate(&call->params, 0);

    if (cursor.data != NULL) {
        tg_buf_text(&call->params, "{\"cursor\":");
        tg_buf_str(&call->params, cursor);
        tg_buf_char(&call->params, '}');
    }

    if (tg_buf_failed(&call->params)) {
        tg_client_list_fail(call, "No memory for the list of tools.");
        return;
    }

    call->has_params = cursor.data != NULL;
    call->is_sent = 0;
    tg_client_call_send(call);
}

void
tg_client_list_page(tg_client_call_t *call, const tg_answer_t *answer)
{
    tg_str_t cursor;

    /* The list changed between two pages. */
    if (answer->kind == TG_ANSWER_ERROR && call->has_params
        && answer->code == TG_RPC_INVALID_PARAMS
        && call->nrelists++ < TG_CLIENT_RELISTS)
    {
        tg_client_list_reset(call);
        tg_client_list_again(call, TG_STR_NONE);
        return;
    }

    if (answer->kind != TG_ANSWER_RESULT) {
        tg_client_call_end(call, answer);
        return;
    }

    if (tg_client_list_add(call, answer->result) != TG_OK) {
        tg_client_list_fail(call, "The server's list of tools is no list.");
        return;
    }

    if (tg_json_get(answer->result, TG_STR("nextCursor"), &cursor) != TG_OK
        || tg_json_type(cursor) != TG_JSON_STRING)
    {
        tg_client_list_done(call);
        return;
    }

    if (++call->npages == TG_CLIENT_PAGES_MAX) {
        tg_client_list_fail(call, "The server's list of tools does not end.");
        return;
    }

    tg_client_list_again(call, cursor);
}
