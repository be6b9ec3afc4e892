/* Access rules: `allow` and `deny` by the credentials of the client. */
#include "nginx/call/ngx_tg_call_impl.h"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

/* Maximum number of supplementary groups; Linux allows no more. */
#define NGX_TG_PEER_GROUPS_MAX 65536

typedef enum {
    NGX_TG_ACCESS_ALL,
    NGX_TG_ACCESS_UID,
    NGX_TG_ACCESS_GID
} ngx_tg_access_type_t;

typedef struct {
    ngx_tg_access_type_t type;
    ngx_uint_t is_deny;
    uint32_t id;
} ngx_tg_access_rule_t;

/* --- directives --- */

ngx_int_t
ngx_tg_parse_user_or_group(const u_char *text, ngx_uint_t is_group,
                           uint32_t *id)
{
    struct passwd *pwd;
    struct group *grp;
    ngx_int_t number;

    number = ngx_atoi((u_char *) text, ngx_strlen(text));

    if (number != NGX_ERROR && number < (ngx_int_t) UINT32_MAX) {
        *id = (uint32_t) number;
        return NGX_OK;
    }

    pwd = is_group ? NULL : getpwnam((const char *) text);
    grp = is_group ? getgrnam((const char *) text) : NULL;

    if (pwd == NULL && grp == NULL) {
        return NGX_DECLINED;
    }

    *id = pwd != NULL ? pwd->pw_uid : grp->gr_gid;

    return NGX_OK;
}

static ngx_int_t
ngx_tg_access_rule_parse(ngx_tg_access_rule_t *rule, ngx_str_t *text)
{
    if (ngx_strcmp(text->data, "all") == 0) {
        rule->type = NGX_TG_ACCESS_ALL;
        return NGX_OK;
    }

    if (ngx_strncmp(text->data, "uid=", 4) == 0) {
        rule->type = NGX_TG_ACCESS_UID;
    } else if (ngx_strncmp(text->data, "gid=", 4) == 0) {
        rule->type = NGX_TG_ACCESS_GID;
    } else {
        return NGX_DECLINED;
    }

    return ngx_tg_parse_user_or_group(text->data + 4,
                                      rule->type == NGX_TG_ACCESS_GID,
                                      &rule->id);
}

/* Parses [tool_]allow and [tool_]deny; each argument is a rule. */
char *
ngx_tg_conf_add_access_rules(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_access_rule_t *rule;
    ngx_array_t **rules;
    ngx_str_t *value;
    ngx_uint_t i;

    rules = (ngx_array_t **) (void *) ((char *) conf + cmd->offset);

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        rule = ngx_tg_conf_array_push(cf, rules, sizeof(ngx_tg_access_rule_t));
        if (rule == NULL) {
            return NGX_CONF_ERROR;
        }

        rule->is_deny = cmd->post != NULL;

        if (ngx_tg_access_rule_parse(rule, &value[i]) != NGX_OK) {
            return ngx_tg_conf_error(
                cf,
                "invalid rule \"%V\" in \"%V\"; write \"all\", "
                "\"uid=USER\" or \"gid=GROUP\", with a number "
                "or a name that exists",
                &value[i], &cmd->name);
        }
    }

    return NGX_CONF_OK;
}

ngx_uint_t
ngx_tg_access_rules_get_flags(const ngx_array_t *rules)
{
    const ngx_tg_access_rule_t *rule;
    ngx_uint_t i, about;

    about = 0;
    rule = rules != NULL ? rules->elts : NULL;

    for (i = 0; rule != NULL && i < rules->nelts; i++) {
        about |= rule[i].is_deny ? NGX_TG_RULES_DENY : NGX_TG_RULES_ALLOW;

        if (rule[i].type != NGX_TG_ACCESS_ALL) {
            about |= NGX_TG_RULES_NAME_USERS;
            about |= rule[i].is_deny ? 0 : NGX_TG_RULES_ALLOW_SOME;
        }
    }

    return about;
}

void
ngx_tg_server_get_socket_owner(const ngx_cycle_t *cycle,
                               const ngx_tg_srv_conf_t *scf, uid_t *uid,
                               gid_t *gid)
{
    ngx_file_info_t fi;

    *uid = geteuid();
    *gid = getegid();

    if (scf->has_owner) {
        *uid = scf->socket_uid;
        *gid = scf->socket_gid;

    } else if (geteuid() == 0
               && ngx_file_info(cycle->conf_file.data, &fi) != NGX_FILE_ERROR)
    {
        /* The tools are for the user who wrote the config. */
        *uid = fi.st_uid;
        *gid = fi.st_gid;
    }
}

/*
 * Returns the rules of tool_status_allow. By default, only root and the owner
 * of the sockets have access; the server's own rules are about its tools.
 */
ngx_array_t *
ngx_tg_conf_make_status_rules(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                              const ngx_array_t *others)
{
    uint32_t owners[2];
    ngx_tg_access_rule_t *rule, *allowed;
    ngx_array_t *rules;
    ngx_uint_t i, n;
    uid_t uid;
    gid_t gid;

    ngx_tg_server_get_socket_owner(cf->cycle, scf, &uid, &gid);
    owners[0] = 0;
    owners[1] = uid;
    rules = NULL;
    allowed = scf->status_rules != NULL ? scf->status_rules->elts : NULL;
    n = allowed != NULL ? scf->status_rules->nelts : 2;

    for (i = 0; others != NULL && i < others->nelts; i++) {
        rule = ngx_tg_conf_array_push(cf, &rules, sizeof(*rule));

        if (rule == NULL) {
            return NULL;
        }

        *rule = ((ngx_tg_access_rule_t *) others->elts)[i];
    }

    for (i = 0; i <= n; i++) {
        rule = ngx_tg_conf_array_push(cf, &rules, sizeof(*rule));

        if (rule == NULL) {
            return NULL;
        }

        if (i == n) {
            rule->type = NGX_TG_ACCESS_ALL;
            rule->is_deny = 1;
        } else if (allowed != NULL) {
            *rule = allowed[i];
        } else {
            rule->type = NGX_TG_ACCESS_UID;
            rule->id = owners[i];
        }
    }

    return rules;
}

/* --- credentials of the client --- */

static void
ngx_tg_session_base_read_groups(ngx_tg_session_base_t *base)
{
#ifdef SO_PEERGROUPS
    socklen_t len;
    gid_t *groups;

    len = 0;

    if (getsockopt(base->connection->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len)
            != -1
        || ngx_socket_errno != ERANGE
        || len > NGX_TG_PEER_GROUPS_MAX * sizeof(gid_t))
    {
        return;
    }

    groups = ngx_palloc(base->connection->pool, len);

    if (groups != NULL
        && getsockopt(base->connection->fd, SOL_SOCKET, SO_PEERGROUPS, groups,
                      &len)
               != -1)
    {
        base->client.groups = groups;
        base->client.ngroups = len / sizeof(gid_t);
    }
#endif
}

ngx_int_t
ngx_tg_connection_get_peer_cred(ngx_connection_t *c, ngx_tg_peer_cred_t *client)
{
    struct ucred cred;
    socklen_t len;

    len = sizeof(cred);

    if (c->sockaddr->sa_family != AF_UNIX
        || getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == -1)
    {
        return NGX_DECLINED;
    }

    client->pid = cred.pid;
    client->uid = cred.uid;
    client->gid = cred.gid;

    return NGX_OK;
}

const ngx_tg_peer_cred_t *
ngx_tg_session_base_get_peer_cred(ngx_tg_session_base_t *base)
{
    if (!base->has_client) {
        if (ngx_tg_connection_get_peer_cred(base->connection, &base->client)
            != NGX_OK) {
            return NULL;
        }

        ngx_tg_session_base_read_groups(base);
        base->has_client = 1;
    }

    return &base->client;
}

static ngx_uint_t
ngx_tg_peer_cred_has_group(const ngx_tg_peer_cred_t *client, uint32_t gid)
{
    ngx_uint_t i;

    if (client->gid == gid) {
        return 1;
    }

    for (i = 0; i < client->ngroups; i++) {
        if (client->groups[i] == gid) {
            return 1;
        }
    }

    return 0;
}

/* Applies the first match. NGX_ABORT: denied; NGX_DECLINED: no rule matches. */
static ngx_int_t
ngx_tg_access_rules_match(const ngx_array_t *rules,
                          const ngx_tg_peer_cred_t *client)
{
    const ngx_tg_access_rule_t *rule;
    ngx_uint_t i;

    for (i = 0; rules != NULL && i < rules->nelts; i++) {
        rule = rules->elts;
        rule += i;

        /* Even a rule that allows a user denies an unknown client. */
        if (rule->type != NGX_TG_ACCESS_ALL && client == NULL) {
            return NGX_ABORT;
        }

        if (rule->type == NGX_TG_ACCESS_ALL
            || (rule->type == NGX_TG_ACCESS_UID
                    ? client->uid == rule->id
                    : ngx_tg_peer_cred_has_group(client, rule->id)))
        {
            return rule->is_deny ? NGX_ABORT : NGX_OK;
        }
    }

    return NGX_DECLINED;
}

ngx_uint_t
ngx_tg_entry_is_allowed(const ngx_tg_srv_conf_t *scf,
                        const tg_catalog_entry_t *entry,
                        const ngx_tg_peer_cred_t *client)
{
    const ngx_tg_tool_t *block;
    ngx_int_t rc;

    rc = NGX_DECLINED;

    for (block = ((ngx_tg_tool_t *) entry->host)->block;
         rc == NGX_DECLINED && block != NULL; block = block->group)
    {
        rc = ngx_tg_access_rules_match(block->rules, client);
    }

    if (rc == NGX_DECLINED) {
        rc = ngx_tg_access_rules_match(scf->rules, client);
    }

    return rc != NGX_ABORT;
}

int
ngx_tg_session_base_can_see(void *host, const tg_catalog_entry_t *entry)
{
    ngx_tg_session_base_t *base = host;

    const ngx_tg_tool_t *block;

    block = ((ngx_tg_tool_t *) entry->host)->block;

    /* Read the client's credentials only if some rule needs them. */
    if (block->rules == NULL && base->conf->rules == NULL
        && (block->group == NULL || block->group->rules == NULL))
    {
        return 1;
    }

    return (int) ngx_tg_entry_is_allowed(
        base->conf, entry, ngx_tg_session_base_get_peer_cred(base));
}

ngx_uint_t
ngx_tg_session_base_can_be_notified(ngx_tg_session_base_t *base)
{
    return base->conf->rules == NULL
           || ngx_tg_access_rules_match(base->conf->rules,
                                        ngx_tg_session_base_get_peer_cred(base))
                  != NGX_ABORT;
}

ngx_uint_t
ngx_tg_session_base_can_see_all(ngx_tg_session_base_t *base)
{
    return base->conf->see_all_rules == NULL
           || ngx_tg_access_rules_match(base->conf->see_all_rules,
                                        ngx_tg_session_base_get_peer_cred(base))
                  != NGX_ABORT;
}
