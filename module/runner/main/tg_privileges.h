/*
 * Drops privileges that neither the runner nor its programs need, for ever:
 * even setuid programs cannot regain them.
 *
 * Programs keep the privileges of their user; for root these are all.
 */

#ifndef TG_PRIVILEGES_H
#define TG_PRIVILEGES_H

/*
 * Drops the privileges. Called once, before other threads or processes start.
 * Returns 0, or -1 with errno.
 */
int tg_privileges_drop(void);

#endif
