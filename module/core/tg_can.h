/*
 * What a client can be asked by its server: of the capabilities that MCP's
 * legacy versions know, those that say so.
 */
#ifndef TG_CAN_H
#define TG_CAN_H

#include "base/tg_json.h"

enum {
    TG_CAN_ELICIT = 1,
    TG_CAN_ELICIT_FORM = 2,
    TG_CAN_ELICIT_URL = 4,
    TG_CAN_SAMPLE = 8,
    TG_CAN_SAMPLE_CONTEXT = 16,
    TG_CAN_SAMPLE_TOOLS = 32,
    TG_CAN_ROOTS = 64,
    TG_CAN_ALL = 127
};

/* Of a raw object, or of what is none. */
unsigned tg_can_read(tg_str_t capabilities);

/* Appends such an object. */
void tg_can_put(tg_buf_t *out, unsigned can);

/* May a client that can do that be asked this?  params is raw or absent. */
int tg_can_be_asked(unsigned can, tg_str_t method, tg_str_t params);

#endif
