/*
 * Events, and the rules that match them. The event of a task contains the task
 * as the store has it.
 */
#include "tasks/automation/tg_firing.h"

#include "base/tg_json.h"
#include "runner/logging/tg_log.h"

#include <stdlib.h>

static const char *const tg_automation_task_events[] = {
    "task.queued", "task.started",   "task.completed",
    "task.failed", "task.cancelled", "task.timeout",
};

#define TG_AUTOMATION_TASK_EVENTS                                              \
    (sizeof(tg_automation_task_events) / sizeof(tg_automation_task_events[0]))

/* Steps of a time slice that matching a rule takes. */
#define TG_AUTOMATION_MATCH_STEPS 64

typedef struct {
    tg_store_query_t query;
    tg_automation_t *automation;
    const char *type;
} tg_task_event_query_t;

void
tg_automation_begin_event(const tg_automation_t *automation, tg_buf_t *event,
                          const char *type, const char *source)
{
    tg_buf_printf(event, "{\"type\":\"%s\",\"source\":\"%s\",\"timestamp\":\"",
                  type, source);
    tg_buf_append_time(event, (uint64_t) automation->now());
    tg_buf_append_cstr(event, "\",\"payload\":");
}

/* --- matching of rules --- */

/* Writes the members of an event that a rule's trigger needs. */
static void
tg_automation_write_event_head(tg_buf_t *head, tg_str_t event)
{
    static const char *const names[] = { "type", "source", NULL };
    tg_str_t members[2];

    (void) tg_json_get_members(event, names, members);
    tg_buf_append_char(head, '{');
    tg_json_add_compact(head, "type", members[0]);
    tg_json_add_compact(head, "source", members[1]);
    tg_buf_append_char(head, '}');
}

/* Returns whether events must wait because the engine is not open. */
static int
tg_automation_is_paused(const tg_automation_t *automation)
{
    return automation->is_enabled && !automation->engine->is_shutting_down
           && automation->engine->state != TG_ENGINE_OPEN;
}

/*
 * Fires the rules from index *next on that match an event. TG_AGAIN: the time
 * slice is over, or rules cannot fire now; TG_OK: all are done.
 */
static int
tg_automation_match_rules(tg_automation_t *automation, tg_str_t event,
                          unsigned chain, unsigned *next)
{
    tg_automation_rule_t *rule;
    tg_sched_t *sched;
    tg_buf_t head;
    size_t steps;
    int matched, rc;

    sched = &automation->engine->tasks->jobs->sched.sched;
    rc = TG_OK;
    tg_buf_init(&head, tg_alloc_libc());
    tg_automation_write_event_head(&head, event);

    while (rc == TG_OK && !tg_buf_has_failed(&head)
           && tg_automation_can_fire(automation) && *next < automation->nrules)
    {
        rule = &automation->rules[(*next)++];
        steps = TG_AUTOMATION_MATCH_STEPS;

        matched = tg_automation_rule_is_enabled(rule)
                      ? tg_rule_match_event(rule->rule, tg_buf_view(&head))
                      : TG_MISSING;

        if (matched != TG_MISSING) {
            tg_automation_fire_rule(automation, rule, matched, event, chain);
            steps = TG_AUTOMATION_FIRE_STEPS + event.len;
        }

        rc = tg_sched_is_slice_over(sched, &automation->publisher, steps)
                 ? TG_AGAIN
                 : TG_OK;
    }

    tg_buf_deinit(&head);

    return *next < automation->nrules && tg_automation_is_paused(automation)
               ? TG_AGAIN
               : rc;
}

static void
tg_automation_remove_event(tg_automation_t *automation,
                           tg_pending_event_t *event)
{
    TAILQ_REMOVE(&automation->events, event, link);
    automation->events_bytes -= event->len;
    free(event);
}

static void
tg_automation_run_publisher(tg_sched_source_t *source)
{
    tg_automation_t *automation;
    tg_engine_t *engine;
    tg_pending_event_t *event;

    automation = TG_CONTAINER_OF(source, tg_automation_t, publisher);
    engine = automation->engine;

    while ((event = TAILQ_FIRST(&automation->events)) != NULL) {
        if (tg_automation_match_rules(automation,
                                      tg_str(event->text, event->len),
                                      event->chain, &event->next)
            != TG_OK)
        {
            return;
        }

        tg_automation_remove_event(automation, event);
    }

    tg_engine_advance(engine);
}

void
tg_automation_publish_event(tg_automation_t *automation, tg_str_t text,
                            unsigned chain)
{
    tg_pending_event_t *event;
    unsigned next;

    automation->publisher.run = tg_automation_run_publisher;
    next = 0;

    if (TAILQ_EMPTY(&automation->events)
        && tg_automation_match_rules(automation, text, chain, &next) == TG_OK)
    {
        return;
    }

    event = automation->events_bytes + text.len
                    <= TG_AUTOMATION_EVENTS_BYTES_MAX
                ? malloc(sizeof(*event) + text.len)
                : NULL;

    if (event == NULL) {
        tg_log(TG_LOG_WARN,
               "too many events at once: an event does not reach all rules");
        return;
    }

    event->next = next;
    event->chain = chain;
    event->len = text.len;
    memcpy(event->text, text.data, text.len);
    automation->events_bytes += text.len;
    TAILQ_INSERT_TAIL(&automation->events, event, link);
    tg_sched_enqueue(&automation->engine->tasks->jobs->sched.sched,
                     &automation->publisher);
}

void
tg_automation_resume_publisher(tg_automation_t *automation)
{
    if (!TAILQ_EMPTY(&automation->events)) {
        tg_sched_enqueue(&automation->engine->tasks->jobs->sched.sched,
                         &automation->publisher);
    }
}

void
tg_automation_flush_events(tg_automation_t *automation)
{
    tg_pending_event_t *event;

    while ((event = TAILQ_FIRST(&automation->events)) != NULL
           && !tg_automation_is_paused(automation))
    {
        if (tg_automation_match_rules(automation,
                                      tg_str(event->text, event->len),
                                      event->chain, &event->next)
            == TG_OK)
        {
            tg_automation_remove_event(automation, event);
        }
    }
}

void
tg_automation_clear_events(tg_automation_t *automation)
{
    tg_pending_event_t *event, *next;

    tg_sched_dequeue(&automation->engine->tasks->jobs->sched.sched,
                     &automation->publisher);

    TG_TAILQ_FOREACH_SAFE(event, &automation->events, link, next)
    {
        free(event);
    }

    TAILQ_INIT(&automation->events);
    automation->events_bytes = 0;
}

/* --- task events --- */

/* Returns the position of a task in a chain; 0: no rule submitted the task. */
static unsigned
tg_automation_get_chain(tg_str_t task)
{
    tg_str_t metadata, source, chain;
    int64_t n;

    if (!tg_json_has_member(task, TG_STR("metadata"), TG_JSON_OBJECT, &metadata)
        || tg_json_get_member(metadata, TG_STR("source"), &source) != TG_OK
        || !tg_json_string_eq(source, TG_STR("automation"))
        || tg_json_get_member(metadata, TG_STR("chain"), &chain) != TG_OK
        || tg_json_parse_int64(chain, &n) != TG_OK || n < 0)
    {
        return 0;
    }

    return n < TG_AUTOMATION_CHAIN_MAX ? (unsigned) n : TG_AUTOMATION_CHAIN_MAX;
}

static void
tg_automation_on_task_queried(tg_store_query_t *query)
{
    tg_automation_t *automation;
    tg_task_event_query_t *task_query;
    tg_buf_t event;

    task_query = query->data;
    automation = task_query->automation;
    automation->ntask_queries--;

    if (query->rc == TG_OK && tg_automation_can_fire(automation)) {
        tg_buf_init(&event, tg_alloc_libc());
        tg_automation_begin_event(automation, &event, task_query->type,
                                  "tasks");
        tg_task_append_json(&event, query);
        tg_buf_append_char(&event, '}');

        if (!tg_buf_has_failed(&event)) {
            tg_automation_publish_event(automation, tg_buf_view(&event),
                                        tg_automation_get_chain(
                                            tg_buf_view(&query->json)));
        }

        tg_buf_deinit(&event);
    }

    tg_store_query_deinit(query);
    free(task_query);
}

/* Returns whether an enabled rule matches such an event or fails on it. */
static int
tg_automation_has_rule_for(const tg_automation_t *automation, const char *type)
{
    char text[96];
    tg_buf_t event;
    unsigned i;

    event = tg_buf_make_fixed(text, sizeof(text));
    tg_buf_append_char(&event, '{');
    tg_json_add_cstr(&event, "type", type);
    tg_json_add_cstr(&event, "source", "tasks");
    tg_buf_append_char(&event, '}');

    for (i = 0; automation->nevents != 0 && i < automation->nrules; i++) {
        if (tg_automation_rule_is_enabled(&automation->rules[i])
            && tg_rule_match_event(automation->rules[i].rule,
                                   tg_buf_view(&event))
                   != TG_MISSING)
        {
            return 1;
        }
    }

    return 0;
}

static void
tg_automation_query_task(tg_automation_t *automation, const char *type,
                         int64_t id)
{
    tg_task_event_query_t *task_query;

    if (!tg_automation_can_fire(automation)
        || !tg_automation_has_rule_for(automation, type))
    {
        return;
    }

    task_query = automation->ntask_queries < TG_AUTOMATION_EVENTS_MAX
                     ? calloc(1, sizeof(*task_query))
                     : NULL;

    if (task_query == NULL) {
        tg_log(TG_LOG_WARN,
               "too many events at once: an event \"%s\" does "
               "not reach any rule",
               type);
        return;
    }

    task_query->automation = automation;
    task_query->type = type;
    tg_store_query_init(&task_query->query, TG_STORE_GET,
                        tg_automation_on_task_queried, task_query);
    task_query->query.id = id;
    automation->ntask_queries++;
    tg_engine_query_store(automation->engine, &task_query->query);
}

/* Records the start or end of a task that a rule submitted. */
static void
tg_automation_track_task(tg_automation_t *automation, const char *type,
                         int64_t id)
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
tg_automation_on_notification(tg_engine_t *engine, const char *method,
                              tg_str_t params)
{
    tg_automation_t *automation;
    tg_str_t task;
    int64_t id;
    size_t i;

    automation = engine->automation;

    if (automation == NULL
        || !tg_json_has_member(params, TG_STR("taskId"), TG_JSON_STRING, &task))
    {
        return;
    }

    for (i = 0; i < TG_AUTOMATION_TASK_EVENTS
                && strcmp(method, tg_automation_task_events[i]) != 0;
         i++)
    {
        /* void */
    }

    if (i == TG_AUTOMATION_TASK_EVENTS) {
        return;
    }

    id = tg_task_parse_id(tg_json_string_body(task));

    if (automation->is_loaded) {
        tg_automation_track_task(automation, tg_automation_task_events[i], id);
    }

    if (automation->is_loaded && engine->state == TG_ENGINE_OPEN) {
        tg_automation_query_task(automation, tg_automation_task_events[i], id);

    } else if (automation->backlog.len / (2 * sizeof(int64_t))
               < TG_AUTOMATION_EVENTS_MAX)
    {
        int64_t entry[2] = { (int64_t) i, id };

        tg_buf_append(&automation->backlog, (const char *) entry,
                      sizeof(entry));
    }
}

void
tg_automation_replay_backlog(tg_automation_t *automation)
{
    int64_t entry[2];
    size_t at;

    for (at = 0; at + sizeof(entry) <= automation->backlog.len;
         at += sizeof(entry)) {
        memcpy(entry, automation->backlog.data + at, sizeof(entry));
        tg_automation_query_task(automation,
                                 tg_automation_task_events[entry[0]], entry[1]);
    }

    tg_buf_reset(&automation->backlog, 0);
}
