/*
 * Parsers of option values, written as in nginx.conf: times (500ms, 5s, 2m, 1h,
 * off), sizes (4096, 64k, 10m), on and off, and words.
 */
#ifndef TG_OPTION_H
#define TG_OPTION_H

#include "lib/tg_lib.h"

/* Bounds of "max_frame" in bytes: a message is kept in memory as a whole. */
#define TG_MAX_FRAME_MIN 1024
#define TG_MAX_FRAME_MAX (1024 * 1024 * 1024)

/* Parses a time or off, which is 0. */
int tg_option_parse_time(const char *option, const char *text, uint64_t *ms);

/* Parses a size from least to most. */
int tg_option_parse_size(const char *option, const char *text, uint64_t least,
                         uint64_t most, uint64_t *value);

/* Finds a value in words, which ends with NULL, and stores its index. */
int tg_option_parse_word(const char *option, const char *text,
                         const char *const *words, int *value);

/* Maximum number of options of an object. */
#define TG_OPTIONS_MAX 16

/* An option of an object. */
typedef struct tg_option_s tg_option_t;

struct tg_option_s {
    const char *name; /* NULL: end of the options */
    /* Sets the member at offset. Returns 0 or an error. */
    int (*set)(const tg_option_t *option, const char *value, void *object);
    size_t offset;
    uint64_t min; /* bounds of a size, or of the length of a text */
    uint64_t max;
};

/*
 * Returns the index of an option that is to be set to a value, or
 * TOOLGATE_ERR_ARGUMENT.
 */
int tg_option_find_in(const tg_option_t *options, const char *name,
                      const char *value);

int tg_option_set_time(const tg_option_t *option, const char *value,
                       void *object);
int tg_option_set_size(const tg_option_t *option, const char *value,
                       void *object);
int tg_option_set_string(const tg_option_t *option, const char *value,
                         void *object);

/* Replaces *text with a copy of value and frees the old string. */
int tg_option_set_text(const char *value, char **text);

/* Returns the index in names (up to NULL), or TOOLGATE_ERR_ARGUMENT. */
int tg_option_find(const char *option, const char *const *names);

#endif
