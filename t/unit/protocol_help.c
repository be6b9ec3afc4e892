#include "protocol_help.h"

#include "base/tg_json.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

void
help_each_failure(void (*run)(const tg_alloc_t *alloc, int may_fail))
{
    help_alloc_t help;
    size_t n, total;

    help_alloc_init(&help);
    run(&help.alloc, 0);
    CU_ASSERT(help.live == 0);
    total = help.count;
    CU_ASSERT(total > 0);

    for (n = 1; n <= 2 * total; n++) {
        help_alloc_init(&help);
        help.fail_at = (n + 1) / 2;
        help.is_lasting = n % 2 == 0;
        run(&help.alloc, 1);
        CU_ASSERT(help.live == 0);
        CU_ASSERT(help.has_failed);
    }
}

void
help_holds(int is_so, const char *what, const char *file, int line)
{
    (void) CU_assertImplementation(is_so, (unsigned) line, what, file, "",
                                   CU_TRUE);
}

/* --- slices --- */

const char *
help_text(tg_str_t text)
{
    static char buffers[4][2048];
    static int next;
    char *room;
    size_t len;

    room = buffers[next++ % 4];
    len = text.len < sizeof(buffers[0]) ? text.len : sizeof(buffers[0]) - 1;

    if (len != 0) {
        memcpy(room, text.data, len);
    }

    room[len] = '\0';

    return room;
}

char help_dir[] = "/tmp/toolgate-unit-XXXXXX";

const char *
help_path(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path;

    path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", help_dir, name);

    return path;
}

void
help_error(const char *path, unsigned line, const char *why)
{
    fprintf(stderr, "%s:%u: %s\n", path, line, why);
    exit(2);
}

void
help_files(const char *pattern, void (*read)(const char *path, char *text))
{
    struct stat st;
    glob_t found;
    FILE *file;
    char *text;
    size_t i;

    if (glob(pattern, 0, NULL, &found) != 0) {
        help_error(pattern, 0, "none here: start it in the repository");
    }

    for (i = 0; i < found.gl_pathc; i++) {
        file = fopen(found.gl_pathv[i], "r");

        if (file == NULL || fstat(fileno(file), &st) != 0) {
            help_error(found.gl_pathv[i], 0, strerror(errno));
        }

        text = calloc(1, (size_t) st.st_size + 2);

        if (text == NULL || fread(text, (size_t) st.st_size, 1, file) != 1) {
            help_error(found.gl_pathv[i], 0, "it cannot be read");
        }

        fclose(file);
        read(found.gl_pathv[i], text);
    }

    globfree(&found);
}

void
help_eq(tg_str_t got, const char *expected, const char *file, int line)
{
    int is_same;

    is_same = tg_str_eq(got, tg_str_from_cstr(expected));

    if (!is_same) {
        fprintf(stderr, "\n%s:%d: got      %.400s\n%s:%d: expected %.400s\n",
                file, line, help_text(got), file, line, expected);
    }

    CU_ASSERT(is_same);
}

/* --- JSON --- */

static int
help_contains(tg_str_t pattern, tg_str_t got)
{
    char *text, *part;
    tg_str_t all, wanted;
    size_t i;
    int is_there;

    text = help_copy(got);
    part = help_copy(pattern);
    all = tg_str(text, tg_json_unescape(text, got));
    wanted = tg_str(part, tg_json_unescape(part, pattern));
    is_there = 0;

    for (i = 0; i + wanted.len <= all.len && !is_there; i++) {
        is_there = memcmp(all.data + i, wanted.data, wanted.len) == 0;
    }

    free(text);
    free(part);

    return is_there;
}

/* Matches a time with milliseconds. */
static int
help_is_time(tg_str_t text)
{
    static const char shape[] = "0000-00-00T00:00:00.000Z";
    size_t i;

    if (text.len != sizeof(shape) - 1) {
        return 0;
    }

    for (i = 0; i < text.len; i++) {
        if (shape[i] == '0' ? !tg_is_digit(text.data[i])
                            : text.data[i] != shape[i]) {
            return 0;
        }
    }

    return 1;
}

static int
help_match_string(tg_str_t pattern, tg_str_t raw)
{
    static const struct {
        const char *name;
        tg_json_type_t type;
    } types[] = {
        { "$string", TG_JSON_STRING },
        { "$number", TG_JSON_NUMBER },
        { "$object", TG_JSON_OBJECT },
        { "$array", TG_JSON_ARRAY },
    };
    size_t n;

    if (tg_str_eq(pattern, TG_STR("$any"))) {
        return 1;
    }

    HELP_EACH(row, types) {
        if (tg_str_eq(pattern, tg_str_from_cstr(row->name))) {
            return tg_json_type(raw) == row->type;
        }
    }

    if (tg_json_type(raw) != TG_JSON_STRING) {
        return 0;
    }

    if (tg_str_eq(pattern, TG_STR("$time"))) {
        return help_is_time(tg_json_string_body(raw));
    }

    n = strlen("$contains:");

    if (pattern.len >= n && memcmp(pattern.data, "$contains:", n) == 0) {
        return help_contains(tg_str(pattern.data + n, pattern.len - n),
                             tg_json_string_body(raw));
    }

    return tg_json_body_eq(pattern, tg_json_string_body(raw));
}

static int
help_member(tg_str_t object, tg_str_t key, tg_str_t *value)
{
    tg_json_cursor_t json;
    tg_str_t name;

    tg_json_init(&json, object);
    (void) tg_json_enter_object(&json);

    while (tg_json_next_member(&json, &name) == TG_OK) {
        if (tg_json_read_value(&json, value) == TG_OK
            && tg_json_body_eq(name, key)) {
            return 1;
        }
    }

    return 0;
}

static size_t
help_count(tg_str_t object)
{
    tg_json_cursor_t json;
    tg_str_t name;
    size_t n;

    tg_json_init(&json, object);
    (void) tg_json_enter_object(&json);

    for (n = 0; tg_json_next_member(&json, &name) == TG_OK; n++) {
        (void) tg_json_read_value(&json, NULL);
    }

    return n;
}

static int
help_match_object(tg_str_t pattern, tg_str_t got)
{
    tg_json_cursor_t json;
    tg_str_t key, value, other;

    if (help_count(pattern) != help_count(got)) {
        return 0;
    }

    tg_json_init(&json, pattern);
    (void) tg_json_enter_object(&json);

    while (tg_json_next_member(&json, &key) == TG_OK) {
        if (tg_json_read_value(&json, &value) != TG_OK
            || !help_member(got, key, &other) || !help_json_match(value, other))
        {
            return 0;
        }
    }

    return 1;
}

static int
help_match_array(tg_str_t pattern, tg_str_t got)
{
    tg_json_cursor_t left, right;
    tg_str_t value, other;
    int rc;

    tg_json_init(&left, pattern);
    tg_json_init(&right, got);
    (void) tg_json_enter_array(&left);
    (void) tg_json_enter_array(&right);

    while ((rc = tg_json_next_element(&left)) == TG_OK) {
        if (tg_json_next_element(&right) != TG_OK
            || tg_json_read_value(&left, &value) != TG_OK
            || tg_json_read_value(&right, &other) != TG_OK
            || !help_json_match(value, other))
        {
            return 0;
        }
    }

    return rc == TG_END && tg_json_next_element(&right) == TG_END;
}

int
help_json_match(tg_str_t pattern, tg_str_t got)
{
    if (tg_json_type(pattern) == TG_JSON_STRING) {
        return help_match_string(tg_json_string_body(pattern), got);
    }

    if (tg_json_type(pattern) != tg_json_type(got)) {
        return 0;
    }

    switch (tg_json_type(pattern)) {
    case TG_JSON_OBJECT:
        return help_match_object(pattern, got);
    case TG_JSON_ARRAY:
        return help_match_array(pattern, got);
    default:
        return tg_str_eq(pattern, got);
    }
}

void
help_json(tg_str_t got, const char *pattern, const char *file, int line)
{
    int is_same;

    is_same = tg_json_validate(got, NULL) == TG_OK
              && tg_json_validate(tg_str_from_cstr(pattern), NULL) == TG_OK
              && help_json_match(tg_str_from_cstr(pattern), got);

    if (!is_same) {
        fprintf(stderr, "\n%s:%d: got      %.400s\n%s:%d: expected %.400s\n",
                file, line, help_text(got), file, line, pattern);
    }

    CU_ASSERT(is_same);
}

/* --- the suite --- */

#define HELP_TESTS 128

static CU_TestInfo help_tests[HELP_TESTS + 1];
static int help_lines[HELP_TESTS];
static int help_ntests;

/* The compiler decides in which order constructors run. */
void
help_add(int line, const char *title, CU_TestFunc test)
{
    int i;

    if (help_ntests == HELP_TESTS) {
        abort();
    }

    for (i = help_ntests++; i > 0 && help_lines[i - 1] > line; i--) {
        help_lines[i] = help_lines[i - 1];
        help_tests[i] = help_tests[i - 1];
    }

    help_lines[i] = line;
    help_tests[i].pName = title;
    help_tests[i].pTestFunc = test;
}

int
main(int argc, char **argv)
{
    CU_SuiteInfo suites[] = {
        { argv[0], NULL, NULL, NULL, NULL, help_tests },
        CU_SUITE_INFO_NULL,
    };
    unsigned failures;

    if (mkdtemp(help_dir) == NULL || (help_begin != NULL && help_begin() != 0)
        || CU_initialize_registry() != CUE_SUCCESS
        || CU_register_suites(suites) != CUE_SUCCESS)
    {
        return 2;
    }

    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    failures += help_end != NULL ? help_end() : 0;

    if (rmdir(help_dir) != 0) {
        fprintf(stderr, "files are left in %s\n", help_dir);
        failures++;
    }

    return failures == 0 ? 0 : 1;
}
