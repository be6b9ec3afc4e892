#include "protocol_host_talk.h"

tg_str_t
host_take(host_t *host)
{
    tg_buf_truncate(&host->out, 0);
    host_collect(host);

    return tg_buf_view(&host->out);
}

void
host_line(host_t *host, const char *line, const char *reply, const char *file,
          int number)
{
    tg_str_t got;

    host_feed(host, tg_str_from_cstr(line));
    host_feed(host, TG_STR("\n"));
    got = host_take(host);

    if (reply == NULL) {
        help_eq(got, "", file, number);
        return;
    }

    if (got.len == 0 || got.data[got.len - 1] != '\n'
        || memchr(got.data, '\n', got.len - 1) != NULL)
    {
        help_eq(got, "one line", file, number);
        return;
    }

    help_json(tg_str(got.data, got.len - 1), reply, file, number);
}

void
host_ipc(host_t *host, const char *frame, const char *reply, const char *file,
         int number)
{
    HELP_BUFFER(text);
    tg_str_t got;

    host_put_ipc(&text, tg_str_from_cstr(frame));
    host_feed(host, tg_buf_view(&text));
    tg_buf_truncate(&text, 0);
    got = host_take(host);

    if (reply == NULL) {
        help_eq(got, "", file, number);
    } else if (got.len < TG_FRAME_PREFIX_SIZE) {
        help_eq(got, "a frame", file, number);
    } else {
        got = tg_str(got.data + TG_FRAME_PREFIX_SIZE,
                     got.len - TG_FRAME_PREFIX_SIZE);
        host_put_ipc(&text, got);
        CU_ASSERT(memcmp(text.data, got.data - TG_FRAME_PREFIX_SIZE,
                         TG_FRAME_PREFIX_SIZE)
                  == 0);
        help_json(got, reply, file, number);
    }
}
