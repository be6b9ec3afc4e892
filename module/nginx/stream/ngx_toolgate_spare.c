/*
 * What a worker keeps of one session for the next.
 *
 * An output buffer that whoever has something to say borrows; and some large
 * blocks, as fresh memory costs a page fault every 4 KB, which for a message
 * of a megabyte is more than all the rest of a call.
 */
#include "nginx/stream/ngx_toolgate_session.h"

/* At most this many are kept, and so many bytes together. */
#define NGX_TOOLGATE_BLOCKS 8
#define NGX_TOOLGATE_BLOCKS_SIZE 16777216

typedef struct {
    char *data;
    size_t cap;
} ngx_toolgate_block_t;

static struct {
    ngx_toolgate_block_t elts[NGX_TOOLGATE_BLOCKS];
    ngx_uint_t n;
    size_t size;
} ngx_toolgate_blocks;

/* The smallest kept block that has this size, or the largest of all. */
static ngx_toolgate_block_t *
ngx_toolgate_block_find(size_t want)
{
    ngx_toolgate_block_t *block, *best;
    ngx_uint_t i;

    best = NULL;

    for (i = 0; i < ngx_toolgate_blocks.n; i++) {
        block = &ngx_toolgate_blocks.elts[i];

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
ngx_toolgate_block_put(tg_buf_t *buf)
{
    ngx_toolgate_block_t *block;

    if (buf->cap < NGX_TOOLGATE_LARGE
        || ngx_toolgate_blocks.n == NGX_TOOLGATE_BLOCKS
        || buf->cap > NGX_TOOLGATE_BLOCKS_SIZE - ngx_toolgate_blocks.size)
    {
        tg_buf_reset(buf, 0);
        return;
    }

    block = &ngx_toolgate_blocks.elts[ngx_toolgate_blocks.n++];
    block->data = buf->data;
    block->cap = buf->cap;
    ngx_toolgate_blocks.size += buf->cap;

    buf->data = NULL;
    buf->cap = 0;
    buf->len = 0;
}

void
ngx_toolgate_block_get(tg_buf_t *buf, size_t want)
{
    ngx_toolgate_block_t *block, found;
    tg_buf_t old;

    block = ngx_toolgate_block_find(want);

    if (block == NULL || block->cap <= buf->cap) {
        return;
    }

    found = *block;
    *block = ngx_toolgate_blocks.elts[--ngx_toolgate_blocks.n];
    ngx_toolgate_blocks.size -= found.cap;

    old = *buf;
    buf->data = found.data;
    buf->cap = found.cap;

    if (old.len != 0) {
        ngx_memcpy(buf->data, old.data, old.len);
    }

    ngx_toolgate_block_put(&old);
}

/* --- output --- */

static char *ngx_toolgate_spare;
static size_t ngx_toolgate_spare_cap;

void
ngx_toolgate_borrow(tg_buf_t *out)
{
    if (out->data == NULL) {
        out->data = ngx_toolgate_spare;
        out->cap = ngx_toolgate_spare_cap;
        ngx_toolgate_spare = NULL;
        ngx_toolgate_spare_cap = 0;
    }
}

void
ngx_toolgate_give_back(tg_buf_t *out)
{
    if (ngx_toolgate_spare == NULL && out->cap < NGX_TOOLGATE_LARGE) {
        ngx_toolgate_spare = out->data;
        ngx_toolgate_spare_cap = out->cap;
        out->data = NULL;
        out->cap = 0;
        out->len = 0;
        return;
    }

    ngx_toolgate_block_put(out);
}

void
ngx_toolgate_spare_exit(void)
{
    while (ngx_toolgate_blocks.n != 0) {
        ngx_toolgate_blocks.n--;
        tg_free(tg_alloc_libc(),
                ngx_toolgate_blocks.elts[ngx_toolgate_blocks.n].data);
    }

    ngx_toolgate_blocks.size = 0;

    tg_free(tg_alloc_libc(), ngx_toolgate_spare);
    ngx_toolgate_spare = NULL;
    ngx_toolgate_spare_cap = 0;
}
