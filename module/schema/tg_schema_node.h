/*
 * The compiled form of a schema, for tg_schema_*.c only. A node represents one
 * subschema, identified by its text's position. Nodes live in the schema's
 * arena and do not change after the compilation.
 */
#ifndef TG_SCHEMA_NODE_H
#define TG_SCHEMA_NODE_H

#include "base/tg_number.h"
#include "schema/tg_schema.h"
#include "schema/tg_schema_draft.h"

typedef struct tg_schema_chunk_s tg_schema_chunk_t;

/* Memory limit of a compilation: for all its arenas and patterns. */
typedef struct {
    size_t left;
    int is_exceeded; /* 1 after a refused allocation */
} tg_schema_memory_limit_t;

/* An arena: memory that is freed as a whole. */
typedef struct {
    const tg_alloc_t *alloc;
    tg_schema_memory_limit_t *memory; /* limit, or NULL for none */
    tg_schema_chunk_t *chunks;
    size_t left; /* free bytes in the first chunk */
    size_t size; /* bytes of all chunks */
} tg_schema_arena_t;

/* Takes size bytes from the limit, unless it is NULL. TG_OK or TG_NOMEM. */
int tg_schema_memory_reserve(tg_schema_memory_limit_t *memory, size_t size);

/* Returns zeroed memory, aligned to 16 bytes; NULL: none, or too much. */
void *tg_schema_arena_alloc(tg_schema_arena_t *arena, size_t size);
void tg_schema_arena_deinit(tg_schema_arena_t *arena);

/*
 * JSON types as bits. The type "number" has only NUMBER; an integer value
 * matches NUMBER and INTEGER.
 */
enum {
    TG_SCHEMA_TYPE_NULL = 1 << 0,
    TG_SCHEMA_TYPE_BOOLEAN = 1 << 1,
    TG_SCHEMA_TYPE_INTEGER = 1 << 2,
    TG_SCHEMA_TYPE_NUMBER = 1 << 3,
    TG_SCHEMA_TYPE_STRING = 1 << 4,
    TG_SCHEMA_TYPE_ARRAY = 1 << 5,
    TG_SCHEMA_TYPE_OBJECT = 1 << 6,
    TG_SCHEMA_TYPE_ANY = (1 << 7) - 1
};

/* Vocabularies as bits: the keyword groups that a dialect enables. */
enum {
    TG_SCHEMA_V_CORE = 1 << 0,
    TG_SCHEMA_V_APPLICATOR = 1 << 1,
    TG_SCHEMA_V_UNEVALUATED = 1 << 2,
    TG_SCHEMA_V_VALIDATION = 1 << 3,
    TG_SCHEMA_V_METADATA = 1 << 4,
    TG_SCHEMA_V_FORMAT_ANNOTATION = 1 << 5,
    TG_SCHEMA_V_CONTENT = 1 << 6,
    TG_SCHEMA_V_FORMAT_ASSERTION = 1 << 7,
    TG_SCHEMA_V_DEFAULT = (1 << 7) - 1
};

typedef struct tg_schema_node_s tg_schema_node_t;
typedef struct tg_schema_resource_s tg_schema_resource_t;

typedef struct {
    const tg_schema_node_t **list;
    size_t n;
} tg_schema_nodes_t;

/* An entry of a set of property names, with the rules for the property. */
typedef struct {
    tg_str_t name; /* decoded name */
    uint64_t hash;
    const tg_schema_node_t *schema;           /* value of `properties` */
    const tg_schema_node_t *dependent_schema; /* value of `dependentSchemas` */
    /* value of `dependentRequired`: indexes of names */
    const uint32_t *dependent_required;
    uint32_t n_dependent_required;
    unsigned is_required;
} tg_schema_name_t;

typedef struct {
    tg_schema_name_t *list;
    uint32_t *slots; /* hash table of index + 1, or 0 */
    uint32_t n;
    uint32_t cap;
    uint32_t mask; /* size of slots - 1; 0: linear search */
} tg_schema_names_t;

/* Adds a decoded name, unless the set has it, and stores its index. */
int tg_schema_names_add(tg_schema_names_t *names, tg_schema_arena_t *arena,
                        tg_str_t name, uint32_t *index);

/* Finds a name by hash, with the results of tg_schema_names_find(). */
const tg_schema_name_t *tg_schema_names_find_slow(
    const tg_schema_names_t *names, tg_str_t name, uint32_t *hint);

/*
 * Returns the name's entry, or NULL. Clients tend to send keys in the order of
 * the schema, so *hint is the index to try first and becomes the next one.
 */
static inline const tg_schema_name_t *
tg_schema_names_find(const tg_schema_names_t *names, tg_str_t name,
                     uint32_t *hint)
{
    return *hint < names->n && tg_str_eq(names->list[*hint].name, name)
               ? &names->list[(*hint)++]
               : tg_schema_names_find_slow(names, name, hint);
}

typedef struct {
    void *regex;
    tg_str_t text;   /* pattern as in the schema, decoded */
    unsigned weight; /* weight; see tg_pattern.h */
    const tg_schema_node_t *schema;
} tg_schema_pattern_t;

typedef struct {
    const tg_str_t *list; /* raw values */
    size_t n;
    /* decoded strings, if all values are strings */
    const tg_schema_names_t *strings;
} tg_schema_values_t;

typedef struct {
    tg_number_t value;
    tg_str_t raw; /* raw value; absent without the keyword */
} tg_schema_bound_t;

typedef struct {
    tg_schema_bound_t minimum;
    tg_schema_bound_t maximum;
    tg_schema_bound_t exclusive_minimum;
    tg_schema_bound_t exclusive_maximum;
    tg_schema_bound_t multiple;
} tg_schema_number_rules_t;

typedef int (*tg_schema_format_pt)(tg_str_t text);

typedef struct {
    size_t min;
    size_t max;
    const tg_schema_pattern_t *pattern;
    tg_schema_format_pt format;
    tg_str_t format_name;
} tg_schema_string_rules_t;

typedef struct {
    tg_schema_nodes_t prefix;
    const tg_schema_node_t *items;
    const tg_schema_node_t *contains;
    size_t min;
    size_t max;
    size_t min_contains;
    size_t max_contains;
    int is_unique;
    /* items that match `contains` count as evaluated */
    int is_contained_evaluated;
} tg_schema_array_rules_t;

typedef struct {
    tg_schema_names_t names;
    const tg_schema_pattern_t *patterns;
    size_t n_patterns;
    const tg_schema_node_t *additional;
    const tg_schema_node_t *property_names;
    size_t min;
    size_t max;
    /* some name is required, or has a dependent... rule */
    int has_required_rules;
} tg_schema_object_rules_t;

typedef struct {
    tg_schema_nodes_t all;
    tg_schema_nodes_t any;
    tg_schema_nodes_t one;
    const tg_schema_node_t *not_schema;
    const tg_schema_node_t *if_schema;
    const tg_schema_node_t *then_schema;
    const tg_schema_node_t *else_schema;
} tg_schema_logic_t;

struct tg_schema_node_s {
    const char *at; /* start of the schema's text */
    size_t len;
    tg_schema_resource_t *resource;
    uint8_t types;
    uint8_t is_true;
    uint8_t is_false;
    uint8_t cycle_state;
    uint8_t is_simple; /* an indexed member is enough to decide validity */
    unsigned height;   /* longest chain of schemas applied to one value */
    const tg_schema_node_t *ref;
    /* target of $dynamicRef if no dynamic anchor is found */
    const tg_schema_node_t *dynamic_ref;
    /* dynamic anchor name; absent: dynamic_ref is the target */
    tg_str_t dynamic_name;
    const tg_schema_values_t *constant;
    const tg_schema_values_t *values;
    const tg_schema_number_rules_t *number;
    const tg_schema_string_rules_t *string;
    const tg_schema_array_rules_t *array;
    const tg_schema_object_rules_t *object;
    const tg_schema_logic_t *logic;
    const tg_schema_node_t *unevaluated_items;
    const tg_schema_node_t *unevaluated_properties;
};

typedef struct tg_schema_anchor_s tg_schema_anchor_t;

struct tg_schema_anchor_s {
    tg_schema_anchor_t *next;
    tg_str_t name;
    const tg_schema_node_t *node;
    int is_dynamic;
};

typedef struct tg_schema_doc_s tg_schema_doc_t;

/* A document, or a part of a document that has its own $id. */
struct tg_schema_resource_s {
    tg_schema_resource_t *next;
    tg_str_t uri; /* absolute URI without fragment */
    const tg_schema_doc_t *doc;
    const tg_schema_node_t *root;
    tg_schema_anchor_t *anchors;
    size_t n_anchors;
    unsigned draft; /* tg_schema_draft_t */
    unsigned vocabularies;
};

struct tg_schema_doc_s {
    tg_schema_doc_t *next;
    tg_str_t uri;
    tg_str_t raw;
    const tg_schema_node_t *root;
};

struct tg_schema_s {
    size_t nrefs;
    tg_schema_arena_t arena;
    const tg_schema_node_t *root;
    /* rules of root if it has a fast path; tg_schema_validator_fast_path.c */
    const tg_schema_object_rules_t *fast_path_rules;
    /* required names of fast_path_rules, as bits */
    uint64_t required;
    const tg_schema_regex_engine_t *regex;
    /* regexes that the host's engine must free */
    struct tg_schema_regex_entry_s *regexes;
    unsigned max_depth;
    uint64_t max_steps;
    tg_schema_quota_t *quota; /* quota, or NULL */
    size_t size;              /* bytes charged to the quota */
};

typedef struct tg_schema_regex_entry_s {
    struct tg_schema_regex_entry_s *next;
    void *regex;
} tg_schema_regex_entry_t;

const tg_schema_anchor_t *tg_schema_anchor_find(
    const tg_schema_resource_t *resource, tg_str_t name);

/* Iterator over the members of a raw object or the elements of a raw array. */
typedef struct {
    tg_json_cursor_t json;
    int is_object;
    tg_str_t key; /* escaped body */
    tg_str_t value;
} tg_schema_entries_t;

void tg_schema_entries_init(tg_schema_entries_t *entries, tg_str_t raw);
int tg_schema_entries_next(tg_schema_entries_t *entries);

size_t tg_schema_count_entries(tg_str_t raw);

tg_schema_format_pt tg_schema_format_find(tg_str_t name);

/* Returns the text of a built-in document, or an absent slice. */
tg_str_t tg_schema_meta_find(tg_str_t uri);

/* Returns the bits of a vocabulary, or 0. is_required is from the dialect. */
unsigned tg_schema_meta_get_vocabulary(tg_str_t uri, int is_required);

/* Determines the simple nodes, and whether the root has a fast path. */
void tg_schema_prepare_fast_path(tg_schema_t *schema,
                                 tg_schema_node_t *const *nodes, size_t n);

#endif
