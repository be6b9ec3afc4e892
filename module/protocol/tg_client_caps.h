/*
 * Client capabilities of MCP's legacy versions that decide which requests a
 * server may send to the client.
 */
#ifndef TG_CLIENT_CAPS_H
#define TG_CLIENT_CAPS_H

#include "base/tg_json.h"

enum {
    TG_CLIENT_CAP_ELICITATION = 1,
    TG_CLIENT_CAP_ELICITATION_FORM = 2,
    TG_CLIENT_CAP_ELICITATION_URL = 4,
    TG_CLIENT_CAP_SAMPLING = 8,
    TG_CLIENT_CAP_SAMPLING_CONTEXT = 16,
    TG_CLIENT_CAP_SAMPLING_TOOLS = 32,
    TG_CLIENT_CAP_ROOTS = 64,
    TG_CLIENT_CAPS_ALL = 127
};

/*
 * Parses a raw capabilities object. Returns the TG_CLIENT_CAP_… bits, 0 if the
 * value is not an object.
 */
unsigned tg_client_caps_parse(tg_str_t capabilities);

/* Appends a capabilities object with the given TG_CLIENT_CAP_… bits. */
void tg_client_caps_write_json(tg_buf_t *out, unsigned client_caps);

/*
 * Checks whether a client with these capabilities accepts the request. params
 * is raw or absent.
 */
int tg_client_caps_allow_request(unsigned client_caps, tg_str_t method,
                                 tg_str_t params);

#endif
