/*
 * The runner's log. If a worker has started the runner, messages go to NGINX's
 * error log: a connected worker writes them, so that they follow error_log.
 * While no worker is connected, and for a runner in the foreground, messages go
 * to stderr in the format of NGINX.
 */
#ifndef TG_LOG_H
#define TG_LOG_H

/* Log levels with the numbers of NGINX. */
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

/* Maximum length of a message in bytes. Longer messages are cut. */
#define TG_LOG_MAX 512

/*
 * Maximum number of messages that wait at the start for the first worker.
 * Further ones go to stderr.
 */
#define TG_LOG_HELD_MAX 8

/* Receives a message. Returns 0, or -1 if no worker can take it. */
typedef int (*tg_log_sink_pt)(void *ctx, tg_log_level_t level,
                              const char *text);

/* Logs a message. */
void tg_log(tg_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sets the sink of messages; NULL: stderr only. Messages that the sink rejects
 * are held until the first call of tg_log_flush_held(); later ones go to
 * stderr.
 */
void tg_log_set_sink(tg_log_sink_pt sink, void *ctx);

/* Sends the held messages to the sink or, if it rejects them, to stderr. */
void tg_log_flush_held(void);

/*
 * Sets the log level of stderr by its name; the default is notice. Returns 0,
 * or -1 if there is no such level.
 */
int tg_log_set_level(const char *name);

/*
 * Remembers the path of stderr if it is a regular file. Called once, before any
 * fork.
 */
void tg_log_init(void);

/*
 * Reopens stderr after log rotation, when another file has its path. Keeps the
 * old file as long as there is no new one or it cannot be opened. Returns 1 if
 * stderr has changed.
 */
int tg_log_reopen(void);

#endif
