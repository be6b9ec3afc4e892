/* The values of completion/complete: filtered and bounded. */
#include "protocol/tg_peer_impl.h"

/* Largest number of values in a result (MCP "Completion"). */
#define TG_COMPLETION_VALUES_MAX 100
/* Number of matching values that are counted; beyond it there is no total. */
#define TG_COMPLETION_TOTAL_MAX 1000
/* Longest value in bytes; longer ones are left out. */
#define TG_COMPLETION_VALUE_MAX 1024

/* How a value is searched for what was typed. */
typedef enum {
    TG_COMPLETION_BEGINS,
    TG_COMPLETION_CONTAINS
} tg_completion_t;

typedef struct {
    tg_buf_t *out;
    tg_str_t typed;
    tg_completion_t match;
    size_t n; /* values that matched, also those that are not sent */
} tg_completion_writer_t;

static int
tg_text_begins_with(tg_str_t text, tg_str_t head)
{
    size_t i;

    if (text.len < head.len) {
        return 0;
    }

    for (i = 0; i < head.len; i++) {
        if (tg_to_lower(text.data[i]) != tg_to_lower(head.data[i])) {
            return 0;
        }
    }

    return 1;
}

/* Checks whether a text contains another one after its first character. */
static int
tg_text_contains_later(tg_str_t text, tg_str_t part)
{
    while (text.len > part.len) {
        text = tg_str(text.data + 1, text.len - 1);

        if (tg_text_begins_with(text, part)) {
            return 1;
        }
    }

    return 0;
}

static void
tg_completion_add_value(tg_completion_writer_t *writer, tg_str_t value)
{
    int begins;

    if (value.len == 0 || value.len > TG_COMPLETION_VALUE_MAX
        || writer->n > TG_COMPLETION_TOTAL_MAX)
    {
        return;
    }

    begins = tg_text_begins_with(value, writer->typed);

    if (writer->match == TG_COMPLETION_BEGINS
            ? !begins
            : begins || !tg_text_contains_later(value, writer->typed))
    {
        return;
    }

    if (writer->n < TG_COMPLETION_VALUES_MAX) {
        tg_buf_append_cstr(writer->out, writer->n != 0 ? "," : "");
        tg_json_write_string(writer->out, value);
    }

    writer->n++;
}

/* Adds each line of a text. */
static void
tg_completion_add_lines(tg_completion_writer_t *writer, tg_str_t text)
{
    const char *end;
    tg_str_t line;

    while (text.len != 0) {
        end = memchr(text.data, '\n', text.len);
        line = tg_str(text.data,
                      end != NULL ? (size_t) (end - text.data) : text.len);
        text = tg_str(line.data + line.len, text.len - line.len);

        if (text.len != 0) {
            text = tg_str(text.data + 1, text.len - 1);
        }

        if (line.len != 0 && line.data[line.len - 1] == '\r') {
            line.len--;
        }

        tg_completion_add_value(writer, line);
    }
}

/* Adds each string of a raw array. */
static void
tg_completion_add_strings(tg_completion_writer_t *writer, tg_str_t array)
{
    tg_json_cursor_t json;
    tg_str_t element;
    tg_buf_t text;

    if (tg_json_type(array) != TG_JSON_ARRAY) {
        return;
    }

    tg_buf_init(&text, writer->out->alloc);

    for (tg_json_iter_init(&json, array); tg_json_iter_next(&json, &element);) {
        if (tg_json_type(element) == TG_JSON_STRING) {
            tg_buf_truncate(&text, 0);
            tg_json_append_unescaped(&text, tg_json_string_body(element));
            tg_completion_add_value(writer, tg_buf_view(&text));
        }
    }

    writer->out->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

void
tg_completion_write_values(tg_buf_t *out, const tg_outcome_t *outcome,
                           tg_str_t typed)
{
    tg_completion_writer_t writer = { .out = out };
    tg_buf_t text, part;

    tg_buf_init(&text, out->alloc);
    tg_buf_init(&part, out->alloc);
    tg_json_append_unescaped(&part, typed);
    writer.typed = tg_buf_view(&part);

    if (outcome->kind == TG_OUTCOME_BODY) {
        tg_json_append_unescaped(&text, outcome->value);
    } else if (outcome->kind == TG_OUTCOME_TEXT) {
        tg_buf_append_str(&text, outcome->value);
    }

    tg_buf_append_cstr(out, "\"completion\":{\"values\":[");

    /* The best values come first: those that begin with what was typed. */
    for (/* void */; writer.match <= TG_COMPLETION_CONTAINS; writer.match++) {
        if (outcome->kind == TG_OUTCOME_JSON) {
            tg_completion_add_strings(&writer, outcome->value);
        } else {
            tg_completion_add_lines(&writer, tg_buf_view(&text));
        }
    }

    tg_buf_append_char(out, ']');

    if (writer.n <= TG_COMPLETION_TOTAL_MAX) {
        tg_json_add_uint(out, "total", writer.n);
    }

    tg_json_add_bool(out, "hasMore", writer.n > TG_COMPLETION_VALUES_MAX);
    tg_buf_append_char(out, '}');
    out->failed |= tg_buf_has_failed(&text) | tg_buf_has_failed(&part);
    tg_buf_deinit(&text);
    tg_buf_deinit(&part);
}

/* Checks whether an array has more than TG_COMPLETION_VALUES_MAX elements. */
static int
tg_completion_is_too_long(tg_str_t values)
{
    tg_json_cursor_t json;
    unsigned n;

    n = 0;
    tg_json_iter_init(&json, values);

    while (n <= TG_COMPLETION_VALUES_MAX && tg_json_iter_next(&json, NULL)) {
        n++;
    }

    return n > TG_COMPLETION_VALUES_MAX;
}

int
tg_completion_shorten_result(tg_buf_t *out, tg_str_t result)
{
    static const char *const outer[] = { "completion", NULL };
    static const char *const inner[] = { "values", "hasMore", NULL };
    tg_str_t completion, values, value;
    tg_json_cursor_t json;
    unsigned n;

    if (!tg_json_has_member(result, TG_STR("completion"), TG_JSON_OBJECT,
                            &completion)
        || !tg_json_has_member(completion, TG_STR("values"), TG_JSON_ARRAY,
                               &values)
        || !tg_completion_is_too_long(values))
    {
        return 0;
    }

    tg_buf_append_cstr(out, "{\"completion\":{\"values\":[");
    tg_json_iter_init(&json, values);

    for (n = 0;
         n < TG_COMPLETION_VALUES_MAX && tg_json_iter_next(&json, &value); n++)
    {
        tg_json_begin_element(out);
        tg_json_write_compact(out, value);
    }

    tg_buf_append_cstr(out, "],\"hasMore\":true");
    (void) tg_json_write_members_except(out, completion, inner, 1);
    tg_buf_append_char(out, '}');
    (void) tg_json_write_members_except(out, result, outer, 1);
    tg_buf_append_char(out, '}');

    return 1;
}
