/*
 * Changes the time of day: preloaded into a program, it adds the seconds in a
 * file to the wall clock. The monotonic clock is unchanged.
 *
 * TG_CLOCK names the file, an int64_t, which the test writes to meanwhile.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *tg_clock_ahead;

__attribute__((constructor)) static void
tg_clock_init(void)
{
    const char *path;
    void *at;
    int fd;

    path = getenv("TG_CLOCK");
    fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

    if (fd == -1) {
        return;
    }

    at = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);

    if (at != MAP_FAILED) {
        tg_clock_ahead = at;
    }
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*next)(clockid_t, struct timespec *);
    int rc;

    if (next == NULL) {
        *(void **) &next = dlsym(RTLD_NEXT, "clock_gettime");
    }

    rc = next(clock, now);

    if (rc == 0 && clock == CLOCK_REALTIME && tg_clock_ahead != NULL) {
        now->tv_sec += *tg_clock_ahead;
    }

    return rc;
}
