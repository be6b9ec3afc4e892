/*
 * What the method `http` is asked to do, besides what every job is
 * (tg_job_params.h):
 *
 *   {"method":"POST","url":"https://a.b/c?d=e","headers":["Accept: x/y"],
 *    "secrets":["Authorization: Bearer …"],"body":"…","hosts":["a.b"],
 *    "redirects":3,"proxy":"http://p:3128","ca_file":"/x.pem",
 *    "connect_ms":10000,"output":"json","max_output":1048576}
 *
 * method, url and hosts are required.  secrets are headers of which nothing
 * is ever said, be it that the server says it.  hosts are patterns
 * (tg_url.h): what none of them matches is not called, and what is not named
 * by one only where its address is public.
 */
#ifndef TG_HTTP_PARAMS_H
#define TG_HTTP_PARAMS_H

#include "base/tg_url.h"
#include "runner/output/tg_output_preview.h"
#include "runner/jobs/tg_job_params.h"

/* The directive's own default. */
#define TG_HTTP_OUTPUT_DEFAULT 1048576
/* As of programs: must fit an answer, escaped. */
#define TG_HTTP_OUTPUT_MAX 33554432
/* Elements of headers, secrets and hosts; far beyond any config. */
#define TG_HTTP_STRINGS_MAX 1024
#define TG_HTTP_REDIRECTS_MAX 20
/* Of connect_ms. */
#define TG_HTTP_CONNECT_MS_MAX 3600000

/* Everything points into memory, which is owned. */
typedef struct {
    void *memory;
    size_t size;
    char *method;
    char *url;
    char **headers; /* secrets, then the others, NULL at the end */
    size_t nsecrets;
    char **hosts;
    char *proxy;
    char *ca_file;
    tg_str_t body; /* absent: none */
    unsigned redirects;
    uint64_t connect_ms; /* 0: none was given */
    tg_output_type_t output;
    size_t max_output;
    tg_output_store_params_t store_params; /* where a larger body is stored */
} tg_http_params_t;

/* The members that are read, NULL at the end. */
extern const char *const tg_http_members[];

/* Reads their values; returns as tg_job_params_read(). */
int tg_http_params_read(tg_http_params_t *params,
                        tg_output_store_t *output_store, const tg_str_t *values,
                        const char **why);

void tg_http_params_free(tg_http_params_t *params);

/* What the list of hosts says of a URL. */
tg_url_match_t tg_http_params_match_host(const tg_http_params_t *params,
                                         const tg_url_t *url);

/* Makes the values of secrets that stand in text unreadable. */
void tg_http_params_redact(const tg_http_params_t *params, char *text,
                           size_t len);

/* The same for n headers, "Name: value". */
void tg_http_redact_headers(char *const *headers, size_t n, char *text,
                            size_t len);

/* Is it "Name: value", of which a line's end would begin another one? */
int tg_http_header_is_valid(const char *header);

#endif
