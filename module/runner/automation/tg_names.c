#include "runner/automation/tg_names.h"

#include <stdlib.h>
#include <sys/random.h>

#define TG_NAMES_SLOTS 64

static size_t
tg_names_slot(const tg_names_t *names, tg_str_t text)
{
    return (size_t) tg_hash64(TG_HASH64 ^ names->seed, text)
           & (names->nslots - 1);
}

void
tg_names_free(tg_names_t *names)
{
    tg_name_t *name, *next;
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

/* Where the name is, or would be. */
static tg_name_t **
tg_names_place(const tg_names_t *names, tg_str_t text)
{
    tg_name_t **place;

    place = &names->slots[tg_names_slot(names, text)];

    while (*place != NULL
           && !tg_str_eq(tg_str((*place)->text, (*place)->len), text))
    {
        place = &(*place)->next;
    }

    return place;
}

tg_name_t *
tg_names_find(const tg_names_t *names, tg_str_t text)
{
    return names->n != 0 ? *tg_names_place(names, text) : NULL;
}

/* Twice the slots, or the first; without memory they stay as they are. */
static int
tg_names_grow(tg_names_t *names)
{
    tg_names_t wider;
    tg_name_t *name, *next, **place;
    size_t i;

    if (names->n < names->nslots) {
        return TG_OK;
    }

    wider = *names;
    wider.nslots = names->nslots != 0 ? 2 * names->nslots : TG_NAMES_SLOTS;
    wider.slots = calloc(wider.nslots, sizeof(*wider.slots));

    /* Early after the machine's start there may be no random bytes. */
    if (names->nslots == 0) {
        (void) !getrandom(&wider.seed, sizeof(wider.seed), GRND_NONBLOCK);
    }

    if (wider.slots == NULL) {
        return names->nslots != 0 ? TG_OK : TG_NOMEM;
    }

    for (i = 0; i < names->nslots; i++) {
        for (name = names->slots[i]; name != NULL; name = next) {
            next = name->next;
            place = &wider.slots[tg_names_slot(&wider,
                                               tg_str(name->text, name->len))];
            name->next = *place;
            *place = name;
        }
    }

    free(names->slots);
    *names = wider;

    return TG_OK;
}

tg_name_t *
tg_names_add(tg_names_t *names, tg_str_t text, int mark)
{
    tg_name_t *name, **place;

    name = tg_names_find(names, text);

    if (name != NULL || tg_names_grow(names) != TG_OK) {
        return name;
    }

    name = malloc(sizeof(*name) + text.len + 1);

    if (name == NULL) {
        return NULL;
    }

    memcpy(name->text, text.data, text.len);
    name->text[text.len] = '\0';
    name->len = text.len;
    name->mark = mark;
    place = tg_names_place(names, text);
    name->next = *place;
    *place = name;
    names->n++;

    return name;
}

int
tg_names_remove(tg_names_t *names, tg_str_t text)
{
    tg_name_t *name, **place;

    if (names->n == 0) {
        return 0;
    }

    place = tg_names_place(names, text);
    name = *place;

    if (name == NULL) {
        return 0;
    }

    *place = name->next;
    free(name);
    names->n--;

    return 1;
}

tg_name_t *
tg_names_next(const tg_names_t *names, const tg_name_t *name)
{
    size_t i;

    if (name != NULL && name->next != NULL) {
        return name->next;
    }

    i = name != NULL ? tg_names_slot(names, tg_str(name->text, name->len)) + 1
                     : 0;

    while (i < names->nslots && names->slots[i] == NULL) {
        i++;
    }

    return i < names->nslots ? names->slots[i] : NULL;
}
