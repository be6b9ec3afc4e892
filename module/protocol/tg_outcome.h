/*
 * The outcome of a call: what a handler returns to the peer that waits for it.
 */
#ifndef TG_OUTCOME_H
#define TG_OUTCOME_H

#include "base/tg_json_walk.h"
#include "catalog/tg_catalog.h"

/*
 * Reason why a call has no result. Each dialect reports it in its own way;
 * tg_failure_name() returns the internal name.
 */
typedef enum {
    TG_FAILURE_NONE,
    TG_FAILURE_UNKNOWN,   /* no such tool, or not allowed for this client */
    TG_FAILURE_ARGUMENTS, /* arguments do not match the schema */
    TG_FAILURE_PROGRAM,   /* the handler ran and reported an error */
    TG_FAILURE_TIMEOUT,   /* the timeout expired */
    TG_FAILURE_LOST,      /* the backend or the runner exited or disconnected */
    TG_FAILURE_BUSY,      /* a limit on calls was reached */
    TG_FAILURE_ENDED,     /* the operator cancelled the call */
    TG_FAILURE_OUTPUT,    /* the handler's output cannot be sent */
    TG_FAILURE_INTERNAL,  /* internal error: memory, invalid config */
    TG_FAILURE_SIZE       /* set by the peer only: the response is too large */
} tg_failure_t;

typedef enum {
    TG_OUTCOME_TEXT, /* value is plain text, valid UTF-8 */
    TG_OUTCOME_BODY, /* value is an escaped JSON string body */
    TG_OUTCOME_JSON, /* value is a validated JSON value */
    /* value is a validated whole result, such as a CallToolResult */
    TG_OUTCOME_RESULT,
    TG_OUTCOME_BLOB,   /* value is base64 of the bytes of a resource */
    TG_OUTCOME_FAILURE /* value is plain text: what happened, what to do */
} tg_outcome_type_t;

typedef struct {
    tg_outcome_type_t kind;
    tg_failure_t failure;
    tg_str_t value; /* borrowed until the response is written */
    /*
     * raw object for the _meta of a tool's result, borrowed until the response
     * is written; or absent
     */
    tg_str_t meta;

    /* The failure is a JSON-RPC error with this code. */
    int has_code;
    int64_t code;  /* may be 0, as some servers send it */
    tg_str_t data; /* raw or absent */
} tg_outcome_t;

/* How a call ran, as reported by the process that ran it. */
typedef struct {
    int64_t queued_ms; /* time in the queue in ms; negative: unknown */
    int64_t ran_ms;    /* run time in ms; negative: unknown */
    int has_exited;    /* the program exited; `exit` is its status */
    int64_t exit;
    int64_t signal; /* signal that ended the program; 0: none */
    tg_str_t rule;  /* directive that made the call fail, or absent */
} tg_run_stats_t;

/* Returns an outcome that is not a failure. value is borrowed. */
static inline tg_outcome_t
tg_outcome_make(tg_outcome_type_t kind, tg_str_t value)
{
    return (tg_outcome_t){ .kind = kind, .value = value };
}

tg_outcome_t tg_outcome_make_text(tg_str_t text);
tg_outcome_t tg_outcome_make_failure(tg_failure_t failure, const char *text);

/*
 * Returns a failure with a text that is borrowed until the response is written.
 */
tg_outcome_t tg_outcome_make_failure_str(tg_failure_t failure, tg_str_t text);

/* Message of the failure when memory runs out. */
#define TG_TEXT_NO_MEMORY "Toolgate has no memory left; try again."
tg_outcome_t tg_outcome_make_no_memory(void);

/*
 * Turns a handler's output into an outcome, according to the entry's output
 * mode. Invalid output becomes TG_FAILURE_OUTPUT with a text that says why.
 * The outcome borrows bytes.
 */
tg_outcome_t tg_outcome_parse_output(const tg_catalog_entry_t *entry,
                                     tg_str_t bytes);

/*
 * Nesting levels around an output in the deepest reply: batch, envelope,
 * result. The total must not exceed TG_JSON_MAX_DEPTH, or the receiver drops
 * the reply.
 */
#define TG_REPLY_DEPTH 3

/* State of the stepwise check of a result, which may be large. */
typedef struct {
    int is_lenient; /* result of an MCP server: its client checks the blocks */
    tg_str_t raw;
    tg_json_walk_t walk;
    int is_object;
    int has_content;         /* "content" is an array */
    int is_content;          /* the walk is within "content" */
    int is_input_required;   /* resultType is present and not "complete" */
    const char *why_content; /* error found in "content" so far, or NULL */
    const char *why_error;
    const char *why_structured;
} tg_tool_result_check_t;

/* Begins the check of an output. bytes must outlive the check. */
void tg_tool_result_check_begin(tg_tool_result_check_t *check, tg_str_t bytes,
                                int is_lenient);

/*
 * Checks the next `bytes` bytes, and the rest of the block in which they end.
 * TG_AGAIN while more is left; TG_OK at the end: *outcome is the outcome, as
 * tg_outcome_parse_output() returns it.
 */
int tg_tool_result_check_step(tg_tool_result_check_t *check, size_t bytes,
                              tg_outcome_t *outcome);

/*
 * Validates JSON that becomes part of a reply, so that TG_REPLY_DEPTH levels
 * are added to its depth. Return values: see tg_json_validate().
 */
int tg_outcome_check_json(tg_str_t bytes);

/*
 * Removes leading and trailing white space, which JSON allows around a value.
 */
tg_str_t tg_outcome_trim(tg_str_t bytes);

/* Returns the failure of an output whose validation returned rc. */
tg_outcome_t tg_outcome_make_not_json(int rc);

/* Largest number of bytes of an invalid output that a message quotes. */
#define TG_OUTCOME_QUOTE_MAX 200

/*
 * Extends the text of a failure from tg_outcome_parse_output(): the tool's name
 * before it, the beginning of the output after it. The new text is stored in
 * text, which must outlive the outcome. Other outcomes stay unchanged.
 */
void tg_outcome_explain(tg_outcome_t *outcome, tg_str_t tool, tg_str_t bytes,
                        tg_buf_t *text);

/* Checks whether a raw value nests too deeply for some replies. */
int tg_outcome_is_too_deep(tg_str_t raw);

/* Returns the failure of an output that nests too deeply. */
tg_outcome_t tg_outcome_make_too_deep(void);

/*
 * Returns the name of a failure, such as "timeout"; "ok" for TG_FAILURE_NONE.
 */
const char *tg_failure_name(tg_failure_t failure);

/*
 * Appends an outcome as JSON, for another process:
 *
 *   {"text":"…"}   {"json":…}   {"result":…}   {"blob":"…"}
 *   {"failure":"timeout","message":"…"}, with "code" and "data" if present
 *
 * each with "meta" if present. The object is left open: the caller may append
 * members, and then closes it.
 */
void tg_outcome_write_json(tg_buf_t *json, const tg_outcome_t *outcome);

/* Appends the part of tg_outcome_write_json() before the value. */
void tg_outcome_write_begin(tg_buf_t *json, const tg_outcome_t *outcome);

/*
 * Appends len bytes of the value from offset `at` on, for
 * tg_outcome_write_json() in pieces.
 */
void tg_outcome_write_part(tg_buf_t *json, const tg_outcome_t *outcome,
                           size_t at, size_t len);

/* Appends the part of tg_outcome_write_json() after the value. */
void tg_outcome_write_end(tg_buf_t *json, const tg_outcome_t *outcome);

/*
 * Returns the minimum size in bytes of a part of an outcome's value within a
 * reply, in every dialect that sends the whole value. A TEXT counts as
 * escaped.
 */
size_t tg_outcome_min_size(tg_outcome_type_t kind, tg_str_t part);

/*
 * Appends the message that a response of size bytes exceeds the connection's
 * limit.
 */
void tg_outcome_write_too_large(tg_buf_t *text, size_t size, size_t limit);

/*
 * Appends the run statistics as members: `,"queued_ms":0,"ran_ms":12,"exit":0`.
 */
void tg_run_stats_write_json(tg_buf_t *json, const tg_run_stats_t *ran);

/*
 * Parses the JSON of an outcome and its run statistics. Decoded text is
 * appended to scratch; the outcome is valid as long as raw and scratch.
 * Members that are absent leave *ran unchanged.
 */
tg_outcome_t tg_outcome_parse_json(tg_str_t raw, tg_buf_t *scratch,
                                   tg_run_stats_t *ran);

/*
 * Checks whether a raw result requests input first (input_required), which
 * clients of the legacy era do not support.
 */
int tg_tool_result_is_input_required(tg_str_t raw);

/* Members of a result that decide how it is sent to a client. */
typedef struct {
    int is_input_required;     /* see tg_tool_result_is_input_required() */
    int is_error;              /* see tg_tool_result_is_error() */
    tg_json_type_t structured; /* type of structuredContent */
} tg_tool_result_view_t;

/*
 * Reads the members of a tg_tool_result_view_t from a validated result, in one
 * pass.
 */
void tg_tool_result_read_view(tg_str_t raw, tg_tool_result_view_t *view);

/* Checks whether a raw result has "isError": true. */
int tg_tool_result_is_error(tg_str_t raw);

/*
 * Appends the texts of a raw result's text blocks, separated by line breaks, as
 * an escaped body.
 */
void tg_tool_result_write_texts(tg_buf_t *out, tg_str_t raw);

/* Returns the size in bytes of what tg_tool_result_write_texts() appends. */
size_t tg_tool_result_texts_size(tg_str_t raw);

/*
 * Returns the minimum size in bytes of a raw result's texts after unescaping.
 */
size_t tg_tool_result_texts_min_size(tg_str_t raw);

#endif
