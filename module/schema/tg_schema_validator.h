/*
 * One run of the checker, for the files tg_schema_*.c only: the walk over
 * an instance that is known to be valid JSON, failures, and the scratch.
 *
 * Rules return TG_OK; TG_INVALID, which `not` or `anyOf` may turn into
 * something else; or a code that ends the run: TG_LIMIT, TG_NOMEM, and
 * TG_EXISTS for a key that is given twice.
 */
#ifndef TG_SCHEMA_VALIDATOR_H
#define TG_SCHEMA_VALIDATOR_H

#include "schema/tg_schema_node.h"

/* How much a failing branch of anyOf tells; a deeper one tells more. */
typedef enum {
    TG_SCHEMA_FAIL_VALUE, /* another one was meant, or none */
    TG_SCHEMA_FAIL_TYPE,
    TG_SCHEMA_FAIL_RULE
} tg_schema_failure_type_t;

/*
 * Values that are compared with each other at once, in 4 MB of scratch:
 * more than any list that a model writes.
 */
#define TG_SCHEMA_MAX_UNIQUE_ITEMS 262144

/* Bytes that are read, decoded or compared in the time of one step. */
#define TG_SCHEMA_BYTES_PER_STEP 16

/* Steps of decoding a text, besides its bytes. */
#define TG_SCHEMA_UNESCAPE_STEPS 6

/* The dynamic scope: resources from the innermost to the outermost. */
typedef struct tg_schema_scope_s {
    const struct tg_schema_scope_s *outer;
    const tg_schema_resource_t *resource;
} tg_schema_scope_t;

/*
 * Which members or elements of one container were evaluated: bits, from a
 * word of the checker's on.  An offset, since the words may move.
 */
typedef struct {
    size_t word;
    size_t n; /* bits */
} tg_schema_bitset_t;

typedef struct {
    uint64_t hash;
    const char *at;
} tg_schema_hashed_item_t;

struct tg_schema_validator_s {
    const tg_alloc_t *alloc;
    uint64_t seed;
    size_t frame_bytes;
    uint64_t *spent; /* steps of the frame, or NULL */
    tg_buf_t text;   /* a decoded string */
    uint64_t *words;
    size_t n_words;
    size_t cap_words;
    tg_schema_hashed_item_t *items; /* for uniqueness */
    size_t n_items;
    size_t cap_items;
    uint32_t *slots;
    size_t cap_slots;
};

typedef struct {
    const tg_schema_t *schema;
    tg_schema_validator_t *validator;
    const char *start; /* the instance */
    const char *end;
    tg_buf_t *report; /* where a text goes */
    tg_buf_t *error;  /* the same, or NULL while trying quietly */
    size_t report_start;
    uint64_t steps; /* left */
    unsigned depth; /* schemas inside of each other */
    unsigned level; /* containers around the value */
    const tg_schema_scope_t *scope;
    /* The value that was passed last, so that nothing is passed twice. */
    const char *last_skipped;
    const char *last_skipped_end;
    /* The last failure. */
    const char *fail_at;
    unsigned fail_score;
    uint8_t fail_types; /* what was expected, of TG_SCHEMA_FAIL_TYPE */
} tg_schema_run_t;

/* The walk. */

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
    size_t index; /* of the value */
} tg_schema_walk_t;

/* at: the opening bracket. */
void tg_schema_walk_init(tg_schema_walk_t *walk, const char *at);
/* To the next member or element: TG_OK, TG_END, TG_LIMIT. */
int tg_schema_walk_next(tg_schema_run_t *run, tg_schema_walk_t *walk);

/* Where the value, or the key, that starts at p ends. */
const char *tg_schema_skip_value(const char *p, const char *end);
/* All of it, raw; in a run nothing is passed twice. */
tg_str_t tg_schema_get_raw(tg_schema_run_t *run, const char *p);

/* Members or elements of a container. */
size_t tg_schema_run_count_entries(tg_schema_run_t *run, const char *at);

/* The text of a body, decoded where it must be; until the next call. */
int tg_schema_run_unescape(tg_schema_run_t *run, tg_str_t body, tg_str_t *text);

/* Says that the budget is spent: TG_LIMIT. */
int tg_schema_fail_step_limit(tg_schema_run_t *run);

/* Takes steps from the budget: TG_OK or TG_LIMIT. */
static inline int
tg_schema_run_spend(tg_schema_run_t *run, uint64_t steps)
{
    if (run->steps < steps) {
        return tg_schema_fail_step_limit(run);
    }

    run->steps -= steps;

    return TG_OK;
}

/* The same for reading bytes: the next rule sees when nothing is left. */
static inline void
tg_schema_run_spend_bytes(tg_schema_run_t *run, size_t bytes)
{
    uint64_t steps;

    steps = bytes / TG_SCHEMA_BYTES_PER_STEP;
    run->steps -= steps < run->steps ? steps : run->steps;
}

/* tg_schema_names_find(): a search by hash, past the hint, is paid for. */
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

/* Scratch. */

/* Grows an array of size-byte things to hold n of them: TG_OK, TG_NOMEM. */
int tg_schema_grow_array(const tg_alloc_t *alloc, void *array, size_t *cap,
                         size_t n, size_t size);

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

/* Gives back what an unusually large instance needed. */
void tg_schema_validator_shrink(tg_schema_validator_t *validator);

/* Failures. */

/*
 * Notes a failure of the value at `at`.  Returns where to write what is
 * wrong with it, its path being there already; or NULL.
 */
tg_buf_t *tg_schema_fail_begin(tg_schema_run_t *run, const char *at,
                               tg_schema_failure_type_t kind);
/* The same for a value that is of none of these types: TG_INVALID. */
int tg_schema_fail_type(tg_schema_run_t *run, const char *at, unsigned types);
/* The same with all that there is to say: TG_INVALID. */
int tg_schema_fail_text(tg_schema_run_t *run, const char *at,
                        tg_schema_failure_type_t kind, const char *text);
/* TEXT BOUND, got VALUE: TG_INVALID. */
int tg_schema_fail_bound(tg_schema_run_t *run, const char *at, const char *text,
                         tg_str_t bound);
/* Is n from min to max?  Else: must have at least MIN UNIT, got N. */
int tg_schema_check_count_range(tg_schema_run_t *run, const char *at, size_t n,
                                size_t min, size_t max,
                                const char *const *units);
/* The same for a member that is missing: its path. */
tg_buf_t *tg_schema_fail_missing_begin(tg_schema_run_t *run, const char *at,
                                       tg_str_t name);

/*
 * These end the whole run, so that their text goes to the caller even from
 * inside of a quiet try; what a louder one wrote so far is dropped.  They
 * return TG_EXISTS or TG_LIMIT; key may be absent.
 */
int tg_schema_fail_duplicate_key(tg_schema_run_t *run, const char *at,
                                 tg_str_t key);
int tg_schema_fail_limit(tg_schema_run_t *run, const char *why);

/* Appends the JSON pointer of the value at target, "(root)" for the root. */
void tg_schema_append_path(tg_buf_t *out, tg_str_t root, const char *target);
/* Appends a value as JSON, cut when it is long. */
void tg_schema_append_value(tg_buf_t *out, tg_str_t raw);
/* Appends decoded text, in quotes, cut when it is long. */
void tg_schema_append_quoted(tg_buf_t *out, tg_str_t text);

/* The bit of the type of the value at p; a number is TG_SCHEMA_TYPE_NUMBER. */
unsigned tg_schema_type_of_char(char c);
/* The bit of the type that a raw value names, or 0. */
unsigned tg_schema_type_from_name(tg_str_t raw);

/* Rules.  marks is NULL when nobody asks what was evaluated. */

int tg_schema_check_node(tg_schema_run_t *run, const tg_schema_node_t *node,
                         const char *at, const tg_schema_bitset_t *marks);
/* The same for a member or an element of the value. */
int tg_schema_check_child(tg_schema_run_t *run, const tg_schema_node_t *node,
                          const char *at);
/*
 * The same without a word: a failure of it is none yet, and what it evaluates
 * counts only when it fits.
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

/* TG_OK when text has a match, TG_MISSING, or an end of the run. */
int tg_schema_match_pattern(tg_schema_run_t *run,
                            const tg_schema_pattern_t *pattern, tg_str_t text);

/* Is the value at p equal to a value of the schema?  TG_OK or TG_INVALID. */
int tg_schema_equal(tg_schema_run_t *run, const char *p, tg_str_t value);

/*
 * Finds two elements, or two keys, that are equal: TG_OK when there are none,
 * TG_END with their indices and the place of the second, or an end of the run.
 */
typedef struct {
    size_t first;
    size_t second;
    const char *at;
} tg_schema_duplicate_t;

int tg_schema_find_duplicate(tg_schema_run_t *run, const char *at,
                             tg_schema_duplicate_t *same);

#endif
