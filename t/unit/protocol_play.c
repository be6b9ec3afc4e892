#include "protocol_play.h"

#include "protocol/tg_peer_impl.h"

typedef struct {
    const script_t *script;
    const play_how_t *how;
    host_t host;
    int has_moved;
    size_t cut; /* where the last split was */
    tg_buf_t got;
    size_t at; /* bytes of `got` that were compared */
    int is_wrong;
} play_t;

static void
play_wrong(play_t *play, const script_step_t *step, const char *what,
           tg_str_t got)
{
    play->is_wrong = 1;
    fprintf(stderr, "\n%s:%u: %s (cut %zu, chunk %zu%s)\n  got      %s\n",
            play->script->path, step != NULL ? step->line : 0, what, play->cut,
            play->how->chunk, play->how->is_moving ? ", moving" : "",
            help_text(got));

    if (step != NULL && step->kind != SCRIPT_SEND && step->text.len != 0) {
        fprintf(stderr, "  expected %s\n", help_text(tg_buf_view(&step->text)));
    }
}

/* --- bytes --- */

static void
play_drain(play_t *play)
{
    tg_buf_t *out;

    out = &play->host.peer.out;

    if (play->how->is_moving && play->host.rc != TG_NOMEM) {
        CU_ASSERT_FATAL(host_move(&play->host) == TG_OK);
        CU_ASSERT(!play->host.changes);
        play->has_moved = 1;
    }

    do {
        tg_buf_append_str(&play->got, tg_buf_view(out));
        tg_buf_consume(out, out->len);

        /* The peer paused until the output was taken. */
        if (play->host.rc == TG_LIMIT) {
            host_feed(&play->host, TG_STR(""));
        }
    } while (out->len != 0);
}

/* Sends bytes, split after `cut` of them unless that is 0. */
static void
play_send(play_t *play, tg_str_t bytes, size_t cut)
{
    size_t sent, n;

    play->cut = cut;

    for (sent = 0; sent < bytes.len; sent += n) {
        n = bytes.len - sent;

        if (play->how->chunk != 0 && n > play->how->chunk) {
            n = play->how->chunk;
        }

        if (cut > sent && cut - sent < n) {
            n = cut - sent;
        }

        host_feed(&play->host, tg_str(bytes.data + sent, n));
        play_drain(play);
    }
}

/* --- splits of a peer that moves --- */

void
play_init_host(host_t *host, const tg_alloc_t *alloc, const script_t *script)
{
    if (script->is_offering) {
        host_init_offering(host, alloc, script->dialect, script->max_frame,
                           script->max_inflight);
    } else {
        host_init(host, alloc, script->dialect, script->max_frame,
                  script->max_inflight);
    }
    host->info.has_logging = script->is_logging;
    host->info.has_skills = script->has_skills;
}

static void
play_open(play_t *play, const script_t *script, const play_how_t *how)
{
    memset(play, 0, sizeof(*play));
    play->script = script;
    play->how = how;
    tg_buf_init(&play->got, tg_alloc_libc());
    play_init_host(&play->host, tg_alloc_libc(), script);
    play->host.is_moving = how->is_moving;
    play->host.is_yielding = how->is_yielding;
    play->host.is_apart = how->is_apart;
}

static void
play_close(play_t *play)
{
    host_deinit(&play->host);
    tg_buf_deinit(&play->got);
}

/* Copies a play without the output and the log so far. */
static void
play_copy(play_t *copy, play_t *play)
{
    play_open(copy, play->script, play->how);
    copy->has_moved = play->has_moved;

    if (play->has_moved) {
        host_copy_state(&copy->host, &play->host);
    }
}

static void
play_append_rest(tg_buf_t *text, const tg_buf_t *buf, size_t at)
{
    if (at < buf->len) {
        tg_buf_append(text, buf->data + at, buf->len - at);
    }
}

/* Writes the output and the log after these positions, and the whole state. */
static void
play_describe(play_t *play, size_t got, size_t log, tg_buf_t *text)
{
    host_t *host;

    host = &play->host;
    tg_buf_truncate(text, 0);
    play_append_rest(text, &play->got, got);
    play_append_rest(text, &host->log, log);
    tg_buf_printf(text, "%zu %zu %d %u %u %u %zu\n", play->got.len - got,
                  host->in.len, host->rc, host->changes, host->ncalls,
                  host->ncancelled, host->ndeferred);
    tg_buf_append_str(text, tg_buf_view(&host->in));
    host_save(host, text);
}

/*
 * Sends a step to the peer, and to copies of it with each split. The results
 * must be equal: then those of all later steps are equal, too.
 */
static void
play_send_splits(play_t *play, const script_step_t *step)
{
    HELP_BUFFER(whole);
    HELP_BUFFER(split);
    play_t before, copy;
    size_t cut, got, log;

    got = play->got.len;
    log = play->host.log.len;
    play_copy(&before, play);
    play_send(play, tg_buf_view(&step->text), 0);
    play_describe(play, got, log, &whole);

    for (cut = 1; cut < step->text.len && !play->is_wrong; cut++) {
        play_copy(&copy, &before);
        play_send(&copy, tg_buf_view(&step->text), cut);
        play_describe(&copy, 0, 0, &split);

        if (!tg_str_eq(tg_buf_view(&split), tg_buf_view(&whole))) {
            play_wrong(&copy, step, "a split changes the result",
                       tg_buf_view(&split));
            play_wrong(play, step, "without the split", tg_buf_view(&whole));
        }

        play_close(&copy);
    }

    play_close(&before);
}

static tg_str_t
play_unread(const play_t *play)
{
    tg_str_t all;

    all = tg_buf_view(&play->got);

    return tg_str(all.data + play->at, all.len - play->at);
}

/* Returns the next message that has already arrived. */
static int
play_next(play_t *play, int is_ipc, tg_str_t *message)
{
    const unsigned char *u;
    const char *newline;
    tg_str_t left;
    size_t len;

    left = play_unread(play);

    if (is_ipc) {
        if (left.len < TG_FRAME_PREFIX_SIZE) {
            return 0;
        }

        u = (const unsigned char *) left.data;
        len = (size_t) u[0] << 24 | (size_t) u[1] << 16 | (size_t) u[2] << 8
              | u[3];

        if (left.len - TG_FRAME_PREFIX_SIZE < len) {
            return 0;
        }

        *message = tg_str(left.data + TG_FRAME_PREFIX_SIZE, len);
        play->at += TG_FRAME_PREFIX_SIZE + len;
        return 1;
    }

    newline = left.len != 0 ? memchr(left.data, '\n', left.len) : NULL;

    if (newline == NULL) {
        return 0;
    }

    len = (size_t) (newline - left.data);
    *message = tg_str(left.data, len);
    play->at += len + 1;

    return 1;
}

/* Completes calls one by one until a message arrives. */
static int
play_await(play_t *play, const script_step_t *step, tg_str_t *message)
{
    while (!play_next(play, step->is_ipc, message)) {
        if (!host_fire(&play->host)) {
            play_wrong(play, step, "nothing came", play_unread(play));
            return 0;
        }

        play_drain(play);
    }

    if (tg_json_validate(*message, NULL) != TG_OK) {
        play_wrong(play, step, "no JSON came", *message);
        return 0;
    }

    return 1;
}

/* --- steps --- */

static void
play_expect(play_t *play, const script_step_t *step)
{
    tg_str_t message;

    if (play_await(play, step, &message)
        && !help_json_match(tg_buf_view(&step->text), message))
    {
        play_wrong(play, step, "something else came", message);
    }
}

/* Matches a group of unordered messages; returns their number. */
static size_t
play_unordered(play_t *play, const script_step_t *steps, size_t n)
{
    tg_str_t message;
    size_t count, i, k;
    uint64_t seen;

    for (count = 0; count < n && steps[count].kind == SCRIPT_UNORDERED; count++)
    {
        /* void */
    }

    seen = 0;

    for (i = 0; i < count && !play->is_wrong; i++) {
        if (!play_await(play, &steps[i], &message)) {
            break;
        }

        for (k = 0; k < count; k++) {
            if ((seen >> k & 1) == 0
                && help_json_match(tg_buf_view(&steps[k].text), message))
            {
                seen |= UINT64_C(1) << k;
                break;
            }
        }

        if (k == count) {
            play_wrong(play, &steps[0], "none of these came", message);
        }
    }

    return count;
}

static void
play_quiet(play_t *play, const script_step_t *step)
{
    if (play_unread(play).len != 0) {
        play_wrong(play, step, "nobody expected this", play_unread(play));
    }
}

/* Finds a call by its id; `-` is the oldest. */
static tg_call_t *
play_find_call(play_t *play, const char *id)
{
    return strcmp(id, "-") == 0 && play->host.ndeferred != 0
               ? play->host.deferred[0]
               : host_call(&play->host, id);
}

/* Sends a log message: ID LEVEL DATA [LOGGER]. */
static void
play_log_message(play_t *play, const script_step_t *step, const char *args)
{
    char id[64], level[64], data[256], logger[64];
    tg_call_t *call;
    int n;

    n = sscanf(args, "%63s %63s %255s %63s", id, level, data, logger);
    call = n >= 3 ? play_find_call(play, id) : NULL;

    if (call == NULL) {
        play_wrong(play, step, "no such call", TG_STR(""));
        return;
    }
    tg_call_notify_message(call,
                           tg_mcp_log_level_parse(tg_str_from_cstr(level)),
                           n > 3 ? tg_str_from_cstr(logger) : TG_STR_NONE,
                           tg_str_from_cstr(data));
}

static void
play_progress(play_t *play, const script_step_t *step, const char *args)
{
    char id[64], word[3][64];
    tg_call_t *call;
    int n;

    n = sscanf(args, "%63s %63s %63s %63s", id, word[0], word[1], word[2]);
    call = n >= 2 ? play_find_call(play, id) : NULL;

    if (call == NULL) {
        play_wrong(play, step, "no such call", TG_STR(""));
        return;
    }

    tg_call_notify_progress(call, tg_str_from_cstr(word[0]),
                            n > 2 ? tg_str_from_cstr(word[1]) : TG_STR_NONE,
                            n > 3 ? tg_str_from_cstr(word[2]) : TG_STR_NONE);
}

static void
play_list_changed(play_t *play, const script_step_t *step, const char *args)
{
    static const struct {
        const char *name;
        tg_catalog_entry_type_t kind;
    } rows[] = {
        { "", TG_ENTRY_TOOL },
        { "tools", TG_ENTRY_TOOL },
        { "prompts", TG_ENTRY_PROMPT },
        { "resources", TG_ENTRY_RESOURCE },
        { "templates", TG_ENTRY_TEMPLATE },
    };

    HELP_EACH(row, rows) {
        if (strcmp(row->name, args) == 0) {
            tg_peer_notify_list_changed(&play->host.peer, row->kind);
            return;
        }
    }

    play_wrong(play, step, "an unknown kind of list", TG_STR(""));
}

static void
play_updated(play_t *play, const script_step_t *step, const char *args)
{
    tg_peer_notify_resource_updated(&play->host.peer, tg_str_from_cstr(args));
}

static void
play_shutdown_notice(play_t *play, const script_step_t *step, const char *args)
{
    tg_peer_send_shutdown_notice(&play->host.peer, tg_str_from_cstr(args));
    host_feed(&play->host, TG_STR(""));
}

static void
play_notify(play_t *play, const script_step_t *step, const char *args)
{
    size_t len;

    len = strcspn(args, " ");
    tg_peer_notify(&play->host.peer, tg_str(args, len),
                   args[len] != '\0' ? tg_str_from_cstr(args + len + 1)
                                     : TG_STR_NONE);
}

/* Sends a request with a counted tag; a failure is logged. */
static void
play_send_request(play_t *play, const script_step_t *step, const char *args)
{
    static const char *const words[] = { "sent", "no memory", "too many",
                                         "not supported" };
    static const int codes[] = { TG_OK, TG_NOMEM, TG_LIMIT, TG_MISSING };
    size_t len, i;
    int rc;

    len = strcspn(args, " ");
    rc = tg_peer_send_server_request(&play->host.peer, tg_str(args, len),
                                     args[len] != '\0'
                                         ? tg_str_from_cstr(args + len + 1)
                                         : TG_STR_NONE,
                                     play->host.nrequests++);

    for (i = 0; codes[i] != rc; i++) {
        /* void */
    }

    tg_buf_printf(&play->host.log, "%s\n", words[i]);
}

static void
play_cancel_request(play_t *play, const script_step_t *step, const char *args)
{
    tg_peer_cancel_server_request(&play->host.peer, strtoul(args, NULL, 10));
}

static void
play_broadcast(play_t *play, const script_step_t *step, const char *args)
{
    size_t len;

    len = strcspn(args, " ");
    tg_peer_send_broadcast(&play->host.peer, tg_str(args, len),
                           args[len] != '\0' ? tg_str_from_cstr(args + len + 1)
                                             : TG_STR_NONE);
}

static void
play_command(play_t *play, const script_step_t *step)
{
    static const struct {
        const char *name;
        void (*run)(play_t *play, const script_step_t *step, const char *args);
    } commands[] = {
        { "list_changed", play_list_changed },
        { "updated", play_updated },
        { "shutdown_notice", play_shutdown_notice },
        { "notify", play_notify },
        { "broadcast", play_broadcast },
        { "progress", play_progress },
        { "message", play_log_message },
        { "request", play_send_request },
        { "cancel_request", play_cancel_request },
    };
    const char *text, *args;

    text = help_text(tg_buf_view(&step->text));

    HELP_EACH(command, commands) {
        args = script_after(text, command->name);

        if (args != NULL) {
            command->run(play, step, args);
            play_drain(play);
            return;
        }
    }

    play_wrong(play, step, "an unknown command", TG_STR(""));
}

/* Checks state that is not visible on the wire. */
static void
play_check(play_t *play, const script_step_t *step)
{
    const host_t *host = &play->host;
    const struct {
        const char *name;
        unsigned long value;
    } values[] = {
        { "called", host->ncalls },
        { "cancelled", host->ncancelled },
        { "open", host->peer.ncalls },
        { "idle", HOST_IS_IDLE(host) },
        { "subscriptions", host->peer.priv->nsubscriptions },
        { "broadcasts", (unsigned long) tg_peer_has_broadcasts(&host->peer) },
    };
    const char *text, *args;
    int is_so;

    text = help_text(tg_buf_view(&step->text));
    args = script_after(text, "dialect");
    is_so = args != NULL
            && strcmp(args, tg_dialect_name(host->peer.dialect)) == 0;
    args = script_after(text, "log");
    is_so |= args != NULL
             && strstr(help_text(tg_buf_view(&host->log)), args) != NULL;

    HELP_EACH(row, values) {
        args = script_after(text, row->name);
        is_so |= args != NULL && strtoul(args, NULL, 10) == row->value;
    }

    CU_ASSERT(is_so);

    if (!is_so) {
        play_wrong(play, step, "it is not so", TG_STR(""));
    }
}

static size_t
play_step(play_t *play, const script_step_t *step, size_t left)
{
    switch (step->kind) {
    case SCRIPT_SEND:
        if (play->how->is_splitting) {
            play_send_splits(play, step);
        } else {
            play_send(play, tg_buf_view(&step->text),
                      play->how->cuts != NULL
                          ? play->how->cuts[step - play->script->steps]
                          : 0);
        }

        break;
    case SCRIPT_EXPECT:
        play_expect(play, step);
        break;
    case SCRIPT_UNORDERED:
        return play_unordered(play, step, left);
    case SCRIPT_QUIET:
        play_quiet(play, step);
        break;
    case SCRIPT_CHECK:
        play_check(play, step);
        break;
    case SCRIPT_CLOSE:
        play_quiet(play, step);

        if (play->host.rc != TG_CLOSED) {
            play_wrong(play, step, "it does not close", TG_STR(""));
        }

        break;
    default:
        play_command(play, step);
    }

    return 1;
}

/* --- plays --- */

int
play_script(const script_t *script, const play_how_t *how)
{
    play_t play;
    size_t i;

    play_open(&play, script, how);

    for (i = 0; i < script->nsteps && !play.is_wrong; /* void */) {
        i += play_step(&play, &script->steps[i], script->nsteps - i);
    }

    while (!play.is_wrong && host_fire(&play.host)) {
        play_drain(&play);
    }

    if (!play.is_wrong) {
        play_quiet(&play, NULL);
    }

    play_close(&play);

    return !play.is_wrong;
}
