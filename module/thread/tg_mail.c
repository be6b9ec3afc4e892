/*
 * Boxes.  One mutex guards all of them, for as long as copying takes.
 */
#include "thread/tg_mail.h"

#include "base/tg_json.h"
#include "base/tg_list.h"
#include "base/tg_utf8.h"

/* Numbers follow each other: so many calls at once are found at once. */
#define TG_MAIL_SHELVES 1024

static struct {
    pthread_mutex_t mutex;
    uint64_t number;    /* the last one */
    uint64_t inherited; /* up to this one they are the parent process's */
    uint64_t answered;  /* the last one whose own thread did */
    tg_mail_t *shelves[TG_MAIL_SHELVES];
} tg_mails = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
tg_mail_lock(void)
{
    (void) pthread_mutex_lock(&tg_mails.mutex);
}

void
tg_mail_unlock(void)
{
    (void) pthread_mutex_unlock(&tg_mails.mutex);
}

void
tg_mail_forked(void)
{
    tg_mails.inherited = tg_mails.number;
    tg_mail_unlock();
}

/* --- letters --- */

static tg_letter_t *
tg_letter_room(unsigned level, size_t len)
{
    tg_letter_t *letter;

    letter = tg_alloc(tg_alloc_libc(), sizeof(*letter) + len);

    if (letter != NULL) {
        letter->next = NULL;
        letter->level = level;
        letter->len = len;
    }

    return letter;
}

tg_letter_t *
tg_letter_new(unsigned level, tg_str_t text)
{
    tg_letter_t *letter;

    letter = tg_letter_room(level, text.len);

    if (letter != NULL && text.len != 0) {
        memcpy(letter->text, text.data, text.len);
    }

    return letter;
}

void
tg_letter_free(tg_letter_t *letter)
{
    if (letter != NULL) {
        tg_free(tg_alloc_libc(), letter);
    }
}

/* --- locked --- */

static tg_mail_t **
tg_mail_shelf(uint64_t number)
{
    return &tg_mails.shelves[number % TG_MAIL_SHELVES];
}

/* Whose post is closed is not found. */
static tg_mail_t *
tg_mail_find(uint64_t number)
{
    tg_mail_t *mail;

    mail = *tg_mail_shelf(number);

    while (mail != NULL && mail->number != number) {
        mail = mail->beside;
    }

    return mail != NULL && mail->post->wake != NULL ? mail : NULL;
}

static void
tg_mail_unlist(tg_mail_t *mail)
{
    tg_post_t *post;

    post = mail->post;

    if (mail->is_listed && mail->is_later) {
        TG_LIST_REMOVE(post->first_paced, post->last_paced, mail);
    } else if (mail->is_listed) {
        TG_LIST_REMOVE(post->first, post->last, mail);
    }

    mail->is_listed = 0;
    mail->is_later = 0;
}

/* It has something for its loop, which looks at what is held by itself. */
static void
tg_mail_list(tg_mail_t *mail)
{
    tg_post_t *post;

    post = mail->post;

    if (mail->is_held) {
        return;
    }

    if (mail->reply.text.data != NULL || !post->is_paced) {
        tg_mail_unlist(mail);
        TG_LIST_INSERT(post->first, post->last, post->last, mail);
        post->wake(post->host);

    } else if (!mail->is_listed) {
        TG_LIST_INSERT(post->first_paced, post->last_paced, post->last_paced,
                       mail);
        mail->is_later = 1;
    }

    mail->is_listed = 1;
}

static void
tg_mail_shut(tg_mail_t *mail)
{
    tg_mail_t **at;

    if (mail->is_closed) {
        return;
    }

    tg_mail_unlist(mail);
    at = tg_mail_shelf(mail->number);

    while (*at != mail) {
        at = &(*at)->beside;
    }

    *at = mail->beside;
    mail->is_closed = 1;
    tg_letter_free(mail->progress.message);
    mail->progress.message = NULL;
}

/* --- any thread --- */

/* Was the call opened before this process was forked? */
static int
tg_mail_is_inherited(uint64_t number)
{
    return number != 0 && number <= tg_mails.inherited;
}

/* Why a reply to a box is too late, or NULL. */
static const char *
tg_mail_refusal(const tg_mail_t *mail, uint64_t number)
{
    if (tg_mail_is_inherited(number)) {
        return "which only the process that was forked can answer";
    }

    if (mail == NULL ? number == tg_mails.answered
                     : mail->reply.text.data != NULL) {
        return "which was answered before";
    }

    return mail == NULL ? "which has ended or was cancelled" : NULL;
}

/* Has a box no room for it?  Then it takes a letter: or TG_NOMEM. */
static int
tg_mail_write(const tg_mail_reply_t *reply, tg_letter_t **letter)
{
    size_t len;

    len = reply->text.len + reply->type.len + reply->data.len;
    *letter = NULL;

    if (len <= TG_MAIL_ROOM && reply->type.data == NULL
        && reply->data.data == NULL) {
        return TG_OK;
    }

    *letter = tg_letter_room(0, len);

    return *letter != NULL ? TG_OK : TG_NOMEM;
}

static void
tg_mail_set_reply(tg_mail_t *mail, const tg_mail_reply_t *reply,
                  tg_letter_t *letter)
{
    char *at;

    at = letter != NULL ? letter->text : mail->room;
    mail->reply = *reply;
    mail->reply.letter = letter;
    mail->reply.text = tg_str(at, reply->text.len);

    if (reply->text.len != 0) {
        memcpy(at, reply->text.data, reply->text.len);
        at += reply->text.len;
    }

    mail->reply.type = tg_str_keep(&at, reply->type);
    mail->reply.data = tg_str_keep(&at, reply->data);
}

/* It has a reply; who opened it may be about to look for that itself. */
static void
tg_mail_came(tg_mail_t *mail)
{
    if (mail->is_held && pthread_equal(mail->thread, pthread_self())) {
        tg_mails.answered = mail->number;
        tg_mail_shut(mail);
    } else {
        tg_mail_list(mail);
    }
}

int
tg_mail_reply(uint64_t number, const tg_mail_reply_t *reply, const char **why)
{
    tg_letter_t *letter;
    tg_mail_t *mail;
    int rc;

    if (tg_mail_write(reply, &letter) != TG_OK) {
        return TG_NOMEM;
    }

    tg_mail_lock();
    mail = tg_mail_find(number);
    *why = tg_mail_refusal(mail, number);

    if (*why == NULL) {
        tg_mail_set_reply(mail, reply, letter);
        tg_mail_came(mail);
    }

    rc = *why == NULL                   ? TG_OK
         : tg_mail_is_inherited(number) ? TG_BAD
                                        : TG_CLOSED;
    tg_mail_unlock();

    if (rc != TG_OK) {
        tg_letter_free(letter);
    }

    return rc;
}

int
tg_mail_progress(uint64_t number, uint64_t progress, uint64_t total,
                 const char *message)
{
    tg_letter_t *letter, *old;
    tg_mail_t *mail;
    tg_str_t text;
    int rc;

    text = message != NULL ? tg_str_c(message) : TG_STR_NONE;
    letter = text.data != NULL && text.len <= TG_MAIL_TEXT
                     && tg_utf8_is_valid(text)
                 ? tg_letter_new(0, text)
                 : NULL;
    old = letter;

    tg_mail_lock();
    rc = tg_mail_is_inherited(number) ? TG_BAD : TG_CLOSED;
    mail = tg_mail_find(number);

    if (tg_mail_refusal(mail, number) == NULL) {
        rc = TG_OK;
        old = mail->progress.message;
        mail->progress.progress = progress;
        mail->progress.total = total;
        mail->progress.message = letter;
        mail->has_progress = 1;
        tg_mail_list(mail);
    }

    tg_mail_unlock();
    tg_letter_free(old);

    return rc;
}

int
tg_mail_is_open(uint64_t number)
{
    int is_open;

    tg_mail_lock();
    is_open = tg_mail_refusal(tg_mail_find(number), number) == NULL;
    tg_mail_unlock();

    return is_open;
}

/* --- the loop --- */

void
tg_post_init(tg_post_t *post, void (*wake)(void *host), void *host)
{
    memset(post, 0, sizeof(*post));
    post->wake = wake;
    post->host = host;
}

void
tg_post_close(tg_post_t *post)
{
    tg_mail_lock();
    post->wake = NULL;
    tg_mail_unlock();
}

/* What a box has, which is closed when that is its reply. */
static void
tg_mail_empty(tg_mail_t *mail, tg_mail_reply_t *reply,
              tg_mail_progress_t *progress)
{
    tg_mail_unlist(mail);
    *reply = mail->reply;
    *progress = mail->progress;
    mail->reply.letter = NULL;
    mail->progress.message = NULL;
    mail->has_progress = 0;

    if (reply->text.data != NULL) {
        tg_mail_shut(mail);
    }
}

int
tg_post_deliver(tg_post_t *post)
{
    tg_mail_progress_t progress;
    tg_mail_reply_t reply;
    tg_mail_t *mail;
    size_t n;
    int is_told, is_over;

    is_told = 0;
    is_over = 0;
    n = 0;
    tg_mail_lock();

    for (mail = post->first; mail != NULL; mail = mail->next) {
        n++;
    }

    /* Who has something anew meanwhile comes again. */
    for (/* void */; n != 0 && !is_over && post->first != NULL; n--) {
        mail = post->first;
        tg_mail_empty(mail, &reply, &progress);
        tg_mail_unlock();
        is_told |= reply.text.data == NULL;
        mail->arrived(mail, reply.text.data != NULL ? &reply : NULL, &progress);
        tg_letter_free(reply.letter);
        tg_letter_free(progress.message);
        is_over = n != 1 && post->is_slice_over != NULL
                  && post->is_slice_over(post->host, reply.text.len);
        tg_mail_lock();
    }

    post->is_paced |= is_told ? 1 : 0;
    tg_mail_unlock();

    return is_told;
}

int
tg_post_pace(tg_post_t *post)
{
    tg_mail_t *mail;

    tg_mail_lock();
    post->is_paced = 0;

    while ((mail = post->first_paced) != NULL) {
        tg_mail_unlist(mail);
        TG_LIST_INSERT(post->first, post->last, post->last, mail);
        mail->is_listed = 1;
    }

    tg_mail_unlock();

    return tg_post_deliver(post);
}

uint64_t
tg_mail_open(tg_mail_t *mail, tg_post_t *post)
{
    tg_mail_t **at;

    tg_mail_lock();
    mail->number = ++tg_mails.number;
    mail->post = post;
    mail->thread = pthread_self();
    mail->is_held = 1;
    at = tg_mail_shelf(mail->number);
    mail->beside = *at;
    *at = mail;
    tg_mail_unlock();

    return mail->number;
}

int
tg_mail_take(tg_mail_t *mail, tg_mail_reply_t *reply)
{
    /* It is, where this thread has replied. */
    if (!mail->is_closed) {
        tg_mail_lock();

        if (mail->reply.text.data != NULL) {
            tg_mail_shut(mail);
        }

        tg_mail_unlock();
    }

    if (!mail->is_closed) {
        return 0;
    }

    *reply = mail->reply;
    mail->reply.letter = NULL;

    return 1;
}

void
tg_mail_release(tg_mail_t *mail)
{
    tg_mail_lock();
    mail->is_held = 0;

    if ((mail->reply.text.data != NULL || mail->has_progress)
        && mail->post->wake != NULL)
    {
        tg_mail_list(mail);
    }

    tg_mail_unlock();
}

int
tg_mail_close(tg_mail_t *mail)
{
    int was_open;

    tg_mail_lock();
    was_open = !mail->is_closed && mail->reply.text.data == NULL;
    tg_letter_free(mail->reply.letter);
    mail->reply.letter = NULL;
    tg_mail_shut(mail);
    tg_mail_unlock();

    return was_open;
}

/* --- what is made of it --- */

void
tg_mail_values(const tg_mail_progress_t *progress, tg_buf_t *text,
               tg_mail_values_t *values)
{
    size_t total, message;

    tg_buf_uint(text, progress->progress);
    total = text->len;

    if (progress->total != 0) {
        tg_buf_uint(text, progress->total);
    }

    message = text->len;

    if (progress->message != NULL) {
        tg_json_put_string(text, tg_str(progress->message->text,
                                        progress->message->len));
    }

    memset(values, 0, sizeof(*values));

    if (tg_buf_failed(text)) {
        return;
    }

    values->progress = tg_str(text->data, total);

    if (message != total) {
        values->total = tg_str(text->data + total, message - total);
    }

    if (text->len != message) {
        values->message = tg_str(text->data + message, text->len - message);
    }
}
