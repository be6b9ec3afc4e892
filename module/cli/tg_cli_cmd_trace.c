/*
 * The command `toolgate trace`: prints the frames of a trace file.
 */
#include "cli/tg_cli.h"

#include "cli/tg_cli_trace_record.h"
#include "cli/tg_cli_output.h"
#include "base/tg_utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Number of bytes for one read(). */
#define TG_CLI_TRACE_READ_SIZE 65536
/*
 * Interval of the checks for new data and for a new file of this name, in ms.
 */
#define TG_CLI_TRACE_POLL_MS 100

/*
 * A trace file; with --follow, the file that had the name before is read, too.
 */
typedef struct {
    int fd; /* -1: none */
    dev_t dev;
    ino_t ino;
    off_t offset; /* number of bytes read */
    tg_buf_t bytes;
} tg_cli_trace_file_t;

typedef struct {
    const tg_cli_options_t *options;
    const char *path;
    uint64_t connection; /* 0: all */
    uint64_t client;
    tg_cli_trace_file_t current_file;
    tg_cli_trace_file_t previous_file;
    tg_buf_t out;
    size_t nskipped; /* bytes outside of whole records */
    int is_trace;    /* a record, or the start of one, was found */
} tg_cli_trace_t;

/* --- one record --- */

static void
tg_cli_trace_append_time(tg_buf_t *out, uint64_t us, int is_utc)
{
    char text[64];
    struct tm tm;
    time_t t;

    t = (time_t) (us / 1000000);

    if ((is_utc ? gmtime_r(&t, &tm) : localtime_r(&t, &tm)) != NULL
        && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) != 0)
    {
        tg_buf_printf(out, "%s.%06u%s", text, (unsigned) (us % 1000000),
                      is_utc ? "Z" : "");
    }
}

static void
tg_cli_trace_append_text(tg_buf_t *out, const tg_cli_trace_record_t *record)
{
    tg_cli_trace_append_time(out, record->time, 0);

    if (record->lost_frames != 0) {
        tg_buf_printf(out, " worker %llu lost %llu %s\n",
                      (unsigned long long) record->worker,
                      (unsigned long long) record->lost_frames,
                      tg_pick_plural(record->lost_frames, "frame", "frames"));
        return;
    }

    tg_buf_printf(out, " *%llu", (unsigned long long) record->connection);

    if (record->client != 0) {
        tg_buf_printf(out, " %llu", (unsigned long long) record->client);
    } else {
        tg_buf_append_cstr(out, " -");
    }

    tg_buf_printf(out, " %-3.*s ", (int) record->direction.len,
                  record->direction.data != NULL ? record->direction.data : "");
    tg_utf8_append_visible(out, record->dialect, 1);
    tg_buf_printf(out, " %llu", (unsigned long long) record->size);

    if (record->body.len != 0) {
        tg_buf_append_char(out, ' ');
        tg_utf8_append_visible(out, record->body, 1);
    }

    if (record->is_truncated
        || (record->body.len != 0 && record->body.len < record->size))
    {
        tg_buf_append_cstr(out, "...");
    }

    tg_buf_append_char(out, '\n');
}

static void
tg_cli_trace_append_number(tg_buf_t *out, const char *key, uint64_t n)
{
    tg_buf_printf(out, ",\"%s\":%llu", key, (unsigned long long) n);
}

static void
tg_cli_trace_append_string(tg_buf_t *out, const char *key, tg_str_t text)
{
    tg_buf_t valid;

    tg_buf_init(&valid, out->alloc);
    tg_utf8_append_lossy(&valid, text);
    tg_buf_printf(out, ",\"%s\":", key);
    tg_json_write_string(out, tg_buf_view(&valid));
    out->failed |= valid.failed;
    tg_buf_deinit(&valid);
}

static void
tg_cli_trace_write_json(tg_buf_t *out, const tg_cli_trace_record_t *record)
{
    tg_buf_append_cstr(out, "{\"time\":\"");
    tg_cli_trace_append_time(out, record->time, 1);
    tg_buf_append_char(out, '"');
    tg_cli_trace_append_number(out, "worker", record->worker);

    if (record->lost_frames != 0) {
        tg_cli_trace_append_number(out, "lost", record->lost_frames);
        tg_buf_append_cstr(out, "}\n");
        return;
    }

    tg_cli_trace_append_number(out, "connection", record->connection);

    if (record->client != 0) {
        tg_cli_trace_append_number(out, "client", record->client);
    }

    tg_cli_trace_append_string(out, "direction", record->direction);
    tg_cli_trace_append_string(out, "dialect", record->dialect);
    tg_cli_trace_append_number(out, "size", record->size);

    if (record->is_truncated) {
        tg_json_add_bool(out, "cut", 1);
    }

    if (record->body.data != NULL) {
        tg_cli_trace_append_string(out, "body", record->body);
    }

    tg_buf_append_cstr(out, "}\n");
}

/* --- selection of records --- */

/*
 * Checks whether a record is selected by the options.  A record of lost frames
 * always is, since they might have been selected.
 */
static int
tg_cli_trace_is_record_selected(const tg_cli_trace_t *trace,
                                const tg_cli_trace_record_t *record)
{
    const tg_cli_options_t *options;

    options = trace->options;

    if (record->lost_frames != 0) {
        return 1;
    }

    return (trace->connection == 0 || record->connection == trace->connection)
           && (trace->client == 0 || record->client == trace->client)
           && (!(options->given & TG_CLI_OPT_IN)
               || tg_str_eq(record->direction, TG_STR("in")))
           && (!(options->given & TG_CLI_OPT_OUT)
               || tg_str_eq(record->direction, TG_STR("out")))
           && (options->dialect == NULL
               || tg_str_eq(record->dialect,
                            tg_str_from_cstr(options->dialect)))
           && (options->match == NULL
               || (record->body.len != 0
                   && memmem(record->body.data, record->body.len,
                             options->match, strlen(options->match))
                          != NULL));
}

/* Writes the collected output.  Returns the exit status of a failure. */
static int
tg_cli_trace_flush(tg_cli_trace_t *trace)
{
    int status;

    if (tg_buf_has_failed(&trace->out)) {
        return tg_cli_error_nomem();
    }

    tg_cli_print(stdout, tg_buf_view(&trace->out));
    tg_buf_truncate(&trace->out, 0);
    status = tg_cli_flush_stdout(TG_CLI_EXIT_OK);

    return status;
}

static int
tg_cli_trace_print_record(tg_cli_trace_t *trace,
                          const tg_cli_trace_record_t *record)
{
    if (!tg_cli_trace_is_record_selected(trace, record)) {
        return TG_CLI_EXIT_OK;
    }

    if (trace->options->given & TG_CLI_OPT_JSON) {
        tg_cli_trace_write_json(&trace->out, record);
    } else {
        tg_cli_trace_append_text(&trace->out, record);
    }

    return trace->out.len >= TG_CLI_TRACE_READ_SIZE ? tg_cli_trace_flush(trace)
                                                    : TG_CLI_EXIT_OK;
}

/* --- parsing of records --- */

/*
 * Returns the offset where the next record may start, or the length of bytes.
 */
static size_t
tg_cli_trace_find_next_record(tg_str_t bytes)
{
    size_t i;

    for (i = 1; i < bytes.len; i++) {
        if (tg_cli_trace_record_is_start(tg_str(bytes.data + i, bytes.len - i)))
        {
            break;
        }
    }

    return i;
}

/*
 * Parses the record at the start of bytes; returns the values of
 * tg_cli_trace_record_parse().  A record that was cut, because the disk was
 * full, seems to extend into the next one.  Such a record is invalid: another
 * record starts within it, and none at its end.
 */
static int
tg_cli_trace_parse_record(tg_str_t bytes, tg_cli_trace_record_t *record,
                          size_t *len)
{
    int rc;

    rc = tg_cli_trace_record_parse(bytes, record, len);

    if (rc == TG_OK
        && !tg_cli_trace_record_is_start(
            tg_str(bytes.data + *len, bytes.len - *len))
        && tg_cli_trace_find_next_record(tg_str(bytes.data, *len)) != *len)
    {
        rc = TG_INVALID;
    }

    return rc;
}

/*
 * Prints the complete records.  With is_end, an incomplete record is skipped,
 * since no more bytes will follow.
 */
static int
tg_cli_trace_process_records(tg_cli_trace_t *trace, tg_cli_trace_file_t *file,
                             int is_end)
{
    tg_cli_trace_record_t record;
    tg_str_t bytes;
    size_t len;
    int rc, status;

    status = TG_CLI_EXIT_OK;
    bytes = tg_buf_view(&file->bytes);

    while (bytes.len != 0 && status == TG_CLI_EXIT_OK) {
        rc = tg_cli_trace_parse_record(bytes, &record, &len);
        trace->is_trace |= tg_cli_trace_record_is_start(bytes);

        if (rc == TG_AGAIN && !is_end) {
            break;
        }

        if (rc == TG_OK) {
            status = tg_cli_trace_print_record(trace, &record);
        } else {
            len = tg_cli_trace_find_next_record(bytes);
            trace->nskipped += len;
        }

        bytes.data += len;
        bytes.len -= len;
    }

    tg_buf_consume(&file->bytes, file->bytes.len - bytes.len);

    return status;
}

/* --- files --- */

static void
tg_cli_trace_file_close(tg_cli_trace_file_t *file)
{
    if (file->fd > STDERR_FILENO) {
        (void) close(file->fd);
    }

    tg_buf_deinit(&file->bytes);
    file->fd = -1;
}

/* Opens a trace file.  Returns TG_OK, or TG_INVALID with errno set. */
static int
tg_cli_trace_file_open(tg_cli_trace_file_t *file, const char *path)
{
    struct stat st;
    int fd;

    fd = strcmp(path, "-") == 0 ? STDIN_FILENO
                                : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd == -1 || fstat(fd, &st) != 0) {
        return TG_INVALID;
    }

    memset(file, 0, sizeof(*file));
    file->fd = fd;
    file->dev = st.st_dev;
    file->ino = st.st_ino;
    tg_buf_init(&file->bytes, tg_alloc_libc());

    return TG_OK;
}

/* Reads a file up to its end.  Returns the exit status. */
static int
tg_cli_trace_read_file(tg_cli_trace_t *trace, tg_cli_trace_file_t *file)
{
    ssize_t n;
    int status;

    do {
        if (tg_buf_reserve(&file->bytes, TG_CLI_TRACE_READ_SIZE) != TG_OK) {
            return tg_cli_error_nomem();
        }

        n = read(file->fd, file->bytes.data + file->bytes.len,
                 TG_CLI_TRACE_READ_SIZE);

        if (n < 0 && errno != EINTR) {
            return tg_cli_error("cannot read %s: %s", trace->path,
                                strerror(errno));
        }

        if (n > 0) {
            file->bytes.len += (size_t) n;
            file->offset += n;
        }

        status = tg_cli_trace_process_records(trace, file, 0);
    } while (n != 0 && status == TG_CLI_EXIT_OK);

    return status;
}

/* Reads a file from its start again if it was truncated. */
static void
tg_cli_trace_file_rewind(tg_cli_trace_file_t *file)
{
    struct stat st;

    if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode)
        && st.st_size < file->offset && lseek(file->fd, 0, SEEK_SET) == 0)
    {
        file->offset = 0;
        tg_buf_truncate(&file->bytes, 0);
    }
}

/*
 * Opens a new file of the trace's name, after a log rotation.  Workers
 * continue to write to the previous file until they reopen the logs.
 */
static int
tg_cli_trace_switch_file(tg_cli_trace_t *trace)
{
    tg_cli_trace_file_t next;
    struct stat st;

    if (stat(trace->path, &st) != 0
        || (st.st_dev == trace->current_file.dev
            && st.st_ino == trace->current_file.ino)
        || tg_cli_trace_file_open(&next, trace->path) != TG_OK)
    {
        return TG_CLI_EXIT_OK;
    }

    if (trace->previous_file.fd != -1) {
        tg_cli_trace_file_close(&trace->previous_file);
    }

    trace->previous_file = trace->current_file;
    trace->current_file = next;

    return tg_cli_trace_read_file(trace, &trace->current_file);
}

static int
tg_cli_trace_follow(tg_cli_trace_t *trace)
{
    int status;

    do {
        status = tg_cli_trace_flush(trace);

        if (status != TG_CLI_EXIT_OK) {
            return status;
        }

        (void) poll(NULL, 0, TG_CLI_TRACE_POLL_MS);
        tg_cli_trace_file_rewind(&trace->current_file);

        if (trace->previous_file.fd != -1) {
            status = tg_cli_trace_read_file(trace, &trace->previous_file);
        }

        if (status == TG_CLI_EXIT_OK) {
            status = tg_cli_trace_read_file(trace, &trace->current_file);
        }

        if (status == TG_CLI_EXIT_OK) {
            status = tg_cli_trace_switch_file(trace);
        }
    } while (status == TG_CLI_EXIT_OK);

    return status;
}

/* Handles the rest of a file that is read once.  Returns the exit status. */
static int
tg_cli_trace_finish(tg_cli_trace_t *trace)
{
    int status;

    status = tg_cli_trace_process_records(trace, &trace->current_file, 1);

    if (status == TG_CLI_EXIT_OK) {
        status = tg_cli_trace_flush(trace);
    }

    if (status != TG_CLI_EXIT_OK || trace->nskipped == 0) {
        return status;
    }

    if (!trace->is_trace) {
        return tg_cli_error("%s is not a trace; tool_trace in nginx.conf "
                            "names the file",
                            trace->path);
    }

    (void) tg_cli_error("%zu %s of %s %s not part of a complete record",
                        trace->nskipped,
                        tg_pick_plural(trace->nskipped, "byte", "bytes"),
                        trace->path,
                        tg_pick_plural(trace->nskipped, "is", "are"));

    return TG_CLI_EXIT_OK;
}

/* --- command --- */

/*
 * Parses a number from 1 on.  Returns TG_CLI_EXIT_OK, or TG_CLI_EXIT_FAILED
 * after reporting an error.
 */
static int
tg_cli_trace_parse_number(const char *option, const char *text,
                          uint64_t *number)
{
    char *end;

    if (text == NULL) {
        return TG_CLI_EXIT_OK;
    }

    errno = 0;
    *number = strtoull(text, &end, 10);

    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0
                   && *number != 0
               ? TG_CLI_EXIT_OK
               : tg_cli_error("%s must be a positive integer, not \"%s\"",
                              option, text);
}

static int
tg_cli_trace_check_dialect(const char *dialect)
{
    static const char *const words[] = { "ipc", "jsonrpc", "relay", "auto" };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (dialect == NULL || strcmp(dialect, words[i]) == 0) {
            return TG_CLI_EXIT_OK;
        }
    }

    return tg_cli_error("--dialect must be ipc, jsonrpc, relay, or auto (not "
                        "known yet), not \"%s\"",
                        dialect);
}

static int
tg_cli_trace_init(tg_cli_trace_t *trace)
{
    trace->previous_file.fd = -1;
    tg_buf_init(&trace->out, tg_alloc_libc());

    return tg_cli_trace_file_open(&trace->current_file, trace->path) == TG_OK
               ? TG_CLI_EXIT_OK
               : tg_cli_error("cannot open %s: %s", trace->path,
                              strerror(errno));
}

static int
tg_cli_trace_run(const tg_cli_options_t *options)
{
    tg_cli_trace_t trace;
    int status;

    memset(&trace, 0, sizeof(trace));
    trace.options = options;

    if (!tg_cli_trace_record_is_supported()) {
        return tg_cli_error("this build cannot read traces, since it was "
                            "built without msgpack-c; run apt-get install "
                            "libmsgpack-dev, then ./build.sh build and "
                            "install again");
    }

    if (options->nargs != 1) {
        return tg_cli_error("trace which file? (tool_trace in nginx.conf "
                            "names it)");
    }

    if ((options->given & TG_CLI_OPT_IN) && (options->given & TG_CLI_OPT_OUT)) {
        return tg_cli_error("give either --in or --out, or neither for both "
                            "directions");
    }

    trace.path = options->args[0];

    if (tg_cli_trace_parse_number("--connection", options->connection,
                                  &trace.connection)
            != TG_CLI_EXIT_OK
        || tg_cli_trace_parse_number("--client", options->client, &trace.client)
               != TG_CLI_EXIT_OK
        || tg_cli_trace_check_dialect(options->dialect) != TG_CLI_EXIT_OK
        || tg_cli_trace_init(&trace) != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    status = tg_cli_trace_read_file(&trace, &trace.current_file);

    if (status == TG_CLI_EXIT_OK && (options->given & TG_CLI_OPT_FOLLOW)) {
        status = tg_cli_trace_follow(&trace);
    } else if (status == TG_CLI_EXIT_OK) {
        status = tg_cli_trace_finish(&trace);
    }

    tg_cli_trace_file_close(&trace.current_file);

    if (trace.previous_file.fd != -1) {
        tg_cli_trace_file_close(&trace.previous_file);
    }

    tg_buf_deinit(&trace.out);

    return status;
}

const tg_cli_command_t tg_cli_cmd_trace = {
    .name = "trace",
    .synopsis = "trace FILE [-f] [--json] [--in | --out] [--connection N]\n"
                "               [--client PID] [--dialect NAME] "
                "[--match TEXT]",
    .summary = "print the frames of a trace",
    .help = "Prints a file that tool_trace wrote, a line for each frame: when "
            "it came or went,\nits connection (as the error log has it), the "
            "client's process, its direction,\ndialect and size, and as much "
            "of it as was traced.  FILE may be `-`.\n\n"
            "  -f, --follow       go on with what is written, until Ctrl-C; "
            "also when the\n                     logs are opened anew\n"
            "  --json             a JSON object a line\n"
            "  --in, --out        what clients sent, or got\n"
            "  --connection N     of one connection\n"
            "  --client PID       of one process\n"
            "  --dialect NAME     ipc, jsonrpc, relay; auto: not known yet\n"
            "  --match TEXT       what has this text, as far as was traced\n",
    .options = TG_CLI_OPT_JSON | TG_CLI_OPT_FOLLOW | TG_CLI_OPT_IN
               | TG_CLI_OPT_OUT | TG_CLI_OPT_TRACE_FILTER,
    .run = tg_cli_trace_run,
};
