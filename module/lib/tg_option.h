/*
 * Values as they would stand in nginx.conf: 500ms, 5s, 2m, 1h, or off; 4096,
 * 64k, 10m; on and off; one of some words.
 */
#ifndef TG_OPTION_H
#define TG_OPTION_H

#include "lib/tg_lib.h"

/* Messages of jsonrpc: less than that is no use, more would be kept whole. */
#define TG_MAX_FRAME_MIN 1024
#define TG_MAX_FRAME_MAX (1024 * 1024 * 1024)

/*
 * All return 0, or TOOLGATE_ERR_ARGUMENT, told: what option cannot be set to.
 * Of words, which end with NULL, *value is which of them it is.
 */
int tg_option_parse_time(const char *option, const char *text, uint64_t *ms);
int tg_option_parse_size(const char *option, const char *text, uint64_t least,
                         uint64_t most, uint64_t *value);
int tg_option_parse_word(const char *option, const char *text,
                         const char *const *words, int *value);

/* A copy of it in the place of *text, which it frees; or no memory. */
int tg_option_set_text(const char *value, char **text);

/* Which of these names, which end with NULL, or TOOLGATE_ERR_ARGUMENT. */
int tg_option_find(const char *option, const char *const *names);

#endif
