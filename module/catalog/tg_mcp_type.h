/*
 * Types of the members of MCP objects. Clients reject a whole response if one
 * member has a wrong type.
 */
#ifndef TG_MCP_TYPE_H
#define TG_MCP_TYPE_H

#include "base/tg_json.h"

/* A member of an MCP object; the last one of a list has no name. */
typedef struct tg_mcp_member_s {
    const char *name;
    /* type check; NULL: an object with the given members */
    int (*is_valid)(tg_str_t raw);
    const struct tg_mcp_member_s *members;
    int is_required;
} tg_mcp_member_t;

enum {
    TG_MCP_MEMBER_NULL = 1, /* a member is null */
    /* a member has a wrong type (other than null) */
    TG_MCP_MEMBER_WRONG_TYPE = 2,
    /* a required member is missing or invalid */
    TG_MCP_MEMBER_MISSING = 4
};

/* Checks the listed members of an object. Returns TG_MCP_MEMBER_* flags. */
int tg_mcp_members_check(tg_str_t object, const tg_mcp_member_t *members);

/* Appends an object without its invalid members. Returns their flags. */
int tg_mcp_members_write_valid(tg_buf_t *out, tg_str_t object,
                               const tg_mcp_member_t *members);

int tg_mcp_is_string(tg_str_t raw);
int tg_mcp_is_number(tg_str_t raw);
int tg_mcp_is_boolean(tg_str_t raw);
int tg_mcp_is_object(tg_str_t raw);
int tg_mcp_is_array_of(tg_str_t raw, int (*is_valid)(tg_str_t raw));

extern const tg_mcp_member_t tg_mcp_icon_members[];

extern const tg_mcp_member_t tg_mcp_annotation_members[];

/* Checks for valid icons, each with a `src`. */
int tg_mcp_is_icon_array(tg_str_t raw);

#endif
