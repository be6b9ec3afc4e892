/*
 * `prompt`, `resource` and `resource_template`, and the directives that
 * describe an entry or the server to clients, but do not answer calls.
 */
#include "nginx/config/ngx_tg_ask.h"
#include "nginx/config/ngx_tg_listing.h"

#include "base/tg_utf8.h"
#include "catalog/tg_mime_type.h"
#include "nginx/config/ngx_tg_spec.h"

/* Longest `ttl` in ms: a year. */
#define NGX_TG_TTL_MAX 31536000000

/* --- JSON that directives add to --- */

ngx_int_t
ngx_tg_conf_append_json(ngx_conf_t *cf, tg_str_t *all, const char *brackets,
                        const tg_buf_t *part)
{
    u_char *p, *end;

    p = tg_buf_has_failed(part)
            ? NULL
            : ngx_pnalloc(cf->pool, all->len + part->len + 2);
    if (p == NULL) {
        return NGX_ERROR;
    }

    end = ngx_sprintf(p, "%*s%c%*s%c", all->data != NULL ? all->len - 1 : 0,
                      all->data, all->data != NULL ? ',' : brackets[0],
                      part->len, part->data, brackets[1]);
    *all = tg_str((char *) p, (size_t) (end - p));

    return NGX_OK;
}

char *
ngx_tg_conf_add_json_member(ngx_conf_t *cf, ngx_command_t *cmd, tg_str_t *all,
                            tg_str_t key, tg_str_t json)
{
    tg_str_t other;
    ngx_int_t rc;
    tg_buf_t part;

    if (all->data != NULL && tg_json_get_member(*all, key, &other) == TG_OK) {
        return ngx_tg_conf_error(cf, "duplicate \"%V %*s\"; declare it once",
                                 &cmd->name, key.len, key.data);
    }

    tg_buf_init(&part, tg_alloc_libc());
    tg_json_write_string(&part, key);
    tg_buf_append_char(&part, ':');
    tg_buf_append_str(&part, json);
    rc = ngx_tg_conf_append_json(cf, all, "{}", &part);
    tg_buf_deinit(&part);

    return ngx_tg_conf_result(rc);
}

/* --- meta --- */

/*
 * Checks a key of `_meta`: `NAME` or `PREFIX/NAME`, where the prefix is dotted
 * labels (MCP, "_meta").
 */
static const char *
ngx_tg_meta_check_key(tg_str_t key)
{
    tg_str_t prefix, label;
    size_t i, slash, len;

    slash = tg_str_find_char(key, "/");
    prefix = slash != key.len ? tg_str(key.data, slash) : TG_STR("");

    if (key.len == 0 || slash == 0 || slash + 1 == key.len
        || !tg_str_is_word(prefix, "-.")
        || !tg_str_is_word(slash != key.len ? tg_str_skip(key, slash + 1) : key,
                           "-_."))
    {
        return "write NAME or PREFIX/NAME, such as \"example.com/team\", of "
               "letters, digits, \"-\", \"_\" and \".\"";
    }

    for (i = 0; prefix.len != 0; i++) {
        len = tg_str_find_char(prefix, ".");
        label = tg_str(prefix.data, len);

        if (i == 1
            && (tg_str_eq(label, TG_STR("mcp"))
                || tg_str_eq(label, TG_STR("modelcontextprotocol"))))
        {
            return "MCP reserves this prefix; use the name of your own domain";
        }

        prefix = tg_str_skip(prefix, len < prefix.len ? len + 1 : len);
    }

    return NULL;
}

/* meta KEY JSON */
static char *
ngx_tg_conf_add_meta(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    const char *mistake;
    ngx_str_t *value;
    tg_str_t json;

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_LISTED) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;
    mistake = ngx_tg_meta_check_key(ngx_tg_str_from_ngx(&value[1]));

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "invalid key \"%V\" in \"%V\"; %s",
                                 &value[1], &cmd->name, mistake);
    }

    if (ngx_tg_conf_parse_json(cf, &cmd->name, &value[2], &json) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    return ngx_tg_conf_add_json_member(cf, cmd, &tool->entry.meta,
                                       ngx_tg_str_from_ngx(&value[1]), json);
}

/* --- resources --- */

/* mime TYPE */
static char *
ngx_tg_conf_set_mime(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value;

    if (tool->entry.mime.data != NULL) {
        return "is duplicate";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;
    tool->entry.mime = ngx_tg_str_from_ngx(&value[1]);

    return tg_mime_type_is_valid(tool->entry.mime)
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf,
                                   "invalid type \"%V\" in \"%V\"; write for "
                                   "instance \"text/markdown\"",
                                   &value[1], &cmd->name);
}

/* size SIZE */
static char *
ngx_tg_conf_set_size(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value, text;
    int64_t size;

    if (tool->entry.size.data != NULL) {
        return "is duplicate";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KIND(RESOURCE)) != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    if (ngx_tg_arg_parse(TG_SPEC_SIZE, &value[1], 0, INT64_MAX, &size)
        != NGX_OK) {
        return ngx_tg_conf_error(cf,
                                 "invalid size \"%V\" in \"%V\"; write the "
                                 "bytes of the content, such as \"1500\" or "
                                 "\"20k\"",
                                 &value[1], &cmd->name);
    }

    text.data = ngx_pnalloc(cf->pool, NGX_INT64_LEN);

    if (text.data == NULL) {
        return NGX_CONF_ERROR;
    }

    text.len = (size_t) (ngx_sprintf(text.data, "%L", size) - text.data);
    tool->entry.size = ngx_tg_str_from_ngx(&text);

    return NGX_CONF_OK;
}

/* last_modified TIME */
static char *
ngx_tg_conf_set_last_modified(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    static const char format[] = "%Y-%m-%dT%H:%M:%SZ";
    ngx_tg_tool_t *tool = conf;

    char text[sizeof("2026-11-26T12:00:00Z")];
    ngx_str_t *value;
    struct tm parts;
    tg_buf_t json;
    time_t at;
    char *rv;

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;
    ngx_memzero(&parts, sizeof(parts));
    (void) sscanf((char *) value[1].data, "%4d-%2d-%2dT%2d:%2d:%2dZ",
                  &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                  &parts.tm_min, &parts.tm_sec);
    parts.tm_year -= 1900;
    parts.tm_mon--;
    at = timegm(&parts);

    /* A day that the calendar does not have is another one here. */
    if (gmtime_r(&at, &parts) == NULL
        || strftime(text, sizeof(text), format, &parts) == 0
        || ngx_strcmp(value[1].data, text) != 0)
    {
        return ngx_tg_conf_error(cf,
                                 "invalid time \"%V\" in \"%V\"; write for "
                                 "instance \"2026-11-26T12:00:00Z\"",
                                 &value[1], &cmd->name);
    }

    tg_buf_init(&json, tg_alloc_libc());
    tg_json_write_string(&json, tg_str_from_cstr(text));
    rv = tg_buf_has_failed(&json)
             ? NGX_CONF_ERROR
             : ngx_tg_conf_add_json_member(cf, cmd, &tool->entry.annotations,
                                           TG_STR("lastModified"),
                                           tg_buf_view(&json));
    tg_buf_deinit(&json);

    return rv;
}

/* priority N: from 0 to 1 */
static char *
ngx_tg_conf_set_priority(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value, json;
    double priority;

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;
    json = value[1];
    priority = tg_json_validate(ngx_tg_str_from_ngx(&json), NULL) == TG_OK
                       && (json.data[0] == '-'
                           || tg_is_digit((char) *json.data))
                   ? strtod((char *) json.data, NULL)
                   : -1;

    if (!(priority >= 0 && priority <= 1)) {
        return ngx_tg_conf_error(cf,
                                 "invalid number \"%V\" in \"%V\"; write a "
                                 "number from 0 (least important) to 1, such "
                                 "as \"0.5\"",
                                 &value[1], &cmd->name);
    }

    return ngx_tg_conf_add_json_member(cf, cmd, &tool->entry.annotations,
                                       TG_STR("priority"),
                                       ngx_tg_str_from_ngx(&json));
}

/* audience user|assistant ... */
static char *
ngx_tg_conf_set_audience(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value;
    ngx_uint_t i;
    tg_buf_t list;
    char *rv;

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        if ((ngx_strcmp(value[i].data, "user") != 0
             && ngx_strcmp(value[i].data, "assistant") != 0)
            || (i == 2 && ngx_strcmp(value[1].data, value[2].data) == 0))
        {
            return ngx_tg_conf_error(cf,
                                     "invalid value \"%V\" in \"%V\"; write "
                                     "\"user\", \"assistant\" or both",
                                     &value[i], &cmd->name);
        }
    }

    tg_buf_init(&list, tg_alloc_libc());
    tg_buf_printf(&list, "[\"%s\"", (char *) value[1].data);

    if (i == 3) {
        tg_buf_printf(&list, ",\"%s\"", (char *) value[2].data);
    }

    tg_buf_append_char(&list, ']');
    rv = tg_buf_has_failed(&list)
             ? NGX_CONF_ERROR
             : ngx_tg_conf_add_json_member(cf, cmd, &tool->entry.annotations,
                                           TG_STR("audience"),
                                           tg_buf_view(&list));
    tg_buf_deinit(&list);

    return rv;
}

/* Parses TIME [public]. */
static char *
ngx_tg_conf_parse_ttl(ngx_conf_t *cf, ngx_command_t *cmd, int64_t *ttl_ms,
                      int *is_public)
{
    ngx_str_t *value;

    value = cf->args->elts;
    *is_public = cf->args->nelts == 3;

    if (ngx_tg_arg_parse(TG_SPEC_TIME, &value[1], 0, NGX_TG_TTL_MAX, ttl_ms)
            != NGX_OK
        || (*is_public && ngx_strcmp(value[2].data, "public") != 0))
    {
        return ngx_tg_conf_error(cf,
                                 "invalid \"%V\" in \"%V\"; write a time of at "
                                 "most a year, such as \"10m\", optionally "
                                 "followed by \"public\"",
                                 &value[cf->args->nelts - 1], &cmd->name);
    }

    return NGX_CONF_OK;
}

/* ttl TIME [public] */
static char *
ngx_tg_conf_set_ttl(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    int is_public;
    char *rv;

    if (tool->has_ttl) {
        return "is duplicate";
    }

    tool->has_ttl = 1;

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    rv = ngx_tg_conf_parse_ttl(cf, cmd, &tool->entry.ttl_ms, &is_public);
    tool->entry.is_public = is_public != 0;

    return rv;
}

/* tool_list_ttl TIME [public] */
static char *
ngx_tg_conf_set_list_ttl(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    if (scf->has_list_ttl) {
        return "is duplicate";
    }

    scf->has_list_ttl = 1;

    return ngx_tg_conf_parse_ttl(cf, cmd, &scf->info.list_ttl_ms,
                                 &scf->info.is_list_public);
}

/* name TEXT */
static char *
ngx_tg_conf_set_name(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    return ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_READ) == NGX_OK
               ? ngx_tg_conf_set_text(cf, cmd, conf)
               : NGX_CONF_ERROR;
}

/* tool_server_website URI */
static char *
ngx_tg_conf_set_website(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    tg_str_t uri;
    char *rv;

    rv = ngx_tg_conf_set_text(cf, cmd, conf);

    if (rv != NGX_CONF_OK) {
        return rv;
    }

    uri = scf->info.website;

    return (tg_str_has_prefix(uri, "https://")
            || tg_str_has_prefix(uri, "http://"))
                   && tg_uri_check(uri) == NULL
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf,
                                   "invalid \"%*s\" in \"%V\"; write an "
                                   "address that begins with \"https://\"",
                                   uri.len, uri.data, &cmd->name);
}

/* Configuration and offset of the field that a directive sets. */
#define ngx_tg_server_field(field)                                             \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_srv_conf_t, field)
#define ngx_tg_tool_field(field)                                               \
    NGX_STREAM_SRV_CONF_OFFSET, offsetof(ngx_tg_tool_t, field)
#define NGX_TG_MAIN_OR_SRV_CONF (NGX_STREAM_MAIN_CONF | NGX_STREAM_SRV_CONF)

const ngx_command_t ngx_tg_listing_commands[] = {

    { ngx_string("prompt"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_conf_read_tool_block, NGX_STREAM_SRV_CONF_OFFSET, TG_ENTRY_PROMPT,
      NULL },

    { ngx_string("resource"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_conf_read_tool_block, NGX_STREAM_SRV_CONF_OFFSET,
      TG_ENTRY_RESOURCE, NULL },

    { ngx_string("resource_template"),
      NGX_STREAM_SRV_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE1,
      ngx_tg_conf_read_tool_block, NGX_STREAM_SRV_CONF_OFFSET,
      TG_ENTRY_TEMPLATE, NULL },

    { ngx_string("tool_list_ttl"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE12,
      ngx_tg_conf_set_list_ttl, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_server_title"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_text, ngx_tg_server_field(info.title), NULL },

    { ngx_string("tool_server_description"),
      NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1, ngx_tg_conf_set_text,
      ngx_tg_server_field(info.description), NULL },

    { ngx_string("tool_server_website"),
      NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE1, ngx_tg_conf_set_website,
      ngx_tg_server_field(info.website), NULL },

    { ngx_string("tool_server_icon"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_icon, ngx_tg_server_field(info.icons), NULL },

    { ngx_string("argument"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_argument, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("name"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_name, ngx_tg_tool_field(entry.label), NULL },

    { ngx_string("mime"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_mime, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("size"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_size, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("last_modified"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_last_modified, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("priority"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_priority, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("audience"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_conf_set_audience, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("ttl"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE12,
      ngx_tg_conf_set_ttl, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("watch"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_watch, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("ask"), NGX_STREAM_TOOL_CONF | NGX_CONF_BLOCK | NGX_CONF_TAKE2,
      ngx_tg_conf_read_ask, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("ask_timeout"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE1,
      ngx_tg_conf_set_ask_timeout, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("tool_state_key"), NGX_TG_MAIN_OR_SRV_CONF | NGX_CONF_TAKE12,
      ngx_tg_conf_set_state_key, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("meta"), NGX_STREAM_TOOL_CONF | NGX_CONF_TAKE2,
      ngx_tg_conf_add_meta, NGX_STREAM_SRV_CONF_OFFSET, 0, NULL },

    { ngx_string("icon"), NGX_STREAM_TOOL_CONF | NGX_CONF_1MORE,
      ngx_tg_conf_add_entry_icon, ngx_tg_tool_field(entry.icons), NULL },

    ngx_null_command
};
