/*
 * Checks of formats, by section 7.3 of the validation specification and the
 * RFCs named there. Each one takes decoded text.
 */
#include "schema/tg_schema_node.h"

#include "schema/tg_pattern.h"
#include "schema/tg_uri.h"

static int
tg_format_parse_digits(const char *p, size_t n)
{
    int value;

    for (value = 0; n > 0; n--, p++) {
        value = value * 10 + (*p - '0');
    }

    return value;
}

/* Compares with a shape, where d is a digit and x a hex digit. */
static int
tg_format_has_shape(tg_str_t text, const char *shape)
{
    size_t i;
    char c;

    for (i = 0; i < text.len && shape[i] != '\0'; i++) {
        c = text.data[i];

        if (shape[i] == 'd'   ? !tg_is_digit(c)
            : shape[i] == 'x' ? tg_hex_value(c) < 0
                              : c != shape[i])
        {
            return 0;
        }
    }

    return i == text.len && shape[i] == '\0';
}

static int
tg_format_is_date(tg_str_t text)
{
    static const int days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };
    int year, month, day, is_leap;

    if (!tg_format_has_shape(text, "dddd-dd-dd")) {
        return 0;
    }

    year = tg_format_parse_digits(text.data, 4);
    month = tg_format_parse_digits(text.data + 5, 2);
    day = tg_format_parse_digits(text.data + 8, 2);
    is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month >= 1 && month <= 12 && day >= 1
           && day <= days[month - 1] + (month == 2 && is_leap);
}

/* Parses "Z" or "+hh:mm" to minutes. Returns 1 if valid. */
static int
tg_format_parse_utc_offset(tg_str_t text, int *minutes)
{
    int hour, minute;

    if (text.len == 1 && (text.data[0] | 0x20) == 'z') {
        *minutes = 0;
        return 1;
    }

    if (!tg_format_has_shape(text, "+dd:dd")
        && !tg_format_has_shape(text, "-dd:dd"))
    {
        return 0;
    }

    hour = tg_format_parse_digits(text.data + 1, 2);
    minute = tg_format_parse_digits(text.data + 4, 2);
    *minutes = (hour * 60 + minute) * (text.data[0] == '-' ? -1 : 1);

    return hour <= 23 && minute <= 59;
}

static int
tg_format_is_time(tg_str_t text)
{
    int hour, minute, second, offset;
    size_t at;

    if (text.len < 9 || !tg_format_has_shape(tg_str(text.data, 8), "dd:dd:dd"))
    {
        return 0;
    }

    hour = tg_format_parse_digits(text.data, 2);
    minute = tg_format_parse_digits(text.data + 3, 2);
    second = tg_format_parse_digits(text.data + 6, 2);
    at = 8;

    if (text.data[at] == '.') {
        for (at++; at < text.len && tg_is_digit(text.data[at]); at++) {
            /* void */
        }

        if (at == 9) {
            return 0;
        }
    }

    if (hour > 23 || minute > 59 || second > 60
        || !tg_format_parse_utc_offset(tg_str_skip(text, at), &offset))
    {
        return 0;
    }

    /* A leap second is at the end of a day in UTC. */
    return second < 60
           || (hour * 60 + minute - offset + 2 * 1440) % 1440 == 1439;
}

static int
tg_format_is_date_time(tg_str_t text)
{
    return text.len > 11 && (text.data[10] | 0x20) == 't'
           && tg_format_is_date(tg_str(text.data, 10))
           && tg_format_is_time(tg_str_skip(text, 11));
}

/*
 * Returns the number of units, or -1. They must be in order, each at most once;
 * by RFC 3339 no unit between two others may be left out.
 */
static int
tg_format_skip_duration_units(const char **at, const char *end,
                              const char *units)
{
    const char *p, *unit, *last;
    int n;

    last = NULL;

    for (n = 0; *at < end; n++) {
        for (p = *at; p < end && tg_is_digit(*p); p++) {
            /* void */
        }

        if (p == *at || p == end || *p == '\0') {
            break;
        }

        unit = strchr(units, *p);

        if (unit == NULL || (last != NULL && unit != last + 1)) {
            return -1;
        }

        last = unit;
        *at = p + 1;
    }

    return n;
}

static int
tg_format_is_duration(tg_str_t text)
{
    const char *p, *end;
    int n_date, n_time;

    p = text.data;
    end = p + text.len;

    if (text.len < 3 || *p++ != 'P') {
        return 0;
    }

    if (end[-1] == 'W') {
        return tg_format_skip_duration_units(&p, end, "W") == 1 && p == end;
    }

    n_date = tg_format_skip_duration_units(&p, end, "YMD");

    if (n_date < 0 || p == end) {
        return n_date > 0;
    }

    if (*p++ != 'T') {
        return 0;
    }

    n_time = tg_format_skip_duration_units(&p, end, "HMS");

    return n_time > 0 && p == end;
}

static int
tg_format_is_hostname(tg_str_t text)
{
    size_t i, label;

    if (text.len == 0 || text.len > 253) {
        return 0;
    }

    for (i = 0; i < text.len; i = i + 1) {
        for (label = i; i < text.len && text.data[i] != '.'; i++) {
            if (!tg_is_alpha(text.data[i]) && !tg_is_digit(text.data[i])
                && text.data[i] != '-')
            {
                return 0;
            }
        }

        if (i == label || i - label > 63 || text.data[label] == '-'
            || text.data[i - 1] == '-' || i + 1 == text.len)
        {
            return 0;
        }
    }

    return 1;
}

static int
tg_format_is_ipv4(tg_str_t text)
{
    size_t i, n, start;
    int value;

    for (i = n = 0; n < 4; n++) {
        for (start = i; i < text.len && tg_is_digit(text.data[i]); i++) {
            /* void */
        }

        if (i == start || i - start > 3
            || (i - start > 1 && text.data[start] == '0')) {
            return 0;
        }

        value = tg_format_parse_digits(text.data + start, i - start);

        if (value > 255 || (n < 3 && (i == text.len || text.data[i] != '.'))) {
            return 0;
        }

        i += n < 3;
    }

    return i == text.len;
}

/* Checks an IPv6 address (RFC 4291, section 2.2) without a zone. */
static int
tg_format_is_ipv6(tg_str_t text)
{
    int groups, has_gap;
    size_t i, start;

    groups = has_gap = 0;
    i = 0;

    if (text.len >= 2 && text.data[0] == ':' && text.data[1] == ':') {
        has_gap = 1;
        i = 2;
    }

    while (i < text.len) {
        for (start = i; i < text.len && tg_hex_value(text.data[i]) >= 0; i++) {
            /* void */
        }

        if (i < text.len && text.data[i] == '.') {
            groups += 2;
            i = text.len;

            if (!tg_format_is_ipv4(tg_str(text.data + start, i - start))) {
                return 0;
            }

            break;
        }

        if (i == start || i - start > 4) {
            return 0;
        }

        groups++;

        if (i == text.len) {
            break;
        }

        if (text.data[i++] != ':' || i == text.len) {
            return 0;
        }

        if (text.data[i] == ':') {
            if (has_gap++) {
                return 0;
            }

            i++;
        }
    }

    return has_gap ? groups < 8 : groups == 8;
}

/* Checks for a dot-string or quoted string (RFC 5321, section 4.1.2). */
static int
tg_format_is_email_local_part(tg_str_t text)
{
    size_t i;
    char c;

    if (text.len == 0 || text.len > 64) {
        return 0;
    }

    if (text.data[0] == '"') {
        for (i = 1; i + 1 < text.len; i++) {
            c = text.data[i];

            if (c == '\\' && i + 2 < text.len) {
                c = text.data[++i];

            } else if (c == '"' || c == '\\') {
                return 0;
            }

            if (c < ' ' || c > '~') {
                return 0;
            }
        }

        return text.len > 1 && text.data[text.len - 1] == '"';
    }

    for (i = 0; i < text.len; i++) {
        c = text.data[i];

        if (c == '.') {
            if (i == 0 || i + 1 == text.len || text.data[i - 1] == '.') {
                return 0;
            }

        } else if (!tg_is_alpha(c) && !tg_is_digit(c)
                   && !tg_is_one_of(c, "!#$%&'*+-/=?^_`{|}~"))
        {
            return 0;
        }
    }

    return 1;
}

static int
tg_format_is_email(tg_str_t text)
{
    tg_str_t domain;
    size_t at;

    for (at = text.len; at > 0 && text.data[at - 1] != '@'; at--) {
        /* void */
    }

    if (at == 0 || !tg_format_is_email_local_part(tg_str(text.data, at - 1))) {
        return 0;
    }

    domain = tg_str_skip(text, at);

    if (domain.len > 2 && domain.data[0] == '['
        && domain.data[domain.len - 1] == ']')
    {
        domain = tg_str(domain.data + 1, domain.len - 2);

        return tg_format_is_ipv4(domain)
               || (domain.len > 5 && memcmp(domain.data, "IPv6:", 5) == 0
                   && tg_format_is_ipv6(tg_str_skip(domain, 5)));
    }

    return tg_format_is_hostname(domain);
}

static int
tg_format_is_uri_reference(tg_str_t text)
{
    tg_str_t host;
    tg_uri_t uri;
    size_t i, close;

    if (tg_uri_parse(text, &uri) != TG_OK) {
        return 0;
    }

    host = uri.authority;

    for (i = 0; i < host.len; i++) {
        if (host.data[i] != '[') {
            continue;
        }

        for (close = i; host.data[close] != ']'; close++) {
            /* void */
        }

        host = tg_str(host.data + i + 1, close - i - 1);

        return (host.len > 1 && (host.data[0] | 0x20) == 'v')
               || tg_format_is_ipv6(host);
    }

    return 1;
}

static int
tg_format_is_uri(tg_str_t text)
{
    tg_uri_t uri;

    return tg_format_is_uri_reference(text) && tg_uri_parse(text, &uri) == TG_OK
           && uri.scheme.data != NULL;
}

static int
tg_format_is_uuid(tg_str_t text)
{
    return tg_format_has_shape(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx");
}

static int
tg_format_is_json_pointer(tg_str_t text)
{
    size_t i;

    if (text.len != 0 && text.data[0] != '/') {
        return 0;
    }

    for (i = 0; i < text.len; i++) {
        if (text.data[i] == '~'
            && (i + 1 == text.len
                || (text.data[i + 1] != '0' && text.data[i + 1] != '1')))
        {
            return 0;
        }
    }

    return 1;
}

/* Translates the pattern into a buffer without memory, only to check it. */
static int
tg_format_is_regex(tg_str_t text)
{
    unsigned weight;
    const char *why;
    tg_buf_t out;

    out = tg_buf_make_fixed(NULL, 0);

    return tg_pattern_translate(text, &out, &weight, &why) != TG_INVALID;
}

tg_schema_format_pt
tg_schema_format_find(tg_str_t name)
{
    static const struct {
        const char *name;
        tg_schema_format_pt check;
    } formats[] = {
        { "date-time", tg_format_is_date_time },
        { "date", tg_format_is_date },
        { "time", tg_format_is_time },
        { "duration", tg_format_is_duration },
        { "email", tg_format_is_email },
        { "hostname", tg_format_is_hostname },
        { "ipv4", tg_format_is_ipv4 },
        { "ipv6", tg_format_is_ipv6 },
        { "uri", tg_format_is_uri },
        { "uri-reference", tg_format_is_uri_reference },
        { "uuid", tg_format_is_uuid },
        { "json-pointer", tg_format_is_json_pointer },
        { "regex", tg_format_is_regex },
    };
    size_t i;

    for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (tg_str_eq(name, tg_str_from_cstr(formats[i].name))) {
            return formats[i].check;
        }
    }

    return NULL;
}
