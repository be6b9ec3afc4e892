/* MIME types (RFC 6838): their form, and which of them are text. */
#ifndef TG_MIME_TYPE_H
#define TG_MIME_TYPE_H

#include "base/tg_base.h"

/* Maximum length of a MIME type, in bytes. */
#define TG_MIME_TYPE_MAX 255

/* Checks for `type/subtype`, with parameters such as `; charset=utf-8`. */
int tg_mime_type_is_valid(tg_str_t type);

/* Checks whether content of a valid type, or of an unknown one, can be text. */
int tg_mime_type_is_text(tg_str_t type);

#endif
