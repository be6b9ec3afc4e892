/*
 * Reads a file whole, in steps: one that changes meanwhile is read again. The
 * file's size and times before and after reading decide. Writing through a
 * memory map may escape this, as the kernel then updates the times late.
 */
#ifndef TG_FILE_READ_H
#define TG_FILE_READ_H

#include "base/tg_buf.h"

#include <sys/stat.h>

/* Attempts to read a file that changes, and the time between them in ms. */
#define TG_FILE_READ_TRIES 8
#define TG_FILE_READ_WAIT_MS 5

/* Bytes of the first step, and of each further step. */
#define TG_FILE_READ_FIRST_STEP 65536
#define TG_FILE_READ_STEP 1048576

typedef struct {
    int fd; /* -1: the file is closed */
    size_t max;
    struct stat before; /* the file at the beginning of this attempt */
    unsigned ntries;
    int has_begun; /* this attempt has begun */
    int err;       /* errno of the error */
    tg_buf_t data;
} tg_file_read_t;

/* Begins reading `fd`, which the reader closes. `max` is in bytes. */
void tg_file_read_begin(tg_file_read_t *reader, int fd, size_t max);

/*
 * Reads a part. TG_AGAIN: call again; TG_OK: reader->data is the file;
 * TG_LIMIT: it is larger than `max`; TG_NOMEM; TG_INVALID: reader->err is the
 * errno, ESTALE if the file changed during each attempt, or EOVERFLOW if its
 * size is not that of its content, as in /proc.
 */
int tg_file_read_step(tg_file_read_t *reader);

void tg_file_read_end(tg_file_read_t *reader);

#endif
