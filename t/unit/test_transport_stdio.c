/* The transport over standard input and output: files, devices, pipes. */
#include "transport_host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Echoes the input; a last message follows at its end. */
static int
test_on_input(void *host, const char *data, size_t len, size_t *consumed)
{
    host_end_t *end = host;

    end->got += len;
    *consumed = len;
    tg_buf_append(&end->out, data, len);

    return TG_OK;
}

static void
test_on_eof(void *host)
{
    host_end_t *end = host;

    end->is_eof = 1;
    tg_buf_append_char(&end->out, '.');
    tg_uv_conn_close_after_flush(&end->conn);
}

static const tg_uv_conn_ops_t test_ops = {
    .input = test_on_input,
    .eof = test_on_eof,
    .closed = host_on_closed,
};

static int
test_end_wait(host_end_t *end)
{
    (void) host_until(&end->is_closed);
    tg_buf_deinit(&end->out);

    return end->is_closed;
}

static int
test_file(const char *name, int flags, size_t size)
{
    char *text;
    int fd;

    fd = open(help_path(name), flags | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT_FATAL(fd != -1);

    if (size != 0) {
        text = calloc(1, size);
        CU_ASSERT_FATAL(text != NULL);
        CU_ASSERT(write(fd, text, size) == (ssize_t) size);
        CU_ASSERT(lseek(fd, 0, SEEK_SET) == 0);
        free(text);
    }

    return fd;
}

HELP_TEST(files, "files")
{
    host_end_t end;
    struct stat st;
    int in, out;

    in = test_file("in", O_RDWR, 700001);
    out = test_file("out", O_WRONLY, 0);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, in, out) == 0);
    CU_ASSERT(test_end_wait(&end));
    CU_ASSERT(end.is_eof && end.err == 0);
    CU_ASSERT(end.got == 700001);
    CU_ASSERT(fcntl(in, F_GETFD) == -1);
    CU_ASSERT(fcntl(out, F_GETFD) == -1);

    CU_ASSERT(stat(help_path("out"), &st) == 0 && st.st_size == 700002);
    unlink(help_path("out"));
    unlink(help_path("in"));
}

HELP_TEST(file_closed_early, "a file is closed while the thread pool reads")
{
    host_end_t end;
    int in, out;

    in = test_file("in", O_RDWR, 700001);
    out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, in, out) == 0);
    tg_uv_conn_close(&end.conn);
    CU_ASSERT(!end.is_closed);
    CU_ASSERT(test_end_wait(&end));
    CU_ASSERT(end.got == 0 && end.err == 0);
    CU_ASSERT(fcntl(in, F_GETFD) == -1);
    unlink(help_path("in"));
}

HELP_TEST(full_device, "a full device")
{
    host_end_t end;
    int in, out;

    out = open("/dev/full", O_WRONLY | O_CLOEXEC);
    CU_ASSERT_FATAL(out != -1);
    in = test_file("in", O_RDWR, 10);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, in, out) == 0);
    CU_ASSERT(test_end_wait(&end));
    CU_ASSERT(end.err == UV_ENOSPC);
    unlink(help_path("in"));
}

HELP_TEST(null_device, "the null device")
{
    host_end_t end;
    int in, out;

    in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, in, out) == 0);
    CU_ASSERT(test_end_wait(&end));
    CU_ASSERT(end.is_eof && end.err == 0);
}

HELP_TEST(bad_descriptors, "bad descriptors")
{
    host_end_t end;
    int in;

    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, 999, 998) == UV_EBADF);
    CU_ASSERT(!end.is_closed);
    CU_ASSERT(test_end_wait(&end));

    in = open(help_dir, O_RDONLY | O_CLOEXEC);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, in, 2) != 0);
    CU_ASSERT(test_end_wait(&end));
    close(in);
}

/* Other processes may share the pipes and expect them to block. */
HELP_TEST(pipes_keep_flags, "pipes keep their flags")
{
    int in[2], out[2], copy;
    host_end_t end;
    char text[8];

    CU_ASSERT_FATAL(pipe2(in, O_CLOEXEC) == 0);
    CU_ASSERT_FATAL(pipe2(out, O_CLOEXEC) == 0);
    copy = fcntl(out[1], F_DUPFD_CLOEXEC, 3);
    host_end_init(&end, &test_ops);
    CU_ASSERT(tg_uv_conn_open_fds(&end.conn, in[0], out[1]) == 0);
    CU_ASSERT((fcntl(copy, F_GETFL) & O_NONBLOCK) != 0);
    CU_ASSERT(write(in[1], "abc", 3) == 3);
    close(in[1]);
    CU_ASSERT(test_end_wait(&end));
    CU_ASSERT((fcntl(copy, F_GETFL) & O_NONBLOCK) == 0);
    CU_ASSERT(read(out[0], text, sizeof(text)) == 4);
    close(copy);
    close(out[0]);
}
