/*
 * The kind `http`: one call of an HTTP API, with the redirects that it may
 * follow.
 *
 * Another host gets neither headers nor a body of the call, and a URL that
 * leads to it must be one that the list of hosts has; see tg_http_params.h.
 */
#ifndef TG_HTTP_JOB_H
#define TG_HTTP_JOB_H

#include "runner/http/tg_http.h"
#include "runner/jobs/tg_job.h"

/* The deadline when none was given. */
#define TG_HTTP_TIMEOUT_DEFAULT 60000
/* Bytes of a body after which progress is told anew. */
#define TG_HTTP_PROGRESS_BYTES 262144

/* Its jobs' host is a tg_http_pool_t. */
extern const tg_job_type_t tg_http_job_type;

#endif
