/* The command `toolgate validate`. */
#include "cli/tg_cli.h"

#include "cli/tg_cli_input.h"
#include "cli/tg_cli_schema_loader.h"
#include "cli/tg_cli_output.h"

#include <sys/random.h>

/* TG_CLI_EXIT_FAILED: an instance is not JSON. The highest status wins. */
#define TG_CLI_EXIT_INVALID 1   /* an instance is not valid */
#define TG_CLI_EXIT_NO_SCHEMA 3 /* there is no valid schema */

static int
tg_cli_validate_instance(const tg_schema_t *schema,
                         tg_schema_validator_t *validator, const char *path)
{
    tg_buf_t text, error;
    int rc;

    tg_buf_init(&text, tg_alloc_libc());
    tg_buf_init(&error, tg_alloc_libc());
    rc = tg_cli_input_read_json(path, &text);

    if (rc == TG_CLI_EXIT_OK) {
        rc = tg_schema_validate(schema, validator, tg_buf_view(&text), &error);

        if (rc == TG_NOMEM || tg_buf_has_failed(&error)) {
            rc = tg_cli_error_nomem();

        } else if (rc != TG_OK) {
            (void) tg_cli_error("%s: %.*s", tg_cli_input_get_label(path),
                                (int) error.len, error.data);
            rc = TG_CLI_EXIT_INVALID;
        }
    }

    tg_buf_deinit(&text);
    tg_buf_deinit(&error);

    return rc;
}

/* Validates all instances, and returns the worst exit status. */
static int
tg_cli_validate_instances(const tg_schema_t *schema, char **paths, int npaths)
{
    tg_schema_validator_t *validator;
    int i, rc, worst;
    uint64_t seed;

    /* Without a random seed hashes are predictable, which does no harm here. */
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed)) {
        seed = 0;
    }

    validator = tg_schema_validator_new(tg_alloc_libc(), seed);

    if (validator == NULL) {
        return tg_cli_error_nomem();
    }

    worst = TG_CLI_EXIT_OK;

    for (i = 0; i < npaths; i++) {
        rc = tg_cli_validate_instance(schema, validator, paths[i]);
        worst = rc > worst ? rc : worst;
    }

    tg_schema_validator_free(validator);

    return worst;
}

static int
tg_cli_validate_has_stdin_twice(const tg_cli_options_t *options)
{
    int i, n;

    for (i = n = 0; i < options->nargs; i++) {
        n += strcmp(options->args[i], "-") == 0;
    }

    for (i = 0; (size_t) i < options->nschemas; i++) {
        n += strcmp(options->schemas[i], "-") == 0;
    }

    return n > 1;
}

static int
tg_cli_validate_add_schema(tg_cli_options_t *options, const char *value)
{
    if (options->nschemas == TG_CLI_SCHEMAS_MAX) {
        return tg_cli_error("--schema is given more than %d times",
                            TG_CLI_SCHEMAS_MAX);
    }

    options->schemas[options->nschemas++] = value;

    return TG_CLI_EXIT_OK;
}

static int
tg_cli_validate_run(const tg_cli_options_t *options)
{
    tg_cli_schema_files_t files;
    tg_schema_t *schema;
    int rc;

    if (options->nargs == 0) {
        (void) tg_cli_error(
            "validate needs a schema: a file, or - for standard input (see "
            "toolgate help validate)");
        return TG_CLI_EXIT_NO_SCHEMA;
    }

    if (tg_cli_validate_has_stdin_twice(options)) {
        return tg_cli_error("standard input can be read only once: write - "
                            "once, and give the others as files");
    }

    files = (tg_cli_schema_files_t){
        .path = options->args[0],
        .extra_paths = options->schemas,
        .nextra_paths = options->nschemas,
        .is_format_asserted = options->is_format_asserted,
    };
    schema = tg_cli_schema_load(&files);

    if (schema == NULL) {
        return TG_CLI_EXIT_NO_SCHEMA;
    }

    rc = tg_cli_validate_instances(schema, options->args + 1,
                                   options->nargs - 1);
    tg_schema_free(schema);

    return rc;
}

static const tg_cli_option_t tg_cli_validate_options[] = {
    TG_CLI_FLAG("--formats", '\0', is_format_asserted,
                "reject values that do not match `format`; by default they are "
                "only reported"),
    { "--schema", '\0', "FILE", 0,
      "a further schema, which a $ref can refer to by its $id; may be repeated",
      tg_cli_validate_add_schema },
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_validate = {
    .name = "validate",
    .synopsis = "validate [--formats] [--schema FILE ...] SCHEMA "
                "[INSTANCE ...]",
    .summary = "check a JSON Schema, and JSON against it",
    .help =
        "Checks a schema (JSON Schema 2020-12, or 2019-09 and drafts 7, 6 "
        "and 4 if its $schema says so), and every INSTANCE against it, as "
        "Toolgate checks the arguments of a call. SCHEMA and INSTANCE "
        "are files; - is standard input. Each error on standard error names "
        "the file, the place in it, and the rule.",
    .note =
        "A $ref may refer to another file, relative to the file that contains "
        "it. Nothing is fetched from a network. In nginx.conf, "
        "input_schema_file may refer to other files of its folder; a schema "
        "that is written in nginx.conf must have all definitions in its "
        "\"$defs\".\n\n"
        "Exit status: 0 everything is valid, 1 an instance is not valid, 2 an "
        "instance is not JSON or cannot be read, 3 there is no valid schema.",
    .options = tg_cli_validate_options,
    .run = tg_cli_validate_run,
};
