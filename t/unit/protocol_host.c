#include "protocol_host.h"
#include "protocol_offers.h"

#include "base/tg_utf8.h"
#include "protocol/tg_peer_impl.h"
#include "protocol/tg_peer_snapshot.h"

/* Inputs up to this size are copied to find reads beyond their end. */
#define HOST_COPY_MAX 65536

static void
host_keep(host_t *host, tg_call_t *call, const host_tool_t *tool)
{
    HELP_HOLDS(host->ndeferred < HOST_CALLS);
    host->deferred[host->ndeferred++] = call;
    call->host = (void *) (uintptr_t) tool;
}

static void
host_defer(host_t *host, tg_peer_t *peer, const tg_request_t *request)
{
    tg_call_t *call;

    call = tg_peer_defer_request(peer, request);

    if (call != NULL) {
        host_keep(host, call, request->entry->host);
    }
}

static int
host_is_visible(void *ctx, const tg_catalog_entry_t *entry)
{
    const host_t *host = ctx;

    return !host->is_hiding || !tg_str_eq(entry->name, TG_STR("fail"));
}

static void
host_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    host_t *host = ctx;

    HELP_HOLDS(request->entry != NULL && request->name.data != NULL);
    HELP_HOLDS(tg_json_validate(request->arguments, NULL) == TG_OK);

    if (!host_is_visible(host, request->entry)) {
        tg_peer_respond_unknown(peer, request);
        return;
    }

    host->ncalls++;
    peer->work++;

    if (!host_complete(peer, request, host->big)) {
        host_defer(host, peer, request);
    }
}

static void
host_on_cancel(void *ctx, tg_call_t *call)
{
    host_t *host = ctx;

    host->ncancelled++;
    host_forget(host, call);
}

static void
host_on_log(void *ctx, const char *text)
{
    host_t *host = ctx;

    HELP_HOLDS(tg_utf8_is_valid(tg_str_from_cstr(text))
               && strchr(text, '\n') == NULL);
    tg_buf_printf(&host->log, "%s\n", text);
}

static int
host_is_slice_over(void *ctx)
{
    host_t *host = ctx;

    return host->is_yielding;
}

static void
host_on_response(void *ctx, uint64_t tag, const tg_message_t *message)
{
    host_t *host = ctx;

    tg_buf_printf(&host->log, "response %u ", (unsigned) tag);
    tg_buf_append_str(&host->log, message->result.data != NULL
                                      ? message->result
                                      : message->error);
    tg_buf_append_char(&host->log, '\n');
}

static const char *
host_refusal(void *ctx, tg_peer_t *peer)
{
    HELP_HOLDS(peer->dialect != TG_DIALECT_AUTO);

    return ((host_t *) ctx)->why;
}

static const tg_peer_ops_t host_ops = {
    .call = host_on_call,
    .cancel = host_on_cancel,
    .log = host_on_log,
    .on_response = host_on_response,
    .is_visible = host_is_visible,
    .can_report = host_can_report,
    .refusal = host_refusal,
    .is_slice_over = host_is_slice_over,
};

/* --- start and end --- */

static int
host_has(const host_t *host, size_t i)
{
    const char *const *names;
    const char *name;

    name = host_tool(i)->name;

    if (i >= HOST_TOOLS && !host->is_offering) {
        return 0;
    }

    if (host->dropped != NULL && strcmp(host->dropped, name) == 0) {
        return 0;
    }

    for (names = host->names; names != NULL && *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return 1;
        }
    }

    return host->names == NULL;
}

/* Returns the entries of all tools with their listings, rendered once. */
static const tg_catalog_entry_t *
host_render(int is_reworded)
{
    const host_tool_t *tool;
    static tg_catalog_entry_t rendered[2][HOST_ALL];
    static tg_catalog_t *catalogs[2];
    tg_catalog_entry_t *entries;
    size_t i;

    entries = rendered[is_reworded];

    if (catalogs[is_reworded] != NULL) {
        return entries;
    }

    catalogs[is_reworded] = tg_catalog_new(tg_alloc_libc());

    for (i = 0; i < HOST_ALL; i++) {
        tool = host_tool(i);
        entries[i].kind = tool->entry;
        entries[i].output = tool->output;
        entries[i].name = tg_str_from_cstr(tool->name);
        entries[i].host = (void *) (uintptr_t) tool;

        if (tool->description != NULL) {
            entries[i].description = tg_str_from_cstr(tool->description);
        }

        if (i >= HOST_TOOLS) {
            host_offer_describe(&host_offers[i - HOST_TOOLS], &entries[i]);
        }

        if (tool->kind == HOST_ECHO) {
            entries[i].input_schema = TG_STR(HOST_SCHEMA);
        }

        if (is_reworded && i < HOST_TOOLS && tool->kind == HOST_FAIL) {
            entries[i].description = TG_STR("Fails, and always did.");
        }

        (void) tg_catalog_add(catalogs[is_reworded], &entries[i]);
    }

    (void) tg_catalog_seal(catalogs[is_reworded]);

    return entries;
}

static void
host_copy(tg_str_t *text, char **to)
{
    if (text->len != 0) {
        memcpy(*to, text->data, text->len);
        text->data = *to;
        *to += text->len;
    }
}

/* Creates a catalog; all its memory is new, so that ASan finds stale uses. */
static void
host_offer(host_t *host)
{
    const tg_catalog_entry_t *rendered;
    tg_catalog_entry_t *entries;
    size_t i, size;
    char *text;

    rendered = host_render(host->is_reworded);
    size = HOST_ALL * sizeof(entries[0]);

    for (i = 0; i < HOST_ALL; i++) {
        size += rendered[i].listing.len + rendered[i].legacy.len;
    }

    host->catalog = tg_catalog_new(tg_alloc_libc());
    entries = malloc(size);
    host->entries = entries;

    if (host->catalog == NULL || entries == NULL) {
        abort();
    }

    memcpy(entries, rendered, HOST_ALL * sizeof(entries[0]));
    text = (char *) &entries[HOST_ALL];

    for (i = 0; i < HOST_ALL; i++) {
        if (host_has(host, i)) {
            host_copy(&entries[i].listing, &text);
            host_copy(&entries[i].legacy, &text);
            (void) tg_catalog_add(host->catalog, &entries[i]);
        }
    }

    (void) tg_catalog_seal(host->catalog);
}

/* A peer that alloc has no memory for uses libc's. */
static void
host_open_peer(host_t *host, const tg_alloc_t *alloc, size_t max_frame,
               unsigned max_calls)
{
    while (tg_peer_init(&host->peer, alloc, &host_ops, host, host->dialect,
                        host->catalog, &host->info, max_frame, max_calls)
           != TG_OK)
    {
        HELP_HOLDS(alloc != tg_alloc_libc());
        alloc = tg_alloc_libc();
    }
}

static void
host_open(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
          size_t max_frame, unsigned max_calls)
{
    host->dialect = dialect;
    host->info.name = TG_STR("transcripts");
    host->info.version = TG_STR("1.2.3");
    host->info.instructions = TG_STR("Call echo.");
    host->info.has_list_changed = 1;
    host->info.has_broadcasts = 1;
    host->info.has_prompts = host->is_offering;
    host->info.has_resources = host->is_offering;
    host->info.has_subscribe = host->is_offering;
    host->info.has_completions = host->is_offering;
    host_offer(host);
    tg_buf_init(&host->in, tg_alloc_libc());
    tg_buf_init(&host->out, tg_alloc_libc());
    tg_buf_init(&host->log, tg_alloc_libc());
    host_open_peer(host, alloc, max_frame, max_calls);
    host->peer.now_ms = UINT64_C(1790000000000);
    host->is_copying = 1;
}

void
host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
          size_t max_frame, unsigned max_calls)
{
    memset(host, 0, sizeof(*host));
    host->big = HOST_BIG;
    host_open(host, alloc, dialect, max_frame, max_calls);
}

void
host_init_offering(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
                   size_t max_frame, unsigned max_calls)
{
    memset(host, 0, sizeof(*host));
    host->big = HOST_BIG;
    host->is_offering = 1;
    host_open(host, alloc, dialect, max_frame, max_calls);
}

void
host_init_wild(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
               size_t max_frame, unsigned max_calls, const char *const *names)
{
    memset(host, 0, sizeof(*host));
    host->names = names;
    host->is_wild = host->is_offering = 1;
    host_open(host, alloc, dialect, max_frame, max_calls);
}

void
host_deinit(host_t *host)
{
    tg_peer_deinit(&host->peer);
    HELP_HOLDS(host->ndeferred == 0);
    tg_catalog_unref(host->catalog);
    free(host->entries);
    tg_buf_deinit(&host->in);
    tg_buf_deinit(&host->out);
    tg_buf_deinit(&host->log);
}

void
host_collect(host_t *host)
{
    tg_buf_append_str(&host->out, tg_buf_view(&host->peer.out));
    tg_buf_consume(&host->peer.out, host->peer.out.len);
}

/* --- moves --- */

/* A call's token is the name of its tool. */
static void
host_put_token(void *ctx, const tg_call_t *call, tg_buf_t *out)
{
    tg_buf_append_str(out, call->entry->name);
}

/* A call beyond the host's capacity is completed at once. */
static void
host_on_resume(void *ctx, tg_call_t *call, const tg_catalog_entry_t *now,
               tg_str_t token)
{
    const host_tool_t *tool;
    tg_outcome_t outcome;
    host_t *host;
    size_t i;

    host = ctx;
    tool = &host_tools[0];

    for (i = 0; i < HOST_ALL; i++) {
        if (tg_str_eq(token, tg_str_from_cstr(host_tool(i)->name))) {
            tool = host_tool(i);
        }
    }

    HELP_HOLDS(call->entry != NULL && token.len <= TG_PEER_TOKEN_MAX);
    HELP_HOLDS(now == NULL || tg_str_eq(now->name, call->entry->name));

    if (!host->is_wild) {
        HELP_HOLDS(tg_str_eq(call->entry->name, tg_str_from_cstr(tool->name)));
        HELP_HOLDS(call->entry->output == tool->output);
        HELP_HOLDS(now == NULL || now->host == tool);
    }

    if (host->ndeferred == HOST_CALLS) {
        outcome = tg_outcome_make_failure(TG_FAILURE_BUSY, "too many");
        tg_call_respond(call, &outcome);
        return;
    }

    host_keep(host, call, tool);
}

/* Takes replies that are kept outside of the state, one after the other. */
static void
host_on_take(void *apart, tg_buf_t *replies)
{
    tg_buf_append_str(apart, tg_buf_view(replies));
    tg_buf_deinit(replies);
}

static int
host_on_give(void *apart, tg_buf_t *replies, size_t len)
{
    HELP_HOLDS(len <= ((tg_buf_t *) apart)->len);
    tg_buf_append(replies, ((tg_buf_t *) apart)->data, len);
    tg_buf_consume(apart, len);

    return tg_buf_has_failed(replies) ? TG_NOMEM : TG_OK;
}

int
host_load(host_t *host, tg_str_t state)
{
    char *copy;
    int rc;

    copy = help_copy(state);
    rc = tg_peer_load(&host->peer, tg_str(copy, state.len), NULL, NULL,
                      host_on_resume, &host->changes);
    free(copy);
    HELP_HOLDS(rc == TG_OK || host->ndeferred == 0);

    return rc;
}

void
host_save(host_t *host, tg_buf_t *state)
{
    HELP_HOLDS(tg_peer_save(&host->peer, host_put_token, 0, state) == TG_OK);
}

void
host_copy_state(host_t *copy, host_t *host)
{
    HELP_BUFFER(state);

    host_save(host, &state);
    HELP_HOLDS(host_load(copy, tg_buf_view(&state)) == TG_OK);
    tg_buf_append_str(&copy->in, tg_buf_view(&host->in));
    copy->rc = host->rc;
    copy->is_apart = host->is_apart;
    copy->ncalls = host->ncalls;
    copy->ncancelled = host->ncancelled;
}

int
host_move(host_t *host)
{
    tg_buf_t state, apart = HELP_BUF, out;
    tg_catalog_entry_t *entries;
    tg_catalog_t *old;
    const tg_alloc_t *alloc;
    tg_peer_t was;
    size_t n;
    int rc;

    was = host->peer;
    alloc = was.priv->alloc;
    old = host->catalog;
    entries = host->entries;
    tg_buf_init(&state, alloc);
    /* Alternates between both ways to save. */
    host->is_apart = !host->is_apart;
    rc = tg_peer_save(&host->peer, host_put_token, host->is_apart, &state);
    HELP_HOLDS(rc == TG_OK || rc == TG_NOMEM);

    if (rc != TG_OK) {
        tg_buf_deinit(&state);
        return rc;
    }

    if (host->is_apart) {
        tg_peer_take_replies(&host->peer, host_on_take, &apart);
    }

    /* Copies the unwritten output to new memory. */
    tg_buf_init(&out, alloc);
    tg_buf_append_str(&out, tg_buf_view(&was.out));
    n = host->ndeferred;
    host->ndeferred = 0;
    tg_peer_forget_calls(&host->peer);
    tg_peer_deinit(&host->peer);

    host_offer(host);
    host_open_peer(host, alloc, was.max_frame, was.max_calls);
    host->peer.now_ms = was.now_ms;
    tg_catalog_unref(old);
    free(entries);
    host->peer.out = out;
    rc = tg_peer_load(&host->peer, tg_buf_view(&state),
                      host->is_apart ? host_on_give : NULL, &apart,
                      host_on_resume, &host->changes);
    HELP_HOLDS(rc != TG_OK || apart.len == 0);
    tg_buf_deinit(&apart);
    tg_buf_deinit(&state);
    HELP_HOLDS(rc != TG_OK || host->ndeferred == n);

    return rc;
}

static void
host_run_slice(host_t *host)
{
    size_t consumed;
    char *copy;

    /* A fatal error: only deinit may follow. */
    if (host->rc == TG_NOMEM) {
        return;
    }

    if (host->is_copying && host->in.len <= HOST_COPY_MAX) {
        copy = help_copy(tg_buf_view(&host->in));
        host->rc = tg_peer_handle_input(&host->peer, copy, host->in.len,
                                        &consumed);
        free(copy);
    } else {
        host->rc = tg_peer_handle_input(&host->peer, host->in.data,
                                        host->in.len, &consumed);
    }

    HELP_HOLDS(consumed <= host->in.len);
    tg_buf_consume(&host->in, consumed);
}

static void
host_run(host_t *host)
{
    for (host_run_slice(host); host->rc == TG_AGAIN; host_run_slice(host)) {
        host->nslices++;

        if (host->is_moving) {
            HELP_HOLDS(host_move(host) == TG_OK);
        }
    }
}

void
host_feed(host_t *host, tg_str_t bytes)
{
    tg_buf_append_str(&host->in, bytes);
    host_run(host);
}

int
host_fire(host_t *host)
{
    const host_tool_t *tool;
    tg_outcome_t outcome;
    tg_call_t *call;
    size_t i;

    for (i = 0; i < host->ndeferred; i++) {
        call = host->deferred[i];
        tool = call->host;

        if (tool->kind == HOST_HANG && !host->is_wild) {
            continue;
        }

        if (host->is_wild) {
            tg_call_notify_progress(call, TG_STR("1"), TG_STR("2"),
                                    TG_STR("\"one\""));
        }

        outcome = tool->kind != HOST_LOST
                      ? tg_outcome_make_failure(TG_FAILURE_TIMEOUT,
                                                "slow: did not finish in time")
                      : tg_outcome_make_failure(TG_FAILURE_LOST,
                                                "lost: the backend went away");
        host_forget(host, call);
        tg_call_respond(call, &outcome);
        host_run(host);
        return 1;
    }

    return 0;
}

void
host_put_ipc(tg_buf_t *buf, tg_str_t payload)
{
    char prefix[TG_FRAME_PREFIX_SIZE];

    tg_frame_write_prefix(prefix, payload.len);
    tg_buf_append(buf, prefix, sizeof(prefix));
    tg_buf_append_str(buf, payload);
}

tg_call_t *
host_call(const host_t *host, const char *id)
{
    size_t i;

    for (i = 0; i < host->ndeferred; i++) {
        if (tg_str_eq(host->deferred[i]->reply.id, tg_str_from_cstr(id))) {
            return host->deferred[i];
        }
    }

    return NULL;
}

void
host_forget(host_t *host, tg_call_t *call)
{
    size_t i;

    for (i = 0; i < host->ndeferred; i++) {
        if (host->deferred[i] == call) {
            host->ndeferred--;
            memmove(&host->deferred[i], &host->deferred[i + 1],
                    (host->ndeferred - i) * sizeof(host->deferred[0]));
            return;
        }
    }

    HELP_HOLDS(!"a call that the host has");
}
