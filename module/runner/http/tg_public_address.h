/*
 * Distinguishes public addresses of the Internet from those of this machine, of
 * private networks and of special purposes.
 */
#ifndef TG_PUBLIC_ADDRESS_H
#define TG_PUBLIC_ADDRESS_H

#include <sys/socket.h>

/*
 * Checks whether an address is a public unicast address. An IPv6 address that
 * contains an IPv4 address (mapped, 6to4, NAT64) is public if that is public.
 */
int tg_address_is_public(const struct sockaddr *address, socklen_t len);

/*
 * Checks whether an address in text form, as inet_pton() accepts it, is a
 * public unicast address.
 */
int tg_address_is_public_text(const char *text);

#endif
