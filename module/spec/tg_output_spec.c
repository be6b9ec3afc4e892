/* Values about the output of a tool. */
#include "spec/tg_output_spec.h"

#include <stddef.h>

const char *const tg_output_type_words[] = { "text", "json", "result", NULL };
