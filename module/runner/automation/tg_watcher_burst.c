#include "runner/automation/tg_watcher_impl.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* --- whose it is --- */

tg_str_t
tg_watched_path(const tg_watched_t *rule, tg_str_t path)
{
    size_t len;

    len = rule->root.len;

    if (path.len <= len + 1 || memcmp(path.data, rule->root.data, len) != 0
        || (path.data[len] != '/' && len != 1))
    {
        return TG_STR_NONE;
    }

    len += len != 1; /* the root of all ends with its slash */
    path = tg_str(path.data + len, path.len - len);

    return rule->only.len == 0 || tg_str_eq(path, rule->only) ? path
                                                              : TG_STR_NONE;
}

static void
tg_watched_begin(tg_watched_t *rule)
{
    rule->last_at = tg_watcher_now();

    if (rule->first_at == 0) {
        rule->first_at = rule->last_at;
    }
}

void
tg_watcher_touch(tg_watcher_t *watcher, tg_str_t path, int was_there)
{
    tg_watched_t *rule;
    tg_str_t below;
    unsigned i;

    for (i = 0; !watcher->is_scanning && i < watcher->nrules; i++) {
        rule = &watcher->rules[i];
        below = tg_watched_path(rule, path);

        if (below.data == NULL || !tg_rule_has_file(rule->rule, below)) {
            continue;
        }

        tg_watched_begin(rule);

        if (rule->touched.n >= TG_WATCHER_TOUCHED_MAX
            || tg_names_add(&rule->touched, path, was_there) == NULL)
        {
            rule->is_cut = 1;
        }
    }
}

void
tg_watcher_lost(tg_watcher_t *watcher)
{
    unsigned i;

    for (i = 0; i < watcher->nrules; i++) {
        watcher->rules[i].is_cut = 1;
        tg_watched_begin(&watcher->rules[i]);
    }
}

/* --- what is told --- */

/* Seen from before and after; 0: nothing is left of it. */
static unsigned
tg_watcher_kind(const tg_watcher_t *watcher, const tg_name_t *name)
{
    int is_there;

    is_there = tg_names_find(&watcher->files, tg_str(name->text, name->len))
               != NULL;

    if (name->mark) {
        return is_there ? TG_FILE_CHANGE : TG_FILE_DELETE;
    }

    return is_there ? TG_FILE_CREATE : 0;
}

static int
tg_watcher_compare(const void *a, const void *b)
{
    return strcmp((*(const tg_name_t *const *) a)->text,
                  (*(const tg_name_t *const *) b)->text);
}

/* The files that the rule wants to hear of, in order; NULL: no memory. */
static const tg_name_t **
tg_watcher_sort(const tg_watcher_t *watcher, const tg_watched_t *rule,
                size_t *n)
{
    const tg_name_t **names, *name;

    names = malloc((rule->touched.n + 1) * sizeof(*names));
    *n = 0;

    for (name = tg_names_next(&rule->touched, NULL);
         names != NULL && name != NULL;
         name = tg_names_next(&rule->touched, name))
    {
        if (tg_watcher_kind(watcher, name) & rule->rule->events) {
            names[(*n)++] = name;
        }
    }

    if (names != NULL) {
        qsort(names, *n, sizeof(*names), tg_watcher_compare);
    }

    return names;
}

static void
tg_watcher_put_file(const tg_watcher_t *watcher, tg_buf_t *json,
                    const tg_name_t *name)
{
    unsigned kind;
    tg_buf_t text;

    /* A name may be any bytes. */
    tg_buf_init(&text, tg_alloc_libc());
    tg_utf8_put_lossy(&text, tg_str(name->text, name->len));
    tg_buf_text(json, "\"path\":");
    tg_json_put_string(json, tg_buf_view(&text));
    kind = tg_watcher_kind(watcher, name);
    tg_buf_printf(json, ",\"event\":\"%s\"",
                  kind == TG_FILE_CREATE   ? "create"
                  : kind == TG_FILE_CHANGE ? "change"
                                           : "delete");
    json->failed |= tg_buf_failed(&text);
    tg_buf_deinit(&text);
}

static void
tg_watcher_put(const tg_watcher_t *watcher, tg_buf_t *json,
               const tg_watched_t *rule, const tg_name_t **names, size_t n)
{
    size_t i;

    tg_buf_char(json, '{');

    if (n != 0) {
        tg_watcher_put_file(watcher, json, names[0]);
        tg_buf_char(json, ',');
    }

    tg_buf_text(json, "\"count\":");
    tg_buf_uint(json, n);
    tg_buf_text(json, ",\"files\":[");

    for (i = 0; i < n && i < TG_WATCHER_NAMED_MAX; i++) {
        tg_buf_text(json, i == 0 ? "{" : ",{");
        tg_watcher_put_file(watcher, json, names[i]);
        tg_buf_char(json, '}');
    }

    tg_buf_printf(json, "],\"lost\":%s}", rule->is_cut ? "true" : "false");
}

/*
 * When the last of them changed, as the files say: whoever reads of it may be
 * late.  ms of Unix time.
 */
static int64_t
tg_watcher_when(const tg_name_t **names, size_t n)
{
    struct timespec now;
    struct stat info;
    int64_t at, last;
    size_t i;

    for (i = 0, last = 0; i < n && i < TG_WATCHER_NAMED_MAX; i++) {
        if (lstat(names[i]->text, &info) == 0) {
            at = (int64_t) info.st_ctim.tv_sec * 1000
                 + info.st_ctim.tv_nsec / 1000000;
            last = at > last ? at : last;
        }
    }

    if (last == 0) {
        (void) clock_gettime(CLOCK_REALTIME, &now);
        last = (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
    }

    return last;
}

static void
tg_watched_tell(tg_watcher_t *watcher, tg_watched_t *rule)
{
    const tg_name_t **names;
    tg_buf_t json;
    size_t n;

    names = tg_watcher_sort(watcher, rule, &n);

    if (names != NULL && (n != 0 || rule->is_cut)) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_watcher_put(watcher, &json, rule, names, n);

        if (!tg_buf_failed(&json)) {
            tg_watcher_leave(watcher, rule->rule->id, tg_watcher_when(names, n),
                             tg_buf_view(&json));
        }

        tg_buf_deinit(&json);
    }

    free(names);
    tg_names_free(&rule->touched);
    rule->is_cut = 0;
    rule->first_at = 0;
}

int
tg_watcher_tell(tg_watcher_t *watcher)
{
    uint64_t now, due, quiet;
    tg_watched_t *rule;
    unsigned i;
    int wait;

    now = tg_watcher_now();
    wait = -1;

    for (i = 0; i < watcher->nrules; i++) {
        rule = &watcher->rules[i];

        if (rule->first_at == 0) {
            continue;
        }

        quiet = (uint64_t) rule->rule->debounce_ms;
        due = rule->first_at + quiet * TG_WATCHER_PATIENCE;
        due = rule->last_at + quiet < due ? rule->last_at + quiet : due;

        if (now >= due) {
            tg_watched_tell(watcher, rule);
        } else if (wait == -1 || (uint64_t) wait > due - now) {
            wait = (int) (due - now);
        }
    }

    return wait;
}
