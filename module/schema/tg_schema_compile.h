/* The state of a compilation, for the files tg_schema_*.c only. */
#ifndef TG_SCHEMA_COMPILE_H
#define TG_SCHEMA_COMPILE_H

#include "schema/tg_schema_node.h"
#include "schema/tg_schema_uri.h"

#define TG_SCHEMA_KEYWORDS(X)                                                  \
    X(ID, "$id", CORE)                                                         \
    X(SCHEMA, "$schema", CORE)                                                 \
    X(REF, "$ref", CORE)                                                       \
    X(ANCHOR, "$anchor", CORE)                                                 \
    X(DYNAMIC_REF, "$dynamicRef", CORE)                                        \
    X(DYNAMIC_ANCHOR, "$dynamicAnchor", CORE)                                  \
    X(VOCABULARY, "$vocabulary", CORE)                                         \
    X(COMMENT, "$comment", CORE)                                               \
    X(DEFS, "$defs", CORE)                                                     \
    X(PREFIX_ITEMS, "prefixItems", APPLICATOR)                                 \
    X(ITEMS, "items", APPLICATOR)                                              \
    X(CONTAINS, "contains", APPLICATOR)                                        \
    X(ADDITIONAL, "additionalProperties", APPLICATOR)                          \
    X(PROPERTIES, "properties", APPLICATOR)                                    \
    X(PATTERNS, "patternProperties", APPLICATOR)                               \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", APPLICATOR)                       \
    X(NAMES, "propertyNames", APPLICATOR)                                      \
    X(IF, "if", APPLICATOR)                                                    \
    X(THEN, "then", APPLICATOR)                                                \
    X(ELSE, "else", APPLICATOR)                                                \
    X(ALL, "allOf", APPLICATOR)                                                \
    X(ANY, "anyOf", APPLICATOR)                                                \
    X(ONE, "oneOf", APPLICATOR)                                                \
    X(NOT, "not", APPLICATOR)                                                  \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", UNEVALUATED)                      \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", UNEVALUATED)            \
    X(TYPE, "type", VALIDATION)                                                \
    X(CONST, "const", VALIDATION)                                              \
    X(ENUM, "enum", VALIDATION)                                                \
    X(MULTIPLE, "multipleOf", VALIDATION)                                      \
    X(MAXIMUM, "maximum", VALIDATION)                                          \
    X(BELOW, "exclusiveMaximum", VALIDATION)                                   \
    X(MINIMUM, "minimum", VALIDATION)                                          \
    X(ABOVE, "exclusiveMinimum", VALIDATION)                                   \
    X(MAX_LENGTH, "maxLength", VALIDATION)                                     \
    X(MIN_LENGTH, "minLength", VALIDATION)                                     \
    X(PATTERN, "pattern", VALIDATION)                                          \
    X(MAX_ITEMS, "maxItems", VALIDATION)                                       \
    X(MIN_ITEMS, "minItems", VALIDATION)                                       \
    X(UNIQUE, "uniqueItems", VALIDATION)                                       \
    X(MAX_CONTAINS, "maxContains", VALIDATION)                                 \
    X(MIN_CONTAINS, "minContains", VALIDATION)                                 \
    X(MAX_PROPERTIES, "maxProperties", VALIDATION)                             \
    X(MIN_PROPERTIES, "minProperties", VALIDATION)                             \
    X(REQUIRED, "required", VALIDATION)                                        \
    X(DEPENDENT_REQUIRED, "dependentRequired", VALIDATION)                     \
    X(TITLE, "title", METADATA)                                                \
    X(DESCRIPTION, "description", METADATA)                                    \
    X(DEPRECATED, "deprecated", METADATA)                                      \
    X(READ_ONLY, "readOnly", METADATA)                                         \
    X(WRITE_ONLY, "writeOnly", METADATA)                                       \
    X(EXAMPLES, "examples", METADATA)                                          \
    X(FORMAT, "format", FORMAT)                                                \
    X(CONTENT_ENCODING, "contentEncoding", CONTENT)                            \
    X(CONTENT_TYPE, "contentMediaType", CONTENT)                               \
    X(CONTENT_SCHEMA, "contentSchema", CONTENT)

#define TG_SCHEMA_V_FORMAT                                                     \
    (TG_SCHEMA_V_FORMAT_ANNOTATION | TG_SCHEMA_V_FORMAT_ASSERTION)

#define TG_SCHEMA_KEYWORD_ID(id, name, vocabulary) TG_SCHEMA_K_##id,

typedef enum {
    TG_SCHEMA_KEYWORDS(TG_SCHEMA_KEYWORD_ID) TG_SCHEMA_K_N
} tg_schema_keyword_t;

/* Raw values of the keywords that a schema object has. */
typedef struct {
    tg_str_t k[TG_SCHEMA_K_N];
} tg_schema_object_t;

/* A reference that is resolved when all documents are known. */
typedef struct tg_schema_pending_s tg_schema_pending_t;

struct tg_schema_pending_s {
    tg_schema_pending_t *next;
    tg_schema_node_t *node;
    const char *at; /* of the reference */
    tg_str_t text;
    int is_dynamic;
};

/* A document that its own dialect's schema has to accept. */
typedef struct tg_schema_judged_s tg_schema_judged_t;

struct tg_schema_judged_s {
    tg_schema_judged_t *next;
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
    tg_schema_doc_t *main; /* the document that was given */
    tg_schema_resource_t *resources;
    tg_schema_pending_t *pending;
    tg_schema_pending_t **pending_tail;
    tg_schema_judged_t *judged;
    tg_schema_node_t *nodes;
    tg_schema_node_t **nodes_tail;
    tg_schema_node_t **map; /* by place */
    size_t cap_map;
    size_t n_nodes;
    size_t n_bytes;
} tg_schema_compile_t;

/*
 * Mistakes.  All return TG_BAD; at is a place in one of the documents.
 * _begin writes the path; then the text is appended to compile->error.
 */
int tg_schema_mistake_begin(tg_schema_compile_t *compile, const char *at);
int tg_schema_mistake(tg_schema_compile_t *compile, const char *at,
                      const char *text);
/* TEXT, got VALUE */
int tg_schema_mistake_value(tg_schema_compile_t *compile, tg_str_t raw,
                            const char *text);

/* Memory of the schema; NULL when there is none. */
void *tg_schema_get(tg_schema_compile_t *compile, size_t size);

/* The text of a raw string; lives as long as the schema. */
int tg_schema_decode(tg_schema_compile_t *compile, tg_str_t body,
                     tg_str_t *text);
/* The same, with a mistake when raw is no string. */
int tg_schema_read_string(tg_schema_compile_t *compile, tg_str_t raw,
                          tg_str_t *text);

/* A size, or a mistake; unchanged when raw is absent. */
int tg_schema_read_size(tg_schema_compile_t *compile, tg_str_t raw,
                        size_t *size);

/* Members or elements of a raw container. */
size_t tg_schema_size(tg_str_t raw);

/* The node of the subschema at raw, which is compiled when it is new. */
int tg_schema_build(tg_schema_compile_t *compile, tg_str_t raw,
                    tg_schema_resource_t *resource, tg_schema_node_t **node);
tg_schema_node_t *tg_schema_map_find(const tg_schema_compile_t *compile,
                                     const char *at);

/* The groups of keywords. */
int tg_schema_build_values(tg_schema_compile_t *compile,
                           const tg_schema_object_t *object,
                           tg_schema_node_t *node);
int tg_schema_build_number(tg_schema_compile_t *compile,
                           const tg_schema_object_t *object,
                           tg_schema_node_t *node);
int tg_schema_build_string(tg_schema_compile_t *compile,
                           const tg_schema_object_t *object,
                           tg_schema_node_t *node);
int tg_schema_build_array(tg_schema_compile_t *compile,
                          const tg_schema_object_t *object,
                          tg_schema_node_t *node);
int tg_schema_build_members(tg_schema_compile_t *compile,
                            const tg_schema_object_t *object,
                            tg_schema_node_t *node);
int tg_schema_build_logic(tg_schema_compile_t *compile,
                          const tg_schema_object_t *object,
                          tg_schema_node_t *node);
int tg_schema_build_remarks(tg_schema_compile_t *compile,
                            const tg_schema_object_t *object,
                            tg_schema_node_t *node);
int tg_schema_build_pattern(tg_schema_compile_t *compile, const char *at,
                            tg_str_t text, tg_schema_pattern_t *pattern);

/* Identity: $id, $schema, anchors and references of a schema object. */
int tg_schema_build_identity(tg_schema_compile_t *compile,
                             const tg_schema_object_t *object,
                             tg_schema_node_t *node);

/* A document: copied, checked and compiled.  at: who asks for it. */
int tg_schema_load(tg_schema_compile_t *compile, const char *at, tg_str_t uri,
                   tg_str_t raw, tg_schema_doc_t **doc);
/* NULL when there is no memory. */
tg_schema_resource_t *tg_schema_resource_new(tg_schema_compile_t *compile,
                                             tg_str_t uri,
                                             unsigned vocabularies);
/* The text of a document by its URI: TG_OK, TG_MISSING, TG_NOMEM. */
int tg_schema_fetch(tg_schema_compile_t *compile, tg_str_t uri, tg_str_t *raw);

/* Resolves all references, which may load documents. */
int tg_schema_resolve(tg_schema_compile_t *compile);
/* Refuses schemas that come back to themselves on the same value. */
int tg_schema_find_loops(tg_schema_compile_t *compile);

#endif
