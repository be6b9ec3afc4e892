/*
 * A program with its own event loop and one tool.
 *
 *     cc -o host_loop host_loop.c $(pkg-config --cflags --libs toolgate)
 *
 *     ./host_loop >mcp.json &
 *     claude --mcp-config mcp.json
 *
 * It exits at the end of its standard input.
 */
#include <toolgate.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

static void
word_count(toolgate_call_t call, const char *arguments, size_t len, void *data)
{
    char *text, *word, number[32];
    int n;

    text = toolgate_argument(arguments, len, "text");

    if (text == NULL) {
        toolgate_fail(call, "MemoryError", toolgate_error());
        return;
    }

    for (n = 0, word = strtok(text, " \t\r\n"); word != NULL; n++) {
        word = strtok(NULL, " \t\r\n");
    }

    snprintf(number, sizeof(number), "%d", n);
    toolgate_reply(call, number, strlen(number));
    toolgate_free(text);
}

int
main(void)
{
    struct pollfd fds[2] = { { .fd = 0, .events = POLLIN },
                             { .events = POLLIN } };
    toolgate_server_t *server;
    char *config;

    server = toolgate_server_new("notes");

    if (server == NULL || toolgate_set(server, "loop", "fd") != 0
        || toolgate_add_tool(server, "word_count", "Counts words of a text.",
                             "{\"type\":\"object\",\"properties\":"
                             "{\"text\":{\"type\":\"string\"}},"
                             "\"required\":[\"text\"]}",
                             word_count, NULL)
               != 0
        || toolgate_start(server) != 0)
    {
        fprintf(stderr, "host_loop: %s\n", toolgate_error());
        return 1;
    }

    config = toolgate_agent_config(server);
    puts(config != NULL ? config : toolgate_error());
    fflush(stdout);
    toolgate_free(config);
    fds[1].fd = toolgate_fd(server);

    while (poll(fds, 2, -1) != -1 && fds[0].revents == 0) {
        toolgate_process(server);
    }

    toolgate_server_free(server);

    return 0;
}
