#include "core/tg_tools.h"

struct tg_tools_s {
    const tg_alloc_t *alloc;
    tg_catalogue_t *catalogue;
    size_t nholders;
    size_t nleft_out;
    char *names; /* decoded; behind the entries */
    tg_entry_t entries[];
};

/* The next element: TG_OK, and whether it is a tool; TG_END. */
static int
tg_tools_next(tg_json_t *json, tg_str_t *element, tg_str_t *name)
{
    int rc;

    rc = tg_json_element(json);

    if (rc != TG_OK) {
        return rc;
    }

    rc = tg_json_value(json, element);
    *name = TG_STR_NONE;

    if (rc == TG_OK && tg_json_type(*element) == TG_JSON_OBJECT
        && tg_json_get(*element, TG_STR("name"), name) == TG_OK)
    {
        *name = tg_json_type(*name) == TG_JSON_STRING ? tg_json_body(*name)
                                                      : TG_STR_NONE;
    }

    return rc;
}

/* Room for all: names decoded are never longer. */
static tg_tools_t *
tg_tools_room(const tg_alloc_t *alloc, size_t n, size_t names)
{
    tg_tools_t *tools;
    size_t size;

    size = sizeof(*tools) + n * sizeof(tools->entries[0]);
    tools = tg_calloc(alloc, size + names);

    if (tools == NULL) {
        return NULL;
    }

    tools->alloc = alloc;
    tools->nholders = 1;
    tools->names = (char *) tools + size;
    tools->catalogue = tg_catalogue_new(alloc);

    if (tools->catalogue == NULL) {
        tg_free(alloc, tools);
        return NULL;
    }

    return tools;
}

static int
tg_tools_fill(tg_tools_t *tools, tg_json_t *json)
{
    tg_str_t element, name;
    tg_entry_t *entry;
    char *names;
    int rc;

    entry = tools->entries;
    names = tools->names;

    while (tg_tools_next(json, &element, &name) == TG_OK) {
        if (name.data == NULL) {
            tools->nleft_out++;
            continue;
        }

        memset(entry, 0, sizeof(*entry));
        entry->kind = TG_ENTRY_TOOL;
        entry->output = TG_OUTPUT_RESULT;
        entry->listing = element;
        entry->name = tg_str(names, tg_json_decode(names, name));
        rc = tg_catalogue_add(tools->catalogue, entry);

        if (rc == TG_NOMEM) {
            return TG_NOMEM;
        }

        if (rc == TG_EXISTS) {
            tools->nleft_out++;
            continue;
        }

        names += entry->name.len;
        entry++;
    }

    return tg_catalogue_seal(tools->catalogue);
}

int
tg_tools_new(const tg_alloc_t *alloc, tg_str_t array, tg_tools_t **out)
{
    tg_str_t element, name;
    tg_tools_t *tools;
    tg_json_t json;
    size_t n, names;

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_BAD;
    }

    tg_json_init(&json, array);
    (void) tg_json_array(&json);

    for (n = 0, names = 0; tg_tools_next(&json, &element, &name) == TG_OK; n++)
    {
        names += name.len;
    }

    if (n > TG_TOOLS_MAX || array.len > TG_TOOLS_BYTES) {
        return TG_LIMIT;
    }

    tools = tg_tools_room(alloc, n, names);

    if (tools == NULL) {
        return TG_NOMEM;
    }

    tg_json_init(&json, array);
    (void) tg_json_array(&json);

    if (tg_tools_fill(tools, &json) != TG_OK) {
        tg_tools_release(tools);
        return TG_NOMEM;
    }

    *out = tools;

    return TG_OK;
}

tg_tools_t *
tg_tools_hold(tg_tools_t *tools)
{
    tools->nholders++;

    return tools;
}

void
tg_tools_release(tg_tools_t *tools)
{
    if (tools != NULL && --tools->nholders == 0) {
        tg_catalogue_free(tools->catalogue);
        tg_free(tools->alloc, tools);
    }
}

const tg_catalogue_t *
tg_tools_catalogue(const tg_tools_t *tools)
{
    return tools->catalogue;
}

uint64_t
tg_tools_digest(const tg_tools_t *tools)
{
    return tools != NULL ? tg_catalogue_digest(tools->catalogue) : 0;
}

size_t
tg_tools_left_out(const tg_tools_t *tools)
{
    return tools->nleft_out;
}
