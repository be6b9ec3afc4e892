#include "host.h"

#include <limits.h>

void
fuzz_host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
               size_t max_frame)
{
    static const char *const names[] = {
        /* tools and methods */
        "echo", "json", "result", "big", "fail", "slow", "build.status",
        "slow.status",
        /* prompts and what completes their arguments */
        "hello", "greet", "late", "tone",
        /* resources and templates */
        "note:///today", "note:///slow", "note:///{day}", "day",
        "note:///{day}/{+path}", NULL
    };

    host_init_wild(host, alloc, dialect, max_frame, FUZZ_HOST_CALLS, names);
    host->big = FUZZ_HOST_FRAME * 2;
}

void
fuzz_host_feed(host_t *host, tg_str_t bytes)
{
    size_t had;

    had = host->peer.out.len;
    host_feed(host, bytes);

    while (host->rc == TG_LIMIT) {
        had += host->peer.out.len;
        host_collect(host);

        /* In ipc a pending call blocks the next one. */
        if (had == 0) {
            FUZZ(host_fire(host));
        } else {
            had = 0;
            host_feed(host, TG_STR(""));
        }
    }
}

void
fuzz_host_talk(host_t *host, uint32_t seed, tg_str_t bytes)
{
    size_t n;

    while (bytes.len != 0 && host->rc != TG_NOMEM && host->rc != TG_CLOSED) {
        n = fuzz_piece(&seed, bytes.len);
        fuzz_host_feed(host, tg_str(bytes.data, n));
        bytes = tg_str(bytes.data + n, bytes.len - n);

        if (host->is_moving && host->rc == TG_OK) {
            host_collect(host);
            host->rc = host_move(host);
        }
    }

    if (host->rc != TG_NOMEM) {
        while (host->rc != TG_CLOSED && host_fire(host)) {
        }

        tg_peer_notify_resource_updated(&host->peer, TG_STR("note:///today"));
        tg_peer_notify_resource_updated(&host->peer, TG_STR("note:///monday"));
        tg_peer_notify_list_changes(&host->peer, UINT_MAX);
        tg_peer_send_shutdown_notice(&host->peer, TG_STR("bye"));
        host_collect(host);
    }
}

void
fuzz_host_run(tg_dialect_t dialect, const uint8_t *data, size_t size)
{
    host_t whole, cut, poor;
    help_alloc_t alloc;
    uint32_t seed;
    unsigned byte;
    fuzz_in_t in;
    tg_str_t text;

    in = fuzz_in(data, size);
    byte = fuzz_byte(&in);
    seed = fuzz_byte(&in);
    text = fuzz_rest(&in);
    fuzz_alloc_init(&alloc, 0);
    dialect = byte & 1 ? TG_DIALECT_AUTO : dialect;

    fuzz_host_init(&whole, &alloc.alloc, dialect, FUZZ_HOST_FRAME);
    fuzz_host_talk(&whole, 0, text);
    fuzz_host_init(&cut, &alloc.alloc, dialect, FUZZ_HOST_FRAME);
    cut.is_moving = byte > 127;
    fuzz_host_talk(&cut, seed + 1, text);
    FUZZ(whole.rc != TG_NOMEM);
    FUZZ(whole.rc == cut.rc);
    FUZZ(whole.peer.dialect == cut.peer.dialect);
    FUZZ_EQ(tg_buf_view(&whole.out), tg_buf_view(&cut.out));
    fuzz_host_count(whole.peer.dialect,
                    whole.peer.dialect == TG_DIALECT_RELAY ? size
                                                           : FUZZ_HOST_FRAME,
                    text, tg_buf_view(&whole.out), whole.rc == TG_CLOSED);
    host_deinit(&whole);
    host_deinit(&cut);
    FUZZ(alloc.live == 0);

    /* Runs out of memory at some point: no crash, no leak. */
    if (byte > 1) {
        fuzz_alloc_init(&alloc, byte % 128 / 2);
        fuzz_host_init(&poor, &alloc.alloc, dialect, FUZZ_HOST_FRAME);
        poor.is_moving = byte > 127;
        fuzz_host_talk(&poor, seed, text);
        host_deinit(&poor);
        FUZZ(alloc.live == 0);
    }
}
