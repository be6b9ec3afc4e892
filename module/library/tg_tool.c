#include "library/tg_tool.h"

#include "base/tg_utf8.h"
#include "library/tg_option.h"
#include "regex/tg_regex.h"

#include <stdlib.h>
#include <sys/random.h>

static const char *const tg_tool_options[] = {
    [TG_TOOL_DESCRIPTION] = "description",
    [TG_TOOL_INPUT_SCHEMA] = "input_schema",
    [TG_TOOL_TITLE] = "title",
    [TG_TOOL_ANNOTATIONS] = "annotations",
    [TG_TOOL_OUTPUT_SCHEMA] = "output_schema",
    [TG_TOOL_OUTPUT] = "output",
    [TG_TOOL_TIME] = "timeout",
    [TG_TOOL_VALIDATE] = "validate",
    [TG_TOOL_OPTIONS] = NULL,
};

/* Of "validate". */
static const char *const tg_tool_validations[] = { "on", "off", "formats",
                                                   NULL };
enum {
    TG_VALIDATE_ON,
    TG_VALIDATE_OFF,
    TG_VALIDATE_FORMATS
};

tg_tool_t *
tg_tool_hold(tg_tool_t *tool)
{
    atomic_fetch_add_explicit(&tool->refs, 1, memory_order_relaxed);

    return tool;
}

void
tg_tool_release(tg_tool_t *tool)
{
    size_t i;

    if (atomic_fetch_sub_explicit(&tool->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }

    for (i = 0; i < TG_TOOL_OPTIONS; i++) {
        free(tool->texts[i]);
    }

    tg_schema_free(tool->input);
    tg_schema_free(tool->output);
    tg_buf_deinit(&tool->json);
    free(tool->name);
    free(tool);
}

/* --- what its texts say; all return 0 or an error, told --- */

static int
tg_tool_mistake(const tg_tool_t *tool, tg_tool_option_t option, const char *why)
{
    return tg_error(TOOLGATE_ERR_ARGUMENT, "%s: \"%s\" %s", tool->name,
                    tg_tool_options[option], why);
}

/* Appends one that is JSON, compact, as it goes out in lines. */
static int
tg_tool_put_json(tg_tool_t *tool, tg_tool_option_t option)
{
    const char *text;
    tg_buf_t why;
    int rc;

    text = tool->texts[option];

    if (text == NULL) {
        return 0;
    }

    tg_buf_init(&why, tg_alloc_libc());
    tg_buf_text(&why, "is no JSON: ");
    rc = tg_json_explain(tg_str_c(text), &why) == TG_OK ? 0 : -1;

    if (rc != 0) {
        tg_buf_char(&why, '\0');
        rc = tg_buf_failed(&why) ? tg_error_memory()
                                 : tg_tool_mistake(tool, option, why.data);
    } else {
        tg_json_put_compact(&tool->json, tg_str_c(text));
    }

    tg_buf_deinit(&why);

    return rc;
}

/* All that is JSON, in one piece of memory. */
static int
tg_tool_read_json(tg_tool_t *tool)
{
    static const tg_tool_option_t options[] = { TG_TOOL_INPUT_SCHEMA,
                                                TG_TOOL_OUTPUT_SCHEMA,
                                                TG_TOOL_ANNOTATIONS };
    tg_str_t *fields[] = { &tool->entry.input_schema,
                           &tool->entry.output_schema,
                           &tool->entry.annotations };
    size_t i, at;
    int rc;

    for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        at = tool->json.len;
        rc = tg_tool_put_json(tool, options[i]);

        if (rc != 0) {
            return rc;
        }

        fields[i]->len = tool->json.len - at;
    }

    if (tg_buf_failed(&tool->json)) {
        return tg_error_memory();
    }

    for (i = 0, at = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (tool->texts[options[i]] != NULL) {
            fields[i]->data = tool->json.data + at;
            at += fields[i]->len;
        }
    }

    return 0;
}

static int
tg_tool_compile(tg_tool_t *tool, tg_tool_option_t option, tg_str_t text,
                int validation, tg_schema_t **schema)
{
    tg_schema_options_t options;
    const char *mistake;
    tg_buf_t why;
    int rc;

    /* A method's schemas are between the program and its callers. */
    mistake = text.data != NULL && tool->entry.kind == TG_ENTRY_TOOL
                  ? tg_tool_schema_check(text)
                  : NULL;

    if (mistake != NULL) {
        return tg_tool_mistake(tool, option, mistake);
    }

    if (text.data == NULL || validation == TG_VALIDATE_OFF) {
        return 0;
    }

    memset(&options, 0, sizeof(options));
    options.regex = tg_regex_pcre2();
    options.is_format_asserted = validation == TG_VALIDATE_FORMATS;
    tg_buf_init(&why, tg_alloc_libc());
    *schema = tg_schema_compile(tg_alloc_libc(), text, &options, &why);
    tg_buf_char(&why, '\0');
    rc = *schema != NULL ? 0
         : why.len == 1 || tg_buf_failed(&why)
             ? tg_error_memory()
             : tg_tool_mistake(tool, option, why.data);
    tg_buf_deinit(&why);

    return rc;
}

static int
tg_tool_read_schemas(tg_tool_t *tool)
{
    const char *mistake;
    int validation, rc;

    validation = TG_VALIDATE_ON;
    rc = tool->texts[TG_TOOL_VALIDATE] != NULL
             ? tg_option_word("validate", tool->texts[TG_TOOL_VALIDATE],
                              tg_tool_validations, &validation)
             : 0;

    if (rc == 0) {
        rc = tg_tool_compile(tool, TG_TOOL_INPUT_SCHEMA,
                             tool->entry.input_schema, validation,
                             &tool->input);
    }

    if (rc == 0) {
        rc = tg_tool_compile(tool, TG_TOOL_OUTPUT_SCHEMA,
                             tool->entry.output_schema, validation,
                             &tool->output);
    }

    mistake = tool->entry.annotations.data != NULL
                  ? tg_tool_annotations_check(tool->entry.annotations)
                  : NULL;

    return rc != 0 ? rc
           : mistake != NULL
               ? tg_tool_mistake(tool, TG_TOOL_ANNOTATIONS, mistake)
               : 0;
}

/* What a call of it puts out is JSON where a schema or nobody says what. */
static int
tg_tool_read_output(tg_tool_t *tool)
{
    static const char *const words[] = { "text", "json", "result", NULL };
    int rc, output;

    output = tool->entry.kind == TG_ENTRY_METHOD
                     || tool->texts[TG_TOOL_OUTPUT_SCHEMA] != NULL
                 ? TG_OUTPUT_JSON
                 : TG_OUTPUT_TEXT;
    rc = tool->texts[TG_TOOL_OUTPUT] != NULL
             ? tg_option_word("output", tool->texts[TG_TOOL_OUTPUT], words,
                              &output)
             : 0;

    if (rc == 0 && output == TG_OUTPUT_TEXT
        && tool->texts[TG_TOOL_OUTPUT_SCHEMA] != NULL)
    {
        rc = tg_tool_mistake(tool, TG_TOOL_OUTPUT,
                             "cannot be \"text\" where there is an "
                             "\"output_schema\"; make it \"json\" or "
                             "\"result\"");
    }

    tool->entry.output = (tg_output_t) output;

    return rc;
}

static int
tg_tool_read_text(tg_tool_t *tool, tg_tool_option_t option, tg_str_t *field)
{
    if (tool->texts[option] == NULL) {
        return 0;
    }

    *field = tg_str_c(tool->texts[option]);

    return tg_utf8_is_valid(*field)
               ? 0
               : tg_tool_mistake(tool, option, "must be text in UTF-8");
}

static int
tg_tool_read(tg_tool_t *tool)
{
    const char *mistake;
    int is_warning, rc;

    tool->entry.name = tg_str_c(tool->name);
    mistake = tg_name_check(tool->entry.kind, tool->entry.name, &is_warning);

    /* What some agents refuse is for the program to decide. */
    if (mistake != NULL && !is_warning) {
        return tg_error(TOOLGATE_ERR_ARGUMENT, "\"%s\": %s", tool->name,
                        mistake);
    }

    rc = tg_tool_read_text(tool, TG_TOOL_DESCRIPTION, &tool->entry.description);
    rc = rc != 0 ? rc
                 : tg_tool_read_text(tool, TG_TOOL_TITLE, &tool->entry.title);
    rc = rc != 0 ? rc : tg_tool_read_json(tool);
    rc = rc != 0 ? rc : tg_tool_read_schemas(tool);
    rc = rc != 0 ? rc : tg_tool_read_output(tool);
    tool->timeout = TG_TOOL_TIMEOUT;

    return rc != 0 || tool->texts[TG_TOOL_TIME] == NULL
               ? rc
               : tg_option_time("timeout", tool->texts[TG_TOOL_TIME],
                                &tool->timeout);
}

static int
tg_tool_copy(tg_tool_t *tool, const char *name,
             const char *const texts[TG_TOOL_OPTIONS])
{
    size_t i;

    tool->name = tg_text_copy(tg_str_c(name));

    if (tool->name == NULL) {
        return tg_error_memory();
    }

    for (i = 0; i < TG_TOOL_OPTIONS; i++) {
        if (texts[i] == NULL) {
            continue;
        }

        tool->texts[i] = tg_text_copy(tg_str_c(texts[i]));

        if (tool->texts[i] == NULL) {
            return tg_error_memory();
        }
    }

    return 0;
}

int
tg_tool_new(tg_entry_kind_t kind, const char *name,
            const char *const texts[TG_TOOL_OPTIONS], toolgate_call_pt called,
            void *data, tg_tool_t **tool)
{
    tg_tool_t *made;
    int rc;

    made = calloc(1, sizeof(*made));

    if (made == NULL) {
        return tg_error_memory();
    }

    atomic_init(&made->refs, 1);
    tg_buf_init(&made->json, tg_alloc_libc());
    made->called = called;
    made->data = data;
    made->entry.kind = kind;
    rc = tg_tool_copy(made, name, texts);
    rc = rc != 0 ? rc : tg_tool_read(made);

    if (rc != 0) {
        tg_tool_release(made);
        return rc;
    }

    *tool = made;

    return 0;
}

int
tg_tool_change(const tg_tool_t *from, const char *option, const char *value,
               tg_tool_t **tool)
{
    const char *texts[TG_TOOL_OPTIONS];
    int i;

    memcpy(texts, from->texts, sizeof(texts));
    i = tg_option_find(option, tg_tool_options);

    if (i < 0) {
        return i;
    }

    texts[i] = value;

    return tg_tool_new(from->entry.kind, from->name, texts, from->called,
                       from->data, tool);
}

/* --- those of a server --- */

tg_offer_t *
tg_offers_find(const tg_offers_t *offers, tg_entry_kind_t kind,
               const char *name)
{
    size_t i;

    for (i = 0; i < offers->n; i++) {
        if (offers->list[i].tool->entry.kind == kind
            && strcmp(offers->list[i].tool->name, name) == 0)
        {
            return &offers->list[i];
        }
    }

    return NULL;
}

int
tg_offers_add(tg_offers_t *offers, tg_tool_t *tool)
{
    tg_offer_t *list;
    size_t size;

    if (offers->n == TG_OFFERS_MAX) {
        return tg_error(TOOLGATE_ERR_BUSY,
                        "a server has %d tools and methods at most",
                        TG_OFFERS_MAX);
    }

    if (offers->n == offers->size) {
        size = offers->size != 0 ? offers->size * 2 : 16;
        list = realloc(offers->list, size * sizeof(*list));

        if (list == NULL) {
            return tg_error_memory();
        }

        offers->list = list;
        offers->size = size;
    }

    offers->list[offers->n].tool = tool;
    offers->list[offers->n].is_hidden = 0;
    offers->n++;

    return 0;
}

void
tg_offers_remove(tg_offers_t *offers, tg_offer_t *offer)
{
    tg_tool_release(offer->tool);
    offers->n--;
    memmove(offer, offer + 1,
            (size_t) (offers->list + offers->n - offer) * sizeof(*offer));
}

void
tg_offers_deinit(tg_offers_t *offers)
{
    while (offers->n != 0) {
        tg_offers_remove(offers, &offers->list[offers->n - 1]);
    }

    free(offers->list);
}

/* --- catalogues --- */

/* The entries of a catalogue, each with its tool held. */
typedef struct {
    size_t n;
    tg_entry_t list[];
} tg_entries_t;

static void
tg_entries_release(void *memory)
{
    tg_entries_t *entries;
    size_t i;

    entries = memory;

    for (i = 0; i < entries->n; i++) {
        tg_tool_release(entries->list[i].host);
    }

    free(entries);
}

static tg_entries_t *
tg_entries_new(const tg_offers_t *offers)
{
    tg_entries_t *entries;
    tg_entry_t *entry;
    size_t i;

    entries = malloc(sizeof(*entries) + offers->n * sizeof(entries->list[0]));

    if (entries == NULL) {
        return NULL;
    }

    entries->n = 0;

    for (i = 0; i < offers->n; i++) {
        if (!offers->list[i].is_hidden) {
            entry = &entries->list[entries->n++];
            *entry = offers->list[i].tool->entry;
            entry->host = tg_tool_hold(offers->list[i].tool);
        }
    }

    return entries;
}

tg_catalogue_t *
tg_offers_catalogue(const tg_offers_t *offers)
{
    tg_catalogue_t *catalogue;
    tg_entries_t *entries;
    uint64_t seed;
    size_t i;
    int rc;

    catalogue = tg_catalogue_new(tg_alloc_libc());
    entries = catalogue != NULL ? tg_entries_new(offers) : NULL;
    rc = entries != NULL ? TG_OK : TG_NOMEM;

    if (entries != NULL) {
        tg_catalogue_own(catalogue, entries, tg_entries_release);
        seed = 0;
        (void) !getrandom(&seed, sizeof(seed), 0);
        tg_catalogue_seed(catalogue, seed);
    }

    for (i = 0; rc == TG_OK && i < entries->n; i++) {
        rc = tg_catalogue_add(catalogue, &entries->list[i]);
    }

    if (rc == TG_OK && tg_catalogue_seal(catalogue) == TG_OK) {
        return catalogue;
    }

    (void) tg_error_memory();
    tg_catalogue_release(catalogue);

    return NULL;
}
