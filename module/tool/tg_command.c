#include "tool/tg_command.h"

#include "core/tg_value.h"

/* A word, or a part of one that a starter takes apart. */
typedef struct {
    tg_str_t text;
    size_t word;
} tg_command_token_t;

typedef struct {
    const tg_command_word_t *words;
    const tg_command_names_t *names;
    tg_command_token_t tokens[TG_COMMAND_WORDS_MAX];
    size_t n;
    const tg_command_program_t *program; /* whose words are read */
    size_t at;                           /* of that program */
    size_t i;                            /* the token that is read */
    size_t nwords;                       /* that are no options, so far */
    int is_given;                        /* its code, or a file of it */
    int is_code;                         /* its code is in a word */
    int is_chosen;                       /* program->command was there */
    int is_next;                         /* the next word is code */
    int is_ended;                        /* there are no more options */
    tg_command_code_t *code;
} tg_command_scan_t;

/* --- values --- */

int
tg_command_is_caller(tg_str_t name, const tg_command_names_t *names)
{
    static const char *const callers[] = {
        "tool_arguments",   "tool_request_id", "tool_client_name",
        "tool_traceparent", "tool_tracestate", "task_prompt",
        "task_cwd",         "task_metadata",   NULL
    };
    tg_value_kind_t kind;
    tg_str_t path;
    size_t i;

    kind = tg_value_kind(name, &path);

    if (kind != TG_VALUE_OTHER) {
        return kind != TG_VALUE_HAS;
    }

    for (i = 0; callers[i] != NULL; i++) {
        if (tg_value_is_named(name, tg_str_c(callers[i]))) {
            return 1;
        }
    }

    for (i = 0; names != NULL && i < names->n; i++) {
        if (tg_value_is_named(name, names->names[i])) {
            return 1;
        }
    }

    return 0;
}

tg_str_t
tg_command_value(tg_str_t text, int is_alone, const tg_command_names_t *names)
{
    tg_value_token_t token;
    tg_str_t rest, value;

    rest = text;
    value = TG_STR_NONE;

    while (value.data == NULL && tg_value_next(&rest, &token) == TG_OK) {
        if (token.name.data != NULL && tg_command_is_caller(token.name, names))
        {
            value = token.text;
        }
    }

    return is_alone || value.len != text.len ? value : TG_STR_NONE;
}

/* --- words that are code --- */

/* Is it code with a caller's value? */
static int
tg_command_check(tg_command_scan_t *scan, tg_str_t text, size_t word,
                 int is_alone)
{
    tg_str_t value;

    scan->is_given = scan->is_code = 1;
    value = tg_command_value(text, is_alone, scan->names);

    if (value.data == NULL
        || ((scan->program->flags & TG_COMMAND_IS_MILD)
            && scan->words[word].is_number))
    {
        return 0;
    }

    scan->code->program = scan->program;
    scan->code->name = scan->tokens[scan->at].text;
    scan->code->value = value;
    scan->code->word = word;

    return 1;
}

/* The value of an option that is in the same word, or else the next one. */
static int
tg_command_check_value(tg_command_scan_t *scan, tg_str_t attached)
{
    if (attached.data == NULL) {
        if (++scan->i >= scan->n) {
            return 0;
        }

        attached = scan->tokens[scan->i].text;
    }

    return tg_command_check(scan, attached, scan->tokens[scan->i].word, 0);
}

static int
tg_command_is_letter(const char *letters, char c)
{
    return letters != NULL && tg_is_one_of(c, letters);
}

/* The code is in a file, behind which words are for that. */
static void
tg_command_use_file(tg_command_scan_t *scan)
{
    unsigned flags;

    flags = scan->program->flags;
    scan->is_given = 1;

    if ((flags & TG_COMMAND_IS_STRICT)
        && !(flags & (TG_COMMAND_IS_FIRST | TG_COMMAND_IS_REST)))
    {
        scan->i = scan->n;
    }
}

/* `-lne CODE`: says whether there is code with a caller's value. */
static int
tg_command_check_letters(tg_command_scan_t *scan, tg_str_t text)
{
    const tg_command_program_t *program;
    tg_str_t attached;
    size_t i;

    program = scan->program;

    for (i = 1; i < text.len && text.data[i] != '$'; i++) {
        attached = i + 1 < text.len
                       ? tg_str(text.data + i + 1, text.len - i - 1)
                       : TG_STR_NONE;

        if (tg_command_is_letter(program->codes, text.data[i])) {
            if (!(program->flags & TG_COMMAND_IS_SHELL)) {
                return tg_command_check_value(scan, attached);
            }

            scan->is_next = 1;

        } else if (tg_command_is_letter(program->rests, text.data[i])) {
            return 0;

        } else if (tg_command_is_letter(program->files, text.data[i])
                   || tg_command_is_letter(program->values, text.data[i]))
        {
            scan->i += attached.data == NULL;

            if (tg_command_is_letter(program->files, text.data[i])) {
                tg_command_use_file(scan);
            }

            return 0;
        }
    }

    return 0;
}

/* `--eval=CODE` or `--eval CODE`, likewise. */
static int
tg_command_check_long(tg_command_scan_t *scan, tg_str_t text)
{
    const char *equals;
    tg_str_t name, attached;

    equals = memchr(text.data, '=', text.len);
    name = text;
    attached = TG_STR_NONE;

    if (equals != NULL) {
        name.len = (size_t) (equals - text.data);
        attached = tg_str(equals + 1, text.len - name.len - 1);
    }

    if ((scan->program->flags & TG_COMMAND_IS_SINGLE) && name.len > 2
        && name.data[1] == '-')
    {
        name = tg_str(name.data + 1, name.len - 1);
    }

    if (tg_command_has(scan->program->longs, name)) {
        return tg_command_check_value(scan, attached);
    }

    scan->i += attached.data == NULL
               && tg_command_has(scan->program->vlongs, name);

    return 0;
}

/* A word that is no option, likewise. */
static int
tg_command_check_word(tg_command_scan_t *scan, const tg_command_token_t *token)
{
    const tg_command_program_t *program;
    unsigned flags;
    size_t first;

    program = scan->program;
    flags = program->flags;

    if (scan->is_next) {
        scan->is_next = 0;
        scan->is_ended = 1;
        return tg_command_check(scan, token->text, token->word, 0);
    }

    if (program->command != NULL && !scan->is_chosen) {
        scan->is_chosen = tg_command_has(program->command, token->text);
        scan->i = scan->is_chosen ? scan->i : scan->n;
        return 0;
    }

    scan->nwords++;
    scan->is_ended |= (flags & TG_COMMAND_IS_STRICT) != 0;
    first = flags & TG_COMMAND_IS_REST ? 2 : 1;

    if (((flags & (TG_COMMAND_IS_ALL | TG_COMMAND_IS_REST))
         && scan->nwords >= first)
        || ((flags & TG_COMMAND_IS_FIRST) && scan->nwords == 1
            && !scan->is_given))
    {
        /* A value is among other text, where there are other words. */
        return tg_command_check(scan, token->text, token->word,
                                (flags & TG_COMMAND_IS_JOINED)
                                    && (scan->nwords > first
                                        || scan->i + 1 < scan->n));
    }

    if (!(flags & TG_COMMAND_IS_REST)) {
        tg_command_use_file(scan);
    }

    return 0;
}

/* Reads the words of the program at a token. */
static int
tg_command_scan(tg_command_scan_t *scan, size_t at)
{
    const tg_command_token_t *token;
    unsigned flags;
    int is_found;

    scan->program = tg_command_program(scan->tokens[at].text);

    if (scan->program == NULL) {
        return 0;
    }

    flags = scan->program->flags;
    scan->at = at;
    scan->nwords = 0;
    scan->is_given = scan->is_code = scan->is_chosen = 0;
    scan->is_next = scan->is_ended = 0;

    for (scan->i = at + 1; scan->i < scan->n; scan->i++) {
        token = &scan->tokens[scan->i];

        if (!scan->is_ended && token->text.len > 1
            && (token->text.data[0] == '-'
                || (token->text.data[0] == '+' && scan->is_next)))
        {
            if (tg_str_eq(token->text, TG_STR("--"))) {
                scan->is_ended = !(flags & TG_COMMAND_IS_STARTER);
                continue;
            }

            is_found = token->text.data[1] == '-'
                               || (flags & TG_COMMAND_IS_SINGLE)
                           ? tg_command_check_long(scan, token->text)
                           : tg_command_check_letters(scan, token->text);

        } else {
            is_found = tg_command_check_word(scan, token);
        }

        if (is_found) {
            return 1;
        }

        if (scan->is_code && (flags & TG_COMMAND_IS_PLAIN) && scan->i < scan->n)
        {
            scan->code->tail = scan->tokens[scan->i].word + 1;
            break;
        }
    }

    scan->code->is_reader |= !scan->is_given && (flags & TG_COMMAND_IS_READER);

    if (scan->code->is_reader) {
        scan->code->program = scan->program;
        scan->code->name = scan->tokens[at].text;
    }

    return 0;
}

/* --- a whole command line --- */

static int
tg_command_is_blank(char c)
{
    return tg_is_one_of(c, " \t\r\n");
}

static void
tg_command_push(tg_command_scan_t *scan, tg_str_t text, size_t word)
{
    if (scan->n < TG_COMMAND_WORDS_MAX) {
        scan->tokens[scan->n++] = (tg_command_token_t){ text, word };
    }
}

/* What `env -S` makes of a word; quotes stay, as no program's name has any. */
static void
tg_command_split(tg_command_scan_t *scan, tg_str_t text, size_t word)
{
    size_t i, start;

    for (i = 0; i < text.len; /* void */) {
        start = i;

        while (i < text.len && !tg_command_is_blank(text.data[i])) {
            i++;
        }

        if (i != start) {
            tg_command_push(scan, tg_str(text.data + start, i - start), word);
        }

        i += i < text.len;
    }
}

/*
 * What is behind -S or --split-string= in an option of env, of length 0 where
 * that is the next word; absent: it is another option.
 */
static tg_str_t
tg_command_split_option(tg_str_t text)
{
    static const char name[] = "--split-string";
    size_t i, len;

    len = sizeof(name) - 1;

    if (text.len >= len && memcmp(text.data, name, len) == 0) {
        return tg_str(text.data + len + (text.len > len),
                      text.len - len - (text.len > len));
    }

    for (i = 1; text.len > 1 && text.data[0] == '-' && text.data[1] != '-'
                && i < text.len;
         i++)
    {
        if (text.data[i] == 'S') {
            return tg_str(text.data + i + 1, text.len - i - 1);
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
    return text.len >= 3 && memcmp(text.data + text.len - 3, "env", 3) == 0
           && (text.len == 3 || text.data[text.len - 4] == '/');
}

/* Fills the tokens; says whether env takes a caller's value apart. */
static int
tg_command_fill(tg_command_scan_t *scan, const tg_command_word_t *words,
                size_t n)
{
    tg_str_t text;
    size_t i, env;

    env = SIZE_MAX;

    for (i = 0; i < n && scan->n < TG_COMMAND_WORDS_MAX; i++) {
        text = env != SIZE_MAX ? tg_command_split_option(words[i].text)
                               : TG_STR_NONE;

        if (text.data == NULL) {
            tg_command_push(scan, words[i].text, i);
            env = tg_command_is_env(words[i].text) ? scan->n - 1 : env;
            continue;
        }

        if (text.len == 0 && ++i < n) {
            text = words[i].text;
        }

        scan->at = env;
        scan->program = tg_command_program(scan->tokens[env].text);

        if (i < n && tg_command_check(scan, text, i, 0)) {
            return 1;
        }

        tg_command_split(scan, text, i);
        env = SIZE_MAX;
    }

    return 0;
}

int
tg_command_code(const tg_command_word_t *words, size_t n,
                const tg_command_names_t *names, tg_command_code_t *code)
{
    const tg_command_program_t *program;
    tg_command_scan_t scan;
    size_t i;

    memset(code, 0, sizeof(*code));
    code->tail = n;
    scan.code = code;
    scan.words = words;
    scan.names = names;
    scan.n = 0;

    if (tg_command_fill(&scan, words, n)) {
        return TG_OK;
    }

    for (i = 0; i < scan.n; i++) {
        program = tg_command_program(scan.tokens[i].text);

        if (tg_command_scan(&scan, i)) {
            return TG_OK;
        }

        if (code->tail != n) {
            break;
        }

        /* It may start any of the others. */
        if (i == 0
            && (program == NULL || !(program->flags & TG_COMMAND_IS_STARTER))) {
            break;
        }
    }

    return TG_MISSING;
}
