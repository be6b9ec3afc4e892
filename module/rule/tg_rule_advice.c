#include "rule/tg_rule.h"

#include "base/tg_json.h"
#include "base/tg_spell.h"

/* Bytes of a message, and how many names a message lists. */
#define TG_RULE_ADVICE_MAX 512
#define TG_RULE_ADVICE_NAMES 32

/* What an event has beside its payload, and what each kind's payload has. */
static const char *const tg_event_members[] = { "type", "source", "timestamp",
                                                "payload", NULL };
static const char *const tg_event_of_task[] = {
    "id",        "prompt",   "agent",   "priority", "state", "createdAt",
    "startedAt", "pid",      "machine", "error",    "cwd",   "completedAt",
    "owner",     "metadata", "result",  "output",   NULL
};
static const char *const tg_event_of_cron[] = { "job_id", "scheduled", "missed",
                                                NULL };
static const char *const tg_event_of_file[] = { "path",  "event", "count",
                                                "files", "lost",  NULL };

/* All events that there are. */
static const struct {
    const char *type;
    const char *source;
    const char *const *members;
} tg_events[] = {
    { "task.queued", "tasks", tg_event_of_task },
    { "task.started", "tasks", tg_event_of_task },
    { "task.completed", "tasks", tg_event_of_task },
    { "task.failed", "tasks", tg_event_of_task },
    { "task.cancelled", "tasks", tg_event_of_task },
    { "task.timeout", "tasks", tg_event_of_task },
    { "cron.fired", "schedule", tg_event_of_cron },
    { "file.changed", "file_watcher", tg_event_of_file },
};

#define TG_EVENTS (sizeof(tg_events) / sizeof(tg_events[0]))

typedef struct {
    tg_rule_warn_t warn;
    void *ctx;
    const char *members[TG_RULE_ADVICE_NAMES]; /* of the rule's events */
    size_t nmembers;
} tg_rule_advice_t;

/* --- messages --- */

static int
tg_rule_is_among(tg_str_t word, const char *const *words)
{
    for (/* void */; *words != NULL; words++) {
        if (tg_str_eq(word, tg_str_c(*words))) {
            return 1;
        }
    }

    return 0;
}

/* Warns of an unknown word: the one that is near, or all that there are. */
static void
tg_rule_warn(const tg_rule_advice_t *advice, const char *member,
             const char *what, tg_str_t word, const char *const *words)
{
    char text[TG_RULE_ADVICE_MAX];
    const char *near;
    tg_buf_t message;

    message = tg_buf_fixed(text, sizeof(text) - 1);
    tg_buf_printf(&message, "%s: unknown %s \"%.*s\"; ", member, what,
                  (int) (word.len < 64 ? word.len : 64), word.data);
    near = tg_spell(word, words);

    if (near != NULL) {
        tg_buf_printf(&message, "did you mean \"%s\"? There are ", near);
    } else {
        tg_buf_text(&message, "there are ");
    }

    for (near = ""; *words != NULL; words++, near = ", ") {
        tg_buf_text(&message, near);
        tg_buf_text(&message, *words);
    }

    text[message.len] = '\0';
    advice->warn(advice->ctx, text);
}

/* --- the trigger --- */

static void
tg_rule_add_members(tg_rule_advice_t *advice, const char *const *names)
{
    for (/* void */; *names != NULL; names++) {
        if (!tg_rule_is_among(tg_str_c(*names), advice->members)) {
            advice->members[advice->nmembers++] = *names;
        }
    }
}

/* Returns whether the rule may fire with the i-th event. */
static int
tg_rule_may_fire(const tg_rule_t *rule, size_t i)
{
    char text[96];
    tg_buf_t event;

    if (rule->trigger != TG_TRIGGER_EVENT) {
        return tg_events[i].members
               == (rule->trigger == TG_TRIGGER_CRON ? tg_event_of_cron
                                                    : tg_event_of_file);
    }

    event = tg_buf_fixed(text, sizeof(text));
    tg_buf_printf(&event, "{\"type\":\"%s\",\"source\":\"%s\"}",
                  tg_events[i].type, tg_events[i].source);

    return tg_rule_is_about(rule, tg_buf_view(&event)) != TG_MISSING;
}

/* Collects the members of the rule's events; returns 0 if it has no events. */
static int
tg_rule_advise_trigger(const tg_rule_t *rule, tg_rule_advice_t *advice)
{
    static const char *const sources[] = { "tasks", "schedule", "file_watcher",
                                           NULL };
    const char *types[TG_EVENTS + 1];
    size_t i;

    for (i = 0; i < TG_EVENTS; i++) {
        types[i] = tg_events[i].type;

        if (tg_rule_may_fire(rule, i)) {
            tg_rule_add_members(advice, tg_events[i].members);
        }
    }

    types[i] = NULL;

    if (advice->nmembers != 0) {
        return 1;
    }

    if (rule->type.data != NULL && !tg_rule_is_among(rule->type, types)) {
        tg_rule_warn(advice, "trigger.type", "event type", rule->type, types);

    } else if (rule->source.data != NULL
               && !tg_rule_is_among(rule->source, sources))
    {
        tg_rule_warn(advice, "trigger.source", "event source", rule->source,
                     sources);

    } else {
        advice->warn(advice->ctx, "trigger: no event has this type, source and "
                                  "pattern, so the rule never fires; remove "
                                  "the source or the pattern");
    }

    return 0;
}

/* --- fields --- */

/* Checks the first name of a field, after "payload.". */
static void
tg_rule_advise_field(const tg_rule_advice_t *advice, const char *member,
                     const char *what, tg_str_t field)
{
    static const char payload[] = "payload.";
    const char *dot;

    if (field.len >= sizeof(payload)
        && memcmp(field.data, payload, sizeof(payload) - 1) == 0)
    {
        field.data += sizeof(payload) - 1;
        field.len -= sizeof(payload) - 1;
    }

    dot = memchr(field.data, '.', field.len);

    if (dot != NULL) {
        field.len = (size_t) (dot - field.data);
    }

    if (field.len != 0 && !tg_rule_is_among(field, advice->members)) {
        tg_rule_warn(advice, member, what, field, advice->members);
    }
}

void
tg_rule_advise(const tg_rule_t *rule, tg_rule_warn_t warn, void *ctx)
{
    tg_rule_advice_t advice;
    tg_str_t text, field;
    const char *member;
    char name[32];
    tg_buf_t path;
    unsigned i;

    memset(&advice, 0, sizeof(advice));
    advice.warn = warn;
    advice.ctx = ctx;

    if (!tg_rule_advise_trigger(rule, &advice)) {
        return;
    }

    tg_rule_add_members(&advice, tg_event_members);

    for (i = 0; i < rule->nconditions; i++) {
        path = tg_buf_fixed(name, sizeof(name) - 1);
        tg_buf_printf(&path, "conditions[%u].field", i);
        name[path.len] = '\0';
        tg_rule_advise_field(&advice, name, "field", rule->conditions[i].field);
    }

    member = rule->action == TG_ACTION_AGENT ? "action.prompt"
                                             : "action.message";
    text = rule->action == TG_ACTION_AGENT ? rule->prompt : rule->message;

    while (text.data != NULL && tg_event_next_field(&text, &field)) {
        tg_rule_advise_field(&advice, member, "field of {{ }}", field);
    }
}
