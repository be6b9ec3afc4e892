/* Warnings about rules that can never fire or that use unknown fields. */
#include "rule/tg_rule.h"

#include "base/tg_json.h"
#include "base/tg_suggest.h"

/* Largest warning in bytes. */
#define TG_RULE_LINT_MESSAGE_MAX 512
/* Largest number of names that a warning lists. */
#define TG_RULE_LINT_NAMES_MAX 32

static const char *const tg_event_members[] = { "type", "source", "timestamp",
                                                "payload", NULL };
static const char *const tg_event_task_members[] = {
    "id",        "prompt",   "agent",   "priority", "state", "createdAt",
    "startedAt", "pid",      "machine", "error",    "cwd",   "completedAt",
    "owner",     "metadata", "result",  "output",   NULL
};
static const char *const tg_event_cron_members[] = { "job_id", "scheduled",
                                                     "missed", NULL };
static const char *const tg_event_file_members[] = { "path",  "event", "count",
                                                     "files", "lost",  NULL };

static const struct {
    const char *type;
    const char *source;
    const char *const *members;
} tg_event_types[] = {
    { "task.queued", "tasks", tg_event_task_members },
    { "task.started", "tasks", tg_event_task_members },
    { "task.completed", "tasks", tg_event_task_members },
    { "task.failed", "tasks", tg_event_task_members },
    { "task.cancelled", "tasks", tg_event_task_members },
    { "task.timeout", "tasks", tg_event_task_members },
    { "cron.fired", "schedule", tg_event_cron_members },
    { "file.changed", "file_watcher", tg_event_file_members },
};

#define TG_EVENT_TYPES (sizeof(tg_event_types) / sizeof(tg_event_types[0]))

typedef struct {
    tg_rule_lint_warn_pt warn;
    void *ctx;
    /* members of the rule's events */
    const char *members[TG_RULE_LINT_NAMES_MAX];
    size_t nmembers;
} tg_rule_lint_t;

static int
tg_rule_is_in_list(tg_str_t word, const char *const *words)
{
    for (/* void */; *words != NULL; words++) {
        if (tg_str_eq(word, tg_str_from_cstr(*words))) {
            return 1;
        }
    }

    return 0;
}

/* Warns of an unknown word, and suggests a similar one and the known ones. */
static void
tg_rule_lint_warn_unknown(const tg_rule_lint_t *lint, const char *member,
                          const char *what, tg_str_t word,
                          const char *const *words)
{
    char text[TG_RULE_LINT_MESSAGE_MAX];
    const char *near;
    tg_buf_t message;

    message = tg_buf_make_fixed(text, sizeof(text) - 1);
    tg_buf_printf(&message, "%s: unknown %s \"%.*s\"; ", member, what,
                  (int) (word.len < 64 ? word.len : 64), word.data);
    near = tg_suggest_word(word, words);

    if (near != NULL) {
        tg_buf_printf(&message, "did you mean \"%s\"? Valid are ", near);
    } else {
        tg_buf_append_cstr(&message, "valid are ");
    }

    for (near = ""; *words != NULL; words++, near = ", ") {
        tg_buf_append_cstr(&message, near);
        tg_buf_append_cstr(&message, *words);
    }

    text[message.len] = '\0';
    lint->warn(lint->ctx, text);
}

static void
tg_rule_lint_add_members(tg_rule_lint_t *lint, const char *const *names)
{
    for (/* void */; *names != NULL; names++) {
        if (!tg_rule_is_in_list(tg_str_from_cstr(*names), lint->members)) {
            lint->members[lint->nmembers++] = *names;
        }
    }
}

static int
tg_rule_can_fire(const tg_rule_t *rule, size_t i)
{
    char text[96];
    tg_buf_t event;

    if (rule->trigger != TG_TRIGGER_EVENT) {
        return tg_event_types[i].members
               == (rule->trigger == TG_TRIGGER_CRON ? tg_event_cron_members
                                                    : tg_event_file_members);
    }

    event = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_append_char(&event, '{');
    tg_json_add_cstr(&event, "type", tg_event_types[i].type);
    tg_json_add_cstr(&event, "source", tg_event_types[i].source);
    tg_buf_append_char(&event, '}');

    return tg_rule_match_event(rule, tg_buf_view(&event)) != TG_MISSING;
}

/* Collects the events' members. Returns 0 if no event fires the rule. */
static int
tg_rule_lint_trigger(const tg_rule_t *rule, tg_rule_lint_t *lint)
{
    static const char *const sources[] = { "tasks", "schedule", "file_watcher",
                                           NULL };
    const char *types[TG_EVENT_TYPES + 1];
    size_t i;

    for (i = 0; i < TG_EVENT_TYPES; i++) {
        types[i] = tg_event_types[i].type;

        if (tg_rule_can_fire(rule, i)) {
            tg_rule_lint_add_members(lint, tg_event_types[i].members);
        }
    }

    types[i] = NULL;

    if (lint->nmembers != 0) {
        return 1;
    }

    if (rule->type.data != NULL && !tg_rule_is_in_list(rule->type, types)) {
        tg_rule_lint_warn_unknown(lint, "trigger.type", "event type",
                                  rule->type, types);

    } else if (rule->source.data != NULL
               && !tg_rule_is_in_list(rule->source, sources))
    {
        tg_rule_lint_warn_unknown(lint, "trigger.source", "event source",
                                  rule->source, sources);

    } else {
        lint->warn(lint->ctx, "trigger: no event matches this type, source and "
                              "pattern, so the rule never fires; remove "
                              "the source or the pattern");
    }

    return 0;
}

/* Checks the first name of a field, after "payload." if present. */
static void
tg_rule_lint_field(const tg_rule_lint_t *lint, const char *member,
                   const char *what, tg_str_t field)
{
    static const char payload[] = "payload.";
    const char *dot;

    if (field.len >= sizeof(payload)
        && memcmp(field.data, payload, sizeof(payload) - 1) == 0)
    {
        field = tg_str_skip(field, sizeof(payload) - 1);
    }

    dot = memchr(field.data, '.', field.len);

    if (dot != NULL) {
        field.len = (size_t) (dot - field.data);
    }

    if (field.len != 0 && !tg_rule_is_in_list(field, lint->members)) {
        tg_rule_lint_warn_unknown(lint, member, what, field, lint->members);
    }
}

void
tg_rule_lint(const tg_rule_t *rule, tg_rule_lint_warn_pt warn, void *ctx)
{
    tg_rule_lint_t lint;
    tg_str_t text, field;
    const char *member;
    char name[32];
    tg_buf_t path;
    unsigned i;

    memset(&lint, 0, sizeof(lint));
    lint.warn = warn;
    lint.ctx = ctx;

    if (!tg_rule_lint_trigger(rule, &lint)) {
        return;
    }

    tg_rule_lint_add_members(&lint, tg_event_members);

    for (i = 0; i < rule->nconditions; i++) {
        path = tg_buf_make_fixed(name, sizeof(name) - 1);
        tg_buf_printf(&path, "conditions[%u].field", i);
        name[path.len] = '\0';
        tg_rule_lint_field(&lint, name, "field", rule->conditions[i].field);
    }

    member = rule->action == TG_ACTION_AGENT ? "action.prompt"
                                             : "action.message";
    text = rule->action == TG_ACTION_AGENT ? rule->prompt : rule->message;

    while (text.data != NULL && tg_event_take_placeholder(&text, &field)) {
        tg_rule_lint_field(&lint, member, "field of {{ }}", field);
    }
}
