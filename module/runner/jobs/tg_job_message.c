/* Log messages about jobs, which wait in a buffer of bounded size. */
#include "runner/jobs/tg_job_message.h"
#include "protocol/tg_peer.h"

int
tg_job_has_messages(const tg_job_t *job)
{
    return job->messages.len != 0 || job->nmessages_omitted != 0;
}

void
tg_job_notify_message(tg_job_t *job, tg_mcp_log_level_t level, tg_str_t logger,
                      tg_str_t data)
{
    /* Nobody can ask for the messages of a job without a caller. */
    if (job->call == NULL && job->token_len == 0) {
        return;
    }

    if (job->messages.len + logger.len + data.len > TG_JOB_MESSAGES_MAX) {
        job->nmessages_omitted++;
    } else {
        tg_buf_append_char(&job->messages, ',');
        tg_json_add_int(&job->messages, "level", level);
        tg_json_add_compact(&job->messages, "logger", logger);
        tg_json_add_compact(&job->messages, "data", data);
        tg_buf_append_char(&job->messages, '\n');
    }

    tg_job_notify_progress(job);
}

/* Sends a message. members: members of its params, with a leading comma. */
static void
tg_job_send_message(tg_peer_t *peer, tg_str_t id, tg_str_t members)
{
    tg_buf_t json;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_append_char(&json, '{');
    tg_json_add_raw(&json, "id", id);
    tg_buf_append_str(&json, members);
    tg_buf_append_char(&json, '}');

    if (!tg_buf_has_failed(&json)) {
        tg_peer_notify(peer, TG_STR("message"), tg_buf_view(&json));
    }

    tg_buf_deinit(&json);
}

void
tg_job_send_messages(tg_job_t *job, tg_peer_t *peer, tg_str_t id)
{
    const char *at, *end;
    char room[256];
    tg_str_t all;
    tg_buf_t note;

    if (!tg_job_has_messages(job)) {
        return;
    }

    /* Without memory, the last message is not complete. */
    all = tg_buf_has_failed(&job->messages) ? TG_STR("")
                                            : tg_buf_view(&job->messages);

    for (at = all.data; at < tg_str_end(all); at = end + 1) {
        end = memchr(at, '\n', (size_t) (tg_str_end(all) - at));
        tg_job_send_message(peer, id, tg_str(at, (size_t) (end - at)));
    }

    tg_buf_reset(&job->messages, 0);

    if (job->nmessages_omitted == 0) {
        return;
    }

    note = tg_buf_make_fixed(room, sizeof(room));
    tg_buf_printf(&note,
                  ",\"level\":%d,\"logger\":\"toolgate\",\"data\":\"%u log "
                  "%s omitted: too many at once.\"",
                  TG_MCP_LOG_WARNING, job->nmessages_omitted,
                  tg_pick_plural(job->nmessages_omitted, "message was",
                                 "messages were"));
    tg_job_send_message(peer, id, tg_buf_view(&note));
    job->nmessages_omitted = 0;
}
