/* Reads the files of a skill, and computes their digests. */
#include "runner/files/tg_skill_manifest.h"

#include "base/tg_json.h"
#include "base/tg_sha256.h"
#include "runner/files/tg_file_open.h"
#include "runner/files/tg_skill.h"

#include <errno.h>
#include <string.h>

void
tg_skill_manifest_begin(tg_skill_manifest_t *skill,
                        const tg_file_filter_t *filter, int root, tg_str_t uri,
                        tg_str_t path)
{
    skill->root = root;
    skill->uri = uri;
    skill->path = path;
    skill->has_list = 0;
    skill->is_reading = 0;
    skill->at = 0;
    skill->size = 0;
    tg_buf_init(&skill->frontmatter, tg_alloc_libc());
    tg_buf_init(&skill->resources, tg_alloc_libc());
    tg_buf_init(&skill->why, tg_alloc_libc());
    tg_file_list_begin(&skill->list, filter, TG_STR(""),
                       tg_str(path.data, path.len - sizeof(TG_SKILL_FILE) + 1),
                       TG_SKILL_FILES_MAX);
}

void
tg_skill_manifest_end(tg_skill_manifest_t *skill)
{
    if (skill->path.data == NULL) {
        return;
    }

    if (skill->is_reading) {
        tg_file_read_end(&skill->reader);
    }

    skill->path = TG_STR_NONE;
    tg_file_list_end(&skill->list);
    tg_buf_deinit(&skill->frontmatter);
    tg_buf_deinit(&skill->resources);
    tg_buf_deinit(&skill->why);
}

/* Appends a file's path to `why`, with what follows it. */
static int
tg_skill_manifest_fail(tg_skill_manifest_t *skill, tg_str_t path,
                       const char *what)
{
    tg_buf_printf(&skill->why, "%.*s %s", (int) path.len, path.data, what);

    return TG_INVALID;
}

static void
tg_skill_append_digest(tg_buf_t *json, tg_str_t bytes)
{
    unsigned char digest[TG_SHA256_SIZE];
    tg_sha256_t sha;
    size_t i;

    tg_sha256_init(&sha);
    tg_sha256_update(&sha, bytes);
    tg_sha256_final(&sha, digest);
    tg_json_begin_member(json, "digest");
    tg_buf_append_cstr(json, "\"sha256:");

    for (i = 0; i < sizeof(digest); i++) {
        tg_buf_printf(json, "%02x", (unsigned) digest[i]);
    }

    tg_buf_append_char(json, '"');
}

static int
tg_skill_manifest_list(tg_skill_manifest_t *skill)
{
    int rc;

    rc = tg_file_list_step(&skill->list);

    if (rc == TG_INVALID) {
        return tg_skill_manifest_fail(skill, TG_STR("its folder"),
                                      strerror(skill->list.err));
    }

    if (rc == TG_LIMIT || (rc == TG_OK && skill->list.has_more)) {
        return tg_skill_manifest_fail(skill, TG_STR("it"),
                                      "has more than 512 files; move or hide "
                                      "some of them (hide=)");
    }

    skill->has_list = rc == TG_OK;

    return rc == TG_OK ? TG_AGAIN : rc;
}

static int
tg_skill_manifest_open(tg_skill_manifest_t *skill, tg_str_t path)
{
    struct stat info;
    int fd;

    fd = tg_file_open(skill->root, path.data, &info);

    if (fd == -1 && errno == ENOENT) {
        skill->at++;
        return TG_AGAIN;
    }

    if (fd == -1) {
        return tg_skill_manifest_fail(skill, path, strerror(errno));
    }

    tg_file_read_begin(&skill->reader, fd, TG_SKILL_SIZE_MAX - skill->size);
    skill->is_reading = 1;

    return TG_AGAIN;
}

/* Describes the file that was read. */
static int
tg_skill_manifest_add(tg_skill_manifest_t *skill, tg_str_t path)
{
    tg_str_t bytes;
    tg_buf_t uri;
    int rc;

    bytes = tg_buf_view(&skill->reader.data);
    rc = tg_str_eq(path, skill->path)
             ? tg_skill_parse(bytes, path, &skill->frontmatter, &skill->why)
             : TG_OK;

    if (rc != TG_OK) {
        return rc;
    }

    tg_buf_init(&uri, tg_alloc_libc());
    tg_buf_append_str(&uri, skill->uri);
    tg_file_path_append_encoded(&uri, path);
    tg_json_begin_object(&skill->resources);
    tg_json_add_string(&skill->resources, "uri", tg_buf_view(&uri));
    tg_skill_append_digest(&skill->resources, bytes);
    tg_json_add_uint(&skill->resources, "size", bytes.len);
    tg_buf_append_char(&skill->resources, '}');
    skill->resources.failed |= tg_buf_has_failed(&uri);
    tg_buf_deinit(&uri);
    skill->size += bytes.len;

    return TG_AGAIN;
}

static int
tg_skill_manifest_read(tg_skill_manifest_t *skill, tg_str_t path)
{
    int rc;

    rc = tg_file_read_step(&skill->reader);

    if (rc == TG_AGAIN || rc == TG_NOMEM) {
        return rc;
    }

    if (rc == TG_LIMIT) {
        return tg_skill_manifest_fail(skill, TG_STR("it"),
                                      "has more than 16 MiB; move or hide some "
                                      "of its files (hide=)");
    }

    if (rc == TG_INVALID) {
        return tg_skill_manifest_fail(skill, path,
                                      skill->reader.err == ESTALE
                                          ? "changes while it is being read"
                                          : strerror(skill->reader.err));
    }

    rc = tg_skill_manifest_add(skill, path);
    skill->is_reading = 0;
    tg_file_read_end(&skill->reader);
    skill->at++;

    return rc;
}

static int
tg_skill_manifest_write(tg_skill_manifest_t *skill, tg_buf_t *json)
{
    tg_buf_t uri;

    if (tg_buf_has_failed(&skill->frontmatter)
        || tg_buf_has_failed(&skill->resources))
    {
        return TG_NOMEM;
    }

    if (skill->frontmatter.len == 0) {
        return tg_skill_manifest_fail(skill, skill->path, "has gone");
    }

    tg_buf_init(&uri, tg_alloc_libc());
    tg_buf_append_str(&uri, skill->uri);
    tg_file_path_append_encoded(&uri, skill->path);
    tg_json_begin_object(json);
    tg_json_add_string(json, "uri", tg_buf_view(&uri));
    tg_json_add_raw(json, "frontmatter", tg_buf_view(&skill->frontmatter));
    tg_json_begin_member(json, "resources");
    tg_buf_append_char(json, '[');
    tg_buf_append_str(json, tg_buf_view(&skill->resources));
    tg_buf_append_cstr(json, "]}");
    json->failed |= tg_buf_has_failed(&uri);
    tg_buf_deinit(&uri);

    return TG_OK;
}

int
tg_skill_manifest_step(tg_skill_manifest_t *skill, tg_buf_t *json)
{
    tg_str_t path;

    if (!skill->has_list) {
        return tg_skill_manifest_list(skill);
    }

    if (skill->at == skill->list.n) {
        return tg_skill_manifest_write(skill, json);
    }

    path = skill->list.paths[skill->at];

    return skill->is_reading ? tg_skill_manifest_read(skill, path)
                             : tg_skill_manifest_open(skill, path);
}
