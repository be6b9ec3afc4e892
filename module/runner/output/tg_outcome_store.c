/* Stores the large result of a call and replaces it by a preview. */
#include "runner/output/tg_outcome_store.h"

#include "base/tg_json.h"

/* Returns the text of an outcome, if necessary unescaped in `plain`. */
static tg_str_t
tg_outcome_get_plain_text(const tg_outcome_t *outcome, tg_buf_t *plain)
{
    if (outcome->kind != TG_OUTCOME_BODY) {
        return outcome->value;
    }

    tg_json_append_unescaped(plain, outcome->value);

    return tg_buf_view(plain);
}

/* Stores a text and appends its preview. Returns 0, or -1 if that fails. */
static int
tg_outcome_store_text(const tg_output_store_params_t *spec, size_t max_output,
                      tg_str_t plain, tg_buf_t *preview)
{
    tg_stored_output_t stored_output;
    int rc;

    rc = tg_stored_output_create(&stored_output, spec->output_store,
                                 spec->owner, spec->quota);

    if (rc == 0) {
        rc = tg_stored_output_write(&stored_output, plain.data, plain.len);
    }

    if (rc == 0) {
        rc = tg_stored_output_append_preview(&stored_output, spec, max_output,
                                             preview);
    }

    tg_stored_output_close(&stored_output);

    return rc;
}

/* Returns the maximum size of a text that is not stored. */
static size_t
tg_outcome_get_max_inline(const tg_output_store_params_t *spec,
                          size_t max_output)
{
    return spec->output_store != NULL
               ? tg_output_store_params_get_max(spec, max_output)
               : SIZE_MAX;
}

int
tg_outcome_is_large_output(const tg_outcome_t *outcome,
                           const tg_output_store_params_t *spec,
                           size_t max_output)
{
    /* The JSON form is never shorter than the text in it. */
    return outcome->value.len > tg_outcome_get_max_inline(spec, max_output);
}

static void
tg_outcome_replace_by_preview(tg_outcome_t *outcome,
                              const tg_result_splitter_t *result,
                              tg_buf_t *preview, tg_buf_t *text)
{
    switch (outcome->kind) {
    case TG_OUTCOME_RESULT:
        tg_result_splitter_write_json(result, preview, text);
        break;

    case TG_OUTCOME_FAILURE:
        tg_buf_append_str(text, tg_buf_view(preview));
        break;

    default:
        tg_buf_append_str(text, tg_buf_view(preview));
        outcome->kind = TG_OUTCOME_TEXT;
    }

    outcome->value = tg_buf_view(text);
}

void
tg_outcome_store_large(tg_outcome_t *outcome,
                       const tg_result_splitter_t *result,
                       const tg_output_store_params_t *spec, size_t max_output,
                       const char *tool, tg_buf_t *text)
{
    tg_buf_t plain, preview;
    tg_str_t stored;

    if (result != NULL && result->is_input_required) {
        return;
    }

    tg_buf_init(&plain, tg_alloc_libc());
    tg_buf_init(&preview, tg_alloc_libc());
    stored = result != NULL ? tg_buf_view(&result->plain)
                            : tg_outcome_get_plain_text(outcome, &plain);

    if (stored.len > tg_outcome_get_max_inline(spec, max_output)
        && !tg_buf_has_failed(&plain)
        && (result == NULL || !tg_buf_has_failed(&result->plain))
        && tg_outcome_store_text(spec, max_output, stored, &preview) == 0)
    {
        tg_outcome_replace_by_preview(outcome, result, &preview, text);

    } else if (outcome->value.len > max_output) {
        tg_buf_printf(text,
                      "%s returned more than %zu %s (max_output), and it "
                      "could not be stored; ask for less.",
                      tool, max_output,
                      tg_pick_plural(max_output, "byte", "bytes"));
        *outcome = tg_outcome_make_failure_str(TG_FAILURE_OUTPUT,
                                               tg_buf_view(text));
    }

    text->failed |= preview.failed;
    tg_buf_deinit(&plain);
    tg_buf_deinit(&preview);
}
