/* The params of the runner's methods about files. */
#include "spec/tg_file_spec.h"

#include "spec/tg_output_spec.h"

#define TG_FILE_FOLDER_FIELDS(type, member)                                    \
    { TG_STRING_FIELD(type, "root", member.root) },                            \
        { TG_STRINGS_FIELD(type, "match", member.match) },                     \
        { TG_STRINGS_FIELD(type, "hide", member.hide) },                       \
        { TG_FIELD(type, "recursive", TG_FIELD_FLAG, member.is_recursive) },   \
    {                                                                          \
        TG_FIELD(type, "dot_files", TG_FIELD_FLAG, member.has_dot_files)       \
    }

const tg_json_field_t tg_file_fields[] = {
    TG_FILE_FOLDER_FIELDS(tg_file_spec_t, folder),
    { TG_STRING_FIELD(tg_file_spec_t, "path", path), .is_required = 1 },
    { TG_STRING_FIELD(tg_file_spec_t, "uri", uri) },
    { TG_STRING_FIELD(tg_file_spec_t, "mime", mime) },
    { TG_FIELD(tg_file_spec_t, "encoded", TG_FIELD_FLAG, is_encoded) },
    { TG_FIELD(tg_file_spec_t, "output", TG_FIELD_WORD, output),
      .words = tg_output_type_words,
      .why = "output must be text, json, result, content or base64" },
    { TG_INT_FIELD(tg_file_spec_t, "max_output", max_output, 1, TG_OUTPUT_MAX),
      .absent = TG_OUTPUT_DEFAULT },
    { .name = NULL },
};

const tg_json_field_t tg_messages_fields[] = {
    { TG_FIELD(tg_messages_spec_t, "messages", TG_FIELD_RAW, messages),
      .is_required = 1 },
    { TG_STRING_FIELD(tg_messages_spec_t, "description", description) },
    { TG_INT_FIELD(tg_messages_spec_t, "max_output", max_output, 1,
                   TG_OUTPUT_MAX),
      .absent = TG_OUTPUT_DEFAULT },
    { .name = NULL },
};

const tg_json_field_t tg_file_watch_fields[] = {
    TG_FILE_FOLDER_FIELDS(tg_file_watch_spec_t, file.folder),
    { TG_STRING_FIELD(tg_file_watch_spec_t, "path", file.path),
      .is_required = 1 },
    { TG_FIELD(tg_file_watch_spec_t, "encoded", TG_FIELD_FLAG,
               file.is_encoded) },
    { TG_STRING_FIELD(tg_file_watch_spec_t, "version", version) },
    { .name = NULL },
};

const char *const tg_file_list_type_words[] = { "resources", "skills", "skill",
                                                "directory", NULL };

const tg_json_field_t tg_file_list_folder_fields[] = {
    TG_FILE_FOLDER_FIELDS(tg_file_list_folder_spec_t, folder),
    { TG_STRING_FIELD(tg_file_list_folder_spec_t, "uri", uri) },
    { TG_INT_FIELD(tg_file_list_folder_spec_t, "max", max, 1, TG_FILE_LIST_MAX),
      .absent = TG_FILE_LIST_MAX_DEFAULT },
    { TG_FIELD(tg_file_list_folder_spec_t, "skills", TG_FIELD_FLAG,
               has_skills) },
    { .name = NULL },
};

const tg_json_field_t tg_file_list_fields[] = {
    { TG_FIELD(tg_file_list_spec_t, "folders", TG_FIELD_RAW, folders),
      .is_required = 1 },
    { TG_STRING_FIELD(tg_file_list_spec_t, "cursor", cursor) },
    { TG_STRING_FIELD(tg_file_list_spec_t, "typed", typed) },
    { TG_STRING_FIELD(tg_file_list_spec_t, "path", path) },
    { TG_FIELD(tg_file_list_spec_t, "list", TG_FIELD_WORD, type),
      .words = tg_file_list_type_words,
      .why = "list must be resources, skills, skill or directory" },
    { TG_INT_FIELD(tg_file_list_spec_t, "limit", limit, 1, TG_FILE_LIST_LIMIT),
      .absent = TG_FILE_LIST_LIMIT },
    { TG_INT_FIELD(tg_file_list_spec_t, "max_output", max_output, 1,
                   TG_OUTPUT_MAX),
      .absent = TG_OUTPUT_DEFAULT },
    { .name = NULL },
};

const tg_json_field_t tg_file_list_watch_fields[] = {
    { TG_FIELD(tg_file_list_watch_spec_t, "folders", TG_FIELD_RAW, folders),
      .is_required = 1 },
    { TG_STRING_FIELD(tg_file_list_watch_spec_t, "version", version) },
    { .name = NULL },
};
