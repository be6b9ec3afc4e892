/* Writes the events of libyaml's parser as JSON. */
#include "runner/files/tg_yaml.h"

#if __has_include(<yaml.h>)

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "transport/tg_shared_library.h"

#include <yaml.h>

#define TG_YAML_FILE "libyaml-0.so.2"
#define TG_YAML_TAG "tag:yaml.org,2002:"

/* The libyaml functions that are used. This is the only list of their names. */
#define TG_YAML_FUNCTIONS(X)                                                   \
    X(parser_initialize)                                                       \
    X(parser_set_input_string)                                                 \
    X(parser_set_encoding)                                                     \
    X(parser_parse)                                                            \
    X(parser_delete)                                                           \
    X(event_delete)

#define TG_YAML_MEMBER(name) __typeof__(yaml_##name) *name;

typedef struct {
    TG_YAML_FUNCTIONS(TG_YAML_MEMBER)
} tg_yaml_t;

/* A mapping or sequence that is open. */
typedef struct {
    size_t start; /* offset of its JSON */
    int is_mapping;
    int has_key; /* the next event is the value of a key */
} tg_yaml_level_t;

typedef struct {
    tg_buf_t *json;
    tg_buf_t *why;
    tg_yaml_level_t levels[TG_YAML_DEPTH_MAX];
    unsigned depth;
    int is_complete; /* the document has ended */
} tg_yaml_writer_t;

static tg_yaml_t tg_yaml_functions;

static const tg_yaml_t *
tg_yaml_load(const char **why)
{
    static const tg_shared_library_symbol_t functions[] = {
#define TG_YAML_ROW(name) { "yaml_" #name, offsetof(tg_yaml_t, name) },
        TG_YAML_FUNCTIONS(TG_YAML_ROW)
    };
    static tg_shared_library_t library = {
        .file = TG_YAML_FILE,
        .missing = TG_YAML_FILE " cannot be loaded; install libyaml-0-2",
        .unusable = TG_YAML_FILE " cannot be used; install libyaml-0-2",
        .functions = functions,
        .n = sizeof(functions) / sizeof(functions[0]),
        .table = &tg_yaml_functions,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
    };

    return tg_shared_library_load(&library, why);
}

/* --- scalars --- */

/* Returns the number of digits at the beginning. */
static size_t
tg_yaml_count_digits(tg_str_t text)
{
    size_t n;

    for (n = 0; n < text.len && tg_is_digit(text.data[n]); n++) {
        /* void */
    }

    return n;
}

static tg_str_t
tg_yaml_take_digits(tg_str_t *text)
{
    tg_str_t digits;

    digits = tg_str(text->data, tg_yaml_count_digits(*text));
    *text = tg_str_skip(*text, digits.len);

    return digits;
}

static int
tg_yaml_take_sign(tg_str_t *text)
{
    int sign;

    sign = text->len != 0 && (text->data[0] == '-' || text->data[0] == '+')
               ? text->data[0]
               : 0;
    *text = tg_str_skip(*text, sign != 0);

    return sign;
}

/* Writes a decimal number as JSON. Returns 0 if the text is not one. */
static int
tg_yaml_write_decimal(tg_buf_t *json, tg_str_t text)
{
    tg_str_t whole, fraction, exponent, rest;
    int sign;

    rest = text;
    sign = tg_yaml_take_sign(&rest);
    whole = tg_yaml_take_digits(&rest);
    fraction = TG_STR("");

    if (rest.len != 0 && rest.data[0] == '.') {
        rest = tg_str_skip(rest, 1);
        fraction = tg_yaml_take_digits(&rest);
    }

    exponent = rest;

    if (whole.len + fraction.len == 0) {
        return 0;
    }

    if (rest.len != 0) {
        if (rest.data[0] != 'e' && rest.data[0] != 'E') {
            return 0;
        }

        rest = tg_str_skip(rest, 1);
        (void) tg_yaml_take_sign(&rest);

        if (rest.len == 0 || tg_yaml_count_digits(rest) != rest.len) {
            return 0;
        }
    }

    while (whole.len > 1 && whole.data[0] == '0') {
        whole = tg_str_skip(whole, 1);
    }

    tg_buf_append_cstr(json, sign == '-' ? "-" : "");
    tg_buf_append_str(json, whole.len != 0 ? whole : TG_STR("0"));

    if (fraction.len != 0) {
        tg_buf_append_char(json, '.');
        tg_buf_append_str(json, fraction);
    }

    tg_buf_append_str(json, exponent);

    return 1;
}

/* Writes 0x1F or 0o17 as a decimal number. Returns 0 if it is not one. */
static int
tg_yaml_write_based(tg_buf_t *json, tg_str_t text)
{
    uint64_t value, base;
    int digit;
    size_t i;

    if (text.len < 3 || text.data[0] != '0'
        || (text.data[1] != 'x' && text.data[1] != 'o'))
    {
        return 0;
    }

    base = text.data[1] == 'x' ? 16 : 8;

    for (i = 2, value = 0; i < text.len; i++) {
        digit = tg_hex_value(text.data[i]);

        if (digit < 0 || (uint64_t) digit >= base || value > INT64_MAX / base) {
            return 0;
        }

        value = value * base + (uint64_t) digit;
    }

    tg_buf_append_uint(json, value);

    return 1;
}

static void
tg_yaml_write_plain(tg_buf_t *json, tg_str_t text)
{
    static const char *const nulls[] = {
        "", "~", "null", "Null", "NULL", NULL
    };
    static const char *const yes[] = { "true", "True", "TRUE", NULL };
    static const char *const no[] = { "false", "False", "FALSE", NULL };

    if (tg_str_find(text, nulls) >= 0) {
        tg_buf_append_cstr(json, "null");
    } else if (tg_str_find(text, yes) >= 0) {
        tg_buf_append_cstr(json, "true");
    } else if (tg_str_find(text, no) >= 0) {
        tg_buf_append_cstr(json, "false");
    } else if (!tg_yaml_write_decimal(json, text)
               && !tg_yaml_write_based(json, text))
    {
        tg_json_write_string(json, text);
    }
}

/* --- events --- */

static int
tg_yaml_fail(tg_yaml_writer_t *writer, const yaml_event_t *event,
             const char *what)
{
    tg_buf_printf(writer->why, "line %zu of its YAML: %s",
                  event->start_mark.line + 1, what);

    return TG_INVALID;
}

/* Checks for a tag that a JSON value cannot have. */
static int
tg_yaml_is_foreign_tag(const yaml_char_t *tag)
{
    return tag != NULL && strcmp((const char *) tag, "!") != 0
           && strncmp((const char *) tag, TG_YAML_TAG, sizeof(TG_YAML_TAG) - 1)
                  != 0;
}

/* Writes a key with its colon. */
static int
tg_yaml_write_key(tg_yaml_writer_t *writer, const yaml_event_t *event,
                  tg_yaml_level_t *level)
{
    tg_str_t key, object, value;
    int rc;

    if (event->type != YAML_SCALAR_EVENT) {
        return tg_yaml_fail(writer, event, "a key is not a text");
    }

    key = tg_str((const char *) event->data.scalar.value,
                 event->data.scalar.length);

    /* The members so far are an object as soon as they have its end. */
    tg_buf_append_char(writer->json, '}');
    object = tg_str_skip(tg_buf_view(writer->json), level->start);
    rc = tg_buf_has_failed(writer->json)
             ? TG_NOMEM
             : tg_json_get_member(object, key, &value);
    tg_buf_truncate(writer->json, writer->json->len - 1);

    if (rc == TG_OK) {
        return tg_yaml_fail(writer, event, "the key is there twice");
    }

    if (object.len > 2) {
        tg_buf_append_char(writer->json, ',');
    }

    tg_json_write_string(writer->json, key);
    tg_buf_append_char(writer->json, ':');
    level->has_key = 1;

    return TG_OK;
}

/* Writes what stands before a value. Returns TG_AGAIN if it was a key. */
static int
tg_yaml_begin_value(tg_yaml_writer_t *writer, const yaml_event_t *event)
{
    tg_yaml_level_t *level;
    int rc;

    if (writer->depth == 0) {
        return event->type == YAML_MAPPING_START_EVENT
                   ? TG_OK
                   : tg_yaml_fail(writer, event, "it is not a mapping");
    }

    level = &writer->levels[writer->depth - 1];

    if (level->is_mapping && !level->has_key) {
        rc = tg_yaml_write_key(writer, event, level);
        return rc == TG_OK ? TG_AGAIN : rc;
    }

    if (!level->is_mapping && writer->json->len > level->start + 1) {
        tg_buf_append_char(writer->json, ',');
    }

    level->has_key = 0;

    return TG_OK;
}

static int
tg_yaml_on_scalar(tg_yaml_writer_t *writer, const yaml_event_t *event)
{
    tg_str_t text;

    if (tg_yaml_is_foreign_tag(event->data.scalar.tag)) {
        return tg_yaml_fail(writer, event, "a tag is not one of YAML itself");
    }

    text = tg_str((const char *) event->data.scalar.value,
                  event->data.scalar.length);

    if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE
        && (event->data.scalar.tag == NULL
            || (strcmp((char *) event->data.scalar.tag, "!") != 0
                && strcmp((char *) event->data.scalar.tag, TG_YAML_TAG "str")
                       != 0)))
    {
        tg_yaml_write_plain(writer->json, text);
    } else {
        tg_json_write_string(writer->json, text);
    }

    return TG_OK;
}

static int
tg_yaml_on_start(tg_yaml_writer_t *writer, const yaml_event_t *event)
{
    tg_yaml_level_t *level;

    if (writer->depth == TG_YAML_DEPTH_MAX) {
        return tg_yaml_fail(writer, event, "it is nested too deeply");
    }

    level = &writer->levels[writer->depth++];
    level->start = writer->json->len;
    level->is_mapping = event->type == YAML_MAPPING_START_EVENT;
    level->has_key = 0;
    tg_buf_append_char(writer->json, level->is_mapping ? '{' : '[');

    return TG_OK;
}

static int
tg_yaml_on_value(tg_yaml_writer_t *writer, const yaml_event_t *event)
{
    int rc;

    rc = tg_yaml_begin_value(writer, event);

    if (rc != TG_OK) {
        return rc == TG_AGAIN ? TG_OK : rc;
    }

    return event->type == YAML_SCALAR_EVENT ? tg_yaml_on_scalar(writer, event)
                                            : tg_yaml_on_start(writer, event);
}

static int
tg_yaml_on_event(tg_yaml_writer_t *writer, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return writer->is_complete
                   ? tg_yaml_fail(writer, event, "a second document begins")
                   : TG_OK;
    case YAML_DOCUMENT_END_EVENT:
        writer->is_complete = 1;
        return TG_OK;
    case YAML_ALIAS_EVENT:
        return tg_yaml_fail(writer, event, "an alias; repeat the value");
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return tg_yaml_on_value(writer, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        writer->depth--;
        tg_buf_append_char(writer->json,
                           event->type == YAML_MAPPING_END_EVENT ? '}' : ']');
        return TG_OK;
    default:
        return TG_OK;
    }
}

static int
tg_yaml_write(const tg_yaml_t *yaml, yaml_parser_t *parser,
              tg_yaml_writer_t *writer)
{
    yaml_event_t event;
    int rc, is_end;

    for (rc = TG_OK, is_end = 0; rc == TG_OK && !is_end;) {
        if (!yaml->parser_parse(parser, &event)) {
            tg_buf_printf(writer->why, "line %zu of its YAML: %s",
                          parser->problem_mark.line + 1,
                          parser->problem != NULL ? parser->problem
                                                  : "it is not YAML");
            return parser->error == YAML_MEMORY_ERROR ? TG_NOMEM : TG_INVALID;
        }

        is_end = event.type == YAML_STREAM_END_EVENT;
        rc = tg_yaml_on_event(writer, &event);
        yaml->event_delete(&event);

        if (rc == TG_OK && writer->json->len > TG_YAML_JSON_MAX) {
            tg_buf_append_cstr(writer->why, "it is too long");
            rc = TG_INVALID;
        }
    }

    if (rc == TG_OK && writer->json->len == 0) {
        tg_buf_append_cstr(writer->why, "it is empty");
        rc = TG_INVALID;
    }

    return tg_buf_has_failed(writer->json) ? TG_NOMEM : rc;
}

int
tg_yaml_to_json(tg_str_t yaml, tg_buf_t *json, tg_buf_t *why)
{
    tg_yaml_writer_t writer = { .json = json, .why = why };
    const tg_yaml_t *library;
    yaml_parser_t parser;
    const char *missing;
    int rc;

    if (!tg_utf8_is_valid(yaml)) {
        tg_buf_append_cstr(why, "it is not UTF-8");
        return TG_INVALID;
    }

    library = tg_yaml_load(&missing);

    if (library == NULL) {
        tg_buf_append_cstr(why, missing);
        return TG_INVALID;
    }

    if (!library->parser_initialize(&parser)) {
        return TG_NOMEM;
    }

    library->parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    library->parser_set_input_string(&parser, (const unsigned char *) yaml.data,
                                     yaml.len);
    rc = tg_yaml_write(library, &parser, &writer);
    library->parser_delete(&parser);

    return rc;
}

#else

int
tg_yaml_to_json(tg_str_t yaml, tg_buf_t *json, tg_buf_t *why)
{
    (void) yaml;
    (void) json;
    tg_buf_append_cstr(why,
                       "toolgate-runner was built without libyaml; install "
                       "libyaml-dev, then build and install again");

    return TG_INVALID;
}

#endif
