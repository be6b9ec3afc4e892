/*
 * toolgate task wait and output: the task has all the time that it takes, and
 * may go on after whoever looks at it.
 */
#include "client/tg_cli_task.h"

#include "client/tg_cli_progress.h"
#include "client/tg_cli_text.h"

#include <unistd.h>

/* Seconds that the server waits before it answers that it still runs. */
#define TG_CLI_TASK_WAIT 20

static int
tg_cli_task_has_ended(struct json_object *task)
{
    const char *state;

    state = tg_cli_member_text(task, "state");

    return strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
}

/* Says how one has ended: the exit status. */
static int
tg_cli_task_ended(const char *id, struct json_object *task, int is_quiet)
{
    const char *state;
    tg_buf_t took;
    int is_failed;
    double ms;

    state = tg_cli_member_text(task, "state");

    if (strcmp(state, "completed") != 0) {
        is_failed = strcmp(state, "failed") == 0;
        (void) tg_cli_error("%s %s %s", id, is_failed ? "has failed:" : "was",
                            is_failed ? tg_cli_member_text(task, "error")
                                      : state);
        return TG_CLI_REFUSED;
    }

    ms = tg_cli_task_took(task);

    if (!is_quiet && ms >= 0) {
        tg_buf_init(&took, tg_alloc_libc());
        tg_cli_put_time(&took, ms);
        (void) printf("%s is completed, after %.*s\n", id, (int) took.len,
                      tg_buf_view(&took).data);
        tg_buf_deinit(&took);
    }

    return tg_cli_finish(TG_CLI_DONE);
}

/* --- wait --- */

typedef struct {
    const tg_cli_options_t *options;
    uint64_t until; /* of uv_hrtime(), in ms; 0: as long as it takes */
} tg_cli_wait_t;

static uint64_t
tg_cli_task_now(void)
{
    return uv_hrtime() / 1000000;
}

/* Seconds that the server may wait: with a terminal people want to see. */
static uint64_t
tg_cli_wait_seconds(const tg_cli_wait_t *wait)
{
    uint64_t now, seconds;

    now = tg_cli_task_now();
    seconds = tg_cli_has_cursor(stderr) ? 1 : TG_CLI_TASK_WAIT;

    if (wait->until != 0) {
        now = wait->until > now ? (wait->until - now + 999) / 1000 : 0;
        seconds = now < seconds ? now : seconds;
    }

    return seconds;
}

/* `task-0012 running for 12 s (claude)`, on a terminal. */
static void
tg_cli_wait_show(const char *id, struct json_object *task)
{
    tg_buf_t line;
    double ms;

    tg_buf_init(&line, tg_alloc_libc());
    tg_buf_printf(&line, "%s %s", id, tg_cli_member_text(task, "state"));
    ms = tg_cli_task_took(task);

    if (ms >= 0) {
        tg_buf_text(&line, " for ");
        tg_cli_put_time(&line, ms);
    }

    tg_buf_printf(&line, " (%s)", tg_cli_member_text(task, "agent"));
    tg_cli_progress_line(tg_buf_view(&line));
    tg_buf_deinit(&line);
}

/* Has one ended?  Then the exit status. */
static int
tg_cli_wait_look(tg_cli_session_t *session, const char *id, int *status)
{
    struct json_object *task;
    int is_json, is_over;

    task = tg_cli_parse(tg_buf_view(&session->answer.result));
    is_over = tg_cli_task_has_ended(task);

    if (is_over) {
        is_json = (session->options->given & TG_CLI_JSON) != 0;
        *status = is_json ? tg_cli_task_print(session, NULL) : TG_CLI_DONE;

        if (*status == TG_CLI_DONE) {
            *status = tg_cli_task_ended(id, task, is_json);
        }

    } else {
        tg_cli_wait_show(id, task);
    }

    (void) json_object_put(task);

    return is_over;
}

static int
tg_cli_wait_one(tg_cli_session_t *session, const tg_cli_wait_t *wait,
                const char *id)
{
    tg_buf_t params;
    int rc;

    do {
        if (wait->until != 0 && tg_cli_task_now() >= wait->until) {
            tg_cli_progress_end();
            return tg_cli_error("%s has not ended within %s s; it goes on", id,
                                wait->options->timeout);
        }

        tg_cli_task_params(&params, id);
        tg_buf_text(&params, ",\"timeout\":");
        tg_buf_uint(&params, tg_cli_wait_seconds(wait));
        tg_buf_char(&params, '}');
        rc = tg_cli_task_ask(session, "task.wait", tg_buf_view(&params),
                             TG_CLI_TASK_PATIENCE_MS);
        tg_buf_deinit(&params);
    } while (rc == TG_CLI_DONE && !tg_cli_wait_look(session, id, &rc));

    return rc;
}

static int
tg_cli_wait_ask(tg_cli_session_t *session, void *ctx)
{
    const tg_cli_options_t *options;
    tg_cli_wait_t wait;
    int i, rc, status;

    options = ctx;
    wait.options = options;
    wait.until = options->timeout_ms != 0
                     ? tg_cli_task_now() + options->timeout_ms
                     : 0;
    status = TG_CLI_DONE;

    /* It is the task's time, and no answer's. */
    session->timeout_ms = 0;
    session->deadline = 0;

    for (i = 0; i < options->nargs; i++) {
        rc = tg_cli_wait_one(session, &wait, options->args[i]);

        if (rc > TG_CLI_REFUSED) {
            return rc;
        }

        status |= rc;
    }

    return status;
}

static int
tg_cli_wait_run(const tg_cli_options_t *options)
{
    return options->nargs != 0
               ? tg_cli_session_run(options, tg_cli_wait_ask,
                                    (void *) (uintptr_t) options)
               : tg_cli_error("wait for which task? (toolgate task list shows "
                              "them)");
}

const tg_cli_command_t tg_cli_task_wait = {
    .name = "task wait",
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT,
    .run = tg_cli_wait_run,
};

/* --- output --- */

/* Asks for what there is from a place on, and writes it. */
static int
tg_cli_output_next(tg_cli_session_t *session, const char *id, uint64_t *offset,
                   int follows, int *is_over)
{
    struct json_object *part;
    uint64_t from, gone;
    tg_buf_t params;
    int rc;

    tg_cli_task_params(&params, id);
    tg_buf_text(&params, ",\"offset\":");
    tg_buf_uint(&params, *offset);
    tg_buf_text(&params, follows ? ",\"follow\":true}" : "}");
    rc = tg_cli_task_ask(session, "task.output", tg_buf_view(&params),
                         TG_CLI_TASK_PATIENCE_MS);
    tg_buf_deinit(&params);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    part = tg_cli_parse(tg_buf_view(&session->answer.result));
    from = *offset;
    *offset = tg_cli_member_uint(part, "next");

    /* Where nothing comes, nothing will, unless it goes on. */
    *is_over = *offset <= from
                   ? !follows || tg_cli_task_has_ended(part)
                   : !follows && *offset >= tg_cli_member_uint(part, "size");

    if (session->options->given & TG_CLI_JSON) {
        rc = tg_cli_task_print(session, NULL);

    } else {
        if (tg_cli_member_uint(part, "offset") > from) {
            gone = tg_cli_member_uint(part, "offset") - from;
            (void) tg_cli_error("%s: %llu %s not kept any more", id,
                                (unsigned long long) gone,
                                tg_plural(gone, "byte is", "bytes are"));
        }

        tg_cli_print(stdout, tg_str_c(tg_cli_member_text(part, "output")));
        rc = tg_cli_finish(TG_CLI_DONE);
    }

    (void) json_object_put(part);

    return rc;
}

static int
tg_cli_output_all(tg_cli_session_t *session, const char *id, int follows)
{
    uint64_t offset;
    int rc, is_over;

    offset = 0;
    is_over = 0;

    do {
        rc = tg_cli_output_next(session, id, &offset, follows, &is_over);
    } while (rc == TG_CLI_DONE && !is_over);

    return rc;
}

int
tg_cli_task_follow(tg_cli_session_t *session, const char *id)
{
    struct json_object *task;
    tg_buf_t params;
    int rc;

    rc = tg_cli_output_all(session, id, 1);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    tg_cli_task_params(&params, id);
    tg_buf_char(&params, '}');
    rc = tg_cli_task_ask(session, "task.get", tg_buf_view(&params),
                         TG_CLI_PATIENCE_MS);
    tg_buf_deinit(&params);

    if (rc != TG_CLI_DONE) {
        return rc;
    }

    task = tg_cli_parse(tg_buf_view(&session->answer.result));
    rc = tg_cli_task_ended(id, task, 1);
    (void) json_object_put(task);

    return rc;
}

static int
tg_cli_output_ask(tg_cli_session_t *session, void *ctx)
{
    return session->options->given & TG_CLI_FOLLOW
               ? tg_cli_task_follow(session, ctx)
               : tg_cli_output_all(session, ctx, 0);
}

static int
tg_cli_output_run(const tg_cli_options_t *options)
{
    return options->nargs == 1
               ? tg_cli_session_run(options, tg_cli_output_ask,
                                    options->args[0])
               : tg_cli_error("output of which task? (toolgate task list shows "
                              "them)");
}

const tg_cli_command_t tg_cli_task_output = {
    .name = "task output",
    .options = TG_CLI_SOCKET | TG_CLI_JSON | TG_CLI_TIMEOUT | TG_CLI_FOLLOW,
    .run = tg_cli_output_run,
};
