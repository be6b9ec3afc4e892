/*
 * Interface of handlers, which answer calls, and functions for directives.
 *
 * A handler is an NGINX module in a file of its own in handlers/, with its
 * directives, its configuration of a tool and its part of a call, and a row of
 * ngx_tg_handlers. No other file knows its name. Its directives have the
 * context NGX_STREAM_TOOL_CONF. Their conf is the configuration of one tool:
 * conf_size zeroed bytes, or the result of the module's create_srv_conf() if it
 * has one. The directive that chooses the handler calls
 * ngx_tg_conf_set_handler().
 */
#ifndef _NGX_TG_CONFIG_H_INCLUDED_
#define _NGX_TG_CONFIG_H_INCLUDED_

#include "nginx/ngx_tg.h"

/*
 * The calls of this handler may continue after ops->start returns: `timeout`,
 * `max_output` and `concurrency` apply, and the server needs a runner, which
 * keeps the call if its session moves to another worker.
 */
#define NGX_TG_HANDLER_IS_ASYNC 1
/*
 * The tools of this handler have a block of their own; the handler has no
 * directive in a `tool` block.
 */
#define NGX_TG_HANDLER_HAS_OWN_BLOCK 2
/* The output of this handler may be bytes: `output image` and the like. */
#define NGX_TG_HANDLER_OUTPUTS_BYTES 4
/*
 * Every server has a method of this handler's name, for clients that
 * tool_status_allow permits; the handler has no directive.
 */
#define NGX_TG_HANDLER_IS_BUILTIN 8
/* The calls of this handler may become tasks (`task`): ngx_tg_call_task(). */
#define NGX_TG_HANDLER_ALLOWS_TASK 16
/* Large results of this handler's tools may be stored: `preview`, `spill`. */
#define NGX_TG_HANDLER_ALLOWS_SPILL 32
/* The runner watches what this handler reads (`file_watch`). */
#define NGX_TG_HANDLER_READS_FILES 64
#define NGX_TG_HANDLER_HAS_NO_DIRECTIVE                                        \
    (NGX_TG_HANDLER_HAS_OWN_BLOCK | NGX_TG_HANDLER_IS_BUILTIN)

struct ngx_tg_handler_s {
    ngx_str_t name; /* name of its directive */
    ngx_module_t *module;
    size_t conf_size;
    ngx_uint_t flags;
    ngx_uint_t kinds; /* bits 1 << kind of its blocks; 0: all kinds */

    /*
     * Checks this handler's directives in a tool block that was read, whichever
     * handler the tool uses. Returns NULL, or the text that follows the tool's
     * name in the error message. May be NULL.
     */
    const char *(*check)(ngx_tg_tool_t *tool, void *conf);

    /*
     * Warns about the block of a valid tool of this handler, and rejects what
     * is not allowed. Returns NGX_OK, or NGX_ERROR after logging. May be NULL.
     */
    ngx_int_t (*lint)(ngx_conf_t *cf, ngx_tg_tool_t *tool, void *conf);

    /*
     * Returns the output type of a tool without an `output` directive. May be
     * NULL.
     */
    tg_output_type_t (*output)(ngx_tg_tool_t *tool, void *conf);

    /*
     * Adds further catalog entries to a server that was read, before it
     * inherits values. Returns NGX_OK, or NGX_ERROR after logging. May be NULL.
     */
    ngx_int_t (*add_entries)(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

    /*
     * Starts a call: ends it (ngx_tg_call_end()), or defers it beyond the
     * return (ngx_tg_call_defer()). Never blocks. The slices of request are
     * valid until it returns; memory from call->pool, until the call ends.
     */
    void (*start)(ngx_tg_call_t *call, tg_request_t *request);

    /*
     * Continues a deferred call in this worker as soon as `concurrency` allows
     * it, possibly within ngx_tg_call_defer(). The session may have moved to
     * another worker by then, so start must copy what it needs of the request.
     * NULL: the runner executes the calls (ngx_tg_call_start_remote()) and
     * applies their limits and deadlines.
     */
    void (*run)(ngx_tg_call_t *call);

    /*
     * Stops a running call whose client is gone or whose time is over. The call
     * is freed after the return. May be NULL.
     */
    void (*cancel)(ngx_tg_call_t *call);

    /*
     * Begins (is_on), or ends, to watch a resource for the sessions of this
     * worker; uri is plain text. The handler reports updates by
     * ngx_tg_resource_notify_updated(). NULL: the `watch` directive decides.
     */
    void (*watch)(const ngx_tg_srv_conf_t *scf, tg_str_t uri, ngx_uint_t is_on);

    /*
     * Checks whether watch would have an effect for this resource, and does
     * nothing else. Not NULL if watch is not NULL.
     */
    ngx_uint_t (*can_watch)(const tg_catalog_entry_t *entry, tg_str_t uri);

    /*
     * Checks the configuration after all of it is read and the runners' paths
     * are known. Returns NGX_OK, or NGX_ERROR after logging. May be NULL.
     */
    ngx_int_t (*finalize_config)(ngx_cycle_t *cycle);

    /*
     * Handles the end of a client that had a token
     * (ngx_tg_session_base_get_token()). Not called if the session moves to
     * another worker. May be NULL.
     */
    void (*on_client_gone)(ngx_tg_session_base_t *base);

    /*
     * Appends members about a server to the result of `toolgate.status`, each
     * after a comma. May be NULL.
     */
    void (*write_status)(const ngx_tg_srv_conf_t *scf, tg_buf_t *json);
};

/*
 * Initializer of a module: its functions, its directives, and functions for the
 * start and end of processes, such as `.init_process = f`.
 */
#define NGX_TG_MODULE_OF(module_type, module_ctx, ...)                         \
    {                                                                          \
        NGX_MODULE_V1, .ctx = &(module_ctx), .type = (module_type),            \
                       .commands = __VA_ARGS__                                 \
    }
#define NGX_TG_MODULE(module_ctx, ...)                                         \
    NGX_TG_MODULE_OF(NGX_STREAM_MODULE, module_ctx, __VA_ARGS__)
#define NGX_TG_HANDLER_MODULE(handler_commands)                                \
    NGX_TG_MODULE(ngx_tg_handler_module_ctx, handler_commands)
extern ngx_stream_module_t ngx_tg_handler_module_ctx;

/* All handlers, NULL-terminated. */
extern const ngx_tg_handler_t *const ngx_tg_handlers[];

/*
 * Sets the handler of the current tool; called by the directive that chooses
 * it. Returns NGX_CONF_OK, or an error if the tool already has a handler.
 */
char *ngx_tg_conf_set_handler(ngx_conf_t *cf, const ngx_tg_handler_t *handler);

/*
 * Inheritance of a handler's directives. inherit() copies values that own
 * leaves unset from `from`; tool is NULL for the configuration of a server.
 * check_inherited() returns NULL, or the text that follows the tool's name in
 * the error message; it may be NULL.
 */
typedef struct {
    void (*inherit)(const ngx_tg_tool_t *tool, void *own, const void *from);
    const char *(*check_inherited)(const void *own);
} ngx_tg_inheritance_t;

/*
 * Inherits a handler's directives after a server was read: the server (child)
 * from the level above (parent), and each tool of this handler from the server.
 * Returns NGX_CONF_OK, or NGX_CONF_ERROR after logging.
 */
char *ngx_tg_conf_inherit(ngx_conf_t *cf, const ngx_tg_handler_t *handler,
                          const ngx_tg_inheritance_t *inheritance,
                          const void *parent, void *child);

/* --- tool blocks, for handlers with a block of their own --- */

/*
 * Returns the server's catalog, which it creates at the first call. Returns
 * NULL after logging an error.
 */
tg_catalog_t *ngx_tg_server_ensure_catalog(ngx_conf_t *cf,
                                           ngx_tg_srv_conf_t *scf);

/*
 * Adds the methods that every server has, with these rules. Returns NGX_OK or
 * NGX_ERROR.
 */
ngx_int_t ngx_tg_server_add_builtin_methods(ngx_conf_t *cf,
                                            ngx_tg_srv_conf_t *scf,
                                            ngx_array_t *rules);

/*
 * Adds the further catalog entries of all handlers (add_entries). Returns
 * NGX_OK or NGX_ERROR.
 */
ngx_int_t ngx_tg_server_add_handler_entries(ngx_conf_t *cf,
                                            ngx_tg_srv_conf_t *scf);

/* Creates a tool with unset values. Returns NULL if there is no memory. */
ngx_tg_tool_t *ngx_tg_tool_create(ngx_conf_t *cf, tg_catalog_entry_type_t kind,
                                  ngx_str_t *name);

/*
 * Returns the array of configurations for a block: a copy of the array of the
 * block around it, in which the module's entry is conf. Returns NULL if there
 * is no memory.
 */
void **ngx_tg_conf_create_array(ngx_conf_t *cf, const ngx_module_t *module,
                                void *conf);

/* Reads a block with directives of this context. */
char *ngx_tg_conf_read_block(ngx_conf_t *cf, ngx_uint_t type, void **confs);

/*
 * Reads and checks a tool's block, including the directives of handlers. kind
 * and name are for error messages.
 */
char *ngx_tg_tool_read_block(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                             ngx_str_t *kind, ngx_str_t *name);

/*
 * Sets the output limits that a tool leaves unset. Returns NGX_OK, or NGX_ERROR
 * after logging.
 */
ngx_int_t ngx_tg_tool_init_output(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                                  ngx_tg_tool_t *tool);

/*
 * Checks the `task` directive of a tool with a handler. Returns NULL, or the
 * text that follows the tool's name in the error message.
 */
const char *ngx_tg_tool_task_check(const ngx_tg_tool_t *tool);

/*
 * Checks that a tool's other directives suit its `output`. Returns NULL, or the
 * text that follows the tool's name in the error message.
 */
const char *ngx_tg_tool_output_check(const ngx_tg_tool_t *tool);

/* Returns the tool whose block is being read. */
ngx_tg_tool_t *ngx_tg_conf_get_tool(ngx_conf_t *cf);

/*
 * Determines the full, NUL-terminated path of a program, given as a path or as
 * a name to search for. Whether the workers' user may execute the program is
 * checked after all of the config is read. Returns NGX_OK, or NGX_ERROR after
 * logging.
 */
ngx_int_t ngx_tg_conf_resolve_program(ngx_conf_t *cf, ngx_str_t *name,
                                      ngx_str_t *path);

/*
 * Checks whether the runner can load a library that the current directive
 * needs; package is the package to install. Returns NGX_OK, or NGX_ERROR after
 * logging.
 */
ngx_int_t ngx_tg_conf_check_library(ngx_conf_t *cf, const char *file,
                                    const char *package);

/*
 * Requires that the workers' user can access a file or folder in this mode.
 * Returns NGX_OK, or NGX_ERROR if there is no memory.
 */
ngx_int_t ngx_tg_conf_require_file(ngx_conf_t *cf, ngx_str_t *path,
                                   ngx_tg_access_mode_t access_mode);

/*
 * Reads a file with a secret, without the line ends at its end; path becomes
 * the full path. Returns NGX_OK; NGX_ERROR after logging; NGX_DECLINED if the
 * text is empty, too long, not UTF-8 or contains a NUL.
 */
ngx_int_t ngx_tg_secret_file_read(ngx_conf_t *cf, ngx_str_t *path,
                                  ngx_str_t *text, ngx_file_info_t *fi);

/*
 * Reads the secret of an argument `file=PATH` or `credential=NAME`; only the
 * file's owner may have access. Returns NGX_OK; NGX_DECLINED if word is
 * neither; NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_secret_arg_read(ngx_conf_t *cf, const ngx_str_t *word,
                                 ngx_str_t *text);

/*
 * Reads a whole file of at most 1 MiB. name becomes its full path, text is
 * NUL-terminated, and fi describes the file that was read. Returns NGX_OK, or
 * NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_conf_read_file(ngx_conf_t *cf, ngx_str_t *name,
                                ngx_str_t *text, ngx_file_info_t *fi);

/*
 * Copies a buffer to the config's pool, NUL-terminated. Returns NGX_OK, or
 * NGX_ERROR if the buffer has failed or there is no memory.
 */
ngx_int_t ngx_tg_conf_copy_buf(ngx_conf_t *cf, const tg_buf_t *buf,
                               ngx_str_t *text);

/*
 * Checks the JSON of a directive, or of a file that the directive names (file
 * is not NULL). Returns NGX_OK, or NGX_ERROR after logging the error and its
 * line.
 */
ngx_int_t ngx_tg_conf_check_json(ngx_conf_t *cf, ngx_str_t *directive,
                                 const ngx_str_t *file, const ngx_str_t *text);

/*
 * Parses the last argument of a directive as JSON, and sets json to a compact
 * copy. Returns NGX_OK, or NGX_ERROR after logging the error and its line.
 */
ngx_int_t ngx_tg_conf_parse_json(ngx_conf_t *cf, ngx_str_t *directive,
                                 const ngx_str_t *text, tg_str_t *json);

/*
 * Reads a schema from a file, with the files in the same folder that it refers
 * to. Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_conf_read_json_file(ngx_conf_t *cf, ngx_str_t *directive,
                                     ngx_str_t *path, tg_str_t *json);

/*
 * Compiles a value with variables, and records its file and line for the error
 * message about an unknown variable. Returns NGX_OK, or NGX_ERROR after
 * logging.
 */
ngx_int_t ngx_tg_value_compile(ngx_conf_t *cf, ngx_str_t *text,
                               ngx_stream_complex_value_t *value);
/*
 * Compiles a value with variables in memory of the config's pool. Returns NULL
 * after logging an error.
 */
ngx_stream_complex_value_t *ngx_tg_value_compile_new(ngx_conf_t *cf,
                                                     ngx_str_t *text);

/*
 * Compiles a value that is evaluated once for each element of an array. *each
 * becomes the path to the array, NULL if the text names none. If *each is not
 * NULL, it is the array that earlier values used, and the text must use it too.
 * Returns NGX_OK, or NGX_ERROR after logging.
 */
ngx_int_t ngx_tg_value_compile_for_elements(ngx_conf_t *cf, ngx_str_t *text,
                                            ngx_stream_complex_value_t *value,
                                            ngx_tg_arg_path_t **each);

/* Checks whether a text contains variables. `$$` is a plain dollar. */
ngx_uint_t ngx_tg_text_has_variables(const ngx_str_t *text);

/* Replaces each `$$` with a dollar. Returns NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_unescape_dollars(ngx_conf_t *cf, ngx_str_t *text);

/*
 * Creates the path to the argument that a variable names. Returns NULL after
 * logging if the name is invalid, or if there is no memory.
 */
ngx_tg_arg_path_t *ngx_tg_arg_path_create(ngx_conf_t *cf, tg_str_t name);

/*
 * Adds a variable for the value at a path. Returns its name, or an empty string
 * if there is no memory.
 */
ngx_str_t ngx_tg_arg_path_add_variable(ngx_conf_t *cf, ngx_tg_arg_path_t *path);

/*
 * Sets a property's default value and number types from its schema, which is
 * within the schema root.
 */
void ngx_tg_arg_property_init(ngx_tg_arg_property_t *property, tg_str_t root,
                              tg_str_t schema);

/*
 * Resolves the argument paths of a tool's values against its schema, after its
 * block is read. Returns NGX_OK, or NGX_ERROR after logging if the schema does
 * not declare a property.
 */
ngx_int_t ngx_tg_tool_resolve_arg_paths(ngx_conf_t *cf, ngx_tg_tool_t *tool);

/*
 * Returns the probable error in a directive with too many or too few arguments,
 * of which it needs `least`.
 */
const char *ngx_tg_hint_explain_arg_count(const ngx_array_t *args,
                                          ngx_uint_t is_block,
                                          ngx_uint_t least);

/* --- lint: warnings, each with a remedy --- */

/*
 * Marks the value that was compiled last as a word of a program's command line.
 */
void ngx_tg_value_mark_as_word(ngx_conf_t *cf,
                               ngx_stream_complex_value_t *value,
                               ngx_uint_t is_conditional);

/* Warns about a word of a program that only a shell would interpret. */
void ngx_tg_lint_program_word(ngx_conf_t *cf, ngx_str_t *word,
                              const ngx_str_t *program);

/*
 * Warns about suspicious parts of a schema, which is valid JSON. Returns
 * NGX_OK, or NGX_ERROR if there is no memory.
 */
ngx_int_t ngx_tg_lint_schema(ngx_conf_t *cf, ngx_str_t *directive,
                             tg_str_t schema);

/* Warns about parts of a tool's schema that agents or models' APIs reject. */
ngx_int_t ngx_tg_lint_listed_schema(ngx_conf_t *cf, ngx_str_t *directive,
                                    ngx_uint_t is_input, tg_str_t schema);
/*
 * Warns if an argument is the name of a directive at the start of a line: the
 * ";" before it is probably missing.
 */
void ngx_tg_lint_missing_semicolon(ngx_conf_t *cf);

/* Logs what was probably meant, after NGINX rejected a directive of a block. */
void ngx_tg_log_error_hint(ngx_conf_t *cf);

/*
 * Arranges that such a hint is logged for a server's directives as well, if the
 * stream block fails before the ctx of the returned copy becomes NULL. Returns
 * NULL if there is no memory.
 */
ngx_conf_t *ngx_tg_start_error_hints(ngx_conf_t *cf);
/* Warns about suspicious annotations of a tool, which are valid JSON. */
void ngx_tg_lint_annotations(ngx_conf_t *cf, tg_str_t annotations);

/*
 * Warns about a tool without a description, and checks the arguments that the
 * values in its block use; first is the index of the block's first value in
 * value_sources. Returns NGX_OK, or NGX_ERROR after logging a value that is
 * always empty because the schema forbids its argument.
 */
ngx_int_t ngx_tg_lint_tool(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                           ngx_uint_t first);

#endif
