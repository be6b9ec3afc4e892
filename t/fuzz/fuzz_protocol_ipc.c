/*
 * A peer's conversation in the `ipc` dialect: the same however it is cut,
 * and each request answered once.
 *
 * Input: whether the dialect is found out, and where memory ends; cut; what
 * the client sends.
 */
#include "host.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_host_run(TG_DIALECT_IPC, data, size);

    return 0;
}
