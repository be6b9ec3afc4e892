#include "protocol_memory.h"

static void *
help_resize(void *ctx, void *ptr, size_t size)
{
    help_alloc_t *help;
    size_t *block, old;

    help = ctx;
    block = ptr != NULL ? (size_t *) ptr - 2 : NULL;

    if (size == 0) {
        help->live -= block != NULL;
        free(block);
        return NULL;
    }

    help->count++;

    if (help->fail_at != 0
        && (help->count == help->fail_at
            || (help->is_lasting && help->count > help->fail_at)))
    {
        help->has_failed = 1;
        return NULL;
    }

    block = malloc(size + 2 * sizeof(size_t));

    if (block == NULL) {
        abort();
    }

    block[0] = size;

    /* New memory is not zeroed. */
    memset(block + 2, 0xa5, size);

    if (ptr == NULL) {
        help->live++;
        return block + 2;
    }

    old = ((size_t *) ptr)[-2];
    memcpy(block + 2, ptr, old < size ? old : size);
    free((size_t *) ptr - 2);

    return block + 2;
}

void
help_alloc_init(help_alloc_t *help)
{
    memset(help, 0, sizeof(*help));
    help->alloc.resize = help_resize;
    help->alloc.ctx = help;
}

char *
help_copy(tg_str_t text)
{
    char *copy;

    /* malloc(0) may return a shared block. */
    copy = malloc(text.len != 0 ? text.len : 1);

    if (copy == NULL) {
        abort();
    }

    if (text.len != 0) {
        memcpy(copy, text.data, text.len);
    }

    return copy;
}
