/* Validation of scalars: const, enum, numbers, strings. */
#include "schema/tg_schema_validator.h"

/* Validation steps of a matcher call, and of one step of the matcher. */
#define TG_SCHEMA_STEPS_PER_MATCH 20
#define TG_SCHEMA_STEPS_PER_REGEX_STEP 3
/* Characters that are compared in the time of one matcher step. */
#define TG_SCHEMA_CHARS_PER_REGEX_STEP 16

static int
tg_schema_match_values(tg_schema_run_t *run, const tg_schema_values_t *values,
                       const char *at)
{
    tg_str_t text;
    uint32_t hint;
    size_t i;
    int rc;

    if (values->strings != NULL) {
        if (*at != '"') {
            return TG_INVALID;
        }

        rc = tg_schema_run_unescape(
            run, tg_json_string_body(tg_schema_get_raw(run, at)), &text);

        if (rc == TG_OK) {
            rc = tg_schema_run_spend(run, 2);
        }

        if (rc != TG_OK) {
            return rc;
        }

        hint = 0;

        return tg_schema_find_name(run, values->strings, text, &hint) != NULL
                   ? TG_OK
                   : TG_INVALID;
    }

    for (i = 0; i < values->n; i++) {
        rc = tg_schema_equal(run, at, values->list[i]);

        if (rc != TG_INVALID) {
            return rc;
        }
    }

    return TG_INVALID;
}

static void
tg_schema_append_values(tg_buf_t *out, const tg_schema_values_t *values)
{
    size_t i, start;

    if (values->n == 0) {
        tg_buf_append_cstr(out, "no value is allowed (the enum is empty)");
        return;
    }

    start = out->len;
    tg_buf_append_cstr(out, values->n == 1 ? "expected " : "expected one of ");

    for (i = 0; i < values->n; i++) {
        if (out->len - start > 400) {
            tg_buf_append_cstr(out, ", …");
            return;
        }

        tg_buf_append_cstr(out, i != 0 ? ", " : "");
        tg_schema_append_value(out, values->list[i]);
    }
}

static int
tg_schema_check_allowed_values(tg_schema_run_t *run,
                               const tg_schema_values_t *values, const char *at)
{
    tg_buf_t *out;
    int rc;

    rc = values != NULL ? tg_schema_match_values(run, values, at) : TG_OK;

    if (rc != TG_INVALID) {
        return rc;
    }

    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_VALUE);

    if (out != NULL) {
        tg_schema_append_values(out, values);
        tg_buf_append_cstr(out, ", got ");
        tg_schema_append_value(out, tg_schema_get_raw(run, at));
    }

    return TG_INVALID;
}

int
tg_schema_check_const_and_enum(tg_schema_run_t *run,
                               const tg_schema_node_t *node, const char *at)
{
    int rc;

    rc = tg_schema_check_allowed_values(run, node->constant, at);

    return rc == TG_OK ? tg_schema_check_allowed_values(run, node->values, at)
                       : rc;
}

int
tg_schema_check_number(tg_schema_run_t *run, const tg_schema_node_t *node,
                       const char *at)
{
    const tg_schema_number_rules_t *rules;
    tg_number_t n;
    int rc;

    rules = node->number;

    if (tg_number_parse(tg_schema_get_raw(run, at), &n) != TG_OK) {
        return tg_schema_fail_text(run, at, TG_SCHEMA_FAIL_RULE,
                                   "the exponent of the number is out of "
                                   "range");
    }

    /* Each rule reads all digits. */
    tg_schema_run_spend_bytes(run, 4 * n.digits.len);
    rc = tg_schema_run_spend(run, 1);

#define TG_SCHEMA_BOUND(bound, relation, text)                                 \
    if (rc == TG_OK && rules->bound.raw.data != NULL                           \
        && !(tg_number_compare(&n, &rules->bound.value) relation 0))           \
    {                                                                          \
        rc = tg_schema_fail_bound(run, at, text, rules->bound.raw);            \
    }

    TG_SCHEMA_BOUND(minimum, >=, "must be at least ")
    TG_SCHEMA_BOUND(maximum, <=, "must be at most ")
    TG_SCHEMA_BOUND(exclusive_minimum, >, "must be greater than ")
    TG_SCHEMA_BOUND(exclusive_maximum, <, "must be less than ")

#undef TG_SCHEMA_BOUND

    if (rc == TG_OK && rules->multiple.raw.data != NULL) {
        tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP * n.digits.len);

        if (!tg_number_is_multiple(&n, &rules->multiple.value)) {
            rc = tg_schema_fail_bound(run, at, "must be a multiple of ",
                                      rules->multiple.raw);
        }
    }

    return rc;
}

/* The matcher's steps are taken from the budget of the whole validation. */
int
tg_schema_match_pattern(tg_schema_run_t *run,
                        const tg_schema_pattern_t *pattern, tg_str_t text)
{
    const tg_schema_regex_engine_t *regex;
    uint64_t price, spent;
    size_t weight;
    int rc;

    regex = run->schema->regex;
    weight = pattern->weight < text.len ? pattern->weight : text.len;
    price = TG_SCHEMA_STEPS_PER_REGEX_STEP
            * (1 + weight / TG_SCHEMA_CHARS_PER_REGEX_STEP);
    tg_schema_run_spend_bytes(run, text.len);
    rc = tg_schema_run_spend(run, TG_SCHEMA_STEPS_PER_MATCH);

    if (rc != TG_OK) {
        return rc;
    }

    spent = 0;
    rc = regex->match(regex->ctx, pattern->regex, text, run->steps / price,
                      &spent);
    spent *= price;
    run->steps -= spent < run->steps ? spent : run->steps;

    if (rc == TG_LIMIT) {
        return tg_schema_fail_limit(run,
                                    "a pattern takes too many steps on this "
                                    "text; shorten the text");
    }

    return rc;
}

/* Counts characters; a pair of \u surrogates is one character. */
static size_t
tg_schema_count_characters(tg_str_t body)
{
    const char *p, *end;
    size_t n;

    end = body.data + body.len;

    for (n = 0, p = body.data; p < end; n++) {
        if (*p != '\\') {
            for (p++; p < end && ((unsigned char) *p & 0xc0) == 0x80; p++) {
                /* void */
            }

        } else if (p[1] != 'u') {
            p += 2;

        } else if ((p[2] | 0x20) == 'd' && strchr("89abAB", p[3]) != NULL
                   && end - p >= 12 && p[6] == '\\' && p[7] == 'u'
                   && (p[8] | 0x20) == 'd' && strchr("cdefCDEF", p[9]) != NULL)
        {
            p += 12;

        } else {
            p += 6;
        }
    }

    return n;
}

static int
tg_schema_check_length(tg_schema_run_t *run,
                       const tg_schema_string_rules_t *rules, const char *at,
                       tg_str_t body)
{
    static const char *const characters[] = { " character", " characters" };

    /* A character has 1 to 12 bytes here, so the count is often unnecessary. */
    if (body.len <= rules->max && body.len / 12 >= rules->min) {
        return TG_OK;
    }

    tg_schema_run_spend_bytes(run, body.len);

    return tg_schema_check_count_range(run, at,
                                       tg_schema_count_characters(body),
                                       rules->min, rules->max, characters);
}

static int
tg_schema_check_pattern(tg_schema_run_t *run,
                        const tg_schema_pattern_t *pattern, const char *at,
                        tg_str_t text)
{
    tg_buf_t *out;
    int rc;

    rc = tg_schema_match_pattern(run, pattern, text);

    if (rc != TG_MISSING) {
        return rc;
    }

    out = tg_schema_fail_begin(run, at, TG_SCHEMA_FAIL_RULE);

    if (out != NULL) {
        tg_buf_append_cstr(out, "must match the pattern ");
        tg_schema_append_quoted(out, pattern->text);
        tg_buf_append_cstr(out, ", got ");
        tg_schema_append_value(out, tg_schema_get_raw(run, at));
    }

    return TG_INVALID;
}

int
tg_schema_check_string(tg_schema_run_t *run, const tg_schema_node_t *node,
                       const char *at)
{
    const tg_schema_string_rules_t *rules;
    tg_str_t body, text;
    int rc;

    rules = node->string;
    body = tg_json_string_body(tg_schema_get_raw(run, at));
    rc = tg_schema_check_length(run, rules, at, body);

    if (rc != TG_OK || (rules->pattern == NULL && rules->format == NULL)) {
        return rc;
    }

    rc = tg_schema_run_unescape(run, body, &text);

    if (rc == TG_OK && rules->pattern != NULL) {
        rc = tg_schema_check_pattern(run, rules->pattern, at, text);
    }

    if (rc != TG_OK || rules->format == NULL) {
        return rc;
    }

    /* The format checks read byte by byte. */
    tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP * text.len);

    return rules->format(text)
               ? TG_OK
               : tg_schema_fail_bound(run, at, "must have the format ",
                                      rules->format_name);
}
