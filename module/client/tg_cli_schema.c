#include "client/tg_cli_schema.h"

#include "client/tg_cli.h"
#include "client/tg_cli_input.h"
#include "client/tg_cli_text.h"
#include "schema/tg_schema_uri.h"
#include "regex/tg_regex.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct tg_cli_document_s tg_cli_document_t;

struct tg_cli_document_s {
    tg_cli_document_t *next;
    tg_buf_t uri;
    tg_buf_t text;
};

/* What was read for a schema; all of it lives until that is compiled. */
typedef struct {
    tg_cli_document_t *documents;
    size_t nbytes;
    tg_buf_t why; /* what the last document that was asked for lacks */
} tg_cli_library_t;

/* --- other documents --- */

static void
tg_cli_document_free(tg_cli_document_t *document)
{
    tg_buf_deinit(&document->uri);
    tg_buf_deinit(&document->text);
    free(document);
}

static void
tg_cli_library_deinit(tg_cli_library_t *library)
{
    tg_cli_document_t *document;

    while ((document = library->documents) != NULL) {
        library->documents = document->next;
        tg_cli_document_free(document);
    }

    tg_buf_deinit(&library->why);
}

static int
tg_cli_library_bad(tg_cli_library_t *library, const char *why)
{
    tg_buf_text(&library->why, why);

    return TG_BAD;
}

static int
tg_cli_library_fail(tg_cli_library_t *library, const char *path,
                    const char *why)
{
    tg_buf_text(&library->why, path);
    tg_buf_text(&library->why, ": ");

    return tg_cli_library_bad(library, why);
}

/*
 * The name of the file.  It may be no UTF-8, when the schema's own folder is
 * not.
 */
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
tg_cli_library_open(tg_cli_library_t *library, const char *path, int *out)
{
    struct stat st;
    int fd;

    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0) {
        return tg_cli_library_fail(library, path, strerror(errno));
    }

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        (void) close(fd);
        return tg_cli_library_fail(library, path, "not a regular file");
    }

    *out = fd;

    return TG_OK;
}

static int
tg_cli_library_read(tg_cli_library_t *library, tg_str_t uri, tg_buf_t *text)
{
    tg_buf_t path;
    int fd, rc;

    fd = -1;
    tg_buf_init(&path, tg_alloc_libc());
    rc = tg_cli_library_path(library, uri, &path);

    if (rc == TG_OK) {
        rc = tg_cli_library_open(library, path.data, &fd);
    }

    if (rc == TG_OK) {
        rc = tg_cli_input_drain(fd, TG_SCHEMA_BYTES - library->nbytes, text);

        if (rc == TG_LIMIT) {
            rc = tg_cli_library_fail(library, path.data,
                                     "too large for a schema");
        } else if (rc == TG_BAD) {
            rc = tg_cli_library_fail(library, path.data, strerror(errno));
        }

        (void) close(fd);
    }

    tg_buf_deinit(&path);

    return rc;
}

static int
tg_cli_library_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    tg_cli_document_t *document;
    tg_cli_library_t *library;
    int rc;

    library = ctx;
    tg_buf_truncate(&library->why, 0);

    for (document = library->documents; document != NULL;
         document = document->next) {
        if (tg_str_eq(tg_buf_view(&document->uri), uri)) {
            *raw = tg_buf_view(&document->text);
            return TG_OK;
        }
    }

    document = calloc(1, sizeof(*document));

    if (document == NULL) {
        return TG_NOMEM;
    }

    tg_buf_init(&document->uri, tg_alloc_libc());
    tg_buf_init(&document->text, tg_alloc_libc());
    tg_buf_str(&document->uri, uri);
    rc = tg_buf_failed(&document->uri)
             ? TG_NOMEM
             : tg_cli_library_read(library, uri, &document->text);

    if (rc != TG_OK) {
        tg_cli_document_free(document);
        return rc;
    }

    document->next = library->documents;
    library->documents = document;
    library->nbytes += document->text.len;
    *raw = tg_buf_view(&document->text);

    return TG_OK;
}

/* --- the schema itself --- */

static void
tg_cli_schema_put_path(tg_buf_t *uri, const char *path)
{
    static const char hex[] = "0123456789ABCDEF";
    unsigned char c;

    for (/* void */; (c = (unsigned char) *path) != '\0'; path++) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
            || (c >= '0' && c <= '9')
            || strchr("/-._~!$&'()*+,;=:@", c) != NULL)
        {
            tg_buf_char(uri, (char) c);
        } else {
            tg_buf_char(uri, '%');
            tg_buf_char(uri, hex[c >> 4]);
            tg_buf_char(uri, hex[c & 15]);
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

    tg_buf_char(why, '\0');
    tg_cli_error("%s: %.*s%s%s%s", tg_cli_input_name(path), (int) error->len,
                 error->data, why->len > 1 ? " (" : "",
                 why->len > 1 ? why->data : "", why->len > 1 ? ")" : "");
}

tg_schema_t *
tg_cli_schema_load(const char *path, int is_format_asserted)
{
    tg_schema_options_t options;
    tg_cli_library_t library;
    tg_buf_t text, error, uri;
    tg_schema_t *schema;

    memset(&library, 0, sizeof(library));
    memset(&options, 0, sizeof(options));
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

    tg_cli_library_deinit(&library);
    tg_buf_deinit(&text);
    tg_buf_deinit(&error);
    tg_buf_deinit(&uri);

    return schema;
}
