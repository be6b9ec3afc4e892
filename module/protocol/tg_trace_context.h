/*
 * W3C Trace Context, whose two values MCP has in a call's _meta.
 */
#ifndef TG_TRACE_CONTEXT_H
#define TG_TRACE_CONTEXT_H

#include "base/tg_base.h"

/* Of version 00 it has 55 bytes; there may be more behind it in later ones. */
#define TG_TRACEPARENT_MAX 128
/* As much as has to be passed on, by the recommendation. */
#define TG_TRACESTATE_MAX 512

/* Is text, which is plain, such a value?  Then others may be given it. */
int tg_trace_is_traceparent(tg_str_t text);
int tg_trace_is_tracestate(tg_str_t text);

#endif
