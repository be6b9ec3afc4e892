#include "protocol_script.h"

#include "protocol_host_talk.h"

static void __attribute__((noreturn))
script_fail(const script_t *script, unsigned line, const char *why)
{
    help_error(script->path, line, why);
}

static script_step_t *
script_add(script_t *script, script_step_type_t kind, unsigned line)
{
    script_step_t *step;

    if (script->nsteps != 0) {
        step = &script->steps[script->nsteps - 1];

        if (kind == SCRIPT_SEND && step->kind == SCRIPT_SEND) {
            return step;
        }
    }

    script->steps = realloc(script->steps,
                            (script->nsteps + 1) * sizeof(script->steps[0]));

    if (script->steps == NULL) {
        abort();
    }

    step = &script->steps[script->nsteps++];
    memset(step, 0, sizeof(*step));
    step->kind = kind;
    step->line = line;
    tg_buf_init(&step->text, tg_alloc_libc());

    return step;
}

static void
script_hex(script_t *script, tg_buf_t *text, const char *digits, unsigned line)
{
    unsigned byte;
    int n;

    for (n = 0; sscanf(digits, " %2x%n", &byte, &n) == 1; digits += n) {
        tg_buf_append_char(text, (char) byte);
    }

    if (digits[strspn(digits, " ")] != '\0') {
        script_fail(script, line, "no hexadecimal bytes");
    }
}

static void
script_repeat(script_t *script, tg_buf_t *text, const char *rest, unsigned line)
{
    unsigned long n;
    char *end;

    n = strtoul(rest, &end, 10);

    if (end == rest || *end != ' ' || end[1] == '\0') {
        script_fail(script, line, "`>repeat N TEXT` it should be");
    }

    while (n-- > 0) {
        tg_buf_append_cstr(text, end + 1);
    }
}

const char *
script_after(const char *line, const char *what)
{
    size_t len;

    len = strlen(what);

    if (strncmp(line, what, len) != 0) {
        return NULL;
    }

    if (line[len] == '\0') {
        return line + len;
    }

    return line[len] == ' ' ? line + len + 1 : NULL;
}

static void
script_send(script_t *script, const char *line, unsigned number)
{
    tg_buf_t *text;
    const char *rest;

    text = &script_add(script, SCRIPT_SEND, number)->text;

    if ((rest = script_after(line, ">")) != NULL) {
        tg_buf_printf(text, "%s\n", rest);
    } else if ((rest = script_after(line, ">raw")) != NULL) {
        tg_buf_append_cstr(text, rest);
    } else if ((rest = script_after(line, ">ipc")) != NULL) {
        host_put_ipc(text, tg_str_from_cstr(rest));
    } else if ((rest = script_after(line, ">hex")) != NULL) {
        script_hex(script, text, rest, number);
    } else if ((rest = script_after(line, ">repeat")) != NULL) {
        script_repeat(script, text, rest, number);
    } else {
        script_fail(script, number, "an unknown step");
    }
}

static void
script_expect(script_t *script, const char *line, unsigned number)
{
    script_step_t *step;
    const char *rest;

    if (strcmp(line, "<close") == 0) {
        (void) script_add(script, SCRIPT_CLOSE, number);
        return;
    }

    if ((rest = script_after(line, "<")) != NULL) {
        step = script_add(script, SCRIPT_EXPECT, number);
    } else if ((rest = script_after(line, "<?")) != NULL) {
        step = script_add(script, SCRIPT_UNORDERED, number);
    } else if ((rest = script_after(line, "<ipc")) != NULL) {
        step = script_add(script, SCRIPT_EXPECT, number);
        step->is_ipc = 1;
    } else {
        script_fail(script, number, "an unknown step");
        return;
    }

    tg_buf_append_cstr(&step->text, rest);

    if (tg_json_validate(tg_str_from_cstr(rest), NULL) != TG_OK) {
        script_fail(script, number, "what is expected is no JSON");
    }
}

static void
script_dialect(script_t *script, const char *name, unsigned line)
{
    tg_dialect_t dialect;

    for (dialect = TG_DIALECT_AUTO; dialect <= TG_DIALECT_COUNT - 1; dialect++)
    {
        if (strcmp(name, tg_dialect_name(dialect)) == 0) {
            script->dialect = dialect;
            return;
        }
    }

    script_fail(script, line, "an unknown protocol");
}

static void
script_header(script_t *script, const char *line, unsigned number)
{
    const char *value;

    if ((value = script_after(line, "protocol:")) != NULL) {
        script_dialect(script, value, number);
    } else if ((value = script_after(line, "max_frame:")) != NULL) {
        script->max_frame = strtoul(value, NULL, 10);
    } else if ((value = script_after(line, "max_inflight:")) != NULL) {
        script->max_inflight = (unsigned) strtoul(value, NULL, 10);
    } else if (strcmp(line, "library: no") == 0) {
        /* Only programs must enable these tools first. */
    } else if (strcmp(line, "heavy: yes") == 0) {
        script->is_heavy = 1;
    } else if (strcmp(line, "offers: all") == 0) {
        script->is_offering = 1;
    } else if (strcmp(line, "logs: yes") == 0) {
        script->is_logging = 1;
    } else if (strcmp(line, "skills: yes") == 0) {
        script->has_skills = 1;
    } else if (strcmp(line, "only: unit") != 0) {
        script_fail(script, number, "neither a header nor a step");
    }
}

static void
script_line(script_t *script, const char *line, unsigned number)
{
    if (line[0] == '#' || line[0] == '\0') {
        if (number == 1 && line[0] == '#') {
            script->title = strdup(line + 1 + strspn(line + 1, " "));
        }

        return;
    }

    switch (line[0]) {
    case '>':
        script_send(script, line, number);
        break;
    case '<':
        script_expect(script, line, number);
        break;
    case '!':
        tg_buf_append_cstr(&script_add(script, SCRIPT_HOST, number)->text,
                           line + 1);
        break;
    case '?':
        tg_buf_append_cstr(&script_add(script, SCRIPT_CHECK, number)->text,
                           line + 1);
        break;
    case '-':
        (void) script_add(script, SCRIPT_QUIET, number);
        break;
    default:
        if (script->nsteps != 0) {
            script_fail(script, number, "an unknown step");
        }

        script_header(script, line, number);
    }
}

void
script_read(script_t *script, const char *path, char *text)
{
    unsigned number, first;
    char *line, *next, *end;
    size_t i;

    memset(script, 0, sizeof(*script));
    script->path = strdup(path);
    script->max_frame = 10485760;
    script->max_inflight = 64;
    number = 0;

    for (line = text; line[0] != '\0'; line = next) {
        first = ++number;
        end = line + strcspn(line, "\n");

        /* A line that begins with white space continues the line before it. */
        for (next = end + 1; next[0] == ' '; next += i + 1) {
            number++;
            next += strspn(next, " ");
            i = strcspn(next, "\n");
            memmove(end, next, i);
            end += i;
        }

        *end = '\0';
        script_line(script, line, first);
    }

    if (script->title == NULL || script->nsteps == 0) {
        script_fail(script, 1, "a title and steps are missing");
    }

    for (i = 0; i < script->nsteps; i++) {
        if (script->steps[i].kind == SCRIPT_SEND) {
            script->size += script->steps[i].text.len;
        }
    }
}
