#include "client/tg_cli_task.h"

#include "client/tg_cli_result.h"
#include "client/tg_cli_text.h"
#include "base/tg_spell.h"
#include "core/tg_rpc.h"

/* Commands behind one word: more than there are. */
#define TG_CLI_SUBS 16

int
tg_cli_sub_run(const tg_cli_options_t *options,
               const tg_cli_command_t *const *commands, const char *what)
{
    const char *words[TG_CLI_SUBS + 1], *near;
    tg_cli_options_t rest;
    size_t i;
    int rc;

    for (i = 0; i < TG_CLI_SUBS && commands[i] != NULL; i++) {
        words[i] = strrchr(commands[i]->name, ' ') + 1;
    }

    words[i] = NULL;

    for (i = 0; options->nargs != 0 && commands[i] != NULL; i++) {
        if (strcmp(words[i], options->args[0]) != 0) {
            continue;
        }

        rc = tg_cli_options_check(options, commands[i]);

        if (rc != TG_CLI_DONE) {
            return rc;
        }

        rest = *options;
        rest.args++;
        rest.nargs--;

        return commands[i]->run(&rest);
    }

    if (options->nargs == 0) {
        return tg_cli_error("%s what? (see toolgate help %s)", what, what);
    }

    near = tg_spell(tg_str_c(options->args[0]), words);

    return tg_cli_error("there is no \"%s %s\"%s%s%s (see toolgate help %s)",
                        what, options->args[0],
                        near != NULL ? "; did you mean " : "",
                        near != NULL ? near : "", near != NULL ? "?" : "",
                        what);
}

/* The directive that says who may. */
static const char *
tg_cli_task_who(const char *method)
{
    if (strcmp(method, "daemon.stop") == 0) {
        return "task_admin";
    }

    return strncmp(method, "automation.", 11) == 0
                   && strcmp(method, "automation.status") != 0
               ? "task_visibility"
               : "tool_allow";
}

/* The answer's error: the exit status. */
static int
tg_cli_task_refused(const tg_cli_session_t *session, const char *method)
{
    if (session->answer.code != TG_RPC_METHOD
        || (session->options->given & TG_CLI_JSON))
    {
        return tg_cli_result_refused(&session->answer, session->options);
    }

    (void) tg_cli_error("%s has no method %s for you: the server needs "
                        "task_methods in nginx.conf, and %s says who may",
                        session->place.text, method, tg_cli_task_who(method));

    return TG_CLI_REFUSED;
}

int
tg_cli_task_ask(tg_cli_session_t *session, const char *method, tg_str_t params,
                uint64_t patience)
{
    int rc;

    rc = tg_cli_session_look(session, tg_str_c(method), params, patience);

    return rc == TG_CLI_DONE && session->answer.kind != TG_ANSWER_RESULT
               ? tg_cli_task_refused(session, method)
               : rc;
}

int
tg_cli_task_tell(tg_cli_session_t *session, const char *method, tg_str_t params)
{
    int rc;

    rc = tg_cli_session_request(session, tg_str_c(method), params,
                                TG_CLI_TASK_PATIENCE_MS);

    return rc == TG_CLI_DONE && session->answer.kind != TG_ANSWER_RESULT
               ? tg_cli_task_refused(session, method)
               : rc;
}

void
tg_cli_task_params(tg_buf_t *params, const char *id)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_text(params, "{\"taskId\":");
    tg_json_put_string(params, tg_str_c(id));
}

int
tg_cli_task_print(const tg_cli_session_t *session,
                  void (*put)(tg_buf_t *out, struct json_object *answer))
{
    struct json_object *answer;
    tg_buf_t out;
    int rc;

    if (session->options->given & TG_CLI_JSON) {
        return tg_cli_result_json(tg_buf_view(&session->answer.result),
                                  TG_CLI_DONE);
    }

    answer = tg_cli_parse(tg_buf_view(&session->answer.result));
    tg_buf_init(&out, tg_alloc_libc());
    put(&out, answer);

    if (session->options->given & TG_CLI_WATCH) {
        tg_cli_clear();
    }

    rc = tg_cli_write(stdout, &out, TG_CLI_DONE);
    (void) json_object_put(answer);

    return rc;
}

int
tg_cli_task_show(tg_cli_session_t *session, const char *method, tg_str_t params,
                 void (*put)(tg_buf_t *out, struct json_object *answer))
{
    int rc;

    do {
        rc = tg_cli_task_ask(session, method, params, TG_CLI_TASK_PATIENCE_MS);

        if (rc == TG_CLI_DONE) {
            rc = tg_cli_task_print(session, put);
        }

        if (rc == TG_CLI_DONE && (session->options->given & TG_CLI_WATCH)) {
            rc = tg_cli_session_pause(session, TG_CLI_TASK_LOOK_MS);
        }
    } while (rc == TG_CLI_DONE && (session->options->given & TG_CLI_WATCH));

    return rc;
}
