/*
 * The catalog: the tools, methods, prompts, resources and resource templates
 * that a server offers. It is built once, then sealed and read-only. It has the
 * rendered listing of each entry, a hash table of the names, and a digest per
 * kind of all that clients can see. Catalogs are reference-counted; each peer
 * holds a reference.
 */
#ifndef TG_CATALOG_H
#define TG_CATALOG_H

#include "base/tg_json.h"
#include "catalog/tg_uri_template.h"

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
    /* the handler returns a whole result, such as MCP's CallToolResult */
    TG_OUTPUT_RESULT,

    /* Output of a job about a resource. */
    TG_OUTPUT_CONTENT, /* text, or in base64 if it is not UTF-8 */
    TG_OUTPUT_BASE64   /* bytes, always in base64 */
} tg_output_type_t;

typedef enum {
    TG_ENTRY_TOOL,
    TG_ENTRY_METHOD,
    TG_ENTRY_PROMPT,
    TG_ENTRY_RESOURCE,
    TG_ENTRY_TEMPLATE,   /* a resource template */
    TG_ENTRY_COMPLETION, /* suggestions for an argument; never listed */
    TG_ENTRY_KINDS
} tg_catalog_entry_type_t;

/* An entry of any kind. It borrows its slices; JSON values must be valid. */
typedef struct {
    tg_catalog_entry_type_t kind;
    tg_output_type_t output;
    /*
     * Key of the entry, in plain text: the name of a tool, method or prompt,
     * the URI of a resource, the text of a template, or the key of a completion
     * (tg_completion_write_key()).
     */
    tg_str_t name;
    tg_str_t label;       /* MCP's name of a resource or template, plain text */
    tg_str_t title;       /* plain text or absent */
    tg_str_t description; /* plain text or absent */
    tg_str_t mime;        /* MIME type of a resource, or absent */
    tg_str_t size;        /* bytes of a resource, a raw number, or absent */
    tg_str_t annotations; /* raw JSON object or absent */
    tg_str_t arguments;   /* raw array of a prompt's arguments, or absent */
    tg_str_t icons;       /* raw array or absent */
    tg_str_t meta;        /* raw `_meta` object or absent */
    tg_str_t input_schema;
    tg_str_t output_schema;
    const tg_uri_template_t *uri_template; /* of a TG_ENTRY_TEMPLATE */
    void *host; /* handler of the entry; private to the host */

    /* for how long clients may cache what is read, in ms (MCP "ttlMs") */
    int64_t ttl_ms;
    unsigned is_public:1; /* users may share what is read ("cacheScope") */
    /* the entry's own handler answers completion requests about it */
    unsigned has_completions:1;
    unsigned has_skills:1; /* the resources are files of skills */
    /* a template for resources that the host lists; no list shows it itself */
    unsigned is_unlisted:1;

    /* 1: omit outputSchema for legacy clients; see tg_tool_repair_t */
    int is_modern;

    size_t index; /* position in the catalog; set by tg_catalog_add() */

    /* If digest is set before tg_catalog_seal(), the rest is, too. */
    tg_str_t listing; /* listing of the entry, an element of its list */
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

/*
 * Finds the entry that answers a read of a URI, in plain text: the resource
 * with this URI, else the first template that matches it. The match decides
 * even if the client may not see the entry. Appends the values of a template's
 * variables to *arguments as a raw object. NULL: there is none, or no memory
 * (arguments has failed).
 */
const tg_catalog_entry_t *tg_catalog_find_uri(const tg_catalog_t *catalog,
                                              tg_str_t uri,
                                              tg_buf_t *arguments);

/*
 * Appends the key of a completion: kind of the prompt or template, its name,
 * and the name of its argument, all in plain text.
 */
void tg_completion_write_key(tg_buf_t *key, tg_catalog_entry_type_t kind,
                             tg_str_t name, tg_str_t argument);

/* Checks whether clients can list entries of this kind. */
static inline int
tg_catalog_is_listed_kind(tg_catalog_entry_type_t kind)
{
    return kind != TG_ENTRY_METHOD && kind != TG_ENTRY_COMPLETION;
}

/*
 * Returns a hash of the listings of one kind in their order, 0 for a NULL
 * catalog.
 */
uint64_t tg_catalog_digest(const tg_catalog_t *catalog,
                           tg_catalog_entry_type_t kind);

/* Decides whether a client sees an entry, by the rule for calling it. */
typedef int (*tg_catalog_is_visible_pt)(void *ctx,
                                        const tg_catalog_entry_t *entry);

/* Hashes of the entries of each kind. */
typedef struct {
    uint64_t kinds[TG_ENTRY_KINDS];
} tg_catalog_view_t;

/* Hashes the entries that one client sees. visible may be NULL. */
tg_catalog_view_t tg_catalog_get_view(const tg_catalog_t *catalog,
                                      tg_catalog_is_visible_pt visible,
                                      void *ctx);

/* Returns the bit `1 << kind` of each kind whose entries differ. */
unsigned tg_catalog_view_compare(const tg_catalog_view_t *a,
                                 const tg_catalog_view_t *b);

/* First byte of the cursors of elements after the catalog's. */
#define TG_CURSOR_OF_MORE '+'

/* A page of a list. All slices are raw or absent. */
typedef struct {
    tg_catalog_entry_type_t kind;
    int is_legacy; /* for clients of MCP's legacy era */
    tg_str_t cursor;

    /* Further elements, which the host lists itself, after the catalog's. */
    int is_after_catalog; /* the page has only such elements */
    tg_str_t more;        /* the elements, separated by commas */
    tg_str_t next_cursor; /* string for the page after `more`, or absent */
} tg_list_page_t;

/*
 * Appends `"tools":[…]`, or the member of another kind, and, if more pages
 * follow, `,"nextCursor":"…"`. `more` is appended to the page that has the last
 * entry of the catalog. visible may be NULL. TG_INVALID: the cursor is not from
 * this list.
 */
int tg_catalog_write_list(const tg_catalog_t *catalog,
                          const tg_list_page_t *page,
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
 * Returns NULL if the name or URI is valid, else a static text that says what
 * to write. *is_warning is 1 if MCP allows it but agents may not use it well. A
 * template must have been parsed.
 */
const char *tg_catalog_check_name(tg_catalog_entry_type_t kind, tg_str_t name,
                                  int *is_warning);

/* Returns NULL, or a static text that says what to write. */
const char *tg_notification_check_name(tg_str_t name);

/* Checks an absolute URI. Returns NULL, or a text that says what to write. */
const char *tg_uri_check(tg_str_t uri);

/* Returns the name of a type, as its directive in nginx.conf. */
const char *tg_entry_type_name(tg_catalog_entry_type_t kind);

/*
 * Checks that a JSON text is an object whose "type" is "object", as MCP
 * demands. Returns NULL, or the mistake as a static text.
 */
const char *tg_tool_check_schema(tg_str_t schema);

/* Checks valid JSON. Returns NULL, or what annotations must be. */
const char *tg_tool_check_annotations(tg_str_t annotations);

#endif
