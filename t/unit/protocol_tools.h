/* The tools and methods of t/transcripts/README.md, for players in memory. */
#ifndef PROTOCOL_TOOLS_H
#define PROTOCOL_TOOLS_H

#include "protocol/tg_peer.h"

typedef enum {
    HOST_VALUE, /* returns a constant text */
    HOST_ECHO,  /* returns its one argument */
    HOST_FAIL,
    HOST_SLOW, /* times out when fired */
    HOST_HANG, /* runs until it is cancelled */
    HOST_LOST, /* its backend closes the connection when fired */
    HOST_LARGE,
    HOST_SUM,
    HOST_SUBTRACT,
    HOST_CHECKED,
    /* returns a text in which `{x}` is the argument x; `{x?}` may be missing */
    HOST_SAY
} host_tool_type_t;

typedef struct {
    tg_catalog_entry_type_t entry;
    host_tool_type_t kind;
    tg_output_type_t output;
    const char *name;
    const char *description;
    const char *value;
} host_tool_t;

/* In the order of t/transcripts/tools.conf. */
#define HOST_TOOLS 23
extern const host_tool_t host_tools[HOST_TOOLS];

#define HOST_SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"    \
    "\"required\":[\"text\"]}"

/* Completes a call that takes no time; returns 0 for others. */
int host_complete(tg_peer_t *peer, tg_request_t *request, size_t big);

#endif
