/* A set of names, each with a flag. */
#ifndef TG_NAME_SET_H
#define TG_NAME_SET_H

#include "base/tg_base.h"

typedef struct tg_name_set_entry_s tg_name_set_entry_t;

struct tg_name_set_entry_s {
    tg_name_set_entry_t *next;
    int flag;
    size_t len;
    char text[]; /* ends with a NUL */
};

typedef struct {
    tg_name_set_entry_t **slots; /* NULL: the set is empty */
    size_t nslots;
    size_t n; /* number of names */
    /* random, against collisions on purpose */
    uint64_t seed;
} tg_name_set_t;

/* Removes all names; the set can be used again. */
void tg_name_set_free(tg_name_set_t *names);

tg_name_set_entry_t *tg_name_set_find(const tg_name_set_t *names,
                                      tg_str_t text);

/*
 * Adds a name, or keeps it with its flag. Returns its entry; NULL: no memory.
 */
tg_name_set_entry_t *tg_name_set_add(tg_name_set_t *names, tg_str_t text,
                                     int flag);

/* Removes a name. Returns whether it was in the set. */
int tg_name_set_remove(tg_name_set_t *names, tg_str_t text);

/*
 * Returns the entry after `name`, or the first one after NULL; NULL at the end.
 * There is no order.
 */
tg_name_set_entry_t *tg_name_set_next(const tg_name_set_t *names,
                                      const tg_name_set_entry_t *name);

#endif
