/*
 * Runs a target on each input of a packed corpus (module/build/corpus.pl),
 * as a program of its own, built with any compiler.
 */
#include "help.h"

#include <string.h>

/* Reverses the escapes of a packed input in place and returns its length. */
static size_t
replay_unescape(char *text)
{
    const char *from;
    unsigned byte;
    char *to;

    for (from = to = text; *from != '\0' && *from != '\n'; from++) {
        if (*from != '\\') {
            *to++ = *from;
        } else if (*++from != 'x') {
            *to++ = *from == 'n' ? '\n' : *from;
        } else {
            FUZZ(sscanf(++from, "%2x", &byte) == 1);
            *to++ = (char) byte;
            from++;
        }
    }

    return (size_t) (to - text);
}

static void
replay_input(char *text)
{
    size_t len;
    char *copy;

    len = replay_unescape(text);
    copy = help_copy(tg_str(text, len));
    (void) LLVMFuzzerTestOneInput((const uint8_t *) copy, len);
    free(copy);
}

int
main(int argc, char **argv)
{
    char *line, *tab;
    size_t size;
    FILE *file;
    unsigned n;

    file = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (file == NULL) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }

    /* An empty input is always tried. */
    (void) LLVMFuzzerTestOneInput((const uint8_t *) "", 0);

    line = NULL;
    size = 0;

    for (n = 0; getline(&line, &size, file) > 0; n++) {
        tab = strchr(line, '\t');
        FUZZ(tab != NULL);
        replay_input(tab + 1);
    }

    free(line);
    fclose(file);
    printf("%u inputs replayed\n", n);

    return n == 0;
}
