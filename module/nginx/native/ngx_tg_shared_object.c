/* Shared objects of native handlers: copied, loaded, searched. */
#include "nginx/native/ngx_tg_shared_object.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

/* Maximum size of a shared object in bytes. */
#define NGX_TG_SHARED_OBJECT_MAX 268435456

/* Linux 6.3 expects this flag; older kernels reject it with EINVAL. */
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

static void
ngx_tg_shared_object_free(void *data)
{
    ngx_tg_shared_object_t *object = data;

    /* An object's threads may run in an exiting worker, so it stays loaded. */
    if (ngx_process == NGX_PROCESS_WORKER) {
        return;
    }

    if (object->handle != NULL) {
        (void) dlclose(object->handle);
    }

    if (object->fd != -1) {
        (void) close(object->fd);
    }
}

static ngx_int_t
ngx_tg_shared_object_conf_error(ngx_conf_t *cf, ngx_str_t *path, ngx_err_t err,
                                const char *what)
{
    ngx_str_t *value;

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, err, "\"%V\" of \"%V\" %s", path,
                       &value[0], what);

    return NGX_ERROR;
}

/* Copies a file and seals the copy, which workers inherit. */
static ngx_int_t
ngx_tg_shared_object_copy_bytes(int from, int to, size_t size)
{
    ssize_t n;

    while (size > 0) {
        n = sendfile(to, from, NULL, size);

        if (n == -1 && ngx_errno == NGX_EINTR) {
            continue;
        }

        if (n <= 0) {
            return NGX_ERROR;
        }

        size -= (size_t) n;
    }

    return fcntl(to, F_ADD_SEALS,
                 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL)
                   == -1
               ? NGX_ERROR
               : NGX_OK;
}

static int
ngx_tg_shared_object_create_memfd(const ngx_str_t *path)
{
    char name[128]; /* the kernel allows longer names */
    int fd;

    (void) ngx_cpystrn((u_char *) name,
                       (u_char *) strrchr((char *) path->data, '/') + 1,
                       sizeof(name));
    fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);

    return fd != -1 || ngx_errno != NGX_EINVAL
               ? fd
               : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Copies the file into memory. NGX_ERROR: logged. */
static ngx_int_t
ngx_tg_shared_object_copy_file(ngx_conf_t *cf, ngx_tg_shared_object_t *object)
{
    ngx_file_info_t fi;
    const char *mistake;
    ngx_err_t err;
    int fd;

    fd = open((char *) object->path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd == -1) {
        return ngx_tg_shared_object_conf_error(cf, &object->path, ngx_errno,
                                               "cannot be read; write the full "
                                               "path of a shared object");
    }

    mistake = "cannot be copied into memory";
    err = 0;

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR) {
        err = ngx_errno;

    } else if (!ngx_is_file(&fi)
               || ngx_file_size(&fi) > NGX_TG_SHARED_OBJECT_MAX) {
        mistake = "is not a shared object: it is not a regular file, or larger "
                  "than 256 MiB";

    } else {
        object->fd = ngx_tg_shared_object_create_memfd(&object->path);

        if (object->fd != -1
            && ngx_tg_shared_object_copy_bytes(fd, object->fd,
                                               (size_t) ngx_file_size(&fi))
                   == NGX_OK)
        {
            mistake = NULL;
        } else {
            err = ngx_errno;
        }
    }

    (void) close(fd);

    return mistake == NULL ? NGX_OK
                           : ngx_tg_shared_object_conf_error(cf, &object->path,
                                                             err, mistake);
}

/* Loads the copy. Logs the linker's error without the copy's name. */
static ngx_int_t
ngx_tg_shared_object_dlopen(ngx_conf_t *cf, ngx_tg_shared_object_t *object)
{
    u_char name[sizeof("/proc/self/fd/") + NGX_INT_T_LEN];
    u_char text[NGX_MAX_CONF_ERRSTR];
    const char *error;
    size_t len;

    len = ngx_sprintf(name, "/proc/self/fd/%d%Z", object->fd) - name - 1;
    object->handle = dlopen((char *) name, RTLD_NOW | RTLD_LOCAL);

    if (object->handle != NULL) {
        return NGX_OK;
    }

    error = dlerror();

    if (ngx_strncmp(error, name, len) == 0) {
        error += len;
        error += strspn(error, ": ");
    }

    (void) ngx_snprintf(text, sizeof(text),
                        "cannot be loaded: %s; build it with \"-shared\" for "
                        "this machine, and link it with all libraries that it "
                        "needs%Z",
                        error);

    return ngx_tg_shared_object_conf_error(cf, &object->path, 0, (char *) text);
}

ngx_tg_shared_object_t *
ngx_tg_shared_object_open(ngx_conf_t *cf, ngx_array_t *objects, ngx_str_t *path)
{
    ngx_tg_shared_object_t **known, *object;
    ngx_pool_cleanup_t *cln;
    ngx_uint_t i;

    known = objects->elts;

    for (i = 0; i < objects->nelts; i++) {
        if (ngx_strcmp(known[i]->path.data, path->data) == 0) {
            return known[i];
        }
    }

    known = ngx_array_push(objects);
    cln = ngx_pool_cleanup_add(cf->pool, sizeof(ngx_tg_shared_object_t));

    if (known == NULL || cln == NULL) {
        return NULL;
    }

    object = cln->data;
    object->path = *path;
    object->handle = NULL;
    object->fd = -1;
    cln->handler = ngx_tg_shared_object_free;
    *known = object;

    return ngx_tg_shared_object_copy_file(cf, object) == NGX_OK
                   && ngx_tg_shared_object_dlopen(cf, object) == NGX_OK
               ? object
               : NULL;
}

const void *
ngx_tg_shared_object_find_data(ngx_conf_t *cf,
                               const ngx_tg_shared_object_t *object,
                               ngx_str_t *symbol, size_t size)
{
    const ElfW(Sym) * entry;
    ngx_str_t *value;
    Dl_info info;
    void *data;

    data = dlsym(object->handle, (char *) symbol->data);
    entry = NULL;

    if (data != NULL
        && dladdr1(data, &info, (void **) &entry, RTLD_DL_SYMENT) != 0
        && entry != NULL && ELF64_ST_TYPE(entry->st_info) == STT_OBJECT
        && entry->st_size >= size)
    {
        return data;
    }

    value = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "\"%V\" of \"%V\" has no handler \"%V\"; name the one "
                       "that its TOOLGATE_HANDLER() declares: \"%V FILE "
                       "SYMBOL\"",
                       &object->path, &value[0], symbol, &value[0]);

    return NULL;
}
