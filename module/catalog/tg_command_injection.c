/* Analysis of a command line: splits `env -S` and finds started programs. */
#include "catalog/tg_command_injection_impl.h"

static void
tg_command_add_token(tg_command_scan_t *scan, tg_str_t text, size_t word)
{
    if (scan->n < TG_COMMAND_WORDS_MAX) {
        scan->tokens[scan->n++] = (tg_command_token_t){ text, word };
    }
}

/* Splits as `env -S` does, but keeps quotes: no program's name has any. */
static void
tg_command_split_word(tg_command_scan_t *scan, tg_str_t text, size_t word)
{
    size_t i, start;

    for (i = 0; i < text.len; /* void */) {
        start = i;
        i += tg_str_find_char(tg_str_skip(text, i), " \t\r\n");

        if (i != start) {
            tg_command_add_token(scan, tg_str(text.data + start, i - start),
                                 word);
        }

        i += i < text.len;
    }
}

/* Returns the value of env's -S: empty if it is the next word, else absent. */
static tg_str_t
tg_command_get_split_option(tg_str_t text)
{
    static const char name[] = "--split-string";
    size_t i, len;

    len = sizeof(name) - 1;

    if (tg_str_has_prefix(text, name)) {
        return tg_str_skip(text, len + (text.len > len));
    }

    for (i = 1; text.len > 1 && text.data[0] == '-' && text.data[1] != '-'
                && i < text.len;
         i++)
    {
        if (text.data[i] == 'S') {
            return tg_str_skip(text, i + 1);
        }

        if (tg_is_one_of(text.data[i], "uC$=")) {
            break;
        }
    }

    return TG_STR_NONE;
}

static int
tg_command_is_env(tg_str_t text)
{
    return tg_str_eq(tg_path_get_base_name(text), TG_STR("env"));
}

/* Fills the tokens. Returns 1 if env splits a word with a client's value. */
static int
tg_command_fill_tokens(tg_command_scan_t *scan, const tg_command_word_t *words,
                       size_t n)
{
    tg_str_t text;
    size_t i, env;

    env = SIZE_MAX;

    for (i = 0; i < n && scan->n < TG_COMMAND_WORDS_MAX; i++) {
        text = env != SIZE_MAX ? tg_command_get_split_option(words[i].text)
                               : TG_STR_NONE;

        if (text.data == NULL) {
            tg_command_add_token(scan, words[i].text, i);
            env = tg_command_is_env(words[i].text) ? scan->n - 1 : env;
            continue;
        }

        if (text.len == 0 && ++i < n) {
            text = words[i].text;
        }

        scan->name = scan->tokens[env].text;
        scan->program = tg_command_find_program(scan->name);

        if (i < n && tg_command_check_code(scan, text, i, 0)) {
            return 1;
        }

        tg_command_split_word(scan, text, i);
        env = SIZE_MAX;
    }

    return 0;
}

/* Checks whether a program only prints, searches or compares its words. */
static int
tg_command_is_inert(tg_str_t word)
{
    static const char names[] = "echo printf test [ true false yes logger cat "
                                "ls grep egrep fgrep zgrep rg ag ack";

    return tg_command_list_has(names, tg_path_get_base_name(word));
}

static int
tg_command_is_launcher(tg_str_t word)
{
    const tg_command_program_t *program;

    program = tg_command_find_program(word);

    return program != NULL && (program->flags & TG_COMMAND_IS_LAUNCHER);
}

/*
 * Checks whether the program of a token may be started. Launchers start any
 * program. Their list is not complete, so unknown programs are assumed to start
 * programs that run code.
 */
static int
tg_command_can_be_launched(const tg_command_scan_t *scan, size_t i,
                           const char *launch_words)
{
    const tg_command_program_t *program;

    if (i == 0) {
        return 1;
    }

    if (tg_command_is_launcher(scan->tokens[0].text)) {
        return launch_words == NULL
               || tg_command_list_has(launch_words, scan->tokens[i - 1].text);
    }

    program = tg_command_find_program(scan->tokens[i].text);

    return !tg_command_is_inert(scan->tokens[0].text)
           && (program->flags & TG_COMMAND_IS_STRICT)
           && (program->flags & TG_COMMAND_IS_READER)
           && !(program->flags & TG_COMMAND_IS_REST);
}

/* Returns the image in `docker run --entrypoint sh IMAGE -c CODE`, or n. */
static size_t
tg_command_find_image(const tg_command_scan_t *scan, size_t i)
{
    static const char plain[] = "--rm --init --privileged --read-only -i -t -d "
                                "-it -ti -P --interactive --tty --detach";
    tg_str_t before;

    for (/* void */; i < scan->n; i++) {
        before = scan->tokens[i - 1].text;

        if (scan->tokens[i].text.len != 0 && scan->tokens[i].text.data[0] != '-'
            && (before.len == 0 || before.data[0] != '-'
                || memchr(before.data, '=', before.len) != NULL
                || tg_command_list_has(plain, before)))
        {
            break;
        }
    }

    return i;
}

/* Returns 1 if the container's program runs code with a client's value. */
static int
tg_command_check_entrypoint(tg_command_scan_t *scan, size_t i)
{
    const tg_command_program_t *program;
    tg_str_t name;
    size_t image;

    name = scan->tokens[i].text;
    image = i + 1;

    if (tg_command_list_has("--entrypoint --command", name) && i + 1 < scan->n)
    {
        name = scan->tokens[i + 1].text;
        image++;

    } else if (tg_str_has_prefix_nocase(name, TG_STR("--entrypoint="))
               || tg_str_has_prefix_nocase(name, TG_STR("--command=")))
    {
        name = tg_command_get_assigned_value(name);

    } else {
        return 0;
    }

    program = tg_command_find_program(name);
    image = tg_command_find_image(scan, image);

    return program != NULL && image < scan->n
           && tg_command_scan_program(scan, program, name, image);
}

int
tg_command_find_injection(const tg_command_word_t *words, size_t n,
                          const tg_command_names_t *names,
                          tg_command_finding_t *code)
{
    const tg_command_program_t *program;
    tg_command_finding_t before;
    tg_command_scan_t scan;
    const char *launch_words;
    size_t i;

    memset(code, 0, sizeof(*code));
    code->tail = n;
    scan.code = code;
    scan.words = words;
    scan.names = names;
    scan.n = 0;

    if (tg_command_fill_tokens(&scan, words, n)) {
        return TG_OK;
    }

    launch_words = NULL;

    for (i = 0; i < scan.n && code->tail == n; i++) {
        program = tg_command_find_program(scan.tokens[i].text);

        if (tg_command_check_entrypoint(&scan, i)) {
            return TG_OK;
        }

        if (program == NULL
            || !tg_command_can_be_launched(&scan, i, launch_words)) {
            continue;
        }

        before = *code;

        if (tg_command_scan_program(&scan, program, scan.tokens[i].text, i)) {
            return TG_OK;
        }

        /* An unknown program might not start this one: keep only tail. */
        if (i != 0 && !tg_command_is_launcher(scan.tokens[0].text)) {
            before.tail = code->tail;
            *code = before;
        }

        launch_words = program->launch_words;
    }

    return TG_MISSING;
}
