#include "runner/spill/tg_spill_result.h"

static void
tg_spill_add_text(tg_buf_t *plain, tg_str_t text)
{
    if (plain->len != 0 && plain->data[plain->len - 1] != '\n') {
        tg_buf_char(plain, '\n');
    }

    tg_json_put_decoded(plain, tg_json_body(text));
}

/* The text of a raw block: its own, or that of its resource. */
static int
tg_spill_block_text(tg_str_t block, tg_str_t *text)
{
    tg_str_t type, resource;

    if (!tg_json_has(block, TG_STR("type"), TG_JSON_STRING, &type)) {
        return 0;
    }

    if (tg_json_is_text(type, TG_STR("text"))) {
        return tg_json_has(block, TG_STR("text"), TG_JSON_STRING, text);
    }

    return tg_json_is_text(type, TG_STR("resource"))
           && tg_json_has(block, TG_STR("resource"), TG_JSON_OBJECT, &resource)
           && tg_json_has(resource, TG_STR("text"), TG_JSON_STRING, text);
}

/* Servers put the same JSON as text beside it, not always as compact. */
static int
tg_spill_is_same(const tg_buf_t *plain, tg_str_t structured)
{
    tg_buf_t a, b;
    int is_same;

    if (tg_json_check(tg_buf_view(plain), NULL) != TG_OK) {
        return 0;
    }

    tg_buf_init(&a, tg_alloc_libc());
    tg_buf_init(&b, tg_alloc_libc());
    tg_json_put_compact(&a, tg_buf_view(plain));
    tg_json_put_compact(&b, structured);
    is_same = !tg_buf_failed(&a) && !tg_buf_failed(&b)
              && tg_str_eq(tg_buf_view(&a), tg_buf_view(&b));
    tg_buf_deinit(&a);
    tg_buf_deinit(&b);

    return is_same;
}

void
tg_spill_result_init(tg_spill_result_t *steps)
{
    memset(steps, 0, sizeof(*steps));
    tg_buf_init(&steps->plain, tg_alloc_libc());
    tg_buf_init(&steps->blocks, tg_alloc_libc());
    tg_buf_init(&steps->others, tg_alloc_libc());
}

void
tg_spill_result_begin(tg_spill_result_t *steps, tg_str_t result)
{
    tg_json_walk_init(&steps->walk, result, 0);
}

static void
tg_spill_result_block(tg_spill_result_t *steps, tg_str_t block)
{
    tg_str_t text;

    if (tg_spill_block_text(block, &text)) {
        tg_spill_add_text(&steps->plain, text);
    } else {
        tg_buf_char(&steps->blocks, ',');
        tg_buf_str(&steps->blocks, block);
    }
}

/* A member begins whose value is an object or array: the last one counts. */
static void
tg_spill_result_enter(tg_spill_result_t *steps)
{
    steps->is_content = tg_json_body_is(steps->walk.key, TG_STR("content"))
                        && steps->walk.type == TG_JSON_ARRAY;

    if (steps->is_content) {
        tg_buf_truncate(&steps->plain, 0);
        tg_buf_truncate(&steps->blocks, 0);
    }
}

static void
tg_spill_result_member(tg_spill_result_t *steps)
{
    const tg_json_walk_t *walk;
    tg_buf_t *out;

    walk = &steps->walk;

    if (tg_json_body_is(walk->key, TG_STR("content"))) {
        return;
    }

    if (tg_json_body_is(walk->key, TG_STR("structuredContent"))) {
        steps->structured = walk->value;
        return;
    }

    if (tg_json_body_is(walk->key, TG_STR("resultType"))) {
        steps->is_asking = tg_json_is_text(walk->value,
                                           TG_STR("input_required"));
    }

    out = &steps->others;
    tg_buf_text(out, ",\"");
    tg_buf_str(out, walk->key);
    tg_buf_text(out, "\":");
    tg_json_put_compact(out, walk->value);
}

/* What is structured follows the texts, unless it is one of them. */
static void
tg_spill_result_last(tg_spill_result_t *steps)
{
    tg_buf_t *plain;

    plain = &steps->plain;

    if (steps->structured.data == NULL
        || tg_spill_is_same(plain, steps->structured))
    {
        return;
    }

    if (plain->len != 0) {
        tg_buf_text(plain, plain->data[plain->len - 1] == '\n'
                               ? "structuredContent:\n"
                               : "\nstructuredContent:\n");
    }

    tg_buf_str(plain, steps->structured);
}

int
tg_spill_result_step(tg_spill_result_t *steps, size_t bytes)
{
    size_t from;

    from = tg_json_walked(&steps->walk);

    while (tg_json_walk(&steps->walk) == TG_OK) {
        switch (steps->walk.event) {
        case TG_WALK_ROOT:
            break;
        case TG_WALK_BEGIN:
            tg_spill_result_enter(steps);
            break;
        case TG_WALK_ITEM:
            if (steps->is_content) {
                tg_spill_result_block(steps, steps->walk.value);
            }

            break;
        case TG_WALK_MEMBER:
            tg_spill_result_member(steps);
            break;
        }

        if (tg_json_walked(&steps->walk) - from >= bytes) {
            return TG_AGAIN;
        }
    }

    tg_spill_result_last(steps);

    return TG_OK;
}

void
tg_spill_result_end(tg_spill_result_t *steps)
{
    tg_buf_deinit(&steps->plain);
    tg_buf_deinit(&steps->blocks);
    tg_buf_deinit(&steps->others);
}

void
tg_spill_result_put(const tg_spill_result_t *steps, const tg_buf_t *preview,
                    tg_buf_t *text)
{
    tg_buf_text(text, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_put_string(text, tg_buf_view(preview));
    tg_buf_char(text, '}');
    tg_buf_str(text, tg_buf_view(&steps->blocks));
    tg_buf_char(text, ']');
    tg_buf_str(text, tg_buf_view(&steps->others));
    tg_buf_char(text, '}');
    text->failed |= tg_buf_failed(&steps->blocks)
                    | tg_buf_failed(&steps->others);
}
