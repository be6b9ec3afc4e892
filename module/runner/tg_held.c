#include "runner/tg_held.h"

#include "runner/tg_exec.h"

#include <stdlib.h>

struct tg_held_s {
    tg_execs_t *execs;
    tg_held_t *next; /* released later */
    tg_held_t *prev;
    tg_exec_t *exec; /* NULL once that has ended */
    uint64_t until;  /* as of the loop's clock */
    tg_buf_t progress;
    tg_buf_t answer;
    char key[TG_HELD_KEY_MAX];
    size_t key_len;
};

static void tg_held_on_timer(uv_timer_t *timer);

/* --- the list: the oldest first, which is also the first to expire --- */

static tg_held_t *
tg_held_find(const tg_execs_t *execs, tg_str_t key)
{
    tg_held_t *held;

    for (held = execs->held; held != NULL; held = held->next) {
        if (tg_str_eq(tg_str(held->key, held->key_len), key)) {
            return held;
        }
    }

    return NULL;
}

static void
tg_held_set_timer(tg_execs_t *execs)
{
    uint64_t now;

    if (execs->held == NULL) {
        uv_timer_stop(&execs->expiry);
        return;
    }

    now = uv_now(execs->loop);
    uv_timer_start(&execs->expiry, tg_held_on_timer,
                   execs->held->until > now ? execs->held->until - now : 0, 0);
}

static tg_held_t *
tg_held_add(tg_execs_t *execs, tg_str_t key)
{
    tg_held_t *held;

    held = calloc(1, sizeof(*held));

    if (held == NULL) {
        return NULL;
    }

    held->execs = execs;
    held->until = uv_now(execs->loop) + execs->held_ms;
    memcpy(held->key, key.data, key.len);
    held->key_len = key.len;
    tg_buf_init(&held->progress, tg_alloc_libc());
    tg_buf_init(&held->answer, tg_alloc_libc());
    held->prev = execs->held_last;

    if (held->prev != NULL) {
        held->prev->next = held;
    } else {
        execs->held = held;
    }

    execs->held_last = held;
    execs->nheld++;
    tg_held_set_timer(execs);

    return held;
}

/* Its exec, if there still is one, is somebody else's or ended by now. */
static void
tg_held_remove(tg_held_t *held)
{
    tg_execs_t *execs;

    execs = held->execs;

    if (held->prev != NULL) {
        held->prev->next = held->next;
    } else {
        execs->held = held->next;
    }

    if (held->next != NULL) {
        held->next->prev = held->prev;
    } else {
        execs->held_last = held->prev;
    }

    execs->nheld--;
    execs->held_bytes -= held->answer.len;
    tg_buf_deinit(&held->progress);
    tg_buf_deinit(&held->answer);
    free(held);
    tg_held_set_timer(execs);
}

/* Nobody came for it. */
static void
tg_held_expire(tg_held_t *held)
{
    tg_exec_t *exec;

    exec = held->exec;
    tg_held_remove(held);

    if (exec != NULL) {
        exec->held = NULL;
        tg_exec_cancel(exec);
    }
}

static void
tg_held_check(tg_execs_t *execs)
{
    if (execs->nheld == 0 && execs->nexecs == 0) {
        execs->ops->idle(execs->host);
    }
}

static void
tg_held_on_timer(uv_timer_t *timer)
{
    tg_execs_t *execs;

    execs = timer->data;

    /* Each is taken from this list: held->execs is execs. */
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    while (execs->held != NULL && execs->held->until <= uv_now(execs->loop)) {
        tg_held_expire(execs->held);
    }

    tg_held_set_timer(execs);
    tg_held_check(execs);
}

/* --- requests --- */

static void
tg_held_refuse(tg_peer_t *peer, const tg_request_t *request, const char *why)
{
    tg_outcome_t outcome;

    outcome = tg_outcome_failure(TG_FAILURE_ARGUMENTS, why);
    tg_peer_answer(peer, &request->reply, &outcome);
}

static int
tg_held_is_key(tg_str_t key)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t i;

    if (key.len < TG_HELD_KEY_MIN || key.len > TG_HELD_KEY_MAX) {
        return 0;
    }

    for (i = 0; i < key.len; i++) {
        if (memchr(known, key.data[i], sizeof(known) - 1) == NULL) {
            return 0;
        }
    }

    return 1;
}

/* The key of the request; one that is none is refused. */
static int
tg_held_key(tg_peer_t *peer, const tg_request_t *request, tg_str_t *key)
{
    tg_str_t raw;

    if (tg_json_type(request->arguments) != TG_JSON_OBJECT
        || tg_json_get(request->arguments, TG_STR("key"), &raw) != TG_OK
        || tg_json_type(raw) != TG_JSON_STRING
        || !tg_held_is_key(tg_json_body(raw)))
    {
        tg_held_refuse(peer, request,
                       "\"key\" must be 16 to 64 letters, digits, - and _.");
        return TG_BAD;
    }

    *key = tg_json_body(raw);

    return TG_OK;
}

/* The call of this peer that has the id of the request's params. */
static tg_call_t *
tg_held_call(const tg_peer_t *peer, const tg_request_t *request)
{
    tg_call_t *call;
    tg_str_t id;

    if (tg_json_get(request->arguments, TG_STR("id"), &id) != TG_OK) {
        return NULL;
    }

    for (call = peer->calls; call != NULL; call = call->next) {
        if (tg_str_eq(call->reply.id, id)) {
            return call;
        }
    }

    return NULL;
}

void
tg_held_release(tg_execs_t *execs, tg_peer_t *peer, tg_request_t *request)
{
    tg_outcome_t outcome;
    tg_held_t *held;
    tg_call_t *call;
    tg_str_t key;

    if (tg_held_key(peer, request, &key) != TG_OK) {
        return;
    }

    call = tg_held_call(peer, request);

    if (call == NULL) {
        tg_held_refuse(peer, request, "No call with this \"id\" is running.");
        return;
    }

    if (tg_held_find(execs, key) != NULL || execs->nheld >= TG_HELD_MAX) {
        tg_held_refuse(peer, request,
                       execs->nheld >= TG_HELD_MAX
                           ? "As many calls are held as may be (2048)."
                           : "This \"key\" is in use.");
        return;
    }

    held = tg_held_add(execs, key);

    if (held == NULL) {
        tg_held_refuse(peer, request, "toolgate-runner has no memory left.");
        return;
    }

    held->exec = call->host;
    held->exec->held = held;
    held->exec->call = NULL;
    tg_call_forget(call);

    outcome.kind = TG_OUTCOME_JSON;
    outcome.failure = TG_FAILURE_NONE;
    outcome.value = TG_STR("true");
    tg_peer_answer(peer, &request->reply, &outcome);
}

/* It has ended meanwhile: what would have come, comes now. */
static void
tg_held_deliver(tg_held_t *held, tg_peer_t *peer, const tg_request_t *request)
{
    tg_outcome_t outcome;

    if (held->progress.len != 0 && !tg_buf_failed(&held->progress)) {
        tg_exec_put_progress(peer, request->reply.id,
                             tg_buf_view(&held->progress));
    }

    if (tg_buf_failed(&held->answer)) {
        outcome = tg_outcome_failure(TG_FAILURE_INTERNAL, TG_EXEC_NO_MEMORY);
    } else {
        outcome.kind = TG_OUTCOME_JSON;
        outcome.failure = TG_FAILURE_NONE;
        outcome.value = tg_buf_view(&held->answer);
    }

    tg_peer_answer(peer, &request->reply, &outcome);
}

void
tg_held_adopt(tg_execs_t *execs, tg_peer_t *peer, tg_request_t *request)
{
    tg_exec_t *exec;
    tg_held_t *held;
    tg_call_t *call;
    tg_str_t key;

    if (tg_held_key(peer, request, &key) != TG_OK) {
        return;
    }

    held = tg_held_find(execs, key);

    if (held == NULL) {
        tg_held_refuse(peer, request,
                       "Nothing is held under this \"key\": its program was "
                       "ended, or somebody else has adopted it.");
        return;
    }

    exec = held->exec;

    if (exec == NULL) {
        tg_held_deliver(held, peer, request);
        tg_held_remove(held);
        tg_held_check(execs);
        return;
    }

    call = tg_peer_defer(peer, request);

    /* That was refused; the next one may be luckier. */
    if (call == NULL) {
        return;
    }

    call->host = exec;
    exec->call = call;
    exec->held = NULL;
    tg_held_remove(held);
    tg_exec_progress_adopted(exec);
}

/* --- what exec asks for --- */

int
tg_held_may_start(const tg_execs_t *execs)
{
    return execs->held_bytes < TG_HELD_BACKLOG;
}

void
tg_held_end(tg_exec_t *exec, tg_buf_t *json)
{
    tg_held_t *held;

    held = exec->held;
    held->exec = NULL;
    exec->held = NULL;

    if (tg_progress_is_new(&exec->progress)) {
        tg_progress_take(&exec->progress, &held->progress);
    }

    held->answer = *json;
    tg_buf_init(json, tg_alloc_libc());
    held->execs->held_bytes += held->answer.len;
}

void
tg_held_drop(tg_execs_t *execs)
{
    while (execs->held != NULL) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): see the timer's */
        tg_held_expire(execs->held);
    }
}
