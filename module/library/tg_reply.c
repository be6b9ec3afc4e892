/*
 * What a program's threads say of calls.
 */
#include "library/tg_library.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "thread/tg_mail.h"

static int
tg_reply_send(toolgate_call_t call, const tg_mail_reply_t *reply)
{
    const char *why;

    switch (tg_mail_reply(call, reply, &why)) {
    case TG_OK:
        return 0;
    case TG_NOMEM:
        return tg_error_memory();
    default:
        return tg_error(TOOLGATE_ERR_GONE,
                        "an answer to call %llu, %s, is dropped",
                        (unsigned long long) call, why);
    }
}

int
toolgate_reply(toolgate_call_t call, const char *result, size_t len)
{
    tg_mail_reply_t reply;

    memset(&reply, 0, sizeof(reply));
    reply.text = tg_str(result, len);

    return tg_reply_send(call, &reply);
}

int
toolgate_fail(toolgate_call_t call, const char *type, const char *message)
{
    tg_mail_reply_t reply;

    memset(&reply, 0, sizeof(reply));
    reply.failure = TG_FAILURE_PROGRAM;
    reply.text = tg_str_c(message != NULL ? message : "");

    if (type != NULL) {
        reply.type = tg_str_c(type);

        if (!tg_utf8_is_valid(reply.type)) {
            return tg_error(TOOLGATE_ERR_ARGUMENT,
                            "the class of an error is text in UTF-8");
        }
    }

    return tg_reply_send(call, &reply);
}

int
toolgate_fail_rpc(toolgate_call_t call, int code, const char *message,
                  const char *data)
{
    tg_mail_reply_t reply;
    const char *why;
    tg_buf_t compact;
    int rc;

    memset(&reply, 0, sizeof(reply));
    reply.failure = TG_FAILURE_PROGRAM;
    reply.text = tg_str_c(message != NULL ? message : "");
    reply.code = code;

    if (code == 0) {
        return tg_error(TOOLGATE_ERR_ARGUMENT,
                        "the code of an error is not 0; -32000 to -32099 are "
                        "the program's");
    }

    if (data == NULL) {
        return tg_reply_send(call, &reply);
    }

    if (tg_json_check(tg_str_c(data), &why) != TG_OK) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "data is no JSON: %s", why);
    }

    tg_buf_init(&compact, tg_alloc_libc());
    tg_json_put_compact(&compact, tg_str_c(data));
    reply.data = tg_buf_view(&compact);
    rc = tg_buf_failed(&compact) ? tg_error_memory()
                                 : tg_reply_send(call, &reply);
    tg_buf_deinit(&compact);

    return rc;
}

int
toolgate_progress(toolgate_call_t call, uint64_t progress, uint64_t total,
                  const char *message)
{
    return tg_mail_progress(call, progress, total, message) == TG_OK
               ? 0
               : tg_error(TOOLGATE_ERR_GONE,
                          "nobody waits for call %llu any more",
                          (unsigned long long) call);
}

int
toolgate_is_wanted(toolgate_call_t call)
{
    return tg_mail_is_open(call);
}

/* --- arguments --- */

char *
toolgate_argument(const char *arguments, size_t len, const char *name)
{
    tg_str_t object, value;
    size_t n;
    char *text;

    object = tg_str(arguments, len);

    while (object.len != 0 && tg_is_one_of(object.data[0], " \t\r\n")) {
        object.data++;
        object.len--;
    }

    if (tg_json_check(object, NULL) != TG_OK) {
        (void) tg_error(TOOLGATE_ERR_ARGUMENT, "arguments are no JSON");
        return NULL;
    }

    if (tg_json_type(object) != TG_JSON_OBJECT
        || tg_json_get(object, tg_str_c(name), &value) != TG_OK)
    {
        (void) tg_error(TOOLGATE_ERR_ARGUMENT, "there is no argument \"%s\"",
                        name);
        return NULL;
    }

    if (tg_json_type(value) == TG_JSON_STRING) {
        value = tg_json_body(value);
        text = tg_text_copy(value);
        n = text != NULL ? tg_json_decode(text, value) : 0;
    } else {
        text = tg_text_copy(value);
        n = value.len;
    }

    if (text == NULL) {
        (void) tg_error_memory();
        return NULL;
    }

    text[n] = '\0';

    return text;
}
