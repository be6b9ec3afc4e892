/* The state of a compilation, for the files tg_schema_*.c only. */
#ifndef TG_SCHEMA_COMPILER_H
#define TG_SCHEMA_COMPILER_H

#include "schema/tg_schema_node.h"
#include "schema/tg_uri.h"

/*
 * All keywords, in the order in which they are read: what a schema object has
 * of each is a raw value.  Those of its identity come first, and are read by
 * themselves.
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
    TG_SCHEMA_K_FIRST_RULE, /* tg_schema_compiler_keyword.c has them */
    TG_SCHEMA_K_MAX = TG_SCHEMA_K_FIRST_RULE + 64
} tg_schema_keyword_t;

typedef struct {
    tg_str_t k[TG_SCHEMA_K_MAX];
} tg_schema_keyword_values_t;

/* A reference that is resolved when all documents are known. */
typedef struct tg_schema_pending_ref_s tg_schema_pending_ref_t;

struct tg_schema_pending_ref_s {
    tg_schema_pending_ref_t *next;
    tg_schema_node_t *node;
    const char *at; /* of the reference */
    tg_str_t text;
    int is_dynamic;
};

/* A document that its own dialect's schema has to accept. */
typedef struct tg_schema_meta_check_s tg_schema_meta_check_t;

struct tg_schema_meta_check_s {
    tg_schema_meta_check_t *next;
    const char *at; /* of $schema */
    tg_str_t raw;
    tg_str_t uri; /* of the dialect */
};

typedef struct {
    const tg_alloc_t *alloc;
    tg_schema_t *schema;
    tg_schema_options_t options; /* with the defaults filled in */
    tg_buf_t *error;
    size_t error_start;
    tg_schema_doc_t *docs;
    tg_schema_doc_t *main_doc; /* the document that was given */
    tg_schema_resource_t *resources;
    tg_schema_pending_ref_t *pending;
    tg_schema_pending_ref_t **pending_tail;
    tg_schema_meta_check_t *meta_check;
    tg_schema_node_t **nodes; /* in the order of the documents */
    size_t n_nodes;
    size_t cap_nodes;
    tg_schema_names_t node_positions; /* of the nodes, with their indices */
    tg_schema_names_t members; /* of large objects that pointers go through */
    tg_str_t *values;          /* of the members, by their indices */
    size_t cap_values;
    tg_schema_arena_t temp; /* is gone after the compilation */
    size_t n_bytes;
    uint64_t steps; /* left */
    tg_schema_memory_limit_t memory;
} tg_schema_compiler_t;

/*
 * Steps of compiling, measured so that one takes some 10 ns: of a node, of a
 * member or an element, of a pattern and of each of its bytes.  Besides, a
 * step is 16 bytes that are passed, or 4 that a pattern is compiled to.
 */
enum {
    TG_SCHEMA_STEPS_PER_NODE = 40,
    TG_SCHEMA_STEPS_PER_ENTRY = 20,
    TG_SCHEMA_STEPS_PER_PATTERN = 300,
    TG_SCHEMA_STEPS_PER_PATTERN_BYTE = 8,
    TG_SCHEMA_SKIP_BYTES_PER_STEP = 16,
    TG_SCHEMA_REGEX_BYTES_PER_STEP = 4
};

/* Of comparing a URI with another one. */
#define TG_SCHEMA_URI_STEPS(uri) (1 + (uri).len / 128)

/* Takes steps from the compilation's: TG_OK or TG_LIMIT. */
int tg_schema_compiler_spend(tg_schema_compiler_t *compile, uint64_t steps);

/*
 * Mistakes.  All return TG_INVALID; at is a place in one of the documents.
 * _begin writes the path; then the text is appended to compile->error.
 */
int tg_schema_error_begin(tg_schema_compiler_t *compile, const char *at);
int tg_schema_error_set(tg_schema_compiler_t *compile, const char *at,
                        const char *text);
#define TG_SCHEMA_DUPLICATE_TEXT "must be there only once"
/* TEXT, got VALUE */
int tg_schema_error_set_value(tg_schema_compiler_t *compile, tg_str_t raw,
                              const char *text);

/* Memory of the schema; NULL when there is none. */
void *tg_schema_alloc(tg_schema_compiler_t *compile, size_t size);

/* A copy of text, which lives as long as the schema: TG_OK, TG_NOMEM. */
int tg_schema_copy_text(tg_schema_compiler_t *compile, tg_str_t text,
                        tg_str_t *copy);

/* The text of a raw string; lives as long as the schema. */
int tg_schema_unescape(tg_schema_compiler_t *compile, tg_str_t body,
                       tg_str_t *text);
/* The same, with a mistake when raw is no string. */
int tg_schema_read_string(tg_schema_compiler_t *compile, tg_str_t raw,
                          tg_str_t *text);

/* TG_OK, or the mistake that raw is of another type. */
int tg_schema_expect_type(tg_schema_compiler_t *compile, tg_str_t raw,
                          tg_json_type_t type, const char *what);

/* The node of the subschema at raw, which is compiled when it is new. */
int tg_schema_build_node(tg_schema_compiler_t *compile, tg_str_t raw,
                         tg_schema_resource_t *resource,
                         const tg_schema_node_t **node);
/* NULL when there is none. */
tg_schema_node_t *tg_schema_node_find(const tg_schema_compiler_t *compile,
                                      const char *at);

/*
 * The reader of a keyword: raw is its value, and `to` where what it says
 * goes, or the rules about objects.
 */
#define TG_SCHEMA_READER(name)                                                 \
    int tg_schema_read_##name(tg_schema_compiler_t *compile, tg_str_t raw,     \
                              const tg_schema_node_t *node, void *to)

typedef int (*tg_schema_keyword_read_pt)(tg_schema_compiler_t *compile,
                                         tg_str_t raw,
                                         const tg_schema_node_t *node,
                                         void *to);

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

/* The host's regular expression for an ECMA-262 pattern. */
int tg_schema_build_pattern(tg_schema_compiler_t *compile, const char *at,
                            tg_str_t text, tg_schema_pattern_t *pattern);

/*
 * The draft of a schema object by its `$schema`, which may be absent: that of
 * the dialect, or of the schema around it where the dialect is not known.
 */
unsigned tg_schema_resolve_draft(tg_schema_compiler_t *compile,
                                 tg_str_t dialect, unsigned around);

/* Identity: $id, $schema, anchors and references of a schema object. */
int tg_schema_build_identity(tg_schema_compiler_t *compile,
                             const tg_schema_keyword_values_t *object,
                             unsigned draft, tg_schema_node_t *node);

/*
 * A document: copied, checked and compiled.  at: who asks for it; draft: that
 * of a document that does not say.
 */
int tg_schema_load_document(tg_schema_compiler_t *compile, const char *at,
                            tg_str_t uri, tg_str_t raw, unsigned draft,
                            tg_schema_doc_t **doc);
/* NULL when there is no memory. */
tg_schema_resource_t *tg_schema_resource_new(tg_schema_compiler_t *compile,
                                             const tg_schema_doc_t *doc,
                                             tg_str_t uri, unsigned draft,
                                             unsigned vocabularies);
/* The text of a document by its URI: TG_OK, TG_MISSING, TG_NOMEM. */
int tg_schema_fetch_document(tg_schema_compiler_t *compile, tg_str_t uri,
                             tg_str_t *raw);

/* Resolves all references, which may load documents. */
int tg_schema_resolve_refs(tg_schema_compiler_t *compile);
/* Refuses schemas that come back to themselves on the same value. */
int tg_schema_find_cycles(tg_schema_compiler_t *compile);

#endif
