/* What a program is started with, in `exec` and in an `mcp_server`. */
#ifndef TG_PROGRAM_SPEC_H
#define TG_PROGRAM_SPEC_H

#include "spec/tg_spec.h"

/* Minimum of `memory` in bytes; with less, no program starts. */
#define TG_PROGRAM_MEMORY_MIN 1048576

/*
 * `memory` and `pids` are limits of the program's cgroup. If there are no
 * cgroups, a program with limits is not started.
 */
typedef struct {
    int64_t memory; /* in bytes; 0: no limit */
    int64_t pids;   /* number of processes and threads; 0: no limit */
    int64_t nice;   /* added to the runner's nice value */
} tg_program_options_t;

/* The strings are raw JSON values. */
typedef struct {
    tg_str_t argv;
    tg_str_t env;
    tg_str_t cwd;
    tg_program_options_t options;
} tg_program_spec_t;

/* The directives of the options. */
#define TG_MEMORY_OPTION                                                       \
    TG_TOOL_OPTION("memory", .syntax = TG_SPEC_SIZE,                           \
                   .min = TG_PROGRAM_MEMORY_MIN, .noun = "value",              \
                   .expected = "1m or more, such as \"512m\"")
#define TG_PIDS_OPTION                                                         \
    TG_TOOL_OPTION(                                                            \
        "pids", .syntax = TG_SPEC_SIZE, .noun = "value",                       \
        .expected =                                                            \
            "the maximum number of processes and threads, such as \"20\"")

#endif
