/* Goes through folders and writes their files as MCP resources or paths. */
#include "runner/files/tg_file_list_page.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "catalog/tg_catalog.h"
#include "catalog/tg_mime_extension.h"
#include "runner/files/tg_skill.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void
tg_file_list_append_time(tg_buf_t *json, const struct timespec *at)
{
    char text[32];
    struct tm parts;

    if (gmtime_r(&at->tv_sec, &parts) != NULL
        && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) != 0)
    {
        tg_json_begin_member(json, "annotations");
        tg_json_begin_object(json);
        tg_json_add_cstr(json, "lastModified", text);
        tg_buf_append_char(json, '}');
    }
}

/* Begins a resource with its URI, and its path as its name. */
static void
tg_file_list_begin_resource(tg_buf_t *json, tg_str_t uri, tg_str_t path,
                            tg_str_t frontmatter)
{
    static const char *const names[] = { "name", "description", NULL };
    tg_str_t values[2];
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_str(&text, uri);
    tg_file_path_append_encoded(&text, path);
    tg_json_begin_object(json);
    tg_json_add_string(json, "uri", tg_buf_view(&text));

    if (frontmatter.len != 0) {
        (void) tg_json_get_members(frontmatter, names, values);
        tg_json_add_raw(json, "name", values[0]);
        tg_json_add_raw(json, "description", values[1]);
    } else {
        /* A file's name may contain any bytes. */
        tg_buf_truncate(&text, 0);
        tg_utf8_append_visible(&text, path, 1);
        tg_json_add_string(json, "name", tg_buf_view(&text));
    }

    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

static void
tg_file_list_append_resource(tg_buf_t *json, tg_str_t uri, tg_str_t path,
                             const struct stat *info, tg_str_t frontmatter)
{
    tg_str_t mime;

    tg_file_list_begin_resource(json, uri, path, frontmatter);
    mime = tg_mime_type_from_name(path);

    if (mime.data != NULL) {
        tg_json_add_string(json, "mimeType", mime);
    }

    tg_json_add_uint(json, "size", (uint64_t) info->st_size);
    tg_file_list_append_time(json, &info->st_mtim);
    tg_buf_append_char(json, '}');
}

/* Remembers why the skill at a path is left out. */
static void
tg_file_list_add_issue(tg_file_list_page_t *page, tg_str_t path, tg_str_t why)
{
    if (page->issues.len < TG_FILE_LIST_ISSUES_MAX) {
        tg_buf_append_cstr(&page->issues,
                           page->folders[page->folder].filter.root);
        tg_buf_append_char(&page->issues, '/');
        tg_buf_append_str(&page->issues, path);
        tg_buf_append_cstr(&page->issues, ": ");
        tg_buf_append_str(&page->issues, why);
        tg_buf_append_char(&page->issues, '\0');
    }
}

/*
 * Describes the SKILL.md at a path by its frontmatter, or as another file if
 * that is wrong.
 */
static int
tg_file_list_append_skill_file(tg_file_list_page_t *page, tg_str_t path,
                               const struct stat *info)
{
    tg_buf_t json, why;
    int rc;

    tg_buf_init(&json, tg_alloc_libc());
    tg_buf_init(&why, tg_alloc_libc());
    rc = tg_skill_load(page->list.root, path, &json, &why);

    if (rc == TG_INVALID) {
        tg_file_list_add_issue(page, path, tg_buf_view(&why));
        tg_buf_truncate(&json, 0);
    }

    if (rc == TG_OK || page->type == TG_FILE_LIST_DIRECTORY) {
        tg_file_list_append_resource(&page->items,
                                     page->folders[page->folder].uri, path,
                                     info, tg_buf_view(&json));
    }

    page->items.failed |= tg_buf_has_failed(&json) || rc == TG_NOMEM;
    tg_buf_deinit(&json);
    tg_buf_deinit(&why);

    return rc;
}

/* Describes the file, or the folder with a slash at its end, at a path. */
static void
tg_file_list_append_entry(tg_file_list_page_t *page, tg_str_t path)
{
    const tg_file_list_folder_t *folder;
    struct stat info;

    folder = &page->folders[page->folder];

    if (path.data[path.len - 1] == '/') {
        tg_file_list_begin_resource(&page->items, folder->uri,
                                    tg_str(path.data, path.len - 1),
                                    TG_STR(""));
        tg_json_add_cstr(&page->items, "mimeType", "inode/directory");
        tg_buf_append_char(&page->items, '}');
        return;
    }

    if (tg_file_list_stat(&page->list, path, &info) != 0) {
        return;
    }

    if (folder->has_skills && tg_skill_is_path(path)) {
        (void) tg_file_list_append_skill_file(page, path, &info);
    } else {
        tg_file_list_append_resource(&page->items, folder->uri, path, &info,
                                     TG_STR(""));
    }
}

/* Checks whether a path can be typed: text of one line. */
static int
tg_file_list_is_plain(tg_str_t path)
{
    size_t i;

    for (i = 0; i < path.len; i++) {
        if ((unsigned char) path.data[i] < ' ' || path.data[i] == 0x7f) {
            return 0;
        }
    }

    return tg_utf8_is_valid(path);
}

/* Describes the skill at a path, in steps. TG_AGAIN, TG_OK or TG_NOMEM. */
static int
tg_file_list_append_skill(tg_file_list_page_t *page, tg_str_t path)
{
    const tg_file_list_folder_t *folder;
    int rc;

    folder = &page->folders[page->folder];

    /* The prefix is a path, which others begin with, too. */
    if (page->type == TG_FILE_LIST_SKILL && !tg_str_eq(path, page->prefix)) {
        return TG_OK;
    }

    if (page->skill.path.data == NULL) {
        tg_skill_manifest_begin(&page->skill, &folder->filter, page->list.root,
                                folder->uri, path);
        return TG_AGAIN;
    }

    rc = tg_skill_manifest_step(&page->skill, &page->items);

    if (rc == TG_AGAIN) {
        return rc;
    }

    if (rc == TG_INVALID) {
        tg_file_list_add_issue(page, path, tg_buf_view(&page->skill.why));
        rc = TG_OK;
    }

    page->skills_size += page->skill.size;
    tg_skill_manifest_end(&page->skill);

    return rc;
}

/*
 * Writes an item. TG_OK, TG_AGAIN: call again; TG_NOMEM; TG_LIMIT: it does not
 * fit. The first one always does.
 */
static int
tg_file_list_write_item(tg_file_list_page_t *page, tg_str_t path)
{
    size_t len;
    int rc;

    len = page->items.len;
    rc = TG_OK;

    if (page->is_text) {
        path = tg_str_skip(path, 1);

        if (tg_file_list_is_plain(path)) {
            tg_buf_append_str(&page->items, path);
            tg_buf_append_char(&page->items, '\n');
        }
    } else if (page->type == TG_FILE_LIST_SKILLS
               || page->type == TG_FILE_LIST_SKILL)
    {
        rc = tg_file_list_append_skill(page, path);
    } else {
        tg_file_list_append_entry(page, path);
    }

    if (rc != TG_OK) {
        return rc;
    }

    if (page->items.len > page->max_output && len != 0) {
        tg_buf_truncate(&page->items, len);
        return TG_LIMIT;
    }

    page->n++;
    page->nlisted++;
    tg_buf_truncate(&page->last, 0);
    tg_buf_append_str(&page->last, path);

    return page->skills_size > TG_FILE_LIST_SKILLS_SIZE ? TG_LIMIT : TG_OK;
}

/* Moves to the beginning of the next folder. */
static void
tg_file_list_next_folder(tg_file_list_page_t *page)
{
    tg_file_list_end(&page->list);
    page->has_list = 0;
    page->folder++;
    page->nlisted = 0;
    page->after = TG_STR("");
    tg_buf_truncate(&page->last, 0);
}

/* Writes some items. TG_AGAIN, TG_NOMEM, or TG_OK at the end of the page. */
static int
tg_file_list_write_items(tg_file_list_page_t *page)
{
    size_t i;
    int rc;

    for (i = 0; i < TG_FILE_LIST_STATS && page->at < page->list.n; i++) {
        rc = tg_file_list_write_item(page, page->list.paths[page->at]);

        if (rc == TG_LIMIT) {
            page->has_more = 1;
            return TG_OK;
        }

        if (rc != TG_OK) {
            return rc;
        }

        page->at++;
    }

    if (page->at < page->list.n) {
        return TG_AGAIN;
    }

    if (page->list.has_more && page->nlisted < page->folders[page->folder].max)
    {
        page->has_more = 1;
        return TG_OK;
    }

    tg_file_list_next_folder(page);

    return TG_AGAIN;
}

/* Begins with a folder. TG_AGAIN, or TG_OK at the end of the page. */
static int
tg_file_list_begin_folder(tg_file_list_page_t *page)
{
    tg_file_list_folder_t *folder;
    size_t limit;

    if (page->folder == page->nfolders) {
        return TG_OK;
    }

    if (page->n == page->limit) {
        page->has_more = 1;
        return TG_OK;
    }

    folder = &page->folders[page->folder];

    if (page->nlisted >= folder->max) {
        tg_file_list_next_folder(page);
        return TG_AGAIN;
    }

    limit = page->limit - page->n;

    if (limit > folder->max - page->nlisted) {
        limit = folder->max - page->nlisted;
    }

    tg_file_list_begin(&page->list, &folder->filter, page->after,
                       page->is_text ? TG_STR("") : page->prefix, limit);
    page->list.typed = page->is_text ? page->prefix : TG_STR_NONE;
    page->list.is_shallow = page->type == TG_FILE_LIST_DIRECTORY;
    page->list.has_skills = folder->has_skills && !page->list.is_shallow;
    page->at = 0;

    return TG_AGAIN;
}

int
tg_file_list_page_step(tg_file_list_page_t *page)
{
    int rc;

    if (tg_buf_has_failed(&page->items) || tg_buf_has_failed(&page->last)) {
        return TG_NOMEM;
    }

    if (page->has_list) {
        return tg_file_list_write_items(page);
    }

    if (page->list.filter == NULL) {
        return tg_file_list_begin_folder(page);
    }

    rc = tg_file_list_step(&page->list);

    if (rc == TG_OK) {
        page->has_list = 1;
        page->has_folder |= page->list.has_folder;
        return TG_AGAIN;
    }

    if (rc == TG_INVALID || rc == TG_LIMIT) {
        page->folders[page->folder].err = rc == TG_LIMIT ? E2BIG
                                                         : page->list.err;
        tg_file_list_next_folder(page);
        return TG_AGAIN;
    }

    return rc;
}

void
tg_file_list_page_append_next(const tg_file_list_page_t *page, tg_buf_t *json)
{
    tg_buf_t text;

    if (!page->has_more) {
        return;
    }

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_printf(&text, "%c%zu.%zu.", TG_CURSOR_OF_MORE, page->folder,
                  page->nlisted);
    tg_file_path_append_encoded(&text, tg_buf_view(&page->last));
    tg_json_add_string(json,
                       page->type == TG_FILE_LIST_RESOURCES ? "next"
                                                            : "nextCursor",
                       tg_buf_view(&text));
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

void
tg_file_list_page_begin(tg_file_list_page_t *page)
{
    page->after = TG_STR("");
    page->list.root = -1;
    tg_buf_init(&page->items, tg_alloc_libc());
    tg_buf_init(&page->last, tg_alloc_libc());
    tg_buf_init(&page->issues, tg_alloc_libc());
}

void
tg_file_list_page_end(tg_file_list_page_t *page)
{
    size_t i;

    tg_skill_manifest_end(&page->skill);
    tg_file_list_end(&page->list);

    for (i = 0; i < page->nfolders; i++) {
        tg_file_filter_free(&page->folders[i].filter);
    }

    free(page->folders);
    tg_buf_deinit(&page->items);
    tg_buf_deinit(&page->last);
    tg_buf_deinit(&page->issues);
}

static tg_str_t
tg_file_list_copy(char **at, tg_str_t raw)
{
    tg_str_t text;

    if (raw.data == NULL) {
        return TG_STR("");
    }

    text = tg_str(*at, tg_json_unescape(*at, tg_json_string_body(raw)));
    *at += text.len;

    return text;
}

int
tg_file_list_read_folders(tg_file_list_page_t *page, tg_str_t raw, char **at,
                          const char **why)
{
    tg_file_list_folder_spec_t spec;
    tg_file_list_folder_t *folder;
    tg_json_cursor_t json;
    tg_str_t value;
    int rc;

    page->folders = calloc(TG_FILE_LIST_FOLDERS_MAX, sizeof(*folder));

    if (page->folders == NULL) {
        return TG_NOMEM;
    }

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        folder = &page->folders[page->nfolders];
        memset(&spec, 0, sizeof(spec));
        *why = "folders must be an array of 1 to 64 objects";

        if (page->nfolders == TG_FILE_LIST_FOLDERS_MAX
            || tg_json_read_fields(tg_file_list_folder_fields, value, &spec,
                                   why)
                   != TG_OK)
        {
            return TG_INVALID;
        }

        rc = tg_file_filter_read(&folder->filter, &spec.folder, why);

        if (rc != TG_OK) {
            return rc;
        }

        page->nfolders++;
        folder->uri = tg_file_list_copy(at, spec.uri);
        folder->max = (size_t) spec.max;
        folder->has_skills = (int) spec.has_skills;
        *why = "root is missing";

        if (folder->filter.root == NULL) {
            return TG_INVALID;
        }
    }

    *why = "folders must be an array of 1 to 64 objects";

    return page->nfolders != 0 ? TG_OK : TG_INVALID;
}
