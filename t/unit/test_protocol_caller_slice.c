/* A caller whose slices end, and whose server sends without reading. */
#include "protocol_help.h"

#include "protocol/tg_caller.h"

typedef struct {
    tg_caller_t caller;
    unsigned nasked;
    unsigned nanswers;
    unsigned nnotifications;
    size_t bytes;
} slice_t;

static int
slice_is_over(void *host)
{
    slice_t *slice = host;

    slice->nasked++;
    slice->bytes += slice->caller.frame_size;

    return 1;
}

static void
slice_on_response(void *host, void *tag, const tg_response_t *answer)
{
    slice_t *slice = host;

    slice->nanswers++;
}

static void
slice_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    slice_t *slice = host;

    slice->nnotifications++;
}

static const tg_caller_ops_t slice_ops = {
    .answer = slice_on_response,
    .notification = slice_notification,
    .is_slice_over = slice_is_over,
};

static void
slice_init(slice_t *slice)
{
    memset(slice, 0, sizeof(*slice));
    tg_caller_init(&slice->caller, tg_alloc_libc(), &slice_ops, slice,
                   TG_DIALECT_JSONRPC, 4096);
    CU_ASSERT_FATAL(tg_caller_send_request(&slice->caller, TG_STR("hello"),
                                           TG_STR_NONE, slice, NULL)
                    == TG_OK);
}

/* Feeds all bytes and returns the number of slices. */
static unsigned
slice_feed(slice_t *slice, tg_str_t bytes, int *rc)
{
    size_t consumed;
    unsigned n;

    for (n = 1;; n++) {
        *rc = tg_caller_handle_input(&slice->caller, bytes.data, bytes.len,
                                     &consumed);
        CU_ASSERT_FATAL(consumed != 0);
        bytes.data += consumed;
        bytes.len -= consumed;

        if (*rc != TG_AGAIN) {
            CU_ASSERT(bytes.len == 0 || *rc == TG_CLOSED);
            return n;
        }

        CU_ASSERT(bytes.len != 0);
    }
}

HELP_TEST(frames, "a slice may end after each frame, whatever is in it")
{
    static const char flood[] = "\n\n{}\n1\n{\"id\":77,\"result\":1}\nno JSON\n"
                                "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n"
                                "{\"id\":1,\"result\":2}\n\n";
    slice_t slice;
    int rc;

    slice_init(&slice);
    CU_ASSERT(slice_feed(&slice, TG_STR(flood), &rc) == 9);
    CU_ASSERT(rc == TG_OK);
    CU_ASSERT(slice.nasked == 8);
    CU_ASSERT(slice.nanswers == 1);
    CU_ASSERT(slice.nnotifications == 1);
    CU_ASSERT(slice.bytes == sizeof(flood) - 1 - 9);
    tg_caller_deinit(&slice.caller);
}

HELP_TEST(refusals, "a server that sends requests without reading is closed")
{
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                               "\"ping\"}\n";
    size_t consumed, most;
    slice_t slice;
    unsigned i;
    int rc;

    slice_init(&slice);
    rc = TG_OK;

    /* The caller continues after its output was read. */
    for (i = 0; i < 50000 && rc == TG_OK; i++) {
        rc = tg_caller_handle_input(&slice.caller, ping, sizeof(ping) - 1,
                                    &consumed);
        tg_caller_count_written(&slice.caller, slice.caller.out.len);
        tg_buf_truncate(&slice.caller.out, 0);
    }

    CU_ASSERT(rc == TG_OK);
    most = TG_CALLER_REFUSALS_MAX + 1024;

    for (i = 0; i < 50000 && rc == TG_OK; i++) {
        rc = tg_caller_handle_input(&slice.caller, ping, sizeof(ping) - 1,
                                    &consumed);
    }

    CU_ASSERT(rc == TG_CLOSED);
    CU_ASSERT(slice.caller.out.len <= most);
    tg_caller_on_disconnect(&slice.caller);
    CU_ASSERT(slice.nanswers == 1);
    CU_ASSERT(slice.caller.refused_bytes == 0);
    tg_caller_deinit(&slice.caller);
}
