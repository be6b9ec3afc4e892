#include "nginx/call/ngx_toolgate_template.h"

#include "base/tg_url.h"
#include "base/tg_utf8.h"
#include "nginx/conf/ngx_toolgate_command.h"

/* --- when it is loaded --- */

/* In JSON an argument that is no string must not become the text of one. */
static ngx_int_t
ngx_toolgate_template_as_json(ngx_conf_t *cf, ngx_str_t *variable)
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

/* A part of JSON that a caller chooses must not be several of its members. */
static ngx_toolgate_place_t
ngx_toolgate_template_place(ngx_conf_t *cf, const ngx_str_t *variable,
                            ngx_toolgate_place_t place)
{
    tg_command_names_t names;
    tg_value_token_t token;
    tg_str_t rest, path;

    rest = ngx_toolgate_str(variable);

    if (place != NGX_TOOLGATE_PART || tg_value_next(&rest, &token) != TG_OK
        || token.name.data == NULL
        || tg_value_kind(token.name, &path) != TG_VALUE_OTHER)
    {
        return place;
    }

    names = ngx_toolgate_command_derived(cf);

    return tg_command_is_caller(token.name, &names) ? NGX_TOOLGATE_ONE : place;
}

static ngx_int_t
ngx_toolgate_template_push(ngx_conf_t *cf, ngx_toolgate_template_t *made,
                           ngx_str_t text, ngx_toolgate_place_t place,
                           ngx_uint_t is_variable)
{
    ngx_toolgate_piece_t *piece;

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
        if ((place == NGX_TOOLGATE_JSON || place == NGX_TOOLGATE_PART)
            && ngx_toolgate_template_as_json(cf, &text) != NGX_OK)
        {
            return NGX_ERROR;
        }

        piece->place = ngx_toolgate_template_place(cf, &text, place);
        piece->value = ngx_toolgate_compile_new(cf, &text);

        if (piece->value == NULL) {
            return NGX_ERROR;
        }
    }

    return NGX_OK;
}

ngx_toolgate_template_t *
ngx_toolgate_template(ngx_conf_t *cf, const ngx_str_t *text,
                      ngx_toolgate_place_t place, ngx_toolgate_place_pt next)
{
    ngx_toolgate_template_t *made;
    tg_value_token_t token;
    ngx_uint_t is_variable;
    tg_str_t rest;
    ngx_str_t part;

    made = ngx_array_create(cf->pool, 4, sizeof(ngx_toolgate_piece_t));
    rest = ngx_toolgate_str(text);

    while (made != NULL && rest.len != 0) {
        if (tg_value_next(&rest, &token) == TG_BAD) {
            token.text = rest; /* which is said when compiled */
            is_variable = 1;
        } else {
            is_variable = token.name.data != NULL;
        }

        part.data = (u_char *) token.text.data;
        part.len = token.text.len;

        if (ngx_toolgate_template_push(cf, made, part, place, is_variable)
            != NGX_OK) {
            return NULL;
        }

        if (!is_variable && next != NULL) {
            place = next(place, &part);
        }
    }

    return made;
}

/* The place behind text, which is outside where it is in no string. */
static ngx_toolgate_place_t
ngx_toolgate_template_quote(ngx_toolgate_place_t place, const ngx_str_t *text,
                            ngx_toolgate_place_t outside)
{
    size_t i;

    for (i = 0; i < text->len; i++) {
        if (text->data[i] == '"') {
            place = place == NGX_TOOLGATE_STRING ? outside
                                                 : NGX_TOOLGATE_STRING;
        } else if (text->data[i] == '\\') {
            i++;
        }
    }

    return place;
}

static ngx_toolgate_place_t
ngx_toolgate_template_in_json(ngx_toolgate_place_t place, const ngx_str_t *text)
{
    return ngx_toolgate_template_quote(place, text, NGX_TOOLGATE_JSON);
}

static ngx_toolgate_place_t
ngx_toolgate_template_in_part(ngx_toolgate_place_t place, const ngx_str_t *text)
{
    return ngx_toolgate_template_quote(place, text, NGX_TOOLGATE_PART);
}

ngx_toolgate_template_t *
ngx_toolgate_template_part(ngx_conf_t *cf, const ngx_str_t *text)
{
    return ngx_toolgate_template(cf, text, NGX_TOOLGATE_PART,
                                 ngx_toolgate_template_in_part);
}

ngx_toolgate_template_t *
ngx_toolgate_template_json(ngx_conf_t *cf, const ngx_str_t *text)
{
    return ngx_toolgate_template(cf, text, NGX_TOOLGATE_JSON,
                                 ngx_toolgate_template_in_json);
}

ngx_int_t
ngx_toolgate_template_lists(ngx_conf_t *cf, ngx_toolgate_template_t *made,
                            const ngx_str_t *separator)
{
    ngx_toolgate_piece_t *piece;
    ngx_uint_t i, n;

    piece = made->elts;

    for (i = 0, n = 0; i < made->nelts; i++) {
        if (piece[i].value == NULL) {
            continue;
        }

        if (ngx_toolgate_compile_each(cf, &piece[i].text, piece[i].value,
                                      &piece[i].each)
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
ngx_toolgate_separator(ngx_conf_t *cf, const ngx_str_t *word,
                       ngx_str_t *separator)
{
    static const char prefix[] = "join=";
    tg_str_t text;
    tg_buf_t buf;
    ngx_int_t rc;
    size_t i;

    if (word->len < sizeof(prefix) - 1
        || ngx_strncmp(word->data, prefix, sizeof(prefix) - 1) != 0)
    {
        return NGX_DECLINED;
    }

    text = tg_str((char *) word->data + sizeof(prefix) - 1,
                  word->len - (sizeof(prefix) - 1));

    if (text.len == 0 || memchr(text.data, '$', text.len) != NULL) {
        (void) ngx_toolgate_refuse(cf,
                                   "invalid \"%V\"; write what stands between "
                                   "the elements, such as \"join=,\"",
                                   word);
        return NGX_ERROR;
    }

    tg_buf_init(&buf, tg_alloc_libc());

    for (i = 0; i < text.len; i++) {
        if (tg_is_one_of(text.data[i], ",;:/")) {
            tg_buf_char(&buf, text.data[i]);
        } else {
            tg_url_put(&buf, tg_str(text.data + i, 1));
        }
    }

    rc = ngx_toolgate_copy(cf, &buf, separator);
    tg_buf_deinit(&buf);

    return rc;
}

void
ngx_toolgate_template_sample(const ngx_toolgate_template_t *made, tg_buf_t *buf)
{
    const ngx_toolgate_piece_t *piece;
    ngx_uint_t i;
    size_t n;

    for (i = 0; i < made->nelts; i++) {
        piece = (const ngx_toolgate_piece_t *) made->elts + i;

        if (piece->value == NULL) {
            tg_buf_str(buf, ngx_toolgate_str(&piece->text));
            continue;
        }

        /* As long as what stands there: so a mistake in JSON has its column. */
        n = piece->place == NGX_TOOLGATE_JSON
                    || piece->place == NGX_TOOLGATE_STRING
                ? piece->text.len
                : 1;

        while (n-- != 0) {
            tg_buf_char(buf, '1');
        }
    }
}

/* --- in a call --- */

static const char *
ngx_toolgate_template_host(tg_str_t value, tg_buf_t *buf)
{
    size_t i;

    for (i = 0; i < value.len; i++) {
        if (!tg_url_is_authority(value.data[i])) {
            return "The host of the URL must be a name or an address, with a "
                   "colon and a port where it needs one, and nothing else.";
        }
    }

    tg_buf_str(buf, value);

    return NULL;
}

static const char *
ngx_toolgate_template_piece(ngx_toolgate_place_t place, tg_str_t value,
                            tg_buf_t *buf)
{
    switch (place) {
    case NGX_TOOLGATE_TEXT:
    case NGX_TOOLGATE_PART:
        tg_buf_str(buf, value);
        return NULL;

    case NGX_TOOLGATE_HOST:
        return ngx_toolgate_template_host(value, buf);

    case NGX_TOOLGATE_PATH:
        if (value.len == 0) {
            return "A part of the URL's path is empty, so that another one "
                   "would be called; give each argument that is in it.";
        }

        tg_url_put(buf, value);
        return NULL;

    case NGX_TOOLGATE_QUERY:
        tg_url_put(buf, value);
        return NULL;

    case NGX_TOOLGATE_STRING:
        if (!tg_utf8_is_valid(value)) {
            return "A value within JSON is not valid UTF-8.";
        }

        tg_json_put_escaped(buf, value);
        return NULL;

    case NGX_TOOLGATE_ONE:
        if (value.len != 0 && tg_json_check(value, NULL) != TG_OK) {
            return "A value outside of quotes in the JSON of \"return\" is not "
                   "one JSON value; write the variable between quotes.";
        }

        tg_buf_str(buf, value);
        return NULL;

    case NGX_TOOLGATE_JSON:
        if (tg_json_check(value, NULL) != TG_OK) {
            return "A value in the JSON of the body is not one JSON value.";
        }

        tg_buf_str(buf, value);
        return NULL;
    }

    return NULL;
}

/* The value of a piece, or what is wrong with it. */
static const char *
ngx_toolgate_template_value(ngx_toolgate_call_t *call,
                            const ngx_toolgate_piece_t *piece, tg_buf_t *buf)
{
    ngx_str_t value;

    if (ngx_toolgate_value(call, piece->value, &value) != NGX_OK) {
        return TG_NO_MEMORY;
    }

    return ngx_toolgate_template_piece(piece->place, ngx_toolgate_str(&value),
                                       buf);
}

static const char *
ngx_toolgate_template_list(ngx_toolgate_call_t *call,
                           const ngx_toolgate_piece_t *piece, tg_buf_t *buf)
{
    ngx_toolgate_elements_t elements;
    const char *mistake;
    ngx_uint_t n;

    mistake = NULL;
    ngx_toolgate_elements(call, piece->each, &elements);

    for (n = 0; mistake == NULL && ngx_toolgate_elements_next(call, &elements);
         n++) {
        if (n != 0) {
            tg_buf_str(buf, ngx_toolgate_str(&piece->separator));
        }

        mistake = n < NGX_TOOLGATE_ELEMENTS_MAX
                      ? ngx_toolgate_template_value(call, piece, buf)
                      : NGX_TOOLGATE_ELEMENTS_MANY;
    }

    call->element = TG_STR_NONE;

    return n != 0 ? mistake
                  : ngx_toolgate_template_piece(piece->place, TG_STR(""), buf);
}

const char *
ngx_toolgate_template_put(ngx_toolgate_call_t *call,
                          const ngx_toolgate_template_t *made, tg_buf_t *buf)
{
    const ngx_toolgate_piece_t *pieces;
    const char *mistake;
    ngx_uint_t i;

    pieces = made->elts;
    mistake = NULL;

    for (i = 0; mistake == NULL && i < made->nelts; i++) {
        if (pieces[i].value == NULL) {
            tg_buf_str(buf, ngx_toolgate_str(&pieces[i].text));
        } else if (pieces[i].each != NULL) {
            mistake = ngx_toolgate_template_list(call, &pieces[i], buf);
        } else {
            mistake = ngx_toolgate_template_value(call, &pieces[i], buf);
        }
    }

    return mistake;
}
