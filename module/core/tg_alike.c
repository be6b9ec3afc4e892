#include "core/tg_alike.h"

#include "base/tg_json_near.h"
#include "core/tg_peer_impl.h"

/* Containers around the arguments: the envelope and its params. */
#define TG_ALIKE_DEPTH 2

/* --- the short way --- */

/* Reads the arguments at p: behind them, or NULL. */
static inline const char *
tg_alike_arguments(const char *p, const char *end, tg_json_notes_t *notes,
                   tg_request_t *request)
{
    tg_json_t json;

    json = (tg_json_t){
        .start = p, .pos = p, .end = end, .depth = TG_ALIKE_DEPTH
    };

    return *p == '{' && tg_json_note(&json, notes, &request->arguments) == TG_OK
               ? json.pos
               : NULL;
}

/* Reads an id at p that is short and plain: behind it, or NULL. */
static inline const char *
tg_alike_id(const char *p, const char *end, tg_request_t *request)
{
    const char *at;

    at = tg_json_near(p, end);

    if (at == p) {
        return NULL;
    }

    if (request->reply.id.data != NULL) {
        request->reply.id = tg_str(p, (size_t) (at - p));
    }

    return at;
}

/*
 * Does what begins at p look like it?  Then the request learns what is its
 * own, and what follows is returned; or NULL.
 */
static const char *
tg_alike_read(const tg_alike_t *alike, const char *p, const char *end,
              tg_json_notes_t *notes, tg_request_t *request)
{
    const char *piece;
    size_t len;
    unsigned i;

    piece = alike->bytes;

    for (i = 0;; i++) {
        len = alike->lens[i];

        if ((size_t) (end - p) < len || memcmp(p, piece, len) != 0) {
            return NULL;
        }

        p += len;
        piece += len;

        if (i + 1 == alike->n) {
            return p;
        }

        if (p == end) {
            return NULL;
        }

        p = i == alike->before ? tg_alike_arguments(p, end, notes, request)
                               : tg_alike_id(p, end, request);

        if (p == NULL) {
            return NULL;
        }
    }
}

/* Is it as long as it looks?  A line has its end behind it. */
static int
tg_alike_is_whole(const tg_peer_t *peer, tg_str_t bytes, size_t size)
{
    return peer->frame.kind == TG_FRAME_PREFIX
               ? size == bytes.len
               : size + 1 == bytes.len && size <= peer->frame.limit;
}

size_t
tg_alike_serve(tg_peer_t *peer, tg_str_t bytes)
{
    const tg_alike_t *alike;
    tg_json_notes_t notes;
    tg_request_t request;
    const char *end;
    unsigned i;

    alike = tg_catalogue_alikes(peer->catalogue)->list;

    for (i = 0, end = NULL; i < TG_ALIKES && end == NULL; i++, alike++) {
        if (alike->dialect == peer->dialect && alike->is_mcp == peer->is_mcp) {
            request = alike->request;
            end = tg_alike_read(alike, bytes.data, tg_str_end(bytes), &notes,
                                &request);
        }
    }

    if (end == NULL) {
        return 0;
    }

    request.size = (size_t) (end - bytes.data);
    request.notes = &notes;

    /* One that is running already is refused, but not here. */
    if (!tg_alike_is_whole(peer, bytes, request.size)
        || ((peer->ncalls | peer->nsubscriptions) != 0
            && request.reply.id.data != NULL
            && tg_peer_has_id(peer, request.reply.id)))
    {
        return 0;
    }

    peer->serving = request.size;
    peer->work = 0;
    tg_peer_call(peer, &request);

    return request.size;
}

/* --- the long way --- */

/* An id that the short way can read, too, or none. */
static int
tg_alike_is_plain(tg_str_t id)
{
    tg_json_type_t type;

    type = tg_json_type(id);

    return type == TG_JSON_NUMBER || type == TG_JSON_STRING || id.data == NULL;
}

/* Keeps what is in front of a value, as the next piece; moves behind it. */
static void
tg_alike_add(tg_alike_t *alike, char **at, tg_str_t *rest, tg_str_t value)
{
    size_t len;

    len = (size_t) (value.data - rest->data);
    (void) tg_str_keep(at, tg_str(rest->data, len));
    alike->lens[alike->n++] = len;
    len += value.len;
    *rest = tg_str(rest->data + len, rest->len - len);
}

static void
tg_alike_fill(tg_alike_t *alike, const tg_message_t *message,
              const tg_request_t *request)
{
    tg_str_t id, arguments, rest;
    char *at;

    id = message->id;
    arguments = message->p.arguments;
    rest = message->text;
    at = alike->bytes;
    alike->n = 0;

    if (id.data != NULL && id.data < arguments.data) {
        tg_alike_add(alike, &at, &rest, id);
    }

    alike->before = alike->n;
    tg_alike_add(alike, &at, &rest, arguments);

    if (id.data != NULL && id.data > arguments.data) {
        tg_alike_add(alike, &at, &rest, id);
    }

    tg_alike_add(alike, &at, &rest, tg_str(tg_str_end(rest), 0));
    alike->request = *request;
    alike->request.name = tg_str_keep(&at, request->name);
    alike->request.arguments = TG_STR_NONE;
    alike->request.notes = NULL;

    if (request->reply.id.data != NULL) {
        alike->request.reply.id = TG_STR("");
    }
}

void
tg_alike_keep(tg_peer_t *peer, const tg_message_t *message,
              const tg_request_t *request)
{
    const tg_entry_t *entry;
    tg_alikes_t *alikes;
    tg_alike_t *alike;

    /* What else is its own, or stands elsewhere, is not kept. */
    if (message->p.arguments.data == NULL || message->p.meta.data != NULL
        || request->reply.batch != NULL || !tg_alike_is_plain(message->id)
        || message->text.len != peer->serving
        || message->text.len - message->p.arguments.len - message->id.len
                   + request->name.len
               > TG_ALIKE_MAX)
    {
        return;
    }

    alikes = tg_catalogue_alikes(peer->catalogue);

    if (alikes->n++ % TG_ALIKE_EACH != 0) {
        return;
    }

    entry = tg_peer_entry(peer, request->reply.kind, request->name);

    if (entry != NULL) {
        alike = &alikes->list[alikes->n / TG_ALIKE_EACH % TG_ALIKES];
        tg_alike_fill(alike, message, request);
        alike->request.entry = entry;
        alike->dialect = peer->dialect;
        alike->is_mcp = peer->is_mcp;
    }
}
