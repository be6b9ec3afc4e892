/* Prompts, resources and templates: "item WORD ...". */
#include "host.h"

#include <string.h>

static void
host_item_arguments(toolgate_call_t call, const char *arguments, size_t len,
                    void *data)
{
    toolgate_reply(call, arguments, len);
}

static void
host_item_text(toolgate_call_t call, const char *arguments, size_t len,
               void *data)
{
    toolgate_reply(call, "its text", 8);
}

static void
host_item_bytes(toolgate_call_t call, const char *arguments, size_t len,
                void *data)
{
    toolgate_reply(call, "\xff\0\1", 3);
}

static void
host_item_json(toolgate_call_t call, const char *arguments, size_t len,
               void *data)
{
    char *json = toolgate_argument(arguments, len, "json");

    toolgate_reply(call, json, strlen(json));
    toolgate_free(json);
}

static void
host_item_fail(toolgate_call_t call, const char *arguments, size_t len,
               void *data)
{
    toolgate_fail(call, "SomeError", "no luck");
}

static void
host_item_unknown(toolgate_call_t call, const char *arguments, size_t len,
                  void *data)
{
    toolgate_fail_unknown(call);
}

static void
host_item_never(toolgate_call_t call, const char *arguments, size_t len,
                void *data)
{
    host_print("began", "", 0);
}

static toolgate_call_pt
host_item_find(const char *word)
{
    static const struct {
        const char *word;
        toolgate_call_pt called;
    } calls[] = {
        { "arguments", host_item_arguments }, { "text", host_item_text },
        { "bytes", host_item_bytes },         { "json", host_item_json },
        { "fail", host_item_fail },           { "unknown", host_item_unknown },
        { "never", host_item_never },
    };
    size_t i;

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(calls[i].word, word) == 0) {
            return calls[i].called;
        }
    }

    return NULL;
}

/*
 * Runs "add-KIND CALL NAME [MIME|ARGUMENTS]", "set-KIND NAME OPTION [VALUE]",
 * "remove-KIND NAME", "complete-KIND NAME ARGUMENT", "updated URI" or "offers".
 */
void
host_item_do(char *line)
{
    char *word = strtok(line, " "), *first = strtok(NULL, " ");
    char *name = NULL, *rest = NULL;
    toolgate_call_pt called = NULL;

    if (strncmp(word, "add-", 4) == 0) {
        called = host_item_find(first);
        name = strtok(NULL, " ");
        rest = strtok(NULL, "");
    } else if (strncmp(word, "set-", 4) == 0) {
        name = strtok(NULL, " ");
        rest = strtok(NULL, "");
    }

    if (strcmp(word, "add-prompt") == 0) {
        host_done(toolgate_add_prompt(host_server, name, "A prompt.", rest,
                                      called, NULL));
    } else if (strcmp(word, "add-resource") == 0) {
        host_done(
            toolgate_add_resource(host_server, name, NULL, rest, called, NULL));
    } else if (strcmp(word, "add-template") == 0) {
        host_done(toolgate_add_template(host_server, name, "items", rest,
                                        called, NULL));
    } else if (strcmp(word, "set-prompt") == 0) {
        host_done(toolgate_set_prompt(host_server, first, name, rest));
    } else if (strcmp(word, "set-resource") == 0) {
        host_done(toolgate_set_resource(host_server, first, name, rest));
    } else if (strcmp(word, "set-template") == 0) {
        host_done(toolgate_set_template(host_server, first, name, rest));
    } else if (strcmp(word, "remove-prompt") == 0) {
        host_done(toolgate_remove_prompt(host_server, first));
    } else if (strcmp(word, "remove-resource") == 0) {
        host_done(toolgate_remove_resource(host_server, first));
    } else if (strcmp(word, "remove-template") == 0) {
        host_done(toolgate_remove_template(host_server, first));
    } else if (strcmp(word, "complete-prompt") == 0) {
        host_done(toolgate_complete_prompt(
            host_server, first, strtok(NULL, " "), host_item_arguments, NULL));
    } else if (strcmp(word, "complete-template") == 0) {
        host_done(toolgate_complete_template(
            host_server, first, strtok(NULL, " "), host_item_arguments, NULL));
    } else if (strcmp(word, "offers") == 0) {
        host_done(host_offer_all());
    } else if (strcmp(word, "updated") == 0) {
        host_done(toolgate_updated(host_server, first));
    } else {
        host_text("what?");
    }
}
