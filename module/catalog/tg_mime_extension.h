/* The MIME type of a file, by the extension of its name. */
#ifndef TG_MIME_EXTENSION_H
#define TG_MIME_EXTENSION_H

#include "base/tg_base.h"

/* Returns the type for the name or path of a file; absent: unknown. */
tg_str_t tg_mime_type_from_name(tg_str_t name);

#endif
