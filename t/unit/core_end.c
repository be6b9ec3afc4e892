#include "core_end.h"

#include <stdlib.h>

static void
end_log_str(tg_buf_t *log, const char *head, tg_str_t text)
{
    if (text.data != NULL) {
        tg_buf_text(log, head);
        tg_buf_str(log, text);
    }
}

static void
end_on_answer(void *host, void *tag, const tg_answer_t *answer)
{
    static const char *const kinds[] = { "result", "error", "lost",
                                         "not started" };
    end_t *end;
    const char *again;

    end = host;
    tg_buf_text(&end->log, tag != NULL ? tag : "(none)");
    tg_buf_text(&end->log, ": ");
    tg_buf_text(&end->log, kinds[answer->kind]);
    end_log_str(&end->log, " ", answer->result);

    if (answer->code != 0) {
        tg_buf_char(&end->log, ' ');
        tg_buf_int(&end->log, answer->code);
    }

    end_log_str(&end->log, " message=", answer->message);
    end_log_str(&end->log, " type=", answer->type);
    end_log_str(&end->log, " data=", answer->data);
    tg_buf_char(&end->log, '\n');

    if (end->again != NULL) {
        again = end->again;
        end->again = NULL;
        CU_ASSERT(tg_caller_call_tool(&end->caller, tg_str_c(again),
                                      TG_STR("{}"), TG_STR_NONE,
                                      (void *) (uintptr_t) again, NULL)
                  == TG_OK);
    }

    if (end->cancel != 0) {
        CU_ASSERT(tg_caller_cancel(&end->caller, end->cancel, 1) == TG_OK);
        end->cancel = 0;
    }
}

static void
end_on_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    end_t *end;

    end = host;
    end_log_str(&end->log, "notification ", method);
    end_log_str(&end->log, " ", message->params);
    tg_buf_char(&end->log, '\n');
}

static void
end_on_farewell(void *host, tg_str_t reason, int is_drained)
{
    end_t *end;

    end = host;
    tg_buf_text(&end->log, is_drained ? "drained farewell" : "farewell");
    end_log_str(&end->log, " ", reason);
    tg_buf_char(&end->log, '\n');
}

static void
end_on_log(void *host, const char *text)
{
    end_t *end;

    end = host;
    tg_buf_text(&end->log, "log: ");
    tg_buf_text(&end->log, text);
    tg_buf_char(&end->log, '\n');
}

static const tg_caller_ops_t end_ops = { end_on_answer, end_on_notification,
                                         end_on_farewell, end_on_log };
const tg_caller_ops_t end_few_ops = { .answer = end_on_answer };

void
end_init(end_t *end, tg_dialect_t dialect)
{
    memset(end, 0, sizeof(*end));
    tg_buf_init(&end->log, tg_alloc_libc());
    tg_caller_init(&end->caller, tg_alloc_libc(), &end_ops, end, dialect,
                   END_MAX);
}

void
end_deinit(end_t *end)
{
    tg_caller_deinit(&end->caller);
    tg_buf_deinit(&end->log);
}

int
end_call(end_t *end, const char *name, uint64_t *id)
{
    return tg_caller_call_tool(&end->caller, tg_str_c(name), TG_STR("{}"),
                               TG_STR_NONE, (void *) (uintptr_t) name, id);
}

int
end_feed(end_t *end, tg_str_t bytes)
{
    size_t consumed;
    char *copy;
    int rc;

    copy = help_copy(bytes);
    rc = tg_caller_input(&end->caller, copy, bytes.len, &consumed);
    CU_ASSERT(consumed == bytes.len);
    free(copy);

    return rc;
}

/* A payload of ipc, with its length. */
int
end_feed_ipc(end_t *end, const char *payload)
{
    char frame[512];
    size_t len;

    len = strlen(payload);
    tg_frame_put_prefix(frame, len);
    memcpy(frame + TG_FRAME_PREFIX_SIZE, payload, len);

    return end_feed(end, tg_str(frame, len + TG_FRAME_PREFIX_SIZE));
}

void
end_says(end_t *end, const char *expected, const char *file, int line)
{
    help_eq(tg_buf_view(&end->log), expected, file, line);
    tg_buf_truncate(&end->log, 0);
}

/* What the host would write: all of out, counted where it was. */
void
end_sends(end_t *end, const char *expected, int is_written, const char *file,
          int line)
{
    tg_buf_t *out;

    out = &end->caller.out;
    help_eq(tg_buf_view(out), expected, file, line);

    if (is_written) {
        tg_caller_written(&end->caller, out->len);
    }

    tg_buf_drop(out, out->len);
}

/* One frame of ipc in out. */
void
end_sends_ipc(end_t *end, const char *payload, int is_written)
{
    tg_str_t out;

    out = tg_buf_view(&end->caller.out);
    CU_ASSERT_FATAL(out.len > TG_FRAME_PREFIX_SIZE);
    HELP_EQ(tg_str(out.data + TG_FRAME_PREFIX_SIZE,
                   out.len - TG_FRAME_PREFIX_SIZE),
            payload);
    CU_ASSERT((size_t) (unsigned char) out.data[3]
              == (out.len - TG_FRAME_PREFIX_SIZE) % 256);

    if (is_written) {
        tg_caller_written(&end->caller, out.len);
    }

    tg_buf_drop(&end->caller.out, out.len);
}
