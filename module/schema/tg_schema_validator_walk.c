/* Walk over the bytes of a valid instance, and a validator's scratch memory. */
#include "schema/tg_schema_validator.h"

#include "base/simd/tg_scan_inline.h"

/* Maximum scratch memory of each kind that a validator keeps, in bytes. */
#define TG_SCHEMA_SCRATCH_KEEP 65536

int
tg_schema_fail_limit(tg_schema_run_t *run, const char *why)
{
    if (run->report != NULL) {
        tg_buf_truncate(run->report, run->report_start);
        tg_buf_append_cstr(run->report, why);
    }

    return TG_LIMIT;
}

int
tg_schema_fail_step_limit(tg_schema_run_t *run)
{
    return tg_schema_fail_limit(run, "checking this takes too many steps; "
                                     "send less at once");
}

/* Steps to skip a string that has escapes or non-ASCII characters. */
#define TG_SCHEMA_STEPS_PER_STRING 3
/* Values of up to this size in bytes are faster to read byte by byte. */
#define TG_SCHEMA_SHORT_VALUE_MAX 64

static const char *
tg_schema_skip_scalar(const char *p, const char *end)
{
    const char *at;
    tg_json_cursor_t json;
    tg_str_t raw;

    if (*p == '"') {
        at = tg_scan_string_128(p + 1, end);

        if (at < end && *at == '"') {
            return at + 1;
        }

    } else {
        for (at = p; at < end && at < p + TG_SCHEMA_SHORT_VALUE_MAX; at++) {
            if (*at == ',' || *at == ']' || *at == '}' || *at <= ' ') {
                return at;
            }
        }
    }

    raw = tg_str(p, 0);
    tg_json_init(&json, tg_str(p, (size_t) (end - p)));
    (void) tg_json_read_value(&json, &raw);

    return p + raw.len;
}

const char *
tg_schema_skip_value(const char *p, const char *end)
{
    const char *at, *stop;
    unsigned depth;
    tg_json_cursor_t json;
    tg_str_t raw;

    if (*p != '{' && *p != '[') {
        return tg_schema_skip_scalar(p, end);
    }

    stop = p + TG_SCHEMA_SHORT_VALUE_MAX;

    for (at = p, depth = 0; at < stop; at++) {
        if (*at == '"') {
            at = tg_schema_skip_scalar(at, end) - 1;

        } else if (*at == '{' || *at == '[') {
            depth++;

        } else if ((*at == '}' || *at == ']') && --depth == 0) {
            return at + 1;
        }
    }

    raw = tg_str(p, 0);
    tg_json_init(&json, tg_str(p, (size_t) (end - p)));
    (void) tg_json_read_value(&json, &raw);

    return p + raw.len;
}

/* Skips a string; optimized for short ASCII strings without escapes. */
static const char *
tg_schema_run_skip_string(tg_schema_run_t *run, const char *p)
{
    const char *at;

    at = tg_scan_string_128(p + 1, run->end);

    if (at < run->end && *at == '"') {
        return at + 1;
    }

    if (at < run->end && (*at == '\\' || (unsigned char) *at >= 0x80)) {
        tg_schema_run_spend_bytes(run, TG_SCHEMA_STEPS_PER_STRING
                                           * TG_SCHEMA_BYTES_PER_STEP);
    }

    return tg_schema_skip_scalar(p, run->end);
}

/*
 * Returns the end of the value at p and spends its steps. The last result is
 * kept, so that the same value is not skipped twice in a row.
 */
static const char *
tg_schema_run_skip_value(tg_schema_run_t *run, const char *p)
{
    size_t len;

    if (run->last_skipped != p) {
        run->last_skipped = p;
        run->last_skipped_end = *p == '"' ? tg_schema_run_skip_string(run, p)
                                          : tg_schema_skip_value(p, run->end);
        len = (size_t) (run->last_skipped_end - p);
        tg_schema_run_spend_bytes(run, len);

        /* Short containers and numbers are read byte by byte. */
        if (len <= TG_SCHEMA_SHORT_VALUE_MAX && *p != '"') {
            tg_schema_run_spend_bytes(run, len);
        }
    }

    return run->last_skipped_end;
}

tg_str_t
tg_schema_get_raw(tg_schema_run_t *run, const char *p)
{
    return tg_str(p, (size_t) (tg_schema_run_skip_value(run, p) - p));
}

void
tg_schema_walk_init(tg_schema_walk_t *walk, const char *at)
{
    memset(walk, 0, sizeof(*walk));
    walk->start = at;
    walk->p = tg_schema_skip_space(at + 1);
}

int
tg_schema_walk_next(tg_schema_run_t *run, tg_schema_walk_t *walk)
{
    const char *p;

    p = walk->p;

    if (walk->value != NULL) {
        p = tg_schema_skip_space(tg_schema_run_skip_value(run, walk->value));
        walk->index++;

        if (*p == ',') {
            p = tg_schema_skip_space(p + 1);
        }
    }

    if (*p == '}' || *p == ']') {
        run->last_skipped = walk->start;
        run->last_skipped_end = p + 1;
        return TG_END;
    }

    if (*walk->start == '{') {
        walk->p = tg_schema_run_skip_string(run, p);
        walk->key = tg_str(p + 1, (size_t) (walk->p - p) - 2);
        p = tg_schema_skip_space(tg_schema_skip_space(walk->p) + 1);
    }

    walk->value = p;

    return tg_schema_run_spend(run, 1);
}

size_t
tg_schema_run_count_entries(tg_schema_run_t *run, const char *at)
{
    tg_schema_walk_t walk;
    int rc;

    tg_schema_walk_init(&walk, at);

    do {
        rc = tg_schema_walk_next(run, &walk);
    } while (rc == TG_OK);

    return rc == TG_END ? walk.index : 0;
}

void
tg_schema_entries_init(tg_schema_entries_t *entries, tg_str_t raw)
{
    tg_json_init(&entries->json, raw);
    entries->is_object = tg_json_type(raw) == TG_JSON_OBJECT;
    (void) (entries->is_object ? tg_json_enter_object(&entries->json)
                               : tg_json_enter_array(&entries->json));
}

int
tg_schema_entries_next(tg_schema_entries_t *entries)
{
    tg_json_cursor_t *json;

    json = &entries->json;

    return (entries->is_object ? tg_json_next_member(json, &entries->key)
                               : tg_json_next_element(json))
               == TG_OK
           && tg_json_read_value(json, &entries->value) == TG_OK;
}

size_t
tg_schema_count_entries(tg_str_t raw)
{
    tg_schema_entries_t entries;
    size_t n;

    tg_schema_entries_init(&entries, raw);

    for (n = 0; tg_schema_entries_next(&entries); n++) {
        /* void */
    }

    return n;
}

int
tg_schema_run_unescape(tg_schema_run_t *run, tg_str_t body, tg_str_t *text)
{
    tg_buf_t *buf;

    tg_schema_run_spend_bytes(run, body.len);

    if (body.len == 0 || memchr(body.data, '\\', body.len) == NULL) {
        *text = body;
        return TG_OK;
    }

    buf = &run->validator->text;
    tg_buf_truncate(buf, 0);
    tg_json_append_unescaped(buf, body);
    tg_schema_run_spend_bytes(
        run, TG_SCHEMA_UNESCAPE_STEPS * TG_SCHEMA_BYTES_PER_STEP + body.len);

    if (tg_buf_has_failed(buf)) {
        return TG_NOMEM;
    }

    *text = tg_buf_view(buf);

    return TG_OK;
}

int
tg_schema_grow_array(const tg_alloc_t *alloc, void *array, size_t *cap,
                     size_t n, size_t size)
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
tg_schema_bitset_alloc(tg_schema_run_t *run, size_t n,
                       tg_schema_bitset_t *marks)
{
    tg_schema_validator_t *validator;
    size_t words;
    int rc;

    validator = run->validator;
    words = (n + 63) / 64;
    rc = tg_schema_run_spend(run, words);

    if (rc == TG_OK) {
        rc = tg_schema_grow_array(validator->alloc, &validator->words,
                                  &validator->cap_words,
                                  validator->n_words + words, sizeof(uint64_t));
    }

    if (rc != TG_OK) {
        return rc;
    }

    marks->word = validator->n_words;
    marks->n = n;
    validator->n_words += words;

    if (words != 0) {
        memset(validator->words + marks->word, 0, words * sizeof(uint64_t));
    }

    return TG_OK;
}

void
tg_schema_bitset_set(tg_schema_run_t *run, const tg_schema_bitset_t *marks,
                     size_t i)
{
    run->validator->words[marks->word + i / 64] |= UINT64_C(1) << (i % 64);
}

int
tg_schema_bitset_has(tg_schema_run_t *run, const tg_schema_bitset_t *marks,
                     size_t i)
{
    return run->validator->words[marks->word + i / 64] >> (i % 64) & 1;
}

void
tg_schema_bitset_merge(tg_schema_run_t *run, const tg_schema_bitset_t *to,
                       const tg_schema_bitset_t *from)
{
    uint64_t *words;
    size_t i;

    words = run->validator->words;

    for (i = 0; i < (to->n + 63) / 64; i++) {
        words[to->word + i] |= words[from->word + i];
    }
}

void
tg_schema_bitset_fill(tg_schema_run_t *run, const tg_schema_bitset_t *marks)
{
    size_t words;

    words = (marks->n + 63) / 64;

    if (words != 0) {
        memset(run->validator->words + marks->word, 0xff,
               words * sizeof(uint64_t));
    }
}

void
tg_schema_validator_shrink(tg_schema_validator_t *validator)
{
    if (validator->text.cap > TG_SCHEMA_SCRATCH_KEEP) {
        tg_buf_reset(&validator->text, TG_SCHEMA_SCRATCH_KEEP);
    }

    if (validator->cap_words
        > TG_SCHEMA_SCRATCH_KEEP / sizeof(*validator->words)) {
        tg_free(validator->alloc, validator->words);
        validator->words = NULL;
        validator->cap_words = 0;
    }

    if (validator->cap_items
        > TG_SCHEMA_SCRATCH_KEEP / sizeof(*validator->items)) {
        tg_free(validator->alloc, validator->items);
        validator->items = NULL;
        validator->cap_items = 0;
        tg_free(validator->alloc, validator->slots);
        validator->slots = NULL;
        validator->cap_slots = 0;
    }
}

tg_schema_validator_t *
tg_schema_validator_new(const tg_alloc_t *alloc, uint64_t seed)
{
    tg_schema_validator_t *validator;

    validator = tg_calloc(alloc, sizeof(*validator));

    if (validator != NULL) {
        validator->alloc = alloc;
        validator->seed = seed;
        tg_buf_init(&validator->text, alloc);
    }

    return validator;
}

void
tg_schema_validator_set_frame(tg_schema_validator_t *validator, size_t bytes,
                              uint64_t *spent)
{
    validator->frame_bytes = bytes;
    validator->spent = spent;
}

void
tg_schema_validator_free(tg_schema_validator_t *validator)
{
    if (validator == NULL) {
        return;
    }

    tg_buf_deinit(&validator->text);
    tg_free(validator->alloc, validator->words);
    tg_free(validator->alloc, validator->items);
    tg_free(validator->alloc, validator->slots);
    tg_free(validator->alloc, validator);
}
