#include "runner/exec/tg_exec_spill.h"

int
tg_exec_is_spilled(const tg_exec_output_t *output)
{
    return output->spill.fd != -1;
}

int
tg_exec_is_large(const tg_exec_output_t *output, size_t more)
{
    const tg_spill_spec_t *keep;
    size_t most;

    keep = &output->how.keep;
    most = tg_spill_most(keep, output->how.max_output);

    return keep->spills != NULL && output->how.bytes == TG_EXEC_NO_BYTES
           && output->how.form != TG_OUTPUT_RESULT && !output->is_refused
           && (output->out.len + more > most
               || output->size + more > output->how.max_output);
}

int
tg_exec_spill(tg_exec_output_t *output)
{
    const tg_spill_spec_t *keep;

    keep = &output->how.keep;

    if (tg_spill_begin(&output->spill, keep->spills, keep->owner, keep->quota)
            == -1
        || tg_spill_write(&output->spill, output->out.data, output->out.len)
               == -1)
    {
        tg_spill_end(&output->spill);
        output->is_refused = 1;
        return -1;
    }

    /* What is in the file does not count any more. */
    output->size -= output->out.len;
    tg_buf_reset(&output->out, 0);

    return 0;
}

int
tg_exec_spill_more(tg_exec_output_t *output, const char *data, size_t len)
{
    if (tg_spill_write(&output->spill, data, len) == -1) {
        tg_spill_end(&output->spill);
        return TG_LIMIT;
    }

    return TG_OK;
}

int
tg_exec_spill_text(tg_exec_output_t *output, tg_buf_t *text)
{
    return tg_spill_put_preview(&output->spill, &output->how.keep,
                                output->how.max_output, text);
}
