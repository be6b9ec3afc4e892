/*
 * State of one validation, for tg_schema_*.c only. Checks return TG_OK;
 * TG_INVALID, which `not` or `anyOf` may turn into success; or a code that ends
 * the whole run: TG_LIMIT, TG_NOMEM, or TG_EXISTS for a duplicate key.
 */
#ifndef TG_SCHEMA_VALIDATOR_H
#define TG_SCHEMA_VALIDATOR_H

#include "schema/tg_schema_node.h"

/*
 * Ranks of failures. The branch of anyOf with the deepest failure is reported;
 * at equal depth, the one with the highest rank.
 */
typedef enum {
    TG_SCHEMA_FAIL_VALUE, /* another branch was probably meant */
    TG_SCHEMA_FAIL_TYPE,
    TG_SCHEMA_FAIL_RULE
} tg_schema_failure_type_t;

/* Values compared for uniqueness, with 4 MB of memory. */
#define TG_SCHEMA_MAX_UNIQUE_ITEMS 262144

/* Bytes that are read, decoded or compared in the time of one step. */
#define TG_SCHEMA_BYTES_PER_STEP 16

/* Additional steps for decoding a string. */
#define TG_SCHEMA_UNESCAPE_STEPS 6

/* A list of resources, from the innermost to the outermost. */
typedef struct tg_schema_scope_s {
    const struct tg_schema_scope_s *outer;
    const tg_schema_resource_t *resource;
} tg_schema_scope_t;

/*
 * The evaluated entries of a container: bits from validator->words[word] on.
 * That array may be reallocated.
 */
typedef struct {
    size_t word;
    size_t n;
} tg_schema_bitset_t;

typedef struct {
    uint64_t hash;
    const char *at;
} tg_schema_hashed_item_t;

struct tg_schema_validator_s {
    const tg_alloc_t *alloc;
    uint64_t seed;
    size_t frame_bytes;
    /* steps spent in the frame so far, or NULL */
    uint64_t *spent;
    tg_buf_t text; /* a decoded string */
    uint64_t *words;
    size_t n_words;
    size_t cap_words;
    /* values compared for uniqueness */
    tg_schema_hashed_item_t *items;
    size_t n_items;
    size_t cap_items;
    uint32_t *slots;
    size_t cap_slots;
};

typedef struct {
    const tg_schema_t *schema;
    tg_schema_validator_t *validator;
    const char *start;
    const char *end;
    tg_buf_t *report; /* buffer for the final error text, or NULL */
    tg_buf_t *error;  /* report, or NULL while a branch is tried silently */
    size_t report_start;
    uint64_t steps; /* steps left */
    unsigned depth; /* nesting depth of schemas */
    unsigned level; /* number of containers around the current value */
    const tg_schema_scope_t *scope;
    /* The last skipped value and its end: each value is skipped only once. */
    const char *last_skipped;
    const char *last_skipped_end;
    const char *fail_at;
    unsigned fail_score;
    uint8_t fail_types; /* expected types, for TG_SCHEMA_FAIL_TYPE */
} tg_schema_run_t;

static inline const char *
tg_schema_skip_space(const char *p)
{
    while (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t') {
        p++;
    }

    return p;
}

typedef struct {
    const char *start;
    const char *p;
    const char *value;
    tg_str_t key; /* escaped body */
    size_t index; /* index of the value */
} tg_schema_walk_t;

/* Walks over the container whose opening bracket is at `at`. */
void tg_schema_walk_init(tg_schema_walk_t *walk, const char *at);
/* Moves to the next entry. TG_END: there is none. */
int tg_schema_walk_next(tg_schema_run_t *run, tg_schema_walk_t *walk);

const char *tg_schema_skip_value(const char *p, const char *end);
/* Returns the raw value at p. The last skipped value's end is known. */
tg_str_t tg_schema_get_raw(tg_schema_run_t *run, const char *p);

size_t tg_schema_run_count_entries(tg_schema_run_t *run, const char *at);

/* Decodes a string body; the text is valid until the next call. */
int tg_schema_run_unescape(tg_schema_run_t *run, tg_str_t body, tg_str_t *text);

int tg_schema_fail_step_limit(tg_schema_run_t *run);

static inline int
tg_schema_run_spend(tg_schema_run_t *run, uint64_t steps)
{
    if (run->steps < steps) {
        return tg_schema_fail_step_limit(run);
    }

    run->steps -= steps;

    return TG_OK;
}

/* Takes all steps if too few are left; the next tg_schema_run_spend() fails. */
static inline void
tg_schema_run_spend_bytes(tg_schema_run_t *run, size_t bytes)
{
    uint64_t steps;

    steps = bytes / TG_SCHEMA_BYTES_PER_STEP;
    run->steps -= steps < run->steps ? steps : run->steps;
}

/* Finds a name. A lookup by hash costs a step. */
static inline const tg_schema_name_t *
tg_schema_find_name(tg_schema_run_t *run, const tg_schema_names_t *names,
                    tg_str_t name, uint32_t *hint)
{
    const tg_schema_name_t *found;
    uint32_t before;

    before = *hint;
    found = tg_schema_names_find(names, name, hint);

    if (names->mask != 0 && (found == NULL || *hint != before + 1)) {
        tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP);
    }

    return found;
}

/*
 * Grows an array to n elements of size bytes. `array` is the address of the
 * pointer to the array. TG_OK or TG_NOMEM.
 */
int tg_schema_grow_array(const tg_alloc_t *alloc, void *array, size_t *cap,
                         size_t n, size_t size);

/* Allocates an empty set of n bits, freed by resetting validator->n_words. */
int tg_schema_bitset_alloc(tg_schema_run_t *run, size_t n,
                           tg_schema_bitset_t *marks);
void tg_schema_bitset_set(tg_schema_run_t *run, const tg_schema_bitset_t *marks,
                          size_t i);
int tg_schema_bitset_has(tg_schema_run_t *run, const tg_schema_bitset_t *marks,
                         size_t i);
void tg_schema_bitset_merge(tg_schema_run_t *run, const tg_schema_bitset_t *to,
                            const tg_schema_bitset_t *from);
void tg_schema_bitset_fill(tg_schema_run_t *run,
                           const tg_schema_bitset_t *marks);

/* Frees scratch memory that an unusually large instance needed. */
void tg_schema_validator_shrink(tg_schema_validator_t *validator);

/*
 * Records a failure of the value at `at` and writes its path. Returns the
 * buffer for the reason, or NULL if no text is wanted.
 */
tg_buf_t *tg_schema_fail_begin(tg_schema_run_t *run, const char *at,
                               tg_schema_failure_type_t kind);
/* Records that the value has none of the types. Returns TG_INVALID. */
int tg_schema_fail_type(tg_schema_run_t *run, const char *at, unsigned types);
int tg_schema_fail_text(tg_schema_run_t *run, const char *at,
                        tg_schema_failure_type_t kind, const char *text);
/* Records the failure "TEXT BOUND, got VALUE". Returns TG_INVALID. */
int tg_schema_fail_bound(tg_schema_run_t *run, const char *at, const char *text,
                         tg_str_t bound);
/* Sets the error "must have at least MIN UNIT, got N". */
int tg_schema_check_count_range(tg_schema_run_t *run, const char *at, size_t n,
                                size_t min, size_t max,
                                const char *const *units);
/* Begins the error of a missing member; see tg_schema_fail_begin(). */
tg_buf_t *tg_schema_fail_missing_begin(tg_schema_run_t *run, const char *at,
                                       tg_str_t name);

/*
 * Returns TG_EXISTS. Replaces earlier error text, even while a branch is tried
 * silently. key may be absent.
 */
int tg_schema_fail_duplicate_key(tg_schema_run_t *run, const char *at,
                                 tg_str_t key);
/* Replaces earlier error text, even on a silent branch. Returns TG_LIMIT. */
int tg_schema_fail_limit(tg_schema_run_t *run, const char *why);

/* Appends the JSON pointer of the value at target, or "(root)" for the root. */
void tg_schema_append_path(tg_buf_t *out, tg_str_t root, const char *target);
void tg_schema_append_value(tg_buf_t *out, tg_str_t raw);
void tg_schema_append_quoted(tg_buf_t *out, tg_str_t text);

/* Returns the type bit by a value's first byte; all numbers are NUMBER. */
unsigned tg_schema_type_of_char(char c);
unsigned tg_schema_type_from_name(tg_str_t raw);

/* Checks a value. Evaluated entries are added to marks, unless NULL. */
int tg_schema_check_node(tg_schema_run_t *run, const tg_schema_node_t *node,
                         const char *at, const tg_schema_bitset_t *marks);
int tg_schema_check_child(tg_schema_run_t *run, const tg_schema_node_t *node,
                          const char *at);
/* Checks silently; evaluated entries are added to marks only on success. */
int tg_schema_try_node(tg_schema_run_t *run, const tg_schema_node_t *node,
                       const char *at, const tg_schema_bitset_t *marks);
int tg_schema_check_object(tg_schema_run_t *run, const tg_schema_node_t *node,
                           const char *at, const tg_schema_bitset_t *marks);
int tg_schema_check_array(tg_schema_run_t *run, const tg_schema_node_t *node,
                          const char *at, const tg_schema_bitset_t *marks);
int tg_schema_check_logic(tg_schema_run_t *run, const tg_schema_node_t *node,
                          const char *at, const tg_schema_bitset_t *marks);
int tg_schema_check_string(tg_schema_run_t *run, const tg_schema_node_t *node,
                           const char *at);
int tg_schema_check_number(tg_schema_run_t *run, const tg_schema_node_t *node,
                           const char *at);
int tg_schema_check_const_and_enum(tg_schema_run_t *run,
                                   const tg_schema_node_t *node,
                                   const char *at);
int tg_schema_check_unevaluated(tg_schema_run_t *run,
                                const tg_schema_node_t *node, const char *at,
                                const tg_schema_bitset_t *marks);

/* Matches a text. TG_MISSING: there is no match. */
int tg_schema_match_pattern(tg_schema_run_t *run,
                            const tg_schema_pattern_t *pattern, tg_str_t text);

/* Compares with a value of the schema. TG_INVALID: they differ. */
int tg_schema_equal(tg_schema_run_t *run, const char *p, tg_str_t value);

/* Indexes of two equal elements or keys, and the position of the second one. */
typedef struct {
    size_t first;
    size_t second;
    const char *at;
} tg_schema_duplicate_t;

/* Finds equal entries, which become *same with TG_END. */
int tg_schema_find_duplicate(tg_schema_run_t *run, const char *at,
                             tg_schema_duplicate_t *same);

#endif
