/*
 * Checks time zone files: a file that loads gives an offset from UTC for all
 * times, in spans that follow one another; without memory none loads.
 *
 * Input: the bytes of a file; after "TZ=", only the rule at its end.
 */
#include "help.h"

#include "rule/tg_zone.h"
#include "rule_footer.h"

#define ZONE_OFFSET_MAX (26 * 3600)
#define ZONE_SPANS 64

static void
zone_span(const tg_zone_t *zone, int64_t at)
{
    tg_zone_span_t span, next;
    unsigned i;

    for (i = 0; i < ZONE_SPANS; i++) {
        tg_zone_find_span(zone, at, &span);
        FUZZ(span.from <= at && at < span.to);
        FUZZ(span.offset <= ZONE_OFFSET_MAX && span.offset >= -ZONE_OFFSET_MAX);
        tg_zone_find_span(zone, span.from > at - 1 ? span.from : at - 1, &next);
        FUZZ(next.from == span.from && next.to == span.to
             && next.offset == span.offset);

        if (span.to == INT64_MAX) {
            return;
        }

        tg_zone_find_span(zone, span.to, &next);
        FUZZ(next.from == span.to);
        FUZZ(next.previous_offset == span.offset);
        at = span.to;
    }
}

static void
zone_check(tg_str_t bytes)
{
    static const int64_t times[] = { INT64_C(-62135596800), -1, 0,
                                     INT64_C(1774746000),
                                     INT64_C(253402300799) };
    help_alloc_t alloc;
    tg_zone_t *zone;
    int rc;

    zone = NULL;
    rc = tg_zone_parse(tg_alloc_libc(), bytes, &zone);
    FUZZ(rc == TG_OK || (rc == TG_INVALID && zone == NULL));

    if (rc != TG_OK) {
        return;
    }

    HELP_EACH(time, times) {
        zone_span(zone, *time);
    }

    tg_zone_free(zone);
    fuzz_alloc_init(&alloc, 1);
    FUZZ(tg_zone_parse(&alloc.alloc, bytes, &zone) == TG_NOMEM);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_str_t bytes;
    HELP_BUFFER(file);

    bytes = tg_str((const char *) data, size);

    if (size < 3 || memcmp(data, "TZ=", 3) != 0) {
        zone_check(bytes);
        return 0;
    }

    rule_footer(&file, tg_str(bytes.data + 3, bytes.len - 3));
    zone_check(tg_buf_view(&file));

    return 0;
}
