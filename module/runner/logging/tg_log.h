/*
 * The runner's log. A connected worker writes its messages to NGINX's error
 * log. Without a worker, and in the foreground, they go to stderr in NGINX's
 * format.
 */
#ifndef TG_LOG_H
#define TG_LOG_H

/* Log levels with NGINX's numbers. */
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

/* Maximum length of a message in bytes; the rest is cut. */
#define TG_LOG_MAX 512

/* Maximum number of messages that wait for the first worker. */
#define TG_LOG_HELD_MAX 8

/* Receives a message. Returns 0, or -1 if no worker can take it. */
typedef int (*tg_log_sink_pt)(void *ctx, tg_log_level_t level,
                              const char *text);

void tg_log(tg_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sets the sink; NULL: stderr. Rejected messages are held until the first
 * tg_log_flush_held(); later ones go to stderr.
 */
void tg_log_set_sink(tg_log_sink_pt sink, void *ctx);

/* Sends the held messages to the sink or to stderr. */
void tg_log_flush_held(void);

/* Sets the level of stderr by name. Returns -1 if there is no such level. */
int tg_log_set_level(const char *name);

/* Remembers the path of stderr, before any fork. */
void tg_log_init(void);

/*
 * Reopens stderr after log rotation, when another file has its path. Keeps the
 * old file if that fails. Returns 1 if stderr has changed.
 */
int tg_log_reopen(void);

#endif
