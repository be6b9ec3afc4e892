/*
 * Matches URIs with templates backwards and compares the split with that of a
 * simple matcher that tries all ways; the values, put into the template again,
 * are the decoded URI.
 *
 * Input: a template, a newline, a URI.
 */
#include "help.h"

#include "base/tg_json.h"
#include "catalog/tg_uri_template.h"

/* The simple matcher takes exponential time. */
#define FUZZ_STEPS_MAX 20000

static unsigned steps;

/* Returns 1 if the rest of the template, from variable k on, matches. */
static int
uri_matches(const tg_uri_template_t *tmpl, size_t k, tg_str_t rest,
            tg_str_t *values)
{
    tg_str_t literal;
    size_t len, max;

    literal = tmpl->literals[k];

    if (++steps > FUZZ_STEPS_MAX || rest.len < literal.len
        || memcmp(rest.data, literal.data, literal.len) != 0)
    {
        return 0;
    }

    rest = tg_str_skip(rest, literal.len);

    if (k == tmpl->npath) {
        return rest.len == 0;
    }

    max = tmpl->variables[k].is_multiple ? rest.len
                                         : tg_str_find_char(rest, "/?#");

    for (len = max; len != 0; len--) {
        values[k] = tg_str(rest.data, len);

        if (uri_matches(tmpl, k + 1, tg_str_skip(rest, len), values)) {
            return 1;
        }
    }

    return 0;
}

/* Decodes valid percent escapes. */
static void
uri_decode(tg_buf_t *out, tg_str_t raw)
{
    size_t i;

    for (i = 0; i < raw.len; i++) {
        if (raw.data[i] == '%') {
            tg_buf_append_char(out, (char) (tg_hex_value(raw.data[i + 1]) << 4
                                            | tg_hex_value(raw.data[i + 2])));
            i += 2;
        } else {
            tg_buf_append_char(out, raw.data[i]);
        }
    }
}

/* Puts the values into the template, without the query. */
static void
uri_expand(const tg_uri_template_t *tmpl, tg_str_t arguments, tg_buf_t *out)
{
    tg_str_t value;
    size_t k;

    uri_decode(out, tmpl->literals[0]);

    for (k = 0; k < tmpl->npath; k++) {
        FUZZ(tg_json_has_member(arguments, tmpl->variables[k].name,
                                TG_JSON_STRING, &value));
        value = tg_json_string_body(value);
        FUZZ(value.len != 0);
        tg_json_append_unescaped(out, value);
        uri_decode(out, tmpl->literals[k + 1]);
    }
}

static void
uri_check(const tg_uri_template_t *tmpl, tg_str_t uri)
{
    HELP_BUFFER(arguments);
    HELP_BUFFER(expanded);
    HELP_BUFFER(decoded);
    tg_str_t values[TG_URI_VARIABLES_MAX], path;
    const char *why;
    size_t k;
    int rc, is_match;

    rc = tg_uri_template_match(tmpl, uri, &arguments);
    FUZZ(rc == TG_OK || (rc == TG_MISSING && arguments.len == 0));

    path = uri;

    if (tmpl->npath < tmpl->nvariables) {
        path.len = tg_str_find_char(uri, "?");
    }

    steps = 0;
    is_match = uri_matches(tmpl, 0, path, values);

    if (rc != TG_OK) {
        FUZZ(!tg_uri_template_is_path_safe(tmpl, uri));
        return;
    }

    FUZZ(is_match || steps > FUZZ_STEPS_MAX);
    FUZZ(tg_json_validate(tg_buf_view(&arguments), &why) == TG_OK);
    uri_expand(tmpl, tg_buf_view(&arguments), &expanded);

    if (!is_match) {
        return;
    }

    uri_decode(&decoded, path);
    FUZZ_EQ(tg_buf_view(&expanded), tg_buf_view(&decoded));

    for (k = 0; k < tmpl->npath; k++) {
        HELP_BUFFER(plain);
        HELP_BUFFER(got);
        tg_str_t value;

        uri_decode(&plain, values[k]);
        (void) tg_json_get_member(tg_buf_view(&arguments),
                                  tmpl->variables[k].name, &value);
        tg_json_append_unescaped(&got, tg_json_string_body(value));
        FUZZ_EQ(tg_buf_view(&got), tg_buf_view(&plain));

        if (tg_uri_template_is_path_safe(tmpl, uri)) {
            FUZZ(tg_uri_value_is_path_safe(tg_buf_view(&plain)));
        }
    }
}

FUZZ_TARGET(in)
{
    tg_uri_template_t *tmpl;
    tg_str_t text;
    const char *why;
    int rc;

    text = fuzz_until_newline(&in);
    why = NULL;
    rc = tg_uri_template_parse(tg_alloc_libc(), text, &tmpl, &why);

    if (rc != TG_OK) {
        FUZZ(rc == TG_INVALID && why != NULL);
        return;
    }

    FUZZ(why == NULL);
    uri_check(tmpl, fuzz_rest(&in));
    FUZZ(tg_uri_template_shadows(tmpl, tmpl));
    tg_uri_template_free(tmpl);
}
