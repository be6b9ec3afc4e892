#include "bench_util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

void
bench_die(const char *format, ...)
{
    va_list args;
    int err;

    err = errno;
    fputs("bench: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, err != 0 ? " (%s)\n" : "\n", strerror(err));
    exit(1);
}

uint64_t
bench_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}

void
bench_pin(int cpu)
{
    cpu_set_t set;

    if (cpu < 0) {
        return;
    }

    CPU_ZERO(&set);
    CPU_SET((size_t) cpu, &set);

    if (sched_setaffinity(0, sizeof(set), &set) == -1) {
        bench_die("cannot run on processor %d", cpu);
    }
}

void
bench_end_with_parent(void)
{
    pid_t parent;

    parent = getppid();

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == -1 || getppid() != parent) {
        bench_die("the parent is gone");
    }
}

void
bench_raise_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &limit);
    }
}

void *
bench_alloc(size_t size)
{
    void *data;

    data = calloc(1, size);

    if (data == NULL) {
        bench_die("no memory");
    }

    return data;
}

const char *
bench_read_text(const char *text)
{
    char *contents;
    FILE *file;
    long len;

    if (text[0] != '@') {
        return text;
    }

    file = fopen(text + 1, "r");

    if (file == NULL || fseek(file, 0, SEEK_END) != 0
        || (len = ftell(file)) < 0) {
        bench_die("%s", text);
    }

    contents = bench_alloc((size_t) len + 1);
    rewind(file);

    if (fread(contents, 1, (size_t) len, file) != (size_t) len) {
        bench_die("%s", text);
    }

    contents[len] = '\0';
    fclose(file);

    return contents;
}

long
bench_number(const char *text)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);

    if (errno != 0 || *text == '\0' || *end != '\0' || value < 0) {
        errno = 0;
        bench_die("not a number: %s", text);
    }

    return value;
}

static struct sockaddr_un
bench_address(const char *path)
{
    struct sockaddr_un address;

    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = 0;
        bench_die("too long for a socket: %s", path);
    }

    strcpy(address.sun_path, path);

    return address;
}

int
bench_listen(const char *path)
{
    struct sockaddr_un address;
    int fd;

    address = bench_address(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd == -1
        || bind(fd, (struct sockaddr *) &address, sizeof(address)) == -1
        || listen(fd, 511) == -1)
    {
        bench_die("cannot listen on %s", path);
    }

    return fd;
}

int
bench_connect(const char *path)
{
    struct sockaddr_un address;
    int fd;

    address = bench_address(path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    /* Blocking: a full backlog is waited for. */
    if (fd == -1
        || connect(fd, (struct sockaddr *) &address, sizeof(address)) == -1)
    {
        bench_die("cannot connect to %s", path);
    }

    return fd;
}

void
bench_unblock(int fd)
{
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == -1) {
        bench_die("fcntl");
    }
}

/* 0: there is no such file. */
static int
bench_proc(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    FILE *file;
    size_t n;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int) pid, name);
    file = fopen(path, "r");

    if (file == NULL) {
        return 0;
    }

    n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);

    return 1;
}

/* Where the kernel does not count nanoseconds, it counts ticks. */
static uint64_t
bench_ticks_of(pid_t pid)
{
    unsigned long long user, kernel;
    char text[1024];
    const char *at;

    if (!bench_proc(pid, "stat", text, sizeof(text))
        || (at = strrchr(text, ')')) == NULL
        || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                  &user, &kernel)
               != 2)
    {
        bench_die("no CPU time of %d", (int) pid);
    }

    return (user + kernel) * (1000000000 / (uint64_t) sysconf(_SC_CLK_TCK));
}

/* Each thread has an account of its own. */
uint64_t
bench_cpu_of(pid_t pid)
{
    unsigned long long ns;
    const struct dirent *entry;
    char path[64], text[128];
    uint64_t all;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int) pid);
    tasks = opendir(path);

    for (all = 0; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        snprintf(path, sizeof(path), "task/%.20s/schedstat", entry->d_name);

        if (entry->d_name[0] != '.' && bench_proc(pid, path, text, sizeof(text))
            && sscanf(text, "%llu", &ns) == 1)
        {
            all += ns;
        }
    }

    if (tasks != NULL) {
        (void) closedir(tasks);
    }

    return all != 0 ? all : bench_ticks_of(pid);
}

uint64_t
bench_rss_of(pid_t pid)
{
    unsigned long long kb;
    char text[4096];
    const char *at;

    at = bench_proc(pid, "status", text, sizeof(text)) ? strstr(text, "VmRSS:")
                                                       : NULL;

    if (at == NULL || sscanf(at, "VmRSS: %llu", &kb) != 1) {
        bench_die("no VmRSS of %d", (int) pid);
    }

    return kb;
}

static unsigned
bench_bucket(uint64_t ns)
{
    unsigned octave;

    if (ns < BENCH_STEPS) {
        return (unsigned) ns;
    }

    /* The 5 bits below the highest one are the step. */
    octave = 63 - (unsigned) __builtin_clzll(ns) - 4;

    return octave * BENCH_STEPS
           + (unsigned) ((ns >> (octave - 1)) & (BENCH_STEPS - 1));
}

static uint64_t
bench_bucket_ns(unsigned bucket)
{
    unsigned octave;

    octave = bucket / BENCH_STEPS;

    if (octave == 0) {
        return bucket;
    }

    return (uint64_t) (BENCH_STEPS + bucket % BENCH_STEPS) << (octave - 1);
}

void
bench_count(bench_histogram_t *histogram, uint64_t ns)
{
    unsigned bucket;

    bucket = bench_bucket(ns);

    if (bucket >= BENCH_BUCKETS) {
        bucket = BENCH_BUCKETS - 1;
    }

    histogram->count++;
    histogram->buckets[bucket]++;

    if (ns > histogram->largest) {
        histogram->largest = ns;
    }
}

uint64_t
bench_percentile(const bench_histogram_t *histogram, double share)
{
    uint64_t seen, wanted;
    unsigned i;

    wanted = (uint64_t) ((double) histogram->count * share);
    seen = 0;

    for (i = 0; i < BENCH_BUCKETS; i++) {
        seen += histogram->buckets[i];

        if (seen > wanted) {
            return bench_bucket_ns(i);
        }
    }

    return histogram->largest;
}
