/* Collects the texts and the other blocks and members of an MCP result. */
#include "runner/output/tg_result_splitter.h"

static void
tg_result_splitter_append_text(tg_buf_t *plain, tg_str_t text)
{
    if (plain->len != 0 && plain->data[plain->len - 1] != '\n') {
        tg_buf_append_char(plain, '\n');
    }

    tg_json_append_unescaped(plain, tg_json_string_body(text));
}

/* Finds the text of a block or its resource. Returns 0 if there is none. */
static int
tg_result_splitter_find_text(tg_str_t block, tg_str_t *text)
{
    tg_str_t type, resource;

    if (!tg_json_has_member(block, TG_STR("type"), TG_JSON_STRING, &type)) {
        return 0;
    }

    if (tg_json_string_eq(type, TG_STR("text"))) {
        return tg_json_has_member(block, TG_STR("text"), TG_JSON_STRING, text);
    }

    return tg_json_string_eq(type, TG_STR("resource"))
           && tg_json_has_member(block, TG_STR("resource"), TG_JSON_OBJECT,
                                 &resource)
           && tg_json_has_member(resource, TG_STR("text"), TG_JSON_STRING,
                                 text);
}

/* Compares JSON values, because servers send both with other white space. */
static int
tg_result_splitter_is_same_json(const tg_buf_t *plain, tg_str_t structured)
{
    tg_buf_t a, b;
    int is_same;

    if (tg_json_validate(tg_buf_view(plain), NULL) != TG_OK) {
        return 0;
    }

    tg_buf_init(&a, tg_alloc_libc());
    tg_buf_init(&b, tg_alloc_libc());
    tg_json_write_compact(&a, tg_buf_view(plain));
    tg_json_write_compact(&b, structured);
    is_same = !tg_buf_has_failed(&a) && !tg_buf_has_failed(&b)
              && tg_str_eq(tg_buf_view(&a), tg_buf_view(&b));
    tg_buf_deinit(&a);
    tg_buf_deinit(&b);

    return is_same;
}

void
tg_result_splitter_init(tg_result_splitter_t *splitter)
{
    memset(splitter, 0, sizeof(*splitter));
    tg_buf_init(&splitter->plain, tg_alloc_libc());
    tg_buf_init(&splitter->blocks, tg_alloc_libc());
    tg_buf_init(&splitter->others, tg_alloc_libc());
}

void
tg_result_splitter_begin(tg_result_splitter_t *splitter, tg_str_t result)
{
    tg_json_walk_init(&splitter->walk, result, 0);
}

static void
tg_result_splitter_add_block(tg_result_splitter_t *splitter, tg_str_t block)
{
    tg_str_t text;

    if (tg_result_splitter_find_text(block, &text)) {
        tg_result_splitter_append_text(&splitter->plain, text);
    } else {
        tg_buf_append_char(&splitter->blocks, ',');
        tg_buf_append_str(&splitter->blocks, block);
    }
}

/* Enters a member that is an object or array; the last `content` counts. */
static void
tg_result_splitter_enter_member(tg_result_splitter_t *splitter)
{
    splitter->is_content = tg_json_body_eq_text(splitter->walk.key,
                                                TG_STR("content"))
                           && splitter->walk.type == TG_JSON_ARRAY;

    if (splitter->is_content) {
        tg_buf_truncate(&splitter->plain, 0);
        tg_buf_truncate(&splitter->blocks, 0);
    }
}

static void
tg_result_splitter_add_member(tg_result_splitter_t *splitter)
{
    const tg_json_walk_t *walk;
    tg_buf_t *out;

    walk = &splitter->walk;

    if (tg_json_body_eq_text(walk->key, TG_STR("content"))) {
        return;
    }

    if (tg_json_body_eq_text(walk->key, TG_STR("structuredContent"))) {
        splitter->structured = walk->value;
        return;
    }

    if (tg_json_body_eq_text(walk->key, TG_STR("resultType"))) {
        splitter->is_input_required = tg_json_string_eq(
            walk->value, TG_STR("input_required"));
    }

    out = &splitter->others;
    tg_buf_append_cstr(out, ",\"");
    tg_buf_append_str(out, walk->key);
    tg_buf_append_cstr(out, "\":");
    tg_json_write_compact(out, walk->value);
}

/* Appends the structured content to the texts, unless it equals them. */
static void
tg_result_splitter_add_structured(tg_result_splitter_t *splitter)
{
    tg_buf_t *plain;

    plain = &splitter->plain;

    if (splitter->structured.data == NULL
        || tg_result_splitter_is_same_json(plain, splitter->structured))
    {
        return;
    }

    if (plain->len != 0) {
        tg_buf_append_cstr(plain, plain->data[plain->len - 1] == '\n'
                                      ? "structuredContent:\n"
                                      : "\nstructuredContent:\n");
    }

    tg_buf_append_str(plain, splitter->structured);
}

int
tg_result_splitter_step(tg_result_splitter_t *splitter, size_t bytes)
{
    size_t from;

    from = tg_json_walk_get_offset(&splitter->walk);

    while (tg_json_walk(&splitter->walk) == TG_OK) {
        switch (splitter->walk.event) {
        case TG_JSON_WALK_ROOT:
            break;
        case TG_JSON_WALK_BEGIN:
            tg_result_splitter_enter_member(splitter);
            break;
        case TG_JSON_WALK_ITEM:
            if (splitter->is_content) {
                tg_result_splitter_add_block(splitter, splitter->walk.value);
            }

            break;
        case TG_JSON_WALK_MEMBER:
            tg_result_splitter_add_member(splitter);
            break;
        }

        if (tg_json_walk_get_offset(&splitter->walk) - from >= bytes) {
            return TG_AGAIN;
        }
    }

    tg_result_splitter_add_structured(splitter);

    return TG_OK;
}

void
tg_result_splitter_deinit(tg_result_splitter_t *splitter)
{
    tg_buf_deinit(&splitter->plain);
    tg_buf_deinit(&splitter->blocks);
    tg_buf_deinit(&splitter->others);
}

void
tg_result_splitter_write_json(const tg_result_splitter_t *splitter,
                              const tg_buf_t *preview, tg_buf_t *text)
{
    tg_buf_append_cstr(text, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_write_string(text, tg_buf_view(preview));
    tg_buf_append_char(text, '}');
    tg_buf_append_str(text, tg_buf_view(&splitter->blocks));
    tg_buf_append_char(text, ']');
    tg_buf_append_str(text, tg_buf_view(&splitter->others));
    tg_buf_append_char(text, '}');
    text->failed |= tg_buf_has_failed(&splitter->blocks)
                    | tg_buf_has_failed(&splitter->others);
}
