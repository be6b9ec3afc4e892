/* The random key of the workers, in a memory file that they inherit. */
#include "nginx/shm/ngx_tg_state_key.h"

#include "nginx/shm/ngx_tg_shm.h"

#include <sys/random.h>

#define NGX_TG_STATE_KEY_ENV_VAR "TOOLGATE_STATE_KEY"
/* "TGskey" and the version of this layout. */
#define NGX_TG_STATE_KEY_MAGIC UINT64_C(0x5447736b65790001)

typedef struct {
    uint64_t magic;
    char secret[TG_SEAL_SECRET_MIN];
} ngx_tg_state_key_t;

static int ngx_tg_state_key_fd = -1;

/* the worker's key; empty: none */
static tg_seal_keys_t ngx_tg_state_keys;

static ngx_int_t
ngx_tg_state_key_read(int fd, ngx_tg_state_key_t *key)
{
    return pread(fd, key, sizeof(*key), 0) == (ssize_t) sizeof(*key)
                   && key->magic == NGX_TG_STATE_KEY_MAGIC
               ? NGX_OK
               : NGX_DECLINED;
}

/* Finds the key that this master or its predecessor created. */
static ngx_int_t
ngx_tg_state_key_find(void)
{
    ngx_tg_state_key_t key;
    const char *value;
    char end;
    int fd;

    value = getenv(NGX_TG_STATE_KEY_ENV_VAR);

    if (value == NULL || sscanf(value, "%d%c", &fd, &end) != 1
        || ngx_tg_state_key_read(fd, &key) != NGX_OK)
    {
        return NGX_DECLINED;
    }

    ngx_tg_state_key_fd = fd;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_state_key_create(ngx_log_t *log)
{
    char secret[TG_SEAL_SECRET_MIN];
    int fd;

    fd = ngx_tg_shm_create("toolgate-state-key", sizeof(ngx_tg_state_key_t),
                           NGX_TG_STATE_KEY_MAGIC, log);

    if (fd == -1) {
        return NGX_ERROR;
    }

    if (getrandom(secret, sizeof(secret), 0) == (ssize_t) sizeof(secret)
        && pwrite(fd, secret, sizeof(secret),
                  offsetof(ngx_tg_state_key_t, secret))
               == (ssize_t) sizeof(secret))
    {
        ngx_tg_state_key_fd = fd;
        return NGX_OK;
    }

    ngx_log_error(NGX_LOG_ERR, log, ngx_errno,
                  "no key for the state of clients could be made; tools cannot "
                  "ask, unless \"tool_state_key\" is set");
    (void) close(fd);

    return NGX_ERROR;
}

void
ngx_tg_state_key_init(ngx_cycle_t *cycle)
{
    ngx_tg_main_conf_t *mcf;
    u_char value[NGX_INT_T_LEN + 1];

    mcf = ngx_tg_cycle_get_main_conf(cycle);

    if (ngx_tg_state_key_find() != NGX_OK
        && (mcf == NULL || !mcf->needs_state_key
            || ngx_tg_state_key_create(cycle->log) != NGX_OK))
    {
        return;
    }

    (void) ngx_sprintf(value, "%d%Z", ngx_tg_state_key_fd);

    if (ngx_tg_export_to_new_binary(cycle, NGX_TG_STATE_KEY_ENV_VAR,
                                    (char *) value)
        != NGX_OK)
    {
        ngx_log_error(NGX_LOG_ERR, cycle->log, 0, TG_TEXT_NO_MEMORY);
    }
}

void
ngx_tg_state_key_start_worker(ngx_cycle_t *cycle)
{
    ngx_tg_state_key_t key;

    /* Child processes of this worker must not inherit the variable. */
    (void) unsetenv(NGX_TG_STATE_KEY_ENV_VAR);

    if (ngx_tg_state_key_fd == -1) {
        return;
    }

    (void) fcntl(ngx_tg_state_key_fd, F_SETFD, FD_CLOEXEC);

    if (ngx_tg_state_keys.n == 0
        && ngx_tg_state_key_read(ngx_tg_state_key_fd, &key) == NGX_OK)
    {
        tg_seal_add_key(&ngx_tg_state_keys,
                        tg_str(key.secret, sizeof(key.secret)));
        ngx_explicit_memzero(&key, sizeof(key));
    }
}

const tg_seal_keys_t *
ngx_tg_state_key_get(const ngx_tg_srv_conf_t *scf)
{
    if (scf->state_keys.n != 0) {
        return &scf->state_keys;
    }

    return ngx_tg_state_keys.n != 0 ? &ngx_tg_state_keys : NULL;
}
