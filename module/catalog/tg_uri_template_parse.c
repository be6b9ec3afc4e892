/* Parsing of URI templates. */
#include "catalog/tg_uri_template.h"

#define TG_URI_VARIABLE_NAME_MAX 64

/* Returns what to write instead of an operator that is not supported. */
static const char *
tg_uri_template_explain_operator(char operator)
{
    switch (operator) {
    case '/':
        return "write /{x}, or /{+x} for several segments, not {/x}";
    case '.':
        return "write .{x}, not {.x}";
    case '#':
        return "write #{+x}, not {#x}";
    case ';':
        return "write {?x} at the end, not {;x}";
    case '&':
        return "write all query parameters as one {?a,b}, not {&a}";
    default:
        return "write {x}, {+x} or {?a,b}: letters, digits and \"_\" are a "
               "variable's name";
    }
}

static const char *
tg_uri_template_check_name(const tg_uri_template_t *tmpl, tg_str_t name)
{
    size_t i;

    if (name.len == 0) {
        return "write a variable's name in the braces, such as {id}";
    }

    if (name.data[name.len - 1] == '*') {
        return "write the variable without \"*\": a value is one string; {+x} "
               "may contain slashes";
    }

    if (tg_str_find_char(name, ":") != name.len) {
        return "write the variable without \":\" and a length";
    }

    if (!tg_str_is_word(name, "_")) {
        return tg_uri_template_explain_operator(name.data[0]);
    }

    if (name.len > TG_URI_VARIABLE_NAME_MAX) {
        return "write a variable's name of at most 64 characters";
    }

    for (i = 0; i < tmpl->nvariables; i++) {
        if (tg_str_eq_nocase(tmpl->variables[i].name, name)) {
            return "write different names: a variable occurs twice";
        }
    }

    return NULL;
}

/* Parses the text between two braces. Returns what to write, or NULL. */
static const char *
tg_uri_template_parse_braces(tg_uri_template_t *tmpl, tg_str_t body)
{
    tg_uri_variable_t variable;
    const char *why;
    char operator;
    size_t len;

    operator= body.len != 0 && tg_is_one_of(body.data[0], "+?") ? body.data[0]
                                                                : '\0';
    body = tg_str_skip(body, operator!= '\0');
    variable.is_query = operator== '?';
    variable.is_multiple = operator== '+';

    for (/* void */;; body = tg_str_skip(body, len + 1)) {
        len = tg_str_find_char(body, ",");
        variable.name = tg_str(body.data, len);
        why = tg_uri_template_check_name(tmpl, variable.name);

        if (why != NULL) {
            return why;
        }

        if (len < body.len && !variable.is_query) {
            return "write one variable in each pair of braces, such as "
                   "{x}/{y}, not {x,y}";
        }

        if (tmpl->nvariables == TG_URI_VARIABLES_MAX) {
            return "write at most 16 variables";
        }

        tmpl->variables[tmpl->nvariables++] = variable;

        if (len == body.len) {
            return NULL;
        }
    }
}

static const char *
tg_uri_template_check_literal(tg_str_t literal)
{
    size_t i;

    for (i = 0; i < literal.len; i++) {
        if ((unsigned char) literal.data[i] <= ' '
            || (unsigned char) literal.data[i] >= 0x7f
            || tg_is_one_of(literal.data[i], "\"<>\\^`|"))
        {
            return "write blanks, quotes, <>\\^`| and characters beyond ASCII "
                   "as percent escapes, such as %20";
        }

        if (literal.data[i] == '%'
            && (literal.len - i < 3 || tg_hex_value(literal.data[i + 1]) < 0
                || tg_hex_value(literal.data[i + 2]) < 0))
        {
            return "write two hexadecimal digits after \"%\"; %25 is a percent "
                   "sign";
        }
    }

    return NULL;
}

/* Parses text before a brace, or the last text. */
static const char *
tg_uri_template_parse_literal(tg_uri_template_t *tmpl, tg_str_t literal,
                              int is_last)
{
    if (tmpl->npath < tmpl->nvariables) {
        return literal.len == 0 && is_last
                   ? NULL
                   : "write {?a,b} once, at the end of the template";
    }

    if (literal.len == 0 && tmpl->npath != 0 && !is_last) {
        return "write text between two variables, such as {x}/{y}";
    }

    tmpl->literals[tmpl->npath] = literal;

    return tg_uri_template_check_literal(literal);
}

static const char *
tg_uri_template_check_whole(const tg_uri_template_t *tmpl)
{
    tg_str_t scheme;
    size_t i;

    scheme = tmpl->literals[0];
    scheme.len = tg_str_find_char(scheme, ":");

    if (scheme.len == tmpl->literals[0].len || scheme.len == 0
        || !tg_is_alpha(scheme.data[0]) || !tg_str_is_word(scheme, "+-."))
    {
        return "begin with a scheme, such as notes:";
    }

    if (tmpl->nvariables == 0) {
        return "write a variable, such as {id}; a URI without variables is a "
               "resource";
    }

    for (i = 0; tmpl->npath < tmpl->nvariables && i <= tmpl->npath; i++) {
        if (tg_str_find_char(tmpl->literals[i], "?#") != tmpl->literals[i].len)
        {
            return "write all query parameters as {?a,b}, without \"?\" or "
                   "\"#\" before it";
        }
    }

    return NULL;
}

/* Parses text that the template owns. Returns what to write, or NULL. */
static const char *
tg_uri_template_parse_text(tg_uri_template_t *tmpl, tg_str_t text)
{
    const char *why;
    tg_str_t literal, body;
    int has_query;

    for (/* void */;; text = tg_str_skip(text, body.len + 2)) {
        literal = tg_str(text.data, tg_str_find_char(text, "{}"));
        text = tg_str_skip(text, literal.len);
        body = tg_str(text.data + (text.len != 0), 0);

        if (text.len != 0) {
            body.len = tg_str_find_char(tg_str_skip(text, 1), "{}");

            if (text.data[0] == '}' || body.len + 1 == text.len
                || body.data[body.len] == '{')
            {
                return "write a \"}\" after each \"{\"; %7B and %7D are braces "
                       "of the URI";
            }
        }

        has_query = body.len != 0 && body.data[0] == '?';
        why = tg_uri_template_parse_literal(tmpl, literal,
                                            text.len == 0 || has_query);

        if (why != NULL) {
            return why;
        }

        if (text.len == 0) {
            return tg_uri_template_check_whole(tmpl);
        }

        why = tmpl->npath < tmpl->nvariables
                  ? "write {?a,b} once, at the end of the template"
                  : tg_uri_template_parse_braces(tmpl, body);

        if (why != NULL) {
            return why;
        }

        tmpl->npath += !has_query;
    }
}

int
tg_uri_template_parse(const tg_alloc_t *alloc, tg_str_t text,
                      tg_uri_template_t **tmpl, const char **why)
{
    char *copy;

    if (text.len > TG_URI_MAX) {
        *why = "write a template of at most 2048 bytes";
        return TG_INVALID;
    }

    *tmpl = tg_calloc(alloc, sizeof(**tmpl) + text.len);

    if (*tmpl == NULL) {
        return TG_NOMEM;
    }

    (*tmpl)->alloc = alloc;
    copy = (char *) (*tmpl + 1);
    *why = tg_uri_template_parse_text(*tmpl, tg_str_copy_to(&copy, text));

    if (*why != NULL) {
        tg_uri_template_free(*tmpl);
        *tmpl = NULL;
        return TG_INVALID;
    }

    return TG_OK;
}

void
tg_uri_template_free(tg_uri_template_t *tmpl)
{
    if (tmpl != NULL) {
        tg_free(tmpl->alloc, tmpl);
    }
}
