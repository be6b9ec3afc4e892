#include "runner/exec/tg_exec_output_store.h"

int
tg_exec_output_is_stored(const tg_exec_output_t *output)
{
    return output->stored_output.fd != -1;
}

int
tg_exec_output_is_large(const tg_exec_output_t *output, size_t more)
{
    const tg_output_store_params_t *store_params;
    size_t most;

    store_params = &output->output_params.store_params;
    most = tg_output_store_params_get_max(store_params,
                                          output->output_params.max_output);

    return store_params->output_store != NULL
           && output->output_params.bytes == TG_EXEC_BINARY_NONE
           && output->output_params.type != TG_OUTPUT_RESULT
           && !output->is_refused
           && (output->out.len + more > most
               || output->size + more > output->output_params.max_output);
}

int
tg_exec_output_store(tg_exec_output_t *output)
{
    const tg_output_store_params_t *store_params;

    store_params = &output->output_params.store_params;

    if (tg_stored_output_create(&output->stored_output,
                                store_params->output_store, store_params->owner,
                                store_params->quota)
            == -1
        || tg_stored_output_write(&output->stored_output, output->out.data,
                                  output->out.len)
               == -1)
    {
        tg_stored_output_close(&output->stored_output);
        output->is_refused = 1;
        return -1;
    }

    /* Bytes in the file do not count for max_output. */
    output->size -= output->out.len;
    tg_buf_reset(&output->out, 0);

    return 0;
}

int
tg_exec_output_store_more(tg_exec_output_t *output, const char *data,
                          size_t len)
{
    if (tg_stored_output_write(&output->stored_output, data, len) == -1) {
        tg_stored_output_close(&output->stored_output);
        return TG_LIMIT;
    }

    return TG_OK;
}

int
tg_exec_output_append_preview(tg_exec_output_t *output, tg_buf_t *text)
{
    return tg_stored_output_append_preview(&output->stored_output,
                                           &output->output_params.store_params,
                                           output->output_params.max_output,
                                           text);
}
