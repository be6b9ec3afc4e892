/*
 * JSON Schema 2020-12, 2019-09 and drafts 7, 6 and 4: a compiler and a
 * validator. A schema without `$schema` is of 2020-12.
 *
 * A schema is compiled at load time, when all its mistakes are found; it is
 * read-only then and may be shared. The validator builds no tree; its scratch
 * memory is reused.
 *
 * Nothing is downloaded: the host resolves other documents, and the schemas of
 * the supported dialects are built in.
 *
 * The validator is stricter than the specification in one point: it rejects an
 * object that has a key of the schema twice, because parsers disagree about
 * which one counts.
 */
#ifndef TG_SCHEMA_H
#define TG_SCHEMA_H

#include "base/tg_json.h"

/* Default limits, for options that are 0. */

/* Maximum number of subschemas: more than in the largest public schemas. */
#define TG_SCHEMA_MAX_SUBSCHEMAS 20000
/* Nesting of schemas during validation, for about 300 KB of stack. */
#define TG_SCHEMA_MAX_DEPTH 1024
/*
 * Steps, of about 10 ns, of a frame: of one validation, or of all that share a
 * counter (tg_schema_validator_set_frame). A frame may take BASE + PER_BYTE
 * steps for each byte, at most MAX, so small frames, which may be many, are
 * fast, and no frame blocks a worker for long.
 */
#define TG_SCHEMA_MAX_STEPS 3000000
#define TG_SCHEMA_BASE_STEPS 200000
#define TG_SCHEMA_STEPS_PER_BYTE 4
/* Maximum size in bytes of all documents of a schema. */
#define TG_SCHEMA_MAX_BYTES (16 * 1024 * 1024)

/* URI of the newest supported dialect. */
#define TG_SCHEMA_DIALECT "https://json-schema.org/draft/2020-12/schema"

/*
 * The host's engine for the compiler's translated patterns (tg_pattern.h). The
 * table must outlive the schema.
 */
typedef struct {
    void *ctx;
    /* Compiles a pattern. On TG_INVALID the error has the reason. */
    int (*compile)(void *ctx, tg_str_t pattern, void **regex, tg_buf_t *error);
    /*
     * TG_OK: a match; TG_MISSING: none; TG_LIMIT: more than limit steps or too
     * much memory. A step is a callout, or 16 characters between two. *spent is
     * the number of steps taken.
     */
    int (*match)(void *ctx, void *regex, tg_str_t text, uint64_t limit,
                 uint64_t *spent);
    void (*free)(void *ctx, void *regex);
    /* Returns the number of bytes that a compiled regex occupies. */
    size_t (*size)(void *ctx, void *regex);
} tg_schema_regex_engine_t;

/*
 * Limits for untrusted schemas. The bytes of a schema count in `memory` until
 * it is freed, so a quota must outlive all schemas compiled with it.
 */
typedef struct {
    size_t memory; /* bytes of all schemas compiled with the quota */
    size_t memory_max;
    size_t schema_max;  /* bytes of one schema, during and after compilation */
    uint64_t steps_max; /* steps of one compilation; a step takes about 10 ns */
    uint64_t steps;     /* steps of the last compilation */
} tg_schema_quota_t;

/* Options of a compilation; 0 or NULL means the default. */
typedef struct {
    /* NULL: a schema with a pattern is invalid */
    const tg_schema_regex_engine_t *regex;
    /*
     * Stores the document with this absolute URI, valid until the next call or
     * the end of tg_schema_compile(). TG_MISSING: unknown; TG_INVALID: the
     * document cannot be loaded.
     */
    int (*resolve)(void *ctx, tg_str_t uri, tg_str_t *raw);
    void *resolve_ctx;
    tg_str_t base_uri;      /* absolute URI of the document */
    int is_format_asserted; /* 1: check `format`; 0: ignore it */
    size_t max_subschemas;
    size_t max_bytes;
    unsigned max_depth;
    uint64_t max_steps;       /* steps of a validation */
    tg_schema_quota_t *quota; /* NULL: no limits of memory and steps */
} tg_schema_options_t;

typedef struct tg_schema_s tg_schema_t;
typedef struct tg_schema_validator_s tg_schema_validator_t;

/*
 * Compiles raw, which may be freed afterwards. NULL: the schema is invalid, a
 * limit of the quota is exceeded, or there is no memory. error then has the
 * position (a JSON pointer), the rule and what to write instead, or the limit;
 * it is empty without memory. options may be NULL.
 */
tg_schema_t *tg_schema_compile(const tg_alloc_t *alloc, tg_str_t raw,
                               const tg_schema_options_t *options,
                               tg_buf_t *error);

tg_schema_t *tg_schema_retain(tg_schema_t *schema);

/* Removes a reference; the last one frees the schema, which may be NULL. */
void tg_schema_free(tg_schema_t *schema);

/* Creates a validator. A random seed makes hash values unpredictable. */
tg_schema_validator_t *tg_schema_validator_new(const tg_alloc_t *alloc,
                                               uint64_t seed);
void tg_schema_validator_free(tg_schema_validator_t *validator);

/* Returns how many of at most `most` steps a frame may still take. */
uint64_t tg_schema_get_step_budget(size_t bytes, uint64_t most, uint64_t spent);

/*
 * Makes the following validations parts of a frame of `bytes` bytes, whose
 * steps so far are in *spent. spent NULL (initially): each validation is a
 * frame of its own.
 */
void tg_schema_validator_set_frame(tg_schema_validator_t *validator,
                                   size_t bytes, uint64_t *spent);

/*
 * Validates an instance, which must be valid JSON (tg_json_validate).
 *
 *   TG_OK       the instance is valid;
 *   TG_INVALID  it is not: `/text: expected string, got number`;
 *   TG_LIMIT    a budget is exceeded, error says which;
 *   TG_NOMEM    no memory; schema and validator may be used again.
 *
 * The error, which may be NULL, is UTF-8 of a bounded length, without line
 * breaks. A validator runs one validation at a time.
 */
int tg_schema_validate(const tg_schema_t *schema,
                       tg_schema_validator_t *validator, tg_str_t raw,
                       tg_buf_t *error);

/*
 * Returns 1 if the index of an object's members shows that the object is valid,
 * 0 if tg_schema_validate() must decide or index is NULL. For usual schemas, in
 * which each property has a type.
 */
int tg_schema_is_valid_fast(const tg_schema_t *schema,
                            const tg_json_index_t *index);

#endif
