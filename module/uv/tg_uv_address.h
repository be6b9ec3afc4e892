/*
 * Addresses as people write them: HOST:PORT, else the path of a Unix socket.
 */
#ifndef TG_UV_ADDRESS_H
#define TG_UV_ADDRESS_H

#include <sys/socket.h>

/* Is it HOST:PORT, by its form? */
int tg_uv_is_address(const char *text);

/*
 * Looks HOST up, which may take its time.  TG_OK; TG_MISSING: it is no such
 * address, so it is a path; TG_BAD: *why, static.
 */
int tg_uv_address(const char *text, struct sockaddr_storage *address,
                  const char **why);

#endif
