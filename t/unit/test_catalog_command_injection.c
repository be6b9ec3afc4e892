/* Command lines in configs: words that are code, or may be options. */
#include "protocol_help.h"

#include "catalog/tg_command_injection.h"

#define TEST_WORDS_MAX 16

/* Splits a line at "|"; a word may contain spaces. */
static size_t
test_words(const char *line, tg_command_word_t *words)
{
    size_t n, len;

    for (n = 0; n < TEST_WORDS_MAX; n++) {
        len = strcspn(line, "|");
        words[n] = (tg_command_word_t){ .text = tg_str(line, len) };
        line += len;

        if (*line == '\0') {
            return n + 1;
        }

        line++;
    }

    return n;
}

/* A command line, its word of code with a value, and the interpreter. */
typedef struct {
    const char *line;
    const char *code; /* NULL: no such word */
    const char *name;
    tg_command_hint_t hint;
} test_row_t;

static void
test_code(const test_row_t *rows, size_t n)
{
    tg_command_word_t words[TEST_WORDS_MAX];
    tg_command_finding_t code;
    size_t i, nwords;
    int rc;

    for (i = 0; i < n; i++) {
        nwords = test_words(rows[i].line, words);
        rc = tg_command_find_injection(words, nwords, NULL, &code);
        CU_ASSERT_EQUAL(rc, rows[i].code != NULL ? TG_OK : TG_MISSING);

        if (rc != (rows[i].code != NULL ? TG_OK : TG_MISSING)) {
            printf("\n%s: %d\n", rows[i].line, rc);
        }

        if (rc != TG_OK || rows[i].code == NULL) {
            continue;
        }

        CU_ASSERT(
            tg_str_eq(words[code.word].text, tg_str_from_cstr(rows[i].code)));
        CU_ASSERT(tg_str_eq(code.name, tg_str_from_cstr(rows[i].name)));
        CU_ASSERT_EQUAL(code.program->hint, rows[i].hint);
    }
}

#define TEST_CODE(rows) test_code(rows, HELP_COUNT(rows))

HELP_TEST(shells, "shell code")
{
    static const test_row_t rows[] = {
        { "sh|-c|echo $tool_arg_x", "echo $tool_arg_x", "sh",
          TG_COMMAND_HINT_SHELL },
        { "/bin/bash|-lc|echo ${tool_arg_x.y}", "echo ${tool_arg_x.y}",
          "/bin/bash", TG_COMMAND_HINT_SHELL },
        { "dash|-e|-c|-x|echo $tool_json_x", "echo $tool_json_x", "dash",
          TG_COMMAND_HINT_SHELL },
        { "zsh|-o|pipefail|-c|--|x$tool_arguments", "x$tool_arguments", "zsh",
          TG_COMMAND_HINT_SHELL },
        { "ksh|--rcfile|f|-ec|x $task_prompt", "x $task_prompt", "ksh",
          TG_COMMAND_HINT_SHELL },
        { "sh|-c|$tool_arg_x$tool_arg_y", "$tool_arg_x$tool_arg_y", "sh",
          TG_COMMAND_HINT_SHELL },
        { "sh|-c|a $tool_request_id", "a $tool_request_id", "sh",
          TG_COMMAND_HINT_SHELL },
        { "sh|-c|a $tool_uri", "a $tool_uri", "sh", TG_COMMAND_HINT_SHELL },
        { "sh|-c|a $tool_client_version", "a $tool_client_version", "sh",
          TG_COMMAND_HINT_SHELL },
        { "sh|-c|a $tool_client_via", "a $tool_client_via", "sh",
          TG_COMMAND_HINT_SHELL },
        { "sh|-c|a $ssl_server_name", "a $ssl_server_name", "sh",
          TG_COMMAND_HINT_SHELL },
        { "bash|+x|+o|posix|-c|echo $tool_arg_x", "echo $tool_arg_x", "bash",
          TG_COMMAND_HINT_SHELL },
        { "bash|-euo|pipefail|-xc|echo $tool_arg_x", "echo $tool_arg_x", "bash",
          TG_COMMAND_HINT_SHELL },
        { "fish|-c|echo $tool_arg_x", "echo $tool_arg_x", "fish",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "/bin/bash-static|-c|echo $tool_arg_x", "echo $tool_arg_x",
          "/bin/bash-static", TG_COMMAND_HINT_SHELL },
        { "nu|--commands|ls $tool_arg_x", "ls $tool_arg_x", "nu",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "pwsh|-NoProfile|-Command|ls '$tool_arg_x'", "ls '$tool_arg_x'",
          "pwsh", TG_COMMAND_HINT_ENVIRONMENT },
        { "pwsh|-c|Get-Item|$tool_arg_x", "$tool_arg_x", "pwsh",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "pwsh|-Command|$tool_arg_x", NULL, NULL, 0 },
        { "pwsh|-File|x.ps1|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "sh|-c|$tool_arg_x", NULL, NULL, 0 },
        { "sh|-c|${tool_arg_x}|sh|a $tool_arg_y", NULL, NULL, 0 },
        { "sh|-c|echo \"$$1\"|sh|$tool_arg_x", NULL, NULL, 0 },
        { "sh|-c|echo \"$$1\" -c|sh|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "sh|-c|echo $tool_name $hostname $tool_has_x", NULL, NULL, 0 },
        { "sh|-c|echo $$tool_arg_x", NULL, NULL, 0 },
        { "sh|script|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "sh|a$tool_arg_x", NULL, NULL, 0 },
        { "bash|-c", NULL, NULL, 0 },
        { "grep|-c|a $tool_arg_x", NULL, NULL, 0 },
    };

    TEST_CODE(rows);
}

HELP_TEST(languages, "code of other languages")
{
    static const test_row_t rows[] = {
        { "python3|-c|print('$tool_arg_x')", "print('$tool_arg_x')", "python3",
          TG_COMMAND_HINT_PYTHON },
        { "/usr/bin/python3.11|-Ic|print('$tool_arg_x')",
          "print('$tool_arg_x')", "/usr/bin/python3.11",
          TG_COMMAND_HINT_PYTHON },
        { "python3|-Wd|-cprint($tool_arg_x)", "-cprint($tool_arg_x)", "python3",
          TG_COMMAND_HINT_PYTHON },
        { "python3|-c$tool_arg_x", NULL, NULL, 0 },
        { "python3|-c|import sys|a $tool_arg_x", NULL, NULL, 0 },
        { "python3|-m|tool|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "python3|tool.py|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "perl|-lne|print if /$tool_arg_x/|f", "print if /$tool_arg_x/",
          "perl", TG_COMMAND_HINT_PERL },
        { "perl|-pi.e|-e|s/$tool_arg_x/b/", "s/$tool_arg_x/b/", "perl",
          TG_COMMAND_HINT_PERL },
        { "perl|-I|lib|-Mstrict|-E|say $tool_arg_x", "say $tool_arg_x", "perl",
          TG_COMMAND_HINT_PERL },
        { "perl|x.pl|-e|a $tool_arg_x", NULL, NULL, 0 },
        { "node|-e|f('$tool_arg_x')", "f('$tool_arg_x')", "node",
          TG_COMMAND_HINT_NODE },
        { "node|-pe|f('$tool_arg_x')", "f('$tool_arg_x')", "node",
          TG_COMMAND_HINT_NODE },
        { "node|-r|x|--eval=f('$tool_arg_x')", "--eval=f('$tool_arg_x')",
          "node", TG_COMMAND_HINT_NODE },
        { "node|--print|f('$tool_arg_x')", "f('$tool_arg_x')", "node",
          TG_COMMAND_HINT_NODE },
        { "node|--eval=$tool_arg_x", NULL, NULL, 0 },
        { "node|-e|f()|a $tool_arg_x", NULL, NULL, 0 },
        { "node|x.js|-e|a $tool_arg_x", NULL, NULL, 0 },
        { "ruby|-e|puts '$tool_arg_x'", "puts '$tool_arg_x'", "ruby",
          TG_COMMAND_HINT_RUBY },
        { "php8.2|-r|echo '$tool_arg_x';", "echo '$tool_arg_x';", "php8.2",
          TG_COMMAND_HINT_PHP },
        { "deno|eval|-p|f('$tool_arg_x')", "f('$tool_arg_x')", "deno",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "deno|run|x.js|a $tool_arg_x", NULL, NULL, 0 },
        { "lua5.4|-e|f('$tool_arg_x')", "f('$tool_arg_x')", "lua5.4",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "awk|-F|,|/$tool_arg_x/|f", "/$tool_arg_x/", "awk",
          TG_COMMAND_HINT_AWK },
        { "gawk|-e|/$tool_arg_x/|f", "/$tool_arg_x/", "gawk",
          TG_COMMAND_HINT_AWK },
        { "awk|-v|x=a$tool_arg_x|{ print x }|f$tool_arg_y", NULL, NULL, 0 },
        { "awk|-f|p.awk|a$tool_arg_x", NULL, NULL, 0 },
        { "sed|-n|s/$tool_arg_x/b/|f", "s/$tool_arg_x/b/", "sed",
          TG_COMMAND_HINT_AWK },
        { "sed|-i|-e|s/$tool_arg_x/b/|f", "s/$tool_arg_x/b/", "sed",
          TG_COMMAND_HINT_AWK },
        { "sed|-n|2p|f$tool_arg_x", NULL, NULL, 0 },
        { "emacs|--batch|--eval|(f \"$tool_arg_x\")", "(f \"$tool_arg_x\")",
          "emacs", TG_COMMAND_HINT_ENVIRONMENT },
        { "emacs|-batch|-eval|(f \"$tool_arg_x\")", "(f \"$tool_arg_x\")",
          "emacs", TG_COMMAND_HINT_ENVIRONMENT },
        { "gdb|-ex|print $tool_arg_x|f", "print $tool_arg_x", "gdb",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "lldb|-b|-o|print $tool_arg_x|f", "print $tool_arg_x", "lldb",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "vim|-es|+s/$tool_arg_x/b/|f", "+s/$tool_arg_x/b/", "vim",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "vim|dir/$tool_arg_x", NULL, NULL, 0 },
        { "dc|-e|1 $tool_arg_x + p", "1 $tool_arg_x + p", "dc",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "sed|--file|x.sed|a$tool_arg_x", NULL, NULL, 0 },
        { "gawk|--file|x.awk|a$tool_arg_x", NULL, NULL, 0 },
        { "jq|-r|.a[\"$tool_arg_x\"]|f", ".a[\"$tool_arg_x\"]", "jq",
          TG_COMMAND_HINT_JQ },
        { "jq|--arg|x|a$tool_arg_x|.[$$x]|f$tool_arg_y", NULL, NULL, 0 },
        { "jq|-rf|x.jq|f$tool_arg_y", NULL, NULL, 0 },
        { "jq|.|f$tool_arg_y", NULL, NULL, 0 },
        { "mlr|--icsv|filter|$$a == \"$tool_arg_x\"|f",
          "$$a == \"$tool_arg_x\"", "mlr", TG_COMMAND_HINT_ENVIRONMENT },
        { "mlr|head|-n|1|f$tool_arg_x", NULL, NULL, 0 },
        { "make|-C|d$tool_arg_y|NAME=$tool_arg_x|all", "NAME=$tool_arg_x",
          "make", TG_COMMAND_HINT_ENVIRONMENT },
        { "make|-C|d$tool_arg_x|NAME=1|t$tool_arg_x", NULL, NULL, 0 },
    };

    TEST_CODE(rows);
}

HELP_TEST(databases, "SQL, and other databases")
{
    static const test_row_t rows[] = {
        { "sqlite3|-json|x.db|SELECT '$tool_arg_x'", "SELECT '$tool_arg_x'",
          "sqlite3", TG_COMMAND_HINT_SQLITE },
        { "sqlite3|-separator|;|x.db|-cmd|.print '$tool_arg_x'|SELECT 1",
          ".print '$tool_arg_x'", "sqlite3", TG_COMMAND_HINT_SQLITE },
        { "sqlite3|db/$tool_arg_x.db|SELECT 1", NULL, NULL, 0 },
        { "sqlite3|x.db|$tool_arg_x", NULL, NULL, 0 },
        { "psql|-X|mine|-c|SELECT '$tool_arg_x'", "SELECT '$tool_arg_x'",
          "psql", TG_COMMAND_HINT_PSQL },
        { "psql|--command=SELECT '$tool_arg_x'",
          "--command=SELECT '$tool_arg_x'", "psql", TG_COMMAND_HINT_PSQL },
        { "psql|-c|$tool_arg_x", NULL, NULL, 0 },
        { "psql|-v|x=a$tool_arg_x|-dc|-f|x.sql", NULL, NULL, 0 },
        { "mysql|-u|me|db|-NBe|SELECT '$tool_arg_x'", "SELECT '$tool_arg_x'",
          "mysql", TG_COMMAND_HINT_SQL },
        { "mysql|-pe|a $tool_arg_x", NULL, NULL, 0 },
        { "duckdb|-c|SELECT '$tool_arg_x'", "SELECT '$tool_arg_x'", "duckdb",
          TG_COMMAND_HINT_SQL },
        { "mongosh|--quiet|--eval|f('$tool_arg_x')", "f('$tool_arg_x')",
          "mongosh", TG_COMMAND_HINT_ENVIRONMENT },
        { "redis-cli|-h|x|eval|f('$tool_arg_x')|0", "f('$tool_arg_x')",
          "redis-cli", TG_COMMAND_HINT_WORDS },
        { "redis-cli|eval|f()|1|a$tool_arg_x", NULL, NULL, 0 },
        { "redis-cli|get|a$tool_arg_x", NULL, NULL, 0 },
        { "bq|query|--format=json|SELECT '$tool_arg_x'", "SELECT '$tool_arg_x'",
          "bq", TG_COMMAND_HINT_SQL },
        { "bq|show|a.$tool_arg_x", NULL, NULL, 0 },
        { "sqlite-utils|query|x.db|SELECT '$tool_arg_x'",
          "SELECT '$tool_arg_x'", "sqlite-utils", TG_COMMAND_HINT_SQL },
        { "cypher-shell|MATCH (n {a: '$tool_arg_x'}) RETURN n",
          "MATCH (n {a: '$tool_arg_x'}) RETURN n", "cypher-shell",
          TG_COMMAND_HINT_SQL },
    };

    TEST_CODE(rows);
}

HELP_TEST(remote, "remote machines, and text for a remote shell")
{
    static const test_row_t rows[] = {
        { "ssh|-p|22|host|ls '$tool_arg_x'", "ls '$tool_arg_x'", "ssh",
          TG_COMMAND_HINT_SSH },
        { "ssh|host|ls|--|$tool_arg_x", "$tool_arg_x", "ssh",
          TG_COMMAND_HINT_SSH },
        { "ssh|host|$tool_arg_x|-l", "$tool_arg_x", "ssh",
          TG_COMMAND_HINT_SSH },
        { "ssh|host|$tool_arg_x", NULL, NULL, 0 },
        { "ssh|-l|$tool_arg_x|a$tool_arg_y|ls", NULL, NULL, 0 },
        { "ssh|host|xargs -0r ls --", NULL, NULL, 0 },
        { "watch|-n|1|ls|$tool_arg_x", "$tool_arg_x", "watch",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "su|me|-c|ls $tool_arg_x", "ls $tool_arg_x", "su",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "script|-qc|ls $tool_arg_x|/dev/null", "ls $tool_arg_x", "script",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "flock|/x|-c|ls $tool_arg_x", "ls $tool_arg_x", "flock",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "rsync|-e|ssh $tool_arg_x|a|b", "ssh $tool_arg_x", "rsync",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "tar|-xf|a|--to-command=cat $tool_arg_x",
          "--to-command=cat $tool_arg_x", "tar", TG_COMMAND_HINT_ENVIRONMENT },
        { "tar|-I|zstd $tool_arg_x|-cf|a$tool_arg_y|b", "zstd $tool_arg_x",
          "tar", TG_COMMAND_HINT_ENVIRONMENT },
        { "tar|-czf|a$tool_arg_y|-C|b$tool_arg_y|.", NULL, NULL, 0 },
        { "ssh|-o|ProxyCommand=nc $tool_arg_x 22|host|ls",
          "ProxyCommand=nc $tool_arg_x 22", "ssh", TG_COMMAND_HINT_SSH },
        { "ssh|-o|User=a$tool_arg_x|host|ls", NULL, NULL, 0 },
        { "scp|-oproxycommand=nc $tool_arg_x 22|a|host:",
          "-oproxycommand=nc $tool_arg_x 22", "scp",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "git|-c|core.sshCommand=ssh -i $tool_arg_x|fetch",
          "core.sshCommand=ssh -i $tool_arg_x", "git",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "git|-c|alias.x=!ls $tool_arg_x|x", "alias.x=!ls $tool_arg_x", "git",
          TG_COMMAND_HINT_ENVIRONMENT },
        { "git|-c|user.name=a $tool_arg_x|commit|-m|a $tool_arg_y", NULL, NULL,
          0 },
        { "git|filter-branch|--tree-filter|rm $tool_arg_x", "rm $tool_arg_x",
          "git", TG_COMMAND_HINT_ENVIRONMENT },
        { "watch|-x|ls|$tool_arg_x", NULL, NULL, 0 },
        { "parallel|-j|$tool_arg_n|ls $tool_arg_x|:::|a", "ls $tool_arg_x",
          "parallel", TG_COMMAND_HINT_ENVIRONMENT },
        { "parallel|-j|$tool_arg_n|gzip|:::|$tool_arg_x|a$tool_arg_x", NULL,
          NULL, 0 },
        { "tmux|new-session|-s|a$tool_arg_x|-d|ls $tool_arg_x",
          "ls $tool_arg_x", "tmux", TG_COMMAND_HINT_ENVIRONMENT },
        { "tmux|has-session|-t|a$tool_arg_x", NULL, NULL, 0 },
        { "lftp|-c|get '$tool_arg_x'|host", "get '$tool_arg_x'", "lftp",
          TG_COMMAND_HINT_ENVIRONMENT },
    };

    TEST_CODE(rows);
}

HELP_TEST(starters, "programs that start programs")
{
    static const test_row_t rows[] = {
        { "env|-i|A=b|-u|C|sh|-c|echo $tool_arg_x", "echo $tool_arg_x", "sh",
          TG_COMMAND_HINT_SHELL },
        { "env|-S|sh -c 'echo $tool_arg_x'", "sh -c 'echo $tool_arg_x'", "env",
          TG_COMMAND_HINT_WORDS },
        { "/usr/bin/env|--split-string=sh -c|echo $tool_arg_x",
          "echo $tool_arg_x", "sh", TG_COMMAND_HINT_SHELL },
        { "env|-iSsh -c|echo $tool_arg_x", "echo $tool_arg_x", "sh",
          TG_COMMAND_HINT_SHELL },
        { "env|-S|$tool_arg_x", NULL, NULL, 0 },
        { "sudo|-u|me|--|bash|-c|echo $tool_arg_x", "echo $tool_arg_x", "bash",
          TG_COMMAND_HINT_SHELL },
        { "nice|-n|5|timeout|10|python3|-c|f('$tool_arg_x')",
          "f('$tool_arg_x')", "python3", TG_COMMAND_HINT_PYTHON },
        { "docker|exec|-it|box|sh|-c|echo $tool_arg_x", "echo $tool_arg_x",
          "sh", TG_COMMAND_HINT_SHELL },
        { "podman|run|--rm|image|ssh|host|ls|$tool_arg_x", "$tool_arg_x", "ssh",
          TG_COMMAND_HINT_SSH },
        { "kubectl|exec|pod|--|sh|-c|echo $tool_arg_x", "echo $tool_arg_x",
          "sh", TG_COMMAND_HINT_SHELL },
        { "find|/x|-exec|sh|-c|echo $tool_arg_x|;", "echo $tool_arg_x", "sh",
          TG_COMMAND_HINT_SHELL },
        { "xargs|-0|busybox|sh|-c|echo $tool_arg_x", "echo $tool_arg_x", "sh",
          TG_COMMAND_HINT_SHELL },
        { "sudo|sh|-c|echo \"$$1\"|sh|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "docker|run|--rm|--entrypoint|sh|-v|a:b|image|-c|ls $tool_arg_x",
          "ls $tool_arg_x", "sh", TG_COMMAND_HINT_SHELL },
        { "docker|run|--entrypoint=/bin/sh|image|-c|ls $tool_arg_x",
          "ls $tool_arg_x", "/bin/sh", TG_COMMAND_HINT_SHELL },
        { "flatpak|run|--command=sh|org.app|-c|ls $tool_arg_x",
          "ls $tool_arg_x", "sh", TG_COMMAND_HINT_SHELL },
        { "docker|run|--entrypoint|python3|image|x.py|-c|a$tool_arg_x", NULL,
          NULL, 0 },
        { "find|/x|-name|a$tool_arg_y|-exec|sudo|sh|-c|ls $tool_arg_x|;",
          "ls $tool_arg_x", "sh", TG_COMMAND_HINT_SHELL },
        { "find|/x|-name|python|-cnewer|a/$tool_arg_x", NULL, NULL, 0 },
        { "nobody-knows|--|bash|-lc|ls $tool_arg_x", "ls $tool_arg_x", "bash",
          TG_COMMAND_HINT_SHELL },
        { "python3|wrap.py|python3|-c|f('$tool_arg_x')", "f('$tool_arg_x')",
          "python3", TG_COMMAND_HINT_PYTHON },
        { "git|bisect|run|sh|-c|ls $tool_arg_x", "ls $tool_arg_x", "sh",
          TG_COMMAND_HINT_SHELL },
        { "nobody-knows|sh|-c|ls \"$$1\"|sh|a $tool_arg_x", NULL, NULL, 0 },
        { "nobody-knows|ssh|a$tool_arg_x|b$tool_arg_x", NULL, NULL, 0 },
        { "grep|-e|sh|-c|a $tool_arg_x", NULL, NULL, 0 },
        { "sudo|grep|-e|a $tool_arg_x", NULL, NULL, 0 },
        { "timeout|5|git|log|--grep=a $tool_arg_x", NULL, NULL, 0 },
    };

    TEST_CODE(rows);
}

/* Checks command lines that read code from standard input. */
static void
test_reader(const char *line, const char *name)
{
    tg_command_word_t words[TEST_WORDS_MAX];
    tg_command_finding_t code;
    size_t n;

    n = test_words(line, words);
    CU_ASSERT_EQUAL(tg_command_find_injection(words, n, NULL, &code),
                    TG_MISSING);
    CU_ASSERT_EQUAL(code.is_reader, name != NULL);

    if (code.is_reader != (name != NULL)
        || (name != NULL && !tg_str_eq(code.name, tg_str_from_cstr(name))))
    {
        printf("\n%s\n", line);
        CU_FAIL("not the program that reads");
    }
}

HELP_TEST(standard_input, "code from standard input")
{
    test_reader("sh", "sh");
    test_reader("sh|-e", "sh");
    test_reader("bash|-s|--|$tool_arg_x", "bash");
    test_reader("bash|-|$tool_arg_x", "bash");
    test_reader("python3|-|$tool_arg_x", "python3");
    test_reader("python3|/dev/stdin", "python3");
    test_reader("psql|-f|-|db", "psql");
    test_reader("sqlite3|x.db", "sqlite3");
    test_reader("sudo|-u|me|bash", "bash");
    test_reader("at|now", "at");
    test_reader("sh|x.sh", NULL);
    test_reader("sh|x.sh|-", NULL);
    test_reader("sh|-c|cat", NULL);
    test_reader("python3|x.py|-", NULL);
    test_reader("awk|{ print }|-", NULL);
    test_reader("sed|-f|x.sed|-", NULL);
    test_reader("nobody-knows|R", NULL);
}

/* Checks which words, separated by "|", may be options of the program. */
static void
test_exposed(const char *line, const char *expected)
{
    tg_command_word_t words[TEST_WORDS_MAX];
    tg_command_finding_t code;
    char text[256];
    tg_buf_t buf;
    size_t i, n;

    n = test_words(line, words);
    buf = tg_buf_make_fixed(text, sizeof(text));

    /* "@" begins the words of an optional line, "%" those of the next one. */
    for (i = 0; i < n; i++) {
        words[i].line = i != 0 ? words[i - 1].line : 0;
        words[i].is_optional = i != 0 && words[i - 1].is_optional;

        if (words[i].text.len != 0 && tg_is_one_of(words[i].text.data[0], "@%"))
        {
            words[i].line++;
            words[i].is_optional = words[i].text.data[0] == '@';
            words[i].text.data++;
            words[i].text.len--;
        }
    }

    (void) tg_command_find_injection(words, n, NULL, &code);

    for (i = 0;
         (i = tg_command_find_option_injection(words, n, code.tail, NULL, i))
         < n;
         i++)
    {
        tg_buf_append_cstr(&buf, buf.len != 0 ? "|" : "");
        tg_buf_append_str(&buf, words[i].text);
    }

    CU_ASSERT(tg_str_eq(tg_buf_view(&buf), tg_str_from_cstr(expected)));

    if (!tg_str_eq(tg_buf_view(&buf), tg_str_from_cstr(expected))) {
        printf("\n%s: %.*s\n", line, (int) buf.len, text);
    }
}

HELP_TEST(options, "words that may be options")
{
    test_exposed("git|log|$tool_arg_x", "$tool_arg_x");
    test_exposed("git|log|${tool_arg_a}..$tool_arg_b|x",
                 "${tool_arg_a}..$tool_arg_b");
    test_exposed("git|log|$tool_arg_x|x|$tool_arg_y",
                 "$tool_arg_x|$tool_arg_y");
    test_exposed("git|log|--|$tool_arg_x", "");
    test_exposed("git|log|--end-of-options|$tool_arg_x|--|$tool_arg_y", "");
    test_exposed("git|log|--author=$tool_arg_x", "");
    test_exposed("git|log|--author|$tool_arg_x|$tool_arg_y", "$tool_arg_y");
    test_exposed("git|log|--author=me|$tool_arg_x", "$tool_arg_x");
    test_exposed("ls|./$tool_arg_x|$tool_json_x|$tool_has_x|$hostname", "");
    test_exposed("claude|-p|$task_prompt", "");
    test_exposed("claude|$task_prompt", "$task_prompt");
    test_exposed("echo|$tool_arg_x", "");
    test_exposed("/usr/bin/printf|%s|$tool_arg_x", "");
    test_exposed("sh|-c|ls \"$$1\"|sh|$tool_arg_x", "");
    test_exposed("python3|-c|f()|$tool_arg_x", "");
    test_exposed("python3|x.py|$tool_arg_x", "$tool_arg_x");
    test_exposed("python3|-m|x|$tool_arg_x", "$tool_arg_x");
    test_exposed("perl|-e|f()|$tool_arg_x", "$tool_arg_x");
    test_exposed("perl|-e|f()|--|$tool_arg_x", "");
    test_exposed("sudo|git|log|--|$tool_arg_x", "");
    test_exposed("sudo|-n|--|git|log|$tool_arg_x", "$tool_arg_x");
    test_exposed("kubectl|exec|pod|--|git|log|$tool_arg_x", "$tool_arg_x");
    test_exposed("kubectl|exec|pod|--|git|log|--|$tool_arg_x", "");

    /* An optional word protects the words of its own line. */
    test_exposed("ls|@-w|$tool_arg_x|%$tool_arg_y", "$tool_arg_y");
    test_exposed("ls|@-l|%$tool_arg_y", "$tool_arg_y");
    test_exposed("ls|@--|%$tool_arg_y", "$tool_arg_y");
    test_exposed("ls|%--|%$tool_arg_y", "");
    test_exposed("ls||$tool_arg_y", "$tool_arg_y");
}

HELP_TEST(bounds, "a command line has a bound")
{
    static tg_command_word_t words[TG_COMMAND_WORDS_MAX + 10];
    tg_command_finding_t code;
    size_t i, n;

    n = HELP_COUNT(words);

    for (i = 0; i < n; i++) {
        words[i].text = TG_STR("env");
    }

    words[TG_COMMAND_WORDS_MAX - 3].text = TG_STR("sh");
    words[TG_COMMAND_WORDS_MAX - 2].text = TG_STR("-c");
    words[TG_COMMAND_WORDS_MAX - 1].text = TG_STR("a $tool_arg_x");
    CU_ASSERT_EQUAL(tg_command_find_injection(words, n, NULL, &code), TG_OK);
    words[n - 1].text = TG_STR("-S");
    CU_ASSERT_EQUAL(tg_command_find_injection(words, n, NULL, &code), TG_OK);
    words[n - 2].text = TG_STR("-Sa b c $tool_arg_x");
    CU_ASSERT_EQUAL(tg_command_find_injection(words, n, NULL, &code), TG_OK);
    CU_ASSERT_EQUAL(tg_command_find_option_injection(words, n, n, NULL, n), n);
}

static void
test_add(void *ctx, tg_str_t name)
{
    tg_buf_append_str(ctx, name);
    tg_buf_append_char(ctx, ' ');
}

/* Checks the variables that maps derive from callers' values. */
static void
test_maps(const char *text, const char *expected)
{
    static const tg_str_t more[] = { TG_STR_INIT("derived") };
    static const tg_command_names_t names = { more, 1 };
    tg_command_map_t map;
    char buffer[256];
    tg_str_t rest;
    tg_buf_t buf;

    rest = tg_str_from_cstr(text);
    buf = tg_buf_make_fixed(buffer, sizeof(buffer));

    while (tg_command_next_map(&rest, &map) == TG_OK) {
        tg_command_map_add_variables(&map, &names, test_add, &buf);
    }

    CU_ASSERT(tg_str_eq(tg_buf_view(&buf), tg_str_from_cstr(expected)));
}

static void
test_included(const char *text, const char *expected)
{
    tg_str_t rest, name;
    char buffer[256];
    tg_buf_t buf;

    rest = tg_str_from_cstr(text);
    buf = tg_buf_make_fixed(buffer, sizeof(buffer));

    while (tg_command_next_include(&rest, &name) == TG_OK) {
        tg_buf_append_str(&buf, name);
        tg_buf_append_char(&buf, ' ');
    }

    CU_ASSERT(tg_str_eq(tg_buf_view(&buf), tg_str_from_cstr(expected)));
}

HELP_TEST(includes, "files that a config includes")
{
    test_included("include a.conf;", "a.conf ");
    test_included("events {}\nstream { include 'b/*.conf'; # include c;\n"
                  "server { x include d; include e; } } include f;",
                  "b/*.conf e f ");
    test_included("map $x $y { default include; }", "");
    test_included("include", "");
    test_included("include ;", "");
    test_included("", "");
}

HELP_TEST(derived, "maps of callers' values")
{
    test_maps("map $tool_arg_x $y { default 1; a 2; }", "");
    test_maps("map $tool_arg_x $y { default $tool_arg_x; }", "y ");
    test_maps("a b; c { map $hostname $y { volatile; a \"$tool_arg_z\"; } }",
              "y ");
    test_maps("map '$tool_arg_x' $y{~^(.*)$ 'a $1';}", "y ");
    test_maps("map $tool_arg_x $y { ~^(?<file>.*)$ $file; }", "file ");
    test_maps("map $tool_arg_x $y { \"~^(?P<a>.)(?'b'.)(?<=c)$\" x; }", "a b ");
    test_maps("map $hostname $y { ~^(?<file>.*)$ $1; }", "");
    test_maps("map $hostname $y { a $derived; } map $derived $z { ~(.) $1; }",
              "y z ");
    test_maps("# map $tool_arg_x $y { default $tool_arg_x; }", "");
    test_maps("x 'map $tool_arg_x $y { default $tool_arg_x; }';", "");
    test_maps("map $tool_arg_x y { default $tool_arg_x; }", "");
    test_maps("map $tool_arg_x $y ; map $tool_arg_x $z { a ${tool_arg_x}b; ",
              "z ");
    test_maps("map $tool_arg_x $y { a;b\\;$tool_arg_x ;c 'd\\''$1; #}\n}", "");
    test_maps("map", "");
    test_maps("map $x", "");
    test_maps("map $x $y {", "");
    test_maps("map $x $y { 'a", "");
}
