/* Renders the listing of one entry, as MCP defines it for each kind. */
#include "catalog/tg_catalog_entry.h"

#include "catalog/tg_tool_repair.h"

/* Appends a schema, repaired so that all clients can read it. */
static void
tg_catalog_entry_write_schema(tg_buf_t *buf, const char *key, tg_str_t schema)
{
    tg_tool_repair_t repair;
    tg_buf_t text;

    memset(&repair, 0, sizeof(repair));
    tg_buf_init(&text, buf->alloc);
    (void) tg_tool_schema_write_repaired(&repair, TG_TOOL_SCHEMA_INPUT, schema,
                                         &text);
    tg_json_add_compact(buf, key, tg_buf_view(&text));
    buf->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

void
tg_catalog_entry_write_legacy(tg_buf_t *buf, tg_str_t listing)
{
    static const char *const ours[] = { "name", "outputSchema", NULL };
    tg_str_t name;

    (void) tg_json_get_member(listing, TG_STR("name"), &name);
    tg_buf_append_char(buf, '{');
    tg_json_add_compact(buf, "name", name);
    (void) tg_json_write_members_except(buf, listing, ours, 1);
    tg_buf_append_char(buf, '}');
}

static void
tg_catalog_entry_write_name(tg_buf_t *buf, const tg_catalog_entry_t *entry)
{
    switch (entry->kind) {
    case TG_ENTRY_RESOURCE:
        tg_json_add_string(buf, "uri", entry->name);
        tg_json_add_string(buf, "name", entry->label);
        break;
    case TG_ENTRY_TEMPLATE:
        tg_json_add_string(buf, "uriTemplate", entry->name);
        tg_json_add_string(buf, "name", entry->label);
        break;
    default:
        tg_json_add_string(buf, "name", entry->name);
    }
}

void
tg_catalog_entry_write_json(tg_buf_t *buf, const tg_catalog_entry_t *entry)
{
    if (entry->listing.data != NULL) {
        tg_json_write_compact(buf, entry->listing);
        return;
    }

    tg_buf_append_char(buf, '{');
    tg_catalog_entry_write_name(buf, entry);
    tg_json_add_optional(buf, "title", entry->title);
    tg_json_add_optional(buf, "description", entry->description);
    tg_json_add_optional(buf, "mimeType", entry->mime);
    tg_json_add_raw(buf, "size", entry->size);

    if (entry->kind == TG_ENTRY_TOOL) {
        tg_catalog_entry_write_schema(buf, "inputSchema", entry->input_schema);
    }

    if (entry->kind == TG_ENTRY_TOOL && entry->output_schema.data != NULL) {
        tg_catalog_entry_write_schema(buf, "outputSchema",
                                      entry->output_schema);
    }

    tg_json_add_compact(buf, "arguments", entry->arguments);
    tg_json_add_compact(buf, "annotations", entry->annotations);
    tg_json_add_compact(buf, "icons", entry->icons);
    tg_json_add_compact(buf, "_meta", entry->meta);
    tg_buf_append_char(buf, '}');
}
