/* The command `toolgate trace`: prints the frames of a trace file. */
#include "cli/tg_cli.h"

#include "cli/tg_cli_trace_record.h"
#include "cli/tg_cli_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

/* Number of bytes for one read(). */
#define TG_CLI_TRACE_READ_SIZE 65536
/* Interval of the checks for data and for a new file, in ms. */
#define TG_CLI_TRACE_POLL_MS 100

/* With --follow, the file that had the name before is read, too. */
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
    int64_t connection; /* 0: all */
    int64_t client;
    tg_cli_trace_file_t current_file;
    tg_cli_trace_file_t previous_file;
    tg_buf_t out;
    size_t nskipped; /* bytes outside of whole records */
    int is_trace;    /* a record, or the start of one, was found */
} tg_cli_trace_t;

/* --- selection of records --- */

/* Frames that were lost might have been selected. */
static int
tg_cli_trace_is_record_selected(const tg_cli_trace_t *trace,
                                const tg_cli_trace_record_t *record)
{
    const tg_cli_options_t *options;

    options = trace->options;

    if (record->lost_frames != 0) {
        return 1;
    }

    return (trace->connection == 0
            || record->connection == (uint64_t) trace->connection)
           && (trace->client == 0 || record->client == (uint64_t) trace->client)
           && (!options->is_in || tg_str_eq(record->direction, TG_STR("in")))
           && (!options->is_out || tg_str_eq(record->direction, TG_STR("out")))
           && (options->dialect == NULL
               || tg_str_eq(record->dialect,
                            tg_str_from_cstr(options->dialect)))
           && (options->match == NULL
               || (record->body.len != 0
                   && memmem(record->body.data, record->body.len,
                             options->match, strlen(options->match))
                          != NULL));
}

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

    if (trace->options->is_json) {
        tg_cli_trace_record_write_json(&trace->out, record);
    } else {
        tg_cli_trace_record_append_text(&trace->out, record);
    }

    return trace->out.len >= TG_CLI_TRACE_READ_SIZE ? tg_cli_trace_flush(trace)
                                                    : TG_CLI_EXIT_OK;
}

/* --- parsing of records --- */

/* Returns the offset of the next record, or the length of bytes. */
static size_t
tg_cli_trace_find_next_record(tg_str_t bytes)
{
    size_t i;

    for (i = 1; i < bytes.len; i++) {
        if (tg_cli_trace_record_is_start(tg_str_skip(bytes, i))) {
            break;
        }
    }

    return i;
}

/*
 * A record that was cut, as the disk was full, seems to extend into the next
 * one: another record starts within it, and none at its end.
 */
static int
tg_cli_trace_parse_record(tg_str_t bytes, tg_cli_trace_record_t *record,
                          size_t *len)
{
    int rc;

    rc = tg_cli_trace_record_parse(bytes, record, len);

    if (rc == TG_OK && !tg_cli_trace_record_is_start(tg_str_skip(bytes, *len))
        && tg_cli_trace_find_next_record(tg_str(bytes.data, *len)) != *len)
    {
        rc = TG_INVALID;
    }

    return rc;
}

/* is_end: no more bytes follow an incomplete record. */
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

        bytes = tg_str_skip(bytes, len);
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

/* After a log rotation workers write to the previous file for a while. */
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

static int
tg_cli_trace_check_dialect(const char *dialect)
{
    static const char *const words[] = { "ipc", "jsonrpc", "relay", "auto",
                                         NULL };

    if (dialect == NULL || tg_str_find(tg_str_from_cstr(dialect), words) >= 0) {
        return TG_CLI_EXIT_OK;
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

    if (options->is_in && options->is_out) {
        return tg_cli_error("give either --in or --out, or neither for both "
                            "directions");
    }

    trace.path = options->args[0];

    if (tg_cli_option_parse_integer("--connection", options->connection, 1,
                                    &trace.connection)
            != TG_CLI_EXIT_OK
        || tg_cli_option_parse_integer("--client", options->client, 1,
                                       &trace.client)
               != TG_CLI_EXIT_OK
        || tg_cli_trace_check_dialect(options->dialect) != TG_CLI_EXIT_OK
        || tg_cli_trace_init(&trace) != TG_CLI_EXIT_OK)
    {
        return TG_CLI_EXIT_FAILED;
    }

    status = tg_cli_trace_read_file(&trace, &trace.current_file);

    if (status == TG_CLI_EXIT_OK && options->is_follow) {
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

static const tg_cli_option_t tg_cli_trace_options[] = {
    TG_CLI_FLAG("--follow", 'f', is_follow,
                "wait for new frames until Ctrl-C, even after a log rotation"),
    TG_CLI_OPTION_JSON("print each frame as a JSON object on one line"),
    TG_CLI_FLAG("--in", '\0', is_in, "only frames that clients sent"),
    TG_CLI_FLAG("--out", '\0', is_out, "only frames that clients received"),
    TG_CLI_VALUE("--connection", '\0', "N", connection,
                 "only frames of this connection"),
    TG_CLI_VALUE("--client", '\0', "PID", client,
                 "only frames of this client process"),
    TG_CLI_VALUE("--dialect", '\0', "NAME", dialect,
                 "only frames of this dialect: ipc, jsonrpc, relay, or auto "
                 "(not known yet)"),
    TG_CLI_VALUE("--match", '\0', "TEXT", match,
                 "only frames whose traced part contains TEXT"),
    TG_CLI_OPTIONS_END,
};

const tg_cli_command_t tg_cli_cmd_trace = {
    .name = "trace",
    .synopsis = "trace FILE [-f] [--json] [--in | --out] [--connection N]\n"
                "               [--client PID] [--dialect NAME] "
                "[--match TEXT]",
    .summary = "print the frames of a trace",
    .help = "Prints a file that tool_trace wrote, or standard input (-). Each "
            "line shows a frame: its time, its connection (as in the error "
            "log), the client's process, the direction, the dialect, the size, "
            "and the part of the frame that was traced.",
    .options = tg_cli_trace_options,
    .max_args = 1,
    .missing_arg = "trace which file? (tool_trace in nginx.conf names it)",
    .run = tg_cli_trace_run,
};
