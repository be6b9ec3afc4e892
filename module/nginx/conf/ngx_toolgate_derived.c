/*
 * Variables that `map` makes of callers' values.  NGINX does not say what a
 * map's variable holds, so the text of the config is read once more.
 */
#include "nginx/conf/ngx_toolgate_command.h"

/* As much as is read of a schema, too; larger ones are not looked at. */
#define NGX_TOOLGATE_SCANNED_MAX 1048576

typedef struct {
    ngx_conf_t *cf;
    ngx_toolgate_main_conf_t *mcf;
    ngx_uint_t has_more;
} ngx_toolgate_derive_t;

static tg_command_names_t
ngx_toolgate_command_names(const ngx_toolgate_main_conf_t *mcf)
{
    tg_command_names_t names = { NULL, 0 };

    if (mcf->derived != NULL) {
        names.names = mcf->derived->elts;
        names.n = mcf->derived->nelts;
    }

    return names;
}

static void
ngx_toolgate_derive_add(void *ctx, tg_str_t name)
{
    ngx_toolgate_derive_t *derive = ctx;

    tg_command_names_t names;
    tg_str_t *slot;

    names = ngx_toolgate_command_names(derive->mcf);

    if (tg_command_is_caller(name, &names)) {
        return;
    }

    slot = ngx_toolgate_push(derive->cf, &derive->mcf->derived,
                             sizeof(tg_str_t));

    if (slot != NULL) {
        *slot = name;
        derive->has_more = 1;
    }
}

/* The maps of a file, until none of them adds a variable. */
static void
ngx_toolgate_derive(ngx_toolgate_derive_t *derive, ngx_str_t *file)
{
    tg_command_names_t names;
    ngx_file_info_t fi;
    tg_command_map_t map;
    ngx_str_t text, *slot;
    ngx_uint_t i;
    tg_str_t rest;

    slot = derive->mcf->scanned != NULL ? derive->mcf->scanned->elts : NULL;

    for (i = 0; slot != NULL && i < derive->mcf->scanned->nelts; i++) {
        if (tg_str_eq(ngx_toolgate_str(&slot[i]), ngx_toolgate_str(file))) {
            return;
        }
    }

    slot = ngx_toolgate_push(derive->cf, &derive->mcf->scanned,
                             sizeof(ngx_str_t));

    if (slot == NULL) {
        return;
    }

    *slot = *file;

    /* What is read is a regular file; `-g` and the like have no maps. */
    if (ngx_file_info(file->data, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)
        || ngx_file_size(&fi) > NGX_TOOLGATE_SCANNED_MAX
        || ngx_toolgate_read_file(derive->cf, slot, &text, &fi) != NGX_OK)
    {
        return;
    }

    do {
        derive->has_more = 0;

        for (rest = ngx_toolgate_str(&text);
             tg_command_map_next(&rest, &map) == TG_OK;) {
            names = ngx_toolgate_command_names(derive->mcf);
            tg_command_map_read(&map, &names, ngx_toolgate_derive_add, derive);
        }
    } while (derive->has_more);
}

/* Of the main file, and of the one that is read. */
tg_command_names_t
ngx_toolgate_command_derived(ngx_conf_t *cf)
{
    ngx_toolgate_derive_t derive = { .cf = cf };

    derive.mcf = ngx_stream_conf_get_module_main_conf(
        cf, ngx_stream_toolgate_module);

    if (cf->cycle->conf_file.len != 0) {
        ngx_toolgate_derive(&derive, &cf->cycle->conf_file);
    }

    if (cf->conf_file->file.name.len != 0) {
        ngx_toolgate_derive(&derive, &cf->conf_file->file.name);
    }

    return ngx_toolgate_command_names(derive.mcf);
}
