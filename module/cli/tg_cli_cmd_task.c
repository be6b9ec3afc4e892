/* The command `toolgate task`: submits, shows and cancels tasks. */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_input.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Adds the number of an option, --KEY, if it was given. */
static int
tg_cli_params_add_number(json_object *params, const char *option,
                         const char *text)
{
    int64_t number;

    number = 0;

    if (tg_cli_option_parse_integer(option, text, INT64_MIN, &number)
        != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    if (text != NULL) {
        (void) json_object_object_add(params, option + 2,
                                      json_object_new_int64(number));
    }

    return TG_CLI_EXIT_OK;
}

static void
tg_cli_params_add_text(json_object *params, const char *key, const char *text)
{
    tg_cli_json_add_text(params, key,
                         text != NULL ? tg_str_from_cstr(text) : TG_STR_NONE);
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
tg_cli_task_submit_add_params(const tg_cli_options_t *options,
                              json_object *params)
{
    char path[PATH_MAX];
    json_object *metadata;
    tg_buf_t prompt;
    int rc;

    tg_buf_init(&prompt, tg_alloc_libc());
    rc = tg_cli_task_submit_read_prompt(options, &prompt);

    if (rc == TG_CLI_EXIT_OK && tg_buf_has_failed(&prompt)) {
        rc = tg_cli_error_nomem();
    }

    tg_cli_json_add_text(params, "prompt", tg_buf_view(&prompt));
    tg_buf_deinit(&prompt);
    tg_cli_params_add_text(params, "agent", options->agent);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_params_add_number(params, "--priority", options->priority);
    }

    if (rc == TG_CLI_EXIT_OK && options->cwd != NULL) {
        if (realpath(options->cwd, path) == NULL) {
            return tg_cli_error("cannot use the folder %s: %s", options->cwd,
                                strerror(errno));
        }

        tg_cli_params_add_text(params, "cwd", path);
    }

    if (rc == TG_CLI_EXIT_OK && options->metadata != NULL) {
        if (tg_cli_json_check(tg_str_from_cstr(options->metadata), NULL)
                != TG_OK
            || options->metadata[strspn(options->metadata, " \t\r\n")] != '{')
        {
            return tg_cli_error("--metadata must be a JSON object, not %s",
                                options->metadata);
        }

        metadata = tg_cli_json_new_raw(tg_str_from_cstr(options->metadata));

        if (metadata == NULL
            || json_object_object_add(params, "metadata", metadata) != 0)
        {
            return tg_cli_error_nomem();
        }
    }

    return rc;
}

/* Writes the task's id; to standard error if its output follows. */
static int
tg_cli_task_submit_on_connect(tg_cli_session_t *session, void *ctx)
{
    tg_str_t text;
    char *id;
    int rc, follows;

    rc = tg_cli_task_request(session, "task.submit", json_object_get(ctx));

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    follows = session->options->is_follow;

    if (session->options->is_json && !follows) {
        return tg_cli_task_print_response(session, NULL);
    }

    /* The next response replaces this one. */
    text = tg_cli_json_get_text(session->response.result, "taskId");
    id = strndup(text.len != 0 ? text.data : "", text.len);

    if (id == NULL) {
        return tg_cli_error_nomem();
    }

    tg_cli_print(follows ? stderr : stdout, tg_str_from_cstr(id));
    (void) fputc('\n', follows ? stderr : stdout);
    rc = follows ? tg_cli_task_follow_output(session, id)
                 : tg_cli_flush_stdout(TG_CLI_EXIT_OK);
    free(id);

    return rc;
}

static int
tg_cli_task_submit_run(const tg_cli_options_t *options)
{
    json_object *params;
    int rc;

    params = json_object_new_object();
    rc = tg_cli_task_submit_add_params(options, params);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_run(options, tg_cli_task_submit_on_connect, params);
    }

    json_object_put(params);

    return rc;
}

static const tg_cli_option_t tg_cli_task_submit_options[] = {
    TG_CLI_VALUE("--agent", '\0', "NAME", agent,
                 "the agent of the task, or of the tasks to list"),
    TG_CLI_VALUE("--priority", '\0', "N", priority,
                 "start the task before tasks of a lower priority (default: "
                 "0)"),
    TG_CLI_VALUE("--cwd", '\0', "FOLDER", cwd,
                 "the working folder, unless the agent has its own"),
    TG_CLI_VALUE("--metadata", '\0', "JSON", metadata,
                 "a JSON object to store with the task"),
    TG_CLI_FLAG("--follow", 'f', is_follow,
                "print the output of the task until it ends"),
    TG_CLI_OPTIONS_END,
};

static const tg_cli_command_t tg_cli_cmd_task_submit = {
    .name = "task submit",
    .options = tg_cli_task_submit_options,
    .run = tg_cli_task_submit_run,
};

/* --- list, get, stats --- */

static int
tg_cli_task_list_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "task.list",
                                       json_object_get(ctx),
                                       tg_cli_task_append_list);
}

static int
tg_cli_task_list_run(const tg_cli_options_t *options)
{
    json_object *params;
    int rc;

    params = json_object_new_object();
    (void) json_object_object_add(params, "all", json_object_new_boolean(0));
    tg_cli_params_add_text(params, "state", options->state);
    tg_cli_params_add_text(params, "agent", options->agent);
    rc = tg_cli_params_add_number(params, "--limit", options->limit);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_run(options, tg_cli_task_list_on_connect, params);
    }

    json_object_put(params);

    return rc;
}

static const tg_cli_option_t tg_cli_task_list_options[] = {
    TG_CLI_VALUE("--agent", '\0', "NAME", agent, NULL),
    TG_CLI_VALUE("--state", '\0', "STATE", state,
                 "list only tasks that are queued, running, completed, failed "
                 "or cancelled"),
    TG_CLI_VALUE("--limit", '\0', "N", limit,
                 "list at most N tasks (default: 20)"),
    TG_CLI_OPTION_WATCH,
    TG_CLI_OPTIONS_END,
};

static const tg_cli_command_t tg_cli_cmd_task_list = {
    .name = "task list",
    .options = tg_cli_task_list_options,
    .takes_no_args = 1,
    .run = tg_cli_task_list_run,
};

static int
tg_cli_task_get_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(
        session, "task.get", tg_cli_task_new_params(session->options->args[0]),
        tg_cli_task_append_details);
}

static const tg_cli_command_t tg_cli_cmd_task_get = {
    .name = "task get",
    .options = tg_cli_watch_only_options,
    .max_args = 1,
    .missing_arg = "get which task? (toolgate task list shows them)",
    .on_connect = tg_cli_task_get_on_connect,
};

static int
tg_cli_task_stats_on_connect(tg_cli_session_t *session, void *ctx)
{
    return tg_cli_task_fetch_and_print(session, "task.stats", NULL,
                                       tg_cli_task_append_stats);
}

static const tg_cli_command_t tg_cli_cmd_task_stats = {
    .name = "task stats",
    .options = tg_cli_watch_only_options,
    .takes_no_args = 1,
    .on_connect = tg_cli_task_stats_on_connect,
};

/* --- cancel --- */

static int
tg_cli_task_cancel_one(tg_cli_session_t *session, const char *id)
{
    int rc;

    rc = tg_cli_task_request(session, "task.cancel",
                             tg_cli_task_new_params(id));

    if (rc == TG_CLI_EXIT_OK && session->options->is_json) {
        return tg_cli_task_print_response(session, NULL);
    }

    if (rc == TG_CLI_EXIT_OK) {
        (void) printf("%s was cancelled\n", id);
    }

    return rc;
}

static const tg_cli_command_t tg_cli_cmd_task_cancel = {
    .name = "task cancel",
    .missing_arg = "cancel which task? (toolgate task list shows them)",
    .on_each_arg = tg_cli_task_cancel_one,
};

/* --- command --- */

static const tg_cli_command_t *const tg_cli_task_commands[] = {
    &tg_cli_cmd_task_submit, &tg_cli_cmd_task_list,
    &tg_cli_cmd_task_get,    &tg_cli_cmd_task_cancel,
    &tg_cli_cmd_task_wait,   &tg_cli_cmd_task_output,
    &tg_cli_cmd_task_stats,  NULL,
};

static const tg_cli_option_t tg_cli_task_options[] = {
    TG_CLI_OPTION_RAW_JSON,
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 60; of wait: no limit)"),
    TG_CLI_OPTIONS_END,
};

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
    .summary = "submit tasks, show them, wait for them",
    .help =
        "Tasks are executed by the agents that task_agent in nginx.conf "
        "defines. A task continues when its client disconnects, and after a "
        "restart.\n\n"
        "  submit  submits a task and prints its ID; the prompt is the "
        "arguments, or\n"
        "          standard input if the only argument is -\n"
        "  list    lists the tasks, the newest first\n"
        "  get     shows everything about a task\n"
        "  cancel  ends a running task, or removes a queued one from the "
        "queue\n"
        "  wait    waits until tasks have ended\n"
        "  output  prints the output of a task so far; with -f, until the "
        "task ends\n"
        "  stats   counts the tasks of each state",
    .note = "Exit status of wait and of -f: 0 if the tasks completed, 1 if a "
            "task failed or was cancelled, 2 if this is not known. Ctrl-C ends "
            "the wait, but not the task.",
    .options = tg_cli_task_options,
    .subcommands = tg_cli_task_commands,
};
