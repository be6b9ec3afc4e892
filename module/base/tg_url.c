/* URL parser, percent-encoding, and matching of host patterns. */
#include "base/tg_url.h"

/* Number of bytes that are percent-encoded per iteration. */
#define TG_URL_ENCODE_CHUNK 256

#define TG_URL_SYNTAX_HINT "write http:// or https://, a host, and a path"

static int
tg_url_is_unreserved_char(char c)
{
    return tg_is_alpha(c) || tg_is_digit(c) || c == '-' || c == '.' || c == '_'
           || c == '~';
}

int
tg_url_is_authority_char(char c)
{
    return tg_is_alpha(c) || tg_is_digit(c) || tg_is_one_of(c, "-._:[]");
}

static int
tg_url_is_target_char(char c)
{
    return tg_url_is_unreserved_char(c) || tg_is_one_of(c, "!$&'()*+,;=:@/?%");
}

void
tg_url_append_encoded(tg_buf_t *buf, tg_str_t text)
{
    static const char hex[] = "0123456789ABCDEF";
    char room[3 * TG_URL_ENCODE_CHUNK], *at;
    unsigned char c;
    size_t i, end;

    for (i = 0; i < text.len; /* void */) {
        end = text.len - i < TG_URL_ENCODE_CHUNK ? text.len
                                                 : i + TG_URL_ENCODE_CHUNK;

        for (at = room; i < end; i++) {
            c = (unsigned char) text.data[i];

            if (tg_url_is_unreserved_char(text.data[i])) {
                *at++ = text.data[i];
                continue;
            }

            *at++ = '%';
            *at++ = hex[c >> 4];
            *at++ = hex[c & 15];
        }

        tg_buf_append(buf, room, (size_t) (at - room));
    }
}

/* Removes a prefix, ignoring case. Returns 1 if text had it. */
static int
tg_url_skip_prefix(tg_str_t *text, const char *prefix)
{
    if (!tg_str_has_prefix_nocase(*text, tg_str_from_cstr(prefix))) {
        return 0;
    }

    *text = tg_str_skip(*text, strlen(prefix));

    return 1;
}

void
tg_url_append_normalized(tg_buf_t *buf, tg_str_t text)
{
    tg_str_t target;
    size_t i;

    target = text;

    if (!tg_url_skip_prefix(&target, "https://")) {
        (void) tg_url_skip_prefix(&target, "http://");
    }

    i = tg_str_find_char(target, "/?#");
    tg_buf_append(buf, text.data, text.len - target.len + i);

    for (; i < target.len && target.data[i] != '#'; i++) {
        if (tg_url_is_target_char(target.data[i])) {
            tg_buf_append_char(buf, target.data[i]);
        } else {
            tg_url_append_encoded(buf, tg_str(target.data + i, 1));
        }
    }
}

static int
tg_url_parse_port(tg_str_t digits, uint16_t *port)
{
    uint32_t number;
    size_t i;

    number = 0;

    for (i = 0; i < digits.len; i++) {
        if (!tg_is_digit(digits.data[i]) || number > 65535) {
            return TG_INVALID;
        }

        number = number * 10 + (uint32_t) (digits.data[i] - '0');
    }

    if (number == 0 || number > 65535) {
        return TG_INVALID;
    }

    *port = (uint16_t) number;

    return TG_OK;
}

static int
tg_url_is_host(tg_str_t host)
{
    size_t i;

    if (host.len > 3 && host.data[0] == '[' && host.data[host.len - 1] == ']') {
        host = tg_str(host.data + 1, host.len - 2);

        for (i = 0; i < host.len; i++) {
            if (tg_hex_value(host.data[i]) == -1
                && !tg_is_one_of(host.data[i], ":.")) {
                return 0;
            }
        }

    } else if (!tg_str_is_word(host, "-._")) {
        return 0;
    }

    return host.len != 0 && host.len < 256 && host.data[0] != '.';
}

/* Removes and returns the port, if any, but no part of an IPv6 address. */
static tg_str_t
tg_url_cut_port(tg_str_t *text)
{
    tg_str_t port;
    size_t i;

    for (i = text->len; i > 0 && text->data[i - 1] != ']'; i--) {
        if (text->data[i - 1] == ':') {
            port = tg_str_skip(*text, i);
            text->len = i - 1;
            return port;
        }
    }

    return TG_STR_NONE;
}

int
tg_url_parse(tg_str_t text, tg_url_t *url, const char **why)
{
    tg_str_t port;
    tg_url_t made;
    size_t i;

    *why = TG_URL_SYNTAX_HINT;
    made.is_tls = tg_url_skip_prefix(&text, "https://");

    if (!made.is_tls && !tg_url_skip_prefix(&text, "http://")) {
        return TG_INVALID;
    }

    for (i = 0; i < text.len && !tg_is_one_of(text.data[i], "/?#"); i++) {
        if (text.data[i] == '@') {
            *why = "a URL must not contain a user or a password; send them "
                   "in a header";
            return TG_INVALID;
        }
    }

    made.host = tg_str(text.data, i);
    made.target = tg_str_skip(text, i);
    made.port = made.is_tls ? 443 : 80;
    port = tg_url_cut_port(&made.host);

    if (!tg_url_is_host(made.host)
        || (port.data != NULL && tg_url_parse_port(port, &made.port) != TG_OK))
    {
        *why = "the host must be a name or an address, followed by \":\" and "
               "a port from 1 to 65535 if the port is not the default one";
        return TG_INVALID;
    }

    for (i = 0; i < made.target.len; i++) {
        if (!tg_url_is_target_char(made.target.data[i])) {
            *why = "path and query may contain letters, digits and "
                   "-._~!$&'()*+,;=:@/?; write all other characters "
                   "percent-encoded, and no fragment";
            return TG_INVALID;
        }
    }

    for (i = 0; i < made.target.len && made.target.data[i] != '?'; i++) {
        /* void */
    }

    made.path = tg_str(made.target.data, i);
    *url = made;

    return TG_OK;
}

/* Checks for "." and "..", where a dot may be encoded as %2e. */
static int
tg_url_is_dot_segment(tg_str_t segment)
{
    static const char dot[] = "%2e";
    int n;

    for (n = 0; segment.len != 0 && n < 3; n++) {
        if (segment.data[0] != '.') {
            if (!tg_url_skip_prefix(&segment, dot)) {
                return 0;
            }

        } else {
            segment = tg_str_skip(segment, 1);
        }
    }

    return n == 1 || n == 2;
}

int
tg_url_has_dot_segments(tg_str_t path)
{
    size_t i, start;

    start = 0;

    for (i = 0; i <= path.len; i++) {
        if (i == path.len || path.data[i] == '/') {
            if (tg_url_is_dot_segment(tg_str(path.data + start, i - start))) {
                return 1;
            }

            start = i + 1;
        }
    }

    return 0;
}

int
tg_url_is_same_origin(const tg_url_t *a, const tg_url_t *b)
{
    return a->is_tls == b->is_tls && a->port == b->port
           && tg_str_eq_nocase(a->host, b->host);
}

void
tg_url_append_origin(tg_buf_t *buf, const tg_url_t *url)
{
    tg_buf_append_cstr(buf, url->is_tls ? "https://" : "http://");
    tg_buf_append_str(buf, url->host);

    if (url->port != (url->is_tls ? 443 : 80)) {
        tg_buf_append_char(buf, ':');
        tg_buf_append_uint(buf, url->port);
    }
}

static tg_str_t
tg_url_strip_root_dot(tg_str_t host)
{
    if (host.len > 1 && host.data[host.len - 1] == '.') {
        host.len--;
    }

    return host;
}

static int
tg_url_is_port_allowed(const tg_url_t *url, tg_str_t port)
{
    uint16_t number;

    if (port.data == NULL) {
        return url->port == (url->is_tls ? 443 : 80);
    }

    return tg_str_eq(port, TG_STR("*"))
           || (tg_url_parse_port(port, &number) == TG_OK
               && number == url->port);
}

tg_url_match_t
tg_url_match_host(const tg_url_t *url, tg_str_t pattern)
{
    tg_str_t host, port, end;

    host = tg_url_strip_root_dot(url->host);
    port = tg_url_cut_port(&pattern);

    if (!tg_url_is_port_allowed(url, port)) {
        return TG_URL_MATCH_NONE;
    }

    if (pattern.len == 0 || pattern.data[0] != '*') {
        return tg_str_eq_nocase(host, tg_url_strip_root_dot(pattern))
                   ? TG_URL_MATCH_EXACT
                   : TG_URL_MATCH_NONE;
    }

    pattern = tg_str_skip(pattern, 1);

    if (host.len < pattern.len + (pattern.len != 0)) {
        return TG_URL_MATCH_NONE;
    }

    end = tg_str(tg_str_end(host) - pattern.len, pattern.len);

    return tg_str_eq_nocase(end, pattern) ? TG_URL_MATCH_WILDCARD
                                          : TG_URL_MATCH_NONE;
}

const char *
tg_url_check_pattern(tg_str_t pattern)
{
    static const char why[] = "write a name or an address, \"*.NAME\" for "
                              "all hosts below it, or \"*\" for any host, "
                              "followed by \":PORT\" or \":*\" if the port "
                              "is not the default one";
    uint16_t number;
    tg_str_t port;

    port = tg_url_cut_port(&pattern);

    if (port.data != NULL && !tg_str_eq(port, TG_STR("*"))
        && tg_url_parse_port(port, &number) != TG_OK)
    {
        return why;
    }

    if (tg_str_eq(pattern, TG_STR("*"))) {
        return NULL;
    }

    if (pattern.len > 2 && memcmp(pattern.data, "*.", 2) == 0) {
        pattern = tg_str_skip(pattern, 2);
    }

    return tg_url_is_host(pattern) ? NULL : why;
}
