/*
 * The files of cgroups; a path is FOLDER/NAME, no longer than
 * TG_CGROUP_PATH_MAX.
 */
#ifndef TG_CGROUP_FILE_H
#define TG_CGROUP_FILE_H

/* Of paths; longer ones are not used. */
#define TG_CGROUP_PATH_MAX 1024
/* Of the files that are read whole. */
#define TG_CGROUP_TEXT_MAX 4096

/* As open(). */
int tg_cgroup_open_file(const char *folder, const char *name, int flags);

/* 0 or an errno. */
int tg_cgroup_write_file(const char *folder, const char *name,
                         const char *text);

/* What is in it, as C text; empty when it cannot be read. */
void tg_cgroup_read_file(const char *folder, const char *name,
                         char text[TG_CGROUP_TEXT_MAX]);

#endif
