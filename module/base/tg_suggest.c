/* Nearest word by edit distance, for suggestions such as "did you mean". */
#include "base/tg_suggest.h"

#define TG_SUGGEST_WORD_MAX 64

/* Returns a lower-case letter, or `_` for any separator of words. */
static char
tg_suggest_fold(char c)
{
    return c == '-' || c == '.' ? '_' : tg_to_lower(c);
}

static size_t
tg_suggest_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t
tg_suggest_distance(tg_str_t a, tg_str_t b)
{
    size_t rows[3][TG_SUGGEST_WORD_MAX + 1], *now, *last, *before;
    size_t i, j, n;

    if (a.len > TG_SUGGEST_WORD_MAX || b.len > TG_SUGGEST_WORD_MAX) {
        return SIZE_MAX;
    }

    for (j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }

    for (i = 1; i <= a.len; i++) {
        now = rows[i % 3];
        last = rows[(i + 2) % 3];
        before = rows[(i + 1) % 3];
        now[0] = i;

        for (j = 1; j <= b.len; j++) {
            n = last[j - 1]
                + (tg_suggest_fold(a.data[i - 1])
                   != tg_suggest_fold(b.data[j - 1]));
            n = tg_suggest_min(n, 1 + tg_suggest_min(last[j], now[j - 1]));

            if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2]
                && a.data[i - 2] == b.data[j - 1])
            {
                n = tg_suggest_min(n, before[j - 2] + 1);
            }

            now[j] = n;
        }
    }

    return rows[a.len % 3][b.len];
}

const char *
tg_suggest_word(tg_str_t word, const char *const *words)
{
    size_t distance, least;
    const char *nearest;

    nearest = NULL;
    least = 1 + word.len / 4;

    for (/* void */; *words != NULL; words++) {
        distance = tg_suggest_distance(word, tg_str_from_cstr(*words));

        if (distance < least || (distance == least && nearest == NULL)) {
            least = distance;
            nearest = *words;
        }
    }

    return nearest;
}
