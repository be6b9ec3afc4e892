/* Matching and recording of calls for the fast path. */
#include "protocol/tg_peer_fast_path.h"

#include "base/tg_json_inline.h"
#include "protocol/tg_peer_impl.h"

/* Containers around the arguments: the envelope and its params. */
#define TG_FAST_PATH_DEPTH 2

/* Returns the position after the arguments, or NULL. */
static inline const char *
tg_fast_path_parse_arguments(const char *p, const char *end,
                             tg_json_index_t *notes, tg_request_t *request)
{
    tg_json_cursor_t json;

    json = (tg_json_cursor_t){
        .start = p, .pos = p, .end = end, .depth = TG_FAST_PATH_DEPTH
    };

    return *p == '{'
                   && tg_json_index_object(&json, notes, &request->arguments)
                          == TG_OK
               ? json.pos
               : NULL;
}

/* Returns the position after a short scalar id, or NULL. */
static inline const char *
tg_fast_path_parse_id(const char *p, const char *end, tg_request_t *request)
{
    const char *at;

    at = tg_json_skip_short_scalar(p, end);

    if (at == p) {
        return NULL;
    }

    if (request->reply.id.data != NULL) {
        request->reply.id = tg_str(p, (size_t) (at - p));
    }

    return at;
}

/*
 * Compares the message at p with a recorded call, and sets the request's
 * arguments and id. Returns the position after it, or NULL.
 */
static const char *
tg_fast_path_match(const tg_fast_path_t *fast_path, const char *p,
                   const char *end, tg_json_index_t *notes,
                   tg_request_t *request)
{
    const char *piece;
    size_t len;
    unsigned i;

    piece = fast_path->bytes;

    for (i = 0;; i++) {
        len = fast_path->piece_lens[i];

        if ((size_t) (end - p) < len || memcmp(p, piece, len) != 0) {
            return NULL;
        }

        p += len;
        piece += len;

        if (i + 1 == fast_path->n) {
            return p;
        }

        if (p == end) {
            return NULL;
        }

        p = i == fast_path->arguments_piece
                ? tg_fast_path_parse_arguments(p, end, notes, request)
                : tg_fast_path_parse_id(p, end, request);

        if (p == NULL) {
            return NULL;
        }
    }
}

/* Checks that the match is the whole frame. A line includes its line feed. */
static int
tg_fast_path_is_whole(const tg_peer_t *peer, tg_str_t bytes, size_t size)
{
    return peer->frame.kind == TG_FRAME_PREFIX
               ? size == bytes.len
               : size + 1 == bytes.len && size <= peer->frame.limit;
}

size_t
tg_peer_serve_fast_path(tg_peer_t *peer, tg_str_t bytes)
{
    const tg_fast_path_cache_t *fast_paths;
    const tg_fast_path_t *fast_path;
    tg_json_index_t notes;
    tg_request_t request;
    const char *end;
    unsigned i;

    fast_paths = tg_catalog_fast_paths(peer->catalog);

    if (fast_paths == NULL) {
        return 0;
    }

    for (i = 0, end = NULL; i < TG_FAST_PATH_CACHE_SIZE && end == NULL; i++) {
        fast_path = &fast_paths->list[i];

        if (fast_path->dialect == peer->dialect
            && fast_path->is_mcp == peer->is_mcp) {
            request = fast_path->request;
            end = tg_fast_path_match(fast_path, bytes.data, tg_str_end(bytes),
                                     &notes, &request);
        }
    }

    if (end == NULL) {
        return 0;
    }

    request.size = (size_t) (end - bytes.data);
    request.notes = &notes;

    if (request.text.data != NULL) {
        request.text = tg_str(bytes.data, request.size);
    }

    /* A duplicate id is rejected by the normal path. */
    if (!tg_fast_path_is_whole(peer, bytes, request.size)
        || ((peer->ncalls | peer->nrounds | peer->priv->nsubscriptions) != 0
            && request.reply.id.data != NULL
            && tg_peer_has_request_id(peer, request.reply.id)))
    {
        return 0;
    }

    peer->frame_size = request.size;
    peer->work = 0;
    tg_peer_call_handler(peer, &request);

    return request.size;
}

/* Checks whether the fast path can parse an id; it may be absent. */
static int
tg_fast_path_can_parse_id(tg_str_t id)
{
    tg_json_type_t type;

    type = tg_json_type(id);

    return type == TG_JSON_NUMBER || type == TG_JSON_STRING || id.data == NULL;
}

/* Adds the text before a value as a piece, and sets *rest to that after it. */
static void
tg_fast_path_add_piece(tg_fast_path_t *fast_path, char **at, tg_str_t *rest,
                       tg_str_t value)
{
    size_t len;

    len = (size_t) (value.data - rest->data);
    (void) tg_str_copy_to(at, tg_str(rest->data, len));
    fast_path->piece_lens[fast_path->n++] = len;
    len += value.len;
    *rest = tg_str(rest->data + len, rest->len - len);
}

static void
tg_fast_path_fill(tg_fast_path_t *fast_path, const tg_message_t *message,
                  const tg_request_t *request)
{
    tg_str_t id, arguments, rest;
    char *at;

    id = message->id;
    arguments = message->p.arguments;
    rest = message->text;
    at = fast_path->bytes;
    fast_path->n = 0;

    if (id.data != NULL && id.data < arguments.data) {
        tg_fast_path_add_piece(fast_path, &at, &rest, id);
    }

    fast_path->arguments_piece = fast_path->n;
    tg_fast_path_add_piece(fast_path, &at, &rest, arguments);

    if (id.data != NULL && id.data > arguments.data) {
        tg_fast_path_add_piece(fast_path, &at, &rest, id);
    }

    tg_fast_path_add_piece(fast_path, &at, &rest, tg_str(tg_str_end(rest), 0));
    fast_path->request = *request;
    fast_path->request.name = tg_str_copy_to(&at, request->name);
    fast_path->request.arguments = TG_STR_NONE;
    fast_path->request.notes = NULL;

    if (request->reply.id.data != NULL) {
        fast_path->request.reply.id = TG_STR("");
    }
}

void
tg_peer_cache_fast_path(tg_peer_t *peer, const tg_message_t *message,
                        const tg_request_t *request)
{
    const tg_catalog_entry_t *entry;
    tg_fast_path_cache_t *fast_paths;
    tg_fast_path_t *fast_path;

    /* Keep only messages whose variable parts are the id and the arguments. */
    if (message->p.arguments.data == NULL || message->p.meta.data != NULL
        || request->reply.batch != NULL
        || !tg_fast_path_can_parse_id(message->id)
        || message->text.len != peer->frame_size
        || message->text.len - message->p.arguments.len - message->id.len
                   + request->name.len
               > TG_FAST_PATH_BYTES_MAX)
    {
        return;
    }

    fast_paths = tg_catalog_fast_paths(peer->catalog);

    if (fast_paths == NULL || fast_paths->n++ % TG_FAST_PATH_SAMPLE != 0) {
        return;
    }

    entry = tg_peer_find_entry(peer, request->reply.kind, request->name);

    if (entry != NULL) {
        fast_path = &fast_paths->list[fast_paths->n / TG_FAST_PATH_SAMPLE
                                      % TG_FAST_PATH_CACHE_SIZE];
        tg_fast_path_fill(fast_path, message, request);
        fast_path->request.entry = entry;
        fast_path->dialect = peer->dialect;
        fast_path->is_mcp = peer->is_mcp;
    }
}
