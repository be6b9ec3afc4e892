/* The commands `toolgate task wait` and `toolgate task output`. */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_output.h"

#include <unistd.h>

/* Longest wait of the server for the end of a task, in s. */
#define TG_CLI_TASK_WAIT_MAX_S 20

static int
tg_cli_task_has_ended(json_object *task)
{
    return !tg_cli_json_has_text(task, "state", "queued")
           && !tg_cli_json_has_text(task, "state", "running");
}

static int
tg_cli_task_report_end(const char *id, json_object *task, int is_quiet)
{
    tg_buf_t text;
    tg_str_t why;
    int is_failed;
    double ms;

    if (!tg_cli_json_has_text(task, "state", "completed")) {
        is_failed = tg_cli_json_has_text(task, "state", "failed");
        why = tg_cli_json_get_text(task, is_failed ? "error" : "state");
        (void) tg_cli_error("%s %s %.*s", id, is_failed ? "failed:" : "was",
                            (int) why.len, why.len != 0 ? why.data : "");
        return TG_CLI_EXIT_REFUSED;
    }

    ms = tg_cli_task_get_duration(task);

    if (!is_quiet && ms >= 0) {
        tg_buf_init(&text, tg_alloc_libc());
        tg_cli_append_duration(&text, ms);
        (void) printf("%s completed after %.*s\n", id, (int) text.len,
                      tg_buf_view(&text).data);
        tg_buf_deinit(&text);
    }

    return tg_cli_flush_stdout(TG_CLI_EXIT_OK);
}

/* --- wait --- */

typedef struct {
    const tg_cli_options_t *options;
    uint64_t deadline_ms; /* in ms of uv_hrtime(); 0: no limit */
} tg_cli_task_wait_t;

static uint64_t
tg_cli_get_monotonic_ms(void)
{
    return uv_hrtime() / 1000000;
}

/* On a terminal the wait is short, to update the line there. */
static uint64_t
tg_cli_task_wait_get_seconds(const tg_cli_task_wait_t *wait)
{
    uint64_t now, seconds;

    now = tg_cli_get_monotonic_ms();
    seconds = tg_cli_terminal_has_cursor(stderr) ? 1 : TG_CLI_TASK_WAIT_MAX_S;

    if (wait->deadline_ms != 0) {
        now = wait->deadline_ms > now ? (wait->deadline_ms - now + 999) / 1000
                                      : 0;
        seconds = now < seconds ? now : seconds;
    }

    return seconds;
}

/* Shows `task-0012 running for 12 s (claude)`, on a terminal. */
static void
tg_cli_task_wait_show_progress(const char *id, json_object *task)
{
    tg_buf_t line;
    double ms;

    tg_buf_init(&line, tg_alloc_libc());
    tg_buf_printf(&line, "%s ", id);
    tg_buf_append_str(&line, tg_cli_json_get_text(task, "state"));
    ms = tg_cli_task_get_duration(task);

    if (ms >= 0) {
        tg_buf_append_cstr(&line, " for ");
        tg_cli_append_duration(&line, ms);
    }

    tg_buf_append_cstr(&line, " (");
    tg_buf_append_str(&line, tg_cli_json_get_text(task, "agent"));
    tg_buf_append_char(&line, ')');
    tg_cli_progress_show_text(tg_buf_view(&line));
    tg_buf_deinit(&line);
}

/* Returns 1 with the exit status if the task has ended, else 0. */
static int
tg_cli_task_wait_check_response(tg_cli_session_t *session, const char *id,
                                int *status)
{
    json_object *task;
    int is_json, is_over;

    task = session->response.result;
    is_over = tg_cli_task_has_ended(task);

    if (is_over) {
        is_json = session->options->is_json;
        *status = is_json ? tg_cli_task_print_response(session, NULL)
                          : TG_CLI_EXIT_OK;

        if (*status == TG_CLI_EXIT_OK) {
            *status = tg_cli_task_report_end(id, task, is_json);
        }

    } else {
        tg_cli_task_wait_show_progress(id, task);
    }

    return is_over;
}

static int
tg_cli_task_wait_poll(tg_cli_session_t *session, const tg_cli_task_wait_t *wait,
                      const char *id)
{
    json_object *params;
    int rc;

    do {
        if (wait->deadline_ms != 0
            && tg_cli_get_monotonic_ms() >= wait->deadline_ms) {
            tg_cli_progress_clear();
            return tg_cli_error("%s has not ended within %s s; it continues",
                                id, wait->options->timeout);
        }

        params = tg_cli_task_new_params(id);
        (void) json_object_object_add(params, "timeout",
                                      json_object_new_uint64(
                                          tg_cli_task_wait_get_seconds(wait)));
        rc = tg_cli_task_request_read_only(session, "task.wait", params,
                                           TG_CLI_TASK_TIMEOUT_MS);
    } while (rc == TG_CLI_EXIT_OK
             && !tg_cli_task_wait_check_response(session, id, &rc));

    return rc;
}

static int
tg_cli_task_wait_on_connect(tg_cli_session_t *session, void *ctx)
{
    const tg_cli_options_t *options;
    tg_cli_task_wait_t wait;
    int i, rc, status;

    options = ctx;
    wait.options = options;
    wait.deadline_ms = options->timeout_ms != 0
                           ? tg_cli_get_monotonic_ms() + options->timeout_ms
                           : 0;
    status = TG_CLI_EXIT_OK;

    /* --timeout limits the wait for the task, not for each response. */
    session->timeout_ms = 0;
    session->deadline = 0;

    for (i = 0; i < options->nargs; i++) {
        rc = tg_cli_task_wait_poll(session, &wait, options->args[i]);

        if (rc > TG_CLI_EXIT_REFUSED) {
            return rc;
        }

        status |= rc;
    }

    return status;
}

const tg_cli_command_t tg_cli_cmd_task_wait = {
    .name = "task wait",
    .missing_arg = "wait for which task? (toolgate task list shows them)",
    .on_connect = tg_cli_task_wait_on_connect,
};

/* --- output --- */

/* Prints the output from *offset on. *is_over is set after the last one. */
static int
tg_cli_task_output_print_next(tg_cli_session_t *session, const char *id,
                              uint64_t *offset, int follows, int *is_over)
{
    json_object *part;
    uint64_t from, gone;
    json_object *params;
    int rc;

    params = tg_cli_task_new_params(id);
    (void) json_object_object_add(params, "offset",
                                  json_object_new_uint64(*offset));

    if (follows) {
        (void) json_object_object_add(params, "follow",
                                      json_object_new_boolean(1));
    }

    rc = tg_cli_task_request_read_only(session, "task.output", params,
                                       TG_CLI_TASK_TIMEOUT_MS);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    part = session->response.result;
    from = *offset;
    *offset = tg_cli_json_get_uint(part, "next");

    /* Without new output there is no more, unless the task still runs. */
    *is_over = *offset <= from
                   ? !follows || tg_cli_task_has_ended(part)
                   : !follows && *offset >= tg_cli_json_get_uint(part, "size");

    if (session->options->is_json) {
        rc = tg_cli_task_print_response(session, NULL);

    } else {
        if (tg_cli_json_get_uint(part, "offset") > from) {
            gone = tg_cli_json_get_uint(part, "offset") - from;
            (void) tg_cli_error("%s: the first %llu %s missing", id,
                                (unsigned long long) gone,
                                tg_pick_plural(gone, "byte is", "bytes are"));
        }

        tg_cli_print(stdout, tg_cli_json_get_text(part, "output"));
        rc = tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    }

    return rc;
}

static int
tg_cli_task_output_print_all(tg_cli_session_t *session, const char *id,
                             int follows)
{
    uint64_t offset;
    int rc, is_over;

    offset = 0;
    is_over = 0;

    do {
        rc = tg_cli_task_output_print_next(session, id, &offset, follows,
                                           &is_over);
    } while (rc == TG_CLI_EXIT_OK && !is_over);

    return rc;
}

int
tg_cli_task_follow_output(tg_cli_session_t *session, const char *id)
{
    int rc;

    rc = tg_cli_task_output_print_all(session, id, 1);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    rc = tg_cli_task_request_read_only(session, "task.get",
                                       tg_cli_task_new_params(id),
                                       TG_CLI_REQUEST_TIMEOUT_MS);

    return rc == TG_CLI_EXIT_OK
               ? tg_cli_task_report_end(id, session->response.result, 1)
               : rc;
}

static int
tg_cli_task_output_on_connect(tg_cli_session_t *session, void *ctx)
{
    return session->options->is_follow
               ? tg_cli_task_follow_output(session, session->options->args[0])
               : tg_cli_task_output_print_all(session,
                                              session->options->args[0], 0);
}

static const tg_cli_option_t tg_cli_task_output_options[] = {
    TG_CLI_FLAG("--follow", 'f', is_follow, NULL),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_task_output = {
    .name = "task output",
    .options = tg_cli_task_output_options,
    .max_args = 1,
    .missing_arg = "output of which task? (toolgate task list shows them)",
    .on_connect = tg_cli_task_output_on_connect,
};
