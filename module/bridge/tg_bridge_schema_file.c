/* The list of tools from a schema file, for a parent that speaks ipc. */
#include "bridge/tg_bridge.h"

#include "schema/tg_pattern.h"

#include <errno.h>
#include <stdio.h>

/* Logs a repair of a listed tool, or a tool that was omitted. */
static void
tg_bridge_list_log_repair(void *ctx, tg_str_t name, tg_str_t why,
                          int is_left_out)
{
    char text[TG_NAME_MAX + 1];

    tg_bridge_decode_visible(text, sizeof(text), name);
    tg_bridge_log("tool \"%s\" is %s: %.*s", text,
                  is_left_out ? "omitted" : "listed after repairs",
                  (int) why.len, why.data);
}

const tg_tool_list_check_t tg_bridge_list_check = {
    .is_pattern = tg_pattern_is_valid,
    .on_repair = tg_bridge_list_log_repair,
};

static int
tg_bridge_schema_file_read(const char *path, tg_buf_t *text)
{
    FILE *file;
    size_t n;
    int err;

    file = fopen(path, "re");

    if (file == NULL) {
        return errno;
    }

    do {
        err = ENOMEM;
        n = 0;

        if (tg_buf_reserve(text, BUFSIZ) == TG_OK) {
            n = fread(text->data + text->len, 1, BUFSIZ, file);
            text->len += n;
            err = ferror(file)                         ? errno
                  : text->len > TG_TOOL_LIST_BYTES_MAX ? EFBIG
                                                       : 0;
        }
    } while (err == 0 && n == BUFSIZ);

    (void) fclose(file);

    return err;
}

/* Appends a tool. Returns NULL, or what is wrong with it, a static text. */
static const char *
tg_bridge_schema_file_append_tool(tg_buf_t *array, tg_str_t element)
{
    tg_str_t name, description, schema, type;

    if (!tg_json_has_member(element, TG_STR("name"), TG_JSON_STRING, &name)) {
        return "is not an object with a string \"name\"";
    }

    if (!tg_json_has_member(element, TG_STR("description"), TG_JSON_STRING,
                            &description))
    {
        return "has no string \"description\"";
    }

    if (!tg_json_has_member(element, TG_STR("input_schema"), TG_JSON_OBJECT,
                            &schema)
        || !tg_json_has_member(schema, TG_STR("type"), TG_JSON_STRING, &type)
        || !tg_json_body_eq_text(tg_json_string_body(type), TG_STR("object")))
    {
        return "has no \"input_schema\" with the \"type\" \"object\"";
    }

    tg_buf_append_cstr(array, array->len > 1 ? ",{\"name\":" : "{\"name\":");
    tg_buf_append_str(array, name);
    tg_json_add_raw(array, "description", description);
    tg_json_add_raw(array, "inputSchema", schema);
    tg_buf_append_char(array, '}');

    return NULL;
}

static void
tg_bridge_schema_file_explain(const tg_json_cursor_t *json, tg_str_t text,
                              char *why, size_t size)
{
    tg_buf_t place;

    tg_buf_init(&place, tg_alloc_libc());
    tg_json_append_position(&place, text, json->pos);
    (void) snprintf(why, size, "it is not a JSON array of tools: %s (%.*s)",
                    json->why != NULL ? json->why : "wrong", (int) place.len,
                    tg_buf_view(&place).data);
    tg_buf_deinit(&place);
}

/* Converts the text to an array of tools. Returns -1 with the reason in why. */
static int
tg_bridge_schema_file_parse(tg_str_t text, tg_buf_t *array, char *why,
                            size_t size)
{
    tg_json_cursor_t json;
    tg_str_t element;
    const char *what;
    int i, rc;

    tg_buf_append_char(array, '[');
    tg_json_init(&json, text);
    rc = tg_json_enter_array(&json);

    for (i = 0; rc == TG_OK && (rc = tg_json_next_element(&json)) == TG_OK; i++)
    {
        rc = tg_json_read_value(&json, &element);
        what = rc == TG_OK ? tg_bridge_schema_file_append_tool(array, element)
                           : NULL;

        if (what != NULL) {
            (void) snprintf(why, size, "element %d %s", i, what);
            return -1;
        }
    }

    if (rc == TG_END) {
        rc = tg_json_expect_end(&json);
    }

    if (rc != TG_OK) {
        tg_bridge_schema_file_explain(&json, text, why, size);
        return -1;
    }

    tg_buf_append_char(array, ']');

    return 0;
}

tg_catalog_t *
tg_bridge_schema_file_load(const char *path, char *why, size_t size)
{
    tg_buf_t text, array, repaired;
    tg_catalog_t *tools;
    size_t nleft_out;
    int err, rc;

    tools = NULL;
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&array, tg_alloc_libc());
    tg_buf_init(&repaired, tg_alloc_libc());
    err = tg_bridge_schema_file_read(path, &text);

    if (err != 0) {
        (void) snprintf(why, size, "%s", strerror(err));

    } else if (tg_bridge_schema_file_parse(tg_buf_view(&text), &array, why,
                                           size)
               == 0)
    {
        rc = tg_buf_has_failed(&array)
                 ? TG_NOMEM
                 : tg_tool_list_repair(tg_buf_view(&array),
                                       &tg_bridge_list_check, &repaired);

        if (rc == TG_OK) {
            rc = tg_tool_list_parse(tg_alloc_libc(), 0, tg_buf_view(&repaired),
                                    &tools, &nleft_out);
        }

        if (rc != TG_OK) {
            (void) snprintf(why, size, "%s",
                            rc == TG_LIMIT ? "it has too many tools"
                                           : "out of memory");

        } else if (nleft_out != 0) {
            tg_bridge_log("the schema file %s has duplicate tool names; only "
                          "the first tool of each name is listed",
                          path);
        }
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&array);
    tg_buf_deinit(&repaired);

    return tools;
}
