#include "client/tg_cli_schema.h"

#include "client/tg_cli.h"
#include "client/tg_cli_input.h"
#include "client/tg_cli_text.h"
#include "schema/tg_schema_draft.h"
#include "schema/tg_schema_uri.h"
#include "regex/tg_regex.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    tg_buf_t id; /* its absolute URI */
    tg_buf_t text;
} tg_cli_known_t;

typedef struct {
    tg_buf_t text; /* of the document that was asked for last */
    tg_buf_t why;  /* what it lacks */
    tg_cli_known_t known[TG_CLI_SCHEMAS_MAX];
    size_t nknown;
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

static const tg_cli_known_t *
tg_cli_library_find(const tg_cli_library_t *library, tg_str_t uri)
{
    size_t i;

    for (i = 0; i < library->nknown; i++) {
        if (tg_str_eq(tg_buf_view(&library->known[i].id), uri)) {
            return &library->known[i];
        }
    }

    return NULL;
}

static int
tg_cli_library_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    const tg_cli_known_t *known;
    tg_cli_library_t *library;
    tg_buf_t path;
    int rc;

    library = ctx;
    known = tg_cli_library_find(library, uri);

    if (known != NULL) {
        *raw = tg_buf_view(&known->text);
        return TG_OK;
    }

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

/* --- URIs of files --- */

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

/* --- schemas that are known by their $id --- */

/*
 * Appends what a schema is called, by itself: TG_OK; TG_MISSING: it is called
 * nothing; TG_BAD: its $id is no URI, or relative to nothing.
 */
static int
tg_cli_schema_put_id(tg_buf_t *id, const char *path, tg_str_t text)
{
    tg_buf_t own, folder;
    tg_uri_t base, uri;
    tg_str_t raw;
    int rc;

    if (!tg_json_has(text,
                     tg_schema_draft_of(text) == TG_SCHEMA_DRAFT_4
                         ? TG_STR("id")
                         : TG_STR("$id"),
                     TG_JSON_STRING, &raw))
    {
        return TG_MISSING;
    }

    tg_buf_init(&own, tg_alloc_libc());
    tg_buf_init(&folder, tg_alloc_libc());
    tg_json_put_decoded(&own, tg_json_body(raw));
    tg_cli_schema_put_uri(&folder, path);
    (void) tg_uri_parse(tg_buf_view(&folder), &base);
    rc = tg_uri_parse(tg_buf_view(&own), &uri);

    if (rc == TG_OK) {
        tg_uri_resolve(&base, &uri, id);
        rc = tg_uri_parse(tg_buf_view(id), &uri);
        rc = rc == TG_OK && uri.scheme.data == NULL ? TG_BAD : rc;
    }

    id->failed |= own.failed | folder.failed;
    tg_buf_deinit(&own);
    tg_buf_deinit(&folder);

    return rc;
}

static int
tg_cli_schema_twice(const char *path, tg_str_t id)
{
    return tg_cli_error("%s has the same \"$id\" as another schema: %.*s",
                        tg_cli_input_name(path), (int) id.len, id.data);
}

static int
tg_cli_library_add(tg_cli_library_t *library, const char *path)
{
    tg_cli_known_t *known;
    tg_str_t id;
    int rc;

    known = &library->known[library->nknown];
    tg_buf_init(&known->id, tg_alloc_libc());
    tg_buf_init(&known->text, tg_alloc_libc());
    rc = tg_cli_input_json(path, &known->text);

    if (rc == TG_CLI_DONE) {
        rc = tg_cli_schema_put_id(&known->id, path, tg_buf_view(&known->text));
        id = tg_buf_view(&known->id);

        if (tg_buf_failed(&known->id)) {
            rc = tg_cli_nomem();

        } else if (rc != TG_OK) {
            rc = tg_cli_error("%s needs an \"$id\" by which a $ref finds it, "
                              "such as \"https://example.com/name.json\"; "
                              "a $ref to a file needs no --schema",
                              tg_cli_input_name(path));

        } else if (tg_cli_library_find(library, id) != NULL) {
            rc = tg_cli_schema_twice(path, id);
        }
    }

    library->nknown++;

    return rc;
}

/* --- the schema itself --- */

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

/* TG_CLI_DONE, unless it is called as another one. */
static int
tg_cli_schema_check_id(const tg_cli_library_t *library, const char *path,
                       tg_str_t text)
{
    tg_buf_t id;
    int rc;

    tg_buf_init(&id, tg_alloc_libc());
    rc = TG_CLI_DONE;

    if (tg_cli_schema_put_id(&id, path, text) == TG_OK
        && tg_cli_library_find(library, tg_buf_view(&id)) != NULL)
    {
        rc = tg_cli_schema_twice(path, tg_buf_view(&id));
    }

    tg_buf_deinit(&id);

    return rc;
}

static tg_schema_t *
tg_cli_schema_compile(const tg_cli_schema_files_t *files,
                      tg_cli_library_t *library, tg_str_t text)
{
    tg_schema_options_t options;
    tg_buf_t error, uri;
    tg_schema_t *schema;

    memset(&options, 0, sizeof(options));
    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_init(&uri, tg_alloc_libc());
    tg_cli_schema_put_uri(&uri, files->path);
    options.regex = tg_regex_pcre2();
    options.resolve = tg_cli_library_resolve;
    options.resolve_ctx = library;
    options.base_uri = tg_buf_view(&uri);
    options.is_format_asserted = files->is_format_asserted;
    schema = tg_schema_compile(tg_alloc_libc(), text, &options, &error);

    if (schema == NULL) {
        tg_cli_schema_mistake(files->path, &error, &library->why);
    }

    tg_buf_deinit(&error);
    tg_buf_deinit(&uri);

    return schema;
}

tg_schema_t *
tg_cli_schema_load(const tg_cli_schema_files_t *files)
{
    tg_cli_library_t library;
    tg_schema_t *schema;
    tg_buf_t text;
    size_t i;
    int rc;

    library.nknown = 0;
    tg_buf_init(&library.text, tg_alloc_libc());
    tg_buf_init(&library.why, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    rc = TG_CLI_DONE;

    for (i = 0; rc == TG_CLI_DONE && i < files->nothers; i++) {
        rc = tg_cli_library_add(&library, files->others[i]);
    }

    rc = rc == TG_CLI_DONE ? tg_cli_input_json(files->path, &text) : rc;
    rc = rc == TG_CLI_DONE
             ? tg_cli_schema_check_id(&library, files->path, tg_buf_view(&text))
             : rc;
    schema = rc == TG_CLI_DONE
                 ? tg_cli_schema_compile(files, &library, tg_buf_view(&text))
                 : NULL;

    for (i = 0; i < library.nknown; i++) {
        tg_buf_deinit(&library.known[i].id);
        tg_buf_deinit(&library.known[i].text);
    }

    tg_buf_deinit(&library.text);
    tg_buf_deinit(&library.why);
    tg_buf_deinit(&text);

    return schema;
}
