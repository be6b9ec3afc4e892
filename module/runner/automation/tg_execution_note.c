/*
 * What is kept of executions:
 *
 *   {"ruleId":"r","eventType":"task.failed","status":"submitted","at":…,
 *    "chain":0,"action":"agent","taskId":"task-0007","error":"…",
 *    "agent":"a","text":"…","channel":"…","body":"…","priority":5,"tries":1}
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"

static const char *const tg_execution_states[TG_EXECUTION_STATES] = {
    [TG_EXECUTION_NEW] = "new",
    [TG_EXECUTION_APPROVAL] = "pending_approval",
    [TG_EXECUTION_SUBMITTED] = "submitted",
    [TG_EXECUTION_NOTIFIED] = "notified",
    [TG_EXECUTION_SENDING] = "webhook_pending",
    [TG_EXECUTION_SENT] = "webhook_sent",
    [TG_EXECUTION_DENIED] = "denied",
    [TG_EXECUTION_STOPPED] = "stopped",
    [TG_EXECUTION_FAILED] = "error",
};
static const char *const tg_action_names[] = { "agent", "notify", "webhook" };

const char *
tg_execution_status(tg_execution_state_t state)
{
    return tg_execution_states[state];
}

/* --- what is written --- */

static void
tg_execution_put(tg_buf_t *json, const tg_execution_t *execution, int is_task)
{
    const struct {
        const char *key;
        const tg_buf_t *text;
    } texts[] = {
        { ",\"eventType\":", &execution->type },
        { ",\"owner\":", &execution->owner },
        { ",\"agent\":", &execution->agent },
        { ",\"text\":", &execution->text },
        { ",\"channel\":", &execution->channel },
        { ",\"body\":", &execution->body },
        { ",\"error\":", &execution->error },
    };
    size_t i;

    tg_buf_text(json, "{\"ruleId\":");
    tg_json_put_string(json, tg_buf_view(&execution->rule));
    tg_buf_printf(
        json,
        ",\"status\":\"%s\",\"at\":%lld,\"chain\":%u,\"action\":\"%s\","
        "\"priority\":%lld,\"tries\":%u",
        tg_execution_states[is_task ? TG_EXECUTION_SUBMITTED
                                    : execution->state],
        (long long) execution->at, execution->chain,
        tg_action_names[execution->action], (long long) execution->priority,
        execution->tries);

    /* Of one that is over nobody needs what it has done. */
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].text->len != 0
            && (i < 2 || i == 6
                || (!is_task && tg_execution_is_open(execution))))
        {
            tg_buf_text(json, texts[i].key);
            tg_json_put_string(json, tg_buf_view(texts[i].text));
        }
    }

    if (execution->task != -1) {
        tg_buf_text(json, ",\"taskId\":\"");
        tg_task_put_id(json, execution->task);
        tg_buf_char(json, '"');
    }

    tg_buf_char(json, '}');
}

/* A note, whose texts stand one behind the other at the end of keys. */
static void
tg_execution_note(tg_execution_t *execution, const char *kind, tg_str_t name,
                  size_t *ends)
{
    tg_buf_text(&execution->keys, kind);
    tg_buf_str(&execution->keys, name);
    ends[0] = execution->keys.len;
}

/* The slices of what was written, which moves no more. */
static unsigned
tg_execution_notes(tg_execution_t *execution, const size_t (*ends)[2],
                   unsigned n)
{
    size_t start;
    unsigned i;

    start = 0;

    for (i = 0; i < n; i++) {
        execution->notes[i].key = tg_str(execution->keys.data + start,
                                         ends[i][0] - start);
        execution->notes[i].value = ends[i][1] != ends[i][0]
                                        ? tg_str(execution->keys.data
                                                     + ends[i][0],
                                                 ends[i][1] - ends[i][0])
                                        : TG_STR_NONE;
        execution->notes[i].is_new = 0;
        start = ends[i][1];
    }

    return n;
}

static void
tg_execution_on_written(tg_store_ask_t *ask)
{
    tg_execution_t *execution;
    tg_engine_t *engine;
    int rc;

    execution = ask->data;
    engine = execution->automation->engine;
    execution->is_asking = 0;
    rc = ask->rc;
    tg_engine_answered(engine);
    tg_engine_refused(engine, ask);
    tg_store_ask_deinit(ask);
    tg_buf_reset(&execution->keys, 0);

    if (execution->written != NULL && !engine->is_dropped) {
        execution->written(execution, rc);
    }

    engine->go_on(engine);
}

void
tg_execution_write(tg_execution_t *execution, const tg_automation_rule_t *rule,
                   int is_task,
                   void (*written)(tg_execution_t *execution, int rc))
{
    tg_store_ask_t *ask;
    size_t ends[2][2];
    unsigned n;

    tg_buf_reset(&execution->keys, 0);
    n = 0;
    tg_execution_note(execution, "execution/", tg_str_c(execution->id),
                      ends[n]);
    tg_execution_put(&execution->keys, execution, is_task);
    ends[n++][1] = execution->keys.len;

    if (rule != NULL) {
        tg_execution_note(execution, "rule/", rule->rule->id, ends[n]);
        tg_automation_put_rule_note(&execution->keys, rule);
        ends[n++][1] = execution->keys.len;
        execution->automation->nnoted++;
    }

    ask = &execution->ask;
    tg_store_ask_init(ask, is_task ? TG_STORE_SUBMIT : TG_STORE_NOTE,
                      tg_execution_on_written, execution);
    ask->notes = execution->notes;
    ask->nnotes = tg_buf_failed(&execution->keys)
                      ? 0
                      : tg_execution_notes(execution, ends, n);
    ask->prompt = tg_buf_view(&execution->text);
    ask->agent = tg_buf_view(&execution->agent);
    ask->priority = execution->priority;
    ask->metadata = tg_buf_view(&execution->metadata);
    ask->owner = execution->owner.len != 0 ? tg_buf_view(&execution->owner)
                                           : TG_STR_NONE;
    ask->limit = execution->automation->engine->config.queue;
    execution->written = written;
    execution->is_asking = 1;
    tg_engine_ask(execution->automation->engine, ask);
}

/* --- what is kept no more --- */

static void
tg_execution_on_forgotten(tg_execution_t *execution, int rc)
{
    tg_execution_free(execution);
}

/* Of those that are over, the oldest. */
void
tg_executions_prune(tg_automation_t *automation)
{
    tg_execution_t *execution;
    tg_store_ask_t *ask;
    size_t ends[1][2];
    unsigned n;

    n = automation->nover;

    TAILQ_FOREACH(execution, &automation->executions, place)
    {
        if (n <= TG_EXECUTIONS_KEPT) {
            break;
        }

        if (tg_execution_is_open(execution)) {
            continue;
        }

        n--;

        if (execution->is_asking || !TAILQ_EMPTY(&execution->approvals)) {
            continue;
        }

        tg_buf_reset(&execution->keys, 0);
        tg_execution_note(execution, "execution/", tg_str_c(execution->id),
                          ends[0]);
        ends[0][1] = ends[0][0];
        ask = &execution->ask;
        tg_store_ask_init(ask, TG_STORE_NOTE, tg_execution_on_written,
                          execution);
        ask->notes = execution->notes;
        ask->nnotes = tg_buf_failed(&execution->keys)
                          ? 0
                          : tg_execution_notes(execution, ends, 1);
        execution->written = tg_execution_on_forgotten;
        execution->is_asking = 1;
        tg_engine_ask(automation->engine, ask);
    }
}

/* --- what is read --- */

enum {
    TG_NOTE_RULE,
    TG_NOTE_TYPE,
    TG_NOTE_OWNER,
    TG_NOTE_AGENT,
    TG_NOTE_TEXT,
    TG_NOTE_CHANNEL,
    TG_NOTE_BODY,
    TG_NOTE_ERROR,
    TG_NOTE_TASK,
    TG_NOTE_STATUS,
    TG_NOTE_ACTION,
    TG_NOTE_AT,
    TG_NOTE_CHAIN,
    TG_NOTE_PRIORITY,
    TG_NOTE_TRIES,
    TG_NOTE_MEMBERS
};

static const char *const tg_note_members[] = {
    "ruleId", "eventType", "owner",  "agent",  "text",   "channel",
    "body",   "error",     "taskId", "status", "action", "at",
    "chain",  "priority",  "tries",  NULL,
};

/* Which of these names a raw string is; 0: none. */
static unsigned
tg_note_name(tg_str_t raw, const char *const *names, unsigned n)
{
    unsigned i;

    for (i = 0; i < n && !tg_json_is_text(raw, tg_str_c(names[i])); i++) {
        /* void */
    }

    return i < n ? i : 0;
}

static void
tg_execution_load_texts(tg_execution_t *execution, const tg_str_t *values)
{
    tg_buf_t *const texts[] = {
        &execution->rule,  &execution->type,  &execution->owner,
        &execution->agent, &execution->text,  &execution->channel,
        &execution->body,  &execution->error,
    };
    size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (tg_json_type(values[i]) == TG_JSON_STRING) {
            tg_json_put_decoded(texts[i], tg_json_body(values[i]));
        }
    }
}

void
tg_execution_load(tg_automation_t *automation, tg_str_t id, tg_str_t value)
{
    tg_str_t values[TG_NOTE_MEMBERS];
    tg_execution_t *execution, *before;
    tg_execution_state_t state;

    if (id.len >= TG_EXECUTION_ID
        || tg_json_members(value, tg_note_members, values) != TG_OK
        || tg_execution_find(automation, id) != NULL)
    {
        return;
    }

    execution = tg_execution_new(automation);

    if (execution == NULL) {
        return;
    }

    memcpy(execution->id, id.data, id.len);
    tg_execution_load_texts(execution, values);
    state = (tg_execution_state_t) tg_note_name(values[TG_NOTE_STATUS],
                                                tg_execution_states,
                                                TG_EXECUTION_STATES);
    execution->state = state == TG_EXECUTION_NEW ? TG_EXECUTION_FAILED : state;

    if (!tg_execution_is_open(execution)) {
        automation->nopen--;
        automation->nover++;
    }

    execution->action = (tg_action_t) tg_note_name(values[TG_NOTE_ACTION],
                                                   tg_action_names, 3);
    execution->at = tg_note_number(values[TG_NOTE_AT]);
    execution->chain = (unsigned) tg_note_number(values[TG_NOTE_CHAIN]);
    execution->priority = tg_note_number(values[TG_NOTE_PRIORITY]);
    execution->tries = (unsigned) tg_note_number(values[TG_NOTE_TRIES]);

    if (tg_json_type(values[TG_NOTE_TASK]) == TG_JSON_STRING) {
        execution->task = tg_task_id(tg_json_body(values[TG_NOTE_TASK]));
    }

    /* In the order in which they fired. */
    TAILQ_REMOVE(&automation->executions, execution, place);

    TAILQ_FOREACH_REVERSE(before, &automation->executions, tg_executions_s,
                          place)
    {
        if (strcmp(before->id, execution->id) < 0) {
            break;
        }
    }

    if (before != NULL) {
        TAILQ_INSERT_AFTER(&automation->executions, before, execution, place);
    } else {
        TAILQ_INSERT_HEAD(&automation->executions, execution, place);
    }
}
