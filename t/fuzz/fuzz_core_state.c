/*
 * The state of a peer that moves: bytes that are none of ours are refused or
 * make a peer that can be used; what it then says of itself loads again.
 *
 * Input: how many requests follow, where memory ends; that many lines; the
 * bytes behind the magic, whose number is always the newest.
 */
#include "host.h"

#include "core/tg_peer_state_impl.h"

static void
state_load(const tg_alloc_t *alloc, unsigned nlines, fuzz_in_t in)
{
    tg_buf_t state;
    tg_str_t lines;
    host_t host;
    int rc;

    lines.data = fuzz_rest(&in).data;

    while (nlines-- != 0) {
        (void) fuzz_until_newline(&in);
    }

    lines.len = (size_t) (fuzz_rest(&in).data - lines.data);
    fuzz_host_init(&host, alloc, TG_DIALECT_AUTO, FUZZ_HOST_FRAME);
    tg_buf_init(&state, tg_alloc_libc());
    tg_buf_str(&state, TG_STATE_MAGIC);
    tg_buf_str(&state, fuzz_rest(&in));
    rc = host_load(&host, tg_buf_view(&state));
    tg_buf_deinit(&state);
    FUZZ(rc == TG_OK || rc == TG_BAD || rc == TG_NOMEM);

    if (rc == TG_OK && !host.peer.is_closing) {
        host_collect(&host);
        host.rc = host_move(&host);

        if (host.rc == TG_OK) {
            fuzz_host_talk(&host, 0, lines);
        }
    }

    host_deinit(&host);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    help_alloc_t alloc;
    unsigned nlines, fail_at;
    fuzz_in_t in;

    in = fuzz_in(data, size);
    nlines = fuzz_byte(&in) % 4;
    fail_at = fuzz_byte(&in);

    fuzz_alloc_init(&alloc, 0);
    state_load(&alloc.alloc, nlines, in);
    FUZZ(alloc.live == 0);

    if (fail_at != 0) {
        fuzz_alloc_init(&alloc, fail_at);
        state_load(&alloc.alloc, nlines, in);
        FUZZ(alloc.live == 0);
    }

    return 0;
}
