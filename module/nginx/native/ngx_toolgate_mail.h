/*
 * What threads say of calls that the worker runs: a mail is the box of one
 * call, which threads know by its number only, so that one who is late does
 * no harm.  A box holds one reply and the newest progress.
 *
 *   …_mail_reply(), …_progress(), …_is_open()    in any thread
 *   all others                                   in the worker's
 */
#ifndef _NGX_TOOLGATE_MAIL_H_INCLUDED_
#define _NGX_TOOLGATE_MAIL_H_INCLUDED_

#include "nginx/native/ngx_toolgate_lines.h"

typedef struct ngx_toolgate_mail_s ngx_toolgate_mail_t;

/* Of a reply that needs no memory of its own. */
#define NGX_TOOLGATE_MAIL_ROOM 256

typedef struct {
    tg_failure_t failure;
    tg_str_t text;                 /* data is NULL: there is none */
    ngx_toolgate_letter_t *letter; /* where text is; NULL: in the box */
} ngx_toolgate_reply_t;

/* The newest progress: message is absent, or text that is valid. */
typedef struct {
    uint64_t progress;
    uint64_t total;                 /* 0: not known */
    ngx_toolgate_letter_t *message; /* NULL: none */
} ngx_toolgate_mail_progress_t;

struct ngx_toolgate_mail_s {
    ngx_rbtree_node_t node; /* its key is the number */
    ngx_queue_t queue;      /* among those that have something */

    /*
     * Something came: the reply (the box is closed), else progress.  What
     * is reached by the pointers is freed after the return.
     */
    void (*arrived)(ngx_toolgate_mail_t *mail,
                    const ngx_toolgate_reply_t *reply,
                    const ngx_toolgate_mail_progress_t *progress);

    char *room; /* NGX_TOOLGATE_MAIL_ROOM bytes */

    ngx_toolgate_reply_t reply;
    ngx_toolgate_mail_progress_t progress;
    unsigned has_progress:1;
    unsigned is_listed:1;
    unsigned is_held:1;
    unsigned is_closed:1;
};

/* From now on this worker has boxes: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_toolgate_mail_init(ngx_cycle_t *cycle);

/* Whatever threads say from now on is dropped. */
void ngx_toolgate_mail_exit(void);

/*
 * Opens a box with arrived and room set, else zeroed; its number.  It is
 * held: nothing arrives before ngx_toolgate_mail_release().
 */
ngx_uint_t ngx_toolgate_mail_open(ngx_toolgate_mail_t *mail);

/* Has a reply come to a box that is held?  Then it is closed; or 0. */
ngx_uint_t ngx_toolgate_mail_take(ngx_toolgate_mail_t *mail,
                                  ngx_toolgate_reply_t *reply);
void ngx_toolgate_mail_release(ngx_toolgate_mail_t *mail);

/* Its call is over; 1: no reply had come until then. */
ngx_uint_t ngx_toolgate_mail_close(ngx_toolgate_mail_t *mail);

/* --- any thread: as toolgate_api_t has them --- */

int ngx_toolgate_mail_reply(uint64_t number, tg_failure_t failure,
                            const char *data, size_t len);
int ngx_toolgate_mail_progress(uint64_t number, uint64_t progress,
                               uint64_t total, const char *message);
int ngx_toolgate_mail_is_open(uint64_t number);

#endif
