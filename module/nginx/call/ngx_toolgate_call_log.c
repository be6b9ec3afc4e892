/*
 * The lines about a call, at its one end: in the logs of calls, and in the
 * error log where somebody should act on it.
 */
#include "nginx/call/ngx_toolgate_call.h"
#include "nginx/log/ngx_toolgate_log.h"

/* The nearest that there is: NULL or empty, none. */
static const ngx_array_t *
ngx_toolgate_logs_of(const ngx_toolgate_tool_t *tool,
                     const ngx_toolgate_srv_conf_t *scf)
{
    const ngx_toolgate_tool_t *block;

    for (block = tool != NULL ? tool->block : NULL; block != NULL;
         block = block->group)
    {
        if (block->logs != NULL) {
            return block->logs;
        }
    }

    return scf->logs;
}

ngx_int_t
ngx_toolgate_call_keep_for_log(ngx_toolgate_call_t *call,
                               const ngx_toolgate_tool_t *tool,
                               tg_str_t arguments)
{
    const ngx_toolgate_log_t *log;
    const ngx_array_t *logs;
    ngx_uint_t i;
    char *copy;

    logs = ngx_toolgate_logs_of(tool, call->front->conf);

    if (logs == NULL || logs->nelts == 0) {
        return NGX_OK;
    }

    /* Of one that is gone nobody can ask the kernel any more. */
    (void) ngx_toolgate_client(call->front);
    log = logs->elts;

    for (i = 0; i < logs->nelts && !log[i].needs_arguments; i++) {
        /* void */
    }

    if (i == logs->nelts || arguments.data == NULL) {
        return NGX_OK;
    }

    copy = ngx_pnalloc(call->pool, arguments.len);

    if (copy == NULL) {
        return NGX_ERROR;
    }

    ngx_memcpy(copy, arguments.data, arguments.len);
    call->arguments = tg_str(copy, arguments.len);

    return NGX_OK;
}

/* --- our own formats --- */

/* What stands in a line of ours, in its order. */
typedef struct {
    tg_buf_t *line;
    ngx_uint_t is_json;
} ngx_toolgate_writer_t;

static void
ngx_toolgate_put_key(const ngx_toolgate_writer_t *writer, const char *key)
{
    tg_buf_text(writer->line, writer->is_json ? ",\"" : " ");
    tg_buf_text(writer->line, key);
    tg_buf_text(writer->line, writer->is_json ? "\":" : "=");
}

static void
ngx_toolgate_put_none(const ngx_toolgate_writer_t *writer)
{
    tg_buf_text(writer->line, writer->is_json ? "null" : "-");
}

/* A word of ours, without anything to escape; NULL: there is none. */
static void
ngx_toolgate_put_word(const ngx_toolgate_writer_t *writer, const char *key,
                      const char *word)
{
    ngx_toolgate_put_key(writer, key);

    if (word == NULL) {
        ngx_toolgate_put_none(writer);
    } else if (writer->is_json) {
        tg_json_put_string(writer->line, tg_str_c(word));
    } else {
        tg_buf_text(writer->line, word);
    }
}

/* A text of the client's, always quoted; absent or empty: none. */
static void
ngx_toolgate_put_quoted(const ngx_toolgate_writer_t *writer, const char *key,
                        tg_str_t text)
{
    ngx_toolgate_put_key(writer, key);

    if (text.len == 0) {
        ngx_toolgate_put_none(writer);
    } else {
        tg_buf_char(writer->line, '"');
        ngx_toolgate_log_put(writer->line, NGX_TOOLGATE_ESCAPE_JSON, text);
        tg_buf_char(writer->line, '"');
    }
}

/* Negative: it is not known. */
static void
ngx_toolgate_put_number(const ngx_toolgate_writer_t *writer, const char *key,
                        int64_t number)
{
    ngx_toolgate_put_key(writer, key);

    if (number < 0) {
        ngx_toolgate_put_none(writer);
    } else {
        tg_buf_int(writer->line, number);
    }
}

/* Seconds; negative ms: not known. */
static void
ngx_toolgate_put_time(const ngx_toolgate_writer_t *writer, const char *key,
                      int64_t ms)
{
    ngx_toolgate_put_key(writer, key);

    if (ms < 0) {
        ngx_toolgate_put_none(writer);
        return;
    }

    tg_buf_int(writer->line, ms / 1000);
    tg_buf_char(writer->line, '.');
    tg_buf_char(writer->line, (char) ('0' + ms / 100 % 10));
    tg_buf_char(writer->line, (char) ('0' + ms / 10 % 10));
    tg_buf_char(writer->line, (char) ('0' + ms % 10));
}

static void
ngx_toolgate_put_raw(const ngx_toolgate_writer_t *writer, const char *key,
                     tg_str_t raw)
{
    ngx_toolgate_put_key(writer, key);

    if (raw.data == NULL) {
        ngx_toolgate_put_none(writer);
    } else {
        ngx_toolgate_log_put_json(writer->line, raw);
    }
}

static void
ngx_toolgate_put_client(const ngx_toolgate_writer_t *writer,
                        ngx_toolgate_front_t *front)
{
    const ngx_toolgate_client_t *client;

    client = ngx_toolgate_client(front);
    ngx_toolgate_put_quoted(writer, "client", front->peer.client);
    ngx_toolgate_put_number(writer, "pid",
                            client != NULL ? (int64_t) client->pid : -1);
    ngx_toolgate_put_number(writer, "uid",
                            client != NULL ? (int64_t) client->uid : -1);
    ngx_toolgate_put_number(writer, "gid",
                            client != NULL ? (int64_t) client->gid : -1);
}

static void
ngx_toolgate_put_ours(const ngx_toolgate_writer_t *writer,
                      const ngx_toolgate_call_t *call,
                      const ngx_toolgate_record_t *record)
{
    const tg_reply_t *reply;

    reply = &call->request->reply;
    tg_buf_text(writer->line, writer->is_json ? "{\"time\":\"" : "");
    tg_buf_put(writer->line, (char *) ngx_cached_http_log_iso8601.data,
               ngx_cached_http_log_iso8601.len);
    tg_buf_text(writer->line, writer->is_json ? "\"" : "");

    ngx_toolgate_put_quoted(writer,
                            reply->kind == TG_ENTRY_METHOD ? "method" : "tool",
                            call->entry != NULL ? call->entry->name
                                                : call->name);
    ngx_toolgate_put_word(writer, "status", ngx_toolgate_end_name(record->end));
    ngx_toolgate_put_word(writer, "rule", ngx_toolgate_rule_name(record->rule));
    ngx_toolgate_put_number(writer, "exit", record->exit);
    ngx_toolgate_put_number(writer, "signal",
                            record->signal != 0 ? record->signal : -1);
    ngx_toolgate_put_time(writer, "queue", record->queued);
    ngx_toolgate_put_time(writer, "run", record->ran);
    ngx_toolgate_put_time(writer, "total", (int64_t) record->time);
    ngx_toolgate_put_number(writer, "in", (int64_t) record->bytes_in);
    ngx_toolgate_put_number(writer, "out", (int64_t) record->bytes_out);
    ngx_toolgate_put_word(writer, "protocol",
                          tg_dialect_name(call->front->peer.dialect));
    ngx_toolgate_put_raw(writer, "id", reply->id);
    ngx_toolgate_put_client(writer, call->front);
    ngx_toolgate_put_quoted(writer, "trace", call->trace.parent);
    ngx_toolgate_put_quoted(writer, "client_version",
                            call->front->peer.client_version);
    ngx_toolgate_put_quoted(writer, "via", call->front->peer.client_via);
    tg_buf_text(writer->line, writer->is_json ? "}" : "");
}

/* --- logs of calls --- */

static void
ngx_toolgate_put_pieces(tg_buf_t *line, ngx_stream_session_t *s,
                        const ngx_toolgate_format_t *format)
{
    const ngx_toolgate_piece_t *piece;
    ngx_str_t value;
    ngx_uint_t i;

    piece = format->pieces->elts;

    for (i = 0; i < format->pieces->nelts; i++) {
        if (piece[i].value == NULL) {
            tg_buf_str(line, piece[i].text);
        } else if (ngx_stream_complex_value(s, piece[i].value, &value)
                   == NGX_OK) {
            ngx_toolgate_log_put(line, format->escape,
                                 ngx_toolgate_str(&value));
        } else {
            line->failed = 1;
        }
    }
}

static void
ngx_toolgate_write_line(ngx_toolgate_call_t *call,
                        const ngx_toolgate_log_t *log,
                        const ngx_toolgate_record_t *record)
{
    ngx_toolgate_writer_t writer;

    writer.line = ngx_toolgate_log_begin(log);
    writer.is_json = log->format->escape == NGX_TOOLGATE_ESCAPE_JSON;

    if (log->format->pieces != NULL) {
        ngx_toolgate_put_pieces(writer.line, call->front->stream, log->format);
    } else {
        ngx_toolgate_put_ours(&writer, call, record);
    }

    ngx_toolgate_log_end(log, call->pool->log);
}

static void
ngx_toolgate_write_lines(ngx_toolgate_call_t *call, const ngx_array_t *logs,
                         const ngx_toolgate_record_t *record)
{
    const ngx_toolgate_log_t *log;
    ngx_toolgate_lent_t lent;
    ngx_uint_t i, is_lent;

    log = logs->elts;

    for (i = 0; i < logs->nelts; i++) {
        is_lent = log[i].filter != NULL || log[i].format->pieces != NULL;

        if (is_lent && ngx_toolgate_lend(call, &lent) != NGX_OK) {
            ngx_toolgate_log_lose(&log[i], call->pool->log);
            continue;
        }

        if (ngx_toolgate_is_yes(call->front->stream, log[i].filter)) {
            ngx_toolgate_write_line(call, &log[i], record);
        }

        if (is_lent) {
            ngx_toolgate_lend_back(call, &lent);
        }
    }
}

/* Variables are of a request; of one that has gone, what was kept of it. */
__attribute__((noinline)) static void
ngx_toolgate_log_call(ngx_toolgate_call_t *call, const ngx_array_t *logs,
                      const ngx_toolgate_record_t *record)
{
    ngx_toolgate_tool_t *tool;
    tg_request_t kept, *request;

    tool = call->tool;
    request = call->request;

    if (request == NULL) {
        ngx_memzero(&kept, sizeof(kept));
        kept.entry = call->entry;
        kept.arguments = call->arguments;
        kept.reply = call->deferred->reply;
        call->request = &kept;
        call->tool = record->entry != NULL ? record->entry->host : NULL;
    }

    call->front->ended = record;
    ngx_toolgate_write_lines(call, logs, record);
    call->front->ended = NULL;
    call->request = request;
    call->tool = tool;
}

/* --- the error log --- */

/* What the operator can mend, and what its caller has done wrong. */
static ngx_uint_t
ngx_toolgate_level_of(const ngx_toolgate_record_t *record)
{
    switch (record->end) {
    case TG_FAILURE_BUSY:
    case TG_FAILURE_LOST:
    case TG_FAILURE_INTERNAL:
        return NGX_LOG_ERR;
    case TG_FAILURE_TIMEOUT:
    case TG_FAILURE_OUTPUT:
    case TG_FAILURE_SIZE:
        return NGX_LOG_WARN;
    case TG_FAILURE_PROGRAM:
        return record->rule == NGX_TOOLGATE_RULE_EXEC ? NGX_LOG_ERR
                                                      : NGX_LOG_INFO;
    default:
        return NGX_LOG_INFO;
    }
}

__attribute__((noinline)) static void
ngx_toolgate_tell_failure(ngx_toolgate_call_t *call,
                          const ngx_toolgate_record_t *record)
{
    const char *rule;
    ngx_uint_t level;
    ngx_log_t *log;
    u_char name[TG_NAME_MAX + 16], *p;

    level = call->log_level != 0 ? call->log_level
                                 : ngx_toolgate_level_of(record);
    log = call->pool->log;

    /* A mistake of the caller, which can make as many as it likes. */
    if (level == NGX_LOG_INFO
            ? !ngx_toolgate_may_log(&call->front->pace, level, log)
            : log->log_level < level)
    {
        return;
    }

    /* A name that we do not know is its client's business. */
    p = call->entry != NULL
            ? ngx_snprintf(name, sizeof(name), "\"%*s\"",
                           ngx_min(call->entry->name.len, TG_NAME_MAX),
                           call->entry->name.data)
            : ngx_snprintf(name, sizeof(name), "what there is not");
    rule = ngx_toolgate_rule_name(record->rule);

    if (rule != NULL) {
        ngx_log_error(level, log, 0, "call of %*s failed: %s (%s)",
                      (size_t) (p - name), name,
                      ngx_toolgate_end_name(record->end), rule);
    } else {
        ngx_log_error(level, log, 0, "call of %*s failed: %s",
                      (size_t) (p - name), name,
                      ngx_toolgate_end_name(record->end));
    }
}

void
ngx_toolgate_call_ended(ngx_toolgate_call_t *call,
                        const ngx_toolgate_record_t *record)
{
    const ngx_array_t *logs;

    ngx_log_debug3(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: %s after %M ms", call,
                   ngx_toolgate_end_name(record->end), record->time);

    /* Where it ends, it is told of; not where it came from. */
    if (call->front == NULL || record->end == NGX_TOOLGATE_END_MOVED) {
        return;
    }

    if (record->end != TG_FAILURE_NONE && record->end <= TG_FAILURE_SIZE) {
        ngx_toolgate_tell_failure(call, record);
    }

    logs = ngx_toolgate_logs_of(record->entry != NULL ? record->entry->host
                                                      : NULL,
                                call->front->conf);

    if (logs != NULL && logs->nelts != 0) {
        ngx_toolgate_log_call(call, logs, record);
    }
}
