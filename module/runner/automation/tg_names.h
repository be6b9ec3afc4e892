/*
 * A set of names, each with a mark.
 */
#ifndef TG_NAMES_H
#define TG_NAMES_H

#include "base/tg_base.h"

typedef struct tg_name_s tg_name_t;

struct tg_name_s {
    tg_name_t *next;
    int mark;
    size_t len;
    char text[]; /* ends with a NUL */
};

typedef struct {
    tg_name_t **slots; /* NULL: empty */
    size_t nslots;
    size_t n;
    uint64_t seed; /* who makes files does not choose which are neighbours */
} tg_names_t;

void tg_names_free(tg_names_t *names);

/* NULL: it is not there.  And: no memory; it is there as it was, or is new. */
tg_name_t *tg_names_find(const tg_names_t *names, tg_str_t text);
tg_name_t *tg_names_add(tg_names_t *names, tg_str_t text, int mark);

/* Was it there? */
int tg_names_remove(tg_names_t *names, tg_str_t text);

/* The name behind one, NULL at first and in the end, in no order. */
tg_name_t *tg_names_next(const tg_names_t *names, const tg_name_t *name);

#endif
