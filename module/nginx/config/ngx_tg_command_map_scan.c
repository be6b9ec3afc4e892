/*
 * Finds variables that `map` derives from callers' values. NGINX does not
 * expose the contents of a map, so the text of the config is read a second
 * time.
 */
#include "nginx/config/ngx_tg_command_lint.h"

/*
 * Size limit of a scanned config file, equal to the limit of a schema file.
 * Larger files are not scanned.
 */
#define NGX_TG_SCANNED_FILE_SIZE_MAX 1048576

/* Maximum number of scanned config files. Further files are not scanned. */
#define NGX_TG_SCANNED_FILES_MAX 256

typedef struct {
    ngx_str_t name;
    tg_str_t text; /* absent: the file was not read */
} ngx_tg_scanned_file_t;

typedef struct {
    ngx_conf_t *cf;
    ngx_tg_main_conf_t *mcf;
    ngx_uint_t has_more;
} ngx_tg_map_scan_t;

static tg_command_names_t
ngx_tg_command_get_known_names(const ngx_tg_main_conf_t *mcf)
{
    tg_command_names_t names = { NULL, 0 };

    if (mcf->derived_names != NULL) {
        names.names = mcf->derived_names->elts;
        names.n = mcf->derived_names->nelts;
    }

    return names;
}

static void
ngx_tg_map_scan_add_name(void *ctx, tg_str_t name)
{
    ngx_tg_map_scan_t *derive = ctx;

    tg_command_names_t names;
    tg_str_t *slot;

    names = ngx_tg_command_get_known_names(derive->mcf);

    if (tg_command_is_caller_variable(name, &names)) {
        return;
    }

    slot = ngx_tg_conf_array_push(derive->cf, &derive->mcf->derived_names,
                                  sizeof(tg_str_t));

    if (slot != NULL) {
        *slot = name;
        derive->has_more = 1;
    }
}

/* Scans the maps of all files repeatedly, until none adds a variable. */
static void
ngx_tg_map_scan_read_maps(ngx_tg_map_scan_t *derive)
{
    ngx_tg_scanned_file_t *file;
    tg_command_names_t names;
    tg_command_map_t map;
    ngx_uint_t i;
    tg_str_t rest;

    file = derive->mcf->scanned_files->elts;

    do {
        derive->has_more = 0;

        for (i = 0; i < derive->mcf->scanned_files->nelts; i++) {
            for (rest = file[i].text;
                 tg_command_next_map(&rest, &map) == TG_OK;) {
                names = ngx_tg_command_get_known_names(derive->mcf);
                tg_command_map_add_variables(&map, &names,
                                             ngx_tg_map_scan_add_name, derive);
            }
        }
    } while (derive->has_more);
}

/*
 * Reads a file that was not read before. Returns NGX_OK, or NGX_DECLINED if
 * there is no new text.
 */
static ngx_int_t
ngx_tg_map_scan_read_file(ngx_tg_map_scan_t *derive, ngx_str_t *name)
{
    ngx_tg_scanned_file_t *file;
    ngx_file_info_t fi;
    ngx_str_t text;
    ngx_uint_t i;

    file = derive->mcf->scanned_files != NULL ? derive->mcf->scanned_files->elts
                                              : NULL;

    for (i = 0; file != NULL && i < derive->mcf->scanned_files->nelts; i++) {
        if (tg_str_eq(ngx_tg_str_from_ngx(&file[i].name),
                      ngx_tg_str_from_ngx(name))) {
            return NGX_DECLINED;
        }
    }

    file = i < NGX_TG_SCANNED_FILES_MAX
               ? ngx_tg_conf_array_push(derive->cf, &derive->mcf->scanned_files,
                                        sizeof(ngx_tg_scanned_file_t))
               : NULL;

    if (file == NULL) {
        return NGX_DECLINED;
    }

    file->name = *name;
    file->text = TG_STR_NONE;

    /* Only regular files are read; `-g` and the like contain no maps. */
    if (ngx_file_info(name->data, &fi) == NGX_FILE_ERROR || !ngx_is_file(&fi)
        || ngx_file_size(&fi) > NGX_TG_SCANNED_FILE_SIZE_MAX
        || ngx_tg_conf_read_file(derive->cf, &file->name, &text, &fi) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    file->text = ngx_tg_str_from_ngx(&text);

    return NGX_OK;
}

/*
 * Reads the files that the pattern of an `include` names. NGINX itself reports
 * errors in the pattern.
 */
static void
ngx_tg_map_scan_add_include(ngx_tg_map_scan_t *derive, tg_str_t pattern)
{
    ngx_str_t name, found;
    ngx_glob_t gl;

    name.len = pattern.len;
    name.data = ngx_pnalloc(derive->cf->pool, pattern.len + 1);

    if (name.data == NULL) {
        return;
    }

    *ngx_cpymem(name.data, pattern.data, pattern.len) = '\0';

    if (ngx_conf_full_name(derive->cf->cycle, &name, 1) != NGX_OK) {
        return;
    }

    ngx_memzero(&gl, sizeof(ngx_glob_t));
    gl.pattern = name.data;
    gl.log = derive->cf->log;

    if (ngx_open_glob(&gl) != NGX_OK) {
        return;
    }

    while (ngx_read_glob(&gl, &found) == NGX_OK) {
        name.len = found.len;
        name.data = ngx_pnalloc(derive->cf->pool, found.len + 1);

        if (name.data == NULL) {
            break;
        }

        ngx_memcpy(name.data, found.data, found.len + 1);
        (void) ngx_tg_map_scan_read_file(derive, &name);
    }

    ngx_close_glob(&gl);
}

/* Reads a file and all files that it includes. */
static void
ngx_tg_map_scan_add_file(ngx_tg_map_scan_t *derive, ngx_str_t *name)
{
    ngx_tg_scanned_file_t *file;
    tg_str_t rest, pattern;
    ngx_uint_t i;

    i = derive->mcf->scanned_files != NULL ? derive->mcf->scanned_files->nelts
                                           : 0;

    if (name->len == 0 || ngx_tg_map_scan_read_file(derive, name) != NGX_OK) {
        return;
    }

    /* The list grows while included files are added. */
    for (/* void */; i < derive->mcf->scanned_files->nelts; i++) {
        file = derive->mcf->scanned_files->elts;

        for (rest = file[i].text;
             tg_command_next_include(&rest, &pattern) == TG_OK;) {
            ngx_tg_map_scan_add_include(derive, pattern);
        }
    }

    ngx_tg_map_scan_read_maps(derive);
}

/*
 * Scans the main config file, the current file, and the files that they
 * include.
 */
tg_command_names_t
ngx_tg_command_get_derived_names(ngx_conf_t *cf)
{
    ngx_tg_map_scan_t derive = { .cf = cf };

    derive.mcf = ngx_stream_conf_get_module_main_conf(
        cf, ngx_stream_toolgate_module);
    ngx_tg_map_scan_add_file(&derive, &cf->cycle->conf_file);
    ngx_tg_map_scan_add_file(&derive, &cf->conf_file->file.name);

    return ngx_tg_command_get_known_names(derive.mcf);
}
