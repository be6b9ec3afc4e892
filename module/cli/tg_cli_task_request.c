/*
 * Requests and responses of `task`, `automation` and `daemon`.
 */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_result.h"
#include "cli/tg_cli_output.h"
#include "protocol/tg_rpc.h"

/* Returns the directive that restricts the access to a method. */
static const char *
tg_cli_task_get_access_directive(const char *method)
{
    if (strcmp(method, "daemon.stop") == 0) {
        return "task_admin";
    }

    return strncmp(method, "automation.", 11) == 0
                   && strcmp(method, "automation.status") != 0
               ? "task_visibility"
               : "tool_allow";
}

/* Reports the error of a response.  Returns the exit status. */
static int
tg_cli_task_report_error(const tg_cli_session_t *session, const char *method)
{
    if (session->response.code != TG_RPC_METHOD_NOT_FOUND
        || session->options->is_json)
    {
        return tg_cli_response_print_error(&session->response,
                                           session->options);
    }

    (void) tg_cli_error("%s does not offer you the method %s: the server "
                        "needs task_methods in nginx.conf, and %s says who "
                        "may use it",
                        session->endpoint.text, method,
                        tg_cli_task_get_access_directive(method));

    return TG_CLI_EXIT_REFUSED;
}

int
tg_cli_task_request_read_only(tg_cli_session_t *session, const char *method,
                              tg_str_t params, uint64_t max_wait_ms)
{
    int rc;

    rc = tg_cli_session_request_read_only(session, tg_str_from_cstr(method),
                                          params, max_wait_ms);

    return rc == TG_CLI_EXIT_OK && session->response.kind != TG_RESPONSE_RESULT
               ? tg_cli_task_report_error(session, method)
               : rc;
}

int
tg_cli_task_request(tg_cli_session_t *session, const char *method,
                    tg_str_t params)
{
    int rc;

    rc = tg_cli_session_request(session, tg_str_from_cstr(method), params,
                                TG_CLI_TASK_TIMEOUT_MS);

    return rc == TG_CLI_EXIT_OK && session->response.kind != TG_RESPONSE_RESULT
               ? tg_cli_task_report_error(session, method)
               : rc;
}

void
tg_cli_task_begin_params(tg_buf_t *params, const char *id)
{
    tg_buf_init(params, tg_alloc_libc());
    tg_buf_append_char(params, '{');
    tg_json_add_string(params, "taskId", tg_str_from_cstr(id));
}

int
tg_cli_task_print_response(const tg_cli_session_t *session,
                           void (*append)(tg_buf_t *out, tg_str_t response))
{
    tg_buf_t out;

    if (session->options->is_json) {
        return tg_cli_result_print_json(tg_buf_view(&session->response.result),
                                        TG_CLI_EXIT_OK);
    }

    tg_buf_init(&out, tg_alloc_libc());
    append(&out, tg_buf_view(&session->response.result));

    if (session->options->is_watch) {
        tg_cli_terminal_clear();
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

int
tg_cli_task_fetch_and_print(tg_cli_session_t *session, const char *method,
                            tg_str_t params,
                            void (*append)(tg_buf_t *out, tg_str_t response))
{
    int rc;

    do {
        rc = tg_cli_task_request_read_only(session, method, params,
                                           TG_CLI_TASK_TIMEOUT_MS);

        if (rc == TG_CLI_EXIT_OK) {
            rc = tg_cli_task_print_response(session, append);
        }

        if (rc == TG_CLI_EXIT_OK && session->options->is_watch) {
            rc = tg_cli_session_sleep(session, TG_CLI_TASK_POLL_INTERVAL_MS);
        }
    } while (rc == TG_CLI_EXIT_OK && session->options->is_watch);

    return rc;
}
