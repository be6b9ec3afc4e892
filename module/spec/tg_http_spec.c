/* The members and directives of `http`. */
#include "spec/tg_http_spec.h"

#include "spec/tg_output_spec.h"

const tg_json_field_t tg_http_fields[] = {
    { TG_STRING_FIELD(tg_http_spec_t, "method", method), .is_required = 1 },
    { TG_STRING_FIELD(tg_http_spec_t, "url", url), .is_required = 1 },
    { TG_STRINGS_FIELD(tg_http_spec_t, "headers", headers) },
    { TG_STRINGS_FIELD(tg_http_spec_t, "secrets", secrets) },
    { TG_STRING_FIELD(tg_http_spec_t, "body", body) },
    { TG_ARGV_FIELD(tg_http_spec_t, "hosts", hosts) },
    { TG_INT_FIELD(tg_http_spec_t, "redirects", redirects, 0,
                   TG_HTTP_REDIRECTS_MAX),
      TG_TOOL_OPTION("redirects", .syntax = TG_SPEC_NUMBER) },
    { TG_STRING_FIELD(tg_http_spec_t, "proxy", proxy) },
    { TG_STRING_FIELD(tg_http_spec_t, "ca_file", ca_file) },
    { TG_INT_FIELD(tg_http_spec_t, "connect_ms", connect_ms, 1,
                   TG_HTTP_CONNECT_MS_MAX),
      TG_CONNECT_TIMEOUT_OPTION },
    { TG_FIELD(tg_http_spec_t, "output", TG_FIELD_WORD, output),
      .words = tg_output_type_words,
      .why = "output must be text, json, result, content or base64" },
    { TG_INT_FIELD(tg_http_spec_t, "max_output", max_output, 0, TG_OUTPUT_MAX),
      .absent = TG_OUTPUT_DEFAULT },
    { TG_OBJECT_FIELD(tg_http_spec_t, "spill", spill) },
    { .name = NULL },
};
