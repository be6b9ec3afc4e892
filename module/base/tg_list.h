/*
 * An intrusive doubly linked list: elements have members `next` and `prev` of
 * their own type, and the owner points to the first and last one, or NULL. The
 * macros evaluate their arguments more than once.
 */
#ifndef TG_LIST_H
#define TG_LIST_H

/* Inserts node after `after`, or at the front if `after` is NULL. */
#define TG_LIST_INSERT(first, last, after, node)                               \
    do {                                                                       \
        (node)->prev = (after);                                                \
        (node)->next = (node)->prev != NULL ? (node)->prev->next : (first);    \
        TG_LIST_SET_NEIGHBORS(first, last, node, node, node);                  \
    } while (0)

/* Removes node from the list. Its own next and prev stay as they are. */
#define TG_LIST_REMOVE(first, last, node)                                      \
    TG_LIST_SET_NEIGHBORS(first, last, node, (node)->next, (node)->prev)

/* Private: points each neighbor, or the list's ends, to node. */
#define TG_LIST_SET_NEIGHBORS(first, last, node, from_prev, from_next)         \
    do {                                                                       \
        *((node)->prev != NULL ? &(node)->prev->next                           \
                               : &(first)) = (from_prev);                      \
        *((node)->next != NULL ? &(node)->next->prev : &(last)) = (from_next); \
    } while (0)

/* Iterates over a list of <sys/queue.h>; the body may remove `var`. */
#define TG_TAILQ_FOREACH_SAFE(var, head, field, next)                          \
    for ((var) = TAILQ_FIRST(head);                                            \
         (var) != NULL && ((next) = TAILQ_NEXT(var, field), 1);                \
         (var) = (next))

#endif
