#include "core/tg_tools.h"

struct tg_tools_s {
    tg_catalogue_t *catalogue; /* which owns this */
    size_t nleft_out;
    tg_entry_t entries[]; /* and behind them their names */
};

/* The next element, and its name as an escaped body, or absent. */
static int
tg_tools_next(tg_json_t *json, tg_str_t *element, tg_str_t *name)
{
    if (!tg_json_item(json, element)) {
        return 0;
    }

    *name = tg_json_has(*element, TG_STR("name"), TG_JSON_STRING, name)
                ? tg_json_body(*name)
                : TG_STR_NONE;

    return 1;
}

/* names has room: decoded they are never longer. */
static int
tg_tools_fill(tg_tools_t *tools, char *names, tg_json_t *json)
{
    tg_str_t element, name;
    tg_entry_t *entry;
    int rc;

    entry = tools->entries;

    while (tg_tools_next(json, &element, &name)) {
        entry->kind = TG_ENTRY_TOOL;
        entry->output = TG_OUTPUT_RESULT;
        entry->listing = element;
        entry->name = tg_str(names, tg_json_decode(names, name));
        rc = name.data != NULL ? tg_catalogue_add(tools->catalogue, entry)
                               : TG_MISSING;

        if (rc == TG_NOMEM) {
            return TG_NOMEM;
        }

        if (rc == TG_OK) {
            names += entry->name.len;
            entry++;
        } else {
            tools->nleft_out++;
        }
    }

    return tg_catalogue_seal(tools->catalogue);
}

int
tg_tools_new(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
             tg_tools_t **out)
{
    tg_str_t element, name;
    tg_json_t json, start;
    tg_tools_t *tools;
    size_t n, size;

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_BAD;
    }

    tg_json_each(&json, array);
    start = json;
    size = sizeof(*tools);

    for (n = 0; tg_tools_next(&json, &element, &name); n++) {
        size += sizeof(tools->entries[0]) + name.len;
    }

    if (n > TG_TOOLS_MAX || array.len > TG_TOOLS_BYTES) {
        return TG_LIMIT;
    }

    tools = tg_calloc(alloc, size);

    if (tools == NULL) {
        return TG_NOMEM;
    }

    tools->catalogue = tg_catalogue_new(alloc);

    if (tools->catalogue == NULL) {
        tg_free(alloc, tools);
        return TG_NOMEM;
    }

    tg_catalogue_own(tools->catalogue, tools);
    tg_catalogue_seed(tools->catalogue, seed);

    if (tg_tools_fill(tools, (char *) (tools->entries + n), &start) != TG_OK) {
        tg_tools_release(tools);
        return TG_NOMEM;
    }

    *out = tools;

    return TG_OK;
}

tg_tools_t *
tg_tools_hold(tg_tools_t *tools)
{
    (void) tg_catalogue_hold(tools->catalogue);

    return tools;
}

void
tg_tools_release(tg_tools_t *tools)
{
    if (tools != NULL) {
        tg_catalogue_release(tools->catalogue);
    }
}

tg_catalogue_t *
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
