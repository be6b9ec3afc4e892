/*
 * Fuzzes `pass` from the request to the end of the call, with two backends in
 * an upstream. Whatever they send and however it is cut, each call ends once
 * and in the same way; progress reaches running calls; the upstream's counts
 * are returned; nothing is left over.
 *
 * Input: protocol, type of tool and which NGINX allocation fails; cut; then a
 * line (in ipc a frame) that the newest backend connection sends, or a
 * command:
 *
 *   !c !m   a call; a call with a progress token
 *   !xN     the N-th call is cancelled
 *   !dN     the N-th call times out
 *   !sN     the N-th connection before the newest sends from now on
 *   !r !p !o   new connections are refused, pending, established at once
 *   !y !n   a pending connection is established, refused
 *   !f !t   the connection stops, resumes accepting bytes
 *   !e      the backend closes the connection
 *   !w      the next timer expires
 *   !k      a backend connection is kept open for its notifications
 *   !q      the worker is asked to exit
 *   =TEXT   raw bytes
 */
#include "nginx_side.h"

#include "nginx/call/ngx_tg_call_impl.h"
#include "nginx/handlers/ngx_tg_pass.h"

#include <sys/un.h>

#define PASS_CALLS 32
/* Larger frames reach no other code. */
#define PASS_MAX_FRAME 1024
#define PASS_ARGUMENTS "{\"text\":\"hi\",\"_meta\":{\"progressToken\":\"tok\"}}"

typedef struct {
    ngx_tg_pass_conf_t pass;
    ngx_tg_tool_t tool;
    ngx_tg_session_base_t base;
    ngx_stream_session_t session;
    tg_call_t deferred;
    ngx_stream_upstream_srv_conf_t upstream;
    struct sockaddr_un addresses[2];
    ngx_str_t names[2];
    unsigned next_peer;               /* round-robin position in the upstream */
    int ncounted;                     /* calls that the upstream counts */
    ngx_tg_call_t *calls[PASS_CALLS]; /* NULL: the call has ended */
    unsigned ncalls;
    unsigned which; /* the connection that sends */
    unsigned nnotified;
    tg_buf_t log;
} pass_t;

static pass_t pass;

/* --- the handler's environment --- */

static void
pass_free_peer(ngx_peer_connection_t *pc, void *data, ngx_uint_t state)
{
    pass.ncounted--;
}

static ngx_int_t
pass_get_peer(ngx_peer_connection_t *pc, void *data)
{
    unsigned i;

    i = pass.next_peer++ % 2;
    pc->sockaddr = (struct sockaddr *) &pass.addresses[i];
    pc->socklen = sizeof(pass.addresses[i]);
    pc->name = &pass.names[i];
    pc->tries--;
    pass.ncounted++;

    return NGX_OK;
}

static ngx_int_t
pass_init_peer(ngx_stream_session_t *s, ngx_stream_upstream_srv_conf_t *us)
{
    s->upstream->peer.tries = 2;
    s->upstream->peer.get = pass_get_peer;
    s->upstream->peer.free = pass_free_peer;

    return NGX_OK;
}

ngx_int_t
ngx_tg_call_borrow_session(ngx_tg_call_t *call,
                           ngx_tg_borrowed_session_t *borrowed)
{
    return NGX_OK;
}

void
ngx_tg_call_return_session(ngx_tg_call_t *call,
                           const ngx_tg_borrowed_session_t *borrowed)
{
}

void
ngx_tg_call_append_stored_output(ngx_tg_call_t *call, tg_buf_t *params)
{
}

ngx_int_t
ngx_tg_call_defer(ngx_tg_call_t *call)
{
    call->state = NGX_TG_CALL_RUNNING;
    ngx_tg_pass_run(call);

    return NGX_OK;
}

static unsigned
pass_number(const ngx_tg_call_t *call)
{
    unsigned i;

    for (i = 0; i < pass.ncalls && pass.calls[i] != call; i++) {
        /* void */
    }

    FUZZ(i < pass.ncalls);

    return i;
}

static void
pass_free(ngx_tg_call_t *call)
{
    pass.calls[pass_number(call)] = NULL;
    side_pool_free(call->pool);
    free(call);
}

size_t
ngx_tg_call_get_handler_max_output(const ngx_tg_call_t *call)
{
    return (size_t) call->tool->output_spec.max_output;
}

void
ngx_tg_call_end(ngx_tg_call_t *call, const tg_outcome_t *outcome)
{
    HELP_BUFFER(json);

    tg_outcome_write_json(&json, outcome);
    tg_buf_append_char(&json, '}');
    FUZZ(tg_json_validate(tg_buf_view(&json), NULL) == TG_OK);
    tg_buf_printf(&pass.log, "end %u %d ", pass_number(call),
                  (int) outcome->kind);
    tg_buf_append_str(&pass.log, tg_buf_view(&json));
    tg_buf_append_char(&pass.log, '\n');
    pass_free(call);
}

void
ngx_tg_call_fail(ngx_tg_call_t *call, tg_failure_t failure, const char *text)
{
    tg_outcome_t outcome;

    FUZZ_LINE(tg_str_from_cstr(text));
    outcome = tg_outcome_make_failure(failure, text);
    ngx_tg_call_end(call, &outcome);
}

void
ngx_tg_call_send_progress(ngx_tg_call_t *call, tg_str_t progress,
                          tg_str_t total, tg_str_t message)
{
    tg_buf_printf(&pass.log, "progress %u ", pass_number(call));
    tg_buf_append_str(&pass.log, progress);
    tg_buf_append_char(&pass.log, '\n');
}

static void
pass_notify(void *data, tg_str_t method, const tg_message_t *message)
{
    pass.nnotified++;
    FUZZ(data == &pass);
    tg_buf_append_cstr(&pass.log, "notified ");
    tg_buf_append_str(&pass.log, method);
    tg_buf_append_char(&pass.log, '\n');
}

ngx_int_t
ngx_tg_tls_start_handshake(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                           const ngx_str_t *name, ngx_ssl_session_t *session,
                           ngx_connection_handler_pt done,
                           ngx_connection_handler_pt save)
{
    return NGX_ERROR;
}

const char *
ngx_tg_tls_verify_peer(ngx_connection_t *c, const ngx_tg_tls_t *tls,
                       const ngx_str_t *name)
{
    return NULL;
}

ngx_ssl_session_t *
ngx_tg_tls_get_session(ngx_connection_t *c)
{
    return NULL;
}

void
ngx_tg_tls_session_free(ngx_ssl_session_t *session)
{
}

/* --- commands --- */

static void
pass_init(unsigned byte, uint32_t seed)
{
    static const tg_dialect_t dialects[] = { TG_DIALECT_JSONRPC,
                                             TG_DIALECT_JSONRPC, TG_DIALECT_IPC,
                                             TG_DIALECT_RELAY };
    static const tg_output_type_t outputs[] = { TG_OUTPUT_RESULT,
                                                TG_OUTPUT_JSON,
                                                TG_OUTPUT_TEXT };
    ngx_tg_pass_conf_t *conf;
    unsigned i;

    memset(&pass, 0, sizeof(pass));
    tg_buf_init(&pass.log, tg_alloc_libc());
    conf = &pass.pass;
    conf->upstream = &pass.upstream;
    conf->protocol.dialect = dialects[byte % 4];
    conf->protocol.is_mcp = byte % 4 == 1;
    conf->is_method = byte % 4 == 0 && (byte & 4) != 0;
    conf->sent = TG_STR("echo");
    ngx_str_set(&pass.upstream.host, "backends");
    pass.upstream.peer.init = pass_init_peer;
    pass.base.stream = &pass.session;
    pass.base.peer.row = tg_dialect_get(TG_DIALECT_JSONRPC);
    pass.base.peer.max_frame = PASS_MAX_FRAME;

    if (byte & 8) {
        conf->protocol.notify = pass_notify;
        conf->protocol.data = &pass;
    }

    pass.tool.conf = conf;
    pass.tool.output_spec.max_output = 512;
    pass.tool.entry.name = TG_STR("echo");
    pass.tool.entry.output = outputs[(byte >> 4) % 3];

    for (i = 0; i < 2; i++) {
        pass.addresses[i].sun_family = AF_UNIX;
        pass.addresses[i].sun_path[0] = (char) ('a' + i);
        pass.names[i].data = (u_char *) (i == 0 ? "a" : "b");
        pass.names[i].len = 1;
    }

    side_init(seed);
}

static void
pass_call(int has_token)
{
    ngx_tg_call_block_t *block;
    ngx_tg_call_t *call;
    tg_request_t request;
    unsigned n;

    if (pass.ncalls == PASS_CALLS) {
        return;
    }

    block = calloc(1, sizeof(*block));
    FUZZ(block != NULL);
    call = &block->call;
    call->priv = &block->priv;
    call->pool = side_pool();
    call->tool = &pass.tool;
    call->entry = &pass.tool.entry;
    call->base = &pass.base;
    call->priv->deferred = &pass.deferred;

    memset(&request, 0, sizeof(request));
    request.entry = call->entry;
    request.name = call->entry->name;
    request.arguments = TG_STR(PASS_ARGUMENTS);

    if (has_token) {
        request.progress_token = tg_str(
            strstr(request.arguments.data, "\"tok\""), 5);
    }

    n = pass.ncalls;
    pass.calls[pass.ncalls++] = call;
    ngx_tg_pass_start(call, &request);

    /* The session of every other call moves to another worker. */
    if (n % 2 != 0 && pass.calls[n] != NULL) {
        call->base = NULL;
    }

    side_run();
}

static void
pass_cancel(unsigned n, int is_late)
{
    ngx_tg_call_t *call;

    call = n < pass.ncalls ? pass.calls[n] : NULL;

    if (call != NULL) {
        call->is_late = is_late;
        ngx_tg_pass_cancel(call);
        tg_buf_printf(&pass.log, "cancelled %u\n", n);
        pass_free(call);
        side_run();
    }
}

static void
pass_keep(void)
{
    ngx_tg_backend_t *backend;

    backend = ngx_tg_backend_find_or_create(
        &pass.pass.protocol, (struct sockaddr *) &pass.addresses[0],
        sizeof(pass.addresses[0]), &pass.names[0]);

    if (backend != NULL) {
        ngx_tg_backend_keep_open(backend);
        side_run();
    }
}

static void
pass_act(char what, unsigned n)
{
    side_t *side;

    side = side_newest(pass.which);

    switch (what) {
    case 'c':
    case 'm':
        pass_call(what == 'm');
        break;
    case 'x':
    case 'd':
        pass_cancel(n, what == 'd');
        break;
    case 's':
        pass.which = n;
        break;
    case 'o':
    case 'p':
    case 'r':
        side_world.how = what == 'o'   ? SIDE_CONNECTS
                         : what == 'p' ? SIDE_PENDS
                                       : SIDE_REFUSED;
        break;
    case 'w':
        (void) side_tick();
        break;
    case 'k':
        pass_keep();
        break;
    case 'q':
        ngx_exiting = 1;
        break;
    default:
        if (side == NULL) {
            break;
        }

        if (what == 'y' || what == 'n') {
            side_connected(side, what == 'y' ? 0 : ECONNREFUSED);
        } else if (what == 'f') {
            side->is_full = 1;
        } else if (what == 't') {
            side_take(side);
        } else if (what == 'e') {
            side_end(side);
        }
    }
}

static void
pass_send(tg_str_t line)
{
    HELP_BUFFER(bytes);
    side_t *side;

    side = side_newest(pass.which);

    if (side == NULL) {
        return;
    }

    if (line.len != 0 && line.data[0] == '=') {
        tg_buf_append(&bytes, line.data + 1, line.len - 1);
    } else if (pass.pass.protocol.dialect == TG_DIALECT_IPC) {
        tg_buf_append_char(&bytes, '\0');
        tg_buf_append_char(&bytes, '\0');
        tg_buf_append_char(&bytes, (char) (line.len >> 8));
        tg_buf_append_char(&bytes, (char) line.len);
        tg_buf_append_str(&bytes, line);
    } else {
        tg_buf_append_str(&bytes, line);
        tg_buf_append_char(&bytes, '\n');
    }

    side_send(side, tg_buf_view(&bytes));
}

/* Ends everything that is pending, as no client is left. */
static void
pass_finish(void)
{
    unsigned i, n;
    side_t *side;

    side_world.how = SIDE_REFUSED;

    while ((side = side_newest(0)) != NULL && side->is_pending) {
        side_connected(side, ECONNREFUSED);
    }

    while ((side = side_newest(0)) != NULL) {
        if (side->is_pending) {
            side_connected(side, ECONNREFUSED);
        } else {
            side_end(side);
        }
    }

    for (n = 0, i = 0; i < pass.ncalls; n++) {
        if (pass.calls[i] == NULL) {
            i++;
            n = 0;
        } else {
            FUZZ(n < 100 && side_tick());
        }
    }

    FUZZ(pass.ncounted == 0);
    ngx_exiting = 1;
    ngx_tg_backends_exit_process();
    side_run();
    side_deinit();
}

static void
pass_talk(unsigned byte, uint32_t seed, unsigned fail_at, fuzz_in_t in)
{
    tg_str_t line;
    unsigned n;

    pass_init(byte, seed);
    side_world.fail_at = fail_at;

    while (in.pos != in.end) {
        line = fuzz_until_newline(&in);

        if (line.len > 1 && line.data[0] == '!') {
            n = line.len > 2 ? (unsigned) (line.data[2] - '0') % 64 : 0;
            pass_act(line.data[1], n);
        } else {
            pass_send(line);
        }
    }

    pass_finish();
}

FUZZ_TARGET(in)
{
    unsigned byte, fail_at;
    uint32_t seed;
    tg_buf_t whole;

    byte = fuzz_byte(&in);
    fail_at = fuzz_byte(&in);
    seed = fuzz_byte(&in);

    pass_talk(byte, 0, 0, in);
    whole = pass.log;
    pass_talk(byte, seed + 1, 0, in);
    FUZZ_EQ(tg_buf_view(&whole), tg_buf_view(&pass.log));
    tg_buf_deinit(&whole);
    tg_buf_deinit(&pass.log);

    if (fail_at != 0) {
        pass_talk(byte, seed, fail_at, in);
        tg_buf_deinit(&pass.log);
    }
}
