/* Type checks for the members of MCP objects. */
#include "catalog/tg_mcp_type.h"

static const tg_mcp_member_t *
tg_mcp_member_find(const tg_mcp_member_t *members, tg_str_t key)
{
    while (members->name != NULL
           && !tg_json_body_eq_text(key, tg_str_from_cstr(members->name)))
    {
        members++;
    }

    return members->name != NULL ? members : NULL;
}

/* Checks a member's value. Returns TG_MCP_MEMBER_* flags. */
static int
tg_mcp_member_check(const tg_mcp_member_t *member, tg_str_t value)
{
    if (tg_json_type(value) == TG_JSON_NULL) {
        return TG_MCP_MEMBER_NULL;
    }

    if (member->is_valid != NULL) {
        return member->is_valid(value) ? 0 : TG_MCP_MEMBER_WRONG_TYPE;
    }

    return tg_mcp_is_object(value)
               ? tg_mcp_members_check(value, member->members)
               : TG_MCP_MEMBER_WRONG_TYPE;
}

/* Checks that `found` has the bits of all required members. */
static int
tg_mcp_members_is_complete(const tg_mcp_member_t *members, unsigned found)
{
    unsigned i;

    for (i = 0; members[i].name != NULL; i++) {
        if (members[i].is_required && !(found & 1u << i)) {
            return 0;
        }
    }

    return 1;
}

int
tg_mcp_members_check(tg_str_t object, const tg_mcp_member_t *members)
{
    const tg_mcp_member_t *member;
    tg_str_t key, value;
    unsigned found;
    tg_json_cursor_t json;
    int bits, wrong;

    found = 0;
    wrong = 0;
    tg_json_iter_init_members(&json, object);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        member = tg_mcp_member_find(members, key);

        if (member != NULL) {
            bits = tg_mcp_member_check(member, value);
            found |= bits == 0 ? 1u << (member - members) : 0;
            wrong |= bits;
        }
    }

    return tg_mcp_members_is_complete(members, found)
               ? wrong
               : wrong | TG_MCP_MEMBER_MISSING;
}

int
tg_mcp_members_write_valid(tg_buf_t *out, tg_str_t object,
                           const tg_mcp_member_t *members)
{
    const tg_mcp_member_t *member;
    tg_str_t key, value;
    int bits, wrong;
    tg_json_cursor_t json;

    wrong = 0;
    tg_buf_append_char(out, '{');
    tg_json_iter_init_members(&json, object);

    while (tg_json_iter_next_member(&json, &key, &value)) {
        member = tg_mcp_member_find(members, key);
        bits = member != NULL ? tg_mcp_member_check(member, value) : 0;
        wrong |= bits;

        if (bits != 0 && (member->is_valid != NULL || !tg_mcp_is_object(value)))
        {
            continue;
        }

        tg_json_begin_raw_member(out, key);

        if (bits != 0) {
            (void) tg_mcp_members_write_valid(out, value, member->members);
        } else {
            tg_buf_append_str(out, value);
        }
    }

    tg_buf_append_char(out, '}');

    return wrong;
}

int
tg_mcp_is_string(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_STRING;
}

int
tg_mcp_is_number(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_NUMBER;
}

int
tg_mcp_is_boolean(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_TRUE
           || tg_json_type(raw) == TG_JSON_FALSE;
}

int
tg_mcp_is_object(tg_str_t raw)
{
    return tg_json_type(raw) == TG_JSON_OBJECT;
}

int
tg_mcp_is_array_of(tg_str_t raw, int (*is_valid)(tg_str_t raw))
{
    tg_json_cursor_t json;
    tg_str_t value;

    if (tg_json_type(raw) != TG_JSON_ARRAY) {
        return 0;
    }

    for (tg_json_iter_init(&json, raw); tg_json_iter_next(&json, &value);) {
        if (!is_valid(value)) {
            return 0;
        }
    }

    return 1;
}

static int
tg_mcp_is_string_array(tg_str_t raw)
{
    return tg_mcp_is_array_of(raw, tg_mcp_is_string);
}

static int
tg_mcp_is_theme(tg_str_t raw)
{
    return tg_json_string_eq(raw, TG_STR("light"))
           || tg_json_string_eq(raw, TG_STR("dark"));
}

const tg_mcp_member_t tg_mcp_icon_members[] = {
    { "src", tg_mcp_is_string, NULL, 1 },
    { "mimeType", tg_mcp_is_string, NULL, 0 },
    { "sizes", tg_mcp_is_string_array, NULL, 0 },
    { "theme", tg_mcp_is_theme, NULL, 0 },
    { NULL, NULL, NULL, 0 },
};

static int
tg_mcp_is_icon(tg_str_t raw)
{
    return tg_mcp_is_object(raw)
           && tg_mcp_members_check(raw, tg_mcp_icon_members) == 0;
}

int
tg_mcp_is_icon_array(tg_str_t raw)
{
    return tg_mcp_is_array_of(raw, tg_mcp_is_icon);
}

static int
tg_mcp_is_role(tg_str_t raw)
{
    return tg_json_string_eq(raw, TG_STR("user"))
           || tg_json_string_eq(raw, TG_STR("assistant"));
}

static int
tg_mcp_is_audience(tg_str_t raw)
{
    return tg_mcp_is_array_of(raw, tg_mcp_is_role);
}

/* Checks for a number from 0 to 1, in any notation. */
static int
tg_mcp_is_priority(tg_str_t raw)
{
    int64_t number;
    size_t i;

    if (!tg_mcp_is_number(raw)) {
        return 0;
    }

    if (tg_json_parse_int64(raw, &number) == TG_OK) {
        return number == 0 || number == 1;
    }

    /* Accept "0." and digits; a negative exponent makes the number smaller. */
    for (i = 0; i + 1 < raw.len && !tg_is_one_of(raw.data[i], "eE"); i++) {
        /* void */
    }

    return raw.data[0] == '0' && (i + 1 >= raw.len || raw.data[i + 1] == '-');
}

/* Returns the length of a matched format, where 0 is any digit, or 0. */
static size_t
tg_mcp_match_format(tg_str_t text, size_t at, const char *form)
{
    size_t i;

    for (i = 0; form[i] != '\0'; i++) {
        if (at + i >= text.len
            || (form[i] == '0' ? !tg_is_digit(text.data[at + i])
                               : text.data[at + i] != form[i]))
        {
            return 0;
        }
    }

    return i;
}

/* Checks for an ISO 8601 date, time and offset, which clients require. */
static int
tg_mcp_is_timestamp(tg_str_t raw)
{
    static const char form[] = "0000-00-00T00:00:00";
    tg_str_t text;
    size_t at;

    if (!tg_mcp_is_string(raw)) {
        return 0;
    }

    text = tg_json_string_body(raw);
    at = tg_mcp_match_format(text, 0, form);

    if (at != 0 && at < text.len && text.data[at] == '.') {
        for (at++; at < text.len && tg_is_digit(text.data[at]); at++) {
            /* void */
        }
    }

    if (at == 0) {
        return 0;
    }

    return (tg_mcp_match_format(text, at, "Z") == 1 && at + 1 == text.len)
           || ((tg_mcp_match_format(text, at, "+00:00") == 6
                || tg_mcp_match_format(text, at, "-00:00") == 6)
               && at + 6 == text.len);
}

const tg_mcp_member_t tg_mcp_annotation_members[] = {
    { "audience", tg_mcp_is_audience, NULL, 0 },
    { "priority", tg_mcp_is_priority, NULL, 0 },
    { "lastModified", tg_mcp_is_timestamp, NULL, 0 },
    { NULL, NULL, NULL, 0 },
};
