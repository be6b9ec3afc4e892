/*
 * Prints the records of a trace file, for people and as JSON.
 */
#include "cli/tg_cli_trace_record.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <time.h>

static void
tg_cli_trace_append_time(tg_buf_t *out, uint64_t us, int is_utc)
{
    char text[64];
    struct tm tm;
    time_t t;

    t = (time_t) (us / 1000000);

    if ((is_utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)) != NULL
        && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) != 0)
    {
        tg_buf_printf(out, "%s.%06u%s", text, (unsigned) (us % 1000000),
                      is_utc ? "Z" : "");
    }
}

void
tg_cli_trace_record_append_text(tg_buf_t *out,
                                const tg_cli_trace_record_t *record)
{
    tg_cli_trace_append_time(out, record->time, 0);

    if (record->lost_frames != 0) {
        tg_buf_printf(out, " worker %llu lost %llu %s\n",
                      (unsigned long long) record->worker,
                      (unsigned long long) record->lost_frames,
                      tg_pick_plural(record->lost_frames, "frame", "frames"));
        return;
    }

    tg_buf_printf(out, " *%llu", (unsigned long long) record->connection);

    if (record->client != 0) {
        tg_buf_printf(out, " %llu", (unsigned long long) record->client);
    } else {
        tg_buf_append_cstr(out, " -");
    }

    tg_buf_printf(out, " %-3.*s ", (int) record->direction.len,
                  record->direction.data != NULL ? record->direction.data : "");
    tg_utf8_append_visible(out, record->dialect, 1);
    tg_buf_printf(out, " %llu", (unsigned long long) record->size);

    if (record->body.len != 0) {
        tg_buf_append_char(out, ' ');
        tg_utf8_append_visible(out, record->body, 1);
    }

    if (record->is_truncated
        || (record->body.len != 0 && record->body.len < record->size))
    {
        tg_buf_append_cstr(out, "...");
    }

    tg_buf_append_char(out, '\n');
}

static void
tg_cli_trace_append_string(tg_buf_t *out, const char *key, tg_str_t text)
{
    tg_buf_t valid;

    tg_buf_init(&valid, out->alloc);
    tg_utf8_append_lossy(&valid, text);
    tg_json_add_string(out, key, tg_buf_view(&valid));
    out->failed |= valid.failed;
    tg_buf_deinit(&valid);
}

void
tg_cli_trace_record_write_json(tg_buf_t *out,
                               const tg_cli_trace_record_t *record)
{
    tg_buf_append_cstr(out, "{\"time\":\"");
    tg_cli_trace_append_time(out, record->time, 1);
    tg_buf_append_char(out, '"');
    tg_json_add_uint(out, "worker", record->worker);

    if (record->lost_frames != 0) {
        tg_json_add_uint(out, "lost", record->lost_frames);
        tg_buf_append_cstr(out, "}\n");
        return;
    }

    tg_json_add_uint(out, "connection", record->connection);

    if (record->client != 0) {
        tg_json_add_uint(out, "client", record->client);
    }

    tg_cli_trace_append_string(out, "direction", record->direction);
    tg_cli_trace_append_string(out, "dialect", record->dialect);
    tg_json_add_uint(out, "size", record->size);

    if (record->is_truncated) {
        tg_json_add_bool(out, "cut", 1);
    }

    if (record->body.data != NULL) {
        tg_cli_trace_append_string(out, "body", record->body);
    }

    tg_buf_append_cstr(out, "}\n");
}
