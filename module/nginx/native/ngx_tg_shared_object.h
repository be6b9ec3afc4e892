/*
 * Shared objects of a config, each copied to memory: for a file, the linker
 * would return the object already loaded, and writes would change running code.
 */
#ifndef _NGX_TG_SHARED_OBJECT_H_INCLUDED_
#define _NGX_TG_SHARED_OBJECT_H_INCLUDED_

#include "nginx/ngx_tg.h"

typedef struct {
    ngx_str_t path; /* NUL-terminated */
    void *handle;   /* handle of dlopen() */
    /* descriptor of the copy, which keeps its name unique */
    int fd;
} ngx_tg_shared_object_t;

/*
 * Returns the shared object at an absolute path, loaded once per config and
 * unloaded with it. NULL: error, logged.
 */
ngx_tg_shared_object_t *ngx_tg_shared_object_open(ngx_conf_t *cf,
                                                  ngx_array_t *objects,
                                                  ngx_str_t *path);

/* Returns an exported symbol of at least `size` bytes; NULL after logging. */
const void *ngx_tg_shared_object_find_data(ngx_conf_t *cf,
                                           const ngx_tg_shared_object_t *object,
                                           ngx_str_t *symbol, size_t size);

#endif
