/*
 * Fuzzes a conversation with an MCP client of any revision.
 *
 * Input: the revision; then the same as for the other dialects.
 */
#include "host.h"

#define MCP_INITIALIZE(version)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{" \
    "\"protocolVersion\":\"" version "\",\"capabilities\":{}}}\n"

static const char *const mcp_first_words[] = {
    MCP_INITIALIZE("2025-11-25"),
    MCP_INITIALIZE("2025-03-26"),
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\","
    "\"params\":{\"notifications\":{\"toolsListChanged\":true},\"_meta\":{"
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
    "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n",
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    HELP_BUFFER(text);
    fuzz_in_t in;

    if (size < 3) {
        return 0;
    }

    in = fuzz_in(data, size);
    tg_buf_append(&text, (const char *) data + 1, 2);
    tg_buf_append_cstr(&text, mcp_first_words[fuzz_byte(&in) % 4]);
    tg_buf_append(&text, (const char *) data + 3, size - 3);
    fuzz_host_run(TG_DIALECT_JSONRPC, (const uint8_t *) text.data, text.len);

    return 0;
}
