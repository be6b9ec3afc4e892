/*
 * Drops privileges that neither the runner nor its programs need, for ever.
 * Programs keep those of their user; for root these are all.
 */

#ifndef TG_PRIVILEGES_H
#define TG_PRIVILEGES_H

/* Drops the privileges, before any fork or thread. Returns -1 with errno. */
int tg_privileges_drop(void);

#endif
