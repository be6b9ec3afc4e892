/*
 * Messages from the watcher's thread to the loop.
 */
#include "tasks/watch/tg_watcher_impl.h"

#include <stdlib.h>
#include <time.h>

uint64_t
tg_watcher_get_time_ms(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);

    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000 + 1;
}

int
tg_watcher_is_ending(tg_watcher_t *watcher)
{
    int is_ending;

    uv_mutex_lock(&watcher->mutex);
    is_ending = watcher->is_ending;
    uv_mutex_unlock(&watcher->mutex);

    return is_ending;
}

void
tg_watcher_message_free(tg_watcher_message_t *message)
{
    tg_buf_deinit(&message->id);
    tg_buf_deinit(&message->text);
    free(message);
}

void
tg_watcher_post_message(tg_watcher_t *watcher, tg_str_t id, int64_t at,
                        tg_str_t text)
{
    tg_watcher_message_t *message;

    message = calloc(1, sizeof(*message));

    if (message == NULL) {
        return;
    }

    tg_buf_init(&message->id, tg_alloc_libc());
    tg_buf_init(&message->text, tg_alloc_libc());
    message->at = at;
    tg_buf_append_str(&message->id, id);
    tg_buf_append_str(&message->text, text);

    if (tg_buf_has_failed(&message->id) || tg_buf_has_failed(&message->text)) {
        tg_watcher_message_free(message);
        return;
    }

    uv_mutex_lock(&watcher->mutex);
    watcher->stats.nevents += id.len != 0;
    STAILQ_INSERT_TAIL(&watcher->messages, message, next);
    uv_mutex_unlock(&watcher->mutex);
    (void) uv_async_send(&watcher->async);
}
