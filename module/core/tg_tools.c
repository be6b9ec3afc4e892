#include "core/tg_tools.h"

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

/* names has room behind the entries: decoded they are never longer. */
static int
tg_tools_fill(tg_catalogue_t *tools, tg_entry_t *entry, char *names,
              tg_json_t *json, size_t *nleft_out)
{
    tg_str_t element, name;
    int rc;

    while (tg_tools_next(json, &element, &name)) {
        entry->kind = TG_ENTRY_TOOL;
        entry->output = TG_OUTPUT_RESULT;
        entry->listing = element;
        entry->name = tg_str(names, tg_json_decode(names, name));
        rc = name.data != NULL ? tg_catalogue_add(tools, entry) : TG_MISSING;

        if (rc == TG_NOMEM) {
            return TG_NOMEM;
        }

        if (rc == TG_OK) {
            names += entry->name.len;
            entry++;
        } else {
            ++*nleft_out;
        }
    }

    return tg_catalogue_seal(tools);
}

int
tg_tools_new(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
             tg_catalogue_t **tools, size_t *nleft_out)
{
    tg_catalogue_t *catalogue;
    tg_str_t element, name;
    tg_json_t json, start;
    tg_entry_t *entries;
    size_t n, size;

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_BAD;
    }

    tg_json_each(&json, array);
    start = json;
    size = 0;

    for (n = 0; tg_tools_next(&json, &element, &name); n++) {
        size += sizeof(entries[0]) + name.len;
    }

    if (n > TG_TOOLS_MAX || array.len > TG_TOOLS_BYTES) {
        return TG_LIMIT;
    }

    catalogue = tg_catalogue_new(alloc);
    entries = catalogue != NULL ? tg_calloc(alloc, size + 1) : NULL;

    if (entries == NULL) {
        tg_catalogue_release(catalogue);
        return TG_NOMEM;
    }

    *nleft_out = 0;
    tg_catalogue_own(catalogue, entries, NULL);
    tg_catalogue_seed(catalogue, seed);

    if (tg_tools_fill(catalogue, entries, (char *) (entries + n), &start,
                      nleft_out)
        != TG_OK)
    {
        tg_catalogue_release(catalogue);
        return TG_NOMEM;
    }

    *tools = catalogue;

    return TG_OK;
}
