/*
 * Equality as JSON Schema has it: numbers by value, strings by their text,
 * objects in any order.  Recursion is as deep as JSON nests.
 */
#include "schema/tg_schema_run.h"

static int
tg_schema_same(int is_same)
{
    return is_same ? TG_OK : TG_BAD;
}

static int
tg_schema_equal_number(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    tg_number_t a, b;
    tg_str_t raw;

    raw = tg_schema_raw(run, p);
    tg_schema_pay(run, TG_SCHEMA_STEP_BYTES + 2 * raw.len);

    if (tg_str_eq(raw, value)) {
        return TG_OK;
    }

    return tg_schema_same(tg_number_parse(raw, &a) == TG_OK
                          && tg_number_parse(value, &b) == TG_OK
                          && tg_number_compare(&a, &b) == 0);
}

static int
tg_schema_equal_array(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    tg_schema_entries_t items;
    tg_schema_walk_t walk;
    int rc;

    tg_schema_entries(&items, value);
    tg_schema_walk_init(&walk, p);

    while ((rc = tg_schema_walk(run, &walk)) == TG_OK) {
        if (!tg_schema_entry(&items)) {
            return TG_BAD;
        }

        tg_schema_pay(run, TG_SCHEMA_STEP_BYTES + items.value.len);
        rc = tg_schema_equal(run, walk.value, items.value);

        if (rc != TG_OK) {
            return rc;
        }
    }

    return rc == TG_END ? tg_schema_same(!tg_schema_entry(&items)) : rc;
}

/*
 * Moves to the member of value that is called key; the search starts where
 * the last one ended, since both sides tend to have one order.
 */
static int
tg_schema_equal_find(tg_schema_run_t *run, tg_schema_entries_t *members,
                     tg_str_t value, tg_str_t key)
{
    int rounds;

    for (rounds = 0; rounds < 2; /* void */) {
        if (!tg_schema_entry(members)) {
            tg_schema_entries(members, value);
            rounds++;
            continue;
        }

        if (tg_schema_spend(run, 1) != TG_OK) {
            return TG_LIMIT;
        }

        tg_schema_pay(run, members->key.len + members->value.len);

        if (tg_json_body_eq(members->key, key)) {
            return TG_OK;
        }
    }

    return TG_BAD;
}

static int
tg_schema_equal_object(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    tg_schema_entries_t members;
    tg_schema_walk_t walk;
    int rc, is_same;
    size_t n;

    /* Its members are counted, too. */
    tg_schema_pay(run, 3 * TG_SCHEMA_STEP_BYTES + value.len);
    tg_schema_entries(&members, value);
    tg_schema_walk_init(&walk, p);
    is_same = 1;

    while ((rc = tg_schema_walk(run, &walk)) == TG_OK) {
        rc = tg_schema_equal_find(run, &members, value, walk.key);

        if (rc == TG_OK && is_same) {
            rc = tg_schema_equal(run, walk.value, members.value);
            is_same = rc == TG_OK;
            rc = rc == TG_BAD ? TG_OK : rc;
        }

        if (rc != TG_OK) {
            return rc;
        }
    }

    if (rc != TG_END) {
        return rc;
    }

    n = tg_schema_size(value);

    /* Known keys only, and more than there are: one came twice. */
    if (walk.index > n) {
        return tg_schema_refuse_twice(run, p, TG_STR_NONE);
    }

    return tg_schema_same(is_same && walk.index == n);
}

int
tg_schema_equal(tg_schema_run_t *run, const char *p, tg_str_t value)
{
    int rc;

    rc = tg_schema_spend(run, 1);

    if (rc != TG_OK) {
        return rc;
    }

    if (tg_schema_type_at(*p) != tg_schema_type_at(value.data[0])) {
        return TG_BAD;
    }

    switch (*p) {
    case '{':
        return tg_schema_equal_object(run, p, value);
    case '[':
        return tg_schema_equal_array(run, p, value);
    case '"':
        return tg_schema_same(tg_json_body_eq(
            tg_json_body(tg_schema_raw(run, p)), tg_json_body(value)));
    case 't':
    case 'f':
    case 'n':
        return tg_schema_same(*p == value.data[0]);
    default:
        return tg_schema_equal_number(run, p, value);
    }
}

static int tg_schema_hash_value(tg_schema_run_t *run, const char *p,
                                uint64_t *hash);

static uint64_t
tg_schema_mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 31)) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ (hash >> 29);
}

static int
tg_schema_hash_string(tg_schema_run_t *run, tg_str_t body, uint64_t *hash)
{
    tg_str_t text;
    int rc;

    tg_schema_pay(run, TG_SCHEMA_STEP_BYTES);
    rc = tg_schema_text(run, body, &text);

    if (rc == TG_OK) {
        *hash = tg_schema_hash(text, run->checker->seed);
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
    tg_schema_pay(run, TG_SCHEMA_STEP_BYTES);
    tg_schema_walk_init(&walk, p);

    for (;;) {
        name = sum;
        rc = tg_schema_walk(run, &walk);

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

        /* The order of members does not matter, that of elements does. */
        part = tg_schema_mix(name + part * 3);
        sum = is_object ? sum + part : part;
    }

    *hash = tg_schema_mix(sum);

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
        return tg_schema_hash_string(run, tg_json_body(tg_schema_raw(run, p)),
                                     hash);
    case 't':
    case 'f':
    case 'n':
        *hash = (unsigned char) *p;
        return TG_OK;
    default:
        tg_schema_pay(run,
                      TG_SCHEMA_STEP_BYTES + 2 * tg_schema_raw(run, p).len);

        /* Numbers out of range equal only their own text. */
        if (tg_number_parse(tg_schema_raw(run, p), &number) != TG_OK) {
            *hash = 1;
            return TG_OK;
        }

        *hash = tg_schema_mix(tg_number_hash(&number, run->checker->seed));
        return TG_OK;
    }
}

/* Looks for an equal one among the items that are in the table. */
static int
tg_schema_items_put(tg_schema_run_t *run, size_t i, size_t mask, size_t *equal)
{
    tg_schema_checker_t *checker;
    size_t slot, other;
    int rc;

    checker = run->checker;

    for (slot = (size_t) checker->items[i].hash & mask;
         checker->slots[slot] != 0; slot = (slot + 1) & mask)
    {
        other = checker->slots[slot] - 1;

        if (tg_schema_spend(run, 1) != TG_OK) {
            return TG_LIMIT;
        }

        if (checker->items[other].hash != checker->items[i].hash) {
            continue;
        }

        rc = tg_schema_equal(run, checker->items[i].at,
                             tg_schema_raw(run, checker->items[other].at));

        if (rc == TG_OK) {
            *equal = other;
            return TG_END;
        }

        if (rc != TG_BAD) {
            return rc;
        }
    }

    checker->slots[slot] = (uint32_t) i + 1;

    return TG_OK;
}

/*
 * The elements, or the keys, of a container.  Who takes the hash of a value
 * has passed it: the walk does not pass it again.
 */
static int
tg_schema_items_get(tg_schema_run_t *run, const char *at)
{
    tg_schema_checker_t *checker;
    tg_schema_walk_t walk;
    tg_schema_item_t *item;
    int rc;

    checker = run->checker;
    checker->n_items = 0;
    tg_schema_walk_init(&walk, at);

    while ((rc = tg_schema_walk(run, &walk)) == TG_OK) {
        if (checker->n_items == TG_SCHEMA_ITEMS) {
            return tg_schema_refuse_limit(run,
                                          "more values than can be compared "
                                          "with each other (262144); send "
                                          "fewer");
        }

        if (tg_schema_grow(checker->alloc, &checker->items, &checker->cap_items,
                           checker->n_items + 1, sizeof(*checker->items))
            != TG_OK)
        {
            return TG_NOMEM;
        }

        item = &checker->items[checker->n_items++];
        item->at = *at == '{' ? walk.key.data - 1 : walk.value;
        rc = tg_schema_spend(run, 4);

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
tg_schema_find_same(tg_schema_run_t *run, const char *at,
                    tg_schema_same_t *same)
{
    tg_schema_checker_t *checker;
    size_t i, slots;
    int rc;

    checker = run->checker;
    rc = tg_schema_items_get(run, at);

    for (slots = 16; slots < checker->n_items * 2; slots *= 2) {
        /* void */
    }

    if (rc == TG_OK) {
        rc = tg_schema_grow(checker->alloc, &checker->slots,
                            &checker->cap_slots, slots,
                            sizeof(*checker->slots));
    }

    if (rc != TG_OK) {
        return rc;
    }

    memset(checker->slots, 0, slots * sizeof(*checker->slots));

    for (i = 0; rc == TG_OK && i < checker->n_items; i++) {
        rc = tg_schema_items_put(run, i, slots - 1, &same->first);
    }

    if (rc == TG_END) {
        same->second = i - 1;
        same->at = checker->items[i - 1].at;
    }

    return rc;
}
