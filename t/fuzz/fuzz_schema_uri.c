/*
 * URIs and the formats of strings.
 *
 * Input: a base, newline, a reference or a string.
 */
#include "help.h"

#include "schema/tg_schema.h"
#include "schema/tg_uri.h"
#include "base/tg_utf8.h"
#include "schema/pcre2/tg_pcre2.h"

static const char *const uri_formats[] = {
    "date-time", "date",         "time", "duration", "email",
    "hostname",  "ipv4",         "ipv6", "uri",      "uri-reference",
    "uuid",      "json-pointer", "regex"
};

#define URI_FORMATS (HELP_COUNT(uri_formats))

/* The parts, joined again, are the whole URI. */
static void
uri_join(tg_str_t text, const tg_uri_t *uri)
{
    HELP_BUFFER(again);

    if (uri->scheme.data != NULL) {
        tg_buf_append_str(&again, uri->scheme);
        tg_buf_append_char(&again, ':');
    }

    if (uri->authority.data != NULL) {
        tg_buf_append_cstr(&again, "//");
        tg_buf_append_str(&again, uri->authority);
    }

    tg_buf_append_str(&again, uri->path);

    if (uri->query.data != NULL) {
        tg_buf_append_char(&again, '?');
        tg_buf_append_str(&again, uri->query);
    }

    if (uri->fragment.data != NULL) {
        tg_buf_append_char(&again, '#');
        tg_buf_append_str(&again, uri->fragment);
    }

    FUZZ_EQ(tg_buf_view(&again), text);
}

static void
uri_resolve(const tg_uri_t *base, const tg_uri_t *reference)
{
    HELP_BUFFER(first);
    HELP_BUFFER(second);
    tg_uri_t uri;

    tg_uri_resolve(base, reference, &first);

    /* An absolute URI resolved again does not change. */
    if ((base->scheme.data != NULL || reference->scheme.data != NULL)
        && tg_uri_parse(tg_buf_view(&first), &uri) == TG_OK
        && uri.scheme.data != NULL)
    {
        tg_uri_resolve(base, &uri, &second);
        FUZZ_EQ(tg_buf_view(&first), tg_buf_view(&second));
    }
}

/* Checks a text against each format, twice with one checker. */
static void
uri_format(tg_str_t text)
{
    static tg_schema_t *schemas[URI_FORMATS];
    static tg_schema_validator_t *validator;
    tg_schema_options_t options;
    tg_buf_t raw, error = HELP_BUF;
    tg_uri_t uri;
    size_t i;
    int rc;

    memset(&options, 0, sizeof(options));
    options.regex = tg_pcre2_get_engine();
    options.is_format_asserted = 1;

    for (i = 0; i < URI_FORMATS && validator == NULL; i++) {
        tg_buf_init(&raw, tg_alloc_libc());
        tg_buf_printf(&raw, "{\"format\":\"%s\"}", uri_formats[i]);
        schemas[i] = tg_schema_compile(tg_alloc_libc(), tg_buf_view(&raw),
                                       &options, &error);
        FUZZ(schemas[i] != NULL);
        tg_buf_deinit(&raw);
    }

    if (validator == NULL) {
        validator = tg_schema_validator_new(tg_alloc_libc(), 5);
    }

    tg_buf_init(&raw, tg_alloc_libc());
    tg_json_write_string(&raw, text);

    for (i = 0; i < URI_FORMATS; i++) {
        tg_buf_truncate(&error, 0);
        rc = tg_schema_validate(schemas[i], validator, tg_buf_view(&raw),
                                &error);
        FUZZ(rc == TG_OK || rc == TG_INVALID);
        FUZZ_LINE(tg_buf_view(&error));

        if (strcmp(uri_formats[i], "uri-reference") == 0) {
            /* Only the format checks the inside of an IP literal. */
            if (rc == TG_OK) {
                FUZZ(tg_uri_parse(text, &uri) == TG_OK);
            } else if (tg_uri_parse(text, &uri) == TG_OK) {
                FUZZ(memchr(uri.authority.data, '[', uri.authority.len)
                     != NULL);
            }
        }
    }

    tg_buf_deinit(&raw);
    tg_buf_deinit(&error);
}

FUZZ_TARGET(in)
{
    tg_str_t texts[2];
    tg_uri_t uris[2];
    tg_buf_t decoded;
    int i, rc[2];

    texts[0] = fuzz_until_newline(&in);
    texts[1] = fuzz_rest(&in);

    if (!tg_utf8_is_valid(texts[0]) || !tg_utf8_is_valid(texts[1])) {
        return;
    }

    for (i = 0; i < 2; i++) {
        rc[i] = tg_uri_parse(texts[i], &uris[i]);
        FUZZ(rc[i] == TG_OK || rc[i] == TG_INVALID);

        if (rc[i] == TG_OK) {
            uri_join(texts[i], &uris[i]);
        }

        tg_buf_init(&decoded, tg_alloc_libc());

        if (tg_uri_append_decoded(&decoded, texts[i]) == TG_OK) {
            FUZZ(tg_utf8_is_valid(tg_buf_view(&decoded)));
        }

        tg_buf_deinit(&decoded);
    }

    if (rc[0] == TG_OK && rc[1] == TG_OK) {
        uri_resolve(&uris[0], &uris[1]);
    }

    uri_format(texts[1]);
}
