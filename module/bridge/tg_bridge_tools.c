#include "bridge/tg_bridge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* More than any model can be told of; a list beyond it is a fault. */
#define TG_TOOLS_MAX 65536
#define TG_TOOLS_BYTES 67108864

typedef struct tg_tool_s tg_tool_t;

struct tg_tool_s {
    tg_tool_t *next;
    tg_entry_t entry;
    char *raw; /* the parent's listing, until the catalogue has it */
    char name[];
};

struct tg_tools_s {
    tg_catalogue_t *catalogue;
    tg_tool_t *first;
    size_t n;
    size_t size;
};

tg_tools_t *
tg_tools_new(void)
{
    tg_tools_t *tools;

    tools = tg_calloc(tg_alloc_libc(), sizeof(*tools));

    if (tools == NULL) {
        return NULL;
    }

    tools->catalogue = tg_catalogue_new(tg_alloc_libc());

    if (tools->catalogue == NULL) {
        tg_free(tg_alloc_libc(), tools);
        return NULL;
    }

    return tools;
}

static void
tg_tool_free(tg_tool_t *tool)
{
    tg_free(tg_alloc_libc(), tool->raw);
    tg_free(tg_alloc_libc(), tool);
}

void
tg_tools_free(tg_tools_t *tools)
{
    tg_tool_t *tool;

    if (tools == NULL) {
        return;
    }

    tg_catalogue_free(tools->catalogue);

    while ((tool = tools->first) != NULL) {
        tools->first = tool->next;
        tg_tool_free(tool);
    }

    tg_free(tg_alloc_libc(), tools);
}

static tg_tool_t *
tg_tool_new(tg_str_t name, tg_str_t listing)
{
    tg_tool_t *tool;

    tool = tg_alloc(tg_alloc_libc(), sizeof(*tool) + name.len);

    if (tool == NULL) {
        return NULL;
    }

    memset(tool, 0, sizeof(*tool));
    tool->raw = tg_alloc(tg_alloc_libc(), listing.len);

    if (tool->raw == NULL) {
        tg_tool_free(tool);
        return NULL;
    }

    memcpy(tool->raw, listing.data, listing.len);
    tool->entry.kind = TG_ENTRY_TOOL;
    tool->entry.output = TG_OUTPUT_RESULT;
    tool->entry.listing = tg_str(tool->raw, listing.len);
    tool->entry.name = tg_str(tool->name, tg_json_decode(tool->name, name));

    return tool;
}

/* name is an escaped body; listing the tool as clients shall see it. */
static int
tg_tools_put(tg_tools_t *tools, tg_str_t name, tg_str_t listing)
{
    tg_tool_t *tool;
    int rc;

    tools->size += listing.len;

    if (++tools->n > TG_TOOLS_MAX || tools->size > TG_TOOLS_BYTES) {
        return TG_LIMIT;
    }

    tool = tg_tool_new(name, listing);

    if (tool == NULL) {
        return TG_NOMEM;
    }

    rc = tg_catalogue_add(tools->catalogue, &tool->entry);

    if (rc != TG_OK) {
        tg_tool_free(tool);

        if (rc == TG_EXISTS) {
            tg_bridge_log("the list has two tools %.*s, the second is left "
                          "out",
                          (int) (name.len < 200 ? name.len : 200), name.data);
            return TG_OK;
        }

        return rc;
    }

    tool->next = tools->first;
    tools->first = tool;

    return TG_OK;
}

int
tg_tools_add(tg_tools_t *tools, tg_str_t array)
{
    tg_json_t json;
    tg_str_t element, name;
    int rc;

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return TG_BAD;
    }

    tg_json_init(&json, array);
    (void) tg_json_array(&json);

    while (tg_json_element(&json) == TG_OK) {
        (void) tg_json_value(&json, &element);

        if (tg_json_type(element) != TG_JSON_OBJECT
            || tg_json_get(element, TG_STR("name"), &name) != TG_OK
            || tg_json_type(name) != TG_JSON_STRING)
        {
            tg_bridge_log("an element of the list is no tool with a name, "
                          "it is left out");
            continue;
        }

        rc = tg_tools_put(tools, tg_json_body(name), element);

        if (rc != TG_OK) {
            return rc;
        }
    }

    return TG_OK;
}

int
tg_tools_seal(tg_tools_t *tools)
{
    tg_tool_t *tool;

    if (tg_catalogue_seal(tools->catalogue) != TG_OK) {
        return TG_NOMEM;
    }

    for (tool = tools->first; tool != NULL; tool = tool->next) {
        tg_free(tg_alloc_libc(), tool->raw);
        tool->raw = NULL;
    }

    return TG_OK;
}

const tg_catalogue_t *
tg_tools_catalogue(const tg_tools_t *tools)
{
    return tools->catalogue;
}

uint64_t
tg_tools_digest(const tg_tools_t *tools)
{
    return tg_catalogue_digest(tools->catalogue);
}

/* --- schema files --- */

static int
tg_file_read(const char *path, tg_buf_t *text)
{
    struct stat st;
    ssize_t n;
    int fd, err;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd == -1) {
        return errno;
    }

    err = 0;

    if (fstat(fd, &st) == 0 && st.st_size > TG_TOOLS_BYTES) {
        err = EFBIG;
    }

    while (err == 0) {
        if (text->len > TG_TOOLS_BYTES) {
            err = EFBIG;
            break;
        }

        if (tg_buf_reserve(text, 65536) != TG_OK) {
            err = ENOMEM;
            break;
        }

        n = read(fd, text->data + text->len, text->cap - text->len);

        if (n == 0) {
            break;
        }

        if (n > 0) {
            text->len += (size_t) n;
        } else if (errno != EINTR) {
            err = errno;
        }
    }

    (void) close(fd);

    return err;
}

static int
tg_schema_has(tg_str_t element, const char *key, tg_json_type_t type,
              tg_str_t *value)
{
    return tg_json_get(element, tg_str_c(key), value) == TG_OK
           && tg_json_type(*value) == type;
}

/*
 * One tool of a schema file as an element of tools/list.  NULL, or what is
 * wrong with it, static.
 */
static const char *
tg_schema_listing(tg_str_t element, tg_buf_t *listing, tg_str_t *name)
{
    tg_str_t description, schema, type;

    if (tg_json_type(element) != TG_JSON_OBJECT
        || !tg_schema_has(element, "name", TG_JSON_STRING, name))
    {
        return "is no object with a string \"name\"";
    }

    if (!tg_schema_has(element, "description", TG_JSON_STRING, &description)) {
        return "has no string \"description\"";
    }

    if (!tg_schema_has(element, "input_schema", TG_JSON_OBJECT, &schema)
        || !tg_schema_has(schema, "type", TG_JSON_STRING, &type)
        || !tg_json_body_is(tg_json_body(type), TG_STR("object")))
    {
        return "has no \"input_schema\" whose \"type\" is \"object\"";
    }

    tg_buf_text(listing, "{\"name\":");
    tg_buf_str(listing, *name);
    tg_buf_text(listing, ",\"description\":");
    tg_buf_str(listing, description);
    tg_buf_text(listing, ",\"inputSchema\":");
    tg_json_put_compact(listing, schema);
    tg_buf_char(listing, '}');
    *name = tg_json_body(*name);

    return NULL;
}

static const char *
tg_schema_put(tg_tools_t *tools, tg_str_t element)
{
    tg_buf_t listing;
    tg_str_t name;
    const char *what;
    int rc;

    tg_buf_init(&listing, tg_alloc_libc());
    what = tg_schema_listing(element, &listing, &name);

    if (what == NULL) {
        rc = tg_buf_failed(&listing)
                 ? TG_NOMEM
                 : tg_tools_put(tools, name, tg_buf_view(&listing));

        if (rc != TG_OK) {
            what = rc == TG_LIMIT ? "is one too many" : "needs more memory";
        }
    }

    tg_buf_deinit(&listing);

    return what;
}

/* Fills tools from the text of a schema file: 0, or -1 and why. */
static int
tg_schema_parse(tg_tools_t *tools, tg_str_t text, char *why, size_t size)
{
    tg_json_t json;
    tg_str_t element;
    const char *what;
    int i, rc;

    tg_json_init(&json, text);
    rc = tg_json_array(&json);

    for (i = 0; rc == TG_OK && (rc = tg_json_element(&json)) == TG_OK; i++) {
        rc = tg_json_value(&json, &element);
        what = rc == TG_OK ? tg_schema_put(tools, element) : NULL;

        if (what != NULL) {
            (void) snprintf(why, size, "element %d %s", i, what);
            return -1;
        }
    }

    if (rc == TG_END) {
        rc = tg_json_end(&json);
    }

    if (rc != TG_OK) {
        (void) snprintf(why, size,
                        "it is no JSON array of tools: %s at byte %zu",
                        json.why != NULL ? json.why : "wrong",
                        (size_t) (json.pos - json.start));
        return -1;
    }

    if (tg_tools_seal(tools) != TG_OK) {
        (void) snprintf(why, size, "there is no memory for it");
        return -1;
    }

    return 0;
}

tg_tools_t *
tg_tools_load(const char *path, char *why, size_t size)
{
    tg_tools_t *tools;
    tg_buf_t text;
    int err;

    tools = tg_tools_new();
    tg_buf_init(&text, tg_alloc_libc());
    err = tools != NULL ? tg_file_read(path, &text) : ENOMEM;

    if (err != 0) {
        (void) snprintf(why, size, "%s", strerror(err));

    } else if (tg_schema_parse(tools, tg_buf_view(&text), why, size) == 0) {
        tg_buf_deinit(&text);
        return tools;
    }

    tg_buf_deinit(&text);
    tg_tools_free(tools);

    return NULL;
}
