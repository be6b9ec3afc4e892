/*
 * Changes of the files of each rule, and their reports.
 */
#include "tasks/watch/tg_watcher_impl.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

/* --- collection of changes --- */

tg_str_t
tg_watcher_rule_strip_root(const tg_watcher_rule_t *rule, tg_str_t path)
{
    size_t len;

    len = rule->root.len;

    if (path.len <= len + 1 || memcmp(path.data, rule->root.data, len) != 0
        || (path.data[len] != '/' && len != 1))
    {
        return TG_STR_NONE;
    }

    len += len != 1; /* the root folder ends with its slash */
    path = tg_str(path.data + len, path.len - len);

    return rule->file_name.len == 0 || tg_str_eq(path, rule->file_name)
               ? path
               : TG_STR_NONE;
}

static void
tg_watcher_rule_start_burst(tg_watcher_rule_t *rule)
{
    rule->last_change_at = tg_watcher_get_time_ms();

    if (rule->burst_started_at == 0) {
        rule->burst_started_at = rule->last_change_at;
    }
}

void
tg_watcher_mark_changed(tg_watcher_t *watcher, tg_str_t path, int was_there)
{
    tg_watcher_rule_t *rule;
    tg_str_t below;
    unsigned i;

    for (i = 0; !watcher->is_scanning && i < watcher->nrules; i++) {
        rule = &watcher->rules[i];
        below = tg_watcher_rule_strip_root(rule, path);

        if (below.data == NULL || !tg_rule_match_file(rule->rule, below)) {
            continue;
        }

        tg_watcher_rule_start_burst(rule);

        if (rule->changed_files.n >= TG_WATCHER_CHANGED_MAX
            || tg_name_set_add(&rule->changed_files, path, was_there) == NULL)
        {
            rule->is_incomplete = 1;
        }
    }
}

void
tg_watcher_mark_events_lost(tg_watcher_t *watcher)
{
    unsigned i;

    for (i = 0; i < watcher->nrules; i++) {
        watcher->rules[i].is_incomplete = 1;
        tg_watcher_rule_start_burst(&watcher->rules[i]);
    }
}

/* --- reports --- */

/*
 * Returns the change of a file since the start of the burst; 0: the file was
 * created and deleted.
 */
static unsigned
tg_watcher_get_file_event(const tg_watcher_t *watcher,
                          const tg_name_set_entry_t *name)
{
    int is_there;

    is_there = tg_name_set_find(&watcher->files, tg_str(name->text, name->len))
               != NULL;

    if (name->flag) {
        return is_there ? TG_FILE_CHANGE : TG_FILE_DELETE;
    }

    return is_there ? TG_FILE_CREATE : 0;
}

static int
tg_watcher_compare_names(const void *a, const void *b)
{
    return strcmp((*(const tg_name_set_entry_t *const *) a)->text,
                  (*(const tg_name_set_entry_t *const *) b)->text);
}

/*
 * Returns the rule's changed files by name; the caller frees the array. NULL:
 * no memory.
 */
static const tg_name_set_entry_t **
tg_watcher_sort_changed(const tg_watcher_t *watcher,
                        const tg_watcher_rule_t *rule, size_t *n)
{
    const tg_name_set_entry_t **names, *name;

    names = malloc((rule->changed_files.n + 1) * sizeof(*names));
    *n = 0;

    for (name = tg_name_set_next(&rule->changed_files, NULL);
         names != NULL && name != NULL;
         name = tg_name_set_next(&rule->changed_files, name))
    {
        if (tg_watcher_get_file_event(watcher, name) & rule->rule->events) {
            names[(*n)++] = name;
        }
    }

    if (names != NULL) {
        qsort(names, *n, sizeof(*names), tg_watcher_compare_names);
    }

    return names;
}

static void
tg_watcher_append_file(const tg_watcher_t *watcher, tg_buf_t *json,
                       const tg_name_set_entry_t *name)
{
    unsigned file_event;
    tg_buf_t text;

    /* A file name may contain any bytes. */
    tg_buf_init(&text, tg_alloc_libc());
    tg_utf8_append_lossy(&text, tg_str(name->text, name->len));
    tg_json_add_string(json, "path", tg_buf_view(&text));
    file_event = tg_watcher_get_file_event(watcher, name);
    tg_json_add_cstr(json, "event",
                     file_event == TG_FILE_CREATE   ? "create"
                     : file_event == TG_FILE_CHANGE ? "change"
                                                    : "delete");
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

static void
tg_watcher_write_payload(const tg_watcher_t *watcher, tg_buf_t *json,
                         const tg_watcher_rule_t *rule,
                         const tg_name_set_entry_t **names, size_t n)
{
    size_t i;

    tg_buf_append_char(json, '{');

    if (n != 0) {
        tg_watcher_append_file(watcher, json, names[0]);
        tg_buf_append_char(json, ',');
    }

    tg_json_add_uint(json, "count", n);
    tg_buf_append_cstr(json, ",\"files\":[");

    for (i = 0; i < n && i < TG_WATCHER_NAMED_MAX; i++) {
        tg_buf_append_cstr(json, i == 0 ? "{" : ",{");
        tg_watcher_append_file(watcher, json, names[i]);
        tg_buf_append_char(json, '}');
    }

    tg_buf_printf(json, "],\"lost\":%s}",
                  rule->is_incomplete ? "true" : "false");
}

/*
 * Returns the Unix time of the last change in ms, from the files, as events may
 * be read late.
 */
static int64_t
tg_watcher_get_change_time(const tg_name_set_entry_t **names, size_t n)
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
tg_watcher_rule_post_burst(tg_watcher_t *watcher, tg_watcher_rule_t *rule)
{
    const tg_name_set_entry_t **names;
    tg_buf_t json;
    size_t n;

    names = tg_watcher_sort_changed(watcher, rule, &n);

    if (names != NULL && (n != 0 || rule->is_incomplete)) {
        tg_buf_init(&json, tg_alloc_libc());
        tg_watcher_write_payload(watcher, &json, rule, names, n);

        if (!tg_buf_has_failed(&json)) {
            tg_watcher_post_message(watcher, rule->rule->id,
                                    tg_watcher_get_change_time(names, n),
                                    tg_buf_view(&json));
        }

        tg_buf_deinit(&json);
    }

    free(names);
    tg_name_set_free(&rule->changed_files);
    rule->is_incomplete = 0;
    rule->burst_started_at = 0;
}

int
tg_watcher_post_due_bursts(tg_watcher_t *watcher)
{
    uint64_t now, due, debounce;
    tg_watcher_rule_t *rule;
    unsigned i;
    int wait;

    now = tg_watcher_get_time_ms();
    wait = -1;

    for (i = 0; i < watcher->nrules; i++) {
        rule = &watcher->rules[i];

        if (rule->burst_started_at == 0) {
            continue;
        }

        debounce = (uint64_t) rule->rule->debounce_ms;
        due = rule->burst_started_at + debounce * TG_WATCHER_DEBOUNCES_MAX;
        due = rule->last_change_at + debounce < due
                  ? rule->last_change_at + debounce
                  : due;

        if (now >= due) {
            tg_watcher_rule_post_burst(watcher, rule);
        } else if (wait == -1 || (uint64_t) wait > due - now) {
            wait = (int) (due - now);
        }
    }

    return wait;
}
