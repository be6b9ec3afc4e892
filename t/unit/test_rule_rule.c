/* Rules: their JSON, the events that match, and their actions. */
#include "protocol_help.h"

#include "base/tg_json.h"
#include "schema/pcre2/tg_pcre2.h"
#include "rule/tg_rule.h"

#define EVENT                                                                  \
    "{\"type\":\"task.failed\",\"source\":\"tasks\","                          \
    "\"timestamp\":\"2026-11-22T08:15:03.978Z\",\"payload\":{"                 \
    "\"id\":\"task-0007\",\"error\":\"2 tests FAILED 17\\n\","                 \
    "\"priority\":5,\"pid\":null,\"ok\":false,\"ratio\":1.50,"                 \
    "\"files\":[\"a.c\",\"b.c\"],\"type\":\"inner\","                          \
    "\"metadata\":{\"suite\":\"unit\",\"n\":\"12\",\"deep\":{\"x\":1}}}}"

/* Returns a rule with this trigger, these conditions and this action. */
static const char *
rule_text(const char *trigger, const char *conditions, const char *action)
{
    static char text[4096];

    snprintf(text, sizeof(text),
             "{\"id\":\"r\",\"trigger\":%s,\"conditions\":%s,\"action\":%s}",
             trigger, conditions, action);

    return text;
}

/* NULL, with the error in `why`. */
static char why[512];

static tg_rule_t *
rule_read(const char *text)
{
    tg_rule_t *rule;
    tg_buf_t buf;
    int rc;

    rule = NULL;
    buf = tg_buf_make_fixed(why, sizeof(why) - 1);
    rc = tg_rule_parse(tg_alloc_libc(), tg_str_from_cstr(text),
                       tg_pcre2_get_engine(), &rule, &buf);
    why[buf.len] = '\0';
    CU_ASSERT(rc == (rule != NULL ? TG_OK : TG_INVALID));

    return rule;
}

#define NOTIFY "{\"type\":\"notify\",\"message\":\"m\"}"
#define ANY "{\"source\":\"tasks\"}"

static int
about(const char *trigger)
{
    tg_rule_t *rule;
    int rc;

    rule = rule_read(rule_text(trigger, "[]", NOTIFY));
    CU_ASSERT_FATAL(rule != NULL);
    rc = tg_rule_match_event(rule, TG_STR(EVENT));
    tg_rule_free(rule);

    return rc;
}

HELP_TEST(about, "events that match a rule")
{
    CU_ASSERT(about("{\"type\":\"task.failed\"}") == TG_OK);
    CU_ASSERT(about("{\"type\":\"task.completed\"}") == TG_MISSING);
    CU_ASSERT(about("{\"source\":\"tasks\"}") == TG_OK);
    CU_ASSERT(about("{\"source\":\"schedule\"}") == TG_MISSING);
    CU_ASSERT(about("{\"type\":\"task.failed\",\"source\":\"tasks\"}")
              == TG_OK);
    CU_ASSERT(about("{\"type\":\"task.failed\",\"source\":\"x\"}")
              == TG_MISSING);
    CU_ASSERT(about("{\"pattern\":\"^task\\\\.(failed|timeout):tasks$\"}")
              == TG_OK);
    CU_ASSERT(about("{\"pattern\":\"^tasks\"}") == TG_MISSING);
    CU_ASSERT(about("{\"pattern\":\"failed\",\"source\":\"x\"}") == TG_MISSING);
}

static int
holds(const char *condition)
{
    char text[512];
    tg_rule_t *rule;
    int rc;

    snprintf(text, sizeof(text), "[{%s}]", condition);
    rule = rule_read(rule_text(ANY, text, NOTIFY));
    CU_ASSERT_FATAL(rule != NULL);
    rc = tg_rule_check_conditions(rule, TG_STR(EVENT));
    tg_rule_free(rule);

    return rc == TG_OK;
}

#define WHEN(field, op, value)                                                 \
    holds("\"field\":\"" field "\",\"operator\":\"" op "\",\"value\":" value)
#define WHEN_TEXT(field, op, text)                                             \
    holds("\"field\":\"" field "\",\"operator\":\"" op "\",\"text\":\"" text   \
          "\"")

HELP_TEST(conditions, "conditions: each operator by each of its names")
{
    CU_ASSERT(WHEN("payload.metadata.suite", "eq", "\"unit\""));
    CU_ASSERT(WHEN("metadata.suite", "equals", "\"un\\u0069t\""));
    CU_ASSERT(!WHEN("metadata.suite", "eq", "\"Unit\""));
    CU_ASSERT(WHEN("priority", "eq", "5.0"));
    CU_ASSERT(!WHEN("priority", "eq", "\"5\""));
    CU_ASSERT(!WHEN("metadata.n", "eq", "12"));
    CU_ASSERT(WHEN("ok", "eq", "false"));
    CU_ASSERT(!WHEN("ok", "eq", "true"));
    CU_ASSERT(WHEN("pid", "eq", "null"));
    CU_ASSERT(!WHEN("nothing", "eq", "null"));
    CU_ASSERT(WHEN("metadata.suite", "neq", "\"x\""));
    CU_ASSERT(!WHEN("metadata.suite", "not_equals", "\"unit\""));
    CU_ASSERT(WHEN("nothing", "neq", "\"x\""));

    CU_ASSERT(WHEN("error", "contains", "\"FAILED\""));
    CU_ASSERT(WHEN("error", "contains", "\"\""));
    CU_ASSERT(!WHEN("error", "contains", "\"failed\""));
    CU_ASSERT(!WHEN("priority", "contains", "5"));
    CU_ASSERT(WHEN("files", "contains", "\"b.c\""));
    CU_ASSERT(!WHEN("files", "contains", "\"c\""));
    CU_ASSERT(WHEN("error", "matches", "\"FAILED \\\\d+\""));
    CU_ASSERT(!WHEN("error", "matches", "\"^FAILED\""));
    CU_ASSERT(!WHEN("priority", "matches", "\"5\""));
    CU_ASSERT(!WHEN("nothing", "matches", "\"\""));

    CU_ASSERT(WHEN("priority", "gt", "4"));
    CU_ASSERT(!WHEN("priority", "gt", "5"));
    CU_ASSERT(WHEN("priority", "gte", "5"));
    CU_ASSERT(WHEN("ratio", "lt", "1.51"));
    CU_ASSERT(!WHEN("ratio", "lt", "15e-1"));
    CU_ASSERT(WHEN("ratio", "lte", "15e-1"));
    CU_ASSERT(WHEN("priority", "gt", "\"4\""));
    CU_ASSERT(!WHEN("error", "gt", "1"));
    CU_ASSERT(!WHEN("nothing", "lt", "1"));

    CU_ASSERT(WHEN("metadata", "exists", "1"));
    CU_ASSERT(holds("\"field\":\"error\",\"operator\":\"exists\""));
    CU_ASSERT(!holds("\"field\":\"pid\",\"operator\":\"exists\""));
    CU_ASSERT(holds("\"field\":\"pid\",\"operator\":\"not_exists\""));
    CU_ASSERT(holds("\"field\":\"a.b.c\",\"operator\":\"not_exists\""));
    CU_ASSERT(!holds("\"field\":\"id\",\"operator\":\"not_exists\""));
}

HELP_TEST(texts, "conditions of a config: texts, however they are written")
{
    CU_ASSERT(WHEN_TEXT("metadata.suite", "eq", "unit"));
    CU_ASSERT(WHEN_TEXT("metadata.n", "eq", "12"));
    CU_ASSERT(WHEN_TEXT("priority", "eq", "5"));
    CU_ASSERT(WHEN_TEXT("ratio", "eq", "1.5"));
    CU_ASSERT(WHEN_TEXT("ok", "eq", "false"));
    CU_ASSERT(!WHEN_TEXT("ok", "eq", "true"));
    CU_ASSERT(WHEN_TEXT("priority", "neq", "6"));
    CU_ASSERT(WHEN_TEXT("priority", "gte", "5"));
    CU_ASSERT(WHEN_TEXT("error", "contains", "FAILED"));
    CU_ASSERT(WHEN_TEXT("error", "matches", "FAILED \\\\d+"));
    CU_ASSERT(WHEN_TEXT("files", "contains", "a.c"));
}

HELP_TEST(fields, "fields: of the event first, then of its payload")
{
    CU_ASSERT(WHEN("type", "eq", "\"task.failed\""));
    CU_ASSERT(WHEN("payload.type", "eq", "\"inner\""));
    CU_ASSERT(WHEN("files.0", "eq", "\"a.c\""));
    CU_ASSERT(WHEN("payload.files.1", "eq", "\"b.c\""));
    CU_ASSERT(!WHEN("files.2", "exists", "1"));
    CU_ASSERT(!WHEN("files.x", "exists", "1"));
    CU_ASSERT(!WHEN("files.", "exists", "1"));
    CU_ASSERT(!WHEN("error.x", "exists", "1"));
    CU_ASSERT(!WHEN("payload..id", "exists", "1"));
    CU_ASSERT(WHEN("metadata.deep.x", "eq", "1"));
}

HELP_TEST(bound, "a pattern that takes too long is given up")
{
    char *text, *event;
    tg_rule_t *rule;
    size_t n;

    n = 100000;
    text = malloc(n + 1);
    event = malloc(n + 128);
    CU_ASSERT_FATAL(text != NULL && event != NULL);
    memset(text, 'a', n);
    text[n - 1] = '!';
    text[n] = '\0';
    snprintf(event, n + 128,
             "{\"type\":\"t\",\"source\":\"s\",\"payload\":{\"x\":\"%s\"}}",
             text);
    rule = rule_read(rule_text(
        "{\"type\":\"t\"}",
        "[{\"field\":\"x\",\"operator\":\"matches\",\"value\":\"^(a+)+$\"}]",
        NOTIFY));
    CU_ASSERT_FATAL(rule != NULL);
    CU_ASSERT(tg_rule_check_conditions(rule, tg_str_from_cstr(event))
              == TG_LIMIT);
    tg_rule_free(rule);
    free(text);
    free(event);
}

static const char *
put(const char *text, size_t most)
{
    static char made[512];
    tg_buf_t buf;

    buf = tg_buf_make_fixed(made, sizeof(made) - 1);
    buf.alloc = tg_alloc_libc();

    if (tg_event_render_template(&buf, tg_str_from_cstr(text), TG_STR(EVENT),
                                 most)
        != TG_OK)
    {
        return "too much";
    }

    made[buf.len] = '\0';

    return made;
}

HELP_TEST(templates, "texts with fields in them")
{
    HELP_EQ(tg_str_from_cstr(
                put("Mend {{payload.id}}: {{payload.error}}.", 512)),
            "Mend task-0007: 2 tests FAILED 17\n.");
    HELP_EQ(tg_str_from_cstr(put("{{id}}{{priority}}", 512)), "task-00075");
    HELP_EQ(tg_str_from_cstr(
                put("{{metadata.deep}} {{files}} {{pid}} {{ok}}", 512)),
            "{\"x\":1} [\"a.c\",\"b.c\"] null false");
    HELP_EQ(tg_str_from_cstr(put("{{files.1}}", 512)), "b.c");
    HELP_EQ(tg_str_from_cstr(
                put("{{nothing}} {{a.b}} {{}} {{ id }} {{id} {id}}", 512)),
            "{{nothing}} {{a.b}} {{}} {{ id }} {{id} {id}}");
    HELP_EQ(tg_str_from_cstr(put("{{{id}}}", 512)), "{task-0007}");
    HELP_EQ(tg_str_from_cstr(put("{{id", 512)), "{{id");
    HELP_EQ(tg_str_from_cstr(put("", 512)), "");
    HELP_EQ(tg_str_from_cstr(put("{{id}}{{id}}", 18)), "task-0007task-0007");
    HELP_EQ(tg_str_from_cstr(put("{{id}}{{id}}", 17)), "too much");
}

HELP_TEST(inserted,
          "inserted fields are text: once, whole, without NUL, bounded")
{
    HELP_BUFFER(event);
    HELP_BUFFER(out);
    size_t i;

    tg_buf_append_cstr(&event, "{\"payload\":{\"id\":\"{{secret}}\","
                               "\"secret\":\"s\",\"nul\":\"a\\u0000b\\u0000\","
                               "\"long\":\"");

    for (i = 0; i < TG_EVENT_VALUE_MAX / 2; i++) {
        tg_buf_append_cstr(&event, "\xc3\xa4");
    }

    tg_buf_append_cstr(&event, "x\"}}");
    CU_ASSERT(tg_event_render_template(&out, TG_STR("{{id}}-{{nul}}-"),
                                       tg_buf_view(&event), 1000)
              == TG_OK);
    HELP_EQ(tg_buf_view(&out), "{{secret}}-a\xef\xbf\xbd"
                               "b\xef\xbf\xbd-");
    tg_buf_reset(&out, 0);
    CU_ASSERT(tg_event_render_template(&out, TG_STR("1{{long}}2"),
                                       tg_buf_view(&event), 100000)
              == TG_OK);
    CU_ASSERT(out.len == TG_EVENT_VALUE_MAX + 2);
    CU_ASSERT(out.data[out.len - 1] == '2');
    CU_ASSERT((unsigned char) out.data[out.len - 2] == 0xa4);

    /* The largest number of conditions: each is one step. */
    tg_buf_reset(&event, 0);
    tg_buf_append_cstr(&event, "{\"nul\":\"");

    for (i = 0; i < TG_EVENT_VALUE_MAX + 1; i++) {
        tg_buf_append_cstr(&event, "\\u0000");
    }

    tg_buf_append_cstr(&event, "\"}");
    tg_buf_reset(&out, 0);
    CU_ASSERT(tg_event_render_template(&out, TG_STR("<{{nul}}>"),
                                       tg_buf_view(&event), 1000000)
              == TG_OK);
    CU_ASSERT(out.len == 3 * TG_EVENT_VALUE_MAX + 2);
    CU_ASSERT(memchr(out.data, '\0', out.len) == NULL);
    CU_ASSERT(out.data[out.len - 1] == '>');
}

HELP_TEST(whole, "all members of a rule")
{
    tg_rule_t *rule;
    HELP_BUFFER(json);

    rule = rule_read(
        "{\"id\":\"mend \\u00e4\",\"description\":\"d\",\"enabled\":false,"
        "\"cooldownMs\":600000,\"requiresApproval\":true,\"x\":1,\"trigger\":"
        "{\"type\":\"task.failed\", \"source\":\"tasks\"},\"action\":{\"type\":"
        "\"agent\",\"agent\":\"a\",\"prompt\":\"p\",\"priority\":-3}}");
    CU_ASSERT_FATAL(rule != NULL);
    HELP_EQ(rule->id, "mend \xc3\xa4");
    HELP_EQ(rule->description, "d");
    CU_ASSERT(!rule->is_enabled);
    CU_ASSERT(rule->needs_approval);
    CU_ASSERT(rule->cooldown_ms == 600000);
    CU_ASSERT(rule->priority == -3);
    tg_rule_write_json(&json, rule);
    HELP_EQ(tg_buf_view(&json),
            "\"trigger\":{\"type\":\"task.failed\",\"source\":\"tasks\"},"
            "\"action\":{\"type\":\"agent\",\"agent\":\"a\",\"prompt\":\"p\","
            "\"priority\":-3}");
    tg_rule_free(rule);

    rule = rule_read(
        "{\"id\":\"h\",\"secret\":\"s\",\"trigger\":{\"type\":\"file\","
        "\"path\":\"/srv\",\"glob\":[\"*.c\",\"*.h\"],\"events\":[\"change\","
        "\"delete\"],\"debounceMs\":0},\"action\":{\"type\":\"webhook\","
        "\"message\":\"m\",\"url\":\"https://hooks.example/T0/secret\"}}");
    CU_ASSERT_FATAL(rule != NULL);
    CU_ASSERT(rule->is_enabled && !rule->needs_approval);
    CU_ASSERT(rule->events == (TG_FILE_CHANGE | TG_FILE_DELETE));
    CU_ASSERT(rule->debounce_ms == 0);
    CU_ASSERT(tg_rule_match_file(rule, TG_STR("src/a.h")));
    CU_ASSERT(!tg_rule_match_file(rule, TG_STR("src/a.o")));
    HELP_EQ(rule->secret, "s");
    tg_buf_reset(&json, 0);
    tg_rule_write_json(&json, rule);
    CU_ASSERT(tg_rule_match_event(rule, TG_STR(EVENT)) == TG_MISSING);
    tg_buf_append_char(&json, '\0');
    CU_ASSERT(strstr(json.data, "\"url\":\"https://hooks.example\"") != NULL);
    CU_ASSERT(strstr(json.data, "secret") == NULL);
    tg_rule_free(rule);

    rule = rule_read(rule_text("{\"type\":\"cron\",\"expression\":\"@daily\","
                               "\"zone\":\"Europe/Berlin\","
                               "\"missed\":\"skip\"}",
                               "[]", NOTIFY));
    CU_ASSERT_FATAL(rule != NULL);
    HELP_EQ(rule->zone, "Europe/Berlin");
    CU_ASSERT(rule->is_missed_skipped);
    CU_ASSERT(tg_rule_match_file(rule, TG_STR("anything")));
    tg_rule_free(rule);
}

static int
wrong(const char *text, const char *what)
{
    tg_rule_t *rule;
    int is;

    rule = rule_read(text);
    is = rule == NULL && strncmp(why, what, strlen(what)) == 0;

    if (!is) {
        printf("%s: %s\n", text, why);
    }

    tg_rule_free(rule);

    return is;
}

#define WRONG(trigger, conditions, action, what)                               \
    CU_ASSERT(wrong(rule_text(trigger, conditions, action), what))
#define AGENT "{\"type\":\"agent\"}"
#define CRON(members) "{\"type\":\"cron\"," members "}"
#define FILES(members) "{\"type\":\"file\"," members "}"
#define CONDITION(members) "[{\"field\":\"x\"," members "}]"

HELP_TEST(mistakes, "errors, and their locations")
{
    CU_ASSERT(wrong("[]", "a rule must be an object"));
    CU_ASSERT(wrong("{}", "id: "));
    CU_ASSERT(wrong("{\"id\":1}", "id: must be a string"));
    CU_ASSERT(wrong("{\"id\":\"a\\nb\"}", "id: must be a string"));
    CU_ASSERT(wrong("{\"id\":\"a\\u0000b\"}", "id: must not contain a NUL"));
    CU_ASSERT(wrong("{\"id\":\"a\",\"enabled\":1}", "enabled: must be true"));
    CU_ASSERT(wrong("{\"id\":\"a\",\"cooldownMs\":-1}", "cooldownMs: must be"));
    CU_ASSERT(wrong("{\"id\":\"a\"}", "trigger: must be an object"));
    WRONG("{}", "[]", AGENT, "trigger: needs a type, a source or a pattern");
    WRONG("{\"type\":1}", "[]", AGENT, "trigger.type: must be a string");
    WRONG("{\"pattern\":\"(\"}", "[]", AGENT, "trigger.pattern: ");
    WRONG(CRON("\"expression\":\"x\""), "[]", AGENT,
          "trigger.expression: it must have five fields");
    WRONG(CRON("\"expression\":\"0 0 30 2 *\""), "[]", AGENT,
          "trigger.expression: this day does not exist");
    WRONG(CRON("\"zone\":\"UTC\""), "[]", AGENT, "trigger.expression: ");
    WRONG(CRON("\"expression\":\"@daily\",\"zone\":\"../x\""), "[]", AGENT,
          "trigger.zone: must be the name");
    WRONG(CRON("\"expression\":\"@daily\",\"missed\":\"no\""), "[]", AGENT,
          "trigger.missed: must be run or skip");
    WRONG(FILES("\"path\":\"src\""), "[]", AGENT, "trigger.path: must be");
    WRONG(FILES("\"path\":\"/a\",\"glob\":\"[\""), "[]", AGENT,
          "trigger.glob: a [ needs its ]");
    WRONG(FILES("\"path\":\"/a\",\"glob\":[1]"), "[]", AGENT,
          "trigger.glob: must be a string");
    WRONG(FILES("\"path\":\"/a\",\"events\":[\"move\"]"), "[]", AGENT,
          "trigger.events: must be create, change or delete");
    WRONG(FILES("\"path\":\"/a\",\"debounceMs\":3600001"), "[]", AGENT,
          "trigger.debounceMs: must be");
    WRONG(ANY, "{}", AGENT, "conditions: must be an array");
    WRONG(ANY, "[1]", AGENT, "conditions[0]: must be an object");
    WRONG(ANY, "[{\"operator\":\"eq\"}]", AGENT,
          "conditions[0]: needs a field");
    WRONG(ANY, CONDITION("\"operator\":\"is\""), AGENT,
          "conditions[0].operator: must be eq");
    WRONG(ANY, CONDITION("\"operator\":\"eq\""), AGENT,
          "conditions[0]: needs a value");
    WRONG(ANY, CONDITION("\"operator\":\"eq\",\"value\":{}"), AGENT,
          "conditions[0].value: must be a string");
    WRONG(ANY, CONDITION("\"operator\":\"gt\",\"value\":\"x\""), AGENT,
          "conditions[0].value: must be a number");
    WRONG(ANY, CONDITION("\"operator\":\"matches\",\"value\":true"), AGENT,
          "conditions[0].value: must be a pattern");
    WRONG(ANY, CONDITION("\"operator\":\"matches\",\"value\":\"[\""), AGENT,
          "conditions[0]: ");
    WRONG(ANY, "[]", "1", "action: must be an object");
    WRONG(ANY, "[]", "{}", "action.type: must be agent, notify or webhook");
    WRONG(ANY, "[]", "{\"type\":\"notify\"}", "action.message: is missing");
    WRONG(ANY, "[]", "{\"type\":\"webhook\"}", "action.url: is missing");
    WRONG(ANY, "[]", "{\"type\":\"webhook\",\"url\":\"ftp://x\"}",
          "action.url: ");
    WRONG(ANY, "[]", "{\"type\":\"agent\",\"prompt\":1}",
          "action.prompt: must be a string");
    WRONG(ANY, "[]", "{\"type\":\"agent\",\"priority\":1.5}",
          "action.priority: must be a whole number");
}

static void
nomem(const tg_alloc_t *alloc, int may_fail)
{
    tg_rule_t *rule;
    tg_buf_t text;
    int rc;

    tg_buf_init(&text, alloc);
    rc = tg_rule_parse(
        alloc,
        tg_str_from_cstr(rule_text(
            "{\"pattern\":\"a\"}",
            "[{\"field\":\"a\",\"operator\":\"matches\",\"value\":\"b\"}]",
            NOTIFY)),
        tg_pcre2_get_engine(), &rule, &text);
    CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));

    if (rc == TG_OK) {
        rc = tg_rule_match_event(rule, TG_STR(EVENT));
        CU_ASSERT(rc == TG_OK || (may_fail && rc == TG_NOMEM));
        tg_rule_free(rule);
    }

    tg_buf_deinit(&text);
}

HELP_TEST(memory, "without memory")
{
    help_each_failure(nomem);
}
