/* Templates: parsing and rendering of texts with escaped variables. */
#include "nginx/call/ngx_tg_template.h"

#include "base/tg_url.h"
#include "base/tg_utf8.h"
#include "nginx/config/ngx_tg_command_lint.h"
#include "nginx/config/ngx_tg_spec.h"
#include "nginx/call/ngx_tg_call_impl.h"

/* --- parsing --- */

/* Keeps the type in JSON: a number must not become the text of a string. */
static ngx_int_t
ngx_tg_template_use_json_variable(ngx_conf_t *cf, ngx_str_t *variable)
{
    static const char from[] = "tool_arg_", to[] = "tool_json_";
    ngx_str_t name;
    u_char *p;

    name = *variable;
    name.data += name.len > 1 && name.data[1] == '{' ? 2 : 1;
    name.len -= (size_t) (name.data - variable->data);

    if (name.len < sizeof(from) - 1
        || ngx_strncasecmp(name.data, (u_char *) from, sizeof(from) - 1) != 0)
    {
        return NGX_OK;
    }

    p = ngx_pnalloc(cf->pool, variable->len + 1);
    if (p == NULL) {
        return NGX_ERROR;
    }

    variable->len = (size_t) (ngx_sprintf(p, "%*s%s%*s",
                                          (size_t) (name.data - variable->data),
                                          variable->data, to,
                                          name.len - (sizeof(from) - 1),
                                          name.data + sizeof(from) - 1)
                              - p);
    variable->data = p;

    return NGX_OK;
}

/*
 * Returns how to escape a variable: in JSON, a value that a caller chooses must
 * be one JSON value, so that it cannot add members.
 */
static ngx_tg_escape_context_t
ngx_tg_template_get_variable_context(ngx_conf_t *cf, const ngx_str_t *variable,
                                     ngx_tg_escape_context_t place)
{
    tg_command_names_t names;
    tg_template_token_t token;
    tg_str_t rest, path;

    rest = ngx_tg_str_from_ngx(variable);

    if (place != NGX_TG_ESCAPE_JSON_PART
        || tg_template_next(&rest, &token) != TG_OK || token.name.data == NULL
        || tg_variable_get_type(token.name, &path) != TG_VARIABLE_OTHER)
    {
        return place;
    }

    names = ngx_tg_command_get_derived_names(cf);

    return tg_command_is_caller_variable(token.name, &names)
               ? NGX_TG_ESCAPE_ONE_JSON_VALUE
               : place;
}

static ngx_int_t
ngx_tg_template_add_piece(ngx_conf_t *cf, ngx_tg_template_t *made,
                          ngx_str_t text, ngx_tg_escape_context_t place,
                          ngx_uint_t is_variable)
{
    ngx_tg_template_piece_t *piece;

    if (text.len == 0) {
        return NGX_OK;
    }

    piece = ngx_array_push(made);
    if (piece == NULL) {
        return NGX_ERROR;
    }

    piece->place = place;
    piece->text = text;
    piece->value = NULL;
    piece->each = NULL;

    if (is_variable) {
        if ((place == NGX_TG_ESCAPE_JSON_VALUE
             || place == NGX_TG_ESCAPE_JSON_PART)
            && ngx_tg_template_use_json_variable(cf, &text) != NGX_OK)
        {
            return NGX_ERROR;
        }

        piece->place = ngx_tg_template_get_variable_context(cf, &text, place);
        piece->value = ngx_tg_value_compile_new(cf, &text);

        if (piece->value == NULL) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_tg_template_t *
ngx_tg_template_parse(ngx_conf_t *cf, const ngx_str_t *text,
                      ngx_tg_escape_context_t place,
                      ngx_tg_next_escape_context_pt next)
{
    ngx_tg_template_t *made;
    tg_template_token_t token;
    ngx_uint_t is_variable;
    tg_str_t rest;
    ngx_str_t part;

    made = ngx_array_create(cf->pool, 4, sizeof(ngx_tg_template_piece_t));
    rest = ngx_tg_str_from_ngx(text);

    while (made != NULL && rest.len != 0) {
        if (tg_template_next(&rest, &token) == TG_INVALID) {
            /* the error is reported when the text is compiled */
            token.text = rest;
            is_variable = 1;
        } else {
            is_variable = token.name.data != NULL;
        }

        part.data = (u_char *) token.text.data;
        part.len = token.text.len;

        if (ngx_tg_template_add_piece(cf, made, part, place, is_variable)
            != NGX_OK) {
            return NULL;
        }

        if (!is_variable && next != NULL) {
            place = next(place, &part);
        }
    }

    return made;
}

/* Returns the escape context after a text; `outside`: outside of quotes. */
static ngx_tg_escape_context_t
ngx_tg_template_track_quotes(ngx_tg_escape_context_t place,
                             const ngx_str_t *text,
                             ngx_tg_escape_context_t outside)
{
    size_t i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] == '"') {
            place = place == NGX_TG_ESCAPE_JSON_STRING
                        ? outside
                        : NGX_TG_ESCAPE_JSON_STRING;
        } else if (text->data[i] == '\\') {
            i++;
        }
    }

    return place;
}

static ngx_tg_escape_context_t
ngx_tg_template_next_json_context(ngx_tg_escape_context_t place,
                                  const ngx_str_t *text)
{
    return ngx_tg_template_track_quotes(place, text, NGX_TG_ESCAPE_JSON_VALUE);
}

static ngx_tg_escape_context_t
ngx_tg_template_next_part_context(ngx_tg_escape_context_t place,
                                  const ngx_str_t *text)
{
    return ngx_tg_template_track_quotes(place, text, NGX_TG_ESCAPE_JSON_PART);
}

ngx_tg_template_t *
ngx_tg_template_parse_json_parts(ngx_conf_t *cf, const ngx_str_t *text)
{
    return ngx_tg_template_parse(cf, text, NGX_TG_ESCAPE_JSON_PART,
                                 ngx_tg_template_next_part_context);
}

ngx_tg_template_t *
ngx_tg_template_parse_json(ngx_conf_t *cf, const ngx_str_t *text)
{
    return ngx_tg_template_parse(cf, text, NGX_TG_ESCAPE_JSON_VALUE,
                                 ngx_tg_template_next_json_context);
}

ngx_int_t
ngx_tg_template_set_separator(ngx_conf_t *cf, ngx_tg_template_t *made,
                              const ngx_str_t *separator)
{
    ngx_tg_template_piece_t *piece;
    ngx_uint_t i, n;

    piece = made->elts;

    for (i = 0, n = 0; i < made->nelts; i++) {
        if (piece[i].value == NULL) {
            continue;
        }

        if (ngx_tg_value_compile_for_elements(cf, &piece[i].text,
                                              piece[i].value, &piece[i].each)
            != NGX_OK)
        {
            return NGX_ERROR;
        }

        piece[i].separator = *separator;
        n += piece[i].each != NULL;
    }

    return n != 0 ? NGX_OK : NGX_DECLINED;
}

ngx_int_t
ngx_tg_conf_parse_join(ngx_conf_t *cf, const ngx_str_t *word,
                       ngx_str_t *separator)
{
    ngx_str_t value;
    tg_str_t text;
    tg_buf_t buf;
    ngx_int_t rc;
    size_t i;

    if (!ngx_tg_arg_has_name(word, "join=", &value)) {
        return NGX_DECLINED;
    }

    text = ngx_tg_str_from_ngx(&value);

    if (text.len == 0 || memchr(text.data, '$', text.len) != NULL) {
        (void) ngx_tg_conf_error(cf,
                                 "invalid \"%V\"; write the separator of the "
                                 "elements, such as \"join=,\"",
                                 word);
        return NGX_ERROR;
    }

    tg_buf_init(&buf, tg_alloc_libc());

    for (i = 0; i < text.len; i++) {
        if (tg_is_one_of(text.data[i], ",;:/")) {
            tg_buf_append_char(&buf, text.data[i]);
        } else {
            tg_url_append_encoded(&buf, tg_str(text.data + i, 1));
        }
    }

    rc = ngx_tg_conf_copy_buf(cf, &buf, separator);
    tg_buf_deinit(&buf);

    return rc;
}

void
ngx_tg_template_append_sample(const ngx_tg_template_t *made, tg_buf_t *buf)
{
    const ngx_tg_template_piece_t *piece;
    ngx_uint_t i;
    size_t n;

    for (i = 0; i < made->nelts; i++) {
        piece = (const ngx_tg_template_piece_t *) made->elts + i;

        if (piece->value == NULL) {
            tg_buf_append_str(buf, ngx_tg_str_from_ngx(&piece->text));
            continue;
        }

        /* As long as the variable's name, for the column of JSON errors. */
        n = piece->place == NGX_TG_ESCAPE_JSON_VALUE
                    || piece->place == NGX_TG_ESCAPE_JSON_STRING
                ? piece->text.len
                : 1;

        while (n-- != 0) {
            tg_buf_append_char(buf, '1');
        }
    }
}

/* --- rendering --- */

static const char *
ngx_tg_template_append_host(tg_str_t value, tg_buf_t *buf)
{
    size_t i;

    for (i = 0; i < value.len; i++) {
        if (!tg_url_is_authority_char(value.data[i])) {
            return "The host in the URL must be a name or an address, "
                   "optionally with a colon and a port, and nothing else.";
        }
    }

    tg_buf_append_str(buf, value);

    return NULL;
}

static const char *
ngx_tg_template_append_escaped(ngx_tg_escape_context_t place, tg_str_t value,
                               tg_buf_t *buf)
{
    switch (place) {
    case NGX_TG_ESCAPE_TEXT:
    case NGX_TG_ESCAPE_JSON_PART:
        tg_buf_append_str(buf, value);
        return NULL;

    case NGX_TG_ESCAPE_URL_HOST:
        return ngx_tg_template_append_host(value, buf);

    case NGX_TG_ESCAPE_URL_PATH:
        if (value.len == 0) {
            return "A segment of the URL's path is empty, so another path "
                   "would be called; give each argument that is in the path.";
        }

        tg_url_append_encoded(buf, value);
        return NULL;

    case NGX_TG_ESCAPE_URL_QUERY:
        tg_url_append_encoded(buf, value);
        return NULL;

    case NGX_TG_ESCAPE_JSON_STRING:
        if (!tg_utf8_is_valid(value)) {
            return "A value in the JSON is not valid UTF-8.";
        }

        tg_json_write_escaped(buf, value);
        return NULL;

    case NGX_TG_ESCAPE_ONE_JSON_VALUE:
        if (value.len != 0 && tg_json_validate(value, NULL) != TG_OK) {
            return "A value outside quotes in the JSON of \"return\" is not a "
                   "single JSON value; put the variable between quotes.";
        }

        tg_buf_append_str(buf, value);
        return NULL;

    case NGX_TG_ESCAPE_JSON_VALUE:
        if (tg_json_validate(value, NULL) != TG_OK) {
            return "A value in the JSON of the body is not a single JSON "
                   "value.";
        }

        tg_buf_append_str(buf, value);
        return NULL;
    }

    return NULL;
}

/* Appends a piece's escaped value. Returns NULL, or an error message. */
static const char *
ngx_tg_template_append_value(ngx_tg_call_t *call,
                             const ngx_tg_template_piece_t *piece,
                             tg_buf_t *buf)
{
    ngx_str_t value;

    if (ngx_tg_call_eval_value(call, piece->value, &value) != NGX_OK) {
        return TG_TEXT_NO_MEMORY;
    }

    return ngx_tg_template_append_escaped(piece->place,
                                          ngx_tg_str_from_ngx(&value), buf);
}

static const char *
ngx_tg_template_append_list(ngx_tg_call_t *call,
                            const ngx_tg_template_piece_t *piece, tg_buf_t *buf)
{
    ngx_tg_arg_elements_t elements;
    const char *mistake;
    ngx_uint_t n;

    mistake = NULL;
    ngx_tg_call_begin_elements(call, piece->each, &elements);

    for (n = 0; mistake == NULL && ngx_tg_call_next_element(call, &elements);
         n++) {
        if (n != 0) {
            tg_buf_append_str(buf, ngx_tg_str_from_ngx(&piece->separator));
        }

        mistake = n < NGX_TG_ELEMENTS_MAX
                      ? ngx_tg_template_append_value(call, piece, buf)
                      : NGX_TG_ELEMENTS_MAX_TEXT;
    }

    call->element = TG_STR_NONE;

    return n != 0
               ? mistake
               : ngx_tg_template_append_escaped(piece->place, TG_STR(""), buf);
}

const char *
ngx_tg_template_render(ngx_tg_call_t *call, const ngx_tg_template_t *made,
                       tg_buf_t *buf)
{
    const ngx_tg_template_piece_t *pieces;
    const char *mistake;
    ngx_uint_t i;

    pieces = made->elts;
    mistake = NULL;

    for (i = 0; mistake == NULL && i < made->nelts; i++) {
        if (pieces[i].value == NULL) {
            tg_buf_append_str(buf, ngx_tg_str_from_ngx(&pieces[i].text));
        } else if (pieces[i].each != NULL) {
            mistake = ngx_tg_template_append_list(call, &pieces[i], buf);
        } else {
            mistake = ngx_tg_template_append_value(call, &pieces[i], buf);
        }
    }

    return mistake;
}
