/*
 * Fuzzes the client's side of a connection in each dialect: whatever the
 * server sends, and however it is cut, each request gets one response or is
 * cancelled.
 *
 * Input: dialect and which allocation fails; cut; bytes that the server sends.
 * Requests have the ids 1, 2, 3 and so on.
 */
#include "help.h"

#include "protocol/tg_caller.h"

#define CALLER_REQUESTS 7
#define CALLER_CANCELLED 3
/* Requests sent from within a response callback. */
#define CALLER_NESTED CALLER_REQUESTS

typedef struct {
    tg_caller_t caller;
    tg_buf_t in;
    tg_buf_t log;
    unsigned responses[CALLER_REQUESTS + 1];
    int is_sent[CALLER_REQUESTS + 1];
    int rc;
} end_t;

static void
end_text(end_t *end, const char *what, tg_str_t text)
{
    tg_buf_append_cstr(&end->log, what);

    if (text.data != NULL) {
        tg_buf_append_str(&end->log, text);
    } else {
        tg_buf_append_cstr(&end->log, "(none)");
    }
}

static void
end_call(end_t *end, unsigned i)
{
    int rc;

    rc = i % 2 == 0
             ? tg_caller_call_tool(&end->caller, TG_STR("echo"),
                                   TG_STR("{\"text\":\"hi\"}"),
                                   TG_STR(",\"_meta\":{}"), &end->responses[i],
                                   NULL)
             : tg_caller_send_request(&end->caller, TG_STR("tools/list"),
                                      TG_STR_NONE, &end->responses[i], NULL);

    end->is_sent[i] = rc == TG_OK;
}

static void
end_on_response(void *host, void *tag, const tg_response_t *answer)
{
    unsigned *responses;
    end_t *end;

    end = host;
    responses = tag;
    FUZZ(responses >= end->responses
         && responses <= end->responses + CALLER_NESTED);
    ++*responses;
    tg_buf_printf(&end->log, "answer %lu %u",
                  (unsigned long) (responses - end->responses), answer->kind);
    tg_buf_append_int(&end->log, answer->code);
    end_text(end, " result ", answer->result);
    end_text(end, " message ", answer->message);
    end_text(end, " type ", answer->type);
    end_text(end, " data ", answer->data);
    tg_buf_append_char(&end->log, '\n');

    if (answer->kind == TG_RESPONSE_RESULT) {
        FUZZ(tg_json_validate(answer->result, NULL) == TG_OK);
    }

    if (responses == &end->responses[0] && answer->kind != TG_RESPONSE_LOST
        && answer->kind != TG_RESPONSE_NOT_STARTED)
    {
        end_call(end, CALLER_NESTED);
    }
}

static void
end_on_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    end_text(host, "notification ", method);
    end_text(host, " ", message->params);
}

static void
end_on_shutdown_notice(void *host, tg_str_t reason, int is_drained)
{
    end_text(host, is_drained ? "drained " : "shutdown_notice ", reason);
}

static void
end_on_log(void *host, const char *text)
{
    FUZZ_LINE(tg_str_from_cstr(text));
}

static void
end_init(end_t *end, const tg_alloc_t *alloc, tg_dialect_t dialect)
{
    static const tg_caller_ops_t ops = {
        .answer = end_on_response,
        .notification = end_on_notification,
        .on_shutdown_notice = end_on_shutdown_notice,
        .log = end_on_log
    };
    unsigned i;

    memset(end, 0, sizeof(*end));
    tg_buf_init(&end->in, tg_alloc_libc());
    tg_buf_init(&end->log, tg_alloc_libc());
    tg_caller_init(&end->caller, alloc, &ops, end, dialect, 4096);

    if (dialect == TG_DIALECT_JSONRPC) {
        (void) tg_caller_send_hello(&end->caller, 0);
    }

    for (i = 0; i < CALLER_REQUESTS; i++) {
        end_call(end, i);
    }

    if (tg_caller_cancel_request(&end->caller, CALLER_CANCELLED + 1, 1)
        == TG_OK) {
        end->is_sent[dialect == TG_DIALECT_IPC ? 2 * CALLER_CANCELLED
                                               : CALLER_CANCELLED] = 0;
    }
}

static void
end_feed(end_t *end, tg_str_t bytes)
{
    size_t consumed;
    char *copy;

    tg_buf_append_str(&end->in, bytes);
    copy = help_copy(tg_buf_view(&end->in));
    end->rc = tg_caller_handle_input(&end->caller, copy, end->in.len,
                                     &consumed);
    free(copy);
    FUZZ(consumed <= end->in.len);
    tg_buf_consume(&end->in, consumed);
}

static void
end_talk(end_t *end, uint32_t seed, tg_str_t bytes)
{
    size_t n;

    while (bytes.len != 0 && end->rc == TG_OK) {
        n = fuzz_piece(&seed, bytes.len);
        end_feed(end, tg_str(bytes.data, n));
        bytes = tg_str(bytes.data + n, bytes.len - n);
    }

    if (end->rc != TG_NOMEM) {
        tg_caller_on_disconnect(&end->caller);
        FUZZ(end->caller.npending == 0);
    }
}

static void
end_check(const end_t *end)
{
    unsigned i;

    for (i = 0; i <= CALLER_NESTED; i++) {
        FUZZ(end->responses[i] == (unsigned) end->is_sent[i]);
    }
}

static void
end_deinit(end_t *end)
{
    tg_caller_deinit(&end->caller);
    tg_buf_deinit(&end->in);
    tg_buf_deinit(&end->log);
}

FUZZ_TARGET(in)
{
    static const tg_dialect_t dialects[] = { TG_DIALECT_JSONRPC, TG_DIALECT_IPC,
                                             TG_DIALECT_RELAY };
    end_t whole, cut, poor;
    tg_dialect_t dialect;
    help_alloc_t alloc;
    uint32_t seed;
    unsigned byte;
    tg_str_t text;

    byte = fuzz_byte(&in);
    seed = fuzz_byte(&in);
    text = fuzz_rest(&in);
    dialect = dialects[byte % 3];
    fuzz_alloc_init(&alloc, 0);

    end_init(&whole, &alloc.alloc, dialect);
    end_talk(&whole, 0, text);
    end_init(&cut, &alloc.alloc, dialect);
    end_talk(&cut, seed + 1, text);
    FUZZ_EQ(tg_buf_view(&whole.log), tg_buf_view(&cut.log));
    FUZZ(whole.rc == cut.rc);
    end_check(&whole);
    end_check(&cut);
    end_deinit(&whole);
    end_deinit(&cut);
    FUZZ(alloc.live == 0);

    if (byte > 2) {
        fuzz_alloc_init(&alloc, byte / 3);
        end_init(&poor, &alloc.alloc, dialect);
        end_talk(&poor, seed, text);
        end_deinit(&poor);
        FUZZ(alloc.live == 0);
    }
}
