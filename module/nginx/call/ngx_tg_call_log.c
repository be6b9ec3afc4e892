/* Log lines at the end of a call: in its logs, and the operator's error log. */
#include "nginx/call/ngx_tg_call_impl.h"
#include "nginx/logging/ngx_tg_logging.h"

/* Returns the logs of a tool, its block or the server; NULL or empty: none. */
static const ngx_array_t *
ngx_tg_tool_find_logs(const ngx_tg_tool_t *tool, const ngx_tg_srv_conf_t *scf)
{
    const ngx_tg_tool_t *block;

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
ngx_tg_call_save_for_log(ngx_tg_call_t *call, const ngx_tg_tool_t *tool,
                         tg_str_t arguments)
{
    const ngx_tg_call_log_t *log;
    const ngx_array_t *logs;
    ngx_uint_t i;
    char *copy;

    logs = ngx_tg_tool_find_logs(tool, call->base->conf);

    if (logs == NULL || logs->nelts == 0) {
        return NGX_OK;
    }

    /* A closed connection has no credentials any more. */
    (void) ngx_tg_session_base_get_peer_cred(call->base);
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
    call->priv->arguments = tg_str(copy, arguments.len);

    return NGX_OK;
}

/* --- built-in formats --- */

/* Writes a line in a built-in format, whose fields have a fixed order. */
typedef struct {
    tg_buf_t *line;
    ngx_uint_t is_json;
} ngx_tg_log_line_writer_t;

static void
ngx_tg_log_line_write_key(const ngx_tg_log_line_writer_t *writer,
                          const char *key)
{
    tg_buf_append_cstr(writer->line, writer->is_json ? ",\"" : " ");
    tg_buf_append_cstr(writer->line, key);
    tg_buf_append_cstr(writer->line, writer->is_json ? "\":" : "=");
}

static void
ngx_tg_log_line_write_none(const ngx_tg_log_line_writer_t *writer)
{
    tg_buf_append_cstr(writer->line, writer->is_json ? "null" : "-");
}

/* Writes a constant that needs no escaping; NULL: none. */
static void
ngx_tg_log_line_write_word(const ngx_tg_log_line_writer_t *writer,
                           const char *key, const char *word)
{
    ngx_tg_log_line_write_key(writer, key);

    if (word == NULL) {
        ngx_tg_log_line_write_none(writer);
    } else if (writer->is_json) {
        tg_json_write_string(writer->line, tg_str_from_cstr(word));
    } else {
        tg_buf_append_cstr(writer->line, word);
    }
}

/* Writes a client's text, always quoted; none if it is empty. */
static void
ngx_tg_log_line_write_quoted(const ngx_tg_log_line_writer_t *writer,
                             const char *key, tg_str_t text)
{
    ngx_tg_log_line_write_key(writer, key);

    if (text.len == 0) {
        ngx_tg_log_line_write_none(writer);
    } else {
        tg_buf_append_char(writer->line, '"');
        ngx_tg_log_append_value(writer->line, NGX_TG_ESCAPE_JSON, text);
        tg_buf_append_char(writer->line, '"');
    }
}

/* Writes a number; unknown if it is negative. */
static void
ngx_tg_log_line_write_number(const ngx_tg_log_line_writer_t *writer,
                             const char *key, int64_t number)
{
    ngx_tg_log_line_write_key(writer, key);

    if (number < 0) {
        ngx_tg_log_line_write_none(writer);
    } else {
        tg_buf_append_int(writer->line, number);
    }
}

/* Writes ms as seconds; unknown if the time is negative. */
static void
ngx_tg_log_line_write_time(const ngx_tg_log_line_writer_t *writer,
                           const char *key, int64_t ms)
{
    ngx_tg_log_line_write_key(writer, key);

    if (ms < 0) {
        ngx_tg_log_line_write_none(writer);
        return;
    }

    tg_buf_append_int(writer->line, ms / 1000);
    tg_buf_append_char(writer->line, '.');
    tg_buf_append_char(writer->line, (char) ('0' + ms / 100 % 10));
    tg_buf_append_char(writer->line, (char) ('0' + ms / 10 % 10));
    tg_buf_append_char(writer->line, (char) ('0' + ms % 10));
}

static void
ngx_tg_log_line_write_raw(const ngx_tg_log_line_writer_t *writer,
                          const char *key, tg_str_t raw)
{
    ngx_tg_log_line_write_key(writer, key);

    if (raw.data == NULL) {
        ngx_tg_log_line_write_none(writer);
    } else {
        ngx_tg_log_append_json(writer->line, raw);
    }
}

static void
ngx_tg_log_line_write_client(const ngx_tg_log_line_writer_t *writer,
                             ngx_tg_session_base_t *base)
{
    const ngx_tg_peer_cred_t *client;

    client = ngx_tg_session_base_get_peer_cred(base);
    ngx_tg_log_line_write_quoted(writer, "client", base->peer.client);
    ngx_tg_log_line_write_number(writer, "pid",
                                 client != NULL ? (int64_t) client->pid : -1);
    ngx_tg_log_line_write_number(writer, "uid",
                                 client != NULL ? (int64_t) client->uid : -1);
    ngx_tg_log_line_write_number(writer, "gid",
                                 client != NULL ? (int64_t) client->gid : -1);
}

static void
ngx_tg_log_line_write_builtin(const ngx_tg_log_line_writer_t *writer,
                              const ngx_tg_call_t *call,
                              const ngx_tg_call_record_t *record)
{
    const tg_reply_t *reply;
    char uri[TG_URI_MAX];

    reply = &call->request->reply;
    tg_buf_append_cstr(writer->line, writer->is_json ? "{\"time\":\"" : "");
    tg_buf_append(writer->line, (char *) ngx_cached_http_log_iso8601.data,
                  ngx_cached_http_log_iso8601.len);
    tg_buf_append_cstr(writer->line, writer->is_json ? "\"" : "");

    ngx_tg_log_line_write_quoted(writer, tg_entry_type_name(reply->kind),
                                 call->entry != NULL ? call->entry->name
                                                     : call->name);

    if (reply->kind == TG_ENTRY_TEMPLATE && reply->subject.len <= sizeof(uri)) {
        ngx_tg_log_line_write_quoted(
            writer, "uri", tg_str(uri, tg_json_unescape(uri, reply->subject)));
    }

    ngx_tg_log_line_write_word(writer, "status",
                               ngx_tg_end_reason_get_name(record->end));
    ngx_tg_log_line_write_word(writer, "rule",
                               ngx_tg_call_rule_get_name(record->rule));
    ngx_tg_log_line_write_number(writer, "exit", record->exit);
    ngx_tg_log_line_write_number(writer, "signal",
                                 record->signal != 0 ? record->signal : -1);
    ngx_tg_log_line_write_time(writer, "queue", record->queued);
    ngx_tg_log_line_write_time(writer, "run", record->ran);
    ngx_tg_log_line_write_time(writer, "total", (int64_t) record->time);
    ngx_tg_log_line_write_number(writer, "in", (int64_t) record->bytes_in);
    ngx_tg_log_line_write_number(writer, "out", (int64_t) record->bytes_out);
    ngx_tg_log_line_write_word(writer, "protocol",
                               tg_dialect_name(call->base->peer.dialect));
    ngx_tg_log_line_write_raw(writer, "id", reply->id);
    ngx_tg_log_line_write_client(writer, call->base);
    ngx_tg_log_line_write_quoted(writer, "trace", call->trace.parent);
    ngx_tg_log_line_write_quoted(writer, "client_version",
                                 call->base->peer.client_version);
    ngx_tg_log_line_write_quoted(writer, "via", call->base->peer.client_via);
    ngx_tg_log_line_write_quoted(writer, "user",
                                 call->base->http_client != NULL
                                     ? call->base->http_client->user
                                     : TG_STR_NONE);
    tg_buf_append_cstr(writer->line, writer->is_json ? "}" : "");
}

/* --- logs of calls --- */

static void
ngx_tg_log_line_append_format(tg_buf_t *line, ngx_stream_session_t *s,
                              const ngx_tg_log_format_t *format)
{
    const ngx_tg_log_format_piece_t *piece;
    ngx_str_t value;
    ngx_uint_t i;

    piece = format->pieces->elts;

    for (i = 0; i < format->pieces->nelts; i++) {
        if (piece[i].value == NULL) {
            tg_buf_append_str(line, piece[i].text);
        } else if (ngx_stream_complex_value(s, piece[i].value, &value)
                   == NGX_OK) {
            ngx_tg_log_append_value(line, format->escape,
                                    ngx_tg_str_from_ngx(&value));
        } else {
            line->failed = 1;
        }
    }
}

static void
ngx_tg_call_write_log_line(ngx_tg_call_t *call, const ngx_tg_call_log_t *log,
                           const ngx_tg_call_record_t *record)
{
    ngx_tg_log_line_writer_t writer;

    writer.line = ngx_tg_log_line_begin(log);
    writer.is_json = log->format->escape == NGX_TG_ESCAPE_JSON;

    if (log->format->pieces != NULL) {
        ngx_tg_log_line_append_format(writer.line, call->base->stream,
                                      log->format);
    } else {
        ngx_tg_log_line_write_builtin(&writer, call, record);
    }

    ngx_tg_log_line_end(log, call->pool->log);
}

static void
ngx_tg_call_write_log_lines(ngx_tg_call_t *call, const ngx_array_t *logs,
                            const ngx_tg_call_record_t *record)
{
    const ngx_tg_call_log_t *log;
    ngx_tg_borrowed_session_t borrowed;
    ngx_uint_t i, is_borrowed;

    log = logs->elts;

    for (i = 0; i < logs->nelts; i++) {
        is_borrowed = log[i].filter != NULL || log[i].format->pieces != NULL;

        if (is_borrowed
            && ngx_tg_call_borrow_session(call, &borrowed) != NGX_OK) {
            ngx_tg_log_line_drop(&log[i], call->pool->log);
            continue;
        }

        if (ngx_tg_filter_matches(call->base->stream, log[i].filter)) {
            ngx_tg_call_write_log_line(call, &log[i], record);
        }

        if (is_borrowed) {
            ngx_tg_call_return_session(call, &borrowed);
        }
    }
}

/*
 * Writes all logs of a call. Their variables need a request; if it was freed, a
 * temporary one is made from what the call has saved.
 */
__attribute__((noinline)) static void
ngx_tg_call_write_logs(ngx_tg_call_t *call, const ngx_array_t *logs,
                       const ngx_tg_call_record_t *record)
{
    ngx_tg_tool_t *tool;
    tg_request_t kept, *request;

    tool = call->tool;
    request = call->request;

    if (request == NULL) {
        ngx_memzero(&kept, sizeof(kept));
        kept.entry = call->entry;
        kept.arguments = call->priv->arguments;
        kept.reply = call->priv->deferred->reply;
        call->request = &kept;
        call->tool = record->entry != NULL ? record->entry->host : NULL;
    }

    call->base->ended_record = record;
    ngx_tg_call_write_log_lines(call, logs, record);
    call->base->ended_record = NULL;
    call->request = request;
    call->tool = tool;
}

/* --- the error log --- */

/* Returns error or warning if the operator can fix the cause, else info. */
static ngx_uint_t
ngx_tg_call_record_get_log_level(const ngx_tg_call_record_t *record)
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
        return record->rule == NGX_TG_RULE_EXEC ? NGX_LOG_ERR : NGX_LOG_INFO;
    default:
        return NGX_LOG_INFO;
    }
}

__attribute__((noinline)) static void
ngx_tg_call_log_failure(ngx_tg_call_t *call, const ngx_tg_call_record_t *record)
{
    const char *rule;
    ngx_uint_t level;
    ngx_log_t *log;
    u_char name[TG_NAME_MAX + 16], *p;

    level = call->priv->log_level != 0
                ? call->priv->log_level
                : ngx_tg_call_record_get_log_level(record);
    log = call->pool->log;

    /* A caller can make any number of its own mistakes. */
    if (level == NGX_LOG_INFO
            ? !ngx_tg_log_throttle_take(&call->base->throttle, level, log)
            : log->log_level < level)
    {
        return;
    }

    /* The client chooses unknown names freely: do not log them. */
    p = call->entry != NULL
            ? ngx_snprintf(name, sizeof(name), "\"%*s\"",
                           ngx_min(call->entry->name.len, TG_NAME_MAX),
                           call->entry->name.data)
            : ngx_snprintf(name, sizeof(name), "an unknown name");
    rule = ngx_tg_call_rule_get_name(record->rule);

    if (rule != NULL) {
        ngx_log_error(level, log, 0, "call of %*s failed: %s (%s)",
                      (size_t) (p - name), name,
                      ngx_tg_end_reason_get_name(record->end), rule);
    } else {
        ngx_log_error(level, log, 0, "call of %*s failed: %s",
                      (size_t) (p - name), name,
                      ngx_tg_end_reason_get_name(record->end));
    }
}

void
ngx_tg_call_log_end(ngx_tg_call_t *call, const ngx_tg_call_record_t *record)
{
    const ngx_array_t *logs;

    ngx_log_debug3(NGX_LOG_DEBUG_STREAM, call->pool->log, 0,
                   "toolgate call %p: %s after %M ms", call,
                   ngx_tg_end_reason_get_name(record->end), record->time);

    /* The worker where the call ends logs it. */
    if (call->base == NULL || record->end == NGX_TG_END_MOVED) {
        return;
    }

    if (record->end != TG_FAILURE_NONE && record->end <= TG_FAILURE_SIZE) {
        ngx_tg_call_log_failure(call, record);
    }

    logs = ngx_tg_tool_find_logs(record->entry != NULL ? record->entry->host
                                                       : NULL,
                                 call->base->conf);

    if (logs != NULL && logs->nelts != 0) {
        ngx_tg_call_write_logs(call, logs, record);
    }
}
