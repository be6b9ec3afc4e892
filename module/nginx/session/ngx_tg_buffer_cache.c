/*
 * Buffers that a worker reuses for its sessions: an output buffer for the
 * session that writes, and some large blocks, because page faults of fresh
 * memory cost more than the rest of a call.
 */
#include "nginx/session/ngx_tg_session_impl.h"

/* Maximum number of cached blocks, and of their bytes. */
#define NGX_TG_BUFFER_CACHE_N 8
#define NGX_TG_BUFFER_CACHE_SIZE 16777216

typedef struct {
    char *data;
    size_t cap;
} ngx_tg_cached_buffer_t;

static struct {
    ngx_tg_cached_buffer_t elts[NGX_TG_BUFFER_CACHE_N];
    ngx_uint_t n;
    size_t size;
} ngx_tg_buffer_cache;

/* Returns the smallest block of `want` bytes, or the largest one, or NULL. */
static ngx_tg_cached_buffer_t *
ngx_tg_buffer_cache_find(size_t want)
{
    ngx_tg_cached_buffer_t *block, *best;
    ngx_uint_t i;

    best = NULL;

    for (i = 0; i < ngx_tg_buffer_cache.n; i++) {
        block = &ngx_tg_buffer_cache.elts[i];

        if (best == NULL
            || (best->cap < want
                    ? block->cap > best->cap
                    : block->cap >= want && block->cap < best->cap))
        {
            best = block;
        }
    }

    return best;
}

void
ngx_tg_buffer_cache_recycle(tg_buf_t *buf)
{
    ngx_tg_cached_buffer_t *block;

    if (buf->cap < NGX_TG_LARGE_BUFFER_SIZE
        || ngx_tg_buffer_cache.n == NGX_TG_BUFFER_CACHE_N
        || buf->cap > NGX_TG_BUFFER_CACHE_SIZE - ngx_tg_buffer_cache.size)
    {
        tg_buf_reset(buf, 0);
        return;
    }

    block = &ngx_tg_buffer_cache.elts[ngx_tg_buffer_cache.n++];
    block->data = buf->data;
    block->cap = buf->cap;
    ngx_tg_buffer_cache.size += buf->cap;

    buf->data = NULL;
    buf->cap = 0;
    buf->len = 0;
}

void
ngx_tg_buffer_cache_get(tg_buf_t *buf, size_t want)
{
    ngx_tg_cached_buffer_t *block, found;
    tg_buf_t old;

    block = ngx_tg_buffer_cache_find(want);

    if (block == NULL || block->cap <= buf->cap) {
        return;
    }

    found = *block;
    *block = ngx_tg_buffer_cache.elts[--ngx_tg_buffer_cache.n];
    ngx_tg_buffer_cache.size -= found.cap;

    old = *buf;
    buf->data = found.data;
    buf->cap = found.cap;

    if (old.len != 0) {
        ngx_memcpy(buf->data, old.data, old.len);
    }

    ngx_tg_buffer_cache_recycle(&old);
}

/* --- output buffer --- */

static char *ngx_tg_output_buffer;
static size_t ngx_tg_output_buffer_cap;

void
ngx_tg_output_buffer_borrow(tg_buf_t *out)
{
    if (out->data == NULL) {
        out->data = ngx_tg_output_buffer;
        out->cap = ngx_tg_output_buffer_cap;
        ngx_tg_output_buffer = NULL;
        ngx_tg_output_buffer_cap = 0;
    }
}

void
ngx_tg_output_buffer_return(tg_buf_t *out)
{
    if (ngx_tg_output_buffer == NULL && out->cap < NGX_TG_LARGE_BUFFER_SIZE) {
        ngx_tg_output_buffer = out->data;
        ngx_tg_output_buffer_cap = out->cap;
        out->data = NULL;
        out->cap = 0;
        out->len = 0;
        return;
    }

    ngx_tg_buffer_cache_recycle(out);
}

void
ngx_tg_buffer_cache_exit(void)
{
    while (ngx_tg_buffer_cache.n != 0) {
        ngx_tg_buffer_cache.n--;
        tg_free(tg_alloc_libc(),
                ngx_tg_buffer_cache.elts[ngx_tg_buffer_cache.n].data);
    }

    ngx_tg_buffer_cache.size = 0;

    tg_free(tg_alloc_libc(), ngx_tg_output_buffer);
    ngx_tg_output_buffer = NULL;
    ngx_tg_output_buffer_cap = 0;
}
