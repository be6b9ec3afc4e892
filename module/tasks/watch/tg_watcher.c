/*
 * The thread of the watcher: its start, its loop and its end.
 */
#include "tasks/watch/tg_watcher_impl.h"

#include "base/tg_json.h"
#include "schema/pcre2/tg_pcre2.h"
#include "runner/logging/tg_log.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- messages from the thread to the loop --- */

static tg_watcher_message_t *
tg_watcher_pop_message(tg_watcher_t *watcher, int *has_ended)
{
    tg_watcher_message_t *message;

    uv_mutex_lock(&watcher->mutex);
    message = STAILQ_FIRST(&watcher->messages);

    if (message != NULL) {
        STAILQ_REMOVE_HEAD(&watcher->messages, next);
    }

    *has_ended = watcher->has_ended;
    uv_mutex_unlock(&watcher->mutex);

    return message;
}

/* --- the thread --- */

static void
tg_watcher_update_stats(tg_watcher_t *watcher, int is_ready)
{
    unsigned i;

    uv_mutex_lock(&watcher->mutex);
    watcher->stats.nrules = watcher->nrules;
    watcher->stats.nfolders = watcher->nfolders;
    watcher->stats.nfiles = watcher->files.n;
    watcher->stats.is_ready = is_ready;
    watcher->stats.nmissing = 0;

    for (i = 0; i < watcher->nrules; i++) {
        watcher->stats.nmissing += (unsigned) watcher->rules[i].is_missing;
    }

    uv_mutex_unlock(&watcher->mutex);
}

static void
tg_watcher_run_thread(void *data)
{
    struct pollfd fds[2];
    tg_watcher_t *watcher;
    int wait, is_missing;

    watcher = data;
    watcher->is_scanning = 1;
    is_missing = tg_watcher_add_missing_roots(watcher);
    watcher->is_scanning = 0;
    fds[0].fd = watcher->wake_fd;
    fds[0].events = fds[1].events = POLLIN;

    while (!tg_watcher_is_ending(watcher)) {
        tg_watcher_update_stats(watcher, 1);
        wait = tg_watcher_post_due_bursts(watcher);

        if (is_missing && (wait == -1 || wait > TG_WATCHER_RETRY_MS)) {
            wait = TG_WATCHER_RETRY_MS;
        }

        fds[1].fd = watcher->fd;
        (void) poll(fds, watcher->fd != -1 ? 2 : 1, wait);

        if (watcher->fd != -1) {
            tg_watcher_read_events(watcher);
        }

        is_missing = tg_watcher_add_missing_roots(watcher);
    }

    uv_mutex_lock(&watcher->mutex);
    watcher->has_ended = 1;
    uv_mutex_unlock(&watcher->mutex);
    (void) uv_async_send(&watcher->async);
}

/* --- end --- */

static void
tg_watcher_free(tg_watcher_t *watcher)
{
    tg_watcher_message_t *message;
    unsigned i;

    while ((message = STAILQ_FIRST(&watcher->messages)) != NULL) {
        STAILQ_REMOVE_HEAD(&watcher->messages, next);
        tg_watcher_message_free(message);
    }

    for (i = 0; i < watcher->nrules; i++) {
        tg_name_set_free(&watcher->rules[i].changed_files);
        free((char *) watcher->rules[i].root.data);
        tg_rule_free(watcher->rules[i].rule);
    }

    tg_watcher_close_tree(watcher);

    if (watcher->wake_fd != -1) {
        (void) close(watcher->wake_fd);
    }

    free(watcher->rules);
    free(watcher->text);
    uv_mutex_destroy(&watcher->mutex);
    free(watcher);
}

static void
tg_watcher_on_closed(uv_handle_t *handle)
{
    const tg_watcher_ops_t *ops;
    tg_watcher_t *watcher;
    void *host;

    watcher = handle->data;
    ops = watcher->ops;
    host = watcher->host;
    tg_watcher_free(watcher);
    ops->closed(host);
}

static void
tg_watcher_on_async(uv_async_t *async)
{
    tg_watcher_message_t *message;
    tg_watcher_t *watcher;
    int has_ended;

    watcher = async->data;

    while ((message = tg_watcher_pop_message(watcher, &has_ended)) != NULL) {
        if (watcher->is_ending) {
            /* the watcher was closed */
        } else if (message->id.len == 0) {
            tg_log(TG_LOG_ERROR, "%.*s", (int) message->text.len,
                   message->text.data);
        } else {
            watcher->ops->on_files_changed(watcher->host,
                                           tg_buf_view(&message->id),
                                           message->at,
                                           tg_buf_view(&message->text));
        }

        tg_watcher_message_free(message);
    }

    if (has_ended && !uv_is_closing((uv_handle_t *) async)) {
        (void) uv_thread_join(&watcher->thread);
        uv_close((uv_handle_t *) async, tg_watcher_on_closed);
    }
}

void
tg_watcher_close(tg_watcher_t *watcher)
{
    static const uint64_t one = 1;

    uv_mutex_lock(&watcher->mutex);
    watcher->is_ending = 1;
    uv_mutex_unlock(&watcher->mutex);

    if (!watcher->has_thread) {
        uv_close((uv_handle_t *) &watcher->async, tg_watcher_on_closed);

    } else if (write(watcher->wake_fd, &one, sizeof(one)) == -1) {
        tg_log(TG_LOG_ERROR, "watching files cannot be stopped: %s",
               strerror(errno));
    }
}

/* --- start --- */

/*
 * Sets the folder to watch. A file is watched through its folder, as editors
 * replace it by another one. TG_OK or TG_NOMEM.
 */
static int
tg_watcher_rule_init(tg_watcher_rule_t *watched)
{
    struct stat info;
    char *root, *slash;

    root = strndup(watched->rule->path.data, watched->rule->path.len);

    if (root == NULL) {
        return TG_NOMEM;
    }

    while (root[0] != '\0' && root[1] != '\0' && root[strlen(root) - 1] == '/')
    {
        root[strlen(root) - 1] = '\0';
    }

    slash = strrchr(root, '/');

    if (slash != NULL && slash[1] != '\0' && lstat(root, &info) == 0
        && !S_ISDIR(info.st_mode))
    {
        slash++;
        watched->file_name = tg_str(watched->rule->path.data + (slash - root),
                                    strlen(slash));
        slash[slash - 1 == root ? 0 : -1] = '\0';
    }

    watched->root = tg_str_from_cstr(root);
    watched->is_missing = 1;

    return TG_OK;
}

static int
tg_watcher_parse_rules(tg_watcher_t *watcher)
{
    tg_watcher_rule_t *watched;
    tg_json_cursor_t each;
    tg_str_t raw;
    tg_buf_t why;
    char text[128];

    watcher->rules = calloc(TG_RULES_MAX, sizeof(*watcher->rules));

    if (watcher->rules == NULL) {
        return TG_NOMEM;
    }

    for (tg_json_iter_init(&each, tg_str(watcher->text, watcher->len));
         watcher->nrules < TG_RULES_MAX && tg_json_iter_next(&each, &raw);)
    {
        watched = &watcher->rules[watcher->nrules];
        why = tg_buf_make_fixed(text, sizeof(text));

        if (tg_rule_parse(tg_alloc_libc(), raw, tg_pcre2_get_engine(),
                          &watched->rule, &why)
            != TG_OK)
        {
            return TG_NOMEM;
        }

        watcher->nrules++;

        if (tg_watcher_rule_init(watched) != TG_OK) {
            return TG_NOMEM;
        }
    }

    return TG_OK;
}

tg_watcher_t *
tg_watcher_new(uv_loop_t *loop, tg_str_t rules, const tg_watcher_ops_t *ops,
               void *host)
{
    tg_watcher_t *watcher;

    watcher = calloc(1, sizeof(*watcher));

    if (watcher == NULL || uv_mutex_init(&watcher->mutex) != 0) {
        free(watcher);
        return NULL;
    }

    STAILQ_INIT(&watcher->messages);
    watcher->fd = -1;
    watcher->ops = ops;
    watcher->host = host;
    watcher->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    watcher->text = malloc(rules.len + 1);

    if (watcher->wake_fd == -1 || watcher->text == NULL) {
        tg_watcher_free(watcher);
        return NULL;
    }

    memcpy(watcher->text, rules.data, rules.len);
    watcher->len = rules.len;

    if (tg_watcher_parse_rules(watcher) != TG_OK
        || uv_async_init(loop, &watcher->async, tg_watcher_on_async) != 0)
    {
        tg_watcher_free(watcher);
        return NULL;
    }

    watcher->async.data = watcher;

    watcher->has_thread = uv_thread_create(&watcher->thread,
                                           tg_watcher_run_thread, watcher)
                          == 0;

    if (!watcher->has_thread) {
        tg_log(TG_LOG_ERROR, "the files of automation rules cannot be "
                             "watched: no thread");
    }

    return watcher;
}

int
tg_watcher_has_rules(const tg_watcher_t *watcher, tg_str_t rules)
{
    return tg_str_eq(tg_str(watcher->text, watcher->len), rules);
}

void
tg_watcher_get_stats(tg_watcher_t *watcher, tg_watcher_stats_t *stats)
{
    uv_mutex_lock(&watcher->mutex);
    *stats = watcher->stats;
    uv_mutex_unlock(&watcher->mutex);
}
