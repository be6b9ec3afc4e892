/* Declarations that the files of the MCP client share. */
#ifndef TG_MCP_CLIENT_IMPL_H
#define TG_MCP_CLIENT_IMPL_H

#include "protocol/tg_mcp_client_call.h"

enum {
    TG_MCP_TAG_DISCOVER,
    TG_MCP_TAG_INITIALIZE,
    TG_MCP_TAG_LIST,
    TG_MCP_TAG_LISTEN, /* answered when the server ends the subscription */
    TG_MCP_TAG_SUBSCRIBE,
    TG_MCP_TAG_SET_LEVEL,
    TG_MCP_TAGS
};

/* --- tg_mcp_client_call.c --- */

/*
 * Sends one of the client's own requests. members: members of params, without
 * braces. *id receives its id, unless id is NULL. TG_OK or TG_NOMEM. A caller
 * that is closed counts as TG_OK, because the connection is about to end.
 */
int tg_mcp_client_send_request(tg_mcp_client_t *client, int tag,
                               const char *method, tg_str_t members,
                               uint64_t *id);

/* Returns event, or the event of a failure if rc is not TG_OK. */
tg_mcp_event_t tg_mcp_event_check_rc(int rc, tg_mcp_event_t event);

/* --- tg_mcp_client_fetch.c --- */

/*
 * Fetches the changed lists, now or after TG_MCP_LIST_INTERVAL: a server may
 * report changes at any rate.
 */
int tg_mcp_client_schedule_fetch(tg_mcp_client_t *client, uint64_t now);

/* Fetches the changed lists. TG_OK or TG_NOMEM. */
int tg_mcp_client_fetch_changed(tg_mcp_client_t *client, uint64_t now);

/* Handles the response to a request for one page of a list. */
tg_mcp_event_t tg_mcp_client_on_list(tg_mcp_client_t *client,
                                     const tg_response_t *answer, uint64_t now);

#endif
