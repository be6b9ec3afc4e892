#include "protocol_offers.h"

#include <stdlib.h>

#define STRINGS(members) "{\"type\":\"object\",\"properties\":{" members "}}"
#define A_STRING "{\"type\":\"string\"}"

const host_offer_t host_offers[HOST_OFFERS] = {
    { .tool = { TG_ENTRY_PROMPT, HOST_VALUE, TG_OUTPUT_RESULT, "hello",
                "Says hello.",
                "{\"description\":\"Says hello.\",\"messages\":["
                "{\"role\":\"user\",\"content\":{\"type\":\"text\","
                "\"text\":\"Hello.\"}},{\"role\":\"assistant\","
                "\"content\":{\"type\":\"text\",\"text\":"
                "\"Hello, you.\"}}]}" } },
    { .tool = { TG_ENTRY_PROMPT, HOST_SAY, TG_OUTPUT_TEXT, "greet",
                "Greets somebody.", "Hello, {name}." },
      .title = "Greeting",
      .arguments = "[{\"name\":\"name\",\"description\":\"Who it is.\","
                   "\"required\":true},{\"name\":\"tone\",\"required\":false}]",
      .schema = STRINGS("\"name\":" A_STRING ",\"tone\":" A_STRING) },
    { .tool = { TG_ENTRY_PROMPT, HOST_VALUE, TG_OUTPUT_RESULT, "scene",
                "A scene.",
                "{\"description\":\"A scene.\",\"messages\":[{\"role\":"
                "\"user\",\"content\":{\"type\":\"text\",\"text\":\"Ho!\"}},"
                "{\"role\":\"assistant\",\"content\":{\"type\":\"image\","
                "\"data\":\"AA==\",\"mimeType\":\"image/png\"}}]}" } },
    { .tool = { TG_ENTRY_PROMPT, HOST_FAIL, TG_OUTPUT_TEXT, "sorry",
                "Always fails.", NULL } },
    { .tool = { TG_ENTRY_PROMPT, HOST_SLOW, TG_OUTPUT_TEXT, "late",
                "Never in time.", NULL } },
    { .tool = { TG_ENTRY_COMPLETION, HOST_VALUE, TG_OUTPUT_TEXT, "tone", NULL,
                "kind\nblunt\nKindly" },
      .parent = TG_ENTRY_PROMPT,
      .of = "greet" },
    { .tool = { TG_ENTRY_RESOURCE, HOST_VALUE, TG_OUTPUT_TEXT, "note:///today",
                "What to do.", "buy milk" },
      .label = "today",
      .title = "Today",
      .mime = "text/plain",
      .annotations = "{\"priority\":0.5}",
      .ttl_ms = 60000 },
    { .tool = { TG_ENTRY_RESOURCE, HOST_VALUE, TG_OUTPUT_RESULT,
                "note:///pixel", "An image.",
                "{\"contents\":[{\"uri\":\"note:///pixel\",\"mimeType\":"
                "\"image/png\",\"blob\":\"AA==\"}]}" },
      .label = "pixel",
      .mime = "image/png" },
    { .tool = { TG_ENTRY_RESOURCE, HOST_VALUE, TG_OUTPUT_RESULT, "note:///many",
                "Two notes.",
                "{\"contents\":[{\"uri\":\"note:///a\",\"text\":\"a\"},"
                "{\"uri\":\"note:///b\",\"text\":\"b\"}]}" },
      .label = "many" },
    { .tool = { TG_ENTRY_RESOURCE, HOST_FAIL, TG_OUTPUT_TEXT, "note:///broken",
                "Always fails.", NULL },
      .label = "broken" },
    { .tool = { TG_ENTRY_RESOURCE, HOST_SLOW, TG_OUTPUT_TEXT, "note:///slow",
                "Never in time.", NULL },
      .label = "slow" },
    { .tool = { TG_ENTRY_RESOURCE, HOST_HANG, TG_OUTPUT_TEXT, "note:///hang",
                "Never ends.", NULL },
      .label = "hang" },
    { .tool = { TG_ENTRY_TEMPLATE, HOST_SAY, TG_OUTPUT_TEXT, "note:///{day}",
                "The note of a day.", "of {day}" },
      .label = "note",
      .title = "A note",
      .mime = "text/plain",
      .schema = STRINGS("\"day\":" A_STRING) },
    { .tool = { TG_ENTRY_COMPLETION, HOST_VALUE, TG_OUTPUT_TEXT, "day", NULL,
                "today\nmonday\ntuesday" },
      .parent = TG_ENTRY_TEMPLATE,
      .of = "note:///{day}" },
    { .tool = { TG_ENTRY_TEMPLATE, HOST_SAY, TG_OUTPUT_TEXT,
                "note:///{day}/{+path}", "A file of a day.",
                "{path} of {day}" },
      .label = "file",
      .schema = STRINGS("\"day\":" A_STRING ",\"path\":" A_STRING) },
    { .tool = { TG_ENTRY_TEMPLATE, HOST_SAY, TG_OUTPUT_TEXT,
                "find:///{what}{?in,at}", "Finds something.",
                "{what} in {in?} at {at?}" },
      .label = "find",
      .schema = STRINGS("\"what\":" A_STRING ",\"in\":" A_STRING
                        ",\"at\":" A_STRING) },
    { .tool = { TG_ENTRY_TEMPLATE, HOST_VALUE, TG_OUTPUT_TEXT, "note:///{+all}",
                "All else.", "all else" },
      .label = "rest",
      .schema = STRINGS("\"all\":" A_STRING) },
};

const host_tool_t *
host_tool(size_t i)
{
    return i < HOST_TOOLS ? &host_tools[i] : &host_offers[i - HOST_TOOLS].tool;
}

static tg_str_t
host_text(const char *text)
{
    return text != NULL ? tg_str_from_cstr(text) : TG_STR_NONE;
}

static void
host_check(int is_so)
{
    if (!is_so) {
        abort();
    }
}

void
host_offer_describe(const host_offer_t *offer, tg_catalog_entry_t *entry)
{
    tg_uri_template_t *uri_template;
    const char *why;
    tg_buf_t key;

    entry->label = host_text(offer->label);
    entry->title = host_text(offer->title);
    entry->mime = host_text(offer->mime);
    entry->annotations = host_text(offer->annotations);
    entry->arguments = host_text(offer->arguments);
    entry->input_schema = host_text(offer->schema);
    entry->ttl_ms = offer->ttl_ms;
    entry->is_public = offer->ttl_ms != 0;
    entry->has_skills = tg_str_eq(entry->name, TG_STR("note:///{+all}"));

    if (entry->kind == TG_ENTRY_TEMPLATE) {
        host_check(tg_uri_template_parse(tg_alloc_libc(), entry->name,
                                         &uri_template, &why)
                   == TG_OK);
        entry->uri_template = uri_template;
    }

    if (entry->kind == TG_ENTRY_COMPLETION) {
        tg_buf_init(&key, tg_alloc_libc());
        tg_completion_write_key(&key, offer->parent, host_text(offer->of),
                                entry->name);
        host_check(!tg_buf_has_failed(&key));
        entry->name = tg_buf_view(&key);
    }
}

int
host_can_report(void *ctx, const tg_catalog_entry_t *entry, tg_str_t uri)
{
    return tg_str_eq(entry->name, TG_STR("note:///broken"));
}
