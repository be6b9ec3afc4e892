/*
 * The large result of a call becomes a preview.
 */
#include "runner/spill/tg_spill_outcome.h"

#include "base/tg_json.h"

/* --- what is stored --- */

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

static void
tg_spill_result_text(tg_str_t result, tg_buf_t *plain)
{
    tg_str_t content, block, text, structured;
    tg_json_t json;

    if (tg_json_has(result, TG_STR("content"), TG_JSON_ARRAY, &content)) {
        for (tg_json_each(&json, content); tg_json_item(&json, &block);) {
            if (tg_spill_block_text(block, &text)) {
                tg_spill_add_text(plain, text);
            }
        }
    }

    if (tg_json_get(result, TG_STR("structuredContent"), &structured) == TG_OK
        && !tg_spill_is_same(plain, structured))
    {
        if (plain->len != 0) {
            tg_buf_text(plain, plain->data[plain->len - 1] == '\n'
                                   ? "structuredContent:\n"
                                   : "\nstructuredContent:\n");
        }

        tg_buf_str(plain, structured);
    }
}

/* What an outcome says, as text; plain takes it where it must be written. */
static tg_str_t
tg_spill_plain(const tg_outcome_t *outcome, tg_buf_t *plain)
{
    switch (outcome->kind) {
    case TG_OUTCOME_BODY:
        tg_json_put_decoded(plain, outcome->value);
        return tg_buf_view(plain);

    case TG_OUTCOME_RESULT:
        tg_spill_result_text(outcome->value, plain);
        return tg_buf_view(plain);

    default:
        return outcome->value;
    }
}

/* --- what is shown --- */

/* The result with the preview as its first block. */
static void
tg_spill_put_result(tg_str_t result, const tg_buf_t *preview, tg_buf_t *text)
{
    static const char *const replaced[] = { "content", "structuredContent",
                                            NULL };
    tg_str_t value, block, ignored;
    tg_json_t blocks;

    tg_buf_text(text, "{\"content\":[{\"type\":\"text\",\"text\":");
    tg_json_put_string(text, tg_buf_view(preview));
    tg_buf_char(text, '}');

    if (tg_json_has(result, TG_STR("content"), TG_JSON_ARRAY, &value)) {
        for (tg_json_each(&blocks, value); tg_json_item(&blocks, &block);) {
            if (!tg_spill_block_text(block, &ignored)) {
                tg_buf_char(text, ',');
                tg_buf_str(text, block);
            }
        }
    }

    tg_buf_char(text, ']');
    (void) tg_json_put_others(text, result, replaced, 1);
    tg_buf_char(text, '}');
}

/* Stores a text and writes its preview: 0, or -1: it cannot be stored. */
static int
tg_spill_store(const tg_spill_spec_t *spec, size_t max_output, tg_str_t plain,
               tg_buf_t *preview)
{
    tg_spill_t spill;
    int rc;

    rc = tg_spill_begin(&spill, spec->spills, spec->owner, spec->quota);

    if (rc == 0) {
        rc = tg_spill_write(&spill, plain.data, plain.len);
    }

    if (rc == 0) {
        rc = tg_spill_put_preview(&spill, spec, max_output, preview);
    }

    tg_spill_end(&spill);

    return rc;
}

static void
tg_spill_replace(tg_outcome_t *outcome, tg_buf_t *preview, tg_buf_t *text)
{
    switch (outcome->kind) {
    case TG_OUTCOME_RESULT:
        tg_spill_put_result(outcome->value, preview, text);
        break;

    case TG_OUTCOME_FAILURE:
        tg_buf_str(text, tg_buf_view(preview));
        break;

    default:
        tg_buf_str(text, tg_buf_view(preview));
        outcome->kind = TG_OUTCOME_TEXT;
    }

    outcome->value = tg_buf_view(text);
}

void
tg_spill_outcome(tg_outcome_t *outcome, const tg_spill_spec_t *spec,
                 size_t max_output, const char *tool, tg_buf_t *text)
{
    tg_buf_t plain, preview;
    tg_str_t stored;
    size_t most;

    most = tg_spill_most(spec, max_output);

    /* As it was written it is never shorter than what it says. */
    if (spec->spills == NULL || outcome->value.len <= most
        || (outcome->kind == TG_OUTCOME_RESULT
            && tg_result_is_asking(outcome->value)))
    {
        return;
    }

    tg_buf_init(&plain, tg_alloc_libc());
    tg_buf_init(&preview, tg_alloc_libc());
    stored = tg_spill_plain(outcome, &plain);

    if (stored.len > most && !tg_buf_failed(&plain)
        && tg_spill_store(spec, max_output, stored, &preview) == 0)
    {
        tg_spill_replace(outcome, &preview, text);

    } else if (outcome->value.len > max_output) {
        tg_buf_printf(text,
                      "%s returned more than %zu %s (max_output), and it "
                      "could not be stored; ask for less.",
                      tool, max_output, tg_plural(max_output, "byte", "bytes"));
        *outcome = tg_outcome_failed(TG_FAILURE_OUTPUT, tg_buf_view(text));
    }

    text->failed |= preview.failed;
    tg_buf_deinit(&plain);
    tg_buf_deinit(&preview);
}

void
tg_spill_put_answer(tg_buf_t *json, tg_str_t answer,
                    const tg_spill_spec_t *spec, size_t max_output,
                    const tg_job_params_t *params)
{
    tg_outcome_t outcome;
    tg_buf_t scratch, text;
    tg_ran_t ran;

    memset(&ran, 0, sizeof(ran));
    ran.queued_ms = -1;
    ran.ran_ms = -1;
    tg_buf_init(&scratch, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    outcome = tg_outcome_get(answer, &scratch, &ran);
    tg_spill_outcome(&outcome, spec, max_output, params->tool, &text);
    tg_answer_put_output(json, &outcome, params, &ran);
    json->failed |= tg_buf_failed(&scratch) | tg_buf_failed(&text);
    tg_buf_deinit(&scratch);
    tg_buf_deinit(&text);
}
