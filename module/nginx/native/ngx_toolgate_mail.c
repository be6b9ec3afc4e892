/*
 * Boxes, and how a thread wakes the worker.  ngx_notify() is no way to: it
 * has one handler at a time, which NGINX's own thread pools set.
 *
 * One mutex guards all, for as long as copying takes.  A thread writes into
 * the eventfd once until the worker has looked.
 */
#include "nginx/native/ngx_toolgate_mail.h"

#include "api/toolgate_handler.h"
#include "base/tg_utf8.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/eventfd.h>

/* Between two times that progress is told: clients are no displays. */
#define NGX_TOOLGATE_MAIL_PACE 50
/* A message of progress, and a line of the log. */
#define NGX_TOOLGATE_MAIL_TEXT 4096
/* Of lines in a second: who logs without end must not fill the disk. */
#define NGX_TOOLGATE_MAIL_LINES 65536

typedef struct {
    pthread_mutex_t mutex;
    ngx_rbtree_t tree;
    ngx_rbtree_node_t sentinel;
    ngx_uint_t number;            /* the last one */
    ngx_queue_t news;             /* boxes with something for the worker */
    ngx_queue_t paced;            /* those whose progress has time */
    ngx_toolgate_letter_t *lines; /* for the log, in their order */
    ngx_toolgate_letter_t **last; /* where the next line goes */
    size_t lines_size;            /* of this second */
    ngx_msec_t lines_since;
    ngx_uint_t lost; /* lines for which there was no room */
    int fd;          /* eventfd; -1: nobody is woken */
    unsigned is_woken:1;
    unsigned is_paced:1; /* progress was told just now */
    unsigned is_over:1;  /* the worker exits */
} ngx_toolgate_mail_room_t;

static ngx_toolgate_mail_room_t ngx_toolgate_mails = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .tree = { &ngx_toolgate_mails.sentinel, &ngx_toolgate_mails.sentinel,
              ngx_rbtree_insert_value },
    .news = { &ngx_toolgate_mails.news, &ngx_toolgate_mails.news },
    .paced = { &ngx_toolgate_mails.paced, &ngx_toolgate_mails.paced },
    .last = &ngx_toolgate_mails.lines,
    .fd = -1,
};

static ngx_connection_t *ngx_toolgate_mail_connection;
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

static ngx_toolgate_letter_t *
ngx_toolgate_letter(ngx_uint_t kind, const char *data, size_t len)
{
    ngx_toolgate_letter_t *letter;

    letter = tg_alloc(tg_alloc_libc(), sizeof(ngx_toolgate_letter_t) + len);

    if (letter != NULL) {
        letter->next = NULL;
        letter->kind = kind;
        letter->len = len;
        memcpy(letter->text, len != 0 ? data : "", len);
    }

    return letter;
}

void
ngx_toolgate_letter_free(ngx_toolgate_letter_t *letter)
{
    tg_free(tg_alloc_libc(), letter);
}

/* --- locked --- */

static void
ngx_toolgate_mail_wake(void)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    uint64_t one;

    one = 1;

    if (!room->is_woken && room->fd != -1
        && write(room->fd, &one, sizeof(one)) == (ssize_t) sizeof(one))
    {
        room->is_woken = 1;
    }
}

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

    if (mail->reply != NULL || !room->is_paced) {
        ngx_toolgate_mail_unlist(mail);
        ngx_queue_insert_tail(&room->news, &mail->queue);
        ngx_toolgate_mail_wake();

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
        ngx_toolgate_letter_free(mail->progress.message);
        mail->progress.message = NULL;
        mail->is_closed = 1;
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

    return mail->reply != NULL ? "which was answered before" : NULL;
}

int
ngx_toolgate_mail_reply(uint64_t number, tg_failure_t failure, const char *data,
                        size_t len)
{
    ngx_toolgate_letter_t *letter;
    ngx_toolgate_mail_t *mail;
    const char *refusal;
    char text[128];

    letter = ngx_toolgate_letter(failure, data, len);

    if (letter == NULL) {
        return TOOLGATE_NO_MEMORY;
    }

    ngx_toolgate_mail_lock();
    mail = ngx_toolgate_mail_find(number);
    refusal = ngx_toolgate_mail_refusal(mail);

    if (refusal == NULL) {
        mail->reply = letter;
        ngx_toolgate_mail_list(mail);
    }

    ngx_toolgate_mail_unlock();

    if (refusal == NULL) {
        return TOOLGATE_OK;
    }

    ngx_toolgate_letter_free(letter);
    (void) snprintf(text, sizeof(text),
                    "an answer to call %llu, %s, is dropped",
                    (unsigned long long) number, refusal);
    ngx_toolgate_mail_log(NGX_LOG_NOTICE, TG_STR("library"), text);

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
                 ? ngx_toolgate_letter(0, text.data, text.len)
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

/* Its worker writes it: nobody else knows when NGINX opens its log anew. */
void
ngx_toolgate_mail_log(ngx_uint_t level, tg_str_t name, const char *text)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    ngx_toolgate_letter_t *line;
    char visible[NGX_TOOLGATE_MAIL_TEXT];
    tg_buf_t buf;

    buf = tg_buf_fixed(visible, sizeof(visible));
    tg_utf8_put_visible(&buf, name, 1);
    tg_buf_text(&buf, ": ");
    tg_utf8_put_visible(&buf, tg_str_c(text), 1);
    line = ngx_toolgate_letter(level, buf.data, buf.len);

    ngx_toolgate_mail_lock();

    if (line != NULL && !room->is_over
        && room->lines_size + buf.len <= NGX_TOOLGATE_MAIL_LINES)
    {
        *room->last = line;
        room->last = &line->next;
        room->lines_size += buf.len;
        line = NULL;
        ngx_toolgate_mail_wake();

    } else {
        room->lost++;
    }

    ngx_toolgate_mail_unlock();
    ngx_toolgate_letter_free(line);
}

/* --- the worker --- */

void
ngx_toolgate_mail_flush(void)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    ngx_toolgate_letter_t *line, *next;
    ngx_uint_t lost;

    ngx_toolgate_mail_lock();
    line = room->lines;
    lost = 0;
    room->lines = NULL;
    room->last = &room->lines;

    if (ngx_current_msec - room->lines_since >= 1000) {
        lost = room->lost;
        room->lost = 0;
        room->lines_size = 0;
        room->lines_since = ngx_current_msec;
    }

    ngx_toolgate_mail_unlock();

    for (/* void */; line != NULL; line = next) {
        next = line->next;
        ngx_log_error(line->kind, ngx_cycle->log, 0, "%*s", line->len,
                      line->text);
        ngx_toolgate_letter_free(line);
    }

    if (lost != 0) {
        ngx_log_error(NGX_LOG_WARN, ngx_cycle->log, 0,
                      "libraries logged %ui lines more, which are left out",
                      lost);
    }
}

/* The next box that has something: its reply, or progress; or NULL. */
static ngx_toolgate_mail_t *
ngx_toolgate_mail_next(ngx_queue_t *boxes, ngx_toolgate_letter_t **reply,
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

        if (*reply != NULL) {
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
    ngx_toolgate_letter_t *reply;
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
        is_told |= reply == NULL;
        mail->arrived(mail, reply, &progress);
        ngx_toolgate_letter_free(reply);
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
ngx_toolgate_mail_read(ngx_event_t *rev)
{
    ngx_connection_t *c;
    uint64_t n;

    c = rev->data;

    if (read(c->fd, &n, sizeof(n)) == -1 && ngx_errno != NGX_EAGAIN) {
        ngx_log_error(NGX_LOG_ALERT, rev->log, ngx_errno,
                      "read() of an eventfd failed");
    }

    ngx_toolgate_mail_lock();
    ngx_toolgate_mails.is_woken = 0;
    ngx_toolgate_mail_unlock();

    ngx_toolgate_mail_flush();
    ngx_toolgate_mail_deliver(&ngx_toolgate_mails.news);
    rev->ready = 0;

    if (ngx_handle_read_event(rev, 0) != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, rev->log, 0,
                      "threads of libraries cannot wake this worker any more");
    }
}

/*
 * With its cycle a worker that exits unloads this module: but what threads
 * may call must be there until the process has ended.
 */
static ngx_int_t
ngx_toolgate_mail_stay(void)
{
    Dl_info info;

    return dladdr(&ngx_toolgate_mails, &info) != 0
                   && dlopen(info.dli_fname,
                             RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE)
                          != NULL
               ? NGX_OK
               : NGX_ERROR;
}

ngx_int_t
ngx_toolgate_mail_init(ngx_cycle_t *cycle)
{
    ngx_connection_t *c;
    int fd;

    if (ngx_toolgate_mail_connection != NULL) {
        return NGX_OK;
    }

    if (ngx_toolgate_mail_stay() != NGX_OK) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, 0, "dlopen() failed: %s",
                      dlerror());
        return NGX_ERROR;
    }

    fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    if (fd == -1) {
        ngx_log_error(NGX_LOG_ALERT, cycle->log, ngx_errno, "eventfd() failed");
        return NGX_ERROR;
    }

    c = ngx_get_connection(fd, cycle->log);

    if (c == NULL) {
        (void) close(fd);
        return NGX_ERROR;
    }

    c->log = cycle->log;
    c->read->log = c->log;
    c->write->log = c->log;
    c->read->handler = ngx_toolgate_mail_read;
    c->read->channel = 1; /* none that is left open by mistake */

    if (ngx_handle_read_event(c->read, 0) != NGX_OK) {
        ngx_close_connection(c);
        return NGX_ERROR;
    }

    ngx_toolgate_mail_pace.handler = ngx_toolgate_mail_pace_handler;
    ngx_toolgate_mail_pace.log = c->log;
    ngx_toolgate_mail_pace.cancelable = 1;
    ngx_toolgate_mail_connection = c;
    ngx_toolgate_mail_lock();
    ngx_toolgate_mails.fd = fd;
    ngx_toolgate_mail_unlock();

    return NGX_OK;
}

void
ngx_toolgate_mail_exit(void)
{
    ngx_toolgate_mail_room_t *room = &ngx_toolgate_mails;

    ngx_toolgate_mail_flush();
    ngx_toolgate_mail_lock();
    room->is_over = 1;
    room->tree.root = &room->sentinel;
    room->fd = -1;
    ngx_toolgate_mail_unlock();

    if (ngx_toolgate_mail_connection != NULL) {
        ngx_close_connection(ngx_toolgate_mail_connection);
        ngx_toolgate_mail_connection = NULL;
    }
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

ngx_toolgate_letter_t *
ngx_toolgate_mail_take(ngx_toolgate_mail_t *mail)
{
    ngx_toolgate_letter_t *reply;
    ngx_uint_t has_lines;

    ngx_toolgate_mail_lock();
    reply = mail->reply;
    has_lines = ngx_toolgate_mails.lines != NULL;

    if (reply != NULL) {
        ngx_toolgate_mail_shut(mail);
    }

    ngx_toolgate_mail_unlock();

    if (has_lines) {
        ngx_toolgate_mail_flush();
    }

    return reply;
}

void
ngx_toolgate_mail_release(ngx_toolgate_mail_t *mail)
{
    ngx_toolgate_mail_lock();
    mail->is_held = 0;

    if (mail->reply != NULL || mail->has_progress) {
        ngx_toolgate_mail_list(mail);
    }

    ngx_toolgate_mail_unlock();
}

ngx_uint_t
ngx_toolgate_mail_close(ngx_toolgate_mail_t *mail)
{
    ngx_toolgate_letter_t *reply;
    ngx_uint_t was_open;

    ngx_toolgate_mail_lock();
    reply = mail->is_closed ? NULL : mail->reply;
    was_open = !mail->is_closed && reply == NULL;
    ngx_toolgate_mail_shut(mail);
    ngx_toolgate_mail_unlock();
    ngx_toolgate_letter_free(reply);

    return was_open;
}
