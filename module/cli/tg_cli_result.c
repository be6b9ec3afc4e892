/*
 * Output of results and errors of the server.
 */
#include "cli/tg_cli_result.h"

#include "base/tg_base64.h"
#include "base/tg_utf8.h"
#include "cli/tg_cli_output.h"

#include <errno.h>

int
tg_cli_result_is_error(tg_str_t result)
{
    tg_str_t flag;

    return tg_json_has_member(result, TG_STR("isError"), TG_JSON_TRUE, &flag);
}

static void
tg_cli_result_append_member(tg_buf_t *out, tg_str_t block, const char *key)
{
    tg_str_t raw;

    if (tg_json_has_member(block, tg_str_from_cstr(key), TG_JSON_STRING, &raw))
    {
        tg_buf_append_char(out, ' ');
        tg_json_append_unescaped(out, tg_json_string_body(raw));
    }
}

/*
 * Finds the base64 data of a content block.  Returns 1, or 0 if there is none.
 */
static int
tg_cli_block_find_base64(tg_str_t block, tg_str_t *data)
{
    tg_str_t raw, resource;

    if (!tg_json_has_member(block, TG_STR("data"), TG_JSON_STRING, &raw)
        && !(tg_json_has_member(block, TG_STR("resource"), TG_JSON_OBJECT,
                                &resource)
             && tg_json_has_member(resource, TG_STR("blob"), TG_JSON_STRING,
                                   &raw)))
    {
        return 0;
    }

    *data = tg_json_string_body(raw);

    return 1;
}

/*
 * Appends a description of a block that is not text: `[content of type image
 * image/png; --json shows it]`.
 */
static void
tg_cli_block_append_description(tg_buf_t *out, tg_str_t block)
{
    tg_str_t raw;
    tg_buf_t text;

    tg_buf_init(&text, out->alloc);
    tg_buf_append_cstr(&text, "[content of type");
    tg_cli_result_append_member(&text, block, "type");

    if (tg_json_has_member(block, TG_STR("resource"), TG_JSON_OBJECT, &raw)) {
        tg_cli_result_append_member(&text, raw, "uri");
        tg_cli_result_append_member(&text, raw, "mimeType");
    }

    tg_cli_result_append_member(&text, block, "name");
    tg_cli_result_append_member(&text, block, "uri");
    tg_cli_result_append_member(&text, block, "mimeType");

    if (tg_cli_block_find_base64(block, &raw)) {
        tg_buf_printf(&text, ", %zu bytes of base64; -o FILE saves it",
                      raw.len);
    }

    tg_buf_append_cstr(&text, "; --json shows it]");
    tg_utf8_append_visible(out, tg_buf_view(&text), 1);
    tg_buf_append_char(out, '\n');
    out->failed |= text.failed;
    tg_buf_deinit(&text);
}

static void
tg_cli_block_append(tg_buf_t *out, tg_str_t block)
{
    tg_str_t type, text;

    tg_cli_append_missing_newline(out);

    if (tg_json_get_member(block, TG_STR("type"), &type) == TG_OK
        && tg_json_string_eq(type, TG_STR("text"))
        && tg_json_has_member(block, TG_STR("text"), TG_JSON_STRING, &text))
    {
        tg_json_append_unescaped(out, tg_json_string_body(text));
        return;
    }

    if (tg_json_type(block) == TG_JSON_OBJECT) {
        tg_cli_block_append_description(out, block);
    }
}

/* Appends the content blocks, or the structured content if there are none. */
static void
tg_cli_result_append_content(tg_buf_t *out, tg_str_t result)
{
    tg_str_t content, block;
    tg_json_cursor_t json;
    int n;

    n = 0;
    content = TG_STR_NONE;
    (void) tg_json_get_member(result, TG_STR("content"), &content);

    for (tg_json_iter_init(&json, content); tg_json_iter_next(&json, &block);
         n++) {
        tg_cli_block_append(out, block);
    }

    if (n == 0
        && tg_json_get_member(result, TG_STR("structuredContent"), &content)
               == TG_OK)
    {
        tg_cli_append_pretty_json(out, content);
        tg_buf_append_char(out, '\n');
    }
}

int
tg_cli_result_print(tg_str_t result)
{
    tg_buf_t out;

    if (tg_json_type(result) != TG_JSON_OBJECT) {
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
tg_cli_result_save_file(tg_str_t result, const char *path)
{
    tg_str_t content, block, data;
    tg_buf_t plain, bytes;
    tg_json_cursor_t json;
    int rc, n;

    content = TG_STR_NONE;
    (void) tg_json_get_member(result, TG_STR("content"), &content);
    tg_buf_init(&plain, tg_alloc_libc());
    tg_buf_init(&bytes, tg_alloc_libc());
    rc = TG_CLI_EXIT_OK;
    n = 0;

    for (tg_json_iter_init(&json, content); tg_json_iter_next(&json, &block);) {
        if (tg_cli_block_find_base64(block, &data) && n++ == 0) {
            tg_json_append_unescaped(&plain, data);
            rc = tg_base64_decode(&bytes, tg_buf_view(&plain)) == TG_OK
                     ? TG_CLI_EXIT_OK
                     : tg_cli_error("the tool returned invalid base64");
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
        rc = tg_buf_has_failed(&bytes) || tg_buf_has_failed(&plain)
                 ? tg_cli_error_nomem()
                 : tg_cli_buf_save_file(&bytes, path);
    }

    tg_buf_deinit(&plain);
    tg_buf_deinit(&bytes);

    return rc;
}

int
tg_cli_result_print_value(tg_str_t value)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());

    if (tg_json_type(value) == TG_JSON_STRING) {
        tg_json_append_unescaped(&out, tg_json_string_body(value));
    } else {
        tg_cli_append_pretty_json(&out, value);
        tg_buf_append_char(&out, '\n');
    }

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_OK);
}

int
tg_cli_result_print_json(tg_str_t value, int status)
{
    tg_buf_t out;

    tg_buf_init(&out, tg_alloc_libc());
    tg_json_write_compact(&out, value);
    tg_buf_append_char(&out, '\n');

    return tg_cli_print_and_free(stdout, &out, status);
}

/*
 * Checks whether an error message begins with `/NAME:`, for an option --NAME
 * that was given.
 */
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
    tg_str_t message;
    int is_option;
    tg_buf_t out;

    message = tg_buf_view(&response->message);

    if (!options->is_json) {
        is_option = tg_cli_message_has_option(message, options);
        (void) tg_cli_error("the server answered with error %lld: %s%.*s",
                            (long long) response->code, is_option ? "--" : "",
                            (int) message.len - is_option,
                            message.data + is_option);
        return TG_CLI_EXIT_REFUSED;
    }

    tg_buf_init(&out, tg_alloc_libc());
    tg_buf_append_cstr(&out, "{\"error\":{");
    tg_json_add_int(&out, "code", response->code);
    tg_json_add_string(&out, "message", message);
    tg_json_add_compact(&out, "data",
                        response->data.len != 0 ? tg_buf_view(&response->data)
                                                : TG_STR_NONE);
    tg_buf_append_cstr(&out, "}}\n");

    return tg_cli_print_and_free(stdout, &out, TG_CLI_EXIT_REFUSED);
}
