/* One page of the list of several folders, made in a thread in steps. */
#ifndef TG_FILE_LIST_PAGE_H
#define TG_FILE_LIST_PAGE_H

#include "runner/files/tg_skill_manifest.h"

/* Files that one step describes. */
#define TG_FILE_LIST_STATS 50

/* Skills on a page, and bytes of their files: each of these is read. */
#define TG_FILE_LIST_SKILLS_MAX 100
#define TG_FILE_LIST_SKILLS_SIZE 67108864

/* Bytes of reasons, on one page, why skills are left out. */
#define TG_FILE_LIST_ISSUES_MAX 16384

typedef struct {
    tg_file_filter_t filter;
    tg_str_t uri; /* what the URIs of the files begin with */
    size_t max;   /* maximum number of its files in the whole list */
    int has_skills;
    int err; /* errno, if the folder cannot be listed; or 0 */
} tg_file_list_folder_t;

typedef struct {
    tg_file_list_folder_t *folders;
    size_t nfolders;
    tg_file_list_type_t type;
    tg_str_t prefix;
    int is_text;    /* the items are paths, one a line; `prefix` was typed */
    int has_folder; /* TG_FILE_LIST_DIRECTORY: the folder exists */
    size_t limit;
    size_t max_output;

    /* Position in the list: the cursor, and then the end of the page. */
    size_t folder;
    size_t nlisted; /* files of this folder that were listed before */
    tg_str_t after; /* path after which this folder's part begins */

    tg_file_list_t list;
    int has_list;  /* list->paths is complete */
    size_t at;     /* index of the next path to write */
    size_t n;      /* files on the page */
    int has_more;  /* another page follows */
    tg_buf_t last; /* path of the last file */
    tg_buf_t items;
    tg_skill_manifest_t skill; /* the skill that is being read */
    size_t skills_size;        /* bytes of the files that were read */
    tg_buf_t issues; /* reasons why skills are left out, each with a NUL */
} tg_file_list_page_t;

/* Begins a page, whose other members are zero. */
void tg_file_list_page_begin(tg_file_list_page_t *page);

/* Frees all that the page has. */
void tg_file_list_page_end(tg_file_list_page_t *page);

/*
 * Reads `folders`, a raw array, and copies its strings to *at, where they need
 * no more than its length. The codes of tg_job_params_read().
 */
int tg_file_list_read_folders(tg_file_list_page_t *page, tg_str_t raw,
                              char **at, const char **why);

/* Works on the page. TG_AGAIN: call again; TG_OK: complete; TG_NOMEM. */
int tg_file_list_page_step(tg_file_list_page_t *page);

/* Appends the cursor of the next page, if there is one. */
void tg_file_list_page_append_next(const tg_file_list_page_t *page,
                                   tg_buf_t *json);

#endif
