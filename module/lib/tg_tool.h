/*
 * Tools and methods of a program, and the catalogue that is made of them.
 *
 * A tool never changes: who sets an option of one makes another.  It is there
 * as long as somebody holds it: its server, catalogues, calls.
 */
#ifndef TG_TOOL_H
#define TG_TOOL_H

#include "catalog/tg_catalog.h"
#include "lib/tg_lib.h"
#include "schema/tg_schema.h"

#include <stdatomic.h>

/* A call that nobody answers ends after so many ms. */
#define TG_TOOL_TIMEOUT_DEFAULT 60000
/* Tools and methods of a server. */
#define TG_SERVER_TOOLS_MAX 4096

typedef enum {
    TG_TOOL_OPTION_DESCRIPTION,
    TG_TOOL_OPTION_INPUT_SCHEMA,
    TG_TOOL_OPTION_TITLE,
    TG_TOOL_OPTION_ANNOTATIONS,
    TG_TOOL_OPTION_OUTPUT_SCHEMA,
    TG_TOOL_OPTION_OUTPUT,
    TG_TOOL_OPTION_TIMEOUT,
    TG_TOOL_OPTION_VALIDATE,
    TG_TOOL_OPTION_COUNT
} tg_tool_option_t;

typedef struct {
    atomic_uint refs;
    char *name;
    char *texts[TG_TOOL_OPTION_COUNT]; /* as they were set; NULL: not */
    tg_buf_t json;                     /* what the entry has of JSON, compact */
    tg_catalog_entry_t entry;          /* as which it stands in catalogues */
    tg_schema_t *input;                /* NULL: anything fits */
    tg_schema_t *output;
    uint64_t timeout; /* ms; 0: none */
    toolgate_call_pt handler;
    void *data;
} tg_tool_t;

typedef struct {
    tg_tool_t *tool;
    int is_hidden; /* a filter said so */
} tg_server_tool_t;

/* In the order in which they were added. */
typedef struct {
    tg_server_tool_t *list;
    size_t n;
    size_t size;
} tg_server_tools_t;

/*
 * A tool, held once: 0, or an error, told.  value NULL: the option is as if it
 * had never been set.
 */
int tg_tool_new(tg_catalog_entry_type_t kind, const char *name,
                const char *const texts[TG_TOOL_OPTION_COUNT],
                toolgate_call_pt handler, void *data, tg_tool_t **tool);
int tg_tool_new_with_option(const tg_tool_t *from, const char *option,
                            const char *value, tg_tool_t **tool);

tg_tool_t *tg_tool_ref(tg_tool_t *tool);
void tg_tool_unref(tg_tool_t *tool);

/* NULL: there is none. */
tg_server_tool_t *tg_server_tools_find(const tg_server_tools_t *tools,
                                       tg_catalog_entry_type_t kind,
                                       const char *name);

/* Takes a tool, of a name that is not there: 0, or an error, told. */
int tg_server_tools_add(tg_server_tools_t *tools, tg_tool_t *tool);
void tg_server_tools_remove(tg_server_tools_t *tools,
                            tg_server_tool_t *server_tool);
void tg_server_tools_deinit(tg_server_tools_t *tools);

/* Of those that are not hidden; of an entry, host is the tool.  NULL, told. */
tg_catalog_t *tg_server_tools_create_catalog(const tg_server_tools_t *tools);

#endif
