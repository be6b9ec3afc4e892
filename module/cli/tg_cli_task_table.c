/*
 * Tables of tasks, and the status of the daemon.
 */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <stdlib.h>
#include <time.h>

/* Number of characters of a prompt that are shown without a terminal. */
#define TG_CLI_PROMPT_CHARS_MAX 60

/* --- timestamps --- */

/*
 * Parses "2026-11-22T08:15:03.978Z".  Returns the Unix time in s, or -1 if
 * text is not a timestamp.
 */
static double
tg_cli_timestamp_parse(const char *text)
{
    struct tm tm;
    const char *rest;

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

/*
 * Converts a duration from s to ms.  Negative durations, from clocks that
 * differ, become 0.
 */
static double
tg_cli_convert_seconds_to_ms(double seconds)
{
    return seconds > 0 ? seconds * 1000 : 0;
}

double
tg_cli_task_get_duration(struct json_object *task)
{
    double start, end;

    start = tg_cli_timestamp_parse(tg_cli_json_get_text(task, "startedAt"));
    end = tg_cli_timestamp_parse(tg_cli_json_get_text(task, "completedAt"));

    if (start < 0) {
        return -1;
    }

    return tg_cli_convert_seconds_to_ms(
        (end < 0 ? tg_cli_clock_get_seconds() : end) - start);
}

static void
tg_cli_cells_append_duration(tg_buf_t *cells, double ms)
{
    if (ms < 0) {
        tg_buf_append_char(cells, '-');
    } else {
        tg_cli_append_duration(cells, ms);
    }

    tg_buf_append_char(cells, '\t');
}

void
tg_cli_cells_append_age(tg_buf_t *cells, struct json_object *object,
                        const char *member)
{
    double since;

    since = tg_cli_timestamp_parse(tg_cli_json_get_text(object, member));
    tg_cli_cells_append_duration(cells,
                                 since < 0
                                     ? -1
                                     : tg_cli_convert_seconds_to_ms(
                                         tg_cli_clock_get_seconds() - since));
}

void
tg_cli_cells_append_time_left(tg_buf_t *cells, struct json_object *object,
                              const char *member)
{
    double due;

    due = tg_cli_timestamp_parse(tg_cli_json_get_text(object, member));
    tg_cli_cells_append_duration(cells,
                                 due < 0 ? -1
                                         : tg_cli_convert_seconds_to_ms(
                                             due - tg_cli_clock_get_seconds()));
}

/* --- lists --- */

/*
 * Appends the first line of a prompt.  On a terminal the table truncates the
 * line to the terminal's width; without a terminal the line has at most
 * TG_CLI_PROMPT_CHARS_MAX characters.
 */
static void
tg_cli_cells_append_prompt(tg_buf_t *cells, const char *prompt)
{
    tg_buf_t line;
    tg_str_t text;
    size_t len;

    tg_buf_init(&line, cells->alloc);
    tg_cli_cells_append_first_line(&line, prompt, '\n');
    text = tg_buf_view(&line);
    len = tg_cli_terminal_get_width() == 0
              ? tg_utf8_prefix_len(text, TG_CLI_PROMPT_CHARS_MAX)
              : text.len;
    tg_buf_append(cells, text.data, len);
    tg_buf_append_cstr(cells, len < text.len ? "…\n" : "");
    cells->failed |= line.failed;
    tg_buf_deinit(&line);
}

static void
tg_cli_cells_append_priority(tg_buf_t *cells, struct json_object *task)
{
    struct json_object *priority;

    priority = tg_cli_json_get_member(task, "priority", json_type_int);
    tg_buf_append_int(cells,
                      priority != NULL ? json_object_get_int64(priority) : 0);
    tg_buf_append_char(cells, '\t');
}

/* Checks whether any task has this text member. */
static int
tg_cli_tasks_has_text(struct json_object *tasks, const char *member)
{
    size_t i;

    for (i = 0; i < json_object_array_length(tasks); i++) {
        if (tg_cli_json_get_text(json_object_array_get_idx(tasks, i), member)[0]
            != '\0')
        {
            return 1;
        }
    }

    return 0;
}

void
tg_cli_task_append_list(tg_buf_t *out, struct json_object *tasks)
{
    struct json_object *task;
    const char *machine;
    tg_buf_t cells;
    size_t i;
    int has_machine;

    if (!json_object_is_type(tasks, json_type_array)) {
        return;
    }

    has_machine = tg_cli_tasks_has_text(tasks, "machine");
    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells, "ID\tSTATE\t>PRIORITY\t>AGE\t>TOOK\t");
    tg_buf_append_cstr(&cells, has_machine ? "MACHINE\t" : "");
    tg_buf_append_cstr(&cells, "AGENT\t<PROMPT\n");

    for (i = 0; i < json_object_array_length(tasks); i++) {
        task = json_object_array_get_idx(tasks, i);
        tg_cli_cells_append_text(&cells, tg_cli_json_get_text(task, "id"),
                                 '\t');
        tg_cli_cells_append_text(&cells, tg_cli_json_get_text(task, "state"),
                                 '\t');
        tg_cli_cells_append_priority(&cells, task);
        tg_cli_cells_append_age(&cells, task, "createdAt");
        tg_cli_cells_append_duration(&cells, tg_cli_task_get_duration(task));

        if (has_machine) {
            machine = tg_cli_json_get_text(task, "machine");
            tg_cli_cells_append_text(&cells, machine[0] != '\0' ? machine : "-",
                                     '\t');
        }

        tg_cli_cells_append_text(&cells, tg_cli_json_get_text(task, "agent"),
                                 '\t');
        tg_cli_cells_append_prompt(&cells,
                                   tg_cli_json_get_text(task, "prompt"));
    }

    tg_cli_append_table(out, tg_buf_view(&cells));
    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
}

void
tg_cli_task_append_stats(tg_buf_t *out, struct json_object *stats)
{
    static const char *const names[] = { "queued", "running",   "completed",
                                         "failed", "cancelled", "total" };
    tg_buf_t cells;
    size_t i;

    tg_buf_init(&cells, out->alloc);
    tg_buf_append_cstr(&cells,
                       ">QUEUED\t>RUNNING\t>COMPLETED\t>FAILED\t>CANCELLED\t"
                       ">TOTAL\n");

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        tg_buf_append_uint(&cells, tg_cli_json_get_uint(stats, names[i]));
        tg_buf_append_char(&cells, i + 1 < sizeof(names) / sizeof(names[0])
                                       ? '\t'
                                       : '\n');
    }

    tg_cli_append_table(out, tg_buf_view(&cells));
    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
}

/* --- one task --- */

/*
 * Appends a line `created    2026-...` if the member exists; further lines of
 * its value are indented.
 */
static void
tg_cli_task_append_line(tg_buf_t *out, const char *label,
                        struct json_object *task, const char *member)
{
    struct json_object *value;
    const char *text;
    size_t len;

    if (!json_object_object_get_ex(task, member, &value) || value == NULL) {
        return;
    }

    text = json_object_is_type(value, json_type_string)
               ? json_object_get_string(value)
               : json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);

    do {
        len = strcspn(text, "\n");
        tg_buf_printf(out, "%-10s ", label);
        tg_utf8_append_visible(out, tg_str(text, len), 1);
        tg_buf_append_char(out, '\n');
        text += len + (text[len] != '\0');
        label = "";
    } while (*text != '\0');
}

/* Appends a text of several lines below its label. */
static void
tg_cli_task_append_text(tg_buf_t *out, const char *label,
                        struct json_object *task, const char *member)
{
    const char *text;

    text = tg_cli_json_get_text(task, member);

    if (text[0] != '\0') {
        tg_buf_printf(out, "\n%s:\n\n", label);
        tg_utf8_append_visible(out, tg_str_from_cstr(text), 0);
        tg_cli_append_missing_newline(out);
    }
}

/* Appends a result: a text, or the text blocks of a tool's result. */
static void
tg_cli_task_append_result(tg_buf_t *out, struct json_object *task)
{
    struct json_object *result, *part;
    size_t i;

    tg_cli_task_append_text(out, "result", task, "result");
    result = tg_cli_json_get_member(task, "result", json_type_object);

    for (i = 0; (part = tg_cli_json_get_element(result, "content", i)) != NULL;
         i++) {
        tg_cli_task_append_text(out, "result", part, "text");
    }
}

void
tg_cli_task_append_details(tg_buf_t *out, struct json_object *task)
{
    const char *result, *output;
    double took;

    if (!json_object_is_type(task, json_type_object)) {
        return;
    }

    tg_cli_task_append_line(out, "id", task, "id");
    tg_cli_task_append_line(out, "state", task, "state");
    tg_cli_task_append_line(out, "error", task, "error");
    tg_cli_task_append_line(out, "agent", task, "agent");
    tg_cli_task_append_line(out, "priority", task, "priority");
    tg_cli_task_append_line(out, "owner", task, "owner");
    tg_cli_task_append_line(out, "created", task, "createdAt");
    tg_cli_task_append_line(out, "started", task, "startedAt");
    tg_cli_task_append_line(out, "ended", task, "completedAt");
    took = tg_cli_task_get_duration(task);

    if (took >= 0) {
        tg_buf_printf(out, "%-10s ", "took");
        tg_cli_append_duration(out, took);
        tg_buf_append_char(out, '\n');
    }

    tg_cli_task_append_line(out, "machine", task, "machine");
    tg_cli_task_append_line(out, "pid", task, "pid");
    tg_cli_task_append_line(out, "cwd", task, "cwd");
    tg_cli_task_append_line(out, "metadata", task, "metadata");
    tg_cli_task_append_text(out, "prompt", task, "prompt");
    result = tg_cli_json_get_text(task, "result");
    output = tg_cli_json_get_text(task, "output");
    tg_cli_task_append_result(out, task);

    /* The result is usually the end of the output. */
    if (strcmp(result, output) != 0) {
        tg_cli_task_append_text(out, "end of the output", task, "output");
    }
}

/* --- daemon --- */

static void
tg_cli_cells_append_active_tasks(tg_buf_t *cells, struct json_object *tasks,
                                 const char *state)
{
    struct json_object *task;
    size_t i;

    for (i = 0; (task = tg_cli_json_get_element(tasks, state, i)) != NULL; i++)
    {
        tg_cli_cells_append_text(cells, tg_cli_json_get_text(task, "id"), '\t');
        tg_cli_cells_append_text(cells, state, '\t');

        if (tg_cli_json_get_member(task, "priority", json_type_int) != NULL) {
            tg_cli_cells_append_priority(cells, task);
        } else {
            tg_buf_append_cstr(cells, "-\t");
        }

        tg_cli_cells_append_age(cells, task, "startedAt");
        tg_cli_cells_append_text(cells, tg_cli_json_get_text(task, "agent"),
                                 '\t');
        tg_cli_cells_append_prompt(cells, tg_cli_json_get_text(task, "prompt"));
    }
}

void
tg_cli_automation_append_summary(tg_buf_t *out, struct json_object *automation)
{
    tg_buf_append_cstr(out, "automation: ");
    tg_buf_append_cstr(out, json_object_get_boolean(tg_cli_json_get_member(
                                automation, "enabled", json_type_boolean))
                                ? "enabled"
                                : "disabled");
    tg_buf_append_cstr(out, ", rules ");
    tg_buf_append_uint(out, tg_cli_json_get_uint(automation, "ruleCount"));
    tg_buf_append_char(out, '\n');
}

void
tg_cli_daemon_append_status(tg_buf_t *out, struct json_object *status)
{
    struct json_object *parts, *supervisor, *tasks, *automation;
    tg_buf_t cells;

    parts = tg_cli_json_get_member(status, "subsystems", json_type_object);
    supervisor = tg_cli_json_get_member(parts, "supervisor", json_type_object);
    tasks = tg_cli_json_get_member(supervisor, "tasks", json_type_object);
    automation = tg_cli_json_get_member(parts, "automation", json_type_object);
    tg_buf_printf(out, "daemon: ");
    tg_utf8_append_visible(
        out, tg_str_from_cstr(tg_cli_json_get_text(status, "health")), 1);
    tg_buf_append_cstr(out, ", pid ");
    tg_buf_append_uint(out, tg_cli_json_get_uint(status, "pid"));
    tg_buf_append_cstr(out, ", up ");
    tg_cli_append_duration(
        out, 1000 * (double) tg_cli_json_get_uint(status, "uptime_seconds"));
    tg_buf_append_cstr(out, ", clients ");
    tg_buf_append_uint(
        out, tg_cli_json_get_uint(tg_cli_json_get_member(parts, "ipc",
                                                         json_type_object),
                                  "clients"));
    tg_buf_append_cstr(out, "\ntasks: running ");
    tg_buf_append_uint(out, tg_cli_json_get_uint(supervisor, "running"));
    tg_buf_append_cstr(out, " (at most ");
    tg_buf_append_uint(out, tg_cli_json_get_uint(supervisor, "maxConcurrency"));
    tg_buf_append_cstr(out, "), queued ");
    tg_buf_append_uint(out, tg_cli_json_get_uint(supervisor, "queued"));
    tg_buf_append_char(out, '\n');

    if (automation != NULL) {
        tg_cli_automation_append_summary(out, automation);
    }

    tg_buf_init(&cells, out->alloc);
    tg_cli_cells_append_active_tasks(&cells, tasks, "running");
    tg_cli_cells_append_active_tasks(&cells, tasks, "queued");

    if (cells.len != 0) {
        tg_buf_t table;

        tg_buf_init(&table, out->alloc);
        tg_buf_append_cstr(&table,
                           "ID\tSTATE\t>PRIORITY\t>RUNS\tAGENT\t<PROMPT\n");
        tg_buf_append_str(&table, tg_buf_view(&cells));
        tg_buf_append_char(out, '\n');
        tg_cli_append_table(out, tg_buf_view(&table));
        out->failed |= table.failed;
        tg_buf_deinit(&table);
    }

    out->failed |= cells.failed;
    tg_buf_deinit(&cells);
}
