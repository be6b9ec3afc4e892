/*
 * Tools and methods of a program, and the catalogue that is made of them.
 *
 * A tool never changes: who sets an option of one makes another.  It is there
 * as long as somebody holds it: its server, catalogues, calls.
 */
#ifndef TG_TOOL_H
#define TG_TOOL_H

#include "core/tg_catalogue.h"
#include "library/tg_library.h"
#include "schema/tg_schema.h"

#include <stdatomic.h>

/* A call that nobody answers ends after so many ms. */
#define TG_TOOL_TIMEOUT 60000
/* Tools and methods of a server. */
#define TG_OFFERS_MAX 4096

typedef enum {
    TG_TOOL_DESCRIPTION,
    TG_TOOL_INPUT_SCHEMA,
    TG_TOOL_TITLE,
    TG_TOOL_ANNOTATIONS,
    TG_TOOL_OUTPUT_SCHEMA,
    TG_TOOL_OUTPUT,
    TG_TOOL_TIME,
    TG_TOOL_VALIDATE,
    TG_TOOL_OPTIONS
} tg_tool_option_t;

typedef struct {
    atomic_uint refs;
    char *name;
    char *texts[TG_TOOL_OPTIONS]; /* as they were set; NULL: not */
    tg_buf_t json;                /* what the entry has of JSON, compact */
    tg_entry_t entry;             /* as which it stands in catalogues */
    tg_schema_t *input;           /* NULL: anything fits */
    tg_schema_t *output;
    uint64_t timeout; /* ms; 0: none */
    toolgate_call_pt called;
    void *data;
} tg_tool_t;

typedef struct {
    tg_tool_t *tool;
    int is_hidden; /* a filter said so */
} tg_offer_t;

/* In the order in which they were added. */
typedef struct {
    tg_offer_t *list;
    size_t n;
    size_t size;
} tg_offers_t;

/*
 * A tool, held once: 0, or an error, told.  value NULL: the option is as if it
 * had never been set.
 */
int tg_tool_new(tg_entry_kind_t kind, const char *name,
                const char *const texts[TG_TOOL_OPTIONS],
                toolgate_call_pt called, void *data, tg_tool_t **tool);
int tg_tool_change(const tg_tool_t *from, const char *option, const char *value,
                   tg_tool_t **tool);

tg_tool_t *tg_tool_hold(tg_tool_t *tool);
void tg_tool_release(tg_tool_t *tool);

/* NULL: there is none. */
tg_offer_t *tg_offers_find(const tg_offers_t *offers, tg_entry_kind_t kind,
                           const char *name);

/* Takes a tool, of a name that is not there: 0, or an error, told. */
int tg_offers_add(tg_offers_t *offers, tg_tool_t *tool);
void tg_offers_remove(tg_offers_t *offers, tg_offer_t *offer);
void tg_offers_deinit(tg_offers_t *offers);

/* Of those that are not hidden; of an entry, host is the tool.  NULL, told. */
tg_catalogue_t *tg_offers_catalogue(const tg_offers_t *offers);

#endif
