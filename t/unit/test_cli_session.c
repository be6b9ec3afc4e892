/* The commands' requests, one after the other, to a server in a child. */
#include "cli/tg_cli_session.h"

#include "protocol_help.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Replies to the requests with the ids 1 and 2 as they arrive. */
static void
test_serve(int server)
{
    static const char *const ids[] = { "\"id\":1,", "\"id\":2," };
    char seen[4096], response[64];
    size_t len;
    ssize_t n;
    int fd, i, size;

    fd = accept(server, NULL, NULL);
    len = 0;

    for (i = 0; i < 2; /* void */) {
        n = read(fd, seen + len, sizeof(seen) - len);

        if (n <= 0) {
            _exit(1);
        }

        len += (size_t) n;

        if (memmem(seen, len, ids[i], strlen(ids[i])) != NULL) {
            size = snprintf(response, sizeof(response),
                            "{\"jsonrpc\":\"2.0\",%s\"result\":%d}\n", ids[i],
                            i);
            n = write(fd, response, (size_t) size);
            i++;
        }
    }

    /* Reads up to the end of the input. */
    _exit(read(fd, seen, sizeof(seen)) != 0);
}

static pid_t
test_start(void)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    pid_t pid;
    int fd;

    strcpy(addr.sun_path, help_path("s"));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(bind(fd, (struct sockaddr *) &addr, sizeof(addr)) == 0);
    CU_ASSERT_FATAL(listen(fd, 1) == 0);
    pid = fork();

    if (pid == 0) {
        test_serve(fd);
    }

    (void) close(fd);

    return pid;
}

/*
 * The hello arrives when its time ends, and is accepted; the next call has its
 * own timeout, 0.
 */
HELP_TEST(late_hello, "a late hello")
{
    tg_cli_options_t options;
    tg_cli_session_t session;
    pid_t pid;
    int status;

    pid = test_start();
    memset(&options, 0, sizeof(options));
    options.socket = help_path("s");
    CU_ASSERT_FATAL(tg_cli_session_open(&session, &options) == TG_CLI_EXIT_OK);
    session.is_timed_out = 1;
    CU_ASSERT(tg_cli_session_call_tool(&session, "t", "{}") == TG_CLI_EXIT_OK);
    CU_ASSERT(tg_cli_session_parse_result(&session) == TG_CLI_EXIT_OK);
    CU_ASSERT(json_object_get_int(session.response.result) == 1);
    tg_cli_session_close(&session);
    (void) unlink(help_path("s"));
    CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
}
