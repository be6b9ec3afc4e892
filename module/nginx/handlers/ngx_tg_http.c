/*
 * `http METHOD URL`: the worker builds the request, toolgate-runner sends it.
 */
#include "nginx/handlers/ngx_tg_http.h"

#include "base/tg_url.h"

/* Largest length of a URL in bytes: libcurl's limit. */
#define NGX_TG_HTTP_URL_MAX 8000000

extern const ngx_tg_handler_t ngx_tg_http_handler;

static void *
ngx_tg_http_create_conf(ngx_conf_t *cf)
{
    ngx_tg_http_conf_t *http;

    http = ngx_pcalloc(cf->pool, sizeof(ngx_tg_http_conf_t));

    if (http != NULL) {
        tg_spec_init(tg_http_fields, &http->options);
    }

    return http;
}

static char *
ngx_tg_http_merge_conf(ngx_conf_t *cf, void *parent, void *child)
{
    static const ngx_tg_inheritance_t inheritance = {
        .inherit = ngx_tg_http_inherit,
        .check_inherited = ngx_tg_http_check_merged,
    };

    return ngx_tg_conf_inherit(cf, &ngx_tg_http_handler, &inheritance, parent,
                               child);
}

/* Checks whether the method has a body if the tool does not define one. */
static ngx_uint_t
ngx_tg_http_method_has_body(const ngx_str_t *method)
{
    return ngx_strcmp(method->data, "POST") == 0
           || ngx_strcmp(method->data, "PUT") == 0
           || ngx_strcmp(method->data, "PATCH") == 0;
}

static const char *
ngx_tg_http_append_query(ngx_tg_call_t *call, ngx_tg_http_conf_t *http,
                         tg_buf_t *url)
{
    char before;

    before = '?';

    if (url->len != 0 && memchr(url->data, '?', url->len) != NULL) {
        before = url->data[url->len - 1] == '?' ? '\0' : '&';
    }

    return ngx_tg_http_append_fields(call, http->query, before, url);
}

static const char *
ngx_tg_http_write_url(ngx_tg_call_t *call, ngx_tg_http_conf_t *http,
                      tg_buf_t *params)
{
    const char *mistake;
    tg_buf_t url;

    tg_buf_init(&url, tg_alloc_libc());
    tg_buf_append_str(&url, ngx_tg_str_from_ngx(&http->scheme));
    mistake = ngx_tg_template_render(call, http->url, &url);

    if (mistake == NULL) {
        mistake = ngx_tg_http_append_query(call, http, &url);
    }

    if (mistake == NULL && url.len > NGX_TG_HTTP_URL_MAX) {
        mistake = "With its arguments, the URL has more than 8000000 bytes; "
                  "send shorter arguments.";
    }

    tg_buf_append_cstr(params, ",\"url\":\"");

    if (mistake == NULL) {
        mistake = ngx_tg_append_json_string_end(params, tg_buf_view(&url),
                                                "The URL is not valid UTF-8.");
    }

    params->failed |= tg_buf_has_failed(&url);
    tg_buf_deinit(&url);

    return mistake;
}

/*
 * Writes the headers that are secret (is_secret 1), or those that are not (0).
 * Returns NULL, or an error text.
 */
static const char *
ngx_tg_http_write_headers(ngx_tg_call_t *call, ngx_tg_http_conf_t *http,
                          tg_buf_t *params, ngx_uint_t is_secret)
{
    static const char invalid[] = "A header of the request is not valid UTF-8.";
    ngx_tg_http_field_t *field;
    const char *mistake;
    ngx_str_t value;
    ngx_uint_t i;

    field = http->headers != NULL ? http->headers->elts : NULL;
    mistake = NULL;

    for (i = 0; mistake == NULL && field != NULL && i < http->headers->nelts;
         i++) {
        if (field[i].is_secret != is_secret) {
            continue;
        }

        if (ngx_tg_call_eval_value(call, &field[i].value, &value) != NGX_OK) {
            return TG_TEXT_NO_MEMORY;
        }

        if (ngx_tg_has_control_char(&value)) {
            return "A header of the request would contain a line break or "
                   "another control character.";
        }

        if (value.len != 0) {
            tg_json_begin_element(params);
            tg_buf_append_char(params, '"');
            tg_json_write_escaped(params, ngx_tg_str_from_ngx(&field[i].name));
            tg_buf_append_cstr(params, ": ");
            mistake = ngx_tg_append_json_string_end(params,
                                                    ngx_tg_str_from_ngx(&value),
                                                    invalid);
        }
    }

    tg_buf_append_char(params, ']');

    return mistake;
}

/* Writes the call's trace context as headers, unless the tool sets them. */
static void
ngx_tg_http_write_trace_context(const ngx_tg_call_t *call,
                                const ngx_tg_http_conf_t *http,
                                tg_buf_t *params)
{
    const struct {
        tg_str_t name;
        tg_str_t value;
    } rows[] = {
        { TG_STR("traceparent"), call->trace.parent },
        { TG_STR("tracestate"), call->trace.state },
    };
    ngx_uint_t i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value.data != NULL
            && !ngx_tg_http_has_field(http->headers, rows[i].name))
        {
            tg_json_begin_element(params);
            tg_buf_append_char(params, '"');
            tg_buf_append_str(params, rows[i].name);
            tg_buf_append_cstr(params, ": ");
            (void) ngx_tg_append_json_string_end(params, rows[i].value, NULL);
        }
    }
}

static const char *
ngx_tg_http_write_body(ngx_tg_call_t *call, ngx_tg_http_conf_t *http,
                       tg_request_t *request, tg_buf_t *params)
{
    static const char invalid[] = "The body is not valid UTF-8.";
    const char *mistake;
    tg_buf_t body;

    if (http->body == NULL && http->form == NULL
        && !ngx_tg_http_method_has_body(&http->method))
    {
        return NULL;
    }

    tg_buf_append_cstr(params, ",\"body\":\"");

    if (http->body == NULL && http->form == NULL) {
        return ngx_tg_append_json_string_end(params, request->arguments,
                                             invalid);
    }

    tg_buf_init(&body, tg_alloc_libc());
    mistake = http->form != NULL
                  ? ngx_tg_http_append_fields(call, http->form, '\0', &body)
                  : ngx_tg_template_render(call, http->body, &body);

    if (mistake == NULL) {
        mistake = ngx_tg_append_json_string_end(params, tg_buf_view(&body),
                                                invalid);
    }

    params->failed |= tg_buf_has_failed(&body);
    tg_buf_deinit(&body);

    return mistake;
}

/*
 * Returns the Content-Type of the body; NULL: no body, or a header sets the
 * type.
 */
static const char *
ngx_tg_http_get_content_type(const ngx_tg_http_conf_t *http)
{
    if (http->has_type) {
        return NULL;
    }

    return http->body != NULL || http->form != NULL     ? http->body_type
           : ngx_tg_http_method_has_body(&http->method) ? "application/json"
                                                        : NULL;
}

/* Writes the params that are the same for every call. */
static void
ngx_tg_http_write_fixed_params(const ngx_tg_http_conf_t *http, tg_buf_t *params)
{
    const ngx_str_t *host;
    ngx_uint_t i;

    tg_json_add_string(params, "method", ngx_tg_str_from_ngx(&http->method));
    tg_buf_append_cstr(params, ",\"hosts\":[");

    if (http->host.len != 0) {
        tg_json_write_string(params, ngx_tg_str_from_ngx(&http->host));
    }

    /* Without a list of hosts, redirects may lead to any public host. */
    if (http->hosts == NULL && http->options.redirects > 0) {
        tg_json_begin_element(params);
        tg_buf_append_cstr(params, "\"*\"");
    }

    for (i = 0; http->hosts != NULL && i < http->hosts->nelts; i++) {
        host = (const ngx_str_t *) http->hosts->elts + i;
        tg_json_begin_element(params);
        tg_json_write_string(params, ngx_tg_str_from_ngx(host));
    }

    tg_buf_append_char(params, ']');
    tg_spec_write(tg_http_fields, &http->options, params);

    if (http->proxy.len != 0) {
        tg_json_add_string(params, "proxy", ngx_tg_str_from_ngx(&http->proxy));
    }

    if (http->ca_file.len != 0) {
        tg_json_add_string(params, "ca_file",
                           ngx_tg_str_from_ngx(&http->ca_file));
    }
}

/*
 * Writes the params of the runner's method `http`. Returns NULL, or an error
 * text.
 */
static const char *
ngx_tg_http_write_params(ngx_tg_call_t *call, tg_request_t *request,
                         tg_buf_t *params)
{
    ngx_tg_http_conf_t *http = call->tool->conf;

    const char *mistake, *type;

    ngx_tg_call_begin_params(call, params);
    ngx_tg_call_append_output_params(call, params);
    ngx_tg_http_write_fixed_params(http, params);
    mistake = ngx_tg_http_write_url(call, http, params);

    if (mistake == NULL) {
        type = ngx_tg_http_get_content_type(http);
        tg_buf_append_cstr(params, ",\"headers\":[");

        if (type != NULL) {
            tg_buf_printf(params, "\"Content-Type: %s\"", type);
        }

        ngx_tg_http_write_trace_context(call, http, params);
        mistake = ngx_tg_http_write_headers(call, http, params, 0);
    }

    if (mistake == NULL) {
        tg_buf_append_cstr(params, ",\"secrets\":[");
        mistake = ngx_tg_http_write_headers(call, http, params, 1);
    }

    if (mistake == NULL) {
        mistake = ngx_tg_http_write_body(call, http, request, params);
    }

    return mistake;
}

static void
ngx_tg_http_start(ngx_tg_call_t *call, tg_request_t *request)
{
    const char *mistake;
    tg_buf_t params;

    tg_buf_init(&params, tg_alloc_libc());
    mistake = ngx_tg_http_write_params(call, request, &params);
    ngx_tg_call_start_remote(call, TG_STR("http"), &params,
                             TG_FAILURE_ARGUMENTS, mistake);
}

#define NGX_TG_HTTP_SRV_CONF (NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF)

/* Space for the directives of the options (spec/tg_http_spec.h). */
static ngx_command_t ngx_tg_http_commands[32] = {

    { ngx_string("http"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE23,
      ngx_tg_http_set_target, NGX_STREAM_SRV_CONF_OFFSET, 0,
      (void *) &ngx_tg_http_handler },

    { ngx_string("header"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE2,
      ngx_tg_http_set_header, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("query"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE23,
      ngx_tg_http_set_field, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, query), NULL },

    { ngx_string("field"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE23,
      ngx_tg_http_set_field, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, form), NULL },

    { ngx_string("body"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_http_set_body, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("hosts"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_http_set_hosts, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("proxy"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_proxy, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, proxy), NULL },

    { ngx_string("ca_file"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_ca_file, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, ca_file), NULL },

    /* defaults for all HTTP requests of a server */

    { ngx_string("tool_header"), NGX_TG_HTTP_SRV_CONF | NGX_CONF_TAKE2,
      ngx_tg_http_set_header, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_query"), NGX_TG_HTTP_SRV_CONF | NGX_CONF_TAKE23,
      ngx_tg_http_set_field, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, query), NULL },

    { ngx_string("tool_hosts"), NGX_TG_HTTP_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_http_set_hosts, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_proxy"), NGX_TG_HTTP_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_proxy, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, proxy), NULL },

    { ngx_string("tool_ca_file"), NGX_TG_HTTP_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_ca_file, NGX_STREAM_SRV_CONF_OFFSET,
      offsetof(ngx_tg_http_conf_t, ca_file), NULL },

    ngx_null_command
};

__attribute__((constructor)) static void
ngx_tg_http_init_commands(void)
{
    ngx_tg_spec_add_commands(ngx_tg_http_commands, tg_http_fields,
                             NGX_STREAM_TOOL_CONF,
                             offsetof(ngx_tg_http_conf_t, options), NULL);
    ngx_tg_spec_add_commands(ngx_tg_http_commands, tg_http_fields,
                             NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF,
                             offsetof(ngx_tg_http_conf_t, options), NULL);
}

static ngx_stream_module_t ngx_tg_http_module_ctx = {
    .create_srv_conf = ngx_tg_http_create_conf,
    .merge_srv_conf = ngx_tg_http_merge_conf,
};

ngx_module_t ngx_tg_http_module = NGX_TG_MODULE(ngx_tg_http_module_ctx,
                                                ngx_tg_http_commands);

const ngx_tg_handler_t ngx_tg_http_handler = {
    .name = ngx_string("http"),
    .module = &ngx_tg_http_module,
    .conf_size = sizeof(ngx_tg_http_conf_t),
    .flags = NGX_TG_HANDLER_IS_ASYNC | NGX_TG_HANDLER_ALLOWS_SPILL,
    .check = ngx_tg_http_check,
    .start = ngx_tg_http_start,
};
