/* Values about the output of a tool that several features have. */
#ifndef TG_OUTPUT_SPEC_H
#define TG_OUTPUT_SPEC_H

/* Default of max_output in bytes. */
#define TG_OUTPUT_DEFAULT 1048576

/*
 * Maximum of max_output in bytes. Control characters grow sixfold in JSON, but
 * usual output of this size must fit into a result of 64 MiB.
 */
#define TG_OUTPUT_MAX 33554432

/* Names of tg_output_type_t, NULL-terminated. */
extern const char *const tg_output_type_words[];

#endif
