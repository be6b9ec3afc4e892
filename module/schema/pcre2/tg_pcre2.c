/* Regular expression engine on PCRE2, with a step limit by callouts. */
#include "schema/pcre2/tg_pcre2.h"

#include "schema/tg_pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdlib.h>

/* Memory limit of a match, in KiB, in addition to its step limit. */
#define TG_PCRE2_HEAP_KIB 4096

/* Characters matched by a repetition that cost one step. */
#define TG_PCRE2_CHARS_PER_STEP 16

/* Estimated bytes of a match context, whose size PCRE2 does not report. */
#define TG_PCRE2_CONTEXT_SIZE 128

#define TG_PCRE2_OPTIONS                                                       \
    (PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_MATCH_UNSET_BACKREF           \
     | PCRE2_DOLLAR_ENDONLY)

typedef struct {
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *context;
    uint64_t limit; /* step limit of the running match */
    uint64_t spent;
    size_t at; /* text offset of the last callout */
} tg_pcre2_regex_t;

/* Counts the steps at each callout; ends a match that exceeds its limit. */
static int
tg_pcre2_on_callout(pcre2_callout_block *block, void *ptr)
{
    tg_pcre2_regex_t *regex;

    regex = ptr;

    if (block->current_position > regex->at) {
        regex->spent += (block->current_position - regex->at)
                        / TG_PCRE2_CHARS_PER_STEP;
    }

    regex->at = block->current_position;
    regex->spent++;

    return regex->spent > regex->limit ? PCRE2_ERROR_CALLOUT : 0;
}

static void
tg_pcre2_free(void *ctx, void *ptr)
{
    tg_pcre2_regex_t *regex;

    regex = ptr;

    if (regex != NULL) {
        pcre2_match_context_free(regex->context);
        pcre2_match_data_free(regex->data);
        pcre2_code_free(regex->code);
        free(regex);
    }
}

static int
tg_pcre2_compile(void *ctx, tg_str_t pattern, void **out, tg_buf_t *error)
{
    PCRE2_UCHAR message[128];
    tg_pcre2_regex_t *regex;
    PCRE2_SIZE offset;
    int code;

    regex = calloc(1, sizeof(*regex));

    if (regex == NULL) {
        return TG_NOMEM;
    }

    regex->code = pcre2_compile((PCRE2_SPTR) pattern.data, pattern.len,
                                TG_PCRE2_OPTIONS, &code, &offset, NULL);

    if (regex->code == NULL) {
        (void) pcre2_get_error_message(code, message, sizeof(message));
        tg_buf_append_cstr(error, (const char *) message);
        tg_pcre2_free(ctx, regex);
        return code == PCRE2_ERROR_HEAP_FAILED ? TG_NOMEM : TG_INVALID;
    }

    regex->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    regex->context = pcre2_match_context_create(NULL);

    if (regex->data == NULL || regex->context == NULL) {
        tg_pcre2_free(ctx, regex);
        return TG_NOMEM;
    }

    (void) pcre2_set_heap_limit(regex->context, TG_PCRE2_HEAP_KIB);
    (void) pcre2_set_callout(regex->context, tg_pcre2_on_callout, regex);
    *out = regex;

    return TG_OK;
}

static int
tg_pcre2_match(void *ctx, void *ptr, tg_str_t text, uint64_t limit,
               uint64_t *spent)
{
    tg_pcre2_regex_t *regex;
    int rc;

    regex = ptr;
    regex->limit = limit;
    regex->spent = 0;
    regex->at = 0;

    /* Frames are checked for UTF-8 when read, so the text is valid. */
    rc = pcre2_match(regex->code, (PCRE2_SPTR) text.data, text.len, 0,
                     PCRE2_NO_UTF_CHECK, regex->data, regex->context);
    *spent = regex->spent;

    switch (rc) {
    case PCRE2_ERROR_NOMATCH:
        return TG_MISSING;
    case PCRE2_ERROR_NOMEMORY:
        return TG_NOMEM;
    default:
        return rc >= 0 ? TG_OK : TG_LIMIT;
    }
}

/* Returns the memory of a regex, whose code has at most 64 KiB. */
static size_t
tg_pcre2_get_size(void *ctx, void *ptr)
{
    const tg_pcre2_regex_t *regex;
    size_t size;

    regex = ptr;
    size = 0;
    (void) pcre2_pattern_info(regex->code, PCRE2_INFO_SIZE, &size);

    return size + pcre2_get_match_data_size(regex->data) + sizeof(*regex)
           + TG_PCRE2_CONTEXT_SIZE;
}

/* Checks whether more text after start could make a match. */
static int
tg_pcre2_is_partial_match(const pcre2_code *code, tg_str_t start)
{
    pcre2_match_data *data;
    uint32_t options;
    int rc;

    /* A pattern that is not anchored may match later in the text. */
    if (pcre2_pattern_info(code, PCRE2_INFO_ALLOPTIONS, &options) != 0
        || !(options & PCRE2_ANCHORED))
    {
        return 1;
    }

    data = pcre2_match_data_create_from_pattern(code, NULL);

    if (data == NULL) {
        return 1;
    }

    rc = pcre2_match(code, (PCRE2_SPTR) start.data, start.len, 0,
                     PCRE2_PARTIAL_SOFT, data, NULL);
    pcre2_match_data_free(data);

    return rc != PCRE2_ERROR_NOMATCH;
}

int
tg_pcre2_can_match_prefix(tg_str_t pattern, tg_str_t start)
{
    PCRE2_SIZE offset;
    pcre2_code *code;
    const char *why;
    unsigned weight;
    tg_buf_t text;
    int rc, error;

    tg_buf_init(&text, tg_alloc_libc());
    code = NULL;

    if (tg_pattern_translate(pattern, &text, &weight, &why) == TG_OK) {
        code = pcre2_compile((PCRE2_SPTR) text.data, text.len, TG_PCRE2_OPTIONS,
                             &error, &offset, NULL);
    }

    rc = code == NULL || tg_pcre2_is_partial_match(code, start);
    pcre2_code_free(code);
    tg_buf_deinit(&text);

    return rc;
}

const tg_schema_regex_engine_t *
tg_pcre2_get_engine(void)
{
    static const tg_schema_regex_engine_t pcre2 = {
        NULL, tg_pcre2_compile, tg_pcre2_match, tg_pcre2_free, tg_pcre2_get_size
    };

    return &pcre2;
}
