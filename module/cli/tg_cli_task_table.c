/* Tables of tasks, and the status of the daemon. */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

/* Number of characters of a prompt that are shown without a terminal. */
#define TG_CLI_PROMPT_CHARS_MAX 60
/* Size of a timestamp that can be parsed, with its zero byte. */
#define TG_CLI_TIMESTAMP_SIZE 40

/* --- timestamps --- */

/* Returns the Unix time of "2026-11-22T08:15:03.978Z", or -1. */
static double
tg_cli_json_get_timestamp(json_object *object, const char *member)
{
    char text[TG_CLI_TIMESTAMP_SIZE];
    struct tm tm;
    const char *rest;
    tg_str_t body;

    body = tg_cli_json_get_text(object, member);

    if (body.len >= sizeof(text)) {
        return -1;
    }

    (void) snprintf(text, sizeof(text), "%.*s", (int) body.len,
                    body.data != NULL ? body.data : "");
    memset(&tm, 0, sizeof(tm));
    rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);

    return rest != NULL ? (double) timegm(&tm) + strtod(rest, NULL) : -1;
}

static double
tg_cli_clock_get_seconds(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_REALTIME, &now);

    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* Clocks may differ. */
static double
tg_cli_convert_seconds_to_ms(double seconds)
{
    return seconds > 0 ? seconds * 1000 : 0;
}

double
tg_cli_task_get_duration(json_object *task)
{
    double start, end;

    start = tg_cli_json_get_timestamp(task, "startedAt");
    end = tg_cli_json_get_timestamp(task, "completedAt");

    if (start < 0) {
        return -1;
    }

    return tg_cli_convert_seconds_to_ms(
        (end < 0 ? tg_cli_clock_get_seconds() : end) - start);
}

/* Appends the time from a timestamp, if from is 1, or to it, if from is -1. */
static void
tg_cli_cell_append_time(tg_buf_t *out, const tg_cli_cell_t *cell, int from)
{
    double at;

    at = tg_cli_json_get_timestamp(cell->row, cell->member);

    if (at < 0) {
        tg_buf_append_char(out, '-');
    } else {
        tg_cli_append_duration(out,
                               tg_cli_convert_seconds_to_ms(
                                   from * (tg_cli_clock_get_seconds() - at)));
    }
}

void
tg_cli_cell_append_age(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_cell_append_time(out, cell, 1);
}

void
tg_cli_cell_append_time_left(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_cli_cell_append_time(out, cell, -1);
}

/* --- lists --- */

/* Without a terminal the line has at most TG_CLI_PROMPT_CHARS_MAX. */
static void
tg_cli_cell_append_prompt(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    size_t start, len;
    tg_str_t text;

    start = out->len;
    tg_cli_cell_append_first_line(out, cell);
    text = tg_buf_view(out);
    text = tg_str(text.data + start, text.len - start);
    len = tg_utf8_prefix_len(text, TG_CLI_PROMPT_CHARS_MAX);

    if (tg_cli_terminal_get_width() == 0 && len < text.len) {
        tg_buf_truncate(out, start + len);
        tg_buf_append_cstr(out, "…");
    }
}

static void
tg_cli_cell_append_int(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    json_object *value;

    value = tg_cli_json_get(cell->row, cell->member);

    tg_buf_append_str(out, tg_cli_json_is_number(value)
                               ? tg_cli_json_write(value)
                               : TG_STR("-"));
}

/* Appends the duration of a task that has started, else nothing. */
static void
tg_cli_cell_append_started_duration(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    double ms;

    ms = tg_cli_task_get_duration(cell->row);

    if (ms >= 0) {
        tg_cli_append_duration(out, ms);
    }
}

static void
tg_cli_cell_append_task_duration(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    size_t len;

    len = out->len;
    tg_cli_cell_append_started_duration(out, cell);
    tg_buf_append_cstr(out, out->len == len ? "-" : "");
}

static int
tg_cli_tasks_has_text(json_object *tasks, const char *member)
{
    tg_cli_json_iter_t json;
    json_object *task;

    for (tg_cli_json_iter_init(&json, tasks);
         tg_cli_json_iter_next(&json, &task);) {
        if (tg_cli_json_get_text(task, member).len != 0) {
            return 1;
        }
    }

    return 0;
}

void
tg_cli_task_append_list(tg_buf_t *out, json_object *tasks)
{
#define TG_CLI_TASK_COLUMNS                                                    \
    { "ID", tg_cli_cell_append_text, "id" },                                   \
        { "STATE", tg_cli_cell_append_text, "state" },                         \
        { ">PRIORITY", tg_cli_cell_append_int, "priority" },                   \
        { ">AGE", tg_cli_cell_append_age, "createdAt" },                       \
    {                                                                          \
        ">TOOK", tg_cli_cell_append_task_duration, NULL                        \
    }
#define TG_CLI_TASK_LAST_COLUMNS                                               \
    { "AGENT", tg_cli_cell_append_text, "agent" },                             \
        { "<PROMPT", tg_cli_cell_append_prompt, "prompt" },                    \
    {                                                                          \
        NULL, NULL, NULL                                                       \
    }
    static const tg_cli_column_t columns[] = {
        TG_CLI_TASK_COLUMNS,
        TG_CLI_TASK_LAST_COLUMNS,
    };
    static const tg_cli_column_t columns_with_machine[] = {
        TG_CLI_TASK_COLUMNS,
        { "MACHINE", tg_cli_cell_append_optional_text, "machine" },
        TG_CLI_TASK_LAST_COLUMNS,
    };
    tg_cli_json_iter_t json;
    tg_cli_table_t table;
    json_object *task;

    if (!json_object_is_type(tasks, json_type_array)) {
        return;
    }

    tg_cli_table_init(&table, tg_cli_tasks_has_text(tasks, "machine")
                                  ? columns_with_machine
                                  : columns);

    for (tg_cli_json_iter_init(&json, tasks);
         tg_cli_json_iter_next(&json, &task);) {
        tg_cli_table_add(&table, tasks, task);
    }

    tg_cli_table_append(&table, out);
}

void
tg_cli_task_append_stats(tg_buf_t *out, json_object *stats)
{
    static const tg_cli_column_t columns[] = {
        { ">QUEUED", tg_cli_cell_append_uint, "queued" },
        { ">RUNNING", tg_cli_cell_append_uint, "running" },
        { ">COMPLETED", tg_cli_cell_append_uint, "completed" },
        { ">FAILED", tg_cli_cell_append_uint, "failed" },
        { ">CANCELLED", tg_cli_cell_append_uint, "cancelled" },
        { ">TOTAL", tg_cli_cell_append_uint, "total" },
        { NULL, NULL, NULL },
    };
    tg_cli_table_t table;

    tg_cli_table_init(&table, columns);
    tg_cli_table_add(&table, stats, stats);
    tg_cli_table_append(&table, out);
}

/* --- one task --- */

/* Appends a value; further lines of a text are indented. */
static void
tg_cli_cell_append_value(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    json_object *object;
    const char *newline;
    tg_str_t text;
    size_t len;

    object = tg_cli_json_get(cell->row, cell->member);

    if (object == NULL) {
        return;
    }

    text = tg_cli_json_show(object);

    while (text.len != 0
           && (newline = memchr(text.data, '\n', text.len - 1)) != NULL)
    {
        len = (size_t) (newline - text.data);
        tg_utf8_append_visible(out, tg_str(text.data, len), 1);
        tg_buf_append_char(out, '\n');
        tg_cli_append_label(out, "");
        text = tg_str(newline + 1, text.len - len - 1);
    }

    text.len -= text.len != 0 && text.data[text.len - 1] == '\n';
    tg_utf8_append_visible(out, text, 1);
}

/* Appends a text of several lines below its label. */
static void
tg_cli_task_append_text(tg_buf_t *out, const char *label, json_object *task,
                        const char *member)
{
    tg_str_t text;

    text = tg_cli_json_get_text(task, member);

    if (text.len != 0) {
        tg_buf_printf(out, "\n%s:\n\n", label);
        tg_utf8_append_visible(out, text, 0);
        tg_cli_append_missing_newline(out);
    }
}

/* Appends a result: a text, or the text blocks of a tool's result. */
static void
tg_cli_task_append_result(tg_buf_t *out, json_object *task)
{
    tg_cli_json_iter_t json;
    json_object *part;

    tg_cli_task_append_text(out, "result", task, "result");
    tg_cli_json_iter_init(
        &json, tg_cli_json_get(tg_cli_json_get(task, "result"), "content"));

    while (tg_cli_json_iter_next(&json, &part)) {
        tg_cli_task_append_text(out, "result", part, "text");
    }
}

void
tg_cli_task_append_details(tg_buf_t *out, json_object *task)
{
    static const tg_cli_column_t columns[] = {
        { "id", tg_cli_cell_append_value, "id" },
        { "state", tg_cli_cell_append_value, "state" },
        { "error", tg_cli_cell_append_value, "error" },
        { "agent", tg_cli_cell_append_value, "agent" },
        { "priority", tg_cli_cell_append_value, "priority" },
        { "owner", tg_cli_cell_append_value, "owner" },
        { "created", tg_cli_cell_append_value, "createdAt" },
        { "started", tg_cli_cell_append_value, "startedAt" },
        { "ended", tg_cli_cell_append_value, "completedAt" },
        { "took", tg_cli_cell_append_started_duration, NULL },
        { "machine", tg_cli_cell_append_value, "machine" },
        { "pid", tg_cli_cell_append_value, "pid" },
        { "cwd", tg_cli_cell_append_value, "cwd" },
        { "metadata", tg_cli_cell_append_value, "metadata" },
        { NULL, NULL, NULL },
    };
    if (!json_object_is_type(task, json_type_object)) {
        return;
    }

    tg_cli_append_fields(out, columns, task, task);
    tg_cli_task_append_text(out, "prompt", task, "prompt");
    tg_cli_task_append_result(out, task);

    /* The result is usually the end of the output. */
    if (!tg_str_eq(tg_cli_json_get_text(task, "result"),
                   tg_cli_json_get_text(task, "output")))
    {
        tg_cli_task_append_text(out, "end of the output", task, "output");
    }
}

/* --- daemon --- */

void
tg_cli_automation_append_summary(tg_buf_t *out, json_object *automation)
{
    tg_buf_printf(out, "automation: %s, rules %" PRIu64 "\n",
                  tg_cli_json_is_true(automation, "enabled") ? "enabled"
                                                             : "disabled",
                  tg_cli_json_get_uint(automation, "ruleCount"));
}

/* Appends the state of an active task; only a running one has a start. */
static void
tg_cli_cell_append_active_state(tg_buf_t *out, const tg_cli_cell_t *cell)
{
    tg_buf_append_cstr(out,
                       tg_cli_json_get_text(cell->row, cell->member).len != 0
                           ? "running"
                           : "queued");
}

void
tg_cli_daemon_append_status(tg_buf_t *out, json_object *status)
{
    static const tg_cli_column_t columns[] = {
        { "ID", tg_cli_cell_append_text, "id" },
        { "STATE", tg_cli_cell_append_active_state, "startedAt" },
        { ">PRIORITY", tg_cli_cell_append_int, "priority" },
        { ">RUNTIME", tg_cli_cell_append_age, "startedAt" },
        { "AGENT", tg_cli_cell_append_text, "agent" },
        { "<PROMPT", tg_cli_cell_append_prompt, "prompt" },
        { NULL, NULL, NULL },
    };
    json_object *parts, *supervisor, *tasks, *automation;
    tg_cli_table_t table;

    parts = tg_cli_json_get_object(status, "subsystems");
    supervisor = tg_cli_json_get_object(parts, "supervisor");
    tasks = tg_cli_json_get_object(supervisor, "tasks");
    automation = tg_cli_json_get_object(parts, "automation");
    tg_buf_printf(out, "daemon: ");
    tg_cli_append_member(out, status, "health");
    tg_buf_printf(out, ", pid %" PRIu64 ", up ",
                  tg_cli_json_get_uint(status, "pid"));
    tg_cli_append_duration(
        out, 1000 * (double) tg_cli_json_get_uint(status, "uptime_seconds"));
    tg_buf_printf(out,
                  ", clients %" PRIu64 "\ntasks: running %" PRIu64
                  " (at most %" PRIu64 "), queued %" PRIu64 "\n",
                  tg_cli_json_get_uint(tg_cli_json_get_object(parts, "ipc"),
                                       "clients"),
                  tg_cli_json_get_uint(supervisor, "running"),
                  tg_cli_json_get_uint(supervisor, "maxConcurrency"),
                  tg_cli_json_get_uint(supervisor, "queued"));

    if (automation != NULL) {
        tg_cli_automation_append_summary(out, automation);
    }

    tg_cli_table_init(&table, columns);
    tg_cli_table_add_list(&table, tasks, "running");
    tg_cli_table_add_list(&table, tasks, "queued");
    tg_cli_table_append_section(&table, out);
}
