/*
 * Prompts, resources, templates and completions of t/transcripts/README.md, for
 * players in memory.
 */
#ifndef PROTOCOL_OFFERS_H
#define PROTOCOL_OFFERS_H

#include "protocol_tools.h"

typedef struct {
    host_tool_t tool;
    const char *label;
    const char *title;
    const char *mime;
    const char *annotations;
    const char *arguments;
    const char *schema;
    int64_t ttl_ms; /* not 0: clients may share what they read */
    /* of a completion: its prompt or template, and its argument */
    tg_catalog_entry_type_t parent;
    const char *of;
} host_offer_t;

/* In the order of t/transcripts/offers.conf. */
#define HOST_OFFERS 17
extern const host_offer_t host_offers[HOST_OFFERS];

/* The tools and methods, then the offers. */
#define HOST_ALL (HOST_TOOLS + HOST_OFFERS)
const host_tool_t *host_tool(size_t i);

/* Describes an offer as an entry; its template and its key are never freed. */
void host_offer_describe(const host_offer_t *offer, tg_catalog_entry_t *entry);

/* As in offers.conf, where one resource has `watch` (tg_peer_ops_t). */
int host_can_report(void *ctx, const tg_catalog_entry_t *entry, tg_str_t uri);

#endif
