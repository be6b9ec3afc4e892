/*
 * `http`: params of the runner's method, in addition to those of every job
 * (runner/jobs/tg_job_params.h), and the directives that set them:
 *
 *   {"method":"POST","url":"https://a.b/c?d=e","headers":["Accept: x/y"],
 *    "secrets":["Authorization: Bearer …"],"body":"…","hosts":["a.b"],
 *    "redirects":3,"proxy":"http://p:3128","ca_file":"/x.pem",
 *    "connect_ms":10000,"output":"json","max_output":1048576}
 *
 * `method`, `url` and `hosts` are required. `secrets` are headers whose values
 * are hidden in every result, even if the server returns them. `hosts` are
 * patterns (base/tg_url.h): a host that matches none is not called, and a host
 * that matches only a wildcard is called only if its address is public.
 */
#ifndef TG_HTTP_SPEC_H
#define TG_HTTP_SPEC_H

#include "spec/tg_spec.h"

/* Maximum of redirects: as many as browsers follow. */
#define TG_HTTP_REDIRECTS_MAX 20

/* Maximum of connect_ms. */
#define TG_HTTP_CONNECT_MS_MAX 3600000

typedef struct {
    tg_str_t method; /* raw values of the call */
    tg_str_t url;
    tg_str_t headers;
    tg_str_t secrets;
    tg_str_t body;
    tg_str_t hosts;
    tg_str_t proxy;
    tg_str_t ca_file;
    tg_str_t spill;
    int64_t output; /* tg_output_type_t */
    int64_t max_output;
    int64_t redirects;  /* maximum number of redirects */
    int64_t connect_ms; /* timeout of connecting; 0: the default */
} tg_http_spec_t;

extern const tg_json_field_t tg_http_fields[];

/* An option that an `mcp_server` has, too. */
#define TG_CONNECT_TIMEOUT_OPTION                                              \
    TG_TOOL_OPTION("connect_timeout", .syntax = TG_SPEC_TIME,                  \
                   .expected = "between 1ms and 1h, such as \"3s\"")

#endif
