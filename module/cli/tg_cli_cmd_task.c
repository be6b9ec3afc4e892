/*
 * The command `toolgate task`: submits, shows and cancels tasks.
 */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_input.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/*
 * Appends key and the number of an option, if the option was given.  Returns
 * TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED after reporting an invalid number.
 */
static int
tg_cli_params_append_number(tg_buf_t *params, const char *option,
                            const char *key, const char *text)
{
    int64_t number;

    if (text == NULL) {
        return TG_CLI_EXIT_OK;
    }

    if (tg_json_parse_int64(tg_str_from_cstr(text), &number) != TG_OK) {
        return tg_cli_error("%s must be an integer, not \"%s\"", option, text);
    }

    tg_buf_append_cstr(params, key);
    tg_buf_append_int(params, number);

    return TG_CLI_EXIT_OK;
}

static void
tg_cli_params_add_text(tg_buf_t *params, const char *key, const char *text)
{
    if (text != NULL) {
        tg_json_add_cstr(params, key, text);
    }
}

/* --- submit --- */

/* Stores the prompt: the arguments separated by blanks, or standard input. */
static int
tg_cli_task_submit_read_prompt(const tg_cli_options_t *options,
                               tg_buf_t *prompt)
{
    int i, rc;

    rc = TG_CLI_EXIT_OK;

    if (options->nargs == 0) {
        return tg_cli_error("submit what? Give the prompt, or - to read it "
                            "from standard input");
    }

    if (options->nargs == 1 && strcmp(options->args[0], "-") == 0) {
        rc = tg_cli_input_read("-", prompt);
    } else {
        for (i = 0; i < options->nargs; i++) {
            tg_buf_append_cstr(prompt, i == 0 ? "" : " ");
            tg_buf_append_cstr(prompt, options->args[i]);
        }
    }

    return rc != TG_CLI_EXIT_OK || tg_utf8_is_valid(tg_buf_view(prompt))
               ? rc
               : tg_cli_error("the prompt is not valid UTF-8");
}

static int
tg_cli_task_submit_write_params(const tg_cli_options_t *options,
                                tg_buf_t *params)
{
    char path[PATH_MAX];
    tg_buf_t prompt;
    int rc;

    tg_buf_init(&prompt, tg_alloc_libc());
    rc = tg_cli_task_submit_read_prompt(options, &prompt);
    tg_buf_append_char(params, '{');
    tg_json_add_string(params, "prompt", tg_buf_view(&prompt));
    params->failed |= prompt.failed;
    tg_buf_deinit(&prompt);
    tg_cli_params_add_text(params, "agent", options->agent);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_params_append_number(params, "--priority",
                                         ",\"priority\":", options->priority);
    }

    if (rc == TG_CLI_EXIT_OK && options->cwd != NULL) {
        if (realpath(options->cwd, path) == NULL) {
            return tg_cli_error("cannot use the folder %s: %s", options->cwd,
                                strerror(errno));
        }

        tg_cli_params_add_text(params, "cwd", path);
    }

    if (rc == TG_CLI_EXIT_OK && options->metadata != NULL) {
        if (tg_json_validate(tg_str_from_cstr(options->metadata), NULL) != TG_OK
            || tg_json_type(tg_str_from_cstr(options->metadata))
                   != TG_JSON_OBJECT)
        {
            return tg_cli_error("--metadata must be a JSON object, not %s",
                                options->metadata);
        }

        tg_json_begin_member(params, "metadata");
        tg_buf_append_cstr(params, options->metadata);
    }

    tg_buf_append_char(params, '}');

    return rc == TG_CLI_EXIT_OK && tg_buf_has_failed(params)
               ? tg_cli_error_nomem()
               : rc;
}

/*
 * Submits a task and writes its id on a line of its own: to standard error if
 * the task's output follows, else to standard output.
 */
static int
tg_cli_task_submit_on_connect(tg_cli_session_t *session, void *ctx)
{
    struct json_object *response;
    int rc, follows;

    rc = tg_cli_task_request(session, "task.submit",
                             tg_buf_view((const tg_buf_t *) ctx));

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    follows = (session->options->given & TG_CLI_OPT_FOLLOW) != 0;

    if ((session->options->given & TG_CLI_OPT_JSON) && !follows) {
        return tg_cli_task_print_response(session, NULL);
    }

    response = tg_cli_json_parse(tg_buf_view(&session->response.result));
    tg_cli_print(follows ? stderr : stdout,
                 tg_str_from_cstr(tg_cli_json_get_text(response, "taskId")));
    (void) fputc('\n', follows ? stderr : stdout);
    rc = follows ? tg_cli_task_follow_output(
             session, tg_cli_json_get_text(response, "taskId"))
                 : tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    (void) json_object_put(response);

    return rc;
}

static int
tg_cli_task_submit_run(const tg_cli_options_t *options)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    rc = tg_cli_task_submit_write_params(options, &params);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_run(options, tg_cli_task_submit_on_connect,
                                &params);
    }

    tg_buf_deinit(&params);

    return rc;
}

static const tg_cli_command_t tg_cli_cmd_task_submit = {
    .name = "task submit",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_AGENT | TG_CLI_OPT_TASK_SUBMIT | TG_CLI_OPT_FOLLOW,
    .run = tg_cli_task_submit_run,
};

/* --- list, get, stats --- */

static int
tg_cli_task_list_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "task.list",
                                       tg_buf_view((const tg_buf_t *) ctx),
                                       tg_cli_task_append_list);
}

static int
tg_cli_task_list_run(const tg_cli_options_t *options)
{
    tg_buf_t params;
    int rc;

    tg_buf_init(&params, tg_alloc_libc());
    tg_buf_append_char(&params, '{');
    tg_json_add_bool(&params, "all", 0);
    tg_cli_params_add_text(&params, "state", options->state);
    tg_cli_params_add_text(&params, "agent", options->agent);
    rc = tg_cli_params_append_number(&params, "--limit",
                                     ",\"limit\":", options->limit);
    tg_buf_append_char(&params, '}');

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_buf_has_failed(&params)
                 ? tg_cli_error_nomem()
                 : tg_cli_session_run(options, tg_cli_task_list_on_connect,
                                      &params);
    }

    tg_buf_deinit(&params);

    return rc;
}

static const tg_cli_command_t tg_cli_cmd_task_list = {
    .name = "task list",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_OPT_TASK_FILTER | TG_CLI_OPT_AGENT
               | TG_CLI_NO_ARGS,
    .run = tg_cli_task_list_run,
};

static int
tg_cli_task_get_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_buf_t params;
    int rc;

    tg_cli_task_begin_params(&params, ctx);
    tg_buf_append_char(&params, '}');
    rc = tg_cli_task_fetch_and_print(session, "task.get", tg_buf_view(&params),
                                     tg_cli_task_append_details);
    tg_buf_deinit(&params);

    return rc;
}

static int
tg_cli_task_get_run(const tg_cli_options_t *options)
{
    return options->nargs == 1
               ? tg_cli_session_run(options, tg_cli_task_get_on_connect,
                                    options->args[0])
               : tg_cli_error(
                   "get which task? (toolgate task list shows them)");
}

static const tg_cli_command_t tg_cli_cmd_task_get = {
    .name = "task get",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH,
    .run = tg_cli_task_get_run,
};

static int
tg_cli_task_stats_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "task.stats", TG_STR_NONE,
                                       tg_cli_task_append_stats);
}

static int
tg_cli_task_stats_run(const tg_cli_options_t *options)
{
    return tg_cli_session_run(options, tg_cli_task_stats_on_connect, NULL);
}

static const tg_cli_command_t tg_cli_cmd_task_stats = {
    .name = "task stats",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_NO_ARGS,
    .run = tg_cli_task_stats_run,
};

/* --- cancel --- */

static int
tg_cli_task_cancel_one(tg_cli_session_t *session, const char *id)
{
    tg_buf_t params;
    int rc;

    tg_cli_task_begin_params(&params, id);
    tg_buf_append_char(&params, '}');
    rc = tg_cli_task_request(session, "task.cancel", tg_buf_view(&params));
    tg_buf_deinit(&params);

    if (rc == TG_CLI_EXIT_OK && (session->options->given & TG_CLI_OPT_JSON)) {
        return tg_cli_task_print_response(session, NULL);
    }

    if (rc == TG_CLI_EXIT_OK) {
        (void) printf("%s was cancelled\n", id);
    }

    return rc;
}

/* Cancels each task, even after a failure. */
static int
tg_cli_task_cancel_on_connect(tg_cli_session_t *session, void *ctx)
{
    const tg_cli_options_t *options;
    int i, rc, status;

    options = ctx;
    status = TG_CLI_EXIT_OK;

    for (i = 0; i < options->nargs; i++) {
        rc = tg_cli_task_cancel_one(session, options->args[i]);

        if (rc > TG_CLI_EXIT_REFUSED) {
            return rc;
        }

        status |= rc;
    }

    return tg_cli_flush_stdout(status);
}

static int
tg_cli_task_cancel_run(const tg_cli_options_t *options)
{
    return options->nargs != 0
               ? tg_cli_session_run(options, tg_cli_task_cancel_on_connect,
                                    (void *) (uintptr_t) options)
               : tg_cli_error("cancel which task? (toolgate task list shows "
                              "them)");
}

static const tg_cli_command_t tg_cli_cmd_task_cancel = {
    .name = "task cancel",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT,
    .run = tg_cli_task_cancel_run,
};

/* --- command --- */

static int
tg_cli_task_run(const tg_cli_options_t *options)
{
    static const tg_cli_command_t *const commands[] = {
        &tg_cli_cmd_task_submit, &tg_cli_cmd_task_list,
        &tg_cli_cmd_task_get,    &tg_cli_cmd_task_cancel,
        &tg_cli_cmd_task_wait,   &tg_cli_cmd_task_output,
        &tg_cli_cmd_task_stats,  NULL,
    };

    return tg_cli_subcommand_run(options, commands, "task");
}

const tg_cli_command_t tg_cli_cmd_task = {
    .name = "task",
    .synopsis =
        "task submit PROMPT... [--agent NAME] [--priority N] [--cwd FOLDER]\n"
        "                [--metadata JSON] [-f] [--json]\n"
        "       toolgate task list [--state STATE] [--agent NAME] [--limit N] "
        "[--watch]\n"
        "                [--json]\n"
        "       toolgate task get ID [--watch] [--json]\n"
        "       toolgate task cancel ID... [--json]\n"
        "       toolgate task wait ID... [--timeout SECONDS] [--json]\n"
        "       toolgate task output ID [-f] [--json]\n"
        "       toolgate task stats [--watch] [--json]",
    .summary = "submit tasks, look at them, wait for them",
    .help =
        "Tasks are what the agents of task_agent in nginx.conf do, however "
        "long it takes\nand whoever goes away meanwhile.\n\n"
        "  submit  has something done, and writes the task's id. The prompt "
        "is the words\n"
        "          behind it, or - for standard input. With -f it writes what "
        "the task\n"
        "          puts out until it has ended\n"
        "  list    shows tasks, the newest first\n"
        "  get     shows all of one\n"
        "  cancel  ends what runs, and what waits does not start\n"
        "  wait    waits until it has ended\n"
        "  output  writes what it has put out; with -f also what is to come\n"
        "  stats   how many there are\n\n"
        "  --agent NAME       who does it; else the default\n"
        "  --priority N       those with a higher one are started first; "
        "default 0\n"
        "  --cwd FOLDER       where, unless the agent says so\n"
        "  --metadata JSON    an object that is kept with it\n"
        "  --state STATE      queued, running, completed, failed or "
        "cancelled\n"
        "  --limit N          how many; default 20\n"
        "  -f, --follow       up to its end\n"
        "  --watch            again and again, until Ctrl-C\n"
        "  --json             as the server sent it\n"
        "  --socket PATH      the server's socket; else TOOLGATE_SOCKET\n"
        "  --timeout SECONDS  how long to wait\n\n"
        "Exit status of wait, and of -f: 0 it is completed, 1 it has failed or "
        "was\ncancelled, 2 that is not known. Ctrl-C ends the wait, and not "
        "the task.\n",
    .options = TG_CLI_OPT_SOCKET | TG_CLI_OPT_JSON | TG_CLI_OPT_TIMEOUT
               | TG_CLI_OPT_WATCH | TG_CLI_OPT_AGENT | TG_CLI_OPT_TASK_SUBMIT
               | TG_CLI_OPT_TASK_FILTER | TG_CLI_OPT_FOLLOW,
    .run = tg_cli_task_run,
};
