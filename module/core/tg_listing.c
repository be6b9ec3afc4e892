#include "core/tg_listing.h"

#include "core/tg_tool_repair.h"

static void
tg_listing_text(tg_buf_t *buf, const char *key, tg_str_t text)
{
    if (text.data != NULL) {
        tg_buf_text(buf, key);
        tg_json_put_string(buf, text);
    }
}

/* Appends a schema, token by token, as all clients can read it. */
static void
tg_listing_schema(tg_buf_t *buf, const char *key, tg_str_t schema)
{
    tg_tool_repair_t repair;
    tg_buf_t text;

    memset(&repair, 0, sizeof(repair));
    tg_buf_init(&text, buf->alloc);
    (void) tg_tool_schema_put(&repair, TG_TOOL_INPUT, schema, &text);
    tg_json_put_member(buf, key, tg_buf_view(&text));
    buf->failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
}

void
tg_listing_put_legacy(tg_buf_t *buf, tg_str_t listing)
{
    static const char *const ours[] = { "name", "outputSchema", NULL };
    tg_str_t name;

    (void) tg_json_get(listing, TG_STR("name"), &name);
    tg_json_put_member(buf, "{\"name\":", name);
    (void) tg_json_put_others(buf, listing, ours, 1);
    tg_buf_char(buf, '}');
}

void
tg_listing_put(tg_buf_t *buf, const tg_entry_t *entry)
{
    if (entry->listing.data != NULL) {
        tg_json_put_compact(buf, entry->listing);
        return;
    }

    tg_listing_text(buf, "{\"name\":", entry->name);
    tg_listing_text(buf, ",\"title\":", entry->title);
    tg_listing_text(buf, ",\"description\":", entry->description);
    tg_listing_schema(buf, ",\"inputSchema\":", entry->input_schema);

    if (entry->output_schema.data != NULL) {
        tg_listing_schema(buf, ",\"outputSchema\":", entry->output_schema);
    }

    tg_json_put_member(buf, ",\"annotations\":", entry->annotations);
    tg_json_put_member(buf, ",\"_meta\":", entry->meta);
    tg_buf_char(buf, '}');
}
