/*
 * Fuzzes the bridge from the parent's side: whatever the parent sends, each
 * request of the agent gets one reply, at the latest when the parent has
 * closed its connection.
 *
 * Input: the dialect, how writes are cut; then lines that the parent sends
 * (messages in ipc), or commands:
 *
 *   !c !f   a connect succeeds, fails
 *   !x !X   the parent closes the connection, without or with an error
 *   !a...   the agent writes the rest of the line
 *   !q      the agent requests the list and calls a tool
 *   !m      the agent sends requests of other methods
 *   !tN     timer N expires
 *   !r...   the rest of the line, as it is
 */
#include "bridge_side.h"
#include "host.h"

#include "protocol/tg_peer_impl.h"

typedef struct {
    fuzz_in_t in;
    tg_dialect_t dialect;
    tg_buf_t agent; /* bytes that the agent wrote */
    unsigned last_id;
} scene_t;

static void
scene_write(scene_t *scene, tg_str_t line)
{
    HELP_BUFFER(text);

    if (line.len > 30000) {
        return;
    }

    tg_buf_append_str(&text, line);
    tg_buf_append_char(&text, '\n');

    if (side_read(&side_world.agent, tg_buf_view(&text))) {
        tg_buf_append_str(&scene->agent, tg_buf_view(&text));
    }
}

static void
scene_request(scene_t *scene, const char *rest)
{
    HELP_BUFFER(text);

    tg_buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%lu%s",
                  (unsigned long) (++scene->last_id), rest);
    scene_write(scene, tg_buf_view(&text));
}

static void
scene_send_requests(scene_t *scene)
{
    scene_request(scene, ",\"method\":\"tools/list\"}");
    scene_request(scene, ",\"method\":\"tools/call\",\"params\":{\"name\":"
                         "\"echo\",\"arguments\":{\"text\":\"hi\"},\"_meta\":{"
                         "\"progressToken\":\"p\"}}}");
}

#define SCENE_MODERN                                                           \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","   \
    "\"io.modelcontextprotocol/clientCapabilities\":{},"                       \
    "\"io.modelcontextprotocol/logLevel\":\"info\"}"

static void
scene_send_methods(scene_t *scene)
{
    static const char *const methods[] = {
        ",\"method\":\"prompts/list\"}",
        ",\"method\":\"resources/list\",\"params\":{}}",
        ",\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:1\"}}",
        ",\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a:2\"}}",
        ",\"method\":\"resources/unsubscribe\",\"params\":{\"uri\":\"a:1\"}}",
        ",\"method\":\"logging/setLevel\",\"params\":{\"level\":\"info\"}}",
        ",\"method\":\"server/discover\",\"params\":{" SCENE_MODERN "}}",
        ",\"method\":\"resources/read\",\"params\":{" SCENE_MODERN "}}",
    };
    size_t i;

    for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        scene_request(scene, methods[i]);
    }
}

static void
scene_send(tg_str_t bytes)
{
    size_t n;

    while (bytes.len != 0) {
        n = bytes.len < 4096 ? bytes.len : 4096;

        if (!side_read(&side_world.parent, tg_str(bytes.data, n))) {
            return;
        }

        bytes = tg_str(bytes.data + n, bytes.len - n);
    }
}

static void
scene_message(const scene_t *scene, tg_str_t line)
{
    char prefix[TG_FRAME_PREFIX_SIZE];
    HELP_BUFFER(text);

    if (scene->dialect == TG_DIALECT_IPC) {
        tg_frame_write_prefix(prefix, line.len);
        tg_buf_append(&text, prefix, sizeof(prefix));
        tg_buf_append_str(&text, line);
    } else {
        tg_buf_append_str(&text, line);
        tg_buf_append_char(&text, '\n');
    }

    scene_send(tg_buf_view(&text));
}

static void
scene_act(scene_t *scene, tg_str_t line)
{
    char what, which;

    what = line.len > 1 ? line.data[1] : ' ';
    which = line.len > 2 ? line.data[2] : '0';

    switch (what) {
    case 'c':
        (void) side_connect(0);
        break;
    case 'f':
        (void) side_connect(which == 'a' ? UV_EAGAIN : UV_ECONNREFUSED);
        break;
    case 'x':
        (void) side_read_error(&side_world.parent, UV_EOF);
        break;
    case 'X':
        (void) side_read_error(&side_world.parent, UV_ECONNRESET);
        break;
    case 'a':
        scene_write(scene, tg_str(line.data + 2, line.len - 2));
        break;
    case 'q':
        scene_send_requests(scene);
        break;
    case 'm':
        scene_send_methods(scene);
        break;
    case 't':
        (void) side_fire((unsigned char) (which - '0') % SIDE_TIMERS);
        break;
    default:
        scene_send(tg_str(line.data + 1, line.len - 1));
    }
}

/* Closes the parent for good and lets time pass. */
static void
scene_end(void)
{
    unsigned iterations;

    (void) side_read_error(&side_world.parent, UV_EOF);

    for (iterations = 0; iterations < 8; iterations++) {
        side_iterate();
        (void) side_connect(UV_ENOENT);
        side_iterate();
        (void) side_fire(TG_BRIDGE_TIMER_HOLD);
        (void) side_fire(TG_BRIDGE_TIMER_GRACE);
        (void) side_fire(SIDE_TIMER_RETRY);
        FUZZ(side_world.bridge->mcp.state != TG_MCP_DISCONNECTED
             || side_world.bridge->nsubscribing == 0);
    }
}

static void
scene_play(void *ctx)
{
    scene_t *scene;
    tg_str_t line;

    scene = ctx;
    scene_request(scene, ",\"method\":\"initialize\",\"params\":{"
                         "\"protocolVersion\":\"2025-06-18\","
                         "\"capabilities\":{}}}");
    scene_send_requests(scene);
    side_iterate();
    (void) side_connect(0);
    side_iterate();

    while (scene->in.pos != scene->in.end && !side_is_over()) {
        line = fuzz_until_newline(&scene->in);

        if (line.len != 0 && line.data[0] == '!') {
            scene_act(scene, line);
        } else {
            scene_message(scene, line);
        }

        side_iterate();
    }

    if (!side_world.bridge->is_quitting) {
        scene_end();
        side_iterate();
        FUZZ(side_world.bridge->peer.ncalls == 0
             || side_world.bridge->is_quitting);
    }

    fuzz_host_count(TG_DIALECT_JSONRPC, TG_BRIDGE_AGENT_FRAME_IN_MAX,
                    tg_buf_view(&scene->agent),
                    tg_buf_view(&side_world.agent.sent),
                    side_world.bridge->is_quitting
                        || side_world.bridge->peer.priv->nsubscriptions != 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scene_t scene;

    memset(&scene, 0, sizeof(scene));
    tg_buf_init(&scene.agent, tg_alloc_libc());
    scene.in = fuzz_in(data, size);
    side_run(&scene.in, &scene.dialect, scene_play, &scene);
    tg_buf_deinit(&scene.agent);

    return 0;
}
