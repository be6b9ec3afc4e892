/* Reads and writes files of cgroups, FOLDER/NAME. */
#ifndef TG_CGROUP_FILE_H
#define TG_CGROUP_FILE_H

/* Maximum size of a path; longer ones are not used. */
#define TG_CGROUP_PATH_MAX 1024

/* Size of a buffer for the content of a file. */
#define TG_CGROUP_TEXT_MAX 4096

/* Opens a file. Returns a descriptor, or -1 and sets errno. */
int tg_cgroup_open_file(const char *folder, const char *name, int flags);

/* Writes a text to a file. Returns 0 or an errno value. */
int tg_cgroup_write_file(const char *folder, const char *name,
                         const char *text);

/* Reads a file as a C string, which is empty if the file cannot be read. */
void tg_cgroup_read_file(const char *folder, const char *name,
                         char text[TG_CGROUP_TEXT_MAX]);

#endif
