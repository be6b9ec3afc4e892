/*
 * JSON Schema 2020-12, 2019-09 and drafts 7, 6 and 4: a compiler and a checker.
 * A schema is of 2020-12, unless its `$schema` names another draft.
 *
 * A schema is compiled once, at load, where every mistake is found; the
 * result is read only and may be shared.  A check runs over the bytes of
 * the instance, without a tree; its scratch belongs to a checker, which
 * grows with the first calls and is used again after that.
 *
 * Nothing is ever fetched: other documents come from the host's resolver.
 * The schemas of these dialects are built in.
 *
 * Where a check says more than the specification: an object that gives a
 * key of the schema twice is refused, since parsers disagree about which
 * one counts.
 */
#ifndef TG_SCHEMA_H
#define TG_SCHEMA_H

#include "base/tg_json.h"

/* Defaults of the budgets, used where an option is 0. */

/* More than the largest schemas in public collections have. */
#define TG_SCHEMA_MAX_SUBSCHEMAS 20000
/* Schemas inside of each other while checking; some 300 KB of stack. */
#define TG_SCHEMA_MAX_DEPTH 1024
/*
 * Steps of a frame: of one check, or of all that share what they spend
 * (tg_schema_validator_set_frame).  A step is some ten nanoseconds.  Few bytes
 * must not take long, as there may be many of them; and no frame, however
 * large, holds a worker for longer than that.
 */
#define TG_SCHEMA_MAX_STEPS 3000000
#define TG_SCHEMA_BASE_STEPS 200000
#define TG_SCHEMA_STEPS_PER_BYTE 4
/* Bytes of all documents of a schema. */
#define TG_SCHEMA_MAX_BYTES (16 * 1024 * 1024)

/* The name of the newest dialect. */
#define TG_SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"

/*
 * Regular expressions, from the host.  Core translates ECMA-262 patterns
 * (tg_pattern.h says to what), the host's library compiles and runs them.
 * The table must outlive the schema.
 */
typedef struct {
    void *ctx;
    /*
     * TG_OK, TG_NOMEM, or TG_INVALID with what is wrong appended to error.
     * pattern lives for this call.
     */
    int (*compile)(void *ctx, tg_str_t pattern, void **regex, tg_buf_t *error);
    /*
     * TG_OK when text has a match, TG_MISSING when it has none, TG_LIMIT
     * when that takes more than limit steps or too much memory, TG_NOMEM.
     * A step is a callout that is passed, or 16 characters between two of
     * them.  *spent is what it took.
     */
    int (*match)(void *ctx, void *regex, tg_str_t text, uint64_t limit,
                 uint64_t *spent);
    void (*free)(void *ctx, void *regex);
    /* Returns the bytes that a compiled regex holds. */
    size_t (*size)(void *ctx, void *regex);
} tg_schema_regex_engine_t;

/*
 * Bounds for schemas whose authors are not trusted.  The bytes of a compiled
 * schema count in `memory` until it is freed, so an account must outlive the
 * schemas that were compiled with it.
 */
typedef struct {
    size_t memory;      /* bytes that its compiled schemas hold now */
    size_t memory_max;  /* of all of them together */
    size_t schema_max;  /* of one, while it is compiled and afterwards */
    uint64_t steps_max; /* of one compilation; a step is some 10 ns */
    uint64_t steps;     /* that the last compilation took */
} tg_schema_quota_t;

/* What is 0 or NULL takes its default. */
typedef struct {
    const tg_schema_regex_engine_t *regex; /* NULL: a pattern is a mistake */
    /*
     * A document by its absolute URI, without fragment: TG_OK and its text,
     * which must live until it is asked again or tg_schema_compile() returns;
     * TG_MISSING; TG_INVALID when the host knows why it cannot have it; or
     * TG_NOMEM.
     */
    int (*resolve)(void *ctx, tg_str_t uri, tg_str_t *raw);
    void *resolve_ctx;
    tg_str_t base_uri;      /* where the document is from, absolute */
    int is_format_asserted; /* format decides; else it is a remark */
    size_t max_subschemas;
    size_t max_bytes;
    unsigned max_depth;
    uint64_t max_steps;       /* of a check */
    tg_schema_quota_t *quota; /* NULL: compiling has no other bounds */
} tg_schema_options_t;

typedef struct tg_schema_s tg_schema_t;
typedef struct tg_schema_validator_s tg_schema_validator_t;

/*
 * NULL when the schema has a mistake: error then names its place (a JSON
 * pointer), the rule and what to write instead; it is empty when memory ran
 * out.  NULL, too, when compiling takes more than the account allows, which
 * error then says.  The schema keeps nothing of raw.  options may be NULL.
 */
tg_schema_t *tg_schema_compile(const tg_alloc_t *alloc, tg_str_t raw,
                               const tg_schema_options_t *options,
                               tg_buf_t *error);

/* Holds it once more; returns it. */
tg_schema_t *tg_schema_retain(tg_schema_t *schema);

/* Frees it with the last who held it.  NULL is none. */
void tg_schema_free(tg_schema_t *schema);

/* seed makes hash values unpredictable to those who send instances. */
tg_schema_validator_t *tg_schema_validator_new(const tg_alloc_t *alloc,
                                               uint64_t seed);
void tg_schema_validator_free(tg_schema_validator_t *validator);

/*
 * What a frame of so many bytes, which has taken spent steps, may still take of
 * the most that any may.
 */
uint64_t tg_schema_get_step_budget(size_t bytes, uint64_t most, uint64_t spent);

/*
 * The checks that follow are of a frame of so many bytes, whose earlier
 * checks took *spent steps, which they add to.  NULL, as at first: each check
 * is of a frame of its own.
 */
void tg_schema_validator_set_frame(tg_schema_validator_t *validator,
                                   size_t bytes, uint64_t *spent);

/*
 * Checks an instance, which must be a valid JSON text (tg_json_validate).
 *
 *   TG_OK     it fits;
 *   TG_INVALID    it does not: `/text: expected string, got number`;
 *   TG_LIMIT  it took more than a budget allows, error says which;
 *   TG_NOMEM  no memory; schema and checker may be used again.
 *
 * The text appended to error is UTF-8 of a bounded length, without line
 * breaks.  error may be NULL.  A checker serves one check at a time.
 */
int tg_schema_validate(const tg_schema_t *schema,
                       tg_schema_validator_t *validator, tg_str_t raw,
                       tg_buf_t *error);

/*
 * Is there no need to check the object whose members were noted when it was
 * parsed?  So it is with a usual schema, whose properties have a type each,
 * where they have it.  notes may be NULL.
 */
int tg_schema_is_valid_fast(const tg_schema_t *schema,
                            const tg_json_index_t *index);

#endif
