/*
 * Checks from outside that each request that expects a reply gets exactly one.
 */
#include "host.h"

#include "base/tg_number.h"

/*
 * Returns the raw id of a request that must get a result or an error; data is
 * NULL for other messages and for ids that cannot be returned.
 */
static tg_str_t
count_request(tg_dialect_t dialect, const tg_message_t *message)
{
    tg_json_type_t type;

    type = tg_json_type(message->id);

    if (message->type != TG_JSON_OBJECT || message->has_duplicate
        || (type != TG_JSON_STRING && type != TG_JSON_NUMBER)
        || message->id.len > TG_REQUEST_ID_MAX)
    {
        return TG_STR_NONE;
    }

    if (dialect == TG_DIALECT_RELAY) {
        return tg_json_string_eq(message->kind, TG_STR("mcp_request"))
                   ? message->id
                   : TG_STR_NONE;
    }

    /* A reply is not replied to. */
    return message->method.data == NULL
                   && (message->result.data != NULL
                       || message->error.data != NULL)
               ? TG_STR_NONE
               : message->id;
}

/* MCP refuses such an id, and replies without it. */
static int
count_is_fraction(tg_str_t id)
{
    tg_number_t number;

    return tg_json_type(id) == TG_JSON_NUMBER
           && (tg_number_parse(id, &number) != TG_OK
               || !tg_number_is_integer(&number));
}

/* Says whether the message can leave another request without a reply. */
static int
count_is_cancel(const tg_message_t *message)
{
    return tg_json_type(message->method) == TG_JSON_STRING
           && (tg_json_string_eq(message->method,
                                 TG_STR("notifications/cancelled"))
               || tg_json_string_eq(message->method,
                                    TG_STR("$/cancelRequest")));
}

/* Says whether the message ends the conversation. */
static int
count_is_end(tg_dialect_t dialect, const tg_message_t *message)
{
    return dialect == TG_DIALECT_RELAY && message->type == TG_JSON_OBJECT
           && (tg_json_string_eq(message->kind, TG_STR("shutdown"))
               || tg_json_string_eq(message->kind, TG_STR("error")));
}

static int
count_is_reply(const tg_message_t *message, tg_str_t id)
{
    return message->method.data == NULL && message->id.data != NULL
           && (message->result.data != NULL || message->error.data != NULL)
           && tg_str_eq(message->id, id);
}

typedef struct {
    tg_dialect_t dialect;
    size_t limit; /* longest line that is accepted */
    tg_str_t id;
    unsigned n;          /* requests or replies with this id */
    unsigned in_batches; /* those of them in batches */
    unsigned ncancels;
    unsigned noversized; /* lines above the limit: a reply may have their id */
    int is_ended;
} count_t;

static void
count_message(count_t *count, const tg_message_t *message, int is_sent,
              int in_batch)
{
    int is_one;

    if (count->is_ended) {
        return;
    }

    if (is_sent) {
        is_one = tg_str_eq(count_request(count->dialect, message), count->id);
        count->ncancels += count_is_cancel(message) != 0;
        count->is_ended = count_is_end(count->dialect, message);
    } else {
        is_one = count_is_reply(message, count->id);
    }

    count->n += is_one != 0;
    count->in_batches += is_one && in_batch;
}

static void
count_batch(count_t *count, tg_str_t array, int is_sent)
{
    tg_message_t message;
    tg_str_t element;
    tg_json_cursor_t json;

    tg_json_init(&json, array);
    FUZZ(tg_json_enter_array(&json) == TG_OK);

    while (tg_json_next_element(&json) == TG_OK) {
        FUZZ(tg_json_read_value(&json, &element) == TG_OK);
        FUZZ(tg_message_parse(&message, element) == TG_OK);
        count_message(count, &message, is_sent, 1);
    }
}

static void
count_lines(count_t *count, tg_str_t text, int is_sent)
{
    tg_message_t message;
    const char *newline;
    tg_str_t line;
    int rc;

    while ((newline = text.len != 0 ? memchr(text.data, '\n', text.len) : NULL)
           != NULL)
    {
        line = tg_str(text.data, (size_t) (newline - text.data));
        text = tg_str(newline + 1, text.len - line.len - 1);

        if (is_sent && line.len > count->limit) {
            count->noversized++;
            continue;
        }

        rc = tg_message_parse(&message, line);
        FUZZ(is_sent || rc == TG_OK);

        if (rc == TG_OK && message.type == TG_JSON_ARRAY) {
            /* An array is a malformed frame in relay. */
            if (count->dialect != TG_DIALECT_RELAY) {
                count_batch(count, message.text, is_sent);
            }

        } else if (rc == TG_OK) {
            count_message(count, &message, is_sent, 0);
        }
    }

    FUZZ(is_sent || text.len == 0);
}

/* Compares the requests and replies with one id. */
static void
count_id(tg_dialect_t dialect, size_t limit, tg_str_t id, tg_str_t sent,
         tg_str_t received, int is_lenient)
{
    count_t requests, replies;

    memset(&requests, 0, sizeof(requests));
    requests.dialect = dialect;
    requests.limit = limit;
    requests.id = id;
    replies = requests;
    count_lines(&requests, sent, 1);
    count_lines(&replies, received, 0);
    FUZZ(replies.n <= requests.n + requests.noversized);

    /* A batch may be refused as a whole. */
    if (!is_lenient && !requests.is_ended && requests.ncancels == 0
        && requests.in_batches == 0
        && (dialect == TG_DIALECT_RELAY || !count_is_fraction(id)))
    {
        FUZZ(replies.n >= requests.n);
    }
}

/*
 * Counts ipc frames up to the one that ends the connection because it is too
 * large or not JSON.
 */
static size_t
count_frames(tg_str_t text, int is_sent)
{
    const unsigned char *p;
    tg_message_t message;
    size_t n, len;

    for (n = 0; text.len >= TG_FRAME_PREFIX_SIZE; n++) {
        p = (const unsigned char *) text.data;
        len = (size_t) p[0] << 24 | (size_t) p[1] << 16 | (size_t) p[2] << 8
              | p[3];
        text = tg_str(text.data + 4, text.len - 4);

        if (is_sent && len > TG_FRAME_IPC_MAX) {
            return n + 1;
        }

        if (is_sent && len > text.len) {
            return n;
        }

        FUZZ(len <= text.len);

        if (tg_message_parse(&message, tg_str(text.data, len)) != TG_OK) {
            FUZZ(is_sent);
            return n + 1;
        }

        text = tg_str(text.data + len, text.len - len);
    }

    FUZZ(is_sent || text.len == 0);

    return n;
}

static void
count_ids(tg_dialect_t dialect, size_t limit, tg_str_t sent, tg_str_t received,
          int is_lenient)
{
    tg_message_t message;
    size_t n, step;
    fuzz_in_t in;
    tg_str_t id;

    in.pos = sent.data;
    in.end = tg_str_end(sent);
    step = 1 + sent.len / 1000;

    /*
     * Checks only some of many ids, as each one takes a pass over all
     * messages.
     */
    for (n = 0; in.pos != in.end && n < 10 * step; n++) {
        if (tg_message_parse(&message, fuzz_until_newline(&in)) != TG_OK
            || n % step != 0)
        {
            continue;
        }

        id = count_request(dialect, &message);

        if (id.data != NULL) {
            count_id(dialect, limit, id, sent, received, is_lenient);
        }
    }

    /* No reply may have an id that was never sent. */
    count_id(dialect, limit, TG_STR("0.25"), sent, received, 1);
}

void
fuzz_host_count(tg_dialect_t dialect, size_t limit, tg_str_t sent,
                tg_str_t received, int is_lenient)
{
    if (dialect == TG_DIALECT_IPC) {
        FUZZ(count_frames(sent, 1) == count_frames(received, 0));
    } else {
        count_ids(dialect, limit, sent, received, is_lenient);
    }
}
