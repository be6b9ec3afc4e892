/* Decides by a file's path whether the file is on offer. */
#include "runner/files/tg_file_filter.h"

#include "base/tg_glob.h"
#include "runner/jobs/tg_job_params.h"

#include <stdlib.h>

static const char *
tg_file_check_patterns(char *const *patterns)
{
    const char *why;

    for (why = NULL; why == NULL && *patterns != NULL; patterns++) {
        why = tg_path_glob_check(tg_str_from_cstr(*patterns));
    }

    return why;
}

/* Copies the strings to filter->memory. The codes of tg_file_filter_read(). */
static int
tg_file_filter_copy(tg_file_filter_t *filter, const tg_file_folder_spec_t *spec,
                    char *at, const char **why)
{
    char **slots;

    slots = (char **) (void *) filter->memory;
    *why = "root, match and hide must not contain a NUL character";

    if (spec->root.data != NULL
        && tg_param_read_string(&at, spec->root, &filter->root) != TG_OK)
    {
        return TG_LIMIT;
    }

    filter->match = slots;

    if (tg_param_read_strings(&at, spec->match, &slots) != TG_OK) {
        return TG_LIMIT;
    }

    filter->hide = slots;

    if (tg_param_read_strings(&at, spec->hide, &slots) != TG_OK) {
        return TG_LIMIT;
    }

    if (filter->root != NULL && filter->root[0] != '/') {
        *why = "root must be an absolute path";
        return TG_INVALID;
    }

    *why = tg_file_check_patterns(filter->match);

    if (*why == NULL) {
        *why = tg_file_check_patterns(filter->hide);
    }

    return *why == NULL ? TG_OK : TG_INVALID;
}

int
tg_file_filter_read(tg_file_filter_t *filter, const tg_file_folder_spec_t *spec,
                    const char **why)
{
    size_t nslots;
    int rc;

    memset(filter, 0, sizeof(*filter));
    filter->is_recursive = (int) spec->is_recursive;
    filter->has_dot_files = (int) spec->has_dot_files;
    nslots = (size_t) tg_json_count_strings(spec->match)
             + (size_t) tg_json_count_strings(spec->hide) + 2;
    filter->memory = malloc(nslots * sizeof(char *) + spec->root.len
                            + spec->match.len + spec->hide.len + 1);

    if (filter->memory == NULL) {
        return TG_NOMEM;
    }

    rc = tg_file_filter_copy(filter, spec,
                             filter->memory + nslots * sizeof(char *), why);

    if (rc != TG_OK) {
        tg_file_filter_free(filter);
    }

    return rc;
}

void
tg_file_filter_free(tg_file_filter_t *filter)
{
    free(filter->memory);
    memset(filter, 0, sizeof(*filter));
}

static int
tg_file_matches_any(char *const *patterns, tg_str_t path)
{
    for (/* void */; *patterns != NULL; patterns++) {
        if (tg_path_glob_match(tg_str_from_cstr(*patterns), path)) {
            return 1;
        }
    }

    return 0;
}

/* Checks the path and each folder above it for hidden names. */
static int
tg_file_filter_is_hidden(const tg_file_filter_t *filter, tg_str_t path)
{
    size_t i, start;

    for (i = 0, start = 0; i <= path.len; i++) {
        if (i != path.len && path.data[i] != '/') {
            continue;
        }

        if (!filter->has_dot_files && path.data[start] == '.') {
            return 1;
        }

        if (tg_file_matches_any(filter->hide, tg_str(path.data, i))) {
            return 1;
        }

        start = i + 1;
    }

    return 0;
}

int
tg_file_filter_has_folder(const tg_file_filter_t *filter, tg_str_t path)
{
    return filter->is_recursive && !tg_file_filter_is_hidden(filter, path);
}

int
tg_file_filter_has_file(const tg_file_filter_t *filter, tg_str_t path)
{
    return path.len != 0
           && (filter->is_recursive || memchr(path.data, '/', path.len) == NULL)
           && !tg_file_filter_is_hidden(filter, path)
           && (filter->match[0] == NULL
               || tg_file_matches_any(filter->match, path));
}
