#include "bench_wire.h"

#include <string.h>

/* All tools of the bench have names of four letters: the head stays fixed. */
#define BENCH_TOOL "\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\""
/* The arguments make the request as long as that of a call; MCP ignores them */
#define BENCH_READ                                                             \
    "\"params\":{\"uri\":\"note:///echo\",\"arguments\":{\"text\":\""
#define BENCH_RESULT "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\""
#define BENCH_RESULT_END "\"}],\"isError\":false}}"

static const bench_wire_t bench_wires[] = {
    { "jsonrpc", 0, 1, "{\"jsonrpc\":\"2.0\",\"id\":",
      ",\"method\":\"tools/call\"," BENCH_TOOL, "\"}}}\n",
      "{\"jsonrpc\":\"2.0\",\"id\":", "," BENCH_RESULT, BENCH_RESULT_END "\n" },
    { "read", 0, 1, "{\"jsonrpc\":\"2.0\",\"id\":",
      ",\"method\":\"resources/read\"," BENCH_READ, "\"}}}\n",
      "{\"jsonrpc\":\"2.0\",\"id\":",
      ",\"result\":{\"contents\":[{\"uri\":\"note:///echo\","
      "\"mimeType\":\"text/plain\",\"text\":\"",
      "\"}]}}\n" },
    { "list", 0, 1, "{\"jsonrpc\":\"2.0\",\"id\":",
      ",\"method\":\"resources/list\"," BENCH_TOOL, "\"}}}\n",
      "{\"jsonrpc\":\"2.0\",\"id\":", ",\"result\":{\"resources\":[", "]}}\n" },
    { "relay", 0, 1, "{\"kind\":\"mcp_request\",\"id\":",
      ",\"method\":\"tools/call\"," BENCH_TOOL, "\"}}}\n",
      "{\"kind\":\"mcp_response\",\"id\":", "," BENCH_RESULT,
      BENCH_RESULT_END "\n" },
    { "ipc", 1, 0, "", "{\"method\":\"call_tool\"," BENCH_TOOL, "\"}}}", "",
      "{" BENCH_RESULT, BENCH_RESULT_END },
};

const bench_wire_t *
bench_wire(const char *name)
{
    size_t i;

    for (i = 0; i < sizeof(bench_wires) / sizeof(bench_wires[0]); i++) {
        if (strcmp(bench_wires[i].name, name) == 0) {
            return &bench_wires[i];
        }
    }

    return NULL;
}

static size_t
bench_prefix(const bench_wire_t *wire)
{
    return wire->has_prefix ? 4 : 0;
}

size_t
bench_request_id(const bench_wire_t *wire)
{
    return bench_prefix(wire) + strlen(wire->before_id);
}

size_t
bench_reply_id(const bench_wire_t *wire)
{
    return bench_prefix(wire) + strlen(wire->reply_id);
}

static size_t
bench_id_size(const bench_wire_t *wire)
{
    return wire->has_id ? BENCH_ID : 0;
}

size_t
bench_request_head(const bench_wire_t *wire)
{
    return bench_request_id(wire) + bench_id_size(wire)
           + strlen(wire->before_arg);
}

size_t
bench_reply_head(const bench_wire_t *wire)
{
    return bench_reply_id(wire) + bench_id_size(wire) + strlen(wire->reply_arg);
}

size_t
bench_request_tail(const bench_wire_t *wire)
{
    return strlen(wire->end);
}

size_t
bench_reply_tail(const bench_wire_t *wire)
{
    return strlen(wire->reply_end);
}

void
bench_put_id(char *dst, uint32_t id)
{
    size_t at;

    /* A number of JSON does not begin with 0. */
    id = id % 90000000 + 10000000;

    for (at = BENCH_ID; at != 0; at--) {
        dst[at - 1] = (char) ('0' + id % 10);
        id /= 10;
    }
}

static char *
bench_put(char *dst, const char *text)
{
    size_t len;

    len = strlen(text);
    memcpy(dst, text, len);

    return dst + len;
}

static void
bench_put_frame(const bench_wire_t *wire, char *dst, size_t size, size_t len,
                const char *before_id, const char *before_arg, const char *end)
{
    size_t payload;

    if (wire->has_prefix) {
        payload = size - 4;
        *dst++ = (char) (payload >> 24);
        *dst++ = (char) (payload >> 16);
        *dst++ = (char) (payload >> 8);
        *dst++ = (char) payload;
    }

    dst = bench_put(dst, before_id);

    if (wire->has_id) {
        memset(dst, '1', BENCH_ID);
        dst += BENCH_ID;
    }

    dst = bench_put(dst, before_arg);
    (void) bench_put(dst + len, end);
}

void
bench_put_request(const bench_wire_t *wire, char *dst, size_t len,
                  const char *tool)
{
    char *name;

    bench_put_frame(wire, dst,
                    bench_request_head(wire) + len + bench_request_tail(wire),
                    len, wire->before_id, wire->before_arg, wire->end);

    name = dst + bench_request_head(wire)
           - strlen("echo\",\"arguments\":{\"text\":\"");
    memcpy(name, tool, strlen("echo"));
}

void
bench_put_reply(const bench_wire_t *wire, char *dst, size_t len)
{
    bench_put_frame(wire, dst,
                    bench_reply_head(wire) + len + bench_reply_tail(wire), len,
                    wire->reply_id, wire->reply_arg, wire->reply_end);
}
