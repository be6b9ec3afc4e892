/*
 * The files of a folder that are on offer, by their path below the folder. The
 * same rules decide what is listed, completed, watched and read.
 */
#ifndef TG_FILE_FILTER_H
#define TG_FILE_FILTER_H

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

/* Checks a path and all folders above it, except the root. */
int tg_file_filter_has_file(const tg_file_filter_t *filter, tg_str_t path);

/* Checks whether files below this folder may be on offer. */
int tg_file_filter_has_folder(const tg_file_filter_t *filter, tg_str_t path);

#endif
