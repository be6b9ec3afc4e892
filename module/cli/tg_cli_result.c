/* Output of results and errors of the server. */
#include "cli/tg_cli_session.h"

#include "base/tg_base64.h"
#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"

#include <errno.h>

int
tg_cli_result_is_error(json_object *result)
{
    return tg_cli_json_is_true(result, "isError");
}

static void
tg_cli_result_append_member(tg_buf_t *out, json_object *block, const char *key)
{
    tg_str_t text;

    text = tg_cli_json_get_text(block, key);
    tg_buf_append_cstr(out, text.data != NULL ? " " : "");
    tg_buf_append_str(out, text);
}

static tg_str_t
tg_cli_block_get_base64(json_object *block)
{
    tg_str_t data;

    data = tg_cli_json_get_text(block, "data");

    return data.data != NULL
               ? data
               : tg_cli_json_get_text(tg_cli_json_get(block, "resource"),
                                      "blob");
}

/* [content of type image image/png; --json shows it] */
static void
tg_cli_block_append_description(tg_buf_t *out, json_object *block)
{
    json_object *resource;
    tg_str_t data;
    tg_buf_t text;

    tg_buf_init(&text, out->alloc);
    tg_buf_append_cstr(&text, "[content of type");
    tg_cli_result_append_member(&text, block, "type");
    resource = tg_cli_json_get(block, "resource");
    tg_cli_result_append_member(&text, resource, "uri");
    tg_cli_result_append_member(&text, resource, "mimeType");
    tg_cli_result_append_member(&text, block, "name");
    tg_cli_result_append_member(&text, block, "uri");
    tg_cli_result_append_member(&text, block, "mimeType");
    data = tg_cli_block_get_base64(block);

    if (data.data != NULL) {
        tg_buf_printf(&text, ", %zu bytes of base64; -o FILE saves it",
                      data.len);
    }

    tg_buf_append_cstr(&text, "; --json shows it]");
    tg_utf8_append_visible(out, tg_buf_view(&text), 1);
    tg_buf_append_char(out, '\n');
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

static void
tg_cli_block_append(tg_buf_t *out, json_object *block)
{
    tg_str_t text;

    tg_cli_append_missing_newline(out);
    text = tg_cli_json_get_text(block, "text");

    if (text.data != NULL && tg_cli_json_has_text(block, "type", "text")) {
        tg_buf_append_str(out, text);
    } else if (json_object_is_type(block, json_type_object)) {
        tg_cli_block_append_description(out, block);
    }
}

/* Appends the content blocks, or the structured content if there are none. */
static void
tg_cli_result_append_content(tg_buf_t *out, json_object *result)
{
    tg_cli_json_iter_t iter;
    json_object *block;
    int n;

    tg_cli_json_iter_init(&iter, tg_cli_json_get(result, "content"));

    for (n = 0; tg_cli_json_iter_next(&iter, &block); n++) {
        tg_cli_block_append(out, block);
    }

    if (n == 0
        && json_object_object_get_ex(result, "structuredContent", &block)) {
        tg_cli_json_append_pretty(out, block);
        tg_buf_append_char(out, '\n');
    }
}

int
tg_cli_result_print(json_object *result)
{
    tg_buf_t out;

    if (!json_object_is_type(result, json_type_object)) {
        return tg_cli_result_print_value(result);
    }

    tg_buf_init(&out, tg_alloc_libc());
    tg_cli_result_append_content(&out, result);

    if (!tg_cli_result_is_error(result)) {
        return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
    }

    if (out.len == 0) {
        tg_buf_append_cstr(&out, "toolgate: the tool failed without an error "
                                 "message");
    }

    return tg_cli_print_and_free(stderr, &out, TG_CLI_EXIT_REFUSED);
}

static int
tg_cli_buf_save_file(const tg_buf_t *bytes, const char *path)
{
    FILE *file;
    int rc;

    file = fopen(path, "we");
    rc = file == NULL
         || fwrite(tg_buf_view(bytes).data, 1, bytes->len, file) != bytes->len;

    if (file != NULL) {
        rc |= fclose(file) != 0;
    }

    return rc == 0 ? TG_CLI_EXIT_OK
                   : tg_cli_error("cannot write %s: %s", path, strerror(errno));
}

int
tg_cli_result_save_file(json_object *result, const char *path)
{
    tg_cli_json_iter_t iter;
    json_object *block;
    tg_buf_t bytes;
    tg_str_t data;
    int rc, n;

    tg_buf_init(&bytes, tg_alloc_libc());
    tg_cli_json_iter_init(&iter, tg_cli_json_get(result, "content"));
    rc = TG_CLI_EXIT_OK;
    n = 0;

    while (tg_cli_json_iter_next(&iter, &block)) {
        data = tg_cli_block_get_base64(block);

        if (data.data != NULL && n++ == 0
            && tg_base64_decode(&bytes, data) != TG_OK) {
            rc = tg_cli_error("the tool returned invalid base64");
        }
    }

    if (n > 1) {
        rc = tg_cli_error("the tool returned %d files, but -o saves only "
                          "one; --json shows them",
                          n);
    }

    if (n == 0) {
        tg_cli_result_append_content(&bytes, result);
    }

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_buf_has_failed(&bytes) ? tg_cli_error_nomem()
                                       : tg_cli_buf_save_file(&bytes, path);
    }

    tg_buf_deinit(&bytes);

    return rc;
}

int
tg_cli_result_fetch_tools(tg_cli_session_t *session)
{
    int rc;

    rc = tg_cli_session_list_tools(session);

    return rc == TG_CLI_EXIT_OK && session->response.kind != TG_RESPONSE_RESULT
               ? tg_cli_response_print_error(&session->response,
                                             session->options)
               : rc;
}

int
tg_cli_result_print_value(json_object *value)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());

    if (json_object_is_type(value, json_type_string)) {
        tg_buf_append_str(&out, tg_cli_json_to_text(value));
    } else {
        tg_cli_json_append_pretty(&out, value);
        tg_buf_append_char(&out, '\n');
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

int
tg_cli_result_print_json(json_object *value, int status)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());
    tg_buf_append_str(&out, tg_cli_json_write(value));
    tg_buf_append_char(&out, '\n');
    json_object_put(value);

    return tg_cli_print_and_free(stdout, &out, status);
}

/* Checks for `/NAME:` at the start, for an option --NAME that was given. */
static int
tg_cli_message_has_option(tg_str_t message, const tg_cli_options_t *options)
{
    const struct {
        const char *member;
        const char *value;
    } members[] = {
        { "/limit:", options->limit },       { "/state:", options->state },
        { "/agent:", options->agent },       { "/cwd:", options->cwd },
        { "/priority:", options->priority },
    };
    size_t i, len;

    for (i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        len = strlen(members[i].member);

        if (members[i].value != NULL && message.len > len
            && memcmp(message.data, members[i].member, len) == 0)
        {
            return 1;
        }
    }

    return 0;
}

int
tg_cli_response_print_error(const tg_cli_response_t *response,
                            const tg_cli_options_t *options)
{
    json_object *line, *error;
    tg_str_t message;
    int is_option;

    message = tg_cli_json_to_text(response->message);

    if (!options->is_json) {
        is_option = tg_cli_message_has_option(message, options);
        (void) tg_cli_error("the server answered with error %lld: %s%.*s",
                            (long long) response->code, is_option ? "--" : "",
                            (int) message.len - is_option,
                            message.data + is_option);
        return TG_CLI_EXIT_REFUSED;
    }

    line = json_object_new_object();
    error = json_object_new_object();
    (void) json_object_object_add(line, "error", error);
    (void) json_object_object_add(error, "code",
                                  json_object_new_int64(response->code));
    tg_cli_json_add_text(error, "message", message);

    if (response->has_data) {
        (void) json_object_object_add(error, "data",
                                      json_object_get(response->data));
    }

    return tg_cli_result_print_json(line, TG_CLI_EXIT_REFUSED);
}
