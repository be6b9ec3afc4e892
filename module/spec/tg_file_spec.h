/*
 * Params of the runner's methods about files, in addition to those of every job
 * (runner/jobs/tg_job_params.h). `file` reads one file:
 *
 *   {"path":"a/b.md","root":"/srv/notes","match":["*.md"],"hide":["*~"],
 *    "recursive":true,"dot_files":true,"max_output":1048576,
 *    "uri":"notes:///a/b.md","mime":"text/markdown","output":"text"}
 *
 * Only `path` is required. With `root`, the path is relative to this folder and
 * cannot leave it; `match`, `hide`, `recursive` and `dot_files` select its
 * files. Without `root`, the path is absolute. With `uri`, the result is that
 * of MCP's resources/read: text if the file is UTF-8 and its type is textual,
 * otherwise a blob; the type is `mime`, or follows from the file's name.
 * Without `uri`, the result is the file's text, or a failure.
 */
#ifndef TG_FILE_SPEC_H
#define TG_FILE_SPEC_H

#include "spec/tg_spec.h"

/* Longest path in bytes, and largest number of patterns of one kind. */
#define TG_FILE_PATH_MAX 4095
#define TG_FILE_PATTERNS_MAX 32

/* Selects files of a folder. Raw values. */
typedef struct {
    tg_str_t root;
    tg_str_t match;
    tg_str_t hide;
    int64_t is_recursive;
    int64_t has_dot_files;
} tg_file_folder_spec_t;

typedef struct {
    tg_file_folder_spec_t folder;
    tg_str_t path;
    tg_str_t uri;
    tg_str_t mime;
    int64_t output; /* tg_output_type_t */
    int64_t max_output;
} tg_file_spec_t;

extern const tg_json_field_t tg_file_fields[];

#endif
