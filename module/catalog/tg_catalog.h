/*
 * The catalog: the tools and methods that a server offers. It is built once,
 * then sealed and read-only. It has the rendered listing of each tool, a hash
 * table of the names, and a digest of all that clients can see. Catalogs are
 * reference-counted; each peer holds a reference.
 */
#ifndef TG_CATALOG_H
#define TG_CATALOG_H

#include "base/tg_json.h"

/* Maximum length of a name (MCP 2025-11-25, "Tool Names"). */
#define TG_NAME_MAX 128
/* Maximum length of a name that common agents accept: ^[a-zA-Z0-9_-]{1,64}$. */
#define TG_NAME_AGENT_MAX 64
/* Maximum bytes of tools on one page of tools/list. */
#define TG_LIST_PAGE_SIZE 524288
/* The `_meta` of a tools/list result may take 1/8 of a message. */
#define TG_LIST_META_DIVISOR 8

typedef enum {
    TG_OUTPUT_TEXT, /* the handler returns text */
    TG_OUTPUT_JSON, /* the handler returns a JSON value */
    /* the handler returns a whole MCP CallToolResult */
    TG_OUTPUT_RESULT
} tg_output_type_t;

typedef enum {
    TG_ENTRY_TOOL,
    TG_ENTRY_METHOD
} tg_catalog_entry_type_t;

/* A tool or method. It borrows its slices; the JSON values must be valid. */
typedef struct {
    tg_catalog_entry_type_t kind;
    tg_output_type_t output;
    tg_str_t name;
    tg_str_t title;       /* plain text or absent */
    tg_str_t description; /* plain text or absent */
    tg_str_t annotations; /* raw JSON object or absent */
    tg_str_t meta;        /* raw `_meta` object or absent */
    tg_str_t input_schema;
    tg_str_t output_schema;
    void *host; /* handler of the entry; private to the host */

    /* 1: omit outputSchema for legacy clients; see tg_tool_repair_t */
    int is_modern;

    size_t index; /* position in the catalog; set by tg_catalog_add() */

    /* If digest is set before tg_catalog_seal(), the rest is, too. */
    tg_str_t listing; /* listing of a tool, an element of `tools` */
    /* listing for the legacy era, or absent if equal to listing */
    tg_str_t legacy;
    uint64_t digest;        /* hash of listing; 0: not rendered yet */
    uint64_t output_digest; /* hash of output_schema; 0: no schema */
} tg_catalog_entry_t;

typedef struct tg_catalog_s tg_catalog_t;

tg_catalog_t *tg_catalog_new(const tg_alloc_t *alloc);

tg_catalog_t *tg_catalog_ref(tg_catalog_t *catalog);

/* Removes a reference; the last one frees the catalog, which may be NULL. */
void tg_catalog_unref(tg_catalog_t *catalog);

/* Sets memory to free with the catalog; release NULL: by its allocator. */
void tg_catalog_set_memory(tg_catalog_t *catalog, void *memory,
                           void (*release)(void *memory));

/* Call before the first entry. A random seed prevents chosen collisions. */
void tg_catalog_set_seed(tg_catalog_t *catalog, uint64_t seed);

/* Borrows the entry. TG_EXISTS: the type has an entry with this name. */
int tg_catalog_add(tg_catalog_t *catalog, tg_catalog_entry_t *entry);

/* Renders the listings and the digest; no entry can be added afterwards. */
int tg_catalog_seal(tg_catalog_t *catalog);

/* Renders about `bytes` bytes. TG_OK when sealed; TG_AGAIN: call again. */
int tg_catalog_seal_step(tg_catalog_t *catalog, size_t bytes);

/* Sets the digests of listings, compact JSON that outlives the entry. */
void tg_catalog_entry_set_digest(tg_catalog_entry_t *entry);

/*
 * Returns size bytes that the catalog keeps for the protocol, zeroed at first.
 * size is always the same. NULL: no memory.
 */
void *tg_catalog_get_cache(tg_catalog_t *catalog, size_t size);

size_t tg_catalog_size(const tg_catalog_t *catalog);
/* Returns the entry with index i, which must be less than tg_catalog_size(). */
const tg_catalog_entry_t *tg_catalog_get_entry(const tg_catalog_t *catalog,
                                               size_t i);

int tg_catalog_has_entry(const tg_catalog_t *catalog,
                         const tg_catalog_entry_t *entry);

/* Finds an entry by an escaped name, in constant time, or NULL. */
const tg_catalog_entry_t *tg_catalog_find_escaped(const tg_catalog_t *catalog,
                                                  tg_catalog_entry_type_t kind,
                                                  tg_str_t name);

/* Finds an entry by its name in plain text. Returns NULL if there is none. */
const tg_catalog_entry_t *tg_catalog_find(const tg_catalog_t *catalog,
                                          tg_catalog_entry_type_t kind,
                                          tg_str_t name);

/* Returns a hash of the tool listings in their order, 0 for NULL. */
uint64_t tg_catalog_digest(const tg_catalog_t *catalog);

/* Decides whether a client sees an entry, by the rule for calling it. */
typedef int (*tg_catalog_is_visible_pt)(void *ctx,
                                        const tg_catalog_entry_t *entry);

/* Hashes the tools that one client sees. visible may be NULL. */
uint64_t tg_catalog_digest_visible(const tg_catalog_t *catalog,
                                   tg_catalog_is_visible_pt visible, void *ctx);

/*
 * Appends `"tools":[…]` and, if more pages follow, `,"nextCursor":"…"`. cursor
 * is raw, or absent; visible may be NULL. TG_INVALID: the cursor is not from
 * this catalog.
 */
int tg_catalog_write_list(const tg_catalog_t *catalog, tg_str_t cursor,
                          tg_catalog_is_visible_pt visible, void *ctx,
                          tg_buf_t *out);

/* Appends a page for clients of MCP's legacy era. */
int tg_catalog_write_legacy_list(const tg_catalog_t *catalog, tg_str_t cursor,
                                 tg_catalog_is_visible_pt visible, void *ctx,
                                 tg_buf_t *out);

/* Appends all tools for clients of the legacy era on one page of any length. */
void tg_catalog_write_whole_list(const tg_catalog_t *catalog,
                                 tg_catalog_is_visible_pt visible, void *ctx,
                                 tg_buf_t *out);

/*
 * Appends the array that a bridge in front of `ipc` reads from a file: name,
 * description and input_schema, one tool per line.
 */
void tg_catalog_write_ipc_schemas(const tg_catalog_t *catalog,
                                  tg_catalog_is_visible_pt visible, void *ctx,
                                  tg_buf_t *out);

size_t tg_catalog_list_size(const tg_catalog_t *catalog);

/*
 * Returns NULL if the name is valid, else a static text that says what to
 * write. *is_warning is 1 if MCP allows the tool's name but many agents do not.
 */
const char *tg_catalog_check_name(tg_catalog_entry_type_t kind, tg_str_t name,
                                  int *is_warning);

/* Returns NULL, or a static text that says what to write. */
const char *tg_notification_check_name(tg_str_t name);

/*
 * Checks that a JSON text is an object whose "type" is "object", as MCP
 * demands. Returns NULL, or the mistake as a static text.
 */
const char *tg_tool_check_schema(tg_str_t schema);

/* Checks valid JSON. Returns NULL, or what annotations must be. */
const char *tg_tool_check_annotations(tg_str_t annotations);

#endif
