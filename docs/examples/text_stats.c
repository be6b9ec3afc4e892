/*
 * A native handler that answers at once: the length of a text.
 *
 *     gcc -shared -fPIC -O2 -Wall -Wextra -o text_stats.so text_stats.c
 *
 *     tool text_stats {
 *         description  "Counts bytes, characters, words and lines of a text.";
 *         input_schema '{"type":"object",
 *                        "properties":{"text":{"type":"string"}},
 *                        "required":["text"]}';
 *         output       json;
 *         library      text_stats.so text_stats $tool_arg_text;
 *     }
 */
#include <toolgate_handler.h>

#include <stdio.h>
#include <string.h>

/* Refuses a config without exactly one ARGUMENT. */
static const char *
check(const toolgate_tool_t *tool)
{
    return tool->nargs == 1 ? NULL
                            : "it needs one argument, the text: write "
                              "\"library text_stats.so text_stats "
                              "$tool_arg_text\"";
}

static void
call(const toolgate_request_t *request)
{
    unsigned long characters, words, lines;
    const toolgate_text_t *text;
    char result[160];
    int is_word;
    size_t i;

    text = &request->args[0];
    characters = words = lines = 0;
    is_word = 0;

    for (i = 0; i < text->len; i++) {
        switch (text->data[i]) {
        case '\n':
            lines++;
            /* fall through */
        case ' ':
        case '\t':
        case '\r':
            is_word = 0;
            break;
        default:
            words += !is_word;
            is_word = 1;
        }

        /* Continuation bytes of UTF-8 begin no character. */
        characters += ((unsigned char) text->data[i] & 0xc0) != 0x80;
    }

    (void) snprintf(result, sizeof(result),
                    "{\"bytes\":%lu,\"characters\":%lu,\"words\":%lu,"
                    "\"lines\":%lu}",
                    (unsigned long) text->len, characters, words, lines);
    (void) request->tool->api->reply(request->call, result, strlen(result));
}

TOOLGATE_HANDLER(text_stats) = { TOOLGATE_HEAD, check, NULL, NULL, call, NULL };
