/* Requests and responses of `task`, `automation` and `daemon`. */
#include "cli/tg_cli_task.h"

#include "cli/tg_cli_session.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"
#include "protocol/tg_rpc.h"

const tg_cli_option_t tg_cli_task_request_options[] = {
    TG_CLI_OPTION_RAW_JSON,
    TG_CLI_OPTIONS_CONNECT,
    TG_CLI_OPTION_TIMEOUT("how long to wait (default: 60)"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_option_t tg_cli_watch_only_options[] = {
    TG_CLI_OPTION_WATCH,
    TG_CLI_OPTIONS_END,
};

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
                        session->address, method,
                        tg_cli_task_get_access_directive(method));

    return TG_CLI_EXIT_REFUSED;
}

static int
tg_cli_task_check_response(const tg_cli_session_t *session, const char *method,
                           json_object *params, int rc)
{
    json_object_put(params);

    return rc == TG_CLI_EXIT_OK && session->response.kind != TG_RESPONSE_RESULT
               ? tg_cli_task_report_error(session, method)
               : rc;
}

/* Stores the text of params, or NULL for none, valid as long as params. */
static int
tg_cli_task_write_params(json_object *params, const char **text)
{
    tg_str_t json;

    *text = NULL;

    if (params == NULL) {
        return TG_CLI_EXIT_OK;
    }

    json = tg_cli_json_write(params);
    *text = json.data;

    if (json.data == NULL) {
        return tg_cli_error_nomem();
    }

    return tg_utf8_is_valid(json)
               ? TG_CLI_EXIT_OK
               : tg_cli_error("an argument is not valid UTF-8");
}

/* Frees params, and does not parse the result. */
static int
tg_cli_task_fetch(tg_cli_session_t *session, const char *method,
                  json_object *params, uint64_t max_wait_ms)
{
    const char *text;
    int rc;

    rc = tg_cli_task_write_params(params, &text);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_request_read_only(session, method, text,
                                              max_wait_ms);
    }

    return tg_cli_task_check_response(session, method, params, rc);
}

int
tg_cli_task_request_read_only(tg_cli_session_t *session, const char *method,
                              json_object *params, uint64_t max_wait_ms)
{
    int rc;

    rc = tg_cli_task_fetch(session, method, params, max_wait_ms);

    return rc == TG_CLI_EXIT_OK ? tg_cli_session_parse_result(session) : rc;
}

int
tg_cli_task_request(tg_cli_session_t *session, const char *method,
                    json_object *params)
{
    const char *text;
    int rc;

    rc = tg_cli_task_write_params(params, &text);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_session_request(session, method, text,
                                    TG_CLI_TASK_TIMEOUT_MS);
    }

    rc = tg_cli_task_check_response(session, method, params, rc);

    return rc == TG_CLI_EXIT_OK ? tg_cli_session_parse_result(session) : rc;
}

json_object *
tg_cli_task_new_params(const char *id)
{
    json_object *params;

    params = json_object_new_object();
    tg_cli_json_add_text(params, "taskId", tg_str_from_cstr(id));

    return params;
}

int
tg_cli_task_print_response(tg_cli_session_t *session,
                           void (*append)(tg_buf_t *out, json_object *response))
{
    tg_buf_t out;
    int rc;

    if (session->options->is_json) {
        return tg_cli_result_print_text(session, TG_CLI_EXIT_OK);
    }

    rc = tg_cli_session_parse_result(session);

    if (rc != TG_CLI_EXIT_OK) {
        return rc;
    }

    tg_buf_init(&out, tg_alloc_libc());
    append(&out, session->response.result);

    if (session->options->is_watch) {
        tg_cli_terminal_clear();
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

int
tg_cli_task_fetch_and_print(tg_cli_session_t *session, const char *method,
                            json_object *params,
                            void (*append)(tg_buf_t *out,
                                           json_object *response))
{
    int rc;

    do {
        rc = tg_cli_task_fetch(session, method, json_object_get(params),
                               TG_CLI_TASK_TIMEOUT_MS);

        if (rc == TG_CLI_EXIT_OK) {
            rc = tg_cli_task_print_response(session, append);
        }

        if (rc == TG_CLI_EXIT_OK && session->options->is_watch) {
            rc = tg_cli_session_sleep(session, TG_CLI_TASK_POLL_INTERVAL_MS);
        }
    } while (rc == TG_CLI_EXIT_OK && session->options->is_watch);

    json_object_put(params);

    return rc;
}
