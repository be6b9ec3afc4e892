#include "base/tg_json.h"
#include "base/tg_utf8.h"
#include "runner/store/tg_store_pq.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TG_PQ_NOW,
    TG_PQ_ID,
    TG_PQ_PRIORITY,
    TG_PQ_LIMIT,
    TG_PQ_PID,
    TG_PQ_STATE,
    TG_PQ_NUMBERS,
    TG_PQ_PROMPT = TG_PQ_NUMBERS,
    TG_PQ_AGENT,
    TG_PQ_CWD,
    TG_PQ_METADATA,
    TG_PQ_RESULT,
    TG_PQ_ERROR,
    TG_PQ_OUTPUT,
    TG_PQ_AGENTS,
    TG_PQ_RETRIES,
    TG_PQ_WHO,
    TG_PQ_PLACE,
    TG_PQ_TOKEN,
    TG_PQ_BYTES,
    TG_PQ_OWNER,
    TG_PQ_JOB,
    TG_PQ_FORM,
    TG_PQ_NOTES,
    TG_PQ_VALUES
};

/* Of pg_type. */
#define TG_PQ_INT8 20
#define TG_PQ_TEXT 25
#define TG_PQ_BYTEA 17
#define TG_PQ_TEXTS 1009
#define TG_PQ_INT8S 1016

static const Oid tg_pq_types[TG_PQ_VALUES] = {
    [TG_PQ_NOW] = TG_PQ_INT8,      [TG_PQ_ID] = TG_PQ_INT8,
    [TG_PQ_PRIORITY] = TG_PQ_INT8, [TG_PQ_LIMIT] = TG_PQ_INT8,
    [TG_PQ_PID] = TG_PQ_INT8,      [TG_PQ_STATE] = TG_PQ_INT8,
    [TG_PQ_PROMPT] = TG_PQ_TEXT,   [TG_PQ_AGENT] = TG_PQ_TEXT,
    [TG_PQ_CWD] = TG_PQ_TEXT,      [TG_PQ_METADATA] = TG_PQ_TEXT,
    [TG_PQ_RESULT] = TG_PQ_TEXT,   [TG_PQ_ERROR] = TG_PQ_TEXT,
    [TG_PQ_OUTPUT] = TG_PQ_TEXT,   [TG_PQ_AGENTS] = TG_PQ_TEXTS,
    [TG_PQ_RETRIES] = TG_PQ_INT8S, [TG_PQ_WHO] = TG_PQ_TEXT,
    [TG_PQ_PLACE] = TG_PQ_TEXT,    [TG_PQ_TOKEN] = TG_PQ_TEXT,
    [TG_PQ_BYTES] = TG_PQ_BYTEA,   [TG_PQ_OWNER] = TG_PQ_TEXT,
    [TG_PQ_JOB] = TG_PQ_TEXT,      [TG_PQ_FORM] = TG_PQ_INT8,
    [TG_PQ_NOTES] = TG_PQ_TEXT,
};

#define TG_PQ_NAME 24

/* Texts of a question, each with a NUL behind it. */
typedef struct {
    tg_buf_t buf;
    size_t at[TG_PQ_VALUES];
    int is_there[TG_PQ_VALUES];
} tg_pq_values_t;

/* --- asking --- */

static void
tg_pq_begin(tg_pq_values_t *values, int value)
{
    values->at[value] = values->buf.len;
    values->is_there[value] = 1;
}

static void
tg_pq_number(tg_pq_values_t *values, int value, int64_t number)
{
    tg_pq_begin(values, value);
    tg_buf_int(&values->buf, number);
    tg_buf_char(&values->buf, '\0');
}

static void
tg_pq_plain(tg_pq_values_t *values, int value, tg_str_t text)
{
    if (text.data != NULL) {
        tg_pq_begin(values, value);
        tg_buf_str(&values->buf, text);
        tg_buf_char(&values->buf, '\0');
    }
}

static void
tg_pq_json(tg_pq_values_t *values, int value, tg_str_t text)
{
    if (text.data != NULL) {
        tg_pq_begin(values, value);
        tg_json_put_string(&values->buf, text);
        tg_buf_char(&values->buf, '\0');
    }
}

/* {a,b} and {0,2}, of agents that take tasks now; no name needs quotes. */
static void
tg_pq_agents(tg_pq_values_t *values, const tg_store_agents_t *agents)
{
    const char *before;
    unsigned i;

    if (agents == NULL) {
        return;
    }

    tg_pq_begin(values, TG_PQ_AGENTS);
    tg_buf_char(&values->buf, '{');

    for (i = 0, before = ""; i < agents->n; i++) {
        if (!agents->is_full[i]) {
            tg_buf_text(&values->buf, before);
            tg_buf_text(&values->buf, agents->names[i]);
            before = ",";
        }
    }

    tg_buf_text(&values->buf, "}");
    tg_buf_char(&values->buf, '\0');
    tg_pq_begin(values, TG_PQ_RETRIES);
    tg_buf_char(&values->buf, '{');

    for (i = 0, before = ""; i < agents->n; i++) {
        if (!agents->is_full[i]) {
            tg_buf_text(&values->buf, before);
            tg_buf_int(&values->buf, agents->retries[i]);
            before = ",";
        }
    }

    tg_buf_text(&values->buf, "}");
    tg_buf_char(&values->buf, '\0');
}

static void
tg_pq_put_notes(tg_pq_values_t *values, const tg_store_ask_t *ask)
{
    const tg_store_note_t *note;
    unsigned i;

    tg_pq_begin(values, TG_PQ_NOTES);

    for (i = 0; i < ask->nnotes; i++) {
        note = &ask->notes[i];
        tg_buf_text(&values->buf, i == 0 ? "[{\"key\":" : ",{\"key\":");
        tg_json_put_string(&values->buf, note->key);

        if (note->value.data != NULL) {
            tg_buf_text(&values->buf, ",\"value\":");
            tg_json_put_string(&values->buf, note->value);
        }

        tg_buf_text(&values->buf, note->is_new ? ",\"is_new\":true}" : "}");
    }

    tg_buf_text(&values->buf, ask->nnotes == 0 ? "[]" : "]");
    tg_buf_char(&values->buf, '\0');
}

static void
tg_pq_put(tg_pq_values_t *values, const tg_store_pq_t *db,
          const tg_store_ask_t *ask)
{
    int64_t numbers[TG_PQ_NUMBERS];
    tg_str_t brief;
    int i;

    numbers[TG_PQ_NOW] = ask->now;
    numbers[TG_PQ_ID] = ask->id;
    numbers[TG_PQ_PRIORITY] = ask->op == TG_STORE_WRITE
                                      || ask->op == TG_STORE_READ
                                  ? ask->offset
                                  : ask->priority;
    numbers[TG_PQ_LIMIT] = ask->limit;
    numbers[TG_PQ_PID] = ask->pid;
    numbers[TG_PQ_STATE] = ask->state;

    for (i = 0; i < TG_PQ_NUMBERS; i++) {
        tg_pq_number(values, i, numbers[i]);
    }

    brief = tg_str(ask->prompt.data,
                   tg_utf8_first(ask->prompt, TG_STORE_BRIEF));
    tg_pq_json(values, TG_PQ_PROMPT, ask->prompt);
    tg_pq_plain(values, TG_PQ_AGENT, ask->agent);
    tg_pq_json(values, TG_PQ_CWD, ask->cwd);
    tg_pq_plain(values, TG_PQ_METADATA, ask->metadata);
    tg_pq_json(values, TG_PQ_RESULT,
               ask->op == TG_STORE_SUBMIT ? brief : ask->result);
    tg_pq_json(values, TG_PQ_ERROR, ask->error);
    tg_pq_json(values, TG_PQ_OUTPUT, ask->output);
    tg_pq_agents(values, ask->agents);
    tg_pq_plain(values, TG_PQ_OWNER, ask->owner);
    tg_pq_plain(values, TG_PQ_JOB, ask->job);
    tg_pq_number(values, TG_PQ_FORM, ask->form);
    tg_pq_put_notes(values, ask);
    tg_pq_plain(values, TG_PQ_WHO, tg_str_c(db->runner));
    tg_pq_plain(values, TG_PQ_PLACE, tg_str_c(db->name));
    tg_pq_begin(values, TG_PQ_TOKEN);

    if (ask->token.data != NULL) {
        tg_buf_str(&values->buf, ask->token);
    } else {
        tg_buf_printf(&values->buf, "%s-%llu", db->runner,
                      (unsigned long long) ask->serial);
    }

    tg_buf_char(&values->buf, '\0');
}

/* The name of a statement. */
static const char *
tg_pq_name(int statement, char name[TG_PQ_NAME])
{
    (void) snprintf(name, TG_PQ_NAME, "toolgate_%d", statement);

    return name;
}

PGresult *
tg_pq_ready(const tg_store_pq_t *db, int statement)
{
    char name[TG_PQ_NAME];

    return db->pq->prepare(db->made, tg_pq_name(statement, name),
                           tg_pq_text(statement), TG_PQ_VALUES, tg_pq_types);
}

int
tg_pq_send_ask(tg_store_pq_t *db, tg_store_ask_t *ask)
{
    const char *texts[TG_PQ_VALUES];
    char name[TG_PQ_NAME];
    int lengths[TG_PQ_VALUES], formats[TG_PQ_VALUES];
    tg_pq_values_t values;
    int i, rc, statement;

    statement = tg_pq_statement(ask);
    memset(&values, 0, sizeof(values));
    memset(lengths, 0, sizeof(lengths));
    memset(formats, 0, sizeof(formats));
    tg_buf_init(&values.buf, tg_alloc_libc());
    tg_pq_put(&values, db, ask);

    for (i = 0; i < TG_PQ_VALUES; i++) {
        texts[i] = values.is_there[i] ? values.buf.data + values.at[i] : NULL;
    }

    texts[TG_PQ_BYTES] = ask->bytes.data;
    lengths[TG_PQ_BYTES] = (int) ask->bytes.len;
    formats[TG_PQ_BYTES] = 1;
    rc = !tg_buf_failed(&values.buf)
         && (tg_pq_is_ready(statement)
                 ? db->pq->sendQueryPrepared(db->conn,
                                             tg_pq_name(statement, name),
                                             TG_PQ_VALUES, texts, lengths,
                                             formats, 1)
                 : db->pq->sendQueryParams(db->conn, tg_pq_text(statement),
                                           TG_PQ_VALUES, tg_pq_types, texts,
                                           lengths, formats, 1));
    tg_buf_deinit(&values.buf);

    return rc;
}

/* --- the answer --- */

static tg_str_t
tg_pq_column(const tg_store_pq_t *db, const PGresult *result, int column)
{
    return tg_str(db->pq->getvalue(result, 0, column),
                  (size_t) db->pq->getlength(result, 0, column));
}

/* What no row means. */
static int
tg_pq_nothing(tg_store_op_t op)
{
    return op == TG_STORE_GET || op == TG_STORE_CANCEL || op == TG_STORE_SUBMIT
               ? TG_MISSING
               : TG_END;
}

static int
tg_pq_rc(tg_str_t word)
{
    static const struct {
        tg_str_t word;
        int rc;
    } words[] = {
        { TG_STR_OF("OK"), TG_OK },       { TG_STR_OF("BAD"), TG_BAD },
        { TG_STR_OF("END"), TG_END },     { TG_STR_OF("AGAIN"), TG_AGAIN },
        { TG_STR_OF("LIMIT"), TG_LIMIT }, { TG_STR_OF("EXISTS"), TG_EXISTS },
    };
    size_t i;

    for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (tg_str_eq(words[i].word, word)) {
            return words[i].rc;
        }
    }

    return TG_BAD;
}

void
tg_pq_read(const tg_store_pq_t *db, const PGresult *result, tg_store_ask_t *ask)
{
    int64_t id, state;

    tg_buf_reset(&ask->json, 0);

    if (db->pq->ntuples(result) == 0) {
        ask->rc = tg_pq_nothing(ask->op);
        return;
    }

    ask->rc = tg_pq_rc(tg_pq_column(db, result, 0));
    (void) tg_json_int64(tg_pq_column(db, result, 1), &id);
    (void) tg_json_int64(tg_pq_column(db, result, 2), &state);
    tg_buf_str(&ask->json, tg_pq_column(db, result, 3));

    switch (ask->op) {
    case TG_STORE_SUBMIT:
    case TG_STORE_CLAIM:
        ask->id = id;
        break;
    case TG_STORE_READ:
        ask->offset = id;
        ask->size = state;
        break;
    case TG_STORE_CANCEL:
    case TG_STORE_GET:
        (void) tg_json_int64(tg_pq_column(db, result, 4), &ask->form);
        ask->state = (tg_task_state_t) state;
        break;
    case TG_STORE_FINISH:
        ask->state = (tg_task_state_t) state;
        break;
    default:
        break;
    }
}
