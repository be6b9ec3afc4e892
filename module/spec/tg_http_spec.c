/* The members and directives of `http`. */
#include "spec/tg_http_spec.h"

#include "spec/tg_output_spec.h"

#define TG_HTTP_FIELD(text, kind, member)                                      \
    .name = text, .type = kind, TG_FIELD_AT(tg_http_spec_t, member)

static const tg_spec_option_t tg_http_redirects_option = {
    .directive = "redirects",
    .inherited = "tool_redirects",
    .syntax = TG_SPEC_NUMBER,
    .noun = "number",
    .expected = "0 to 20",
};

const tg_spec_option_t tg_http_connect_timeout_option = {
    .directive = "connect_timeout",
    .inherited = "tool_connect_timeout",
    .syntax = TG_SPEC_TIME,
    .noun = "time",
    .expected = "between 1ms and 1h, such as \"3s\"",
};

const tg_json_field_t tg_http_fields[] = {
    { TG_HTTP_FIELD("method", TG_FIELD_STRING, method), .is_required = 1,
      .why = "method must be a string" },
    { TG_HTTP_FIELD("url", TG_FIELD_STRING, url), .is_required = 1,
      .why = "url must be a string" },
    { TG_HTTP_FIELD("headers", TG_FIELD_STRINGS, headers),
      .why = "headers must be an array of strings" },
    { TG_HTTP_FIELD("secrets", TG_FIELD_STRINGS, secrets),
      .why = "secrets must be an array of strings" },
    { TG_HTTP_FIELD("body", TG_FIELD_STRING, body),
      .why = "body must be a string" },
    { TG_HTTP_FIELD("hosts", TG_FIELD_STRINGS, hosts), .is_required = 1,
      .min = 1, .why = "hosts must be an array of at least one string" },
    { TG_HTTP_FIELD("redirects", TG_FIELD_INT, redirects),
      .max = TG_HTTP_REDIRECTS_MAX,
      .why = "redirects must be an integer from 0 to 20",
      .option = &tg_http_redirects_option },
    { TG_HTTP_FIELD("proxy", TG_FIELD_STRING, proxy),
      .why = "proxy must be a string" },
    { TG_HTTP_FIELD("ca_file", TG_FIELD_STRING, ca_file),
      .why = "ca_file must be a string" },
    { TG_HTTP_FIELD("connect_ms", TG_FIELD_INT, connect_ms), .min = 1,
      .max = TG_HTTP_CONNECT_MS_MAX,
      .why = "connect_ms must be an integer from 1 to 3600000",
      .option = &tg_http_connect_timeout_option },
    { TG_HTTP_FIELD("output", TG_FIELD_WORD, output),
      .words = tg_output_type_words,
      .why = "output must be text, json or result" },
    { TG_HTTP_FIELD("max_output", TG_FIELD_INT, max_output),
      .max = TG_OUTPUT_MAX, .absent = TG_OUTPUT_DEFAULT,
      .why = "max_output must be an integer from 0 to 33554432" },
    { TG_HTTP_FIELD("spill", TG_FIELD_OBJECT, spill),
      .why = "spill must be an object" },
    { .name = NULL },
};
