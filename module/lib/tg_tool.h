/*
 * Tools, methods, prompts, resources and templates of a program, all of them
 * called tools here, and the catalog that is built from them. A tool is
 * immutable: setting an option creates another one. It is
 * reference-counted by servers, catalogs and calls.
 */
#ifndef TG_TOOL_H
#define TG_TOOL_H

#include "catalog/tg_catalog.h"
#include "lib/tg_lib.h"
#include "schema/tg_schema.h"

#include <stdatomic.h>

/* Default timeout of a call, in ms. */
#define TG_TOOL_TIMEOUT_DEFAULT 60000
/* Largest number of tools of a server, of all kinds. */
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
    TG_TOOL_OPTION_NAME,
    TG_TOOL_OPTION_MIME,
    TG_TOOL_OPTION_ARGUMENTS,
    TG_TOOL_OPTION_ICONS,
    TG_TOOL_OPTION_META,
    TG_TOOL_OPTION_TTL,
    TG_TOOL_OPTION_COUNT
} tg_tool_option_t;

typedef struct {
    atomic_uint refs;
    char *name;
    /* values of the options; NULL: not set */
    char *texts[TG_TOOL_OPTION_COUNT];
    tg_buf_t json;                   /* compact JSON that entry refers to */
    tg_buf_t schema;                 /* schema of the arguments of a prompt */
    tg_catalog_entry_t entry;        /* the tool's entry in catalogs */
    tg_uri_template_t *uri_template; /* of a template */
    tg_schema_t *input;              /* NULL: no validation */
    tg_schema_t *output;
    uint64_t timeout; /* in ms; 0: none */
    toolgate_call_pt handler;
    void *data;
} tg_tool_t;

typedef struct {
    tg_tool_t *tool;
    int is_hidden; /* excluded by a filter */
} tg_server_tool_t;

typedef struct {
    tg_server_tool_t *list;
    size_t n;
    size_t size;
} tg_server_tools_t;

/* Checks whether a kind has contents: resources and templates. */
static inline int
tg_tool_is_resource_kind(tg_catalog_entry_type_t kind)
{
    return kind == TG_ENTRY_RESOURCE || kind == TG_ENTRY_TEMPLATE;
}

/* Sets the error of an option. Returns TOOLGATE_ERR_ARGUMENT. */
int tg_tool_set_option_error(const tg_tool_t *tool, tg_tool_option_t option,
                             const char *why);

/*
 * Parses what only prompts, resources and templates have, after the options
 * that are JSON. Prompts and templates get a schema of their arguments.
 */
int tg_tool_parse_item(tg_tool_t *tool);

/* Creates a tool with one reference. */
int tg_tool_new(tg_catalog_entry_type_t kind, const char *name,
                const char *const texts[TG_TOOL_OPTION_COUNT],
                toolgate_call_pt handler, void *data, tg_tool_t **tool);

/* Creates a copy with one option changed; value NULL resets the option. */
int tg_tool_new_with_option(const tg_tool_t *from, const char *option,
                            const char *value, tg_tool_t **tool);

/* Creates the completion of an argument of a prompt or template. */
int tg_tool_new_completion(const tg_tool_t *parent, const char *argument,
                           toolgate_call_pt handler, void *data,
                           tg_tool_t **tool);

/* Checks whether a tool is a completion of this prompt or template. */
int tg_tool_is_completion_of(const tg_tool_t *tool, const tg_tool_t *parent);

tg_tool_t *tg_tool_ref(tg_tool_t *tool);
void tg_tool_unref(tg_tool_t *tool);

tg_server_tool_t *tg_server_tools_find(const tg_server_tools_t *tools,
                                       tg_catalog_entry_type_t kind,
                                       const char *name);

/* Takes over the reference to a tool whose name is not in use. */
int tg_server_tools_add(tg_server_tools_t *tools, tg_tool_t *tool);

void tg_server_tools_remove(tg_server_tools_t *tools,
                            tg_server_tool_t *server_tool);
void tg_server_tools_deinit(tg_server_tools_t *tools);

/*
 * The catalog has the tools that are not hidden; the host of an entry is the
 * tg_tool_t. Returns NULL, with toolgate_error() set, if there is no memory.
 */
tg_catalog_t *tg_server_tools_create_catalog(const tg_server_tools_t *tools);

#endif
