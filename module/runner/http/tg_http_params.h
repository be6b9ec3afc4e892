/* Parsed params of the method `http`; spec/tg_http_spec.h has the members. */
#ifndef TG_HTTP_PARAMS_H
#define TG_HTTP_PARAMS_H

#include "base/tg_url.h"
#include "runner/output/tg_output_preview.h"
#include "runner/jobs/tg_job_params.h"
#include "spec/tg_http_spec.h"
#include "spec/tg_output_spec.h"

/* Maximum number of headers, secrets and hosts, far above any config. */
#define TG_HTTP_STRINGS_MAX 1024

/* Parsed params. All pointers point into `memory`, which this object owns. */
typedef struct {
    void *memory;
    size_t size;
    char *method;
    char *url;
    char **headers; /* secrets, then other headers, NULL-terminated */
    size_t nsecrets;
    char **hosts;
    char *proxy;
    char *ca_file;
    tg_str_t body; /* body of the request; absent: no body */
    unsigned redirects;
    uint64_t connect_ms; /* timeout of connecting; 0: the default */
    tg_output_type_t output;
    size_t max_output;

    /* Storage of a larger response body. */
    tg_output_store_params_t store_params;
} tg_http_params_t;

/* Reads the values of the params. Returns the codes of tg_job_params_read(). */
int tg_http_params_read(tg_http_params_t *params,
                        tg_output_store_t *output_store, const tg_str_t *values,
                        const char **why);

void tg_http_params_free(tg_http_params_t *params);

/* Returns the best match of a URL with the list of hosts. */
tg_url_match_t tg_http_params_match_host(const tg_http_params_t *params,
                                         const tg_url_t *url);

/* Replaces the values of secrets in a text by asterisks. */
void tg_http_params_redact(const tg_http_params_t *params, char *text,
                           size_t len);

/* Replaces the values of `n` headers, "Name: value", in a text by asterisks. */
void tg_http_redact_headers(char *const *headers, size_t n, char *text,
                            size_t len);

/* Checks whether a header is "Name: value" without control characters. */
int tg_http_header_is_valid(const char *header);

#endif
