/* Answers to a call and access to its arguments, from any thread. */
#include "lib/tg_runtime.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

/* Sets the error of a forked child, which has no connection. */
static int
tg_call_set_inherited_error(toolgate_call_t call)
{
    return tg_lib_set_error(
        TOOLGATE_ERR_STATE,
        "call %llu belongs to the parent of this fork; only the parent can "
        "answer it",
        (unsigned long long) call);
}

static int
tg_call_send_reply(toolgate_call_t call, const tg_pending_call_reply_t *reply)
{
    const char *why;

    switch (tg_pending_call_reply(call, reply, &why)) {
    case TG_OK:
        return 0;
    case TG_NOMEM:
        return tg_lib_set_nomem_error();
    case TG_INVALID:
        return tg_call_set_inherited_error(call);
    default:
        return tg_lib_set_error(TOOLGATE_ERR_GONE,
                                "the response to call %llu, %s, was dropped",
                                (unsigned long long) call, why);
    }
}

int
toolgate_reply(toolgate_call_t call, const char *result, size_t len)
{
    tg_pending_call_reply_t reply;

    memset(&reply, 0, sizeof(reply));
    reply.text = tg_str(result, len);

    return tg_call_send_reply(call, &reply);
}

int
toolgate_fail(toolgate_call_t call, const char *type, const char *message)
{
    tg_pending_call_reply_t reply;

    memset(&reply, 0, sizeof(reply));
    reply.failure = TG_FAILURE_PROGRAM;
    reply.text = tg_str_from_cstr(message != NULL ? message : "");

    if (type != NULL) {
        reply.type = tg_str_from_cstr(type);

        if (!tg_utf8_is_valid(reply.type)) {
            return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                    "the class of an error must be UTF-8");
        }
    }

    return tg_call_send_reply(call, &reply);
}

int
toolgate_fail_unknown(toolgate_call_t call)
{
    tg_pending_call_reply_t reply;

    memset(&reply, 0, sizeof(reply));
    reply.failure = TG_FAILURE_UNKNOWN;
    reply.text = TG_STR("Resource not found.");

    return tg_call_send_reply(call, &reply);
}

int
toolgate_fail_rpc(toolgate_call_t call, int code, const char *message,
                  const char *data)
{
    tg_pending_call_reply_t reply;
    const char *why;
    tg_buf_t compact;
    int rc;

    memset(&reply, 0, sizeof(reply));
    reply.failure = TG_FAILURE_PROGRAM;
    reply.text = tg_str_from_cstr(message != NULL ? message : "");
    reply.code = code;

    if (code == 0) {
        return tg_lib_set_error(
            TOOLGATE_ERR_ARGUMENT,
            "the code of an error must not be 0; -32000 to -32099 are for "
            "the program's own errors");
    }

    if (data == NULL) {
        return tg_call_send_reply(call, &reply);
    }

    if (tg_json_validate(tg_str_from_cstr(data), &why) != TG_OK) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "data is no JSON: %s",
                                why);
    }

    tg_buf_init(&compact, tg_alloc_libc());
    tg_json_write_compact(&compact, tg_str_from_cstr(data));
    reply.data = tg_buf_view(&compact);
    rc = tg_buf_has_failed(&compact) ? tg_lib_set_nomem_error()
                                     : tg_call_send_reply(call, &reply);
    tg_buf_deinit(&compact);

    return rc;
}

int
toolgate_progress(toolgate_call_t call, uint64_t progress, uint64_t total,
                  const char *message)
{
    switch (tg_pending_call_progress(call, progress, total, message)) {
    case TG_OK:
        return 0;
    case TG_INVALID:
        return tg_call_set_inherited_error(call);
    default:
        return tg_lib_set_error(TOOLGATE_ERR_GONE,
                                "call %llu has already ended",
                                (unsigned long long) call);
    }
}

int
toolgate_is_wanted(toolgate_call_t call)
{
    return tg_pending_call_is_open(call);
}

/* The call whose handler runs in this thread, or NULL. */
static __thread const tg_call_scope_t *tg_call_scope_current;

void
tg_call_scope_enter(tg_call_scope_t *asked, const char *text,
                    const tg_request_t *request)
{
    asked->outer = tg_call_scope_current;
    asked->text = text;
    asked->request = request;
    tg_call_scope_current = asked;
}

void
tg_call_scope_leave(const tg_call_scope_t *asked)
{
    tg_call_scope_current = asked->outer;
}

/* Finds an argument. Only the running call's text is known to be valid. */
static int
tg_call_find_argument(tg_str_t object, tg_str_t name, tg_json_member_t *note)
{
    const tg_json_index_t *notes;

    notes = NULL;

    if (tg_call_scope_current != NULL
        && tg_call_scope_current->text == object.data
        && tg_call_scope_current->request->arguments.len == object.len)
    {
        notes = tg_call_scope_current->request->notes;
        object = tg_call_scope_current->request->arguments;

    } else {
        object = tg_str_skip_blanks(object);

        if (tg_json_validate(object, NULL) != TG_OK) {
            return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                    "arguments are no JSON");
        }
    }

    return tg_json_type(object) == TG_JSON_OBJECT
                   && tg_json_index_get(notes, object, name, note) == TG_OK
               ? 0
               : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                  "unknown argument \"%s\"", name.data);
}

char *
toolgate_argument(const char *arguments, size_t len, const char *name)
{
    tg_json_member_t note;
    tg_str_t value;
    char *text;

    memset(&note, 0, sizeof(note));

    if (tg_call_find_argument(tg_str(arguments, len), tg_str_from_cstr(name),
                              &note)
        != 0)
    {
        return NULL;
    }

    value = tg_json_type(note.value) == TG_JSON_STRING
                ? tg_json_string_body(note.value)
                : note.value;
    text = tg_str_dup(value);

    if (text == NULL) {
        (void) tg_lib_set_nomem_error();

    } else if (value.data != note.value.data && note.escapes != 0) {
        text[tg_json_unescape(text, value)] = '\0';
    }

    return text;
}
