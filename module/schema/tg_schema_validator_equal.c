/*
 * Equality of JSON Schema: numbers are compared by value, strings decoded,
 * objects in any order. The recursion is as deep as the JSON nests.
 */
#include "schema/tg_schema_validator.h"

static int
tg_schema_equal_to_code(int is_same)
{
    return is_same ? TG_OK : TG_INVALID;
}

static int
tg_schema_equal_number(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    tg_number_t a, b;
    tg_str_t raw;

    raw = tg_schema_get_raw(run, p);
    tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP + 2 * raw.len);

    if (tg_str_eq(raw, value)) {
        return TG_OK;
    }

    return tg_schema_equal_to_code(tg_number_parse(raw, &a) == TG_OK
                                   && tg_number_parse(value, &b) == TG_OK
                                   && tg_number_compare(&a, &b) == 0);
}

static int
tg_schema_equal_array(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    tg_schema_entries_t items;
    tg_schema_walk_t walk;
    int rc;

    tg_schema_entries_init(&items, value);
    tg_schema_walk_init(&walk, p);

    while ((rc = tg_schema_walk_next(run, &walk)) == TG_OK) {
        if (!tg_schema_entries_next(&items)) {
            return TG_INVALID;
        }

        tg_schema_run_spend_bytes(run,
                                  TG_SCHEMA_BYTES_PER_STEP + items.value.len);
        rc = tg_schema_equal(run, walk.value, items.value);

        if (rc != TG_OK) {
            return rc;
        }
    }

    return rc == TG_END
               ? tg_schema_equal_to_code(!tg_schema_entries_next(&items))
               : rc;
}

/* Continues where the last search ended: the order is usually the same. */
static int
tg_schema_equal_find_member(tg_schema_run_t *run, tg_schema_entries_t *members,
                            tg_str_t value, tg_str_t key)
{
    int rounds;

    for (rounds = 0; rounds < 2; /* void */) {
        if (!tg_schema_entries_next(members)) {
            tg_schema_entries_init(members, value);
            rounds++;
            continue;
        }

        if (tg_schema_run_spend(run, 1) != TG_OK) {
            return TG_LIMIT;
        }

        tg_schema_run_spend_bytes(run, members->key.len + members->value.len);

        if (tg_json_body_eq(members->key, key)) {
            return TG_OK;
        }
    }

    return TG_INVALID;
}

static int
tg_schema_equal_object(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    tg_schema_entries_t members;
    tg_schema_walk_t walk;
    int rc, is_same;
    size_t n;

    /* The cost includes counting the members. */
    tg_schema_run_spend_bytes(run, 3 * TG_SCHEMA_BYTES_PER_STEP + value.len);
    tg_schema_entries_init(&members, value);
    tg_schema_walk_init(&walk, p);
    is_same = 1;

    while ((rc = tg_schema_walk_next(run, &walk)) == TG_OK) {
        rc = tg_schema_equal_find_member(run, &members, value, walk.key);

        if (rc == TG_OK && is_same) {
            rc = tg_schema_equal(run, walk.value, members.value);
            is_same = rc == TG_OK;
            rc = rc == TG_INVALID ? TG_OK : rc;
        }

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    n = tg_schema_count_entries(value);

    /* All keys are known, so a surplus one is a duplicate. */
    if (walk.index > n) {
        return tg_schema_fail_duplicate_key(run, p, TG_STR_NONE);
    }

    return tg_schema_equal_to_code(is_same && walk.index == n);
}

int
tg_schema_equal(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    int rc;

    rc = tg_schema_run_spend(run, 1);

    if (rc != TG_OK) {
        return rc;
    }

    if (tg_schema_type_of_char(*p) != tg_schema_type_of_char(value.data[0])) {
        return TG_INVALID;
    }

    switch (*p) {
    case '{':
        return tg_schema_equal_object(run, p, value);
    case '[':
        return tg_schema_equal_array(run, p, value);
    case '"':
        return tg_schema_equal_to_code(
            tg_json_body_eq(tg_json_string_body(tg_schema_get_raw(run, p)),
                            tg_json_string_body(value)));
    case 't':
    case 'f':
    case 'n':
        return tg_schema_equal_to_code(*p == value.data[0]);
    default:
        return tg_schema_equal_number(run, p, value);
    }
}

static int tg_schema_hash_value(tg_schema_run_t *run, const char *p,
                                uint64_t *hash);

static uint64_t
tg_schema_hash_finish(uint64_t hash)
{
    hash = (hash ^ (hash >> 31)) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ (hash >> 29);
}

static int
tg_schema_hash_string(tg_schema_run_t *run, tg_str_t body, uint64_t *hash)
{
    tg_str_t text;
    int rc;

    tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP);
    rc = tg_schema_run_unescape(run, body, &text);

    if (rc == TG_OK) {
        *hash = tg_hash_fast(run->validator->seed, text);
    }

    return rc;
}

static int
tg_schema_hash_container(tg_schema_run_t *run, const char *p, uint64_t *hash)
{
    tg_schema_walk_t walk;
    uint64_t sum, part, name;
    int is_object, rc;

    is_object = *p == '{';
    sum = (unsigned char) *p;
    tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP);
    tg_schema_walk_init(&walk, p);

    for (;;) {
        name = sum;
        rc = tg_schema_walk_next(run, &walk);

        if (rc != TG_OK) {
            break;
        }

        if (is_object) {
            rc = tg_schema_hash_string(run, walk.key, &name);
        }

        if (rc == TG_OK) {
            rc = tg_schema_hash_value(run, walk.value, &part);
        }

        if (rc != TG_OK) {
            return rc;
        }

        /* A sum: the order of an object's members does not matter. */
        part = tg_schema_hash_finish(name + part * 3);
        sum = is_object ? sum + part : part;
    }

    *hash = tg_schema_hash_finish(sum);

    return rc == TG_END ? TG_OK : rc;
}

static int
tg_schema_hash_value(tg_schema_run_t *run, const char *p, uint64_t *hash)
{
    tg_number_t number;

    switch (*p) {
    case '{':
    case '[':
        return tg_schema_hash_container(run, p, hash);
    case '"':
        return tg_schema_hash_string(
            run, tg_json_string_body(tg_schema_get_raw(run, p)), hash);
    case 't':
    case 'f':
    case 'n':
        *hash = (unsigned char) *p;
        return TG_OK;
    default:
        tg_schema_run_spend_bytes(run, TG_SCHEMA_BYTES_PER_STEP
                                           + 2 * tg_schema_get_raw(run, p).len);

        /* A number out of range is only equal to the same text. */
        if (tg_number_parse(tg_schema_get_raw(run, p), &number) != TG_OK) {
            *hash = 1;
            return TG_OK;
        }

        *hash = tg_schema_hash_finish(
            tg_number_hash(&number, run->validator->seed));
        return TG_OK;
    }
}

/* Inserts item i. TG_END: there is an equal item, with the index *equal. */
static int
tg_schema_items_insert(tg_schema_run_t *run, size_t i, size_t mask,
                       size_t *equal)
{
    tg_schema_validator_t *validator;
    size_t slot, other;
    int rc;

    validator = run->validator;

    for (slot = (size_t) validator->items[i].hash & mask;
         validator->slots[slot] != 0; slot = (slot + 1) & mask)
    {
        other = validator->slots[slot] - 1;

        if (tg_schema_run_spend(run, 1) != TG_OK) {
            return TG_LIMIT;
        }

        if (validator->items[other].hash != validator->items[i].hash) {
            continue;
        }

        rc = tg_schema_equal(run, validator->items[i].at,
                             tg_schema_get_raw(run,
                                               validator->items[other].at));

        if (rc == TG_OK) {
            *equal = other;
            return TG_END;
        }

        if (rc != TG_INVALID) {
            return rc;
        }
    }

    validator->slots[slot] = (uint32_t) i + 1;

    return TG_OK;
}

/* Hashing stores the end of each value, so the walk need not read again. */
static int
tg_schema_items_collect(tg_schema_run_t *run, const char *at)
{
    tg_schema_validator_t *validator;
    tg_schema_walk_t walk;
    tg_schema_hashed_item_t *item;
    int rc;

    validator = run->validator;
    validator->n_items = 0;
    tg_schema_walk_init(&walk, at);

    while ((rc = tg_schema_walk_next(run, &walk)) == TG_OK) {
        if (validator->n_items == TG_SCHEMA_MAX_UNIQUE_ITEMS) {
            return tg_schema_fail_limit(run, "more values than can be compared "
                                             "with each other (262144); send "
                                             "fewer");
        }

        if (tg_schema_grow_array(validator->alloc, &validator->items,
                                 &validator->cap_items, validator->n_items + 1,
                                 sizeof(*validator->items))
            != TG_OK)
        {
            return TG_NOMEM;
        }

        item = &validator->items[validator->n_items++];
        item->at = *at == '{' ? walk.key.data - 1 : walk.value;
        rc = tg_schema_run_spend(run, 4);

        if (rc == TG_OK) {
            rc = tg_schema_hash_value(run, item->at, &item->hash);
        }

        if (rc != TG_OK) {
            return rc;
        }
    }

    return rc == TG_END ? TG_OK : rc;
}

int
tg_schema_find_duplicate(tg_schema_run_t *run, const char *at,
                         tg_schema_duplicate_t *same)
{
    tg_schema_validator_t *validator;
    size_t i, slots;
    int rc;

    validator = run->validator;
    rc = tg_schema_items_collect(run, at);

    for (slots = 16; slots < validator->n_items * 2; slots *= 2) {
        /* void */
    }

    if (rc == TG_OK) {
        rc = tg_schema_grow_array(validator->alloc, &validator->slots,
                                  &validator->cap_slots, slots,
                                  sizeof(*validator->slots));
    }

    if (rc != TG_OK) {
        return rc;
    }

    memset(validator->slots, 0, slots * sizeof(*validator->slots));

    for (i = 0; rc == TG_OK && i < validator->n_items; i++) {
        rc = tg_schema_items_insert(run, i, slots - 1, &same->first);
    }

    if (rc == TG_END) {
        same->second = i - 1;
        same->at = validator->items[i - 1].at;
    }

    return rc;
}
