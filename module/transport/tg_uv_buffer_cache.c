/* Buffers shared by the connections of one loop. */
#include "transport/tg_transport.h"

void
tg_uv_buffer_cache_init(tg_uv_buffer_cache_t *buffer_cache)
{
    tg_buf_init(&buffer_cache->in, tg_alloc_libc());
    tg_buf_init(&buffer_cache->out, tg_alloc_libc());
}

void
tg_uv_buffer_cache_deinit(tg_uv_buffer_cache_t *buffer_cache)
{
    tg_buf_deinit(&buffer_cache->in);
    tg_buf_deinit(&buffer_cache->out);
}

void
tg_uv_buffer_borrow(tg_buf_t *buf, tg_buf_t *buffer_cache)
{
    tg_buf_t own;

    if (buf->data == NULL && !buf->failed) {
        own = *buf;
        *buf = *buffer_cache;
        *buffer_cache = own;
    }
}

void
tg_uv_buffer_recycle(tg_buf_t *buf, tg_buf_t *buffer_cache)
{
    if (buf->len == 0 && !buf->failed && buffer_cache->data == NULL) {
        tg_uv_buffer_borrow(buffer_cache, buf);
    }
}
