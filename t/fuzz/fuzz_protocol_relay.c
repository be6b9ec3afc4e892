/*
 * Fuzzes a conversation with a peer in the `relay` dialect: the output is the
 * same however the input is cut, and each request gets one reply.
 *
 * Input: whether the dialect is detected, and which allocation fails; cut;
 * bytes that the client sends.
 */
#include "host.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_host_run(TG_DIALECT_RELAY, data, size);

    return 0;
}
