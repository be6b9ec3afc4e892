/*
 * The cases of t/schemas (README.md there): schemas with instances that fit
 * and that do not, and schemas with mistakes.
 */
#include "schema_help.h"

#define TEST_GROUPS 96
#define TEST_CASES 128

typedef struct {
    char title[80];
    test_row_t rows[TEST_CASES];
    test_mistake_t mistakes[TEST_CASES];
    size_t nrows;
    size_t nmistakes;
    int is_format_asserted;
} test_group_t;

/* What a line cannot have. */
HELP_TEST(blanks, "white space around")
{
    static const test_row_t rows[] = { { " {\n} ", " [ ] ", NULL } };

    TEST_ROWS(rows);
}

static test_group_t test_groups[TEST_GROUPS];
static size_t test_ngroups;

static void
test_group(void)
{
    const test_group_t *group;
    tg_schema_options_t options;

    group = test_groups;

    while (strcmp(group->title, CU_get_current_test()->pName) != 0) {
        group++;
    }

    options = test_options();
    options.is_format_asserted = group->is_format_asserted;
    CU_ASSERT(group->nrows + group->nmistakes > 0);
    test_rows_with(group->rows, group->nrows, &options);
    test_mistakes_with(group->mistakes, group->nmistakes, &options);
}

/* A line of a group, which is put there; the text stays.  Is it one? */
static int
test_line(test_group_t *group, const char **schema, const char *line)
{
    if (group->nrows == TEST_CASES || group->nmistakes == TEST_CASES) {
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

/* The text stays: groups point into it. */
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
                   || !test_line(&test_groups[test_ngroups - 1], &schema, line))
        {
            help_mistake(path, number, "no case");
        }
    }
}

int
help_begin(void)
{
    help_files("t/schemas/*.txt", test_read);

    return test_ngroups == 0;
}
