/* Registrations merged into users' files, also twice; refused files. */
#include "cli/tg_cli_agent_config.h"

#include "protocol_help.h"

typedef int (*test_merge_pt)(const char *old,
                             const tg_cli_server_entry_t *entry, tg_buf_t *out);

/* out NULL: refused, and the reason contains `why`. */
typedef struct {
    const char *old, *out, *why;
} test_case_t;

static const tg_cli_server_entry_t test_entry = {
    .name = "toolgate",
    .command = "/b/toolgate-bridge",
    .args = { "/run/t \"1\".sock" },
};

#define E "/b/toolgate-bridge"
#define S "/run/t \\\"1\\\".sock"

/* The entry, in a file of its own, or as the last of several servers. */
#define J1                                                                     \
    "\"toolgate\": {\n      \"command\": \"" E                                 \
    "\",\n      \"args\": [\n        \"" S "\"\n      ]\n    }"
#define J "    " J1 "\n  }\n}\n"

static const test_case_t test_json[] = {
    /* an empty file */
    { "", "{\n  \"mcpServers\": {\n" J, NULL },
    { " \r\n", "{\n  \"mcpServers\": {\n" J, NULL },
    { "{}", "{\n  \"mcpServers\": {\n    " J1 "\n  }\n}", NULL },
    /* all other bytes are kept, including comments and trailing commas */
    { "// mine\n{\n  /* a */ \"z\": [1, 2.0,], // z\n  \"mcpServers\": {\n"
      "    \"x\": {\"command\": \"y\"} // x\n    // end\n  }, /* b */\n"
      "  \"b\" : 123456789012345678901234567890,\n}\n// last",
      "// mine\n{\n  /* a */ \"z\": [1, 2.0,], // z\n  \"mcpServers\": {\n"
      "    \"x\": {\"command\": \"y\"}, // x\n    " J1 "\n    // end\n"
      "  }, /* b */\n  \"b\" : 123456789012345678901234567890,\n}\n// last",
      NULL },
    { "{\"a\":-0,\"a\":1e400,\"\":\"\\ud800\\/\"}",
      "{\"a\":-0,\"a\":1e400,\"\":\"\\ud800\\/\",\n  \"mcpServers\": {\n    " J1
      "\n  }\n}",
      NULL },
    /* the file's own line endings */
    { "{\r\n  \"mcpServers\": {\r\n    \"x\": {},\r\n  }\r\n}",
      "{\r\n  \"mcpServers\": {\r\n    \"x\": {},\r\n    \"toolgate\": {\r\n"
      "      \"command\": \"" E "\",\r\n      \"args\": [\r\n        \"" S
      "\"\r\n      ]\r\n    },\r\n  }\r\n}",
      NULL },
    /* an older registration: its other members are kept */
    { "{\"mcpServers\": {\"toolgate\": {\"env\": {\"A\": \"1\"}, \"args\": "
      "[\"/old\", \"x\"], \"command\": \"/old\" , \"x\":1 } } }",
      "{\"mcpServers\": {\"toolgate\": {\"env\": {\"A\": \"1\"}, \"args\": "
      "[\"" S "\"], \"command\": \"" E "\" , \"x\":1 } } }",
      NULL },
    /* a byte order mark */
    { "\xef\xbb\xbf{}",
      "\xef\xbb\xbf{\n  \"mcpServers\": {\n    " J1 "\n  }\n}", NULL },
    /* refused: invalid JSON, or no place for the entry */
    { "{\"a\": 'b'}", NULL, "not valid JSON" },
    { "{\"a\": NaN}", NULL, "not valid JSON" },
    { "{\"a\": 1\n\"b\": 2}", NULL, "not valid JSON at line 2" },
    { "{,}", NULL, "not valid JSON" },
    { "{\"a\": 1} /* open", NULL, "not valid JSON" },
    { "{\"a\": \"\xff\"}", NULL, "not valid JSON" },
    { "{} mine", NULL, "not valid JSON" },
    { "[]", NULL, "not a JSON object" },
    { "1", NULL, "not a JSON object" },
    { "{\"mcpServers\": null}", NULL, "not an object" },
    { "{\"mcpServers\": {}, \"mcpServers\": {}}", NULL, "duplicate" },
    { "{\"mcpServers\": {\"toolgate\": {}, \"toolgate\": {}}}", NULL,
      "duplicate" },
    { "{\"mcpServers\": {\"toolgate\": 1}}", NULL, "--name" },
    { "{\"mcpServers\": {\"toolgate\": {\"url\": \"http://x\"}}}", NULL,
      "--name" },
};

#define T "command = \"" E "\"\nargs = [\"" S "\"]\n"

static const test_case_t test_toml[] = {
    { "", "[mcp_servers.toolgate]\n" T, NULL },
    { "a = 1", "a = 1\n\n[mcp_servers.toolgate]\n" T, NULL },
    { "a = 1\r\n",
      "a = 1\r\n\r\n[mcp_servers.toolgate]\r\ncommand = \"" E
      "\"\r\nargs = [\"" S "\"]\r\n",
      NULL },
    /* the table's own two members, between comments and other keys */
    { "# top\n[mcp_servers.toolgate] # mine\n# why\ncommand = '/old' # c\n"
      "startup_timeout_sec = 20\nargs = [ # a\n  'x', \"]\",\n] # b\n"
      "[mcp_servers.toolgate.env]\nA = \"1\"\n[other]\ncommand = 'no'\n",
      "# top\n[mcp_servers.toolgate] # mine\n" T "# why\n"
      "startup_timeout_sec = 20\n"
      "[mcp_servers.toolgate.env]\nA = \"1\"\n[other]\ncommand = 'no'\n",
      NULL },
    /* other spellings of the header, the values in the other order */
    { "[ mcp_servers . \"toolgate\" ]\nargs=[]\ncommand=''",
      "[ mcp_servers . \"toolgate\" ]\n" T, NULL },
    { "['mcp_servers'.\"\\u0074oolgate\"]",
      "['mcp_servers'.\"\\u0074oolgate\"]\n" T, NULL },
    { "[mcp_servers.toolgate]\nenv = {A = \"1\", B = ['}', \"]\"]}\nargs = []",
      "[mcp_servers.toolgate]\n" T "env = {A = \"1\", B = ['}', \"]\"]}\n",
      NULL },
    { "[mcp_servers.toolgate]\nargs = []\nargs.x = 1\ncommand = ''\n",
      "[mcp_servers.toolgate]\n" T, NULL },
    /* a member that is right stays as it is written */
    { "[mcp_servers.toolgate]\nargs = [ # mine\n  '/run/t \"1\".sock', # it\n"
      "]\ncommand = 'x'\n",
      "[mcp_servers.toolgate]\ncommand = \"" E
      "\"\nargs = [ # mine\n  '/run/t \"1\".sock', # it\n]\n",
      NULL },
    { "[mcp_servers.toolgate]\nx = 1\nargs = ['x']\ncommand = '" E "' # c\n",
      "[mcp_servers.toolgate]\nargs = [\"" S "\"]\nx = 1\ncommand = '" E
      "' # c\n",
      NULL },
    /* what looks like a header but is none */
    { "a = \"\"\"\n[mcp_servers.toolgate]\n\\\"\"\"\"\"\nb = '''\n[x\n'''\n"
      "c = [\n  '[mcp_servers]', # [y\n]\n",
      "a = \"\"\"\n[mcp_servers.toolgate]\n\\\"\"\"\"\"\nb = '''\n[x\n'''\n"
      "c = [\n  '[mcp_servers]', # [y\n]\n\n[mcp_servers.toolgate]\n" T,
      NULL },
    /* other servers, in any form that can be added to */
    { "mcp_servers.x.command = 'y'\nd = 1979-05-27 07:32:00Z\ne = -1_0.5e+3\n"
      "f = [true, inf, +nan, 0xff]\n[[list]]\n[[list]]\n",
      "mcp_servers.x.command = 'y'\nd = 1979-05-27 07:32:00Z\ne = -1_0.5e+3\n"
      "f = [true, inf, +nan, 0xff]\n[[list]]\n[[list]]\n\n"
      "[mcp_servers.toolgate]\n" T,
      NULL },
    { "[mcp_servers]\nx = {command = 'y'}\n",
      "[mcp_servers]\nx = {command = 'y'}\n\n[mcp_servers.toolgate]\n" T,
      NULL },
    { "[mcp_servers.toolgate.env]\nA = '1'\n",
      "[mcp_servers.toolgate.env]\nA = '1'\n\n[mcp_servers.toolgate]\n" T,
      NULL },
    /* a byte order mark; a header at the end of a file of Windows */
    { "\xef\xbb\xbf[mcp_servers.toolgate]\r\nx = 1\r\n",
      "\xef\xbb\xbf[mcp_servers.toolgate]\r\ncommand = \"" E
      "\"\r\nargs = [\"" S "\"]\r\nx = 1\r\n",
      NULL },
    /* refused */
    { "mcp_servers = {}\n", NULL, "--name" },
    { "[mcp_servers]\ntoolgate = {command = 'x'}\n", NULL,
      "line 2 already has" },
    { "[mcp_servers]\ntoolgate.command = 'x'\n", NULL, "--name" },
    { "mcp_servers.toolgate.command = 'x'\n", NULL, "--name" },
    { "mcp_servers.\"toolgate\" = {}\n", NULL, "--name" },
    { "[[mcp_servers]]\n", NULL, "--name" },
    { "[[mcp_servers.toolgate]]\n", NULL, "--name" },
    { "[mcp_servers.toolgate]\n[mcp_servers.toolgate]\n", NULL, "--name" },
    { "[mcp_servers.toolgate]\nurl = 'http://x'\n", NULL, "--name" },
    { "a = 1\nb = c\n", NULL, "line 2 is not valid TOML" },
    { "a = 1 b = 2\n", NULL, "not valid TOML" },
    { "a\n", NULL, "not valid TOML" },
    { "= 1\n", NULL, "not valid TOML" },
    { "a = \"x\n\"\n", NULL, "not valid TOML" },
    { "a = \"\\q\"\n", NULL, "not valid TOML" },
    { "a = \"\"\"x", NULL, "not valid TOML" },
    { "a = [1 2]\n", NULL, "not valid TOML" },
    { "a = {b = 1\n", NULL, "not valid TOML" },
    { "a = 1]\n", NULL, "not valid TOML" },
    { "a = [1}\n", NULL, "not valid TOML" },
    { "[a\n", NULL, "not valid TOML" },
    { "[a]]\n", NULL, "not valid TOML" },
    { "[[a]\n", NULL, "not valid TOML" },
    { "[a] x\n", NULL, "not valid TOML" },
    { "a = \"\xff\"\n", NULL, "UTF-8" },
};

/* Merges as expected; a truncated file is refused or merged correctly. */
static void
test_merge(test_merge_pt merge, const test_case_t *test, size_t len)
{
    HELP_BUFFER(out);
    HELP_BUFFER(again);
    char *old;
    int rc, ok;

    old = strndup(test->old, len);
    rc = merge(old, &test_entry, &out);
    tg_buf_append_char(&out, '\0');

    if (test->old[len] != '\0') {
        ok = rc == TG_OK || (rc == TG_INVALID && out.len > 1);
    } else if (test->out == NULL) {
        ok = rc == TG_INVALID && strstr(out.data, test->why) != NULL;
    } else {
        ok = rc == TG_OK && strcmp(out.data, test->out) == 0
             && merge(out.data, &test_entry, &again) == TG_EXISTS;
    }

    if (!ok) {
        printf("\nfrom %s\nrc %d got %s\n", old, rc, out.data);
    }

    CU_ASSERT(ok);
    free(old);
}

static void
test_merges(test_merge_pt merge, const test_case_t *tests, size_t n)
{
    size_t i, len;

    for (i = 0; i < n; i++) {
        for (len = 0; len <= strlen(tests[i].old); len++) {
            test_merge(merge, &tests[i], len);
        }
    }
}

HELP_TEST(merge_json, ".mcp.json, whole and truncated")
{
    test_merges(tg_cli_agent_config_merge_json, test_json,
                HELP_COUNT(test_json));
}

#define Y(indent) "cmd: \"" E "\"\n" indent "args:\n" indent "- \"" S "\"\n"
#define YE(indent, more)                                                       \
    indent "toolgate:\n" indent more "name: toolgate\n" indent more            \
           "type: stdio\n" indent more                                         \
           Y(indent more) indent more "enabled: true\n" indent more            \
                                      "timeout: 300\n" indent more             \
                                      "description: Tools of Toolgate\n"

static const test_case_t test_yaml[] = {
    { "", "extensions:\n" YE("  ", "  "), NULL },
    { "A: 1 # a\n", "A: 1 # a\nextensions:\n" YE("  ", "  "), NULL },
    { "extensions:\n    # mine\n    x:\n        cmd: y\nB: 2\n",
      "extensions:\n" YE("    ",
                         "  ") "    # mine\n    x:\n        cmd: y\nB: 2\n",
      NULL },
    { "extensions:\n  toolgate:\n    enabled: false # off\n    args:\n    - a\n"
      "    - b\n    cmd: old\n    envs:\n      A: b\n  x:\n"
      "    args: [1]\nC: 3\n",
      "extensions:\n  toolgate:\n    enabled: false # off\n    " Y(
          "    ") "    envs:\n      A: b\n  x:\n    args: [1]\nC: 3\n",
      NULL },
    { "A: 1\nextensions: {}  # none\nB: 2\n",
      "A: 1\nextensions:  # none\n" YE("  ", "  ") "B: 2\n", NULL },
    { "\"extensions\": {}", "\"extensions\":\n" YE("  ", "  "), NULL },
    { "extensions: {x: {cmd: y}}\n", NULL, "line 1" },
    { "extensions:\n  toolgate:\n    uri: z\n", NULL, "--name" },
    { "extensions:\n\tx:\n", NULL, "tabs" },
};

/* is_strict: removing an entry that is absent is reported. */
static void
test_remove(test_merge_pt merge, const char *const *texts, size_t n,
            int is_strict)
{
    tg_cli_server_entry_t removed = test_entry;
    tg_buf_t with, without;
    size_t i;

    removed.is_removed = 1;

    for (i = 0; i < n; i++) {
        tg_buf_init(&with, tg_alloc_libc());
        tg_buf_init(&without, tg_alloc_libc());
        CU_ASSERT(!is_strict || merge(texts[i], &removed, &with) == TG_EXISTS);
        CU_ASSERT(merge(texts[i], &test_entry, &with) == TG_OK);
        tg_buf_append_char(&with, '\0');
        CU_ASSERT(merge(with.data, &removed, &without) == TG_OK);
        HELP_EQ(tg_buf_view(&without), texts[i]);
        tg_buf_deinit(&with);
        tg_buf_deinit(&without);
    }
}

HELP_TEST(remove_json, "removing the entry restores all other bytes")
{
    static const char *const texts[] = {
        "{\n  // mine\n  \"mcpServers\": {\n    \"x\": {}, // x\n  },\n}\n",
        "{\n  \"mcpServers\": {\n    \"x\": {},\n  }\n}\n",
        "{\r\n\t\"mcpServers\": {\r\n\t\t/* none */\r\n\t}\r\n}\r\n",
    };

    test_remove(tg_cli_agent_config_merge_json, texts, HELP_COUNT(texts), 1);
}

HELP_TEST(remove_toml, "removing the table restores all other bytes")
{
    static const char *const texts[] = {
        "",          "# mine\n",    "a = 1\n",
        "a = 1\r\n", "a = 1\n\n\n", "[mcp_servers.x]\ncommand = 'y'\n",
    };

    test_remove(tg_cli_agent_config_merge_toml, texts, HELP_COUNT(texts), 0);
}

HELP_TEST(merge_opencode, "opencode has two formats: a file keeps its own")
{
    static const struct {
        tg_cli_entry_format_t format;
        const char *old, *has;
    } cases[] = {
        { TG_CLI_ENTRY_FORMAT_OPENCODE, "", "\"mcp\": {\n    \"toolgate\": {" },
        { TG_CLI_ENTRY_FORMAT_OPENCODE2, "",
          "\"mcp\": {\n    \"servers\": {\n      \"toolgate\": {" },
        { TG_CLI_ENTRY_FORMAT_OPENCODE,
          "{\"mcp\": {\n    \"servers\": {\n    }}}",
          "\"servers\": {\n      \"toolgate\": {" },
        { TG_CLI_ENTRY_FORMAT_OPENCODE,
          "{\"mcp\": {\n  \"servers\": {\"type\": \"local\"}\n}}",
          "\"local\"},\n  \"toolgate\": {" },
    };
    tg_cli_server_entry_t entry = test_entry;
    tg_buf_t out;
    size_t i;

    entry.servers_key = "mcp";

    for (i = 0; i < HELP_COUNT(cases); i++) {
        entry.format = cases[i].format;
        tg_buf_init(&out, tg_alloc_libc());
        CU_ASSERT(tg_cli_agent_config_merge_json(cases[i].old, &entry, &out)
                  == TG_OK);
        tg_buf_append_char(&out, '\0');
        CU_ASSERT(strstr(out.data, cases[i].has) != NULL);
        CU_ASSERT((strstr(out.data, "enabled") != NULL) == (i % 3 == 0));
        tg_buf_deinit(&out);
    }
}

HELP_TEST(merge_toml, "config.toml, whole and truncated")
{
    test_merges(tg_cli_agent_config_merge_toml, test_toml,
                HELP_COUNT(test_toml));
}

HELP_TEST(merge_yaml, "config.yaml, whole and truncated")
{
    test_merges(tg_cli_agent_config_merge_yaml, test_yaml,
                HELP_COUNT(test_yaml));
}
