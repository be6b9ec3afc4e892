/* Large outputs as files: quota, lifetime, a full disk, and pages. */
#include "protocol_help.h"

#include "runner/output/tg_output_store.h"
#include "runner/output/tg_output_search.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uv_loop_t loop;
static tg_output_store_t output_store;
static char dir[] = "/tmp/tg-spill-XXXXXX";

static void
begin(void)
{
    strcpy(dir, "/tmp/tg-spill-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(dir) != NULL);
    CU_ASSERT_FATAL(uv_loop_init(&loop) == 0);
    tg_output_store_init(&output_store, &loop, dir);
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

    tg_output_store_close(&output_store);
    uv_run(&loop, UV_RUN_DEFAULT);
    CU_ASSERT(uv_loop_close(&loop) == 0);
    (void) rmdir(path);
    CU_ASSERT(rmdir(dir) == 0);
}

static int
is_there(const char *owner, const char *key)
{
    int fd;

    fd = tg_output_store_open_output(&output_store, owner, key);

    if (fd != -1) {
        (void) close(fd);
    }

    return fd != -1;
}

/* Stores an output of this size and lifetime; its key is copied. */
static int
make(const char *owner, uint64_t quota, size_t size, uint64_t keep_ms,
     char key[TG_STORED_OUTPUT_KEY_LEN + 1])
{
    tg_stored_output_t stored_output;
    const char *name;
    char *data;
    int rc;

    data = calloc(1, size + 1);
    CU_ASSERT_FATAL(data != NULL);
    rc = tg_stored_output_create(&stored_output, &output_store, owner, quota);

    if (rc == 0) {
        rc = tg_stored_output_write(&stored_output, data, size);
    }

    if (rc == 0) {
        name = tg_stored_output_publish(&stored_output, keep_ms);
        CU_ASSERT_FATAL(name != NULL);
        strcpy(key, name);
    }

    tg_stored_output_close(&stored_output);
    free(data);

    return rc;
}

HELP_TEST(owners, "the owner of a task")
{
    char key[TG_STORED_OUTPUT_KEY_LEN + 1];

    begin();
    CU_ASSERT(make("1000", 1 << 24, 10, 60000, key) == 0);
    CU_ASSERT(is_there("1000", key));
    CU_ASSERT(!is_there("1001", key));
    CU_ASSERT(!is_there("", key));
    CU_ASSERT(!is_there("..", key));
    CU_ASSERT(!is_there("1000", "../x"));
    CU_ASSERT(make("1/0", 1 << 24, 10, 60000, key) == -1);
    CU_ASSERT(output_store.writing == 0);
    end();
}

/* A line without an end counts too, in however many pieces it comes. */
HELP_TEST(lines, "lines")
{
    static const struct {
        const char *data;
        unsigned lines;
    } pieces[] = {
        { "a", 1 }, { "b\n", 1 }, { "c\nd", 3 }, { "e", 3 }, { "\n\n", 4 }
    };
    tg_stored_output_t stored_output;

    begin();
    CU_ASSERT_FATAL(
        tg_stored_output_create(&stored_output, &output_store, "1", 1 << 24)
        == 0);

    HELP_EACH(piece, pieces) {
        CU_ASSERT(tg_stored_output_write(&stored_output, piece->data,
                                         strlen(piece->data))
                  == 0);
        CU_ASSERT(stored_output.lines == piece->lines);
    }

    tg_stored_output_close(&stored_output);
    end();
}

HELP_TEST(quota, "the oldest outputs are removed")
{
    char a[TG_STORED_OUTPUT_KEY_LEN + 1], b[TG_STORED_OUTPUT_KEY_LEN + 1],
        c[TG_STORED_OUTPUT_KEY_LEN + 1];
    static const uint64_t most = 4 * TG_OUTPUT_STORE_RESERVE_STEP;

    begin();
    CU_ASSERT(make("1", most, TG_OUTPUT_STORE_RESERVE_STEP, 10000, a) == 0);
    CU_ASSERT(make("2", most, 2 * TG_OUTPUT_STORE_RESERVE_STEP, 20000, b) == 0);
    CU_ASSERT(is_there("1", a) && is_there("2", b));
    CU_ASSERT(output_store.writing == 0);
    CU_ASSERT(make("1", most, 2 * TG_OUTPUT_STORE_RESERVE_STEP, 30000, c) == 0);
    CU_ASSERT(!is_there("1", a));
    CU_ASSERT(is_there("2", b) && is_there("1", c));

    /* An output larger than half of the quota evicts nothing. */
    CU_ASSERT(make("1", most, 2 * TG_OUTPUT_STORE_RESERVE_STEP + 1, 30000, a)
              == -1);
    CU_ASSERT(is_there("2", b) && is_there("1", c));
    CU_ASSERT(output_store.writing == 0);
    end();
}

HELP_TEST(full, "a full disk")
{
    struct rlimit was, now;
    char key[TG_STORED_OUTPUT_KEY_LEN + 1];

    begin();
    (void) signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &was) == 0);
    now = was;
    now.rlim_cur = 4096;
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &now) == 0);
    CU_ASSERT(make("1", 1 << 24, 8192, 60000, key) == -1);
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &was) == 0);
    CU_ASSERT(output_store.writing == 0);
    end();
}

HELP_TEST(leftovers, "leftovers of an earlier runner")
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
    tg_output_store_close(&output_store);
    uv_run(&loop, UV_RUN_DEFAULT);
    tg_output_store_init(&output_store, &loop, dir);
    CU_ASSERT(access(path, F_OK) == -1);
    end();
}

/* --- pages --- */

/* Makes the page in as many time slices as it takes. */
static int
page_of(tg_str_t text, const tg_output_page_query_t *query, tg_buf_t *page,
        tg_buf_t *remark)
{
    tg_output_search_t *search;
    int rc;

    if (query->pattern.data == NULL) {
        tg_output_page_append(text, query, page, remark);
        return TG_OK;
    }

    search = tg_output_search_new(text, query, page, remark);

    if (search == NULL) {
        CU_ASSERT(remark->len != 0);
        return TG_INVALID;
    }

    do {
        rc = tg_output_search_run(search);
    } while (rc == TG_AGAIN);

    tg_output_search_free(search);

    return rc;
}

static int
page_is(const tg_output_page_query_t *query, const char *page,
        const char *remark)
{
    static const char text[] = "one\ntwo\xc3\xa9\nthree\n";
    HELP_BUFFER(got);
    HELP_BUFFER(said);
    int rc;

    rc = page_of(tg_str(text, sizeof(text) - 1), query, &got, &said);
    HELP_EQ(tg_buf_view(&got), page);
    CU_ASSERT(strstr(help_text(tg_buf_view(&said)), remark) != NULL);

    return rc;
}

#define S(text)                                                                \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }

HELP_TEST(pages, "pages")
{
    static const struct {
        tg_output_page_query_t query;
        const char *page, *remark;
        int rc;
    } cases[] = {
        { { 1, 99, -1, 99, { NULL, 0 } },
          "one\ntwo\xc3\xa9\nthree\n",
          "lines 1 to 3; end of the output",
          TG_OK },
        { { 2, 1, -1, 99, { NULL, 0 } },
          "two\xc3\xa9\n",
          "[line 2; continue with \"line\": 3]",
          TG_OK },
        { { 3, 9, -1, 99, { NULL, 0 } },
          "three\n",
          "[line 3; end of the output]",
          TG_OK },
        { { 1, 99, -1, 10, { NULL, 0 } },
          "one\ntwo\xc3\xa9\n",
          "\"line\": 3",
          TG_OK },
        { { 1, 99, -1, 2, { NULL, 0 } }, "on", "\"offset\": 2", TG_OK },
        { { 4, 1, -1, 99, { NULL, 0 } }, "", "there are 3 lines", TG_OK },
        { { 1, 99, 4, 4, { NULL, 0 } }, "two", "\"offset\": 7", TG_OK },
        { { 1, 99, 4, 5, { NULL, 0 } }, "two\xc3\xa9", "\"offset\": 9", TG_OK },
        { { 1, 99, 10, 99, { NULL, 0 } },
          "three\n",
          "end of the output",
          TG_OK },
        { { 1, 99, 15, 99, { NULL, 0 } },
          "\n",
          "[1 byte from offset 15, of 16; end of the output]",
          TG_OK },
        { { 1, 99, 99, 99, { NULL, 0 } }, "", "end of the output", TG_OK },
        { { 1, 99, -1, 99, S("^t") },
          "2:two\xc3\xa9\n3:three\n",
          "2 matching lines; no more matches",
          TG_OK },
        { { 1, 1, -1, 99, S("^t") }, "2:two\xc3\xa9\n", "\"line\": 3", TG_OK },
        { { 3, 9, -1, 99, S("e") }, "3:three\n", "no more", TG_OK },
        { { 1, 9, -1, 99, S("e$") }, "1:one\n3:three\n", "no more", TG_OK },
        { { 1, 9, -1, 99, S("(") },
          "",
          "not a valid regular expression",
          TG_INVALID },
        { { 1, 9, -1, 99, S("a)(b") },
          "",
          "not a valid regular expression",
          TG_INVALID },
        { { 1, 9, -1, 99, S("[[:alpha:]]+") },
          "",
          "not a valid regular expression",
          TG_INVALID },
        { { 1, 9, -1, 99, S("(o|e)(.)\\1") }, "", "no more", TG_OK },
        { { 1, 9, -1, 99, S("(.)\\1") }, "3:three\n", "no more", TG_OK },
        { { 1, 9, -1, 99, S("o{1,9}{1,9}") },
          "",
          "not a valid regular expression",
          TG_INVALID },
        { { 1, 9, -1, 99, S("(?:o{1,9}){1,9}n") },
          "1:one\n",
          "no more",
          TG_OK },
        { { 1, 9, -1, 99, S("\\bo\\w+$") }, "1:one\n", "no more", TG_OK },
        { { 1, 9, -1, 99, S("^two\\u00e9$") },
          "2:two\xc3\xa9\n",
          "no more",
          TG_OK },
        { { 1, 9, -1, 99, S("^.{4}$") }, "2:two\xc3\xa9\n", "no more", TG_OK },
        { { 1, 9, -1, 99, S("^e|^o|w.*") },
          "1:one\n2:two\xc3\xa9\n",
          "no more",
          TG_OK },
        { { 1, 9, -1, 99, S("(t|h){2}(r+e+)+") },
          "3:three\n",
          "no more",
          TG_OK },
        { { 1, 9, -1, 99, S("(one){3,32767}") }, "", "too large", TG_INVALID },
        { { 1, 9, -1, 99, S("o{99999999999999999999}") },
          "",
          "not a valid regular expression",
          TG_INVALID },
        { { 1, 9, -1, 99, S("((((((((((o+)+)+)+)+)+)+)+)+)+)+") },
          "1:one\n2:two\xc3\xa9\n",
          "no more",
          TG_OK },
        { { 1, 9, -1, 99, S("o++++++++++++++") },
          "",
          "not a valid regular expression",
          TG_INVALID },
        { { 1, 9, -1, 8, S("^") },
          "1:one\n",
          "1 matching line; continue the search with \"line\": 2",
          TG_OK },
        { { 2, 9, -1, 4, S("^") },
          "2:two\n",
          "1 matching line, cut here; continue with \"offset\": 7; continue "
          "the search with \"line\": 3",
          TG_OK },
    };

    HELP_EACH(item, cases) {
        CU_ASSERT(page_is(&item->query, item->page, item->remark) == item->rc);
    }
}

/* Returns a line of pseudo-random characters of the alphabet. */
static char *
make_line(const char *alphabet, size_t len)
{
    unsigned random;
    char *text;
    size_t i;

    text = calloc(1, len + 1);
    CU_ASSERT_FATAL(text != NULL);

    for (i = 0, random = 1; i < len; i++) {
        random = random * 1103515245 + 12345;
        text[i] = alphabet[(random >> 16) % strlen(alphabet)];
    }

    return text;
}

static void
repeat(char *room, const char *text, unsigned n)
{
    while (n-- != 0) {
        room = stpcpy(room, text);
    }
}

static const tg_output_page_query_t test_query = {
    .line = 1,
    .lines = 9,
    .offset = -1,
    .bytes = 99,
};

/* Patterns that take very long to match, or to compile in the C library. */
HELP_TEST(costly, "costly patterns")
{
    static const char *const patterns[] = {
        "(a|b)*a(a|b){100}[cd]",
        "(a+)+[cd]",
        "(a|b|ab)*[cd]",
        "([ab]+)*[cd]",
        "(.*)*[cd]",
        "(.*a){20}[cd]",
        ".*.*.*.*.*.*[cd]",
        "(a|a?)+[cd]",
        "(?=(a*b*)*[cd])",
        "(a*)\\1*b\\1*[cd]",
        "(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*"
        "(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*"
        "(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*(a*)*[cd]",
    };
    char dots[TG_OUTPUT_SEARCH_PATTERN_MAX + 1];
    tg_output_page_query_t query = test_query;
    HELP_BUFFER(page);
    HELP_BUFFER(remark);
    clock_t start;
    char *text;
    size_t i;

    strcpy(dots, "(a|b)*a");
    repeat(dots + 7, ".", 240);
    strcat(dots, "[cd]");
    text = make_line("a", 16384);
    start = clock();

    for (i = 0; i <= HELP_COUNT(patterns); i++) {
        query.pattern = tg_str_from_cstr(i == 0 ? dots : patterns[i - 1]);
        CU_ASSERT(page_of(tg_str_from_cstr(text), &query, &page, &remark)
                  == TG_INVALID);
        CU_ASSERT(
            strstr(help_text(tg_buf_view(&remark)), "too many steps on line 1,")
            != NULL);
        CU_ASSERT(page.len == 0);
        tg_buf_truncate(&remark, 0);
    }

    CU_ASSERT(clock() - start < 30 * CLOCKS_PER_SEC);
    free(text);
}

HELP_TEST(behind, "matches before and after such a line are kept")
{
    tg_output_page_query_t query = test_query;
    HELP_BUFFER(text);
    HELP_BUFFER(page);
    HELP_BUFFER(remark);
    char *line;

    line = make_line("ab", 16384);
    tg_buf_printf(&text, "abc\n%s\naac\n", line);
    query.pattern = TG_STR("^([ab]+)*c");
    CU_ASSERT(page_of(tg_buf_view(&text), &query, &page, &remark) == TG_OK);
    HELP_EQ(tg_buf_view(&page), "1:abc\n");
    HELP_EQ(tg_buf_view(&remark),
            "[1 matching line; continue the search with \"line\": 2]");
    tg_buf_truncate(&page, 0);
    tg_buf_truncate(&remark, 0);
    query.line = 2;
    CU_ASSERT(page_of(tg_buf_view(&text), &query, &page, &remark)
              == TG_INVALID);
    CU_ASSERT(strstr(help_text(tg_buf_view(&remark)), "with \"line\": 3.")
              != NULL);
    tg_buf_truncate(&remark, 0);
    query.line = 3;
    CU_ASSERT(page_of(tg_buf_view(&text), &query, &page, &remark) == TG_OK);
    HELP_EQ(tg_buf_view(&page), "3:aac\n");
    free(line);
}

HELP_TEST(long_lines, "invalid UTF-8, and lines longer than the searched part")
{
    static const char head[] = "\xff\xc3 needle\n";
    tg_output_page_query_t query = test_query;
    HELP_BUFFER(text);
    HELP_BUFFER(page);
    HELP_BUFFER(remark);
    char *line;

    line = make_line("xy ", TG_OUTPUT_SEARCH_LINE_MAX - 6);
    tg_buf_printf(&text, "%s%sneedle needed", head, line);
    query.pattern = TG_STR("^\\S+ needle|needle$");
    CU_ASSERT(page_of(tg_buf_view(&text), &query, &page, &remark) == TG_OK);
    HELP_EQ(tg_buf_view(&page), "1:\xef\xbf\xbd\xef\xbf\xbd needle\n");
    HELP_EQ(tg_buf_view(&remark),
            "[1 matching line; continue the search with \"line\": 2]");
    tg_buf_truncate(&page, 0);
    tg_buf_truncate(&remark, 0);
    query.line = 2;
    query.pattern = TG_STR("needle$");
    CU_ASSERT(page_of(tg_buf_view(&text), &query, &page, &remark) == TG_OK);
    CU_ASSERT(page.len == 2 + 99 + 1);
    HELP_EQ(tg_buf_view(&remark),
            "[1 matching line, cut here; continue with "
            "\"offset\": 109; of 1 line only the first 262144 bytes were "
            "searched; no more matches]");
    free(line);
}
