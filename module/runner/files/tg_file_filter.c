/* Decides by a file's path whether the file is on offer. */
#include "runner/files/tg_file_filter.h"

#include "base/tg_glob.h"
#include "base/tg_url.h"
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
    size_t i, start, depth;

    for (i = 0, start = 0, depth = 0; i <= path.len; i++) {
        if (i != path.len && path.data[i] != '/') {
            continue;
        }

        if (depth++ == TG_FILE_DEPTH_MAX) {
            return 1;
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

int
tg_file_path_compare(tg_str_t a, tg_str_t b)
{
    unsigned char x, y;
    size_t i;

    for (i = 0; i < a.len && i < b.len && a.data[i] == b.data[i]; i++) {
        /* void */
    }

    if (i == a.len || i == b.len) {
        return (a.len > b.len) - (a.len < b.len);
    }

    /* A slash is less than any other byte; a path has no NUL. */
    x = a.data[i] == '/' ? 0 : (unsigned char) a.data[i];
    y = b.data[i] == '/' ? 0 : (unsigned char) b.data[i];

    return (x > y) - (x < y);
}

void
tg_file_path_append_encoded(tg_buf_t *uri, tg_str_t path)
{
    const char *slash;
    size_t len;

    while ((slash = memchr(path.data, '/', path.len)) != NULL) {
        len = (size_t) (slash - path.data);
        tg_url_append_encoded(uri, tg_str(path.data, len));
        tg_buf_append_char(uri, '/');
        path = tg_str_skip(path, len + 1);
    }

    tg_url_append_encoded(uri, path);
}

int
tg_file_path_decode(char *path, size_t *len)
{
    int high, low;
    size_t i, n;

    for (i = 0, n = 0; i < *len; i++, n++) {
        path[n] = path[i];

        if (path[i] != '%') {
            continue;
        }

        if (*len - i < 3) {
            return TG_INVALID;
        }

        high = tg_hex_value(path[i + 1]);
        low = tg_hex_value(path[i + 2]);
        i += 2;

        if (high == -1 || low == -1) {
            return TG_INVALID;
        }

        path[n] = (char) (high * 16 + low);

        if (path[n] == '/' || path[n] == '\0') {
            return TG_INVALID;
        }
    }

    path[n] = '\0';
    *len = n;

    return TG_OK;
}
