/*
 * A list whose links stand in its elements: each has `next` and `prev` of
 * its own type, and whoever owns the list has pointers to the first and the
 * last, NULL when it is empty.  Arguments are evaluated more than once.
 */
#ifndef TG_LIST_H
#define TG_LIST_H

/* Behind `after`, one of the list's elements, or first where that is NULL. */
#define TG_LIST_INSERT(first, last, after, node)                               \
    do {                                                                       \
        (node)->prev = (after);                                                \
        (node)->next = (node)->prev != NULL ? (node)->prev->next : (first);    \
        TG_LIST_SET_NEIGHBORS(first, last, node, node, node);                  \
    } while (0)

#define TG_LIST_REMOVE(first, last, node)                                      \
    TG_LIST_SET_NEIGHBORS(first, last, node, (node)->next, (node)->prev)

/* What its neighbours, or the list's ends, say of a node. */
#define TG_LIST_SET_NEIGHBORS(first, last, node, from_prev, from_next)         \
    do {                                                                       \
        *((node)->prev != NULL ? &(node)->prev->next                           \
                               : &(first)) = (from_prev);                      \
        *((node)->next != NULL ? &(node)->next->prev : &(last)) = (from_next); \
    } while (0)

#endif
