/*
 * Opens a file below a folder. Neither `..`, a link nor a race with somebody
 * who renames folders leads out of the folder: the kernel resolves the path
 * (openat2, Linux 5.6). Older kernels refuse every link below the folder.
 */
#ifndef TG_FILE_OPEN_H
#define TG_FILE_OPEN_H

#include "base/tg_base.h"

#include <sys/stat.h>

/* Attempts to resolve a path while somebody renames its folders. */
#define TG_FILE_OPEN_TRIES 32

/*
 * Checks a path relative to a folder: not empty, no slash at an end, no
 * component that is empty, `.` or `..`.
 */
int tg_file_is_safe_path(tg_str_t path);

/*
 * Opens the path (O_PATH) without side effects, whatever it is. `root` is the
 * descriptor of the folder; -1: `path` is absolute and every link is followed.
 * Returns a descriptor, or -1 with errno; EXDEV: the path leads out.
 */
int tg_file_open_path(int root, const char *path);

/* Does the work of tg_file_open_path() on kernels without openat2. */
int tg_file_open_path_by_steps(int root, const char *path);

/* Opens the folder at `path` (O_PATH). Returns a descriptor, or -1, errno. */
int tg_file_open_root(const char *path);

/*
 * Opens a regular file or a folder for reading, after tg_file_open_path(). Does
 * not wait for FIFOs and does not touch devices: these fail with ENOENT.
 * Returns a descriptor with its *info, or -1 with errno.
 */
int tg_file_open(int root, const char *path, struct stat *info);

#endif
