/* Names of tools and prompts, URIs of resources, and templates of URIs. */
#include "nginx/config/ngx_tg_listing.h"

/* Maximum bytes of a name that an error message quotes. */
#define NGX_TG_QUOTED_NAME_MAX ((size_t) 256)

static void
ngx_tg_free_template(void *data)
{
    tg_uri_template_free(data);
}

/* Warns about a template whose URIs an earlier one takes. */
static void
ngx_tg_template_check_order(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                            const tg_catalog_entry_t *entry)
{
    const tg_catalog_entry_t *other;
    size_t i;

    for (i = 0; i < tg_catalog_size(scf->catalog); i++) {
        other = tg_catalog_get_entry(scf->catalog, i);

        if (other->uri_template != NULL
            && tg_uri_template_shadows(other->uri_template,
                                       entry->uri_template))
        {
            ngx_conf_log_error(NGX_LOG_WARN, cf, 0,
                               "resource_template \"%*s\" is never used, as "
                               "\"%*s\" before it matches its URIs; write the "
                               "more special template first",
                               entry->name.len, entry->name.data,
                               other->name.len, other->name.data);
            return;
        }
    }
}

static ngx_int_t
ngx_tg_tool_init_template(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                          ngx_tg_tool_t *tool)
{
    tg_uri_template_t *template;
    ngx_pool_cleanup_t *cln;
    const char *mistake;
    int rc;

    cln = ngx_pool_cleanup_add(cf->pool, 0);
    if (cln == NULL) {
        return NGX_ERROR;
    }

    rc = tg_uri_template_parse(tg_alloc_libc(), tool->entry.name, &template,
                               &mistake);

    if (rc == TG_INVALID) {
        (void) ngx_tg_conf_error(cf, "invalid resource_template \"%*s\": %s",
                                 ngx_min(tool->entry.name.len,
                                         NGX_TG_QUOTED_NAME_MAX),
                                 tool->entry.name.data, mistake);
    }

    if (rc != TG_OK) {
        return NGX_ERROR;
    }

    cln->handler = ngx_tg_free_template;
    cln->data = template;
    tool->entry.uri_template = template;
    ngx_tg_template_check_order(cf, scf, &tool->entry);

    return NGX_OK;
}

ngx_int_t
ngx_tg_tool_init_name(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                      ngx_tg_tool_t *tool)
{
    const char *mistake;
    int is_warning;

    if (tool->entry.kind == TG_ENTRY_TEMPLATE
        && ngx_tg_tool_init_template(cf, scf, tool) != NGX_OK)
    {
        return NGX_ERROR;
    }

    mistake = tg_catalog_check_name(tool->entry.kind, tool->entry.name,
                                    &is_warning);

    if (mistake == NULL) {
        return NGX_OK;
    }

    ngx_conf_log_error(is_warning ? NGX_LOG_WARN : NGX_LOG_EMERG, cf, 0,
                       "%s%s \"%*s\" of a %s: %s", is_warning ? "" : "invalid ",
                       NGX_TG_KINDS_READ >> tool->entry.kind & 1 ? "URI"
                                                                 : "name",
                       ngx_min(tool->entry.name.len, NGX_TG_QUOTED_NAME_MAX),
                       tool->entry.name.data,
                       tg_entry_type_name(tool->entry.kind), mistake);

    return is_warning ? NGX_OK : NGX_ERROR;
}
