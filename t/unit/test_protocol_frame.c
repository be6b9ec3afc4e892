/* Frame boundaries, fed whole, byte by byte and split at each offset. */
#include "protocol_help.h"

#include "protocol/tg_frame.h"

#define TEST_LIMIT 8

/*
 * Writes down the frames of a stream: each in brackets, "!" for one beyond the
 * limit. Feeds pieces as a host does, keeping unconsumed bytes, in blocks of
 * exactly their size.
 */
typedef struct {
    tg_frame_t frame;
    tg_buf_t left;
    tg_buf_t log;
    int is_stuck;
} test_stream_t;

static void
test_stream_init(test_stream_t *stream, tg_frame_type_t kind)
{
    memset(stream, 0, sizeof(*stream));
    tg_frame_init(&stream->frame, kind, TEST_LIMIT);
    tg_buf_init(&stream->left, tg_alloc_libc());
    tg_buf_init(&stream->log, tg_alloc_libc());
}

static void
test_stream_deinit(test_stream_t *stream)
{
    tg_buf_deinit(&stream->left);
    tg_buf_deinit(&stream->log);
}

static void
test_stream_feed(test_stream_t *stream, tg_str_t piece)
{
    tg_str_t payload;
    size_t at, part, len;
    char *data;
    int rc;

    tg_buf_append_str(&stream->left, piece);
    data = help_copy(tg_buf_view(&stream->left));
    len = stream->left.len;

    for (at = 0; !stream->is_stuck; at += part) {
        rc = tg_frame_next(&stream->frame, data + at, len - at, &part,
                           &payload);
        CU_ASSERT_FATAL(part <= len - at);

        if (rc == TG_AGAIN) {
            at += part;
            break;
        }

        if (rc == TG_LIMIT) {
            tg_buf_append_char(&stream->log, '!');
            stream->is_stuck = stream->frame.kind == TG_FRAME_PREFIX;
            continue;
        }

        /* The line ends here. */
        if (rc == TG_END) {
            tg_buf_append_char(&stream->log, '<');
            tg_buf_append_str(&stream->log, payload);
            tg_buf_append_char(&stream->log, '>');
            continue;
        }

        CU_ASSERT_FATAL(rc == TG_OK);
        CU_ASSERT(payload.data >= data + at
                  && payload.data + payload.len <= data + at + part);
        tg_buf_append_char(&stream->log, '[');
        tg_buf_append_str(&stream->log, payload);
        tg_buf_append_char(&stream->log, ']');
    }

    tg_buf_consume(&stream->left, at);
    free(data);
}

static void
test_every_split(tg_frame_type_t kind, tg_str_t text, const char *expected,
                 int is_partial)
{
    test_stream_t stream;
    size_t i, k, step;

    for (step = 1; step <= text.len; step++) {
        test_stream_init(&stream, kind);

        for (i = 0; i < text.len; i += step) {
            k = text.len - i < step ? text.len - i : step;
            test_stream_feed(&stream, tg_str(text.data + i, k));
        }

        HELP_EQ(tg_buf_view(&stream.log), expected);
        CU_ASSERT(tg_frame_is_partial(&stream.frame, stream.left.len)
                  == is_partial);
        test_stream_deinit(&stream);
    }

    for (i = 0; i <= text.len; i++) {
        test_stream_init(&stream, kind);
        test_stream_feed(&stream, tg_str(text.data, i));
        test_stream_feed(&stream, tg_str(text.data + i, text.len - i));
        HELP_EQ(tg_buf_view(&stream.log), expected);
        test_stream_deinit(&stream);
    }
}

HELP_TEST(lines, "lines")
{
    tg_frame_type_t kinds[] = { TG_FRAME_LINE, TG_FRAME_AUTO };
    size_t i;

    for (i = 0; i < 2; i++) {
        test_every_split(kinds[i], TG_STR("a\n"), "[a]", 0);
        test_every_split(kinds[i], TG_STR("\n"), "[]", 0);
        test_every_split(kinds[i], TG_STR("a\n\nbc\r\n"), "[a][][bc\r]", 0);
        test_every_split(kinds[i], TG_STR("abc"), "", 1);
        test_every_split(kinds[i], TG_STR("a\nbc"), "[a]", 1);
    }
}

HELP_TEST(line_limit, "lines: limit")
{
    test_every_split(TG_FRAME_LINE, TG_STR("12345678\n"), "[12345678]", 0);
    test_every_split(TG_FRAME_LINE, TG_STR("123456789\n"), "!<123456789>", 0);
    test_every_split(TG_FRAME_LINE, TG_STR("12345678"), "", 1);
    test_every_split(TG_FRAME_LINE, TG_STR("123456789"), "!", 1);
    test_every_split(TG_FRAME_LINE, TG_STR("123456789abcdef\nx\n"),
                     "!<123456789abcdef>[x]", 0);
    test_every_split(TG_FRAME_LINE,
                     TG_STR("a\n123456789\n\n12345678\n123456789abcdefghij\n"
                            "abcdefghijklmnopqrs\nz\n"),
                     "[a]!<123456789>[][12345678]!<123456789abcdefghij>"
                     "!<abcdefghijklmnopqrs>[z]",
                     0);
}

HELP_TEST(prefixed, "prefixed")
{
    tg_frame_type_t kinds[] = { TG_FRAME_PREFIX, TG_FRAME_AUTO };
    size_t i;

    for (i = 0; i < 2; i++) {
        test_every_split(kinds[i], TG_STR("\0\0\0\3abc"), "[abc]", 0);
        test_every_split(kinds[i], TG_STR("\0\0\0\0"), "[]", 0);
        test_every_split(kinds[i], TG_STR("\0\0\0\1\n\0\0\0\0\0\0\0\2ab"),
                         "[\n][][ab]", 0);
        test_every_split(kinds[i], TG_STR("\0\0\0"), "", 1);
        test_every_split(kinds[i], TG_STR("\0\0\0\2a"), "", 1);
        test_every_split(kinds[i], TG_STR("\0\0\0\10abcdefgh"), "[abcdefgh]",
                         0);
        test_every_split(kinds[i], TG_STR("\0\0\0\11"), "!", 1);
        test_every_split(kinds[i], TG_STR("\0\1\0\0"), "!", 1);
    }

    /* A length of 2 GiB and more is not negative. */
    test_every_split(TG_FRAME_PREFIX, TG_STR("\xff\xff\xff\xff"), "!", 1);
    test_every_split(TG_FRAME_PREFIX, TG_STR("\x80\0\0\0"), "!", 1);
    test_every_split(TG_FRAME_PREFIX, TG_STR("{\"a\"}\n"), "!", 1);
}

HELP_TEST(auto, "the first byte decides for the whole connection")
{
    tg_frame_t frame;
    tg_str_t payload;
    size_t consumed;

    tg_frame_init(&frame, TG_FRAME_AUTO, TEST_LIMIT);
    CU_ASSERT(tg_frame_next(&frame, "", 0, &consumed, &payload) == TG_AGAIN);
    CU_ASSERT(consumed == 0 && frame.kind == TG_FRAME_AUTO);
    CU_ASSERT(!tg_frame_is_partial(&frame, 0));
    CU_ASSERT(tg_frame_next(&frame, "\t\n\0", 3, &consumed, &payload) == TG_OK);
    CU_ASSERT(consumed == 2 && frame.kind == TG_FRAME_LINE);
    CU_ASSERT(tg_frame_next(&frame, "\0\0\0\0\n", 5, &consumed, &payload)
              == TG_OK);
    CU_ASSERT(payload.len == 4);

    tg_frame_init(&frame, TG_FRAME_AUTO, TEST_LIMIT);
    CU_ASSERT(tg_frame_next(&frame, "\0", 1, &consumed, &payload) == TG_AGAIN);
    CU_ASSERT(frame.kind == TG_FRAME_PREFIX);
}

/* A length of 16 MiB or more is valid and reported as too large. */
HELP_TEST(first_byte, "the first byte decides")
{
    tg_frame_t frame;
    tg_str_t payload;
    size_t consumed;
    char first[4];
    int i;

    for (i = 0; i < 256; i++) {
        memset(first, 0, sizeof(first));
        first[0] = (char) i;
        tg_frame_init(&frame, TG_FRAME_AUTO, TEST_LIMIT);
        CU_ASSERT(
            tg_frame_next(&frame, first, sizeof(first), &consumed, &payload)
            == (i == 0                                   ? TG_OK
                : i < ' ' && strchr("\t\n\r", i) == NULL ? TG_LIMIT
                : i == '\n'                              ? TG_OK
                                                         : TG_AGAIN));
    }
}

HELP_TEST(scans_once, "bytes without a newline are scanned once")
{
    tg_frame_t frame;
    tg_str_t payload;
    size_t consumed;

    tg_frame_init(&frame, TG_FRAME_LINE, 100);
    CU_ASSERT(tg_frame_next(&frame, "abc", 3, &consumed, &payload) == TG_AGAIN);
    CU_ASSERT(frame.scanned == 3);

    /* Hosts never do this: a newline appears in scanned bytes. */
    CU_ASSERT(tg_frame_next(&frame, "a\nc", 3, &consumed, &payload)
              == TG_AGAIN);
    CU_ASSERT(tg_frame_next(&frame, "abc\n", 4, &consumed, &payload) == TG_OK);
    HELP_EQ(payload, "abc");
    CU_ASSERT(frame.scanned == 0);
}

static void
test_pieces(tg_frame_type_t kind, tg_str_t text, const char *expected)
{
    tg_str_t rest, payload;
    HELP_BUFFER(log);
    char *data;
    int rc;

    data = help_copy(text);
    rest = tg_str(data, text.len);

    while ((rc = tg_frame_split(kind, &rest, &payload)) != TG_END) {
        tg_buf_append_char(&log, '[');
        tg_buf_append_str(&log, payload);
        tg_buf_append_char(&log, rc == TG_OK ? ']' : ';');
    }

    HELP_EQ(tg_buf_view(&log), expected);
    free(data);
}

HELP_TEST(split, "frames of any size, whole or cut")
{
    test_pieces(TG_FRAME_LINE, TG_STR(""), "");
    test_pieces(TG_FRAME_LINE, TG_STR("a\n\nbcdefghijkl\nd"),
                "[a][][bcdefghijkl][d;");
    test_pieces(TG_FRAME_PREFIX, TG_STR("\0\0\0\1a\0\0\0\0\0\0\0\2\nb"),
                "[a][][\nb]");
    test_pieces(TG_FRAME_PREFIX, TG_STR("\0\0\0\1a\0\0"), "[a][;");
    test_pieces(TG_FRAME_PREFIX,
                TG_STR("\xff\xff\xff\xff"
                       "abc"),
                "[abc;");
}

HELP_TEST(prefix_bytes, "prefix")
{
    static const size_t sizes[] = {
        0, 1, 255, 256, 65536, 10485760, 0xfffefdfc
    };
    unsigned char prefix[TG_FRAME_PREFIX_SIZE];

    HELP_EACH(size, sizes) {
        tg_frame_write_prefix((char *) prefix, *size);
        CU_ASSERT(((size_t) prefix[0] << 24 | (size_t) prefix[1] << 16
                   | (size_t) prefix[2] << 8 | prefix[3])
                  == *size);
    }
}
