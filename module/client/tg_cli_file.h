/*
 * Replacing a file that belongs to somebody else's program: whole or not at
 * all, with its mode and owner, through symbolic links.
 */
#ifndef TG_CLI_FILE_H
#define TG_CLI_FILE_H

#include "base/tg_buf.h"

#include <limits.h>
#include <sys/stat.h>

/* No config file that people write comes near it. */
#define TG_CLI_FILE_MAX 16777216u

typedef struct {
    char path[PATH_MAX]; /* where it really is */
    struct stat st;      /* as it was when it was read; 0: it is to be made */
    tg_buf_t text;       /* the caller frees it */
} tg_cli_file_t;

/*
 * All return TG_CLI_DONE, or TG_CLI_FAILED when they have said on standard
 * error what is wrong.
 */

/* Reads it, if it is there, into one that is all 0 and has an empty text. */
int tg_cli_file_read(tg_cli_file_t *file, const char *path);

/*
 * Puts text in its place; mode is for a new file, less the umask.  Fails,
 * and changes nothing, when it is read-only, or when somebody else changed it
 * since it was read.
 */
int tg_cli_file_replace(tg_cli_file_t *file, tg_str_t text, mode_t mode);
#endif
