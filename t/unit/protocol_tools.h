/*
 * The tools and methods of the transcripts (t/transcripts/README.md), for all
 * who play them in memory.
 */
#ifndef PROTOCOL_TOOLS_H
#define PROTOCOL_TOOLS_H

#include "protocol/tg_peer.h"

typedef enum {
    HOST_VALUE, /* answers with a text that never changes */
    HOST_ECHO,  /* … with one argument */
    HOST_FAIL,
    HOST_SLOW, /* runs into its deadline when fired */
    HOST_HANG, /* runs until it is cancelled */
    HOST_LOST, /* its backend goes away when fired */
    HOST_LARGE,
    HOST_SUM,
    HOST_SUBTRACT,
    HOST_CHECKED
} host_kind_t;

typedef struct {
    tg_catalog_entry_type_t entry;
    host_kind_t kind;
    tg_output_type_t output;
    const char *name;
    const char *description;
    const char *value;
} host_tool_t;

/* As in t/transcripts/tools.conf, in the same order. */
#define HOST_TOOLS 23
extern const host_tool_t host_tools[HOST_TOOLS];

#define HOST_SCHEMA                                                            \
    "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"    \
    "\"required\":[\"text\"]}"

/* Answers a call of what does not take time: 0 when it does. */
int host_answer(tg_peer_t *peer, tg_request_t *request, size_t big);

#endif
