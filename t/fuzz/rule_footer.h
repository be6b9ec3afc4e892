/* Makes a time zone file with only the rule at its end. */
#ifndef RULE_FOOTER_H
#define RULE_FOOTER_H

#include "base/tg_buf.h"

static inline void
rule_footer(tg_buf_t *file, tg_str_t footer)
{
    /*
     * No times and one type with a one-byte name: a header for each width of
     * times.
     */
    static const char counts[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                                   0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1 };
    static const char zeros[15];
    int part;

    for (part = 0; part < 2; part++) {
        tg_buf_append_cstr(file, "TZif2");
        tg_buf_append(file, zeros, sizeof(zeros));
        tg_buf_append(file, counts, sizeof(counts));
        tg_buf_append(file, zeros, 6 + 1);
    }

    tg_buf_append_char(file, '\n');
    tg_buf_append_str(file, footer);
    tg_buf_append_char(file, '\n');
}

#endif
