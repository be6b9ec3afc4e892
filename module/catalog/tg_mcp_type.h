/*
 * Types of the members of MCP objects. Clients validate a response as a whole,
 * and reject all of it if one member has a wrong type.
 */
#ifndef TG_MCP_TYPE_H
#define TG_MCP_TYPE_H

#include "base/tg_json.h"

/*
 * A member of an MCP object; a list of members ends with an entry without a
 * name.
 */
typedef struct tg_mcp_member_s {
    const char *name;
    /* type check; NULL: an object with the given members */
    int (*is_valid)(tg_str_t raw);
    const struct tg_mcp_member_s *members;
    int is_required;
} tg_mcp_member_t;

/* Flags for the mistakes in an object. */
enum {
    TG_MCP_MEMBER_NULL = 1, /* a member is null */
    /* a member has a wrong type (other than null) */
    TG_MCP_MEMBER_WRONG_TYPE = 2,
    /* a required member is missing or invalid */
    TG_MCP_MEMBER_MISSING = 4
};

/*
 * Checks an object. Members that are not listed may have any value. Returns
 * TG_MCP_MEMBER_* flags, or 0 if the object is valid.
 */
int tg_mcp_members_check(tg_str_t object, const tg_mcp_member_t *members);

/*
 * Appends an object without its invalid members. Returns the flags that
 * tg_mcp_members_check() returns.
 */
int tg_mcp_members_write_valid(tg_buf_t *out, tg_str_t object,
                               const tg_mcp_member_t *members);

/* --- types --- */

int tg_mcp_is_string(tg_str_t raw);
int tg_mcp_is_number(tg_str_t raw);
int tg_mcp_is_boolean(tg_str_t raw);
int tg_mcp_is_object(tg_str_t raw);
int tg_mcp_is_string_array(tg_str_t raw);

/* Members of an icon. */
extern const tg_mcp_member_t tg_mcp_icon_members[];

/* Members of a content block's annotations. */
extern const tg_mcp_member_t tg_mcp_annotation_members[];

/* Checks for an array of valid icons, each with a `src`. */
int tg_mcp_is_icon_array(tg_str_t raw);

#endif
