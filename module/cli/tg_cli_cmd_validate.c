/*
 * The command `toolgate validate`: validates a schema and arguments in the way
 * Toolgate does, for authors of tools.
 */
#include "cli/tg_cli.h"

#include "cli/tg_cli_input.h"
#include "cli/tg_cli_schema_loader.h"
#include "cli/tg_cli_output.h"

#include <sys/random.h>

/*
 * Further exit statuses of `validate`.  TG_CLI_EXIT_FAILED stands for an
 * instance that is not JSON or cannot be read.  A higher status is the worse
 * one.
 */
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

    /*
     * Without a random seed hashes are predictable, which does no harm here.
     */
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

/* Checks whether standard input is named more than once. */
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
        .is_format_asserted = (options->given & TG_CLI_OPT_FORMATS) != 0,
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

const tg_cli_command_t tg_cli_cmd_validate = {
    .name = "validate",
    .synopsis = "validate [--formats] [--schema FILE ...] SCHEMA "
                "[INSTANCE ...]",
    .summary = "check a JSON Schema, and JSON against it",
    .help = "Checks a schema (JSON Schema 2020-12, or 2019-09 and drafts 7, 6 "
            "and 4 where its\n$schema names one), and every INSTANCE against "
            "it, just as Toolgate checks the\narguments of a call. Both are "
            "files; - is standard input.\nWhat is wrong is said on "
            "standard error: which one, where in it, and the rule.\n\n"
            "  --formats          `format` decides too; else it is a remark\n"
            "  --schema FILE      a further schema, which a $ref finds by its "
            "$id\n\n"
            "A $ref may lead to another file, relative to the one that it is "
            "in. Nothing is\never fetched from a network. In nginx.conf, "
            "input_schema_file may refer to other\nfiles of its folder; a "
            "schema that stands there itself has all under \"$defs\".\n\n"
            "Exit status: 0 all is valid, 1 an instance is not, 2 an instance "
            "is no JSON or\ncannot be read, 3 there is no valid schema.\n",
    .options = TG_CLI_OPT_FORMATS | TG_CLI_OPT_SCHEMA,
    .run = tg_cli_validate_run,
};
