/* Goes through folders and writes their files as MCP resources or paths. */
#include "runner/files/tg_file_list_page.h"

#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "catalog/tg_catalog.h"
#include "catalog/tg_mime_extension.h"

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

static void
tg_file_list_append_resource(tg_buf_t *json, tg_str_t uri, tg_str_t path,
                             const struct stat *info)
{
    tg_buf_t text;
    tg_str_t mime;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_append_str(&text, uri);
    tg_file_path_append_encoded(&text, path);
    tg_json_begin_object(json);
    tg_json_add_string(json, "uri", tg_buf_view(&text));

    /* A file's name may contain any bytes. */
    tg_buf_truncate(&text, 0);
    tg_utf8_append_visible(&text, path, 1);
    tg_json_add_string(json, "name", tg_buf_view(&text));
    mime = tg_mime_type_from_name(path);

    if (mime.data != NULL) {
        tg_json_add_string(json, "mimeType", mime);
    }

    tg_json_add_uint(json, "size", (uint64_t) info->st_size);
    tg_file_list_append_time(json, &info->st_mtim);
    tg_buf_append_char(json, '}');
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
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

/* Writes an item. Returns 0 if it does not fit; the first one always does. */
static int
tg_file_list_write_item(tg_file_list_page_t *page, tg_str_t path)
{
    struct stat info;
    size_t len;

    len = page->items.len;

    if (page->is_text) {
        if (tg_file_list_is_plain(path)) {
            tg_buf_append_str(&page->items, path);
            tg_buf_append_char(&page->items, '\n');
        }
    } else if (tg_file_list_stat(&page->list, path, &info) == 0) {
        tg_json_begin_element(&page->items);
        tg_file_list_append_resource(&page->items,
                                     page->folders[page->folder].uri, path,
                                     &info);
    }

    if (page->items.len > page->max_output && len != 0) {
        tg_buf_truncate(&page->items, len);
        return 0;
    }

    page->n++;
    page->nlisted++;
    tg_buf_truncate(&page->last, 0);
    tg_buf_append_str(&page->last, path);

    return 1;
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

/* Writes some items. TG_AGAIN, or TG_OK at the end of the page. */
static int
tg_file_list_write_items(tg_file_list_page_t *page)
{
    size_t i;

    for (i = 0; i < TG_FILE_LIST_STATS && page->at < page->list.n; i++) {
        if (!tg_file_list_write_item(page, page->list.paths[page->at])) {
            page->has_more = 1;
            return TG_OK;
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

    tg_file_list_begin(&page->list, &folder->filter, page->after, page->prefix,
                       limit);
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
    tg_json_add_string(json, "next", tg_buf_view(&text));
    json->failed |= tg_buf_has_failed(&text);
    tg_buf_deinit(&text);
}

void
tg_file_list_free_folders(tg_file_list_page_t *page)
{
    size_t i;

    for (i = 0; i < page->nfolders; i++) {
        tg_file_filter_free(&page->folders[i].filter);
    }

    free(page->folders);
    page->folders = NULL;
    page->nfolders = 0;
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
        *why = "root is missing";

        if (folder->filter.root == NULL) {
            return TG_INVALID;
        }
    }

    *why = "folders must be an array of 1 to 64 objects";

    return page->nfolders != 0 ? TG_OK : TG_INVALID;
}
