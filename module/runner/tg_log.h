/*
 * The runner's log: stderr, which is NGINX's error log where a worker has
 * started the runner.
 */
#ifndef TG_LOG_H
#define TG_LOG_H

/* One line on stderr. */
void tg_runner_log(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* Remembers which file stderr is, if it is one; once, before any fork. */
void tg_log_init(void);

/*
 * Follows a log that was rotated: when another file has taken its name,
 * stderr becomes that one.  As long as there is none, or it cannot be opened,
 * the old one stays.  Says whether it changed.
 */
int tg_log_follow(void);

#endif
