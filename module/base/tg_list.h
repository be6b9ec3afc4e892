/*
 * An intrusive doubly linked list: each element has members `next` and `prev`
 * of its own type. The owner of the list has pointers to the first and the
 * last element, NULL if the list is empty. The macros evaluate their arguments
 * more than once.
 */
#ifndef TG_LIST_H
#define TG_LIST_H

/*
 * Inserts node after the element `after`, or at the front if `after` is NULL.
 */
#define TG_LIST_INSERT(first, last, after, node)                               \
    do {                                                                       \
        (node)->prev = (after);                                                \
        (node)->next = (node)->prev != NULL ? (node)->prev->next : (first);    \
        TG_LIST_SET_NEIGHBORS(first, last, node, node, node);                  \
    } while (0)

/* Removes node from the list. Its own next and prev stay as they are. */
#define TG_LIST_REMOVE(first, last, node)                                      \
    TG_LIST_SET_NEIGHBORS(first, last, node, (node)->next, (node)->prev)

/*
 * Private: sets the pointer to node in each neighbor, or in the list's ends.
 */
#define TG_LIST_SET_NEIGHBORS(first, last, node, from_prev, from_next)         \
    do {                                                                       \
        *((node)->prev != NULL ? &(node)->prev->next                           \
                               : &(first)) = (from_prev);                      \
        *((node)->next != NULL ? &(node)->next->prev : &(last)) = (from_next); \
    } while (0)

/*
 * Iterates over a list of <sys/queue.h>, whose current element may be removed
 * in the body. `next` is a variable of the same type as `var`.
 */
#define TG_TAILQ_FOREACH_SAFE(var, head, field, next)                          \
    for ((var) = TAILQ_FIRST(head);                                            \
         (var) != NULL && ((next) = TAILQ_NEXT(var, field), 1);                \
         (var) = (next))

#endif
