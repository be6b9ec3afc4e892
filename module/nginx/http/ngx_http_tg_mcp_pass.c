/* mcp_pass: the directive, the server that it names, and requests to it. */
#include "nginx/http/ngx_http_tg_mcp.h"

#include "nginx/config/ngx_tg_config.h"

#include <sys/eventfd.h>

static void ngx_http_tg_on_body(ngx_http_request_t *r);

/* --- the directive --- */

static ngx_int_t ngx_http_tg_pass_handler(ngx_http_request_t *r);

char *
ngx_http_tg_conf_set_pass(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_tg_loc_conf_t *lcf = conf;

    ngx_http_tg_main_conf_t *mcf;
    ngx_http_tg_pass_t *pass, **place;
    ngx_str_t *value;
    ngx_url_t url;

    if (lcf->pass != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    mcf = ngx_http_conf_get_module_main_conf(cf, ngx_http_toolgate_module);
    pass = ngx_pcalloc(cf->pool, sizeof(ngx_http_tg_pass_t));
    place = ngx_array_push(&mcf->passes);

    if (pass == NULL || place == NULL) {
        return NGX_CONF_ERROR;
    }

    ngx_memzero(&url, sizeof(url));
    url.url = value[1];
    url.listen = 1;

    if (ngx_parse_url(cf->pool, &url) != NGX_OK || url.naddrs == 0) {
        return ngx_tg_conf_error(
            cf, "\"mcp_pass %V\": %s; write it as in \"listen\" of the server "
                "in \"stream\", such as unix:/run/toolgate/tools.sock",
            &value[1], url.err != NULL ? url.err : "not an address");
    }

    pass->text = value[1];
    pass->file = cf->conf_file->file.name;
    pass->line = cf->conf_file->line;
    pass->address_len = ngx_sock_ntop(url.addrs[0].sockaddr,
                                      url.addrs[0].socklen, pass->address,
                                      NGX_SOCKADDR_STRLEN, 1);
    *place = pass;
    lcf->pass = pass;

    return ngx_http_tg_conf_set_handler(cf, ngx_http_tg_pass_handler);
}

/* --- the server, once the whole config is read --- */

/* Checks whether a listener's address is that of mcp_pass, or covers it. */
static ngx_uint_t
ngx_http_tg_pass_is_at(const ngx_http_tg_pass_t *pass,
                       const ngx_listening_t *ls, ngx_uint_t i)
{
    u_char room[NGX_SOCKADDR_STRLEN];
    const u_char *port;
    size_t len, port_len;

    len = ngx_tg_listener_write_addr(ls, i, room);

    if (len == pass->address_len && ngx_memcmp(room, pass->address, len) == 0) {
        return 1;
    }

    port = pass->address + pass->address_len;

    while (port != pass->address && *port != ':') {
        port--;
    }

    port_len = (size_t) (pass->address + pass->address_len - port);

    return len == sizeof("0.0.0.0") - 1 + port_len
           && ngx_memcmp(room, "0.0.0.0", sizeof("0.0.0.0") - 1) == 0
           && ngx_memcmp(room + sizeof("0.0.0.0") - 1, port, port_len) == 0;
}

/* Finds the server that listens at the address. NGX_OK or NGX_DECLINED. */
static ngx_int_t
ngx_http_tg_pass_find_server(ngx_http_tg_pass_t *pass, ngx_cycle_t *cycle)
{
    ngx_stream_addr_conf_t *addr;
    ngx_listening_t *ls;
    ngx_uint_t i, k;

    ls = cycle->listening.elts;

    for (i = 0; i < cycle->listening.nelts; i++) {
        if ((ls[i].handler != ngx_tg_init_client_connection
             && ls[i].handler != ngx_stream_init_connection)
            || ls[i].type != SOCK_STREAM)
        {
            continue;
        }

        for (k = 0; k < ((ngx_stream_port_t *) ls[i].servers)->naddrs; k++) {
            addr = ngx_tg_listener_get_addr_conf(&ls[i], k);

            if (ngx_tg_addr_conf_get_server(addr) != NULL
                && ngx_http_tg_pass_is_at(pass, &ls[i], k))
            {
                pass->ctx = ngx_tg_addr_conf_get_ctx(addr);
                pass->scf = ngx_tg_addr_conf_get_server(addr);
                return NGX_OK;
            }
        }
    }

    return NGX_DECLINED;
}

static ngx_int_t
ngx_http_tg_pass_init(ngx_http_tg_pass_t *pass, ngx_cycle_t *cycle)
{
    const tg_server_info_t *info;

    if (ngx_http_tg_pass_find_server(pass, cycle) != NGX_OK) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"mcp_pass %V\" in %V:%ui: no server with tools listens "
                      "there; name the address of a \"listen\" in \"stream\", "
                      "or add that server",
                      &pass->text, &pass->file, pass->line);
        return NGX_ERROR;
    }

    if (pass->scf->protocol != TG_DIALECT_AUTO
        && pass->scf->protocol != TG_DIALECT_JSONRPC)
    {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, 0,
                      "\"mcp_pass %V\" in %V:%ui: that server does not speak "
                      "MCP; set its \"tool_protocol\" to auto or jsonrpc",
                      &pass->text, &pass->file, pass->line);
        return NGX_ERROR;
    }

    /*
     * What needs a connection is not offered: broadcasts, and in the legacy
     * era everything that the server would send on its own.
     */
    info = &pass->scf->info;
    pass->modern_info = *info;
    pass->modern_info.has_broadcasts = 0;
    pass->legacy_info = pass->modern_info;
    pass->legacy_info.has_list_changed = 0;
    pass->legacy_info.has_subscribe = 0;
    pass->legacy_info.has_logging = 0;

    return NGX_OK;
}

static void *
ngx_http_tg_core_create_conf(ngx_cycle_t *cycle)
{
    return cycle;
}

static char *
ngx_http_tg_core_init_conf(ngx_cycle_t *cycle, void *conf)
{
    ngx_http_tg_main_conf_t *mcf;
    ngx_http_tg_pass_t **pass;
    ngx_uint_t i;

    mcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_toolgate_module);

    if (mcf == NULL || ngx_process == NGX_PROCESS_SIGNALLER) {
        return NGX_CONF_OK;
    }

    pass = mcf->passes.elts;

    for (i = 0; i < mcf->passes.nelts; i++) {
        if (ngx_http_tg_pass_init(pass[i], cycle) != NGX_OK) {
            return NGX_CONF_ERROR;
        }
    }

    return NGX_CONF_OK;
}

/* --- the exit of a worker --- */

/* A connection without a client: NGINX notifies idle ones of the exit. */
static ngx_connection_t *ngx_http_tg_exit_connection;

static void
ngx_http_tg_on_exit(ngx_event_t *ev)
{
    ngx_tg_embedded_sessions_wake();
}

static ngx_int_t
ngx_http_tg_core_init_process(ngx_cycle_t *cycle)
{
    ngx_http_tg_main_conf_t *mcf;
    ngx_connection_t *c;
    int fd;

    mcf = ngx_http_cycle_get_module_main_conf(cycle, ngx_http_toolgate_module);

    if (mcf == NULL || mcf->passes.nelts == 0 || !ngx_tg_is_worker()) {
        return NGX_OK;
    }

    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c = fd != -1 ? ngx_get_connection(fd, cycle->log) : NULL;

    if (c == NULL) {
        ngx_log_error(NGX_LOG_EMERG, cycle->log, ngx_errno,
                      "no connection to end streams at exit");
        return NGX_ERROR;
    }

    c->log = cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_http_tg_on_exit;
    c->read->channel = 1; /* not reported as open at exit */
    c->idle = 1;
    ngx_http_tg_exit_connection = c;

    return NGX_OK;
}

static void
ngx_http_tg_core_exit_process(ngx_cycle_t *cycle)
{
    ngx_socket_t fd;

    ngx_tg_embedded_session_exit();

    if (ngx_http_tg_exit_connection != NULL) {
        fd = ngx_http_tg_exit_connection->fd;
        ngx_free_connection(ngx_http_tg_exit_connection);
        (void) close(fd);
        ngx_http_tg_exit_connection = NULL;
    }
}

static ngx_core_module_t ngx_http_tg_core_module_ctx = {
    ngx_string("toolgate_http"), ngx_http_tg_core_create_conf,
    ngx_http_tg_core_init_conf
};

/* A module of its own: only core modules see the end of the whole config. */
ngx_module_t ngx_http_tg_core_module = NGX_TG_MODULE_OF(
    NGX_CORE_MODULE, ngx_http_tg_core_module_ctx, NULL,
    .init_process = ngx_http_tg_core_init_process,
    .exit_process = ngx_http_tg_core_exit_process);

/* --- requests --- */

static void
ngx_http_tg_ctx_cleanup(void *data)
{
    ngx_http_tg_ctx_t *ctx = data;

    if (ctx->heartbeat.timer_set) {
        ngx_del_timer(&ctx->heartbeat);
    }

    if (ctx->session != NULL) {
        ngx_tg_embedded_session_free(ctx->session);
        ctx->session = NULL;
    }

    tg_buf_deinit(&ctx->body);
    tg_buf_deinit(&ctx->events);
}

static ngx_http_tg_ctx_t *
ngx_http_tg_ctx_create(ngx_http_request_t *r)
{
    ngx_http_tg_ctx_t *ctx;
    ngx_http_cleanup_t *cln;

    ctx = ngx_pcalloc(r->pool, sizeof(ngx_http_tg_ctx_t));
    cln = ngx_http_cleanup_add(r, 0);

    if (ctx == NULL || cln == NULL) {
        return NULL;
    }

    ctx->request = r;
    ctx->conf = ngx_http_get_module_loc_conf(r, ngx_http_toolgate_module);
    tg_buf_init(&ctx->body, tg_alloc_libc());
    tg_buf_init(&ctx->events, tg_alloc_libc());
    cln->handler = ngx_http_tg_ctx_cleanup;
    cln->data = ctx;
    ngx_http_set_ctx(r, ctx, ngx_http_toolgate_module);

    return ctx;
}

/* Responds to a method other than POST. */
static ngx_int_t
ngx_http_tg_reject_method(ngx_http_request_t *r)
{
    static const ngx_str_t post = ngx_string("POST");

    return ngx_http_tg_add_header(r, "Allow", &post) == NGX_OK
               ? NGX_HTTP_NOT_ALLOWED
               : NGX_HTTP_INTERNAL_SERVER_ERROR;
}

/* Responds with an error before the body is read. */
static ngx_int_t
ngx_http_tg_reject_early(ngx_http_request_t *r, ngx_uint_t status,
                         const char *text)
{
    ngx_int_t rc;

    rc = ngx_http_discard_request_body(r);

    return rc == NGX_OK ? ngx_http_tg_send_error(r, status, text) : rc;
}

static ngx_int_t
ngx_http_tg_pass_handler(ngx_http_request_t *r)
{
    ngx_http_tg_ctx_t *ctx;
    ngx_int_t rc;

    if (r->method != NGX_HTTP_POST || r != r->main) {
        return ngx_http_tg_reject_method(r);
    }

    if (!ngx_http_tg_is_json(r)) {
        return ngx_http_tg_reject_early(r, NGX_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                        "The header Content-Type must be "
                                        "application/json.");
    }

    ctx = ngx_http_tg_ctx_create(r);

    if (ctx == NULL) {
        return NGX_HTTP_INTERNAL_SERVER_ERROR;
    }

    ctx->http.accepts_events = ngx_http_tg_accepts(r,
                                                   TG_STR("text/event-stream"))
                                   ? 1
                                   : 0;

    if (!ctx->http.accepts_events
        && !ngx_http_tg_accepts(r, TG_STR("application/json")))
    {
        return ngx_http_tg_reject_early(r, NGX_HTTP_TG_NOT_ACCEPTABLE,
                                        "The header Accept must have "
                                        "application/json and "
                                        "text/event-stream.");
    }

    if (r->headers_in.content_length_n > 0
        && (size_t) r->headers_in.content_length_n
               > ctx->conf->pass->scf->max_frame)
    {
        return ngx_http_tg_reject_early(r, NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                                        "The message is larger than the "
                                        "server accepts (tool_max_frame).");
    }

    /* The body is collected here: NGINX would write a large one to a file. */
    r->request_body_no_buffering = 1;
    rc = ngx_http_read_client_request_body(r, ngx_http_tg_on_body);

    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}

/* --- the body --- */

/* Serves the message. Calls may end later. */
static void
ngx_http_tg_serve(ngx_http_tg_ctx_t *ctx, tg_str_t text)
{
    const ngx_http_tg_pass_t *pass;
    ngx_http_request_t *r;
    ngx_time_t *time;

    r = ctx->request;
    pass = ctx->conf->pass;
    /* It changes when a server behind begins or ends to offer apps. */
    ctx->conf->pass->modern_info.has_apps = pass->scf->info.has_apps;
    ctx->http.fields.find = ngx_http_tg_field_find;
    ctx->http.fields.data = r;
    ctx->http.legacy_info = ctx->conf->legacy ? &pass->legacy_info : NULL;
    ctx->session = ngx_tg_embedded_session_create(
        pass->ctx, &pass->modern_info, r->connection, r->pool, ngx_http_tg_run,
        ctx);

    if (ctx->session == NULL) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    if (ngx_http_tg_identify(ctx) != NGX_OK) {
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    time = ngx_timeofday();
    ctx->session->base.peer.now_ms = (uint64_t) time->sec * 1000 + time->msec;
    ctx->session->bytes_in = text.len;

    if (tg_peer_handle_http(&ctx->session->base.peer, text, &ctx->http)
        != TG_OK) {
        ctx->is_ended = 1;
        ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
        return;
    }

    if (ctx->session->base.needed_scopes.len != 0) {
        ctx->http.status = NGX_HTTP_FORBIDDEN;
    }

    /* Calls have copied what they need. */
    tg_buf_deinit(&ctx->body);
    tg_buf_init(&ctx->body, tg_alloc_libc());
    ngx_http_tg_run(ctx);
}

/*
 * Takes the bytes that NGINX has read. Returns NGX_OK, NGX_DECLINED if the
 * message is too large, or NGX_ERROR.
 */
static ngx_int_t
ngx_http_tg_take_body(ngx_http_tg_ctx_t *ctx)
{
    ngx_http_request_t *r;
    ngx_chain_t *cl;
    ngx_buf_t *buf;
    off_t declared;

    r = ctx->request;
    declared = r->headers_in.content_length_n;

    if (ctx->body.data == NULL && declared > 0) {
        (void) tg_buf_reserve(&ctx->body, (size_t) declared);
    }

    for (cl = r->request_body->bufs; cl != NULL; cl = cl->next) {
        buf = cl->buf;
        tg_buf_append(&ctx->body, (char *) buf->pos,
                      (size_t) (buf->last - buf->pos));
        buf->pos = buf->last;
    }

    r->request_body->bufs = NULL;

    if (ctx->body.len > ctx->conf->pass->scf->max_frame) {
        return NGX_DECLINED;
    }

    return tg_buf_has_failed(&ctx->body) ? NGX_ERROR : NGX_OK;
}

/* Responds with an error while the rest of the body is not read. */
static void
ngx_http_tg_reject_body(ngx_http_request_t *r, ngx_uint_t status,
                        const char *text)
{
    r->keepalive = 0;
    ngx_http_finalize_request(r, ngx_http_tg_send_error(r, status, text));
}

/* Reads the body until its end, or until no more bytes have arrived. */
static void
ngx_http_tg_read_body(ngx_http_request_t *r)
{
    ngx_http_tg_ctx_t *ctx;
    ngx_int_t rc;

    ctx = ngx_http_get_module_ctx(r, ngx_http_toolgate_module);

    for (;;) {
        rc = ngx_http_tg_take_body(ctx);

        if (rc == NGX_DECLINED) {
            ngx_http_tg_reject_body(r, NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                                    "The message is larger than the server "
                                    "accepts (tool_max_frame).");
            return;
        }

        if (rc != NGX_OK) {
            ngx_http_finalize_request(r, NGX_HTTP_INTERNAL_SERVER_ERROR);
            return;
        }

        if (!r->reading_body) {
            break;
        }

        rc = ngx_http_read_unbuffered_request_body(r);

        if (rc == NGX_HTTP_REQUEST_TIME_OUT) {
            r->connection->timedout = 0;
            ngx_http_tg_reject_body(r, NGX_HTTP_REQUEST_TIME_OUT,
                                    "The body did not arrive in time "
                                    "(client_body_timeout).");
            return;
        }

        if (rc >= NGX_HTTP_SPECIAL_RESPONSE) {
            ngx_http_finalize_request(r, rc);
            return;
        }

        if (r->reading_body && r->request_body->bufs == NULL) {
            return;
        }
    }

    /* NGINX calls the handler again when the client closes or sends more. */
    r->read_event_handler = ngx_http_block_reading;
    ngx_http_tg_serve(ctx, tg_buf_view(&ctx->body));
}

/* Checks whether another module has had the body written to a file. */
static ngx_uint_t
ngx_http_tg_is_in_file(const ngx_chain_t *cl)
{
    while (cl != NULL && !cl->buf->in_file) {
        cl = cl->next;
    }

    return cl != NULL;
}

static void
ngx_http_tg_on_body(ngx_http_request_t *r)
{
    ngx_http_tg_ctx_t *ctx;
    ngx_chain_t *bufs;

    ctx = ngx_http_get_module_ctx(r, ngx_http_toolgate_module);
    bufs = r->request_body->bufs;

    if (ngx_http_tg_is_in_file(bufs)) {
        ngx_http_tg_reject_body(r, NGX_HTTP_REQUEST_ENTITY_TOO_LARGE,
                                "Another module has read the body, which is "
                                "too large for client_body_buffer_size.");
        return;
    }

    /* Usually all is in one buffer. */
    if (!r->reading_body && bufs != NULL && bufs->next == NULL
        && (size_t) (bufs->buf->last - bufs->buf->pos)
               <= ctx->conf->pass->scf->max_frame)
    {
        ngx_http_tg_serve(ctx,
                          tg_str((char *) bufs->buf->pos,
                                 (size_t) (bufs->buf->last - bufs->buf->pos)));
        return;
    }

    r->read_event_handler = ngx_http_tg_read_body;
    ngx_http_tg_read_body(r);
}
