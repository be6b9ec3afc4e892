/*
 * The walk over bytes that are known to be valid JSON, and the scratch of a
 * checker.
 */
#include "schema/tg_schema_run.h"

#include "base/tg_scan_block.h"

/* Scratch of a kind that stays with a checker, in bytes. */
#define TG_SCHEMA_KEEP 65536

int
tg_schema_refuse_limit(tg_schema_run_t *run, const char *why)
{
    if (run->report != NULL) {
        tg_buf_truncate(run->report, run->report_start);
        tg_buf_text(run->report, why);
    }

    return TG_LIMIT;
}

int
tg_schema_refuse_steps(tg_schema_run_t *run)
{
    return tg_schema_refuse_limit(run, "checking this takes too many steps; "
                                       "send less at once");
}

/* Steps that it takes to pass a text that is not plain. */
#define TG_SCHEMA_STRING 3
/* Bytes of a container that are looked at one by one, which pays for few. */
#define TG_SCHEMA_NEAR 64

/* Behind a value without parts: most are short. */
static const char *
tg_schema_end_plain(const char *p, const char *end)
{
    const char *at;
    tg_json_t json;
    tg_str_t raw;

    if (*p == '"') {
        at = tg_scan_short(p + 1, end);

        if (at < end && *at == '"') {
            return at + 1;
        }

    } else {
        for (at = p; at < end && at < p + TG_SCHEMA_NEAR; at++) {
            if (*at == ',' || *at == ']' || *at == '}' || *at <= ' ') {
                return at;
            }
        }
    }

    raw = tg_str(p, 0);
    tg_json_init(&json, tg_str(p, (size_t) (end - p)));
    (void) tg_json_value(&json, &raw);

    return p + raw.len;
}

const char *
tg_schema_end(const char *p, const char *end)
{
    const char *at, *stop;
    unsigned depth;
    tg_json_t json;
    tg_str_t raw;

    if (*p != '{' && *p != '[') {
        return tg_schema_end_plain(p, end);
    }

    stop = p + TG_SCHEMA_NEAR;

    for (at = p, depth = 0; at < stop; at++) {
        if (*at == '"') {
            at = tg_schema_end_plain(at, end) - 1;

        } else if (*at == '{' || *at == '[') {
            depth++;

        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }

    raw = tg_str(p, 0);
    tg_json_init(&json, tg_str(p, (size_t) (end - p)));
    (void) tg_json_value(&json, &raw);

    return p + raw.len;
}

/* Most texts are short and ASCII without escapes; others take a call. */
static const char *
tg_schema_pass_string(tg_schema_run_t *run, const char *p)
{
    const char *at;

    at = tg_scan_short(p + 1, run->end);

    if (at < run->end && *at == '"') {
        return at + 1;
    }

    if (at < run->end && (*at == '\\' || (unsigned char) *at >= 0x80)) {
        tg_schema_pay(run, TG_SCHEMA_STRING * TG_SCHEMA_STEP_BYTES);
    }

    return tg_schema_end_plain(p, run->end);
}

/* tg_schema_end() in a run, where nothing is passed twice. */
static const char *
tg_schema_pass(tg_schema_run_t *run, const char *p)
{
    size_t len;

    if (run->passed != p) {
        run->passed = p;
        run->passed_end = *p == '"' ? tg_schema_pass_string(run, p)
                                    : tg_schema_end(p, run->end);
        len = (size_t) (run->passed_end - p);
        tg_schema_pay(run, len);

        /* One by one: a short container, or a number. */
        if (len <= TG_SCHEMA_NEAR && *p != '"') {
            tg_schema_pay(run, len);
        }
    }

    return run->passed_end;
}

tg_str_t
tg_schema_raw(tg_schema_run_t *run, const char *p)
{
    return tg_str(p, (size_t) (tg_schema_pass(run, p) - p));
}

void
tg_schema_walk_init(tg_schema_walk_t *walk, const char *at)
{
    memset(walk, 0, sizeof(*walk));
    walk->start = at;
    walk->p = tg_schema_space(at + 1);
}

int
tg_schema_walk(tg_schema_run_t *run, tg_schema_walk_t *walk)
{
    const char *p;

    p = walk->p;

    if (walk->value != NULL) {
        p = tg_schema_space(tg_schema_pass(run, walk->value));
        walk->index++;

        if (*p == ',') {
            p = tg_schema_space(p + 1);
        }
    }

    if (*p == '}' || *p == ']') {
        run->passed = walk->start;
        run->passed_end = p + 1;
        return TG_END;
    }

    if (*walk->start == '{') {
        walk->p = tg_schema_pass_string(run, p);
        walk->key = tg_str(p + 1, (size_t) (walk->p - p) - 2);
        p = tg_schema_space(tg_schema_space(walk->p) + 1);
    }

    walk->value = p;

    return tg_schema_spend(run, 1);
}

size_t
tg_schema_count(tg_schema_run_t *run, const char *at)
{
    tg_schema_walk_t walk;
    int rc;

    tg_schema_walk_init(&walk, at);

    do {
        rc = tg_schema_walk(run, &walk);
    } while (rc == TG_OK);

    return rc == TG_END ? walk.index : 0;
}

void
tg_schema_entries(tg_schema_entries_t *entries, tg_str_t raw)
{
    tg_json_init(&entries->json, raw);
    entries->is_object = tg_json_type(raw) == TG_JSON_OBJECT;
    (void) (entries->is_object ? tg_json_object(&entries->json)
                               : tg_json_array(&entries->json));
}

int
tg_schema_entry(tg_schema_entries_t *entries)
{
    tg_json_t *json;

    json = &entries->json;

    return (entries->is_object ? tg_json_member(json, &entries->key)
                               : tg_json_element(json))
               == TG_OK
           && tg_json_value(json, &entries->value) == TG_OK;
}

size_t
tg_schema_size(tg_str_t raw)
{
    tg_schema_entries_t entries;
    size_t n;

    tg_schema_entries(&entries, raw);

    for (n = 0; tg_schema_entry(&entries); n++) {
        /* void */
    }

    return n;
}

int
tg_schema_text(tg_schema_run_t *run, tg_str_t body, tg_str_t *text)
{
    tg_buf_t *buf;

    tg_schema_pay(run, body.len);

    if (body.len == 0 || memchr(body.data, '\\', body.len) == NULL) {
        *text = body;
        return TG_OK;
    }

    buf = &run->checker->text;
    tg_buf_truncate(buf, 0);
    tg_json_put_decoded(buf, body);
    tg_schema_pay(run, TG_SCHEMA_DECODE * TG_SCHEMA_STEP_BYTES + body.len);

    if (tg_buf_failed(buf)) {
        return TG_NOMEM;
    }

    *text = tg_buf_view(buf);

    return TG_OK;
}

int
tg_schema_grow(const tg_alloc_t *alloc, void *array, size_t *cap, size_t n,
               size_t size)
{
    void *old, *grown;
    size_t want;

    if (n <= *cap) {
        return TG_OK;
    }

    want = *cap * 2 > n ? *cap * 2 : n;

    if (want > SIZE_MAX / 2 / size) {
        return TG_NOMEM;
    }

    memcpy(&old, array, sizeof(old));
    grown = alloc->resize(alloc->ctx, old, want * size);

    if (grown == NULL) {
        return TG_NOMEM;
    }

    memcpy(array, &grown, sizeof(grown));
    *cap = want;

    return TG_OK;
}

int
tg_schema_marks_get(tg_schema_run_t *run, size_t n, tg_schema_marks_t *marks)
{
    tg_schema_checker_t *checker;
    size_t words;
    int rc;

    checker = run->checker;
    words = (n + 63) / 64;
    rc = tg_schema_spend(run, words);

    if (rc == TG_OK) {
        rc = tg_schema_grow(checker->alloc, &checker->words,
                            &checker->cap_words, checker->n_words + words,
                            sizeof(uint64_t));
    }

    if (rc != TG_OK) {
        return rc;
    }

    marks->word = checker->n_words;
    marks->n = n;
    checker->n_words += words;

    if (words != 0) {
        memset(checker->words + marks->word, 0, words * sizeof(uint64_t));
    }

    return TG_OK;
}

void
tg_schema_marks_set(tg_schema_run_t *run, const tg_schema_marks_t *marks,
                    size_t i)
{
    run->checker->words[marks->word + i / 64] |= UINT64_C(1) << (i % 64);
}

int
tg_schema_marks_has(tg_schema_run_t *run, const tg_schema_marks_t *marks,
                    size_t i)
{
    return run->checker->words[marks->word + i / 64] >> (i % 64) & 1;
}

void
tg_schema_marks_merge(tg_schema_run_t *run, const tg_schema_marks_t *to,
                      const tg_schema_marks_t *from)
{
    uint64_t *words;
    size_t i;

    words = run->checker->words;

    for (i = 0; i < (to->n + 63) / 64; i++) {
        words[to->word + i] |= words[from->word + i];
    }
}

void
tg_schema_marks_fill(tg_schema_run_t *run, const tg_schema_marks_t *marks)
{
    size_t words;

    words = (marks->n + 63) / 64;

    if (words != 0) {
        memset(run->checker->words + marks->word, 0xff,
               words * sizeof(uint64_t));
    }
}

/* What a large instance made grow is not kept for ever. */
void
tg_schema_checker_shrink(tg_schema_checker_t *checker)
{
    if (checker->text.cap > TG_SCHEMA_KEEP) {
        tg_buf_reset(&checker->text, TG_SCHEMA_KEEP);
    }

    if (checker->cap_words > TG_SCHEMA_KEEP / sizeof(*checker->words)) {
        tg_free(checker->alloc, checker->words);
        checker->words = NULL;
        checker->cap_words = 0;
    }

    if (checker->cap_items > TG_SCHEMA_KEEP / sizeof(*checker->items)) {
        tg_free(checker->alloc, checker->items);
        checker->items = NULL;
        checker->cap_items = 0;
        tg_free(checker->alloc, checker->slots);
        checker->slots = NULL;
        checker->cap_slots = 0;
    }
}

tg_schema_checker_t *
tg_schema_checker_new(const tg_alloc_t *alloc, uint64_t seed)
{
    tg_schema_checker_t *checker;

    checker = tg_calloc(alloc, sizeof(*checker));

    if (checker != NULL) {
        checker->alloc = alloc;
        checker->seed = seed;
        tg_buf_init(&checker->text, alloc);
    }

    return checker;
}

void
tg_schema_checker_frame(tg_schema_checker_t *checker, size_t bytes,
                        uint64_t *spent)
{
    checker->frame_bytes = bytes;
    checker->spent = spent;
}

void
tg_schema_checker_free(tg_schema_checker_t *checker)
{
    if (checker == NULL) {
        return;
    }

    tg_buf_deinit(&checker->text);
    tg_free(checker->alloc, checker->words);
    tg_free(checker->alloc, checker->items);
    tg_free(checker->alloc, checker->slots);
    tg_free(checker->alloc, checker);
}
