/*
 * What a client can be asked by its server: of the capabilities that MCP's
 * legacy versions know, those that say so.
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

/* Of a raw object, or of what is none. */
unsigned tg_client_caps_parse(tg_str_t capabilities);

/* Appends such an object. */
void tg_client_caps_write_json(tg_buf_t *out, unsigned client_caps);

/* May a client that can do that be asked this?  params is raw or absent. */
int tg_client_caps_allow_request(unsigned client_caps, tg_str_t method,
                                 tg_str_t params);

#endif
