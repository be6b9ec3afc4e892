/* The output of a tool: its maximum, its preview, and its storage. */
#ifndef TG_OUTPUT_SPEC_H
#define TG_OUTPUT_SPEC_H

#include "spec/tg_spec.h"

/* Default of max_output in bytes. */
#define TG_OUTPUT_DEFAULT 1048576

/*
 * Maximum of max_output in bytes. Control characters grow sixfold in JSON, but
 * usual output of this size must fit into a result of 64 MiB.
 */
#define TG_OUTPUT_MAX 33554432

/*
 * Default and minimum of the quota of stored outputs, in bytes; a smaller one
 * could not hold a useful output.
 */
#define TG_SPILL_QUOTA_DEFAULT 268435456
#define TG_SPILL_QUOTA_MIN 1048576

/*
 * Default and maximum lifetime of a stored output, in ms. Outputs are stored
 * for reading soon, not for days.
 */
#define TG_SPILL_TIME_DEFAULT 3600000
#define TG_SPILL_TIME_MAX 86400000

/* Names of tg_output_type_t, NULL-terminated. */
extern const char *const tg_output_type_words[];

/* Limits of a tool's output, or the defaults of a server's tools. */
typedef struct {
    int64_t max_output;
    int64_t is_stored; /* too large output is stored, and a preview is sent */
    int64_t preview;   /* size of the preview in bytes; 0: the default */
} tg_output_spec_t;

extern const tg_json_field_t tg_output_fields[];

/* Storage of outputs: the member `spill` of a job's params. */
typedef struct {
    tg_str_t owner; /* raw value */
    int64_t quota;  /* bytes of all stored outputs; 0: none is stored */
    int64_t keep_ms;
    int64_t preview; /* size of the preview in bytes; 0: the default */
} tg_spill_spec_t;

extern const tg_json_field_t tg_spill_fields[];

#endif
