/*
 * What the files that write the text of toolgate_metrics share.
 *
 *   ngx_http_tg_metrics.c       counters of servers, tools, clients and logs
 *   ngx_http_tg_metrics_json.c  MCP servers and runners
 */
#ifndef _NGX_HTTP_TG_METRICS_H_INCLUDED_
#define _NGX_HTTP_TG_METRICS_H_INCLUDED_

#include "nginx/http/ngx_http_tg.h"

/* The counters of a tool, method or server, and its server. */
typedef struct {
    ngx_tg_counters_sum_t sum;
    ngx_tg_srv_conf_t *scf; /* NULL: the shared entry of all servers */
} ngx_http_tg_counted_t;

typedef struct {
    ngx_tg_status_t *status;
    tg_buf_t *out;
    ngx_array_t counted; /* ngx_http_tg_counted_t */
    ngx_tg_srv_conf_t *scf;
    ngx_uint_t is_failed;
} ngx_http_tg_metrics_t;

typedef struct ngx_http_tg_family_s ngx_http_tg_family_t;

struct ngx_http_tg_family_s {
    const char *name;
    const char *type;
    const char *help;
    void (*write)(ngx_http_tg_metrics_t *metrics,
                  const ngx_http_tg_family_t *family,
                  const ngx_http_tg_counted_t *counted);
    ngx_uint_t counter; /* counter that the family is, for write functions */
};

/* Appends a family's header. */
void ngx_http_tg_metrics_add_header(tg_buf_t *out, const char *name,
                                    const char *type, const char *help);

/* Appends a label; before is "{" for the first label of a sample, else ",". */
void ngx_http_tg_metrics_add_label(tg_buf_t *out, const char *before,
                                   const char *name, tg_str_t text);

/* Appends the end of a sample that has labels. */
void ngx_http_tg_metrics_end_sample(tg_buf_t *out, uint64_t value);

/* Appends the families of MCP servers. */
void ngx_http_tg_metrics_write_imports(ngx_http_tg_metrics_t *metrics);

/* Appends the families of runners. */
void ngx_http_tg_metrics_write_runners(ngx_http_tg_metrics_t *metrics);

#endif
