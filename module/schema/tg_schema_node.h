/*
 * What a schema is compiled to, for the files tg_schema_*.c only.
 *
 * A node stands for one subschema and is named by the place of its text.
 * Everything here lives in the arena of its schema and is never changed
 * after the compilation.
 */
#ifndef TG_SCHEMA_NODE_H
#define TG_SCHEMA_NODE_H

#include "base/tg_number.h"
#include "schema/tg_schema.h"
#include "schema/tg_schema_draft.h"

typedef struct tg_schema_chunk_s tg_schema_chunk_t;

/* What a compilation may hold, in all of its arenas and patterns. */
typedef struct {
    size_t left;
    int is_exceeded; /* something was refused */
} tg_schema_memory_limit_t;

/* Memory that is freed as a whole. */
typedef struct {
    const tg_alloc_t *alloc;
    tg_schema_memory_limit_t *memory; /* NULL: no bound */
    tg_schema_chunk_t *chunks;
    size_t left; /* in the first chunk */
    size_t size; /* of all chunks */
} tg_schema_arena_t;

/* Takes bytes from what may be held, NULL being no bound: TG_OK or TG_NOMEM. */
int tg_schema_memory_reserve(tg_schema_memory_limit_t *memory, size_t size);

/* Zeroed memory, or NULL. */
void *tg_schema_arena_alloc(tg_schema_arena_t *arena, size_t size);
void tg_schema_arena_deinit(tg_schema_arena_t *arena);

/* Types as bits; a whole number is both NUMBER and INTEGER. */
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

/* Vocabularies as bits, for what a dialect switches on. */
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

/* A set of names; it is searched by hash when it is not tiny. */
typedef struct {
    tg_str_t name; /* decoded */
    uint64_t hash;
    const tg_schema_node_t *schema;           /* properties */
    const tg_schema_node_t *dependent_schema; /* dependentSchemas */
    const uint32_t *dependent_required;       /* dependentRequired: indices */
    uint32_t n_dependent_required;
    unsigned is_required;
} tg_schema_name_t;

typedef struct {
    tg_schema_name_t *list;
    uint32_t *slots; /* index + 1, or 0 */
    uint32_t n;
    uint32_t cap;
    uint32_t mask; /* 0: search one by one */
} tg_schema_names_t;

/* Index of a decoded name, which is added when it is new: TG_OK, TG_NOMEM. */
int tg_schema_names_add(tg_schema_names_t *names, tg_schema_arena_t *arena,
                        tg_str_t name, uint32_t *index);

/*
 * NULL when it is not there.  hint: where to look first, as callers tend to
 * send keys in the order of the schema; moves behind what was found.
 */
const tg_schema_name_t *tg_schema_names_find_slow(
    const tg_schema_names_t *names, tg_str_t name, uint32_t *hint);

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
    tg_str_t text;   /* as the author wrote it, decoded */
    unsigned weight; /* see tg_pattern.h */
    const tg_schema_node_t *schema;
} tg_schema_pattern_t;

typedef struct {
    const tg_str_t *list; /* raw values */
    size_t n;
    const tg_schema_names_t *strings; /* set when all are strings */
} tg_schema_values_t;

typedef struct {
    tg_number_t value;
    tg_str_t raw; /* raw.data is NULL when the keyword is absent */
} tg_schema_bound_t;

typedef struct {
    tg_schema_bound_t minimum;
    tg_schema_bound_t maximum;
    tg_schema_bound_t exclusive_minimum; /* exclusiveMinimum */
    tg_schema_bound_t exclusive_maximum; /* exclusiveMaximum */
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
    int is_contained_evaluated; /* what fits `contains` is evaluated */
} tg_schema_array_rules_t;

typedef struct {
    tg_schema_names_t names;
    const tg_schema_pattern_t *patterns;
    size_t n_patterns;
    const tg_schema_node_t *additional;
    const tg_schema_node_t *property_names; /* propertyNames */
    size_t min;
    size_t max;
    int has_required_rules; /* required or dependent… is there */
} tg_schema_object_rules_t;

typedef struct {
    tg_schema_nodes_t all;
    tg_schema_nodes_t any;
    tg_schema_nodes_t one;
    const tg_schema_node_t *not_schema; /* not */
    const tg_schema_node_t *if_schema;  /* if */
    const tg_schema_node_t *then_schema;
    const tg_schema_node_t *else_schema; /* else */
} tg_schema_logic_t;

struct tg_schema_node_s {
    const char *at; /* its text */
    size_t len;
    tg_schema_resource_t *resource;
    uint8_t types;
    uint8_t is_true; /* everything fits */
    uint8_t is_false;
    uint8_t cycle_state; /* of the search for loops */
    uint8_t is_simple;   /* a note tells whether a value fits */
    unsigned height;     /* schemas behind each other on the same value */
    const tg_schema_node_t *ref;
    const tg_schema_node_t *dynamic_ref; /* where the search starts */
    tg_str_t dynamic_name;               /* absent: it is the end, too */
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

/* A document, or a part of one that has an $id. */
struct tg_schema_resource_s {
    tg_schema_resource_t *next;
    tg_str_t uri; /* absolute, no fragment */
    const tg_schema_doc_t *doc;
    const tg_schema_node_t *root;
    tg_schema_anchor_t *anchors;
    size_t n_anchors;
    unsigned draft; /* tg_schema_draft_t */
    unsigned vocabularies;
};

struct tg_schema_doc_s {
    tg_schema_doc_t *next;
    tg_str_t uri; /* where it was found */
    tg_str_t raw;
    const tg_schema_node_t *root;
};

struct tg_schema_s {
    size_t nrefs;
    tg_schema_arena_t arena;
    const tg_schema_node_t *root;
    const tg_schema_object_rules_t
        *fast_path_rules; /* of root, see tg_schema_validator_fast_path.c */
    uint64_t required;    /* of its names, as bits */
    const tg_schema_regex_engine_t *regex;
    struct tg_schema_regex_entry_s *regexes; /* to be freed by the host */
    unsigned max_depth;
    uint64_t max_steps;
    tg_schema_quota_t *quota; /* NULL: none */
    size_t size;              /* what counts in it */
};

typedef struct tg_schema_regex_entry_s {
    struct tg_schema_regex_entry_s *next;
    void *regex;
} tg_schema_regex_entry_t;

const tg_schema_anchor_t *tg_schema_anchor_find(
    const tg_schema_resource_t *resource, tg_str_t name);

/* The members of a raw object, or the elements of an array. */
typedef struct {
    tg_json_cursor_t json;
    int is_object;
    tg_str_t key; /* escaped body */
    tg_str_t value;
} tg_schema_entries_t;

void tg_schema_entries_init(tg_schema_entries_t *entries, tg_str_t raw);
/* Is there a next one?  Moves to it. */
int tg_schema_entries_next(tg_schema_entries_t *entries);

/* How many there are. */
size_t tg_schema_count_entries(tg_str_t raw);

/* NULL when the format is not one of those that can be asserted. */
tg_schema_format_pt tg_schema_format_find(tg_str_t name);

/* The text of a built-in document, or nothing. */
tg_str_t tg_schema_meta_find(tg_str_t uri);
/* Likewise, of those before 2020-12. */
tg_str_t tg_schema_meta_find_old(tg_str_t uri);

/* The bits of a vocabulary, which a dialect requires or not; or 0. */
unsigned tg_schema_meta_get_vocabulary(tg_str_t uri, int is_required);

/* Finds out which nodes, and whether the root, notes are enough for. */
void tg_schema_prepare_fast_path(tg_schema_t *schema,
                                 tg_schema_node_t *const *nodes, size_t n);

uint64_t tg_schema_hash(tg_str_t text, uint64_t seed);

#endif
