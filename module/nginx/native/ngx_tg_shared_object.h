/*
 * Shared objects that a config names.  Each config has copies of its own, in
 * memory: else the dynamic linker would find that it has a file of that name
 * already, and who writes into the file would write into running code.
 */
#ifndef _NGX_TG_SHARED_OBJECT_H_INCLUDED_
#define _NGX_TG_SHARED_OBJECT_H_INCLUDED_

#include "nginx/ngx_tg.h"

typedef struct {
    ngx_str_t path; /* terminated */
    void *handle;   /* dlopen()'s */
    int fd; /* of the copy: no other one has its name while it is open */
} ngx_tg_shared_object_t;

/*
 * The object at an absolute path, of those that this config has or loaded
 * anew; unloaded with the config.  NULL: logged.
 */
ngx_tg_shared_object_t *ngx_tg_shared_object_open(ngx_conf_t *cf,
                                                  ngx_array_t *objects,
                                                  ngx_str_t *path);

/* Data of at least so many bytes that it exports; NULL: logged. */
const void *ngx_tg_shared_object_find_data(ngx_conf_t *cf,
                                           const ngx_tg_shared_object_t *object,
                                           ngx_str_t *symbol, size_t size);

#endif
