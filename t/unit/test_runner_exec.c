/* Single programs: their environment, input and results. */
#include "runner_host.h"

#include <sys/wait.h>

HELP_TEST(success, "success")
{
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\"]}"));
    CU_ASSERT(host_is("text", "\"\""));
    CU_ASSERT(host_result("failure").data == NULL);

    CU_ASSERT(
        host_exec(host_sh("printf 'a\\n\"\\\\\\303\\251'; echo x >&2", "")));
    CU_ASSERT(host_is_text("text", "a\n\"\\\xc3\xa9"));
    CU_ASSERT(host_result("message").data == NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
}

HELP_TEST(failure, "failure")
{
    CU_ASSERT(host_exec(host_sh("echo out; echo why >&2; exit 3", "")));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(host_is_text("message",
                           "tool exited with status 3\n[stderr]\nwhy\n"
                           "[stdout]\nout"));
    CU_ASSERT(host_result("text").data == NULL);

    CU_ASSERT(host_exec(host_sh("exit 255", "")));
    CU_ASSERT(host_is_text("message", "tool exited with status 255 and wrote "
                                      "nothing to stderr"));

    /* Linters use stderr; a message is text whatever they print. */
    CU_ASSERT(host_exec(host_sh("printf 'a\\377'; exit 1", "")));
    CU_ASSERT(host_is_text("message", "tool exited with status 1 and wrote "
                                      "nothing to stderr\n[stdout]\n"
                                      "a\xef\xbf\xbd"));
}

HELP_TEST(signalled, "signalled")
{
    CU_ASSERT(host_exec(host_sh("echo bye >&2; kill -9 $$", "")));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(
        host_is_text("message", "tool was killed by signal 9 (SIGKILL): bye"));
}

HELP_TEST(stderr_tail, "tail of stderr")
{
    const char *tail;

    /* Much more than a pipe holds: both outputs are drained. */
    CU_ASSERT(host_exec(host_sh("i=0; while [ $i -lt 3000 ]; do printf "
                                "'%0100d\\n' $i >&2; i=$((i+1)); done; exit 1",
                                "")));
    tail = strstr(host_text("message"), " status 1: \xe2\x80\xa6 ");
    CU_ASSERT_FATAL(tail != NULL);
    tail += strlen(" status 1: ");
    CU_ASSERT(strlen(tail) <= 4096 + 4 && strlen(tail) > 4000);
    CU_ASSERT(strcmp(tail + strlen(tail) - 5, "02999") == 0);

    CU_ASSERT(host_exec(host_sh("printf 'a\\377b' >&2; exit 1", "")));
    CU_ASSERT(host_is_text("message", "tool exited with status 1: "
                                      "a\xef\xbf\xbd"
                                      "b"));
}

HELP_TEST(not_started, "not started")
{
    char text[256];
    FILE *file;

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/no/such\"]}"));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"),
                     "t could not be started: /no/such: No such file")
              != NULL);

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/tmp\"]}"));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "Permission denied") != NULL);

    snprintf(text, sizeof(text), "%s/script", help_dir);
    file = fopen(text, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs("echo no first line\n", file);
    fchmod(fileno(file), 0700);
    fclose(file);
    snprintf(text, sizeof(text), "{\"tool\":\"t\",\"argv\":[\"%s/script\"]}",
             help_dir);
    CU_ASSERT(host_exec(text));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "#!") != NULL);
    snprintf(text, sizeof(text), "%s/script", help_dir);
    unlink(text);

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\"],"
                        "\"cwd\":\"/no/such\"}"));
    CU_ASSERT(host_is("failure", "\"program\""));
    CU_ASSERT(strstr(host_text("message"), "working directory /no/such")
              != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
}

/* Only results that the call's client cannot receive are refused. */
HELP_TEST(max_answer, "the client's limit")
{
    static const struct {
        const char *script, *more;
        const char *size; /* NULL: a result */
    } rows[] = {
        { "printf %0100d", "", NULL },
        { "printf %0101d", "", "101" },
        { "yes '' | head -n 50", "", NULL },
        { "yes '' | head -n 51", "", "102" },
        { "printf '\\001\\001\\001%083d'", "", "101" },
        { "printf '\"%098d\"'", ",\"output\":\"json\"", NULL },
        { "printf '\"%099d\"'", ",\"output\":\"json\"", "101" },
        { "printf '[1,%900s]' 1", ",\"output\":\"json\"", NULL },
        /* The type of an unsent result does not matter. */
        { "printf '%099d no JSON'", ",\"output\":\"json\"", "105" },
        { "printf '{\"content\":[],\"a\":\"%091d\"}'", ",\"output\":\"result\"",
          "112" },
        { "printf '{\"content\":[],\"a\":\"%091d\"}'",
          ",\"output\":\"result\",\"text_only\":true", NULL },
        { "printf '{\"content\":[{\"type\":\"text\",\"text\":\"%0101d\"}]}'",
          ",\"output\":\"result\",\"text_only\":true", "101" },
        { "printf '%0500d' >&2; exit 1", "", NULL },
    };
    char more[128], said[128];

    HELP_EACH(row, rows) {
        snprintf(more, sizeof(more), ",\"max_answer\":100%s", row->more);
        CU_ASSERT(host_exec(host_sh(row->script, more)));
        CU_ASSERT(host_is("failure", "\"size\"") == (row->size != NULL));

        if (row->size != NULL) {
            snprintf(said, sizeof(said),
                     "The answer has %s bytes, more than the 100 that this "
                     "connection carries; ask for less.",
                     row->size);
            CU_ASSERT(host_is_text("message", said));
            CU_ASSERT(host_is("exit", "0"));
        }
    }

    /* A text of any length. */
    CU_ASSERT(
        host_exec(host_sh("head -c 10000000 /dev/zero",
                          ",\"max_output\":33554432,\"max_answer\":100")));
    CU_ASSERT(strstr(host_text("message"), "has 60000000 bytes") != NULL);
    CU_ASSERT(host.line.len < 300);

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\"],"
                        "\"max_answer\":0}"));
    CU_ASSERT(strstr(host.line.data, "max_answer must be") != NULL);
    CU_ASSERT(host_until(host_no_exec, NULL));
}

HELP_TEST(too_many_arguments, "too many arguments")
{
    HELP_BUFFER(text);
    size_t i;

    /* Linux accepts at most 128 KiB for one argument. */
    tg_buf_append_cstr(&text, "{\"tool\":\"t\",\"argv\":[\"/bin/true\",\"");

    for (i = 0; i < 200000; i++) {
        tg_buf_append_char(&text, 'x');
    }

    tg_buf_append(&text, "\"]}", 4);
    CU_ASSERT(host_exec(text.data));
    CU_ASSERT(host_is("failure", "\"arguments\""));
    CU_ASSERT(strstr(host_text("message"), "standard input") != NULL);
}

HELP_TEST(refused, "refused")
{
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"true\"]}"));
    CU_ASSERT(host_is("failure", "\"arguments\""));

    CU_ASSERT(
        host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/true\",\"a\\u0000\"]}"));
    CU_ASSERT(host_is("failure", "\"arguments\""));

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[]}"));
    CU_ASSERT(memmem(host.line.data, host.line.len, "\"code\":-32602", 13)
              != NULL);
    CU_ASSERT(host.jobs.njobs == 0);
}

HELP_TEST(environment, "environment")
{
    char expected[512];

    CU_ASSERT(host_exec("{\"tool\":\"my tool\",\"argv\":[\"/usr/bin/env\"]}"));
    snprintf(expected, sizeof(expected),
             "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:"
             "/bin\n%s\nLANG=C.UTF-8\nTOOL_NAME=my tool\n"
             "TOOL_PROGRESS_FD=3\n",
             host.programs.env.home);
    CU_ASSERT(host_is_text("text", expected));

    CU_ASSERT(
        host_exec("{\"tool\":\"t\",\"argv\":[\"/usr/bin/env\"],"
                  "\"env\":[\"A=1\",\"HOME=/h\",\"A=2=3\",\"PATH=/p\"]}"));
    CU_ASSERT(host_is_text("text", "PATH=/p\nHOME=/h\nLANG=C.UTF-8\n"
                                   "TOOL_NAME=t\nTOOL_PROGRESS_FD=3\n"
                                   "A=2=3\n"));
}

HELP_TEST(isolation, "isolation")
{
    const char *text;
    int pid, pgrp, sid;

    /* Four, and the descriptor with which ls reads the directory. */
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/ls\","
                        "\"/proc/self/fd\"]}"));
    CU_ASSERT(host_is_text("text", "0\n1\n2\n3\n4\n"));

    CU_ASSERT(host_exec(host_sh("read -r pid name state ppid pgrp sid rest "
                                "</proc/self/stat; echo $pid $pgrp $sid; pwd; "
                                "umask",
                                "")));
    text = host_text("text");
    CU_ASSERT(sscanf(text, "%d %d %d", &pid, &pgrp, &sid) == 3);
    CU_ASSERT(pid == pgrp && pid == sid && pid != getsid(0));
    CU_ASSERT(strstr(text, "\n/\n0022\n") != NULL);

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/grep\",\"-E\","
                        "\"^(NoNewPrivs|SigIgn|SigBlk)\","
                        "\"/proc/self/status\"]}"));
    CU_ASSERT(host_is_text("text", "SigBlk:\t0000000000000000\n"
                                   "SigIgn:\t0000000000000000\n"
                                   "NoNewPrivs:\t1\n"));

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/bin/pwd\"],"
                        "\"cwd\":\"/usr\"}"));
    CU_ASSERT(host_is_text("text", "/usr\n"));
}

static void
test_input_of(const char *program, const char *arg, size_t len,
              const char *expected)
{
    HELP_BUFFER(text);
    size_t i;

    tg_buf_printf(&text,
                  "{\"tool\":\"t\",\"argv\":[\"%s\",\"%s\"],\"stdin\":\"",
                  program, arg);

    for (i = 0; i < len; i++) {
        tg_buf_append_char(&text, (char) ('a' + i % 26));
    }

    tg_buf_append(&text, "\"}", 3);
    CU_ASSERT(host_exec(text.data));
    CU_ASSERT(host_result("text").data != NULL);
    CU_ASSERT(host_is_text("text", expected));
}

HELP_TEST(input, "input")
{
    test_input_of("/usr/bin/wc", "-c", 0, "0\n");
    test_input_of("/usr/bin/wc", "-c", 1, "1\n");
    test_input_of("/usr/bin/wc", "-c", 65536, "65536\n");
    test_input_of("/usr/bin/wc", "-c", 5000000, "5000000\n");

    /* Programs that do not read all of their input. */
    test_input_of("/bin/true", "", 5000000, "");
    test_input_of("/usr/bin/head", "-c3", 5000000, "abc");

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/usr/bin/od\",\"-An\","
                        "\"-c\"],\"stdin\":\"a\\u0000b\"}"));
    CU_ASSERT(host_is_text("text", "   a  \\0   b\n"));
}

HELP_TEST(output, "output")
{
    tg_str_t out;

    CU_ASSERT(host_exec(host_sh("printf 1234", ",\"max_output\":4")));
    CU_ASSERT(host_is_text("text", "1234"));

    CU_ASSERT(host_exec(host_sh("printf 12345", ",\"max_output\":4")));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(strstr(host_text("message"), "more than 4 bytes (max_output)")
              != NULL);

    CU_ASSERT(host_exec(host_sh("printf x", ",\"max_output\":0")));
    CU_ASSERT(host_is("failure", "\"output\""));

    /* A program that never exits is killed. */
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/usr/bin/yes\"]}"));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(host_until(host_no_slot, NULL));

    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/usr/bin/head\",\"-c\","
                        "\"4000000\",\"/dev/zero\"],\"max_output\":4000000}"));
    out = host_result("text");
    CU_ASSERT(out.len == 4000000 * 6 + 2);

    CU_ASSERT(host_exec(host_sh("printf 'ab\\303'", "")));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(strstr(host_text("message"), "first invalid byte at offset 2")
              != NULL);
}

HELP_TEST(output_as_json, "too large only as JSON: an error, not a cut text")
{
    CU_ASSERT(host_exec("{\"tool\":\"t\",\"argv\":[\"/usr/bin/head\",\"-c\","
                        "\"12000000\",\"/dev/zero\"],"
                        "\"max_output\":12000000}"));
    CU_ASSERT(host_is("failure", "\"output\""));
    CU_ASSERT(strstr(host_text("message"), "64 MiB") != NULL);
}

static char test_go_file[96];

/* Within the loop: the other program exits meanwhile, and time passes. */
static void
test_stall(void)
{
    siginfo_t info;
    uint64_t end;
    int fd;

    fd = open(test_go_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CU_ASSERT(fd != -1);
    (void) close(fd);

    while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == -1 && errno == EINTR) {
        /* void */
    }

    end = uv_hrtime() + (TG_EXEC_DRAIN_MS + 50) * UINT64_C(1000000);

    while (uv_hrtime() < end) {
        (void) usleep(10000);
    }
}

/*
 * Two programs are reaped at once in a late loop: the time to drain the second
 * one is over before its output was read.
 */
HELP_TEST(late_loop, "late loop")
{
    char script[256];

    snprintf(test_go_file, sizeof(test_go_file), "%s/go", help_dir);
    snprintf(script, sizeof(script),
             "while ! [ -e %s ]; do sleep 0.01; done; echo late", test_go_file);
    (void) host_send(host_sh("exec >&- 2>&-", ""));
    (void) host_send(host_sh(script, ""));
    host.on_notified = test_stall;

    CU_ASSERT(host_recv());
    HOST_RECV_TEXT("late\n");
    CU_ASSERT(host_until(host_no_exec, NULL));
    CU_ASSERT(unlink(test_go_file) == 0);
}
