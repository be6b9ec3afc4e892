/*
 * A hash table of names, see tg_name_set.h.
 */
#include "tasks/watch/tg_name_set.h"

#include <stdlib.h>
#include <sys/random.h>

#define TG_NAME_SET_SLOTS_MIN 64

static size_t
tg_name_set_hash(const tg_name_set_t *names, tg_str_t text)
{
    return (size_t) tg_hash_fnv1a(TG_HASH_INIT ^ names->seed, text)
           & (names->nslots - 1);
}

void
tg_name_set_free(tg_name_set_t *names)
{
    tg_name_set_entry_t *name, *next;
    size_t i;

    for (i = 0; i < names->nslots; i++) {
        for (name = names->slots[i]; name != NULL; name = next) {
            next = name->next;
            free(name);
        }
    }

    free(names->slots);
    memset(names, 0, sizeof(*names));
}

/* Returns the pointer to the entry of a name, or to the end of its list. */
static tg_name_set_entry_t **
tg_name_set_find_slot(const tg_name_set_t *names, tg_str_t text)
{
    tg_name_set_entry_t **slot;

    slot = &names->slots[tg_name_set_hash(names, text)];

    while (*slot != NULL
           && !tg_str_eq(tg_str((*slot)->text, (*slot)->len), text)) {
        slot = &(*slot)->next;
    }

    return slot;
}

tg_name_set_entry_t *
tg_name_set_find(const tg_name_set_t *names, tg_str_t text)
{
    return names->n != 0 ? *tg_name_set_find_slot(names, text) : NULL;
}

/*
 * Doubles the slots of a full set, if there is memory. TG_OK; TG_NOMEM: there
 * is no memory for the first slots.
 */
static int
tg_name_set_grow(tg_name_set_t *names)
{
    tg_name_set_t wider;
    tg_name_set_entry_t *name, *next, **slot;
    size_t i;

    if (names->n < names->nslots) {
        return TG_OK;
    }

    wider = *names;
    wider.nslots = names->nslots != 0 ? 2 * names->nslots
                                      : TG_NAME_SET_SLOTS_MIN;
    wider.slots = calloc(wider.nslots, sizeof(*wider.slots));

    /* Soon after the machine has booted, there may be no random bytes. */
    if (names->nslots == 0) {
        (void) !getrandom(&wider.seed, sizeof(wider.seed), GRND_NONBLOCK);
    }

    if (wider.slots == NULL) {
        return names->nslots != 0 ? TG_OK : TG_NOMEM;
    }

    for (i = 0; i < names->nslots; i++) {
        for (name = names->slots[i]; name != NULL; name = next) {
            next = name->next;
            slot = &wider.slots[tg_name_set_hash(&wider, tg_str(name->text,
                                                                name->len))];
            name->next = *slot;
            *slot = name;
        }
    }

    free(names->slots);
    *names = wider;

    return TG_OK;
}

tg_name_set_entry_t *
tg_name_set_add(tg_name_set_t *names, tg_str_t text, int flag)
{
    tg_name_set_entry_t *name, **slot;

    name = tg_name_set_find(names, text);

    if (name != NULL || tg_name_set_grow(names) != TG_OK) {
        return name;
    }

    name = malloc(sizeof(*name) + text.len + 1);

    if (name == NULL) {
        return NULL;
    }

    memcpy(name->text, text.data, text.len);
    name->text[text.len] = '\0';
    name->len = text.len;
    name->flag = flag;
    slot = tg_name_set_find_slot(names, text);
    name->next = *slot;
    *slot = name;
    names->n++;

    return name;
}

int
tg_name_set_remove(tg_name_set_t *names, tg_str_t text)
{
    tg_name_set_entry_t *name, **slot;

    if (names->n == 0) {
        return 0;
    }

    slot = tg_name_set_find_slot(names, text);
    name = *slot;

    if (name == NULL) {
        return 0;
    }

    *slot = name->next;
    free(name);
    names->n--;

    return 1;
}

tg_name_set_entry_t *
tg_name_set_next(const tg_name_set_t *names, const tg_name_set_entry_t *name)
{
    size_t i;

    if (name != NULL && name->next != NULL) {
        return name->next;
    }

    i = name != NULL
            ? tg_name_set_hash(names, tg_str(name->text, name->len)) + 1
            : 0;

    while (i < names->nslots && names->slots[i] == NULL) {
        i++;
    }

    return i < names->nslots ? names->slots[i] : NULL;
}
