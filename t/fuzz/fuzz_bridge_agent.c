/*
 * Fuzzes the bridge from the agent's side, with a parent that follows its
 * contract: whatever the agent writes, each request gets one reply.
 *
 * Input: the parent's dialect, how writes are cut (with bit 6 the parent also
 * offers prompts and resources); then lines that the agent writes, or commands:
 *
 *   !p      all pending bytes are delivered
 *   !c !f   a connect succeeds, fails
 *   !x      the parent closes the connection
 *   !l !u   the parent's lists change, a resource changes
 *   !e      the agent exits
 *   !tN     timer N expires
 *   !r...   the rest of the line, without a newline
 */
#include "bridge_side.h"
#include "host.h"

#include "protocol/tg_peer_impl.h"

#include <limits.h>

typedef struct {
    fuzz_in_t in;
    tg_dialect_t dialect;
    host_t parent;
    int has_parent;
    tg_buf_t agent; /* bytes that the agent wrote */
    int is_ended;   /* the agent has exited */
    int is_offering;
} scene_t;

static int
scene_open(scene_t *scene)
{
    if (!side_connect(0)) {
        return 0;
    }

    /* The bridge closed the previous connection itself. */
    if (scene->has_parent) {
        host_deinit(&scene->parent);
    }

    if (scene->is_offering) {
        host_init_offering(&scene->parent, tg_alloc_libc(), scene->dialect,
                           1 << 20, FUZZ_HOST_CALLS);
        scene->parent.is_wild = 1;
    } else {
        fuzz_host_init(&scene->parent, tg_alloc_libc(), scene->dialect,
                       1 << 20);
    }

    scene->has_parent = 1;

    return 1;
}

static void
scene_close(scene_t *scene)
{
    if (scene->has_parent) {
        scene->has_parent = 0;
        (void) side_read_error(&side_world.parent, UV_EOF);
        host_deinit(&scene->parent);
    }
}

/* Writes the agent's bytes as far as the bridge reads them. */
static int
scene_write(tg_str_t bytes)
{
    size_t n;

    while (bytes.len != 0) {
        n = bytes.len < 4096 ? bytes.len : 4096;

        if (!side_read(&side_world.agent, tg_str(bytes.data, n))) {
            return 0;
        }

        bytes = tg_str(bytes.data + n, bytes.len - n);
    }

    return 1;
}

/* Moves the pending bytes between both sides; returns 1 if there were any. */
static int
scene_pass(scene_t *scene)
{
    tg_str_t bytes;
    tg_buf_t *sent;
    size_t n;
    int did;

    if (!scene->has_parent || side_world.parent.is_closed
        || side_world.parent.conn->state != TG_UV_CONN_OPEN)
    {
        return 0;
    }

    sent = &side_world.parent.sent;
    did = sent->len != 0;

    if (did && scene->parent.rc != TG_CLOSED) {
        fuzz_host_feed(&scene->parent, tg_buf_view(sent));
    }

    tg_buf_truncate(sent, 0);
    host_collect(&scene->parent);
    bytes = tg_buf_view(&scene->parent.out);

    while (bytes.len != 0) {
        n = bytes.len < 65536 ? bytes.len : 65536;

        if (!side_read(&side_world.parent, tg_str(bytes.data, n))) {
            break;
        }

        did = 1;
        bytes = tg_str(bytes.data + n, bytes.len - n);
    }

    if (scene->has_parent) {
        tg_buf_consume(&scene->parent.out, scene->parent.out.len - bytes.len);
    }

    return did;
}

/* Moves bytes until none are left, and completes every call. */
static void
scene_pump(scene_t *scene)
{
    unsigned iterations;
    int did;

    iterations = 0;

    do {
        FUZZ(++iterations < 5000);
        side_iterate();

        if (scene->has_parent && side_world.connect != NULL) {
            scene_close(scene);
        }

        did = scene_open(scene);
        did |= scene_pass(scene);
        did |= side_world.agent.is_writing || side_world.parent.is_writing;

        if (!did && scene->has_parent) {
            did = host_fire(&scene->parent);
        }
    } while (did && !side_is_over());

    side_iterate();
}

static void
scene_act(scene_t *scene, tg_str_t line)
{
    char what, which;

    what = line.len > 1 ? line.data[1] : ' ';
    which = line.len > 2 ? line.data[2] : '0';

    switch (what) {
    case 'p':
        scene_pump(scene);
        break;
    case 'c':
        (void) scene_open(scene);
        break;
    case 'f':
        (void) side_connect(which == 'a' ? UV_EAGAIN : UV_ENOENT);
        break;
    case 'x':
        scene_close(scene);
        break;
    case 'l':
        if (scene->has_parent) {
            tg_peer_notify_list_changes(&scene->parent.peer, UINT_MAX);
        }

        break;
    case 'u':
        if (scene->has_parent) {
            tg_peer_notify_resource_updated(&scene->parent.peer,
                                            TG_STR("note:///today"));
        }

        break;
    case 'e':
        scene->is_ended |= side_read_error(&side_world.agent, UV_EOF);
        break;
    case 't':
        (void) side_fire((unsigned char) (which - '0') % SIDE_TIMERS);
        break;
    default:
        line = tg_str(line.data + 1, line.len - 1);

        if (scene_write(line)) {
            tg_buf_append_str(&scene->agent, line);
        }
    }
}

static void
scene_play(void *ctx)
{
    scene_t *scene;
    tg_str_t line;
    int was_quitting;

    scene = ctx;
    scene->is_offering = (side_world.seed & 64) != 0;

    while (scene->in.pos != scene->in.end && !side_is_over()) {
        line = fuzz_until_newline(&scene->in);

        if (line.len != 0 && line.data[0] == '!') {
            scene_act(scene, line);
        } else {
            HELP_BUFFER(text);

            tg_buf_append_str(&text, line);
            tg_buf_append_char(&text, '\n');

            if (scene_write(tg_buf_view(&text))) {
                tg_buf_append_str(&scene->agent, tg_buf_view(&text));
            }
        }

        side_iterate();
    }

    if (!side_is_over()) {
        scene_pump(scene);
        (void) side_fire(TG_BRIDGE_TIMER_HOLD);
        (void) side_fire(SIDE_TIMER_RETRY);
        scene_pump(scene);
    }

    was_quitting = side_world.bridge->is_quitting;
    fuzz_host_count(TG_DIALECT_JSONRPC, TG_BRIDGE_AGENT_FRAME_IN_MAX,
                    tg_buf_view(&scene->agent),
                    tg_buf_view(&side_world.agent.sent),
                    was_quitting
                        || side_world.bridge->peer.priv->nsubscriptions != 0);

    if (!was_quitting) {
        FUZZ(side_world.bridge->peer.ncalls == 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    scene_t scene;

    memset(&scene, 0, sizeof(scene));
    tg_buf_init(&scene.agent, tg_alloc_libc());
    scene.in = fuzz_in(data, size);
    side_run(&scene.in, &scene.dialect, scene_play, &scene);

    if (scene.has_parent) {
        host_deinit(&scene.parent);
    }

    tg_buf_deinit(&scene.agent);

    return 0;
}
