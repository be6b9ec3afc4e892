/* The folders whose files are resources, for their directives and handler. */
#ifndef _NGX_TG_RESOURCE_FILES_H_INCLUDED_
#define _NGX_TG_RESOURCE_FILES_H_INCLUDED_

#include "nginx/handlers/ngx_tg_file.h"

extern const ngx_tg_handler_t ngx_tg_resource_files_handler;

/* The configuration of an entry that reads the files of a folder. */
typedef struct {
    tg_str_t uri; /* prefix of the URIs */
    tg_str_t max; /* maximum number of listed files, as a number, or absent */
    /* members of the params of `file` and `files`, without braces */
    tg_str_t members;
    ngx_uint_t has_skills; /* each folder with a SKILL.md is a skill */
} ngx_tg_resource_files_t;

/* Sets `resource_files FOLDER ...`; with cmd->offset 1, `skills FOLDER ...`. */
char *ngx_tg_resource_files_set(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);

#endif
