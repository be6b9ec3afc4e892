/*
 * Boxes.  One mutex guards all of them, for as long as copying takes.
 */
#include "nginx/native/ngx_toolgate_mail.h"

#include "api/toolgate_handler.h"
#include "base/tg_utf8.h"

#include <pthread.h>

/* Between two times that progress is told: clients are no displays. */
#define NGX_TOOLGATE_MAIL_PACE 50
/* A message of progress. */
#define NGX_TOOLGATE_MAIL_TEXT 4096

typedef struct {
    pthread_mutex_t mutex;
    ngx_rbtree_t tree;
    ngx_rbtree_node_t sentinel;
    ngx_uint_t number;   /* the last one */
    ngx_queue_t news;    /* boxes with something for the worker */
    ngx_queue_t paced;   /* those whose progress has time */
    unsigned is_paced:1; /* progress was told just now */
} ngx_toolgate_mail_room_t;

static ngx_toolgate_mail_room_t ngx_toolgate_mails = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .tree = { &ngx_toolgate_mails.sentinel, &ngx_toolgate_mails.sentinel,
              ngx_rbtree_insert_value },
    .news = { &ngx_toolgate_mails.news, &ngx_toolgate_mails.news },
    .paced = { &ngx_toolgate_mails.paced, &ngx_toolgate_mails.paced },
};

static ngx_event_t ngx_toolgate_mail_pace;

static void
ngx_toolgate_mail_lock(void)
{
    (void) pthread_mutex_lock(&ngx_toolgate_mails.mutex);
}

static void
ngx_toolgate_mail_unlock(void)
{
    (void) pthread_mutex_unlock(&ngx_toolgate_mails.mutex);
}

/* --- locked --- */

static ngx_toolgate_mail_t *
ngx_toolgate_mail_find(uint64_t number)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    ngx_rbtree_node_t *node;

    node = room->tree.root;

    while (node != &room->sentinel && node->key != number) {
        node = number < node->key ? node->left : node->right;
    }

    return node != &room->sentinel
               ? ngx_rbtree_data(node, ngx_toolgate_mail_t, node)
               : NULL;
}

static void
ngx_toolgate_mail_unlist(ngx_toolgate_mail_t *mail)
{
    if (mail->is_listed) {
        ngx_queue_remove(&mail->queue);
        mail->is_listed = 0;
    }
}

/* It has something for the worker, who looks at what is held by itself. */
static void
ngx_toolgate_mail_list(ngx_toolgate_mail_t *mail)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    if (mail->is_held) {
        return;
    }

    if (mail->reply.text.data != NULL || !room->is_paced) {
        ngx_toolgate_mail_unlist(mail);
        ngx_queue_insert_tail(&room->news, &mail->queue);
        ngx_toolgate_notify();

    } else if (!mail->is_listed) {
        ngx_queue_insert_tail(&room->paced, &mail->queue);
    }

    mail->is_listed = 1;
}

static void
ngx_toolgate_mail_shut(ngx_toolgate_mail_t *mail)
{
    if (!mail->is_closed) {
        ngx_toolgate_mail_unlist(mail);
        ngx_rbtree_delete(&ngx_toolgate_mails.tree, &mail->node);
        mail->is_closed = 1;
        ngx_toolgate_letter_free(mail->progress.message);
    }
}

/* --- any thread --- */

/* Why a reply to a box is too late, or NULL. */
static const char *
ngx_toolgate_mail_refusal(const ngx_toolgate_mail_t *mail)
{
    if (mail == NULL) {
        return "which has ended or was cancelled";
    }

    return mail->reply.text.data != NULL ? "which was answered before" : NULL;
}

static void
ngx_toolgate_mail_set_reply(ngx_toolgate_mail_t *mail, tg_failure_t failure,
                            tg_str_t text, ngx_toolgate_letter_t *letter)
{
    mail->reply.failure = failure;
    mail->reply.letter = letter;
    mail->reply.text.len = text.len;
    mail->reply.text.data = letter != NULL ? letter->text : mail->room;

    if (letter == NULL && text.len != 0) {
        ngx_memcpy(mail->room, text.data, text.len);
    }

    ngx_toolgate_mail_list(mail);
}

int
ngx_toolgate_mail_reply(uint64_t number, tg_failure_t failure, const char *data,
                        size_t len)
{
    ngx_toolgate_letter_t *letter;
    ngx_toolgate_mail_t *mail;
    const char *refusal;
    char text[128];

    letter = NULL;

    if (len > NGX_TOOLGATE_MAIL_ROOM) {
        letter = ngx_toolgate_letter_new(0, tg_str(data, len));

        if (letter == NULL) {
            return TOOLGATE_NO_MEMORY;
        }
    }

    ngx_toolgate_mail_lock();
    mail = ngx_toolgate_mail_find(number);
    refusal = ngx_toolgate_mail_refusal(mail);

    if (refusal == NULL) {
        ngx_toolgate_mail_set_reply(mail, failure, tg_str(data, len), letter);
    }

    ngx_toolgate_mail_unlock();

    if (refusal == NULL) {
        return TOOLGATE_OK;
    }

    ngx_toolgate_letter_free(letter);
    (void) snprintf(text, sizeof(text),
                    "an answer to call %llu, %s, is dropped",
                    (unsigned long long) number, refusal);
    ngx_toolgate_line(NGX_LOG_NOTICE, TG_STR("library"), text);

    return TOOLGATE_GONE;
}

int
ngx_toolgate_mail_progress(uint64_t number, uint64_t progress, uint64_t total,
                           const char *message)
{
    ngx_toolgate_letter_t *letter, *old;
    ngx_toolgate_mail_t *mail;
    tg_str_t text;
    int rc;

    text = message != NULL ? tg_str_c(message) : TG_STR_NONE;
    letter = text.data != NULL && text.len <= NGX_TOOLGATE_MAIL_TEXT
                     && tg_utf8_is_valid(text)
                 ? ngx_toolgate_letter_new(0, text)
                 : NULL;
    old = letter;
    rc = TOOLGATE_GONE;

    ngx_toolgate_mail_lock();
    mail = ngx_toolgate_mail_find(number);

    if (ngx_toolgate_mail_refusal(mail) == NULL) {
        rc = TOOLGATE_OK;
        old = mail->progress.message;
        mail->progress.progress = progress;
        mail->progress.total = total;
        mail->progress.message = letter;
        mail->has_progress = 1;
        ngx_toolgate_mail_list(mail);
    }

    ngx_toolgate_mail_unlock();
    ngx_toolgate_letter_free(old);

    return rc;
}

int
ngx_toolgate_mail_is_open(uint64_t number)
{
    int is_open;

    ngx_toolgate_mail_lock();
    is_open = ngx_toolgate_mail_refusal(ngx_toolgate_mail_find(number)) == NULL;
    ngx_toolgate_mail_unlock();

    return is_open;
}

/* --- the worker --- */

/* The next box that has something: its reply, or progress; or NULL. */
static ngx_toolgate_mail_t *
ngx_toolgate_mail_next(ngx_queue_t *boxes, ngx_toolgate_reply_t *reply,
                       ngx_toolgate_mail_progress_t *progress)
{
    ngx_toolgate_mail_t *mail;

    mail = NULL;
    ngx_toolgate_mail_lock();

    if (!ngx_queue_empty(boxes)) {
        mail = ngx_queue_data(ngx_queue_head(boxes), ngx_toolgate_mail_t,
                              queue);
        ngx_toolgate_mail_unlist(mail);
        *reply = mail->reply;
        *progress = mail->progress;
        mail->progress.message = NULL;
        mail->has_progress = 0;

        if (mail->reply.text.data != NULL) {
            ngx_toolgate_mail_shut(mail);
        }
    }

    ngx_toolgate_mail_unlock();

    return mail;
}

/* What is there by now, and no more: those who go on come again. */
static void
ngx_toolgate_mail_deliver(ngx_queue_t *from)
{
    ngx_toolgate_mail_progress_t progress;
    ngx_toolgate_reply_t reply;
    ngx_toolgate_mail_t *mail;
    ngx_queue_t boxes;
    ngx_uint_t is_told;

    ngx_queue_init(&boxes);
    ngx_toolgate_mail_lock();

    if (!ngx_queue_empty(from)) {
        ngx_queue_add(&boxes, from);
        ngx_queue_init(from);
    }

    ngx_toolgate_mail_unlock();
    is_told = 0;

    while ((mail = ngx_toolgate_mail_next(&boxes, &reply, &progress)) != NULL) {
        is_told |= reply.text.data == NULL;
        mail->arrived(mail, reply.text.data != NULL ? &reply : NULL, &progress);
        ngx_toolgate_letter_free(reply.letter);
        ngx_toolgate_letter_free(progress.message);
    }

    if (is_told) {
        ngx_toolgate_mail_lock();
        ngx_toolgate_mails.is_paced = 1;
        ngx_toolgate_mail_unlock();

        if (!ngx_toolgate_mail_pace.timer_set) {
            ngx_add_timer(&ngx_toolgate_mail_pace, NGX_TOOLGATE_MAIL_PACE);
        }
    }
}

static void
ngx_toolgate_mail_pace_handler(ngx_event_t *ev)
{
    (void) ev;
    ngx_toolgate_mail_lock();
    ngx_toolgate_mails.is_paced = 0;
    ngx_toolgate_mail_unlock();
    ngx_toolgate_mail_deliver(&ngx_toolgate_mails.paced);
}

static void
ngx_toolgate_mail_news(void)
{
    ngx_toolgate_lines_flush();
    ngx_toolgate_mail_deliver(&ngx_toolgate_mails.news);
}

ngx_int_t
ngx_toolgate_mail_init(ngx_cycle_t *cycle)
{
    ngx_toolgate_mail_pace.handler = ngx_toolgate_mail_pace_handler;
    ngx_toolgate_mail_pace.log = cycle->log;
    ngx_toolgate_mail_pace.cancelable = 1;

    return ngx_toolgate_notify_init(cycle, ngx_toolgate_mail_news);
}

void
ngx_toolgate_mail_exit(void)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    ngx_toolgate_mail_lock();
    room->tree.root = &room->sentinel;
    ngx_toolgate_mail_unlock();
    ngx_toolgate_lines_exit();
    ngx_toolgate_notify_exit();
}

ngx_uint_t
ngx_toolgate_mail_open(ngx_toolgate_mail_t *mail)
{
    ngx_toolgate_mail_lock();
    mail->node.key = ++ngx_toolgate_mails.number;
    mail->is_held = 1;
    ngx_rbtree_insert(&ngx_toolgate_mails.tree, &mail->node);
    ngx_toolgate_mail_unlock();

    return mail->node.key;
}

ngx_uint_t
ngx_toolgate_mail_take(ngx_toolgate_mail_t *mail, ngx_toolgate_reply_t *reply)
{
    ngx_toolgate_mail_lock();
    *reply = mail->reply;

    if (reply->text.data != NULL) {
        ngx_toolgate_mail_shut(mail);
    }

    ngx_toolgate_mail_unlock();

    return reply->text.data != NULL;
}

void
ngx_toolgate_mail_release(ngx_toolgate_mail_t *mail)
{
    ngx_toolgate_mail_lock();
    mail->is_held = 0;

    if (mail->reply.text.data != NULL || mail->has_progress) {
        ngx_toolgate_mail_list(mail);
    }

    ngx_toolgate_mail_unlock();
}

ngx_uint_t
ngx_toolgate_mail_close(ngx_toolgate_mail_t *mail)
{
    ngx_uint_t was_open;

    ngx_toolgate_mail_lock();
    was_open = !mail->is_closed && mail->reply.text.data == NULL;

    if (!mail->is_closed) {
        ngx_toolgate_letter_free(mail->reply.letter);
        ngx_toolgate_mail_shut(mail);
    }

    ngx_toolgate_mail_unlock();

    return was_open;
}
