#include "core_host.h"

#include "core/tg_peer_state.h"

#include <stdlib.h>

/* Inputs up to this size are copied each time, to find reads beyond them. */
#define HOST_COPY_MAX 65536

typedef enum {
    HOST_VALUE, /* answers with a text that never changes */
    HOST_ECHO,  /* … with one argument */
    HOST_FAIL,
    HOST_SLOW, /* runs into its deadline when fired */
    HOST_HANG, /* runs until it is cancelled */
    HOST_LOST, /* its backend goes away when fired */
    HOST_LARGE,
    HOST_SUM,
    HOST_SUBTRACT,
    HOST_CHECKED
} host_kind_t;

typedef struct {
    tg_entry_kind_t entry;
    host_kind_t kind;
    tg_output_t output;
    const char *name;
    const char *description;
    const char *value;
} host_tool_t;

#define HOST_SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"    \
    "\"required\":[\"text\"]}"

/* As in t/transcripts/tools.conf, in the same order. */
static const host_tool_t host_tools[] = {
    { TG_ENTRY_TOOL, HOST_ECHO, TG_OUTPUT_TEXT, "echo", "Gives its text back.",
      NULL },
    { TG_ENTRY_TOOL, HOST_FAIL, TG_OUTPUT_TEXT, "fail", "Always fails.", NULL },
    { TG_ENTRY_TOOL, HOST_SLOW, TG_OUTPUT_TEXT, "slow", "Never in time.",
      NULL },
    { TG_ENTRY_TOOL, HOST_HANG, TG_OUTPUT_TEXT, "hang", "Never ends.", NULL },
    { TG_ENTRY_TOOL, HOST_LOST, TG_OUTPUT_TEXT, "lost", "Loses its backend.",
      NULL },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_JSON, "json", "Gives an object.",
      "{ \"a\": 1 }" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_JSON, "list", "Gives an array.",
      "[1,2]" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_RESULT, "result",
      "Gives a whole result.",
      "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},"
      "{\"type\":\"image\",\"data\":\"AA==\",\"mimeType\":\"image/png\"},"
      "{\"type\":\"text\",\"text\":\"two\"}],\"_meta\":{\"x\":1}}" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_RESULT, "refuse",
      "Gives a result that is an error.",
      "{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_RESULT, "locked",
      "Says its error's class.",
      "{\"content\":[{\"type\":\"text\",\"text\":\"in use\"}],"
      "\"isError\":true,"
      "\"_meta\":{\"toolgate/errorType\":\"FileLockedError\"}}" },
    { TG_ENTRY_TOOL, HOST_VALUE, TG_OUTPUT_JSON, "broken",
      "Promises JSON and gives none.", "oops" },
    { TG_ENTRY_TOOL, HOST_LARGE, TG_OUTPUT_TEXT, "big", "Gives too much.",
      NULL },
    { TG_ENTRY_METHOD, HOST_VALUE, TG_OUTPUT_JSON, "build.status", NULL,
      "{\"ok\":true}" },
    { TG_ENTRY_METHOD, HOST_VALUE, TG_OUTPUT_TEXT, "hello", NULL, "hello" },
    { TG_ENTRY_METHOD, HOST_VALUE, TG_OUTPUT_JSON, "get_data", NULL,
      "[\"hello\",5]" },
    { TG_ENTRY_METHOD, HOST_SUM, TG_OUTPUT_JSON, "sum", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_SUBTRACT, TG_OUTPUT_JSON, "subtract", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_CHECKED, TG_OUTPUT_JSON, "checked", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_FAIL, TG_OUTPUT_JSON, "fail.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_SLOW, TG_OUTPUT_JSON, "slow.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_HANG, TG_OUTPUT_JSON, "hang.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_LOST, TG_OUTPUT_JSON, "lost.status", NULL, NULL },
    { TG_ENTRY_METHOD, HOST_LARGE, TG_OUTPUT_TEXT, "big.status", NULL, NULL },
};

#define HOST_TOOLS (sizeof(host_tools) / sizeof(host_tools[0]))

static const host_tool_t *
host_tool(const tg_entry_t *entry)
{
    return entry->host;
}

/* --- answers --- */

static tg_outcome_t
host_large(void)
{
    static char *text;
    static size_t len;

    /* One for all: it is large. */
    if (text == NULL) {
        len = HOST_BIG;
        text = malloc(len);

        if (text == NULL) {
            abort();
        }

        memset(text, 'x', len);
    }

    return tg_outcome_text(tg_str(text, len));
}

static void
host_echo(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_str_t raw;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());

    if (tg_json_get(request->arguments, TG_STR("text"), &raw) != TG_OK) {
        outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS,
                                     "(root): \"text\" is missing");
    } else if (tg_json_type(raw) != TG_JSON_STRING) {
        outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS,
                                     "/text: expected string, got number");
    } else {
        tg_json_put_decoded(&text, tg_json_body(raw));
        outcome = tg_outcome_output(request->entry, tg_buf_view(&text));
    }

    tg_peer_answer(peer, &request->reply, &outcome);
    tg_buf_deinit(&text);
}

static void
host_number(tg_peer_t *peer, const tg_request_t *request, int64_t value)
{
    tg_outcome_t outcome;
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_int(&text, value);
    outcome = tg_outcome_output(request->entry, tg_buf_view(&text));
    tg_peer_answer(peer, &request->reply, &outcome);
    tg_buf_deinit(&text);
}

static void
host_sum(tg_peer_t *peer, const tg_request_t *request, int sign)
{
    tg_json_t json;
    tg_str_t raw;
    int64_t sum, value;
    size_t n;

    sum = 0;

    if (tg_json_type(request->arguments) == TG_JSON_OBJECT) {
        if (tg_json_get(request->arguments, TG_STR("minuend"), &raw) == TG_OK
            && tg_json_int64(raw, &sum) == TG_OK
            && tg_json_get(request->arguments, TG_STR("subtrahend"), &raw)
                   == TG_OK
            && tg_json_int64(raw, &value) == TG_OK)
        {
            sum -= value;
        }

        host_number(peer, request, sum);
        return;
    }

    tg_json_init(&json, request->arguments);
    (void) tg_json_array(&json);

    for (n = 0; tg_json_element(&json) == TG_OK; n++) {
        if (tg_json_value(&json, &raw) == TG_OK
            && tg_json_int64(raw, &value) == TG_OK) {
            sum += n == 0 ? value : sign * value;
        }
    }

    host_number(peer, request, sum);
}

static void
host_checked(tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_str_t raw;
    int64_t n;

    if (tg_json_get(request->arguments, TG_STR("n"), &raw) != TG_OK
        || tg_json_int64(raw, &n) != TG_OK)
    {
        outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS,
                                     "/n: expected integer, got string");
        tg_peer_answer(peer, &request->reply, &outcome);
        return;
    }

    host_number(peer, request, n);
}

static void
host_keep(host_t *host, tg_call_t *call, const host_tool_t *tool)
{
    CU_ASSERT_FATAL(host->ndeferred < HOST_CALLS);
    host->deferred[host->ndeferred++] = call;
    call->host = (void *) (uintptr_t) tool;
}

static void
host_defer(host_t *host, tg_peer_t *peer, const tg_request_t *request)
{
    tg_call_t *call;

    call = tg_peer_defer(peer, request);

    if (call != NULL) {
        host_keep(host, call, host_tool(request->entry));
    }
}

static int
host_is_visible(void *ctx, const tg_entry_t *entry)
{
    const host_t *host;

    host = ctx;

    return !host->is_hiding || !tg_str_eq(entry->name, TG_STR("fail"));
}

static void
host_on_call(void *ctx, tg_peer_t *peer, tg_request_t *request)
{
    const host_tool_t *tool;
    tg_outcome_t outcome;
    host_t *host;

    host = ctx;

    if (!host_is_visible(host, request->entry)) {
        tg_peer_unknown(peer, request);
        return;
    }

    host->ncalls++;
    peer->work++;
    tool = host_tool(request->entry);

    switch (tool->kind) {
    case HOST_VALUE:
        outcome = tg_outcome_output(request->entry, tg_str_c(tool->value));
        break;
    case HOST_FAIL:
        outcome = tg_outcome_failure(TG_FAILURE_PROGRAM,
                                     "fail: exit status 3\nno luck");
        break;
    case HOST_LARGE:
        outcome = host_large();
        break;
    case HOST_ECHO:
        host_echo(peer, request);
        return;
    case HOST_SUM:
        host_sum(peer, request, 1);
        return;
    case HOST_SUBTRACT:
        host_sum(peer, request, -1);
        return;
    case HOST_CHECKED:
        host_checked(peer, request);
        return;
    default:
        host_defer(host, peer, request);
        return;
    }

    tg_peer_answer(peer, &request->reply, &outcome);
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
    host_t *host;

    host = ctx;
    tg_buf_text(&host->log, text);
    tg_buf_char(&host->log, '\n');
}

static int
host_is_turn_over(void *ctx)
{
    host_t *host = ctx;

    return host->is_yielding;
}

static const tg_peer_ops_t host_ops = {
    .call = host_on_call,
    .cancel = host_on_cancel,
    .log = host_on_log,
    .is_visible = host_is_visible,
    .is_turn_over = host_is_turn_over,
};

/* --- its life --- */

static void
host_offer(host_t *host)
{
    tg_entry_t *entries;
    size_t i;

    host->catalogue = tg_catalogue_new(tg_alloc_libc());
    entries = calloc(HOST_TOOLS, sizeof(entries[0]));
    host->entries = entries;

    if (host->catalogue == NULL || entries == NULL) {
        abort();
    }

    for (i = 0; i < HOST_TOOLS; i++) {
        if (host->dropped != NULL
            && strcmp(host->dropped, host_tools[i].name) == 0) {
            continue;
        }

        entries[i].kind = host_tools[i].entry;
        entries[i].output = host_tools[i].output;
        entries[i].name = tg_str_c(host_tools[i].name);
        entries[i].host = (void *) (uintptr_t) &host_tools[i];

        if (host_tools[i].description != NULL) {
            entries[i].description = tg_str_c(host_tools[i].description);
        }

        if (host_tools[i].kind == HOST_ECHO) {
            entries[i].input_schema = TG_STR(HOST_SCHEMA);
        }

        if (host->is_reworded && host_tools[i].kind == HOST_FAIL) {
            entries[i].description = TG_STR("Fails, and always did.");
        }

        (void) tg_catalogue_add(host->catalogue, &entries[i]);
    }

    (void) tg_catalogue_seal(host->catalogue);
}

void
host_init(host_t *host, const tg_alloc_t *alloc, tg_dialect_t dialect,
          size_t max_frame, unsigned max_calls)
{
    memset(host, 0, sizeof(*host));
    host->dialect = dialect;
    host->info.name = TG_STR("transcripts");
    host->info.version = TG_STR("1.2.3");
    host->info.instructions = TG_STR("Call echo.");
    host->info.has_list_changed = 1;
    host_offer(host);
    tg_buf_init(&host->in, tg_alloc_libc());
    tg_buf_init(&host->log, tg_alloc_libc());
    tg_peer_init(&host->peer, alloc, &host_ops, host, dialect, host->catalogue,
                 &host->info, max_frame, max_calls);
    host->peer.now_ms = UINT64_C(1790000000000);
    host->is_copying = 1;
}

void
host_deinit(host_t *host)
{
    tg_peer_deinit(&host->peer);
    CU_ASSERT(host->ndeferred == 0);
    tg_catalogue_release(host->catalogue);
    free(host->entries);
    tg_buf_deinit(&host->in);
    tg_buf_deinit(&host->log);
}

/* A call's token is its tool in the table, which does not move. */
static void
host_put_token(void *ctx, const tg_call_t *call, tg_buf_t *out)
{
    tg_buf_put(out, (const char *) &call->host, sizeof(call->host));
}

static void
host_on_resume(void *ctx, tg_call_t *call, const tg_entry_t *now,
               tg_str_t token)
{
    const host_tool_t *tool;

    CU_ASSERT_FATAL(token.len == sizeof(tool));
    memcpy(&tool, token.data, sizeof(tool));
    CU_ASSERT(tg_str_eq(call->entry->name, tg_str_c(tool->name)));
    CU_ASSERT(call->entry->output == tool->output);
    CU_ASSERT(now == NULL || now->host == tool);
    host_keep(ctx, call, tool);
}

/* Replies that are kept apart from the state, one behind the other. */
static void
host_on_take(void *apart, tg_buf_t *replies)
{
    tg_buf_str(apart, tg_buf_view(replies));
    tg_buf_deinit(replies);
}

static int
host_on_give(void *apart, tg_buf_t *replies, size_t len)
{
    CU_ASSERT_FATAL(len <= ((tg_buf_t *) apart)->len);
    tg_buf_put(replies, ((tg_buf_t *) apart)->data, len);
    tg_buf_drop(apart, len);

    return tg_buf_failed(replies) ? TG_NOMEM : TG_OK;
}

int
host_move(host_t *host)
{
    tg_buf_t state, apart, out;
    tg_entry_t *entries;
    tg_catalogue_t *old;
    tg_peer_t was;
    size_t n;
    int rc;

    was = host->peer;
    old = host->catalogue;
    entries = host->entries;
    tg_buf_init(&state, tg_alloc_libc());
    tg_buf_init(&apart, tg_alloc_libc());
    /* In the one way and in the other. */
    host->is_apart = !host->is_apart;
    CU_ASSERT(tg_peer_save(&host->peer, host_put_token, host->is_apart, &state)
              == TG_OK);

    if (host->is_apart) {
        tg_peer_take_replies(&host->peer, host_on_take, &apart);
    }

    /* What was not written, into memory of its own. */
    tg_buf_init(&out, was.alloc);
    tg_buf_str(&out, tg_buf_view(&was.out));
    n = host->ndeferred;
    host->ndeferred = 0;
    tg_peer_forget(&host->peer);
    tg_peer_deinit(&host->peer);

    host_offer(host);
    tg_peer_init(&host->peer, was.alloc, was.ops, host, host->dialect,
                 host->catalogue, &host->info, was.max_frame, was.max_calls);
    host->peer.now_ms = was.now_ms;
    tg_catalogue_release(old);
    free(entries);
    host->peer.out = out;
    rc = tg_peer_load(&host->peer, tg_buf_view(&state),
                      host->is_apart ? host_on_give : NULL, &apart,
                      host_on_resume, &host->has_changed);
    CU_ASSERT(rc != TG_OK || apart.len == 0);
    tg_buf_deinit(&apart);
    tg_buf_deinit(&state);
    CU_ASSERT(rc != TG_OK || host->ndeferred == n);

    return rc;
}

static void
host_turn(host_t *host)
{
    size_t consumed;
    char *copy;

    /* Fatal: only deinit may follow. */
    if (host->rc == TG_NOMEM) {
        return;
    }

    if (host->is_copying && host->in.len <= HOST_COPY_MAX) {
        copy = help_copy(tg_buf_view(&host->in));
        host->rc = tg_peer_input(&host->peer, copy, host->in.len, &consumed);
        free(copy);
    } else {
        host->rc = tg_peer_input(&host->peer, host->in.data, host->in.len,
                                 &consumed);
    }

    CU_ASSERT_FATAL(consumed <= host->in.len);
    tg_buf_drop(&host->in, consumed);
}

static void
host_run(host_t *host)
{
    for (host_turn(host); host->rc == TG_AGAIN; host_turn(host)) {
        host->nturns++;

        if (host->is_moving) {
            CU_ASSERT_FATAL(host_move(host) == TG_OK);
        }
    }
}

void
host_feed(host_t *host, tg_str_t bytes)
{
    tg_buf_str(&host->in, bytes);
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

        if (tool->kind == HOST_HANG) {
            continue;
        }

        outcome = tool->kind == HOST_SLOW
                      ? tg_outcome_failure(TG_FAILURE_TIMEOUT,
                                           "slow: did not finish in time")
                      : tg_outcome_failure(TG_FAILURE_LOST,
                                           "lost: the backend went away");
        host_forget(host, call);
        tg_call_answer(call, &outcome);
        host_run(host);
        return 1;
    }

    return 0;
}

tg_call_t *
host_call(const host_t *host, const char *id)
{
    size_t i;

    for (i = 0; i < host->ndeferred; i++) {
        if (tg_str_eq(host->deferred[i]->reply.id, tg_str_c(id))) {
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

    CU_FAIL("a call that the host does not have");
}
