/*
 * What is checked before a handler runs: access, rate limits, schemas; and the
 * arguments that the handler reads.
 */
#ifndef _NGX_TG_CALL_CHECKS_H_INCLUDED_
#define _NGX_TG_CALL_CHECKS_H_INCLUDED_

#include "nginx/call/ngx_tg_call.h"

/* --- access --- */

/*
 * Reads the credentials of a connection's client, without groups. NGX_OK, or
 * NGX_DECLINED: not a Unix socket, or the kernel does not report them.
 */
ngx_int_t ngx_tg_connection_get_peer_cred(ngx_connection_t *c,
                                          ngx_tg_peer_cred_t *client);

/*
 * Returns the credentials of the session's client; NULL: unknown, as over TCP.
 */
const ngx_tg_peer_cred_t *ngx_tg_session_base_get_peer_cred(
    ngx_tg_session_base_t *base);

/*
 * Checks whether a client (NULL: unknown) may see and call an entry. The first
 * matching rule decides; the tool's rules come before the server's. Without a
 * matching rule access is allowed.
 */
ngx_uint_t ngx_tg_entry_is_allowed(const ngx_tg_srv_conf_t *scf,
                                   const tg_catalog_entry_t *entry,
                                   const ngx_tg_peer_cred_t *client);

/*
 * Returns the access rules of `toolgate.status` and the other tools for
 * operators: `others` (or NULL), then tool_status_allow, then `deny all`. NULL:
 * no memory.
 */
ngx_array_t *ngx_tg_conf_make_status_rules(ngx_conf_t *cf,
                                           const ngx_tg_srv_conf_t *scf,
                                           const ngx_array_t *others);

/*
 * Checks whether the session's client may see and call an entry: a callback of
 * tg_peer_ops_t.
 */
int ngx_tg_session_base_can_see(void *host, const tg_catalog_entry_t *entry);

/*
 * Checks whether the server's rules allow broadcasts to the session's client.
 */
ngx_uint_t ngx_tg_session_base_can_be_notified(ngx_tg_session_base_t *base);

/*
 * Checks whether the session's client may see what belongs to other clients, by
 * scf->see_all_rules.
 */
ngx_uint_t ngx_tg_session_base_can_see_all(ngx_tg_session_base_t *base);

/* --- limits, schemas, arguments --- */

/* The scope of a limit, and the names of its directives, for messages. */
typedef struct {
    const char *tools;
    const char *rate;
    const char *concurrency;
} ngx_tg_limit_scope_t;

/*
 * Gets the limits of a tool, from its own to the server's. Returns their
 * number; both arrays need 3 elements.
 */
ngx_uint_t ngx_tg_tool_get_limits(const ngx_tg_tool_t *tool,
                                  const ngx_tg_srv_conf_t *scf,
                                  const ngx_tg_limit_t **limits,
                                  ngx_tg_limit_scope_t *scopes);

/*
 * Counts a call in all its rates. NGX_OK, or NGX_BUSY: a rate is exceeded; text
 * (NUL-terminated) has the message, and call->rule the rule.
 */
ngx_int_t ngx_tg_call_take_rate(ngx_tg_call_t *call, u_char *text, size_t size);

/*
 * Compiles the schemas of an imported tool at its first call, and keeps a
 * reference to the output schema. Returns NULL, or the reason of a refusal: the
 * calls of one frame have compiled too much.
 */
const char *ngx_tg_call_prepare_schemas(ngx_tg_call_t *call);

/*
 * Validates the call's arguments with the tool's input schema, and inserts
 * defaults. TG_OK; TG_INVALID or TG_NOMEM: outcome is the failure, whose text
 * may be in scratch.
 */
int ngx_tg_call_validate_args(ngx_tg_call_t *call, tg_outcome_t *outcome,
                              tg_buf_t *scratch);

/*
 * Validates an outcome with the call's output schema. An invalid outcome
 * becomes a failure whose text is in scratch.
 */
void ngx_tg_call_validate_outcome(ngx_tg_call_t *call, tg_outcome_t *outcome,
                                  tg_buf_t *scratch);
/* Frees the worker's schema validator. */
void ngx_tg_schema_checker_exit(void);

/*
 * Returns the schema property that a variable's name means, so that the tool
 * uses the argument that was validated; NULL: the argument has the variable's
 * own name.
 */
const ngx_tg_arg_property_t *ngx_tg_tool_find_property(
    const ngx_tg_tool_t *tool, tg_str_t name);

/*
 * Finds a member of an object in the arguments, with an index of it (notes) or
 * NULL; returns as tg_json_index_get(). The lookup counts as steps of the
 * frame. TG_LIMIT: no steps are left, and the call fails once it evaluates its
 * values.
 */
int ngx_tg_call_lookup_arg(ngx_tg_call_t *call, const tg_json_index_t *notes,
                           tg_str_t object, tg_str_t name,
                           tg_json_member_t *note);

/*
 * Checks whether an argument counts as absent: a null does, where a variable
 * puts its text into a word, a URL, a header or the like, but not in responses
 * and not in logs.
 */
static ngx_inline ngx_uint_t
ngx_tg_call_is_arg_absent(const ngx_tg_call_t *call, tg_variable_type_t kind,
                          tg_str_t value)
{
    return kind == TG_VARIABLE_ARG && !call->has_nulls
           && call->base->ended_record == NULL
           && tg_json_type(value) == TG_JSON_NULL;
}

/*
 * Finds the argument that a path leads to, or its default in the schema.
 * note->value is raw, or absent.
 */
void ngx_tg_call_get_path_value(ngx_tg_call_t *call,
                                const ngx_tg_arg_path_t *path,
                                tg_json_member_t *note);

/*
 * Iterator over the elements of an array in the arguments. An absent array and
 * null have no elements; any other value is one element.
 */
typedef struct {
    tg_json_cursor_t json;
    tg_str_t single; /* the value, if it is not an array; else absent */
    unsigned is_integer:1;
} ngx_tg_arg_elements_t;

/* Starts the iteration over the elements of the argument that path leads to. */
void ngx_tg_call_begin_elements(ngx_tg_call_t *call,
                                const ngx_tg_arg_path_t *path,
                                ngx_tg_arg_elements_t *elements);
/* Sets call->element to the next element. Returns 0 after the last one. */
ngx_uint_t ngx_tg_call_next_element(ngx_tg_call_t *call,
                                    ngx_tg_arg_elements_t *elements);

#endif
