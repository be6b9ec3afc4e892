/*
 * Validation of a container in blocks; for tg_json_block.h only. The bytes
 * become tokens: brackets, commas, colons, and the first byte of each string,
 * number and word. Each token is checked by its neighbors, each bracket by its
 * counterpart, and numbers and words are collected and checked separately.
 */
#ifndef TG_JSON_BLOCK_TOKENS_H
#define TG_JSON_BLOCK_TOKENS_H

#include "base/simd/tg_json_block_scalars.h"

/* Blocks in the first batch and in later ones. */
#define TG_BLOCK_FIRST_BATCH 4
#define TG_BLOCK_BATCH 128

/* Earlier tokens that a check needs, and new tokens checked per word. */
#define TG_BLOCK_TOKEN_CONTEXT 4
#define TG_BLOCK_TOKENS_PER_WORD (64 - TG_BLOCK_TOKEN_CONTEXT)

/* State of the tokenizer between two blocks. Carries are 1 or 0. */
typedef struct {
    uint64_t inside; /* all bits if in a string, else 0 */
    uint64_t escaped;
    uint64_t scalar;
    size_t ntokens;
    size_t nscalars;
} tg_block_tokenizer_t;

/*
 * Brackets that are not checked yet, the first one in bit 0. The tokens before
 * an opening bracket and after a closing one say whether the container around
 * it is an object. If these agree, each bracket is closed by one of its type.
 */
typedef struct {
    unsigned n;
    unsigned nopened; /* number of bits in opened */
    unsigned nclosed; /* bits in closed; set some tokens later */
    uint64_t opens;   /* 1 for an opening bracket */
    uint64_t opened;  /* of each opening bracket: 1 if in an object */
    uint64_t closed;  /* of each closing bracket: 1 if in an object */
} tg_block_brackets_t;

typedef struct {
    tg_block_tokenizer_t tokenizer;
    uint64_t wrong; /* nonzero after any error in the bytes */
    uint64_t high;  /* nonzero if there are bytes of 0x80 and above */
    tg_block_number_state_t numbers;
    tg_block_literal_state_t letters;
    tg_block_brackets_t brackets;
    tg_json_stack_t nest; /* containers open after the checked brackets */
    uint64_t outer; /* the value's own opening bracket, in the token mask */
    const char *starts[TG_BLOCK_BATCH]; /* starts of the blocks */
    uint64_t marks[TG_BLOCK_BATCH]; /* mask of the token bytes in each block */
    char tokens[TG_BLOCK_TOKEN_CONTEXT + 64 * (TG_BLOCK_BATCH + 1)];
    char scalars[TG_BLOCK_PADDED_SIZE + 64 * (TG_BLOCK_BATCH + 1)];
} tg_block_parser_t;

/* Appends the bytes in marks as tokens and collects those in scalars. */
TG_BLOCK_FN void
tg_block_append_tokens(tg_block_tokenizer_t *tokenizer, tg_block_parser_t *run,
                       tg_block_t block, const char *p, uint64_t marks,
                       uint64_t scalars)
{
    tg_block_compress(run->tokens + TG_BLOCK_TOKEN_CONTEXT + tokenizer->ntokens,
                      block, p, marks);
    tokenizer->ntokens += (size_t) __builtin_popcountll(marks);
    tg_block_compress(run->scalars + tokenizer->nscalars, block, p, scalars);
    tokenizer->nscalars += (size_t) __builtin_popcountll(scalars);
}

/* Returns the last comma before which there are only numbers and commas. */
TG_BLOCK_FN const char *
tg_block_skip_number_list(const char *p, const char *end)
{
    uint64_t commas, digits, dots, minus, starts, first, wrong;
    tg_block_number_state_t in;
    tg_block_t block;
    const char *last;

    memset(&in, 0, sizeof(in));

    for (last = p; end - p >= TG_BLOCK_PADDED_SIZE; p += 64) {
        block = tg_block_load(p);
        commas = tg_block_find_char(block, ',');
        digits = tg_block_find_range(block, '0', 10);
        dots = tg_block_find_char(block, '.');
        minus = tg_block_find_char(block, '-');
        starts = tg_block_shift_next(commas, &in.any);
        first = starts | tg_block_shift_next(minus, &in.minus);

        wrong = ~(commas | digits | dots | minus) | (minus & ~starts)
                | (starts & ~(digits | minus))
                | (tg_block_shift_next(dots | minus, &in.due) & ~digits)
                | (tg_block_shift_next(first & tg_block_find_char(block, '0'),
                                       &in.zero)
                   & digits)
                | (tg_block_find_run_ends(dots << 1, digits, &in.fraction)
                   & dots);
        in.fraction |= dots >> 63;

        if (wrong != 0) {
            commas &= ~wrong & (wrong - 1);
        }

        if (commas != 0) {
            last = p + 63 - __builtin_clzll(commas);
        }

        if (wrong != 0 || commas == 0) {
            break;
        }
    }

    return last;
}

/*
 * Skips a long list of numbers. One comma and number become tokens, enough to
 * show that the list is in an array. Returns the comma after which it goes on,
 * or p.
 */
TG_BLOCK_FN const char *
tg_block_tokenize_number_list(tg_block_tokenizer_t *tokenizer,
                              tg_block_parser_t *run, tg_block_t block,
                              const char *p, const char *end, uint64_t *marks)
{
    const char *at;
    unsigned first;
    uint64_t commas;

    commas = tg_block_find_char(block, ',');
    first = (unsigned) _tzcnt_u64(commas);

    if (first > 62) {
        return p;
    }

    at = tg_block_skip_number_list(p + first, end);

    if (at == p + first) {
        return p;
    }

    /* A scalar may continue from the last block. */
    *marks = UINT64_C(3) << first | (first != 0 && tokenizer->scalar == 0);
    tg_block_append_tokens(tokenizer, run, block, p, *marks,
                           (UINT64_C(2) << first) - 1);
    tokenizer->scalar = 0;

    return at;
}

/*
 * Makes tokens of the block at p and collects its scalars, each with the byte
 * that ends it. Returns the end of the processed text.
 */
TG_BLOCK_FN const char *
tg_block_tokenize(tg_block_tokenizer_t *tokenizer, tg_block_parser_t *run,
                  const char *p, const char *end, uint64_t *tokens)
{
    uint64_t quotes, slashes, escaped, inside, texts, apart, marks, scalar;
    uint64_t behind, rare, high, controls, units;
    tg_block_classes_t kinds;
    tg_block_t block;
    const char *at;
    unsigned found;

    block = tg_block_load(p);
    kinds = tg_block_classify(block);
    quotes = tg_block_find_class(kinds, TG_BLOCK_QUOTE);

    if ((tokenizer->inside | quotes) == 0
        && tg_block_find_range(block, ',', 14) == UINT64_MAX)
    {
        at = tg_block_tokenize_number_list(tokenizer, run, block, p, end,
                                           tokens);

        if (at != p) {
            return at;
        }
    }

    marks = tg_block_find_class(kinds, TG_BLOCK_STRUCTURAL);
    apart = tg_block_find_class(kinds, TG_BLOCK_STRUCTURAL | TG_BLOCK_SPACE);
    rare = tg_block_find_class(kinds, TG_BLOCK_BACKSLASH | TG_BLOCK_CONTROL
                                          | TG_BLOCK_NON_ASCII);
    controls = 0;

    if (rare | tokenizer->escaped) {
        found = 0;
        high = tg_block_find_non_ascii(block);
        run->high |= high;
        quotes &= ~high;
        marks &= ~high;
        apart &= ~high;
        slashes = tg_block_find_class(kinds, TG_BLOCK_BACKSLASH) & ~high;
        controls = tg_block_find_range(block, 0, 0x20);
        escaped = tg_block_find_escaped(slashes, &tokenizer->escaped);
        units = escaped & ~slashes & ~quotes & ~tg_block_find_char(block, 'n')
                & ~tg_block_find_char(block, 't');
        units &= ~tg_block_find_unicode_escapes(block, units);
        run->wrong |= !tg_block_are_valid_escapes(p, end, units, &found);
        quotes &= ~escaped;
    }

    inside = tg_block_prefix_xor(quotes) ^ tokenizer->inside;
    tokenizer->inside = 0 - (inside >> 63);
    texts = inside | quotes;
    marks &= ~texts;
    scalar = ~(texts | apart);
    behind = tg_block_shift_next(scalar, &tokenizer->scalar);

    if (controls != 0) {
        run->wrong |= controls
                      & (inside | ~tg_block_find_class(kinds, TG_BLOCK_SPACE));
    }

    marks |= (scalar & ~behind) | (quotes & inside);
    tg_block_append_tokens(tokenizer, run, block, p, marks, scalar | behind);
    *tokens = marks;

    return p + 64;
}

/* The functions below are not inlined: each needs nearly all CPU registers. */

/* Skips string text without quotes, escapes, control or non-ASCII bytes. */
TG_BLOCK_FN const char *
tg_block_skip_plain_text(const char *p, const char *end)
{
    tg_block_t block;

    for (/* void */; end - p >= TG_BLOCK_PADDED_SIZE; p += 64) {
        block = tg_block_load(p);

        if ((tg_block_find_char(block, '"') | tg_block_find_char(block, '\\')
             | tg_block_find_range(block, 0, 0x20)
             | tg_block_find_non_ascii(block))
            != 0)
        {
            break;
        }
    }

    return p;
}

TG_BLOCK_TARGET static __attribute__((noinline)) const char *
tg_block_tokenize_batch(tg_block_parser_t *run, const char *p, const char *end,
                        unsigned most)
{
    tg_block_tokenizer_t tokenizer;
    unsigned i;

    tokenizer = run->tokenizer;
    tokenizer.ntokens = 0;

    for (i = 0; i < most && end - p >= TG_BLOCK_PADDED_SIZE; i++) {
        run->starts[i] = p;
        p = tg_block_tokenize(&tokenizer, run, p, end, &run->marks[i]);

        /* Long strings have no tokens. */
        if (run->marks[i] == 0 && tokenizer.inside != 0
            && tokenizer.escaped == 0) {
            p = tg_block_skip_plain_text(p, end);
        }
    }

    run->tokenizer = tokenizer;

    return p;
}

TG_BLOCK_TARGET static __attribute__((noinline)) void
tg_block_check_all_scalars(tg_block_parser_t *run)
{
    tg_block_number_state_t numbers;
    size_t at;

    numbers = run->numbers;

    for (at = 0; run->tokenizer.nscalars - at >= TG_BLOCK_PADDED_SIZE; at += 64)
    {
        tg_block_check_scalars(&numbers, &run->letters, run->scalars + at);
    }

    run->numbers = numbers;
    run->tokenizer.nscalars -= at;
    memmove(run->scalars, run->scalars + at, TG_BLOCK_PADDED_SIZE);
}

/* Checks the waiting brackets. TG_END: the value's own bracket is closed. */
TG_BLOCK_TARGET static __attribute__((noinline)) int
tg_block_check_brackets(tg_block_parser_t *run)
{
    tg_block_brackets_t *b;
    tg_json_stack_t *nest;
    uint64_t all, opens, bits, pairs, keep;
    unsigned n, nopens;

    b = &run->brackets;
    nest = &run->nest;
    n = b->n;
    all = ~b->opens & TG_BLOCK_LOW_BITS(n);

    /* Stop before a closing bracket whose next token is not known yet. */
    if ((unsigned) __builtin_popcountll(all) > b->nclosed) {
        n = 63 - (unsigned) __builtin_clzll(all);
    }

    all = TG_BLOCK_LOW_BITS(n);
    opens = b->opens & all;
    bits = _pdep_u64(b->opened, opens) | _pdep_u64(b->closed, all & ~opens);
    nopens = (unsigned) __builtin_popcountll(opens);
    b->n -= n;
    b->opens >>= n;
    b->nopened -= nopens;
    b->opened >>= nopens;
    b->nclosed -= n - nopens;
    b->closed >>= n - nopens;

    /* Remove pairs of adjacent brackets until there are no more. */
    if (nest->depth + (int) nopens <= TG_JSON_MAX_DEPTH) {
        while ((pairs = opens & ~(opens >> 1) & all >> 1) != 0) {
            if ((bits ^ bits >> 1) & pairs) {
                return TG_INVALID;
            }

            keep = all & ~(pairs | pairs << 1);
            opens = _pext_u64(opens, keep);
            bits = _pext_u64(bits, keep);
            n -= 2 * (unsigned) __builtin_popcountll(pairs);
            all = TG_BLOCK_LOW_BITS(n);
        }
    }

    for (/* void */; n != 0; n--, opens >>= 1, bits >>= 1) {
        if (opens & 1) {
            if (nest->depth == TG_JSON_MAX_DEPTH) {
                return TG_INVALID;
            }

            tg_json_stack_push(nest, bits & 1);
            continue;
        }

        if (nest->depth == nest->base + 1) {
            return TG_END;
        }

        if (tg_json_stack_is_object(nest) != (bits & 1)) {
            return TG_INVALID;
        }

        tg_json_stack_pop(nest);
    }

    return b->n != 0 && (b->opens & 1) == 0 && nest->depth == nest->base + 1
               ? TG_END
               : TG_OK;
}

/*
 * Checks each token in `live` by its neighbors and appends the brackets, except
 * the value's own, to the waiting ones. TG_END: the value's own is closed.
 */
TG_BLOCK_FN int
tg_block_check_tokens(tg_block_parser_t *run, tg_block_brackets_t *b,
                      tg_block_t block, uint64_t live)
{
    uint64_t commas, colons, opens, closes, texts, members, behind_member, due;
    uint64_t objects, ends, commas_behind, wrong, brackets, seen;
    tg_block_t lower;
    unsigned n;
    int rc;

    lower = tg_block_to_lower(block);
    commas = tg_block_find_char(block, ',');
    colons = tg_block_find_char(block, ':');
    texts = tg_block_find_char(block, '"');
    opens = tg_block_find_char(lower, '{');
    closes = tg_block_find_char(lower, '}');
    objects = tg_block_find_char(block, '{');
    ends = tg_block_find_char(block, '}');

    /* A comma, a colon and a nonempty container's bracket need a value. */
    wrong = (~(commas | colons | closes) ^ (commas | colons | opens) << 1)
            & ~(closes & opens << 1);

    /* A key and a colon start an object and follow a member and its comma. */
    members = colons << 1 & ~(opens | closes | commas | colons);
    behind_member = members << 1;
    commas_behind = commas & closes << 1;
    due = ((commas & behind_member) | objects) << 1;
    wrong |= due & ~(texts | (ends & objects << 1));
    due = (due & texts) << 1;
    wrong |= due & ~colons;
    wrong |= colons & ~(due | (commas_behind << 1 & texts) << 1);

    wrong |= ends & ~(behind_member | (closes | objects) << 1);
    wrong |= closes & ~ends & behind_member;

    if (wrong & live) {
        return TG_INVALID;
    }

    live &= ~run->outer;
    run->outer = 0;
    brackets = (opens | closes) & live;
    opens &= live;
    /* Another bracket, or a comma and maybe a key, follows a bracket. */
    seen = ((closes & closes << 1) | commas_behind << 2) & live;
    n = (unsigned) __builtin_popcountll(brackets);

    if (b->n + n >= 64) {
        run->brackets = *b;
        rc = tg_block_check_brackets(run);
        *b = run->brackets;

        if (rc != TG_OK) {
            return rc;
        }
    }

    b->opens |= _pext_u64(opens, brackets) << b->n;
    b->n += n;
    b->opened |= _pext_u64(colons << 1, opens) << b->nopened;
    b->nopened += (unsigned) __builtin_popcountll(opens);
    /* After a comma it may also be the end of an empty container. */
    b->closed |= _pext_u64((ends & closes << 1) | colons, seen) << b->nclosed;
    b->nclosed += (unsigned) __builtin_popcountll(seen);

    return TG_OK;
}

TG_BLOCK_TARGET static __attribute__((noinline)) int
tg_block_check_all_tokens(tg_block_parser_t *run)
{
    tg_block_brackets_t brackets;
    uint64_t live;
    size_t i, left;
    int rc;

    brackets = run->brackets;

    for (i = 0; i < run->tokenizer.ntokens; i += TG_BLOCK_TOKENS_PER_WORD) {
        left = run->tokenizer.ntokens - i;
        live = left < TG_BLOCK_TOKENS_PER_WORD
                   ? TG_BLOCK_LOW_BITS(left + TG_BLOCK_TOKEN_CONTEXT)
                   : UINT64_MAX;
        live &= ~TG_BLOCK_LOW_BITS(TG_BLOCK_TOKEN_CONTEXT);
        rc = tg_block_check_tokens(run, &brackets,
                                   tg_block_load(run->tokens + i), live);

        if (rc != TG_OK) {
            return rc;
        }
    }

    run->brackets = brackets;

    return tg_block_check_brackets(run);
}

TG_BLOCK_TARGET static const char *
tg_block_find_end(const tg_block_parser_t *run, int depth)
{
    const char *token;
    size_t i, n;

    token = run->tokens + TG_BLOCK_TOKEN_CONTEXT;
    i = 0;

    do {
        depth += (token[i] | 0x20) == '{';
        depth -= (token[i] | 0x20) == '}';
    } while (depth != 0 && ++i);

    for (n = 0; i >= (size_t) __builtin_popcountll(run->marks[n]); n++) {
        i -= (size_t) __builtin_popcountll(run->marks[n]);
    }

    return run->starts[n]
           + _tzcnt_u64(_pdep_u64(UINT64_C(1) << i, run->marks[n])) + 1;
}

TG_BLOCK_TARGET static int
tg_block_get_depth(const tg_block_parser_t *run)
{
    return run->nest.depth - run->nest.base + 2 * (int) run->brackets.nopened
           - (int) run->brackets.n;
}

TG_BLOCK_TARGET static const char *
tg_block_skip_container(const char *p, const char *end, int depth)
{
    char room[2 * TG_BLOCK_PADDED_SIZE];
    tg_block_parser_t run;
    const char *start, *next, *at;
    unsigned most;
    size_t left;
    int rc;

    memset(&run, 0, offsetof(tg_block_parser_t, starts));
    memset(run.tokens, ',', TG_BLOCK_TOKEN_CONTEXT);
    run.outer = UINT64_C(1) << TG_BLOCK_TOKEN_CONTEXT;
    run.nest.base = depth;
    run.nest.depth = depth + 1;
    depth = 0;

    for (start = p, most = TG_BLOCK_FIRST_BATCH;;
         p = next, most = TG_BLOCK_BATCH) {
        left = (size_t) (end - p);

        if (left < TG_BLOCK_PADDED_SIZE) {
            memset(room, ' ', sizeof(room));
            memcpy(room, p, left);
            at = room;
            (void) tg_block_tokenize_batch(&run, room, room + sizeof(room),
                                           most);
            next = end;
        } else {
            at = p;
            next = tg_block_tokenize_batch(&run, p, end, most);
        }

        tg_block_check_all_scalars(&run);
        rc = (run.wrong | run.numbers.wrong) == 0
                 ? tg_block_check_all_tokens(&run)
                 : TG_INVALID;

        if (rc != TG_OK || next == end) {
            break;
        }

        depth = tg_block_get_depth(&run);
        memmove(run.tokens, run.tokens + run.tokenizer.ntokens,
                TG_BLOCK_TOKEN_CONTEXT);
    }

    if (rc != TG_END) {
        return NULL;
    }

    /* Drop the last scalar after the value if it is incomplete. */
    while (run.tokenizer.nscalars != 0
           && strchr(",:]} \t\r\n", run.scalars[run.tokenizer.nscalars - 1])
                  == NULL)
    {
        run.tokenizer.nscalars--;
    }

    if (run.tokenizer.nscalars != 0) {
        memset(run.scalars + run.tokenizer.nscalars, ',', TG_BLOCK_PADDED_SIZE);
        run.tokenizer.nscalars += TG_BLOCK_PADDED_SIZE;
        tg_block_check_all_scalars(&run);
    }

    if (run.numbers.wrong) {
        return NULL;
    }

    p += tg_block_find_end(&run, depth) - at;

    return run.high == 0 || tg_scan_utf8(start, p) == p ? p : NULL;
}

#endif
