/*
 * Fuzzes the state of a peer that moves: the saved state loads and makes a
 * usable peer; a modified state is refused or makes a usable peer too.
 *
 * Input: the number of lines for the new peer (0 to 3), plus 4 when the host
 * sends its client a request before; which allocation fails; the client's
 * lines up to an empty one, which lead to the saved state, whatever its layout
 * is; the lines for the new peer; then changes of the state: each a position
 * (2 bytes), numbers of bytes to remove (4 bits) and to insert (4 bits), and
 * the inserted bytes.
 */
#include "host.h"

#include "protocol/tg_peer_snapshot.h"

static void
state_put_token(void *ctx, const tg_call_t *call, tg_buf_t *out)
{
    tg_buf_append_str(out, call->entry->name);
}

/* Returns at most this many lines up to an empty one, with newlines. */
static tg_str_t
state_lines(fuzz_in_t *in, unsigned most)
{
    const char *from;
    tg_str_t line;
    size_t len;

    from = fuzz_rest(in).data;

    for (len = 0; most != 0 && in->pos != in->end; most--) {
        line = fuzz_until_newline(in);

        if (line.len == 0) {
            break;
        }

        len = (size_t) (fuzz_rest(in).data - from);
    }

    return tg_str(from, len);
}

/*
 * Saves the state of a peer after these lines; empty if the conversation is
 * over.
 */
static void
state_save(tg_str_t lines, int is_requesting, tg_buf_t *state)
{
    help_alloc_t alloc;
    host_t host;

    fuzz_alloc_init(&alloc, 0);
    fuzz_host_init(&host, &alloc.alloc, TG_DIALECT_AUTO, FUZZ_HOST_FRAME);
    fuzz_host_feed(&host, lines);

    if (is_requesting) {
        (void) tg_peer_send_server_request(&host.peer, TG_STR("roots/list"),
                                           TG_STR_NONE, 7);
    }

    if (host.rc != TG_CLOSED) {
        FUZZ(tg_peer_save(&host.peer, state_put_token, 0, state) == TG_OK);
    }

    host_deinit(&host);
    FUZZ(alloc.live == 0);
}

static void
state_change(fuzz_in_t *in, tg_buf_t *state)
{
    size_t at, nout, nin;
    tg_str_t rest;
    tg_buf_t was;

    at = fuzz_byte(in);
    at = (at << 8 | fuzz_byte(in)) % (state->len + 1);
    nout = fuzz_byte(in);
    nin = nout >> 4;
    nout &= 15;
    rest = fuzz_rest(in);
    nin = nin < rest.len ? nin : rest.len;
    in->pos += nin;
    was = *state;
    tg_buf_init(state, tg_alloc_libc());

    if (at != 0) {
        tg_buf_append(state, was.data, at);
    }

    tg_buf_append(state, rest.data, nin);
    at += nout;

    if (at < was.len) {
        tg_buf_append(state, was.data + at, was.len - at);
    }

    tg_buf_deinit(&was);
}

static int
state_load(const tg_alloc_t *alloc, tg_str_t state, tg_str_t lines)
{
    host_t host;
    int rc;

    fuzz_host_init(&host, alloc, TG_DIALECT_AUTO, FUZZ_HOST_FRAME);
    rc = host_load(&host, state);
    FUZZ(rc == TG_OK || rc == TG_INVALID || rc == TG_NOMEM);

    if (rc == TG_OK && !host.peer.is_closing) {
        host_collect(&host);
        host.rc = host_move(&host);

        if (host.rc == TG_OK) {
            fuzz_host_talk(&host, 0, lines);
        }
    }

    host_deinit(&host);

    return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    help_alloc_t alloc;
    unsigned byte, fail_at;
    tg_str_t before, after;
    HELP_BUFFER(state);
    fuzz_in_t in;
    int is_ours, rc;

    in = fuzz_in(data, size);
    byte = fuzz_byte(&in);
    fail_at = fuzz_byte(&in);
    before = state_lines(&in, size);
    after = state_lines(&in, byte % 4);
    state_save(before, (byte & 4) != 0, &state);
    is_ours = state.len != 0 && in.pos == in.end;

    while (in.pos != in.end) {
        state_change(&in, &state);
    }

    fuzz_alloc_init(&alloc, 0);
    rc = state_load(&alloc.alloc, tg_buf_view(&state), after);
    FUZZ(!is_ours || rc == TG_OK);
    FUZZ(alloc.live == 0);

    if (fail_at != 0) {
        fuzz_alloc_init(&alloc, fail_at);
        (void) state_load(&alloc.alloc, tg_buf_view(&state), after);
        FUZZ(alloc.live == 0);
    }

    return 0;
}
