/* W3C Trace Context: valid and invalid values. */
#include "protocol_help.h"

#include "protocol/tg_trace_context.h"

#define TEST_TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define TEST_SPAN "00f067aa0ba902b7"

HELP_TEST(parent, "traceparent")
{
    static const struct {
        const char *text;
        int is_one;
    } rows[] = {
        { "00-" TEST_TRACE "-" TEST_SPAN "-01", 1 },
        { "00-" TEST_TRACE "-" TEST_SPAN "-ff", 1 },
        { "", 0 },
        { "00-" TEST_TRACE "-" TEST_SPAN "-0", 0 },
        { "00-" TEST_TRACE "-" TEST_SPAN "-0G", 0 },
        { "00-" TEST_TRACE "-" TEST_SPAN "_01", 0 },
        { "00-4BF92F3577B34DA6A3CE929D0E0E4736-" TEST_SPAN "-01", 0 },
        { "00-00000000000000000000000000000000-" TEST_SPAN "-01", 0 },
        { "00-" TEST_TRACE "-0000000000000000-01", 0 },
        { "00-" TEST_TRACE "-" TEST_SPAN "-01-", 0 },
        { "00-" TEST_TRACE "-" TEST_SPAN "-01-x", 0 },
        { "ff-" TEST_TRACE "-" TEST_SPAN "-01", 0 },
        { "0-" TEST_TRACE "-" TEST_SPAN "-011", 0 },

        /* Later versions may have more fields. */
        { "01-" TEST_TRACE "-" TEST_SPAN "-01", 1 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01-what-may.be", 1 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01.what", 0 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01- ", 0 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01-\n", 0 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01-\xc3\xa9", 0 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01-" TEST_TRACE TEST_TRACE
          "12345678",
          1 },
        { "cc-" TEST_TRACE "-" TEST_SPAN "-01-" TEST_TRACE TEST_TRACE
          "123456789",
          0 },
    };

    HELP_EACH(row, rows) {
        CU_ASSERT(tg_trace_is_traceparent(tg_str_from_cstr(row->text))
                  == row->is_one);
    }
}

HELP_TEST(state, "tracestate")
{
    static const struct {
        const char *text;
        int is_one;
    } rows[] = {
        { "rojo=00f067aa0ba902b7", 1 },
        { "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", 1 },
        { " a = b c\t,\tfw529a3039@dt=FfI,,", 0 },
        { "a=b c ,\tfw529a3039@dt=F\"\\~,, 1_-*/=!", 1 },
        { "", 0 },
        { "a", 0 },
        { "=b", 0 },
        { "a=", 0 },
        { "a=b=c", 0 },
        { "A=b", 0 },
        { "_a=b", 0 },
        { "a=b\n", 0 },
        { "a=\xc3\xa9", 0 },
        { "a=b;c", 1 },
    };
    char text[TG_TRACESTATE_MAX + 1];
    size_t i;

    HELP_EACH(row, rows) {
        CU_ASSERT(tg_trace_is_tracestate(tg_str_from_cstr(row->text))
                  == row->is_one);
    }

    memset(text, 'x', sizeof(text));
    text[1] = '=';
    CU_ASSERT(tg_trace_is_tracestate(tg_str(text, TG_TRACESTATE_MAX)));
    CU_ASSERT(!tg_trace_is_tracestate(tg_str(text, TG_TRACESTATE_MAX + 1)));

    for (i = 0; i < 33 * 4; i += 4) {
        memcpy(text + i, "a=b,", 4);
    }

    CU_ASSERT(tg_trace_is_tracestate(tg_str(text, 32 * 4 - 1)));
    CU_ASSERT(!tg_trace_is_tracestate(tg_str(text, 33 * 4 - 1)));
}
