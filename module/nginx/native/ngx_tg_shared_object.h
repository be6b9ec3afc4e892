/*
 * Shared objects that a config names. Each config loads its own copies from
 * memory: from the file, the dynamic linker would return the object that it has
 * already loaded, and a write to the file would change running code.
 */
#ifndef _NGX_TG_SHARED_OBJECT_H_INCLUDED_
#define _NGX_TG_SHARED_OBJECT_H_INCLUDED_

#include "nginx/ngx_tg.h"

typedef struct {
    ngx_str_t path; /* NUL-terminated */
    void *handle;   /* handle of dlopen() */
    /*
     * descriptor of the copy; while it is open, no other copy has the same name
     */
    int fd;
} ngx_tg_shared_object_t;

/*
 * Returns the shared object at an absolute path: one that this config has
 * already loaded, or a new one, which is unloaded with the config. NULL: error,
 * logged.
 */
ngx_tg_shared_object_t *ngx_tg_shared_object_open(ngx_conf_t *cf,
                                                  ngx_array_t *objects,
                                                  ngx_str_t *path);

/*
 * Returns an exported data symbol of at least `size` bytes; NULL: error,
 * logged.
 */
const void *ngx_tg_shared_object_find_data(ngx_conf_t *cf,
                                           const ngx_tg_shared_object_t *object,
                                           ngx_str_t *symbol, size_t size);

#endif
