#include "client/tg_cli_schema.h"

#include "client/tg_cli.h"
#include "client/tg_cli_input.h"
#include "client/tg_cli_text.h"
#include "schema/tg_schema_uri.h"
#include "regex/tg_regex.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    tg_buf_t text; /* of the document that was asked for last */
    tg_buf_t why;  /* what it lacks */
} tg_cli_library_t;

/* --- other documents --- */

static int
tg_cli_library_bad(tg_cli_library_t *library, const char *why)
{
    tg_buf_text(&library->why, why);

    return TG_BAD;
}

/* The file's name; no UTF-8 where the schema's own folder has none. */
static int
tg_cli_library_path(tg_cli_library_t *library, tg_str_t uri, tg_buf_t *path)
{
    tg_uri_t parts;

    if (tg_uri_parse(uri, &parts) != TG_OK) {
        return TG_MISSING;
    }

    /* Core's own base, for a schema that is from nowhere. */
    if (tg_str_eq(parts.scheme, TG_STR("schema"))) {
        return tg_cli_library_bad(library, "this schema is in no folder that "
                                           "a $ref could lead from; give it "
                                           "as a file");
    }

    if (!tg_str_eq(parts.scheme, TG_STR("file"))) {
        return TG_MISSING;
    }

    if ((parts.authority.len != 0
         && !tg_str_eq(parts.authority, TG_STR("localhost")))
        || parts.query.data != NULL)
    {
        return tg_cli_library_bad(library, "no file here is called that");
    }

    (void) tg_uri_put_decoded(path, parts.path);
    tg_buf_char(path, '\0');

    if (tg_buf_failed(path)) {
        return TG_NOMEM;
    }

    if (strlen(path->data) + 1 != path->len) {
        return tg_cli_library_bad(library, "no file's name has %00 in it");
    }

    return TG_OK;
}

/* Anything but a regular file might never end, or do something when read. */
static int
tg_cli_library_read(tg_cli_library_t *library, const char *path)
{
    const char *why;
    struct stat st;
    int fd, rc;

    rc = TG_BAD;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st) != 0) {
        why = strerror(errno);

    } else if (!S_ISREG(st.st_mode)) {
        why = "not a regular file";

    } else {
        rc = tg_cli_input_drain(fd, TG_SCHEMA_BYTES, &library->text);
        why = rc == TG_LIMIT ? "too large for a schema" : strerror(errno);
    }

    if (fd >= 0) {
        (void) close(fd);
    }

    if (rc == TG_OK || rc == TG_NOMEM) {
        return rc;
    }

    tg_buf_printf(&library->why, "%s: %s", path, why);

    return TG_BAD;
}

static int
tg_cli_library_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    tg_cli_library_t *library;
    tg_buf_t path;
    int rc;

    library = ctx;
    tg_buf_truncate(&library->why, 0);
    tg_buf_truncate(&library->text, 0);
    tg_buf_init(&path, tg_alloc_libc());
    rc = tg_cli_library_path(library, uri, &path);

    if (rc == TG_OK) {
        rc = tg_cli_library_read(library, path.data);
        *raw = tg_buf_view(&library->text);
    }

    tg_buf_deinit(&path);

    return rc;
}

/* --- the schema itself --- */

static void
tg_cli_schema_put_path(tg_buf_t *uri, const char *path)
{
    unsigned char c;

    for (/* void */; (c = (unsigned char) *path) != '\0'; path++) {
        if (isalnum(c) || strchr("/-._~!$&'()*+,;=:@", c) != NULL) {
            tg_buf_char(uri, (char) c);
        } else {
            tg_buf_printf(uri, "%%%02X", c);
        }
    }
}

/*
 * Appends the URI of a file; nothing when what is there is none.  The folder
 * is looked up, so that `..` in a $ref leads where it would lead from there;
 * a link to the schema itself stays one.
 */
static void
tg_cli_schema_put_uri(tg_buf_t *uri, const char *path)
{
    char *folder, *real;
    const char *name;
    struct stat st;

    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
    {
        return;
    }

    name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    folder = strndup(path, (size_t) (name - path));
    real = folder == NULL ? NULL : realpath(name != path ? folder : ".", NULL);

    if (real != NULL) {
        tg_buf_text(uri, "file://");
        tg_cli_schema_put_path(uri, real);
        tg_buf_text(uri, real[1] != '\0' ? "/" : "");
        tg_cli_schema_put_path(uri, name);
    }

    free(real);
    free(folder);
}

static void
tg_cli_schema_mistake(const char *path, const tg_buf_t *error, tg_buf_t *why)
{
    if (error->len == 0) {
        (void) tg_cli_nomem();
        return;
    }

    (void) tg_cli_error("%s: %.*s%s%.*s%s", tg_cli_input_name(path),
                        (int) error->len, error->data,
                        why->len != 0 ? " (" : "", (int) why->len,
                        tg_buf_view(why).data, why->len != 0 ? ")" : "");
}

tg_schema_t *
tg_cli_schema_load(const char *path, int is_format_asserted)
{
    tg_schema_options_t options;
    tg_cli_library_t library;
    tg_buf_t text, error, uri;
    tg_schema_t *schema;

    memset(&options, 0, sizeof(options));
    tg_buf_init(&library.text, tg_alloc_libc());
    tg_buf_init(&library.why, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_init(&uri, tg_alloc_libc());
    schema = NULL;

    if (tg_cli_input_json(path, &text) == TG_CLI_DONE) {
        tg_cli_schema_put_uri(&uri, path);
        options.regex = tg_regex_pcre2();
        options.resolve = tg_cli_library_resolve;
        options.resolve_ctx = &library;
        options.base_uri = tg_buf_view(&uri);
        options.is_format_asserted = is_format_asserted;
        schema = tg_schema_compile(tg_alloc_libc(), tg_buf_view(&text),
                                   &options, &error);

        if (schema == NULL) {
            tg_cli_schema_mistake(path, &error, &library.why);
        }
    }

    tg_buf_deinit(&library.text);
    tg_buf_deinit(&library.why);
    tg_buf_deinit(&text);
    tg_buf_deinit(&error);
    tg_buf_deinit(&uri);

    return schema;
}
