/* Packing of trace records: maps, whose first member is the version. */
#include "nginx/logging/ngx_tg_tracer.h"

#if (NGX_TG_MSGPACK)

#include <msgpack.h>

/* Version of the record format. */
#define NGX_TG_TRACE_VERSION 1

static int
ngx_tg_trace_pack_write(void *data, const char *buf, size_t len)
{
    tg_buf_t *out = data;

    tg_buf_append(out, buf, len);

    return tg_buf_has_failed(out) ? -1 : 0;
}

static void
ngx_tg_trace_pack_str(msgpack_packer *pk, const char *text)
{
    msgpack_pack_str_with_body(pk, text, ngx_strlen(text));
}

static void
ngx_tg_trace_pack_uint(msgpack_packer *pk, const char *key, uint64_t n)
{
    ngx_tg_trace_pack_str(pk, key);
    msgpack_pack_uint64(pk, n);
}

static void
ngx_tg_trace_pack_text(msgpack_packer *pk, const char *key, const char *text)
{
    ngx_tg_trace_pack_str(pk, key);
    ngx_tg_trace_pack_str(pk, text);
}

/* Begins a map of this many members after the three common ones. */
static void
ngx_tg_trace_pack_begin(msgpack_packer *pk, tg_buf_t *out, uint64_t time,
                        size_t members)
{
    msgpack_packer_init(pk, out, ngx_tg_trace_pack_write);
    msgpack_pack_map(pk, members + 3);
    ngx_tg_trace_pack_uint(pk, "tg", NGX_TG_TRACE_VERSION);
    ngx_tg_trace_pack_uint(pk, "time", time);
    ngx_tg_trace_pack_uint(pk, "worker", (uint64_t) ngx_pid);
}

ngx_int_t
ngx_tg_trace_pack_drop_count(tg_buf_t *out, uint64_t time, ngx_uint_t lost)
{
    msgpack_packer pk;

    ngx_tg_trace_pack_begin(&pk, out, time, 1);
    ngx_tg_trace_pack_uint(&pk, "lost", lost);

    return tg_buf_has_failed(out) ? NGX_ERROR : NGX_OK;
}

ngx_int_t
ngx_tg_trace_pack_frame(tg_buf_t *out, const ngx_tg_trace_frame_t *frame,
                        size_t body)
{
    msgpack_packer pk;

    ngx_tg_trace_pack_begin(&pk, out, frame->time,
                            4 + (frame->pid != 0) + (frame->is_cut != 0)
                                + (body != 0));
    ngx_tg_trace_pack_uint(&pk, "connection", frame->connection);

    if (frame->pid != 0) {
        ngx_tg_trace_pack_uint(&pk, "client", frame->pid);
    }

    ngx_tg_trace_pack_text(&pk, "direction", frame->is_out ? "out" : "in");
    ngx_tg_trace_pack_text(&pk, "dialect", frame->dialect);
    ngx_tg_trace_pack_uint(&pk, "size", frame->text.len);

    if (frame->is_cut) {
        ngx_tg_trace_pack_str(&pk, "cut");
        msgpack_pack_true(&pk);
    }

    if (body != 0) {
        ngx_tg_trace_pack_str(&pk, "body");
        msgpack_pack_bin_with_body(&pk, frame->text.data, body);
    }

    return tg_buf_has_failed(out) ? NGX_ERROR : NGX_OK;
}

#else

/* Not reached: without msgpack-c, the directive is rejected. */

ngx_int_t
ngx_tg_trace_pack_drop_count(tg_buf_t *out, uint64_t time, ngx_uint_t lost)
{
    return NGX_ERROR;
}

ngx_int_t
ngx_tg_trace_pack_frame(tg_buf_t *out, const ngx_tg_trace_frame_t *frame,
                        size_t body)
{
    return NGX_ERROR;
}

#endif
