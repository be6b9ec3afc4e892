/* Headers of MCP requests. */
#include "nginx/http/ngx_http_tg_mcp.h"

/* Returns the next header in a list; pass NULL first. */
static ngx_table_elt_t *
ngx_http_tg_fields_next(ngx_list_part_t **part, ngx_uint_t *i)
{
    while (*i >= (*part)->nelts) {
        if ((*part)->next == NULL) {
            return NULL;
        }

        *part = (*part)->next;
        *i = 0;
    }

    return (ngx_table_elt_t *) (*part)->elts + (*i)++;
}

unsigned
ngx_http_tg_field_find(void *data, tg_str_t prefix, tg_str_t name,
                       tg_str_t *value)
{
    ngx_http_request_t *r = data;

    ngx_list_part_t *part;
    ngx_table_elt_t *header;
    ngx_uint_t i;
    unsigned n;

    part = &r->headers_in.headers.part;
    i = 0;
    n = 0;

    while ((header = ngx_http_tg_fields_next(&part, &i)) != NULL) {
        if (header->key.len != prefix.len + name.len
            || ngx_strncasecmp(header->key.data, (u_char *) prefix.data,
                               prefix.len)
                   != 0
            || ngx_strncasecmp(header->key.data + prefix.len,
                               (u_char *) name.data, name.len)
                   != 0)
        {
            continue;
        }

        if (n++ == 0) {
            *value = ngx_tg_str_from_ngx(&header->value);
        }
    }

    if (n != 0) {
        *value = tg_str_skip_blanks(*value);

        while (value->len != 0
               && (value->data[value->len - 1] == ' '
                   || value->data[value->len - 1] == '\t'))
        {
            value->len--;
        }
    }

    return n;
}

/* Compares the media type at the beginning of a text, without parameters. */
static ngx_uint_t
ngx_http_tg_is_type(tg_str_t text, tg_str_t type)
{
    tg_str_t rest;

    text = tg_str_skip_blanks(text);

    if (text.len < type.len
        || ngx_strncasecmp((u_char *) text.data, (u_char *) type.data, type.len)
               != 0)
    {
        return 0;
    }

    rest = tg_str_skip_blanks(
        tg_str(text.data + type.len, text.len - type.len));

    return rest.len == 0 || rest.data[0] == ';';
}

/* Checks one element of Accept against a type and its wildcards. */
static ngx_uint_t
ngx_http_tg_range_has(tg_str_t range, tg_str_t type)
{
    return ngx_http_tg_is_type(range, type)
           || ngx_http_tg_is_type(range, TG_STR("*/*"))
           || ngx_http_tg_is_type(range, type.data[0] == 't'
                                             ? TG_STR("text/*")
                                             : TG_STR("application/*"));
}

ngx_uint_t
ngx_http_tg_accepts(ngx_http_request_t *r, tg_str_t type)
{
    ngx_list_part_t *part;
    ngx_table_elt_t *header;
    tg_str_t rest;
    ngx_uint_t i, n;
    size_t len;

    part = &r->headers_in.headers.part;
    i = 0;
    n = 0;

    while ((header = ngx_http_tg_fields_next(&part, &i)) != NULL) {
        if (!tg_str_eq_nocase(ngx_tg_str_from_ngx(&header->key),
                              TG_STR("accept"))) {
            continue;
        }

        n++;
        rest = ngx_tg_str_from_ngx(&header->value);

        while (rest.len != 0) {
            len = tg_str_find_char(rest, ",");

            if (ngx_http_tg_range_has(tg_str(rest.data, len), type)) {
                return 1;
            }

            len = ngx_min(len + 1, rest.len);
            rest = tg_str(rest.data + len, rest.len - len);
        }
    }

    return n == 0;
}

ngx_uint_t
ngx_http_tg_is_json(ngx_http_request_t *r)
{
    ngx_table_elt_t *type;

    type = r->headers_in.content_type;

    return type != NULL
           && ngx_http_tg_is_type(ngx_tg_str_from_ngx(&type->value),
                                  TG_STR("application/json"));
}
