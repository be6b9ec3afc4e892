/*
 * Describes a skill with all of its files, in steps:
 *
 *   {"uri":"skill:///a/SKILL.md","frontmatter":{…},
 *    "resources":[{"uri":"…","digest":"sha256:…","size":5}]}
 */
#ifndef TG_SKILL_MANIFEST_H
#define TG_SKILL_MANIFEST_H

#include "runner/files/tg_file_list.h"
#include "runner/files/tg_file_read.h"

/* Maximum number of files of a skill, and of their bytes, by MCP. */
#define TG_SKILL_FILES_MAX 512
#define TG_SKILL_SIZE_MAX 16777216

typedef struct {
    int root;      /* descriptor of the folder with the skills; borrowed */
    tg_str_t uri;  /* what the URIs begin with */
    tg_str_t path; /* of SKILL.md below the root; absent: none has begun */
    tg_file_list_t list;
    int has_list; /* list.paths is complete */
    size_t at;    /* index of the file that is read */
    int is_reading;
    tg_file_read_t reader;
    size_t size; /* bytes of the files that were read */
    tg_buf_t frontmatter;
    tg_buf_t resources; /* elements of the array */
    tg_buf_t why;       /* what is wrong with the skill */
} tg_skill_manifest_t;

/* Begins with a skill; filter, uri and path must outlive the steps. */
void tg_skill_manifest_begin(tg_skill_manifest_t *skill,
                             const tg_file_filter_t *filter, int root,
                             tg_str_t uri, tg_str_t path);

/*
 * Lists the files, or reads a part of one. TG_AGAIN: call again; TG_OK: the
 * skill was appended to *json; TG_NOMEM; TG_INVALID: it cannot be offered,
 * skill->why says why.
 */
int tg_skill_manifest_step(tg_skill_manifest_t *skill, tg_buf_t *json);

/* Frees the skill, if one has begun. */
void tg_skill_manifest_end(tg_skill_manifest_t *skill);

#endif
