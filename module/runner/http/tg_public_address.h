/* Distinguishes public Internet addresses from private and special ones. */
#ifndef TG_PUBLIC_ADDRESS_H
#define TG_PUBLIC_ADDRESS_H

#include <sys/socket.h>

/*
 * Checks for a public unicast address. An IPv6 address with an IPv4 address in
 * it (mapped, 6to4, NAT64) is public if that one is.
 */
int tg_address_is_public(const struct sockaddr *address, socklen_t len);

/* Checks whether an address in inet_pton()'s text form is public. */
int tg_address_is_public_text(const char *text);

#endif
