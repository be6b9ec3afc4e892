/* The block `ask`, and the directives about asking. */
#include "nginx/config/ngx_tg_ask_field.h"

#include "base/tg_utf8.h"
#include "nginx/config/ngx_tg_spec.h"

/* Longest `ask_timeout` in ms: a day. */
#define NGX_TG_ASK_TIMEOUT_MAX 86400000
#define NGX_TG_ASK_NAME_MAX 32
/* Default of `max_tokens`, and its maximum. */
#define NGX_TG_ASK_MAX_TOKENS 1000
#define NGX_TG_ASK_MAX_TOKENS_MAX 1000000

static const char *const ngx_tg_ask_types[] = { "form", "url", "roots",
                                                "sampling", NULL };

/* The block that is being read. */
typedef struct {
    ngx_tg_ask_t *ask;
    ngx_tg_ask_fields_t fields;
    tg_sha256_t sha;
} ngx_tg_ask_block_t;

/* Adds the words of the current directive to a digest. */
static void
ngx_tg_ask_hash_words(ngx_conf_t *cf, tg_sha256_t *sha)
{
    ngx_str_t *value;
    ngx_uint_t i;

    value = cf->args->elts;

    for (i = 0; i < cf->args->nelts; i++) {
        tg_sha256_update(sha, tg_str((char *) value[i].data, value[i].len));
        tg_sha256_update(sha, TG_STR("\0"));
    }

    tg_sha256_update(sha, TG_STR("\n"));
}

/* --- directives of the block --- */

/* Checks whether a text has variables that are not arguments of the call. */
static ngx_uint_t
ngx_tg_ask_is_dependent(const ngx_str_t *text)
{
    tg_template_token_t token;
    tg_str_t rest, path;

    rest = ngx_tg_str_from_ngx(text);

    while (tg_template_next(&rest, &token) == TG_OK) {
        if (token.name.data != NULL
            && tg_variable_get_type(token.name, &path) == TG_VARIABLE_OTHER)
        {
            return 1;
        }
    }

    return 0;
}

static char *
ngx_tg_ask_set_value(ngx_conf_t *cf, ngx_tg_ask_t *ask,
                     ngx_stream_complex_value_t **field)
{
    ngx_str_t *value;

    value = cf->args->elts;

    if (*field != NULL) {
        return ngx_tg_conf_error(cf, "duplicate \"%V\" in \"ask\"", &value[0]);
    }

    if (cf->args->nelts != 2 || value[1].len == 0
        || !tg_utf8_is_valid(ngx_tg_str_from_ngx(&value[1])))
    {
        return ngx_tg_conf_error(cf,
                                 "\"%V\" needs one value, in quotes if it has "
                                 "blanks",
                                 &value[0]);
    }

    ask->is_dependent |= ngx_tg_ask_is_dependent(&value[1]);
    *field = ngx_tg_value_compile_new(cf, &value[1]);

    return *field != NULL ? NGX_CONF_OK : NGX_CONF_ERROR;
}

static char *
ngx_tg_ask_set_schema(ngx_conf_t *cf, ngx_tg_ask_block_t *block)
{
    ngx_str_t *value;
    const char *mistake;

    value = cf->args->elts;

    if (block->ask->schema.data != NULL || cf->args->nelts != 2) {
        return ngx_tg_conf_error(cf, "write one \"schema JSON\" in \"ask\"");
    }

    if (ngx_tg_conf_parse_json(cf, &value[0], &value[1], &block->ask->schema)
        != NGX_OK)
    {
        return NGX_CONF_ERROR;
    }

    mistake = ngx_tg_ask_check_schema(block->ask->schema);

    return mistake == NULL ? NGX_CONF_OK
                           : ngx_tg_conf_error(cf, "\"schema\" %s", mistake);
}

static char *
ngx_tg_ask_set_else(ngx_conf_t *cf, ngx_tg_ask_t *ask)
{
    ngx_str_t *value;

    value = cf->args->elts;
    ask->runs_anyway = cf->args->nelts == 2
                       && ngx_strcmp(value[1].data, "run") == 0;

    if (ask->has_else || cf->args->nelts != 2
        || (!ask->runs_anyway && ngx_strcmp(value[1].data, "refuse") != 0))
    {
        return ngx_tg_conf_error(cf, "write one \"else refuse\" or \"else "
                                     "run\" in \"ask\"");
    }

    ask->has_else = 1;

    return NGX_CONF_OK;
}

static char *
ngx_tg_ask_set_max_tokens(ngx_conf_t *cf, ngx_tg_ask_t *ask)
{
    ngx_str_t *value;

    value = cf->args->elts;

    return ask->max_tokens == 0 && cf->args->nelts == 2
                   && ngx_tg_arg_parse(TG_SPEC_NUMBER, &value[1], 1,
                                       NGX_TG_ASK_MAX_TOKENS_MAX,
                                       &ask->max_tokens)
                          == NGX_OK
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf, "write one \"max_tokens\" with a number "
                                       "from 1 to 1000000");
}

static char *
ngx_tg_ask_read_directive(ngx_conf_t *cf, ngx_command_t *dummy, void *conf)
{
    ngx_tg_ask_block_t *block = conf;

    static const char *const names[] = { "message", "url",    "if",
                                         "field",   "schema", "max_tokens",
                                         "else",    NULL };
    ngx_tg_ask_t *ask;
    ngx_str_t *value;
    int i;

    ask = block->ask;
    value = cf->args->elts;
    ngx_tg_ask_hash_words(cf, &block->sha);

    for (i = 0; names[i] != NULL; i++) {
        if (ngx_strcmp(value[0].data, names[i]) == 0) {
            break;
        }
    }

    switch (i) {
    case 0:
        return ngx_tg_ask_set_value(cf, ask, &ask->message);
    case 1:
        return ngx_tg_ask_set_value(cf, ask, &ask->url);
    case 2:
        return ngx_tg_ask_set_value(cf, ask, &ask->condition);
    case 3:
        return ngx_tg_ask_add_field(cf, &block->fields);
    case 4:
        return ngx_tg_ask_set_schema(cf, block);
    case 5:
        return ngx_tg_ask_set_max_tokens(cf, ask);
    case 6:
        return ngx_tg_ask_set_else(cf, ask);
    default:
        break;
    }

    return ngx_tg_conf_error(cf,
                             "unknown directive \"%V\" in \"ask\"; write "
                             "message, field, schema, url, max_tokens, if or "
                             "else",
                             &value[0]);
}

/* --- the block --- */

/* Sets the schema of a form. Returns NGX_OK, or NGX_ERROR after logging. */
static ngx_int_t
ngx_tg_ask_init_schema(ngx_conf_t *cf, ngx_tg_ask_block_t *block)
{
    static ngx_str_t directive = ngx_string("ask");
    ngx_str_t text;
    tg_buf_t json;
    ngx_int_t rc;

    if (block->ask->schema.data == NULL) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_buf_append_char(&json, '{');
        tg_json_add_cstr(&json, "type", "object");
        tg_json_add_raw(&json, "properties",
                        block->fields.properties.data != NULL
                            ? block->fields.properties
                            : TG_STR("{}"));

        if (block->fields.required.data != NULL) {
            tg_json_add_raw(&json, "required", block->fields.required);
        }

        tg_buf_append_char(&json, '}');
        rc = ngx_tg_conf_copy_buf(cf, &json, &text);
        tg_buf_deinit(&json);

        if (rc != NGX_OK
            || ngx_tg_conf_check_json(cf, &directive, NULL, &text) != NGX_OK)
        {
            return NGX_ERROR;
        }

        block->ask->schema = ngx_tg_str_from_ngx(&text);
    }

    block->ask->compiled = ngx_tg_schema_compile(cf, &directive,
                                                 block->ask->schema, 1);

    return block->ask->compiled != NULL ? NGX_OK : NGX_ERROR;
}

/* Returns NULL, or the error in the directives of a block that was read. */
static const char *
ngx_tg_ask_find_mistake(const ngx_tg_ask_block_t *block)
{
    const ngx_tg_ask_t *ask;

    ask = block->ask;

    if ((ask->message != NULL) != (ask->type != NGX_TG_ASK_ROOTS)) {
        return ask->message == NULL ? "needs a \"message\" for the user"
                                    : "asks for roots, without a \"message\"; "
                                      "remove it";
    }

    if ((ask->url != NULL) != (ask->type == NGX_TG_ASK_URL)) {
        return ask->url == NULL ? "needs the \"url\" that the user opens"
                                : "has a \"url\"; write \"url\" in place of "
                                  "its type, or remove it";
    }

    if (ask->type != NGX_TG_ASK_FORM
        && (block->fields.properties.data != NULL || ask->schema.data != NULL))
    {
        return "is no form, so \"field\" and \"schema\" have no effect; remove "
               "them";
    }

    if (block->fields.properties.data != NULL && ask->schema.data != NULL) {
        return "has \"field\" and \"schema\"; write one of them";
    }

    if (ask->max_tokens != 0 && ask->type != NGX_TG_ASK_SAMPLING) {
        return "is no sampling, so \"max_tokens\" has no effect; remove it";
    }

    return NULL;
}

/* Adds an ask with the name and type of the current directive. */
static ngx_tg_ask_t *
ngx_tg_tool_add_ask(ngx_conf_t *cf, ngx_tg_tool_t *tool)
{
    const ngx_tg_ask_t *other;
    ngx_tg_ask_t *ask;
    ngx_str_t *value;
    tg_str_t name;
    ngx_uint_t i, n;
    int type;

    value = cf->args->elts;
    name = ngx_tg_str_from_ngx(&value[1]);
    n = tool->asks != NULL ? tool->asks->nelts : 0;
    other = n != 0 ? tool->asks->elts : NULL;

    for (type = 0; ngx_tg_ask_types[type] != NULL; type++) {
        if (ngx_strcmp(value[2].data, ngx_tg_ask_types[type]) == 0) {
            break;
        }
    }

    for (i = 0; i < name.len; i++) {
        if (name.data[i] != '_' && !tg_is_digit(name.data[i])
            && (name.data[i] < 'a' || name.data[i] > 'z'))
        {
            break;
        }
    }

    if (name.len == 0 || name.len > NGX_TG_ASK_NAME_MAX || i != name.len
        || ngx_tg_ask_types[type] == NULL)
    {
        (void) ngx_tg_conf_error(cf,
                                 "invalid \"ask %V %V\"; write a name of 1 to "
                                 "%d lower-case letters, digits and \"_\", and "
                                 "form, url, roots or sampling",
                                 &value[1], &value[2], NGX_TG_ASK_NAME_MAX);
        return NULL;
    }

    for (i = 0; i < n; i++) {
        if (tg_str_eq(other[i].name, name)) {
            (void) ngx_tg_conf_error(cf,
                                     "duplicate \"ask %V\"; give it "
                                     "another name",
                                     &value[1]);
            return NULL;
        }
    }

    if (n == NGX_TG_ASKS_MAX) {
        (void) ngx_tg_conf_error(cf, "more than %d \"ask\" in one block",
                                 NGX_TG_ASKS_MAX);
        return NULL;
    }

    ask = ngx_tg_conf_array_push(cf, &tool->asks, sizeof(ngx_tg_ask_t));

    if (ask != NULL) {
        ask->name = name;
        ask->type = (ngx_tg_ask_type_t) type;
    }

    return ask;
}

char *
ngx_tg_conf_read_ask(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_tg_main_conf_t *mcf;
    ngx_tg_ask_block_t block;
    const char *mistake;
    ngx_str_t name;
    ngx_conf_t pcf;
    char *rv;

    ngx_memzero(&block, sizeof(ngx_tg_ask_block_t));
    name = ((ngx_str_t *) cf->args->elts)[1];

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_LISTED) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    if (tool->group != NULL) {
        return ngx_tg_conf_error(cf, "\"ask\" has no effect on a tool of "
                                     "another server; remove it");
    }

    block.ask = ngx_tg_tool_add_ask(cf, tool);

    if (block.ask == NULL) {
        return NGX_CONF_ERROR;
    }

    tg_sha256_init(&block.sha);
    ngx_tg_ask_hash_words(cf, &block.sha);
    pcf = *cf;
    cf->handler = ngx_tg_ask_read_directive;
    cf->handler_conf = (void *) &block;
    rv = ngx_conf_parse(cf, NULL);
    *cf = pcf;

    if (rv != NGX_CONF_OK) {
        /* A hint would be about a directive of that name in another block. */
        cf->args->nelts = 0;
        return rv;
    }

    mistake = ngx_tg_ask_find_mistake(&block);

    if (mistake != NULL) {
        return ngx_tg_conf_error(cf, "ask \"%V\" %s", &name, mistake);
    }

    tg_sha256_final(&block.sha, block.ask->digest);

    if (block.ask->max_tokens == 0) {
        block.ask->max_tokens = NGX_TG_ASK_MAX_TOKENS;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    mcf->needs_state_key = 1;

    return ngx_tg_conf_result(block.ask->type == NGX_TG_ASK_FORM
                                  ? ngx_tg_ask_init_schema(cf, &block)
                                  : NGX_OK);
}

/* --- other directives --- */

char *
ngx_tg_conf_set_ask_timeout(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_tool_t *tool = conf;

    ngx_str_t *value;

    if (tool->ask_timeout != 0) {
        return "is duplicate";
    }

    if (ngx_tg_conf_check_kind(cf, cmd, tool, NGX_TG_KINDS_LISTED) != NGX_OK) {
        return NGX_CONF_ERROR;
    }

    value = cf->args->elts;

    return ngx_tg_arg_parse(TG_SPEC_TIME, &value[1], 1, NGX_TG_ASK_TIMEOUT_MAX,
                            &tool->ask_timeout)
                   == NGX_OK
               ? NGX_CONF_OK
               : ngx_tg_conf_error(cf,
                                   "invalid time \"%V\" in \"%V\"; write at "
                                   "most a day, such as \"5m\"",
                                   &value[1], &cmd->name);
}

char *
ngx_tg_conf_set_state_key(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_tg_srv_conf_t *scf = conf;

    ngx_str_t *value, secret;
    ngx_uint_t i;
    ngx_int_t rc;

    if (scf->state_keys.n != 0) {
        return "is duplicate";
    }

    value = cf->args->elts;

    for (i = 1; i < cf->args->nelts; i++) {
        rc = ngx_tg_secret_arg_read(cf, &value[i], &secret);

        if (rc == NGX_ERROR) {
            return NGX_CONF_ERROR;
        }

        if (rc == NGX_DECLINED) {
            return ngx_tg_conf_error(cf,
                                     "invalid \"%V\" in \"%V\"; write "
                                     "file=PATH or credential=NAME, the "
                                     "previous key after the current one",
                                     &value[i], &cmd->name);
        }

        if (secret.len < TG_SEAL_SECRET_MIN) {
            return ngx_tg_conf_error(cf,
                                     "the key of \"%V\" has %uz bytes, and "
                                     "needs at least %d; make one with "
                                     "\"openssl rand -hex 32\"",
                                     &value[i], secret.len, TG_SEAL_SECRET_MIN);
        }

        tg_seal_add_key(&scf->state_keys, ngx_tg_str_from_ngx(&secret));
    }

    return NGX_CONF_OK;
}

/* --- checks of the whole block --- */

const ngx_tg_ask_t *
ngx_tg_ask_find(const ngx_array_t *asks, tg_str_t name, tg_str_t *field)
{
    const ngx_tg_ask_t *ask, *found;
    ngx_uint_t i, n;

    n = asks != NULL ? asks->nelts : 0;
    ask = n != 0 ? asks->elts : NULL;
    found = NULL;

    for (i = 0; i < n; i++) {
        if (name.len >= ask[i].name.len
            && tg_str_eq(tg_str(name.data, ask[i].name.len), ask[i].name)
            && (name.len == ask[i].name.len
                || name.data[ask[i].name.len] == '_')
            && (found == NULL || ask[i].name.len > found->name.len))
        {
            found = &ask[i];
        }
    }

    if (found != NULL) {
        *field = name.len == found->name.len
                     ? TG_STR("")
                     : tg_str_skip(name, found->name.len + 1);
    }

    return found;
}

/* Checks that a variable's ask and field exist. */
static ngx_uint_t
ngx_tg_ask_has_variable(const ngx_tg_tool_t *tool, tg_str_t name)
{
    const ngx_tg_ask_t *ask;
    tg_json_cursor_t json;
    tg_str_t rest, field, properties, key;
    ngx_uint_t is_action;

    is_action = tg_str_has_prefix(name, "tool_action_");

    if (!is_action && !tg_str_has_prefix(name, "tool_answer_")) {
        return 1;
    }

    rest = tg_str_skip(name, sizeof("tool_answer_") - 1);
    ask = ngx_tg_ask_find(tool->asks, rest, &field);

    if (ask == NULL || (is_action && field.len != 0)) {
        return 0;
    }

    if (field.len == 0 || ask->type != NGX_TG_ASK_FORM
        || !tg_json_has_member(ask->schema, TG_STR("properties"),
                               TG_JSON_OBJECT, &properties))
    {
        return 1;
    }

    tg_json_iter_init_members(&json, properties);

    while (tg_json_iter_next_member(&json, &key, NULL)) {
        if (tg_variable_is_named(field, key)) {
            return 1;
        }
    }

    return 0;
}

ngx_int_t
ngx_tg_tool_check_asks(ngx_conf_t *cf, const ngx_tg_tool_t *tool,
                       ngx_uint_t first)
{
    const ngx_tg_value_source_t *source;
    ngx_tg_main_conf_t *mcf;
    tg_template_token_t token;
    tg_str_t rest;
    ngx_uint_t i;

    if (tool->ask_timeout != 0 && tool->asks == NULL) {
        (void) ngx_tg_conf_error(cf, "\"ask_timeout\" has no effect without "
                                     "\"ask\"; remove it");
        return NGX_ERROR;
    }

    if (tool->asks != NULL && tool->watch == NGX_TG_WATCH_EVERY) {
        (void) ngx_tg_conf_error(cf, "\"watch every=\" cannot read a resource "
                                     "that asks; remove it, or \"ask\"");
        return NGX_ERROR;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    source = mcf->value_sources.elts;

    for (i = first; i < mcf->value_sources.nelts; i++) {
        rest = ngx_tg_str_from_ngx(&source[i].source_text);

        while (tg_template_next(&rest, &token) == TG_OK) {
            if (token.name.data != NULL
                && !ngx_tg_ask_has_variable(tool, token.name)) {
                ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                              "\"$%*s\" names no \"ask\" of this block, or no "
                              "field of it in %V:%ui",
                              token.name.len, token.name.data, &source[i].file,
                              source[i].line);
                return NGX_ERROR;
            }
        }
    }

    return NGX_OK;
}
