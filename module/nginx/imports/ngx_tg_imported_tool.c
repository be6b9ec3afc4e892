/*
 * A tool of an MCP server: repaired, renamed, and described by its block. A new
 * list shares unchanged tools with the previous list.
 */
#include "nginx/imports/ngx_tg_imports.h"

#include "catalog/tg_imported_tool.h"
#include "catalog/tg_catalog_entry.h"

/* Maximum pool size of a tool, and pool space beyond its texts. */
#define NGX_TG_IMPORTED_TOOL_POOL_MAX 8192
#define NGX_TG_IMPORTED_TOOL_POOL_EXTRA 512

/* Finds the `tool` block by either name, or else the `mcp_server` block. */
static ngx_tg_tool_t *
ngx_tg_imported_tool_find_block(const ngx_tg_mcp_server_t *mcp, tg_str_t name,
                                tg_str_t client_name)
{
    ngx_tg_tool_t **tool;
    ngx_uint_t i;

    for (i = 0; mcp->tools != NULL && i < mcp->tools->nelts; i++) {
        tool = mcp->tools->elts;

        if (tg_str_eq(tool[i]->entry.name, name)
            || tg_str_eq(tool[i]->entry.name, client_name))
        {
            return tool[i];
        }
    }

    return mcp->block;
}

/* --- creation --- */

ngx_int_t
ngx_tg_imported_tool_copy_text(ngx_pool_t *pool, tg_str_t text,
                               ngx_uint_t is_raw, tg_str_t *copy)
{
    char *p;

    p = ngx_pnalloc(pool, text.len + 1);

    if (p == NULL) {
        return NGX_ERROR;
    }

    if (is_raw) {
        copy->len = tg_json_unescape(p, tg_json_string_body(text));
    } else {
        ngx_memcpy(p, text.data, text.len);
        copy->len = text.len;
    }

    copy->data = p;

    return NGX_OK;
}

static void
ngx_tg_imported_tool_free_text(void *data)
{
    tg_free(tg_alloc_libc(), data);
}

/* Copies a short text to a pool, and takes over the memory of a long one. */
static ngx_int_t
ngx_tg_imported_tool_adopt_text(ngx_pool_t *pool, tg_buf_t *text,
                                tg_str_t *kept)
{
    ngx_pool_cleanup_t *cln;
    ngx_int_t rc;

    rc = tg_buf_has_failed(text) ? NGX_ERROR : NGX_OK;

    if (rc == NGX_OK && text->len <= NGX_TG_IMPORTED_TOOL_POOL_MAX) {
        rc = ngx_tg_imported_tool_copy_text(pool, tg_buf_view(text), 0, kept);

    } else if (rc == NGX_OK) {
        cln = ngx_pool_cleanup_add(pool, 0);

        if (cln != NULL) {
            cln->handler = ngx_tg_imported_tool_free_text;
            cln->data = text->data;
            *kept = tg_buf_view(text);
            return NGX_OK;
        }

        rc = NGX_ERROR;
    }

    tg_buf_deinit(text);

    return rc;
}

/* Renders the tool for lists of current and of legacy clients. */
static ngx_int_t
ngx_tg_imported_tool_render(ngx_tg_tool_t *tool, tg_str_t raw,
                            const tg_catalog_entry_t *instead)
{
    tg_buf_t listing, shown;
    tg_catalog_entry_t *entry;
    ngx_int_t rc;

    entry = &tool->entry;
    tg_buf_init(&listing, tg_alloc_libc());
    tg_buf_init(&shown, tg_alloc_libc());

    /* A preview of a stored result does not match the output schema. */
    if (tool->output_spec.is_stored) {
        tg_catalog_entry_write_legacy(&shown, raw);
        raw = tg_buf_view(&shown);
    }

    tg_imported_tool_write_json(&listing, raw, instead);
    listing.failed |= tg_buf_has_failed(&shown);
    tg_buf_deinit(&shown);
    rc = ngx_tg_imported_tool_adopt_text(tool->pool, &listing, &entry->listing);

    if (rc == NGX_OK && entry->is_modern) {
        tg_buf_init(&listing, tg_alloc_libc());
        tg_catalog_entry_write_legacy(&listing, entry->listing);
        rc = ngx_tg_imported_tool_adopt_text(tool->pool, &listing,
                                             &entry->legacy);
    }

    if (rc == NGX_OK) {
        tg_catalog_entry_set_digest(entry);
    }

    return rc;
}

/* Sets the title, description and annotations. */
static ngx_int_t
ngx_tg_imported_tool_describe(ngx_tg_tool_t *tool, tg_str_t raw,
                              tg_str_t description)
{
    tg_catalog_entry_t *entry, instead;
    ngx_int_t rc;

    entry = &tool->entry;
    instead = tool->block->entry;
    instead.name = entry->name;
    rc = ngx_tg_imported_tool_render(tool, raw, &instead);
    entry->title = instead.title;
    entry->description = instead.description;
    entry->annotations = instead.annotations;

    if (rc == NGX_OK && entry->description.data == NULL
        && description.data != NULL) {
        rc = ngx_tg_imported_tool_copy_text(tool->pool, description, 1,
                                            &entry->description);
    }

    return rc;
}

/*
 * Initializes a tool from a valid raw element, which need not outlive it; its
 * names are set.
 */
static ngx_int_t
ngx_tg_imported_tool_init(ngx_tg_imported_tool_t *listed, tg_str_t raw,
                          const ngx_tg_tool_t *block)
{
    static const char *const names[] = { "inputSchema", "outputSchema",
                                         "description", NULL };
    ngx_tg_tool_t *tool;
    tg_str_t members[3];
    ngx_int_t rc;

    (void) tg_json_get_members(raw, names, members);
    tool = &listed->tool;
    tool->entry.kind = TG_ENTRY_TOOL;
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.host = tool;
    tool->handler = block->handler;
    tool->conf = listed;
    tool->block = block;
    tool->validate = block->validate;
    tool->output = TG_OUTPUT_RESULT;
    tool->job_spec = block->job_spec;
    tool->output_spec = block->output_spec;

    /* A preview of a stored result does not match the output schema. */
    if (!block->output_spec.is_stored) {
        tool->entry.output_schema = members[1];
    }

    tool->is_uncompiled = tool->validate != NGX_TG_VALIDATE_OFF;

    if (block->entry.input_schema.data != NULL) {
        tool->entry.input_schema = block->entry.input_schema;
        tool->input = block->input;
    }

    rc = ngx_tg_imported_tool_describe(tool, raw, members[2]);

    if (rc != NGX_OK) {
        return rc;
    }

    /* The schemas are stored once, in the listing. */
    (void) tg_json_get_members(tool->entry.listing, names, members);

    if (block->entry.input_schema.data == NULL) {
        tool->entry.input_schema = members[0];
    }

    if (!block->output_spec.is_stored) {
        tool->entry.output_schema = members[1];
    }

    return NGX_OK;
}

uint64_t
ngx_tg_imported_tool_hash(tg_str_t raw)
{
    static uint64_t seed;

    while (seed == 0) {
        seed = ((uint64_t) ngx_random() << 32) ^ (uint64_t) ngx_random();
    }

    return tg_hash_fast(seed, raw);
}

/* Builds a tool in its pool. NGX_DECLINED: it cannot be listed. */
static ngx_int_t
ngx_tg_imported_tool_build(ngx_tg_imported_tool_t *listed, ngx_pool_t *pool,
                           const ngx_tg_imported_list_item_t *element,
                           tg_tool_repair_t *repair)
{
    const ngx_tg_tool_t *block;
    tg_buf_t repaired;
    ngx_int_t rc;

    block = ngx_tg_imported_tool_find_block(listed->server, element->name,
                                            element->client_name);
    repair->has_input = block->entry.input_schema.data != NULL;
    listed->nrefs = 1;
    listed->tool.pool = pool;
    listed->digest = ngx_tg_imported_tool_hash(element->raw);

    if (ngx_tg_imported_tool_copy_text(pool, element->raw_name, 0,
                                       &listed->name)
            != NGX_OK
        || ngx_tg_imported_tool_copy_text(pool, element->client_name, 0,
                                          &listed->tool.entry.name)
               != NGX_OK)
    {
        return NGX_ERROR;
    }

    tg_buf_init(&repaired, tg_alloc_libc());
    (void) tg_tool_repair(repair, element->raw, &repaired);

    if (tg_buf_has_failed(&repaired)) {
        rc = NGX_ERROR;
    } else if (repair->why != NULL) {
        rc = NGX_DECLINED;
    } else {
        listed->repairs = repair->repairs;
        listed->tool.entry.is_modern = repair->is_modern;
        rc = ngx_tg_imported_tool_init(
            listed, repaired.len != 0 ? tg_buf_view(&repaired) : element->raw,
            block);
    }

    tg_buf_deinit(&repaired);

    return rc;
}

ngx_int_t
ngx_tg_imported_tool_create(ngx_tg_mcp_server_t *mcp,
                            const ngx_tg_imported_list_item_t *element,
                            tg_tool_repair_t *repair, ngx_log_t *log,
                            ngx_tg_imported_tool_t **made)
{
    ngx_tg_imported_tool_t *listed;
    ngx_pool_t *pool;
    ngx_int_t rc;

    /* Enough for a usual tool and its listing. */
    pool = ngx_create_pool(ngx_min(sizeof(ngx_pool_t) + sizeof(*listed)
                                       + element->raw.len
                                       + NGX_TG_IMPORTED_TOOL_POOL_EXTRA,
                                   NGX_TG_IMPORTED_TOOL_POOL_MAX),
                           log);

    if (pool == NULL) {
        return NGX_ERROR;
    }

    listed = ngx_pcalloc(pool, sizeof(*listed));
    rc = NGX_ERROR;

    if (listed != NULL) {
        listed->server = mcp;
        rc = ngx_tg_imported_tool_build(listed, pool, element, repair);
    }

    if (rc != NGX_OK) {
        ngx_destroy_pool(pool);
        return rc;
    }

    *made = listed;

    return NGX_OK;
}

ngx_tg_imported_tool_t *
ngx_tg_imported_tool_find_unchanged(const ngx_tg_mcp_server_t *mcp,
                                    const ngx_tg_imported_list_item_t *element)
{
    const ngx_tg_tool_t *tool;
    ngx_tg_imported_tool_t *listed;
    const tg_catalog_entry_t *entry;

    if (mcp->list == NULL || mcp->list->is_guessed) {
        return NULL;
    }

    entry = tg_catalog_find(mcp->imports->scf->catalog,
                            ngx_tg_imported_entry_kinds[element->kind],
                            element->client_name);
    tool = entry != NULL ? entry->host : NULL;

    if (tool == NULL || tool->handler != mcp->block->handler) {
        return NULL;
    }

    listed = tool->conf;

    if (listed->server != mcp
        || listed->digest != ngx_tg_imported_tool_hash(element->raw))
    {
        return NULL;
    }

    listed->nrefs++;

    return listed;
}

void
ngx_tg_imported_tool_release(ngx_tg_imported_tool_t *listed)
{
    if (--listed->nrefs == 0) {
        ngx_destroy_pool(listed->tool.pool);
    }
}
