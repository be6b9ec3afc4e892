/*
 * A peer's conversation in the `jsonrpc` dialect: the same however it is cut,
 * and each request answered once.
 *
 * Input: whether the dialect is found out, and where memory ends; cut; what
 * the client sends.
 */
#include "host.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_host_run(TG_DIALECT_JSONRPC, data, size);

    return 0;
}
