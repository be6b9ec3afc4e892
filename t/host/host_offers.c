/* The prompts, resources and templates of the transcripts. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
host_offer_value(toolgate_call_t call, const char *arguments, size_t len,
                 void *data)
{
    toolgate_reply(call, data, strlen(data));
}

static void
host_offer_fail(toolgate_call_t call, const char *arguments, size_t len,
                void *data)
{
    toolgate_fail(call, NULL, "no luck");
}

static void
host_offer_never(toolgate_call_t call, const char *arguments, size_t len,
                 void *data)
{
}

/* Answers with a text in which each {x} becomes the argument x. */
static void
host_offer_format(toolgate_call_t call, const char *arguments, size_t len,
                  void *data)
{
    const char *at, *end;
    char text[4096], name[32], *value;
    size_t n = 0;

    for (at = data; *at != '\0'; at++) {
        if (*at != '{') {
            text[n++] = *at;
            continue;
        }

        end = strchr(at, '}');
        snprintf(name, sizeof(name), "%.*s", (int) (end - at - 1), at + 1);
        value = toolgate_argument(arguments, len, name);
        n += (size_t) snprintf(text + n, sizeof(text) - n, "%s",
                               value != NULL ? value : "");
        toolgate_free(value);
        at = end;
    }

    toolgate_reply(call, text, n);
}

typedef struct {
    const char *kind;
    const char *name;
    const char *title;
    const char *description;
    const char *extra; /* arguments of a prompt; name of a template */
    const char *mime;
    toolgate_call_pt called;
    const char *data;
    const char *timeout;
} host_offer_t;

static const host_offer_t host_offers[] = {
    { "prompt", "hello", NULL, "Says hello.", NULL, NULL, host_offer_value,
      "{\"description\":\"Says hello.\",\"messages\":[{\"role\":\"user\","
      "\"content\":{\"type\":\"text\",\"text\":\"Hello.\"}},"
      "{\"role\":\"assistant\",\"content\":"
      "{\"type\":\"text\",\"text\":\"Hello, you.\"}}]}",
      NULL },
    { "prompt", "greet", "Greeting", "Greets somebody.",
      "[{\"name\":\"name\",\"description\":\"Who it is.\",\"required\":true},"
      "{\"name\":\"tone\",\"required\":false}]",
      NULL, host_offer_format, "Hello, {name}.", NULL },
    { "prompt", "scene", NULL, "A scene.", NULL, NULL, host_offer_value,
      "{\"description\":\"A scene.\",\"messages\":[{\"role\":\"user\","
      "\"content\":{\"type\":\"text\",\"text\":\"Ho!\"}},"
      "{\"role\":\"assistant\",\"content\":{\"type\":\"image\","
      "\"data\":\"AA==\",\"mimeType\":\"image/png\"}}]}",
      NULL },
    { "prompt", "sorry", NULL, "Always fails.", NULL, NULL, host_offer_fail,
      NULL, NULL },
    { "prompt", "late", NULL, "Never in time.", NULL, NULL, host_offer_never,
      NULL, "200ms" },
    { "resource", "note:///today", "Today", "What to do.", NULL, "text/plain",
      host_offer_value, "buy milk", NULL },
    { "resource", "note:///pixel", NULL, "An image.", NULL, "image/png",
      host_offer_value,
      "{\"contents\":[{\"uri\":\"note:///pixel\",\"mimeType\":\"image/png\","
      "\"blob\":\"AA==\"}]}",
      NULL },
    { "resource", "note:///many", NULL, "Two notes.", NULL, NULL,
      host_offer_value,
      "{\"contents\":[{\"uri\":\"note:///a\",\"text\":\"a\"},"
      "{\"uri\":\"note:///b\",\"text\":\"b\"}]}",
      NULL },
    { "resource", "note:///broken", NULL, "Always fails.", NULL, NULL,
      host_offer_fail, NULL, NULL },
    { "resource", "note:///slow", NULL, "Never in time.", NULL, NULL,
      host_offer_never, NULL, "200ms" },
    { "resource", "note:///hang", NULL, "Never ends.", NULL, NULL,
      host_offer_never, NULL, "600s" },
    { "template", "note:///{day}", "A note", "The note of a day.", "note",
      "text/plain", host_offer_format, "of {day}", NULL },
    { "template", "note:///{day}/{+path}", NULL, "A file of a day.", "file",
      NULL, host_offer_format, "{path} of {day}", NULL },
    { "template", "find:///{what}{?in,at}", NULL, "Finds something.", "find",
      NULL, host_offer_format, "{what} in {in} at {at}", NULL },
    { "template", "note:///{+all}", NULL, "All else.", "rest", NULL,
      host_offer_value, "all else", NULL },
};

/* Sets an option unless value is NULL. */
static int
host_offer_set(const host_offer_t *offer, const char *option, const char *value)
{
    return value == NULL ? 0
           : strcmp(offer->kind, "prompt") == 0
               ? toolgate_set_prompt(host_server, offer->name, option, value)
           : strcmp(offer->kind, "resource") == 0
               ? toolgate_set_resource(host_server, offer->name, option, value)
               : toolgate_set_template(host_server, offer->name, option, value);
}

static int
host_offer_add(const host_offer_t *offer)
{
    void *data = (void *) (uintptr_t) offer->data;
    int rc;

    rc = strcmp(offer->kind, "prompt") == 0
             ? toolgate_add_prompt(host_server, offer->name, NULL, offer->extra,
                                   offer->called, data)
         : strcmp(offer->kind, "resource") == 0
             ? toolgate_add_resource(host_server, offer->name, NULL,
                                     offer->mime, offer->called, data)
             : toolgate_add_template(host_server, offer->name, offer->extra,
                                     offer->mime, offer->called, data);
    rc = rc == 0 ? host_offer_set(offer, "title", offer->title) : rc;
    rc = rc == 0 ? host_offer_set(offer, "description", offer->description)
                 : rc;
    rc = rc == 0 ? host_offer_set(offer, "timeout", offer->timeout) : rc;

    return rc == 0 && offer->called == host_offer_value && data != NULL
                   && offer->data[0] == '{'
               ? host_offer_set(offer, "output", "result")
               : rc;
}

int
host_offer_all(void)
{
    size_t i;
    int rc = 0;

    for (i = 0; rc == 0 && i < sizeof(host_offers) / sizeof(host_offers[0]);
         i++) {
        rc = host_offer_add(&host_offers[i]);
    }

    rc = rc == 0 ? toolgate_set_resource(host_server, "note:///today",
                                         "annotations", "{\"priority\":0.5}")
                 : rc;
    rc = rc == 0 ? toolgate_set_resource(host_server, "note:///today", "ttl",
                                         "1m public")
                 : rc;
    rc = rc == 0 ? toolgate_complete_prompt(
             host_server, "greet", "tone", host_offer_value,
             (void *) (uintptr_t) "kind\nblunt\nKindly\n")
                 : rc;

    return rc == 0 ? toolgate_complete_template(
               host_server, "note:///{day}", "day", host_offer_value,
               (void *) (uintptr_t) "today\nmonday\ntuesday")
                   : rc;
}
