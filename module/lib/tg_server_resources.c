/* Prompts, resources and templates of a server. */
#include "lib/tg_server.h"

#include "base/tg_utf8.h"

void
tg_runtime_declare_capabilities(tg_runtime_t *runtime)
{
    tg_server_info_t *info;
    size_t i;

    info = &runtime->info;

    for (i = 0; i < tg_catalog_size(runtime->catalog); i++) {
        switch (tg_catalog_get_entry(runtime->catalog, i)->kind) {
        case TG_ENTRY_PROMPT:
            info->has_prompts = 1;
            break;
        case TG_ENTRY_RESOURCE:
        case TG_ENTRY_TEMPLATE:
            info->has_resources = 1;
            info->has_subscribe = 1;
            break;
        case TG_ENTRY_COMPLETION:
            info->has_completions = 1;
            break;
        default:
            break;
        }
    }
}

int
toolgate_add_prompt(toolgate_server_t *server, const char *name,
                    const char *description, const char *arguments,
                    toolgate_call_pt called, void *data)
{
    const char *texts[TG_TOOL_OPTION_COUNT] = {
        [TG_TOOL_OPTION_DESCRIPTION] = description,
        [TG_TOOL_OPTION_ARGUMENTS] = arguments,
    };

    return tg_server_create_tool(server, TG_ENTRY_PROMPT, name, texts, called,
                                 data);
}

/* Adds a resource or a template. */
static int
tg_server_add_resource(toolgate_server_t *server, tg_catalog_entry_type_t kind,
                       const char *uri, const char *name, const char *mime,
                       toolgate_call_pt called, void *data)
{
    const char *texts[TG_TOOL_OPTION_COUNT] = {
        [TG_TOOL_OPTION_NAME] = name,
        [TG_TOOL_OPTION_MIME] = mime,
    };

    return tg_server_create_tool(server, kind, uri, texts, called, data);
}

int
toolgate_add_resource(toolgate_server_t *server, const char *uri,
                      const char *name, const char *mime,
                      toolgate_call_pt called, void *data)
{
    return tg_server_add_resource(server, TG_ENTRY_RESOURCE, uri, name, mime,
                                  called, data);
}

int
toolgate_add_template(toolgate_server_t *server, const char *uri_template,
                      const char *name, const char *mime,
                      toolgate_call_pt called, void *data)
{
    return tg_server_add_resource(server, TG_ENTRY_TEMPLATE, uri_template, name,
                                  mime, called, data);
}

int
toolgate_set_prompt(toolgate_server_t *server, const char *name,
                    const char *option, const char *value)
{
    return tg_server_set_tool_option(server, TG_ENTRY_PROMPT, name, option,
                                     value);
}

int
toolgate_set_resource(toolgate_server_t *server, const char *uri,
                      const char *option, const char *value)
{
    return tg_server_set_tool_option(server, TG_ENTRY_RESOURCE, uri, option,
                                     value);
}

int
toolgate_set_template(toolgate_server_t *server, const char *uri_template,
                      const char *option, const char *value)
{
    return tg_server_set_tool_option(server, TG_ENTRY_TEMPLATE, uri_template,
                                     option, value);
}

int
toolgate_remove_prompt(toolgate_server_t *server, const char *name)
{
    return tg_server_remove_tool(server, TG_ENTRY_PROMPT, name);
}

int
toolgate_remove_resource(toolgate_server_t *server, const char *uri)
{
    return tg_server_remove_tool(server, TG_ENTRY_RESOURCE, uri);
}

int
toolgate_remove_template(toolgate_server_t *server, const char *uri_template)
{
    return tg_server_remove_tool(server, TG_ENTRY_TEMPLATE, uri_template);
}

static int
tg_server_add_completion(toolgate_server_t *server,
                         tg_catalog_entry_type_t kind, const char *name,
                         const char *argument, toolgate_call_pt called,
                         void *data)
{
    tg_server_tool_t *parent;
    tg_tool_t *tool;
    int rc;

    if (name == NULL || argument == NULL || called == NULL) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "a completion needs a name, an argument and a "
                                "function");
    }

    tg_lib_lock();
    parent = tg_server_tools_find(&server->tools, kind, name);
    rc = parent != NULL
             ? tg_tool_new_completion(parent->tool, argument, called, data,
                                      &tool)
             : tg_lib_set_error(TOOLGATE_ERR_ARGUMENT, "unknown %s \"%s\"",
                                tg_entry_type_name(kind), name);
    rc = rc == 0 ? tg_server_insert_tool(server, tool) : rc;
    tg_lib_unlock();

    return rc;
}

int
toolgate_complete_prompt(toolgate_server_t *server, const char *name,
                         const char *argument, toolgate_call_pt called,
                         void *data)
{
    return tg_server_add_completion(server, TG_ENTRY_PROMPT, name, argument,
                                    called, data);
}

int
toolgate_complete_template(toolgate_server_t *server, const char *uri_template,
                           const char *argument, toolgate_call_pt called,
                           void *data)
{
    return tg_server_add_completion(server, TG_ENTRY_TEMPLATE, uri_template,
                                    argument, called, data);
}

static void
tg_session_report_update(tg_session_t *session, tg_str_t uri)
{
    size_t before;

    if (session->is_closed || !tg_peer_is_subscribed(&session->peer, uri)
        || !tg_session_begin_notification(session, uri.len))
    {
        return;
    }

    before = session->peer.out.len;
    tg_peer_notify_resource_updated(&session->peer, uri);
    tg_session_end_notification(session, before);
}

static void
tg_runtime_report_update(tg_runtime_t *runtime, tg_runtime_command_t *command)
{
    tg_session_t *session, *next;
    tg_str_t uri;

    uri = tg_str(command->text, command->len);

    for (session = runtime != NULL ? runtime->first : NULL; session != NULL;
         session = next)
    {
        next = session->next;
        tg_session_report_update(session, uri);
    }

    tg_runtime_command_free(command);
}

int
toolgate_updated(toolgate_server_t *server, const char *uri)
{
    tg_runtime_command_t *command;
    tg_str_t text;

    text = tg_str_from_cstr(uri != NULL ? uri : "");

    if (text.len == 0 || text.len > TG_URI_MAX || !tg_utf8_is_valid(text)) {
        return tg_lib_set_error(TOOLGATE_ERR_ARGUMENT,
                                "the URI of a resource must be 1 to %d bytes "
                                "of UTF-8",
                                TG_URI_MAX);
    }

    command = tg_runtime_command_new(text, TG_STR_NONE);

    if (command == NULL) {
        return tg_lib_set_nomem_error();
    }

    command->execute = tg_runtime_report_update;

    return tg_server_post_command(server, command);
}
