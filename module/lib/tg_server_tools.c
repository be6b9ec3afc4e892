/* Tools and methods of a server, which may change while the server runs. */
#include "lib/tg_server.h"

#include <stdlib.h>

static void
tg_runtime_replace_catalog(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    tg_catalog_view_t before, after;
    tg_session_t *session;
    unsigned changes;

    if (runtime == NULL) {
        tg_catalog_unref(command->catalog);
        tg_runtime_command_free(command);
        return;
    }

    before = tg_catalog_get_view(runtime->catalog, NULL, NULL);
    after = tg_catalog_get_view(command->catalog, NULL, NULL);
    changes = tg_catalog_view_compare(&before, &after);
    tg_catalog_unref(runtime->catalog);
    runtime->catalog = command->catalog;
    tg_runtime_command_free(command);
    tg_runtime_declare_capabilities(runtime);

    for (session = runtime->first; session != NULL; session = session->next) {
        tg_peer_set_catalog(&session->peer, runtime->catalog);

        if (changes != 0) {
            tg_peer_notify_list_changes(&session->peer, changes);
            tg_session_mark_dirty(session);
        }
    }
}

/*
 * Rebuilds the catalog and the schema file of a started server, and notifies
 * its clients. Requires tg_lib_lock().
 */
static int
tg_server_publish_tools(toolgate_server_t *server)
{
    tg_catalog_t *catalog;
    tg_runtime_command_t *command;
    int rc;

    if (server->runtime == NULL) {
        return 0;
    }

    catalog = tg_server_tools_create_catalog(&server->tools);

    if (catalog == NULL) {
        return TOOLGATE_ERR_MEMORY;
    }

    /* The file is written first, since notified clients may read it. */
    command = tg_runtime_command_new(TG_STR_NONE, TG_STR_NONE);
    rc = command != NULL ? tg_server_write_schema_file(server, catalog)
                         : TOOLGATE_ERR_MEMORY;

    if (rc == 0) {
        command->execute = tg_runtime_replace_catalog;
        command->catalog = catalog;
        rc = tg_runtime_post_command(server->runtime, command);
    }

    if (rc == 0) {
        return 0;
    }

    tg_runtime_command_free(command);
    tg_catalog_unref(catalog);

    return rc;
}

static int
tg_server_set_no_tool_error(tg_catalog_entry_type_t kind, const char *name)
{
    return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "unknown %s \"%s\"",
                            tg_entry_type_name(kind), name);
}

static int
tg_server_add_tool(toolgate_server_t *server, tg_tool_t *tool)
{
    int rc;

    if (tg_server_tools_find(&server->tools, tool->entry.kind, tool->name)
        != NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "there is already a %s \"%s\"; remove it "
                                "first",
                                tg_entry_type_name(tool->entry.kind),
                                tool->name);
    }

    rc = tg_server_tools_add(&server->tools, tool);

    if (rc == 0) {
        (void) tg_tool_ref(tool);
        rc = tg_server_publish_tools(server);

        if (rc != 0) {
            tg_server_tools_remove(&server->tools,
                                   &server->tools.list[server->tools.n - 1]);
        }
    }

    return rc;
}

int
tg_server_insert_tool(toolgate_server_t *server, tg_tool_t *tool)
{
    int rc;

    rc = tg_server_check_process(server);
    rc = rc == 0 ? tg_server_add_tool(server, tool) : rc;
    tg_tool_unref(tool);

    return rc;
}

int
tg_server_create_tool(toolgate_server_t *server, tg_catalog_entry_type_t kind,
                      const char *name, const char *const *texts,
                      toolgate_call_pt handler, void *data)
{
    tg_tool_t *tool;
    int rc;

    if (name == NULL || handler == NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "a %s needs a name and a function",
                                tg_entry_type_name(kind));
    }

    rc = tg_tool_new(kind, name, texts, handler, data, &tool);

    if (rc == 0) {
        tg_lib_lock();
        rc = tg_server_insert_tool(server, tool);
        tg_lib_unlock();
    }

    return rc;
}

int
toolgate_add_tool(toolgate_server_t *server, const char *name,
                  const char *description, const char *input_schema,
                  toolgate_call_pt handler, void *data)
{
    const char *texts[TG_TOOL_OPTION_COUNT] = {
        [TG_TOOL_OPTION_DESCRIPTION] = description,
        [TG_TOOL_OPTION_INPUT_SCHEMA] = input_schema,
    };

    return tg_server_create_tool(server, TG_ENTRY_TOOL, name, texts, handler,
                                 data);
}

int
toolgate_add_method(toolgate_server_t *server, const char *name,
                    toolgate_call_pt handler, void *data)
{
    static const char *const texts[TG_TOOL_OPTION_COUNT];

    return tg_server_create_tool(server, TG_ENTRY_METHOD, name, texts, handler,
                                 data);
}

/*
 * Takes over the reference to the tool, or restores the old tool if the new
 * catalog cannot be published.
 */
static int
tg_server_replace_tool(toolgate_server_t *server, tg_server_tool_t *server_tool,
                       tg_tool_t *tool)
{
    tg_tool_t *before;
    int rc;

    before = server_tool->tool;
    server_tool->tool = tool;
    rc = tg_server_publish_tools(server);

    if (rc != 0) {
        server_tool->tool = before;
        before = tool;
    }

    tg_tool_unref(before);

    return rc;
}

int
tg_server_set_tool_option(toolgate_server_t *server,
                          tg_catalog_entry_type_t kind, const char *name,
                          const char *option, const char *value)
{
    tg_server_tool_t *server_tool;
    tg_tool_t *tool;
    int rc;

    if (name == NULL || option == NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "an option needs a name");
    }

    tg_lib_lock();
    server_tool = tg_server_tools_find(&server->tools, kind, name);
    rc = server_tool == NULL ? tg_server_set_no_tool_error(kind, name)
                             : tg_server_check_process(server);

    if (rc == 0 && server_tool != NULL) {
        rc = tg_tool_new_with_option(server_tool->tool, option, value, &tool);
        rc = rc == 0 ? tg_server_replace_tool(server, server_tool, tool) : rc;
    }

    tg_lib_unlock();

    return rc;
}

int
toolgate_set_tool(toolgate_server_t *server, const char *name,
                  const char *option, const char *value)
{
    return tg_server_set_tool_option(server, TG_ENTRY_TOOL, name, option,
                                     value);
}

int
toolgate_set_method(toolgate_server_t *server, const char *name,
                    const char *option, const char *value)
{
    return tg_server_set_tool_option(server, TG_ENTRY_METHOD, name, option,
                                     value);
}

/*
 * Removes a tool that the catalog does not have any more, and its completions,
 * which the catalog loses with its next change. Requires tg_lib_lock().
 */
static void
tg_server_forget_tool(toolgate_server_t *server, tg_server_tool_t *server_tool)
{
    tg_tool_t *tool;
    size_t i;

    tool = tg_tool_ref(server_tool->tool);
    tg_server_tools_remove(&server->tools, server_tool);

    for (i = server->tools.n; i-- != 0;) {
        if (tg_tool_is_completion_of(server->tools.list[i].tool, tool)) {
            tg_server_tools_remove(&server->tools, &server->tools.list[i]);
        }
    }

    tg_tool_unref(tool);
}

int
tg_server_remove_tool(toolgate_server_t *server, tg_catalog_entry_type_t kind,
                      const char *name)
{
    tg_server_tool_t *server_tool;
    int rc;

    tg_lib_lock();
    server_tool = name != NULL
                      ? tg_server_tools_find(&server->tools, kind, name)
                      : NULL;
    rc = server_tool == NULL
             ? tg_server_set_no_tool_error(kind, name != NULL ? name : "")
             : tg_server_check_process(server);

    if (rc == 0 && server_tool != NULL) {
        server_tool->is_hidden = 1;
        rc = tg_server_publish_tools(server);

        if (rc == 0) {
            tg_server_forget_tool(server, server_tool);
        } else {
            server_tool->is_hidden = 0;
        }
    }

    tg_lib_unlock();

    return rc;
}

int
toolgate_remove_tool(toolgate_server_t *server, const char *name)
{
    return tg_server_remove_tool(server, TG_ENTRY_TOOL, name);
}

int
toolgate_remove_method(toolgate_server_t *server, const char *name)
{
    return tg_server_remove_tool(server, TG_ENTRY_METHOD, name);
}

/* Copies the list: tools may be removed while the filter runs unlocked. */
static int
tg_server_copy_tools(toolgate_server_t *server, tg_server_tools_t *tools)
{
    const tg_server_tool_t *server_tool;
    size_t i;
    int rc;

    rc = 0;
    tg_lib_lock();

    for (i = 0; rc == 0 && i < server->tools.n; i++) {
        server_tool = &server->tools.list[i];

        if (server_tool->tool->entry.kind == TG_ENTRY_TOOL) {
            rc = tg_server_tools_add(tools, server_tool->tool);

            if (rc == 0) {
                (void) tg_tool_ref(server_tool->tool);
            }
        }
    }

    tg_lib_unlock();

    return rc;
}

static int
tg_server_apply_filter(toolgate_server_t *server,
                       const tg_server_tools_t *asked)
{
    tg_server_tool_t *server_tool;
    size_t i;
    int rc;

    rc = tg_server_check_process(server);

    for (i = 0; rc == 0 && i < asked->n; i++) {
        server_tool = tg_server_tools_find(&server->tools, TG_ENTRY_TOOL,
                                           asked->list[i].tool->name);

        if (server_tool != NULL) {
            server_tool->is_hidden = asked->list[i].is_hidden;
        }
    }

    /* The next start uses new names for the socket and the schema file. */
    if (rc == 0 && server->runtime == NULL) {
        server->has_files = 0;
    }

    return rc == 0 ? tg_server_publish_tools(server) : rc;
}

int
toolgate_filter(toolgate_server_t *server, toolgate_filter_pt filter,
                void *data)
{
    tg_server_tools_t tools;
    size_t i;
    int rc;

    memset(&tools, 0, sizeof(tools));
    rc = tg_server_copy_tools(server, &tools);

    for (i = 0; rc == 0 && filter != NULL && i < tools.n; i++) {
        tools.list[i].is_hidden = !filter(tools.list[i].tool->name, data);
    }

    if (rc == 0) {
        tg_lib_lock();
        rc = tg_server_apply_filter(server, &tools);
        tg_lib_unlock();
    }

    tg_server_tools_deinit(&tools);

    return rc;
}
