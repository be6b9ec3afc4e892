/* Memory arena and name sets of a compiled schema. */
#include "schema/tg_schema_node.h"

#define TG_SCHEMA_ARENA_CHUNK_SIZE 8192
#define TG_SCHEMA_ARENA_ALIGN 16

/* Linear search is faster than a hash for so few names. */
#define TG_SCHEMA_NAMES_LINEAR_MAX 6

struct tg_schema_chunk_s {
    tg_schema_chunk_t *next;
    size_t size; /* including this header */
};

#define TG_SCHEMA_ARENA_CHUNK_HEADER                                           \
    ((sizeof(tg_schema_chunk_t) + TG_SCHEMA_ARENA_ALIGN - 1)                   \
     & ~(size_t) (TG_SCHEMA_ARENA_ALIGN - 1))

int
tg_schema_memory_reserve(tg_schema_memory_limit_t *memory, size_t size)
{
    if (memory == NULL) {
        return TG_OK;
    }

    if (memory->left < size) {
        memory->is_exceeded = 1;
        return TG_NOMEM;
    }

    memory->left -= size;

    return TG_OK;
}

void *
tg_schema_arena_alloc(tg_schema_arena_t *arena, size_t size)
{
    tg_schema_chunk_t *chunk;
    size_t room;

    size = (size + TG_SCHEMA_ARENA_ALIGN - 1)
           & ~(size_t) (TG_SCHEMA_ARENA_ALIGN - 1);
    size = size != 0 ? size : TG_SCHEMA_ARENA_ALIGN;

    if (size > arena->left) {
        room = size > TG_SCHEMA_ARENA_CHUNK_SIZE / 4
                   ? size
                   : TG_SCHEMA_ARENA_CHUNK_SIZE;

        if (tg_schema_memory_reserve(arena->memory, room) != TG_OK) {
            return NULL;
        }

        chunk = tg_calloc(arena->alloc, TG_SCHEMA_ARENA_CHUNK_HEADER + room);

        if (chunk == NULL) {
            return NULL;
        }

        arena->size += room;
        chunk->size = TG_SCHEMA_ARENA_CHUNK_HEADER + room;

        /* Keep the current first chunk, which has free space, at the front. */
        if (room == size && arena->chunks != NULL) {
            chunk->next = arena->chunks->next;
            arena->chunks->next = chunk;
            return (char *) chunk + TG_SCHEMA_ARENA_CHUNK_HEADER;
        }

        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->left = room;
    }

    chunk = arena->chunks;
    arena->left -= size;

    return (char *) chunk + chunk->size - arena->left - size;
}

void
tg_schema_arena_deinit(tg_schema_arena_t *arena)
{
    tg_schema_chunk_t *chunk;

    while ((chunk = arena->chunks) != NULL) {
        arena->chunks = chunk->next;
        tg_free(arena->alloc, chunk);
    }

    arena->left = 0;
}

/* Returns 1 and the index, or 0 and the free hash slot. */
static int
tg_schema_names_lookup(const tg_schema_names_t *names, tg_str_t name,
                       uint64_t hash, uint32_t *index, uint32_t *slot)
{
    uint32_t i;

    if (names->mask == 0) {
        for (i = 0; i < names->n; i++) {
            if (tg_str_eq(names->list[i].name, name)) {
                *index = i;
                return 1;
            }
        }

        return 0;
    }

    for (i = (uint32_t) hash & names->mask; names->slots[i] != 0;
         i = (i + 1) & names->mask)
    {
        *index = names->slots[i] - 1;

        if (names->list[*index].hash == hash
            && tg_str_eq(names->list[*index].name, name))
        {
            return 1;
        }
    }

    *slot = i;

    return 0;
}

static int
tg_schema_names_grow(tg_schema_names_t *names, tg_schema_arena_t *arena)
{
    uint32_t cap, slots, i, index, slot;
    tg_schema_name_t *list;

    cap = names->cap != 0 ? names->cap * 2 : TG_SCHEMA_NAMES_LINEAR_MAX;
    list = tg_schema_arena_alloc(arena, cap * sizeof(*list));

    if (list == NULL) {
        return TG_NOMEM;
    }

    if (names->n != 0) {
        memcpy(list, names->list, names->n * sizeof(*list));
    }

    names->list = list;
    names->cap = cap;

    if (cap == TG_SCHEMA_NAMES_LINEAR_MAX) {
        return TG_OK;
    }

    for (slots = 16; slots < cap * 2; slots *= 2) {
        /* void */
    }

    names->slots = tg_schema_arena_alloc(arena, slots * sizeof(*names->slots));
    names->mask = slots - 1;

    if (names->slots == NULL) {
        return TG_NOMEM;
    }

    for (i = 0, slot = 0; i < names->n; i++) {
        list[i].hash = tg_hash_fast(0, list[i].name);
        (void) tg_schema_names_lookup(names, list[i].name, list[i].hash, &index,
                                      &slot);
        names->slots[slot] = i + 1;
    }

    return TG_OK;
}

int
tg_schema_names_add(tg_schema_names_t *names, tg_schema_arena_t *arena,
                    tg_str_t name, uint32_t *index)
{
    tg_schema_name_t *added;
    uint32_t slot;
    uint64_t hash;

    if (names->n == names->cap && tg_schema_names_grow(names, arena) != TG_OK) {
        return TG_NOMEM;
    }

    hash = names->mask != 0 ? tg_hash_fast(0, name) : 0;

    if (tg_schema_names_lookup(names, name, hash, index, &slot)) {
        return TG_OK;
    }

    *index = names->n++;
    added = &names->list[*index];
    memset(added, 0, sizeof(*added));
    added->name = name;
    added->hash = hash;

    if (names->mask != 0) {
        names->slots[slot] = *index + 1;
    }

    return TG_OK;
}

const tg_schema_name_t *
tg_schema_names_find_slow(const tg_schema_names_t *names, tg_str_t name,
                          uint32_t *hint)
{
    uint32_t index, slot;
    uint64_t hash;

    hash = names->mask != 0 ? tg_hash_fast(0, name) : 0;

    if (!tg_schema_names_lookup(names, name, hash, &index, &slot)) {
        return NULL;
    }

    *hint = index + 1;

    return &names->list[index];
}

const tg_schema_anchor_t *
tg_schema_anchor_find(const tg_schema_resource_t *resource, tg_str_t name)
{
    const tg_schema_anchor_t *anchor;

    for (anchor = resource->anchors; anchor != NULL; anchor = anchor->next) {
        if (tg_str_eq(anchor->name, name)) {
            break;
        }
    }

    return anchor;
}
