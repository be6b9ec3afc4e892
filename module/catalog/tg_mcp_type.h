/*
 * The types that MCP gives to members of its objects.  Clients check an answer
 * as a whole, and reject all of it for one member of the wrong type.
 */
#ifndef TG_MCP_TYPE_H
#define TG_MCP_TYPE_H

#include "base/tg_json.h"

/* A member; the last one of a list has no name. */
typedef struct tg_mcp_member_s {
    const char *name;
    int (*is_valid)(tg_str_t raw); /* NULL: it is an object of members */
    const struct tg_mcp_member_s *members;
    int is_required;
} tg_mcp_member_t;

/* What is wrong in an object, a bit each. */
enum {
    TG_MCP_MEMBER_NULL = 1,       /* a member is null */
    TG_MCP_MEMBER_WRONG_TYPE = 2, /* a member has another wrong type */
    TG_MCP_MEMBER_MISSING = 4     /* a required member is not there, or wrong */
};

/*
 * Checks an object.  Members that are not listed may be anything.  Returns 0
 * if nothing is wrong, else TG_MCP_… bits.
 */
int tg_mcp_members_check(tg_str_t object, const tg_mcp_member_t *members);

/*
 * Appends an object without what is wrong in it.  Returns the same bits as the
 * check.
 */
int tg_mcp_members_write_valid(tg_buf_t *out, tg_str_t object,
                               const tg_mcp_member_t *members);

/* --- types --- */

int tg_mcp_is_string(tg_str_t raw);
int tg_mcp_is_number(tg_str_t raw);
int tg_mcp_is_boolean(tg_str_t raw);
int tg_mcp_is_object(tg_str_t raw);
int tg_mcp_is_string_array(tg_str_t raw);

/* An icon. */
extern const tg_mcp_member_t tg_mcp_icon_members[];

/* The annotations of a content block. */
extern const tg_mcp_member_t tg_mcp_annotation_members[];

/* An array of icons, each with a `src`. */
int tg_mcp_is_icon_array(tg_str_t raw);

#endif
