/* Reads and checks the frontmatter of a skill. */
#include "runner/files/tg_skill.h"

#include "base/tg_json.h"
#include "runner/files/tg_file_open.h"
#include "runner/files/tg_yaml.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Longest name in bytes, by MCP. */
#define TG_SKILL_NAME_MAX 64

int
tg_skill_is_path(tg_str_t path)
{
    return tg_str_eq(tg_path_get_base_name(path), TG_STR(TG_SKILL_FILE))
           && path.len > sizeof(TG_SKILL_FILE);
}

/* Takes a line with its end. Returns it without the end. */
static tg_str_t
tg_skill_take_line(tg_str_t *text)
{
    tg_str_t line;
    size_t len;

    len = tg_str_find_char(*text, "\n");
    line = tg_str(text->data, len);
    *text = tg_str_skip(*text, len < text->len ? len + 1 : len);

    if (line.len != 0 && line.data[line.len - 1] == '\r') {
        line.len--;
    }

    return line;
}

/* Checks for `---`, which blanks may follow. */
static int
tg_skill_is_fence(tg_str_t line)
{
    return tg_str_has_prefix(line, "---")
           && tg_str_skip_blanks(tg_str_skip(line, 3)).len == 0;
}

/* Finds the YAML between the lines `---`. Returns absent if there is none. */
static tg_str_t
tg_skill_find_frontmatter(tg_str_t text)
{
    tg_str_t rest, line;
    const char *end;

    rest = tg_str_skip(text, tg_str_has_prefix(text, "\xef\xbb\xbf") ? 3 : 0);

    if (!tg_str_eq(tg_skill_take_line(&rest), TG_STR("---"))) {
        return TG_STR_NONE;
    }

    for (text = rest; rest.len != 0;) {
        end = rest.data;
        line = tg_skill_take_line(&rest);

        if (tg_skill_is_fence(line)) {
            return tg_str(text.data, (size_t) (end - text.data));
        }
    }

    return TG_STR_NONE;
}

static int
tg_skill_is_name(tg_str_t name)
{
    size_t i;

    if (name.len == 0 || name.len > TG_SKILL_NAME_MAX || name.data[0] == '-'
        || name.data[name.len - 1] == '-')
    {
        return 0;
    }

    for (i = 0; i < name.len; i++) {
        if (!tg_is_digit(name.data[i])
            && !(name.data[i] >= 'a' && name.data[i] <= 'z')
            && !(name.data[i] == '-' && name.data[i - 1] != '-'))
        {
            return 0;
        }
    }

    return 1;
}

/* Returns the name of the folder with the file. */
static tg_str_t
tg_skill_get_folder(tg_str_t path)
{
    return tg_path_get_base_name(
        tg_str(path.data, path.len - sizeof(TG_SKILL_FILE)));
}

/* Checks the members that every skill has. */
static int
tg_skill_check(tg_str_t json, tg_str_t path, tg_buf_t *why)
{
    tg_str_t name, description, folder;

    folder = tg_skill_get_folder(path);

    if (!tg_skill_is_name(folder)) {
        tg_buf_append_cstr(why, "the folder's name must have 1 to 64 of a-z, "
                                "0-9 and single \"-\" between these; rename "
                                "it");
        return TG_INVALID;
    }

    if (!tg_json_has_member(json, TG_STR("name"), TG_JSON_STRING, &name)
        || !tg_json_string_eq(name, folder))
    {
        tg_buf_printf(why,
                      "its \"name\" must be that of the folder; write \"name: "
                      "%.*s\"",
                      (int) folder.len, folder.data);
        return TG_INVALID;
    }

    if (!tg_json_has_member(json, TG_STR("description"), TG_JSON_STRING,
                            &description)
        || tg_str_eq(description, TG_STR("\"\"")))
    {
        tg_buf_append_cstr(why, "it has no text as \"description\"; write what "
                                "the skill does and when to use it");
        return TG_INVALID;
    }

    return TG_OK;
}

int
tg_skill_parse(tg_str_t text, tg_str_t path, tg_buf_t *json, tg_buf_t *why)
{
    tg_str_t yaml;
    size_t start;
    int rc;

    yaml = tg_skill_find_frontmatter(text);

    if (yaml.data == NULL || yaml.len > TG_SKILL_FRONTMATTER_MAX) {
        tg_buf_append_cstr(why,
                           yaml.data == NULL
                               ? "it has no frontmatter; begin it with a line "
                                 "\"---\", lines with name and description, "
                                 "and a line \"---\""
                               : "its frontmatter has more than 64 KiB");
        return TG_INVALID;
    }

    start = json->len;
    rc = tg_yaml_to_json(yaml, json, why);

    return rc == TG_OK ? tg_skill_check(tg_str_skip(tg_buf_view(json), start),
                                        path, why)
                       : rc;
}

int
tg_skill_load(int root, tg_str_t path, tg_buf_t *json, tg_buf_t *why)
{
    struct stat info;
    tg_buf_t text;
    ssize_t n;
    char *room;
    int fd, rc;

    fd = tg_file_open(root, path.data, &info);

    if (fd == -1) {
        tg_buf_printf(why, "it cannot be read: %s", strerror(errno));
        return TG_INVALID;
    }

    /* What follows the frontmatter is of no interest. */
    tg_buf_init(&text, tg_alloc_libc());
    room = tg_buf_reserve_space(&text, TG_SKILL_FRONTMATTER_MAX + 64);
    n = room != NULL ? pread(fd, room, TG_SKILL_FRONTMATTER_MAX + 64, 0) : 0;
    rc = TG_NOMEM;

    if (room != NULL && n >= 0) {
        rc = tg_skill_parse(tg_str(room, (size_t) n), path, json, why);
    } else if (n < 0) {
        tg_buf_printf(why, "it cannot be read: %s", strerror(errno));
        rc = TG_INVALID;
    }

    (void) close(fd);
    tg_buf_deinit(&text);

    return rc;
}
