/*
 * Params of the runner's methods about files, in addition to those of every job
 * (runner/jobs/tg_job_params.h). `file` reads one file:
 *
 *   {"path":"a/b.csv","root":"/srv/notes","match":["*.csv"],"hide":["*~"],
 *    "recursive":true,"dot_files":true,"max_output":1048576,
 *    "uri":"notes:///a/b.csv","mime":"text/csv","output":"text"}
 *
 * Only `path` is required. With `root`, the path is relative to this folder and
 * cannot leave it; `match`, `hide`, `recursive` and `dot_files` select its
 * files. Without `root`, the path is absolute. With `uri`, the result is that
 * of MCP's resources/read: text if the file is UTF-8 and its type is textual,
 * otherwise a blob; the type is `mime`, or follows from the file's name.
 * Without `uri`, the result is the file's text, or a failure. With `encoded`,
 * `path` is percent-encoded as in a URI.
 *
 * `messages` makes the result of a prompt from texts and files:
 *
 *   {"messages":[{"role":"user","text":"Hi"},{"role":"user","path":"/a/b"}],
 *    "description":"…","max_output":1048576}
 *
 * `max_output` is the maximum size of all files together.
 *
 * `files` lists the files of folders, in the order of the folders and of their
 * paths:
 *
 *   {"folders":[{"root":"/srv/notes","match":["*.csv"],"recursive":true,
 *                "uri":"notes:///","max":1000}],
 *    "cursor":"+0.100.a/b.csv","limit":100,"max_output":65536}
 *
 * `max` is the maximum number of files of a folder in the whole list. `cursor`
 * continues a list. The result has resources as in MCP's resources/list, and
 * `next`, the cursor of the next page, if there is one. With `typed`, the
 * result is a text of the paths that contain it in upper or lower case, one a
 * line: first those that begin with it.
 *
 * A folder with `skills` has a skill in each folder with a SKILL.md; only these
 * files are listed. With `list`, the result is that of a method of the skills
 * extension: `skills` of skills/list; `skill` of skills/get and `directory` of
 * resources/directory/read, both with `path`, percent-encoded.
 */
#ifndef TG_FILE_SPEC_H
#define TG_FILE_SPEC_H

#include "spec/tg_spec.h"

/* Longest path in bytes, and largest number of patterns of one kind. */
#define TG_FILE_PATH_MAX 4095
#define TG_FILE_PATTERNS_MAX 32

/* Folders in a path below `root`; a list has as many of them open. */
#define TG_FILE_DEPTH_MAX 32

/* Default and maximum number of files on a page of a list. */
#define TG_FILE_LIST_LIMIT 4000

/* Default and maximum of `max`; agents show few of more files. */
#define TG_FILE_LIST_MAX_DEFAULT 1000
#define TG_FILE_LIST_MAX 1000000

/* Maximum number of folders in one list. */
#define TG_FILE_LIST_FOLDERS_MAX 64

/* Entries of folders that are read for one page. */
#define TG_FILE_LIST_SCAN_MAX 2000000

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
    int64_t is_encoded;
    int64_t output; /* tg_output_type_t */
    int64_t max_output;
} tg_file_spec_t;

extern const tg_json_field_t tg_file_fields[];

/* Raw values. */
typedef struct {
    tg_str_t messages;
    tg_str_t description;
    int64_t max_output;
} tg_messages_spec_t;

extern const tg_json_field_t tg_messages_fields[];

/*
 * `file_watch` has the params of `file` and the version of the file that the
 * caller knows, 16 hexadecimal digits. It is answered when the file has another
 * version, at once without `version`: {"version":"0123456789abcdef"}.
 */
typedef struct {
    tg_file_spec_t file;
    tg_str_t version;
} tg_file_watch_spec_t;

extern const tg_json_field_t tg_file_watch_fields[];

/* One element of `folders`; also raw values. */
typedef struct {
    tg_file_folder_spec_t folder;
    tg_str_t uri;
    int64_t max;
    int64_t has_skills;
} tg_file_list_folder_spec_t;

extern const tg_json_field_t tg_file_list_folder_fields[];

/* What is listed. */
typedef enum {
    TG_FILE_LIST_RESOURCES,
    TG_FILE_LIST_SKILLS,
    TG_FILE_LIST_SKILL,
    TG_FILE_LIST_DIRECTORY
} tg_file_list_type_t;

typedef struct {
    tg_str_t folders;
    tg_str_t cursor;
    tg_str_t typed;
    tg_str_t path;
    int64_t type; /* tg_file_list_type_t */
    int64_t limit;
    int64_t max_output;
} tg_file_list_spec_t;

extern const tg_json_field_t tg_file_list_fields[];
extern const char *const tg_file_list_type_words[];

/*
 * `files_watch` has `folders` and the version of their list that the caller
 * knows. It is answered like `file_watch`, when other files are on offer.
 */
typedef struct {
    tg_str_t folders;
    tg_str_t version;
} tg_file_list_watch_spec_t;

extern const tg_json_field_t tg_file_list_watch_fields[];

#endif
