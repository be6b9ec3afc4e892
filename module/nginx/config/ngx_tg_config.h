/*
 * What answers a call: a handler is an NGINX module in a file of its own in
 * handlers/, with its directives, its configuration of a tool and its part
 * of a call, and a row of ngx_tg_handlers.  Nobody else knows its name.
 *
 * Its directives have the context NGX_STREAM_TOOL_CONF, and get as their conf
 * the configuration of one tool: conf_size bytes, zeroed, or what its module
 * makes for a server, where there are such directives, too.  The one that
 * chooses the handler calls ngx_tg_conf_set_handler().
 */
#ifndef _NGX_TG_CONFIG_H_INCLUDED_
#define _NGX_TG_CONFIG_H_INCLUDED_

#include "nginx/ngx_tg.h"

/*
 * Its calls may outlast ops->start: timeout, max_output and concurrency mean
 * something, and the server has a runner, where such a call can be met again
 * when its session changes its worker.
 */
#define NGX_TG_HANDLER_IS_ASYNC 1
/* Its tools come with a block of its own: no tool's block names it. */
#define NGX_TG_HANDLER_HAS_OWN_BLOCK 2
/* What it puts out may be bytes: `output image` and the like. */
#define NGX_TG_HANDLER_OUTPUTS_BYTES 4
/*
 * Every server has a method of its name, for those whom tool_status_allow
 * names; no block names it.
 */
#define NGX_TG_HANDLER_IS_BUILTIN 8
/* Its calls may become tasks (`task`): ngx_tg_call_task(). */
#define NGX_TG_HANDLER_ALLOWS_TASK 16
/* Large results of its tools may be stored: `preview`, `spill`. */
#define NGX_TG_HANDLER_ALLOWS_SPILL 32
#define NGX_TG_HANDLER_HAS_NO_DIRECTIVE                                        \
    (NGX_TG_HANDLER_HAS_OWN_BLOCK | NGX_TG_HANDLER_IS_BUILTIN)

struct ngx_tg_handler_s {
    ngx_str_t name; /* its directive */
    ngx_module_t *module;
    size_t conf_size;
    ngx_uint_t flags;

    /*
     * A tool's block was read whole, whichever handler it has: NULL, or what
     * is wrong with this one's directives and what to write.  May be NULL.
     */
    const char *(*check)(ngx_tg_tool_t *tool, void *conf);

    /*
     * Its block was read, and nothing is wrong: what it warns of, or what
     * cannot be allowed.  NGX_OK or NGX_ERROR, logged.  May be NULL.
     */
    ngx_int_t (*lint)(ngx_conf_t *cf, ngx_tg_tool_t *tool, void *conf);

    /* What `output` is of a tool that does not say.  May be NULL. */
    tg_output_type_t (*output)(ngx_tg_tool_t *tool, void *conf);

    /*
     * A server was read whole, but for what it inherits: what it offers
     * besides.  NGX_OK or NGX_ERROR, logged.  May be NULL.
     */
    ngx_int_t (*add_entries)(ngx_conf_t *cf, ngx_tg_srv_conf_t *scf);

    /*
     * Starts a call: ends it (ngx_tg_call_end()), or keeps it beyond
     * its return (ngx_tg_call_defer()).  Never blocks.  The slices of
     * request live until it returns; what is allocated from call->pool, until
     * the call ends.
     */
    void (*start)(ngx_tg_call_t *call, tg_request_t *request);

    /*
     * Goes on with a deferred call as soon as `concurrency` allows it, which
     * may be within ngx_tg_call_defer(): the worker runs it.  Its session
     * may be in another worker by then: what is needed of the request, start
     * has taken from it.  NULL: its calls are jobs of the runner's
     * (ngx_tg_call_job()), which keeps their limits and deadlines.
     */
    void (*run)(ngx_tg_call_t *call);

    /*
     * Nobody waits any more for a call that runs, or its time is over: it is
     * freed after the return.  May be NULL.
     */
    void (*cancel)(ngx_tg_call_t *call);

    /*
     * All of a config was read, and where its runners are is settled: what
     * is left to look at.  NGX_OK or NGX_ERROR, logged.  May be NULL.
     */
    ngx_int_t (*finalize_config)(ngx_cycle_t *cycle);

    /*
     * A client that had a key (ngx_tg_session_base_get_token()) is gone, and
     * not to another worker.  May be NULL.
     */
    void (*on_client_gone)(ngx_tg_session_base_t *base);

    /*
     * What there is to say of a server in `toolgate.status`: appends members,
     * each behind a comma.  May be NULL.
     */
    void (*write_status)(const ngx_tg_srv_conf_t *scf, tg_buf_t *json);
};

/* Its module, of its directives. */
#define NGX_TG_HANDLER_MODULE(commands)                                        \
    {                                                                          \
        NGX_MODULE_V1, &ngx_tg_handler_module_ctx, commands,                   \
            NGX_STREAM_MODULE, NULL, NULL, NULL, NULL, NULL, NULL, NULL,       \
            NGX_MODULE_V1_PADDING                                              \
    }
extern ngx_stream_module_t ngx_tg_handler_module_ctx;

/* All there are, and NULL. */
extern const ngx_tg_handler_t *const ngx_tg_handlers[];

/*
 * In the directive that names it: the tool has this handler.  NGX_CONF_OK,
 * or what is wrong: a tool has one.
 */
char *ngx_tg_conf_set_handler(ngx_conf_t *cf, const ngx_tg_handler_t *handler);

/*
 * When a server is read whole: what it does not say itself it has of the one
 * around it, and each of its blocks with this handler has that of it.
 * inherit() takes it; tool is NULL for a server.  settled() says what is wrong
 * with a block then: NULL, or what to write; it may be NULL.
 */
typedef struct {
    void (*inherit)(const ngx_tg_tool_t *tool, void *own, const void *from);
    const char *(*check_inherited)(const void *own);
} ngx_tg_inheritance_t;

char *ngx_tg_conf_inherit(ngx_conf_t *cf, const ngx_tg_handler_t *handler,
                          const ngx_tg_inheritance_t *inheritance,
                          const void *parent, void *child);

/* --- blocks of tools, for handlers that have one of their own --- */

/* What the server offers, of which there is one from now on; NULL: logged. */
tg_catalog_t *ngx_tg_server_ensure_catalog(ngx_conf_t *cf,
                                           ngx_tg_srv_conf_t *scf);

/* Adds what every server has, with these rules: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_server_add_builtin_methods(ngx_conf_t *cf,
                                            ngx_tg_srv_conf_t *scf,
                                            ngx_array_t *rules);

/* Adds what handlers offer besides: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_server_add_handler_entries(ngx_conf_t *cf,
                                            ngx_tg_srv_conf_t *scf);

/* A tool of which nothing was said; NULL: no memory. */
ngx_tg_tool_t *ngx_tg_tool_create(ngx_conf_t *cf, tg_catalog_entry_type_t kind,
                                  ngx_str_t *name);

/*
 * What directives of a block find, by their module, which is what the block
 * around it has, but tool; NULL: no memory.
 */
void **ngx_tg_tool_create_conf_array(ngx_conf_t *cf, ngx_tg_tool_t *tool);

/* Reads a block whose directives are of a context. */
char *ngx_tg_conf_read_block(ngx_conf_t *cf, ngx_uint_t type, void **confs);

/*
 * Reads a tool's block, directives of handlers included, and checks it; kind
 * and name are for messages.
 */
char *ngx_tg_tool_read_block(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                             ngx_str_t *kind, ngx_str_t *name);

/* What a tool does not say of its output: NGX_OK or NGX_ERROR, logged. */
ngx_int_t ngx_tg_tool_init_output(ngx_conf_t *cf, const ngx_tg_srv_conf_t *scf,
                                  ngx_tg_tool_t *tool);

/* The same of its `task`, once it has a handler. */
const char *ngx_tg_tool_task_check(const ngx_tg_tool_t *tool);

/* What does not go together with its `output`: NULL, or what to write. */
const char *ngx_tg_tool_output_check(const ngx_tg_tool_t *tool);

/* The tool whose block is read. */
ngx_tg_tool_t *ngx_tg_conf_get_tool(ngx_conf_t *cf);

/*
 * The full path, terminated, of a program that the tool runs: a path, or a
 * name that is looked for.  That the workers' user can run it is looked at
 * when all is read.  NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_conf_resolve_program(ngx_conf_t *cf, ngx_str_t *name,
                                      ngx_str_t *path);

/* Of what a program may have, an off_t: `memory`; `pids` has that post. */
char *ngx_tg_conf_set_program_limit(ngx_conf_t *cf, ngx_command_t *cmd,
                                    void *conf);
#define NGX_TG_PIDS_DESCRIPTION                                                \
    "how many processes and threads there may be, such as \"20\""

/*
 * Will the runner be able to load a library that the directive needs, which a
 * package has?  NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_conf_check_library(ngx_conf_t *cf, const char *file,
                                    const char *package);

/* The workers' user must be able to do that with a file, or a folder. */
ngx_int_t ngx_tg_conf_require_file(ngx_conf_t *cf, ngx_str_t *path,
                                   ngx_tg_access_mode_t access_mode);

/*
 * The text of a file with a secret, without the end of its line, in which
 * there is no NUL; path becomes the full one.  NGX_ERROR: logged;
 * NGX_DECLINED: it is no such text.
 */
ngx_int_t ngx_tg_secret_file_read(ngx_conf_t *cf, ngx_str_t *path,
                                  ngx_str_t *text, ngx_file_info_t *fi);

/*
 * `file=PATH` or `credential=NAME`: the text, of a file that is its owner's
 * alone.  NGX_DECLINED: word is neither; NGX_ERROR: logged.
 */
ngx_int_t ngx_tg_secret_arg_read(ngx_conf_t *cf, const ngx_str_t *word,
                                 ngx_str_t *text);

/*
 * Reads a whole file of at most 1 MiB; name becomes its full path, and text
 * ends with a zero; fi is about the very file that was read.  NGX_ERROR:
 * logged.
 */
ngx_int_t ngx_tg_conf_read_file(ngx_conf_t *cf, ngx_str_t *name,
                                ngx_str_t *text, ngx_file_info_t *fi);

/* A copy of a buffer, which ends with a zero: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_conf_copy_buf(ngx_conf_t *cf, const tg_buf_t *buf,
                               ngx_str_t *text);

/*
 * Checks the JSON of a directive, or of a file (not NULL) that it names.
 * NGX_ERROR: it is none, which is logged with its place.
 */
ngx_int_t ngx_tg_conf_check_json(ngx_conf_t *cf, ngx_str_t *directive,
                                 const ngx_str_t *file, const ngx_str_t *text);

/* The last argument of a directive, which is JSON, compact; likewise. */
ngx_int_t ngx_tg_conf_parse_json(ngx_conf_t *cf, ngx_str_t *directive,
                                 const ngx_str_t *text, tg_str_t *json);

/* A file with a schema, and those beside it that it refers to, likewise. */
ngx_int_t ngx_tg_conf_read_json_file(ngx_conf_t *cf, ngx_str_t *directive,
                                     ngx_str_t *path, tg_str_t *json);

/*
 * Compiles a value with variables, and remembers where it stands, for the
 * message about one that nobody defines.  NGX_ERROR, NULL: logged.
 */
ngx_int_t ngx_tg_value_compile(ngx_conf_t *cf, ngx_str_t *text,
                               ngx_stream_complex_value_t *value);
ngx_stream_complex_value_t *ngx_tg_value_compile_new(ngx_conf_t *cf,
                                                     ngx_str_t *text);

/*
 * The same for what is evaluated once for each element of an array: *each
 * becomes the way to it, NULL when there is none in text.  The elements are
 * those of one array, which *each was before, if it is not NULL.
 */
ngx_int_t ngx_tg_value_compile_for_elements(ngx_conf_t *cf, ngx_str_t *text,
                                            ngx_stream_complex_value_t *value,
                                            ngx_tg_arg_path_t **each);

/* Has it any variables, or is it just text?  `$$` is a dollar. */
ngx_uint_t ngx_tg_text_has_variables(const ngx_str_t *text);

/* Each `$$` becomes a dollar: NGX_OK or NGX_ERROR. */
ngx_int_t ngx_tg_unescape_dollars(ngx_conf_t *cf, ngx_str_t *text);

/*
 * The argument that a variable's name is of; NULL: no memory, or it is of
 * none, which is logged.
 */
ngx_tg_arg_path_t *ngx_tg_arg_path_create(ngx_conf_t *cf, tg_str_t name);

/* The variable that has what it leads to: its name, or one of length 0. */
ngx_str_t ngx_tg_arg_path_add_variable(ngx_conf_t *cf, ngx_tg_arg_path_t *path);

/* What the schema of a property, within the schema root, says of it. */
void ngx_tg_arg_property_init(ngx_tg_arg_property_t *property, tg_str_t root,
                              tg_str_t schema);

/*
 * The block is read, so that its schema is known: which properties paths
 * mean.  NGX_ERROR: it declares no such, which is logged.
 */
ngx_int_t ngx_tg_tool_resolve_arg_paths(ngx_conf_t *cf, ngx_tg_tool_t *tool);

/* --- advice: warnings, each with what to write instead --- */

/* About a value that was compiled last: it is a word of a program. */
void ngx_tg_value_mark_as_word(ngx_conf_t *cf,
                               ngx_stream_complex_value_t *value,
                               ngx_uint_t is_conditional);

/* About a word of it that a shell would understand. */
void ngx_tg_lint_program_word(ngx_conf_t *cf, ngx_str_t *word,
                              const ngx_str_t *program);

/* About JSON that is valid.  NGX_ERROR: no memory. */
ngx_int_t ngx_tg_lint_schema(ngx_conf_t *cf, ngx_str_t *directive,
                             tg_str_t schema);

/* Warns of what agents and models' APIs refuse in a tool's schema. */
ngx_int_t ngx_tg_lint_listed_schema(ngx_conf_t *cf, ngx_str_t *directive,
                                    ngx_uint_t is_input, tg_str_t schema);
/*
 * Warns if an argument is the name of a directive at the start of a line: the
 * ";" before it is probably missing.
 */
void ngx_tg_lint_missing_semicolon(ngx_conf_t *cf);

/* Logs what was probably meant, after NGINX refused a directive of a block. */
void ngx_tg_log_error_hint(ngx_conf_t *cf);

/*
 * Logs it for a server's directives too, if the stream block fails before the
 * returned copy's ctx becomes NULL.  Returns NULL if there is no memory.
 */
ngx_conf_t *ngx_tg_start_error_hints(ngx_conf_t *cf);
void ngx_tg_lint_annotations(ngx_conf_t *cf, tg_str_t annotations);

/*
 * About a block that was read, whose values are those from the first one on:
 * NGX_OK, or NGX_ERROR: something in it cannot work, which is logged.
 */
ngx_int_t ngx_tg_lint_tool(ngx_conf_t *cf, ngx_tg_tool_t *tool,
                           ngx_uint_t first);

#endif
