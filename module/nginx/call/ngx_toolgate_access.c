/*
 * Who may see and call what: `allow` and `deny` by the peer's credentials.
 */
#include "nginx/call/ngx_toolgate_call.h"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

/* More supplementary groups than Linux gives a process. */
#define NGX_TOOLGATE_GROUPS 65536

typedef enum {
    NGX_TOOLGATE_ALL,
    NGX_TOOLGATE_UID,
    NGX_TOOLGATE_GID
} ngx_toolgate_access_kind_t;

typedef struct {
    ngx_toolgate_access_kind_t kind;
    ngx_uint_t is_deny;
    uint32_t id;
} ngx_toolgate_access_rule_t;

/* --- directives --- */

ngx_int_t
ngx_toolgate_id(const u_char *text, ngx_uint_t is_group, uint32_t *id)
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
ngx_toolgate_rule_parse(ngx_toolgate_access_rule_t *rule, ngx_str_t *text)
{
    if (ngx_strcmp(text->data, "all") == 0) {
        rule->kind = NGX_TOOLGATE_ALL;
        return NGX_OK;
    }

    if (ngx_strncmp(text->data, "uid=", 4) == 0) {
        rule->kind = NGX_TOOLGATE_UID;
    } else if (ngx_strncmp(text->data, "gid=", 4) == 0) {
        rule->kind = NGX_TOOLGATE_GID;
    } else {
        return NGX_DECLINED;
    }

    return ngx_toolgate_id(text->data + 4, rule->kind == NGX_TOOLGATE_GID,
                           &rule->id);
}

/* [tool_]allow and [tool_]deny; each argument is a rule of its own. */
char *
ngx_toolgate_access(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_toolgate_access_rule_t *rule;
    ngx_array_t **rules;
    ngx_str_t *value;
    ngx_uint_t i;

    rules = (ngx_array_t **) (void *) ((char *) conf + cmd->offset);

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        rule = ngx_toolgate_push(cf, rules, sizeof(ngx_toolgate_access_rule_t));
        if (rule == NULL) {
            return NGX_CONF_ERROR;
        }

        rule->is_deny = cmd->post != NULL;

        if (ngx_toolgate_rule_parse(rule, &value[i]) != NGX_OK) {
            return ngx_toolgate_refuse(
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
ngx_toolgate_rules_about(const ngx_array_t *rules)
{
    const ngx_toolgate_access_rule_t *rule;
    ngx_uint_t i, about;

    about = 0;
    rule = rules != NULL ? rules->elts : NULL;

    for (i = 0; rule != NULL && i < rules->nelts; i++) {
        about |= rule[i].is_deny ? NGX_TOOLGATE_DENIES : NGX_TOOLGATE_ALLOWS;

        if (rule[i].kind != NGX_TOOLGATE_ALL) {
            about |= NGX_TOOLGATE_ABOUT_USERS;
            about |= rule[i].is_deny ? 0 : NGX_TOOLGATE_ALLOWS_SOME;
        }
    }

    return about;
}

void
ngx_toolgate_owner(const ngx_cycle_t *cycle, const ngx_toolgate_srv_conf_t *scf,
                   uid_t *uid, gid_t *gid)
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
        /* Whoever wrote the config is whom its tools are for. */
        *uid = fi.st_uid;
        *gid = fi.st_gid;
    }
}

/*
 * Those of tool_status_allow; else root and who owns the sockets, as nobody
 * else can be meant by default.  Nobody else: the server's own rules, which
 * are about tools, do not decide.
 */
ngx_array_t *
ngx_toolgate_status_rules(ngx_conf_t *cf, const ngx_toolgate_srv_conf_t *scf,
                          const ngx_array_t *others)
{
    uint32_t owners[2];
    ngx_toolgate_access_rule_t *rule, *allowed;
    ngx_array_t *rules;
    ngx_uint_t i, n;
    uid_t uid;
    gid_t gid;

    ngx_toolgate_owner(cf->cycle, scf, &uid, &gid);
    owners[0] = 0;
    owners[1] = uid;
    rules = NULL;
    allowed = scf->status_rules != NULL ? scf->status_rules->elts : NULL;
    n = allowed != NULL ? scf->status_rules->nelts : 2;

    for (i = 0; others != NULL && i < others->nelts; i++) {
        rule = ngx_toolgate_push(cf, &rules, sizeof(*rule));

        if (rule == NULL) {
            return NULL;
        }

        *rule = ((ngx_toolgate_access_rule_t *) others->elts)[i];
    }

    for (i = 0; i <= n; i++) {
        rule = ngx_toolgate_push(cf, &rules, sizeof(*rule));

        if (rule == NULL) {
            return NULL;
        }

        if (i == n) {
            rule->kind = NGX_TOOLGATE_ALL;
            rule->is_deny = 1;
        } else if (allowed != NULL) {
            *rule = allowed[i];
        } else {
            rule->kind = NGX_TOOLGATE_UID;
            rule->id = owners[i];
        }
    }

    return rules;
}

/* --- the peer --- */

static void
ngx_toolgate_get_groups(ngx_toolgate_front_t *front)
{
#ifdef SO_PEERGROUPS
    socklen_t len;
    gid_t *groups;

    len = 0;

    if (getsockopt(front->connection->fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len)
            != -1
        || ngx_socket_errno != ERANGE
        || len > NGX_TOOLGATE_GROUPS * sizeof(gid_t))
    {
        return;
    }

    groups = ngx_palloc(front->connection->pool, len);

    if (groups != NULL
        && getsockopt(front->connection->fd, SOL_SOCKET, SO_PEERGROUPS, groups,
                      &len)
               != -1)
    {
        front->client.groups = groups;
        front->client.ngroups = len / sizeof(gid_t);
    }
#endif
}

ngx_int_t
ngx_toolgate_who(ngx_connection_t *c, ngx_toolgate_client_t *client)
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

const ngx_toolgate_client_t *
ngx_toolgate_client(ngx_toolgate_front_t *front)
{
    if (!front->has_client) {
        if (ngx_toolgate_who(front->connection, &front->client) != NGX_OK) {
            return NULL;
        }

        ngx_toolgate_get_groups(front);
        front->has_client = 1;
    }

    return &front->client;
}

static ngx_uint_t
ngx_toolgate_has_group(const ngx_toolgate_client_t *client, uint32_t gid)
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

/* The first rule that matches decides: NGX_OK, NGX_ABORT; or NGX_DECLINED. */
static ngx_int_t
ngx_toolgate_decide(const ngx_array_t *rules,
                    const ngx_toolgate_client_t *client)
{
    const ngx_toolgate_access_rule_t *rule;
    ngx_uint_t i;

    for (i = 0; rules != NULL && i < rules->nelts; i++) {
        rule = rules->elts;
        rule += i;

        /* Who cannot be told apart is not let in by a rule about persons. */
        if (rule->kind != NGX_TOOLGATE_ALL && client == NULL) {
            return NGX_ABORT;
        }

        if (rule->kind == NGX_TOOLGATE_ALL
            || (rule->kind == NGX_TOOLGATE_UID
                    ? client->uid == rule->id
                    : ngx_toolgate_has_group(client, rule->id)))
        {
            return rule->is_deny ? NGX_ABORT : NGX_OK;
        }
    }

    return NGX_DECLINED;
}

ngx_uint_t
ngx_toolgate_may(const ngx_toolgate_srv_conf_t *scf, const tg_entry_t *entry,
                 const ngx_toolgate_client_t *client)
{
    const ngx_toolgate_tool_t *block;
    ngx_int_t rc;

    rc = NGX_DECLINED;

    for (block = ((ngx_toolgate_tool_t *) entry->host)->block;
         rc == NGX_DECLINED && block != NULL; block = block->group)
    {
        rc = ngx_toolgate_decide(block->rules, client);
    }

    if (rc == NGX_DECLINED) {
        rc = ngx_toolgate_decide(scf->rules, client);
    }

    return rc != NGX_ABORT;
}

int
ngx_toolgate_is_visible(void *host, const tg_entry_t *entry)
{
    ngx_toolgate_front_t *front = host;

    const ngx_toolgate_tool_t *block;

    block = ((ngx_toolgate_tool_t *) entry->host)->block;

    /* Who it is, is asked where it matters. */
    if (block->rules == NULL && front->conf->rules == NULL
        && (block->group == NULL || block->group->rules == NULL))
    {
        return 1;
    }

    return (int) ngx_toolgate_may(front->conf, entry,
                                  ngx_toolgate_client(front));
}

ngx_uint_t
ngx_toolgate_may_hear(ngx_toolgate_front_t *front)
{
    return front->conf->rules == NULL
           || ngx_toolgate_decide(front->conf->rules,
                                  ngx_toolgate_client(front))
                  != NGX_ABORT;
}

ngx_uint_t
ngx_toolgate_sees_all(ngx_toolgate_front_t *front)
{
    return front->conf->all_rules == NULL
           || ngx_toolgate_decide(front->conf->all_rules,
                                  ngx_toolgate_client(front))
                  != NGX_ABORT;
}
