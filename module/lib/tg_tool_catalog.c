/* The tools of a server, and the catalog that is built from them. */
#include "lib/tg_tool.h"

#include <stdlib.h>
#include <sys/random.h>

tg_server_tool_t *
tg_server_tools_find(const tg_server_tools_t *tools,
                     tg_catalog_entry_type_t kind, const char *name)
{
    size_t i;

    for (i = 0; i < tools->n; i++) {
        if (tools->list[i].tool->entry.kind == kind
            && strcmp(tools->list[i].tool->name, name) == 0)
        {
            return &tools->list[i];
        }
    }

    return NULL;
}

int
tg_server_tools_add(tg_server_tools_t *tools, tg_tool_t *tool)
{
    tg_server_tool_t *list;
    size_t size;

    if (tools->n == TG_SERVER_TOOLS_MAX) {
        return tg_lib_set_error(TOOLGATE_ERR_BUSY,
                                "a server can have at most %d tools and "
                                "methods",
                                TG_SERVER_TOOLS_MAX);
    }

    if (tools->n == tools->size) {
        size = tools->size != 0 ? tools->size * 2 : 16;
        list = realloc(tools->list, size * sizeof(*list));

        if (list == NULL) {
            return tg_lib_set_nomem_error();
        }

        tools->list = list;
        tools->size = size;
    }

    tools->list[tools->n].tool = tool;
    tools->list[tools->n].is_hidden = 0;
    tools->n++;

    return 0;
}

void
tg_server_tools_remove(tg_server_tools_t *tools, tg_server_tool_t *server_tool)
{
    tg_tool_unref(server_tool->tool);
    tools->n--;
    memmove(server_tool, server_tool + 1,
            (size_t) (tools->list + tools->n - server_tool)
                * sizeof(*server_tool));
}

void
tg_server_tools_deinit(tg_server_tools_t *tools)
{
    while (tools->n != 0) {
        tg_server_tools_remove(tools, &tools->list[tools->n - 1]);
    }

    free(tools->list);
}

/* The entries of a catalog, each with a reference to its tool. */
typedef struct {
    size_t n;
    tg_catalog_entry_t list[];
} tg_tool_entries_t;

static void
tg_tool_entries_free(void *memory)
{
    tg_tool_entries_t *entries;
    size_t i;

    entries = memory;

    for (i = 0; i < entries->n; i++) {
        tg_tool_unref(entries->list[i].host);
    }

    free(entries);
}

static tg_tool_entries_t *
tg_tool_entries_new(const tg_server_tools_t *tools)
{
    tg_tool_entries_t *entries;
    tg_catalog_entry_t *entry;
    size_t i;

    entries = malloc(sizeof(*entries) + tools->n * sizeof(entries->list[0]));

    if (entries == NULL) {
        return NULL;
    }

    entries->n = 0;

    for (i = 0; i < tools->n; i++) {
        if (!tools->list[i].is_hidden) {
            entry = &entries->list[entries->n++];
            *entry = tools->list[i].tool->entry;
            entry->host = tg_tool_ref(tools->list[i].tool);
        }
    }

    return entries;
}

tg_catalog_t *
tg_server_tools_create_catalog(const tg_server_tools_t *tools)
{
    tg_catalog_t *catalog;
    tg_tool_entries_t *entries;
    uint64_t seed;
    size_t i;
    int rc;

    catalog = tg_catalog_new(tg_alloc_libc());
    entries = catalog != NULL ? tg_tool_entries_new(tools) : NULL;
    rc = entries != NULL ? TG_OK : TG_NOMEM;

    if (entries != NULL) {
        tg_catalog_set_memory(catalog, entries, tg_tool_entries_free);
        seed = 0;
        (void) !getrandom(&seed, sizeof(seed), 0);
        tg_catalog_set_seed(catalog, seed);
    }

    for (i = 0; rc == TG_OK && i < entries->n; i++) {
        rc = tg_catalog_add(catalog, &entries->list[i]);
    }

    if (rc == TG_OK && tg_catalog_seal(catalog) == TG_OK) {
        return catalog;
    }

    (void) tg_lib_set_nomem_error();
    tg_catalog_unref(catalog);

    return NULL;
}
