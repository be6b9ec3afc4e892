/*
 * The job type `http`: one call of an HTTP API, including redirects, whose URL
 * must match the list of hosts (tg_http_params.h). Another host gets neither
 * the headers nor the body of the call.
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
