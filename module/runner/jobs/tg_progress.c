/* Splits a program's progress output into lines and parses them. */
#include "runner/jobs/tg_progress.h"

#include "base/tg_json.h"
#include "base/tg_number.h"

enum {
    TG_PROGRESS_VALUE,
    TG_PROGRESS_TOTAL,
    TG_PROGRESS_MESSAGE,
    TG_PROGRESS_MEMBERS
};

static const char *const tg_progress_members[] = {
    [TG_PROGRESS_VALUE] = "progress",
    [TG_PROGRESS_TOTAL] = "total",
    [TG_PROGRESS_MESSAGE] = "message",
    [TG_PROGRESS_MEMBERS] = NULL,
};

void
tg_progress_init(tg_progress_t *progress)
{
    memset(progress, 0, sizeof(*progress));
    tg_buf_init(&progress->line, tg_alloc_libc());
    tg_buf_init(&progress->newest, tg_alloc_libc());
}

void
tg_progress_deinit(tg_progress_t *progress)
{
    tg_buf_deinit(&progress->line);
    tg_buf_deinit(&progress->newest);
}

/* Checks that the value is absent, null, or of the type and permitted. */
static int
tg_progress_check_type(tg_str_t *value, tg_json_type_t type)
{
    if (value->data != NULL && tg_json_type(*value) == TG_JSON_NULL) {
        *value = TG_STR_NONE;
    }

    return value->data == NULL
           || (tg_json_type(*value) == type
               && (type != TG_JSON_NUMBER
                   || value->len <= TG_PROGRESS_VALUE_MAX));
}

static int
tg_progress_is_newer(const tg_progress_t *progress, tg_str_t raw)
{
    tg_number_t now, before;

    if (tg_number_parse(raw, &now) != TG_OK) {
        return 0;
    }

    if (progress->last_len == 0) {
        return 1;
    }

    (void) tg_number_parse(tg_str(progress->last, progress->last_len), &before);

    return tg_number_compare(&now, &before) > 0;
}

int
tg_progress_update(tg_progress_t *progress, tg_str_t text)
{
    tg_str_t line[TG_PROGRESS_MEMBERS], *now;
    tg_buf_t *newest;

    now = &line[TG_PROGRESS_VALUE];

    if (tg_json_get_members(text, tg_progress_members, line) != TG_OK
        || !tg_progress_check_type(now, TG_JSON_NUMBER)
        || !tg_progress_check_type(&line[TG_PROGRESS_TOTAL], TG_JSON_NUMBER)
        || !tg_progress_check_type(&line[TG_PROGRESS_MESSAGE], TG_JSON_STRING)
        || now->data == NULL || !tg_progress_is_newer(progress, *now))
    {
        return 0;
    }

    memcpy(progress->last, now->data, now->len);
    progress->last_len = now->len;
    newest = &progress->newest;
    tg_buf_truncate(newest, 0);
    tg_json_add_compact(newest, "progress", *now);
    tg_json_add_compact(newest, "total", line[TG_PROGRESS_TOTAL]);
    tg_json_add_compact(newest, "message", line[TG_PROGRESS_MESSAGE]);

    /* Out of memory: skip this notification. */
    if (tg_buf_has_failed(newest)) {
        tg_buf_truncate(newest, 0);
    }

    return 1;
}

/* Appends a part of a line to the buffer, unless the line is too long. */
static void
tg_progress_append_line(tg_progress_t *progress, tg_str_t part)
{
    if (progress->is_skipping) {
        return;
    }

    if (progress->line.len + part.len <= TG_PROGRESS_LINE_MAX) {
        tg_buf_append_str(&progress->line, part);

        if (!tg_buf_has_failed(&progress->line)) {
            return;
        }
    }

    progress->is_skipping = 1;
}

/* Parses the complete line. Returns 1 if it has new progress. */
static int
tg_progress_end_line(tg_progress_t *progress)
{
    int rc;

    rc = 0;

    if (!progress->is_skipping && progress->line.len != 0) {
        rc = tg_progress_update(progress, tg_buf_view(&progress->line));
    }

    tg_buf_truncate(&progress->line, 0);
    progress->is_skipping = 0;

    return rc;
}

int
tg_progress_feed(tg_progress_t *progress, const char *data, size_t len)
{
    const char *end, *newline;
    int has_progress;
    size_t n;

    has_progress = 0;

    for (end = data + len; data < end; data = newline + 1) {
        newline = memchr(data, '\n', (size_t) (end - data));

        if (newline == NULL) {
            tg_progress_append_line(progress,
                                    tg_str(data, (size_t) (end - data)));
            break;
        }

        n = (size_t) (newline - data);

        /* Fast path: parses a complete line without a copy. */
        if (progress->line.len == 0 && !progress->is_skipping
            && n <= TG_PROGRESS_LINE_MAX)
        {
            has_progress |= tg_progress_update(progress, tg_str(data, n));
            continue;
        }

        tg_progress_append_line(progress, tg_str(data, n));
        has_progress |= tg_progress_end_line(progress);
    }

    return has_progress;
}

int
tg_progress_feed_end(tg_progress_t *progress)
{
    return tg_progress_end_line(progress);
}

void
tg_progress_take_members(tg_progress_t *progress, tg_buf_t *json)
{
    tg_buf_append_str(json, tg_buf_view(&progress->newest));
    tg_buf_truncate(&progress->newest, 0);
}
