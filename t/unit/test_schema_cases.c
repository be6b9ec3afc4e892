/*
 * The cases in t/schemas (see its README.md): schemas with valid and invalid
 * instances, those that are checked by noted offsets, and invalid schemas.
 */
#include "schema_help.h"

#define TEST_GROUPS 128
#define TEST_CASES 128

typedef struct {
    char title[80];
    test_row_t rows[TEST_CASES];
    test_invalid_schema_t mistakes[TEST_CASES];
    test_row_t ways[TEST_CASES]; /* error NULL: by noted offsets only */
    size_t nrows;
    size_t nmistakes;
    size_t nways;
    int is_format_asserted;
} test_group_t;

/* Checks with noted offsets only. */
static int
test_by_index(const char *schema_text, const char *text)
{
    tg_schema_options_t options;
    tg_json_index_t notes;
    tg_schema_t *schema;
    help_alloc_t help;
    tg_buf_t error = HELP_BUF;
    tg_json_cursor_t json;
    tg_str_t raw;
    int fits;

    help_alloc_init(&help);
    options = test_options();
    schema = test_compile(&help.alloc, schema_text, &options, &error);
    tg_json_init(&json, tg_str_from_cstr(text));
    CU_ASSERT_EQUAL_FATAL(tg_json_index_object(&json, &notes, &raw), TG_OK);
    fits = tg_schema_is_valid_fast(schema, &notes);

    tg_schema_free(schema);
    tg_buf_deinit(&error);
    CU_ASSERT_EQUAL(help.live, 0);

    return fits;
}

HELP_TEST(blanks, "white space that a line cannot have")
{
    static const test_row_t rows[] = { { " {\n} ", " [ ] ", NULL } };

    TEST_ROWS(rows);
}

HELP_TEST(names, "more names than a word has bits")
{
    char text[4096] = "{\"properties\":{\"n0\":{}";
    char name[32];
    int i;

    for (i = 1; i < 64; i++) {
        snprintf(name, sizeof(name), ",\"n%d\":{}", i);
        strcat(text, name);
    }

    strcat(text, "}}");
    CU_ASSERT_TRUE(test_by_index(text, "{\"n63\":1,\"n5\":1}"));
    text[strlen(text) - 2] = '\0';
    strcat(text, ",\"n64\":{}}}");
    CU_ASSERT_FALSE(test_by_index(text, "{\"n63\":1,\"n5\":1}"));
}

static test_group_t test_groups[TEST_GROUPS];
static size_t test_ngroups;

static void
test_group(void)
{
    const test_group_t *group;
    tg_schema_options_t options;
    const test_row_t *way;
    size_t i;

    group = test_groups;

    while (strcmp(group->title, CU_get_current_test()->pName) != 0) {
        group++;
    }

    options = test_options();
    options.is_format_asserted = group->is_format_asserted;
    CU_ASSERT(group->nrows + group->nmistakes + group->nways > 0);
    test_rows_with(group->rows, group->nrows, &options);
    test_mistakes_with(group->mistakes, group->nmistakes, &options);

    for (i = 0; i < group->nways; i++) {
        way = &group->ways[i];

        if (test_by_index(way->schema, way->instance) != (way->error == NULL)) {
            test_report(way->schema, way->instance, "the other way",
                        TG_STR("this one"));
        }
    }
}

/* Adds a line to a group, which refers to its text; returns 0 if invalid. */
static int
test_add_line(test_group_t *group, const char **schema, const char *line)
{
    if (group->nrows == TEST_CASES || group->nmistakes == TEST_CASES
        || group->nways == TEST_CASES)
    {
        return 0;
    }

    if (line[0] == '+' || line[0] == '-') {
        group->rows[group->nrows].schema = *schema;
        group->rows[group->nrows].instance = line + 2;
        group->rows[group->nrows++].error = line[0] == '-' ? "*" : NULL;
        *schema = NULL;
    } else if (strncmp(line, "schema ", 7) == 0) {
        *schema = line + 7;
    } else if (strncmp(line, "asserted ", 9) == 0) {
        *schema = line + 9;
        group->is_format_asserted = 1;
    } else if (strncmp(line, "notes ", 6) == 0
               || strncmp(line, "whole ", 6) == 0) {
        group->ways[group->nways].schema = *schema;
        group->ways[group->nways].instance = line + 6;
        group->ways[group->nways++].error = line[0] == 'w' ? "" : NULL;
    } else if (strncmp(line, "mistake", 7) == 0) {
        group->mistakes[group->nmistakes].error = "";
        group->mistakes[group->nmistakes++].schema = line
                                                     + (line[7] == ' ' ? 8 : 7);
    } else if (strncmp(line, "  ", 2) == 0 && group->nmistakes != 0) {
        group->mistakes[group->nmistakes - 1].error = line + 2;
    } else if (strncmp(line, "  ", 2) == 0 && group->nrows != 0) {
        group->rows[group->nrows - 1].error = line + 2;
    } else {
        return line[0] == '\0' || line[0] == ';';
    }

    return 1;
}

/* Groups point into the text, which is kept. */
static void
test_read(const char *path, char *text)
{
    test_group_t *group;
    const char *schema;
    char *line, *next;
    unsigned number;

    schema = NULL;
    number = 0;

    for (line = text; line[0] != '\0'; line = next) {
        number++;
        next = line + strcspn(line, "\n");
        *next++ = '\0';

        if (line[0] == '#' && test_ngroups < TEST_GROUPS) {
            group = &test_groups[test_ngroups];
            snprintf(group->title, sizeof(group->title), "%s: %s",
                     strrchr(path, '/') + 1, line + 2);
            help_add((int) test_ngroups++, group->title, test_group);
        } else if (test_ngroups == 0
                   || !test_add_line(&test_groups[test_ngroups - 1], &schema,
                                     line))
        {
            help_error(path, number, "no case");
        }
    }
}

int
help_begin(void)
{
    help_files("t/schemas/*.txt", test_read);

    return test_ngroups == 0;
}
