/*
 * Values with variables: translation to NGINX's syntax, compilation, the check
 * for unknown variables.
 */
#include "nginx/config/ngx_tg_config.h"

#include <ctype.h>

ngx_uint_t
ngx_tg_text_has_variables(const ngx_str_t *text)
{
    tg_template_token_t token;
    tg_str_t rest;
    int rc;

    rest = ngx_tg_str_from_ngx(text);

    while ((rc = tg_template_next(&rest, &token)) == TG_OK) {
        if (token.name.data != NULL) {
            return 1;
        }
    }

    return rc == TG_INVALID;
}

/*
 * Appends the variable for an array's element, which the config names like the
 * array itself. Values with elements may use only one array. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
static ngx_int_t
ngx_tg_value_append_element(ngx_conf_t *cf, const tg_template_token_t *token,
                            tg_variable_type_t kind, ngx_tg_arg_path_t **each,
                            tg_buf_t *buf)
{
    tg_str_t path, other;

    (void) tg_variable_get_type(token->name, &path);

    if (*each == NULL) {
        *each = ngx_tg_arg_path_create(cf, token->name);

        if (*each == NULL) {
            return NGX_ERROR;
        }

    } else {
        (void) tg_variable_get_type(ngx_tg_str_from_ngx(&(*each)->text),
                                    &other);

        if (!tg_str_eq(path, other)) {
            (void) ngx_tg_conf_error(cf,
                                     "\"each\" repeats a line for one array, "
                                     "but there are \"%*s\" and \"%*s\"; write "
                                     "a separate line for each",
                                     other.len, other.data, path.len,
                                     path.data);
            return NGX_ERROR;
        }
    }

    tg_buf_append_cstr(buf, kind == TG_VARIABLE_JSON ? "${tool_element_json}"
                                                     : "${tool_element}");

    return NGX_OK;
}

/* Checks whether a variable is internal, used only in translated text. */
static ngx_uint_t
ngx_tg_is_internal_variable(tg_str_t name)
{
    return tg_str_eq(name, TG_STR("tool_element"))
           || tg_str_eq(name, TG_STR("tool_element_json"))
           || tg_str_eq(name, TG_STR("tool_dollar"));
}

/*
 * Appends a variable in NGINX's syntax, which has no dots and no elements.
 * Returns NGX_OK, or NGX_ERROR after logging.
 */
static ngx_int_t
ngx_tg_value_append_variable(ngx_conf_t *cf, const tg_template_token_t *token,
                             ngx_tg_arg_path_t **each, tg_buf_t *buf)
{
    ngx_tg_arg_path_t *path;
    tg_variable_type_t kind;
    ngx_str_t name;
    tg_str_t rest;

    if (ngx_tg_is_internal_variable(token->name)) {
        (void) ngx_tg_conf_error(cf,
                                 "\"$%*s\" is reserved; on a line with "
                                 "\"each\", the array's variable is the "
                                 "element, and \"$$\" is a dollar",
                                 token->name.len, token->name.data);
        return NGX_ERROR;
    }

    kind = tg_variable_get_type(token->name, &rest);

    if (each != NULL && (kind == TG_VARIABLE_ARG || kind == TG_VARIABLE_JSON)) {
        return ngx_tg_value_append_element(cf, token, kind, each, buf);
    }

    if (!tg_variable_has_special_chars(token->name)) {
        tg_buf_append_str(buf, token->text);
        return NGX_OK;
    }

    path = ngx_tg_arg_path_create(cf, token->name);
    name = path != NULL ? ngx_tg_arg_path_add_variable(cf, path)
                        : (ngx_str_t) ngx_null_string;

    tg_buf_append_cstr(buf, "${");
    tg_buf_append_str(buf, ngx_tg_str_from_ngx(&name));
    tg_buf_append_char(buf, '}');

    return name.len != 0 ? NGX_OK : NGX_ERROR;
}

ngx_int_t
ngx_tg_conf_copy_buf(ngx_conf_t *cf, const tg_buf_t *buf, ngx_str_t *text)
{
    u_char *p;

    p = tg_buf_has_failed(buf) ? NULL : ngx_pnalloc(cf->pool, buf->len + 1);

    if (p == NULL) {
        return NGX_ERROR;
    }

    text->len = buf->len;
    text->data = p;
    *ngx_cpymem(p, tg_buf_view(buf).data, buf->len) = '\0';

    return NGX_OK;
}

ngx_int_t
ngx_tg_unescape_dollars(ngx_conf_t *cf, ngx_str_t *text)
{
    tg_template_token_t token;
    tg_str_t rest;
    ngx_int_t rc;
    tg_buf_t buf;

    rest = ngx_tg_str_from_ngx(text);
    tg_buf_init(&buf, tg_alloc_libc());

    while (tg_template_next(&rest, &token) == TG_OK) {
        tg_buf_append_str(&buf, token.text);
    }

    tg_buf_append_str(&buf, rest);
    rc = ngx_tg_conf_copy_buf(cf, &buf, text);
    tg_buf_deinit(&buf);

    return rc;
}

/*
 * Translates a text with variables to NGINX's syntax. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
static ngx_int_t
ngx_tg_value_translate(ngx_conf_t *cf, ngx_str_t *text,
                       ngx_tg_arg_path_t **each, ngx_str_t *made)
{
    tg_template_token_t token;
    tg_str_t rest;
    tg_buf_t buf;
    ngx_int_t rc;

    rest = ngx_tg_str_from_ngx(text);
    tg_buf_init(&buf, tg_alloc_libc());
    rc = NGX_OK;

    while (rc == NGX_OK && tg_template_next(&rest, &token) == TG_OK) {
        if (token.name.data != NULL) {
            rc = ngx_tg_value_append_variable(cf, &token, each, &buf);
        } else if (token.text.data[0] == '$') {
            tg_buf_append_cstr(&buf, "${tool_dollar}");
        } else {
            tg_buf_append_str(&buf, token.text);
        }
    }

    if (rc == NGX_OK && rest.len != 0) {
        rc = NGX_ERROR;
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                           "\"$\" starts a variable's name in \"%V\"; %sfor "
                           "the character itself write \"$$\"",
                           text,
                           rest.len > 1 && rest.data[1] == '{'
                               ? "write one that ends with \"}\", or "
                               : "");
    }

    if (rc == NGX_OK) {
        rc = ngx_tg_conf_copy_buf(cf, &buf, made);
    }

    tg_buf_deinit(&buf);

    return rc;
}

ngx_int_t
ngx_tg_value_compile_for_elements(ngx_conf_t *cf, ngx_str_t *text,
                                  ngx_stream_complex_value_t *value,
                                  ngx_tg_arg_path_t **each)
{
    ngx_stream_compile_complex_value_t ccv;
    ngx_tg_main_conf_t *mcf;
    ngx_tg_value_source_t *use;
    ngx_str_t made;

    if (!ngx_tg_text_has_variables(text)) {
        ngx_memzero(value, sizeof(ngx_stream_complex_value_t));
        value->value = *text;
        return ngx_tg_unescape_dollars(cf, &value->value);
    }

    if (ngx_tg_value_translate(cf, text, each, &made) != NGX_OK) {
        return NGX_ERROR;
    }

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    use = ngx_array_push(&mcf->value_sources);
    if (use == NULL) {
        return NGX_ERROR;
    }

    ngx_memzero(use, sizeof(ngx_tg_value_source_t));
    use->text = made;
    use->source_text = *text;
    use->file = cf->conf_file->file.name;
    use->line = cf->conf_file->line;

    ngx_memzero(&ccv, sizeof(ngx_stream_compile_complex_value_t));
    ccv.cf = cf;
    ccv.value = &use->text;
    ccv.complex_value = value;

    return ngx_stream_compile_complex_value(&ccv);
}

ngx_int_t
ngx_tg_value_compile(ngx_conf_t *cf, ngx_str_t *text,
                     ngx_stream_complex_value_t *value)
{
    return ngx_tg_value_compile_for_elements(cf, text, value, NULL);
}

ngx_stream_complex_value_t *
ngx_tg_value_compile_new(ngx_conf_t *cf, ngx_str_t *text)
{
    ngx_stream_complex_value_t *value;

    value = ngx_pcalloc(cf->pool, sizeof(ngx_stream_complex_value_t));

    if (value == NULL || ngx_tg_value_compile(cf, text, value) != NGX_OK) {
        return NULL;
    }

    return value;
}

/* --- unknown variables --- */

/* Checks whether a variable exists. NGINX ignores case in names. */
static ngx_uint_t
ngx_tg_is_variable_defined(ngx_stream_core_main_conf_t *cmcf, tg_str_t name)
{
    ngx_stream_variable_t *v;
    ngx_hash_key_t *key;
    ngx_uint_t i;

    key = cmcf->variables_keys->keys.elts;

    for (i = 0; i < cmcf->variables_keys->keys.nelts; i++) {
        if (tg_str_eq_nocase(name, ngx_tg_str_from_ngx(&key[i].key))) {
            return 1;
        }
    }

    v = cmcf->prefix_variables.elts;

    for (i = 0; i < cmcf->prefix_variables.nelts; i++) {
        if (name.len > v[i].name.len
            && tg_str_has_prefix_nocase(name, ngx_tg_str_from_ngx(&v[i].name)))
        {
            return 1;
        }
    }

    /* Variables with a get_handler that are not in the hash of names. */
    v = cmcf->variables.elts;

    for (i = 0; i < cmcf->variables.nelts; i++) {
        if (v[i].get_handler != NULL
            && tg_str_eq_nocase(name, ngx_tg_str_from_ngx(&v[i].name)))
        {
            return 1;
        }
    }

    return 0;
}

/* Returns the first unknown variable of a text, or an empty string. */
static ngx_str_t
ngx_tg_find_unknown_variable(ngx_stream_core_main_conf_t *cmcf, ngx_str_t *text)
{
    u_char *p, *last;
    ngx_str_t name;

    last = text->data + text->len;

    for (p = text->data; p < last; /* void */) {
        if (*p++ != '$') {
            continue;
        }

        p += p < last && *p == '{';
        name.data = p;

        while (p < last && (isalnum(*p) || *p == '_')) {
            p++;
        }

        name.len = p - name.data;

        if (name.len != 0
            && !ngx_tg_is_variable_defined(cmcf, ngx_tg_str_from_ngx(&name)))
        {
            return name;
        }
    }

    ngx_str_null(&name);

    return name;
}

/* Returns a hint for an unknown variable, or NULL. */
static const char *
ngx_tg_get_variable_hint(ngx_str_t *name)
{
    if (*name->data >= '0' && *name->data <= '9') {
        return "nothing is captured here; for the character \"$\" itself write "
               "\"$$\"";
    }

    if (name->len > 5
        && ngx_strncasecmp(name->data, (u_char *) "tool_", 5) == 0) {
        return "an argument of the call is $tool_arg_ or $tool_json_ and its "
               "name";
    }

    return NULL;
}

ngx_int_t
ngx_tg_check_unknown_variables(ngx_conf_t *cf)
{
    ngx_tg_main_conf_t *mcf;
    ngx_stream_core_main_conf_t *cmcf;
    ngx_tg_value_source_t *use;
    const char *hint;
    ngx_str_t name;
    ngx_uint_t i;

    mcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_toolgate_module);
    cmcf = ngx_stream_conf_get_module_main_conf(cf, ngx_stream_core_module);
    use = mcf->value_sources.elts;

    for (i = 0; i < mcf->value_sources.nelts; i++) {
        name = ngx_tg_find_unknown_variable(cmcf, &use[i].text);

        if (name.len == 0) {
            continue;
        }

        hint = ngx_tg_get_variable_hint(&name);

        if (hint != NULL) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "unknown variable \"$%V\"; %s in %V:%ui", &name, hint,
                          &use[i].file, use[i].line);
        } else {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "unknown variable \"$%V\"; write $tool_arg_%V for an "
                          "argument of the call in %V:%ui",
                          &name, &name, &use[i].file, use[i].line);
        }

        return NGX_ERROR;
    }

    return NGX_OK;
}
