/*
 * Checks values of configs: the tokens of a value make up the whole value, an
 * error is inside the value, and the path of each name ends.
 *
 * Input: a value.
 */
#include "help.h"

#include "catalog/tg_template.h"

/* The steps of a name, joined by dots, are the name. */
static void
value_steps(tg_str_t name)
{
    tg_str_t path, step;
    HELP_BUFFER(again);
    int rc;

    if (tg_variable_get_type(name, &path) == TG_VARIABLE_OTHER) {
        return;
    }

    name = path;

    while ((rc = tg_variable_next_member(&path, &step)) == TG_OK) {
        FUZZ(step.len != 0);
        FUZZ(tg_variable_is_named(step, step));

        if (again.len != 0) {
            tg_buf_append_char(&again, '.');
        }

        tg_buf_append_str(&again, step);
    }

    FUZZ(rc == TG_END || rc == TG_INVALID);

    if (rc == TG_END) {
        FUZZ_EQ(tg_buf_view(&again), name);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_template_token_t token;
    tg_str_t text, rest;
    HELP_BUFFER(again);
    int rc;

    text = rest = tg_str((const char *) data, size);

    while ((rc = tg_template_next(&rest, &token)) == TG_OK) {
        FUZZ(token.text.len != 0);

        if (token.name.data == NULL && token.text.data[0] == '$') {
            FUZZ(token.text.len == 1);
            tg_buf_append_char(&again, '$');
        }

        if (token.name.data != NULL) {
            FUZZ(token.name.len != 0 && token.text.data[0] == '$');
            value_steps(token.name);
        }

        tg_buf_append_str(&again, token.text);
    }

    FUZZ((rc == TG_INVALID) == (rest.len != 0));
    FUZZ(rest.len == 0 || rest.data[0] == '$');
    tg_buf_append_str(&again, rest);
    FUZZ_EQ(tg_buf_view(&again), text);

    return 0;
}
