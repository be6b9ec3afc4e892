/* Hash table and list of a caller's pending requests. */
#include "protocol/tg_caller_impl.h"

#include "base/tg_list.h"

#define TG_PENDING_SLOTS 16

/* Finds the slot of an id. Consecutive ids are distributed evenly. */
static tg_pending_request_t **
tg_pending_find_slot(const tg_caller_t *caller, uint64_t id)
{
    return &caller->slots[id & (caller->nslots - 1)];
}

static int
tg_pending_grow(tg_caller_t *caller)
{
    tg_pending_request_t **slots, *pending;
    size_t n;

    if (caller->npending < caller->nslots) {
        return TG_OK;
    }

    n = caller->nslots ? caller->nslots * 2 : TG_PENDING_SLOTS;
    slots = tg_calloc(caller->alloc, n * sizeof(slots[0]));

    if (slots == NULL) {
        return TG_NOMEM;
    }

    tg_free(caller->alloc, caller->slots);
    caller->slots = slots;
    caller->nslots = n;

    for (pending = caller->first; pending != NULL; pending = pending->next) {
        slots = tg_pending_find_slot(caller, pending->id);
        pending->next_in_slot = *slots;
        *slots = pending;
    }

    return TG_OK;
}

tg_pending_request_t *
tg_pending_add(tg_caller_t *caller, void *tag)
{
    tg_pending_request_t *pending, **slot;

    if (tg_pending_grow(caller) != TG_OK) {
        return NULL;
    }

    pending = tg_calloc(caller->alloc, sizeof(*pending));

    if (pending == NULL) {
        return NULL;
    }

    pending->id = caller->next_id++;
    pending->nnotifications = caller->nsent_notifications;
    pending->tag = tag;

    slot = tg_pending_find_slot(caller, pending->id);
    pending->next_in_slot = *slot;
    *slot = pending;

    TG_LIST_INSERT(caller->first, caller->last, caller->last, pending);
    caller->npending++;

    return pending;
}

tg_pending_request_t *
tg_pending_find(const tg_caller_t *caller, uint64_t id)
{
    tg_pending_request_t *pending;

    if (caller->nslots == 0) {
        return NULL;
    }

    pending = *tg_pending_find_slot(caller, id);

    while (pending != NULL && pending->id != id) {
        pending = pending->next_in_slot;
    }

    return pending;
}

void
tg_pending_remove(tg_caller_t *caller, tg_pending_request_t *pending)
{
    tg_pending_request_t **at;

    at = tg_pending_find_slot(caller, pending->id);

    while (*at != pending) {
        at = &(*at)->next_in_slot;
    }

    *at = pending->next_in_slot;

    TG_LIST_REMOVE(caller->first, caller->last, pending);
    caller->npending--;
    tg_free(caller->alloc, (void *) (uintptr_t) pending->queued.data);
    tg_free(caller->alloc, pending);
}

void
tg_caller_log(tg_caller_t *caller, const char *text)
{
    if (caller->ops->log != NULL) {
        caller->ops->log(caller->host, text);
    }
}
