/*
 * What happens, and which rules are about it.  Of tasks, the store knows all
 * that there is to say.
 */
#include "runner/automation/tg_execution.h"

#include "base/tg_json.h"
#include "runner/tg_log.h"

#include <stdlib.h>

static const char *const tg_automation_types[] = {
    "task.queued", "task.started",   "task.completed",
    "task.failed", "task.cancelled", "task.timeout",
};

#define TG_AUTOMATION_TYPES                                                    \
    (sizeof(tg_automation_types) / sizeof(tg_automation_types[0]))

/* Of a time slice, what a rule counts as that is not about an event. */
#define TG_AUTOMATION_ASK_STEPS 64

typedef struct {
    tg_store_ask_t ask;
    tg_automation_t *automation;
    const char *type;
} tg_event_ask_t;

void
tg_automation_event(const tg_automation_t *automation, tg_buf_t *event,
                    const char *type, const char *source)
{
    tg_buf_printf(event, "{\"type\":\"%s\",\"source\":\"%s\",\"timestamp\":\"",
                  type, source);
    tg_buf_time(event, (uint64_t) automation->now());
    tg_buf_text(event, "\",\"payload\":");
}

/* --- the rules --- */

/* The members of an event that say which rules are about it. */
static void
tg_automation_head(tg_buf_t *head, tg_str_t event)
{
    static const char *const names[] = { "type", "source", NULL };
    tg_str_t members[2];

    (void) tg_json_members(event, names, members);
    tg_buf_text(head, "{\"x\":0");
    tg_json_put_member(head, ",\"type\":", members[0]);
    tg_json_put_member(head, ",\"source\":", members[1]);
    tg_buf_char(head, '}');
}

/* Do events wait until the store answers again? */
static int
tg_automation_is_paused(const tg_automation_t *automation)
{
    return automation->is_enabled && !automation->engine->is_dropped
           && automation->engine->state != TG_ENGINE_OPEN;
}

/*
 * Asks the rules about an event, from *next on.  TG_OK: all were asked;
 * TG_AGAIN: the slice is over, or rules cannot fire now.
 */
static int
tg_automation_ask_rules(tg_automation_t *automation, tg_str_t event,
                        unsigned chain, unsigned *next)
{
    tg_automation_rule_t *rule;
    tg_sched_t *sched;
    tg_buf_t head;
    size_t steps;
    int rc;

    sched = &automation->engine->tasks->jobs->sched.sched;
    rc = TG_OK;
    tg_buf_init(&head, tg_alloc_libc());
    tg_automation_head(&head, event);

    while (rc == TG_OK && !tg_buf_failed(&head)
           && tg_automation_is_running(automation)
           && *next < automation->nrules)
    {
        rule = &automation->rules[(*next)++];
        steps = TG_AUTOMATION_ASK_STEPS;

        /* A pattern without an answer is told of where it fires. */
        if (tg_automation_is_on(rule)
            && tg_rule_is_about(rule->rule, tg_buf_view(&head)) == TG_OK)
        {
            tg_automation_fire(automation, rule, event, chain);
            steps = TG_AUTOMATION_STEPS + event.len;
        }

        rc = tg_slice_is_over(sched, &automation->publisher, steps) ? TG_AGAIN
                                                                    : TG_OK;
    }

    tg_buf_deinit(&head);

    return *next < automation->nrules && tg_automation_is_paused(automation)
               ? TG_AGAIN
               : rc;
}

static void
tg_automation_remove(tg_automation_t *automation, tg_event_t *event)
{
    TAILQ_REMOVE(&automation->events, event, place);
    automation->events_bytes -= event->len;
    free(event);
}

static void
tg_automation_publish_some(tg_source_t *source)
{
    tg_automation_t *automation;
    tg_engine_t *engine;
    tg_event_t *event;

    automation = TG_OWNER(source, tg_automation_t, publisher);
    engine = automation->engine;

    while ((event = TAILQ_FIRST(&automation->events)) != NULL) {
        if (tg_automation_ask_rules(automation, tg_str(event->text, event->len),
                                    event->chain, &event->next)
            != TG_OK)
        {
            return;
        }

        tg_automation_remove(automation, event);
    }

    engine->go_on(engine);
}

void
tg_automation_publish(tg_automation_t *automation, tg_str_t text,
                      unsigned chain)
{
    tg_event_t *event;
    unsigned next;

    automation->publisher.run = tg_automation_publish_some;
    next = 0;

    if (TAILQ_EMPTY(&automation->events)
        && tg_automation_ask_rules(automation, text, chain, &next) == TG_OK)
    {
        return;
    }

    event = automation->events_bytes + text.len <= TG_AUTOMATION_EVENTS_BYTES
                ? malloc(sizeof(*event) + text.len)
                : NULL;

    if (event == NULL) {
        tg_log(TG_LOG_WARN,
               "too much happens at once: not all rules hear of an event");
        return;
    }

    event->next = next;
    event->chain = chain;
    event->len = text.len;
    memcpy(event->text, text.data, text.len);
    automation->events_bytes += text.len;
    TAILQ_INSERT_TAIL(&automation->events, event, place);
    tg_source_wait(&automation->engine->tasks->jobs->sched.sched,
                   &automation->publisher);
}

void
tg_automation_publish_on(tg_automation_t *automation)
{
    if (!TAILQ_EMPTY(&automation->events)) {
        tg_source_wait(&automation->engine->tasks->jobs->sched.sched,
                       &automation->publisher);
    }
}

void
tg_automation_publish_all(tg_automation_t *automation)
{
    tg_event_t *event;

    while ((event = TAILQ_FIRST(&automation->events)) != NULL
           && !tg_automation_is_paused(automation))
    {
        if (tg_automation_ask_rules(automation, tg_str(event->text, event->len),
                                    event->chain, &event->next)
            == TG_OK)
        {
            tg_automation_remove(automation, event);
        }
    }
}

void
tg_automation_forget(tg_automation_t *automation)
{
    tg_event_t *event, *next;

    tg_source_leave(&automation->engine->tasks->jobs->sched.sched,
                    &automation->publisher);

    for (event = TAILQ_FIRST(&automation->events); event != NULL; event = next)
    {
        next = TAILQ_NEXT(event, place);
        free(event);
    }

    TAILQ_INIT(&automation->events);
    automation->events_bytes = 0;
}

/* --- tasks --- */

/* The place of a task that a rule made in its chain; 0: somebody else did. */
static unsigned
tg_automation_chain_of(tg_str_t task)
{
    tg_str_t metadata, source, chain;
    int64_t n;

    if (!tg_json_has(task, TG_STR("metadata"), TG_JSON_OBJECT, &metadata)
        || tg_json_get(metadata, TG_STR("source"), &source) != TG_OK
        || !tg_json_is_text(source, TG_STR("automation"))
        || tg_json_get(metadata, TG_STR("chain"), &chain) != TG_OK
        || tg_json_int64(chain, &n) != TG_OK || n < 0)
    {
        return 0;
    }

    return n < TG_AUTOMATION_CHAIN_MAX ? (unsigned) n : TG_AUTOMATION_CHAIN_MAX;
}

static void
tg_automation_on_task(tg_store_ask_t *ask)
{
    tg_automation_t *automation;
    tg_event_ask_t *asked;
    tg_engine_t *engine;
    tg_buf_t event;

    asked = ask->data;
    automation = asked->automation;
    engine = automation->engine;
    automation->nasked--;
    tg_engine_answered(engine);

    if (ask->rc == TG_OK && tg_automation_is_running(automation)) {
        tg_buf_init(&event, tg_alloc_libc());
        tg_automation_event(automation, &event, asked->type, "tasks");
        tg_task_put_told(&event, ask);
        tg_buf_char(&event, '}');

        if (!tg_buf_failed(&event)) {
            tg_automation_publish(automation, tg_buf_view(&event),
                                  tg_automation_chain_of(
                                      tg_buf_view(&ask->json)));
        }

        tg_buf_deinit(&event);
    }

    tg_store_ask_deinit(ask);
    free(asked);
    engine->go_on(engine);
}

/* Is there a rule about such events? */
static int
tg_automation_is_wanted(const tg_automation_t *automation, const char *type)
{
    char text[96];
    tg_buf_t event;
    unsigned i;

    event = tg_buf_fixed(text, sizeof(text));
    tg_buf_printf(&event, "{\"type\":\"%s\",\"source\":\"tasks\"}", type);

    for (i = 0; automation->nevents != 0 && i < automation->nrules; i++) {
        if (tg_automation_is_on(&automation->rules[i])
            && tg_rule_is_about(automation->rules[i].rule, tg_buf_view(&event))
                   == TG_OK)
        {
            return 1;
        }
    }

    return 0;
}

static void
tg_automation_ask(tg_automation_t *automation, const char *type, int64_t id)
{
    tg_event_ask_t *asked;

    if (!tg_automation_is_running(automation)
        || !tg_automation_is_wanted(automation, type))
    {
        return;
    }

    asked = automation->nasked < TG_AUTOMATION_EVENTS_MAX
                ? calloc(1, sizeof(*asked))
                : NULL;

    if (asked == NULL) {
        tg_log(TG_LOG_WARN, "too much happens at once: no rule hears of \"%s\"",
               type);
        return;
    }

    asked->automation = automation;
    asked->type = type;
    tg_store_ask_init(&asked->ask, TG_STORE_GET, tg_automation_on_task, asked);
    asked->ask.id = id;
    automation->nasked++;
    tg_engine_ask(automation->engine, &asked->ask);
}

/* What a rule's own task has come to. */
static void
tg_automation_follow(tg_automation_t *automation, const char *type, int64_t id)
{
    tg_automation_rule_t *rule;
    unsigned i;

    for (i = 0; i < automation->nrules; i++) {
        rule = &automation->rules[i];

        if (rule->task == id && strcmp(type, "task.queued") != 0) {
            rule->is_queued = 0;
            rule->ended_at = strcmp(type, "task.started") == 0
                                 ? 0
                                 : automation->now();
        }
    }
}

void
tg_automation_happened(tg_engine_t *engine, const char *method, tg_str_t params)
{
    tg_automation_t *automation;
    tg_str_t task;
    int64_t id;
    size_t i;

    automation = engine->automation;

    if (automation == NULL
        || !tg_json_has(params, TG_STR("taskId"), TG_JSON_STRING, &task))
    {
        return;
    }

    for (i = 0;
         i < TG_AUTOMATION_TYPES && strcmp(method, tg_automation_types[i]) != 0;
         i++)
    {
        /* void */
    }

    if (i == TG_AUTOMATION_TYPES) {
        return;
    }

    id = tg_task_id(tg_json_body(task));

    if (automation->is_loaded) {
        tg_automation_follow(automation, tg_automation_types[i], id);
    }

    if (automation->is_loaded && engine->state == TG_ENGINE_OPEN) {
        tg_automation_ask(automation, tg_automation_types[i], id);

    } else if (automation->backlog.len / (2 * sizeof(int64_t))
               < TG_AUTOMATION_EVENTS_MAX)
    {
        int64_t entry[2] = { (int64_t) i, id };

        tg_buf_put(&automation->backlog, (const char *) entry, sizeof(entry));
    }
}

void
tg_automation_catch_up(tg_automation_t *automation)
{
    int64_t entry[2];
    size_t at;

    for (at = 0; at + sizeof(entry) <= automation->backlog.len;
         at += sizeof(entry)) {
        memcpy(entry, automation->backlog.data + at, sizeof(entry));
        tg_automation_ask(automation, tg_automation_types[entry[0]], entry[1]);
    }

    tg_buf_reset(&automation->backlog, 0);
}
