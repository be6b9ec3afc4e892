/*
 * Records of firings in the store:
 *
 *   {"ruleId":"r","eventType":"task.failed","status":"submitted","at":…,
 *    "chain":0,"action":"agent","taskId":"task-0007","error":"…",
 *    "agent":"a","text":"…","channel":"…","body":"…","priority":5,"tries":1}
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"

static const char *const tg_firing_state_names[TG_FIRING_STATES] = {
    [TG_FIRING_NEW] = "new",
    [TG_FIRING_PENDING_APPROVAL] = "pending_approval",
    [TG_FIRING_SUBMITTED] = "submitted",
    [TG_FIRING_NOTIFIED] = "notified",
    [TG_FIRING_WEBHOOK_PENDING] = "webhook_pending",
    [TG_FIRING_WEBHOOK_SENT] = "webhook_sent",
    [TG_FIRING_DENIED] = "denied",
    [TG_FIRING_STOPPED] = "stopped",
    [TG_FIRING_FAILED] = "error",
};
static const char *const tg_action_names[] = { "agent", "notify", "webhook" };

const char *
tg_firing_get_state_name(tg_firing_state_t state)
{
    return tg_firing_state_names[state];
}

/* --- writing --- */

static void
tg_firing_write_record(tg_buf_t *json, const tg_firing_t *firing, int is_task)
{
    const struct {
        const char *key;
        const tg_buf_t *text;
    } texts[] = {
        { ",\"eventType\":", &firing->type },
        { ",\"owner\":", &firing->owner },
        { ",\"agent\":", &firing->agent },
        { ",\"text\":", &firing->text },
        { ",\"channel\":", &firing->channel },
        { ",\"body\":", &firing->body },
        { ",\"error\":", &firing->error },
    };
    size_t i;

    tg_buf_append_char(json, '{');
    tg_json_add_string(json, "ruleId", tg_buf_view(&firing->rule));
    tg_json_add_cstr(
        json, "status",
        tg_firing_state_names[is_task ? TG_FIRING_SUBMITTED : firing->state]);
    tg_json_add_int(json, "at", firing->at);
    tg_json_add_uint(json, "chain", firing->chain);
    tg_json_add_cstr(json, "action", tg_action_names[firing->action]);
    tg_json_add_int(json, "priority", firing->priority);
    tg_json_add_uint(json, "tries", firing->tries);

    /* A finished firing does not need the texts of its action. */
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].text->len != 0
            && (i < 2 || i == 6 || (!is_task && tg_firing_is_open(firing))))
        {
            tg_buf_append_cstr(json, texts[i].key);
            tg_json_write_string(json, tg_buf_view(texts[i].text));
        }
    }

    if (firing->task != -1) {
        tg_buf_append_cstr(json, ",\"taskId\":\"");
        tg_task_append_id(json, firing->task);
        tg_buf_append_char(json, '"');
    }

    tg_buf_append_char(json, '}');
}

/*
 * Appends the key of a record and sets ends[0] to its end. The caller appends
 * the value and sets ends[1].
 */
static void
tg_firing_append_record(tg_firing_t *firing, const char *prefix, tg_str_t name,
                        size_t *ends)
{
    tg_buf_append_cstr(&firing->record_text, prefix);
    tg_buf_append_str(&firing->record_text, name);
    ends[0] = firing->record_text.len;
}

/*
 * Sets the slices of `n` records in record_text, which is complete. Returns n.
 */
static unsigned
tg_firing_set_records(tg_firing_t *firing, const size_t (*ends)[2], unsigned n)
{
    size_t start;
    unsigned i;

    start = 0;

    for (i = 0; i < n; i++) {
        firing->records[i].key = tg_str(firing->record_text.data + start,
                                        ends[i][0] - start);
        firing->records[i].value = ends[i][1] != ends[i][0]
                                       ? tg_str(firing->record_text.data
                                                    + ends[i][0],
                                                ends[i][1] - ends[i][0])
                                       : TG_STR_NONE;
        firing->records[i].is_new = 0;
        start = ends[i][1];
    }

    return n;
}

static void
tg_firing_on_stored(tg_store_query_t *query)
{
    tg_firing_t *firing;
    tg_engine_t *engine;
    int rc;

    firing = query->data;
    engine = firing->automation->engine;
    firing->is_querying = 0;
    rc = query->rc;
    tg_engine_log_store_error(engine, query);
    tg_store_query_deinit(query);
    tg_buf_reset(&firing->record_text, 0);

    if (firing->on_stored != NULL && !engine->is_shutting_down) {
        firing->on_stored(firing, rc);
    }
}

void
tg_firing_store(tg_firing_t *firing, const tg_automation_rule_t *rule,
                int is_task, void (*on_stored)(tg_firing_t *firing, int rc))
{
    tg_store_query_t *query;
    size_t ends[2][2];
    unsigned n;

    tg_buf_reset(&firing->record_text, 0);
    n = 0;
    tg_firing_append_record(firing, "execution/", tg_str_from_cstr(firing->id),
                            ends[n]);
    tg_firing_write_record(&firing->record_text, firing, is_task);
    ends[n++][1] = firing->record_text.len;

    if (rule != NULL) {
        tg_firing_append_record(firing, "rule/", rule->rule->id, ends[n]);
        tg_automation_rule_write_record(&firing->record_text, rule);
        ends[n++][1] = firing->record_text.len;
        firing->automation->nrecords_stored++;
    }

    query = &firing->query;
    tg_store_query_init(query,
                        is_task ? TG_STORE_SUBMIT : TG_STORE_WRITE_RECORDS,
                        tg_firing_on_stored, firing);
    query->records = firing->records;
    query->nrecords = tg_buf_has_failed(&firing->record_text)
                          ? 0
                          : tg_firing_set_records(firing, ends, n);
    query->prompt = tg_buf_view(&firing->text);
    query->agent = tg_buf_view(&firing->agent);
    query->priority = firing->priority;
    query->metadata = tg_buf_view(&firing->metadata);
    query->owner = firing->owner.len != 0 ? tg_buf_view(&firing->owner)
                                          : TG_STR_NONE;
    query->limit = firing->automation->engine->config.spec.queue_max;
    firing->on_stored = on_stored;
    firing->is_querying = 1;
    tg_engine_query_store(firing->automation->engine, query);
}

/* --- removal --- */

static void
tg_firing_on_record_removed(tg_firing_t *firing, int rc)
{
    tg_firing_free(firing);
}

void
tg_automation_prune_firings(tg_automation_t *automation)
{
    tg_firing_t *firing;
    tg_store_query_t *query;
    size_t ends[1][2];
    unsigned n;

    n = automation->nended;

    TAILQ_FOREACH(firing, &automation->firings, link)
    {
        if (n <= TG_FIRINGS_ENDED_MAX) {
            break;
        }

        if (tg_firing_is_open(firing)) {
            continue;
        }

        n--;

        if (firing->is_querying || !TAILQ_EMPTY(&firing->approvals)) {
            continue;
        }

        tg_buf_reset(&firing->record_text, 0);
        tg_firing_append_record(firing, "execution/",
                                tg_str_from_cstr(firing->id), ends[0]);
        ends[0][1] = ends[0][0];
        query = &firing->query;
        tg_store_query_init(query, TG_STORE_WRITE_RECORDS, tg_firing_on_stored,
                            firing);
        query->records = firing->records;
        query->nrecords = tg_buf_has_failed(&firing->record_text)
                              ? 0
                              : tg_firing_set_records(firing, ends, 1);
        firing->on_stored = tg_firing_on_record_removed;
        firing->is_querying = 1;
        tg_engine_query_store(automation->engine, query);
    }
}

/* --- loading --- */

enum {
    TG_FIRING_MEMBER_RULE,
    TG_FIRING_MEMBER_TYPE,
    TG_FIRING_MEMBER_OWNER,
    TG_FIRING_MEMBER_AGENT,
    TG_FIRING_MEMBER_TEXT,
    TG_FIRING_MEMBER_CHANNEL,
    TG_FIRING_MEMBER_BODY,
    TG_FIRING_MEMBER_ERROR,
    TG_FIRING_MEMBER_TASK,
    TG_FIRING_MEMBER_STATUS,
    TG_FIRING_MEMBER_ACTION,
    TG_FIRING_MEMBER_AT,
    TG_FIRING_MEMBER_CHAIN,
    TG_FIRING_MEMBER_PRIORITY,
    TG_FIRING_MEMBER_TRIES,
    TG_FIRING_MEMBERS
};

static const char *const tg_firing_members[] = {
    "ruleId", "eventType", "owner",  "agent",  "text",   "channel",
    "body",   "error",     "taskId", "status", "action", "at",
    "chain",  "priority",  "tries",  NULL,
};

/* Returns the index of a raw string in `names`, or 0 if it is not there. */
static unsigned
tg_record_find_name(tg_str_t raw, const char *const *names, unsigned n)
{
    unsigned i;

    for (i = 0; i < n && !tg_json_string_eq(raw, tg_str_from_cstr(names[i]));
         i++) {
        /* void */
    }

    return i < n ? i : 0;
}

static void
tg_firing_load_texts(tg_firing_t *firing, const tg_str_t *values)
{
    tg_buf_t *const texts[] = {
        &firing->rule, &firing->type,    &firing->owner, &firing->agent,
        &firing->text, &firing->channel, &firing->body,  &firing->error,
    };
    size_t i;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (tg_json_type(values[i]) == TG_JSON_STRING) {
            tg_json_append_unescaped(texts[i], tg_json_string_body(values[i]));
        }
    }
}

void
tg_automation_load_firing(tg_automation_t *automation, tg_str_t id,
                          tg_str_t value)
{
    tg_str_t values[TG_FIRING_MEMBERS];
    tg_firing_t *firing, *before;
    tg_firing_state_t state;

    if (id.len >= TG_FIRING_ID_SIZE
        || tg_json_get_members(value, tg_firing_members, values) != TG_OK
        || tg_automation_find_firing(automation, id) != NULL)
    {
        return;
    }

    firing = tg_firing_new(automation);

    if (firing == NULL) {
        return;
    }

    memcpy(firing->id, id.data, id.len);
    tg_firing_load_texts(firing, values);
    state = (tg_firing_state_t) tg_record_find_name(
        values[TG_FIRING_MEMBER_STATUS], tg_firing_state_names,
        TG_FIRING_STATES);
    firing->state = state == TG_FIRING_NEW ? TG_FIRING_FAILED : state;

    if (!tg_firing_is_open(firing)) {
        automation->nopen--;
        automation->nended++;
    }

    firing->action = (tg_action_type_t) tg_record_find_name(
        values[TG_FIRING_MEMBER_ACTION], tg_action_names, 3);
    firing->at = tg_record_get_int(values[TG_FIRING_MEMBER_AT]);
    firing->chain = (unsigned) tg_record_get_int(
        values[TG_FIRING_MEMBER_CHAIN]);
    firing->priority = tg_record_get_int(values[TG_FIRING_MEMBER_PRIORITY]);
    firing->tries = (unsigned) tg_record_get_int(
        values[TG_FIRING_MEMBER_TRIES]);

    if (tg_json_type(values[TG_FIRING_MEMBER_TASK]) == TG_JSON_STRING) {
        firing->task = tg_task_parse_id(
            tg_json_string_body(values[TG_FIRING_MEMBER_TASK]));
    }

    /* Firings are sorted by their ids, which begin with the time. */
    TAILQ_REMOVE(&automation->firings, firing, link);

    TAILQ_FOREACH_REVERSE(before, &automation->firings, tg_firings_s, link)
    {
        if (strcmp(before->id, firing->id) < 0) {
            break;
        }
    }

    if (before != NULL) {
        TAILQ_INSERT_AFTER(&automation->firings, before, firing, link);
    } else {
        TAILQ_INSERT_HEAD(&automation->firings, firing, link);
    }
}
