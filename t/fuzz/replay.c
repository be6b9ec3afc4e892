/*
 * Gives the files of a corpus to a target, as a program of its own, built
 * with any compiler.
 */
#include "help.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static void
replay_file(const char *path)
{
    static char text[1 << 20];
    char *copy;
    FILE *file;
    size_t len;

    file = fopen(path, "r");

    if (file == NULL) {
        perror(path);
        exit(1);
    }

    len = fread(text, 1, sizeof(text), file);
    fclose(file);
    copy = help_copy(tg_str(text, len));
    (void) LLVMFuzzerTestOneInput((const uint8_t *) copy, len);
    free(copy);
}

int
main(int argc, char **argv)
{
    const struct dirent *entry;
    char path[4096];
    unsigned n;
    DIR *dir;

    dir = argc == 2 ? opendir(argv[1]) : NULL;

    if (dir == NULL) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }

    /* What an empty file does is always tried. */
    (void) LLVMFuzzerTestOneInput((const uint8_t *) "", 0);

    for (n = 0; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
            replay_file(path);
            n++;
        }
    }

    closedir(dir);
    printf("%u files replayed\n", n);

    return n == 0;
}
