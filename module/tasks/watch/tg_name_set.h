/*
 * A set of names, each with a mark.
 */
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
    tg_name_set_entry_t **slots; /* NULL: empty */
    size_t nslots;
    size_t n;
    uint64_t seed; /* who makes files does not choose which are neighbours */
} tg_name_set_t;

void tg_name_set_free(tg_name_set_t *names);

/* NULL: it is not there.  And: no memory; it is there as it was, or is new. */
tg_name_set_entry_t *tg_name_set_find(const tg_name_set_t *names,
                                      tg_str_t text);
tg_name_set_entry_t *tg_name_set_add(tg_name_set_t *names, tg_str_t text,
                                     int flag);

/* Was it there? */
int tg_name_set_remove(tg_name_set_t *names, tg_str_t text);

/* The name behind one, NULL at first and in the end, in no order. */
tg_name_set_entry_t *tg_name_set_next(const tg_name_set_t *names,
                                      const tg_name_set_entry_t *name);

#endif
