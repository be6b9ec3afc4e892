/* Files: what is read, what is refused, and files and links that change. */
#include "runner_files.h"

#include "runner/files/tg_file_open.h"
#include "runner/files/tg_file_read.h"

#include <pthread.h>
#include <stdatomic.h>

/* Reads a path below the root; `more` has further members. */
static int
read_file(const char *path, const char *more)
{
    HELP_BUFFER(params);

    tg_buf_printf(&params,
                  "{\"tool\":\"r\",\"root\":\"%s/root\",\"recursive\":true,"
                  "\"path\":",
                  dir);
    tg_json_write_string(&params, tg_str_from_cstr(path));
    tg_buf_printf(&params, "%s}", more);
    tg_buf_append_char(&params, '\0');
    (void) host_request("file", params.data);

    return host_recv();
}

#define URI ",\"uri\":\"n:///a\""

static int
is_contents(const char *mime, const char *member, const char *value)
{
    HELP_BUFFER(json);

    tg_buf_printf(&json,
                  "{\"contents\":[{\"uri\":\"n:///a\",\"mimeType\":\"%s\","
                  "\"%s\":\"%s\"}]}",
                  mime, member, value);

    return tg_str_eq(host_result("result"), tg_buf_view(&json));
}

HELP_TEST(contents, "text and blob")
{
    static const struct {
        const char *name;
        const char *data;
        const char *more;
        const char *mime;
        const char *member;
        const char *value;
    } cases[] = {
        { "a.csv", "# A \"b\"\n", "", "text/csv", "text", "# A \\\"b\\\"\\n" },
        { "a.bin", "abc", "", "text/plain", "text", "abc" },
        { "a.bin", "\xff", "", "application/octet-stream", "blob", "/w==" },
        { "a.csv", "\xff", "", "text/csv", "blob", "/w==" },
        { "a.png", "abc", "", "image/png", "blob", "YWJj" },
        { "a.png", "abc", ",\"mime\":\"text/x\"", "text/x", "text", "abc" },
        { "a.csv", "abc", ",\"mime\":\"x/y\"", "x/y", "blob", "YWJj" },
        { "a", "", "", "text/plain", "text", "" },
    };
    HELP_BUFFER(more);
    size_t i;

    begin();
    make_dir("root/sub");

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        HELP_BUFFER(name);

        tg_buf_printf(&name, "root/sub/%s", cases[i].name);
        tg_buf_append_char(&name, '\0');
        put_text(name.data, cases[i].data);
        tg_buf_truncate(&more, 0);
        tg_buf_printf(&more, URI "%s", cases[i].more);
        tg_buf_append_char(&more, '\0');
        CU_ASSERT(read_file(name.data + 5, more.data));
        CU_ASSERT(is_contents(cases[i].mime, cases[i].member, cases[i].value));
    }

    /* Without a uri, the result is a text. */
    put_text("root/t", "hello");
    CU_ASSERT(read_file("t", ""));
    CU_ASSERT(host_is_text("text", "hello"));
    put_text("root/t", "{\"a\":1}");
    CU_ASSERT(read_file("t", ",\"output\":\"json\""));
    CU_ASSERT(host_is("json", "{\"a\":1}"));
    put_text("root/t", "\xff");
    CU_ASSERT(read_file("t", ""));
    CU_ASSERT(host_is("failure", "\"output\""));
    end();
}

HELP_TEST(refused, "paths that are refused")
{
    static const char *const paths[] = {
        "../secret", "/secret", "sub/../../secret", "sub/..",   "..",
        ".",         "",        "sub//a",           "sub/./a",  "sub/",
        "sub",       "out",     "outdir/secret",    "abs",      "loop",
        "fifo",      "none",    "sub/a/b",          ".dot",     ".d/a",
        "sub/.dot",  "a~",      "up/secret",        "node/x/a", "proc",
        "missing/a",
    };
    size_t i;

    begin();
    make_dir("root/sub");
    make_dir("root/.d");
    make_dir("root/node");
    make_dir("root/node/x");
    put_text("root/sub/a", "a");
    put_text("root/.dot", "secret");
    put_text("root/.d/a", "secret");
    put_text("root/sub/.dot", "secret");
    put_text("root/a~", "secret");
    put_text("root/node/x/a", "secret");
    make_link("../secret", "root/out");
    make_link("..", "root/outdir");
    make_link("sub/../..", "root/up");
    make_link(path_of("root/sub/a"), "root/abs");
    make_link("loop", "root/loop");
    make_link("/proc/self/fd/0", "root/proc");
    make_link("sub/a", "root/in");
    make_link("../sub", "root/sub/self");
    CU_ASSERT(mkfifo(path_of("root/fifo"), 0600) == 0);

    for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        CU_ASSERT(read_file(paths[i], URI ",\"hide\":[\"*~\",\"node\"]"));
        CU_ASSERT(host_is("failure", "\"unknown\""));
        CU_ASSERT(memmem(host.line.data, host.line.len, dir, strlen(dir))
                  == NULL);
        CU_ASSERT(memmem(host.line.data, host.line.len, "secret", 6) == NULL
                  || strstr(paths[i], "secret") != NULL);
    }

    /* Links that stay below the root are followed. */
    CU_ASSERT(read_file("in", URI));
    CU_ASSERT(is_contents("text/plain", "text", "a"));
    CU_ASSERT(read_file("sub/self/a", URI));
    CU_ASSERT(is_contents("text/plain", "text", "a"));
    CU_ASSERT(read_file(".d/a", URI ",\"dot_files\":true"));
    CU_ASSERT(is_contents("text/plain", "text", "secret"));
    CU_ASSERT(read_file("sub/a", URI ",\"match\":[\"*.csv\",\"sub/?\"]"));
    CU_ASSERT(is_contents("text/plain", "text", "a"));
    CU_ASSERT(read_file("sub/a", URI ",\"match\":[\"*.csv\"]"));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    CU_ASSERT(read_file("sub/a", URI ",\"recursive\":false"));
    CU_ASSERT(host_is("failure", "\"unknown\""));
    end();
}

HELP_TEST(params, "invalid params")
{
    static const char *const params[] = {
        "{\"tool\":\"r\"}",
        "{\"tool\":\"r\",\"path\":\"a\"}",
        "{\"tool\":\"r\",\"path\":\"/a\\u0000b\"}",
        "{\"tool\":\"r\",\"path\":\"a\",\"root\":\"b\"}",
        "{\"tool\":\"r\",\"path\":\"a\",\"root\":\"/b\\u0000\"}",
        "{\"tool\":\"r\",\"path\":\"a\",\"root\":\"/b\",\"match\":[\"[\"]}",
        "{\"tool\":\"r\",\"path\":\"a\",\"root\":\"/b\",\"hide\":\"a\"}",
        "{\"tool\":\"r\",\"path\":\"/a\",\"max_output\":0}",
    };
    size_t i;

    for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        (void) host_request("file", params[i]);
        CU_ASSERT(host_recv());
        CU_ASSERT(host_result("failure").data == NULL
                  || host_is("failure", "\"arguments\""));
        CU_ASSERT(host_result("text").data == NULL);
    }
}

HELP_TEST(limits, "size and permission")
{
    static char text[300001];

    begin();
    memset(text, 'x', sizeof(text) - 1);
    put_text("root/big", text);
    CU_ASSERT(read_file("big", ",\"max_output\":300000"));
    CU_ASSERT(host_is_text("text", text));
    CU_ASSERT(read_file("big", ",\"max_output\":299999"));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(host_is("rule", "\"max_output\""));

    if (geteuid() != 0) {
        CU_ASSERT(chmod(path_of("root/big"), 0) == 0);
        CU_ASSERT(read_file("big", URI));
        CU_ASSERT(host_is("failure", "\"program\""));
        CU_ASSERT(strstr(host_text("message"), "permission") != NULL);
        CU_ASSERT(strstr(host_text("message"), dir) == NULL);
    }

    /* A folder's permission counts, too. */
    CU_ASSERT(read_file("none", ""));
    CU_ASSERT(host_is("failure", "\"program\""));
    end();
}

/* Opens as a kernel without openat2 does. */
HELP_TEST(by_steps, "a kernel without openat2")
{
    static const char *const bad[] = { "in/b", "loop", "sub/none", "sub/b/c" };
    size_t i;
    int root, fd;
    struct stat info;

    begin();
    make_dir("root/sub");
    put_text("root/sub/b", "b");
    make_link("sub", "root/in");
    make_link("loop", "root/loop");
    root = tg_file_open_root(path_of("root"));
    CU_ASSERT(root != -1);
    fd = tg_file_open_path_by_steps(root, "sub/b");
    CU_ASSERT(fd != -1);
    CU_ASSERT(fstat(fd, &info) == 0 && S_ISREG(info.st_mode));
    (void) close(fd);

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        fd = tg_file_open_path_by_steps(root, bad[i]);
        CU_ASSERT(fd == -1 || (fstat(fd, &info) == 0 && S_ISLNK(info.st_mode)));
        (void) close(fd);
    }

    (void) close(root);
    end();
}

/* --- races --- */

static atomic_int is_over;

/* Swaps a folder, a link out of the root and a link to a file outside. */
static void *
swap_links(void *arg)
{
    while (!atomic_load(&is_over)) {
        (void) rename(path_of("root/real"), path_of("root/d"));
        (void) rename(path_of("root/d"), path_of("root/real"));
        (void) rename(path_of("root/link"), path_of("root/d"));
        (void) rename(path_of("root/d"), path_of("root/link"));
        (void) rename(path_of("root/good"), path_of("root/f"));
        (void) rename(path_of("root/f"), path_of("root/good"));
        (void) rename(path_of("root/evil"), path_of("root/f"));
        (void) rename(path_of("root/f"), path_of("root/evil"));
    }

    return NULL;
}

HELP_TEST(swapped, "links that are swapped meanwhile")
{
    static const char *const names[] = { "d/secret", "f", "real/secret",
                                         "good" };
    pthread_t thread;
    unsigned i, ngood;

    begin();
    make_dir("root/real");
    put_text("root/real/secret", "good");
    put_text("root/good", "good");
    make_link("..", "root/link");
    make_link("../secret", "root/evil");
    atomic_store(&is_over, 0);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, swap_links, NULL) == 0);

    /* At least some reads find the file, however the threads run. */
    for (i = ngood = 0; i < 2000 || (ngood == 0 && i < 200000); i++) {
        CU_ASSERT_FATAL(read_file(names[i % 4], ""));

        if (host_result("text").data == NULL) {
            CU_ASSERT(host_is("failure", "\"program\""));
        } else {
            CU_ASSERT(host_is_text("text", "good"));
            ngood++;
        }
    }

    CU_ASSERT(ngood != 0);
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    end();
}

#define CHANGED_SIZE 200000

/* Overwrites the file in place, with equal bytes. */
static void
fill(char c)
{
    static char text[CHANGED_SIZE];
    int fd;

    memset(text, c, sizeof(text));
    fd = open(path_of("root/f"), O_WRONLY | O_CREAT, 0644);
    CU_ASSERT(pwrite(fd, text, sizeof(text), 0) == sizeof(text));
    (void) close(fd);
}

/* The file is changed after the first part was read, once or each time. */
HELP_TEST(changed, "a file that changes between two parts")
{
    tg_file_read_t reader;
    int once, rc, n;

    for (once = 0; once < 2; once++) {
        begin();
        fill('a');
        tg_file_read_begin(&reader, open(path_of("root/f"), O_RDONLY), 1 << 20);
        n = 0;

        do {
            rc = tg_file_read_step(&reader);

            if (reader.data.len != 0 && reader.data.len < CHANGED_SIZE
                && (!once || n == 0)) {
                fill((char) ('b' + n++ % 20));
            }
        } while (rc == TG_AGAIN);

        if (once) {
            CU_ASSERT(rc == TG_OK && n == 1 && reader.ntries != 0);
            CU_ASSERT(reader.data.len == CHANGED_SIZE);
            CU_ASSERT(reader.data.data[0] == 'b');
            CU_ASSERT(memchr(reader.data.data, 'a', CHANGED_SIZE) == NULL);
        } else {
            CU_ASSERT(rc == TG_INVALID && reader.err == ESTALE);
        }

        tg_file_read_end(&reader);
        end();
    }
}

HELP_TEST(sizeless, "a file whose size is not that of its content")
{
    tg_file_read_t reader;
    int rc;

    tg_file_read_begin(&reader, open("/proc/self/status", O_RDONLY), 1 << 20);

    do {
        rc = tg_file_read_step(&reader);
    } while (rc == TG_AGAIN);

    CU_ASSERT(rc == TG_INVALID && reader.err == EOVERFLOW);
    tg_file_read_end(&reader);
}

/* Overwrites a file in place, always with equal bytes. */
static void *
overwrite(void *arg)
{
    static char text[CHANGED_SIZE];
    struct timespec pause;
    int fd, i;

    fd = open(path_of("root/f"), O_WRONLY);
    pause = (struct timespec){ .tv_nsec = 1000000 };

    for (i = 0; !atomic_load(&is_over); i++) {
        memset(text, 'a' + i % 26, sizeof(text));

        if (pwrite(fd, text, sizeof(text), 0) != sizeof(text)) {
            break;
        }

        /* Sometimes long enough for a reader to succeed. */
        pause.tv_nsec = i % 8 == 0 ? 40000000 : 1000000;
        (void) nanosleep(&pause, NULL);
    }

    (void) close(fd);

    return NULL;
}

HELP_TEST(torn, "a file that is overwritten meanwhile")
{
    static char text[CHANGED_SIZE + 1];
    pthread_t thread;
    unsigned i, nwhole;
    const char *got;

    begin();
    memset(text, '.', CHANGED_SIZE);
    put_text("root/f", text);
    atomic_store(&is_over, 0);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, overwrite, NULL) == 0);

    for (i = nwhole = 0; i < 60 || (nwhole == 0 && i < 2000); i++) {
        CU_ASSERT_FATAL(read_file("f", ""));

        if (host_result("text").data == NULL) {
            CU_ASSERT(host_is("failure", "\"program\""));
            CU_ASSERT(strstr(host_text("message"), "changes") != NULL);
            continue;
        }

        got = host_text("text");
        memset(text, got[0], CHANGED_SIZE);
        CU_ASSERT(strcmp(got, text) == 0);
        nwhole++;
    }

    CU_ASSERT(nwhole != 0);
    atomic_store(&is_over, 1);
    pthread_join(thread, NULL);
    end();
}

/* Cancels reads in all states: no memory, thread or slot is left. */
HELP_TEST(cancelled, "cancelled reads")
{
    static char text[2000001];
    unsigned i, id;
    HELP_BUFFER(params);

    begin();
    memset(text, 'x', sizeof(text) - 1);
    put_text("root/big", text);
    tg_buf_printf(&params,
                  "{\"tool\":\"r\",\"root\":\"%s/root\",\"path\":\"big\","
                  "\"max_output\":4000000}",
                  dir);
    tg_buf_append_char(&params, '\0');

    for (i = 0; i < 200; i++) {
        id = host_request("file", params.data);

        while (i % 20 != 0 && host.jobs.nrunning == 0) {
            uv_run(&host.loop, UV_RUN_ONCE);
        }

        host_cancel(id);
        CU_ASSERT(host_until(host_no_slot, NULL));
    }

    while (host_has_line(NULL)) {
        (void) host_recv();
    }

    end();
}
