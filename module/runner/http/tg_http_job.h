/*
 * The job type `http`: one call of an HTTP API, including the redirects that it
 * may follow.
 *
 * Another host gets neither the headers nor the body of the call, and the URL
 * of a redirect must match the list of hosts; see tg_http_params.h.
 */
#ifndef TG_HTTP_JOB_H
#define TG_HTTP_JOB_H

#include "runner/http/tg_http.h"
#include "runner/jobs/tg_job.h"

/* Default timeout in ms. */
#define TG_HTTP_TIMEOUT_DEFAULT 60000

/* Number of bytes of a body between two reports of progress. */
#define TG_HTTP_PROGRESS_BYTES 262144

/* The job type. The host of its jobs is a tg_http_pool_t. */
extern const tg_job_type_t tg_http_job_type;

#endif
