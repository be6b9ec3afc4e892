/*
 * State of a schema compilation, for tg_schema_*.c only. Functions return
 * TG_OK, TG_NOMEM, TG_LIMIT, or TG_INVALID after setting the error.
 */
#ifndef TG_SCHEMA_COMPILER_H
#define TG_SCHEMA_COMPILER_H

#include "schema/tg_schema_node.h"
#include "schema/tg_uri.h"

/*
 * The keywords in reading order; they index the raw values of a schema object.
 * Those of identity ($id, $ref etc.) come first and are read separately.
 */
typedef enum {
    TG_SCHEMA_K_ID,
    TG_SCHEMA_K_OLD_ID,
    TG_SCHEMA_K_SCHEMA,
    TG_SCHEMA_K_VOCABULARY,
    TG_SCHEMA_K_ANCHOR,
    TG_SCHEMA_K_DYNAMIC_ANCHOR,
    TG_SCHEMA_K_RECURSIVE_ANCHOR,
    TG_SCHEMA_K_REF,
    TG_SCHEMA_K_DYNAMIC_REF,
    TG_SCHEMA_K_RECURSIVE_REF,
    TG_SCHEMA_K_DEFINITIONS,
    /* the first keyword after those of identity */
    TG_SCHEMA_K_FIRST_RULE,
    TG_SCHEMA_K_MAX = TG_SCHEMA_K_FIRST_RULE + 64
} tg_schema_keyword_t;

typedef struct {
    tg_str_t k[TG_SCHEMA_K_MAX];
} tg_schema_keyword_values_t;

typedef struct tg_schema_pending_ref_s tg_schema_pending_ref_t;

struct tg_schema_pending_ref_s {
    tg_schema_pending_ref_t *next;
    tg_schema_node_t *node;
    const char *at; /* position of the reference in its document */
    tg_str_t text;
    int is_dynamic;
};

typedef struct tg_schema_meta_check_s tg_schema_meta_check_t;

struct tg_schema_meta_check_s {
    tg_schema_meta_check_t *next;
    const char *at;
    tg_str_t raw;
    tg_str_t uri; /* URI of the dialect */
};

typedef struct {
    const tg_alloc_t *alloc;
    tg_schema_t *schema;
    tg_schema_options_t options; /* options with their defaults filled in */
    tg_buf_t *error;
    size_t error_start;
    tg_schema_doc_t *docs;
    tg_schema_doc_t *main_doc;
    tg_schema_resource_t *resources;
    tg_schema_pending_ref_t *pending;
    tg_schema_pending_ref_t **pending_tail;
    tg_schema_meta_check_t *meta_check;
    tg_schema_node_t **nodes; /* all nodes, in creation order */
    size_t n_nodes;
    size_t cap_nodes;
    /* positions of the nodes; an index here is an index into nodes */
    tg_schema_names_t node_positions;
    /* members of the large objects that JSON pointers go through */
    tg_schema_names_t members;
    tg_str_t *values; /* raw values of members, by index */
    size_t cap_values;
    tg_schema_arena_t temp; /* memory that is freed after the compilation */
    size_t n_bytes;
    uint64_t steps;
    tg_schema_memory_limit_t memory;
} tg_schema_compiler_t;

/*
 * Steps of about 10 ns (measured) for a node, an entry, a pattern and each byte
 * of a pattern; one step covers 16 skipped bytes of text or 4 bytes of a regex.
 */
enum {
    TG_SCHEMA_STEPS_PER_NODE = 40,
    TG_SCHEMA_STEPS_PER_ENTRY = 20,
    TG_SCHEMA_STEPS_PER_PATTERN = 300,
    TG_SCHEMA_STEPS_PER_PATTERN_BYTE = 8,
    TG_SCHEMA_SKIP_BYTES_PER_STEP = 16,
    TG_SCHEMA_REGEX_BYTES_PER_STEP = 4
};

/* Cost in steps of a comparison with a URI. */
#define TG_SCHEMA_URI_STEPS(uri) (1 + (uri).len / 128)

int tg_schema_compiler_spend(tg_schema_compiler_t *compile, uint64_t steps);

/* Begins an error, completed in compile->error. Returns TG_INVALID. */
int tg_schema_error_begin(tg_schema_compiler_t *compile, const char *at);
/* Sets the error "PATH: TEXT". Returns TG_INVALID. */
int tg_schema_error_set(tg_schema_compiler_t *compile, const char *at,
                        const char *text);
#define TG_SCHEMA_DUPLICATE_TEXT "must be given only once"
/* Sets the error "PATH: TEXT, got VALUE". Returns TG_INVALID. */
int tg_schema_error_set_value(tg_schema_compiler_t *compile, tg_str_t raw,
                              const char *text);

/* Returns zeroed memory that lives as long as the schema, or NULL. */
void *tg_schema_alloc(tg_schema_compiler_t *compile, size_t size);

/* Copies text to memory that lives as long as the schema. */
int tg_schema_copy_text(tg_schema_compiler_t *compile, tg_str_t text,
                        tg_str_t *copy);

/* Decodes a string body. The text lives as long as the schema. */
int tg_schema_unescape(tg_schema_compiler_t *compile, tg_str_t body,
                       tg_str_t *text);
/* Decodes a raw string that lives as long as the schema. */
int tg_schema_read_string(tg_schema_compiler_t *compile, tg_str_t raw,
                          tg_str_t *text);

/* Appends the absolute URI of text, of length *len, and its fragment. */
int tg_schema_resolve_uri(tg_schema_compiler_t *compile,
                          const tg_schema_resource_t *resource, tg_str_t text,
                          tg_buf_t *full, size_t *len);

/* Checks the type; the error is "must be WHAT, got VALUE". */
int tg_schema_expect_type(tg_schema_compiler_t *compile, tg_str_t raw,
                          tg_json_type_t type, const char *what);

/* Finds or compiles the node of the subschema raw. */
int tg_schema_build_node(tg_schema_compiler_t *compile, tg_str_t raw,
                         tg_schema_resource_t *resource,
                         const tg_schema_node_t **node);
tg_schema_node_t *tg_schema_node_find(const tg_schema_compiler_t *compile,
                                      const char *at);

/*
 * The reader of a keyword with the value raw. `to` is the member to set, or the
 * rules structure if the reader sets several members.
 */
#define TG_SCHEMA_READER(name)                                                 \
    int tg_schema_read_##name(tg_schema_compiler_t *compile, tg_str_t raw,     \
                              const tg_schema_node_t *node, void *to)

typedef int (*tg_schema_keyword_read_pt)(tg_schema_compiler_t *compile,
                                         tg_str_t raw,
                                         const tg_schema_node_t *node,
                                         void *to);

/* Target of a reader: a part of the node, the node, or nothing. */
typedef enum {
    TG_SCHEMA_PART_NUMBER,
    TG_SCHEMA_PART_STRING,
    TG_SCHEMA_PART_ARRAY,
    TG_SCHEMA_PART_OBJECT,
    TG_SCHEMA_PART_LOGIC,
    TG_SCHEMA_N_PARTS,
    TG_SCHEMA_PART_NODE,
    TG_SCHEMA_PART_NONE
} tg_schema_part_t;

typedef struct {
    const char *name;
    tg_schema_keyword_read_pt read; /* NULL: not a rule */
    size_t offset;                  /* offset of the member in its part */
    unsigned vocabulary;
    tg_schema_part_t part;
    unsigned drafts;
} tg_schema_keyword_row_t;

/* The table of keywords, in the order of tg_schema_keyword_t. */
extern const tg_schema_keyword_row_t tg_schema_keywords[];
extern const size_t tg_schema_n_keywords;

/* Returns a keyword by its name, an escaped body, or NULL. */
const tg_schema_keyword_row_t *tg_schema_keyword_find(tg_str_t key);

TG_SCHEMA_READER(schema);
TG_SCHEMA_READER(schemas);
TG_SCHEMA_READER(items);
TG_SCHEMA_READER(additional_items);
TG_SCHEMA_READER(type);
TG_SCHEMA_READER(const);
TG_SCHEMA_READER(enum);
TG_SCHEMA_READER(bound);
TG_SCHEMA_READER(exclusive_minimum);
TG_SCHEMA_READER(exclusive_maximum);
TG_SCHEMA_READER(multiple);
TG_SCHEMA_READER(size);
TG_SCHEMA_READER(flag);
TG_SCHEMA_READER(text);
TG_SCHEMA_READER(list);
TG_SCHEMA_READER(pattern);
TG_SCHEMA_READER(format);
TG_SCHEMA_READER(defs);
TG_SCHEMA_READER(properties);
TG_SCHEMA_READER(patterns);
TG_SCHEMA_READER(required);
TG_SCHEMA_READER(dependent_schema);
TG_SCHEMA_READER(dependent_required);
TG_SCHEMA_READER(dependencies);

/* Compiles an ECMA-262 pattern; `at` is the position for errors. */
int tg_schema_build_pattern(tg_schema_compiler_t *compile, const char *at,
                            tg_str_t text, tg_schema_pattern_t *pattern);

/*
 * Returns the draft by a raw `$schema`, which may be absent, or `around`, that
 * of the enclosing schema, if the dialect is unknown.
 */
unsigned tg_schema_resolve_draft(tg_schema_compiler_t *compile,
                                 tg_str_t dialect, unsigned around);

/* Reads $id, $schema, anchors and references. */
int tg_schema_build_identity(tg_schema_compiler_t *compile,
                             const tg_schema_keyword_values_t *object,
                             unsigned draft, tg_schema_node_t *node);

/*
 * Loads the document with this URI, unless it is loaded already. `at` is the
 * position of the reference to it; `draft` applies if it has no $schema.
 */
int tg_schema_load_document(tg_schema_compiler_t *compile, const char *at,
                            tg_str_t uri, tg_str_t raw, unsigned draft,
                            tg_schema_doc_t **doc);
tg_schema_resource_t *tg_schema_resource_new(tg_schema_compiler_t *compile,
                                             const tg_schema_doc_t *doc,
                                             tg_str_t uri, unsigned draft,
                                             unsigned vocabularies);
/* Fetches a document. TG_MISSING, or another code of the host's resolver. */
int tg_schema_fetch_document(tg_schema_compiler_t *compile, tg_str_t uri,
                             tg_str_t *raw);

/* Resolves all references; this may load more documents. */
int tg_schema_resolve_refs(tg_schema_compiler_t *compile);
/* Rejects schemas that refer to themselves without descending. */
int tg_schema_find_cycles(tg_schema_compiler_t *compile);

#endif
