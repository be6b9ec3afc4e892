/* Watching files: which changes are reported, and that nothing is left. */
#include "runner_files.h"

#include "runner/files/tg_file_watch_impl.h"

/* Sends a watch; `version` is a raw string, or absent. Returns its id. */
static unsigned
watch(const char *path, tg_str_t version)
{
    HELP_BUFFER(params);

    tg_buf_printf(&params,
                  "{\"tool\":\"w\",\"root\":\"%s/root\",\"recursive\":true,"
                  "\"path\":\"%s\"",
                  dir, path);
    tg_json_add_raw(&params, "version", version);
    tg_buf_append_cstr(&params, "}");
    tg_buf_append_char(&params, '\0');

    return host_request("file_watch", params.data);
}

/* Waits for a version and copies it. */
static tg_str_t
get_version(char *room, size_t size)
{
    tg_str_t version;

    CU_ASSERT_FATAL(host_recv());
    version = host_result("version");
    CU_ASSERT_FATAL(version.len == 18 && version.len < size);
    memcpy(room, version.data, version.len);

    return tg_str(room, version.len);
}

/* Each file was compared, and waits for an event now. */
static int
is_idle(void *ctx)
{
    const tg_file_watch_t *each;

    LIST_FOREACH(each, &host.files.watches, link)
    {
        if (uv_timer_get_due_in(&each->timer) <= TG_FILE_WATCH_DELAY_MS) {
            return 0;
        }
    }

    return host.files.nchecks == 0 && host.jobs.nrunning == 0
           && TAILQ_EMPTY(&host.jobs.queue);
}

static int
has_no_watch(void *ctx)
{
    return host.files.nwatches == 0 && host.files.inotify == NULL
           && host.files.folders == NULL;
}

/* Changes, in the order in which they are made. */
static void
change(unsigned i)
{
    switch (i) {
    case 0:
        put_text("root/sub/f", "other");
        break;
    case 1:
        put_text("root/sub/new", "replaced");
        CU_ASSERT(rename(path_of("root/sub/new"), path_of("root/sub/f")) == 0);
        break;
    case 2:
        CU_ASSERT(unlink(path_of("root/sub/f")) == 0);
        break;
    case 3:
        put_text("root/sub/f", "created");
        break;
    case 4:
        CU_ASSERT(rename(path_of("root/sub"), path_of("root/gone")) == 0);
        break;
    case 5:
        make_dir("root/sub");
        put_text("root/sub/f", "in a new folder");
        break;
    case 6:
        CU_ASSERT(chmod(path_of("root/sub/f"), 0600) == 0);
        break;
    }
}

HELP_TEST(changes, "each change has another version")
{
    char rooms[2][32];
    tg_str_t version, next;
    unsigned i;

    begin();
    make_dir("root/sub");
    put_text("root/sub/f", "first");
    (void) watch("sub/f", TG_STR_NONE);
    version = get_version(rooms[0], sizeof(rooms[0]));

    for (i = 0; i < 7; i++) {
        (void) watch("sub/f", version);
        CU_ASSERT(host_until(is_idle, NULL));
        CU_ASSERT(!host_has_line(NULL));
        change(i);
        next = get_version(rooms[(i + 1) % 2], sizeof(rooms[0]));
        CU_ASSERT(!tg_str_eq(version, next));
        version = next;

        /* The version is that of the file, whoever asks. */
        (void) watch("sub/f", TG_STR_NONE);
        next = get_version(rooms[i % 2], sizeof(rooms[0]));
        CU_ASSERT(tg_str_eq(version, next));
        version = next;
        memcpy(rooms[(i + 1) % 2], version.data, version.len);
        version.data = rooms[(i + 1) % 2];
    }

    CU_ASSERT(host_until(has_no_watch, NULL));
    end();
}

/* Further changes do not postpone the check, of which `due` is the time. */
static int
has_line_after_write(void *ctx)
{
    const tg_file_watch_t *each;
    uint64_t *due = ctx, time;

    each = LIST_FIRST(&host.files.watches);

    if (each != NULL && uv_is_active((const uv_handle_t *) &each->timer)
        && uv_timer_get_due_in(&each->timer) <= TG_FILE_WATCH_DELAY_MS)
    {
        time = uv_now(&host.loop) + uv_timer_get_due_in(&each->timer);
        *due = *due != 0 ? *due : time;
        CU_ASSERT(time == *due);
    }

    put_text("root/f", "more");

    return host_has_line(NULL);
}

HELP_TEST(steady, "a file that is written all the time")
{
    char room[32];
    uint64_t due;

    begin();
    due = 0;
    put_text("root/f", "f");
    (void) watch("f", TG_STR_NONE);
    (void) watch("f", get_version(room, sizeof(room)));
    CU_ASSERT(host_until(is_idle, NULL));
    CU_ASSERT(host_until(has_line_after_write, &due));
    (void) get_version(room, sizeof(room));
    CU_ASSERT(host_until(has_no_watch, NULL));
    end();
}

HELP_TEST(old_version, "a version that is old already")
{
    char room[32];

    begin();
    put_text("root/f", "f");
    (void) watch("f", TG_STR("\"0123456789abcdef\""));
    (void) get_version(room, sizeof(room));
    CU_ASSERT(host_until(has_no_watch, NULL));
    end();
}

/* Other files of the folder are not reported, and a link leads nowhere. */
HELP_TEST(others, "other files")
{
    char room[32], missing[32];
    tg_str_t version;

    begin();
    put_text("root/f", "f");
    make_link("../secret", "root/out");
    (void) watch("out", TG_STR_NONE);
    version = get_version(missing, sizeof(missing));
    (void) watch("none", TG_STR_NONE);
    CU_ASSERT(tg_str_eq(get_version(room, sizeof(room)), version));
    (void) watch("f", TG_STR_NONE);
    version = get_version(room, sizeof(room));
    (void) watch("f", version);
    CU_ASSERT(host_until(is_idle, NULL));
    put_text("root/g", "g");
    put_text("secret", "changed");

    /* An event of the folder has been read, and the file was not checked. */
    (void) watch("g", version);
    CU_ASSERT(host_recv());
    CU_ASSERT(host.files.nwatches == 1);
    CU_ASSERT(!host_has_line(NULL));
    host_cancel(host.next_id - 1);
    CU_ASSERT(host_until(has_no_watch, NULL));

    /* A cancelled call is answered or not, depending on the dialect. */
    while (host_has_line(NULL)) {
        (void) host_recv();
    }

    end();
}

HELP_TEST(refused, "paths and params that are refused")
{
    static const char *const params[] = {
        "\"path\":\"../secret\"",
        "\"path\":\".dot\"",
        "\"path\":\"\"",
        "\"path\":\"f\",\"version\":\"1\"",
        "\"path\":\"f\",\"version\":\"0123456789abcdeg\"",
        "\"path\":\"f\",\"match\":[\"*.txt\"]",
    };
    size_t i;

    begin();

    for (i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        HELP_BUFFER(text);

        tg_buf_printf(&text, "{\"tool\":\"w\",\"root\":\"%s/root\",%s}", dir,
                      params[i]);
        tg_buf_append_char(&text, '\0');
        (void) host_request("file_watch", text.data);
        CU_ASSERT(host_recv());
        CU_ASSERT(host_result("version").data == NULL);
        CU_ASSERT(has_no_watch(NULL));
    }

    end();
}

HELP_TEST(many, "more watches than there may be")
{
    char room[32];
    unsigned i, n, first;
    tg_str_t version;

    begin();
    put_text("root/f", "f");
    (void) watch("f", TG_STR_NONE);
    version = get_version(room, sizeof(room));
    first = host.next_id + 1;

    for (i = 0; i < 1100; i++) {
        (void) watch("f", version);
    }

    CU_ASSERT(host_until(is_idle, NULL));

    for (n = 0; host_has_line(NULL); n++) {
        CU_ASSERT(host_recv());
        CU_ASSERT(host_is("failure", "\"busy\""));
    }

    CU_ASSERT(n == 1100 - 1024);
    CU_ASSERT(host.files.nwatches == 1024);
    CU_ASSERT(host.files.folders != NULL);

    for (i = 0; i < 1100; i++) {
        host_cancel(first + i);
    }

    CU_ASSERT(host_until(has_no_watch, NULL));

    while (host_has_line(NULL)) {
        (void) host_recv();
    }

    end();
}

/* A watch takes no place of a limit, and does not wait for one either. */
HELP_TEST(limited, "watches with a limit")
{
    static const char limit[] = "\"limits\":[{\"name\":\"concurrency\","
                                "\"key\":\"k\",\"concurrency\":2,"
                                "\"queue\":0}]";
    unsigned i;

    begin();
    put_text("root/f", "f");
    host_nwaiting = 0;

    {
        HELP_BUFFER(text);

        tg_buf_printf(&text, "{\"tool\":\"r\",%s}", limit);
        tg_buf_append_char(&text, '\0');
        (void) host_request("wait", text.data);
    }

    for (i = 0; i < 4; i++) {
        HELP_BUFFER(text);

        tg_buf_printf(&text,
                      "{\"tool\":\"w\",\"root\":\"%s/root\",\"path\":\"f\","
                      "\"version\":\"0123456789abcdef\",%s}",
                      dir, limit);
        tg_buf_append_char(&text, '\0');
        (void) host_request("file_watch", text.data);
        CU_ASSERT(host.jobs.limits->nwaiting == 0);
        CU_ASSERT(host.jobs.limits->nrunning == 1);
    }

    for (i = 0; i < 4; i++) {
        CU_ASSERT(host_recv());
        CU_ASSERT(host_result("version").len == 18);
    }

    host_wait_end(0);
    CU_ASSERT(host_recv());
    CU_ASSERT(host_until(has_no_watch, NULL));
    CU_ASSERT_PTR_NULL(host.jobs.limits);
    end();
}

/* Sends a watch of the list of the root. */
static unsigned
watch_list(const char *folder, tg_str_t version)
{
    HELP_BUFFER(params);

    tg_buf_printf(&params,
                  "{\"tool\":\"w\",\"folders\":[{\"root\":\"%s/root\"%s},"
                  "{\"root\":\"%s/other\"}]",
                  dir, folder, dir);
    tg_json_add_raw(&params, "version", version);
    tg_buf_append_cstr(&params, "}");
    tg_buf_append_char(&params, '\0');

    return host_request("files_watch", params.data);
}

/* Changes that make another list, and ones that do not. */
static const struct {
    const char *name;
    const char *to; /* new name; NULL: it is created, or removed if it exists */
    int is_folder;
    int is_seen;
} list_changes[] = {
    { "root/b.txt", NULL, 0, 1 },     { "root/b.txt", NULL, 0, 1 },
    { "root/c.txt", NULL, 0, 1 },     { "root/c.txt", "root/d.txt", 0, 1 },
    { "root/x.c", NULL, 0, 0 },       { "root/.d.txt", NULL, 0, 0 },
    { "root/sub", NULL, 1, 0 },       { "root/sub/e.txt", NULL, 0, 1 },
    { "root/sub", "root/new", 1, 1 }, { "root/new/f.txt", NULL, 0, 1 },
    { "other/f.txt", NULL, 0, 1 },    { "root", "gone", 1, 1 },
};

static void
change_list(unsigned i)
{
    const char *name;

    name = list_changes[i].name;

    if (list_changes[i].to != NULL) {
        CU_ASSERT(rename(path_of(name), path_of(list_changes[i].to)) == 0);
    } else if (list_changes[i].is_folder) {
        make_dir(name);
    } else if (unlink(path_of(name)) != 0) {
        put_text(name, "");
    }
}

HELP_TEST(lists, "changes of a list")
{
    static const char folder[] = ",\"match\":[\"*.txt\"],\"recursive\":true";
    char rooms[2][32];
    tg_str_t version, next;
    unsigned i;

    begin();
    make_dir("other");
    put_text("root/a.txt", "a");
    (void) watch_list(folder, TG_STR_NONE);
    version = get_version(rooms[0], sizeof(rooms[0]));
    (void) watch_list(folder, TG_STR_NONE);
    CU_ASSERT(tg_str_eq(get_version(rooms[1], sizeof(rooms[1])), version));

    for (i = 0; i < sizeof(list_changes) / sizeof(list_changes[0]); i++) {
        (void) watch_list(folder, version);
        change_list(i);

        /* An unseen change is followed by one that is seen. */
        if (!list_changes[i].is_seen) {
            host_cancel(host.next_id);
            (void) watch_list(folder, TG_STR_NONE);
            next = get_version(rooms[1], sizeof(rooms[1]));
            CU_ASSERT(tg_str_eq(version, next));
            continue;
        }

        next = get_version(rooms[1], sizeof(rooms[1]));
        CU_ASSERT(!tg_str_eq(version, next));
        memcpy(rooms[0], next.data, next.len);
        version.data = rooms[0];
    }

    CU_ASSERT(host.files.nlist_watches == 0);
    end();
}

/* A caller that knows a version has just got it: the watch waits a little. */
HELP_TEST(list_delay, "a list whose version is known")
{
    unsigned long started;
    char room[32];
    tg_str_t version;

    begin();
    make_dir("other");
    (void) watch_list("", TG_STR_NONE);
    version = get_version(room, sizeof(room));
    put_text("root/f", "");
    started = uv_now(&host.loop);
    (void) watch_list("", version);
    (void) get_version(room, sizeof(room));
    CU_ASSERT(uv_now(&host.loop) - started >= 500);
    end();
}

/* A cancelled watch ends, whatever it does just now. */
HELP_TEST(list_cancelled, "cancelled watches of a list")
{
    unsigned i;

    begin();
    make_dir("other");

    for (i = 0; i < 300; i++) {
        (void) watch_list("",
                          i % 2 ? TG_STR("\"0123456789abcdef\"") : TG_STR_NONE);
        host_cancel(host.next_id);

        while (i % 3 == 0 && host.jobs.njobs != 0) {
            uv_run(&host.loop, UV_RUN_ONCE);
        }
    }

    while (host.jobs.njobs != 0) {
        uv_run(&host.loop, UV_RUN_ONCE);
    }

    CU_ASSERT(host.files.nlist_watches == 0);

    while (host_has_line(NULL)) {
        (void) host_recv();
    }

    end();
}
