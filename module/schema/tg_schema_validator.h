/*
 * State of one validation, for the files tg_schema_*.c only: the walk over an
 * instance, which must be valid JSON, failures, and scratch memory.
 *
 * Checks return TG_OK; TG_INVALID, which `not` or `anyOf` may turn into
 * success; or a code that ends the whole run: TG_LIMIT, TG_NOMEM, or TG_EXISTS
 * for a duplicate key.
 */
#ifndef TG_SCHEMA_VALIDATOR_H
#define TG_SCHEMA_VALIDATOR_H

#include "schema/tg_schema_node.h"

/*
 * Rank of a failure. Among the failed branches of anyOf the one with the
 * deepest failure is reported; at equal depth, the one with the highest rank.
 */
typedef enum {
    TG_SCHEMA_FAIL_VALUE, /* another branch was probably meant */
    TG_SCHEMA_FAIL_TYPE,
    TG_SCHEMA_FAIL_RULE
} tg_schema_failure_type_t;

/*
 * Maximum number of values that are compared for uniqueness. They need 4 MB of
 * scratch memory; real lists are smaller.
 */
#define TG_SCHEMA_MAX_UNIQUE_ITEMS 262144

/* Bytes that are read, decoded or compared in the time of one step. */
#define TG_SCHEMA_BYTES_PER_STEP 16

/* Additional steps for decoding a string. */
#define TG_SCHEMA_UNESCAPE_STEPS 6

/*
 * The dynamic scope: a list of resources, from the innermost to the outermost.
 */
typedef struct tg_schema_scope_s {
    const struct tg_schema_scope_s *outer;
    const tg_schema_resource_t *resource;
} tg_schema_scope_t;

/*
 * A set of evaluated members or elements of one container. The bits are in
 * validator->words and start at index `word`; an index, because the words may
 * be reallocated.
 */
typedef struct {
    size_t word;
    size_t n; /* number of bits */
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
    const char *start; /* start of the instance */
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
    /* The last failure. */
    const char *fail_at;
    unsigned fail_score;
    uint8_t fail_types; /* expected types, for TG_SCHEMA_FAIL_TYPE */
} tg_schema_run_t;

/* --- walk --- */

/* Returns the first byte from p on that is not white space. */
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

/*
 * Starts a walk over the members or elements of a container; `at` is its
 * opening bracket.
 */
void tg_schema_walk_init(tg_schema_walk_t *walk, const char *at);
/*
 * Moves to the next member or element. Returns TG_OK, TG_END after the last
 * one, or TG_LIMIT.
 */
int tg_schema_walk_next(tg_schema_run_t *run, tg_schema_walk_t *walk);

/* Returns the end of the value or key that starts at p. */
const char *tg_schema_skip_value(const char *p, const char *end);
/*
 * Returns the raw value that starts at p. Uses the end stored in run if the
 * value was skipped last.
 */
tg_str_t tg_schema_get_raw(tg_schema_run_t *run, const char *p);

/* Returns the number of members or elements of a container. */
size_t tg_schema_run_count_entries(tg_schema_run_t *run, const char *at);

/*
 * Decodes a string body. The text is valid until the next call. Returns TG_OK
 * or TG_NOMEM.
 */
int tg_schema_run_unescape(tg_schema_run_t *run, tg_str_t body, tg_str_t *text);

/* Reports that the budget of steps is spent. Returns TG_LIMIT. */
int tg_schema_fail_step_limit(tg_schema_run_t *run);

/* Takes steps from the budget. Returns TG_OK or TG_LIMIT. */
static inline int
tg_schema_run_spend(tg_schema_run_t *run, uint64_t steps)
{
    if (run->steps < steps) {
        return tg_schema_fail_step_limit(run);
    }

    run->steps -= steps;

    return TG_OK;
}

/*
 * Takes the steps of reading bytes from the budget, at most all that are left;
 * the next tg_schema_run_spend() fails then.
 */
static inline void
tg_schema_run_spend_bytes(tg_schema_run_t *run, size_t bytes)
{
    uint64_t steps;

    steps = bytes / TG_SCHEMA_BYTES_PER_STEP;
    run->steps -= steps < run->steps ? steps : run->steps;
}

/*
 * Finds a name like tg_schema_names_find() and takes a step for a lookup by
 * hash.
 */
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

/* --- scratch memory --- */

/*
 * Grows an array to hold n elements of size bytes. `array` is the address of
 * the pointer to the array. Returns TG_OK or TG_NOMEM.
 */
int tg_schema_grow_array(const tg_alloc_t *alloc, void *array, size_t *cap,
                         size_t n, size_t size);

/*
 * Allocates an empty set of n bits. The caller frees the set by resetting
 * validator->n_words. Returns TG_OK, TG_LIMIT or TG_NOMEM.
 */
int tg_schema_bitset_alloc(tg_schema_run_t *run, size_t n,
                           tg_schema_bitset_t *marks);
void tg_schema_bitset_set(tg_schema_run_t *run, const tg_schema_bitset_t *marks,
                          size_t i);
int tg_schema_bitset_has(tg_schema_run_t *run, const tg_schema_bitset_t *marks,
                         size_t i);
/* Adds all bits of `from` to `to`; both sets have the same size. */
void tg_schema_bitset_merge(tg_schema_run_t *run, const tg_schema_bitset_t *to,
                            const tg_schema_bitset_t *from);
/* Sets all bits of the set. */
void tg_schema_bitset_fill(tg_schema_run_t *run,
                           const tg_schema_bitset_t *marks);

/* Frees scratch memory that an unusually large instance needed. */
void tg_schema_validator_shrink(tg_schema_validator_t *validator);

/* --- failures --- */

/*
 * Records a failure of the value at `at` and writes the value's path to the
 * error text. Returns the buffer to which the caller appends the reason, or
 * NULL if no text is wanted.
 */
tg_buf_t *tg_schema_fail_begin(tg_schema_run_t *run, const char *at,
                               tg_schema_failure_type_t kind);
/*
 * Records that the value at `at` has none of the given types. Returns
 * TG_INVALID.
 */
int tg_schema_fail_type(tg_schema_run_t *run, const char *at, unsigned types);
/* Records a failure with a complete reason. Returns TG_INVALID. */
int tg_schema_fail_text(tg_schema_run_t *run, const char *at,
                        tg_schema_failure_type_t kind, const char *text);
/* Records the failure "TEXT BOUND, got VALUE". Returns TG_INVALID. */
int tg_schema_fail_bound(tg_schema_run_t *run, const char *at, const char *text,
                         tg_str_t bound);
/*
 * Checks that n is from min to max. Returns TG_OK, or TG_INVALID after the
 * failure "must have at least MIN UNIT, got N". units has the singular and the
 * plural.
 */
int tg_schema_check_count_range(tg_schema_run_t *run, const char *at, size_t n,
                                size_t min, size_t max,
                                const char *const *units);
/*
 * Records a missing member of the object at `at`, and writes the path of the
 * member. Returns the buffer for the reason, or NULL if no text is wanted.
 */
tg_buf_t *tg_schema_fail_missing_begin(tg_schema_run_t *run, const char *at,
                                       tg_str_t name);

/*
 * Records a duplicate key and returns TG_EXISTS, which ends the whole run.  The
 * text replaces all earlier error text, and is written even while a branch is
 * tried silently.  key may be absent.
 */
int tg_schema_fail_duplicate_key(tg_schema_run_t *run, const char *at,
                                 tg_str_t key);
/*
 * Records that a limit is exceeded and returns TG_LIMIT, which ends the whole
 * run. The text replaces all earlier error text, and is written even while a
 * branch is tried silently.
 */
int tg_schema_fail_limit(tg_schema_run_t *run, const char *why);

/* Appends the JSON pointer of the value at target, or "(root)" for the root. */
void tg_schema_append_path(tg_buf_t *out, tg_str_t root, const char *target);
/* Appends a value as JSON, truncated if it is long. */
void tg_schema_append_value(tg_buf_t *out, tg_str_t raw);
/* Appends decoded text in quotes, truncated if it is long. */
void tg_schema_append_quoted(tg_buf_t *out, tg_str_t text);

/*
 * Returns the type bit of the value that starts with c. A number is
 * TG_SCHEMA_TYPE_NUMBER.
 */
unsigned tg_schema_type_of_char(char c);
/* Returns the type bit of the type that the raw string names, or 0. */
unsigned tg_schema_type_from_name(tg_str_t raw);

/* --- rules --- */

/*
 * Checks the value at `at` against a schema. marks is the set of evaluated
 * members or elements to add to, or NULL if nobody needs it.
 */
int tg_schema_check_node(tg_schema_run_t *run, const tg_schema_node_t *node,
                         const char *at, const tg_schema_bitset_t *marks);
/* Checks a member or element of the current value against a schema. */
int tg_schema_check_child(tg_schema_run_t *run, const tg_schema_node_t *node,
                          const char *at);
/*
 * Checks a value silently: a failure is not reported, and evaluated members or
 * elements are added to marks only on success.
 */
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

/*
 * Matches text with a pattern. Returns TG_OK, TG_MISSING if there is no match,
 * TG_LIMIT or TG_NOMEM.
 */
int tg_schema_match_pattern(tg_schema_run_t *run,
                            const tg_schema_pattern_t *pattern, tg_str_t text);

/*
 * Compares the value at p with a value of the schema. Returns TG_OK if both are
 * equal, TG_INVALID if not, or a code that ends the run.
 */
int tg_schema_equal(tg_schema_run_t *run, const char *p, tg_str_t value);

/* Indexes of two equal elements or keys, and the position of the second one. */
typedef struct {
    size_t first;
    size_t second;
    const char *at;
} tg_schema_duplicate_t;

/*
 * Finds two equal elements of an array, or keys of an object. Returns TG_OK if
 * there are none, TG_END with the result in *same, or a code that ends the run.
 */
int tg_schema_find_duplicate(tg_schema_run_t *run, const char *at,
                             tg_schema_duplicate_t *same);

#endif
