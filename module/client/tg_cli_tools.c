#include "client/tg_cli_tools.h"

#include "client/tg_cli.h"
#include "client/tg_cli_text.h"

/* Longer names are not compared: MCP has no such tools. */
#define TG_CLI_NEAR_MAX 128
/* Names that are suggested. */
#define TG_CLI_NEAR 3

void
tg_cli_tools_init(tg_json_t *json, tg_str_t list)
{
    tg_str_t tools;

    tools = TG_STR("[]");
    (void) tg_json_get(list, TG_STR("tools"), &tools);
    tg_json_init(json, tools);
    (void) tg_json_array(json);
}

int
tg_cli_tools_next(tg_json_t *json, tg_str_t *tool)
{
    if (tg_json_element(json) != TG_OK) {
        return TG_END;
    }

    return tg_json_value(json, tool);
}

int
tg_cli_tool_text(tg_str_t tool, tg_str_t key, tg_str_t *body)
{
    tg_str_t raw;

    if (!tg_json_has(tool, key, TG_JSON_STRING, &raw)) {
        return TG_MISSING;
    }

    *body = tg_json_body(raw);

    return TG_OK;
}

int
tg_cli_tools_find(tg_str_t list, tg_str_t name, tg_str_t *tool)
{
    tg_json_t json;
    tg_str_t one, body;

    tg_cli_tools_init(&json, list);

    while (tg_cli_tools_next(&json, &one) == TG_OK) {
        if (tg_cli_tool_text(one, TG_STR("name"), &body) == TG_OK
            && tg_json_body_is(body, name))
        {
            *tool = one;
            return TG_OK;
        }
    }

    return TG_MISSING;
}

/* --- near names --- */

static char
tg_cli_fold(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char) (c - 'A' + 'a');
    }

    return c == '-' || c == '.' ? '_' : c;
}

/* Levenshtein's distance, with letters' case and separators alike. */
static size_t
tg_cli_distance(tg_str_t a, tg_str_t b)
{
    size_t row[TG_CLI_NEAR_MAX + 1];
    size_t i, j, diagonal, above, cost;

    for (j = 0; j <= b.len; j++) {
        row[j] = j;
    }

    for (i = 1; i <= a.len; i++) {
        diagonal = row[0];
        row[0] = i;

        for (j = 1; j <= b.len; j++) {
            above = row[j];
            cost = tg_cli_fold(a.data[i - 1]) != tg_cli_fold(b.data[j - 1]);
            cost += diagonal;
            cost = above + 1 < cost ? above + 1 : cost;
            row[j] = row[j - 1] + 1 < cost ? row[j - 1] + 1 : cost;
            diagonal = above;
        }
    }

    return row[b.len];
}

/* 0 when it is far; else the smaller the nearer. */
static size_t
tg_cli_nearness(tg_str_t name, tg_str_t other)
{
    size_t distance;

    if (name.len == 0 || name.len > TG_CLI_NEAR_MAX
        || other.len > TG_CLI_NEAR_MAX) {
        return 0;
    }

    /* A part of it: `count` for word_count. */
    if (name.len >= 3
        && memmem(other.data, other.len, name.data, name.len) != NULL) {
        return 1;
    }

    distance = tg_cli_distance(name, other);

    return distance <= 1 + name.len / 4 ? 1 + distance : 0;
}

typedef struct {
    tg_str_t bodies[TG_CLI_NEAR]; /* the nearest first */
    size_t distances[TG_CLI_NEAR];
    size_t count;
} tg_cli_near_t;

static void
tg_cli_near_add(tg_cli_near_t *near, tg_str_t body, size_t distance)
{
    size_t i;

    i = near->count < TG_CLI_NEAR ? near->count++ : TG_CLI_NEAR - 1;

    if (i == TG_CLI_NEAR - 1 && near->count == TG_CLI_NEAR
        && near->bodies[i].data != NULL && near->distances[i] <= distance)
    {
        return;
    }

    for (/* void */; i > 0 && near->distances[i - 1] > distance; i--) {
        near->bodies[i] = near->bodies[i - 1];
        near->distances[i] = near->distances[i - 1];
    }

    near->bodies[i] = body;
    near->distances[i] = distance;
}

static void
tg_cli_near_find(tg_cli_near_t *near, tg_str_t list, tg_str_t name)
{
    tg_json_t json;
    tg_str_t tool, body;
    size_t distance;

    memset(near, 0, sizeof(*near));
    tg_cli_tools_init(&json, list);

    /* Names have no escapes, as a rule; those that do are not suggested. */
    while (tg_cli_tools_next(&json, &tool) == TG_OK) {
        if (tg_cli_tool_text(tool, TG_STR("name"), &body) != TG_OK) {
            continue;
        }

        distance = tg_cli_nearness(name, body);

        if (distance != 0) {
            tg_cli_near_add(near, body, distance);
        }
    }
}

int
tg_cli_tools_unknown(tg_str_t list, tg_str_t name)
{
    tg_cli_near_t near;
    tg_buf_t text;
    size_t i;

    tg_cli_near_find(&near, list, name);
    tg_buf_init(&text, tg_alloc_libc());

    for (i = 0; i < near.count; i++) {
        tg_buf_text(&text, i == 0 ? "; did you mean " : " or ");
        tg_buf_str(&text, near.bodies[i]);
    }

    if (near.count != 0) {
        tg_buf_char(&text, '?');
    }

    tg_cli_error("there is no tool \"%.*s\"%.*s (toolgate list shows them all)",
                 (int) name.len, name.data, (int) text.len,
                 text.len != 0 ? text.data : "");
    tg_buf_deinit(&text);

    return TG_CLI_REFUSED;
}
