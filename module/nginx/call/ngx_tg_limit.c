/*
 * Limits of calls: `rate`, counted over all workers in shared memory that
 * survives reloads, and `concurrency`, counted by the runner.
 */
#include "nginx/call/ngx_tg_call_impl.h"
#include "nginx/config/ngx_tg_spec.h"

/*
 * Size of the zone in bytes, the same in every config so that a reload finds
 * it. A limited tool takes some 200 bytes; unused pages cost nothing.
 */
#define NGX_TG_RATE_ZONE_SIZE 8388608

/* Calls are counted in thousandths, as in limit_req. */
#define NGX_TG_RATE_UNITS_PER_CALL 1000
/* Rates are per minute: 1r/m has no whole thousandths per second. */
#define NGX_TG_RATE_MS_PER_MINUTE 60000

/*
 * Bits of the 64-bit account (time and excess), which workers change without a
 * lock: a killed worker would hold it for ever.
 */
#define NGX_TG_RATE_EXCESS_BITS 27
#define NGX_TG_RATE_EXCESS_MASK ((UINT64_C(1) << NGX_TG_RATE_EXCESS_BITS) - 1)
#define NGX_TG_RATE_TIME_MASK                                                  \
    ((UINT64_C(1) << (64 - NGX_TG_RATE_EXCESS_BITS)) - 1)

typedef struct {
    ngx_str_node_t sn;
    /*
     * low bits: excess over the rate, in thousandths of calls; high bits: time
     * of the last change, in ms
     */
    uint64_t account;
} ngx_tg_rate_node_t;

typedef struct {
    ngx_rbtree_t rbtree;
    ngx_rbtree_node_t sentinel;
} ngx_tg_rate_tree_t;

/* --- directives --- */

/* timeout TIME [max=TIME]: the maximum is at least the timeout. */
char *
ngx_tg_conf_set_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    tg_job_spec_t *spec;
    char *rv;

    spec = (tg_job_spec_t *) (void *) ((char *) conf + cmd->offset);
    rv = ngx_tg_spec_set(cf, cmd, conf);

    if (rv != NGX_CONF_OK || spec->max_timeout_ms >= spec->timeout_ms) {
        return rv;
    }

    if (cf->args->nelts == 3) {
        return ngx_tg_spec_reject(cf, cmd, 2);
    }

    spec->max_timeout_ms = spec->timeout_ms;

    return NGX_CONF_OK;
}

/* rate Nr/s|Nr/m [burst=M] [dry_run] [log_level=LEVEL] */
char *
ngx_tg_conf_set_rate(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_limit_t *limit;
    ngx_str_t *value;

    limit = (ngx_tg_limit_t *) (void *) ((char *) conf + cmd->offset
                                         - offsetof(ngx_tg_limit_t, rate));
    value = cf->args->elts;
    limit->rate_text = value[1];

    return ngx_tg_spec_set(cf, cmd, conf);
}

/* --- shared memory --- */

static ngx_tg_rate_node_t *
ngx_tg_rate_node_get(ngx_shm_zone_t *zone, ngx_str_t *key)
{
    ngx_tg_rate_tree_t *tree;
    ngx_tg_rate_node_t *node;
    ngx_slab_pool_t *shpool;
    uint32_t hash;

    tree = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;
    hash = ngx_crc32_long(key->data, key->len);

    node = (ngx_tg_rate_node_t *) (void *) ngx_str_rbtree_lookup(&tree->rbtree,
                                                                 key, hash);

    if (node != NULL) {
        return node;
    }

    node = ngx_slab_calloc(shpool, sizeof(ngx_tg_rate_node_t) + key->len);

    if (node == NULL) {
        return NULL;
    }

    node->sn.node.key = hash;
    node->sn.str.len = key->len;
    node->sn.str.data = (u_char *) (node + 1);
    /*
     * A time older than half the range of the bits would look like one from the
     * future.
     */
    node->account = (ngx_current_msec & NGX_TG_RATE_TIME_MASK)
                    << NGX_TG_RATE_EXCESS_BITS;
    ngx_memcpy(node->sn.str.data, key->data, key->len);
    ngx_rbtree_insert(&tree->rbtree, &node->sn.node);

    return node;
}

static ngx_int_t
ngx_tg_rate_zone_init(ngx_shm_zone_t *zone, void *data)
{
    ngx_tg_main_conf_t *mcf;
    ngx_tg_limit_t **limits;
    ngx_tg_rate_tree_t *tree;
    ngx_slab_pool_t *shpool;
    ngx_uint_t i;

    mcf = zone->data;
    shpool = (ngx_slab_pool_t *) zone->shm.addr;
    tree = data;

    if (tree == NULL && zone->shm.exists) {
        tree = shpool->data;
    }

    if (tree == NULL) {
        tree = ngx_slab_alloc(shpool, sizeof(ngx_tg_rate_tree_t));
        if (tree == NULL) {
            return NGX_ERROR;
        }

        ngx_rbtree_init(&tree->rbtree, &tree->sentinel,
                        ngx_str_rbtree_insert_value);
        shpool->data = tree;
    }

    zone->data = tree;
    limits = mcf->limits.elts;

    /* Only the master inserts nodes; workers change their accounts. */
    for (i = 0; i < mcf->limits.nelts; i++) {
        limits[i]->node = ngx_tg_rate_node_get(zone, &limits[i]->key);

        if (limits[i]->node == NULL) {
            ngx_log_error(NGX_LOG_EMERG, zone->shm.log, 0,
                          "no shared memory is left for the limits of tools; "
                          "restart NGINX, or limit fewer tools");
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

/* --- names of limits --- */

/* Appends a block's name, after that of the block around it. */
static u_char *
ngx_tg_limit_append_block_name(u_char *p, const ngx_tg_tool_t *block)
{
    static const char marks[] = {
        [TG_ENTRY_TOOL] = '/',     [TG_ENTRY_METHOD] = ':',
        [TG_ENTRY_PROMPT] = '?',   [TG_ENTRY_RESOURCE] = '=',
        [TG_ENTRY_TEMPLATE] = '~', [TG_ENTRY_COMPLETION] = '*',
    };

    if (block->group != NULL) {
        p = ngx_tg_limit_append_block_name(p, block->group);
    }

    return ngx_sprintf(p, "%c%*s",
                       block->is_group ? '@' : marks[block->entry.kind],
                       block->entry.name.len, block->entry.name.data);
}

/* Returns the size of what ngx_tg_limit_append_block_name() appends. */
static size_t
ngx_tg_limit_block_name_len(const ngx_tg_tool_t *block)
{
    size_t len;

    for (len = 0; block != NULL; block = block->group) {
        len += block->entry.name.len + 1;
    }

    return len;
}

static ngx_int_t
ngx_tg_server_add_limit(ngx_conf_t *cf, ngx_tg_limit_t *limit,
                        ngx_tg_srv_conf_t *scf, const ngx_tg_tool_t *block)
{
    ngx_tg_limit_t **slot;
    ngx_tg_main_conf_t *mcf;
    u_char *p;

    if (limit->rate.rate <= 0 && limit->calls.concurrency <= 0) {
        return NGX_OK;
    }

    /* A server is identified by its name for clients and its index. */
    p = ngx_pnalloc(cf->pool, scf->info.name.len
                                  + ngx_tg_limit_block_name_len(block)
                                  + NGX_INT_T_LEN + 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    limit->key.data = p;
    p = ngx_sprintf(p, "%*s#%ui", scf->info.name.len, scf->info.name.data,
                    scf->number);

    if (block != NULL) {
        p = ngx_tg_limit_append_block_name(p, block);
    }

    limit->key.len = p - limit->key.data;

    if (limit->rate.rate <= 0) {
        return NGX_OK;
    }

    slot = ngx_array_push(&mcf->limits);
    if (slot == NULL) {
        return NGX_ERROR;
    }

    *slot = limit;

    return NGX_OK;
}

ngx_int_t
ngx_tg_server_init_limits(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf)
{
    static ngx_str_t name = ngx_string("toolgate");

    ngx_tg_main_conf_t *mcf;
    ngx_tg_srv_conf_t **server;
    ngx_tg_tool_t *tool;
    ngx_shm_zone_t *zone;
    size_t i;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    scf->number = mcf->servers.nelts;
    server = ngx_array_push(&mcf->servers);

    if (server == NULL
        || ngx_tg_server_add_limit(cf, &scf->limit, scf, NULL) != NGX_OK)
    {
        return NGX_ERROR;
    }

    *server = scf;

    for (i = 0; (tool = ngx_tg_server_get_block(scf, i)) != NULL; i++) {
        if (ngx_tg_server_add_limit(cf, &tool->limit, scf, tool) != NGX_OK) {
            return NGX_ERROR;
        }
    }

    if (mcf->limits.nelts == 0 || mcf->zone != NULL) {
        return NGX_OK;
    }

    zone = ngx_shared_memory_add(cf, &name, NGX_TG_RATE_ZONE_SIZE,
                                 &ngx_stream_toolgate_module);
    if (zone == NULL) {
        return NGX_ERROR;
    }

    zone->init = ngx_tg_rate_zone_init;
    zone->data = mcf;
    mcf->zone = zone;

    return NGX_OK;
}

/* --- limits of a call --- */

/*
 * Returns the account after one more call. 0: the rate is exceeded, and *wait
 * is the time in ms until a call is allowed.
 */
static uint64_t
ngx_tg_limit_charge_account(const ngx_tg_limit_t *limit, uint64_t account,
                            ngx_msec_t *wait)
{
    uint64_t excess, room, now, passed, drained;

    now = ngx_current_msec & NGX_TG_RATE_TIME_MASK;
    passed = now - (account >> NGX_TG_RATE_EXCESS_BITS);
    excess = account & NGX_TG_RATE_EXCESS_MASK;
    room = (uint64_t) limit->rate.burst * NGX_TG_RATE_UNITS_PER_CALL;

    /* Workers' clocks differ: the time must never go backwards. */
    if (passed > NGX_TG_RATE_TIME_MASK / 2) {
        now -= passed;
        passed = 0;
    }

    drained = passed > 86400000
                  ? excess
                  : limit->rate.rate * passed / NGX_TG_RATE_MS_PER_MINUTE;
    excess = excess > drained ? excess - drained : 0;

    if (excess > room) {
        *wait = (ngx_msec_t) ((excess - room) * NGX_TG_RATE_MS_PER_MINUTE
                                  / limit->rate.rate
                              + 1);
        return 0;
    }

    excess += NGX_TG_RATE_UNITS_PER_CALL;

    return now << NGX_TG_RATE_EXCESS_BITS | excess;
}

/* Counts a call. Returns 0, or the time in ms until a call is allowed. */
static ngx_msec_t
ngx_tg_limit_take_rate(const ngx_tg_limit_t *limit)
{
    ngx_tg_rate_node_t *node;
    uint64_t before, after;
    ngx_msec_t wait;

    wait = 0;
    node = limit->node;
    before = __atomic_load_n(&node->account, __ATOMIC_RELAXED);

    do {
        after = ngx_tg_limit_charge_account(limit, before, &wait);

        if (after == 0) {
            return wait;
        }
    } while (!__atomic_compare_exchange_n(&node->account, &before, after, 0,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));

    return 0;
}

/* Takes back a counted call that another limit has refused. */
static void
ngx_tg_limit_refund_rate(const ngx_tg_limit_t *limit)
{
    ngx_tg_rate_node_t *node;
    uint64_t before, excess;

    node = limit->node;
    before = __atomic_load_n(&node->account, __ATOMIC_RELAXED);

    do {
        excess = before & NGX_TG_RATE_EXCESS_MASK;
        excess = ngx_min(excess, NGX_TG_RATE_UNITS_PER_CALL);
    } while (!__atomic_compare_exchange_n(&node->account, &before,
                                          before - excess, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

ngx_uint_t
ngx_tg_tool_get_limits(const ngx_tg_tool_t *tool, const ngx_tg_srv_conf_t *scf,
                       const ngx_tg_limit_t **limits,
                       ngx_tg_limit_scope_t *scopes)
{
    static const char *const names[TG_ENTRY_KINDS] = {
        [TG_ENTRY_TOOL] = "This tool",
        [TG_ENTRY_METHOD] = "This method",
        [TG_ENTRY_PROMPT] = "This prompt",
        [TG_ENTRY_RESOURCE] = "This resource",
        [TG_ENTRY_TEMPLATE] = "This resource",
        [TG_ENTRY_COMPLETION] = "The completions of this argument",
    };
    static const ngx_tg_limit_scope_t own = { NULL, "rate", "concurrency" };
    /* They come with each key that users press, so they have a rate apart. */
    static const ngx_tg_limit_scope_t completion = { NULL, "complete_rate",
                                                     "concurrency" };
    static const ngx_tg_limit_scope_t group = { "The tools of this MCP server",
                                                "rate of its mcp_server",
                                                "concurrency of its "
                                                "mcp_server" };
    static const ngx_tg_limit_scope_t all = { "The tools of this server",
                                              "tool_rate", "tool_concurrency" };
    const ngx_tg_tool_t *block;
    ngx_uint_t n, is_completion;

    is_completion = tool->entry.kind == TG_ENTRY_COMPLETION;

    for (n = 0, block = tool->block; block != NULL;
         block = is_completion ? NULL : block->group)
    {
        scopes[n] = block->is_group ? group : is_completion ? completion : own;

        if (!block->is_group) {
            scopes[n].tools = names[block->entry.kind];
        }

        limits[n++] = &block->limit;
    }

    scopes[n] = all;
    limits[n++] = &scf->limit;

    return n;
}

ngx_int_t
ngx_tg_call_take_rate(ngx_tg_call_t *call, u_char *text, size_t size)
{
    const ngx_tg_limit_t *limits[3], *limit;
    ngx_tg_limit_scope_t scopes[3];
    ngx_tg_call_rule_t rule;
    ngx_msec_t wait;
    ngx_uint_t i, n;

    n = ngx_tg_tool_get_limits(call->tool, call->base->conf, limits, scopes);

    for (i = 0; i < n; i++) {
        limit = limits[i];
        wait = limit->rate.rate > 0 ? ngx_tg_limit_take_rate(limit) : 0;

        if (wait == 0) {
            continue;
        }

        rule = ngx_tg_call_rule_find(tg_str_from_cstr(scopes[i].rate));
        limits[i] = NULL;

        if (!limit->rate.dry_run) {
            break;
        }

        ngx_log_error(NGX_LOG_ERR + (ngx_uint_t) limit->rate.log_level,
                      call->pool->log, 0,
                      "dry run: call of \"%*s\" would fail: busy (%s)",
                      call->entry->name.len, call->entry->name.data,
                      ngx_tg_call_rule_get_name(rule));
    }

    if (i == n) {
        return NGX_OK;
    }

    call->rule = rule;
    call->priv->log_level = NGX_LOG_ERR + (ngx_uint_t) limit->rate.log_level;

    (void) ngx_snprintf(text, size,
                        "%s may be called no more often than %V (%s %V, "
                        "burst=%L); call again in %M.%03M s.%Z",
                        scopes[i].tools, &limit->rate_text, scopes[i].rate,
                        &limit->rate_text, limit->rate.burst, wait / 1000,
                        wait % 1000);

    while (i-- > 0) {
        if (limits[i] != NULL && limits[i]->rate.rate > 0) {
            ngx_tg_limit_refund_rate(limits[i]);
        }
    }

    return NGX_BUSY;
}
