/* Lists of files: what is listed, in which order, on which page. */
#include "runner_files.h"

#include <sys/resource.h>

/* Lists the root; `folder` and `more` have further members. */
static int
list_folder(const char *folder, const char *more)
{
    HELP_BUFFER(params);

    tg_buf_printf(&params,
                  "{\"tool\":\"l\",\"folders\":[{\"root\":\"%s/root\"%s}]%s}",
                  dir, folder, more);
    tg_buf_append_char(&params, '\0');
    (void) host_request("files", params.data);

    return host_recv();
}

/* Compares the URIs of a list with words, each after a blank. */
static int
has_uris(const char *words)
{
    HELP_BUFFER(text);
    tg_json_cursor_t json;
    tg_str_t resources, item, uri;

    if (tg_json_get_member(host_result("json"), TG_STR("resources"), &resources)
        != TG_OK)
    {
        return 0;
    }

    for (tg_json_iter_init(&json, resources); tg_json_iter_next(&json, &item);)
    {
        (void) tg_json_get_member(item, TG_STR("uri"), &uri);
        tg_buf_append_char(&text, ' ');
        tg_buf_append_str(&text, tg_json_string_body(uri));
    }

    if (!tg_str_eq(tg_buf_view(&text), tg_str_from_cstr(words))) {
        fprintf(stderr, "got:%.*s\n", (int) text.len, text.data);
        return 0;
    }

    return 1;
}

/* Copies the cursor of the next page as a member, or returns 0. */
static int
get_next(char *more, size_t size)
{
    tg_str_t next;

    if (tg_json_get_member(host_result("json"), TG_STR("next"), &next) != TG_OK)
    {
        return 0;
    }

    snprintf(more, size, ",\"cursor\":%.*s", (int) next.len, next.data);

    return 1;
}

HELP_TEST(list, "which files are listed, and their order")
{
    char more[512];

    begin();
    make_dir("root/b");
    make_dir("root/b/c");
    make_dir("root/.git");
    make_dir("root/node");
    make_dir("root/empty");
    put_text("root/b.csv", "12345");
    put_text("root/a b%.txt", "");
    put_text("root/b/z", "");
    put_text("root/b/c/d", "");
    put_text("root/b-", "");
    put_text("root/node/x", "");
    put_text("root/.git/x", "");
    put_text("root/.dot", "");
    put_text("root/x\xff\n", "");
    put_text("root/backup~", "");
    make_link("b.csv", "root/in");
    make_link("../secret", "root/out");
    make_link("b", "root/dirlink");
    make_link("none", "root/broken");
    CU_ASSERT(mkfifo(path_of("root/fifo"), 0600) == 0);

    CU_ASSERT(list_folder(",\"uri\":\"n:///\"", ""));
    CU_ASSERT(has_uris(" n:///a%20b%25.txt n:///b- n:///b.csv n:///backup~"
                       " n:///in n:///x%FF%0A"));
    CU_ASSERT(!get_next(more, sizeof(more)));
    CU_ASSERT(
        list_folder(",\"hide\":[\"*~\",\"node\"],\"recursive\":true", ""));
    CU_ASSERT(has_uris(" a%20b%25.txt b/c/d b/z b- b.csv in x%FF%0A"));
    CU_ASSERT(
        list_folder(",\"match\":[\"*.csv\",\"b/**\"],\"recursive\":true", ""));
    CU_ASSERT(has_uris(" b/c/d b/z b.csv"));
    CU_ASSERT(list_folder(
        ",\"match\":[\".*\",\"x\"],\"recursive\":true,\"dot_files\":true", ""));
    CU_ASSERT(has_uris(" .dot .git/x node/x"));

    /* The members of an item. */
    CU_ASSERT(list_folder(",\"match\":[\"b.csv\",\"x*\"]", ""));
    CU_ASSERT(strstr(host.line.data,
                     "\"name\":\"b.csv\",\"mimeType\":\"text/csv\","
                     "\"size\":5,\"annotations\":{\"lastModified\":\"20")
              != NULL);
    CU_ASSERT(strstr(host.line.data, "\"name\":\"x\\\\ufffd") != NULL);

    /* Every page size gives the same list. */
    CU_ASSERT(list_folder(",\"recursive\":true", ",\"limit\":3"));
    CU_ASSERT(has_uris(" a%20b%25.txt b/c/d b/z"));
    CU_ASSERT(get_next(more, sizeof(more)));
    CU_ASSERT(strcmp(more, ",\"cursor\":\"+0.3.b/z\"") == 0);
    strcat(more, ",\"limit\":3");
    CU_ASSERT(list_folder(",\"recursive\":true", more));
    CU_ASSERT(has_uris(" b- b.csv backup~"));
    CU_ASSERT(list_folder(",\"recursive\":true", ",\"cursor\":\"+0.1.in\""));
    CU_ASSERT(has_uris(" node/x x%FF%0A"));
    CU_ASSERT(list_folder("", ",\"cursor\":\"+0.1.x%FF%0A\""));
    CU_ASSERT(has_uris(""));

    /* A file of the cursor may be gone; a path within a folder is found. */
    CU_ASSERT(list_folder(",\"recursive\":true",
                          ",\"limit\":2,\"cursor\":\"+0.1.b/c/zzz\""));
    CU_ASSERT(has_uris(" b/z b-"));

    /* A page of few bytes has one item at least. */
    CU_ASSERT(list_folder("", ",\"max_output\":1"));
    CU_ASSERT(has_uris(" a%20b%25.txt"));
    CU_ASSERT(get_next(more, sizeof(more)));
    strcat(more, ",\"max_output\":250");
    CU_ASSERT(list_folder("", more));
    CU_ASSERT(has_uris(" b- b.csv"));

    /* Paths that contain a text, for completion. */
    CU_ASSERT(list_folder(",\"recursive\":true", ",\"typed\":\"b\""));
    CU_ASSERT(host_is_text("text", "b/c/d\nb/z\nb-\nb.csv\nbackup~\n"
                                   "a b%.txt\n"));
    CU_ASSERT(
        list_folder(",\"recursive\":true", ",\"typed\":\"B\",\"limit\":2"));
    CU_ASSERT(host_is_text("text", "b/c/d\nb/z\n"));
    CU_ASSERT(list_folder(",\"recursive\":true", ",\"typed\":\"C/D\""));
    CU_ASSERT(host_is_text("text", "b/c/d\n"));
    CU_ASSERT(list_folder(",\"recursive\":true", ",\"typed\":\"b/c\""));
    CU_ASSERT(host_is_text("text", "b/c/d\n"));
    CU_ASSERT(list_folder("", ",\"typed\":\"\",\"limit\":2"));
    CU_ASSERT(host_is_text("text", "a b%.txt\nb-\n"));
    CU_ASSERT(list_folder("", ",\"typed\":\"X\""));
    CU_ASSERT(host_is_text("text", "a b%.txt\n"));
    CU_ASSERT(list_folder("", ",\"typed\":\"none\""));
    CU_ASSERT(host_is_text("text", ""));
    end();
}

/* Lists two folders and one that does not exist, in pages of this size. */
static void
list_pages(unsigned limit, const char *words)
{
    HELP_BUFFER(uris);
    HELP_BUFFER(params);
    tg_json_cursor_t json;
    tg_str_t resources, item, uri;
    char more[512];
    unsigned n;

    more[0] = '\0';

    do {
        tg_buf_truncate(&params, 0);
        tg_buf_printf(&params,
                      "{\"tool\":\"l\",\"limit\":%u,\"folders\":["
                      "{\"root\":\"%s/root/a\",\"uri\":\"a:\",\"max\":3},"
                      "{\"root\":\"%s/none\",\"uri\":\"n:\"},"
                      "{\"root\":\"%s/root/b\",\"uri\":\"b:\"}]%s}",
                      limit, dir, dir, dir, more);
        tg_buf_append_char(&params, '\0');
        (void) host_request("files", params.data);
        CU_ASSERT_FATAL(host_recv());
        CU_ASSERT_FATAL(tg_json_get_member(host_result("json"),
                                           TG_STR("resources"), &resources)
                        == TG_OK);
        n = 0;

        for (tg_json_iter_init(&json, resources);
             tg_json_iter_next(&json, &item); n++) {
            (void) tg_json_get_member(item, TG_STR("uri"), &uri);
            tg_buf_append_char(&uris, ' ');
            tg_buf_append_str(&uris, tg_json_string_body(uri));
        }

        CU_ASSERT(n <= limit);
    } while (get_next(more, sizeof(more)));

    CU_ASSERT(tg_str_eq(tg_buf_view(&uris), tg_str_from_cstr(words)));
}

HELP_TEST(folders, "several folders, and the maximum of one")
{
    static const char words[] = " a:1 a:2 a:3 b:1 b:2";
    unsigned i;

    begin();
    make_dir("root/a");
    make_dir("root/b");
    put_text("root/a/1", "");
    put_text("root/a/2", "");
    put_text("root/a/3", "");
    put_text("root/a/4", "");
    put_text("root/b/1", "");
    put_text("root/b/2", "");

    for (i = 1; i < 8; i++) {
        list_pages(i, words);
    }

    end();
}

HELP_TEST(list_failures, "folders and params that are wrong")
{
    static const char *const cursors[] = {
        "",       "x",     "0.0.",   "+",     "+0",    "+0.1",
        "+-1.0.", "+2.0.", "+0.0.%", "+a.0.", "+0.a.", "+0.0.a%2Fb",
    };
    static const char *const params[] = {
        "{\"tool\":\"l\"}",
        "{\"tool\":\"l\",\"folders\":[]}",
        "{\"tool\":\"l\",\"folders\":{}}",
        "{\"tool\":\"l\",\"folders\":[1]}",
        "{\"tool\":\"l\",\"folders\":[{}]}",
        "{\"tool\":\"l\",\"folders\":[{\"root\":\"a\"}]}",
        "{\"tool\":\"l\",\"folders\":[{\"root\":\"/a\",\"max\":0}]}",
    };
    char more[64];
    size_t i;

    begin();
    CU_ASSERT(rmdir(path_of("root")) == 0);
    CU_ASSERT(list_folder("", ""));
    CU_ASSERT(has_uris(""));
    CU_ASSERT(memmem(host.line.data, host.line.len, dir, strlen(dir)) == NULL);
    put_text("root", "");
    CU_ASSERT(list_folder("", ""));
    CU_ASSERT(has_uris(""));

    for (i = 0; i < sizeof(cursors) / sizeof(cursors[0]); i++) {
        snprintf(more, sizeof(more), ",\"cursor\":\"%s\"", cursors[i]);
        CU_ASSERT(list_folder("", more));
        CU_ASSERT(host_is("failure", "\"arguments\""));
    }

    for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        (void) host_request("files", params[i]);
        CU_ASSERT(host_recv());
        CU_ASSERT(host_result("json").data == NULL);
    }

    end();
}

static long
get_peak_kb(void)
{
    char line[128];
    FILE *file;
    long kb;

    kb = -1;
    file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        (void) sscanf(line, "VmHWM: %ld", &kb);
    }

    if (file != NULL) {
        fclose(file);
    }

    return kb;
}

#define MANY 100000

HELP_TEST(many, "100,000 files in pages")
{
    char name[64], more[512], last[64], first[64];
    tg_json_cursor_t json;
    tg_str_t resources, item, uri;
    unsigned i, n, npages;
    long before;
    int fd;

    begin();

    for (i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "root/%u.txt", i * 7919 % MANY);
        fd = open(path_of(name), O_WRONLY | O_CREAT, 0644);
        CU_ASSERT_FATAL(fd != -1);
        (void) close(fd);
    }

    before = get_peak_kb();
    more[0] = last[0] = '\0';

    for (n = 0, npages = 0;; npages++) {
        CU_ASSERT_FATAL(list_folder(",\"max\":1000000", more));
        CU_ASSERT_FATAL(tg_json_get_member(host_result("json"),
                                           TG_STR("resources"), &resources)
                        == TG_OK);

        for (tg_json_iter_init(&json, resources);
             tg_json_iter_next(&json, &item); n++) {
            (void) tg_json_get_member(item, TG_STR("uri"), &uri);
            uri = tg_json_string_body(uri);
            snprintf(first, sizeof(first), "%.*s", (int) uri.len, uri.data);
            CU_ASSERT(strcmp(last, first) < 0);
            strcpy(last, first);
        }

        if (!get_next(more, sizeof(more))) {
            break;
        }
    }

    CU_ASSERT(n == MANY && npages >= 24 && npages <= 25);

    /* A page has 4,000 paths; all would be tens of MB as JSON. */
#ifdef TG_HAS_ASAN
    (void) before;
#else
    CU_ASSERT(get_peak_kb() - before < 4096);
#endif
    end();
}

/* Without a descriptor for a folder, its files are not missing. */
HELP_TEST(descriptors, "too few descriptors")
{
    static const char folder[] = ",\"uri\":\"f:/\",\"recursive\":true";
    struct rlimit before, few;
    int fds[256];
    size_t n;

    begin();
    make_dir("root/sub");
    put_text("root/sub/f", "f");
    CU_ASSERT(list_folder(folder, ""));
    CU_ASSERT(has_uris(" f:/sub/f"));

    CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = before;
    few.rlim_cur = sizeof(fds) / sizeof(fds[0]);
    CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &few) == 0);

    for (n = 0; (fds[n] = dup(STDIN_FILENO)) != -1; n++) {
        /* void */
    }

    /* Two for the root, none for the folder in it. */
    CU_ASSERT_FATAL(n > 2);
    (void) close(fds[--n]);
    (void) close(fds[--n]);
    CU_ASSERT(list_folder(folder, ""));
    CU_ASSERT(host_is("failure", "\"internal\""));

    while (n != 0) {
        (void) close(fds[--n]);
    }

    CU_ASSERT(setrlimit(RLIMIT_NOFILE, &before) == 0);
    CU_ASSERT(list_folder(folder, ""));
    CU_ASSERT(has_uris(" f:/sub/f"));
    end();
}
