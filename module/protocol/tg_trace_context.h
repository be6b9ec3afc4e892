/* W3C Trace Context. MCP carries its two values in the _meta of a call. */
#ifndef TG_TRACE_CONTEXT_H
#define TG_TRACE_CONTEXT_H

#include "base/tg_base.h"

/*
 * Largest traceparent in bytes. Version 00 has 55; later versions may be
 * longer.
 */
#define TG_TRACEPARENT_MAX 128
/*
 * Largest tracestate in bytes: the length that W3C requires to be propagated.
 */
#define TG_TRACESTATE_MAX 512

/* Checks whether plain text is a valid traceparent, which may be passed on. */
int tg_trace_is_traceparent(tg_str_t text);

/* Checks whether plain text is a valid tracestate, which may be passed on. */
int tg_trace_is_tracestate(tg_str_t text);

#endif
