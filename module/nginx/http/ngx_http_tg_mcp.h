/*
 * MCP over HTTP: a location that passes requests to a server of `stream`. Each
 * request has an embedded session (session/ngx_tg_embedded_session.h).
 *
 *   ngx_http_tg_mcp_pass.c     mcp_pass and its server; the request's body
 *   ngx_http_tg_mcp_fields.c   headers of requests
 *   ngx_http_tg_mcp_origin.c   web pages that may call: Origin, Host
 *   ngx_http_tg_mcp_reply.c    responses: JSON, or a stream of events
 *   ngx_http_tg_mcp_auth.c     who calls; challenges
 *   ngx_http_tg_mcp_metadata.c metadata of OAuth
 *   ngx_http_tg_mcp_filter.c   responses of NGINX: headers, errors
 */
#ifndef _NGX_HTTP_TG_MCP_H_INCLUDED_
#define _NGX_HTTP_TG_MCP_H_INCLUDED_

#include "nginx/http/ngx_http_tg.h"
#include "nginx/session/ngx_tg_embedded_session.h"
#include "protocol/tg_peer_http.h"

/* Bytes of unsent events above which a client that does not read is closed. */
#define NGX_HTTP_TG_UNSENT_MAX (2 * TG_PEER_OUTPUT_MAX)

/* A status that NGINX does not define. */
#define NGX_HTTP_TG_NOT_ACCEPTABLE 406

/* An `mcp_pass`, and the server that it names. */
typedef struct {
    ngx_str_t text; /* address as written */
    ngx_str_t file;
    ngx_uint_t line;
    u_char address[NGX_SOCKADDR_STRLEN];
    size_t address_len;
    /* context of the server in `stream`, once the config is read */
    ngx_stream_conf_ctx_t *ctx;
    ngx_tg_srv_conf_t *scf;
    tg_server_info_t modern_info;
    tg_server_info_t legacy_info;
} ngx_http_tg_pass_t;

typedef struct {
    ngx_array_t passes;    /* ngx_http_tg_pass_t * */
    ngx_array_t resources; /* ngx_http_tg_resource_t */
} ngx_http_tg_main_conf_t;

typedef struct {
    ngx_http_tg_pass_t *pass; /* NULL: no mcp_pass */
    ngx_flag_t legacy;
    ngx_flag_t is_any_origin;
    ngx_array_t *origins; /* tg_str_t; NULL: the default of mcp_origins */
    ngx_msec_t heartbeat; /* in ms */
    ngx_http_complex_value_t *user;   /* mcp_user, or NULL */
    ngx_http_complex_value_t *scopes; /* mcp_scopes, or NULL */
    const char *resource;             /* mcp_resource, or NULL */
    ngx_str_t metadata;               /* URI of its metadata, or empty */
    ngx_array_t *authorization_servers; /* ngx_str_t; NULL: none */
    ngx_array_t *scopes_supported;      /* ngx_str_t; NULL: none */
} ngx_http_tg_loc_conf_t;

/* An `mcp_resource`. */
typedef struct {
    void *server; /* configuration of its `server` in ngx_http_core_module */
    const ngx_http_tg_loc_conf_t *conf;
    tg_str_t uri;
    tg_str_t path;
    ngx_str_t metadata; /* URI of its metadata */
} ngx_http_tg_resource_t;

/* A request to mcp_pass. */
typedef struct {
    ngx_http_request_t *request;
    const ngx_http_tg_loc_conf_t *conf;
    ngx_tg_session_t *session; /* NULL before its message, and at its end */
    tg_http_request_t http;
    ngx_tg_http_client_t client;
    tg_buf_t body;
    tg_buf_t events; /* events that are being sent */
    ngx_buf_t buf;   /* the part of the response that is being sent */
    ngx_chain_t link;
    ngx_event_t heartbeat;
    ngx_str_t page; /* body that replaces an error page, until it is sent */
    unsigned is_streaming:1; /* the response is a stream of events */
    unsigned is_ended:1;     /* the end of the response is sent */
} ngx_http_tg_ctx_t;

/* --- ngx_http_tg_mcp_pass.c --- */

char *ngx_http_tg_conf_set_pass(ngx_conf_t *cf, ngx_command_t *cmd,
                                void *conf);

/* --- ngx_http_tg_mcp_fields.c --- */

/* Finds a header, for tg_http_fields_t; data is the request. */
unsigned ngx_http_tg_field_find(void *data, tg_str_t prefix, tg_str_t name,
                                tg_str_t *value);

/*
 * Checks whether the request's Accept has a media type, or lacks any. type is
 * `application/json` or `text/event-stream`.
 */
ngx_uint_t ngx_http_tg_accepts(ngx_http_request_t *r, tg_str_t type);

/* Checks whether the body is declared as application/json. */
ngx_uint_t ngx_http_tg_is_json(ngx_http_request_t *r);

/* --- ngx_http_tg_mcp_origin.c --- */

char *ngx_http_tg_conf_set_origins(ngx_conf_t *cf, ngx_command_t *cmd,
                                   void *conf);

/*
 * Checks Origin and Host. Returns NGX_OK and sets origin, NGX_DECLINED if the
 * request has no origin, or NGX_ERROR if the request must be refused.
 */
ngx_int_t ngx_http_tg_check_origin(ngx_http_request_t *r, tg_str_t *origin);

/*
 * Refuses requests of foreign origins and answers browsers' OPTIONS, before any
 * authentication: a handler of the preaccess phase.
 */
ngx_int_t ngx_http_tg_origin_handler(ngx_http_request_t *r);

/* --- ngx_http_tg_mcp_auth.c --- */

/* Sets mcp_user or mcp_scopes. */
char *ngx_http_tg_conf_set_identity(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
char *ngx_http_tg_conf_set_resource(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);

/* Sets the identity of the request's session. Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_http_tg_identify(ngx_http_tg_ctx_t *ctx);

/* Adds WWW-Authenticate to a response that needs it. NGX_OK or NGX_ERROR. */
ngx_int_t ngx_http_tg_add_challenge(ngx_http_request_t *r);

/* --- ngx_http_tg_mcp_metadata.c --- */

char *ngx_http_tg_conf_set_metadata(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);

/* Sets a list of words. */
char *ngx_http_tg_conf_add_words(ngx_conf_t *cf, ngx_command_t *cmd,
                                 void *conf);

/* --- ngx_http_tg_mcp_filter.c --- */

/* Adds the filters to those of NGINX. */
void ngx_http_tg_add_filters(void);

/* --- ngx_http_tg_mcp_reply.c --- */

/* Adds a header to the response. Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_http_tg_add_header(ngx_http_request_t *r, const char *name,
                                 const ngx_str_t *value);

/* Sets type and length of the response; -1: unknown length. */
void ngx_http_tg_set_type(ngx_http_request_t *r, const char *type, off_t len);

/*
 * Responds with a JSON-RPC error of the code -32600. Returns the code for
 * ngx_http_finalize_request().
 */
ngx_int_t ngx_http_tg_send_error(ngx_http_request_t *r, ngx_uint_t status,
                                 const char *text);

/* Sends the output of the request's session; its function run(). */
void ngx_http_tg_run(void *data);

/* Begins to wait for output of calls, and for the client's end. */
ngx_int_t ngx_http_tg_wait(ngx_http_tg_ctx_t *ctx);

#endif
