/*
 * Addresses that are for everybody, and those that are not: of this machine,
 * of the networks that it is in, or of nobody.
 */
#ifndef TG_PUBLIC_ADDRESS_H
#define TG_PUBLIC_ADDRESS_H

#include <sys/socket.h>

/*
 * Is it a public unicast address of the Internet?  What has an IPv4 address
 * in it (mapped, 6to4, NAT64) is as public as that.
 */
int tg_address_is_public(const struct sockaddr *address, socklen_t len);

/* The same for the text of an address, as inet_pton() takes it. */
int tg_address_is_public_text(const char *text);

#endif
