/*
 * The tools and methods that a server offers.
 *
 * Built once, then sealed and read only: the listing of each tool is
 * rendered ahead, names are found in a hash, and a digest of all that clients
 * can see tells two catalogues apart.  It is there as long as somebody holds
 * it; its peers do.
 */
#ifndef TG_CATALOG_H
#define TG_CATALOG_H

#include "base/tg_json.h"

/* MCP 2025-11-25 "Tool Names": 1 to 128 characters. */
#define TG_NAME_MAX 128
/* What the common agents accept: ^[a-zA-Z0-9_-]{1,64}$. */
#define TG_NAME_AGENT_MAX 64
/* Bytes of tools on one page of tools/list, where it has pages. */
#define TG_LIST_PAGE_SIZE 524288
/* What is said of the list beside its tools: this part of a message at most. */
#define TG_LIST_META_DIVISOR 8

typedef enum {
    TG_OUTPUT_TEXT,  /* the handler's bytes are a text */
    TG_OUTPUT_JSON,  /* they are a JSON value */
    TG_OUTPUT_RESULT /* they are a whole MCP CallToolResult */
} tg_output_type_t;

typedef enum {
    TG_ENTRY_TOOL,
    TG_ENTRY_METHOD
} tg_catalog_entry_type_t;

/*
 * One tool or method.  The slices are borrowed from whoever adds it and
 * must outlive the catalogue.  The JSON values must be validated before.
 */
typedef struct {
    tg_catalog_entry_type_t kind;
    tg_output_type_t output;
    tg_str_t name;        /* plain text */
    tg_str_t title;       /* plain text or absent */
    tg_str_t description; /* plain text or absent */
    tg_str_t annotations; /* raw JSON object or absent */
    tg_str_t meta;        /* its _meta, likewise */
    tg_str_t input_schema;
    tg_str_t output_schema;
    void *host; /* the room above keeps its handler here */

    /* Of a listing of its own: clients of the legacy era do not see its
     * outputSchema, see tg_tool_repair_t. */
    int is_modern;

    size_t index; /* set by the catalogue: order of addition */

    /*
     * Set by tg_catalog_seal().  An entry that comes with a digest has the
     * other three already, and the catalogue borrows them;
     * see tg_catalog_entry_set_digest().
     */
    tg_str_t listing;       /* of a tool: an element of tools */
    tg_str_t legacy;        /* the same for the legacy era; absent: the same */
    uint64_t digest;        /* of the listing; 0: not rendered */
    uint64_t output_digest; /* of output_schema; 0: there is none */
} tg_catalog_entry_t;

typedef struct tg_catalog_s tg_catalog_t;

/* Held once; NULL when there is no memory. */
tg_catalog_t *tg_catalog_new(const tg_alloc_t *alloc);

/* Holds it once more; returns it. */
tg_catalog_t *tg_catalog_ref(tg_catalog_t *catalog);

/* Frees it with the last who held it.  NULL is none. */
void tg_catalog_unref(tg_catalog_t *catalog);

/*
 * Entries, or what they borrow: released with the catalogue.  NULL: memory of
 * the same alloc, which is freed.
 */
void tg_catalog_set_memory(tg_catalog_t *catalog, void *memory,
                           void (*release)(void *memory));

/*
 * Before the first entry: a random number, so that nobody who names tools
 * can choose names that are found slowly.
 */
void tg_catalog_set_seed(tg_catalog_t *catalog, uint64_t seed);

/*
 * Adds an entry, borrowed like its slices.  TG_OK, TG_EXISTS when one of its
 * kind has that name, TG_NOMEM.
 */
int tg_catalog_add(tg_catalog_t *catalog, tg_catalog_entry_t *entry);

/* Renders listings and the digest; nothing is added later.  Or TG_NOMEM. */
int tg_catalog_seal(tg_catalog_t *catalog);

/*
 * Does a part of that: renders the next entries, up to `bytes` of listings and
 * one entry.  TG_OK, and it is sealed; TG_AGAIN: there are more; TG_NOMEM.
 */
int tg_catalog_seal_step(tg_catalog_t *catalog, size_t bytes);

/*
 * Sets the digests of a tool whose listing and legacy listing are rendered:
 * compact JSON that lives as long as the entry.
 */
void tg_catalog_entry_set_digest(tg_catalog_entry_t *entry);

/* Calls that look like earlier ones of its entries, see tg_peer_fast_path.h. */
typedef struct tg_fast_path_cache_s tg_fast_path_cache_t;
tg_fast_path_cache_t *tg_catalog_fast_paths(tg_catalog_t *catalog);

size_t tg_catalog_size(const tg_catalog_t *catalog);
const tg_catalog_entry_t *tg_catalog_get_entry(const tg_catalog_t *catalog,
                                               size_t i);

/* Is this very entry one of it? */
int tg_catalog_has_entry(const tg_catalog_t *catalog,
                         const tg_catalog_entry_t *entry);

/*
 * name is the escaped body of a JSON string.  NULL when there is none.
 * The cost does not depend on the number of entries.
 */
const tg_catalog_entry_t *tg_catalog_find_escaped(const tg_catalog_t *catalog,
                                                  tg_catalog_entry_type_t kind,
                                                  tg_str_t name);

/* The same for a name in plain text. */
const tg_catalog_entry_t *tg_catalog_find(const tg_catalog_t *catalog,
                                          tg_catalog_entry_type_t kind,
                                          tg_str_t name);

/*
 * A 64-bit hash of what clients can see of the tools, in their order; 0 for
 * none.
 */
uint64_t tg_catalog_digest(const tg_catalog_t *catalog);

/* Decides whether a viewer sees an entry; the same rule as for calling it. */
typedef int (*tg_catalog_is_visible_pt)(void *ctx,
                                        const tg_catalog_entry_t *entry);

/*
 * A hash of what one viewer sees of the tools, in their order: it tells
 * whether another catalogue is another one for this viewer.
 */
uint64_t tg_catalog_digest_visible(const tg_catalog_t *catalog,
                                   tg_catalog_is_visible_pt visible, void *ctx);

/*
 * Appends `"tools":[…]` and, where more follow, `,"nextCursor":"…"`.
 * cursor is the raw JSON value of the request or absent.  TG_OK, or TG_INVALID
 * when the cursor is not one of this catalogue.  visible may be NULL.
 */
int tg_catalog_write_list(const tg_catalog_t *catalog, tg_str_t cursor,
                          tg_catalog_is_visible_pt visible, void *ctx,
                          tg_buf_t *out);

/* Lists for clients of MCP's legacy era; else as tg_catalog_write_list(). */
int tg_catalog_write_legacy_list(const tg_catalog_t *catalog, tg_str_t cursor,
                                 tg_catalog_is_visible_pt visible, void *ctx,
                                 tg_buf_t *out);

/* Lists for the legacy era on one page, however long it is. */
void tg_catalog_write_whole_list(const tg_catalog_t *catalog,
                                 tg_catalog_is_visible_pt visible, void *ctx,
                                 tg_buf_t *out);

/*
 * Appends the tools as a bridge in front of `ipc` reads them from a file: a
 * JSON array of name, description and input_schema, one a line.
 */
void tg_catalog_write_ipc_schemas(const tg_catalog_t *catalog,
                                  tg_catalog_is_visible_pt visible, void *ctx,
                                  tg_buf_t *out);

/* The bytes of the whole list, of all tools. */
size_t tg_catalog_list_size(const tg_catalog_t *catalog);

/*
 * May a tool or method have this name?  NULL when it may; else what to
 * write instead, static text.  A tool's name that MCP allows but many
 * agents refuse gives *is_warning 1.
 */
const char *tg_catalog_check_name(tg_catalog_entry_type_t kind, tg_str_t name,
                                  int *is_warning);

/*
 * May clients be told something under this name?  NULL when they may; else
 * what to write instead, static text.
 */
const char *tg_notification_check_name(tg_str_t name);

/*
 * Is a compact JSON text usable as inputSchema or outputSchema of a tool, as
 * far as MCP says: an object whose "type" is "object"?  NULL, or what is wrong,
 * static text.
 */
const char *tg_tool_check_schema(tg_str_t schema);

/*
 * Is a valid JSON text usable as the annotations of a tool (MCP
 * "ToolAnnotations")?  NULL, or what they must be, static text.
 */
const char *tg_tool_check_annotations(tg_str_t annotations);

#endif
