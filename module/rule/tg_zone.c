/* Parsing of zone files, and the search for the span of a time. */
#include "rule/tg_zone_impl.h"

#define TG_ZONE_HEADER_SIZE 44
/* Largest offset from UTC in seconds: more than a day. */
#define TG_ZONE_OFFSET_MAX 93600

int
tg_zone_is_valid_name(tg_str_t name)
{
    return name.len != 0 && name.len <= TG_ZONE_NAME_MAX && name.data[0] != '/'
           && tg_str_is_word(name, "_+-/");
}

static uint32_t
tg_zone_read_uint32(const char *p)
{
    const unsigned char *b;

    b = (const unsigned char *) p;

    return (uint32_t) b[0] << 24 | (uint32_t) b[1] << 16 | (uint32_t) b[2] << 8
           | b[3];
}

static int64_t
tg_zone_read_time(const char *p, unsigned size)
{
    uint64_t value;

    if (size == 4) {
        return (int32_t) tg_zone_read_uint32(p);
    }

    value = (uint64_t) tg_zone_read_uint32(p) << 32
            | tg_zone_read_uint32(p + 4);

    return (int64_t) value;
}

enum {
    TG_ZONE_ISUT,
    TG_ZONE_ISSTD,
    TG_ZONE_LEAP,
    TG_ZONE_TIMES,
    TG_ZONE_TYPES,
    TG_ZONE_CHARS,
    TG_ZONE_COUNTS
};

/*
 * Returns the size of the data after a header with `size` bytes for each time,
 * and sets the counts n; 0: the header is invalid.
 */
static size_t
tg_zone_read_header(tg_str_t bytes, unsigned size, uint32_t *n)
{
    size_t total;
    int i;

    if (bytes.len < TG_ZONE_HEADER_SIZE || memcmp(bytes.data, "TZif", 4) != 0) {
        return 0;
    }

    for (i = 0; i < TG_ZONE_COUNTS; i++) {
        n[i] = tg_zone_read_uint32(bytes.data + 20 + i * 4);

        if (n[i] > TG_ZONE_FILE_MAX) {
            return 0;
        }
    }

    total = (size_t) n[TG_ZONE_TIMES] * (size + 1)
            + (size_t) n[TG_ZONE_TYPES] * 6 + n[TG_ZONE_CHARS]
            + (size_t) n[TG_ZONE_LEAP] * (size + 4) + n[TG_ZONE_ISSTD]
            + n[TG_ZONE_ISUT];

    /* Reject zones with leap seconds: their times differ from Unix time. */
    return n[TG_ZONE_TYPES] != 0 && n[TG_ZONE_TYPES] <= 256
                   && n[TG_ZONE_LEAP] == 0
                   && total <= bytes.len - TG_ZONE_HEADER_SIZE
               ? total
               : 0;
}

static int
tg_zone_read_transitions(tg_zone_t *zone, const char *p, unsigned size,
                         const uint32_t *n)
{
    const char *indexes, *types;
    int32_t offset;
    uint32_t i, type;

    indexes = p + (size_t) n[TG_ZONE_TIMES] * size;
    types = indexes + n[TG_ZONE_TIMES];
    zone->n = n[TG_ZONE_TIMES];
    zone->first_offset = (int32_t) tg_zone_read_uint32(types);

    for (i = 0; i < n[TG_ZONE_TYPES]; i++) {
        offset = (int32_t) tg_zone_read_uint32(types + (size_t) i * 6);

        if (offset > TG_ZONE_OFFSET_MAX || offset < -TG_ZONE_OFFSET_MAX) {
            return TG_INVALID;
        }
    }

    for (i = 0; i < zone->n; i++) {
        type = (unsigned char) indexes[i];
        zone->transitions[i].at = tg_zone_read_time(p + (size_t) i * size,
                                                    size);

        if (type >= n[TG_ZONE_TYPES]
            || (i != 0
                && zone->transitions[i].at <= zone->transitions[i - 1].at))
        {
            return TG_INVALID;
        }

        zone->transitions[i].offset = (int32_t) tg_zone_read_uint32(
            types + (size_t) type * 6);
    }

    return TG_OK;
}

/* Parses the rule between the final newlines; it may be empty. */
static int
tg_zone_read_footer(tg_zone_t *zone, tg_str_t foot)
{
    const char *end;

    if (foot.len < 2 || foot.data[0] != '\n') {
        return TG_INVALID;
    }

    end = memchr(foot.data + 1, '\n', foot.len - 1);

    if (end == NULL) {
        return TG_INVALID;
    }

    return end == foot.data + 1
               ? TG_OK
               : tg_zone_rule_parse(&zone->rule,
                                    tg_str(foot.data + 1,
                                           (size_t) (end - foot.data - 1)));
}

int
tg_zone_parse(const tg_alloc_t *alloc, tg_str_t bytes, tg_zone_t **zone)
{
    uint32_t n[TG_ZONE_COUNTS];
    tg_zone_t *made;
    tg_str_t foot;
    size_t size;
    unsigned width;
    int rc;

    width = 4;
    size = bytes.len <= TG_ZONE_FILE_MAX ? tg_zone_read_header(bytes, width, n)
                                         : 0;

    if (size != 0 && bytes.data[4] != '\0') {
        width = 8;
        bytes = tg_str_skip(bytes, TG_ZONE_HEADER_SIZE + size);
        size = tg_zone_read_header(bytes, width, n);
    }

    if (size == 0) {
        return TG_INVALID;
    }

    made = tg_calloc(
        alloc, sizeof(*made) + n[TG_ZONE_TIMES] * sizeof(made->transitions[0]));

    if (made == NULL) {
        return TG_NOMEM;
    }

    made->alloc = alloc;
    rc = tg_zone_read_transitions(made, bytes.data + TG_ZONE_HEADER_SIZE, width,
                                  n);
    foot = tg_str_skip(bytes, TG_ZONE_HEADER_SIZE + size);

    if (rc == TG_OK && width == 8) {
        rc = tg_zone_read_footer(made, foot);
    }

    if (rc != TG_OK) {
        tg_zone_free(made);
        return rc;
    }

    *zone = made;

    return TG_OK;
}

void
tg_zone_free(tg_zone_t *zone)
{
    if (zone != NULL) {
        tg_free(zone->alloc, zone);
    }
}

static size_t
tg_zone_count_transitions(const tg_zone_t *zone, int64_t at)
{
    size_t low, high, middle;

    low = 0;
    high = zone->n;

    while (low < high) {
        middle = low + (high - low) / 2;

        if (zone->transitions[middle].at <= at) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }

    return low;
}

static int32_t
tg_zone_get_offset(const tg_zone_t *zone, size_t n)
{
    return n == 0 ? zone->first_offset : zone->transitions[n - 1].offset;
}

void
tg_zone_find_span(const tg_zone_t *zone, int64_t at, tg_zone_span_t *span)
{
    tg_zone_span_t ruled;
    size_t n;

    span->from = INT64_MIN;
    span->to = INT64_MAX;
    span->offset = span->previous_offset = 0;

    if (zone == NULL) {
        return;
    }

    n = tg_zone_count_transitions(zone, at);
    span->offset = tg_zone_get_offset(zone, n);
    span->previous_offset = n != 0 ? tg_zone_get_offset(zone, n - 1)
                                   : span->offset;
    span->from = n != 0 ? zone->transitions[n - 1].at : INT64_MIN;

    if (n < zone->n) {
        span->to = zone->transitions[n].at;
        return;
    }

    if (!zone->rule.is_set) {
        return;
    }

    tg_zone_rule_find_span(&zone->rule, at, &ruled);

    /* The span may begin with the table's last transition. */
    if (ruled.from > span->from) {
        span->from = ruled.from;
        span->previous_offset = ruled.previous_offset;
    }

    span->offset = ruled.offset;
    span->to = ruled.to;
}
