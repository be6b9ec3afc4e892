#include "host.h"

#include "core/tg_peer_state.h"

#include <stdlib.h>

#define HOST_SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"    \
    "\"required\":[\"text\"]}"

enum {
    HOST_ECHO,
    HOST_JSON,
    HOST_RESULT,
    HOST_LARGE,
    HOST_FAIL,
    HOST_SLOW,
    HOST_STATUS,
    HOST_LATER,
    HOST_ENTRIES
};

static const char *const host_names[HOST_ENTRIES] = {
    "echo", "json", "result", "large", "fail", "slow", "status", "later"
};

/* One for all conversations. */
static tg_entry_t host_entries[HOST_ENTRIES];
static tg_catalogue_t *host_catalogue;

static void
host_offer(void)
{
    int i;

    if (host_catalogue != NULL) {
        return;
    }

    host_catalogue = tg_catalogue_new(tg_alloc_libc());

    for (i = 0; i < HOST_ENTRIES; i++) {
        host_entries[i].kind = i < HOST_STATUS ? TG_ENTRY_TOOL
                                               : TG_ENTRY_METHOD;
        host_entries[i].output = i == HOST_ECHO || i == HOST_LARGE
                                     ? TG_OUTPUT_TEXT
                                 : i == HOST_RESULT ? TG_OUTPUT_RESULT
                                                    : TG_OUTPUT_JSON;
        host_entries[i].name = tg_str_c(host_names[i]);
        host_entries[i].description = TG_STR("A tool.");
        FUZZ(tg_catalogue_add(host_catalogue, &host_entries[i]) == TG_OK);
    }

    host_entries[HOST_ECHO].input_schema = TG_STR(HOST_SCHEMA);
    FUZZ(tg_catalogue_seal(host_catalogue) == TG_OK);
}

/* --- answers --- */

static void
host_echo(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_str_t raw;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS, "\"text\" is missing");

    if (tg_json_type(request->arguments) == TG_JSON_OBJECT
        && tg_json_get(request->arguments, TG_STR("text"), &raw) == TG_OK
        && tg_json_type(raw) == TG_JSON_STRING)
    {
        tg_json_put_decoded(&text, tg_json_body(raw));
        outcome = tg_outcome_output(request->entry, tg_buf_view(&text));
    }

    tg_peer_answer(peer, &request->reply, &outcome);
    tg_buf_deinit(&text);
}

static void
host_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    static char large[HOST_FRAME * 2];
    tg_outcome_t outcome;
    tg_call_t *call;
    host_t *host;

    host = ctx;
    FUZZ(request->entry != NULL && request->name.data != NULL);
    FUZZ(tg_json_check(request->arguments, NULL) == TG_OK);

    switch (request->entry - host_entries) {
    case HOST_ECHO:
        host_echo(peer, request);
        return;
    case HOST_JSON:
    case HOST_STATUS:
        outcome = tg_outcome_output(request->entry, TG_STR("{\"a\": 1}"));
        break;
    case HOST_RESULT:
        outcome = tg_outcome_output(request->entry,
                                    TG_STR("{\"content\":[],\"_meta\":{}}"));
        break;
    case HOST_LARGE:
        memset(large, 'x', sizeof(large));
        outcome = tg_outcome_text(tg_str(large, sizeof(large)));
        break;
    case HOST_FAIL:
        outcome = tg_outcome_failure(TG_FAILURE_PROGRAM, "no luck");
        break;
    default:
        call = tg_peer_defer(peer, request);

        if (call != NULL) {
            FUZZ(host->ndeferred < HOST_CALLS);
            host->deferred[host->ndeferred++] = call;
        }

        return;
    }

    tg_peer_answer(peer, &request->reply, &outcome);
}

static void
host_forget(host_t *host, const tg_call_t *call)
{
    unsigned i;

    for (i = 0; i < host->ndeferred && host->deferred[i] != call; i++) {
    }

    FUZZ(i < host->ndeferred);
    host->ndeferred--;
    memmove(&host->deferred[i], &host->deferred[i + 1],
            (host->ndeferred - i) * sizeof(host->deferred[0]));
}

static void
host_on_cancel(void *ctx, tg_call_t *call)
{
    host_t *host;

    host = ctx;
    host->ncancelled++;
    host_forget(host, call);
}

static void
host_on_log(void *ctx, const char *text)
{
    FUZZ_LINE(tg_str_c(text));
}

static const tg_peer_ops_t host_ops = { .call = host_on_call,
                                        .cancel = host_on_cancel,
                                        .log = host_on_log };

/* --- its life --- */

void
host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
          size_t max_frame)
{
    host_offer();
    memset(host, 0, sizeof(*host));
    host->info.name = TG_STR("fuzz");
    host->info.version = TG_STR("1");
    host->info.instructions = TG_STR("Call echo.");
    host->info.has_list_changed = 1;
    tg_buf_init(&host->in, tg_alloc_libc());
    tg_buf_init(&host->out, tg_alloc_libc());
    tg_peer_init(&host->peer, alloc, &host_ops, host, dialect, host_catalogue,
                 &host->info, max_frame, HOST_CALLS);
    host->peer.now_ms = UINT64_C(1790000000000);
}

void
host_deinit(host_t *host)
{
    tg_peer_deinit(&host->peer);
    FUZZ(host->ndeferred == 0);
    tg_buf_deinit(&host->in);
    tg_buf_deinit(&host->out);
}

void
host_take(host_t *host)
{
    tg_buf_str(&host->out, tg_buf_view(&host->peer.out));
    tg_buf_drop(&host->peer.out, host->peer.out.len);
}

int
host_fire(host_t *host)
{
    tg_outcome_t outcome;
    tg_call_t *call;

    if (host->ndeferred == 0) {
        return 0;
    }

    call = host->deferred[0];
    tg_call_progress(call, TG_STR("1"), TG_STR("2"), TG_STR("\"one\""));
    outcome = tg_outcome_failure(TG_FAILURE_TIMEOUT, "not in time");
    host_forget(host, call);
    tg_call_answer(call, &outcome);

    return 1;
}

/* --- moves --- */

static void
host_put_token(void *ctx, const tg_call_t *call, tg_buf_t *out)
{
    tg_buf_text(out, "token ");
    tg_buf_str(out, call->entry->name);
}

/* Whoever resumes more than it can keep answers at once. */
static void
host_on_resume(void *ctx, tg_call_t *call, const tg_entry_t *now,
               tg_str_t token)
{
    tg_outcome_t outcome;
    host_t *host;

    host = ctx;
    FUZZ(call->entry != NULL);
    FUZZ(token.len <= TG_PEER_TOKEN_MAX);
    FUZZ(now == NULL || tg_str_eq(now->name, call->entry->name));

    if (host->ndeferred == HOST_CALLS) {
        outcome = tg_outcome_failure(TG_FAILURE_BUSY, "too many");
        tg_call_answer(call, &outcome);
        return;
    }

    host->deferred[host->ndeferred++] = call;
}

int
host_load(host_t *host, tg_str_t state)
{
    int has_changed, rc;
    char *copy;

    copy = help_copy(state);
    rc = tg_peer_load(&host->peer, tg_str(copy, state.len), NULL, NULL,
                      host_on_resume, &has_changed);
    free(copy);
    FUZZ(rc == TG_OK || host->ndeferred == 0);

    return rc;
}

void
host_move(host_t *host)
{
    const tg_alloc_t *alloc;
    unsigned ndeferred;
    size_t max_frame;
    tg_buf_t state;
    int rc;

    alloc = host->peer.alloc;
    max_frame = host->peer.max_frame;
    tg_buf_init(&state, alloc);
    host_take(host);
    rc = tg_peer_save(&host->peer, host_put_token, 0, &state);

    if (rc == TG_OK) {
        ndeferred = host->ndeferred;
        host->ndeferred = 0;
        tg_peer_forget(&host->peer);
        tg_peer_deinit(&host->peer);
        tg_peer_init(&host->peer, alloc, &host_ops, host, TG_DIALECT_AUTO,
                     host_catalogue, &host->info, max_frame, HOST_CALLS);
        host->peer.now_ms = UINT64_C(1790000000000);
        host->rc = host_load(host, tg_buf_view(&state));
        FUZZ(host->rc == TG_NOMEM
             || (host->rc == TG_OK && host->ndeferred == ndeferred));
    }

    FUZZ(rc == TG_OK || rc == TG_NOMEM);
    tg_buf_deinit(&state);
}

void
host_feed(host_t *host, tg_str_t bytes)
{
    size_t consumed, had;
    char *copy;

    tg_buf_str(&host->in, bytes);

    for (;;) {
        had = host->peer.out.len;
        copy = help_copy(tg_buf_view(&host->in));
        host->rc = tg_peer_input(&host->peer, copy, host->in.len, &consumed);
        free(copy);
        FUZZ(consumed <= host->in.len);
        tg_buf_drop(&host->in, consumed);

        if (host->rc != TG_LIMIT) {
            return;
        }

        had += host->peer.out.len;
        host_take(host);

        /* In ipc one call keeps the next one waiting. */
        FUZZ(had != 0 || host_fire(host));
    }
}

void
host_talk(host_t *host, uint32_t seed, tg_str_t bytes)
{
    size_t n;

    while (bytes.len != 0 && host->rc != TG_NOMEM && host->rc != TG_CLOSED) {
        n = fuzz_piece(&seed, bytes.len);
        host_feed(host, tg_str(bytes.data, n));
        bytes = tg_str(bytes.data + n, bytes.len - n);

        if (host->is_moving && host->rc == TG_OK) {
            host_move(host);
        }
    }

    if (host->rc != TG_NOMEM) {
        while (host->rc != TG_CLOSED && host_fire(host)) {
        }

        tg_peer_list_changed(&host->peer);
        tg_peer_farewell(&host->peer, TG_STR("bye"));
        host_take(host);
    }
}

void
host_run(tg_dialect_t dialect, const uint8_t *data, size_t size)
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

    host_init(&whole, &alloc.alloc, dialect, HOST_FRAME);
    host_talk(&whole, 0, text);
    host_init(&cut, &alloc.alloc, dialect, HOST_FRAME);
    cut.is_moving = byte > 127;
    host_talk(&cut, seed + 1, text);
    FUZZ(whole.rc != TG_NOMEM);
    FUZZ(whole.rc == cut.rc);
    FUZZ(whole.peer.dialect == cut.peer.dialect);
    FUZZ_EQ(tg_buf_view(&whole.out), tg_buf_view(&cut.out));
    host_count(whole.peer.dialect,
               whole.peer.dialect == TG_DIALECT_RELAY ? size : HOST_FRAME, text,
               tg_buf_view(&whole.out), whole.rc == TG_CLOSED);
    host_deinit(&whole);
    host_deinit(&cut);
    FUZZ(alloc.live == 0);

    /* Without memory from some point on: no crash, no leak. */
    if (byte > 1) {
        fuzz_alloc_init(&alloc, byte % 128 / 2);
        host_init(&poor, &alloc.alloc, dialect, HOST_FRAME);
        poor.is_moving = byte > 127;
        host_talk(&poor, seed, text);
        host_deinit(&poor);
        FUZZ(alloc.live == 0);
    }
}
