/*
 * Log messages about a job for the client of its call (MCP
 * notifications/message):
 *
 *   runner ──▶ worker   message {"id":ID,"level":2,"logger":"db","data":…}
 *
 * The level is a tg_mcp_log_level_t. Messages are sent at the pace of progress
 * (TG_JOB_PROGRESS_INTERVAL_MS) and before the response. Until then, and while
 * the call moves to another worker, they wait in job->messages.
 */
#ifndef TG_JOB_MESSAGE_H
#define TG_JOB_MESSAGE_H

#include "protocol/tg_mcp_log_level.h"
#include "runner/jobs/tg_job.h"

/* Maximum size of waiting messages in bytes; further ones are omitted. */
#define TG_JOB_MESSAGES_MAX 65536

/* Sends a message soon. logger is a raw string or absent, data raw JSON. */
void tg_job_notify_message(tg_job_t *job, tg_mcp_log_level_t level,
                           tg_str_t logger, tg_str_t data);

/* Checks for messages that wait. */
int tg_job_has_messages(const tg_job_t *job);

/* Sends the waiting messages for the call with a raw id. */
void tg_job_send_messages(tg_job_t *job, tg_peer_t *peer, tg_str_t id);

#endif
