/*
 * Setters for directives of a server that NGINX's slot functions cannot handle.
 */
#include "nginx/config/ngx_tg_spec.h"

#include <grp.h>
#include <pwd.h>

/* Sets a field to the index of the argument among the words in cmd->post. */
char *
ngx_tg_conf_set_choice(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    const char *const *words = cmd->post;

    u_char list[64];
    ngx_uint_t *field, i;
    ngx_str_t *value, text;

    field = (ngx_uint_t *) (void *) ((char *) conf + cmd->offset);

    if (*field != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 0; words[i] != NULL; i++) {
        if (ngx_strcmp(value[1].data, words[i]) == 0) {
            *field = i;
            return NGX_CONF_OK;
        }
    }

    text = ngx_tg_conf_join_words(words, list, sizeof(list));

    return ngx_tg_conf_error(cf,
                             "invalid value \"%V\" in \"%V\"; write one of %V",
                             &value[1], &cmd->name, &text);
}

/* tool_idle_timeout TIME|off [frame=TIME] */
char *
ngx_tg_conf_set_idle_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_str_t *value, time;
    ngx_msec_t *field;
    ngx_uint_t i;
    int64_t ms;

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        time = value[i];
        field = ngx_tg_arg_has_name(&value[i], "frame=", &time)
                    ? &scf->frame_timeout
                    : &scf->idle_timeout;

        if (*field != NGX_CONF_UNSET_MSEC) {
            return "is duplicate";
        }

        if (ngx_strcmp(value[i].data, "off") == 0) {
            ms = 0;
        } else if (ngx_tg_arg_parse(TG_SPEC_TIME, &time, 1, INT64_MAX, &ms)
                   != NGX_OK) {
            return ngx_tg_conf_error(
                cf,
                "invalid time \"%V\" in \"%V\"; write for "
                "instance \"10m\", \"off\" or \"frame=30s\"",
                &value[i], &cmd->name);
        }

        *field = (ngx_msec_t) ms;
    }

    return NGX_CONF_OK;
}

char *
ngx_tg_conf_set_socket_mode(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_str_t *value;
    char *mode;

    if (scf->socket_mode != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    mode = (char *) value[1].data;
    scf->socket_mode = strtoul(mode, NULL, 8);

    if (strspn(mode, "01234567") != value[1].len || value[1].len < 3
        || value[1].len > 4 || scf->socket_mode > 0777)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid mode \"%V\" in \"%V\"; write an "
                                 "octal number such as 0600 or 0660",
                                 &value[1], &cmd->name);
    }

    return NGX_CONF_OK;
}

/* tool_socket_owner USER[:GROUP] */
char *
ngx_tg_conf_set_socket_owner(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    struct passwd *pwd;
    ngx_str_t *value;
    u_char *group;

    if (scf->has_owner != NGX_CONF_UNSET_UINT) {
        return "is duplicate";
    }

    value = cf->args->elts;
    group = ngx_strlchr(value[1].data, value[1].data + value[1].len, ':');

    if (group != NULL) {
        *group++ = '\0';
    }

    if (ngx_tg_parse_user_or_group(value[1].data, 0, &scf->socket_uid)
        != NGX_OK) {
        return ngx_tg_conf_error(cf,
                                 "unknown user \"%s\" in \"%V\"; write USER or "
                                 "USER:GROUP, as names or numbers",
                                 value[1].data, &cmd->name);
    }

    scf->has_owner = 1;

    if (group != NULL) {
        if (ngx_tg_parse_user_or_group(group, 1, &scf->socket_gid) == NGX_OK) {
            return NGX_CONF_OK;
        }

        return ngx_tg_conf_error(cf,
                                 "unknown group \"%s\" in \"%V\"; write USER "
                                 "or USER:GROUP, as names or numbers",
                                 group, &cmd->name);
    }

    pwd = getpwuid(scf->socket_uid);

    if (pwd == NULL) {
        return ngx_tg_conf_error(
            cf,
            "user \"%V\" of \"%V\" has no name, so its group is not known; "
            "write %V:GROUP",
            &value[1], &cmd->name, &value[1]);
    }

    scf->socket_gid = pwd->pw_gid;

    return NGX_CONF_OK;
}

/* Sets an absolute path; cmd->post is its ngx_tg_path_check_pt. */
char *
ngx_tg_conf_set_path(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_path_check_pt mistake_of;
    ngx_str_t *field, *value;
    const char *mistake;

    field = (ngx_str_t *) (void *) ((char *) conf + cmd->offset);

    if (field->data != NULL) {
        return "is duplicate";
    }

    value = cf->args->elts;
    *field = value[1];

    if (field->len == 0) {
        return "needs a path";
    }

    if (ngx_conf_full_name(cf->cycle, field, 0) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    mistake_of = (ngx_tg_path_check_pt) cmd->post;
    mistake = mistake_of(field);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "\"%V\" of \"%V\" %s", field, &cmd->name,
                                 mistake);
    }

    return NGX_CONF_OK;
}

void
ngx_tg_server_check_list_size(const ngx_tg_srv_conf_t *scf,
                              const tg_catalog_t *before, ngx_log_t *log)
{
    const tg_dialect_row_t *row;
    ngx_uint_t dialect;
    size_t size;

    for (dialect = TG_DIALECT_AUTO + 1; dialect < TG_DIALECT_COUNT; dialect++) {
        row = tg_dialect_get((tg_dialect_t) dialect);

        if (!row->has_unpaged_list
            || (scf->protocol != TG_DIALECT_AUTO && scf->protocol != dialect))
        {
            continue;
        }

        size = tg_dialect_list_message_size(row, scf->catalog);

        if (size <= row->max_frame
            || (before != NULL
                && tg_dialect_list_message_size(row, before) > row->max_frame))
        {
            continue;
        }

        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "the list of tools has %uz bytes: clients of the "
                      "%s dialect, whose messages have at most %uz, get an "
                      "error instead; shorten the descriptions, or move some "
                      "tools to another server "
                      "in %s:%ui",
                      size, row->name, row->max_frame, scf->file, scf->line);
    }
}
