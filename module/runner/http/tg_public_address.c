/* Public addresses, by IANA's registries of special-purpose addresses. */
#include "runner/http/tg_public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TG_IPV4(a, b, c, d)                                                    \
    ((uint32_t) (a) << 24 | (uint32_t) (b) << 16 | (uint32_t) (c) << 8         \
     | (uint32_t) (d))

/* Checks a table of special-purpose and other non-unicast addresses. */
static int
tg_address_is_public_ipv4(uint32_t address)
{
    static const struct {
        uint32_t net;
        unsigned bits;
    } special[] = {
        { TG_IPV4(0, 0, 0, 0), 8 },        /* this network */
        { TG_IPV4(10, 0, 0, 0), 8 },       /* private */
        { TG_IPV4(100, 64, 0, 0), 10 },    /* shared, and some metadata */
        { TG_IPV4(127, 0, 0, 0), 8 },      /* loopback */
        { TG_IPV4(168, 63, 129, 16), 32 }, /* a cloud's own services */
        { TG_IPV4(169, 254, 0, 0), 16 },   /* link-local, metadata */
        { TG_IPV4(172, 16, 0, 0), 12 },    /* private */
        { TG_IPV4(192, 0, 0, 0), 24 },     /* protocols */
        { TG_IPV4(192, 0, 2, 0), 24 },     /* documentation */
        { TG_IPV4(192, 88, 99, 0), 24 },   /* relays of 6to4 */
        { TG_IPV4(192, 168, 0, 0), 16 },   /* private */
        { TG_IPV4(198, 18, 0, 0), 15 },    /* benchmarks */
        { TG_IPV4(198, 51, 100, 0), 24 },  /* documentation */
        { TG_IPV4(203, 0, 113, 0), 24 },   /* documentation */
        { TG_IPV4(224, 0, 0, 0), 3 },      /* multicast, reserved */
    };
    size_t i;

    for (i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
        if (((address ^ special[i].net) >> (32 - special[i].bits)) == 0) {
            return 0;
        }
    }

    return 1;
}

static uint32_t
tg_address_load_uint32(const uint8_t *p)
{
    return TG_IPV4(p[0], p[1], p[2], p[3]);
}

static int
tg_address_is_public_ipv6(const struct in6_addr *address)
{
    static const uint8_t mapped[12] = {
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255
    };
    static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };
    const uint8_t *p;
    uint32_t high;

    p = address->s6_addr;

    if (memcmp(p, mapped, 12) == 0 || memcmp(p, nat64, 12) == 0) {
        return tg_address_is_public_ipv4(tg_address_load_uint32(p + 12));
    }

    high = tg_address_load_uint32(p);

    if (high >> 16 == 0x2002) { /* 6to4 */
        return tg_address_is_public_ipv4(tg_address_load_uint32(p + 2));
    }

    /* Global unicast addresses, except those of protocols and documentation. */
    return high >> 29 == 1 && high >> 9 != 0x20010000u >> 9
           && high != 0x20010db8u && high >> 12 != 0x3fff0000u >> 12;
}

int
tg_address_is_public(const struct sockaddr *address, socklen_t len)
{
    struct sockaddr_in ipv4;
    struct sockaddr_in6 ipv6;

    if (address->sa_family == AF_INET && len >= sizeof(ipv4)) {
        memcpy(&ipv4, address, sizeof(ipv4));
        return tg_address_is_public_ipv4(ntohl(ipv4.sin_addr.s_addr));
    }

    if (address->sa_family == AF_INET6 && len >= sizeof(ipv6)) {
        memcpy(&ipv6, address, sizeof(ipv6));
        return tg_address_is_public_ipv6(&ipv6.sin6_addr);
    }

    return 0;
}

int
tg_address_is_public_text(const char *text)
{
    struct in6_addr ipv6;
    struct in_addr ipv4;

    if (inet_pton(AF_INET, text, &ipv4) == 1) {
        return tg_address_is_public_ipv4(ntohl(ipv4.s_addr));
    }

    return inet_pton(AF_INET6, text, &ipv6) == 1
           && tg_address_is_public_ipv6(&ipv6);
}
