/*
 * Argument paths: variables in braces such as `${tool_arg_filter.name}`. Each
 * path becomes an NGINX variable of its own.
 */
#include "nginx/config/ngx_tg_config.h"

#include "schema/tg_schema_query.h"

/* Maximum nesting; real arguments are not nested deeper. */
#define NGX_TG_ARG_PATH_DEPTH_MAX 16

ngx_tg_arg_path_t *
ngx_tg_arg_path_create(ngx_conf_t *cf, tg_str_t name)
{
    ngx_tg_arg_path_t *path, **slot;
    ngx_tg_tool_t *tool;
    tg_str_t rest, step;
    int rc;

    path = ngx_pcalloc(cf->pool, sizeof(ngx_tg_arg_path_t));
    if (path == NULL) {
        return NULL;
    }

    path->kind = tg_variable_get_type(name, &rest);
    path->text.data = (u_char *) name.data;
    path->text.len = name.len;
    path->file = cf->conf_file->file.name;
    path->line = cf->conf_file->line;
    path->steps = ngx_pcalloc(cf->pool, NGX_TG_ARG_PATH_DEPTH_MAX
                                            * sizeof(ngx_tg_arg_property_t));
    if (path->steps == NULL) {
        return NULL;
    }

    rc = path->kind != TG_VARIABLE_OTHER ? TG_OK : TG_INVALID;

    while (rc == TG_OK && (rc = tg_variable_next_member(&rest, &step)) == TG_OK)
    {
        if (path->n == NGX_TG_ARG_PATH_DEPTH_MAX) {
            rc = TG_LIMIT;
        } else {
            path->steps[path->n++].name = step;
        }
    }

    if (rc != TG_END) {
        (void) ngx_tg_conf_error(
            cf,
            "\"${%*s}\" does not name an argument; write ${tool_arg_NAME}, "
            "followed by at most %d \".MEMBER\" for a value inside an object",
            name.len, name.data, NGX_TG_ARG_PATH_DEPTH_MAX - 1);
        return NULL;
    }

    if (cf->cmd_type != NGX_STREAM_TOOL_CONF) {
        return path;
    }

    tool = ngx_tg_conf_get_tool(cf);
    slot = ngx_tg_conf_array_push(cf, &tool->paths,
                                  sizeof(ngx_tg_arg_path_t *));

    if (slot == NULL) {
        return NULL;
    }

    *slot = path;

    return path;
}

ngx_str_t
ngx_tg_arg_path_add_variable(ngx_conf_t *cf, ngx_tg_arg_path_t *path)
{
    ngx_tg_main_conf_t *mcf;
    ngx_stream_variable_t *v;
    ngx_str_t name;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    name.len = 0;
    name.data = ngx_pnalloc(cf->pool, sizeof("tool_path_") + NGX_INT_T_LEN);

    if (name.data == NULL) {
        return name;
    }

    name.len = ngx_sprintf(name.data, "tool_path_%ui", mcf->npaths++)
               - name.data;
    v = ngx_stream_add_variable(
        cf, &name, NGX_STREAM_VAR_NOCACHEABLE | NGX_STREAM_VAR_NOHASH);

    if (v == NULL) {
        name.len = 0;
        return name;
    }

    v->get_handler = mcf->path;
    v->data = (uintptr_t) path;

    return name;
}

/* --- schemas of argument paths --- */

void
ngx_tg_arg_property_init(ngx_tg_arg_property_t *property, tg_str_t root,
                         tg_str_t schema)
{
    tg_str_t items, first;

    (void) tg_schema_query_keyword(root, schema, "default",
                                   &property->default_value);
    property->is_integer = tg_schema_query_is_integer(root, schema) != 0;
    property->has_integer_items =
        tg_schema_query_keyword(root, schema, "items", &items) == TG_OK
        && tg_schema_query_keyword(root, schema, "prefixItems", &first)
               == TG_MISSING
        && tg_schema_query_is_integer(root, items);
}

static ngx_int_t
ngx_tg_arg_path_resolve_step(ngx_conf_t *cf, tg_str_t root, tg_str_t *schema,
                             ngx_tg_arg_property_t *step)
{
    tg_str_t key, value;
    u_char *name;
    int rc;

    rc = tg_schema_query_property(root, *schema, step->name,
                                  tg_variable_is_named, &key, &value);

    if (rc != TG_OK) {
        return rc == TG_AGAIN ? NGX_DECLINED : NGX_ABORT;
    }

    name = ngx_pnalloc(cf->pool, key.len + 1);
    if (name == NULL) {
        return NGX_ERROR;
    }

    step->name = tg_str((char *) name, tg_json_unescape((char *) name, key));
    ngx_tg_arg_property_init(step, root, value);
    *schema = value;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_arg_path_resolve(ngx_conf_t *cf, ngx_tg_arg_path_t *path, tg_str_t root)
{
    tg_str_t schema;
    ngx_uint_t i;
    ngx_int_t rc;

    schema = root;

    for (i = 0; i < path->n; i++) {
        rc = tg_schema_query_allows_type(root, schema, "object")
                 ? ngx_tg_arg_path_resolve_step(cf, root, &schema,
                                                &path->steps[i])
                 : NGX_ABORT;

        /*
         * An unknown argument is not an error here, as for an argument named
         * without braces.
         */
        if (rc == NGX_ABORT && i == 0) {
            return NGX_OK;
        }

        if (rc == NGX_ABORT) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "the input_schema does not declare \"%*s\", which "
                          "\"${%V}\" refers to; correct one of them in "
                          "%V:%ui",
                          path->steps[i].name.len, path->steps[i].name.data,
                          &path->text, &path->file, path->line);
        }

        if (rc != NGX_OK) {
            return rc == NGX_DECLINED ? NGX_OK : NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_int_t
ngx_tg_tool_resolve_arg_paths(ngx_conf_t *cf, ngx_tg_tool_t *tool)
{
    ngx_tg_arg_path_t **paths;
    ngx_uint_t i;

    if (tool->paths == NULL || tool->entry.input_schema.data == NULL) {
        return NGX_OK;
    }

    paths = tool->paths->elts;

    for (i = 0; i < tool->paths->nelts; i++) {
        if (ngx_tg_arg_path_resolve(cf, paths[i], tool->entry.input_schema)
            != NGX_OK) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}
