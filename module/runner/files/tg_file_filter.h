/*
 * The files of a folder that are on offer, by their path below the folder. The
 * same rules decide what is listed, completed, watched and read.
 */
#ifndef TG_FILE_FILTER_H
#define TG_FILE_FILTER_H

#include "base/tg_buf.h"
#include "spec/tg_file_spec.h"

typedef struct {
    char *memory;      /* owns the strings */
    char *root;        /* absolute path of the folder; NULL: no folder */
    char **match;      /* patterns (base/tg_glob.h), one of which must match */
    char **hide;       /* patterns of hidden files and folders */
    int is_recursive;  /* files of subfolders are on offer */
    int has_dot_files; /* names that begin with a dot are on offer */
} tg_file_filter_t;

/*
 * Copies the params about a folder. TG_OK, TG_NOMEM, or TG_INVALID or TG_LIMIT
 * with the reason in *why, static.
 */
int tg_file_filter_read(tg_file_filter_t *filter,
                        const tg_file_folder_spec_t *spec, const char **why);

void tg_file_filter_free(tg_file_filter_t *filter);

/*
 * Checks a path and all folders above it, except the root. No path deeper than
 * TG_FILE_DEPTH_MAX is on offer.
 */
int tg_file_filter_has_file(const tg_file_filter_t *filter, tg_str_t path);

/*
 * Compares two paths: < 0, 0, > 0. The order is that of the bytes, except that
 * a folder's files follow each other.
 */
int tg_file_path_compare(tg_str_t a, tg_str_t b);

/* Appends a path as part of a URI: each byte that a URI excludes is encoded. */
void tg_file_path_append_encoded(tg_buf_t *uri, tg_str_t path);

/*
 * Decodes a percent-encoded path in place and sets its new length. TG_INVALID:
 * an encoded slash or NUL, or a percent sign without two digits.
 */
int tg_file_path_decode(char *path, size_t *len);

/* Checks whether files below this folder may be on offer. */
int tg_file_filter_has_folder(const tg_file_filter_t *filter, tg_str_t path);

#endif
