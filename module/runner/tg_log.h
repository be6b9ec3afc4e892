/*
 * The runner's log: stderr, which is NGINX's error log where a worker has
 * started the runner, and so in its form.
 */
#ifndef TG_LOG_H
#define TG_LOG_H

/* As NGINX counts them; what is more than the level of the log is not said. */
typedef enum {
    TG_LOG_EMERG = 1,
    TG_LOG_ALERT,
    TG_LOG_CRIT,
    TG_LOG_ERROR,
    TG_LOG_WARN,
    TG_LOG_NOTICE,
    TG_LOG_INFO,
    TG_LOG_DEBUG
} tg_log_level_t;

/* One line on stderr. */
void tg_log(tg_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* notice, until then; 0, or -1 when there is no such level. */
int tg_log_set_level(const char *name);

/* Remembers which file stderr is, if it is one; once, before any fork. */
void tg_log_init(void);

/*
 * Follows a log that was rotated: when another file has taken its name,
 * stderr becomes that one.  As long as there is none, or it cannot be opened,
 * the old one stays.  Says whether it changed.
 */
int tg_log_follow(void);

#endif
