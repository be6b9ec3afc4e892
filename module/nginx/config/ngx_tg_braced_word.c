/*
 * Words with braces. NGINX ends a word without quotes at its first "{", so the
 * rest of a template is still in the config file.
 */
#include "nginx/config/ngx_tg_listing.h"

/* Reads the next byte of the config file. NGX_DECLINED at its end. */
static ngx_int_t
ngx_tg_conf_read_byte(ngx_conf_t *cf, u_char *c)
{
    ngx_file_t *file;
    ngx_buf_t *b;
    size_t size;

    b = cf->conf_file->buffer;
    file = &cf->conf_file->file;

    if (b->pos >= b->last) {
        size = (size_t) ngx_min(ngx_file_size(&file->info) - file->offset,
                                (off_t) (b->end - b->start));

        if (ngx_file_size(&file->info) <= file->offset
            || ngx_read_file(file, b->start, size, file->offset)
                   != (ssize_t) size)
        {
            return NGX_DECLINED;
        }

        b->pos = b->start;
        b->last = b->start + size;

        if (cf->conf_file->dump != NULL) {
            cf->conf_file->dump->last = ngx_cpymem(cf->conf_file->dump->last,
                                                   b->pos, size);
        }
    }

    *c = *b->pos++;
    cf->conf_file->line += *c == '\n';

    return NGX_OK;
}

static ngx_uint_t
ngx_tg_is_blank(u_char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

ngx_int_t
ngx_tg_conf_read_braced_word(ngx_conf_t *cf, ngx_str_t *word)
{
    u_char *p, c;
    size_t len;

    if (cf->conf_file->buffer->pos < cf->conf_file->buffer->last
        && ngx_tg_is_blank(*cf->conf_file->buffer->pos))
    {
        return NGX_OK; /* the "{" begins the block */
    }

    p = ngx_pnalloc(cf->pool, TG_URI_MAX + 1);
    if (p == NULL || word->len >= TG_URI_MAX) {
        return NGX_ERROR;
    }

    ngx_memcpy(p, word->data, word->len);
    len = word->len;
    c = '{';

    do {
        p[len++] = c;

        if (ngx_tg_conf_read_byte(cf, &c) != NGX_OK || c == ';') {
            len = TG_URI_MAX;
        }
    } while (len < TG_URI_MAX && !ngx_tg_is_blank(c));

    while (len < TG_URI_MAX && ngx_tg_is_blank(c)) {
        if (ngx_tg_conf_read_byte(cf, &c) != NGX_OK) {
            break;
        }
    }

    if (c != '{' || len >= TG_URI_MAX) {
        (void) ngx_tg_conf_error(cf,
                                 "a \"{\" must follow the template that begins "
                                 "with \"%V\"; put the template between quotes",
                                 word);
        return NGX_ERROR;
    }

    p[len] = '\0';
    word->data = p;
    word->len = len;

    return NGX_OK;
}
