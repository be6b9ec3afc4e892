/*
 * Lists the files of a folder that a filter offers, page by page and in steps.
 * A page has the first files after a path, in the order of
 * tg_file_path_compare(). The memory depends on the size of the page only: each
 * page reads the folders again, except those before the path. Links to files
 * below the root are listed, links to folders are not followed.
 */
#ifndef TG_FILE_LIST_H
#define TG_FILE_LIST_H

#include "runner/files/tg_file_filter.h"

#include <dirent.h>
#include <sys/stat.h>

/* Entries of folders that one step reads. */
#define TG_FILE_LIST_STEP 500

typedef struct {
    const tg_file_filter_t *filter;
    tg_str_t after;  /* empty: from the beginning */
    tg_str_t prefix; /* the paths must begin with it */
    size_t limit;    /* number of files on a page */
    /* Set after tg_file_list_begin(): */
    /*
     * The paths must contain it, in upper or lower case. They begin with a byte
     * that sorts those first that begin with it. Absent: all paths.
     */
    tg_str_t typed;
    int has_skills; /* only the SKILL.md of folders below the root */
    int is_shallow; /* only the children of the folder `prefix`, with a slash
                        after the path of a folder */
    int is_exact;   /* the hash is of times and sizes, too */
    int has_folder; /* is_shallow: the folder exists */
    int root;       /* descriptor of the root; -1: not open */
    DIR *folders[TG_FILE_DEPTH_MAX + 1]; /* the open folders, root first */
    size_t lens[TG_FILE_DEPTH_MAX + 1];  /* lengths of their paths */
    unsigned depth;                      /* number of open folders */
    char path[TG_FILE_PATH_MAX + 1];     /* path of the innermost folder */
    tg_str_t *paths; /* the least paths: a heap, then sorted */
    size_t n;
    int has_more; /* there are files after those of the page */
    uint64_t nscanned;
    int err;

    /* With a limit of 0, there is no page, but a hash of the paths. */
    uint64_t hash;
    int inotify; /* descriptor that shall watch the folders, or -1 */
    unsigned nwatched;
    int is_unwatched; /* a folder could not be watched, or opened */
} tg_file_list_t;

/* Maximum number of folders that one list has watched. */
#define TG_FILE_LIST_WATCHED_MAX 8192

/* Changes that inotify reports: those of names. */
#define TG_FILE_LIST_WATCH_MASK                                                \
    (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF      \
     | IN_MOVE_SELF | IN_ONLYDIR)

/* With is_exact, also changes of files. */
#define TG_FILE_LIST_WATCH_EXACT_MASK                                          \
    (TG_FILE_LIST_WATCH_MASK | IN_CLOSE_WRITE | IN_MODIFY)

/* Begins a page; filter, after and prefix must outlive it. */
void tg_file_list_begin(tg_file_list_t *list, const tg_file_filter_t *filter,
                        tg_str_t after, tg_str_t prefix, size_t limit);

/*
 * Reads some entries. TG_AGAIN: call again; TG_OK: list->paths is the page;
 * TG_NOMEM: no memory or descriptor is left; TG_LIMIT: there are more than
 * TG_FILE_LIST_SCAN_MAX entries; TG_INVALID: the root cannot be opened,
 * list->err is the errno.
 */
int tg_file_list_step(tg_file_list_t *list);

/* Gets a file's info. Returns 0; -1: it has gone, or is not a file now. */
int tg_file_list_stat(const tg_file_list_t *list, tg_str_t path,
                      struct stat *info);

void tg_file_list_end(tg_file_list_t *list);

#endif
