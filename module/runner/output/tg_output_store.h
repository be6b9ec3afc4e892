/*
 * Stores outputs that are too large for a response, each in a file
 * DIR/spill/OWNER-KEY of the state directory until it expires. All files have a
 * quota; the oldest are removed. Nothing is written if the disk has less than
 * TG_OUTPUT_STORE_DISK_FREE_MIN free bytes. A file's modification time is its
 * expiry, which survives a restart. An unfinished file's name begins with a
 * dot.
 */
#ifndef TG_OUTPUT_STORE_H
#define TG_OUTPUT_STORE_H

#include "runner/jobs/tg_thread_pool.h"

#include <stdint.h>
#include <sys/types.h>

/* Number of bytes that stay free on the disk for other programs. */
#define TG_OUTPUT_STORE_DISK_FREE_MIN 67108864

/* Number of bytes that are reserved at once. */
#define TG_OUTPUT_STORE_RESERVE_STEP 1048576

/* Maximum number of files. The oldest are removed. */
#define TG_OUTPUT_STORE_FILES_MAX 4096
#define TG_STORED_OUTPUT_OWNER_MAX 32

/* Length of a key: hexadecimal digits, hard to guess. */
#define TG_STORED_OUTPUT_KEY_LEN 32
#define TG_STORED_OUTPUT_NAME_SIZE                                             \
    (TG_STORED_OUTPUT_OWNER_MAX + TG_STORED_OUTPUT_KEY_LEN + 3)

typedef struct tg_output_store_s {
    const char *state_dir; /* NULL: nothing is stored */

    /* Descriptor of the directory; -1: not open yet. */
    int dir;

    uint64_t writing;  /* reserved bytes of unfinished files */
    uint64_t nwritten; /* number of bytes written since the runner's start */
    uv_timer_t timer; /* expiry of the next file */

    /* Started by the first reader of an output, or NULL. */
    tg_thread_pool_t *threads;
} tg_output_store_t;

typedef struct {
    tg_output_store_t *output_store;
    int fd; /* descriptor of the file; -1: no file */
    int is_published;
    uint64_t quota;
    uint64_t reserved;
    uint64_t size;
    uint64_t lines;
    unsigned is_open; /* the last line has no newline */
    char name[TG_STORED_OUTPUT_NAME_SIZE];
} tg_stored_output_t;

/* Removes unfinished files of an earlier runner and expired files. */
void tg_output_store_init(tg_output_store_t *output_store, uv_loop_t *loop,
                          const char *state_dir);

/* Closes the handles and the directory, and ends the threads. */
void tg_output_store_close(tg_output_store_t *output_store);

/* Checks that a text has 1 to `most` digits and lower-case letters. */
int tg_stored_output_is_name(const char *text, size_t len, size_t most);

/* Opens an owner's output for reading. Returns a descriptor, or -1. */
int tg_output_store_open_output(tg_output_store_t *output_store,
                                const char *owner, const char *key);

/* Creates an unfinished output. Returns 0, or -1 and leaves no file. */
int tg_stored_output_create(tg_stored_output_t *stored_output,
                            tg_output_store_t *output_store, const char *owner,
                            uint64_t quota);

/* Appends data to an unfinished output. Returns 0, or -1 if that fails. */
int tg_stored_output_write(tg_stored_output_t *stored_output, const char *data,
                           size_t len);

/* Publishes the output for its owner. Returns its key, or NULL on failure. */
const char *tg_stored_output_publish(tg_stored_output_t *stored_output,
                                     uint64_t keep_ms);

/* Reads up to `len` bytes from an offset. Returns the number of bytes read. */
size_t tg_stored_output_read(const tg_stored_output_t *stored_output,
                             uint64_t offset, char *data, size_t len);

/* Closes the output, and removes it unless it is published. */
void tg_stored_output_close(tg_stored_output_t *stored_output);

#endif
