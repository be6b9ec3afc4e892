/*
 * Schemas of tools: compiled at config load, checked for every call.
 */
#include "nginx/ngx_stream_toolgate.h"

#include "regex/tg_regex.h"

/* A worker checks one call at a time. */
static tg_schema_checker_t *ngx_stream_toolgate_checker;

static void
ngx_stream_toolgate_schema_free(void *data)
{
    tg_schema_free(data);
}

tg_schema_t *
ngx_stream_toolgate_schema_compile(ngx_conf_t *cf, ngx_command_t *cmd,
                                   tg_str_t text)
{
    tg_schema_options_t options;
    ngx_pool_cleanup_t *cln;
    tg_schema_t *schema;
    tg_buf_t error;

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NULL;
    }

    ngx_memzero(&options, sizeof(tg_schema_options_t));
    options.regex = tg_regex_pcre2();

    tg_buf_init(&error, tg_alloc_libc());
    schema = tg_schema_compile(tg_alloc_libc(), text, &options, &error);

    if (schema == NULL) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "invalid \"%V\": %*s",
                           &cmd->name, tg_buf_view(&error).len,
                           tg_buf_view(&error).data);
    } else {
        cln->handler = ngx_stream_toolgate_schema_free;
        cln->data = schema;
    }

    tg_buf_deinit(&error);

    return schema;
}

int
ngx_stream_toolgate_schema_check(const tg_schema_t *schema, tg_str_t raw,
                                 tg_buf_t *error)
{
    if (ngx_stream_toolgate_checker == NULL) {
        ngx_stream_toolgate_checker = tg_schema_checker_new(
            tg_alloc_libc(), ((uint64_t) ngx_random() << 32) ^ ngx_random());

        if (ngx_stream_toolgate_checker == NULL) {
            return TG_NOMEM;
        }
    }

    return tg_schema_check(schema, ngx_stream_toolgate_checker, raw, error);
}

void
ngx_stream_toolgate_schema_exit(void)
{
    tg_schema_checker_free(ngx_stream_toolgate_checker);
    ngx_stream_toolgate_checker = NULL;
}
