/*
 * How a call ended: what a handler hands to the peer that waits for it.
 */
#ifndef TG_OUTCOME_H
#define TG_OUTCOME_H

#include "base/tg_json_walk.h"
#include "catalog/tg_catalog.h"

/*
 * Why a call has no result; each dialect has its own word for each, and
 * tg_failure_name() ours.
 */
typedef enum {
    TG_FAILURE_NONE,
    TG_FAILURE_UNKNOWN,   /* no such tool, or not for this caller */
    TG_FAILURE_ARGUMENTS, /* arguments do not fit the schema */
    TG_FAILURE_PROGRAM,   /* the handler ran and said no */
    TG_FAILURE_TIMEOUT,   /* the deadline passed */
    TG_FAILURE_LOST,      /* the backend or the runner went away */
    TG_FAILURE_BUSY,      /* a limit on calls was reached */
    TG_FAILURE_ENDED,     /* the operator ended it */
    TG_FAILURE_OUTPUT,    /* the handler's output cannot be delivered */
    TG_FAILURE_INTERNAL,  /* our own fault: memory, a wrong config */
    TG_FAILURE_SIZE       /* core's own: no message carries the answer */
} tg_failure_t;

typedef enum {
    TG_OUTCOME_TEXT,   /* value is plain text, valid UTF-8 */
    TG_OUTCOME_BODY,   /* value is an escaped JSON string body */
    TG_OUTCOME_JSON,   /* value is a validated JSON value */
    TG_OUTCOME_RESULT, /* value is a validated MCP CallToolResult */
    TG_OUTCOME_FAILURE /* value is plain text: what happened, what to do */
} tg_outcome_type_t;

typedef struct {
    tg_outcome_type_t kind;
    tg_failure_t failure;
    tg_str_t value; /* borrowed until the answer was written */
    tg_str_t meta;  /* raw object for a tool's result, likewise; or absent */

    /* Of a failure that is an error of somebody's who speaks JSON-RPC. */
    int has_code;
    int64_t code;  /* some servers have 0 */
    tg_str_t data; /* raw or absent */
} tg_outcome_t;

/* What whoever ran a call tells of that, besides its outcome. */
typedef struct {
    int64_t queued_ms; /* until its turn came; negative: not known */
    int64_t ran_ms;    /* likewise */
    int has_exited;    /* its program did, with the status exit */
    int64_t exit;
    int64_t signal; /* that ended its program; 0: none did */
    tg_str_t rule;  /* the directive by which it failed; or absent */
} tg_run_stats_t;

/* No failure. */
static inline tg_outcome_t
tg_outcome_make(tg_outcome_type_t kind, tg_str_t value)
{
    return (tg_outcome_t){ .kind = kind, .value = value };
}

tg_outcome_t tg_outcome_make_text(tg_str_t text);
tg_outcome_t tg_outcome_make_failure(tg_failure_t failure, const char *text);

/* The same with a text that was written. */
tg_outcome_t tg_outcome_make_failure_str(tg_failure_t failure, tg_str_t text);

/* The failure of everybody whom memory was refused. */
#define TG_TEXT_NO_MEMORY "Toolgate has no memory left; try again."
tg_outcome_t tg_outcome_make_no_memory(void);

/*
 * Turns what a handler put out into an outcome, as the entry's output mode
 * says; a wrong output becomes TG_FAILURE_OUTPUT with a text that says so.
 */
tg_outcome_t tg_outcome_parse_output(const tg_catalog_entry_t *entry,
                                     tg_str_t bytes);

/*
 * Levels around an output in the deepest reply: batch, envelope, result.
 * Deeper than TG_JSON_MAX_DEPTH in all, the receiver would drop the reply.
 */
#define TG_REPLY_DEPTH 3

/* The check of a whole result in steps, as it may be large. */
typedef struct {
    int is_lenient; /* from an MCP server: its client checks the blocks */
    tg_str_t raw;
    tg_json_walk_t walk;
    int is_object;
    int has_content;         /* an array */
    int is_content;          /* the blocks are walked */
    int is_input_required;   /* resultType is another one than complete */
    const char *why_content; /* NULL: nothing is wrong, as far as it was seen */
    const char *why_error;
    const char *why_structured;
} tg_tool_result_check_t;

/* Begins the check of an output, which outlives it. */
void tg_tool_result_check_begin(tg_tool_result_check_t *check, tg_str_t bytes,
                                int is_lenient);

/*
 * Checks so many bytes, and the block that they end in: TG_AGAIN; or TG_OK,
 * with the outcome, as tg_outcome_output() has it.
 */
int tg_tool_result_check_step(tg_tool_result_check_t *check, size_t bytes,
                              tg_outcome_t *outcome);

/* As tg_json_validate(), of what stands in a reply. */
int tg_outcome_check_json(tg_str_t bytes);

/* JSON may stand between blanks and newlines; a value does not. */
tg_str_t tg_outcome_trim(tg_str_t bytes);

/* The failure of an output whose scan ended with rc. */
tg_outcome_t tg_outcome_make_not_json(int rc);

/* What a message quotes of an output that is wrong. */
#define TG_OUTCOME_QUOTE_MAX 200

/*
 * Has a failure of tg_outcome_output() say whose output it is, and how that
 * begins; text takes it.  Other outcomes stay as they are.
 */
void tg_outcome_explain(tg_outcome_t *outcome, tg_str_t tool, tg_str_t bytes,
                        tg_buf_t *text);

/* Does it nest too deep for some replies?  Then it becomes that failure. */
int tg_outcome_is_too_deep(tg_str_t raw);
tg_outcome_t tg_outcome_make_too_deep(void);

/* "timeout"; "ok" where there is none. */
const char *tg_failure_name(tg_failure_t failure);

/*
 * An outcome as one process says it to another:
 *
 *   {"text":"…"}   {"json":…}   {"result":…}
 *   {"failure":"timeout","message":"…"}, with "code" and "data" if it has them
 *
 * each with "meta" if it has that.
 *
 * The object is left open: more members may follow, and then its end.
 */
void tg_outcome_write_json(tg_buf_t *json, const tg_outcome_t *outcome);

/*
 * Append the same in pieces: what stands before the value; len bytes of the
 * value from its byte `at` on; what stands after it.
 */
void tg_outcome_write_begin(tg_buf_t *json, const tg_outcome_t *outcome);
void tg_outcome_write_part(tg_buf_t *json, const tg_outcome_t *outcome,
                           size_t at, size_t len);
void tg_outcome_write_end(tg_buf_t *json, const tg_outcome_t *outcome);

/*
 * The bytes that a reply needs at least for a part of an outcome's value,
 * in every dialect that has all of it; of TEXT as escaped.
 */
size_t tg_outcome_min_size(tg_outcome_type_t kind, tg_str_t part);

/* Appends why an answer of size bytes cannot be sent on a connection. */
void tg_outcome_write_too_large(tg_buf_t *text, size_t size, size_t limit);

/* Appends members about that: `,"queued_ms":0,"ran_ms":12,"exit":0`. */
void tg_run_stats_write_json(tg_buf_t *json, const tg_run_stats_t *ran);

/*
 * Reads both; scratch takes what must be decoded, and the outcome lives as
 * long as both.  What no member tells stays in *ran as it is.
 */
tg_outcome_t tg_outcome_parse_json(tg_str_t raw, tg_buf_t *scratch,
                                   tg_run_stats_t *ran);

/*
 * Does a raw result ask for something first (input_required)?  Clients of the
 * legacy era do not know that.
 */
int tg_tool_result_is_input_required(tg_str_t raw);

/* The members of a result that decide how a client is sent it. */
typedef struct {
    int is_input_required;     /* as tg_tool_result_is_input_required() */
    int is_error;              /* as tg_tool_result_is_error() */
    tg_json_type_t structured; /* of structuredContent */
} tg_tool_result_view_t;

/* Reads these members of a validated result in one pass. */
void tg_tool_result_read_view(tg_str_t raw, tg_tool_result_view_t *view);

/* Does a raw result say itself that the tool has failed? */
int tg_tool_result_is_error(tg_str_t raw);

/* Appends the texts of a raw result's text blocks, one a line, escaped. */
void tg_tool_result_write_texts(tg_buf_t *out, tg_str_t raw);
size_t tg_tool_result_texts_size(tg_str_t raw);

/* The bytes that these texts have at least when they are decoded. */
size_t tg_tool_result_texts_min_size(tg_str_t raw);

#endif
