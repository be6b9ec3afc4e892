/*
 * Large outputs as files: their quota, their time, a disk that is full; and
 * pages of them.
 */
#include "core_help.h"

#include "runner/spill/tg_spill.h"
#include "runner/spill/tg_spill_page.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uv_loop_t loop;
static tg_spills_t spills;
static char dir[] = "/tmp/tg-spill-XXXXXX";

static void
begin(void)
{
    strcpy(dir, "/tmp/tg-spill-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(dir) != NULL);
    CU_ASSERT_FATAL(uv_loop_init(&loop) == 0);
    tg_spills_init(&spills, &loop, dir);
}

static void
end(void)
{
    struct dirent *entry;
    char path[64];
    DIR *list;

    snprintf(path, sizeof(path), "%s/spill", dir);
    list = opendir(path);

    while (list != NULL && (entry = readdir(list)) != NULL) {
        (void) unlinkat(dirfd(list), entry->d_name, 0);
    }

    if (list != NULL) {
        (void) closedir(list);
    }

    tg_spills_close(&spills);
    uv_run(&loop, UV_RUN_DEFAULT);
    CU_ASSERT(uv_loop_close(&loop) == 0);
    (void) rmdir(path);
    CU_ASSERT(rmdir(dir) == 0);
}

static int
is_there(const char *owner, const char *key)
{
    int fd;

    fd = tg_spills_open(&spills, owner, key);

    if (fd != -1) {
        (void) close(fd);
    }

    return fd != -1;
}

/* So many bytes, kept for so long; its key is copied. */
static int
make(const char *owner, uint64_t quota, size_t size, uint64_t keep_ms,
     char key[TG_SPILL_KEY + 1])
{
    tg_spill_t spill;
    const char *name;
    char *data;
    int rc;

    data = calloc(1, size + 1);
    CU_ASSERT_FATAL(data != NULL);
    rc = tg_spill_begin(&spill, &spills, owner, quota);

    if (rc == 0) {
        rc = tg_spill_write(&spill, data, size);
    }

    if (rc == 0) {
        name = tg_spill_keep(&spill, keep_ms);
        CU_ASSERT_FATAL(name != NULL);
        strcpy(key, name);
    }

    tg_spill_end(&spill);
    free(data);

    return rc;
}

HELP_TEST(owners, "whose it is")
{
    char key[TG_SPILL_KEY + 1];

    begin();
    CU_ASSERT(make("1000", 1 << 24, 10, 60000, key) == 0);
    CU_ASSERT(is_there("1000", key));
    CU_ASSERT(!is_there("1001", key));
    CU_ASSERT(!is_there("", key));
    CU_ASSERT(!is_there("..", key));
    CU_ASSERT(!is_there("1000", "../x"));
    CU_ASSERT(make("1/0", 1 << 24, 10, 60000, key) == -1);
    CU_ASSERT(spills.writing == 0);
    end();
}

/* One without an end is a line, too, in however many pieces it comes. */
HELP_TEST(lines, "lines")
{
    static const struct {
        const char *data;
        unsigned lines;
    } pieces[] = {
        { "a", 1 }, { "b\n", 1 }, { "c\nd", 3 }, { "e", 3 }, { "\n\n", 4 }
    };
    tg_spill_t spill;
    size_t i;

    begin();
    CU_ASSERT_FATAL(tg_spill_begin(&spill, &spills, "1", 1 << 24) == 0);

    for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        CU_ASSERT(tg_spill_write(&spill, pieces[i].data, strlen(pieces[i].data))
                  == 0);
        CU_ASSERT(spill.lines == pieces[i].lines);
    }

    tg_spill_end(&spill);
    end();
}

HELP_TEST(quota, "the oldest go")
{
    char a[TG_SPILL_KEY + 1], b[TG_SPILL_KEY + 1], c[TG_SPILL_KEY + 1];
    static const uint64_t most = 4 * TG_SPILL_STEP;

    begin();
    CU_ASSERT(make("1", most, TG_SPILL_STEP, 10000, a) == 0);
    CU_ASSERT(make("2", most, 2 * TG_SPILL_STEP, 20000, b) == 0);
    CU_ASSERT(is_there("1", a) && is_there("2", b));
    CU_ASSERT(spills.writing == 0);
    CU_ASSERT(make("1", most, 2 * TG_SPILL_STEP, 30000, c) == 0);
    CU_ASSERT(!is_there("1", a));
    CU_ASSERT(is_there("2", b) && is_there("1", c));

    /* One alone that is larger than half of it takes nobody's place. */
    CU_ASSERT(make("1", most, 2 * TG_SPILL_STEP + 1, 30000, a) == -1);
    CU_ASSERT(is_there("2", b) && is_there("1", c));
    CU_ASSERT(spills.writing == 0);
    end();
}

HELP_TEST(full, "a disk that takes no more")
{
    struct rlimit was, now;
    char key[TG_SPILL_KEY + 1];

    begin();
    (void) signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &was) == 0);
    now = was;
    now.rlim_cur = 4096;
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &now) == 0);
    CU_ASSERT(make("1", 1 << 24, 8192, 60000, key) == -1);
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &was) == 0);
    CU_ASSERT(spills.writing == 0);
    end();
}

HELP_TEST(leftovers, "what a runner before left")
{
    char path[96];
    int fd;

    begin();
    snprintf(path, sizeof(path), "%s/spill", dir);
    CU_ASSERT(mkdir(path, 0700) == 0);
    snprintf(path, sizeof(path), "%s/spill/.1-0123", dir);
    fd = open(path, O_WRONLY | O_CREAT, 0600);
    CU_ASSERT_FATAL(fd != -1);
    (void) close(fd);
    tg_spills_close(&spills);
    uv_run(&loop, UV_RUN_DEFAULT);
    tg_spills_init(&spills, &loop, dir);
    CU_ASSERT(access(path, F_OK) == -1);
    end();
}

/* --- pages --- */

static int
never(void *ctx)
{
    return 0;
}

static int
page_is(const tg_spill_query_t *query, const char *page, const char *remark)
{
    static const char text[] = "one\ntwo\xc3\xa9\nthree\n";
    tg_buf_t got, said;
    int rc;

    tg_buf_init(&got, tg_alloc_libc());
    tg_buf_init(&said, tg_alloc_libc());
    rc = tg_spill_page(tg_str(text, sizeof(text) - 1), query, &got, &said,
                       never, NULL);
    HELP_EQ(tg_buf_view(&got), page);
    CU_ASSERT(strstr(help_text(tg_buf_view(&said)), remark) != NULL);
    tg_buf_deinit(&got);
    tg_buf_deinit(&said);

    return rc;
}

HELP_TEST(pages, "pages")
{
    static const struct {
        tg_spill_query_t query;
        const char *page;
        const char *remark;
        int rc;
    } cases[] = {
        { { 1, 99, -1, 99, NULL },
          "one\ntwo\xc3\xa9\nthree\n",
          "lines 1 to 3; this is the end",
          TG_OK },
        { { 2, 1, -1, 99, NULL },
          "two\xc3\xa9\n",
          "[line 2; it goes on with \"line\": 3]",
          TG_OK },
        { { 3, 9, -1, 99, NULL },
          "three\n",
          "[line 3; this is the end]",
          TG_OK },
        { { 1, 99, -1, 10, NULL }, "one\ntwo\xc3\xa9\n", "\"line\": 3", TG_OK },
        { { 1, 99, -1, 2, NULL }, "on", "\"offset\": 2", TG_OK },
        { { 4, 1, -1, 99, NULL }, "", "there are 3 lines", TG_OK },
        { { 1, 99, 4, 4, NULL }, "two", "\"offset\": 7", TG_OK },
        { { 1, 99, 4, 5, NULL }, "two\xc3\xa9", "\"offset\": 9", TG_OK },
        { { 1, 99, 10, 99, NULL }, "three\n", "this is the end", TG_OK },
        { { 1, 99, 15, 99, NULL },
          "\n",
          "[1 byte from offset 15 on, of 16; this is the end]",
          TG_OK },
        { { 1, 99, 99, 99, NULL }, "", "this is the end", TG_OK },
        { { 1, 99, -1, 99, "^t" },
          "2:two\xc3\xa9\n3:three\n",
          "2 matching lines; there are no more",
          TG_OK },
        { { 1, 1, -1, 99, "^t" }, "2:two\xc3\xa9\n", "\"line\": 3", TG_OK },
        { { 3, 9, -1, 99, "e" }, "3:three\n", "no more", TG_OK },
        { { 1, 9, -1, 99, "e$" }, "1:one\n3:three\n", "no more", TG_OK },
        { { 1, 9, -1, 99, "(" }, "", "no regular expression", TG_BAD },
        { { 1, 9, -1, 99, "(a)\\1" }, "", "backreference", TG_BAD },
        { { 1, 9, -1, 99, "a{1,9}{1,9}" }, "", "more than one {", TG_BAD },
        { { 1, 9, -1, 99, "a)(b" }, "", "no regular expression", TG_BAD },
        { { 1, 9, -1, 99, "^e|^o|w.*" },
          "1:one\n2:two\xc3\xa9\n",
          "no more",
          TG_OK },
        { { 1, 9, -1, 99, "(t|h){2}(r+e+)+" }, "3:three\n", "no more", TG_OK },
        { { 1, 9, -1, 99, "(one){3,32767}" }, "", "repeats too much", TG_BAD },
        { { 1, 9, -1, 99, "o{99999999999999999999}" },
          "",
          "repeats too much",
          TG_BAD },
        { { 1, 9, -1, 99, "((((((((((o+)+)+)+)+)+)+)+)+)+)+" },
          "",
          "repeats too much",
          TG_BAD },
        { { 1, 9, -1, 99, "o++++++++++++++" }, "", "repeats too", TG_BAD },
        { { 1, 9, -1, 8, "^" },
          "1:one\n",
          "1 matching line; the search "
          "goes on with \"line\": 2",
          TG_OK },
        { { 2, 9, -1, 4, "^" },
          "2:two\n",
          "1 matching line, the beginning "
          "of it; it goes on with \"offset\": 7; the search goes on with "
          "\"line\": 3",
          TG_OK },
    };
    size_t i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CU_ASSERT(page_is(&cases[i].query, cases[i].page, cases[i].remark)
                  == cases[i].rc);
    }
}

/* One that goes over a line from each of its bytes on takes minutes. */
HELP_TEST(search, "a pattern that is dear")
{
    static const size_t len = TG_SPILL_LINE_MAX;
    tg_spill_query_t query;
    tg_buf_t page, remark;
    unsigned random;
    clock_t start;
    char *text;
    size_t i;

    text = calloc(1, len + 1);
    CU_ASSERT_FATAL(text != NULL);

    for (i = 0, random = 1; i < len; i++) {
        random = random * 1103515245 + 12345;
        text[i] = (random >> 16 & 1) != 0 ? 'a' : 'b';
    }

    memset(&query, 0, sizeof(query));
    query.line = 1;
    query.lines = 9;
    query.offset = -1;
    query.bytes = 99;
    query.pattern = "(a|b)*a(a|b){100}c";
    tg_buf_init(&page, tg_alloc_libc());
    tg_buf_init(&remark, tg_alloc_libc());
    start = clock();
    CU_ASSERT(
        tg_spill_page(tg_str(text, len), &query, &page, &remark, never, NULL)
        == TG_OK);
    CU_ASSERT(clock() - start < 10 * CLOCKS_PER_SEC);
    HELP_EQ(tg_buf_view(&remark), "[0 matching lines; there are no more]");
    tg_buf_deinit(&page);
    tg_buf_deinit(&remark);
    free(text);
}
