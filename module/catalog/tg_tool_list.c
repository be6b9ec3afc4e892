/* Reads and repairs the tool lists of MCP servers, whole or in steps. */
#include "catalog/tg_tool_list.h"

#include "catalog/tg_catalog_entry.h"
#include "catalog/tg_tool_repair.h"

/* Stores the next element and its escaped name, or an absent slice. */
static int
tg_tool_list_next(tg_json_cursor_t *json, tg_str_t *element, tg_str_t *name)
{
    if (!tg_json_iter_next(json, element)) {
        return 0;
    }

    *name = tg_json_has_member(*element, TG_STR("name"), TG_JSON_STRING, name)
                ? tg_json_string_body(*name)
                : TG_STR_NONE;

    return 1;
}

int
tg_tool_list_read_begin(tg_tool_list_reader_t *reader, const tg_alloc_t *alloc,
                        uint64_t seed, tg_str_t array)
{
    memset(reader, 0, sizeof(*reader));

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_INVALID;
    }

    if (array.len > TG_TOOL_LIST_BYTES_MAX) {
        return TG_LIMIT;
    }

    reader->tools = tg_catalog_new(alloc);

    if (reader->tools == NULL) {
        return TG_NOMEM;
    }

    tg_catalog_set_seed(reader->tools, seed);
    reader->alloc = alloc;
    reader->array = array;
    tg_json_iter_init(&reader->rest, array);

    return TG_OK;
}

void
tg_tool_list_read_stop(tg_tool_list_reader_t *reader)
{
    tg_catalog_unref(reader->tools);
    reader->tools = NULL;
}

/* Counts the next element; after the last one allocates memory for all. */
static int
tg_tool_list_count_next(tg_tool_list_reader_t *reader, size_t *bytes)
{
    tg_str_t element, name;
    tg_catalog_entry_t *entries;

    *bytes = 0;

    if (tg_tool_list_next(&reader->rest, &element, &name)) {
        reader->size += sizeof(*entries) + name.len;
        *bytes = element.len;
        return ++reader->n > TG_TOOL_LIST_TOOLS_MAX ? TG_LIMIT : TG_OK;
    }

    entries = tg_calloc(reader->alloc, reader->size + 1);

    if (entries == NULL) {
        return TG_NOMEM;
    }

    tg_catalog_set_memory(reader->tools, entries, NULL);
    reader->entry = entries;
    reader->names = (char *) (entries + reader->n);
    tg_json_iter_init(&reader->rest, reader->array);

    return TG_OK;
}

/* Adds a tool. Its name fits: decoding never makes a name longer. */
static int
tg_tool_list_add_next(tg_tool_list_reader_t *reader, size_t *bytes)
{
    tg_str_t element, name;
    tg_catalog_entry_t *entry;
    int rc;

    *bytes = 0;

    if (!tg_tool_list_next(&reader->rest, &element, &name)) {
        reader->is_filled = 1;
        return TG_OK;
    }

    *bytes = element.len;
    entry = reader->entry;
    entry->kind = TG_ENTRY_TOOL;
    entry->output = TG_OUTPUT_RESULT;
    entry->listing = element;
    entry->name = tg_str(reader->names, tg_json_unescape(reader->names, name));
    rc = name.data != NULL ? tg_catalog_add(reader->tools, entry) : TG_MISSING;

    if (rc == TG_NOMEM) {
        return TG_NOMEM;
    }

    if (rc == TG_OK) {
        reader->names += entry->name.len;
        reader->entry++;
    } else {
        reader->nleft_out++;
    }

    return TG_OK;
}

int
tg_tool_list_read_step(tg_tool_list_reader_t *reader, size_t bytes,
                       tg_catalog_t **tools, size_t *nleft_out)
{
    size_t done, n;
    int rc;

    for (done = 0, rc = TG_OK; rc == TG_OK && !reader->is_filled; done += n) {
        if (done >= bytes) {
            return TG_AGAIN;
        }

        rc = reader->entry == NULL ? tg_tool_list_count_next(reader, &n)
                                   : tg_tool_list_add_next(reader, &n);
    }

    if (rc == TG_OK) {
        rc = done < bytes ? tg_catalog_seal_step(reader->tools, bytes - done)
                          : TG_AGAIN;
    }

    if (rc == TG_OK) {
        *tools = reader->tools;
        *nleft_out = reader->nleft_out;
        reader->tools = NULL;
    } else if (rc != TG_AGAIN) {
        tg_tool_list_read_stop(reader);
    }

    return rc;
}

int
tg_tool_list_parse(const tg_alloc_t *alloc, uint64_t seed, tg_str_t array,
                   tg_catalog_t **tools, size_t *nleft_out)
{
    tg_tool_list_reader_t reader;
    int rc;

    rc = tg_tool_list_read_begin(&reader, alloc, seed, array);

    return rc == TG_OK
               ? tg_tool_list_read_step(&reader, SIZE_MAX, tools, nleft_out)
               : rc;
}

static int
tg_tool_list_write_repaired(tg_tool_repair_t *repair, tg_str_t element,
                            tg_buf_t *scratch, tg_buf_t *out)
{
    tg_buf_truncate(scratch, 0);

    if (tg_tool_repair(repair, element, scratch) != NULL) {
        return 0;
    }

    if (scratch->len != 0) {
        element = tg_buf_view(scratch);
    }

    if (repair->is_modern) {
        tg_catalog_entry_write_legacy(out, element);
    } else {
        tg_buf_append_str(out, element);
    }

    out->failed |= tg_buf_has_failed(scratch);

    return 1;
}

static void
tg_tool_list_report_repair(const tg_tool_list_check_t *check,
                           const tg_tool_repair_t *repair, tg_str_t element)
{
    char room[2048];
    tg_buf_t text;
    tg_str_t name;

    name = tg_json_has_member(element, TG_STR("name"), TG_JSON_STRING, &name)
               ? tg_json_string_body(name)
               : TG_STR_NONE;

    if (repair->why != NULL) {
        check->on_repair(check->ctx, name, tg_str_from_cstr(repair->why), 1);
        return;
    }

    text = tg_buf_make_fixed(room, sizeof(room));
    tg_tool_repairs_write(&text, repair->repairs);
    check->on_repair(check->ctx, name, tg_buf_view(&text), 0);
}

struct tg_tool_list_repair_s {
    const tg_alloc_t *alloc;
    const tg_tool_list_check_t *check;
    tg_tool_repair_t repair;
    tg_json_cursor_t rest;
    tg_buf_t out;
    tg_buf_t scratch;
    size_t n;
    size_t notes;
};

tg_tool_list_repair_t *
tg_tool_list_repair_begin(const tg_alloc_t *alloc, tg_str_t array,
                          const tg_tool_list_check_t *check)
{
    tg_tool_list_repair_t *steps;

    steps = tg_calloc(alloc, sizeof(*steps));

    if (steps == NULL) {
        return NULL;
    }

    steps->alloc = alloc;
    steps->check = check;
    steps->repair.is_pattern = check->is_pattern;
    tg_buf_init(&steps->out, alloc);
    tg_buf_init(&steps->scratch, alloc);
    tg_buf_append_char(&steps->out, '[');
    tg_json_iter_init(&steps->rest, array);

    return steps;
}

static void
tg_tool_list_repair_one(tg_tool_list_repair_t *steps, tg_str_t element)
{
    const tg_tool_repair_t *repair;
    tg_buf_t *out;

    repair = &steps->repair;
    out = &steps->out;
    tg_buf_append_cstr(out, steps->n != 0 ? "," : "");

    if (tg_tool_list_write_repaired(&steps->repair, element, &steps->scratch,
                                    out)) {
        steps->n++;
    } else if (steps->n != 0 && !tg_buf_has_failed(out)) {
        tg_buf_truncate(out, out->len - 1);
    }

    if ((repair->why != NULL || repair->repairs != 0)
        && steps->notes++ < TG_TOOL_LIST_REPORTS_MAX)
    {
        tg_tool_list_report_repair(steps->check, repair, element);
    }
}

int
tg_tool_list_repair_step(tg_tool_list_repair_t *steps, size_t bytes,
                         tg_buf_t *out)
{
    tg_str_t element;
    size_t done;

    for (done = 0; done < bytes; done += element.len) {
        if (!tg_json_iter_next(&steps->rest, &element)) {
            tg_buf_append_char(&steps->out, ']');
            tg_buf_deinit(out);
            *out = steps->out;
            tg_buf_init(&steps->out, steps->alloc);
            return tg_buf_has_failed(out) ? TG_NOMEM : TG_OK;
        }

        tg_tool_list_repair_one(steps, element);
    }

    return TG_AGAIN;
}

void
tg_tool_list_repair_end(tg_tool_list_repair_t *steps)
{
    if (steps != NULL) {
        tg_buf_deinit(&steps->out);
        tg_buf_deinit(&steps->scratch);
        tg_free(steps->alloc, steps);
    }
}

int
tg_tool_list_repair(tg_str_t array, const tg_tool_list_check_t *check,
                    tg_buf_t *out)
{
    tg_tool_list_repair_t *steps;
    int rc;

    steps = tg_tool_list_repair_begin(out->alloc, array, check);
    rc = steps != NULL ? tg_tool_list_repair_step(steps, SIZE_MAX, out)
                       : TG_NOMEM;
    tg_tool_list_repair_end(steps);

    return rc;
}
