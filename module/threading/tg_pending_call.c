/* Pending calls and mailboxes. One mutex protects all, for copies only. */
#include "threading/tg_threading.h"

#include "base/tg_json.h"
#include "base/tg_list.h"
#include "base/tg_utf8.h"

/* Up to this many calls, consecutive numbers have no hash collisions. */
#define TG_PENDING_CALL_BUCKETS 1024

static struct {
    pthread_mutex_t mutex;
    uint64_t number; /* last number issued */
    /* numbers up to this one belong to the parent process */
    uint64_t inherited;
    uint64_t answered; /* last number answered by its loop's own thread */
    tg_pending_call_t *buckets[TG_PENDING_CALL_BUCKETS];
} tg_pending_calls = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
tg_pending_calls_lock(void)
{
    (void) pthread_mutex_lock(&tg_pending_calls.mutex);
}

void
tg_pending_calls_unlock(void)
{
    (void) pthread_mutex_unlock(&tg_pending_calls.mutex);
}

void
tg_pending_calls_on_fork_child(void)
{
    tg_pending_calls.inherited = tg_pending_calls.number;
    tg_pending_calls_unlock();
}

static tg_thread_message_t *
tg_thread_message_alloc(unsigned level, size_t len)
{
    tg_thread_message_t *thread_message;

    thread_message = tg_alloc(tg_alloc_libc(), sizeof(*thread_message) + len);

    if (thread_message != NULL) {
        thread_message->next = NULL;
        thread_message->level = level;
        thread_message->len = len;
    }

    return thread_message;
}

tg_thread_message_t *
tg_thread_message_new(unsigned level, tg_str_t text)
{
    tg_thread_message_t *thread_message;

    thread_message = tg_thread_message_alloc(level, text.len);

    if (thread_message != NULL && text.len != 0) {
        memcpy(thread_message->text, text.data, text.len);
    }

    return thread_message;
}

void
tg_thread_message_free(tg_thread_message_t *thread_message)
{
    if (thread_message != NULL) {
        tg_free(tg_alloc_libc(), thread_message);
    }
}

static tg_pending_call_t **
tg_pending_call_get_bucket(uint64_t number)
{
    return &tg_pending_calls.buckets[number % TG_PENDING_CALL_BUCKETS];
}

/* Finds an open call, or returns NULL, also if its mailbox is closed. */
static tg_pending_call_t *
tg_pending_call_find(uint64_t number)
{
    tg_pending_call_t *pending;

    pending = *tg_pending_call_get_bucket(number);

    while (pending != NULL && pending->number != number) {
        pending = pending->next_in_bucket;
    }

    return pending != NULL && pending->mailbox->wake != NULL ? pending : NULL;
}

static void
tg_pending_call_dequeue(tg_pending_call_t *pending)
{
    tg_mailbox_t *mailbox;

    mailbox = pending->mailbox;

    if (pending->is_enqueued && pending->is_delayed) {
        TG_LIST_REMOVE(mailbox->first_paced, mailbox->last_paced, pending);
    } else if (pending->is_enqueued) {
        TG_LIST_REMOVE(mailbox->first, mailbox->last, pending);
    }

    pending->is_enqueued = 0;
    pending->is_delayed = 0;
}

/*
 * Wakes the loop, unless the call has only progress that must be delayed. Does
 * nothing while delivery is disabled: the loop then checks the call itself.
 */
static void
tg_pending_call_enqueue(tg_pending_call_t *pending)
{
    tg_mailbox_t *mailbox;

    mailbox = pending->mailbox;

    if (pending->has_delivery_disabled) {
        return;
    }

    if (pending->reply.text.data != NULL || !mailbox->is_paced) {
        tg_pending_call_dequeue(pending);
        TG_LIST_INSERT(mailbox->first, mailbox->last, mailbox->last, pending);
        mailbox->wake(mailbox->host);

    } else if (!pending->is_enqueued) {
        TG_LIST_INSERT(mailbox->first_paced, mailbox->last_paced,
                       mailbox->last_paced, pending);
        pending->is_delayed = 1;
    }

    pending->is_enqueued = 1;
}

static void
tg_pending_call_unregister(tg_pending_call_t *pending)
{
    tg_pending_call_t **at;

    if (pending->is_closed) {
        return;
    }

    tg_pending_call_dequeue(pending);
    at = tg_pending_call_get_bucket(pending->number);

    while (*at != pending) {
        at = &(*at)->next_in_bucket;
    }

    *at = pending->next_in_bucket;
    pending->is_closed = 1;
    tg_thread_message_free(pending->progress.message);
    pending->progress.message = NULL;
}

static int
tg_pending_call_is_inherited(uint64_t number)
{
    return number != 0 && number <= tg_pending_calls.inherited;
}

/* Returns why a reply to a call is refused, or NULL. */
static const char *
tg_pending_call_get_refusal(const tg_pending_call_t *pending, uint64_t number)
{
    if (tg_pending_call_is_inherited(number)) {
        return "which only the parent process can answer";
    }

    if (pending == NULL ? number == tg_pending_calls.answered
                        : pending->reply.text.data != NULL)
    {
        return "which has already been answered";
    }

    return pending == NULL ? "which has ended or was cancelled" : NULL;
}

/* *thread_message is NULL if the reply fits in the pending call. */
static int
tg_pending_call_reply_alloc(const tg_pending_call_reply_t *reply,
                            tg_thread_message_t **thread_message)
{
    size_t len;

    len = reply->text.len + reply->type.len + reply->data.len;
    *thread_message = NULL;

    if (len <= TG_PENDING_CALL_INLINE_MAX && reply->type.data == NULL
        && reply->data.data == NULL)
    {
        return TG_OK;
    }

    *thread_message = tg_thread_message_alloc(0, len);

    return *thread_message != NULL ? TG_OK : TG_NOMEM;
}

static void
tg_pending_call_set_reply(tg_pending_call_t *pending,
                          const tg_pending_call_reply_t *reply,
                          tg_thread_message_t *thread_message)
{
    char *at;

    at = thread_message != NULL ? thread_message->text : pending->inline_text;
    pending->reply = *reply;
    pending->reply.thread_message = thread_message;
    pending->reply.text = tg_str(at, reply->text.len);

    if (reply->text.len != 0) {
        memcpy(at, reply->text.data, reply->text.len);
        at += reply->text.len;
    }

    pending->reply.type = tg_str_copy_to(&at, reply->type);
    pending->reply.data = tg_str_copy_to(&at, reply->data);
}

/* Closes a call that the loop's thread answers while delivery is disabled. */
static void
tg_pending_call_on_reply(tg_pending_call_t *pending)
{
    if (pending->has_delivery_disabled
        && pthread_equal(pending->thread, pthread_self()))
    {
        tg_pending_calls.answered = pending->number;
        tg_pending_call_unregister(pending);
    } else {
        tg_pending_call_enqueue(pending);
    }
}

int
tg_pending_call_reply(uint64_t number, const tg_pending_call_reply_t *reply,
                      const char **why)
{
    tg_thread_message_t *thread_message;
    tg_pending_call_t *pending;
    int rc;

    if (tg_pending_call_reply_alloc(reply, &thread_message) != TG_OK) {
        return TG_NOMEM;
    }

    tg_pending_calls_lock();
    pending = tg_pending_call_find(number);
    *why = tg_pending_call_get_refusal(pending, number);

    if (*why == NULL) {
        tg_pending_call_set_reply(pending, reply, thread_message);
        tg_pending_call_on_reply(pending);
    }

    rc = *why == NULL                           ? TG_OK
         : tg_pending_call_is_inherited(number) ? TG_INVALID
                                                : TG_CLOSED;
    tg_pending_calls_unlock();

    if (rc != TG_OK) {
        tg_thread_message_free(thread_message);
    }

    return rc;
}

int
tg_pending_call_progress(uint64_t number, uint64_t progress, uint64_t total,
                         const char *message)
{
    tg_thread_message_t *thread_message, *old;
    tg_pending_call_t *pending;
    tg_str_t text;
    int rc;

    text = message != NULL ? tg_str_from_cstr(message) : TG_STR_NONE;
    thread_message = text.data != NULL && text.len <= TG_PROGRESS_MESSAGE_MAX
                             && tg_utf8_is_valid(text)
                         ? tg_thread_message_new(0, text)
                         : NULL;
    old = thread_message;

    tg_pending_calls_lock();
    rc = tg_pending_call_is_inherited(number) ? TG_INVALID : TG_CLOSED;
    pending = tg_pending_call_find(number);

    if (tg_pending_call_get_refusal(pending, number) == NULL) {
        rc = TG_OK;
        old = pending->progress.message;
        pending->progress.progress = progress;
        pending->progress.total = total;
        pending->progress.message = thread_message;
        pending->has_progress = 1;
        tg_pending_call_enqueue(pending);
    }

    tg_pending_calls_unlock();
    tg_thread_message_free(old);

    return rc;
}

int
tg_pending_call_is_open(uint64_t number)
{
    int is_open;

    tg_pending_calls_lock();
    is_open = tg_pending_call_get_refusal(tg_pending_call_find(number), number)
              == NULL;
    tg_pending_calls_unlock();

    return is_open;
}

void
tg_mailbox_init(tg_mailbox_t *mailbox, void (*wake)(void *host), void *host)
{
    memset(mailbox, 0, sizeof(*mailbox));
    mailbox->wake = wake;
    mailbox->host = host;
}

void
tg_mailbox_close(tg_mailbox_t *mailbox)
{
    tg_pending_calls_lock();
    mailbox->wake = NULL;
    tg_pending_calls_unlock();
}

/* Takes the reply, which closes the call, and the progress. */
static void
tg_pending_call_take_contents(tg_pending_call_t *pending,
                              tg_pending_call_reply_t *reply,
                              tg_pending_call_progress_t *progress)
{
    tg_pending_call_dequeue(pending);
    *reply = pending->reply;
    *progress = pending->progress;
    pending->reply.thread_message = NULL;
    pending->progress.message = NULL;
    pending->has_progress = 0;

    if (reply->text.data != NULL) {
        tg_pending_call_unregister(pending);
    }
}

int
tg_mailbox_deliver(tg_mailbox_t *mailbox)
{
    tg_pending_call_progress_t progress;
    tg_pending_call_reply_t reply;
    tg_pending_call_t *pending;
    size_t n;
    int is_told, is_over;

    is_told = 0;
    is_over = 0;
    n = 0;
    tg_pending_calls_lock();

    for (pending = mailbox->first; pending != NULL; pending = pending->next) {
        n++;
    }

    /* Limit the loop: a call may be appended to the list again. */
    for (/* void */; n != 0 && !is_over && mailbox->first != NULL; n--) {
        pending = mailbox->first;
        tg_pending_call_take_contents(pending, &reply, &progress);
        tg_pending_calls_unlock();
        is_told |= reply.text.data == NULL;
        pending->on_arrival(pending, reply.text.data != NULL ? &reply : NULL,
                            &progress);
        tg_thread_message_free(reply.thread_message);
        tg_thread_message_free(progress.message);
        is_over = n != 1 && mailbox->is_slice_over != NULL
                  && mailbox->is_slice_over(mailbox->host, reply.text.len);
        tg_pending_calls_lock();
    }

    mailbox->is_paced |= is_told ? 1 : 0;
    tg_pending_calls_unlock();

    return is_told;
}

int
tg_mailbox_deliver_paced(tg_mailbox_t *mailbox)
{
    tg_pending_call_t *pending;

    tg_pending_calls_lock();
    mailbox->is_paced = 0;

    while ((pending = mailbox->first_paced) != NULL) {
        tg_pending_call_dequeue(pending);
        TG_LIST_INSERT(mailbox->first, mailbox->last, mailbox->last, pending);
        pending->is_enqueued = 1;
    }

    tg_pending_calls_unlock();

    return tg_mailbox_deliver(mailbox);
}

uint64_t
tg_pending_call_open(tg_pending_call_t *pending, tg_mailbox_t *mailbox)
{
    tg_pending_call_t **at;

    tg_pending_calls_lock();
    pending->number = ++tg_pending_calls.number;
    pending->mailbox = mailbox;
    pending->thread = pthread_self();
    pending->has_delivery_disabled = 1;
    at = tg_pending_call_get_bucket(pending->number);
    pending->next_in_bucket = *at;
    *at = pending;
    tg_pending_calls_unlock();

    return pending->number;
}

int
tg_pending_call_take_reply(tg_pending_call_t *pending,
                           tg_pending_call_reply_t *reply)
{
    /* A reply of this thread has already closed the call. */
    if (!pending->is_closed) {
        tg_pending_calls_lock();

        if (pending->reply.text.data != NULL) {
            tg_pending_call_unregister(pending);
        }

        tg_pending_calls_unlock();
    }

    if (!pending->is_closed) {
        return 0;
    }

    *reply = pending->reply;
    pending->reply.thread_message = NULL;

    return 1;
}

void
tg_pending_call_enable_delivery(tg_pending_call_t *pending)
{
    tg_pending_calls_lock();
    pending->has_delivery_disabled = 0;

    if ((pending->reply.text.data != NULL || pending->has_progress)
        && pending->mailbox->wake != NULL)
    {
        tg_pending_call_enqueue(pending);
    }

    tg_pending_calls_unlock();
}

int
tg_pending_call_close(tg_pending_call_t *pending)
{
    int was_open;

    tg_pending_calls_lock();
    was_open = !pending->is_closed && pending->reply.text.data == NULL;
    tg_thread_message_free(pending->reply.thread_message);
    pending->reply.thread_message = NULL;
    tg_pending_call_unregister(pending);
    tg_pending_calls_unlock();

    return was_open;
}

void
tg_progress_values_write_json(const tg_pending_call_progress_t *progress,
                              tg_buf_t *text, tg_progress_values_t *values)
{
    size_t total, message;

    tg_buf_append_uint(text, progress->progress);
    total = text->len;

    if (progress->total != 0) {
        tg_buf_append_uint(text, progress->total);
    }

    message = text->len;

    if (progress->message != NULL) {
        tg_json_write_string(text, tg_str(progress->message->text,
                                          progress->message->len));
    }

    memset(values, 0, sizeof(*values));

    if (tg_buf_has_failed(text)) {
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
