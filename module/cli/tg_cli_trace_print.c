/* Prints the records of a trace file, for people and as JSON. */
#include "cli/tg_cli_trace_record.h"

#include "cli/tg_cli_json.h"
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
tg_cli_trace_add_text(json_object *line, const char *key, tg_str_t text)
{
    tg_buf_t valid;

    tg_buf_init(&valid, tg_alloc_libc());
    tg_utf8_append_lossy(&valid, text);
    tg_cli_json_add_text(line, key, tg_buf_view(&valid));
    tg_buf_deinit(&valid);
}

static void
tg_cli_trace_add_uint(json_object *line, const char *key, uint64_t value)
{
    (void) json_object_object_add(line, key, json_object_new_uint64(value));
}

void
tg_cli_trace_record_write_json(tg_buf_t *out,
                               const tg_cli_trace_record_t *record)
{
    json_object *line;
    tg_buf_t time;

    line = json_object_new_object();
    tg_buf_init(&time, out->alloc);
    tg_cli_trace_append_time(&time, record->time, 1);
    tg_cli_json_add_text(line, "time", tg_buf_view(&time));
    tg_buf_deinit(&time);
    tg_cli_trace_add_uint(line, "worker", record->worker);

    if (record->lost_frames != 0) {
        tg_cli_trace_add_uint(line, "lost", record->lost_frames);
    } else {
        tg_cli_trace_add_uint(line, "connection", record->connection);

        if (record->client != 0) {
            tg_cli_trace_add_uint(line, "client", record->client);
        }

        tg_cli_trace_add_text(line, "direction", record->direction);
        tg_cli_trace_add_text(line, "dialect", record->dialect);
        tg_cli_trace_add_uint(line, "size", record->size);

        if (record->is_truncated) {
            (void) json_object_object_add(line, "cut",
                                          json_object_new_boolean(1));
        }

        if (record->body.data != NULL) {
            tg_cli_trace_add_text(line, "body", record->body);
        }
    }

    tg_buf_append_str(out, tg_cli_json_write(line));
    tg_buf_append_char(out, '\n');
    json_object_put(line);
}
