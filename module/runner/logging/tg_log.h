/*
 * The runner's log.  Where a worker has started the runner it is NGINX's error
 * log: a worker that is connected writes the lines, so that they go wherever
 * error_log says at that time.  As long as there is none, and for a runner
 * that nobody started, it is stderr, in the same form.
 */
#ifndef TG_LOG_H
#define TG_LOG_H

/* As NGINX counts them. */
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

/* Bytes of a line; what is longer is cut off. */
#define TG_LOG_MAX 512
/* Lines that wait at the start for the first worker; others go to stderr. */
#define TG_LOG_HELD_MAX 8

/* Takes a line: 0; or -1, as there is nobody who could. */
typedef int (*tg_log_sink_pt)(void *ctx, tg_log_level_t level,
                              const char *text);

/* Says a line. */
void tg_log(tg_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Lines go to the taker from now on, or, NULL, no longer.  Those that it does
 * not take wait, until tg_log_flush_held() was called once.
 */
void tg_log_set_sink(tg_log_sink_pt sink, void *ctx);
void tg_log_flush_held(void);

/*
 * What more than this level is does not go to stderr; notice, until then.  0,
 * or -1 when there is no such level.
 */
int tg_log_set_level(const char *name);

/* Remembers which file stderr is, if it is one; once, before any fork. */
void tg_log_init(void);

/*
 * Follows a log that was rotated: when another file has taken its name,
 * stderr becomes that one.  As long as there is none, or it cannot be opened,
 * the old one stays.  Says whether it changed.
 */
int tg_log_reopen(void);

#endif
