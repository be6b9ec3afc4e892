/* Loads schemas from files, and resolves their references to other schemas. */
#include "cli/tg_cli_schema_loader.h"

#include "cli/tg_cli.h"
#include "cli/tg_cli_input.h"
#include "cli/tg_cli_json.h"
#include "cli/tg_cli_output.h"
#include "schema/tg_schema_draft.h"
#include "schema/tg_uri.h"
#include "schema/pcre2/tg_pcre2.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    tg_buf_t id; /* absolute URI */
    tg_buf_t text;
} tg_cli_known_schema_t;

typedef struct {
    tg_buf_t text; /* text of the last requested document */
    tg_buf_t why;  /* reason why that document cannot be used */
    tg_cli_known_schema_t known[TG_CLI_SCHEMAS_MAX];
    size_t nknown;
} tg_cli_schema_registry_t;

/* --- referenced documents --- */

static int
tg_cli_schema_registry_set_error(tg_cli_schema_registry_t *registry,
                                 const char *why)
{
    tg_buf_append_cstr(&registry->why, why);

    return TG_INVALID;
}

/*
 * Returns TG_OK, TG_MISSING if uri is not a file: URI, TG_INVALID or TG_NOMEM.
 */
static int
tg_cli_schema_registry_get_path(tg_cli_schema_registry_t *registry,
                                tg_str_t uri, tg_buf_t *path)
{
    tg_uri_t parts;

    if (tg_uri_parse(uri, &parts) != TG_OK) {
        return TG_MISSING;
    }

    /* The compiler's base URI for a schema without a file. */
    if (tg_str_eq(parts.scheme, TG_STR("schema"))) {
        return tg_cli_schema_registry_set_error(
            registry, "this schema is not in a folder, which a relative $ref "
                      "needs; give it as a file");
    }

    if (!tg_str_eq(parts.scheme, TG_STR("file"))) {
        return TG_MISSING;
    }

    if ((parts.authority.len != 0
         && !tg_str_eq(parts.authority, TG_STR("localhost")))
        || parts.query.data != NULL)
    {
        return tg_cli_schema_registry_set_error(registry,
                                                "no file of that name here");
    }

    (void) tg_uri_append_decoded(path, parts.path);
    tg_buf_append_char(path, '\0');

    if (tg_buf_has_failed(path)) {
        return TG_NOMEM;
    }

    if (strlen(path->data) + 1 != path->len) {
        return tg_cli_schema_registry_set_error(
            registry, "a file name cannot contain %00");
    }

    return TG_OK;
}

/* Reading other files might never end or have side effects. */
static int
tg_cli_schema_registry_read_file(tg_cli_schema_registry_t *registry,
                                 const char *path)
{
    const char *why;
    struct stat st;
    int fd, rc;

    rc = TG_INVALID;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &st) != 0) {
        why = strerror(errno);

    } else if (!S_ISREG(st.st_mode)) {
        why = "not a regular file";

    } else {
        rc = tg_cli_input_read_fd(fd, TG_SCHEMA_MAX_BYTES, &registry->text);
        why = rc == TG_LIMIT ? "too large for a schema" : strerror(errno);
    }

    if (fd >= 0) {
        (void) close(fd);
    }

    if (rc == TG_OK || rc == TG_NOMEM) {
        return rc;
    }

    tg_buf_printf(&registry->why, "%s: %s", path, why);

    return TG_INVALID;
}

static const tg_cli_known_schema_t *
tg_cli_schema_registry_find(const tg_cli_schema_registry_t *registry,
                            tg_str_t uri)
{
    size_t i;

    for (i = 0; i < registry->nknown; i++) {
        if (tg_str_eq(tg_buf_view(&registry->known[i].id), uri)) {
            return &registry->known[i];
        }
    }

    return NULL;
}

static int
tg_cli_schema_registry_resolve(void *ctx, tg_str_t uri, tg_str_t *raw)
{
    const tg_cli_known_schema_t *known;
    tg_cli_schema_registry_t *registry;
    tg_buf_t path;
    int rc;

    registry = ctx;
    known = tg_cli_schema_registry_find(registry, uri);

    if (known != NULL) {
        *raw = tg_buf_view(&known->text);
        return TG_OK;
    }

    tg_buf_truncate(&registry->why, 0);
    tg_buf_truncate(&registry->text, 0);
    tg_buf_init(&path, tg_alloc_libc());
    rc = tg_cli_schema_registry_get_path(registry, uri, &path);

    if (rc == TG_OK) {
        rc = tg_cli_schema_registry_read_file(registry, path.data);
        *raw = tg_buf_view(&registry->text);
    }

    tg_buf_deinit(&path);

    return rc;
}

/* --- file: URIs --- */

static void
tg_cli_uri_append_path(tg_buf_t *uri, const char *path)
{
    unsigned char c;

    for (/* void */; (c = (unsigned char) *path) != '\0'; path++) {
        if (isalnum(c) || strchr("/-._~!$&'()*+,;=:@", c) != NULL) {
            tg_buf_append_char(uri, (char) c);
        } else {
            tg_buf_printf(uri, "%%%02X", c);
        }
    }
}

/*
 * Symbolic links of the folder are resolved, so that `..` in a $ref means the
 * real parent; a link to the schema itself is not. Other files have no URI.
 */
static void
tg_cli_uri_append_file(tg_buf_t *uri, const char *path)
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
        tg_buf_append_cstr(uri, "file://");
        tg_cli_uri_append_path(uri, real);
        tg_buf_append_cstr(uri, real[1] != '\0' ? "/" : "");
        tg_cli_uri_append_path(uri, name);
    }

    free(real);
    free(folder);
}

/* --- schemas with an $id --- */

/* Returns TG_OK, TG_MISSING if there is no $id, or TG_INVALID. */
static int
tg_cli_schema_append_id(tg_buf_t *id, const char *path, tg_str_t text)
{
    tg_uri_t base, uri;
    json_object *schema;
    tg_buf_t folder;
    tg_str_t own;
    int rc;

    schema = NULL;
    (void) tg_cli_json_parse(text, &schema);
    own = tg_cli_json_get_text(schema,
                               tg_schema_draft_detect(text) == TG_SCHEMA_DRAFT_4
                                   ? "id"
                                   : "$id");

    if (own.data == NULL) {
        json_object_put(schema);
        return TG_MISSING;
    }

    tg_buf_init(&folder, tg_alloc_libc());
    tg_cli_uri_append_file(&folder, path);
    (void) tg_uri_parse(tg_buf_view(&folder), &base);
    rc = tg_uri_parse(own, &uri);

    if (rc == TG_OK) {
        tg_uri_resolve(&base, &uri, id);
        rc = tg_uri_parse(tg_buf_view(id), &uri);
        rc = rc == TG_OK && uri.scheme.data == NULL ? TG_INVALID : rc;
    }

    id->failed |= folder.failed;
    tg_buf_deinit(&folder);
    json_object_put(schema);

    return rc;
}

static int
tg_cli_schema_report_duplicate_id(const char *path, tg_str_t id)
{
    return tg_cli_error("%s has the same \"$id\" as another schema: %.*s",
                        tg_cli_input_get_label(path), (int) id.len, id.data);
}

static int
tg_cli_schema_registry_add_file(tg_cli_schema_registry_t *registry,
                                const char *path)
{
    tg_cli_known_schema_t *known;
    tg_str_t id;
    int rc;

    known = &registry->known[registry->nknown];
    tg_buf_init(&known->id, tg_alloc_libc());
    tg_buf_init(&known->text, tg_alloc_libc());
    rc = tg_cli_input_read_json(path, &known->text);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_cli_schema_append_id(&known->id, path,
                                     tg_buf_view(&known->text));
        id = tg_buf_view(&known->id);

        if (tg_buf_has_failed(&known->id)) {
            rc = tg_cli_error_nomem();

        } else if (rc != TG_OK) {
            rc = tg_cli_error("%s needs an \"$id\" for a $ref to refer to, "
                              "such as \"https://example.com/name.json\"; a "
                              "$ref to a file needs no --schema",
                              tg_cli_input_get_label(path));

        } else if (tg_cli_schema_registry_find(registry, id) != NULL) {
            rc = tg_cli_schema_report_duplicate_id(path, id);
        }
    }

    registry->nknown++;

    return rc;
}

/* --- main schema --- */

static void
tg_cli_schema_report_error(const char *path, const tg_buf_t *error,
                           tg_buf_t *why)
{
    if (error->len == 0) {
        (void) tg_cli_error_nomem();
        return;
    }

    (void) tg_cli_error("%s: %.*s%s%.*s%s", tg_cli_input_get_label(path),
                        (int) error->len, error->data,
                        why->len != 0 ? " (" : "", (int) why->len,
                        tg_buf_view(why).data, why->len != 0 ? ")" : "");
}

static int
tg_cli_schema_check_unique_id(const tg_cli_schema_registry_t *registry,
                              const char *path, tg_str_t text)
{
    tg_buf_t id;
    int rc;

    tg_buf_init(&id, tg_alloc_libc());
    rc = TG_CLI_EXIT_OK;

    if (tg_cli_schema_append_id(&id, path, text) == TG_OK
        && tg_cli_schema_registry_find(registry, tg_buf_view(&id)) != NULL)
    {
        rc = tg_cli_schema_report_duplicate_id(path, tg_buf_view(&id));
    }

    tg_buf_deinit(&id);

    return rc;
}

static tg_schema_t *
tg_cli_schema_compile(const tg_cli_schema_files_t *files,
                      tg_cli_schema_registry_t *registry, tg_str_t text)
{
    tg_schema_options_t options;
    tg_buf_t error, uri;
    tg_schema_t *schema;

    memset(&options, 0, sizeof(options));
    tg_buf_init(&error, tg_alloc_libc());
    tg_buf_init(&uri, tg_alloc_libc());
    tg_cli_uri_append_file(&uri, files->path);
    options.regex = tg_pcre2_get_engine();
    options.resolve = tg_cli_schema_registry_resolve;
    options.resolve_ctx = registry;
    options.base_uri = tg_buf_view(&uri);
    options.is_format_asserted = files->is_format_asserted;
    schema = tg_schema_compile(tg_alloc_libc(), text, &options, &error);

    if (schema == NULL) {
        tg_cli_schema_report_error(files->path, &error, &registry->why);
    }

    tg_buf_deinit(&error);
    tg_buf_deinit(&uri);

    return schema;
}

tg_schema_t *
tg_cli_schema_load(const tg_cli_schema_files_t *files)
{
    tg_cli_schema_registry_t registry;
    tg_schema_t *schema;
    tg_buf_t text;
    size_t i;
    int rc;

    registry.nknown = 0;
    tg_buf_init(&registry.text, tg_alloc_libc());
    tg_buf_init(&registry.why, tg_alloc_libc());
    tg_buf_init(&text, tg_alloc_libc());
    rc = TG_CLI_EXIT_OK;

    for (i = 0; rc == TG_CLI_EXIT_OK && i < files->nextra_paths; i++) {
        rc = tg_cli_schema_registry_add_file(&registry, files->extra_paths[i]);
    }

    rc = rc == TG_CLI_EXIT_OK ? tg_cli_input_read_json(files->path, &text) : rc;
    rc = rc == TG_CLI_EXIT_OK
             ? tg_cli_schema_check_unique_id(&registry, files->path,
                                             tg_buf_view(&text))
             : rc;
    schema = rc == TG_CLI_EXIT_OK
                 ? tg_cli_schema_compile(files, &registry, tg_buf_view(&text))
                 : NULL;

    for (i = 0; i < registry.nknown; i++) {
        tg_buf_deinit(&registry.known[i].id);
        tg_buf_deinit(&registry.known[i].text);
    }

    tg_buf_deinit(&registry.text);
    tg_buf_deinit(&registry.why);
    tg_buf_deinit(&text);

    return schema;
}
