/* Parsing of server-sent events: fields, lines, events. */
#include "protocol/tg_sse.h"

/* Largest number of digits in "retry" (ms); a longer number is ignored. */
#define TG_SSE_DIGITS_MAX 9
/* Bytes of memory kept for the next event. */
#define TG_SSE_KEPT_MAX 65536

void
tg_sse_init(tg_sse_t *sse, const tg_alloc_t *alloc, size_t max)
{
    memset(sse, 0, sizeof(*sse));
    tg_buf_init(&sse->data, alloc);
    sse->max = max;
}

void
tg_sse_deinit(tg_sse_t *sse)
{
    tg_buf_deinit(&sse->data);
}

static void
tg_sse_begin_event(tg_sse_t *sse)
{
    tg_buf_reset(&sse->data, TG_SSE_KEPT_MAX);
    sse->type.len = 0;
    sse->has_data = 0;
    sse->is_delivered = 0;
}

static void
tg_sse_begin_line(tg_sse_t *sse)
{
    sse->state = TG_SSE_NAME;
    sse->name_len = 0;
    sse->value.len = 0;
    sse->is_long = 0;
}

void
tg_sse_restart(tg_sse_t *sse)
{
    tg_sse_begin_event(sse);
    tg_sse_begin_line(sse);
    sse->id = sse->last;
    sse->has_id = 0;
    sse->is_cr = 0;
    sse->nbom = 0;
}

tg_str_t
tg_sse_last_id(const tg_sse_t *sse)
{
    return tg_str(sse->last.text, sse->last.len);
}

static tg_sse_field_t
tg_sse_find_field(const tg_sse_t *sse)
{
    static const struct {
        tg_str_t name;
        tg_sse_field_t field;
    } fields[] = {
        { TG_STR_INIT("data"), TG_SSE_DATA },
        { TG_STR_INIT("event"), TG_SSE_TYPE },
        { TG_STR_INIT("id"), TG_SSE_ID },
        { TG_STR_INIT("retry"), TG_SSE_RETRY },
    };
    size_t i;

    for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (tg_str_eq(tg_str(sse->name, sse->name_len), fields[i].name)) {
            return fields[i].field;
        }
    }

    return TG_SSE_OTHER;
}

/* Begins a field's value; lines of data are joined with line feeds. */
static int
tg_sse_begin_value(tg_sse_t *sse)
{
    sse->field = tg_sse_find_field(sse);

    if (sse->field == TG_SSE_DATA) {
        if (sse->has_data && sse->data.len >= sse->max) {
            return TG_LIMIT;
        }

        tg_buf_append(&sse->data, "\n", sse->has_data);
        sse->has_data = 1;
    }

    return tg_buf_has_failed(&sse->data) ? TG_NOMEM : TG_OK;
}

static int
tg_sse_append_value(tg_sse_t *sse, const char *data, size_t len)
{
    if (sse->field == TG_SSE_DATA) {
        if (len > sse->max - sse->data.len) {
            return TG_LIMIT;
        }

        tg_buf_append(&sse->data, data, len);
        return tg_buf_has_failed(&sse->data) ? TG_NOMEM : TG_OK;
    }

    if (sse->field == TG_SSE_OTHER) {
        return TG_OK;
    }

    if (len > TG_SSE_VALUE_MAX - sse->value.len) {
        len = TG_SSE_VALUE_MAX - sse->value.len;
        sse->is_long = 1;
    }

    memcpy(sse->value.text + sse->value.len, data, len);
    sse->value.len += len;

    return TG_OK;
}

static void
tg_sse_set_retry(tg_sse_t *sse)
{
    uint64_t ms;
    size_t i;

    ms = 0;

    for (i = 0; i < sse->value.len && tg_is_digit(sse->value.text[i]); i++) {
        ms = ms * 10 + (uint64_t) (sse->value.text[i] - '0');

        if (i == TG_SSE_DIGITS_MAX) {
            return;
        }
    }

    if (i != 0 && i == sse->value.len) {
        sse->retry = ms;
    }
}

/* Stores the value of a field at the end of its line. */
static void
tg_sse_end_value(tg_sse_t *sse)
{
    if (sse->is_long) {
        sse->value.len = 0;
    }

    switch (sse->field) {
    case TG_SSE_TYPE:
        sse->type = sse->value;
        break;

    case TG_SSE_ID:
        if (memchr(sse->value.text, '\0', sse->value.len) == NULL) {
            sse->id = sse->value;
            sse->has_id = 1;
        }

        break;

    case TG_SSE_RETRY:
        tg_sse_set_retry(sse);
        break;

    default:
        break;
    }
}

/* Returns the skipped bytes of a byte order mark at the stream's beginning. */
static size_t
tg_sse_skip_bom(tg_sse_t *sse, const char *data, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t n;

    for (n = 0; n < len && sse->nbom < 3 && data[n] == mark[sse->nbom]; n++) {
        sse->nbom++;
    }

    if (n != len && sse->nbom < 3) {
        /* An incomplete mark is the beginning of an unknown field name. */
        sse->name_len = sse->nbom != 0 ? TG_SSE_NAME_MAX : 0;
        sse->nbom = 3;
    }

    return n;
}

static int
tg_sse_parse_line(tg_sse_t *sse, const char *data, size_t len)
{
    size_t i, room;
    int rc;

    i = 0;

    if (sse->state == TG_SSE_NAME) {
        while (i < len && data[i] != ':') {
            i++;
        }

        room = TG_SSE_NAME_MAX - sse->name_len;
        room = i < room ? i : room;
        memcpy(sse->name + sse->name_len, data, room);
        sse->name_len += room;

        if (i == len) {
            return TG_OK;
        }

        i++;
        sse->state = TG_SSE_BLANK;
        rc = tg_sse_begin_value(sse);

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (sse->state == TG_SSE_BLANK && i < len) {
        i += data[i] == ' ';
        sse->state = TG_SSE_VALUE;
    }

    return tg_sse_append_value(sse, data + i, len - i);
}

/* Ends a line. TG_OK after an event, otherwise TG_AGAIN or an error. */
static int
tg_sse_end_line(tg_sse_t *sse, tg_sse_event_t *event)
{
    int rc;

    if (sse->state != TG_SSE_NAME || sse->name_len != 0) {
        rc = sse->state == TG_SSE_NAME ? tg_sse_begin_value(sse) : TG_OK;
        tg_sse_end_value(sse);
        tg_sse_begin_line(sse);
        return rc == TG_OK ? TG_AGAIN : rc;
    }

    if (sse->has_id) {
        sse->last = sse->id;
        sse->has_id = 0;
    }

    if (!sse->has_data) {
        tg_sse_begin_event(sse);
        return TG_AGAIN;
    }

    event->type = tg_str(sse->type.text, sse->type.len);
    event->data = tg_buf_view(&sse->data);
    sse->is_delivered = 1;

    return TG_OK;
}

int
tg_sse_next(tg_sse_t *sse, const char *data, size_t len, size_t *consumed,
            tg_sse_event_t *event)
{
    size_t at, n;
    int rc;

    if (sse->is_delivered) {
        tg_sse_begin_event(sse);
    }

    at = tg_sse_skip_bom(sse, data, len);

    while (at < len) {
        if (sse->is_cr && data[at] == '\n') {
            sse->is_cr = 0;
            at++;
            continue;
        }

        sse->is_cr = 0;

        for (n = at; n < len && data[n] != '\n' && data[n] != '\r'; n++) {
            /* void */
        }

        rc = tg_sse_parse_line(sse, data + at, n - at);

        if (rc != TG_OK) {
            return rc;
        }

        at = n;

        if (at < len) {
            sse->is_cr = data[at++] == '\r';
            rc = tg_sse_end_line(sse, event);

            if (rc != TG_AGAIN) {
                *consumed = at;
                return rc;
            }
        }
    }

    *consumed = at;

    return TG_AGAIN;
}
