/*
 * The large result of a call becomes a preview.
 */
#include "runner/spill/tg_spill_outcome.h"

#include "base/tg_json.h"

/* What an outcome says, as text; plain takes it where it must be written. */
static tg_str_t
tg_spill_plain(const tg_outcome_t *outcome, tg_buf_t *plain)
{
    if (outcome->kind != TG_OUTCOME_BODY) {
        return outcome->value;
    }

    tg_json_put_decoded(plain, outcome->value);

    return tg_buf_view(plain);
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

/* The most bytes that stay; larger texts are stored. */
static size_t
tg_spill_keep_max(const tg_spill_spec_t *spec, size_t max_output)
{
    return spec->spills != NULL ? tg_spill_most(spec, max_output) : SIZE_MAX;
}

int
tg_spill_is_large(const tg_outcome_t *outcome, const tg_spill_spec_t *spec,
                  size_t max_output)
{
    /* As it was written it is never shorter than what it says. */
    return outcome->value.len > tg_spill_keep_max(spec, max_output);
}

static void
tg_spill_replace(tg_outcome_t *outcome, const tg_spill_result_t *result,
                 tg_buf_t *preview, tg_buf_t *text)
{
    switch (outcome->kind) {
    case TG_OUTCOME_RESULT:
        tg_spill_result_put(result, preview, text);
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
tg_spill_large(tg_outcome_t *outcome, const tg_spill_result_t *result,
               const tg_spill_spec_t *spec, size_t max_output, const char *tool,
               tg_buf_t *text)
{
    tg_buf_t plain, preview;
    tg_str_t stored;

    if (result != NULL && result->is_asking) {
        return;
    }

    tg_buf_init(&plain, tg_alloc_libc());
    tg_buf_init(&preview, tg_alloc_libc());
    stored = result != NULL ? tg_buf_view(&result->plain)
                            : tg_spill_plain(outcome, &plain);

    if (stored.len > tg_spill_keep_max(spec, max_output)
        && !tg_buf_failed(&plain)
        && (result == NULL || !tg_buf_failed(&result->plain))
        && tg_spill_store(spec, max_output, stored, &preview) == 0)
    {
        tg_spill_replace(outcome, result, &preview, text);

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
