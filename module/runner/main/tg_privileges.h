/*
 * The rights that the runner does without, and so its programs: what is
 * given up is never got back, by no program that has a bit set either.
 *
 * Programs keep those that their user has: for root, all of them.
 */

#ifndef TG_PRIVILEGES_H
#define TG_PRIVILEGES_H

/* To be called once, when nothing else runs yet; -1 with errno set. */
int tg_privileges_drop(void);

#endif
