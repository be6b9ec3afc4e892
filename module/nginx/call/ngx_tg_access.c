/*
 * Access rules: `allow` and `deny` by the identity of the client. Rules for
 * users and groups of the machine match clients of Unix sockets only; rules for
 * names and scopes match clients of mcp_pass only.
 */
#include "nginx/call/ngx_tg_call_impl.h"

#include <grp.h>
#include <pwd.h>

typedef enum {
    NGX_TG_ACCESS_ALL,
    NGX_TG_ACCESS_UID,
    NGX_TG_ACCESS_GID,
    NGX_TG_ACCESS_USER,
    NGX_TG_ACCESS_SCOPE
} ngx_tg_access_type_t;

typedef struct {
    ngx_tg_access_type_t type;
    ngx_uint_t is_deny;
    uint32_t id;   /* of UID and GID */
    tg_str_t text; /* name of USER; scopes of SCOPE, all of which are needed */
} ngx_tg_access_rule_t;

/* Checks for rules about users and groups of this machine. */
static ngx_uint_t
ngx_tg_access_type_is_local(ngx_tg_access_type_t type)
{
    return type == NGX_TG_ACCESS_UID || type == NGX_TG_ACCESS_GID;
}

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

/* Checks for OAuth's scopes: words of visible ASCII, one space between them. */
static ngx_uint_t
ngx_tg_scopes_are_valid(tg_str_t scopes)
{
    unsigned char c;
    size_t i;

    for (i = 0; i < scopes.len; i++) {
        c = (unsigned char) scopes.data[i];

        if (c < ' ' || c > '~' || c == '"' || c == '\\'
            || (c == ' '
                && (i == 0 || i + 1 == scopes.len
                    || scopes.data[i - 1] == ' ')))
        {
            return 0;
        }
    }

    return scopes.len != 0;
}

static ngx_int_t
ngx_tg_access_rule_parse(ngx_tg_access_rule_t *rule, ngx_str_t *word)
{
    static const struct {
        const char *prefix;
        ngx_tg_access_type_t type;
    } forms[] = {
        { "uid=", NGX_TG_ACCESS_UID },
        { "gid=", NGX_TG_ACCESS_GID },
        { "user=", NGX_TG_ACCESS_USER },
        { "scope=", NGX_TG_ACCESS_SCOPE },
    };
    tg_str_t text;
    ngx_uint_t i;

    text = ngx_tg_str_from_ngx(word);

    if (tg_str_eq(text, TG_STR("all"))) {
        rule->type = NGX_TG_ACCESS_ALL;
        return NGX_OK;
    }

    for (i = 0; !tg_str_has_prefix(text, forms[i].prefix); i++) {
        if (i + 1 == sizeof(forms) / sizeof(forms[0])) {
            return NGX_DECLINED;
        }
    }

    rule->type = forms[i].type;
    rule->text = tg_str_skip(text, strlen(forms[i].prefix));

    switch (rule->type) {
    case NGX_TG_ACCESS_USER:
        return rule->text.len != 0 ? NGX_OK : NGX_DECLINED;
    case NGX_TG_ACCESS_SCOPE:
        return ngx_tg_scopes_are_valid(rule->text) ? NGX_OK : NGX_DECLINED;
    default:
        return ngx_tg_parse_user_or_group((const u_char *) rule->text.data,
                                          rule->type == NGX_TG_ACCESS_GID,
                                          &rule->id);
    }
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
                "or a name that exists, or, for clients of \"mcp_pass\", "
                "\"user=NAME\" or \"scope=SCOPE\"",
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
            about |= ngx_tg_access_type_is_local(rule[i].type)
                         ? NGX_TG_RULES_NAME_USERS
                         : 0;
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

/* --- checks --- */

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

/* Takes the first of the scopes off the list. Returns 0 if there is none. */
static ngx_uint_t
ngx_tg_scopes_next(tg_str_t *scopes, tg_str_t *scope)
{
    while (scopes->len != 0 && scopes->data[0] == ' ') {
        *scopes = tg_str_skip(*scopes, 1);
    }

    *scope = tg_str(scopes->data, tg_str_find_char(*scopes, " "));
    *scopes = tg_str_skip(*scopes, scope->len);

    return scope->len != 0;
}

/* Checks whether all scopes of `needed` are among those of `granted`. */
static ngx_uint_t
ngx_tg_scopes_include(tg_str_t granted, tg_str_t needed)
{
    tg_str_t rest, scope, other;

    while (ngx_tg_scopes_next(&needed, &scope)) {
        rest = granted;
        other = TG_STR_NONE;

        while (!tg_str_eq(other, scope)) {
            if (!ngx_tg_scopes_next(&rest, &other)) {
                return 0;
            }
        }
    }

    return 1;
}

static ngx_uint_t
ngx_tg_access_rule_matches(const ngx_tg_access_rule_t *rule,
                           const ngx_tg_client_t *client)
{
    switch (rule->type) {
    case NGX_TG_ACCESS_ALL:
        return 1;
    case NGX_TG_ACCESS_UID:
        return client->cred != NULL && client->cred->uid == rule->id;
    case NGX_TG_ACCESS_GID:
        return client->cred != NULL
               && ngx_tg_peer_cred_has_group(client->cred, rule->id);
    case NGX_TG_ACCESS_USER:
        return client->http != NULL
               && tg_str_eq(client->http->user, rule->text);
    default:
        return client->http != NULL
               && ngx_tg_scopes_include(client->http->scopes, rule->text);
    }
}

/*
 * Applies the first match. NGX_ABORT: denied; NGX_DECLINED: no rule matches.
 * needed (or NULL) becomes the scopes of the first rule that would have allowed
 * access before the match, unless it is set already.
 */
static ngx_int_t
ngx_tg_access_rules_match(const ngx_array_t *rules,
                          const ngx_tg_client_t *client, tg_str_t *needed)
{
    const ngx_tg_access_rule_t *rule;
    ngx_uint_t i;

    for (i = 0; rules != NULL && i < rules->nelts; i++) {
        rule = rules->elts;
        rule += i;

        /* Even a rule that allows a user denies an unknown client. */
        if (ngx_tg_access_type_is_local(rule->type) && client->cred == NULL
            && client->http == NULL)
        {
            return NGX_ABORT;
        }

        if (ngx_tg_access_rule_matches(rule, client)) {
            return rule->is_deny ? NGX_ABORT : NGX_OK;
        }

        if (needed != NULL && needed->len == 0 && !rule->is_deny
            && rule->type == NGX_TG_ACCESS_SCOPE)
        {
            *needed = rule->text;
        }
    }

    return NGX_DECLINED;
}

/* Checks an entry's rules, see ngx_tg_access_rules_match(). */
static ngx_uint_t
ngx_tg_entry_check_access(const ngx_tg_srv_conf_t *scf,
                          const tg_catalog_entry_t *entry,
                          const ngx_tg_client_t *client, tg_str_t *needed)
{
    const ngx_tg_tool_t *block;
    ngx_int_t rc;

    rc = NGX_DECLINED;

    for (block = ((ngx_tg_tool_t *) entry->host)->block;
         rc == NGX_DECLINED && block != NULL; block = block->group)
    {
        rc = ngx_tg_access_rules_match(block->rules, client, needed);
    }

    if (rc == NGX_DECLINED) {
        rc = ngx_tg_access_rules_match(scf->rules, client, needed);
    }

    return rc != NGX_ABORT;
}

ngx_uint_t
ngx_tg_entry_is_allowed(const ngx_tg_srv_conf_t *scf,
                        const tg_catalog_entry_t *entry,
                        const ngx_tg_client_t *client)
{
    return ngx_tg_entry_check_access(scf, entry, client, NULL);
}

tg_str_t
ngx_tg_session_base_get_needed_scopes(ngx_tg_session_base_t *base,
                                      const tg_catalog_entry_t *entry)
{
    ngx_tg_client_t client;
    tg_str_t needed;

    needed = TG_STR_NONE;
    client = ngx_tg_session_base_get_client(base);

    return client.http != NULL
                   && !ngx_tg_entry_check_access(base->conf, entry, &client,
                                                 &needed)
               ? needed
               : TG_STR_NONE;
}

int
ngx_tg_session_base_can_see(void *host, const tg_catalog_entry_t *entry)
{
    ngx_tg_session_base_t *base = host;

    const ngx_tg_tool_t *block;
    ngx_tg_client_t client;

    block = ((ngx_tg_tool_t *) entry->host)->block;

    /* Read the client's credentials only if some rule needs them. */
    if (block->rules == NULL && base->conf->rules == NULL
        && (block->group == NULL || block->group->rules == NULL))
    {
        return 1;
    }

    client = ngx_tg_session_base_get_client(base);

    return (int) ngx_tg_entry_is_allowed(base->conf, entry, &client);
}

/* Checks rules that are not about an entry; NULL allows all clients. */
static ngx_uint_t
ngx_tg_session_base_is_allowed(ngx_tg_session_base_t *base,
                               const ngx_array_t *rules)
{
    ngx_tg_client_t client;

    if (rules == NULL) {
        return 1;
    }

    client = ngx_tg_session_base_get_client(base);

    return ngx_tg_access_rules_match(rules, &client, NULL) != NGX_ABORT;
}

ngx_uint_t
ngx_tg_session_base_can_be_notified(ngx_tg_session_base_t *base)
{
    return ngx_tg_session_base_is_allowed(base, base->conf->rules);
}

ngx_uint_t
ngx_tg_session_base_can_see_all(ngx_tg_session_base_t *base)
{
    return ngx_tg_session_base_is_allowed(base, base->conf->see_all_rules);
}
