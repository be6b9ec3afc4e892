/*
 * What connections of one loop lend each other.
 */
#include "uv/tg_uv.h"

void
tg_uv_spare_init(tg_uv_spare_t *spare)
{
    tg_buf_init(&spare->in, tg_alloc_libc());
    tg_buf_init(&spare->out, tg_alloc_libc());
}

void
tg_uv_spare_deinit(tg_uv_spare_t *spare)
{
    tg_buf_deinit(&spare->in);
    tg_buf_deinit(&spare->out);
}

void
tg_uv_borrow(tg_buf_t *buf, tg_buf_t *spare)
{
    tg_buf_t own;

    if (buf->data == NULL && !buf->failed) {
        own = *buf;
        *buf = *spare;
        *spare = own;
    }
}

void
tg_uv_give_back(tg_buf_t *buf, tg_buf_t *spare)
{
    if (buf->len == 0 && !buf->failed && spare->data == NULL) {
        tg_uv_borrow(spare, buf);
    }
}
