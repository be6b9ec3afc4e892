/*
 * What a program's threads ask by a client.
 */
#include "library/tg_client.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <stdlib.h>

/* Room for the envelope, whatever the id. */
#define TG_ASK_ENVELOPE 256

typedef enum {
    TG_ASK_CALL,
    TG_ASK_REQUEST,
    TG_ASK_LIST
} tg_ask_kind_t;

/* What is asked, as the program says it. */
typedef struct {
    tg_ask_kind_t kind;
    const char *name;
    const char *params;
    int timeout;
    toolgate_answered_pt answered;
    void *data;
} tg_asking_t;

static uint64_t tg_ask_count; /* locked */

/* --- one question --- */

static int
tg_ask_check(const tg_asking_t *asking)
{
    const char *why;
    char first;

    if (asking->name == NULL || !tg_utf8_is_valid(tg_str_c(asking->name))) {
        return tg_error(TOOLGATE_ERR_ARGUMENT,
                        "the name of a tool or method is text in UTF-8");
    }

    if (asking->timeout < 0) {
        return tg_error(TOOLGATE_ERR_ARGUMENT,
                        "a timeout is of milliseconds, or 0; not %d",
                        asking->timeout);
    }

    if (asking->params == NULL) {
        return 0;
    }

    if (tg_json_check(tg_str_c(asking->params), &why) != TG_OK) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "arguments are no JSON: %s",
                        why);
    }

    first = asking->params[strspn(asking->params, " \t\r\n")];

    return first == '{' || (first == '[' && asking->kind == TG_ASK_REQUEST)
               ? 0
               : tg_error(TOOLGATE_ERR_ARGUMENT, "arguments are a JSON object");
}

/* The parts of its text, one behind the other. */
static void
tg_ask_put(const tg_asking_t *asking, const char *token, tg_buf_t *text,
           size_t ends[3])
{
    if (asking->kind == TG_ASK_CALL) {
        tg_json_put_escaped(text, tg_str_c(asking->name));
    } else {
        tg_buf_text(text, asking->name);
    }

    ends[0] = text->len;

    /* In lines, white space that is one's end must not be in them. */
    if (asking->params != NULL) {
        tg_json_put_compact(text, tg_str_c(asking->params));
    } else if (asking->kind == TG_ASK_CALL) {
        tg_buf_text(text, "{}");
    }

    ends[1] = text->len;
    tg_buf_text(text, token);
    ends[2] = text->len;
}

static tg_str_t
tg_ask_part(const char *text, size_t from, size_t to)
{
    return from != to ? tg_str(text + from, to - from) : TG_STR_NONE;
}

/* NULL: no memory. */
static tg_ask_t *
tg_ask_new(const tg_asking_t *asking, const tg_buf_t *text,
           const size_t ends[3])
{
    tg_uv_question_t *question;
    tg_ask_t *ask;

    ask = tg_buf_failed(text) ? NULL : malloc(sizeof(*ask) + text->len);

    if (ask == NULL) {
        return NULL;
    }

    memset(ask, 0, sizeof(*ask));

    if (text->len != 0) {
        memcpy(ask->text, text->data, text->len);
    }

    ask->answered = asking->answered;
    ask->data = asking->data;
    question = &ask->question;
    question->name = tg_ask_part(ask->text, 0, ends[0]);
    question->params = tg_ask_part(ask->text, ends[0], ends[1]);
    question->more = tg_ask_part(ask->text, ends[1], ends[2]);
    question->is_tool = asking->kind == TG_ASK_CALL;
    question->list = asking->kind == TG_ASK_LIST ? &ask->list : NULL;

    return ask;
}

/* What a line says of questions, while it was looked at. */
typedef struct {
    uint64_t count;
    uint64_t max_frame;
    uint64_t timeout;
    int has_progress;
} tg_ask_terms_t;

/* Locked. */
static tg_ask_terms_t
tg_ask_terms(const tg_line_t *line)
{
    return (tg_ask_terms_t){ .count = ++tg_ask_count,
                             .max_frame = line->conf.max_frame,
                             .timeout = line->conf.timeout,
                             .has_progress = line->conf.progress != NULL };
}

/*
 * The order of a question, which may be large: nothing is locked.  0, or an
 * error, told.
 */
static int
tg_ask_make(const tg_ask_terms_t *terms, const tg_asking_t *asking,
            tg_order_t **result)
{
    tg_order_t *order;
    tg_ask_t *ask;
    tg_buf_t text;
    char token[64];
    size_t ends[3], size;

    token[0] = '\0';

    if (asking->kind == TG_ASK_CALL && terms->has_progress) {
        (void) snprintf(token, sizeof(token),
                        ",\"_meta\":{\"progressToken\":%llu}",
                        (unsigned long long) terms->count);
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_ask_put(asking, token, &text, ends);

    if (text.len + TG_ASK_ENVELOPE > terms->max_frame) {
        tg_buf_deinit(&text);
        return tg_error(TOOLGATE_ERR_MESSAGE_SIZE,
                        "the arguments are larger than a message may be, %llu "
                        "bytes; send less, or set \"max_frame\"",
                        (unsigned long long) terms->max_frame);
    }

    ask = tg_ask_new(asking, &text, ends);
    size = sizeof(*ask) + text.len;
    tg_buf_deinit(&text);
    order = ask != NULL ? tg_order_new(TG_STR_NONE, TG_STR_NONE) : NULL;

    if (order == NULL) {
        free(ask);
        return tg_error_memory();
    }

    ask->call = TG_CLIENT_CALL(terms->count);
    ask->timeout = asking->timeout != 0 ? (uint64_t) asking->timeout
                                        : terms->timeout;
    order->ask = ask;
    order->size = size;
    order->execute = tg_line_ask;
    *result = order;

    return 0;
}

/* Locked: the line as it is after that, if it is there, has the order. */
static tg_line_t *
tg_ask_order(const toolgate_client_t *client, tg_order_t *order, int *rc)
{
    tg_line_t *line;

    line = tg_client_line(client, rc);

    if (line != NULL) {
        *rc = tg_run_order(&line->run, order);
    }

    if (*rc == 0) {
        return line;
    }

    free(order->ask);
    tg_order_free(order);

    return NULL;
}

/* --- without waiting --- */

static int
tg_ask_begin(const toolgate_client_t *client, const tg_asking_t *asking,
             toolgate_call_t *call)
{
    tg_ask_terms_t terms;
    tg_order_t *order = NULL;
    tg_line_t *line;
    int rc;

    rc = asking->answered != NULL
             ? tg_ask_check(asking)
             : tg_error(TOOLGATE_ERR_ARGUMENT,
                        "a function has to take the answer; "
                        "toolgate_client_call() and its like wait for it");

    if (rc != 0) {
        return rc;
    }

    tg_library_lock();
    line = tg_client_line(client, &rc);
    terms = line != NULL ? tg_ask_terms(line) : (tg_ask_terms_t){ 0 };
    tg_library_unlock();
    rc = rc == 0 ? tg_ask_make(&terms, asking, &order) : rc;

    if (order == NULL) {
        return rc;
    }

    tg_library_lock();

    if (tg_ask_order(client, order, &rc) != NULL && call != NULL) {
        *call = TG_CLIENT_CALL(terms.count);
    }

    tg_library_unlock();

    return rc;
}

int
toolgate_client_begin_call(toolgate_client_t *client, const char *tool,
                           const char *arguments, int timeout,
                           toolgate_answered_pt answered, void *data,
                           toolgate_call_t *call)
{
    const tg_asking_t asking = { TG_ASK_CALL, tool,     arguments,
                                 timeout,     answered, data };

    return tg_ask_begin(client, &asking, call);
}

int
toolgate_client_begin_request(toolgate_client_t *client, const char *method,
                              const char *params, int timeout,
                              toolgate_answered_pt answered, void *data,
                              toolgate_call_t *call)
{
    const tg_asking_t asking = { TG_ASK_REQUEST, method,   params,
                                 timeout,        answered, data };

    return tg_ask_begin(client, &asking, call);
}

int
toolgate_client_begin_list(toolgate_client_t *client, int timeout,
                           toolgate_answered_pt answered, void *data,
                           toolgate_call_t *call)
{
    const tg_asking_t asking = { TG_ASK_LIST, "tools/list", NULL,
                                 timeout,     answered,     data };

    return tg_ask_begin(client, &asking, call);
}

int
toolgate_client_cancel(toolgate_client_t *client, toolgate_call_t call)
{
    tg_order_t *order;
    tg_line_t *line;
    int rc;

    order = tg_order_new(tg_str((const char *) &call, sizeof(call)),
                         TG_STR_NONE);

    if (order == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    order->execute = tg_line_cancel;
    tg_library_lock();
    line = tg_client_line(client, &rc);
    rc = line != NULL ? tg_run_order(&line->run, order) : rc;
    tg_library_unlock();

    if (rc != 0) {
        tg_order_free(order);
    }

    return rc;
}

/* --- waiting --- */

static void
tg_ask_answered(toolgate_call_t call, int code, const char *result, size_t len,
                void *data)
{
    char *copy;

    (void) call;
    copy = result != NULL ? tg_text_copy(tg_str(result, len)) : NULL;

    if (result != NULL && copy == NULL) {
        code = tg_error_memory();
    }

    tg_library_lock();
    tg_waiter_end(data, code, copy);
    tg_library_unlock();
}

/* Locked: who would wait for himself? */
static int
tg_ask_may_wait(const tg_line_t *line)
{
    if (line->run.kind == TG_LOOP_UV) {
        return tg_error(TOOLGATE_ERR_STATE,
                        "with a loop of libuv's nobody may wait; "
                        "toolgate_client_begin_...() do not");
    }

    return tg_run_is_calling(&line->run) || line->run.is_running
               ? tg_error(TOOLGATE_ERR_STATE,
                          "a callback may not wait; "
                          "toolgate_client_begin_...() do not")
               : 0;
}

/* Its order goes to the line, and the thread waits. */
static int
tg_ask_wait_on(const toolgate_client_t *client, const tg_asking_t *asking,
               tg_waiter_t *waiter)
{
    tg_ask_terms_t terms;
    tg_order_t *order = NULL;
    tg_line_t *line;
    int rc;

    tg_library_lock();
    line = tg_client_line(client, &rc);
    terms = line != NULL ? tg_ask_terms(line) : (tg_ask_terms_t){ 0 };
    rc = line != NULL ? tg_ask_may_wait(line) : rc;
    tg_library_unlock();
    rc = rc == 0 ? tg_ask_make(&terms, asking, &order) : rc;

    if (order == NULL) {
        return rc;
    }

    /* Who waits asks no more meanwhile: there are as many as threads. */
    order->size = 0;
    tg_library_lock();
    line = tg_ask_order(client, order, &rc);
    rc = line != NULL ? tg_client_wait(line, waiter) : rc;
    tg_library_unlock();

    return rc;
}

static int
tg_ask_wait(const toolgate_client_t *client, const tg_asking_t *asked,
            char **result)
{
    tg_asking_t asking;
    tg_waiter_t waiter;
    int rc;

    if (result != NULL) {
        *result = NULL;
    }

    rc = tg_ask_check(asked);

    if (rc != 0) {
        return rc;
    }

    asking = *asked;
    asking.answered = tg_ask_answered;
    asking.data = &waiter;
    tg_waiter_init(&waiter);
    rc = tg_ask_wait_on(client, &asking, &waiter);

    if (result != NULL) {
        *result = waiter.result;
        waiter.result = NULL;
    }

    tg_waiter_deinit(&waiter);

    return rc;
}

int
toolgate_client_call(toolgate_client_t *client, const char *tool,
                     const char *arguments, int timeout, char **result)
{
    const tg_asking_t asking = {
        .kind = TG_ASK_CALL,
        .name = tool,
        .params = arguments,
        .timeout = timeout,
    };

    return tg_ask_wait(client, &asking, result);
}

int
toolgate_client_request(toolgate_client_t *client, const char *method,
                        const char *params, int timeout, char **result)
{
    const tg_asking_t asking = {
        .kind = TG_ASK_REQUEST,
        .name = method,
        .params = params,
        .timeout = timeout,
    };

    return tg_ask_wait(client, &asking, result);
}

int
toolgate_client_list(toolgate_client_t *client, int timeout, char **result)
{
    const tg_asking_t asking = {
        .kind = TG_ASK_LIST,
        .name = "tools/list",
        .timeout = timeout,
    };

    return tg_ask_wait(client, &asking, result);
}
