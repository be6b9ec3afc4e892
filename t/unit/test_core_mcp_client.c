/*
 * The MCP client: conversations as tables.  A row is what happens, the
 * events that follow, and what is sent; in all of them ' stands for ".
 *
 *   {…          a line of the server's
 *   !start !list !call !call TOKEN !lose
 *   !tick MS    the time is so many ms later, and the client hears of it
 */
#include "core_help.h"

#include "core/tg_mcp_client.h"

#include <stdlib.h>

#define TEST_MAX 65536

typedef struct {
    const char *what;
    const char *events;
    const char *out;
} test_row_t;

typedef struct {
    tg_dialect_t dialect;
    tg_mcp_era_t era;
    const test_row_t *rows;
} test_talk_t;

typedef struct {
    tg_caller_t caller;
    tg_mcp_client_t client;
    tg_buf_t log;
    const tg_tools_t *tools; /* the snapshot that was told last */
    uint64_t now;
    int has_failed;
} test_end_t;

#define INFO "{'name':'test','version':'" TG_VERSION "'}"
#define RPC "{'jsonrpc':'2.0',"
#define INITIALIZE(id)                                                         \
    RPC "'id':" id ",'method':'initialize','params':{"                         \
        "'protocolVersion':'2025-11-25','capabilities':{},'clientInfo':" INFO  \
        "}}\n"
#define INITIALIZED RPC "'method':'notifications/initialized'}\n"
#define LIST(id) RPC "'id':" id ",'method':'tools/list','params':{}}\n"
#define PAGE(id, cursor)                                                       \
    RPC "'id':" id ",'method':'tools/list','params':{'cursor':" cursor "}}\n"
#define KEY "io.modelcontextprotocol/"
#define META                                                                   \
    "'_meta':{'" KEY "protocolVersion':'2026-07-28','" KEY                     \
    "clientCapabilities':{},'" KEY "clientInfo':" INFO "}"
#define DISCOVER RPC "'id':1,'method':'server/discover','params':{" META "}}\n"
#define MODERN_LIST(id)                                                        \
    RPC "'id':" id ",'method':'tools/list','params':{" META "}}\n"
#define SERVER "{'id':1,'result':{'serverInfo':{'name':'s','version':'1'}}}"
#define CHANGED "{'method':'notifications/tools/list_changed'}"
#define REFUSED(id, code)                                                      \
    "{'id':" id ",'error':{'code':" code ",'message':'no'}}"

/* --- conversations --- */

static const test_row_t test_legacy[] = {
    { "!start", "", INITIALIZE("1") },
    { "{'id':1,'result':{'serverInfo':{'name':'s\\'','version':'1'},"
      "'instructions':'Do.','capabilities':{'experimental':{'x':{}},"
      "'tools':{'listChanged':true}}}}",
      "greeted s\\' 1 Do. {'x':{}} changes\n", INITIALIZED LIST("2") },
    { "!call", "called\n",
      RPC "'id':3,'method':'tools/call','params':{'name':'t',"
          "'arguments':{}}}\n" },
    { "!call 7", "called\n",
      RPC "'id':4,'method':'tools/call','params':{'name':'t',"
          "'arguments':{},'_meta':{'progressToken':7}}}\n" },
    { "{'id':3,'result':{}}", "other answer\n", "" },
    { "{'id':2,'result':{'tools':[{'name':'a'},{'name':'b'}]}}", "listed a b\n",
      "" },
    { "{'method':'notifications/x'}", "other notification\n", "" },
    { "{'method':'notifications/subscriptions/acknowledged'}",
      "other notification\n", "" },
    { "!lose", "other answer\n", "" },
    { "!call", "called\n",
      RPC "'id':5,'method':'tools/call','params':{'name':'t',"
          "'arguments':{}}}\n" },
    { NULL, NULL, NULL },
};

static const test_row_t test_bare_server[] = {
    { "!start", "", INITIALIZE("1") },
    { "{'id':1,'result':{}}", "greeted - - - -\n", INITIALIZED LIST("2") },
    /* It has no tools at all. */
    { REFUSED("2", "-32601"), "listed\n", "" },
    { NULL, NULL, NULL },
};

static const test_row_t test_refused[] = {
    { "!start", "", INITIALIZE("1") },
    { REFUSED("1", "-32000"), "refused -32000 no\n", "" },
    { "!lose", "", "" },
    { "!start", "", INITIALIZE("2") },
    { "{'id':2,'result':[]}",
      "refused -32603 its answer to initialize is no object\n", "" },
    { "!lose", "", "" },
    { "!start", "", INITIALIZE("3") },
    { "!tick 9999", "", "" },
    { "!tick 1", "silent\n", "" },
    { "!tick 99999", "", "" },
    { "!lose", "", "" },
    /* Nobody is asked while there is no connection. */
    { "!list", "", "" },
    { CHANGED, "changed\n", "" },
    { NULL, NULL, NULL },
};

static const test_row_t test_pages[] = {
    { "!start", "", INITIALIZE("1") },
    { SERVER, "greeted s 1 - -\n", INITIALIZED LIST("2") },
    { "{'id':2,'result':{'tools':[{'name':'a'}],'nextCursor':'\\u0063'}}", "",
      PAGE("3", "'\\u0063'") },
    { "{'id':3,'result':{'tools':[],'nextCursor':'d'}}", "", PAGE("4", "'d'") },
    { "{'id':4,'result':{'tools':[{'name':'b'},{'name':'\\u0061'},7,{},"
      "{'name':null}],'nextCursor':7}}",
      "listed a b, left out 4\n", "" },
    /* It changed between two pages: from the first one again. */
    { "!list", "", LIST("5") },
    { "{'id':5,'result':{'tools':[{'name':'x'}],'nextCursor':'c'}}", "",
      PAGE("6", "'c'") },
    { REFUSED("6", "-32602"), "", LIST("7") },
    { "{'id':7,'result':{'tools':[{'name':'y'}],'nextCursor':'c'}}", "",
      PAGE("8", "'c'") },
    { REFUSED("8", "-32602"), "", LIST("9") },
    { "{'id':9,'result':{'tools':[{'name':'y'}],'nextCursor':'c'}}", "",
      PAGE("10", "'c'") },
    { REFUSED("10", "-32602"), "", LIST("11") },
    { "{'id':11,'result':{'tools':[{'name':'y'}],'nextCursor':'c'}}", "",
      PAGE("12", "'c'") },
    { REFUSED("12", "-32602"), "unlisted -32602 no\n", "" },
    /* Without a cursor there was nothing that could be stale. */
    { "!list", "", LIST("13") },
    { REFUSED("13", "-32602"), "unlisted -32602 no\n", "" },
    { "!list", "", LIST("14") },
    { "{'id':14,'result':{'tools':{}}}",
      "unlisted -32603 The server's list of tools is no list.\n", "" },
    { "!list", "", LIST("15") },
    { "{'id':15,'result':7}",
      "unlisted -32603 The server's list of tools is no list.\n", "" },
    /* The fifth page is one too many here. */
    { "!list", "", LIST("16") },
    { "{'id':16,'result':{'tools':[],'nextCursor':''}}", "", PAGE("17", "''") },
    { "{'id':17,'result':{'tools':[],'nextCursor':''}}", "", PAGE("18", "''") },
    { "{'id':18,'result':{'tools':[],'nextCursor':''}}", "", PAGE("19", "''") },
    { "{'id':19,'result':{'tools':[],'nextCursor':''}}",
      "unlisted -32603 The server's list of tools does not end.\n", "" },
    { NULL, NULL, NULL },
};

static const test_row_t test_changes[] = {
    { "!start", "", INITIALIZE("1") },
    { SERVER, "greeted s 1 - -\n", INITIALIZED LIST("2") },
    /* While it is fetched: once more, when its time has come. */
    { CHANGED, "changed\n", "" },
    { CHANGED, "changed\n", "" },
    { "{'id':2,'result':{'tools':[{'name':'a'}]}}", "listed a\n", "" },
    { "!tick 99", "", "" },
    { "!tick 1", "", LIST("3") },
    { "{'id':3,'result':{'tools':[ { 'name' : 'a' } ]}}", "listed the same\n",
      "" },
    { CHANGED, "changed\n", "" },
    { CHANGED, "changed\n", "" },
    { "!tick 100", "", LIST("4") },
    { "{'id':4,'result':{'tools':[{'name':'b'}]}}", "listed b\n", "" },
    /* Long after the last one, at once. */
    { "!tick 100", "", "" },
    { CHANGED, "changed\n", LIST("5") },
    { "!list", "", "" },
    { "{'id':5,'result':{'tools':[]}}", "listed\n", "" },
    { "!tick 100", "", LIST("6") },
    /* Lost in the middle: the list stays, and the next one is a whole one. */
    { "{'id':6,'result':{'tools':[{'name':'x'}],'nextCursor':'c'}}", "",
      PAGE("7", "'c'") },
    { CHANGED, "changed\n", "" },
    { "!lose", "", "" },
    { "!tick 1000", "", "" },
    { "!start", "", INITIALIZE("8") },
    { "{'id':8,'result':{}}", "greeted - - - -\n", INITIALIZED LIST("9") },
    { "{'id':9,'result':{'tools':[]}}", "listed the same\n", "" },
    { "!tick 1000", "", "" },
    { NULL, NULL, NULL },
};

static const test_row_t test_modern[] = {
    { "!start", "", DISCOVER },
    { "{'id':1,'result':{'supportedVersions':['2025-11-25','2026-07-28'],"
      "'capabilities':{'tools':{'listChanged':true}},'_meta':{'" KEY
      "serverInfo':{'name':'m','version':'2'}}}}",
      "greeted m 2 - - changes\n",
      RPC "'id':2,'method':'subscriptions/listen','params':{" META
          ",'notifications':{'toolsListChanged':true}}}\n" MODERN_LIST("3") },
    { "{'method':'notifications/subscriptions/acknowledged'}", "", "" },
    { "{'id':3,'result':{'tools':[{'name':'a'}],'nextCursor':'c'}}", "",
      RPC "'id':4,'method':'tools/list','params':{" META ",'cursor':'c'}}\n" },
    { "{'id':4,'result':{'tools':[{'name':'b'}]}}", "listed a b\n", "" },
    { "!call", "called\n",
      RPC "'id':5,'method':'tools/call','params':{'name':'t',"
          "'arguments':{}," META "}}\n" },
    { "!call 8", "called\n",
      RPC "'id':6,'method':'tools/call','params':{'name':'t',"
          "'arguments':{},'_meta':{'" KEY "protocolVersion':'2026-07-28',"
          "'" KEY "clientCapabilities':{},'" KEY "clientInfo':" INFO
          ",'progressToken':8}}}\n" },
    { "!tick 100", "", "" },
    { CHANGED, "changed\n", MODERN_LIST("7") },
    { "{'id':2,'result':{}}", "", "" },
    { "!lose", "other answer\nother answer\n", "" },
    { NULL, NULL, NULL },
};

static const test_row_t test_modern_fixed[] = {
    { "!start", "", DISCOVER },
    { "{'id':1,'result':{'supportedVersions':['2026-07-28']}}",
      "greeted - - - -\n", MODERN_LIST("2") },
    { NULL, NULL, NULL },
};

/* Older servers refuse the first question, answer nonsense, or nothing. */
static const test_row_t test_older[] = {
    { "!start", "", DISCOVER },
    { REFUSED("1", "-32601"), "", INITIALIZE("2") },
    { "{'id':2,'result':{}}", "greeted - - - -\n", INITIALIZED LIST("3") },
    { NULL, NULL, NULL },
};

static const test_row_t test_older_lists[] = {
    { "!start", "", DISCOVER },
    { "{'id':1,'result':{'supportedVersions':['2027-01-01',1]}}", "",
      INITIALIZE("2") },
    { REFUSED("2", "-1"), "refused -1 no\n", "" },
    { NULL, NULL, NULL },
};

static const test_row_t test_older_silent[] = {
    { "!start", "", DISCOVER },
    { "!tick 2999", "", "" },
    { "!tick 1", "", INITIALIZE("2") },
    { "{'id':1,'result':{'supportedVersions':['2026-07-28']}}", "", "" },
    { "!tick 9999", "", "" },
    { "!tick 1", "silent\n", "" },
    { NULL, NULL, NULL },
};

/* Without a handshake, and only when it is asked. */
static const test_row_t test_relay[] = {
    { "!start", "", "" },
    { "!list", "round 1\n",
      "{'kind':'mcp_request','id':1,'method':'tools/list','params':{}}\n" },
    { "{'kind':'mcp_notification','method':"
      "'notifications/tools/list_changed'}",
      "changed\n", "" },
    { "!list", "round 2\n", "" },
    { "{'kind':'mcp_response','id':1,'result':{'tools':[{'name':'a'}]}}",
      "listed a\n", "" },
    { "!tick 1000", "", "" },
    { "!list", "round 2\n",
      "{'kind':'mcp_request','id':2,'method':'tools/list','params':{}}\n" },
    { "{'kind':'mcp_response','id':2,'error':{'code':-32601,"
      "'message':'no'}}",
      "unlisted -32601 no\n", "" },
    { NULL, NULL, NULL },
};

static const test_talk_t test_talks[] = {
    { TG_DIALECT_JSONRPC, TG_MCP_GREETS, test_legacy },
    { TG_DIALECT_JSONRPC, TG_MCP_GREETS, test_bare_server },
    { TG_DIALECT_JSONRPC, TG_MCP_GREETS, test_refused },
    { TG_DIALECT_JSONRPC, TG_MCP_GREETS, test_pages },
    { TG_DIALECT_JSONRPC, TG_MCP_GREETS, test_changes },
    { TG_DIALECT_JSONRPC, TG_MCP_PROBES, test_modern },
    { TG_DIALECT_JSONRPC, TG_MCP_PROBES, test_modern_fixed },
    { TG_DIALECT_JSONRPC, TG_MCP_PROBES, test_older },
    { TG_DIALECT_JSONRPC, TG_MCP_PROBES, test_older_lists },
    { TG_DIALECT_JSONRPC, TG_MCP_PROBES, test_older_silent },
    { TG_DIALECT_RELAY, TG_MCP_BARE, test_relay },
};

#define TEST_TALKS (sizeof(test_talks) / sizeof(test_talks[0]))

/* --- the host --- */

static void
test_put(tg_buf_t *log, tg_str_t text)
{
    tg_buf_char(log, ' ');
    tg_buf_str(log, text.data != NULL ? text : TG_STR("-"));
}

static void
test_put_error(test_end_t *end, const char *what)
{
    tg_buf_text(&end->log, what);
    tg_buf_int(&end->log, end->client.error.code);
    test_put(&end->log, end->client.error.message);
    CU_ASSERT(end->client.error.kind == TG_ANSWER_ERROR);
}

static void
test_put_greeted(test_end_t *end)
{
    const tg_mcp_about_t *about;

    about = &end->client.about;
    tg_buf_text(&end->log, "greeted");
    test_put(&end->log, about->name);
    test_put(&end->log, about->version);
    test_put(&end->log, about->instructions);
    test_put(&end->log, about->experimental);
    tg_buf_text(&end->log, about->has_list_changed ? " changes" : "");
}

static void
test_put_listed(test_end_t *end)
{
    const tg_catalogue_t *catalogue;
    size_t i;

    tg_buf_text(&end->log, "listed");

    if (end->tools == end->client.tools) {
        tg_buf_text(&end->log, " the same");
        return;
    }

    end->tools = end->client.tools;
    catalogue = tg_tools_catalogue(end->tools);

    for (i = 0; i < tg_catalogue_size(catalogue); i++) {
        test_put(&end->log, tg_catalogue_at(catalogue, i)->name);
    }

    if (end->client.nleft_out != 0) {
        tg_buf_text(&end->log, ", left out ");
        tg_buf_uint(&end->log, end->client.nleft_out);
    }
}

static void
test_event(test_end_t *end, tg_mcp_event_t event, const char *other)
{
    switch (event) {
    case TG_MCP_NOTHING:
        return;
    case TG_MCP_OTHER:
        tg_buf_text(&end->log, other);
        break;
    case TG_MCP_GREETED:
        test_put_greeted(end);
        break;
    case TG_MCP_REFUSED:
        test_put_error(end, "refused ");
        break;
    case TG_MCP_SILENT:
        tg_buf_text(&end->log, "silent");
        break;
    case TG_MCP_CHANGED:
        tg_buf_text(&end->log, "changed");
        break;
    case TG_MCP_LISTED:
        test_put_listed(end);
        break;
    case TG_MCP_UNLISTED:
        test_put_error(end, "unlisted ");
        break;
    default:
        end->has_failed = 1;
        return;
    }

    tg_buf_char(&end->log, '\n');
}

static void
test_on_answer(void *host, void *tag, const tg_answer_t *answer)
{
    test_end_t *end;

    end = host;
    test_event(end, tg_mcp_client_answer(&end->client, tag, answer, end->now),
               "other answer");
}

static void
test_on_notification(void *host, tg_str_t method, const tg_message_t *message)
{
    test_end_t *end;

    end = host;
    test_event(end, tg_mcp_client_notification(&end->client, method, end->now),
               "other notification");
}

static const tg_caller_ops_t test_ops = {
    .answer = test_on_answer, .notification = test_on_notification
};

/* --- a row --- */

/* ' stands for ", but in words. */
static void
test_text(tg_buf_t *buf, const char *text)
{
    tg_buf_text(buf, text);

    for (/* void */; buf->len != 0 && *text != '\0'; text++) {
        if (*text == '\'' && (text[1] != 's' || text[2] != ' ')) {
            buf->data[buf->len - strlen(text)] = '"';
        }
    }
}

static void
test_feed(test_end_t *end, const char *text)
{
    size_t consumed;
    tg_buf_t line;
    char *copy;
    int rc;

    tg_buf_init(&line, tg_alloc_libc());
    test_text(&line, text);
    tg_buf_char(&line, '\n');
    copy = help_copy(tg_buf_view(&line));
    rc = tg_caller_input(&end->caller, copy, line.len, &consumed);
    end->has_failed |= rc != TG_OK;
    free(copy);
    tg_buf_deinit(&line);
}

static int
test_act(test_end_t *end, const char *what)
{
    tg_mcp_client_t *client;

    client = &end->client;

    if (strcmp(what, "!start") == 0) {
        return tg_mcp_client_start(client, end->now);
    }

    if (strcmp(what, "!list") == 0) {
        if (client->era == TG_MCP_BARE) {
            tg_buf_text(&end->log, "round ");
            tg_buf_uint(&end->log, tg_mcp_client_round(client));
            tg_buf_char(&end->log, '\n');
        }

        return tg_mcp_client_list(client, end->now);
    }

    if (strncmp(what, "!call", 5) == 0) {
        tg_buf_text(&end->log, "called\n");
        return tg_mcp_client_call(client, TG_STR("t"), TG_STR("{}"),
                                  strtoul(what + 5, NULL, 10), end, NULL);
    }

    if (strcmp(what, "!lose") == 0) {
        tg_mcp_client_lose(client);
        tg_caller_lose(&end->caller);
        return TG_OK;
    }

    end->now += strtoul(what + 5, NULL, 10);
    test_event(end, tg_mcp_client_tick(client, end->now), "");

    return TG_OK;
}

static void
test_says(tg_buf_t *got, const char *expected)
{
    tg_buf_t text;

    tg_buf_init(&text, tg_alloc_libc());
    test_text(&text, expected);
    tg_buf_char(&text, '\0');
    HELP_EQ(tg_buf_view(got), text.data);
    tg_buf_deinit(&text);
    tg_buf_truncate(got, 0);
}

static void
test_row(test_end_t *end, const test_row_t *row, int may_fail)
{
    if (row->what[0] == '!') {
        end->has_failed |= test_act(end, row->what) != TG_OK;
    } else {
        test_feed(end, row->what);
    }

    CU_ASSERT(!end->has_failed || may_fail);

    if (!end->has_failed) {
        test_says(&end->log, row->events);
        test_says(&end->caller.out, row->out);
    }
}

static void
test_run(const tg_alloc_t *alloc, int may_fail)
{
    const test_row_t *row;
    test_end_t end;
    tg_tools_t *held;
    size_t i;

    for (i = 0; i < TEST_TALKS; i++) {
        memset(&end, 0, sizeof(end));
        end.now = 5000;
        tg_buf_init(&end.log, tg_alloc_libc());
        tg_caller_init(&end.caller, alloc, &test_ops, &end,
                       test_talks[i].dialect, TEST_MAX);
        tg_mcp_client_init(&end.client, alloc, &end.caller, test_talks[i].era,
                           TG_STR(TG_MCP_INFO("test")));
        end.client.list.max_pages = 4;

        for (row = test_talks[i].rows; row->what != NULL && !end.has_failed;
             row++) {
            test_row(&end, row, may_fail);
        }

        /* Who holds a snapshot has it for longer than the client. */
        held = end.client.tools != NULL ? tg_tools_hold(end.client.tools)
                                        : NULL;
        tg_mcp_client_deinit(&end.client);
        tg_caller_deinit(&end.caller);
        tg_buf_deinit(&end.log);
        CU_ASSERT(held == NULL || tg_tools_catalogue(held) != NULL);
        tg_tools_release(held);
    }
}

HELP_TEST(conversations, "conversations")
{
    test_run(tg_alloc_libc(), 0);
}

HELP_TEST(no_memory, "no memory")
{
    help_each_failure(test_run);
}
